// The people at a table: the key of this browser, free seats, who is away, what somebody asks the others.
import { el, fail, post } from "/static/page.js";

const NAME = "kaskade name"; // where the browser keeps what its person is called
const ASKS = { draw: ["offers a draw", "You offer a draw."], back: ["asks to take back", "You ask to take back."], again: ["wants another match, sides swapped", "You ask for another match."] };
const SURE = 4000; // ms in which a second click resigns

/** The key of this browser at a table; empty for who looks on. The page that opens a table has it behind #. */
export function keyOf(table) {
  const brought = location.hash.slice(1);
  if (/^[\w-]{16}$/.test(brought)) {
    localStorage.setItem(`chair ${table}`, brought);
    history.replaceState(null, "", location.pathname);
  }
  return localStorage.getItem(`chair ${table}`) ?? "";
}

/** A field for one's name, kept in this browser. */
export function nameField() {
  const field = el("input", { id: "name", maxlength: "24", autocomplete: "nickname", placeholder: "your name, if you like", "aria-label": "Your name", value: localStorage.getItem(NAME) ?? "" });
  field.addEventListener("change", () => localStorage.setItem(NAME, field.value.trim()));
  return field;
}

/** Gives the table's address away: by what the device has for that, else by copying it. */
async function share({ currentTarget: button }) {
  const url = location.origin + location.pathname;
  try {
    if (navigator.share) await navigator.share({ title: document.title, url });
    else {
      await navigator.clipboard.writeText(url);
      button.textContent = "Address copied";
    }
  } catch (error) {
    if (error.name !== "AbortError") fail(new Error(`copy this address: ${url}`, { cause: button }));
  }
}

/** Buttons and words between people. `order` sends an order, `sat()` is called when this browser has a seat. */
export function seatsView(table, order, sat) {
  const [seats, asked] = [el("div", {}), el("div", { role: "status" })];
  const element = el("section", { class: "known company", "aria-label": "People", hidden: true }, asked, seats);
  const name = nameField();
  const address = el("input", { readonly: true, "aria-label": "The address of this table", value: location.origin + location.pathname, onfocus: (event) => event.target.select() });
  const button = (id, text, act, look = "") => el("button", { type: "button", id, class: look, onclick: act }, text);
  const resign = button("resign", "Resign", surely);
  const draw = button("draw", "Offer a draw", () => order("draw"));
  let sure = 0; // until when a click resigns
  let state = null;
  let shown = "";

  async function sit(role) {
    try {
      const { key } = await post(`/play/${table}/sit`, { role, name: name.value.trim(), key: keyOf(table) });
      localStorage.setItem(`chair ${table}`, key);
      sat();
    } catch (error) {
      fail(error);
    }
  }
  function surely() {
    if (Date.now() < sure) order("resign", { role: state.roles[state.you[0]] });
    sure = Date.now() < sure ? 0 : Date.now() + SURE;
    fillResign();
    setTimeout(fillResign, SURE);
  }
  const fillResign = () => (resign.textContent = Date.now() < sure ? "Really resign?" : "Resign");

  /** What somebody asks for; who asked for it may take it back. */
  function offer([what, persons]) {
    const own = state.you.some((role) => persons.includes(state.persons[role]));
    const who = state.persons.flatMap((person, role) => (person === persons[0] ? [state.people[role]?.name || state.roles[role]] : []))[0];
    const buttons = state.you.length === 0 ? [] : own ? [button(`drop-${what}`, "Never mind", () => order("decline", { offer: what }))] : [button(`accept-${what}`, "Accept", () => order(what), "main"), button(`decline-${what}`, "Decline", () => order("decline", { offer: what }))];
    return el("p", { class: "row" }, own ? ASKS[what][1] : `${who} ${ASKS[what][0]}.`, ...buttons);
  }

  function show(news) {
    state = news;
    const free = state.people.flatMap((one, role) => (one.free ? [state.roles[role]] : []));
    const outside = state.you.length === 0;
    const offers = Object.entries(state.offers);
    resign.hidden = outside || !state.resigns;
    draw.hidden = outside || !state.draws || "draw" in state.offers;
    const words = outside ? (free.length > 0 ? "There is a free seat." : state.people.some(({ here, name: one }) => here || one) ? "You look on." : "") : free.length > 0 ? `Send a friend this address, to play ${free.join(" or ")}:` : "";
    element.hidden = words === "" && offers.length === 0;
    const shows = JSON.stringify([words, state.you, free, offers, state.persons]);
    if (shows === shown) return; // a button that is being pressed stays
    shown = shows;
    // One seat a person where each sees something else.
    const sits = outside || !state.blind ? free.map((role) => button(`sit-${role}`, outside ? `Sit down as ${role}` : `Play ${role} here`, () => sit(role), outside ? "main sit" : "sit")) : [];
    const rows = [words ? el("p", {}, words) : "", !outside && free.length > 0 ? el("p", { class: "row" }, address, button("send", "Share", share, "main")) : "", sits.length > 0 ? el("p", { class: "row" }, outside ? name : "", ...sits) : ""];
    asked.replaceChildren(...offers.map(offer));
    seats.replaceChildren(...rows);
  }
  return { element, buttons: [draw, resign, button("share", "Share", share)], show };
}
