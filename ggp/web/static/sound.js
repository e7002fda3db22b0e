// Sounds of a table: a knock for a move, two tones where it is one's turn, three at the end. Off until somebody turns
// them on. They are made by the browser, from no file.
import { el } from "/static/page.js";

const KEPT = "kaskade sound"; // where the browser keeps the choice
const SOUNDS = {
  move: [[220, 0, 0.07]],
  turn: [[520, 0, 0.09], [660, 0.1, 0.12]],
  end: [[440, 0, 0.14], [554, 0.15, 0.14], [659, 0.3, 0.3]],
}; // tones: hertz, when it begins and how long it lasts, in seconds
const LOUD = 0.15;
let speaker = null;

const wanted = () => localStorage.getItem(KEPT) === "on";

function play(name) {
  speaker ??= new AudioContext();
  if (speaker.state === "suspended") speaker.resume(); // browsers wait for a click or a key
  for (const [pitch, begin, length] of SOUNDS[name]) {
    const at = speaker.currentTime + begin;
    const tone = new OscillatorNode(speaker, { type: "triangle", frequency: pitch });
    const volume = new GainNode(speaker, { gain: 0 });
    volume.gain.setValueAtTime(LOUD, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(volume).connect(speaker.destination);
    tone.start(at);
    tone.stop(at + length);
  }
}

/** What is to be heard as one state of a table follows another: a step that was made, one's turn, the end. */
export function soundOf(before, now) {
  if (!wanted() || before === null || now.steps <= before.steps) return;
  play(now.over ? "end" : now.asked.length > 0 ? "turn" : "move");
}

/** A button that turns sounds on and off, in this browser for good. */
export function soundButton() {
  const button = el("button", { type: "button", id: "sound", onclick: turn }, "Sound");
  const show = () => button.setAttribute("aria-pressed", String(wanted()));
  function turn() {
    localStorage.setItem(KEPT, wanted() ? "off" : "on");
    show();
    if (wanted()) play("turn");
  }
  show();
  return button;
}
