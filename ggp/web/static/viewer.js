// A match, step by step: slider, keys, play, faults marked. It imports nothing: exported files carry it.

/**
 * Fills `main` with a match. `story` is what /replay/story tells; `frame(step)` promises the SVG of a step.
 * The step stands in the page's address, after #. Returns `doubt`, which takes step -> where record and rules part,
 * and `extend`, which takes a longer story of the same match.
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
  const list = make("ol", { class: "history", start: "0", "aria-label": "Steps", tabindex: "0" });
  const marks = make("div", { class: "marks", "aria-hidden": "true" });
  let at = -1;
  let timer = null;

  const rows = [];

  function fill() {
    while (rows.length < story.steps.length) {
      rows.push(make("li"));
      list.append(rows.at(-1));
    }
    bad = [];
    marks.replaceChildren();
    story.steps.forEach((step, number) => {
      const wrong = trouble(step);
      const text = number === 0 ? "start" : step.moves.join("  ");
      const button = make("button", { type: "button", class: wrong.length ? "quiet wrong" : "quiet", onclick: () => go(number) }, text);
      rows[number].replaceChildren(button, ...wrong.map((line) => make("small", { class: "wrong" }, line)));
      if (wrong.length === 0) return;
      bad.push(number);
      marks.append(make("i", { class: `at-${2 * Math.round((50 * number) / Math.max(1, last))}` }));
    });
    toFault.hidden = bad.length === 0;
  }

  async function go(number, keep = true) {
    number = Math.max(0, Math.min(last, number));
    if (number === at) return;
    if (at >= 0) rows[at].removeAttribute("aria-current");
    at = number;
    slider.value = String(number);
    where.textContent = `step ${number} of ${last}`;
    rows[number].setAttribute("aria-current", "step");
    list.scrollTop = rows[number].offsetTop - list.clientHeight / 2;
    if (keep) history.replaceState(null, "", `#${number}`);
    tell();
    const step = story.steps[number];
    moves.replaceChildren(...step.moves.flatMap((move, role) => [make("dt", {}, who(role)), make("dd", {}, move)]));
    try {
      const svg = await frame(number);
      if (at !== number) return;
      const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
      board.replaceChildren(document.importNode(parsed, true));
    } catch (error) {
      said.textContent = error.message;
    }
  }

  function tell() {
    const step = story.steps[at];
    const time = step.seconds == null ? "" : `after ${step.seconds} s`;
    const end = at === last ? result() : "";
    said.textContent = [time, end, ...trouble(step)].filter(Boolean).join(" · ") || (at ? "" : "the match begins");
  }

  function result() {
    if (story.goals.length) return story.goals.map((goal, role) => `${who(role)} ${goal}`).join(", ");
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
  const toFault = step("next fault", "next fault", nextFault, "f");
  const controls = make(
    "div",
    { class: "controls", role: "group", "aria-label": "Steps" },
    step("|◀", "first", () => 0, "Home"),
    step("◀", "back", () => at - 1, "left"),
    play,
    step("▶", "on", () => at + 1, "right"),
    step("▶|", "last", () => last, "End"),
    speed,
    toFault,
  );
  const about = make("p", {}, `${story.game ? `${story.game}: ` : ""}${story.roles.map((_, role) => who(role)).join(", ")}. Startclock ${story.clocks[0]} s, playclock ${story.clocks[1]} s.`);
  if (!story.known) about.append(" The rules of this game are not known: the board is guessed from the states.");
  main.append(
    about,
    make("div", { class: "table" }, board, make("div", { class: "side" }, said, moves, controls, make("div", { class: "steps" }, make("div", { class: "track" }, slider, marks), where), list)),
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
      f: () => go(nextFault()),
    }[event.key];
    if (!act || (event.key === " " && event.target.matches("button"))) return;
    event.preventDefault();
    act();
  });
  const asked = () => Number.parseInt(location.hash.slice(1), 10) || 0;
  window.addEventListener("hashchange", () => go(asked(), false));
  go(asked(), false);
  function doubt(doubts) {
    for (const [number, text] of Object.entries(doubts)) story.steps[number].doubt = text;
    fill();
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
      where.textContent = `step ${at} of ${last}`;
      tell();
    }
  }
  return { doubt, extend };
}
