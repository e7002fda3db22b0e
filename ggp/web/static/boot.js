// Loads the module that fills this page, and hands it what the server sent along.
import { fail } from "/static/page.js";

const name = document.querySelector("script[data-module]").dataset.module;
const data = JSON.parse(document.getElementById("data").content.textContent || "{}");
const main = document.querySelector("main");
try {
  const module = await import(`/static/${name}`);
  await module.show(main, data);
} catch (error) {
  fail(error);
}
