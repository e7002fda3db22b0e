// The replay room: records of the folder, those that a person brings, and one that is looked at.
import { clearError, el, fail, get, post } from "/static/page.js";
import { styled } from "/static/styled.js";
import { view } from "/static/viewer.js";

const BATCH = 32;

export async function show(main, data) {
  if (data.asked) await showMatch(main, data.query);
  else showList(main, data);
}

async function showMatch(main, query) {
  const wait = el("p", { role: "status" }, "reading ...");
  main.append(wait);
  let { stamp } = await get(`/replay/stamp?${query}`);
  let story = await get(`/replay/story?${query}`).finally(() => wait.remove());
  if (story.matches) {
    showMatches(main, query, story.matches);
    return;
  }
  const title = story.game || story.name;
  document.title = `${title} - kaskade`;
  main.querySelector("h1").textContent = title;
  const batches = new Map();
  const batch = (number) => {
    if (!batches.has(number)) {
      const answer = get(`/replay/frames?${query}&first=${number * BATCH}&count=${BATCH}`);
      answer.catch(() => batches.delete(number));
      batches.set(number, answer);
    }
    return batches.get(number);
  };
  const stylesheets = styled();
  const { doubt, extend } = view(main, story, async (step) => {
    const number = Math.floor(step / BATCH);
    const { frames, facts } = await batch(number);
    if ((number + 1) * BATCH < story.steps.length) batch(number + 1);
    stylesheets.show(story.game, facts[step - number * BATCH]);
    return frames[step - number * BATCH];
  });
  main.append(stylesheets.label, stylesheets.frame);
  main.append(el("p", {}, el("a", { href: `/replay/export?${query}`, download: true }, "Keep this match as one HTML file"), " that needs nothing else"));
  if (story.known) doubt(await get(`/replay/doubts?${query}`));

  // A match that is still being played grows: its file is written anew after each step.
  const goesOn = () => stamp && story.goals.length === 0 && !story.aborted;
  async function follow() {
    try {
      const now = await get(`/replay/stamp?${query}`);
      if (now.stamp !== stamp) {
        const longer = await get(`/replay/story?${query}`);
        for (let number = Math.floor((story.steps.length - 1) / BATCH); batches.has(number); number++) batches.delete(number);
        ({ stamp } = now);
        story = longer;
        extend(longer);
      }
    } catch (error) {
      fail(error);
    }
    if (goesOn()) setTimeout(follow, 1000);
  }
  if (goesOn()) setTimeout(follow, 1000);
}

function showMatches(main, query, matches) {
  const rows = matches.map((one, i) =>
    el(
      "tr",
      {},
      el("td", {}, el("a", { href: `/replay?${query}&match=${i + 1}` }, one.name || `match ${i + 1}`)),
      el("td", {}, one.game),
      el("td", {}, one.players.join(" - ")),
      el("td", {}, one.goals.join(" - ")),
      el("td", {}, String(one.steps)),
      el("td", { class: one.faults ? "wrong" : "" }, one.faults ? String(one.faults) : ""),
    ),
  );
  const heads = ["match", "game", "players", "goals", "steps", "faults"].map((name) => el("th", { scope: "col" }, name));
  main.append(el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Matches" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows))));
}

function showList(main, { files, folder }) {
  const file = el("input", { type: "file", id: "file", accept: ".json,.jsonl,application/json", "aria-label": "A match record" });
  const rules = el("textarea", { id: "rules", rows: 4, spellcheck: "false", placeholder: "(role x) ..." });
  const drop = el(
    "section",
    { class: "drop", "aria-label": "A record" },
    el("p", {}, "Drop a match record here, or choose one: ", file),
    el("details", {}, el("summary", {}, "Its rules, where they are not of a game that comes along"), rules),
  );

  async function bring(chosen) {
    clearError();
    drop.setAttribute("aria-busy", "true");
    try {
      const { page } = await post("/replay/records", { record: await chosen.text(), rules: rules.value });
      location.assign(page);
    } catch (error) {
      fail(error);
    } finally {
      drop.removeAttribute("aria-busy");
      file.value = "";
    }
  }
  file.addEventListener("change", () => file.files.length && bring(file.files[0]));
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) bring(event.dataTransfer.files[0]);
  });
  main.append(drop);
  if (!folder) {
    main.append(el("p", {}, "Start with ", el("code", {}, "ggp web --records DIR"), " to see the records of a folder here."));
    return;
  }
  const filter = el("input", { type: "search", id: "filter", placeholder: "type to filter", "aria-label": "Filter", autocomplete: "off" });
  const body = el("tbody");
  const link = ({ file: name, kind }) =>
    kind === "record" ? `/replay?file=${encodeURIComponent(name)}` : `/tournaments?file=${encodeURIComponent(name)}`;
  function fill() {
    const words = filter.value.toLowerCase();
    body.replaceChildren(
      ...files
        .filter((one) => one.file.toLowerCase().includes(words))
        .map((one) =>
          el("tr", {}, el("td", {}, el("a", { href: link(one) }, one.file)), el("td", {}, one.kind), el("td", {}, new Date(one.time * 1000).toLocaleString()), el("td", {}, `${Math.ceil(one.bytes / 1024)} KB`)),
        ),
    );
  }
  filter.addEventListener("input", fill);
  fill();
  main.append(el("h2", {}, "In the folder"), filter, el("table", {}, el("thead", {}, el("tr", {}, ...["file", "kind", "changed", "size"].map((name) => el("th", {}, name)))), body));
  if (files.length === 0) main.append(el("p", {}, "There is nothing yet."));
}
