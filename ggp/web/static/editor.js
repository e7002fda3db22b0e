// A text editor: a textarea, line numbers with markers beside it, and marks below its text.
// A finding is {line, column, length, severity, message}; columns count characters from 1, as people do.
import { tokens } from "/static/highlight.js";
import { el } from "/static/page.js";

const HEIGHT = 20; // pixels of a line, as rules.css has it
const LONGEST = 2000; // characters of a line that is coloured
const UNDOABLE = 200_000; // longer texts are replaced at once, and cannot be undone

export class Editor {
  /** `changed()` is called when the text is another one. */
  constructor(label, changed) {
    this.findings = [];
    this.lines = [""];
    this.changed = changed;
    this.byLine = new Map();
    this.numbers = el("div", { class: "numbers", "aria-hidden": "true" }, el("pre"));
    this.marks = el("div", { class: "marks", "aria-hidden": "true" }, el("pre"));
    this.area = el("textarea", {
      id: "editor",
      "aria-label": label,
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      wrap: "off",
    });
    this.element = el("div", { class: "editor" }, this.numbers, el("div", { class: "paper" }, this.marks, this.area));
    this.area.addEventListener("input", () => this.#typed());
    this.area.addEventListener("scroll", () => this.#scrolled());
    new ResizeObserver(() => this.#scrolled()).observe(this.area);
    this.area.addEventListener("keydown", (event) => {
      if (event.key !== "F8") return;
      event.preventDefault();
      this.step(event.shiftKey ? -1 : 1);
    });
    this.#draw();
  }

  get text() {
    return this.area.value;
  }

  /** Another text; where it is short enough, the last one comes back by undoing. */
  replace(text) {
    if (text === this.text) return;
    this.area.focus({ preventScroll: true });
    this.area.select();
    const undoable = Math.max(text.length, this.text.length) < UNDOABLE;
    if (!undoable || !document.execCommand("insertText", false, text)) this.area.value = text;
    this.area.setSelectionRange(0, 0);
    this.area.scrollTop = this.area.scrollLeft = 0;
    this.findings = [];
    this.#typed();
  }

  show(findings) {
    this.findings = findings;
    this.#draw();
  }

  /** Selects what a finding is about, and brings it into view. */
  visit(finding) {
    if (finding.line < 1) return;
    const line = this.lines[finding.line - 1] ?? "";
    const before = [...line].slice(0, Math.max(0, finding.column - 1)).join("").length;
    const long = [...line.slice(before)].slice(0, finding.length).join("").length;
    const start = this.lines.slice(0, finding.line - 1).reduce((sum, one) => sum + one.length + 1, 0) + before;
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(start, start + long);
    this.area.scrollTop = Math.max(0, (finding.line - 1) * HEIGHT - this.area.clientHeight / 3);
    this.area.scrollLeft = before < 40 ? 0 : (before - 20) * HEIGHT * 0.4;
  }

  /** To the finding after or before the caret. */
  step(direction) {
    const placed = this.findings.filter((finding) => finding.line > 0);
    if (placed.length === 0) return;
    const upTo = this.text.slice(0, this.area.selectionStart).split("\n");
    const here = [upTo.length, [...upTo.at(-1)].length + 1];
    const later = (f) => f.line > here[0] || (f.line === here[0] && f.column > here[1]);
    const same = (f) => f.line === here[0] && f.column === here[1];
    const next = direction > 0 ? placed.find(later) : placed.findLast((f) => !later(f) && !same(f));
    this.visit(next ?? placed.at(direction > 0 ? 0 : -1));
  }

  #typed() {
    const before = this.lines;
    const now = this.text.split("\n");
    // Findings above and below what was changed stay with their lines until the next check.
    let top = 0;
    while (top < before.length && top < now.length && before[top] === now[top]) top += 1;
    let bottom = 0;
    const most = Math.min(before.length, now.length) - top;
    while (bottom < most && before.at(-1 - bottom) === now.at(-1 - bottom)) bottom += 1;
    const shift = now.length - before.length;
    this.findings = this.findings
      .filter((finding) => finding.line <= top || finding.line > before.length - bottom)
      .map((finding) => (finding.line <= top ? finding : { ...finding, line: finding.line + shift }));
    this.#draw();
    this.changed();
  }

  /** Another text or other findings. */
  #draw() {
    this.lines = this.text.split("\n");
    this.prefix = /\(\s*(<=|role)/i.test(this.text); // KIF, whose comments begin with ;
    this.byLine = new Map();
    for (const finding of this.findings) {
      if (finding.line < 1 || finding.line > this.lines.length) continue;
      if (!this.byLine.has(finding.line)) this.byLine.set(finding.line, []);
      this.byLine.get(finding.line).push(finding);
    }
    this.numbers.style.width = `calc(${Math.max(3, String(this.lines.length).length)}ch + 16px)`;
    this.#scrolled();
  }

  /** Only what is in view is drawn: texts may be long. */
  #scrolled() {
    const { scrollTop, scrollLeft, clientHeight } = this.area;
    const from = Math.max(0, Math.floor(scrollTop / HEIGHT) - 2);
    const to = Math.min(this.lines.length, Math.ceil((scrollTop + clientHeight) / HEIGHT) + 2);
    const numbers = [];
    const marks = [];
    for (let number = from + 1; number <= to; number += 1) {
      const found = this.byLine.get(number);
      if (found === undefined) {
        numbers.push(`${number}\n`);
        marks.push(...coloured(this.lines[number - 1], this.prefix), "\n");
        continue;
      }
      const worst = ["error", "warning", "info"].find((kind) => found.some((f) => f.severity === kind)) ?? "info";
      numbers.push(el("span", { class: `mark-${worst}`, title: found.map((f) => f.message).join("\n") }, `${number}\n`));
      marks.push(...markedLine(this.lines[number - 1], found, this.prefix), "\n");
    }
    this.numbers.firstChild.replaceChildren(...numbers);
    this.marks.firstChild.replaceChildren(...marks);
    const down = from * HEIGHT - scrollTop;
    this.numbers.firstChild.style.transform = `translateY(${down}px)`;
    this.marks.firstChild.style.transform = `translate(${-scrollLeft}px, ${down}px)`;
  }
}

/** A line in colours, as far as anyone reads it. */
function coloured(line, prefix) {
  if (line.length > LONGEST) return [line];
  return tokens(line, prefix).map(([text, kind]) => (kind === "" ? text : el("span", { class: `is-${kind}` }, text)));
}

function markedLine(line, found, prefix) {
  const characters = [...line];
  const parts = [];
  let at = 0;
  for (const finding of [...found].sort((a, b) => a.column - b.column)) {
    const start = Math.max(at, finding.column - 1);
    const end = Math.min(characters.length, finding.column - 1 + Math.max(1, finding.length));
    if (finding.column < 1 || end <= start) continue;
    parts.push(...coloured(characters.slice(at, start).join(""), prefix));
    parts.push(el("mark", { class: `under-${finding.severity}` }, ...coloured(characters.slice(start, end).join(""), prefix)));
    at = end;
  }
  parts.push(...coloured(characters.slice(at).join(""), prefix));
  return parts;
}
