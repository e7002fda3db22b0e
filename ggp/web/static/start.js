// The first page: the rooms.
import { el } from "/static/page.js";

export function show(main, { rooms }) {
  main.append(el("ul", {}, ...Object.entries(rooms).map(([path, name]) => el("li", {}, el("a", { href: path }, name)))));
}
