// What a page draws over a board: hints, dots on targets, and pieces that move from one drawing to the next.
import { drawing, shape } from "/static/page.js";

const GROUND = /\bgb-(cell|reach|point|new|wall|goal|side|ground)\b/;
const MOVE_MS = 180;

export const squareOf = (svg, key) => svg.querySelector(`[data-square="${CSS.escape(key)}"]`);

/** The middle and the half width of a square, in the drawing's units. */
export function spot(square) {
  const box = (square.querySelector(".gb-cell, .gb-reach") ?? square).getBBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2, half: Math.min(box.width, box.height) / 2 };
}

/** A layer above the board, on which nothing can be clicked. */
function layer(svg, kind) {
  svg.querySelector(`.${kind}`)?.remove();
  const group = shape("g", { class: kind });
  // Squares may lie in a group that is shifted.
  (svg.querySelector("[data-square]")?.parentNode ?? svg).append(group);
  return group;
}

/** Dots on the squares where a move may go. */
export function dots(svg, keys) {
  const group = layer(svg, "gb-targets");
  for (const key of keys) {
    const square = squareOf(svg, key);
    if (square === null) continue;
    const { x, y, half } = spot(square);
    group.append(shape("circle", { cx: x, cy: y, r: half * 0.22 }));
  }
}

/** Puts what the server has drawn over a board, a hint, behind its squares; "" takes it away. */
export function putOver(svg, markup) {
  svg?.querySelector(".gb-overlay")?.remove();
  if (markup === "") return;
  const drawn = drawing(`<svg xmlns="http://www.w3.org/2000/svg">${markup}</svg>`);
  (svg.querySelector("[data-square]")?.parentNode ?? svg).append(...drawn.children);
}

/** How many of each thing stand on each square: from data-held, else the words of its title behind its name. */
function standing(svg) {
  const found = new Map();
  for (const square of svg.querySelectorAll("[data-square]")) {
    const words = square.querySelector("title")?.textContent ?? "";
    const cut = words.indexOf(": ");
    const held = square.dataset.held?.split(",") ?? (cut < 0 ? [] : words.slice(cut + 2).split(", ").map((thing) => `${thing}:1`));
    found.set(square.dataset.square, new Map(held.filter(Boolean).map((one) => [one.slice(0, one.lastIndexOf(":")), Number(one.slice(one.lastIndexOf(":") + 1))])));
  }
  return found;
}

/** The elements of a square that are no ground. */
export const pieces = (square) => [...square.children].filter((child) => child.tagName !== "title" && !GROUND.test(child.getAttribute("class") ?? ""));

/** Shows in a slot what stands on a square; undefined empties it. */
export function putInto(slot, square) {
  slot.querySelector(".gb-put")?.remove();
  if (square === undefined) return;
  const [from, to] = [spot(square), spot(slot)];
  const put = { class: "gb-put", transform: `translate(${to.x - from.x} ${to.y - from.y})` };
  slot.append(shape("g", put, ...pieces(square).map((piece) => piece.cloneNode(true))));
}

/** Lets what has moved from the drawing before glide to where it stands now. */
export function glide(before, now) {
  if (before === null || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const was = standing(before);
  const is = standing(now);
  const left = [];
  const came = [];
  for (const [key, things] of is) {
    const old = was.get(key) ?? new Map();
    for (const [thing, n] of things) if (n > (old.get(thing) ?? 0)) came.push([key, thing, n - (old.get(thing) ?? 0)]);
    for (const [thing, n] of old) if (n > (things.get(thing) ?? 0)) left.push([key, thing]);
  }
  if (came.length > 6) return;
  for (const [key, thing, more] of came) {
    const origins = left.filter(([, one]) => one === thing);
    if (origins.length !== 1) continue;
    const square = squareOf(now, key);
    const from = spot(squareOf(now, origins[0][0]));
    const to = spot(square);
    const way = square.transform.baseVal.consolidate()?.matrix.a ?? 1; // -1 on a square that is turned
    for (const piece of square.dataset.held ? pieces(square).slice(-more) : pieces(square)) {
      const steps = [{ transform: `translate(${way * (from.x - to.x)}px, ${way * (from.y - to.y)}px)` }, { transform: "translate(0, 0)" }];
      piece.animate(steps, { duration: MOVE_MS, easing: "ease-out", composite: "add" });
    }
  }
}
