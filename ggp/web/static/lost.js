// The page for an address that leads nowhere.
import { el } from "/static/page.js";

export function show(main, { text }) {
  const words = text && text !== "Not Found" ? text : "There is no such page.";
  main.append(el("p", {}, words), el("p", { class: "row" }, el("a", { class: "button main", href: "/" }, "To the first page"), el("a", { class: "button", href: "/play" }, "Choose a game")));
}
