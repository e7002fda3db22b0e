// What stands behind the tabs of a table: the rules in words and as they are written, and the last search.
import { el, expectation, get } from "/static/page.js";

const BEST = 3; // moves of a search that are shown with bars

/** Fills `element` with what a role's search thinks of its moves: of each candidate [move, visits, value]. */
export function showSearch(element, role, candidates, note) {
  const total = candidates.reduce((sum, [, visits]) => sum + visits, 0);
  element.replaceChildren(
    el("p", {}, el("strong", {}, role), ` ${note}`),
    el(
      "table",
      { class: "thought" },
      el("thead", {}, el("tr", {}, ...["move", "expects of 100", "looked at"].map((name) => el("th", { scope: "col" }, name)))),
      el(
        "tbody",
        {},
        ...candidates.map(([move, visits, value], i) =>
          el("tr", { class: i < BEST ? "best" : "" }, el("td", {}, move), el("td", {}, expectation(value)), el("td", {}, i < BEST ? el("meter", { min: 0, max: Math.max(1, total), value: visits, "aria-label": `share of ${move}` }) : "", ` ${visits.toLocaleString("en")}`)),
        ),
      ),
    ),
  );
}

/** Fills `element` with the rules of a table's game: how to play, and the file behind a button. */
export async function fillRules(element, table) {
  try {
    const { text, how } = await get(`/play/${table}/rules`);
    const file = el("pre", { tabindex: "0", role: "region", id: "rules-file", "aria-label": "The rules' file", hidden: true }, text);
    const words = (shown) => `${shown ? "Hide" : "Show"} the rules' file`;
    const toggle = el("button", { type: "button", "aria-expanded": "false", "aria-controls": "rules-file" }, words(false));
    toggle.addEventListener("click", () => {
      file.hidden = !file.hidden;
      toggle.setAttribute("aria-expanded", String(!file.hidden));
      toggle.textContent = words(!file.hidden);
    });
    const head = /^(?:;.*\n)*/.exec(text)[0].replace(/^;+ ?/gm, "").trim(); // what stands above rules that say no more
    const told = how ? el("p", { class: "how" }, how) : head ? el("pre", { tabindex: "0", role: "region", "aria-label": "The rules in words" }, head) : el("p", {}, "These rules do not say in words how to play.");
    element.replaceChildren(told, el("p", {}, toggle), file);
  } catch (error) {
    element.replaceChildren(el("p", {}, error.message));
  }
}
