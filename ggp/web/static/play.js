// A table: the board, who plays and whose turn it is, and behind tabs the moves, the rules, the search and the state.
import { fillRules, showSearch } from "/static/about.js";
import { askOn } from "/static/clicks.js";
import { endBanner } from "/static/ending.js";
import { clockText, leftOf } from "/static/clocks.js";
import { hiddenView, ownHistory } from "/static/hidden.js";
import { fillSteps } from "/static/steps.js";
import { hasDirections, moveOfKey } from "/static/hands.js";
import { glide, putOver } from "/static/marks.js";
import { remember } from "/static/mine.js";
import { dot, levelMenu, playerName, playerNames } from "/static/opponent.js";
import { clearError, drawing, el, fail, listen, post, used } from "/static/page.js";
import { keyOf, seatsView } from "/static/seats.js";
import { tallyView } from "/static/tally.js";
import { soundButton, soundOf } from "/static/sound.js";
import { tabs } from "/static/tabs.js";
import { flipping } from "/static/turn.js";

const BACKWARDS = { ArrowUp: "ArrowDown", ArrowDown: "ArrowUp", ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
const SHORT = 20; // seconds on a clock that are few
const BEFORE = 8; // steps that tell one position from another with the same number

export function show(main, { table, players, offered }) {
  const board = el("div", { class: "board", tabindex: "-1" });
  const choices = el("div", { class: "choices", role: "group", "aria-label": "Moves" });
  const filter = el("input", { type: "search", id: "moves-filter", placeholder: "Filter the moves", "aria-label": "Filter the moves", autocomplete: "off" });
  const all = el("ul", { class: "moves", "aria-label": "All legal moves" });
  const count = el("summary", {}, "All legal moves");
  const legal = el("details", { class: "legal" }, count, filter, all);
  const status = el("p", { class: "status", role: "status", "aria-live": "polite" });
  const names = el("ul", { class: "names", "aria-label": "Players" });
  const bars = el("div", { class: "bars", hidden: true });
  const slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step" });
  const where = el("output", {});
  const history = el("div", { class: "history", role: "group", "aria-label": "Moves made", tabindex: "0" });
  const rules = el("div", { class: "rules" });
  const search = el("div", { class: "search" });
  const facts = el("div", { class: "facts" });
  const banner = endBanner(table, order, () => state);
  const tally = tallyView(order);
  const hidden = hiddenView(() => showState(told));
  const company = seatsView(table, order, hear);
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
  let told = null; // the newest state as the server sends it
  let state = null; // the same as the person at this screen has it: with `you`, its roles, and `rules`, whether it alone says what happens
  let people = { you: [], owner: false, seats: [] };
  let stops = [];
  let asking = 0;
  let hinting = false;
  let lost = false;
  const turning = flipping(board);
  /** The table is closed: nothing can be done here, and only a board that was drawn already is left to be seen. */
  function gone() {
    fail(new Error("This table is there no more. "));
    document.getElementById("error").append(el("a", { href: "/play" }, "Choose a game"));
    status.textContent = "";
    for (const part of [choices, controls, legal]) part.hidden = true;
    main.querySelector(".table").hidden = state === null;
  }
  let walking = ""; // the square that somebody wants to walk to
  let carrying = ""; // the square of what is to be pushed
  let thinking = null; // {role, until}
  const hints = new Map(); // position -> what hints say of it
  let running = {}; // what a search says of the shown position that goes on

  async function order(name, body = {}) {
    clearError();
    try {
      await post(`/play/${table}/${name}`, { ...body, key: keyOf(table) });
    } catch (error) {
      fail(error);
      unsend();
    }
  }
  let sent = null; // {role, step} of a choice that the table has not taken up: it is not asked for a second time
  function unsend() {
    if (sent === null) return;
    sent = null;
    showState(told);
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
    turning.button,
    ...company.buttons,
    soundButton(),
  );

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
    if (document.activeElement?.dataset?.square !== undefined) {
      square = document.activeElement.dataset.square;
      board.focus({ preventScroll: true }); // squares lose the focus when nothing can be chosen
    }
    for (const stop of stops) stop();
    stops = [];
    sent = { role, step: state.step };
    order("move", { role: state.roles[role], move, step: state.step });
  }

  /** Alone on a board with directions one clicks where to go; where nobody can go, something is to be pushed. */
  function walk(role, key) {
    if (state.roles.length > 1) return;
    walking = key;
    order("walk", { role: state.roles[role], to: key, origin: carrying });
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
  /** The others of a match in which nobody sees who is to choose. */
  const waitedFor = () => state.roles.filter((name, role) => name !== "random" && !state.you.includes(role)).join(" or ") || "chance";
  const chance = (role) => state.roles[role] === "random" && state.seats[role] === "random";
  function seatName(role) {
    if (chance(role)) return "⚄ chance";
    if (!person(role)) return playerName(state.seats[role], state.seconds[role]);
    const { name, here, free } = state.people[role] ?? {};
    if (free) return "free seat";
    if (state.you.length === 1 && state.you[0] === role) return name ? `${name} (you)` : "you";
    return `${name || "a person"}${here ? "" : " (away)"}`;
  }

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
    } else if (asked.length > 0) words = asked.length === 1 && state.you.length === 1 ? `Your turn (${list(asked)})` : `${list(asked)} to move`;
    else if (state.looks) words = `Looking back at step ${state.step}. A click on the last move goes back to the match.`;
    else if (state.people.some(({ free }) => free)) words = "Waiting for somebody to take the free seat.";
    else if (state.blind?.over) words = "The match is over. Looking back.";
    else if (state.waits) words = state.step < state.steps ? `You look at step ${state.step}. “Go on” plays from here.` : "Paused. Press “Go on”.";
    else if (state.blind) words = state.blind.as === null ? "The match goes on." : `Waiting for ${waitedFor()} …`;
    else if (thinking !== null) words = `${state.roles[thinking.role]} thinks …`;
    else words = state.choosing.length > 0 ? `${list(state.choosing.filter((role) => !state.chosen.includes(role)))} to move` : "…";
    status.textContent = words;
    pause.textContent = state.waits ? "Go on" : "Pause";
    pause.setAttribute("aria-pressed", String(state.waits));
    const mine = !state.over && asked.length > 0;
    document.title = `${mine ? "● Your turn - " : ""}${state.title} - kaskade`;
  }

  let rows = []; // of the names, each role's
  function fillNames() {
    if (rows.length !== state.roles.length) {
      rows = state.roles.map((role, i) => {
        const menu = levelMenu(role, offered, (player, seconds) => order("seat", { role, player, seconds }));
        const [who, clock] = [el("span", { class: "who" }), el("span", { class: "clock", role: "timer" })];
        return { menu, who, clock, item: el("li", {}, dot(role, i), el("strong", {}, role), " ", who, menu.element, clock) };
      });
      names.replaceChildren(...rows.map(({ item }) => item));
    }
    names.classList.toggle("timed", state.left !== null);
    names.classList.toggle("over", state.over);
    const busy = rows.map((_, i) => !state.over && state.choosing.includes(i) && !state.chosen.includes(i));
    rows.forEach(({ item, menu, who }, i) => {
      item.classList.toggle("turn", busy[i]);
      item.toggleAttribute("aria-current", busy[i]);
      const chosen = state.rules && !chance(i) && !(state.blind && !state.blind.over && state.steps > 0);
      menu.element.hidden = !chosen;
      menu.show(state.seats[i], state.seconds[i], state.you.includes(i), state.left !== null);
      const name = person(i) && state.people[i]?.name;
      who.hidden = chosen && !name;
      who.textContent = chosen ? name || "" : seatName(i);
      who.title = state.seats[i];
    });
    fillClocks();
  }
  function fillClocks() {
    rows.forEach(({ clock }, i) => {
      const asked = !state.over && person(i) && state.choosing.includes(i) && !state.chosen.includes(i);
      const left = state.left === null ? null : leftOf(state, i, came);
      if (state.over) clock.textContent = state.goals[i] ?? "";
      else if (left !== null) clock.textContent = chance(i) ? "" : clockText(left);
      else if (thinking !== null && thinking.role === i) clock.textContent = thinking.until > Date.now() ? `${Math.ceil((thinking.until - Date.now()) / 1000)} s` : "…";
      else clock.textContent = asked && state.patience ? `${Math.max(0, (came - Date.now()) / 1000 + state.patience).toFixed(0)} s` : "";
      clock.classList.toggle("short", !state.over && left !== null && left < SHORT && state.running.includes(i));
    });
  }
  let square = ""; // that had the focus
  let came = 0; // when the newest state came from the table
  setInterval(() => state !== null && fillClocks(), 200);

  /** What tells the shown position from others of this match. */
  const position = () => JSON.stringify([state.step, state.history.slice(Math.max(0, state.step - BEFORE), state.step).map(({ moves }) => moves)]);

  /** The figures of the shown step: of the searches that led to it, of hints, of a search that goes on. */
  function fillFigures() {
    const here = [hints.get(position()), running].filter((one) => one?.thought);
    const made = Object.entries(state.history[state.step - 1]?.expects ?? {}).map(([role, value]) => [state.roles.indexOf(role), value]);
    const shown = new Map([...made, ...here.flatMap(({ thought, value }) => (value == null ? [] : [[thought.role, value]]))]);
    if (state.over) state.goals.forEach((goal, role) => goal != null && shown.set(role, goal));
    bars.hidden = shown.size === 0;
    bars.replaceChildren(
      ...[...shown].sort(([a], [b]) => a - b).map(([role, value]) =>
        el("div", { class: "bar" }, el("meter", { min: 0, max: 100, value, "aria-label": `${state.roles[role]} expects` }), el("small", {}, `${state.roles[role]}${state.over ? "" : " expects"} ${Math.round(value)}`)),
      ),
    );
    const thought = here.at(-1)?.thought ?? state.thought[0];
    if (thought) showSearch(search, state.roles[thought.role], thought.candidates, thought.note);
    else search.replaceChildren(el("p", {}, "Nobody has searched at this step. Ask for a hint, or let the page play a side."));
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
      ...state.beside.map(({ name, rows: lines }) => el("section", {}, el("h2", {}, name), el("p", {}, lines.map((words) => (Array.isArray(words) ? words.join(" ") : words)).filter(Boolean).join(", ")))),
    );
  }

  /** What the person at this screen has of a state: the choices of its own roles, and what it may do. */
  function seen(news) {
    const { you } = people;
    const sitting = news.persons.filter((one) => one !== null);
    const between = new Set(sitting).size > 1;
    return { ...news, you, people: people.seats, between, rules: !between && (you.length > 0 || (people.owner && sitting.length === 0)), asked: news.asked.filter(({ role }) => you.includes(role) && sent?.role !== role) };
  }

  function showState(heard) {
    if (heard.step !== sent?.step || heard.chosen.includes(sent.role)) sent = null;
    const news = seen(heard);
    const before = state === null || state.game !== news.game ? null : board.querySelector("svg");
    const focused = document.activeElement?.dataset?.square;
    const moved = state === null || news.step !== state.step || news.steps !== state.steps;
    soundOf(state, news);
    if (told !== heard) came = Date.now() - 1000 * (heard.age ?? 0);
    told = heard;
    state = news;
    remember(table, news);
    thinking = null;
    hinting = false;
    walking = carrying = "";
    if (moved) running = {};
    main.querySelector("h1").textContent = news.title;
    const { svg: now, shade } = hidden.drawn(news, drawing);
    board.replaceChildren(now);
    shade();
    turning.show(news.you.length === 1 && Boolean(news.turned[news.you[0]])); // who looks on sees it from the first role's side
    if (moved) glide(before, now);
    hidden.show(news);
    // What was told is not taken back.
    const final = Boolean(news.blind && !news.blind.over && news.steps > 0);
    const alone = news.roles.filter((role) => role !== "random").length < 2;
    const none = { hint: !news.rules || news.over, pause: !news.rules || news.over, back: final || !(news.rules || (news.between && news.you.length > 0)), swap: !news.rules || final || alone };
    for (const [name, hides] of Object.entries(none)) controls.querySelector(`[data-order=${name}]`).hidden = hides;
    slider.disabled = !news.rules && news.you.length === 0;
    slider.parentElement.hidden = Boolean(news.blind && !news.blind.over); // steps are closed there until the end
    fillNames();
    fillFigures();
    company.show(news);
    if (news.blind && !news.blind.over) history.replaceChildren(ownHistory(news));
    else fillHistory();
    fillFacts();
    tally.show(news);
    banner.show(news);
    tellStatus();
    ask();
    if (focused !== undefined) square = focused;
    // Who plays by keys stays at the board while others move.
    if (focused !== undefined || document.activeElement === board) (board.querySelector(`[data-square="${CSS.escape(square)}"][tabindex]`) ?? board.querySelector("[data-square][tabindex]") ?? board).focus({ preventScroll: true });
  }

  function showHint({ role, candidates, note, words, over, step, expects: value }) {
    hinting = false;
    thinking = null;
    tellStatus();
    fillNames();
    if (step !== state.step) return;
    putOver(board.querySelector("svg"), over);
    hints.set(position(), { value, thought: { role, candidates, note } });
    fillFigures();
    status.textContent = `Hint: ${words}`;
  }

  fillRules(rules, table);

  main.append(
    playerNames(players),
    el(
      "div",
      { class: "table" },
      el("div", { class: "head" }, names, status),
      el("div", { class: "middle" }, bars, board),
      el("div", { class: "side" }, tally.element, banner.element, company.element, choices, hidden.element, controls, legal, tabbed.element),
    ),
  );
  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.("input, select, textarea, [role=tab]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const asked = state?.asked[asking];
    const last = state?.history[state.step - 1]?.moves[asked?.role ?? 0];
    const move = asked && moveOfKey(asked.moves, turning.turned() ? (BACKWARDS[event.key] ?? event.key) : event.key, last);
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
    unheard = listen(`/play/${table}/events?key=${encodeURIComponent(keyOf(table))}`, heard, gone, (there) => {
      lost = !there;
      tellStatus();
    });
  }
  const heard = {
    people: (news) => {
      const same = String(people.you) === String(news.you) && people.owner === news.owner;
      people = news;
      if (told === null) return;
      if (!same) return showState(told);
      state = seen(state.looks ? state : told); // a move that is half made stays so
      fillNames();
      company.show(state);
      tellStatus();
    },
    state: showState,
    thinking: ({ role, seconds }) => {
      thinking = { role, until: Date.now() + 1000 * seconds };
      tellStatus();
      fillNames();
    },
    search: ({ turn, role, candidates, note, expects: value }) => {
      if (turn !== state.step + 1) return;
      running = { value, thought: { role, candidates, note } };
      fillFigures();
    },
    hint: showHint,
    note: ({ text }) => {
      if (hinting) thinking = null; // no hint will come
      hinting = false;
      if (walking && text.startsWith("there is no way")) {
        carrying = walking;
        walking = "";
        for (const chosen of board.querySelectorAll(".gb-carried")) chosen.classList.remove("gb-carried");
        board.querySelector(`[data-square="${CSS.escape(carrying)}"]`)?.classList.add("gb-carried");
      } else fail(new Error(text, { cause: used }));
      unsend();
      tellStatus();
    },
    ended: ({ text }) => fail(new Error(`this table has ended: ${text}`)),
  };
  // A browser may keep a page that one has left, with its connections.
  window.addEventListener("pagehide", () => unheard());
  window.addEventListener("pageshow", ({ persisted }) => persisted && hear());
  hear();
}
