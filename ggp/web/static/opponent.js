// The sheet that a card opens: who plays which side, how strong the others are; or play or solve a puzzle.
import { clearError, el, fail, post } from "/static/page.js";

/** How the page's own player is set. `others` and `playclock` are what a table is opened with. */
export const STRENGTHS = {
  easy: { name: "Easy", means: "looks at 30 random games a move: overlooks a lot", others: "uct:playouts=30", playclock: 1 },
  medium: { name: "Medium", means: "thinks for one second", others: "uct", playclock: 1 },
  strong: { name: "Strong", means: "thinks for five seconds", others: "uct", playclock: 5 },
};
const CHANCE = "random"; // the role that chooses by chance alone
const COLOURS = ["white", "black", "red", "blue", "green", "yellow", "orange", "magenta", "cyan", "pink", "brown", "gray"];

/** A dot in a role's colour: that of its name, or that of its number. */
export function dot(role, number) {
  const colour = COLOURS.includes(role.toLowerCase()) ? role.toLowerCase() : `role${number % 6}`;
  return el("i", { class: `dot gb-${colour}`, "aria-hidden": "true" });
}

/** Opens a table and goes there. `what` is {game} or {rules}. */
export async function openTable(what, seats, strength, more = {}) {
  clearError();
  const main = document.querySelector("main");
  main.setAttribute("aria-busy", "true");
  try {
    const { page } = await post("/play/tables", { ...what, seats, others: strength.others, playclock: strength.playclock, ...more });
    location.assign(page);
  } catch (error) {
    fail(error);
  } finally {
    main.removeAttribute("aria-busy");
  }
}

export const source = (card) => (card.rules ? { game: "", rules: card.rules, title: card.title, moves: card.moves ?? [] } : { game: card.name, rules: "" });

const radio = (group, value, checked, ...inside) =>
  el("label", { class: "option" }, el("input", { type: "radio", name: group, value, checked }), el("span", {}, ...inside));

/**
 * A dialog about a card. `players` are those that the operator offers beside the page's own, `names` all public
 * ones; `solve(card)` is called for puzzles where it is given.
 */
export function openSheet(card, { players = [], names = [], solve = null }) {
  const sheet = el("dialog", { class: "sheet", "aria-label": card.title });
  const close = el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => sheet.close() }, "×");
  sheet.addEventListener("close", () => sheet.remove());
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  const head = [close, el("h2", {}, card.title), card.line ? el("p", { class: "line" }, card.line) : null];

  if (card.roles.length < 2) {
    const play = () => openTable(source(card), ["human"], STRENGTHS.medium);
    const find = () => solve(card);
    const buttons = card.kind === "packing" ? [] : [el("button", { type: "button", class: "main", id: "start", onclick: play }, "Try it yourself")];
    if (solve) buttons.push(el("button", { type: "button", id: "solve", class: card.kind === "packing" ? "main" : "", onclick: find }, "Have it solved"));
    sheet.append(...head.filter(Boolean), el("div", { class: "row" }, ...buttons));
    document.body.append(sheet);
    sheet.showModal();
    (sheet.querySelector(".main") ?? close).focus();
    return;
  }

  const custom = el("fieldset", { class: "custom", hidden: true }, el("legend", {}, "Custom"));
  const who = el("input", { id: "others", list: "names", value: "uct", autocomplete: "off" });
  const clock = el("input", { id: "playclock", type: "number", min: "0.1", max: "3600", step: "0.1", value: "2" });
  const patience = el("input", { id: "patience", type: "number", min: "0", max: "3600", step: "1", value: "0" });
  custom.append(
    el("datalist", { id: "names" }, ...["human", ...names, ...players].map((name) => el("option", { value: name }))),
    el("label", {}, "The others: ", who),
    el("label", {}, "Seconds they think: ", clock),
    el("label", {}, "Seconds you have (0: no limit): ", patience),
    el("small", {}, "human, or a player, with options: uct:workers=2"),
  );
  const strengths = el(
    "fieldset",
    {},
    el("legend", {}, "Against"),
    ...Object.entries(STRENGTHS).map(([key, { name, means }]) => radio("strength", key, key === "medium", el("strong", {}, name), ` ${means}`)),
    ...players.map((name) => radio("strength", `own ${name}`, false, el("strong", {}, name), " thinks for two seconds")),
    radio("strength", "people", false, el("strong", {}, "People"), " all sides at this screen, or share the table's address"),
    radio("strength", "custom", false, el("strong", {}, "Custom"), " player, clocks"),
  );
  strengths.addEventListener("change", () => (custom.hidden = chosen("strength") !== "custom"));
  const first = card.roles.findIndex((role) => role !== CHANCE);
  const sides = el(
    "fieldset",
    {},
    el("legend", {}, "You are"),
    ...card.roles.flatMap((role, i) => (role === CHANCE ? [] : [radio("side", String(i), i === first, dot(role, i), role)])),
    radio("side", "watch", false, "nobody: watch"),
  );
  const chosen = (group) => sheet.querySelector(`input[name=${group}]:checked`).value;

  function begin() {
    const side = chosen("side");
    const kind = chosen("strength");
    let strength = STRENGTHS[kind];
    let more = {};
    if (kind === "custom") {
      strength = { others: who.value.trim(), playclock: Number(clock.value) };
      more = { patience: Number(patience.value) };
    } else if (kind === "people") strength = { others: "human", playclock: 2 };
    else if (strength === undefined) strength = { others: kind.slice(4), playclock: 2 };
    const seats = card.roles.map((role, i) => (role === CHANCE ? "random" : String(i) === side ? "human" : strength.others));
    const wait = el("p", { role: "status" }, "setting up the table ...");
    form.append(wait);
    openTable(source(card), seats, strength, more).finally(() => wait.remove());
  }
  const form = el(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        begin();
      },
    },
    sides,
    strengths,
    custom,
    el("div", { class: "row" }, el("button", { class: "main", id: "start" }, "Play")),
  );
  sheet.append(...head.filter(Boolean), form);
  document.body.append(sheet);
  sheet.showModal();
  sheet.querySelector("#start").focus();
}
