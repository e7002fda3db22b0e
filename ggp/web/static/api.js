// The page of the API: every call with its fields, an example, and a button that tries it.
import { el, get } from "/static/page.js";

const token = document.querySelector("meta[name=token]").content;

/** Sends what stands in the field, and shows what comes back as it comes. */
async function attempt(path, method, body, result) {
  result.hidden = false;
  result.textContent = "…";
  const options = method === "GET" ? {} : { method, body, headers: { "Content-Type": "application/json", "X-Ggp-Token": token } };
  try {
    const reply = await fetch(path, options);
    const stream = (reply.headers.get("Content-Type") ?? "").includes("event-stream");
    if (!stream) {
      const text = await reply.text();
      let shown = text;
      try {
        shown = JSON.stringify(JSON.parse(text), null, 1);
      } catch {
        // not JSON: shown as it is
      }
      result.textContent = `${reply.status} ${reply.statusText}\n${shown.slice(0, 20000)}`;
      return;
    }
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    result.textContent = "";
    for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
      result.textContent = (result.textContent + value.replace(/^:\n\n/gm, "")).slice(-20000);
    }
  } catch (error) {
    result.textContent = error.message;
  }
}

function fields(schema) {
  const needed = new Set(schema.required ?? []);
  return el(
    "table",
    {},
    ...Object.entries(schema.properties ?? {}).map(([name, { type, description }]) =>
      el("tr", {}, el("th", { scope: "row" }, el("code", {}, name)), el("td", {}, [type].flat().join(" or ")), el("td", {}, `${description ?? ""}${needed.has(name) ? " Needed." : ""}`)),
    ),
  );
}

export async function show(main, { examples }) {
  const told = await get("/api/openapi.json");
  main.append(
    el("p", {}, `${told.info.summary}. `, told.info.description),
    el("p", {}, el("a", { href: "/api/openapi.json" }, "The whole description"), " (OpenAPI 3.1)"),
    ...Object.entries(told.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, call]) => {
        const name = method.toUpperCase();
        const schema = call.requestBody?.content["application/json"].schema;
        const example = examples[call.operationId];
        const body = el("textarea", { rows: String(Math.min(8, (example ?? "").split("\n").length + 1)), spellcheck: "false", "aria-label": `Body of ${path}` });
        body.value = example ?? "";
        const result = el("pre", { class: "answer", hidden: true, tabindex: "0", "aria-live": "polite" });
        const shell = schema ? `curl ${location.origin}${path} -d '${(example ?? "{}").replaceAll("'", "'\\''")}'` : `curl ${location.origin}${path}`;
        return el(
          "section",
          { class: "call" },
          el("h2", {}, el("code", {}, `${name} ${path}`)),
          el("p", {}, call.summary),
          schema ? el("details", {}, el("summary", {}, "Fields"), fields(schema)) : null,
          schema ? body : null,
          el("div", { class: "row" }, el("button", { type: "button", "data-call": call.operationId, onclick: () => attempt(path, name, body.value, result) }, "Try it"), el("code", { class: "shell", tabindex: "0", role: "region", "aria-label": "The same with curl" }, shell)),
          result,
        );
      }),
    ),
  );
}
