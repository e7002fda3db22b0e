// The replay room: records of a folder, a record dropped onto the page, and one match step by step.
import { clearError, el, fail, get } from "/static/page.js";
import { stepper } from "/static/steps.js";

const CHUNK = 8;
const query = new URLSearchParams(location.search);

export async function show(main, { games }) {
  const source = query.get("source");
  acceptDrops();
  if (source === null) await showList(main);
  else if (query.has("match")) await showMatch(main, source, games);
  else await showMatches(main, source, await get(`/replay/matches?${new URLSearchParams({ source })}`));
}

const address = (source, match) => `/replay?${new URLSearchParams({ source, match })}`;

async function keep(file) {
  clearError();
  try {
    const token = document.querySelector("meta[name=token]").content;
    const headers = { "Content-Type": "application/json", "X-Ggp-Token": token };
    const reply = await fetch(`/replay/records?${new URLSearchParams({ name: file.name })}`, { method: "POST", headers, body: file });
    const told = await reply.json();
    if (!reply.ok) throw new Error(told.error ?? `the server answers ${reply.status}`);
    location.href = told.matches.length === 1 ? address(told.source, 0) : `/replay?${new URLSearchParams({ source: told.source })}`;
  } catch (error) {
    fail(error);
  }
}

function acceptDrops() {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) keep(file);
  });
}

async function showList(main) {
  const choose = el("input", { type: "file", id: "record", accept: ".json,.jsonl,application/json" });
  choose.addEventListener("change", () => choose.files[0] && keep(choose.files[0]));
  main.append(el("p", { class: "drop" }, el("label", { for: "record" }, "Drop a match record onto this page, or choose its file: "), choose));
  const { records } = await get("/replay/list");
  if (records.length === 0) {
    main.append(el("p", {}, "Records of a folder are listed here: start with ", el("code", {}, "ggp web --records DIR"), "."));
    return;
  }
  const rows = records.map((record) =>
    el(
      "tr",
      {},
      el("td", {}, el("a", { href: `/replay?${new URLSearchParams({ source: record.source })}` }, record.name)),
      el("td", {}, new Date(1000 * record.changed).toLocaleString()),
      el("td", {}, `${Math.ceil(record.bytes / 1024).toLocaleString("en")} KB`),
    ),
  );
  main.append(table(["record", "written", "size"], rows));
}

function table(heads, rows) {
  const head = el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, el("table", {}, head, el("tbody", {}, ...rows)));
}

async function showMatches(main, source, { matches }) {
  if (matches.length === 1) {
    location.replace(address(source, 0));
    return;
  }
  const rows = matches.map((match, i) =>
    el(
      "tr",
      {},
      el("td", {}, el("a", { href: address(source, i) }, match.id || `match ${i + 1}`)),
      el("td", {}, match.game),
      el("td", {}, match.players.join(" - ")),
      el("td", {}, match.goals.join(" - ")),
      el("td", {}, match.steps),
      el("td", { class: match.faults ? "fault" : false }, match.faults || ""),
    ),
  );
  main.append(table(["match", "game", "players", "goals", "steps", "errors"], rows));
}

async function showMatch(main, source, games) {
  const which = { source, match: query.get("match"), game: query.get("game") ?? "" };
  const about = await get(`/replay/match?${new URLSearchParams(which)}`);
  const chunks = new Map();
  const chunk = (first) => {
    if (first >= about.steps.length) return Promise.resolve({ drawings: [] });
    if (!chunks.has(first)) {
      const count = Math.min(CHUNK, about.steps.length - first);
      const asked = get(`/replay/steps?${new URLSearchParams({ ...which, first, count })}`);
      asked.catch(() => chunks.delete(first));
      chunks.set(first, asked);
    }
    return chunks.get(first);
  };
  const load = async (number) => {
    const first = number - (number % CHUNK);
    const { drawings } = await chunk(first);
    chunk(first + CHUNK).catch(() => {}); // told when it is wanted
    return drawings[number - first];
  };
  const view = stepper(load, (number) => history.replaceState(null, "", `#${number}`));
  const title = about.game ? `${about.game}: ${about.id}` : about.id;
  main.querySelector("h1").textContent = title;
  document.title = `${title} - kaskade`;
  const seats = about.roles.map((role, i) =>
    el("li", {}, el("strong", {}, role), ` ${about.players[i] ?? ""}`, about.goals[i] === undefined ? "" : `: ${about.goals[i]}`),
  );
  const choose = el(
    "select",
    { "aria-label": "Rules", onchange: () => (location.href = `/replay?${new URLSearchParams({ ...which, game: choose.value })}`) },
    el("option", { value: "" }, "as the record says"),
    ...games.map((name) => el("option", { value: name, selected: name === which.game }, name)),
  );
  const side = el(
    "div",
    { class: "side" },
    el("p", { class: "status", role: "status" }, about.outcome),
    el("ul", { class: "seats" }, ...seats),
    about.clocks ? el("p", {}, `clocks: ${about.clocks}`) : null,
    about.note ? el("p", { class: "fault", role: "note" }, about.note) : null,
    view.parts.controls,
    view.parts.bar,
    view.parts.list,
    el("p", {}, el("label", {}, "rules: ", choose)),
    el("p", {}, el("a", { href: `/replay/file?${new URLSearchParams(which)}`, download: true }, "Save as one HTML file")),
    el("p", {}, el("a", { href: `/replay` }, "Other records")),
  );
  main.append(el("div", { class: "table" }, view.parts.board, side));
  view.fill(about);
  const told = () => Number(/^#(\d+)$/.exec(location.hash)?.[1] ?? 0);
  window.addEventListener("hashchange", () => told() !== view.at() && view.show(told()));
  await view.show(told());
}
