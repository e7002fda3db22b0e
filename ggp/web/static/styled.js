// States drawn by public stylesheets, in a sandboxed frame; only where the server has a folder of them.
import { el, fail, get, post } from "/static/page.js";

const KEPT = "style";

/**
 * A choice of stylesheets and the frame of the chosen one. `show(game, facts)` draws a state: the game's own
 * stylesheet if nobody has chosen another. Both elements are hidden where there are no stylesheets.
 */
export function styled() {
  const choice = el("select", { id: "style" }, el("option", { value: "" }, "no stylesheet"));
  const label = el("label", { hidden: true }, "Also drawn by: ", choice);
  const frame = el("div", { class: "styled", hidden: true });
  let names = [];
  let latest = null; // [game, facts]
  let drawn = 0;
  const ready = get("/styles").then((told) => {
    names = told.names;
    label.hidden = names.length === 0;
    choice.append(...names.map((name) => el("option", { value: name }, name)));
  }, fail);
  choice.addEventListener("change", () => {
    sessionStorage.setItem(KEPT, choice.value);
    if (latest !== null) draw(...latest);
  });

  async function draw(game, facts) {
    latest = [game, facts];
    await ready;
    if (names.length === 0) return;
    if (choice.value === "" && sessionStorage.getItem(KEPT) === null) {
      choice.value = names.find((name) => name.toLowerCase() === game.toLowerCase()) ?? "";
    } else {
      choice.value = sessionStorage.getItem(KEPT) ?? choice.value;
    }
    frame.hidden = choice.value === "";
    if (frame.hidden) return;
    const mine = (drawn += 1);
    try {
      const told = await post(`/styles/${encodeURIComponent(choice.value)}`, { facts });
      if (mine !== drawn) return;
      frame.replaceChildren(
        el("iframe", { sandbox: "", src: told.frame, title: `The state, drawn by the stylesheet ${choice.value}` }),
      );
    } catch (error) {
      if (mine === drawn) fail(error);
    }
  }

  return { label, frame, show: draw };
}
