// Recorded matches of hidden information: seen as a role saw them, or as they were.
import { known, shade, whose } from "/static/hidden.js";
import { el, get } from "/static/page.js";

/** `again()` draws the step that is shown once more. `frame(step, plain)` promises {svg, beside} of a step; `plain` is the truth. */
export function seeAs(query, story, again) {
  const answers = new Map(); // role -> what it knew, step by step
  const shades = el("input", { type: "checkbox", checked: true, onchange: () => again() });
  const panel = el("div", { role: "status" });
  const choice = whose(story.hidden, story.roles, "", () => again());
  const element = el("section", { class: "known", "aria-label": "What is known" }, choice, panel);

  async function frame(step, plain) {
    const role = choice.control.value;
    panel.replaceChildren();
    if (role === "") return plain;
    if (!answers.has(role)) {
      panel.replaceChildren(el("p", {}, "working out what was possible ..."));
      answers.set(role, get(`/replay/sights?${query}&role=${role}`));
    }
    const { sights } = await answers.get(role);
    if (role !== choice.control.value) return plain;
    const sight = sights[step];
    if (sight === undefined) {
      panel.replaceChildren(el("p", {}, "Shown is all that is true: what the role knew here was not worked out."));
      return plain;
    }
    panel.replaceChildren(known(sight, shades));
    if (shades.checked) requestAnimationFrame(() => shade(document.querySelector(".board svg"), sight.squares));
    return { svg: sight.svg, beside: [] };
  }
  return { element, frame };
}
