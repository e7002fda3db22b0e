// A table: the board, who plays and whose turn it is, and behind tabs the moves, the rules, the search and the state.
import { fillRules, showSearch } from "/static/about.js";
import { askOn } from "/static/clicks.js";
import { endBanner } from "/static/ending.js";
import { hiddenView, keyOf, ownHistory } from "/static/hidden.js";
import { fillSteps } from "/static/steps.js";
import { hasDirections, moveOfKey } from "/static/hands.js";
import { glide, putOver } from "/static/marks.js";
import { remember } from "/static/mine.js";
import { dot, STRENGTHS } from "/static/opponent.js";
import { clearError, drawing, el, fail, listen, post, used } from "/static/page.js";
import { tallyView } from "/static/tally.js";
import { soundButton, soundOf } from "/static/sound.js";
import { tabs } from "/static/tabs.js";
import { turn } from "/static/viewer.js";

const BACKWARDS = { ArrowUp: "ArrowDown", ArrowDown: "ArrowUp", ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
const THE_PAGE = { [STRENGTHS.easy.others]: "the page, easy", [STRENGTHS.medium.others]: "the page" }; // players by their names

export function show(main, { table, players }) {
  const board = el("div", { class: "board" });
  const choices = el("div", { class: "choices", role: "group", "aria-label": "Moves" });
  const filter = el("input", { type: "search", id: "moves-filter", placeholder: "Filter the moves", "aria-label": "Filter the moves", autocomplete: "off" });
  const all = el("ul", { class: "moves", "aria-label": "All legal moves" });
  const count = el("summary", {}, "All legal moves");
  const legal = el("details", { class: "legal" }, count, filter, all);
  const status = el("p", { class: "status", role: "status", "aria-live": "polite" });
  const names = el("ul", { class: "names", "aria-label": "Players" });
  const bars = el("div", { class: "bars", hidden: true });
  const seats = el("div", { class: "seats" });
  const slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step" });
  const where = el("output", {});
  const history = el("div", { class: "history", role: "group", "aria-label": "Moves made", tabindex: "0" });
  const rules = el("div", { class: "rules" });
  const search = el("div", { class: "search" }, el("p", {}, "Nobody has searched yet. Ask for a hint, or let the page play a side."));
  const facts = el("div", { class: "facts" });
  const banner = endBanner(table, order, () => state);
  const tally = tallyView(order);
  const hidden = hiddenView(table, () => showState(state), hear);
  const record = el("div", {}, history, el("div", { class: "steps" }, slider, where));
  const tabbed = tabs(
    [
      ["moves", "Moves", record],
      ["rules", "Rules", rules],
      ["search", "Search", search],
      ["state", "State", facts],
    ],
    "About this match",
  );
  let state = null;
  let stops = [];
  let asking = 0;
  let hinting = false;
  let lost = false;
  let flipped = false; // by hand
  let turned = false;
  let walking = ""; // the square that somebody wants to walk to
  let carrying = ""; // the square of what is to be pushed
  let thinking = null; // {role, until}
  const expects = new Map(); // role -> what its search expects

  async function order(name, body = {}) {
    clearError();
    try {
      await post(`/play/${table}/${name}`, { ...body, key: keyOf(table) });
    } catch (error) {
      fail(error);
    }
  }
  const button = (name, text, act, key) =>
    el("button", { type: "button", "data-order": name, title: key ? `key: ${key}` : false, onclick: act }, text);
  const pause = button("pause", "Pause", () => order(state?.waits ? "go" : "pause"), "p");
  const controls = el(
    "div",
    { class: "controls", role: "group", "aria-label": "Table" },
    button("back", "Take back", () => order("back"), "z"),
    ...tally.buttons,
    button("hint", "Hint", hint, "h"),
    pause,
    button("swap", "Swap sides", () => order("swap"), "s"),
    button("flip", "Flip", flip, "f"),
    soundButton(),
  );

  /** The board as the only person here sees it, or turned by hand; who looks on sees it from the first role's side. */
  function turnBoard() {
    const people = state.blind ? [state.blind.as ?? -1] : state.seats.flatMap((seat, role) => (seat === "human" ? [role] : []));
    turned = (people.length === 1 && Boolean(state.turned[people[0]])) !== flipped;
    turn(board, turned);
  }

  function flip() {
    flipped = !flipped;
    turnBoard();
  }

  function hint() {
    const role = state?.asked[asking]?.role ?? state?.asked[0]?.role ?? state?.choosing[0];
    if (role === undefined) return;
    hinting = true;
    tellStatus();
    order("hint", { role: state.roles[role] });
  }

  slider.addEventListener("input", () => order("goto", { step: Number(slider.value) }));

  function fillMoves() {
    const asked = state?.asked[asking];
    const words = filter.value.toLowerCase();
    const moves = asked?.moves ?? [];
    const shown = moves.filter(({ move, text }) => `${move} ${text}`.toLowerCase().includes(words));
    all.replaceChildren(
      ...shown.map(({ move, text }) => el("li", {}, el("button", { type: "button", "data-move": move, title: move, onclick: () => choose(asked.role, move) }, text))),
    );
    count.textContent = `All legal moves (${moves.length})`;
    legal.hidden = asked === undefined;
  }
  filter.addEventListener("input", fillMoves);
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    if (event.key === "Enter") all.querySelector("button")?.click();
    filter.value = "";
    filter.blur(); // so that the next key is an order again
    fillMoves();
  });

  function choose(role, move) {
    for (const stop of stops) stop();
    stops = [];
    order("move", { role: state.roles[role], move });
  }

  /** Alone on a board with directions one clicks where to go; where nobody can go, something is to be pushed. */
  function walk(role, key) {
    if (state.roles.length > 1) return;
    walking = key;
    order("walk", { role: state.roles[role], to: key, from: carrying });
    carrying = "";
    tellStatus();
  }

  function ask() {
    for (const stop of stops) stop();
    stops = [];
    choices.replaceChildren();
    asking = Math.min(asking, Math.max(state.asked.length - 1, 0));
    const asked = state.asked[asking];
    if (state.asked.length > 1) {
      // Several people at one screen choose one after the other.
      choices.append(
        ...state.asked.map(({ role }, i) =>
          el("button", { type: "button", "aria-pressed": String(i === asking), onclick: () => ((asking = i), ask()) }, `for ${state.roles[role]}`),
        ),
      );
    }
    if (asked !== undefined) {
      const list = el("div", { class: "offered" });
      choices.append(list);
      const arrows = !hasDirections(asked.moves);
      const other = arrows ? undefined : (key) => walk(asked.role, key);
      stops.push(askOn(board.querySelector("svg"), list, asked.moves, (move) => choose(asked.role, move), { other, arrows }));
    }
    fillMoves();
  }

  const person = (role) => state.seats[role] === "human";
  const alone = (role) => (state.blind ? state.blind.as === role : state.seats.filter((seat) => seat === "human").length === 1);
  const chance = (role) => state.roles[role] === "random" && state.seats[role] === "random";
  const seatName = (role) => (person(role) ? (alone(role) ? "you" : "a person") : chance(role) ? "⚄ chance" : (THE_PAGE[state.seats[role]] ?? state.seats[role]));

  /** What all have just chosen at the same time. */
  function together() {
    const last = state.history[state.step - 1]?.words ?? [];
    const told = last.flatMap((word, role) => (word === null ? [] : [`${state.roles[role]}: ${word}`]));
    return told.length > 1 ? `${told.join(", ")}. ` : "";
  }

  function tellStatus() {
    if (state === null) return;
    const asked = state.asked.map(({ role }) => role);
    const list = (roles) => roles.map((role) => state.roles[role]).join(", ");
    const atOnce = state.choosing.length > 1;
    let words;
    if (lost) words = "The server does not answer; trying again …";
    else if (state.over) words = "The match is over.";
    else if (state.why) words = state.why;
    else if (state.lost.length > 0 && !hinting) words = `Lost here: ${state.lost.join("; ")}. Press “Take back”.`;
    else if (hinting) words = "Looking for a good move …";
    else if (carrying) words = "Now click where it should go.";
    else if (asked.length > 0 && atOnce) {
      const chosen = state.chosen.filter((role) => state.choosing.includes(role));
      words = `${together()}${list(asked)}: choose, secretly.${chosen.length > 0 ? ` ${list(chosen)} ${chosen.length === 1 ? "has" : "have"} chosen.` : ""}`;
    } else if (asked.length > 0) words = asked.length === 1 && seatName(asked[0]) === "you" ? `Your turn (${list(asked)})` : `${list(asked)} to move`;
    else if (state.blind?.over) words = "The match is over. Looking back.";
    else if (state.waits) words = "Paused. Press “Go on”.";
    else if (state.blind) words = state.blind.as === null ? "The match goes on." : "The others choose …";
    else if (thinking !== null) words = `${state.roles[thinking.role]} thinks …`;
    else words = "…";
    status.textContent = words;
    pause.textContent = state.waits ? "Go on" : "Pause";
    pause.setAttribute("aria-pressed", String(state.waits));
    const mine = !state.over && asked.length > 0;
    document.title = `${mine ? "● Your turn - " : ""}${state.title} - kaskade`;
  }

  function fillNames() {
    names.replaceChildren(
      ...state.roles.map((role, i) => {
        const busy = !state.over && state.choosing.includes(i) && !state.chosen.includes(i);
        const clock = el("span", { class: "clock" }, "");
        if (state.over) clock.textContent = state.goals[i] ?? "";
        else if (thinking !== null && thinking.role === i) clock.textContent = `${Math.max(0, (thinking.until - Date.now()) / 1000).toFixed(0)} s`;
        else if (busy && person(i) && state.patience) clock.textContent = `${Math.max(0, (asksUntil - Date.now()) / 1000).toFixed(0)} s`;
        return el("li", { class: busy ? "turn" : "", "aria-current": busy ? "true" : false }, dot(role, i), el("strong", {}, role), " ", el("span", { class: "who", title: state.seats[i] }, seatName(i)), clock);
      }),
    );
  }
  let asksUntil = 0;
  setInterval(() => state !== null && (thinking !== null || state.patience) && fillNames(), 500);

  /** A bar for each role whose expectation is known; where two share 100, one tells the other. */
  function fillBars() {
    const shown = new Map(expects);
    if (state.over) state.goals.forEach((goal, role) => goal != null && shown.set(role, goal));
    bars.hidden = shown.size === 0;
    bars.replaceChildren(
      ...[...shown].sort(([a], [b]) => a - b).map(([role, value]) =>
        el("div", { class: "bar" }, el("meter", { min: 0, max: 100, value, "aria-label": `${state.roles[role]} expects` }), el("small", {}, `${state.roles[role]}${state.over ? "" : " expects"} ${Math.round(value)}`)),
      ),
    );
  }

  function fillSeats() {
    seats.replaceChildren(
      ...state.roles.map((role, i) =>
        el(
          "label",
          {},
          el("strong", {}, role),
          " ",
          el("input", { "data-role": role, list: "players", value: state.seats[i], autocomplete: "off", onchange: (event) => order("seat", { role, player: event.target.value.trim() }) }),
        ),
      ),
    );
  }

  function fillHistory() {
    const steps = state.history.map((step, i) => ({ ...step, titles: state.roles.map((role, j) => [step.moves[j], step.notes[role]].filter(Boolean).join(" - ")), number: i + 1 }));
    fillSteps(history, state.roles, steps, state.step, (step) => order("goto", { step }));
    slider.max = state.steps;
    slider.value = state.step;
    where.textContent = `step ${state.step} of ${state.steps}`;
  }

  function fillFacts() {
    facts.replaceChildren(
      ...(state.beside.length === 0 ? [el("p", {}, "All that is true stands on the board.")] : []),
      ...state.beside.map(({ name, rows }) => el("section", {}, el("h2", {}, name), el("p", {}, rows.map((words) => (Array.isArray(words) ? words.join(" ") : words)).filter(Boolean).join(", ")))),
      el("details", { class: "seating" }, el("summary", {}, "Change players"), seats),
    );
  }

  function showState(news) {
    const before = state === null || state.game !== news.game ? null : board.querySelector("svg");
    const focused = document.activeElement?.dataset?.square;
    const moved = state === null || news.step !== state.step || news.steps !== state.steps;
    soundOf(state, news);
    state = news;
    remember(table, news);
    thinking = null;
    hinting = false;
    walking = carrying = "";
    asksUntil = Date.now() + 1000 * news.patience;
    main.querySelector("h1").textContent = news.title;
    const { svg: now, shade } = hidden.drawn(news, drawing);
    board.replaceChildren(now);
    shade();
    turnBoard();
    if (moved) glide(before, now);
    hidden.show(news);
    // What was told is not taken back.
    const told = Boolean(news.blind && !news.blind.over && news.steps > 0);
    const outside = news.blind && news.blind.as == null && news.seats.includes("human");
    const people = news.roles.filter((role) => role !== "random").length;
    for (const [name, none] of [["hint", news.over || outside], ["pause", news.over || outside], ["back", told], ["swap", told || outside || people < 2], ["flip", now.querySelector("[data-turn]") === null]]) controls.querySelector(`[data-order=${name}]`).hidden = none;
    for (const [role, value] of Object.entries(news.history[news.step - 1]?.expects ?? {})) expects.set(news.roles.indexOf(role), value);
    fillNames();
    fillBars();
    fillSeats();
    if (news.blind && !news.blind.over) history.replaceChildren(ownHistory(news));
    else fillHistory();
    fillFacts();
    tally.show(news);
    banner.show(news);
    tellStatus();
    ask();
    if (focused !== undefined) board.querySelector(`[data-square="${CSS.escape(focused)}"][tabindex]`)?.focus();
  }

  function showHint({ role, candidates, note, move, over, step, expects: value }) {
    hinting = false;
    thinking = null;
    tellStatus();
    fillNames();
    if (step !== state.step) return;
    putOver(board.querySelector("svg"), over);
    if (value != null) expects.set(role, value);
    fillBars();
    status.textContent = `Hint: ${candidates[0]?.move ?? move}`;
    showSearch(search, state.roles[role], candidates, note);
  }

  fillRules(rules, table);

  main.append(
    el("datalist", { id: "players" }, ...players.map((name) => el("option", { value: name }))),
    el(
      "div",
      { class: "table" },
      el("div", { class: "head" }, names, status),
      el("div", { class: "middle" }, bars, board),
      el("div", { class: "side" }, tally.element, banner.element, hidden.element, choices, controls, legal, tabbed.element),
    ),
  );
  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.("input, select, textarea, [role=tab]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const asked = state?.asked[asking];
    const last = state?.history[state.step - 1]?.moves[asked?.role ?? 0];
    const move = asked && moveOfKey(asked.moves, turned ? (BACKWARDS[event.key] ?? event.key) : event.key, last);
    if (move !== undefined) {
      event.preventDefault();
      choose(asked.role, move);
    } else if (event.key === "/") {
      event.preventDefault();
      legal.open = true;
      filter.focus();
    } else {
      const name = { b: "back", Backspace: "back", u: "back", z: "back", y: "redo", r: "restart", g: "pause", p: "pause", h: "hint", s: "swap", f: "flip" }[event.key];
      if (name === undefined || (event.key === "g" && !state?.waits)) return;
      event.preventDefault();
      controls.querySelector(`[data-order=${name}]`).click();
    }
  });
  let unheard = () => {};
  /** Hears what happens at the table, from the chair that this browser has. */
  function hear() {
    unheard();
    unheard = listen(`/play/${table}/events?key=${encodeURIComponent(keyOf(table))}`, heard, () => fail(new Error("this table is there no more: open a new one")), (there) => {
      lost = !there;
      tellStatus();
    });
  }
  const heard = {
    state: showState,
    thinking: ({ role, seconds }) => {
      thinking = { role, until: Date.now() + 1000 * seconds };
      tellStatus();
      fillNames();
    },
    search: ({ role, candidates, note, expects: value }) => {
      if (value != null) expects.set(role, value);
      fillBars();
      showSearch(search, state.roles[role], candidates.map(([move, visits, worth]) => ({ move, visits, value: worth })), note);
    },
    hint: showHint,
    note: ({ text }) => {
      hinting = false;
      if (walking && text.startsWith("there is no way")) {
        carrying = walking;
        walking = "";
        for (const chosen of board.querySelectorAll(".gb-carried")) chosen.classList.remove("gb-carried");
        board.querySelector(`[data-square="${CSS.escape(carrying)}"]`)?.classList.add("gb-carried");
      } else fail(new Error(text, { cause: used }));
      tellStatus();
    },
    ended: ({ text }) => fail(new Error(`this table has ended: ${text}`)),
  };
  hear();
}
