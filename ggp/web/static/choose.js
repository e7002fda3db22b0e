// The choice of games: cards of all that comes along, what a person brings, and the sheet of the chosen one.
import { bringYourOwn, cardList } from "/static/cards.js";
import { openSheet } from "/static/opponent.js";
import { solveCard } from "/static/solve.js";
import { el } from "/static/page.js";

const ALL = ["turns", "at once", "chance", "hidden", "puzzle", "level", "packing"];

export function show(main, { cards, players, names, kinds = ALL }) {
  const choose = (card) => openSheet(card, { players, names, solve: card.roles.length < 2 ? solveCard : null });
  if (kinds !== ALL) main.append(el("p", {}, el("a", { href: "/puzzles/draw" }, "Draw a level of your own")));
  main.append(cardList(cards, kinds, choose), bringYourOwn(choose));
  const wanted = new URLSearchParams(location.search).get("game");
  const card = cards.find(({ name }) => name === wanted);
  const [base, sizes] = (wanted ?? "").split(":"); // hex:11
  const varied = cards.find(({ name, varies }) => name === base && varies.length > 0);
  if (card) choose(card);
  else if (varied) choose({ ...varied, sizes });
}
