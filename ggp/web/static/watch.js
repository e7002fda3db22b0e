// The watch room: matches as they are played, and one of them with its board, search and result over time.
import { clearError, drawing, el, fail, get } from "/static/page.js";
import { stepper } from "/static/steps.js";

const RETRY_MS = 1000;

/** Server-sent events that come back also after a refusal: a server that was just started knows no match yet. */
function follow(path, handlers, away) {
  const open = () => {
    const source = new EventSource(path);
    source.onopen = () => away(false);
    source.onerror = () => {
      away(true);
      if (source.readyState === EventSource.CLOSED) setTimeout(open, RETRY_MS);
    };
    for (const [name, handler] of Object.entries(handlers)) source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
  };
  open();
}

export function show(main, { match }) {
  if (match) showMatch(main, match);
  else showList(main);
}

const away = (text) => (gone) => (gone ? fail(new Error(text)) : clearError());

function showList(main) {
  const place = el("div", { "aria-live": "polite" });
  main.append(place);
  const row = (match) =>
    el(
      "tr",
      {},
      el("td", {}, el("a", { href: `/watch/${match.key}` }, match.id)),
      el("td", {}, match.game),
      el("td", {}, match.role || match.players.join(" - ")),
      el("td", {}, String(match.step)),
      el("td", {}, match.over ? `${match.over} ${match.goals.join(" - ")}` : match.connected ? "under way" : "not heard of"),
    );
  const list = ({ sources }) => {
    if (sources.length === 0) {
      place.replaceChildren(el("p", {}, "Nothing is being watched: start with ", el("code", {}, "ggp web --watch http://127.0.0.1:9147"), ", the address of ", el("code", {}, "ggp serve"), "."));
      return;
    }
    place.replaceChildren(
      ...sources.flatMap((source) => [
        el("h2", {}, source.name || source.address),
        el("p", { class: source.connected ? false : "fault" }, source.connected ? source.address : `${source.address}: ${source.problem || "not reached yet"}`),
        source.matches.length === 0
          ? el("p", {}, "no match")
          : el(
              "div",
              { class: "scroll", tabindex: "0", role: "region", "aria-label": "Matches" },
              el(
                "table",
                {},
                el("thead", {}, el("tr", {}, ...["match", "game", "who", "step", "how it stands"].map((text) => el("th", { scope: "col" }, text)))),
                el("tbody", {}, ...source.matches.map(row)),
              ),
            ),
      ]),
    );
  };
  follow("/watch/events", { list }, away("the server is away"));
}

function showMatch(main, key) {
  const drawn = new Map();
  let about = null;
  const load = async (number) => {
    if (!drawn.has(number)) drawn.set(number, (await get(`/watch/${key}/steps/${number}`)).svg);
    return drawn.get(number);
  };
  let following = true; // shows each new step, until somebody looks at an earlier one
  const view = stepper(load, (number) => (following = number >= about.steps.length - 1));
  const status = el("p", { class: "status", role: "status" }, "...");
  const seats = el("ul", { class: "seats" });
  const search = el("div", { class: "search" });
  const chart = el("div", { class: "chart" });
  const note = el("p", { class: "fault" });
  main.append(
    el("div", { class: "table" }, view.parts.board, el("div", { class: "side" }, status, note, seats, view.parts.controls, view.parts.bar, search, chart, view.parts.list, el("p", {}, el("a", { href: "/watch" }, "Other matches")))),
  );

  function showStatus() {
    let text = `step ${about.steps.length - 1}`;
    if (about.over) text = `${{ stop: "Over", abort: "Aborted" }[about.over] ?? about.over}: ${about.goals.join(" - ")}`;
    else if (!about.connected) text += ", its program is away";
    else if (about.think && !about.think.done) text += `, ${about.think.role} thinks`;
    status.textContent = text;
    status.dataset.step = String(about.steps.length - 1);
    note.textContent = about.note;
    note.hidden = !about.note;
    const roles = about.roles.length > 0 ? about.roles : about.players.map(() => "");
    seats.replaceChildren(
      ...roles.map((role, i) => el("li", {}, el("strong", {}, role), ` ${about.players[i] ?? (role && role === about.role ? "(this player)" : "")}`, about.goals[i] === undefined ? "" : `: ${about.goals[i]}`)),
    );
  }

  /** Shows a step that has come. */
  function renew(svg) {
    view.fill(about);
    const last = about.steps.length - 1;
    if (svg) drawn.set(last, svg);
    if (following && (svg || drawn.has(last))) view.show(last);
    showStatus();
    showChart();
  }

  function showMatchNews(told) {
    about = told;
    drawn.clear();
    main.querySelector("h1").textContent = told.game ? `${told.game}: ${told.id}` : told.id;
    document.title = `${told.id} - kaskade`;
    renew(told.drawn === told.steps.length - 1 ? told.svg : "");
    if (told.think) showThink(told.think);
  }

  function showStep({ number, roles, moves, errors, svg }) {
    if (about === null) return;
    about.roles = roles;
    // Steps that came before one could look.
    while (about.steps.length < number) about.steps.push({ moves: [], errors: [], value: null });
    about.steps.length = number;
    about.steps.push({ moves, errors, value: null });
    for (const known of [...drawn.keys()]) if (known >= number) drawn.delete(known);
    renew(svg);
  }

  function showThink(told) {
    if (about === null) return;
    about.think = told;
    if (told.value !== null && about.steps[told.step]) about.steps[told.step].value = told.value;
    const rows = told.candidates.map((c) => el("tr", {}, el("td", {}, c.move), el("td", {}, c.value.toFixed(1)), el("td", {}, c.visits.toLocaleString("en"))));
    search.replaceChildren(
      el("p", {}, `${told.role} after step ${told.step}: `, el("strong", {}, told.move), told.value === null ? "" : `, expects ${told.value.toFixed(1)}`, told.machine ? `, on ${told.machine}` : ""),
      el("p", {}, told.note),
      el("table", {}, el("thead", {}, el("tr", {}, ...["move", "expects", "visits"].map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, ...rows)),
    );
    showStatus();
    showChart();
  }

  function showChart() {
    const points = about.steps.flatMap((step, i) => (step.value == null ? [] : [[i, step.value]]));
    chart.hidden = points.length < 2;
    if (points.length < 2) return;
    const last = Math.max(1, about.steps.length - 1);
    const line = points.map(([i, value]) => `${(300 * i) / last},${100 - value}`).join(" ");
    chart.replaceChildren(
      drawing(
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-28 -6 336 118" role="img" aria-label="Expected result by step">` +
          `<path class="axis" d="M0 0V100H300M0 50H300"/><text x="-4" y="4">100</text><text x="-4" y="54">50</text><text x="-4" y="104">0</text>` +
          `<polyline class="line" points="${line}"/></svg>`,
      ),
    );
  }

  follow(
    `/watch/${key}/events`,
    {
      match: showMatchNews,
      step: showStep,
      think: showThink,
      end: (told) => about && (Object.assign(about, told), showStatus()),
      source: (told) => about && (Object.assign(about, told), showStatus()),
      note: ({ text }) => about && ((about.note = text), showStatus()),
    },
    away("the server is away, or does not know this match (yet)"),
  );
}
