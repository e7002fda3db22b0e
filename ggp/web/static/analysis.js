// What a search expects at each step of a recorded match: a graph, the moves after which that fell most, a table.
import { dot, openSheet } from "/static/opponent.js";
import { clearError, el, fail, get, post, shape } from "/static/page.js";

/**
 * The part of a replay that asks for an analysis. `go(step)` shows a step, `remark(falls)` marks moves in its list,
 * `here()` is the step that is shown. `at(step)` of the result is to be called when another one is.
 */
export function analysis(query, story, { go, remark, here }) {
  const last = Math.max(1, story.steps.length - 1);
  const roles = story.roles.flatMap((role, i) => (role === "random" ? [] : [i]));
  const status = el("p", { role: "status" });
  const bar = el("progress", { "aria-label": "Search", hidden: true });
  const graph = shape("svg", { class: "graph", role: "img", viewBox: `0 0 ${last} 100`, preserveAspectRatio: "none" });
  const legend = el("p", { class: "legend" });
  const falls = el("ol", { class: "falls" });
  const table = el("details", {}, el("summary", {}, "As a table"));
  const found = el("div", { hidden: true }, graph, legend, falls, table);
  const ask = el("button", { type: "button", id: "analyse", hidden: story.roles.length < 2, onclick: begin }, "Analyse");
  const onward = el("button", { type: "button", id: "go-on", onclick: goOn }, "Go on from this step");
  const element = el("section", { class: "analysis", "aria-label": "Analysis" }, el("div", { class: "row" }, ask, onward), status, bar, found);
  let told = { values: [], falls: [] };

  const of = (values, role) => (values?.[role] == null ? "" : String(Math.round(values[role])));
  const expected = (step) => roles.flatMap((role) => (of(told.values[step], role) ? [`${story.roles[role]} ${of(told.values[step], role)}`] : [])).join(", ");
  const words = ({ step, role }) => `${step}. ${story.roles[role]} ${story.steps[step].words?.[role] ?? story.steps[step].moves[role]}`;

  function fill() {
    graph.replaceChildren(shape("path", { d: `M0 50H${last}` }));
    for (const role of told.constant ? roles.slice(0, 1) : roles) {
      const points = told.values.flatMap((values, step) => (values[role] == null ? [] : [`${step} ${100 - values[role]}`]));
      const colour = dot(story.roles[role], role).className.replace("dot ", "");
      if (points.length > 0 && told.constant) graph.append(shape("path", { d: `M0 100L${points.join("L")}V100Z`, class: `share ${colour}` }));
      if (points.length > 0) graph.append(shape("path", { d: `M${points.join("L")}`, class: `line ${colour}` }));
    }
    for (const fall of told.falls) graph.append(shape("path", { d: `M${fall.step} ${told.constant && fall.role !== roles[0] ? fall.after : 100 - fall.after}h0`, class: "fall" }, shape("title", {}, words(fall))));
    graph.append(shape("path", { class: "here" }));
    graph.setAttribute("aria-label", `Expected results, step by step; the table below has them. At first ${expected(0) || "unknown"}, at last ${expected(last) || "unknown"}.`);
    at(here());
  }

  function at(step) {
    graph.querySelector(".here")?.setAttribute("d", `M${step} 0V100`);
    const lines = told.constant ? [dot(story.roles[roles[0]], roles[0]), ` Coloured: the result that ${story.roles[roles[0]]} expects. `] : roles.flatMap((role) => [dot(story.roles[role], role), ` ${story.roles[role]} `]);
    legend.replaceChildren(...lines, expected(step) && `Step ${step}: ${expected(step)} of 100.`);
    onward.hidden = story.hidden.length > 0 || (story.goals.length > 0 && step === last);
  }

  function finish(answer) {
    told = answer;
    found.hidden = false;
    const sentence = ({ before, after, better }) => `expected ${before} of 100, then ${after}; better: ${better}`;
    const notes = [told.falls.length > 0 ? "The expected result fell most after these moves:" : "After no move did the expected result fall much."];
    if (told.hidden) notes[0] = "The search sees what was hidden from the roles, so no move is called worse than another.";
    if (!told.values.slice(0, -1).flat().some((value) => value !== null)) notes[0] = "These rules are too slow for a search of some seconds.";
    if (told.every > 1) notes.push(`The match is long: one state in ${told.every} was searched.`);
    status.textContent = notes.join(" ");
    falls.replaceChildren(...told.falls.map((fall) => el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => go(fall.step) }, el("strong", {}, words(fall)), ` ${sentence(fall)}`))));
    remark(told.falls.map((fall) => ({ ...fall, text: sentence(fall) })));
    const heads = ["step", ...roles.map((role) => story.roles[role])].map((name) => el("th", { scope: "col" }, name));
    const rows = told.values.map((values, step) => el("tr", {}, el("td", {}, el("button", { type: "button", class: "quiet", onclick: () => go(step) }, String(step))), ...roles.map((role) => el("td", {}, of(values, role)))));
    table.append(el("div", { class: "values", tabindex: "0", role: "region", "aria-label": "Expected results" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows))));
    fill();
  }

  async function begin() {
    clearError();
    ask.hidden = true;
    status.textContent = "Searching …";
    bar.hidden = false;
    try {
      finish(await post(`/replay/analysis?${query}`));
    } catch (error) {
      status.textContent = "";
      ask.hidden = false;
      fail(error);
    }
    bar.hidden = true;
  }

  /** A sheet for a table that begins with the step that is shown. */
  async function goOn() {
    clearError();
    try {
      const { rules } = await get(`/replay/rules?${query}`);
      openSheet({ title: story.title || story.name, line: `From step ${here()}`, roles: story.roles, kind: "own", rules, moves: story.steps.slice(1, here() + 1).map(({ moves }) => moves) }, {});
    } catch (error) {
      fail(error);
    }
  }

  graph.addEventListener("click", ({ clientX }) => {
    const { left, width } = graph.getBoundingClientRect();
    go(Math.round(((clientX - left) / width) * last));
  });
  if (new URLSearchParams(query).has("analyse") && story.roles.length > 1) begin();
  return { element, at };
}
