// Moves by clicks and keys: which squares may be clicked, and what the clicks so far mean.
// A move is {move, clicks: [[squares that will do], ...], text}; a square is a group with data-square. A drawing
// may have slots, groups with data-slot, that show what the clicks have chosen: then the clicks come in any order.
import { dots, pieces, putInto } from "/static/marks.js";
import { el } from "/static/page.js";

const DRAGGED = 6; // pixels that a pointer moves before it drags

// Clicks that are yet to be made may be gaps among the others; `every` passes over them.
const begins = (move, clicked) =>
  clicked.length <= move.clicks.length && clicked.every((square, i) => move.clicks[i].includes(square));

/** The moves that need no further click, and the squares that may be clicked as number `at`, the next one. */
export function outlook(moves, clicked, at = clicked.length) {
  const left = moves.filter((move) => begins(move, clicked));
  const made = Object.keys(clicked).length;
  const complete = left.filter((move) => move.clicks.length === made);
  const further = new Set(left.filter((m) => m.clicks.length > made).flatMap((m) => m.clicks[at] ?? []));
  return { left, complete, further };
}

/**
 * Lets a person choose one of `moves` on the drawing `svg`, by clicks, drags or keys; `list` gets the choices that
 * squares do not tell apart. `choose(move)` is called once, with the move's text. `other(key)` hears of clicks on
 * squares that no move names; with `arrows` false arrow keys are left to others.
 */
export function askOn(svg, list, moves, choose, { other = () => {}, arrows = true } = {}) {
  let clicked = [];
  svg.setAttribute("role", "group"); // a picture has no buttons
  const squares = new Map([...svg.querySelectorAll("[data-square]")].map((s) => [s.dataset.square, s]));
  const slots = moves.some((move) => move.clicks.length > 0) ? [...svg.querySelectorAll("[data-slot]")] : [];
  const go = svg.querySelector("[data-go]"); // shown when all slots are full
  let slot = 0; // the slot that is filled next

  /** The number of the next click. */
  const next = () => (slots.length === 0 ? clicked.length : slot);

  /** Puts what stands on a square into a slot, or empties it; the next one is the first that is empty. */
  function fill(i, key) {
    if (key === undefined) delete clicked[i];
    else clicked[i] = key;
    slot = key === undefined ? i : Math.max(0, slots.findIndex((_, n) => !(n in clicked)));
    show();
  }

  function showSlots(ready) {
    slots.forEach((place, i) => {
      const from = squares.get(clicked[i]);
      putInto(place, from);
      const name = place.querySelector("title").textContent;
      place.setAttribute("aria-label", from ? `${name}: ${from.querySelector("title").textContent}` : name);
      place.classList.toggle("gb-next", i === slot && !from);
    });
    go?.classList.toggle("gb-ready", ready);
    for (const one of go ? [...slots, go] : []) for (const [key, value] of [["tabindex", "0"], ["role", "button"]]) one.setAttribute(key, value);
  }

  function show() {
    const { complete, further } = outlook(moves, clicked, next());
    const whole = complete.length === 1 && further.size === 0 && clicked.length > 0;
    showSlots(whole);
    if (whole && slots.length === 0) {
      finish(complete[0]);
      return;
    }
    dots(svg, clicked.length > 0 && slots.length === 0 ? further : []);
    for (const [key, square] of squares) {
      const may = further.has(key);
      const chosen = clicked.includes(key) && slots.length === 0;
      square.classList.toggle("gb-may", may);
      square.classList.toggle("gb-chosen", chosen);
      if (may || chosen) {
        square.setAttribute("tabindex", "0");
        square.setAttribute("role", "button");
      } else {
        square.removeAttribute("tabindex");
        square.removeAttribute("role");
      }
    }
    const offered = clicked.length > 0 ? complete : moves.filter((move) => move.clicks.length === 0);
    list.replaceChildren(
      ...offered.map((move) => el("button", { type: "button", "data-move": move.move, onclick: () => finish(move) }, move.text)),
    );
    if (clicked.length > 0) list.append(el("button", { type: "button", class: "quiet", onclick: clear }, "cancel"));
  }

  function click(key) {
    if (slots.length > 0) {
      if (outlook(moves, clicked, slot).further.has(key)) fill(slot, key);
    } else if (outlook(moves, clicked).further.has(key)) clicked = [...clicked, key];
    else if (clicked.includes(key)) clicked = clicked.slice(0, clicked.indexOf(key));
    else if (outlook(moves, []).further.has(key)) clicked = [key];
    else {
      other(key);
      return;
    }
    show();
    (go?.classList.contains("gb-ready") ? go : squares.get(key))?.focus();
  }

  function clear() {
    clicked = [];
    slot = 0;
    show();
  }

  function finish(move) {
    choose(move.move);
    stop();
  }

  /** Does what a click or a key on an element means; false if it means nothing. */
  function act(event) {
    const at = event.target.closest?.("[data-square], [data-slot], [data-go]");
    if (at?.dataset.square !== undefined) click(at.dataset.square);
    else if (at?.dataset.slot !== undefined) fill(Number(at.dataset.slot));
    else if (at?.classList.contains("gb-ready")) list.querySelector("button")?.click();
    return Boolean(at);
  }

  const onClick = (event) => {
    if (dragged) {
      dragged = false;
      return;
    }
    act(event);
  };
  const onKey = (event) => {
    const square = event.target.closest?.("[data-square]");
    if (event.key === "Escape" && clicked.length > 0) clear();
    else if ((event.key === "Enter" || event.key === " ") && act(event)) event.preventDefault();
    else if (arrows && square && event.key.startsWith("Arrow")) {
      event.preventDefault();
      neighbour(square, event.key)?.focus();
    }
  };

  /** The nearest square that may be clicked in the direction of an arrow key. */
  function neighbour(from, key) {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
    const middle = (s) => {
      const box = s.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    };
    const [x, y] = middle(from);
    let best = null;
    for (const square of squares.values()) {
      if (square === from || !square.hasAttribute("tabindex")) continue;
      const [a, b] = middle(square);
      const along = (a - x) * dx + (b - y) * dy;
      const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (along > 1 && (best === null || along + 3 * aside < best.cost)) best = { square, cost: along + 3 * aside };
    }
    return best?.square;
  }

  // Dragging: the first square is where it begins, the next one where it ends.
  let held = null;
  let dragged = false;
  const squareAt = (event) =>
    document.elementsFromPoint(event.clientX, event.clientY).map((e) => e.closest("[data-square]")).find((s) => s && svg.contains(s));
  const shift = (x, y) => {
    for (const piece of held.pieces) {
      piece.classList.toggle("gb-held", x !== 0 || y !== 0);
      piece.style.transform = x === 0 && y === 0 ? "" : `translate(${x / held.scale.a}px, ${y / held.scale.d}px)`;
    }
  };
  const onDown = (event) => {
    dragged = false;
    const square = event.target.closest?.("[data-square]");
    const key = square?.dataset.square;
    if (!square || slots.length > 0 || event.button !== 0 || !moves.some((move) => move.clicks.length > 1 && move.clicks[0].includes(key))) return;
    held = { key, x: event.clientX, y: event.clientY, pieces: pieces(square).slice(square.dataset.held ? -1 : 0), scale: square.getScreenCTM(), moved: false };
  };
  const onMove = (event) => {
    if (held === null) return;
    const [x, y] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.moved && Math.hypot(x, y) < DRAGGED) return;
    if (!held.moved) {
      held.moved = true;
      clicked = [held.key];
      show();
    }
    shift(x, y);
  };
  const onUp = (event) => {
    if (held === null) return;
    const { moved, key } = held;
    if (moved) shift(0, 0);
    held = null;
    if (!moved) return;
    dragged = true;
    setTimeout(() => (dragged = false), 0); // the click that ends a drag comes at once
    const target = event.type === "pointerup" ? squareAt(event)?.dataset.square : undefined;
    if (target !== undefined && target !== key && outlook(moves, clicked).further.has(target)) click(target);
    else clear();
  };

  // Where any square of a column makes the same move, the whole column answers to the pointer.
  const onOver = (event) => {
    const key = event.target.closest?.("[data-square]")?.dataset.square;
    const same = moves.filter((move) => begins(move, clicked) && move.clicks[next()]?.includes(key)).flatMap((move) => move.clicks[next()]);
    for (const [name, square] of squares) square.classList.toggle("gb-same", same.length > 1 && same.includes(name));
  };

  const hearing = new AbortController();
  const heard = { click: onClick, keydown: onKey, pointerdown: onDown, pointerover: onOver };
  for (const [name, hear] of Object.entries(heard)) svg.addEventListener(name, hear, { signal: hearing.signal });
  for (const [name, hear] of [["pointermove", onMove], ["pointerup", onUp], ["pointercancel", onUp]]) window.addEventListener(name, hear, { signal: hearing.signal });
  show();

  function stop() {
    hearing.abort();
    list.replaceChildren();
    go?.classList.remove("gb-ready");
    dots(svg, []);
    for (const square of squares.values()) {
      square.classList.remove("gb-may", "gb-chosen", "gb-same");
      square.removeAttribute("tabindex");
    }
  }
  return stop;
}
