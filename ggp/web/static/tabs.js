// Tabs as ARIA describes them: arrow keys go from one to the next, one panel is shown.
import { el } from "/static/page.js";

/** `tabs([["moves", "Moves", element], ...])`: the element with all, and `open(name)`. */
export function tabs(parts, label) {
  const buttons = parts.map(([name, title]) => el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => open(name) }, title));
  const panels = parts.map(([name, , content]) => el("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: "0" }, content));
  const list = el("div", { class: "tabs", role: "tablist", "aria-label": label }, ...buttons);

  function open(name) {
    parts.forEach(([one], i) => {
      buttons[i].setAttribute("aria-selected", String(one === name));
      buttons[i].setAttribute("tabindex", one === name ? "0" : "-1");
      panels[i].hidden = one !== name;
    });
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = buttons.indexOf(document.activeElement);
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });
  open(parts[0][0]);
  return { element: el("div", { class: "tabbed" }, list, ...panels), open };
}
