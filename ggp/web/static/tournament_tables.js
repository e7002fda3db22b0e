// The tables of a tournament and their plots. Reports carry it.
import { el, shape } from "/static/dom.js";

const link = (replay, number) => (replay ? el("a", { href: replay(number) }, `${number}`) : `${number}`);

function table(heads, rows) {
  const cell = (value) => el("td", {}, value instanceof Node ? value : String(value ?? ""));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell))))));
}

/** Ratings as dots with their 95 % intervals, best first. */
function ratingsPlot(ratings) {
  const left = 10 + 8 * Math.max(...ratings.map(({ player }) => Math.min(player.length, 30)));
  const low = Math.min(0, ...ratings.map((one) => one.low));
  const high = Math.max(0, ...ratings.map((one) => one.high));
  const x = (elo) => left + 20 + (560 * (elo - low)) / Math.max(1, high - low);
  const height = 30 + 28 * ratings.length;
  const words = ratings.map(({ player, elo, low: from, high: to }) => `${player} ${elo} (${from} to ${to})`).join(", ");
  const plot = shape("svg", { class: "plot", viewBox: `0 0 ${left + 600} ${height}`, width: left + 600, role: "img", "aria-label": `Elo: ${words}` });
  const span = high - low;
  const step = [10, 20, 50, 100, 200, 500, 1000, 2000].find((s) => span / s <= 9) ?? 5000;
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) {
    plot.append(shape("line", { x1: x(tick), x2: x(tick), y1: 0, y2: height - 22 }), shape("text", { x: x(tick), y: height - 6, "text-anchor": "middle" }, String(tick)));
  }
  ratings.forEach((one, row) => {
    const y = 18 + 28 * row;
    const name = one.player.length > 30 ? `${one.player.slice(0, 29)}…` : one.player;
    plot.append(
      shape("text", { x: left, y: y + 4, "text-anchor": "end" }, name),
      shape("line", { class: "bar", x1: x(one.low), x2: x(one.high), y1: y, y2: y }),
      shape("circle", { class: "dot", cx: x(one.elo), cy: y, r: 6 }),
    );
  });
  return plot;
}

/** The log likelihood ratio after each opening, between its bounds. */
function testPlot({ history, bounds, line }) {
  const [low, high] = [Math.min(bounds[0], ...history) * 1.1, Math.max(bounds[1], ...history) * 1.1];
  const y = (value) => 180 - (170 * (value - low)) / (high - low);
  const x = (i) => 50 + (540 * i) / Math.max(1, history.length - 1);
  const plot = shape("svg", { class: "plot", viewBox: "0 0 600 190", width: 600, role: "img", "aria-label": line });
  for (const [value, name] of [[bounds[0], "bound"], [0, ""], [bounds[1], "bound"]]) {
    plot.append(shape("line", { class: name, x1: 50, x2: 590, y1: y(value), y2: y(value) }), shape("text", { x: 44, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(1)));
  }
  plot.append(shape("polyline", { class: "curve", points: history.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }));
  return plot;
}

/**
 * All tables of a tournament, as the parts of a page. `replay` gives the address of a match by its number, and `form` asks
 * for a test of two players; a file that stands alone has neither.
 */
export function tables(told, replay = null, form = null) {
  const shown = [
    el("p", { role: "status" }, el("progress", { max: told.total, value: told.played, "aria-label": "matches played" }), ` ${told.played} of ${told.total} matches; startclock ${told.clocks[0]} s, playclock ${told.clocks[1]} s${told.about ? `; ${told.about}` : ""}`),
  ];
  if (told.ratings.length) {
    const rows = told.ratings.map((one, i) => [i + 1, one.player, one.elo, `${one.low} to ${one.high}`, one.sure === null ? "" : `${one.sure} %`]);
    shown.unshift(el("p", { class: "lead" }, told.verdict));
    shown.push(el("h2", {}, "Ratings"), ratingsPlot(told.ratings), table(["rank", "player", "Elo", "95 % interval", "stronger than next"], rows));
  }
  for (const reason of told.unrated) shown.push(el("p", { class: "unrated" }, reason));
  if (told.played + told.failures.length === 0) return shown;
  if (told.test || form) {
    shown.push(el("h2", {}, "Sequential test"), ...(told.test ? [el("p", {}, told.test.line), testPlot(told.test)] : []), ...(form ? [form] : []));
  }
  const list = el("div", {});
  const pick = (a, b) => {
    list.replaceChildren(...matchList(told, replay, a, b));
    list.scrollIntoView({ block: "start" });
    list.querySelector("button, a")?.focus({ preventScroll: true });
  };
  const cells = told.rated.map((name, i) => [name, ...told.cross[i].map((text, j) => crossCell(text, name, told.rated[j], pick))]);
  shown.push(el("h2", {}, "Who beat whom"), table(["score of, against", ...told.rated], cells), el("p", { class: "hint" }, "Blue: more than half. Orange: less. A cell leads to its matches."));
  shown.push(el("h2", {}, "By game"), table(["game", "player", "score", "won, drawn, lost", "mean goal in each role"], told.games));
  shown.push(el("h2", {}, "Conduct"), table(["player", "matches", "steps", "late", "illegal", "crashed"], told.conduct), el("p", { class: "hint" }, "A late, illegal or missing answer is replaced by a random legal move."));
  if (told.faults.length) shown.push(el("h2", {}, "Faults"), table(["player", "fault", "times", "first in match", "game", "when"], told.faults.map(([who, what, times, match, ...rest]) => [who, what, times, link(replay, match), ...rest])));
  if (told.failures.length) shown.push(el("h2", {}, "Not played"), el("ul", {}, ...told.failures.map((line) => el("li", {}, line))));
  list.append(...matchList(told, replay));
  shown.push(list);
  return shown;
}

/** A score in colours that all can tell apart, the stronger the further from a half. */
function crossCell(text, name, other, pick) {
  const share = /([\d.]+)\s*%/.exec(text);
  if (share === null || name === other) return text;
  const value = Number(share[1]);
  const kind = value > 50 ? "more" : value < 50 ? "less" : "even";
  const depth = Math.min(3, Math.ceil(Math.abs(value - 50) / 17));
  return el("button", { type: "button", class: `cross ${kind} depth${depth}`, title: `Matches of ${name} and ${other}`, onclick: () => pick(name, other) }, text);
}

/** The newest matches, those of two players where they are named. */
function matchList(told, replay, a = null, b = null) {
  const wanted = told.matches.filter(({ seats }) => a === null || (seats.includes(a) && seats.includes(b)));
  const all = a === null ? null : el("p", {}, el("button", { type: "button", onclick: (event) => event.target.closest("div").replaceChildren(...matchList(told, replay)) }, "All matches"));
  const rows = [...wanted].reverse().map((one) => [link(replay, one.number), one.game, one.seats.join(" - "), one.goals.join(" - ") + (one.completed ? "" : " (cut)"), one.steps, one.seconds, one.faults || ""]);
  const title = a === null ? "Matches, newest first" : `${a} and ${b}: matches, newest first`;
  return [el("h2", {}, title), all, table(["match", "game", "players", "goals", "steps", "seconds", "faults"], rows)].filter(Boolean);
}
