// What stands behind the tabs of a table: the rules in words and as they are written, and the last search.
import { el, expectation, get } from "/static/page.js";

const BEST = 3; // moves of a search that are shown with bars

/** Fills `element` with what a role's search thinks of its moves. */
export function showSearch(element, role, candidates, note) {
  const total = candidates.reduce((sum, one) => sum + one.visits, 0);
  element.replaceChildren(
    el("p", {}, el("strong", {}, role), ` ${note}`),
    el(
      "table",
      { class: "thought" },
      el("thead", {}, el("tr", {}, ...["move", "expects of 100", "looked at"].map((name) => el("th", { scope: "col" }, name)))),
      el(
        "tbody",
        {},
        ...candidates.map(({ move, visits, value }, i) =>
          el("tr", { class: i < BEST ? "best" : "" }, el("td", {}, move), el("td", {}, expectation(value)), el("td", {}, i < BEST ? el("meter", { min: 0, max: Math.max(1, total), value: visits, "aria-label": `share of ${move}` }) : "", ` ${visits.toLocaleString("en")}`)),
        ),
      ),
    ),
  );
}

/** Fills `element` with the rules of a table's game. */
export async function fillRules(element, table) {
  try {
    const { text } = await get(`/play/${table}/rules`);
    const head = [];
    for (const line of text.split("\n")) {
      if (!line.startsWith(";")) break;
      if (!/^;+ *draw:/.test(line)) head.push(line.replace(/^;+ ?/, ""));
    }
    element.replaceChildren(
      head.length > 0 ? el("pre", { class: "words", tabindex: "0", role: "region", "aria-label": "The rules in words" }, head.join("\n").trimEnd()) : el("p", {}, "The rules have no words of their own."),
      el("details", {}, el("summary", {}, "The rules as they are written"), el("pre", { tabindex: "0", role: "region", "aria-label": "The rules" }, text)),
    );
  } catch (error) {
    element.replaceChildren(el("p", {}, error.message));
  }
}
