// Games that hide something: what the role of a person knows, how likely the rest is, and after the end what each
// role knew.
import { el } from "/static/page.js";
import { spot, squareOf } from "/static/marks.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const DARKEST = 0.8; // of a shade, for what is nearly sure

/** Shades each square by how likely it is that something stands there, with the percentage. */
export function shade(svg, squares) {
  const group = document.createElementNS(NAMESPACE, "g");
  group.setAttribute("class", "gb-over gb-shades");
  for (const { square, things } of squares) {
    const place = squareOf(svg, square);
    if (place === null) continue;
    const { x, y, half } = spot(place);
    const [[, share, colour]] = things;
    const area = document.createElementNS(NAMESPACE, "rect");
    const set = { x: x - half * 0.92, y: y - half * 0.92, width: half * 1.84, height: half * 1.84, rx: half * 0.2, class: `gb-shade ${colour}`, "fill-opacity": ((DARKEST * share) / 100).toFixed(2) };
    for (const [name, value] of Object.entries(set)) area.setAttribute(name, value);
    const words = document.createElementNS(NAMESPACE, "text");
    for (const [name, value] of Object.entries({ x: x + half * 0.5, y: y - half * 0.6, "font-size": half * 0.5, class: "gb-share" })) words.setAttribute(name, value);
    words.textContent = String(share);
    group.append(area, words);
  }
  (svg.querySelector("[data-square]")?.parentNode ?? svg).append(group);
}

/** What a role may hold for possible, in words. */
function possible({ count, exact }) {
  if (exact) return count === 1 ? "You know the whole state." : `Drawn is what is true in all ${count.toLocaleString("en")} states that are possible.`;
  return `Drawn is what is true in ${count.toLocaleString("en")} states drawn from all that are possible.`;
}

const chips = (percepts) => (percepts.length === 0 ? ["nothing"] : percepts.map((words) => el("span", { class: "percept" }, words)));

const nameOf = (square) => document.querySelector(`[data-square="${CSS.escape(square)}"] title`)?.textContent.split(":")[0] ?? square;

function likely({ squares, guesses }) {
  const lines = [...squares.map(({ square, things }) => [square, things]), ...guesses.map(([words, share]) => ["", [[words, share]]])];
  return el("ul", { class: "likely" }, ...lines.flatMap(([square, things]) => things.slice(0, 4).map(([words, share]) => el("li", {}, el("meter", { min: 0, max: 100, value: share, "aria-label": words }), ` ${share} % ${words}`, square ? el("small", {}, ` on ${nameOf(square)}`) : ""))));
}

/** What a role knows: its last percepts, what is drawn, how likely the rest is. `shades` is the box that has it shaded. */
export function known(sight, shades) {
  const saw = el("p", { class: "saw" }, el("strong", {}, "Seen last: "), ...chips(sight.percepts));
  const unsure = sight.squares.length + sight.guesses.length > 0;
  return el("div", {}, saw, el("p", { class: "possible" }, possible(sight)), sight.squares.length > 0 ? el("label", {}, shades, " Shade what is likely") : "", unsure ? el("details", {}, el("summary", {}, "How likely the rest is"), likely(sight)) : "");
}

/** The moves of a person's own role, and what it saw of each step. */
export function ownHistory({ history, roles, blind }) {
  const role = blind.as;
  if (role === null) return el("p", {}, "What is played here is told after the end.");
  const rows = history.map((step, i) => el("tr", {}, el("td", { class: "number" }, `${i + 1}.`), el("td", { title: step.moves[role] }, step.words[role] ?? "-"), el("td", {}, ...chips(step.percepts))));
  const heads = ["", roles[role], "saw"].map((name) => el("th", { scope: "col" }, name));
  return el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows.reverse()));
}

/** What a table shows of such a game. `again()` draws the newest state once more. */
export function hiddenView(again) {
  const element = el("section", { class: "known", "aria-label": "What is known", hidden: true });
  const shades = el("input", { type: "checkbox", id: "shades", checked: true, onchange: again });
  let seen = ""; // after the end: whose knowledge is shown

  /** What one role knew, after the end; else undefined. */
  const chosen = (news) => (news.blind?.over ? news.blind.sights.find(({ role }) => String(role) === seen) : undefined);

  function show(news) {
    const { blind, roles } = news;
    element.hidden = !blind;
    if (!blind) return;
    if (blind.over) {
      const options = [["", "all that is true"], ...blind.sights.map(({ role }) => [String(role), `what ${roles[role]} knew`])];
      const choice = el("select", { id: "see-as", onchange: (event) => ((seen = event.target.value), again()) }, ...options.map(([value, words]) => el("option", { value, selected: value === seen }, words)));
      const sight = chosen(news);
      element.replaceChildren(el("label", {}, "See ", choice), ...(sight ? [known(sight, shades)] : []));
    } else if (blind.as === null) {
      seen = "";
      element.replaceChildren(el("p", {}, "What is hidden is shown after the end."));
    } else {
      seen = "";
      element.replaceChildren(known(blind, shades));
    }
  }

  return {
    element,
    show,
    /** The drawing to show of a state, the shades in it. */
    drawn(news, drawing) {
      const sight = chosen(news);
      const svg = drawing(sight?.svg ?? news.svg);
      return { svg, shade: () => shades.checked && shade(svg, sight?.squares ?? news.blind?.squares ?? []) };
    },
  };
}
