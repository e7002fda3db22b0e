// What this browser keeps of its own matches: the table it played at last, and records of those that are over.
import { el, get, post, read, write } from "/static/page.js";

const MOST = 8; // records that are kept
const LONGEST = 200_000; // characters of a record, and of a drawing

/** Remembers a table at which this browser plays; once the match is over, its record. */
export async function remember(table, { title, over, steps, seats, blind, roles, goals, svg }) {
  const plays = blind ? blind.over || blind.as !== null : seats.includes("human");
  if (!plays) return;
  const last = read("last table");
  if (!over) {
    if (steps > 0 && (last?.table !== table || last?.title !== title)) write("last table", { table, title });
    return;
  }
  if (last?.table === table) write("last table", null);
  const kept = read("my matches", []);
  const result = roles.flatMap((role, i) => (goals[i] == null ? [] : [`${role} ${goals[i]}`])).join(", ");
  if (kept[0]?.table === table && kept[0].steps === steps && kept[0].result === result) return;
  const record = await get(`/play/${table}/keep?form=record&over=yes`).then(JSON.stringify, () => "");
  if (record === "" || record.length > LONGEST) return;
  write("my matches", [{ table, title, steps, result, time: Date.now() / 1000, record, svg: svg.length < LONGEST ? svg : "" }, ...kept.filter((one) => one.table !== table || one.steps !== steps)].slice(0, MOST));
}

/** Whether there may be a match to go on with. */
export const hasLast = () => read("last table") !== null;

/** A link to the match that this browser has not finished, if its table is still there; null otherwise. */
export async function lastGame() {
  const last = read("last table");
  if (last === null) return null;
  const { open } = await get(`/play/${encodeURIComponent(last.table)}/open`).catch(() => ({ open: false }));
  if (open) return el("a", { class: "button", id: "continue", href: `/play/${last.table}` }, `Continue my last game: ${last.title}`);
  write("last table", null);
  return null;
}

/** The matches that this browser has played to their end, newest first: `{title, line, time, svg, open}`, where `open()` replays it. */
export function ownMatches() {
  return read("my matches", []).map(({ title, result, steps, time, record, svg }) => ({
    title,
    line: `${result}; ${steps} ${steps === 1 ? "move" : "moves"}`,
    time,
    svg,
    open: async () => location.assign((await post("/replay/records", { record, rules: "" })).page),
  }));
}
