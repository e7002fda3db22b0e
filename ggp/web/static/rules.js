// The rules room: an editor whose findings come as one types, and what can be done with rules.
import { Editor } from "/static/editor.js";
import { preview } from "/static/preview.js";
import { openTable, USUAL } from "/static/opponent.js";
import { solveCard } from "/static/solve.js";
import { clearError, drawing, el, fail, get, post, saveText, textOf, used } from "/static/page.js";

const PAUSE = 250; // ms without a key before the rules are checked
const KEPT = "rules-text";
const TEMPLATES = [
  ["new", "the least that is a game"],
  ["tictactoe", "a board, two players in turn"],
  ["rockpaperscissors", "two players at the same time"],
  ["eightpuzzle", "a puzzle"],
  ["connectfour", "a game with gravity"],
];
export async function show(main, { games }) {
  const editor = new Editor("Rules, in any notation", changed);
  const status = el("p", { class: "status", role: "status", "aria-live": "polite" });
  const list = el("ol", { class: "findings", "aria-label": "Findings" });
  const result = el("section", { class: "result", "aria-live": "polite", tabindex: "-1", "aria-label": "Result" });
  const game = el("input", { id: "game", list: "games", placeholder: "name of a game", autocomplete: "off" });
  const seed = el("input", { id: "seed", type: "number", min: "0", max: "999999", value: "0", "aria-label": "Seed of the names" });
  const file = el("input", { type: "file", accept: ".kif,.gdl,.txt,.hrf,.pl,.lp,.prolog,text/plain", class: "unseen", tabindex: "-1", "aria-label": "A file of rules" });
  const seen = preview();
  let timer = 0;
  let number = 0; // of the newest text: answers about older ones come too late
  let busy = false;

  function changed() {
    number += 1;
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  }

  function keep() {
    try {
      sessionStorage.setItem(KEPT, editor.text);
    } catch {
      // too long to be kept: no harm
    }
  }
  window.addEventListener("pagehide", keep);

  async function check() {
    if (busy) {
      timer = setTimeout(check, PAUSE);
      return;
    }
    const mine = number;
    if (editor.text.trim() === "") {
      showFindings({ findings: [], counts: {}, notation: "" });
      return;
    }
    try {
      const told = await post("/rules/check", { text: editor.text });
      if (mine === number && !told.given_up) showFindings(told);
    } catch (error) {
      if (mine === number) status.textContent = error.message;
    }
  }

  function showFindings({ findings, counts, notation }) {
    editor.show(findings);
    const words = { error: ["error", "errors"], warning: ["warning", "warnings"], info: ["note", "notes"] };
    const told = Object.entries(words)
      .filter(([kind]) => counts[kind])
      .map(([kind, [one, many]]) => `${counts[kind]} ${counts[kind] === 1 ? one : many}`);
    status.textContent = notation === "" ? "Type rules, or load a game." : `${told.join(", ") || "No findings"} (${notation} GDL)`;
    if (!counts.error && notation !== "") seen.show(editor.text);
    const rank = { error: 0, warning: 1, info: 2 };
    findings = [...findings].sort((a, b) => rank[a.severity] - rank[b.severity]);
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    list.replaceChildren(
      ...findings.map((finding) =>
        el(
          "li",
          { class: `finding-${finding.severity}` },
          el(
            "button",
            { type: "button", class: "quiet", onclick: () => editor.visit(finding) },
            el("strong", {}, finding.line > 0 ? `${finding.line}:${finding.column} ` : ""),
            el("span", { class: "kind" }, finding.severity === "info" ? "note" : finding.severity),
            ` ${finding.message}`,
          ),
          el("small", {}, finding.remedy),
          finding.moves?.length > 0 ? el("small", {}, `moves: ${finding.moves.map((joint) => joint.join(" ")).join("  ")}`) : null,
        ),
      ),
      ...(all > findings.length ? [el("li", {}, `and ${all - findings.length} more`)] : []),
    );
  }

  /** One job at a time; what comes back is about the text as it is now, or told nobody. */
  async function job(name, options, done) {
    if (busy) return;
    clearError();
    clearTimeout(timer);
    const [mine, cause] = [number, used];
    busy = true;
    main.setAttribute("aria-busy", "true");
    try {
      const told = await post(`/rules/${name}`, { text: editor.text, ...options });
      if (mine === number) await done(told);
      else fail(new Error("the rules have changed in the meantime: ask again", { cause }));
    } catch (error) {
      fail(error);
    } finally {
      busy = false;
      main.removeAttribute("aria-busy");
      clearTimeout(timer);
      if (name !== "rehearse" || mine !== number) timer = setTimeout(check, 0);
    }
  }

  const put = ({ text }) => editor.replace(text);
  const rewrite = (to) => job("rewrite", { to }, put);
  const table = (rows) =>
    el(
      "table",
      {},
      ...rows.map(([name, value, meaning]) =>
        el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(3)), el("td", {}, meaning)),
      ),
    );

  function present(title, ...content) {
    result.replaceChildren(el("h2", {}, title), ...content);
    result.scrollIntoView({ block: "nearest" });
    result.focus({ preventScroll: true });
  }

  const draw = (of) =>
    job("draw", { of }, ({ svg, why, rows, outputs }) => {
      const choice = el(
        "select",
        { id: "of", onchange: () => draw(choice.value) },
        el("option", { value: "" }, "all outputs"),
        ...outputs.map((name) => el("option", { value: name, selected: name === of }, name)),
      );
      const picture = svg ? el("div", { class: "network", tabindex: "0", role: "group", "aria-label": "Network" }, drawing(svg)) : el("p", {}, `Not drawn: ${why}. Choose one output.`);
      present("The network", el("label", {}, "What this depends on: ", choice), picture, table(rows));
      choice.focus();
    });

  async function load(name) {
    clearError();
    try {
      const { text } = await get(`/rules/games/${encodeURIComponent(name)}`);
      editor.replace(text);
      history.replaceState(null, "", `/rules?game=${encodeURIComponent(name)}`);
    } catch (error) {
      fail(error);
    }
  }

  file.addEventListener("change", async () => {
    if (file.files[0]) editor.replace(await textOf(file.files[0]));
    file.value = "";
  });
  editor.element.addEventListener("dragover", (event) => event.preventDefault());
  editor.element.addEventListener("drop", async (event) => {
    const dropped = event.dataTransfer.files[0];
    if (!dropped) return;
    event.preventDefault();
    editor.replace(await textOf(dropped));
  });

  /** The rules as a card of the choice: played or solved at once. */
  const own = () => ({ rules: editor.text, title: game.value.trim() || "Your rules", roles: [] });

  const button = (id, text, act) => el("button", { type: "button", id, onclick: act }, text);
  const template = el(
    "select",
    { id: "template", "aria-label": "Begin with", onchange: () => begin(template.value) },
    el("option", { value: "" }, "Begin with …"),
    ...TEMPLATES.map(([name, words]) => el("option", { value: name }, words)),
  );
  function begin(name) {
    template.value = "";
    if (name === "new") fetch("/static/new.kif").then((reply) => reply.text()).then((text) => editor.replace(text), fail);
    else if (name) load(name);
  }
  const loading = el(
    "form",
    {
      class: "row",
      onsubmit: (event) => {
        event.preventDefault();
        load(game.value.trim());
      },
    },
    template,
    el("label", { for: "game" }, "or a game that comes along: "),
    game,
    el("datalist", { id: "games" }, ...games.map((name) => el("option", { value: name }))),
    el("button", { type: "submit", id: "load" }, "Load"),
    button("open", "Open a file", () => file.click()),
    button("save", "Save", () => saveText(editor.text, "rules.kif")),
    file,
  );
  main.append(
    loading,
    el(
      "div",
      { class: "row", role: "group", "aria-label": "Use the rules" },
      el("button", { type: "button", id: "play", class: "main", onclick: () => openTable({ game: "", rules: editor.text }, ["human"], USUAL) }, "Play these rules"),
      button("solve", "Solve as a puzzle", () => solveCard(own())),
    ),
    el("div", { class: "rules" }, el("div", {}, editor.element, el("p", { class: "hint" }, "F8 and Shift+F8 go from finding to finding.")), el("div", { class: "told" }, seen.element, status, list)),
    el(
      "div",
      { class: "row", role: "group", "aria-label": "Work on the rules" },
      button("rehearse", "Play at random, find more", () => job("rehearse", {}, showFindings)),
      button("format", "Format", () => rewrite("")),
      button("infix", "To infix", () => rewrite("infix")),
      button("prefix", "To prefix", () => rewrite("prefix")),
      button("prolog", "To Prolog", () => rewrite("prolog")),
      button("scramble", "Scramble", () => job("scramble", { seed: Math.trunc(Number(seed.value)) }, put)),
      seed,
      button("count", "Ground statistics", () => job("count", {}, ({ rows }) => present("Ground rules", table(rows)))),
      button("draw", "Draw the network", () => draw("")),
    ),
    result,
  );
  const wanted = new URLSearchParams(location.search).get("game");
  const kept = sessionStorage.getItem(KEPT);
  if (wanted !== null) await load(wanted);
  else if (kept) editor.replace(kept);
  else check();
}
