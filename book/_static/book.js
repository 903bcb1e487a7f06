/* The reader's marks: which exercises are done. They stay in this browser; where it keeps nothing, they last as long as the page.

   The build writes a box <input data-exercise="5.1"> into each exercise, and a place <span class="tally" data-exercises="5.1 5.2 …">
   beside each link to a lesson, wide enough for what is written here. */

"use strict";

{
  const KEY = "think-in-tiles done"; // the ids of the exercises, as a JSON list
  const boxes = document.querySelectorAll("input[data-exercise]");
  const tallies = document.querySelectorAll(".tally");
  const links = new Map(); // from an exercise's section to its line in the table of contents
  for (const link of document.querySelectorAll("nav.page-toc a")) {
    links.set(document.getElementById(decodeURIComponent(link.hash.slice(1)))?.closest("section"), link);
  }
  const clear = document.querySelector("button.clear-marks");
  let marks = new Set();

  const read = () => {
    try {
      marks = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
    } catch {} // forbidden, or not ours: what this page knows is all there is
  };

  const keep = () => {
    try {
      localStorage.setItem(KEY, JSON.stringify([...marks]));
    } catch {}
  };

  const show = () => {
    for (const box of boxes) {
      const section = box.closest("section");
      box.checked = marks.has(box.dataset.exercise);
      if (section.classList.contains("exercise")) {
        for (const place of [section, links.get(section)]) place?.classList.toggle("done", box.checked);
      }
    }
    for (const tally of tallies) {
      const exercises = tally.dataset.exercises.split(" ");
      const done = exercises.filter((exercise) => marks.has(exercise)).length;
      tally.textContent = done ? `${done} of ${exercises.length}` : "";
      tally.classList.toggle("done", done === exercises.length);
    }
    if (clear) clear.disabled = !marks.size;
  };

  for (const box of boxes) {
    box.addEventListener("change", () => {
      read(); // another tab may have added some
      marks[box.checked ? "add" : "delete"](box.dataset.exercise);
      keep();
      show();
    });
  }
  clear?.addEventListener("click", () => {
    const which = marks.size === 1 ? "the mark of 1 exercise" : `the marks of ${marks.size} exercises`;
    if (!confirm(`Clear ${which} in this browser? What is cleared cannot be brought back.`)) return;
    marks = new Set();
    keep();
    show();
  });
  addEventListener("storage", () => (read(), show()));
  addEventListener("pageshow", () => (read(), show())); // also when the reader comes back to this page
  read();
  show();

  /* On a narrow screen the theme shows the lessons in a dialog, from its top: go to where the reader is. */
  document.querySelector(".primary-toggle")?.addEventListener("click", () => {
    requestAnimationFrame(() => document.querySelector("dialog[open] .current > a.current")?.scrollIntoView({ block: "center" }));
  });

  /* Paper is white: a page is printed in the light theme. */
  const { dataset } = document.documentElement;
  let theme;
  addEventListener("beforeprint", () => ([theme, dataset.theme] = [dataset.theme, "light"]));
  addEventListener("afterprint", () => (dataset.theme = theme));
}
