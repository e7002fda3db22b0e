// Buttons and keys that go from step to step, and play. Exported files carry it.
import { el } from "/static/dom.js";

const SPEEDS = [["1000", "1 step a second"], ["300", "3 steps"], ["100", "10 steps"], ["2500", "slow"]]; // ms

/**
 * `controls`, buttons for a toolbar, and `toggle`, which plays or stops. `at()` and `last()` are steps, `go(step)` shows one,
 * `keys` are what more keys do.
 */
export function stepper({ at, last, go, speed = "1000", keys = {} }) {
  const step = (text, label, to, key) => el("button", { type: "button", "aria-label": label, title: `key: ${key}`, onclick: () => go(to()) }, text);
  const play = el("button", { type: "button", id: "toggle", "aria-pressed": "false", title: "key: space", onclick: toggle }, "Play");
  const pace = el("select", { "aria-label": "Speed" }, ...SPEEDS.map(([value, text]) => el("option", { value, selected: value === speed }, text)));
  let timer = null;

  function wait(goes) {
    clearTimeout(timer);
    timer = goes ? setTimeout(next, Number(pace.value)) : null;
    play.textContent = goes ? "Stop" : "Play";
    play.setAttribute("aria-pressed", String(goes));
  }
  async function next() {
    const mine = timer;
    await go(at() + 1);
    if (mine === timer) wait(at() < last());
  }
  async function toggle() {
    if (timer === null && at() === last()) await go(0);
    wait(timer === null);
  }
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input:not([type=range]), select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const own = { ArrowLeft: () => go(at() - 1), ArrowRight: () => go(at() + 1), Home: () => go(0), End: () => go(last()), " ": toggle };
    const act = { ...own, ...keys }[event.key];
    if (!act || (event.key === " " && event.target.matches("button"))) return;
    event.preventDefault();
    act();
  });
  const back = [step("|◀", "first", () => 0, "Home"), step("◀", "back", () => at() - 1, "left")];
  const on = [step("▶", "on", () => at() + 1, "right"), step("▶|", "last", last, "End")];
  return { controls: [...back, play, ...on, pace], toggle };
}
