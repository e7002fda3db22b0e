// Has a puzzle solved: a game of one role by its rules, a packing by its pieces.
import { clearError, fail, post } from "/static/page.js";

export const SECONDS = 60;

/** Begins, and goes to the page that shows how it gets on. */
export async function solveCard(card, { seconds = SECONDS, solver = "" } = {}) {
  clearError();
  const packing = card.kind === "packing";
  const order = packing ? { name: card.data ? "" : card.name, data: card.data ?? "" } : { game: card.rules ? "" : card.name, rules: card.rules ?? "", title: card.title, seconds, solver };
  try {
    location.assign((await post(packing ? "/packings" : "/puzzles", order)).page);
  } catch (error) {
    fail(error);
  }
}
