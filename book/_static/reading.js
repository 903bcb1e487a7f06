// Definitions beside the links to glossary terms: on hover, on keyboard focus, on the first tap (a second one follows the link).
// `definitions` is written into the page by the build (classroom/reading.py); without scripts a link is a link.
"use strict";

(() => {
  // A page read from disk may not fetch another one, which the summaries of search results would need.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  if (typeof definitions === "undefined") return;
  for (const link of document.querySelectorAll('main a[href*="glossary.html#"]')) {
    link.classList.toggle("term", link.hash.slice(1) in definitions);
  }

  const tip = document.createElement("div");
  tip.id = tip.className = "definition";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);

  let term = null; // the link that the pointer or the keyboard is on; Escape hides its definition until it is left
  let touch = false;
  let timer;

  const leave = () => {
    clearTimeout(timer);
    term?.removeAttribute("aria-describedby");
    term = null;
    tip.hidden = true;
  };

  const show = (link) => {
    leave();
    term = link;
    term.setAttribute("aria-describedby", tip.id);
    tip.innerHTML = definitions[link.hash.slice(1)];
    tip.hidden = false;
    const lines = [...link.getClientRects()]; // two, where a line breaks in the link
    const { clientWidth: width, clientHeight: height } = document.documentElement;
    const below = lines.at(-1).bottom + 4;
    const above = lines[0].top - 4 - tip.offsetHeight;
    const top = below + tip.offsetHeight > height && above > 0 ? above : below;
    const left = Math.min((top === below ? lines.at(-1) : lines[0]).left, width - tip.offsetWidth - 8);
    tip.style.top = `${top + scrollY}px`;
    tip.style.left = `${Math.max(left, 8) + scrollX}px`;
  };

  const termAt = (target) => target.closest?.("a.term") ?? null;

  document.addEventListener("pointerover", ({ pointerType, target }) => {
    if (pointerType === "touch") return;
    clearTimeout(timer);
    const link = termAt(target);
    if (link ? link === term : tip.contains(target)) return;
    if (link) timer = setTimeout(show, 150, link);
    else if (term !== document.activeElement) timer = setTimeout(leave, 300); // time to move into the definition
  });

  document.addEventListener("focusin", ({ target }) => {
    const link = touch ? null : termAt(target);
    if (link && link !== term) show(link);
  });

  document.addEventListener("focusout", ({ target }) => {
    if (target === term && !tip.matches(":hover")) leave();
  });

  document.addEventListener("keydown", ({ key }) => {
    touch = false;
    if (key === "Escape") tip.hidden = true;
  });

  document.addEventListener("pointerdown", ({ pointerType }) => {
    touch = pointerType === "touch";
  });

  document.addEventListener("click", (event) => {
    const link = termAt(event.target);
    if (link && touch && (link !== term || tip.hidden)) {
      event.preventDefault();
      show(link);
    } else if (!link && !tip.contains(event.target)) leave();
  });

})();
