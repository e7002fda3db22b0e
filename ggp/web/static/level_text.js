// Levels of Sokoban and Snakes and flat packing puzzles as parts with rows, and as the text of a file.

const SNAKES = ["A", "B", "C", "D"].map((letter) => [letter, `snake ${letter}, from its head on`]);
const BLOCKS = [..."123456789"].map((digit) => [digit, `block ${digit}`]);

/** What can be drawn: the character of an empty cell, the name of a file, the most columns and rows, what one begins with, and
 * tools, [character, name]; `counted` are names of what is counted, with its characters. */
export const KINDS = {
  sokoban: {
    ...{ name: "Sokoban", empty: " ", file: "level.xsb", most: [60, 60], begin: "##########\n#        #\n#   @    #\n#        #\n#        #\n##########" },
    tools: [["#", "wall"], [" ", "floor"], ["$", "box"], [".", "goal"], ["@", "keeper"]],
    counted: { keeper: "@+", boxes: "$*", goals: ".*+" },
  },
  snakes: {
    ...{ name: "Snakes", empty: ".", file: "level.txt", most: [26, 99], begin: "..........\n..........\n.>>A...E..\n.#######..\n..........\n.........." },
    tools: [["#", "wall"], [".", "free"], ["*", "fruit"], ["!", "spikes"], ["E", "exit"], ["$", "block of one cell"], ...SNAKES, ...BLOCKS],
    counted: { snakes: "ABCD", fruit: "*", exit: "E" },
  },
  packing: {
    ...{ name: "Packing", empty: ".", file: "puzzle.packing", most: [40, 40], begin: "packing cubes\nflat\npentominoes PUV\nresult\n#####\n#####\n#####" },
    tools: [["#", "cell"], ["+", "cell that may stay empty"], [".", "nothing"]],
    counted: { cells: "#", "cells that may stay empty": "+" },
  },
};
const NAMES = { "*": "box on a goal", "+": "keeper on a goal", "<": "body, right of its next", ">": "body, left of its next", "^": "body, below its next", v: "body, above its next" };

/** A cell in words. */
export const nameOf = (kind, cell) => KINDS[kind].tools.find(([one]) => one === cell)?.[1] ?? NAMES[cell] ?? cell;

const isTitle = (line) => /^\s*(;|title:|author:)/i.test(line);

/** The kind of a text. */
export function kindOf(text) {
  const drawn = text.split("\n").filter((line) => line.trim() && !isTitle(line)).join("\n");
  if (/^\s*packing\b/.test(drawn)) return "packing";
  return !/[@+]/.test(drawn) && /[EA-D<>^v]/.test(drawn) ? "snakes" : "sokoban";
}

const square = (rows, empty) => rows.map((row) => row.padEnd(Math.max(...rows.map((one) => one.length)), empty));

/** The parts of a text: `title` and `rows` of each; what cannot be drawn flat has no rows. */
export function partsOf(kind, text) {
  const parts = [];
  if (kind === "packing") {
    const lines = text.split("\n");
    for (let at = 0; at < lines.length; at += 1) {
      const title = lines[at].trim();
      const size = /^result\s+(\d{1,2})\s*x\s*(\d{1,2})$/.exec(title);
      let end = at + 1;
      if (/^(piece\s|result$)/.test(title)) while (/^\s*[.#+]+\s*$/.test(lines[end] ?? "")) end += 1;
      const flat = end > at + 1 && !/^\s*(-+|[.#+1-9a-i]+)\s*$/.test(lines[end] ?? ""); // one layer, without colours
      if (size) parts.push({ title: "result", rows: Array(Number(size[2])).fill("#".repeat(Number(size[1]))) });
      else parts.push({ title: lines[at], ...(flat ? { title, rows: square(lines.slice(at + 1, end).map((row) => row.trim()), ".") } : {}) });
      if (flat) at = end - 1;
    }
    return parts;
  }
  const [blank, allowed] = kind === "snakes" ? [/ /g, /./] : [/[-_]/g, /^[-_#$.*@+ ]+$/];
  for (const block of text.split(/\n\s*\n/)) {
    const lines = block.split("\n").filter((line) => line.trim());
    const rows = lines.filter((line) => !isTitle(line) && allowed.test(line)).map((row) => row.replace(blank, KINDS[kind].empty));
    const title = (lines.find(isTitle) ?? "").replace(/^\s*(;|title:)\s*/i, "");
    if (rows.length > 0) parts.push({ title, rows: square(rows, KINDS[kind].empty) });
  }
  return parts;
}

/** The text of parts, as its file has it. */
export function textOfParts(kind, parts) {
  if (kind === "packing") return parts.flatMap(({ title, rows }) => [title, ...(rows ?? [])]).join("\n");
  // A row of floor must not be an empty line: it would end the map.
  const row = (cells) => (cells.trim() ? cells.trimEnd() : "-".repeat(cells.length));
  const [above, below] = kind === "snakes" ? ["; ", ""] : ["", "Title: "];
  return `${parts.map(({ title, rows }) => [...(title && above ? [above + title] : []), ...rows.map(row), ...(title && below ? [below + title] : [])].join("\n")).join("\n\n")}\n`;
}

const STEPS = { "<": [0, -1], ">": [0, 1], "^": [-1, 0], v: [1, 0] };

/** The cells of a snake, from its head on. */
function snake(cells, letter) {
  const line = cells.flatMap((row, y) => (row.includes(letter) ? [[y, row.indexOf(letter)]] : []));
  for (let at = 0; at < line.length; at += 1) {
    const behind = Object.entries(STEPS).find(([arrow, [i, j]]) => cells[line[at][0] - i]?.[line[at][1] - j] === arrow);
    if (behind) line.push([line[at][0] - behind[1][0], line[at][1] - behind[1][1]]);
  }
  return line;
}

/** The rows after a tool was used on a cell: there is one keeper and one exit, and snakes grow from their heads on. */
export function used(kind, rows, tool, y, x) {
  const cells = rows.map((row) => [...row]);
  const was = cells[y][x];
  const replace = (ones) => cells.forEach((row) => row.forEach((one, i) => (row[i] = ones[one] ?? one)));
  let put = tool;
  if (kind === "sokoban" && tool === "@") replace({ "@": " ", "+": "." });
  if (kind === "sokoban" && "$@".includes(tool) && ".*+".includes(was)) put = tool === "$" ? "*" : "+";
  if (kind === "sokoban" && tool === ".") put = { $: "*", "*": "*", "@": "+", "+": "+" }[was] ?? ".";
  if (kind === "snakes" && tool === "E") replace({ E: "." });
  if (kind === "snakes" && /[A-D]/.test(tool)) {
    const line = snake(cells, tool);
    const [i, j] = line.at(-1) ?? [];
    const arrow = Object.keys(STEPS).find((one) => y + STEPS[one][0] === i && x + STEPS[one][1] === j);
    const grows = arrow && !line.some(([a, b]) => a === y && b === x);
    if (grows) put = arrow;
    else for (const [a, b] of line) cells[a][b] = ".";
  }
  cells[y][x] = put;
  return cells.map((row) => row.join(""));
}
