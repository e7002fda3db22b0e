// A match step by step: board, slider, buttons, keys (arrows, Home, End, space), the moves with what went wrong.
import { drawing, el, fail } from "/static/page.js";

const PLAY_MS = 700;

/**
 * The view of a match.
 * `load(n)` gives a promise of the drawing of step n; `chosen(n)` is told which step is shown.
 * Returns `{parts, fill(about), show(n), at()}`; `parts` are elements to put onto the page.
 */
export function stepper(load, chosen = () => {}) {
  const board = el("div", { class: "board" });
  const slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step" });
  const where = el("output", { "aria-live": "polite" });
  const list = el("ol", { class: "history", "aria-label": "Steps", start: "0", tabindex: "0" });
  const marks = el("div", { class: "marks", "aria-hidden": "true" });
  const button = (name, text, key, act) => el("button", { type: "button", "data-go": name, title: `key: ${key}`, onclick: act }, text);
  let steps = [];
  let roles = [];
  let at = 0;
  let asked = 0;
  let timer = 0;

  const play = button("play", "Play", "space", () => (timer ? stop() : start()));
  const controls = el(
    "div",
    { class: "controls", role: "group", "aria-label": "Steps" },
    button("first", "First", "Home", () => go(0)),
    button("back", "Back", "left arrow", () => go(at - 1)),
    play,
    button("next", "Next", "right arrow", () => go(at + 1)),
    button("last", "Last", "End", () => go(steps.length - 1)),
    button("fault", "Next error", "e", nextFault),
  );

  function start() {
    if (at >= steps.length - 1) show(0);
    play.textContent = "Stop";
    timer = setInterval(() => (at < steps.length - 1 ? show(at + 1) : stop()), PLAY_MS);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }

  function go(number) {
    stop();
    return show(number);
  }

  function nextFault() {
    const ahead = steps.findIndex((step, i) => i > at && isWrong(step));
    const any = ahead >= 0 ? ahead : steps.findIndex(isWrong);
    if (any >= 0) go(any);
  }

  async function show(number) {
    if (steps.length === 0) return;
    at = Math.max(0, Math.min(number, steps.length - 1));
    slider.value = String(at);
    where.textContent = `step ${at} of ${steps.length - 1}`;
    for (const [i, item] of [...list.children].entries()) {
      if (i === at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    }
    const item = list.children[at];
    if (item) list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
    chosen(at);
    const mine = ++asked;
    try {
      const svg = await load(at);
      if (mine === asked) {
        board.replaceChildren(drawing(svg));
        board.dataset.step = String(at);
      }
    } catch (error) {
      stop();
      fail(error);
    }
  }

  function line(step, i) {
    const moves = step.moves.length > 0 ? step.moves.join("  ") : i === 0 ? "start" : "-";
    const wrong = (step.errors ?? []).flatMap((error, role) => (error ? [`${roles[role] ?? `role ${role + 1}`}: ${error}`] : []));
    const item = el("li", { class: wrong.length > 0 ? "wrong" : false }, el("button", { type: "button", class: "quiet", onclick: () => go(i) }, moves));
    item.append(...wrong.map((text) => el("small", { class: "fault" }, text)));
    if (step.note) item.append(el("small", {}, step.note));
    return item;
  }

  /** `about` has `roles` and `steps` ({moves, errors, note}). */
  function fill(about) {
    roles = about.roles;
    steps = about.steps;
    slider.max = String(Math.max(0, steps.length - 1));
    list.replaceChildren(...steps.map(line));
    const last = Math.max(1, steps.length - 1);
    const bars = steps.flatMap((step, i) => (isWrong(step) ? [`<rect class="mark" x="${(100 * i) / last - 0.4}" y="0" width="0.8" height="6"/>`] : []));
    marks.replaceChildren(drawing(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 6" preserveAspectRatio="none">${bars.join("")}</svg>`));
    controls.querySelector("[data-go=fault]").hidden = bars.length === 0;
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=range]), select, textarea")) return;
    // Space on a button is a click on it.
    if (event.key === " " && event.target.matches("button, summary, a")) return;
    const act = {
      ArrowLeft: () => go(at - 1),
      ArrowRight: () => go(at + 1),
      Home: () => go(0),
      End: () => go(steps.length - 1),
      " ": () => play.click(),
      e: nextFault,
    }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  return { parts: { board, controls, list, bar: el("div", { class: "steps" }, el("div", { class: "track" }, slider, marks), where) }, fill, show, at: () => at, playing: () => timer !== 0 };
}

function isWrong(step) {
  return (step.errors ?? []).some(Boolean);
}
