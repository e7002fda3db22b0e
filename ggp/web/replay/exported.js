"use strict";
// Steps through the drawings of this file: buttons, slider, arrows, Home, End, space.
(() => {
  const about = JSON.parse(document.getElementById("about").content.textContent);
  const scenes = [...document.querySelectorAll("template.step")];
  const el = (tag, fields, ...children) => {
    const made = Object.assign(document.createElement(tag), fields);
    made.append(...children);
    return made;
  };
  const board = el("div", { className: "board" });
  const where = el("output", {});
  const slider = el("input", { type: "range", min: 0, max: scenes.length - 1, value: 0, ariaLabel: "Step" });
  const list = el("ol", { start: 0, tabIndex: 0, ariaLabel: "Steps" });
  let at = 0;
  let timer = 0;

  function show(number) {
    at = Math.max(0, Math.min(number, scenes.length - 1));
    board.replaceChildren(document.importNode(scenes[at].content, true));
    slider.value = at;
    where.textContent = `step ${at} of ${scenes.length - 1}`;
    for (const [i, item] of [...list.children].entries()) {
      if (i === at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    }
    if (list.children[at]) list.scrollTop = list.children[at].offsetTop - list.offsetTop - list.clientHeight / 2;
    history.replaceState(null, "", `#${at}`);
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }
  function go(number) {
    stop();
    show(number);
  }
  const button = (text, act) => el("button", { type: "button", onclick: act }, text);
  const play = button("Play", () => {
    if (timer) return stop();
    if (at >= scenes.length - 1) show(0);
    play.textContent = "Stop";
    timer = setInterval(() => (at < scenes.length - 1 ? show(at + 1) : stop()), 700);
  });
  const controls = el(
    "div",
    { className: "controls" },
    button("First", () => go(0)),
    button("Back", () => go(at - 1)),
    play,
    button("Next", () => go(at + 1)),
    button("Last", () => go(scenes.length - 1)),
  );
  for (const [i, step] of about.steps.entries()) {
    const wrong = step.errors.flatMap((error, role) => (error ? [`${about.roles[role] ?? ""}: ${error}`] : []));
    const line = button(step.moves.join("  ") || (i === 0 ? "start" : "-"), () => go(i));
    list.append(el("li", {}, line, ...wrong.map((text) => el("small", { className: "fault" }, text))));
  }
  const seats = about.roles.map((role, i) => el("li", {}, `${role} ${about.players[i] ?? ""}${about.goals[i] === undefined ? "" : `: ${about.goals[i]}`}`));
  slider.addEventListener("input", () => go(Number(slider.value)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.matches("button")) return;
    const act = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(scenes.length - 1), " ": () => play.click() }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  const side = el("div", {}, el("p", {}, about.outcome), el("ul", {}, ...seats));
  if (about.note) side.append(el("p", { className: "fault" }, about.note));
  side.append(controls, slider, where, list);
  document.querySelector("main").append(el("div", { className: "view" }, board, side));
  show(Number(/^#(\d+)$/.exec(location.hash)?.[1] ?? 0));
})();
