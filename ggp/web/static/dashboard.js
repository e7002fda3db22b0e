// The tournaments' room: one tournament, kept up to date, or the list of the folder.
import { clearError, el, fail, listen } from "/static/page.js";
import { tables } from "/static/tournament_tables.js";

export function show(main, data) {
  if (data.file) showTournament(main, data);
  else showList(main, data);
}

function showList(main, { files, folder }) {
  if (!folder) {
    main.append(el("p", {}, "Start with ", el("code", {}, "ggp web --records DIR"), " to see the tournaments of a folder here: the files of ", el("code", {}, "ggp tournament --database"), "."));
    return;
  }
  if (files.length === 0) main.append(el("p", {}, "There is no tournament in the folder yet (files that end in .sqlite)."));
  main.append(
    el("ul", {}, ...files.map(({ file, time }) => el("li", {}, el("a", { href: `/tournaments?file=${encodeURIComponent(file)}` }, file), ` - ${new Date(time * 1000).toLocaleString()}`))),
  );
}

function showTournament(main, { file, sprt }) {
  const body = el("div", {});
  const query = `file=${encodeURIComponent(file)}${sprt ? `&sprt=${encodeURIComponent(sprt)}` : ""}`;
  main.append(body);
  listen(`/tournaments/events?${query}`, {
    tables: (told) => {
      clearError();
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
