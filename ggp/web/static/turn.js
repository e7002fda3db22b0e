// Boards that are turned for who sits at their top, or by hand. Exported files carry it.
import { el } from "/static/dom.js";

/** Turns a drawing for who sits at its top, or back; names and pieces stay upright. */
function turn(svg, on) {
  const set = (element, turned) => {
    element.dataset.base ??= element.getAttribute("transform") ?? "";
    element.setAttribute("transform", `${element.dataset.base} ${on ? turned : ""}`.trim());
  };
  for (const element of svg.querySelectorAll("[data-turn]")) set(element, element.dataset.turn);
  for (const square of svg.querySelectorAll("[data-turn^=rotate] > [data-square]")) {
    const { x, y, width, height } = (square.querySelector(".gb-cell, .gb-reach") ?? square).getBBox();
    set(square, `rotate(180 ${x + width / 2} ${y + height / 2})`);
  }
}

/**
 * A `button` that flips the drawing in `board`. `show(top)` is to be called when another one stands there; `top` says whether
 * the person at the screen sits at its top.
 */
export function flipping(board) {
  let [flipped, top] = [false, false];
  const button = el("button", { type: "button", "data-order": "flip", "aria-pressed": "false", title: "key: f", onclick: flip, hidden: true }, "Flip");
  const turned = () => top !== flipped;
  function show(sits = top) {
    top = sits;
    button.hidden = board.querySelector("[data-turn]") === null;
    turn(board, turned());
  }
  function flip() {
    flipped = !flipped;
    button.setAttribute("aria-pressed", String(flipped));
    show();
  }
  return { button, flip, show, turned };
}
