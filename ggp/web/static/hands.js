// Keys that make moves: arrows where moves are called after directions, digits where moves are columns.

const DIRECTIONS = {
  ArrowUp: ["up", "north", "n"],
  ArrowDown: ["down", "south", "s"],
  ArrowLeft: ["left", "west", "w"],
  ArrowRight: ["right", "east", "e"],
};
const words = (move) => move.toLowerCase().split(/[\s(),]+/).filter(Boolean);

/** The moves that go in the direction of an arrow key. */
function towards(moves, key) {
  const last = ({ move }) => words(move).at(-1);
  // Columns have letters, too: n, s, w and e are directions only where no move ends otherwise.
  const letters = moves.every((move) => /^[nswe]$/.test(last(move)));
  const names = (DIRECTIONS[key] ?? []).filter((name) => letters || name.length > 1);
  return moves.filter((move) => names.includes(last(move)));
}

/** Whether arrow keys make moves here. */
export const hasDirections = (moves) => ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].some((key) => towards(moves, key).length > 0);

/** The columns of moves that any square of a column makes, from left to right; empty where moves are others. */
function columns(moves) {
  const one = moves.filter(({ clicks }) => clicks.length === 1 && clicks[0].length > 1);
  if (one.length !== moves.length) return [];
  const column = ({ clicks }) => Number(clicks[0][0].split(",")[1]);
  return [...one].sort((a, b) => column(a) - column(b)).map((move) => [column(move), move]);
}

/** The move that a key makes; `last` is the move that was made before: what moved then goes on. */
export function moveOfKey(moves, key, last = "") {
  if (key in DIRECTIONS) {
    const fitting = towards(moves, key);
    const mover = words(last).slice(0, -1).join(" ");
    return (fitting.find(({ move }) => words(move).slice(0, -1).join(" ") === mover) ?? fitting[0])?.move;
  }
  if (/^[1-9]$/.test(key)) {
    return columns(moves).find(([column]) => column === Number(key) - 1)?.[1].move;
  }
  return undefined;
}
