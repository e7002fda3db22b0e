// The play room: a new table, or one that is being played at.
import { askOn } from "/static/clicks.js";
import { clearError, drawing, el, expectation, fail, listen, post } from "/static/page.js";
import { styled } from "/static/styled.js";

export function show(main, { table, players }) {
  const board = el("div", { class: "board" });
  const choices = el("div", { class: "choices", role: "group", "aria-label": "Moves" });
  const filter = el("input", { type: "search", id: "moves-filter", placeholder: "/ filters the moves", autocomplete: "off" });
  const all = el("ul", { class: "moves", "aria-label": "All legal moves" });
  const status = el("p", { class: "status", role: "status", "aria-live": "polite" });
  const seats = el("div", { class: "seats" });
  const slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step" });
  const where = el("output", {});
  const history = el("ol", { class: "history", "aria-label": "Moves made", tabindex: "0" });
  const advice = el("div", { class: "advice", "aria-live": "polite" });
  const stylesheets = styled();
  let state = null;
  let stops = [];
  let asking = 0;

  const order = async (name, body = {}) => {
    clearError();
    try {
      await post(`/play/${table}/${name}`, body);
    } catch (error) {
      fail(error);
    }
  };
  const button = (name, text, act, key) =>
    el("button", { type: "button", "data-order": name, title: key ? `key: ${key}` : false, onclick: act }, text);
  const controls = el(
    "div",
    { class: "controls", role: "group", "aria-label": "Table" },
    button("back", "Take back", () => order("back"), "b"),
    button("go", "Go on", () => order("go"), "g"),
    button("pause", "Pause", () => order("pause"), "p"),
    button("hint", "Hint", hint, "h"),
    button("swap", "Swap sides", () => order("swap"), "s"),
  );

  function hint() {
    const role = state?.asked[asking]?.role ?? state?.asked[0]?.role ?? 0;
    advice.textContent = "thinking ...";
    order("hint", { role: state.roles[role] });
  }

  slider.addEventListener("input", () => order("goto", { step: Number(slider.value) }));

  function fillMoves() {
    const asked = state?.asked[asking];
    const words = filter.value.toLowerCase();
    const shown = (asked?.moves ?? []).filter((move) => move.move.toLowerCase().includes(words));
    all.replaceChildren(
      ...shown.map((move) => el("li", {}, el("button", { type: "button", "data-move": move.move, onclick: () => choose(asked.role, move.move) }, move.move))),
    );
    filter.hidden = asked === undefined;
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
      stops.push(askOn(board.querySelector("svg"), list, asked.moves, (move) => choose(asked.role, move)));
    }
    fillMoves();
  }

  function showState(news) {
    state = news;
    document.title = `${news.game} - kaskade`;
    main.querySelector("h1").textContent = news.game;
    const focused = document.activeElement?.dataset?.square;
    board.replaceChildren(drawing(news.svg));
    stylesheets.show(news.game, news.facts);
    seats.replaceChildren(
      ...news.roles.map((role, i) =>
        el(
          "label",
          {},
          el("strong", {}, role),
          news.over && news.goals[i] != null ? ` ${news.goals[i]} ` : " ",
          el("input", {
            "data-role": role,
            list: "players",
            value: news.seats[i],
            autocomplete: "off",
            onchange: (event) => order("seat", { role, player: event.target.value.trim() }),
          }),
        ),
      ),
    );
    slider.max = news.steps;
    slider.value = news.step;
    where.textContent = `step ${news.step} of ${news.steps}`;
    history.replaceChildren(
      ...news.history.map((step, i) =>
        el(
          "li",
          { "aria-current": i + 1 === news.step ? "step" : false },
          el("button", { type: "button", class: "quiet", onclick: () => order("goto", { step: i + 1 }) }, step.moves.join("  ")),
          ...Object.entries(step.notes).map(([role, note]) => el("small", {}, `${role}: ${note}`)),
        ),
      ),
    );
    history.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    if (news.over) status.textContent = `Over: ${news.roles.map((role, i) => `${role} ${news.goals[i] ?? "undefined"}`).join(", ")}${news.doubts.map((doubt) => `; ${doubt}`).join("")}`;
    else if (news.why) status.textContent = news.why;
    else if (news.asked.length > 0) status.textContent = `${news.asked.map(({ role }) => news.roles[role]).join(", ")} to move`;
    else if (news.waits) status.textContent = "paused";
    else status.textContent = "...";
    advice.replaceChildren();
    ask();
    if (focused !== undefined) board.querySelector(`[data-square="${CSS.escape(focused)}"][tabindex]`)?.focus();
  }

  function showHint({ role, candidates, note, move, step }) {
    if (step !== state.step) return;
    const clicks = state.asked.find((asked) => asked.role === role)?.moves.find((m) => m.move === move)?.clicks ?? [];
    for (const keys of clicks) board.querySelector(`[data-square="${CSS.escape(keys[0])}"]`)?.classList.add("gb-advised");
    const rows = candidates.map((c) =>
      el("tr", {}, el("td", {}, c.move), el("td", {}, expectation(c.value)), el("td", {}, c.visits.toLocaleString("en"))),
    );
    advice.replaceChildren(
      el("p", {}, `${state.roles[role]}: `, el("strong", {}, move), ` - ${note}`),
      el("table", {}, el("tr", {}, el("th", {}, "move"), el("th", {}, "expects of 100"), el("th", {}, "visits")), ...rows),
    );
  }

  main.append(
    el("datalist", { id: "players" }, ...players.map((name) => el("option", { value: name }))),
    el("div", { class: "table" }, el("div", {}, board, choices, stylesheets.label, stylesheets.frame), el("div", { class: "side" }, status, seats, controls, el("div", { class: "steps" }, slider, where), advice, filter, all, history)),
  );
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      filter.focus();
    } else {
      const name = { b: "back", g: "go", p: "pause", h: "hint", s: "swap" }[event.key];
      if (name) controls.querySelector(`[data-order=${name}]`).click();
    }
  });
  listen(`/play/${table}/events`, {
    state: showState,
    thinking: ({ role, seconds }) => (status.textContent = `${state?.roles[role] ?? ""} thinks for ${seconds} s`),
    hint: showHint,
    note: ({ text }) => {
      fail(new Error(text));
      if (advice.textContent === "thinking ...") advice.replaceChildren();
    },
    ended: ({ text }) => fail(new Error(`this table has ended: ${text}`)),
  });
}
