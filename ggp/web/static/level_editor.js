// An editor of levels: cells are painted by clicks and keys, and checked as one draws.
import { base64 } from "/static/cards.js";
import { KINDS, kindOf, nameOf, partsOf, textOfParts, used } from "/static/level_text.js";
import { openTable, source, USUAL } from "/static/opponent.js";
import { clearError, el, fail, post, read, saveText, textOf, write } from "/static/page.js";
import { solveCard } from "/static/solve.js";

const DRAFT = "kaskade level"; // where the browser keeps what is being drawn
const PAUSE = 300; // ms after a change until it is checked
const MOST_UNDONE = 300;
const SHOWN = { "<": "←", ">": "→", "^": "↑", v: "↓" };
const sign = (cell) => SHOWN[cell] ?? (/[A-E1-9]/.test(cell) ? cell : "");
const fresh = (kind) => ({ kind, text: KINDS[kind].begin, at: 0 });

export function show(main) {
  const kept = read(DRAFT);
  let { kind, text, at } = KINDS[kept?.kind] ? kept : fresh("sokoban");
  let parts = partsOf(kind, text);
  let tool = "#";
  let card = null; // what can be played, once it was checked
  let focus = [0, 0];
  let checking = 0;
  const [past, future] = [[], []];

  const button = (id, words, act, more = {}) => el("button", { type: "button", id, onclick: act, ...more }, words);
  const kinds = el("select", { id: "kind", onchange: () => begin(kinds.value) }, ...Object.entries(KINDS).map(([value, { name }]) => el("option", { value }, name)));
  const which = el("select", { id: "which", onchange: () => change(() => (at = Number(which.value))) });
  const title = el("input", { id: "title", autocomplete: "off", onchange: () => change(() => (parts[at].title = title.value.trim() || parts[at].title)) });
  const [columns, lines] = ["columns", "lines"].map((id) => el("input", { id, type: "number", min: "1", onchange: resize }));
  const palette = el("div", { class: "palette", role: "group", "aria-label": "What to draw" });
  const grid = el("div", { class: "cells", role: "grid" });
  const counts = el("p", { class: "counts" });
  const status = el("p", { class: "status", role: "status", "aria-live": "polite" });
  const play = button("play", "Play it", () => openTable(source(card), ["human"], USUAL), { class: "main" });
  const solve = button("solve", "Solve it", () => solveCard(card));
  const undo = button("undo", "Undo", () => travel(past, future), { title: "key: Ctrl+Z" });
  const redo = button("redo", "Redo", () => travel(future, past), { title: "key: Ctrl+Y" });
  const file = el("input", { type: "file", id: "open", accept: ".xsb,.sok,.slc,.txt,.packing", onchange: open });
  const area = el("textarea", { id: "text", rows: "10", spellcheck: "false", "aria-label": "The file as text", onchange: () => change(() => (parts = partsOf(kind, area.value))) });

  /** Does something that can be undone. */
  function change(act) {
    past.push({ kind, text, at });
    past.splice(0, past.length - MOST_UNDONE);
    future.length = 0;
    act();
    changed();
  }
  function travel(from, to) {
    to.push({ kind, text, at });
    ({ kind, text, at } = from.pop());
    parts = partsOf(kind, text);
    changed();
  }
  function begin(wanted, drawn = KINDS[wanted].begin) {
    change(() => ([kind, parts, at, tool] = [wanted, partsOf(wanted, drawn), 0, "#"]));
  }
  function resize() {
    const [wide, tall] = [columns, lines].map((input, i) => Math.max(1, Math.min(KINDS[kind].most[i], Math.round(Number(input.value)) || 1)));
    const { empty } = KINDS[kind];
    change(() => (parts[at].rows = Array.from({ length: tall }, (_, y) => (parts[at].rows[y] ?? "").slice(0, wide).padEnd(wide, empty))));
  }
  const another = () => (kind === "packing" ? { title: "piece new x1", rows: ["...", "...", "..."] } : partsOf(kind, KINDS[kind].begin)[0]);

  function changed() {
    const drawn = () => parts.flatMap((part, i) => (part.rows ? [i] : []));
    if (drawn().length === 0) parts.push(another());
    if (!parts[at]?.rows) at = drawn().at(-1);
    area.value = text = textOfParts(kind, parts);
    write(DRAFT, { kind, text, at });
    const { rows, title: name } = parts[at];
    which.replaceChildren(...drawn().map((i, n) => el("option", { value: String(i), selected: i === at }, kind === "packing" ? parts[i].title : `${n + 1}. ${parts[i].title}`)));
    [kinds.value, title.value, columns.value, lines.value] = [kind, name, rows[0].length, rows.length];
    title.disabled = kind === "packing" && name === "result";
    [undo.disabled, redo.disabled, play.hidden] = [past.length === 0, future.length === 0, kind === "packing"];
    const count = (ones) => [...rows.join("")].filter((cell) => ones.includes(cell)).length;
    counts.textContent = Object.entries(KINDS[kind].counted).map(([words, ones]) => `${words}: ${count(ones)}`).join(", ");
    fillCells(rows, name);
    check();
  }
  function fillCells(rows, name) {
    palette.dataset.kind = grid.dataset.kind = kind;
    const button = ([one, words]) => el("button", { type: "button", title: `key: ${one === " " ? "-" : one}`, "aria-label": words, "aria-pressed": String(one === tool), "data-tool": one, onclick: () => pick(one) }, el("i", { class: "cell", "data-c": one, "aria-hidden": "true" }, sign(one)), /[B-D1-9]/.test(one) ? "" : words);
    palette.replaceChildren(...KINDS[kind].tools.map(button));
    grid.setAttribute("aria-label", `${name || "Level"}: arrows go from cell to cell, Enter draws`);
    if (grid.children.length !== rows.length || grid.children[0].children.length !== rows[0].length)
      grid.replaceChildren(...rows.map((row) => el("div", { role: "row" }, ...[...row].map(() => el("button", { type: "button", role: "gridcell", class: "cell", tabindex: "-1" })))));
    rows.forEach((row, y) => [...row].forEach((one, x) => {
      const cell = grid.children[y].children[x];
      [cell.className, cell.dataset.c, cell.textContent] = ["cell", one, sign(one)];
      cell.setAttribute("aria-label", `row ${y + 1}, column ${x + 1}: ${nameOf(kind, one)}`);
    }));
    move(...focus);
  }
  function pick(one) {
    tool = one;
    for (const each of palette.children) each.setAttribute("aria-pressed", String(each.dataset.tool === one));
  }
  function paint(y, x) {
    const rows = used(kind, parts[at].rows, tool, y, x);
    if (rows.join() !== parts[at].rows.join()) change(() => (parts[at].rows = rows));
  }
  /** The cell at a place, or the nearest one, which Tab comes to from now on. */
  function move(y, x) {
    const within = (number, list) => Math.max(0, Math.min(list.children.length - 1, number));
    grid.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    const row = within(y, grid);
    focus = [row, within(x, grid.children[row])];
    const cell = grid.children[row].children[focus[1]];
    cell.setAttribute("tabindex", "0");
    return cell;
  }

  /** Says what keeps this from being played, and marks its cell. */
  async function check() {
    const mine = (checking += 1);
    card = null;
    play.disabled = solve.disabled = true;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (mine !== checking) return;
    const [packing, alone] = [kind === "packing", kind === "packing" ? text : textOfParts(kind, [parts[at]])];
    let words = "Draw a snake and an exit.";
    if (kind !== "snakes" || kindOf(alone) === "snakes") {
      const { cards, faults } = await post("/choice", { name: "", data: await base64(new Blob([alone])), check: true }).catch(({ message }) => ({ cards: [], faults: [message] }));
      if (mine !== checking) return;
      if (cards.length > 0) card = { ...cards[0], kind: packing ? "packing" : "own", data: packing ? await base64(new Blob([alone])) : "" };
      const [, line, column, fault] = /^\D*(\d+)(?::|, column )(\d+): (.*)/.exec(faults[0] ?? "") ?? [];
      const above = packing ? textOfParts(kind, parts.slice(0, at)).split("\n").length + 1 : Number(kind === "snakes" && alone.startsWith(";"));
      if (line - above > 1 || column > 1) grid.children[line - above - 1]?.children[column - 1]?.classList.add("faulty");
      const doubts = card?.doubts ?? [];
      words = card === null ? (fault ?? faults[0]).replace(packing ? "" : / \([^)]*\)$/, "") : doubts.length > 0 ? `It can be played, but not solved: ${doubts.join("; ")}.` : `It can be ${packing ? "solved" : "played"}.`;
    }
    status.textContent = words.charAt(0).toUpperCase() + words.slice(1);
    play.disabled = solve.disabled = card === null;
  }

  async function open() {
    const chosen = file.files[0];
    clearError();
    try {
      const brought = await textOf(chosen);
      const found = kindOf(brought);
      const dialect = found === "sokoban" && /^(?=.*#).*[^-_#$.*@+ \n]/m.test(brought); // run lengths, XML and others
      begin(found, dialect ? textOfParts(found, (await post("/choice", { name: chosen.name, data: await base64(chosen) })).cards) : brought);
    } catch (error) {
      fail(error);
    }
    file.value = "";
  }

  const placeOf = ({ target }) => {
    const cell = target.closest?.("[role=gridcell]");
    return cell ? [[...grid.children].indexOf(cell.parentNode), [...cell.parentNode.children].indexOf(cell)] : null;
  };
  /** Uses the tool on the cell of an event, and on those between, where a mouse was dragged fast. */
  function draw(event, wanted, from = null) {
    const place = wanted && placeOf(event);
    if (!place) return;
    const [y, x] = from ?? place;
    const steps = Math.max(1, Math.abs(place[0] - y), Math.abs(place[1] - x));
    for (let step = 1; step <= steps; step += 1) paint(Math.round(y + ((place[0] - y) * step) / steps), Math.round(x + ((place[1] - x) * step) / steps));
    move(...place).focus({ preventScroll: true });
  }
  let mouse = false; // a mouse paints as it is dragged; fingers scroll, and paint by taps
  grid.addEventListener("pointerdown", (event) => draw(event, (mouse = event.pointerType === "mouse") && event.button === 0));
  grid.addEventListener("pointerover", (event) => draw(event, event.pointerType === "mouse" && event.buttons === 1, focus));
  grid.addEventListener("click", (event) => draw(event, event.detail === 0 || !mouse));
  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const typed = ["-", "Delete", "Backspace"].includes(event.key) ? KINDS[kind].empty : event.key === " " ? "" : event.key;
    if (step) move(focus[0] + step[0], focus[1] + step[1]).focus();
    else if (KINDS[kind].tools.some(([one]) => one === typed)) {
      pick(typed);
      paint(...focus);
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const act = (event.ctrlKey || event.metaKey) && !event.target.matches("input, textarea") && { z: event.shiftKey ? redo : undo, Z: redo, y: redo }[event.key];
    if (!act) return;
    event.preventDefault();
    act.click();
  });

  const label = (words, control) => el("label", {}, `${words} `, control);
  main.append(
    el("div", { class: "row" }, label("Game", kinds), button("new", "New", () => begin(kind)), label("Open", file), button("save", "Save as a file", () => saveText(text, KINDS[kind].file)), undo, redo),
    el("div", { class: "row" }, label("Drawing", which), button("add", "Add", () => change(() => (at = parts.push(another()) - 1))), button("remove", "Remove", () => change(() => parts.splice(at, 1))), label("Name", title), label("Columns", columns), label("Rows", lines)),
    ...[palette, el("div", { class: "paper", tabindex: "-1" }, grid), counts, status, el("div", { class: "row" }, play, solve), el("details", {}, el("summary", {}, "As text"), area)],
    el("p", { class: "counts" }, "A click draws; arrows and Enter do the same, and each thing has a key. ", el("a", { href: "/docs/puzzles" }, "What stands for what")),
  );
  changed();
}
