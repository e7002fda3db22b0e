// Clocks: how they are chosen, and how a table shows them ticking.
import { el } from "/static/page.js";

const OFFERED = ["3+2", "5+3", "10+5", "30+20"]; // minutes and increment

/** Seconds as a clock shows them: 4:05, and tenths when it matters. */
export function clockText(seconds) {
  if (seconds < 10) return Math.max(0, seconds).toFixed(1);
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return [...(hours ? [hours] : []), hours ? String(minutes).padStart(2, "0") : minutes, String(whole % 60).padStart(2, "0")].join(":");
}

/** What a role has left of a state that came `since` (a time of Date.now()). */
export const leftOf = (state, role, since) => state.left[role] - (state.running.includes(role) ? (Date.now() - since) / 1000 : 0);

/** The choice of a clock for a new table; `value()` gives the fields of its opening. */
export function clockChoice() {
  const number = (id, max, value) => el("input", { id, type: "number", min: "0", max, step: "any", value });
  const [minutes, increment, patience] = [number("minutes", "600", "10"), number("increment", "3600", "5"), number("patience", "3600", "0")];
  const own = el("div", { class: "custom", hidden: true }, el("label", {}, "Minutes for the match: ", minutes), el("label", {}, "Seconds more after each move: ", increment), el("label", {}, "Seconds a person has for a move (0: no limit): ", patience));
  const choice = el("select", { id: "time", onchange: () => (own.hidden = choice.value !== "own") }, ...[["", "no clock"], ...OFFERED.map((one) => [one, `${one.replace("+", " min + ")} s a move`]), ["own", "own …"]].map(([value, words]) => el("option", { value }, words)));

  function value() {
    if (choice.value === "own") return { minutes: Number(minutes.value), increment: Number(increment.value), patience: Number(patience.value) };
    const [whole, more] = choice.value.split("+").map(Number);
    return choice.value ? { minutes: whole, increment: more } : {};
  }
  return { element: el("fieldset", {}, el("legend", {}, "Clock"), el("label", {}, "For each side: ", choice), own), value };
}
