// The sheet that a card opens: who plays which side, how strong the others are; or play or solve a puzzle.
import { clockChoice } from "/static/clocks.js";
import { clearError, el, fail, post } from "/static/page.js";
import { nameField } from "/static/seats.js";

/**
 * The levels of the page's own player, from the weakest on. `others` and `playclock` are what a table is opened with. Each wins about
 * four games in five against the one before (docs/measurements/levels.md).
 */
export const LEVELS = [
  ...[10, 60, 360, 2200, 13000, 130000].map((playouts) => ({ means: `looks at ${playouts.toLocaleString("en")} random games a move`, others: `uct:playouts=${playouts},knowledge=off`, playclock: 1 })),
  { means: "thinks for five seconds, or as its clock allows, with all that it has learnt", others: "uct", playclock: 5 },
].map((level, i) => ({ ...level, name: `Level ${i + 1}` }));
/** The level that is offered first. */
export const USUAL = LEVELS[1];
/** The best that there is. */
export const HIGHEST = LEVELS.at(-1);
const UNBOUND = 3600; // seconds a move, where a clock for the match bounds them
const OWN_SECONDS = 2;
const CHANCE = "random"; // the role that chooses by chance alone
const COLOURS = ["white", "black", "red", "blue", "green", "yellow", "orange", "magenta", "cyan", "pink", "brown", "gray"];

/** A dot in a role's colour: that of its name, or that of its number. */
export function dot(role, number) {
  const colour = COLOURS.includes(role.toLowerCase()) ? role.toLowerCase() : `role${number % 6}`;
  return el("i", { class: `dot gb-${colour}`, "aria-hidden": "true" });
}

/** The seconds a move of a strength, at a table with a clock for the match or without one. */
const secondsOf = (strength, clock) => (strength === HIGHEST && clock ? UNBOUND : strength.playclock);

/** The level of a seat; undefined where it is none of ours. */
const levelOf = (seat, seconds) => LEVELS.find((level) => level.others === seat && (seat !== HIGHEST.others || seconds === level.playclock || (seconds === UNBOUND && level === HIGHEST)));

/** Who plays a seat, in words. */
export function playerName(seat, seconds) {
  const level = levelOf(seat, seconds);
  return level ? `the page, ${level.name.toLowerCase()}` : seat;
}

/** Fields for a player with options and its seconds; `strength()` is what they say. */
function ownPlayer() {
  const player = el("input", { list: "players", autocomplete: "off", placeholder: "uct:workers=2", value: "uct" });
  const seconds = el("input", { type: "number", min: "0.1", max: "3600", step: "any", value: String(OWN_SECONDS) });
  return {
    fields: [el("label", {}, "Player: ", player), el("label", {}, "Seconds for a move: ", seconds)],
    strength: () => ({ others: player.value.trim(), playclock: Number(seconds.value) || OWN_SECONDS }),
    set: (name, thinks) => ([player.value, seconds.value] = [name, thinks]),
  };
}

/** The names of players that fields offer. */
export const playerNames = (names) => el("datalist", { id: "players" }, ...names.map((name) => el("option", { value: name })));

/**
 * A menu of who plays a role and how well. `choose(player, seconds)` is called with the choice; `show(seat, seconds,
 * mine, clock)` sets it to what a table says: `mine` where the person at this screen plays the role.
 */
export function levelMenu(role, players, choose) {
  const offered = [["human", "you"], ["friend", "a friend"], ...LEVELS.map(({ name }) => [name, name.toLowerCase()]), ...players.map((name) => [`own ${name}`, name]), ["custom", "own …"]];
  const menu = el("select", { "data-role": role, "aria-label": `Who plays ${role}` }, ...offered.map(([value, words]) => el("option", { value }, words)));
  const typed = ownPlayer();
  const own = el("form", { class: "row", hidden: true }, typed.fields, el("button", {}, "Set"));
  let timed = false;
  own.addEventListener("submit", (event) => {
    event.preventDefault();
    const { others, playclock } = typed.strength();
    choose(others, playclock);
    own.hidden = true;
  });
  menu.addEventListener("change", () => {
    const strength = LEVELS.find(({ name }) => name === menu.value);
    own.hidden = menu.value !== "custom";
    if (strength) choose(strength.others, secondsOf(strength, timed));
    else if (menu.value === "custom") own.querySelector("input").focus();
    else choose(menu.value.replace(/^own /, ""), OWN_SECONDS);
  });

  function show(seat, thinks, mine, clock) {
    timed = clock;
    if (!own.hidden) return;
    menu.value = seat === "human" ? (mine ? "human" : "friend") : levelOf(seat, thinks)?.name || (players.includes(seat) ? `own ${seat}` : "custom");
    menu.title = seat;
    menu.options[menu.length - 1].textContent = menu.value === "custom" ? seat : "own …";
    typed.set(seat === "human" ? "uct" : seat, Math.min(thinks, 60));
  }
  return { element: el("span", { class: "level" }, menu, own), show };
}

/** Opens a table and goes there. `what` is {game} or {rules}. */
export async function openTable(what, seats, strength, more = {}) {
  clearError();
  const main = document.querySelector("main");
  main.setAttribute("aria-busy", "true");
  try {
    const { page } = await post("/play/tables", { ...what, seats, others: strength.others, playclock: secondsOf(strength, more.minutes), ...more });
    location.assign(page);
  } catch (error) {
    fail(error);
  } finally {
    main.removeAttribute("aria-busy");
  }
}

export const source = (card) => (card.rules ? { game: "", rules: card.rules, title: card.title, moves: card.moves ?? [] } : { game: card.name, rules: "" });

/** Fields for the sizes that may be chosen; `sized()` is the card under the name of those. */
export function sizeChoice(card) {
  const given = card.sizes?.split("x") ?? [];
  const fields = (card.rules ? [] : (card.varies ?? [])).map(({ name, least, most, step, default: usual }, i) =>
    el("input", { type: "number", "aria-label": name, min: String(least), max: String(most), step: String(step), value: given[i] ?? String(usual), required: true }),
  );
  const labels = fields.map((field) => el("label", {}, `${field.getAttribute("aria-label")} `, field, " "));
  return {
    element: fields.length > 0 ? el("fieldset", { class: "sizes" }, el("legend", {}, "Size"), ...labels) : null,
    valid: () => fields.every((field) => field.reportValidity()),
    sized: () => (fields.length > 0 ? { ...card, name: `${card.name}:${fields.map(({ value }) => value).join("x")}` } : card),
  };
}

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

  const sizes = sizeChoice(card);
  if (card.roles.length < 2) {
    const play = () => sizes.valid() && openTable(source(sizes.sized()), ["human"], USUAL);
    const find = () => sizes.valid() && solve(sizes.sized());
    const buttons = card.kind === "packing" ? [] : [el("button", { type: "button", class: "main", id: "start", onclick: play }, "Try it yourself")];
    if (solve) buttons.push(el("button", { type: "button", id: "solve", class: card.kind === "packing" ? "main" : "", onclick: find }, "Have it solved"));
    sheet.append(...[...head, sizes.element].filter(Boolean), el("div", { class: "row" }, ...buttons));
    document.body.append(sheet);
    sheet.showModal();
    (sheet.querySelector(".main") ?? close).focus();
    return;
  }

  const said = el("output", {});
  const slider = el("input", { type: "range", id: "level", "aria-label": "How strong the page plays", min: "1", max: String(LEVELS.length), value: String(LEVELS.indexOf(USUAL) + 1) });
  const level = () => LEVELS[slider.value - 1];
  const sayLevel = () => {
    said.replaceChildren(el("strong", {}, level().name), ` ${level().means} `);
    slider.setAttribute("aria-valuetext", level().name);
  };
  sayLevel();
  slider.addEventListener("input", () => {
    sheet.querySelector("input[value=page]").checked = true;
    strengths.dispatchEvent(new Event("change"));
    sayLevel();
  });
  const typed = ownPlayer();
  const custom = el("fieldset", { class: "custom", hidden: true }, el("legend", {}, "Own"), playerNames(["human", ...names, ...players]), typed.fields, el("small", {}, "human, or a player, with options: uct:workers=2"));
  const clock = clockChoice();
  const called = el("p", { hidden: true }, el("label", {}, "You are called ", nameField()));
  const strengths = el(
    "fieldset",
    {},
    el("legend", {}, "Against"),
    radio("strength", "page", true, el("strong", {}, "The page")),
    el("div", { class: "levels" }, said, slider),
    ...players.map((name) => radio("strength", `own ${name}`, false, el("strong", {}, name), " thinks for two seconds")),
    radio("strength", "friend", false, el("strong", {}, "With a friend"), " who opens the address that you send"),
    card.kind === "hidden" ? "" : radio("strength", "people", false, el("strong", {}, "At this screen"), " people play all sides here"),
    radio("strength", "custom", false, el("strong", {}, "Own"), " a player with options"),
  );
  const alone = card.roles.filter((role) => role !== CHANCE).length < 2;
  strengths.hidden = alone;
  strengths.addEventListener("change", () => {
    custom.hidden = chosen("strength") !== "custom";
    called.hidden = chosen("strength") !== "friend";
  });
  const first = card.roles.findIndex((role) => role !== CHANCE);
  const sides = el(
    "fieldset",
    {},
    el("legend", {}, "You are"),
    ...card.roles.flatMap((role, i) => (role === CHANCE ? [] : [radio("side", String(i), i === first, dot(role, i), role)])),
    radio("side", "watch", false, "nobody: watch"),
  );
  const chosen = (group) => sheet.querySelector(`input[name=${group}]:checked`).value;
  sides.addEventListener("change", () => (strengths.hidden = alone && chosen("side") !== "watch"));

  function begin() {
    const side = chosen("side");
    const kind = chosen("strength");
    let strength = level();
    const more = clock.value();
    if (kind === "custom") strength = typed.strength();
    else if (kind === "people") strength = { others: "human", playclock: OWN_SECONDS };
    else if (kind === "friend") {
      strength = { others: "friend", playclock: OWN_SECONDS };
      more.name = called.querySelector("input").value.trim();
    } else if (kind !== "page") strength = { others: kind.slice(4), playclock: OWN_SECONDS };
    const seats = card.roles.map((role, i) => (role === CHANCE ? "random" : String(i) === side ? "human" : strength.others));
    const wait = el("p", { role: "status" }, "setting up the table ...");
    form.append(wait);
    openTable(source(sizes.sized()), seats, strength, more).finally(() => wait.remove());
  }
  const form = el(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        begin();
      },
    },
    ...(sizes.element ? [sizes.element] : []),
    sides,
    strengths,
    custom,
    called,
    clock.element,
    el("div", { class: "row" }, el("button", { class: "main", id: "start" }, "Play")),
  );
  sheet.append(...head.filter(Boolean), form);
  document.body.append(sheet);
  sheet.showModal();
  sheet.querySelector("#start").focus();
}
