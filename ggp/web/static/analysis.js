// What a search expects at each step of a recorded match: a graph, the moves after which that fell most, a table.
import { dot, openSheet } from "/static/opponent.js";
import { clearError, el, fail, get, listen, post } from "/static/page.js";

const HIGH = 120; // pixels of the graph
const EDGE = 6;

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * The part of a replay that asks for an analysis. `go(step)` shows a step, `remark(falls)` marks moves in its list,
 * `here()` is the step that is shown. `at(step)` of the result is called when another one is.
 */
export function analysis(query, story, { go, remark, here }) {
  const last = story.steps.length - 1;
  const roles = story.roles.flatMap((role, i) => (role === "random" ? [] : [i]));
  const status = el("p", { role: "status" });
  const bar = el("progress", { "aria-label": "Search", hidden: true });
  const graph = draw("svg", { class: "graph", role: "img" });
  const falls = el("ol", { class: "falls" });
  const table = el("details", {}, el("summary", {}, "As a table"));
  const found = el("div", { hidden: true }, graph, el("p", { class: "legend" }), falls, table);
  const ask = el("button", { type: "button", id: "analyse", onclick: begin }, "Analyse");
  const onward = el("button", { type: "button", id: "go-on", onclick: goOn }, "Go on from this step");
  const element = el("section", { class: "analysis", "aria-label": "Analysis" }, el("div", { class: "row" }, story.roles.length > 1 ? ask : null, onward), status, bar, found);
  let told = { values: [], falls: [] };

  const x = (step) => EDGE + (step / Math.max(1, last)) * (graph.clientWidth - 2 * EDGE);
  const y = (value) => EDGE + (1 - value / 100) * (HIGH - 2 * EDGE);
  const expected = (step) => roles.flatMap((role) => (told.values[step]?.[role] == null ? [] : [`${story.roles[role]} ${Math.round(told.values[step][role])}`])).join(", ");

  function fill() {
    const [right, bottom] = [x(last), y(0)];
    graph.setAttribute("viewBox", `0 0 ${graph.clientWidth} ${HIGH}`);
    graph.replaceChildren(draw("rect", { x: EDGE, y: EDGE, width: Math.max(0, right - EDGE), height: bottom - EDGE, class: "frame" }), draw("path", { d: `M${EDGE} ${y(50)}H${right}`, class: "half" }));
    for (const role of told.constant ? roles.slice(0, 1) : roles) {
      const points = told.values.flatMap((values, step) => (values[role] == null ? [] : [[x(step), y(values[role])]]));
      if (points.length === 0) continue;
      const line = points.map((point) => point.join(" ")).join("L");
      const colour = dot(story.roles[role], role).className.replace("dot ", "");
      if (told.constant) graph.append(draw("path", { d: `M${points[0][0]} ${bottom}L${line}V${bottom}Z`, class: `share ${colour}` }));
      graph.append(draw("path", { d: `M${line}`, class: `line ${colour}` }));
    }
    for (const { step, role, after } of told.falls) graph.append(draw("circle", { cx: x(step), cy: y(told.constant && role !== roles[0] ? 100 - after : after), r: 5, class: "fall" }, draw("title", {}, words({ step, role }))));
    graph.append(draw("path", { class: "here" }));
    graph.setAttribute("aria-label", `Expected results of ${roles.map((role) => story.roles[role]).join(" and ")}, step by step: the table below has them. At first ${expected(0) || "unknown"}, at last ${expected(last) || "unknown"}.`);
    at(here());
  }

  /** The steps that are shown by now: the graph follows. */
  function at(step) {
    graph.querySelector(".here")?.setAttribute("d", `M${x(step)} 0V${HIGH}`);
    const shown = told.constant ? [dot(story.roles[roles[0]], roles[0]), ` The more below the line, the more ${story.roles[roles[0]]} may expect.`] : roles.flatMap((role) => [dot(story.roles[role], role), ` ${story.roles[role]} `]);
    found.querySelector(".legend").replaceChildren(...shown, expected(step) ? ` Step ${step}: ${expected(step)} of 100.` : "");
    onward.hidden = story.goals.length > 0 && step === last;
  }

  const words = ({ step, role }) => `${step}. ${story.roles[role]} ${story.steps[step].words?.[role] ?? story.steps[step].moves[role]}`;
  const sentence = ({ before, after, better }) => `expected ${before} of 100, then ${after}; better: ${better}`;

  function finish(answer) {
    told = answer;
    bar.hidden = true;
    const known = told.values.some((values) => values.some((value) => value !== null));
    const notes = [
      !known ? "These rules are too slow for a search of some seconds." : told.hidden ? "The search sees what was hidden from the roles, so no move is called worse than another." : told.falls.length === 0 ? "After no move did the expected result fall much." : "The expected result fell most after these moves:",
      told.every > 1 ? `One state in ${told.every} was searched, for the match is long.` : "",
    ];
    status.textContent = notes.filter(Boolean).join(" ");
    falls.replaceChildren(...told.falls.map((fall) => el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => go(fall.step) }, el("strong", {}, words(fall)), ` ${sentence(fall)}`))));
    remark(told.falls.map((fall) => ({ ...fall, text: sentence(fall) })));
    table.addEventListener("toggle", fillTable, { once: true });
    fill();
  }

  function fillTable() {
    const heads = ["step", ...roles.map((role) => story.roles[role])].map((name) => el("th", { scope: "col" }, name));
    const rows = told.values.map((values, step) => el("tr", {}, el("td", {}, el("button", { type: "button", class: "quiet", onclick: () => go(step) }, String(step))), ...roles.map((role) => el("td", {}, values[role] == null ? "" : String(Math.round(values[role]))))));
    table.append(el("div", { class: "values", tabindex: "0", role: "region", "aria-label": "Expected results" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows))));
  }

  async function begin() {
    clearError();
    ask.hidden = true;
    status.textContent = "Getting ready …";
    bar.hidden = found.hidden = false;
    try {
      const { events } = await post(`/replay/analyses?${query}`);
      const close = listen(events, {
        progress: (news) => {
          if (!news.done) return;
          [bar.value, bar.max] = [news.done, news.of];
          status.textContent = "Searching …";
          told = { ...news, falls: [] };
          fill();
        },
        solved: (answer) => {
          close();
          finish(answer);
        },
        failed: ({ error }) => {
          close();
          stop(new Error(error));
        },
      });
    } catch (error) {
      stop(error);
    }
  }

  function stop(error) {
    status.textContent = "";
    bar.hidden = true;
    ask.hidden = false;
    fail(error);
  }

  /** A table that begins with the step that is shown. */
  async function goOn() {
    clearError();
    try {
      const { rules } = await get(`/replay/rules?${query}`);
      openSheet({ title: story.title || story.name, line: `From step ${here()}`, roles: story.roles, kind: "own", rules, moves: story.steps.slice(1, here() + 1).map(({ moves }) => moves) }, {});
    } catch (error) {
      fail(error);
    }
  }

  graph.addEventListener("click", (event) => {
    const box = graph.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left - EDGE) / Math.max(1, box.width - 2 * EDGE)) * last));
  });
  new ResizeObserver(() => found.hidden || fill()).observe(graph);
  if (new URLSearchParams(query).has("analyse") && story.roles.length > 1) begin();
  return { element, at };
}
