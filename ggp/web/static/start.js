// The first page: what this is, a game that goes on by itself, and the doors to everything.
import { el } from "/static/page.js";
import { hasLast, lastGame } from "/static/mine.js";
import { openTable, USUAL } from "/static/opponent.js";

const PAUSE = 1300; // ms between two positions
const STEPS = 24;

/** The recorded match of a card, position after position; it stands still for those who want no motion. */
function live(card) {
  const image = el("img", { src: `/cards/${card.name}.svg`, alt: `A match of ${card.title}`, width: "420", height: "420" });
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return image;
  let step = 0;
  const next = () => {
    if (document.hidden) {
      setTimeout(next, PAUSE);
      return;
    }
    const coming = new Image();
    coming.addEventListener("load", () => {
      image.src = coming.src;
      setTimeout(next, step === 0 ? 3 * PAUSE : PAUSE);
    });
    coming.addEventListener("error", () => setTimeout(next, 10 * PAUSE));
    step = (step + 1) % STEPS;
    coming.src = `/cards/${card.name}.svg?step=${step}`;
  };
  setTimeout(next, PAUSE);
  return image;
}

export function show(main, { shown, games, puzzles }) {
  const now = el("button", { type: "button", class: "main", id: "now", onclick: () => openTable({ game: shown.name, rules: "" }, ["human", USUAL.others], USUAL) }, "Play now");
  const again = el("p", { class: "continue", hidden: !hasLast() }); // its place is there before the server has answered
  if (hasLast()) lastGame().then((link) => link && again.append(link));
  const door = (href, picture, title, words) =>
    el("a", { class: "door", href }, el("img", { src: `/cards/${picture}.svg`, alt: "", loading: "lazy", width: "200", height: "200" }), el("strong", {}, title), el("span", {}, words));
  main.append(
    el(
      "div",
      { class: "hero" },
      el(
        "div",
        {},
        el("p", { class: "lead" }, "Give it the rules of a game, and it plays: it works out by itself how to draw the board, what a click means, and how to win."),
        el("p", {}, now, el("span", { class: "line" }, ` ${shown.title} against the easy player`)),
        again,
      ),
      el("div", { class: "live" }, live(shown)),
    ),
    el(
      "div",
      { class: "doors" },
      door("/play", "chess", "Play", `${games} games against people or the page, and whatever rules you bring`),
      door("/puzzles", "yards.xsb:2", "Puzzles", `${puzzles} puzzles, levels and packings: try them, or have them solved`),
      door("/rules", "tictactoe", "Write a game", "An editor that finds mistakes as you type, with the board beside it"),
    ),
    el(
      "ul",
      { class: "more" },
      ...[
        ["/watch", "Watch", "matches of players and servers as they go on"],
        ["/replay", "Replay", "recorded matches, step by step"],
        ["/tournaments", "Tournaments", "ratings, who beat whom"],
        ["/api", "API", "the questions that programs ask, each to be tried"],
        ["/docs", "Docs", "a tour, a first game, levels and packings, answers"],
      ].map(([href, name, words]) => el("li", {}, el("a", { href }, name), ` ${words}`)),
    ),
  );
}
