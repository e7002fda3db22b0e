// The tournaments' room: one tournament, kept up to date, or the list of the folder.
import { HIGHEST, sizeChoice, USUAL } from "/static/opponent.js";
import { ago, clearError, el, fail, listen, post } from "/static/page.js";
import { tables } from "/static/tournament_tables.js";

const OTHERS = [["Random moves", "random"], ["Greedy", "greedy"], ["Monte Carlo", "montecarlo"]];

export function show(main, data) {
  if (data.file) showTournament(main, data);
  else showList(main, data);
}

function showList(main, { files, games, players, playing, most }) {
  const link = ({ file, time }) => el("li", {}, el("a", { href: `/tournaments?file=${encodeURIComponent(file)}` }, file.replace(/^page-.*/, "Begun on this page")), `, ${playing.includes(file) ? "being played" : ago(time)}`);
  main.append(beginForm(games, players, most));
  main.append(files.length > 0 ? el("section", { "aria-label": "Tournaments" }, el("h2", {}, "Tournaments"), el("ul", { class: "spaced" }, ...files.map(link))) : el("p", { class: "line" }, "No tournament was played here yet."));
  main.append(el("p", { class: "line" }, "With ", el("code", {}, "ggp web --records DIR"), " the files of ", el("code", {}, "ggp tournament --database"), " are listed here too."));
}

const count = (people, n) => (n >= people ? Array.from({ length: people }, (_, i) => n - i).reduce((a, b) => a * b, 1) : n ** people - n);

/** What begins a tournament: games, players, clock, and how many matches that makes. */
function beginForm(games, offered, most) {
  const entrants = [...[USUAL, HIGHEST].map(({ name, others }) => [name, others]), ...OTHERS, ...offered.map((name) => [name.replace(/[^\w :=.+-]/g, " ").slice(0, 40), name])];
  const check = (group, value, checked, words) => el("label", { class: "option" }, el("input", { type: "checkbox", name: group, value, checked }), words);
  const filter = el("input", { type: "search", id: "filter", placeholder: "Search", "aria-label": "Search games", autocomplete: "off" });
  const sizes = new Map(games.map((card) => [card.name, sizeChoice(card)]).filter(([, { element }]) => element));
  const list = games.map(({ name, title }) => el("div", {}, check("game", name, name === "tictactoe" || name === "connectfour", title), sizes.get(name)?.element ?? ""));
  const rounds = el("input", { type: "number", id: "rounds", min: "1", max: "20", value: "2" });
  const clock = el("input", { type: "number", id: "playclock", min: "0.1", max: "10", step: "0.1", value: "0.5" });
  const said = el("p", { role: "status" });
  const start = el("button", { class: "main", id: "start" }, "Start");
  const chosen = (group) => [...form.querySelectorAll(`input[name=${group}]:checked`)].map(({ value }) => value);
  const form = el(
    "form",
    { class: "begin", "aria-label": "Start a tournament" },
    el("h2", {}, "Start a tournament"),
    el("fieldset", {}, el("legend", {}, "Games"), filter, el("div", { class: "ticks", tabindex: "0", role: "group", "aria-label": "Games" }, ...list)),
    el("fieldset", {}, el("legend", {}, "Players"), el("div", { class: "ticks" }, ...entrants.map(([name], i) => check("player", String(i), i < 3, name)))),
    el("p", { class: "row" }, el("label", {}, "Rounds: ", rounds), el("label", {}, "Seconds a move: ", clock)),
    said,
    el("p", { class: "row" }, start),
  );
  filter.addEventListener("input", () => list.forEach((one) => (one.hidden = !one.textContent.toLowerCase().includes(filter.value.trim().toLowerCase()))));
  filter.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());

  function tell() {
    const n = chosen("player").length;
    for (const [name, { element }] of sizes) element.hidden = element.disabled = !chosen("game").includes(name);
    const matches = Number(rounds.value) * games.filter(({ name }) => chosen("game").includes(name)).reduce((sum, { roles }) => sum + count(roles.filter((role) => role !== "random").length, n), 0);
    start.disabled = n < 2 || matches < 1 || matches > most;
    said.textContent = n < 2 ? "Choose two players or more." : matches < 1 ? "Choose a game." : matches > most ? `${matches} matches are more than ${most}: choose fewer games, players or rounds.` : `${matches} matches, one after the other, for half an hour at most.`;
  }
  form.addEventListener("input", tell);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearError();
    start.disabled = true;
    said.textContent = "getting ready ...";
    try {
      const named = chosen("player").map((i) => ({ label: entrants[i][0], spec: entrants[i][1] }));
      const { file, key } = await post("/tournaments/begin", { games: chosen("game").map((name) => sizes.get(name)?.sized().name ?? name), players: named, rounds: Number(rounds.value), playclock: Number(clock.value) });
      sessionStorage.setItem(`begun ${file}`, key);
      location.assign(`/tournaments?file=${file}`);
    } catch (error) {
      fail(error);
      tell();
    }
  });
  tell();
  return form;
}

function showTournament(main, { file, sprt, playing }) {
  const body = el("div", {});
  const key = sessionStorage.getItem(`begun ${file}`);
  const stop = el("button", { type: "button", id: "stop", hidden: key === null || !playing.includes(file), onclick: () => post("/tournaments/stop", { key }).then(() => (stop.hidden = true), fail) }, "Stop");
  const query = `file=${encodeURIComponent(file)}${sprt ? `&sprt=${encodeURIComponent(sprt)}` : ""}`;
  main.append(el("p", { class: "row" }, el("a", { href: "/tournaments" }, "All tournaments"), stop), body);
  listen(`/tournaments/events?${query}`, {
    tables: (told) => {
      clearError();
      stop.hidden ||= told.played + told.failures.length >= told.total;
      document.title = `${told.name} - kaskade`;
      main.querySelector("h1").textContent = told.name;
      body.replaceChildren(...tables(told, (number) => `/replay?tournament=${encodeURIComponent(file)}&match=${number}`, told.players.length === 2 ? testForm(file, sprt) : null));
    },
    trouble: ({ text }) => fail(new Error(text)),
  });
}

function testForm(file, sprt) {
  return el(
    "form",
    { action: "/tournaments", method: "get" },
    el("input", { type: "hidden", name: "file", value: file }),
    el("label", {}, "Sequential test of Elo differences: ", el("input", { name: "sprt", value: sprt || "0,20", size: "9", pattern: "-?[0-9.]+,-?[0-9.]+" })),
    " ",
    el("button", {}, "Test"),
  );
}
