// Cards of recorded matches. Each asks for its picture and its names once it comes into view, one after the other.
import { drawing, el, get } from "/static/page.js";

/** Who played and how it ended: "uct 100, random 0". */
function outcome({ players, goals, steps }) {
  const sides = players.length > 0 ? players : goals.map((_, i) => `role ${i + 1}`);
  const told = sides.map((name, i) => [name, goals[i]].filter((word) => word !== undefined).join(" "));
  return told.join(", ") || `${steps} steps`;
}

/**
 * Cards for records, with a search. Each of `found` has `href`, where it leads, `ask`, what tells of it, `name` and
 * `line`, which stand there from the start.
 */
export function recordCards(found) {
  const words = el("input", { type: "search", id: "filter", placeholder: "Search", "aria-label": "Search", autocomplete: "off" });
  const none = el("p", { hidden: true, role: "status" }, "Nothing is called that.");
  const queue = [];
  let busy = false;

  async function work() {
    if (busy) return;
    busy = true;
    while (queue.length > 0) await queue.shift()();
    busy = false;
  }
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      queue.push(members.find(({ card }) => card === target).load);
    }
    work();
  }, { rootMargin: "200px" });

  const members = found.map(({ href, ask, name, line }) => {
    const picture = el("span", { class: "picture", "aria-hidden": "true" });
    const title = el("strong", {}, name);
    const who = el("span", { class: "line" });
    const card = el("a", { class: "card", href, title: name }, picture, title, who, el("small", {}, line));
    const member = { card, text: `${name} ${line}`.toLowerCase(), load };
    async function load() {
      try {
        const told = await get(ask);
        title.textContent = told.matches > 1 ? `${told.matches} matches: ${told.title}` : told.title;
        who.textContent = outcome(told);
        picture.replaceChildren(drawing(told.svg));
        card.lastChild.textContent = [line, told.matches > 1 ? "" : `${told.steps} steps`, name].filter(Boolean).join(" · ");
        if (told.faults > 0) card.append(el("small", { class: "wrong" }, `${told.faults} ${told.faults === 1 ? "fault" : "faults"}`));
        member.text = `${member.text} ${card.textContent}`.toLowerCase();
      } catch (error) {
        who.textContent = error.message;
      }
      fill();
    }
    return member;
  });

  function fill() {
    const asked = words.value.trim().toLowerCase();
    for (const { card, text } of members) card.hidden = !text.includes(asked);
    none.hidden = found.length === 0 || members.some(({ card }) => !card.hidden);
  }
  words.addEventListener("input", fill);
  for (const { card } of members) seen.observe(card);
  return el("div", { class: "choice" }, el("div", { class: "filters" }, words), none, el("div", { class: "cards" }, ...members.map(({ card }) => card)));
}
