// A packing puzzle that is solved while one looks on; then its pieces in space, in a frame of their own.
import { counted, el, fail, listen } from "/static/page.js";

export function show(main, { packing, seconds }) {
  const status = el("p", { class: "status", role: "status", "aria-live": "polite" }, "loading ...");
  const bar = el("progress", { max: "1", value: "0", "aria-label": "Share of the search" });
  const space = el("div", { class: "space" });
  main.append(status, bar, space, el("p", {}, el("a", { href: "/puzzles" }, "Another puzzle")));
  const close = listen(`/packings/${packing}/events`, {
    progress: (news) => {
      bar.value = Math.max(news.share, news.seconds / seconds / 4);
      status.textContent = `searching: ${counted(news.solutions, "solution", "solutions")} so far, ${news.seconds.toFixed(0)} s`;
    },
    solved: (told) => {
      close();
      bar.hidden = true;
      document.title = `${told.title} - kaskade`;
      main.querySelector("h1").textContent = told.title;
      const all = told.complete ? "all there are" : "there may be more";
      if (told.solutions === 0) status.textContent = told.complete ? "There is no solution: all ways were tried." : `No solution in ${told.seconds.toFixed(1)} s.`;
      else status.textContent = `${counted(told.solutions, "solution", "solutions")} in ${told.seconds.toFixed(2)} s (${all}). Drag to turn, wheel to zoom${told.apart ? "; the slider takes the pieces apart, move by move" : ""}.`;
      if (told.solutions > 0) space.append(el("iframe", { src: `/packings/${packing}/space.html`, sandbox: "allow-scripts", title: "The pieces in space" }));
    },
    failed: ({ error }) => {
      close();
      bar.hidden = true;
      status.textContent = "Not solved.";
      fail(new Error(error));
    },
  });
}
