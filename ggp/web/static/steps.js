// The moves of a match in words, in columns by role.
import { el } from "/static/page.js";

/**
 * Fills `element`. Each of `steps` has `words`, a text for each role, null where it only waits, `titles`, what more is
 * known of each role's move, and its `number`; `at` is the number of the step that is shown, `go(number)` shows another.
 * A role that is alone needs no columns.
 */
export function fillSteps(element, roles, steps, at, go) {
  const width = roles.length;
  const rows = [];
  let last = width; // the column that was filled last
  for (const { words, titles, number } of steps) {
    const idle = words.every((word) => word === null);
    words.forEach((word, role) => {
      if (word === null && !(idle && role === 0)) return;
      if (role <= last || rows.length === 0) rows.push([]);
      last = width === 1 ? width : role;
      rows.at(-1)[role] = el("button", { type: "button", class: "quiet", "aria-current": number === at ? "step" : false, title: titles[role], onclick: () => go(number) }, word ?? "-");
    });
    if (words.filter((word) => word !== null).length > 1) last = width; // all at once: a row of its own
  }
  if (width === 1) element.replaceChildren(el("ol", { class: "run" }, ...rows.map((cells) => el("li", {}, cells[0]))));
  else {
    const heads = el("tr", {}, el("td", {}), ...roles.map((role) => el("th", { scope: "col" }, role)));
    const lines = rows.map((cells, i) => el("tr", {}, el("td", { class: "number" }, `${i + 1}.`), ...roles.map((_, role) => el("td", {}, cells[role] ?? ""))));
    element.replaceChildren(el("table", {}, el("thead", {}, heads), el("tbody", {}, ...lines)));
  }
  const here = element.querySelector("[aria-current]");
  if (here) element.scrollTop = here.offsetTop - element.clientHeight / 2;
}
