// A match, step by step: slider, keys, play, faults marked. Exported files carry it.
import { drawing, el, shape } from "/static/dom.js";
import { stepper } from "/static/stepper.js";
import { fillSteps, mark } from "/static/steps.js";
import { flipping } from "/static/turn.js";

/**
 * Fills `main` with a match. `story` is what /replay/story tells; `frame(step)` promises
 * {svg, beside} of a step.
 * The step stands in the page's address, after #. Returns `compare`, which takes what the rules say of each step (doubts,
 * moves in words, the reason of the end), `extend`, which takes a longer story of the same match, `again`, which draws the step once
 * more, `go` to a step, `here`, the step that is shown, and `remark`, which marks moves.
 */
export function view(main, story, frame) {
  let last = story.steps.length - 1;
  const called = (player) => (player === "human" ? "a person" : player.replace(/:(?!\/\/).*/, "")); // without options
  const who = (role) => `${story.roles[role] ?? `role ${role + 1}`}${story.players[role] ? ` (${called(story.players[role])})` : ""}`;
  const trouble = (step) => [...step.faults.map(({ role, text }) => `${who(role)}: ${text}`), ...(step.doubt ? [step.doubt] : [])];
  let bad = [];

  const board = el("div", { class: "board" });
  const slider = el("input", { type: "range", min: "0", max: String(last), value: "0", "aria-label": "Step" });
  const where = el("output", {});
  const said = el("p", { class: "status", role: "status", "aria-live": "polite" });
  const moves = el("dl", { class: "joint" });
  const list = el("div", { class: "history", role: "group", "aria-label": "Steps", tabindex: "0" });
  const times = shape("svg", { class: "times", preserveAspectRatio: "none", role: "img" });
  const faults = el("div", { class: "marks", "aria-hidden": "true" });
  let at = -1;
  const turning = flipping(board);

  // Until the rules have told the words, and where nobody knows them, the name by convention is passed over.
  const idle = (move) => move.toLowerCase() === "noop";
  const bare = (move) => move.replace(/^\((.*)\)$/, "$1");
  const spoken = (step) => step.words ?? (step.moves.every(idle) ? step.moves : step.moves.map((move) => (idle(move) ? null : bare(move))));
  let buttons = []; // for each step those that lead to it

  /** The steps in columns by role; who only waits is left out. */
  function fill() {
    bad = story.steps.flatMap((step, number) => (trouble(step).length > 0 ? [number] : []));
    faults.replaceChildren(...bad.map(() => el("i")));
    bad.forEach((number, i) => (faults.children[i].style.left = `${(100 * number) / Math.max(1, last)}%`));
    const start = el("button", { type: "button", class: story.steps[0].doubt ? "quiet wrong" : "quiet", title: trouble(story.steps[0]).join(" - "), onclick: () => go(0) }, "start");
    const made = el("div");
    const steps = story.steps.slice(1).map((step, i) => {
      const fell = (role) => step.fell?.role === role;
      return {
        number: i + 1,
        words: spoken(step).map((word, role) => (fell(role) ? `${word ?? "-"} ▼` : word)),
        titles: story.roles.map((_, role) => [step.moves[role] ?? "", ...trouble(step), fell(role) ? step.fell.text : ""].filter(Boolean).join(" - ")),
        wrong: story.roles.map((_, role) => trouble(step).length > 0 || fell(role)),
      };
    });
    buttons = [[start], ...fillSteps(made, story.roles, steps, at, go)];
    list.replaceChildren(el("p", {}, start), made);
    toFault.hidden = bad.length === 0;
    fillTimes();
  }

  /** How long each step took, as bars. */
  function fillTimes() {
    const most = Math.max(0, ...story.steps.map(({ seconds }) => seconds ?? 0));
    times.toggleAttribute("hidden", most === 0);
    times.setAttribute("viewBox", `0 0 ${Math.max(1, last)} 1`);
    times.setAttribute("aria-label", `Time of each step, at most ${most} s`);
    const bar = (seconds, number) => shape("rect", { x: number - 0.9, y: 1 - seconds / most, width: 0.8, height: seconds / most });
    times.replaceChildren(...story.steps.flatMap(({ seconds }, number) => (seconds > 0 ? [bar(seconds, number)] : [])));
  }

  async function go(number, keep = true) {
    number = Math.max(0, Math.min(last, number));
    if (number === at) return;
    at = number;
    slider.value = String(number);
    where.textContent = `step ${number} of ${last}`;
    follow();
    if (keep) history.replaceState(null, "", `#${number}`);
    tell();
    try {
      const { svg, beside } = await frame(number);
      if (at !== number) return;
      board.replaceChildren(drawing(svg), ...beside.map((line) => el("p", { class: "beside" }, line)));
      turning.show();
    } catch (error) {
      said.textContent = error.message;
    }
  }

  const follow = () => mark(list, buttons[at]);

  function tell() {
    const step = story.steps[at];
    moves.replaceChildren(...spoken(step).flatMap((move, role) => (move === null ? [] : [el("dt", {}, who(role)), el("dd", {}, move)])));
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

  slider.addEventListener("input", () => go(Number(slider.value)));
  const nextFault = () => go(bad.find((number) => number > at) ?? bad[0] ?? at);
  const toFault = el("button", { type: "button", title: "key: n", onclick: nextFault }, "next fault");
  const keys = { ArrowUp: () => go(at - 10), ArrowDown: () => go(at + 10), f: turning.flip, n: nextFault };
  const { controls: stepping } = stepper({ at: () => at, last: () => last, go, keys });
  const controls = el("div", { class: "controls", role: "group", "aria-label": "Steps" }, stepping, turning.button, toFault);
  const about = el("p", {}, `${story.title ? `${story.title}: ` : ""}${story.roles.map((_, role) => who(role)).join(", ")}.`);
  const details = el("p", {}, `${story.name}. Players: ${story.players.join(", ") || "unknown"}. Startclock ${story.clocks[0]} s, playclock ${story.clocks[1]} s.`);
  if (story.rules === "named") details.append(" The record has no rules: those of the game of this name that comes along are used.");
  if (story.rules === "") about.append(" The rules of this game are not known: the board is guessed from the states.");
  main.append(
    about,
    el("details", {}, el("summary", {}, "About this record"), details),
    el("div", { class: "table" }, board, el("div", { class: "side" }, said, moves, controls, el("div", { class: "steps" }, el("div", { class: "track" }, times, slider, faults), where), list)),
  );
  fill();

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
