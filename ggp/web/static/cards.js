// Cards to choose from, each with a picture; filters; and what a person brings as a file or a text.
import { clearError, drawing, el, fail, post, takeFiles } from "/static/page.js";

const KINDS = {
  turns: "Two players and more",
  "at once": "At the same time",
  chance: "Against chance",
  hidden: "Hidden information",
  puzzle: "Puzzles",
  level: "Levels",
  packing: "Packing puzzles",
  "board game": "Board games",
  "card game": "Card games",
  "dice game": "Dice games",
  "paper and pencil": "Paper and pencil",
};
const kindsOf = ({ kind, kinds = [] }) => [kind, ...kinds];
const AGAIN = 4000; // ms until a picture that did not come is asked for once more

/** The picture of a card that comes along. */
function picture(card) {
  const address = `/cards/${encodeURIComponent(card.name)}.svg`;
  const image = el("img", { src: address, alt: "", loading: "lazy", width: "160", height: "160" });
  image.addEventListener("error", () => setTimeout(() => (image.src = `${address}?again=1`), AGAIN), { once: true });
  return image;
}

/** One card as a button. A card that was brought has its drawing in `svg`. */
export function cardButton(card, choose) {
  const people = card.roles.filter((role) => role !== "random").length; // chance is no player
  const players = card.roles.length < 2 ? "" : people === 1 ? "1 player and chance" : `${people} players`;
  const picked = card.svg === undefined ? picture(card) : card.svg ? drawing(card.svg) : "";
  if (picked instanceof Element) picked.setAttribute("aria-hidden", "true");
  return el(
    "button",
    { type: "button", class: "card", "data-name": card.name ?? card.title, onclick: () => choose(card) },
    el("span", { class: "picture" }, picked),
    el("strong", {}, card.title),
    el("span", { class: "line" }, card.line),
    players ? el("small", {}, players) : null,
  );
}

/** All cards of some kinds with their filters; `choose(card)` is called with the one that is clicked. */
export function cardList(cards, kinds, choose) {
  const words = el("input", { type: "search", id: "filter", placeholder: "Search", "aria-label": "Search", autocomplete: "off" });
  const present = kinds.filter((kind) => cards.some((card) => card.kind === kind));
  const found = new Set(cards.flatMap((card) => (kinds.includes(card.kind) ? kindsOf(card) : [])));
  let wanted = "";
  const buttons = ["", ...Object.keys(KINDS).filter((kind) => found.has(kind))].map((kind) =>
    el("button", { type: "button", "data-kind": kind, "aria-pressed": String(kind === ""), onclick: () => pick(kind) }, kind === "" ? "All" : KINDS[kind]),
  );
  const made = present.map((kind) => {
    const members = cards.filter((card) => card.kind === kind).map((card) => {
      const all = kindsOf(card);
      return [cardButton(card, choose), [card.name, card.title, card.line, ...all, ...all.map((one) => KINDS[one] ?? "")].join(" ").toLowerCase(), all];
    });
    const grid = el("div", { class: "cards" }, ...members.map(([button]) => button));
    return { members, section: el("section", { "aria-label": KINDS[kind] }, el("h2", {}, KINDS[kind]), grid) };
  });
  const none = el("p", { hidden: true, role: "status" }, "Nothing is called that.");
  const all = el("div", { class: "all" }, ...made.map(({ section }) => section));

  function pick(kind) {
    wanted = kind;
    all.classList.toggle("one", kind !== ""); // one list, whatever else they are
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
    fill();
  }
  function fill() {
    const asked = words.value.trim().toLowerCase();
    let shown = 0;
    for (const { members, section } of made) {
      let here = 0;
      for (const [button, text, all] of members) {
        button.hidden = !((wanted === "" || all.includes(wanted)) && text.includes(asked));
        if (!button.hidden) here += 1;
      }
      section.hidden = here === 0;
      shown += here;
    }
    none.hidden = shown > 0;
  }
  words.addEventListener("input", fill);
  words.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const open = made.filter(({ section }) => !section.hidden).flatMap(({ members }) => members);
    // A name that is typed whole means that game, whatever else has it in its line.
    const asked = words.value.trim().toLowerCase();
    const shown = open.map(([button]) => button).filter((button) => !button.hidden);
    (shown.find((button) => button.dataset.name.toLowerCase() === asked) ?? shown[0])?.click();
  });
  const filters = el("div", { class: "filters" }, words, el("div", { class: "kinds", role: "group", "aria-label": "Kinds" }, ...buttons));
  return el("div", { class: "choice" }, filters, none, all);
}

export async function base64(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}

/** A place to drop or paste: rules, levels, packing puzzles. What it turns out to be becomes cards below. */
export function bringYourOwn(choose) {
  const file = el("input", { type: "file", id: "bring", "aria-label": "A file of your own", accept: ".kif,.gdl,.hrf,.pl,.lp,.prolog,.xsb,.sok,.slc,.txt,.packing,.xmpuzzle" });
  const text = el("textarea", { id: "rules", rows: 5, spellcheck: "false", "aria-label": "Rules or a level, pasted", placeholder: "Paste rules (GDL), a level of Sokoban or Snakes, or a packing puzzle" });
  const found = el("div", { class: "cards", role: "group", "aria-label": "What you brought" });
  const said = el("p", { role: "status" });

  async function bring(blob, name) {
    clearError();
    said.textContent = "reading ...";
    found.replaceChildren();
    try {
      const data = await base64(blob);
      const { what, cards, faults } = await post("/choice", { name, data });
      const brought = cards.map((card) => ({ ...card, kind: what === "packing" ? "packing" : "own", data: what === "packing" ? data : "", name: card.title }));
      said.textContent = [...(cards.length === 1 ? [] : [`${cards.length} levels`]), ...faults.slice(0, 9)].join("; ");
      found.replaceChildren(...brought.map((card) => cardButton(card, choose)));
      if (brought.length === 1 && faults.length === 0) choose(brought[0]);
    } catch (error) {
      said.textContent = "";
      fail(Object.assign(error, { cause: said })); // a file may be dropped anywhere
    }
  }
  file.addEventListener("change", () => {
    if (file.files[0]) bring(file.files[0], file.files[0].name);
    file.value = "";
  });
  const place = el(
    "section",
    { class: "bring", "aria-label": "Bring your own" },
    el("h2", {}, "Bring your own"),
    el("p", {}, "Drop a file here, or choose one: ", file),
    el("p", { class: "line" }, "Rules (.kif, .hrf), levels of Sokoban (.xsb) or Snakes (.txt), packing puzzles (.packing, .xmpuzzle)."),
    text,
    el("div", { class: "row" }, el("button", { type: "button", id: "read", onclick: () => bring(new Blob([text.value]), "") }, "Use this text"), el("a", { href: "/rules" }, "Write rules in the editor"), el("a", { href: "/puzzles/draw" }, "Draw a level")),
    said,
    found,
  );
  takeFiles(document, place, (dropped) => bring(dropped, dropped.name));
  return place;
}
