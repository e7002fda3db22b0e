// The replay room: records of the folder, those that a person brings, and one that is looked at.
import { analysis } from "/static/analysis.js";
import { recordCards } from "/static/record_cards.js";
import { ownMatches } from "/static/mine.js";
import { ago, clearError, drawing, el, fail, get, post, takeFiles, textOf } from "/static/page.js";
import { seeAs } from "/static/see_as.js";
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
  const title = story.title || story.name;
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
  const seen = story.hidden.length > 0 ? seeAs(query, story, () => again()) : null;
  if (seen) main.append(seen.element);
  let study = null;
  const { compare, extend, again, ...steps } = view(main, story, async (step) => {
    study?.at(step);
    const number = Math.floor(step / BATCH);
    const { frames } = await batch(number);
    if ((number + 1) * BATCH < story.steps.length) batch(number + 1);
    const plain = frames[step - number * BATCH];
    return seen ? seen.frame(step, plain) : plain;
  });
  if (story.rules) {
    study = analysis(query, story, steps);
    main.querySelector(".side .history").before(study.element);
  }
  main.append(el("p", {}, el("a", { href: `/replay/export?${query}`, download: true }, "Keep this match as one HTML file"), " that needs nothing else"));
  if (story.rules) compare(await get(`/replay/compared?${query}`));

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
        if (story.rules) compare(await get(`/replay/compared?${query}`));
      }
    } catch ({ message }) {
      fail(message);
    }
    if (goesOn()) setTimeout(follow, 1000);
  }
  if (goesOn()) setTimeout(follow, 1000);
}

function showMatches(main, query, matches) {
  const found = matches.map((one, i) => ({
    href: `/replay?${query}&match=${i + 1}`,
    ask: `/replay/card?${query}&match=${i + 1}`,
    name: one.name || `match ${i + 1}`,
    line: "",
  }));
  main.append(recordCards(found));
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
      const { page } = await post("/replay/records", { record: await textOf(chosen), rules: rules.value });
      location.assign(page);
    } catch (error) {
      fail(Object.assign(error, { cause: drop }));
    } finally {
      drop.removeAttribute("aria-busy");
      file.value = "";
    }
  }
  file.addEventListener("change", () => file.files.length && bring(file.files[0]));
  takeFiles(drop, drop, bring);
  const own = ownMatches();
  const cards = own.map(({ title, line, time, svg, open }) => el("button", { type: "button", class: "card", onclick: () => open().catch(fail) }, el("span", { class: "picture", "aria-hidden": "true" }, svg ? drawing(svg) : null), el("strong", {}, title), el("span", { class: "line" }, line), el("small", {}, ago(time))));
  if (own.length > 0) main.append(el("h2", {}, "Your last matches"), el("div", { class: "cards" }, ...cards));
  const parameter = { record: "file", tournament: "tournament" };
  const found = files.map(({ file: name, kind, time }) => ({
    href: kind === "record" ? `/replay?file=${encodeURIComponent(name)}` : `/tournaments?file=${encodeURIComponent(name)}`,
    ask: `/replay/card?${parameter[kind]}=${encodeURIComponent(name)}${kind === "tournament" ? "&match=1" : ""}`,
    name,
    line: kind === "tournament" ? `tournament, ${ago(time)}` : ago(time),
  }));
  if (found.length > 0) main.append(el("h2", {}, "On this server"), recordCards(found));
  if (own.length + found.length === 0) main.append(el("section", { class: "empty", "aria-label": "Nothing to replay yet" }, el("p", {}, "Matches that you play to their end appear here."), el("p", { class: "row" }, el("a", { class: "button main", href: "/play" }, "Play a game"))));
  main.append(drop);
  if (!folder) main.append(el("p", { class: "line" }, "With ", el("code", {}, "ggp web --records DIR"), " the records of a folder are here too."));
}
