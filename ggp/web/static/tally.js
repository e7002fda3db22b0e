// Beside the board of a puzzle: moves, pushes, and the best result so far, which this browser keeps for each level.
import { openTable, USUAL } from "/static/opponent.js";
import { counted, el, read, write } from "/static/page.js";

const told = ({ moves, pushes }) => [counted(moves, "move", "moves"), ...(pushes === undefined ? [] : [counted(pushes, "push", "pushes")])].join(", ");

/** The best result of a level, with a new one taken into account: a higher goal, else fewer moves, fewer pushes. */
function best(level, reached) {
  const key = `best ${level}`;
  const kept = read(key);
  if (reached === null || kept?.goal > reached.goal) return kept;
  const merged = kept?.goal === reached.goal ? { ...reached, moves: Math.min(kept.moves, reached.moves), ...(reached.pushes === undefined ? {} : { pushes: Math.min(kept.pushes, reached.pushes) }) } : reached;
  write(key, merged);
  return merged;
}

/**
 * `show(state)` fills it, or hides it in games of several roles. `buttons` make steps again that were taken back, and go back
 * to the first one; `order` sends an order to the table.
 */
export function tallyView(order) {
  const button = (name, text, key, act) => el("button", { type: "button", "data-order": name, title: `key: ${key}`, hidden: true, onclick: act }, text);
  const redo = button("redo", "Forward", "y", () => order("redo"));
  const restart = button("restart", "Restart", "r", () => order("goto", { step: 0 }).then(() => order("go")));
  const counts = el("span", {});
  const record = el("span", { class: "best" });
  const next = el("button", { type: "button", id: "next-level", onclick: () => openTable({ game: following, rules: "" }, ["human"], USUAL) }, "Next level");
  const element = el("p", { class: "tally", role: "group", "aria-label": "Counts", hidden: true }, counts, record, next);
  let following = "";

  function show({ tally, level, over, goals, history, next: after, step, steps, blind, between }) {
    redo.hidden = step === steps || between || (blind && !blind.over);
    restart.hidden = !level || step === 0;
    element.hidden = !level;
    if (!level) return;
    // What the page has played is no record of a person's.
    const own = history.every(({ notes, expects }) => Object.keys({ ...notes, ...expects }).length === 0);
    const kept = best(level, over && own && goals[0] > 0 ? { ...tally, goal: goals[0] } : null);
    counts.textContent = told(tally);
    record.textContent = kept === null ? "" : `Your best: ${kept.goal === 100 ? "" : `${kept.goal} of 100 in `}${told(kept)}`;
    following = after;
    next.hidden = !after || over; // the banner has one
  }
  return { element, buttons: [redo, restart], show };
}
