// The watching room: the matches of players' servers, and one of them as it is played.
import { showSearch } from "/static/about.js";
import { clearError, drawing, el, fail, get, listen, shape } from "/static/page.js";
import { HIGHEST, openTable } from "/static/opponent.js";
import { fillSteps } from "/static/steps.js";
import { flipping } from "/static/turn.js";

export function show(main, { match }) {
  if (match) showMatch(main, match);
  else showList(main);
}

function showList(main) {
  const servers = el("ul", { class: "servers" });
  const sides = [HIGHEST.others, HIGHEST.others]; // one sees its moves
  const begin = () => openTable({ game: "connectfour", rules: "" }, sides, { ...HIGHEST, playclock: 1 });
  const waits = el(
    "section",
    { class: "empty", hidden: true, "aria-label": "Nothing to watch yet" },
    el("p", {}, "Nothing is played here now. Matches at tables of this page appear by themselves, and those of servers that were named with ", el("code", {}, "ggp web --watch"), "."),
    el("p", { class: "row" }, el("button", { type: "button", class: "main", id: "begin", onclick: begin }, "Let the page play itself"), el("a", { class: "button", href: "/play" }, "Play a game")),
  );
  const live = el("div", { class: "cards", role: "group", "aria-label": "Matches that go on" });
  const closed = el("ul", {});
  const count = el("summary", {}, "");
  const folded = el("details", { hidden: true }, count, closed);
  const cards = new Map(); // key -> {element, picture, steps, shown}
  main.append(servers, waits, live, folded);

  function cardOf(one) {
    if (!cards.has(one.key)) {
      const picture = el("span", { class: "picture" });
      const title = el("strong", {}, "");
      const line = el("span", { class: "line" }, "");
      const steps = el("small", {}, "");
      const element = el("a", { class: "card", href: `/watch?match=${one.key}`, "data-match": one.key }, picture, title, line, steps);
      cards.set(one.key, { element, picture, title, line, steps, shown: -1 });
    }
    const card = cards.get(one.key);
    card.title.textContent = one.game || one.match;
    card.line.textContent = one.role;
    card.steps.textContent = `step ${one.steps}`;
    if (card.shown !== one.steps) {
      card.shown = one.steps;
      get(`/watch/${encodeURIComponent(one.key)}/board`).then(
        ({ svg: text }) => text && card.picture.replaceChildren(drawing(text)),
        () => (card.shown = -1),
      );
    }
    return card.element;
  }

  listen("/watch/events", {
    list: (told) => {
      servers.replaceChildren(...told.servers.map(({ url, reached }) => el("li", { class: reached ? "" : "offline" }, `${url}: ${reached ? "connected" : "not reached, trying again"}`)));
      const going = told.matches.filter(({ why }) => !why);
      const over = told.matches.filter(({ why }) => why);
      waits.hidden = going.length > 0;
      live.replaceChildren(...going.map(cardOf));
      folded.hidden = over.length === 0;
      folded.open ||= going.length === 0;
      count.textContent = `Over or closed (${over.length})`;
      closed.replaceChildren(...over.map((one) => el("li", {}, el("a", { href: `/watch?match=${one.key}` }, one.game || one.match), ` ${one.role}, ${one.steps} steps: ${one.why}`)));
    },
  });
}

/** A move as the rules write it, without parentheses. */
const bare = (move) => move.replace(/^\((.*)\)$/, "$1");

/** What the player expected at its turns, 0 to 100. */
function course(answers) {
  const known = answers.filter((one) => typeof one.expects === "number");
  if (known.length < 2) return null;
  const first = known[0].turn;
  const last = known.at(-1).turn;
  const x = (turn) => 30 + (360 * (turn - first)) / Math.max(1, last - first);
  const y = (value) => 110 - value;
  return shape(
    "svg",
    { class: "course", viewBox: "0 0 400 120", role: "img", "aria-label": `expected result by turn: ${known.map((one) => `${one.turn}: ${one.expects}`).join(", ")}` },
    ...[0, 50, 100].flatMap((value) => [shape("line", { x1: 30, x2: 390, y1: y(value), y2: y(value) }), shape("text", { x: 26, y: y(value) + 4, "text-anchor": "end" }, String(value))]),
    shape("polyline", { points: known.map((one) => `${x(one.turn).toFixed(1)},${y(one.expects).toFixed(1)}`).join(" ") }),
  );
}

function showMatch(main, key) {
  const board = el("div", { class: "board" });
  const said = el("p", { class: "status", role: "status", "aria-live": "polite" }, "waiting for the match ...");
  const moves = el("dl", { class: "joint" });
  const thought = el("div", {});
  const plot = el("div", {});
  const past = el("div", { class: "history", role: "group", "aria-label": "Moves made", tabindex: "0" });
  const beside = el("div", {});
  const id = el("small", {});
  let answers = [];
  let ended = "";
  const boards = new Map();
  let newest = 0;
  let texts = {}; // the legal moves of the newest step in words
  let thinking = null; // what was told last of the search
  let at = 0;
  let following = true; // shows each new step, until somebody looks back
  const slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step" });
  const where = el("output", {});
  const turning = flipping(board);
  const follow = el("button", { type: "button", hidden: true, onclick: () => go(newest) }, "To the newest");
  // Game managers tell of no search.
  const searching = el("section", { hidden: true }, el("h2", {}, "The search"), thought, el("h2", {}, "Expected goal value by turn, 0 to 100"), plot);
  main.append(
    el("p", {}, el("a", { href: "/watch" }, "all matches"), id),
    el(
      "div",
      { class: "table" },
      el("div", {}, board, beside),
      el(
        "div",
        { class: "side" },
        said,
        el("div", { class: "steps" }, slider, where, follow, turning.button),
        moves,
        searching,
        past,
      ),
    ),
  );

  function think(search) {
    thinking = search;
    searching.hidden = false;
    const candidates = (search.candidates || []).map(([move, ...told]) => [texts[move] ?? bare(move), ...told]);
    showSearch(thought, search.machine ?? "", candidates, search.note ?? "");
  }

  function fillPlot() {
    const drawn = course(answers);
    if (drawn) searching.hidden = false;
    plot.replaceChildren(...(drawn ? [drawn] : ["after two turns"]));
  }

  /** The newest moves in words; what the player said of them stands in their titles. */
  function fillPast() {
    const told = boards.get(newest);
    if (told === undefined) return;
    const first = newest - told.history.length;
    const notes = new Map(answers.map(({ turn, note: said }) => [turn, said]));
    const steps = told.history.map(({ moves: made, words }, i) => ({ words, titles: made.map((move) => [move, notes.get(first + i + 1)].filter(Boolean).join(" - ")), number: first + i + 1 }));
    fillSteps(past, told.roles, steps, at, go);
  }

  function showBoard(told) {
    at = told.step;
    slider.value = String(at);
    board.replaceChildren(drawing(told.svg));
    turning.show();
    // The drawing of a game without a board has all of it.
    const lines = board.querySelector("[data-square]") ? told.beside : [];
    beside.replaceChildren(...lines.map((line) => el("p", { class: "beside" }, line)));
    board.dataset.step = at;
    const last = told.history.at(-1) ?? { words: [] };
    moves.replaceChildren(...last.words.flatMap((word, role) => (word === null ? [] : [el("dt", {}, told.roles[role] ?? ""), el("dd", {}, word)])));
    tellStep();
    fillPast();
  }

  function tellStep() {
    where.textContent = `step ${at} of ${newest}`;
    follow.hidden = following;
  }

  async function go(step) {
    at = Math.max(0, Math.min(step, newest));
    following = at === newest;
    const wanted = at;
    try {
      if (!boards.has(wanted)) boards.set(wanted, await get(`/watch/${encodeURIComponent(key)}/steps/${wanted}`));
      if (at === wanted) showBoard(boards.get(wanted));
    } catch (error) {
      fail(error);
    }
  }
  slider.addEventListener("input", () => go(Number(slider.value)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(newest), f: turning.flip }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });

  listen(`/watch/${encodeURIComponent(key)}/events`, {
    match: (told) => {
      clearError();
      const name = [told.game || told.match, told.role].filter(Boolean).join(", ");
      id.textContent = ` ${told.match}`;
      document.title = `${name} - kaskade`;
      main.querySelector("h1").textContent = name;
      answers = told.answers;
      boards.clear();
      ended = "";
      said.textContent = `${told.role} on ${told.server}, ${told.clocks?.[0]} s and ${told.clocks?.[1]} s`;
      fillPlot();
    },
    board: (told) => {
      // Steps may have been put right.
      for (const step of [...boards.keys()]) if (step >= told.step) boards.delete(step);
      boards.set(told.step, told);
      newest = told.step;
      texts = told.texts;
      if (thinking?.candidates?.some(([move]) => move in texts)) think(thinking);
      slider.max = String(newest);
      if (following || at > newest) showBoard(told);
      else fillPast();
      tellStep();
      said.textContent = ended ? ended : told.over ? `Over: ${told.roles.map((role, i) => `${role} ${told.goals[i] ?? "-"}`).join(", ")}` : `step ${told.step}`;
    },
    search: think,
    answer: (told) => {
      answers = [...answers, told];
      thought.querySelector("p")?.replaceChildren(el("strong", {}, told.machine), ` ${told.note}`);
      if (told.machine) said.textContent = `answered ${texts[told.move] ?? bare(told.move)}`; // game managers do not think
      fillPlot();
    },
    ended: ({ text }) => (said.textContent = ended = `Ended: ${text}`),
    trouble: ({ text }) => fail(new Error(text)),
  }, () => setTimeout(() => location.reload(), 2000));
}
