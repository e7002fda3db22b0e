// What every page uses: elements, requests with the page's token, events, error lines, files, what a browser keeps.
import { el } from "/static/dom.js";

export { drawing, el, shape } from "/static/dom.js";

const token = document.querySelector("meta[name=token]").content;

/** The form, row or control that was used last: what goes wrong because of it is said behind it. */
export let used = null;
for (const name of ["click", "change", "submit"]) {
  document.addEventListener(name, ({ target }) => (used = target.closest("form, .row, p, [role=group], .board, button, label")), true);
}

/** The JSON that a GET gives; throws an Error with the server's words. */
export function get(path) {
  return answer(path, { headers: { Accept: "application/json" } });
}

/** The JSON that a POST of `body` gives; throws an Error with the server's words. */
export function post(path, body = {}) {
  const headers = { "Content-Type": "application/json", "X-Ggp-Token": token };
  return answer(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** The text of a file as the server reads texts: UTF-8, UTF-16 with its mark, or else Latin-1, lines ended by LF. */
export async function textOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const encoding = { 255254: "utf-16le", 254255: "utf-16be" }[bytes[0] * 1000 + bytes[1]] ?? "utf-8";
  let text;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    text = new TextDecoder("latin1").decode(bytes);
  }
  return text.replace(/\r\n?/g, "\n");
}

/** Hands a text to the person as a file. */
export function saveText(text, name) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Takes the first of the files that are dropped on `area`; `place` shows that it would. */
export function takeFiles(area, place, take) {
  area.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("over");
  });
  area.addEventListener("dragleave", ({ relatedTarget }) => !area.contains(relatedTarget) && place.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
}

/** What this browser keeps under a name; `otherwise` where it keeps nothing, or what it kept cannot be read. */
export function read(name, otherwise = null) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Keeps a value in this browser, if there is room for it; null is forgotten. */
export function write(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // There is no room, or the browser keeps nothing.
  }
}

/** "1 move", "2 moves". */
export const counted = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

async function answer(path, options) {
  const cause = used; // others may be used before the answer comes
  try {
    const reply = await fetch(path, options);
    const value = await reply.json().catch(() => null);
    if (!reply.ok || value === null) throw new Error(value?.error ?? `the server answers ${reply.status}`);
    return value;
  } catch (error) {
    throw Object.assign(error, { cause });
  }
}

/**
 * Server-sent events: `listen(path, {state: f, ...})`, each `f` given the event's JSON; returns a closer. A lost
 * connection is made again: `heard(false)` is called when it breaks, `heard(true)` when it is there. `gone` is
 * called where the server refuses it.
 */
export function listen(path, handlers, gone = () => {}, heard = () => {}) {
  const source = new EventSource(path);
  source.addEventListener("open", () => heard(true));
  source.addEventListener("error", () => {
    heard(false);
    if (source.readyState === EventSource.CLOSED) gone();
  });
  for (const [name, handler] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
  }
  return () => source.close();
}

/** A search's value of a move, on the scale of goals, 0 to 100. */
export function expectation(value) {
  return value === null || value === undefined ? "not visited yet" : value.toFixed(1);
}

const SPANS = [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60]];

/** When something was, in words: "yesterday", "3 hours ago". `time` is in seconds since 1970. */
export function ago(time) {
  const past = Date.now() / 1000 - time;
  const [unit, size] = SPANS.find((span) => past >= span[1]) ?? ["second", 1];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.round(past / size), unit);
}

/** Shows an error as one line: behind its cause, or on top where nobody has caused it. */
export function fail(error) {
  const line = document.getElementById("error") ?? el("p", { id: "error", role: "alert" });
  if (error?.cause?.isConnected) error.cause.after(line);
  else document.querySelector("main").prepend(line);
  line.textContent = error?.message ?? String(error);
  line.hidden = false;
  line.scrollIntoView({ block: "nearest" });
}

/** Takes the error line away. */
export function clearError() {
  const line = document.getElementById("error");
  if (line !== null) line.hidden = true;
}
