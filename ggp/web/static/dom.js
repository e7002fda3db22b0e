// Elements and drawings. It needs no server: exported files carry it.

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

/** An element: `el("button", {class: "x", onclick: f}, "text", child...)`. Strings become text, never markup. */
export function el(tag, attributes = {}, ...children) {
  return made(document.createElement(tag), attributes, children);
}

/** An element of a drawing, in the same way. */
export function shape(tag, attributes = {}, ...children) {
  return made(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** An SVG drawing from the server, as an element: scripts and handlers in it do not come to life. */
export function drawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}
