// The docs: the list of pages, and the one that was asked for.
import { el } from "/static/page.js";

export function show(main, { contents, html, here }) {
  const list = el(
    "div",
    { class: "contents", role: "navigation", "aria-label": "Docs" },
    ...contents.map(({ chapter, pages }) =>
      el("section", {}, el("strong", {}, chapter), el("ul", {}, ...pages.map(({ name, title }) => el("li", {}, el("a", { href: `/docs/${name}`, "aria-current": name === here ? "page" : false }, title))))),
    ),
  );
  const text = el("article", {});
  // The server makes this of Markdown: no script comes to life in it.
  text.append(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  // What is wider than a phone is scrolled, by keys too.
  for (const wide of text.querySelectorAll("table, pre")) wide.setAttribute("tabindex", "0");
  main.classList.add("docs");
  main.append(...(here ? [text, list] : [list]));
  if (location.hash.length > 1) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}
