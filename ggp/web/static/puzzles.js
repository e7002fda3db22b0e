// The room of puzzles: one is chosen, solved while one looks on, and its line played on the board.
import { openTable, USUAL } from "/static/opponent.js";
import { counted, drawing, el, fail, listen, post } from "/static/page.js";
import { stepper } from "/static/stepper.js";
import { mark } from "/static/steps.js";

const AHEAD = 6; // drawings that are fetched before they are shown

export function show(main, { puzzle, seconds, source }) {
  const board = el("div", { class: "board" });
  const status = el("p", { class: "status", role: "status", "aria-live": "polite" }, "loading kernels, building the network ...");
  const bar = el("progress", { max: seconds, "aria-label": "Time" }); // without a value it moves: kernels are compiled
  const facts = el("dl", { class: "facts" });
  const stop = el("button", { type: "button", id: "stop", onclick: () => post(`/puzzles/${puzzle}/stop`).catch(fail) }, "Stop");
  const slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step" });
  const where = el("output", {});
  const numbers = el("details", { open: true }, el("summary", {}, "Numbers"), facts);
  const lurd = el("details", { class: "lurd", hidden: true });
  const own = el("button", { type: "button", id: "own", onclick: () => openTable(source, ["human"], USUAL) }, "Try it yourself");
  const moves = el("ol", { class: "line", "aria-label": "Line", tabindex: "0" });
  const drawings = new Map(); // step -> promise of the SVG's text
  let line = [];
  let step = 0;
  let over = false;
  let shown = 0;

  const fetched = (at) => {
    if (!drawings.has(at)) {
      const text = fetch(`/puzzles/${puzzle}/steps/${at}`).then(async (reply) => {
        if (reply.ok) return reply.text();
        throw new Error((await reply.json()).error);
      });
      text.catch(() => drawings.delete(at));
      drawings.set(at, text);
    }
    return drawings.get(at);
  };

  async function visit(wanted) {
    step = Math.max(0, Math.min(line.length, wanted));
    slider.value = step;
    where.textContent = `step ${step} of ${line.length}`;
    mark(moves, step > 0 ? [moves.children[step - 1].firstChild] : []);
    const mine = (shown += 1);
    try {
      const text = await fetched(step);
      if (mine === shown) board.replaceChildren(drawing(text));
      for (let ahead = 1; ahead <= AHEAD && step + ahead <= line.length; ahead += 1) fetched(step + ahead);
    } catch (error) {
      if (mine === shown) fail(error);
    }
  }

  const { controls: stepping, toggle } = stepper({ at: () => step, last: () => line.length, go: visit, speed: "300" });
  const controls = el("div", { class: "controls", role: "group", "aria-label": "Line", hidden: true }, stepping);
  const steps = el("div", { class: "steps", hidden: true }, slider, where);
  slider.addEventListener("input", () => visit(Number(slider.value)));

  /** The best line so far, with its moves in words where these are told. */
  function setLine(given, told = []) {
    const words = told.length > 0 ? told : given.map((move) => move.replace(/^\((.*)\)$/, "$1"));
    let same = 0;
    while (same < given.length && given[same] === line[same]) same += 1;
    for (const at of [...drawings.keys()]) if (at > same) drawings.delete(at);
    line = given;
    slider.max = line.length;
    controls.hidden = steps.hidden = line.length === 0;
    moves.replaceChildren(
      ...line.map((move, i) => el("li", {}, el("button", { type: "button", class: "quiet", title: move, onclick: () => visit(i + 1) }, words[i]))),
    );
  }

  function setFacts(rows) {
    facts.replaceChildren(...rows.filter(([, value]) => value !== "").flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  }

  const closer = listen(`/puzzles/${puzzle}/events`, {
    progress: (news) => {
      if (over) return;
      if (news.seconds > 0) bar.value = news.seconds;
      if (news.moves) setLine(news.moves);
      if (news.seconds > 0) status.textContent = `searching: ${news.seconds.toFixed(0)} of ${seconds} s`;
      setFacts([
        ["states", news.states.toLocaleString("en")],
        ["states per second", news.seconds > 0 ? Math.round(news.states / news.seconds).toLocaleString("en") : ""],
        ["best line", news.value == null ? "none yet" : `goal ${news.value} in ${counted(news.length, "move", "moves")}`],
        ["at work", (news.at_work ?? []).join(", ")],
      ]);
      if (news.moves) visit(line.length);
    },
    solved: (told) => {
      finish();
      setLine(told.moves, told.words);
      status.textContent = result(told);
      if (told.lurd) {
        lurd.hidden = false;
        lurd.replaceChildren(el("summary", {}, "As LURD"), el("code", {}, told.lurd));
      }
      setFacts([
        ["proven", told.proven ? "no line has a higher goal" : "not proven to be the best"],
        ["solver", told.solver ?? "none was needed"],
        ["replayed", told.value == null ? "" : "by the prover, move by move"],
        ["states", told.states.toLocaleString("en")],
        ["time", `${told.seconds_cpu.toFixed(2)} CPU seconds, ${told.seconds_wall.toFixed(2)} s by the clock`],
      ]);
      numbers.open = false;
      visit(0);
      // It plays at once; who wants no motion steps through it.
      if (line.length > 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches) toggle();
    },
    failed: ({ error, moves: kept }) => {
      finish();
      setLine(kept);
      status.textContent = kept.length > 0 ? `Stopped; the best line so far has ${counted(kept.length, "move", "moves")}` : "Stopped.";
      if (kept.length === 0) fail(new Error(error));
      visit(0);
    },
  });

  /** "Solved in 0.8 s: 43 moves, 12 pushes": what comes of a search in a line. */
  function result({ value, lurd: steps, moves: found, seconds_wall: time, proven, doubt }) {
    if (value == null) return doubt ? `No line was found: ${doubt}` : "No line was found.";
    const pushes = steps ? `, ${counted([...steps].filter((step) => step !== step.toLowerCase()).length, "push", "pushes")}` : "";
    const how = value === 100 ? "Solved" : `Goal ${value} of 100${proven ? ", the best there is," : ""}`;
    return `${how} in ${time.toFixed(1)} s: ${counted(found.length, "move", "moves")}${pushes}`;
  }

  function finish() {
    over = true;
    closer();
    bar.hidden = stop.hidden = true;
  }

  main.append(
    el("div", { class: "table" }, el("div", {}, board, controls, steps), el("div", { class: "side" }, status, bar, el("div", { class: "row" }, stop, own), numbers, lurd, moves)),
    el("p", {}, el("a", { href: "/puzzles" }, "another puzzle")),
  );
  visit(0);
}
