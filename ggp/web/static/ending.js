// The banner at the end of a match: who has won and why, and what one may want next.
import { el, fail, get, post } from "/static/page.js";
import { openTable } from "/static/opponent.js";

/** Who has won, as the person at the screen sees it. */
function verdict({ roles: named, goals: reached, you }) {
  // Chance wins nothing.
  const playing = named.flatMap((role, i) => (role === "random" && reached[i] == null ? [] : [i]));
  const [roles, goals] = [named, reached].map((all) => playing.map((i) => all[i]));
  const people = you.map((role) => playing.indexOf(role));
  if (goals.some((goal) => goal == null)) return "The match is over";
  if (roles.length === 1) return goals[0] === 100 ? "Solved!" : goals[0] === 0 ? "Not solved" : `Over: ${goals[0]} of 100`;
  const best = Math.max(...goals);
  const winners = roles.filter((_, role) => goals[role] === best);
  if (people.length === 1) {
    const own = goals[people[0]];
    const others = Math.max(...goals.filter((_, role) => role !== people[0]));
    return own > others ? "You won" : own === others ? "A draw" : "You lost";
  }
  return winners.length === 1 ? `${winners[0]} won` : winners.length === roles.length ? "A draw" : `${winners.join(" and ")} won`;
}

/** `show(state)` fills it or hides it. `order` sends an order to the table, `state()` is the newest state. */
export function endBanner(table, order, state) {
  const element = el("section", { class: "banner", role: "group", "aria-label": "The result", hidden: true });
  const button = (id, text, act) => el("button", { type: "button", id, onclick: act }, text);
  const keep = (form, text) => el("a", { href: `/play/${table}/keep?form=${form}&over=yes`, download: true }, text);

  /** The match as a record, replayed with an analysis. */
  async function analyse() {
    try {
      const record = JSON.stringify(await get(`/play/${table}/keep?form=record&over=yes`));
      location.assign(`${(await post("/replay/records", { record })).page}&analyse=1`);
    } catch (error) {
      fail(error);
    }
  }
  async function swap() {
    await order("swap");
    order("again");
  }

  function show(news) {
    element.hidden = !news.over;
    if (!news.over) return;
    const { goals, roles, between, rules } = news;
    const next = news.next ? button("next", "Next level", () => openTable({ game: state().next, rules: "" }, ["human"], { others: "uct", playclock: 2 })) : null;
    if (next) next.classList.add("main");
    element.replaceChildren(
      el("h2", {}, verdict(news)),
      news.reason ? el("p", { class: "reason" }, news.reason) : "",
      el("p", { class: "goals" }, `${roles.flatMap((role, i) => (role === "random" && goals[i] == null ? [] : [`${role} ${goals[i] ?? "undefined"}`])).join(", ")}${news.doubts.map((doubt) => `; ${doubt}`).join("")}`),
      el(
        "div",
        { class: "row" },
        ...[rules ? next : null, rules ? button("again", "Again", () => order("again")) : null, rules && roles.filter((role) => role !== "random").length > 1 ? button("swap-again", "Again, sides swapped", swap) : null, between && news.you.length > 0 ? button("again", "Rematch", () => order("again")) : null, news.you.length === 0 && !rules ? null : button("look-back", "Look back", () => order("goto", { step: Math.max(0, state().steps - 1) })), roles.length > 1 ? button("analyse", "Analyse", analyse) : null].filter(Boolean),
      ),
      el("p", { class: "row" }, "Keep it: ", keep("html", "as a page"), keep("record", "as a record"), el("a", { href: "/play" }, "Another game")),
    );
  }
  return { element, show };
}
