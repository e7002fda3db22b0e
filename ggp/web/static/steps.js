// The moves of a match in words, in columns by role. Exported files carry it.
import { el } from "/static/dom.js";

/**
 * Fills `element`, and returns for each step the buttons that lead to it. Each of `steps` has `words`, a text for each
 * role, null where it only waits, `titles`, what more is known of each role's move, its `number`, and perhaps `wrong`,
 * for each role whether its move is marked; `at` is the number of the step that is shown, `go(number)` shows another.
 * A role that is alone needs no columns.
 */
export function fillSteps(element, roles, steps, at, go) {
  const width = Math.max(1, roles.length);
  const rows = [];
  let last = width; // the column that was filled last
  const buttons = steps.map(({ words, titles, number, wrong = [] }) => {
    const spoken = words.flatMap((word, role) => (word === null ? [] : [role]));
    const shown = spoken.length > 0 ? spoken : [0];
    const made = shown.map((role) => el("button", { type: "button", class: wrong[role] ? "quiet wrong" : "quiet", title: titles[role], onclick: () => go(number) }, words[role] ?? "-"));
    if (shown[0] <= last || width === 1) rows.push([]);
    shown.forEach((role, i) => (rows.at(-1)[role] = made[i]));
    last = shown.length > 1 ? width : shown[0]; // all at once: a row of its own
    return made;
  });
  const heads = el("tr", {}, el("td"), roles.map((role) => el("th", { scope: "col" }, role)));
  const lines = rows.map((cells, i) => el("tr", {}, el("td", { class: "number" }, `${i + 1}.`), roles.map((_, role) => el("td", {}, cells[role] ?? ""))));
  element.replaceChildren(width === 1 ? el("ol", { class: "run" }, rows.map((cells) => el("li", {}, cells[0]))) : el("table", {}, el("thead", {}, heads), el("tbody", {}, lines)));
  mark(element, buttons[steps.findIndex(({ number }) => number === at)]);
  return buttons;
}

/** Marks the buttons of the step that is shown, instead of others, and brings them into view. */
export function mark(element, buttons = []) {
  for (const other of element.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
  for (const button of buttons) button.setAttribute("aria-current", "step");
  if (buttons.length > 0) element.scrollTop += buttons[0].getBoundingClientRect().top - element.getBoundingClientRect().top - element.clientHeight / 2;
}
