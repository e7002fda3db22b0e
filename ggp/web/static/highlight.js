// Colours for rules: comments, variables, words of the language, numbers, brackets.

const WORDS = new Set(["role", "init", "true", "does", "legal", "next", "terminal", "goal", "base", "input", "not", "or", "distinct", "sees", "random"]);
const TOKEN = /(;.*|%.*|#.*)|("[^"]*")|(\?[\w+-]+)|(<=|:-|\\\+|~|&)|([A-Za-z_][\w+-]*)|(\d+)|([()])/g;

/** Pieces of a line: [text, kind]; kind is empty for what has no colour. `prefix` is whether it is KIF. */
export function tokens(line, prefix) {
  const parts = [];
  let at = 0;
  for (const found of line.matchAll(TOKEN)) {
    const [text, comment, quoted, variable, sign, word, number] = found;
    // What begins a comment differs: ; in KIF, % in Prolog, # in none of what we write.
    if (comment !== undefined && text[0] !== (prefix ? ";" : "%")) continue;
    if (found.index > at) parts.push([line.slice(at, found.index), ""]);
    let kind = "bracket";
    if (comment !== undefined) kind = "comment";
    else if (quoted !== undefined) kind = "";
    else if (variable !== undefined) kind = "variable";
    else if (sign !== undefined) kind = "word";
    else if (word !== undefined) kind = WORDS.has(word.toLowerCase()) ? "word" : !prefix && /^[A-Z_]/.test(word) ? "variable" : "";
    else if (number !== undefined) kind = "number";
    parts.push([text, kind]);
    at = found.index + text.length;
  }
  if (at < line.length) parts.push([line.slice(at), ""]);
  return parts;
}
