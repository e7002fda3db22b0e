// A match, step by step: slider, keys, play, faults marked. It imports nothing: exported files carry it.

/** Turns a drawing for who sits at its top, or back; names and pieces stay upright. */
export function turn(svg, on) {
  const set = (element, turned) => {
    element.dataset.base ??= element.getAttribute("transform") ?? "";
    element.setAttribute("transform", `${element.dataset.base} ${on ? turned : ""}`.trim());
  };
  for (const element of svg.querySelectorAll("[data-turn]")) set(element, element.dataset.turn);
  for (const square of svg.querySelectorAll("[data-turn^=rotate] > [data-square]")) {
    const { x, y, width, height } = (square.querySelector(".gb-cell, .gb-reach") ?? square).getBBox();
    set(square, `rotate(180 ${x + width / 2} ${y + height / 2})`);
  }
}

/**
 * Fills `main` with a match. `story` is what /replay/story tells; `frame(step)` promises
 * {svg, beside} of a step.
 * The step stands in the page's address, after #. Returns `compare`, which takes what the rules say of each step (doubts,
 * moves in words, the reason of the end), `extend`, which takes a longer story of the same match, `again`, which draws the step once
 * more, `go` to a step, `here`, the step that is shown, and `remark`, which marks moves.
 */
export function view(main, story, frame) {
  let last = story.steps.length - 1;
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const who = (role) => `${story.roles[role] ?? `role ${role + 1}`}${story.players[role] ? ` (${story.players[role]})` : ""}`;
  const trouble = (step) => [...step.faults.map(({ role, text }) => `${who(role)}: ${text}`), ...(step.doubt ? [step.doubt] : [])];
  let bad = [];

  const board = make("div", { class: "board" });
  const slider = make("input", { type: "range", min: "0", max: String(last), value: "0", "aria-label": "Step" });
  const where = make("output", {});
  const said = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const moves = make("dl", { class: "joint" });
  const play = make("button", { type: "button", "aria-pressed": "false", title: "key: space" }, "Play");
  const speed = make("select", { "aria-label": "Speed" }, ...[["1000", "1 step a second"], ["300", "3 steps"], ["100", "10 steps"], ["2500", "slow"]].map(([value, text]) => make("option", { value }, text)));
  const list = make("div", { class: "history", role: "group", "aria-label": "Steps", tabindex: "0" });
  const times = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const marks = make("div", { class: "marks", "aria-hidden": "true" });
  let at = -1;
  let timer = null;
  let turned = false;

  // Until the rules have told the words, and where nobody knows them, the name by convention is passed over.
  const idle = (move) => move.toLowerCase() === "noop";
  const spoken = (step) => step.words ?? (step.moves.every(idle) ? step.moves : step.moves.map((move) => (idle(move) ? null : move)));
  let buttons = []; // for each step those that lead to it

  /** The steps in columns by role; who only waits is left out. */
  function fill() {
    bad = [];
    marks.replaceChildren();
    const width = Math.max(1, story.roles.length);
    const rows = [];
    let reached = width; // the last column of the row that is being filled
    buttons = story.steps.map((step, number) => {
      const wrong = trouble(step);
      if (wrong.length > 0) {
        bad.push(number);
        const mark = make("i");
        mark.style.left = `${(100 * number) / Math.max(1, last)}%`;
        marks.append(mark);
      }
      const button = (text, role) => {
        const fell = step.fell?.role === role ? step.fell.text : "";
        return make("button", { type: "button", class: wrong.length || fell ? "quiet wrong" : "quiet", title: [step.moves[role] ?? "", ...wrong, fell].filter(Boolean).join(" - "), onclick: () => go(number) }, fell ? `${text} ▼` : text);
      };
      if (number === 0) return [button("start", 0)];
      const words = spoken(step);
      const said = words.flatMap((word, role) => (word === null ? [] : [role]));
      const shown = said.length > 0 ? said : [0];
      if (shown[0] <= reached || width === 1) rows.push({});
      const row = rows.at(-1);
      for (const role of shown) row[role] = button(words[role] ?? "-", role);
      reached = shown.length > 1 ? width : shown[0];
      return shown.map((role) => row[role]);
    });
    list.replaceChildren(make("p", {}, buttons[0][0]), story.roles.length > 1 ? columns(rows) : make("ol", { class: "run" }, ...rows.map((row) => make("li", {}, row[0]))));
    toFault.hidden = bad.length === 0;
    fillTimes();
  }

  function columns(rows) {
    const heads = make("tr", {}, make("td"), ...story.roles.map((role) => make("th", { scope: "col" }, role)));
    const lines = rows.map((row, i) => make("tr", {}, make("td", { class: "number" }, `${i + 1}.`), ...story.roles.map((_, role) => make("td", {}, row[role] ?? ""))));
    return make("table", {}, make("thead", {}, heads), make("tbody", {}, ...lines));
  }

  /** How long each step took, as bars. */
  function fillTimes() {
    const most = Math.max(0, ...story.steps.map(({ seconds }) => seconds ?? 0));
    times.replaceChildren();
    times.toggleAttribute("hidden", most === 0);
    const put = (element, attributes) => {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
      return element;
    };
    put(times, { class: "times", viewBox: `0 0 ${Math.max(1, last)} 1`, preserveAspectRatio: "none", role: "img", "aria-label": `Time of each step, at most ${most} s` });
    story.steps.forEach(({ seconds }, number) => {
      if (!seconds || seconds < 0) return;
      const height = seconds / most;
      times.append(put(document.createElementNS(times.namespaceURI, "rect"), { x: number - 0.9, y: 1 - height, width: 0.8, height }));
    });
  }

  async function go(number, keep = true) {
    number = Math.max(0, Math.min(last, number));
    if (number === at) return;
    for (const button of buttons[at] ?? []) button.removeAttribute("aria-current");
    at = number;
    slider.value = String(number);
    where.textContent = `step ${number} of ${last}`;
    follow();
    if (keep) history.replaceState(null, "", `#${number}`);
    tell();
    try {
      const { svg, beside } = await frame(number);
      if (at !== number) return;
      const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
      board.replaceChildren(document.importNode(parsed, true), ...beside.map((line) => make("p", { class: "beside" }, line)));
      flip.hidden = board.querySelector("[data-turn]") === null;
      turn(board, turned);
    } catch (error) {
      said.textContent = error.message;
    }
  }

  function follow() {
    for (const button of buttons[at]) button.setAttribute("aria-current", "step");
    list.scrollTop += buttons[at][0].getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
  }

  function tell() {
    const step = story.steps[at];
    moves.replaceChildren(...spoken(step).flatMap((move, role) => (move === null ? [] : [make("dt", {}, who(role)), make("dd", {}, move)])));
    const time = step.seconds == null ? "" : `after ${step.seconds} s`;
    const end = at === last ? [result(), story.reason].filter(Boolean).join(": ") : "";
    const fell = step.fell ? `${who(step.fell.role)} ${step.fell.text}` : "";
    said.textContent = [time, end, fell, ...trouble(step)].filter(Boolean).join(" · ") || (at ? "" : "the match begins");
  }

  function result() {
    if (story.goals.length) return story.goals.map((goal, role) => `${who(role)} ${goal}`).join(", ");
    if (story.end) return story.end;
    return story.aborted ? "the match was aborted here" : "the record ends here";
  }

  function toggle() {
    if (timer !== null) {
      clearTimeout(timer);
      timer = null;
    } else {
      if (at === last) go(0);
      const next = () => {
        go(at + 1);
        timer = at < last ? setTimeout(next, Number(speed.value)) : null;
        show();
      };
      timer = setTimeout(next, Number(speed.value));
    }
    show();
  }

  function show() {
    play.textContent = timer === null ? "Play" : "Stop";
    play.setAttribute("aria-pressed", String(timer !== null));
  }

  play.addEventListener("click", toggle);
  slider.addEventListener("input", () => go(Number(slider.value)));
  const step = (text, label, to, key) => make("button", { type: "button", "aria-label": label, title: `key: ${key}`, onclick: () => go(to()) }, text);
  const nextFault = () => bad.find((number) => number > at) ?? bad[0] ?? at;
  const toFault = step("next fault", "next fault", nextFault, "n");
  const flip = make("button", { type: "button", "aria-pressed": "false", title: "key: f", onclick: flipped, hidden: "" }, "Flip");
  function flipped() {
    turned = !turned;
    flip.setAttribute("aria-pressed", String(turned));
    turn(board, turned);
  }
  const controls = make(
    "div",
    { class: "controls", role: "group", "aria-label": "Steps" },
    step("|◀", "first", () => 0, "Home"),
    step("◀", "back", () => at - 1, "left"),
    play,
    step("▶", "on", () => at + 1, "right"),
    step("▶|", "last", () => last, "End"),
    speed,
    flip,
    toFault,
  );
  const about = make("p", {}, `${story.title ? `${story.title}: ` : ""}${story.roles.map((_, role) => who(role)).join(", ")}. Startclock ${story.clocks[0]} s, playclock ${story.clocks[1]} s.`);
  if (story.rules === "named") about.append(" The record has no rules: those of the game of this name that comes along are used.");
  if (story.rules === "") about.append(" The rules of this game are not known: the board is guessed from the states.");
  main.append(
    about,
    make("div", { class: "table" }, board, make("div", { class: "side" }, said, moves, controls, make("div", { class: "steps" }, make("div", { class: "track" }, times, slider, marks), where), list)),
  );
  fill();

  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input:not([type=range]), select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      ArrowLeft: () => go(at - 1),
      ArrowRight: () => go(at + 1),
      ArrowUp: () => go(at - 10),
      ArrowDown: () => go(at + 10),
      Home: () => go(0),
      End: () => go(last),
      " ": toggle,
      f: flipped,
      n: () => go(nextFault()),
    }[event.key];
    if (!act || (event.key === " " && event.target.matches("button"))) return;
    event.preventDefault();
    act();
  });
  const asked = () => Number.parseInt(location.hash.slice(1), 10) || 0;
  window.addEventListener("hashchange", () => go(asked(), false));
  go(asked(), false);
  function compare({ doubts, words, reason }) {
    story.reason = reason;
    // A record that grows may have more steps by now than were told.
    const told = (steps) => Object.entries(steps).filter(([number]) => Number(number) <= last);
    for (const [number, text] of told(doubts)) story.steps[number].doubt = text;
    for (const [number, said] of told(words)) story.steps[number].words = said;
    fill();
    follow();
    tell();
  }
  function extend(longer) {
    const atEnd = at === last;
    story = longer;
    last = story.steps.length - 1;
    slider.max = String(last);
    fill();
    if (atEnd && at < last) go(last);
    else {
      follow();
      where.textContent = `step ${at} of ${last}`;
      tell();
    }
  }
  function again() {
    const here = at;
    at = -1;
    go(here, false);
  }
  /** Marks the moves after which the expected result fell most. */
  function remark(falls) {
    for (const fall of falls) story.steps[fall.step].fell = fall;
    fill();
    follow();
    tell();
  }
  return { compare, extend, again, go, remark, here: () => at };
}
