// Games that hide something: what the role of a person knows, how likely the rest is, and after the end what each
// role knew.
import { el, shape } from "/static/page.js";
import { spot, squareOf } from "/static/marks.js";

const FEW = 12; // guesses that are shown at once
const DARKEST = 0.8; // of a shade, for what is nearly sure

/** Shades each square by how likely it is that something stands there, with the percentage. */
export function shade(svg, squares) {
  const group = shape("g", { class: "gb-over gb-shades" });
  for (const { square, things } of squares) {
    const place = squareOf(svg, square);
    if (place === null) continue;
    const { x, y, half } = spot(place);
    const [[, share, colour]] = things;
    const area = { x: x - half * 0.92, y: y - half * 0.92, width: half * 1.84, height: half * 1.84, rx: half * 0.2 };
    const words = { x: x + half * 0.5, y: y - half * 0.6, "font-size": half * 0.5, "data-turn": `rotate(180 ${x} ${y})` };
    group.append(shape("rect", { ...area, class: `gb-shade ${colour}`, "fill-opacity": ((DARKEST * share) / 100).toFixed(2) }), shape("text", { ...words, class: "gb-share" }, String(share)));
  }
  (svg.querySelector("[data-square]")?.parentNode ?? svg).append(group);
}

/** What is drawn and what the numbers and bars mean, in words. */
function meaning({ sees, squares, guesses, count, exact, quiet }, shades) {
  if (exact && count === 1) return "Only one position is possible now.";
  const shown = squares.length > 0 && shades.checked ? "The numbers on the board say how likely something stands there, in percent." : "";
  const bars = guesses.length > 0 && (!quiet || shades.checked) ? "The bars show how likely the rest is." : "";
  return [sees || "Drawn is what you know for sure.", shown, bars].filter(Boolean).join(" ");
}

const chips = (percepts) => percepts.map((words) => el("span", { class: "percept" }, words));

const nameOf = (square) => document.querySelector(`[data-square="${CSS.escape(square)}"] title`)?.textContent.split(":")[0] ?? square;

function likely({ squares, guesses }) {
  const lines = [...squares.map(({ square, things }) => [square, things]), ...guesses.map(([words, share]) => ["", [[words, share]]])];
  return el("ul", { class: "likely" }, ...lines.flatMap(([square, things]) => things.slice(0, 4).map(([words, share]) => el("li", {}, el("meter", { min: 0, max: 100, value: share, "aria-label": words }), ` ${share} % ${words}`, square ? el("small", {}, ` on ${nameOf(square)}`) : ""))));
}

/** Sets the box that has likelihoods shown, once: in quiet drawings, of pegs or seas, they wait to be asked for. */
function settle(shades, sight) {
  if (sight === undefined || shades.dataset.settled) return;
  shades.dataset.settled = "yes";
  shades.checked = !sight.quiet;
}

/** What a role knows: its last percepts, what is drawn, how likely the rest is. `shades` is the box that has it shaded. */
export function known(sight, shades) {
  settle(shades, sight);
  const { squares, guesses, count, exact, percepts, quiet } = sight;
  const saw = percepts.length > 0 ? el("p", { class: "saw" }, el("strong", {}, "New to you: "), ...chips(percepts)) : "";
  const many = exact ? `${count.toLocaleString("en")} positions are possible` : "among a great many possible positions";
  const box = el("label", {}, shades, quiet ? " Show what is possible" : " Show how likely on the board");
  const open = quiet || (guesses.length > 0 && guesses.length <= FEW);
  const bars = el("details", { open }, el("summary", { title: many }, "How likely the rest is"), likely(sight));
  const asked = (!quiet || shades.checked) && squares.length + guesses.length > 0;
  return el("div", {}, saw, el("p", { class: "possible" }, meaning(sight, shades)), quiet || squares.length > 0 ? box : "", asked ? bars : "");
}

/** The choice of whose knowledge is shown: of one of `seeing`, or all that is true. */
export function whose(seeing, roles, chosen, onchange) {
  const options = [["", "all that is true"], ...seeing.map((role) => [String(role), `what ${roles[role]} knew`])];
  return el("label", {}, "See ", el("select", { id: "see-as", onchange }, ...options.map(([value, words]) => el("option", { value, selected: value === chosen }, words))));
}

/** The moves of a person's own role, and what it saw of each step. */
export function ownHistory({ history, roles, blind }) {
  const role = blind.as;
  if (role === null) return el("p", {}, "What is played here is told after the end.");
  const noted = history.filter((step) => step.words[role] !== null || step.percepts.length > 0); // not what others do unseen
  const rows = noted.map((step, i) => el("tr", {}, el("td", { class: "number" }, `${i + 1}.`), el("td", { title: step.moves[role] }, step.words[role] ?? ""), el("td", {}, ...chips(step.percepts))));
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
    if (!blind.over) seen = "";
    if (blind.over) {
      const sight = chosen(news);
      const choice = whose(blind.sights.map(({ role }) => role), roles, seen, ({ target }) => ((seen = target.value), again()));
      element.replaceChildren(choice, ...(sight ? [known(sight, shades)] : []));
    } else element.replaceChildren(blind.as === null ? el("p", {}, "What is hidden is shown after the end.") : known(blind, shades));
  }

  return {
    element,
    show,
    /** The drawing to show of a state, the shades in it. */
    drawn(news, drawing) {
      const sight = chosen(news);
      settle(shades, sight ?? (news.blind?.squares && news.blind));
      const svg = drawing(sight?.svg ?? news.svg);
      return { svg, shade: () => shades.checked && shade(svg, sight?.squares ?? news.blind?.squares ?? []) };
    },
  };
}
