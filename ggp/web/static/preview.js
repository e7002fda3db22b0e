// Beside the editor: the board of the first state, and one match played at random, step by step.
import { glide } from "/static/marks.js";
import { drawing, el, post } from "/static/page.js";

/** `show(text)` draws the first state; what cannot be drawn leaves the last drawing, dimmed. */
export function preview() {
  const board = el("div", { class: "board" });
  const said = el("p", { class: "hint", role: "status" });
  const slider = el("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step of the random match", hidden: true });
  const match = el("button", { type: "button", id: "random-match", onclick: play }, "One random match");
  const element = el("section", { class: "preview", "aria-label": "The board" }, board, el("div", { class: "row" }, match, slider), said);
  let frames = [];
  let text = "";
  let asked = 0;
  let seed = 0;

  function draw(number) {
    const before = board.querySelector("svg");
    const now = drawing(frames[number].svg);
    board.replaceChildren(now);
    glide(before, now);
    const { moves, end } = frames[number];
    said.textContent = number === 0 && frames.length === 1 ? "The first state" : `${number}. ${moves.filter(Boolean).join("  ") || "the first state"}${end ? ` - over: ${end}` : ""}`;
    slider.value = String(number);
  }
  slider.addEventListener("input", () => draw(Number(slider.value)));

  async function ask(steps) {
    const mine = (asked += 1);
    try {
      const told = await post("/rules/show", { text, seed, steps });
      if (mine !== asked || told.given_up) return;
      frames = told.frames;
      element.classList.remove("stale");
      slider.hidden = frames.length < 2;
      slider.max = String(frames.length - 1);
      draw(0);
      if (told.why) said.textContent += ` - ${told.why}`;
    } catch (error) {
      if (mine !== asked) return;
      element.classList.add("stale");
      if (steps > 0) said.textContent = error.message;
    }
  }

  async function play() {
    seed += 1;
    await ask(60);
    if (frames.length < 2 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const mine = asked;
    for (let number = 1; number < frames.length; number += 1) {
      await new Promise((resolve) => setTimeout(resolve, 600));
      if (mine !== asked || Number(slider.value) !== number - 1) return;
      draw(number);
    }
  }

  /** The rules are others now. */
  function show(rules) {
    if (rules === text) return;
    text = rules;
    ask(0);
  }

  return { element, show };
}
