// Words on boards that stand out too little from the shapes behind them, which axe-core does not look at: a list.
// https://www.w3.org/TR/WCAG22/#contrast-minimum
const [LARGE, LARGE_IF_BOLD, BOLD] = [24, 18.66, 700]; // pixels, and a font's weight
const PLACES = [0.2, 0.5, 0.8]; // of a word's width

/** Red, green, blue from 0 to 255, and opacity. */
function colour(text) {
  const [red, green, blue, alpha = 1] = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
  return [red, green, blue, alpha];
}

function luminance(rgb) {
  const linear = rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

function ratio(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** How an element is filled, with the opacity of all that it is in. */
function paint(element) {
  const style = getComputedStyle(element);
  const drawn = element instanceof SVGElement && !(element instanceof SVGSVGElement);
  const fill = drawn ? style.fill : style.backgroundColor;
  if (style.visibility === "hidden" || fill === "none") return [0, 0, 0, 0];
  const [red, green, blue, alpha] = colour(fill);
  let opacity = alpha * (drawn ? Number(style.fillOpacity) : 1);
  for (let one = element; one !== null; one = one.parentElement) opacity *= Number(getComputedStyle(one).opacity);
  return [red, green, blue, opacity];
}

const over = (below, [red, green, blue, alpha]) => [red, green, blue].map((part, i) => alpha * part + (1 - alpha) * below[i]);

/** The least contrast of a word with what is behind it. */
function contrast(word) {
  word.scrollIntoView({ block: "center" });
  const { x, y, width, height } = word.getBoundingClientRect();
  const ratios = PLACES.map((part) => {
    const behind = document.elementsFromPoint(x + part * width, y + height / 2).filter(({ tagName }) => tagName !== "text");
    const rim = getComputedStyle(word);
    if (rim.paintOrder.startsWith("stroke") && rim.stroke !== "none") return ratio(colour(rim.stroke), colour(rim.fill));
    const ground = behind.reverse().map(paint).reduce(over, [255, 255, 255]);
    return ratio(ground, over(ground, paint(word)));
  });
  return Math.min(...ratios);
}

const hit = new CSSStyleSheet(); // which the policy of pages allows
// By what is filled alone: `all` would add strokes that are not drawn, half a square wide around a piece that is scaled.
hit.replaceSync(".board svg * { pointer-events: fill !important; }");
document.adoptedStyleSheets.push(hit);
const faint = [...document.querySelectorAll(".board svg text")].flatMap((word) => {
  const style = getComputedStyle(word);
  if (!word.textContent.trim() || word.getBoundingClientRect().width === 0 || style.visibility === "hidden") return [];
  // Who may not choose something sees it pale.
  if (word.closest(".gb-choice:not(.gb-may)")) return [];
  const { a, b } = word.getScreenCTM();
  const size = parseFloat(style.fontSize) * Math.hypot(a, b);
  const enough = size >= LARGE || (size >= LARGE_IF_BOLD && style.fontWeight >= BOLD) ? 3 : 4.5;
  const found = contrast(word);
  return found < enough ? [`${word.getAttribute("class")} "${word.textContent}": contrast ${found.toFixed(2)}, ${size.toFixed(0)} px`] : [];
});
document.adoptedStyleSheets.pop();
scrollTo(0, 0);
return [...new Set(faint)];
