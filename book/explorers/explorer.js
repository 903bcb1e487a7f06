/* Explorers: pictures that the reader changes, each with a still one where scripts are off.

   <tiles-explorer kind="sectors" stride="2"><img src="explorer-sectors.svg" alt="…"></tiles-explorer>

   The element shows its picture with controls in the place of the still one; attributes set what it starts with.
   A kind is an entry of `explorers`, made of plain functions that know no page, so that tests can call them:

   title, hint   what it shows, and how to drag it (only with `drag`)
   controls      what the reader sets, in order; names in small letters:
                 {name, label, min, max, step, value, unit}   a slider; `min` and `max` may be functions of the settings before it;
                                                              `show(value, settings)` writes the value;
                                                              `steps: true` names its buttons, adds one to play, and puts it next
                                                              to the picture (its `max` is a function);
                                                              `first: true` puts it before the other controls
                 {name, label, options: [[value, text], …], value}   one of a few
                 {name, label, on: false}                            yes or no
   compute(settings)                what the picture shows, as numbers
   picture(settings, result, width) an SVG of that width in pixels, 280 to 760; its height depends on nothing but the width
   facts(settings, result)          [[name, value], …] below the picture; a value has at most 18 characters
   says(settings, result)           the picture in a sentence or two, for those who hear the page; at most 180 characters
   drag(settings, x, y, width, held)   optional: the settings that a pointer at x, y of the picture asks for;
                                       held: {settings, x, y} when the pointer went down
*/

"use strict";

globalThis.explorers = {};

/* ---- drawing, for the kinds: each function returns SVG as text */

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const rounded = (x) => Math.round(x * 100) / 100;

globalThis.draw = {
  /* A rectangle; `look` is one or more of the classes below. */
  box(x, y, width, height, look, radius = 2) {
    return `<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}" rx="${radius}" class="${look}"/>`;
  },
  /* One line of text; `anchor` is start, middle or end. */
  text(x, y, words, look = "ink", anchor = "start", size = 13) {
    return `<text x="${rounded(x)}" y="${rounded(y)}" class="${look}" text-anchor="${anchor}" font-size="${size}">${escaped(words)}</text>`;
  },
  /* A line through points [[x, y], …]. */
  path(points, look) {
    return `<polyline points="${points.map(([x, y]) => `${rounded(x)},${rounded(y)}`).join(" ")}" class="${look} stroke"/>`;
  },
  circle(x, y, radius, look) {
    return `<circle cx="${rounded(x)}" cy="${rounded(y)}" r="${rounded(radius)}" class="${look}"/>`;
  },
  /* The whole picture. */
  svg(width, height, parts) {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${parts.flat(Infinity).join("")}</svg>`;
  },
  /* 1234567 as "1,234,567". */
  count: (number) => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ","),
  /* "1 block", "2 blocks". */
  many: (number, what) => `${draw.count(number)} ${what}${number === 1 ? "" : "s"}`,
};

/* The looks: the roles of the course's figures, on the page's colours where it has some. A soft one fills, a stroke draws. */
const ROLES = { ours: "#0068a3", library: "#8a5a00", naive: "#69717a", wrong: "#b34700", good: "#00684a" };
const LOOKS = `
  text { font-family: system-ui, sans-serif; fill: var(--ink, #1c2128); }
  .bold { font-weight: 600; }
  .halo { paint-order: stroke; stroke: var(--paper, #fff); stroke-width: 4px; stroke-linejoin: round; }
  .stroke { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
  .stroke.bold { stroke-width: 3; }
  .empty { fill: none; stroke: var(--grid, #c9d1d9); }
  .paper { fill: var(--paper, #fff); }
  .ink { fill: var(--ink, #1c2128); }
  .grid { fill: var(--grid, #c9d1d9); }
  .grid.stroke { fill: none; stroke: var(--grid, #c9d1d9); stroke-width: 1; }
  .ink.stroke { fill: none; stroke: var(--ink, #1c2128); }
  .limit.stroke { fill: none; stroke: var(--ink, #1c2128); stroke-dasharray: 2 3; }
  ${Object.entries(ROLES)
    .map(([role, plain]) => {
      const color = `var(--${role}, ${plain})`;
      return `.${role} { fill: ${color}; } .${role}.soft { fill-opacity: var(--soft, 0.22); stroke: ${color}; } .${role}.stroke { fill: none; stroke: ${color}; } .${role}.ghost { fill: none; stroke: ${color}; stroke-width: 1.5; stroke-dasharray: 4 3; }`;
    })
    .join("\n  ")}
  text.muted { fill: var(--muted, #545d68); }
  text.on { fill: var(--paper, #fff); }
`;

/* ---- settings */

const bound = (limit, settings) => (typeof limit === "function" ? limit(settings) : limit);

/* What a kind starts with, changed by `given` (values, or the texts of attributes). What does not exist or lies outside is put right. */
globalThis.settle = function (kind, given = {}) {
  const settings = {};
  for (const control of kind.controls) {
    let value = given[control.name] ?? control.value ?? control.on;
    if (control.options) {
      const known = control.options.map(([option]) => option);
      value = known.find((option) => String(option) === String(value)) ?? control.value;
    } else if ("on" in control) {
      value = value === true || value === "" || value === "true";
    } else {
      const step = control.step ?? 1;
      const [min, max] = [bound(control.min, settings), bound(control.max, settings)];
      value = Number.isFinite(+value) ? +value : control.value;
      value = +(min + Math.max(0, Math.round((Math.min(value, max) - min) / step)) * step).toFixed(6);
    }
    settings[control.name] = value;
  }
  return settings;
};

/* The picture without a page: what stands in notebooks, and where scripts are off. */
globalThis.still = function (name, given = {}, width = 680) {
  const kind = explorers[name];
  const settings = settle(kind, given);
  const picture = kind.picture(settings, kind.compute(settings), width);
  const [, height] = picture.match(/ height="([\d.]+)"/);
  const margin = 12; // a card, for pages that are dark
  return picture.replace(
    /<svg[^>]*>/,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-margin} ${-margin} ${width + 2 * margin} ${+height + 2 * margin}" width="${width + 2 * margin}" height="${+height + 2 * margin}"><style>${LOOKS.replace(/\s+/g, " ")}</style><rect x="${-margin}" y="${-margin}" width="100%" height="100%" rx="8" class="paper"/>`,
  ).concat("\n");
};

/* ---- the element */

const STYLE = `
  :host { display: block; box-sizing: border-box; container-type: inline-size; margin: 1.2rem 0; padding: 0.8rem 1rem; border: 1px solid var(--grid); border-radius: 8px; background: var(--paper); color: var(--ink); font: 0.9rem/1.4 system-ui, sans-serif; }
  ${LOOKS}
  b { display: block; font-size: 1.1em; }
  b::first-letter { text-transform: uppercase; }
  small { color: var(--muted); font-size: 0.9em; }
  .drags { cursor: grab; touch-action: pan-y; user-select: none; }
  .drags:active { cursor: grabbing; }
  svg { display: block; width: 100%; height: auto; }
  .controls, .control, .choices { display: flex; flex-wrap: wrap; align-items: center; gap: 0.3rem; }
  .controls { gap: 0.3rem 1.6rem; margin: 0.4rem 0 0; }
  .control { flex: 1 1 19rem; align-content: center; min-width: 0; min-height: 2.4rem; margin: 0; padding: 0; border: 0; }
  .name { flex: 0 0 7.5rem; line-height: 1.2; }
  legend { float: left; padding: 0; }
  .control:has([type="checkbox"]) { flex: 1 1 auto; }
  output { display: inline-block; font-weight: 600; font-variant-numeric: tabular-nums; }
  input { margin: 0; accent-color: var(--ours); }
  input[type="range"], select { flex: 1 1 3rem; min-width: 0; height: 2rem; cursor: pointer; }
  .steps input { flex-basis: 14rem; }
  input[type="checkbox"] { width: 1.3rem; height: 1.3rem; }
  .choices label { position: relative; }
  .choices input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer; }
  .choices span, button, select { display: inline-block; min-height: 2rem; padding: 0.3rem 0.5rem; border: 1px solid var(--muted); border-radius: 5px; background: none; color: inherit; font: inherit; box-sizing: border-box; }
  .choices :checked + span { border-color: var(--ours); background: var(--ours); color: var(--paper); }
  button { min-width: 2rem; cursor: pointer; }
  .controls > button { margin-left: auto; }
  button:hover, .choices label:hover span { border-color: var(--ours); }
  :focus-visible, .choices :focus-visible + span { outline: 2px solid var(--ours); outline-offset: 2px; }
  dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.2rem, 1fr)); gap: 0.3rem 1rem; margin: 0.6rem 0 0; }
  dt { color: var(--muted); font-size: 0.85em; }
  dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
  p { min-height: 2.8em; margin: 0.4rem 0; }
  .picture { margin: 0.5rem 0; }
  @container (max-width: 34rem) { p { min-height: 5.6em; } }
  @media (pointer: coarse) { .control, .choices span, button, select, input[type="range"] { min-height: 2.75rem; } .choices span { padding-block: 0.6rem; } button { min-width: 2.75rem; } }
  @media (prefers-reduced-motion: reduce) { .play { display: none; } }
  @media print { :host { break-inside: avoid; } .controls, .control, small { display: none; } }
`;

const element = (tag, given = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), given);
  made.append(...children);
  return made;
};

if (typeof HTMLElement !== "undefined") {
  customElements.define(
    "tiles-explorer",
    class extends HTMLElement {
      connectedCallback() {
        this.kind = explorers[this.getAttribute("kind")];
        if (this.shadowRoot || !this.kind) return; // a still picture is better than none
        const given = Object.fromEntries([...this.attributes].map(({ name, value }) => [name, value]));
        const again = this.button(() => this.change(given), { textContent: "Start again" });
        this.box = element("div", { className: "picture" });
        this.list = element("dl");
        this.sentence = element("p");
        this.sentence.setAttribute("role", "status");
        this.inputs = this.kind.controls.map((control) => this.input(control));
        const header = element("header", {}, element("b", { textContent: this.kind.title }), element("small", { textContent: this.kind.hint ?? "" }));
        const rows = (wanted) => this.inputs.filter(({ control }) => wanted(control)).map(({ row }) => row);
        const steps = rows(({ steps }) => steps);
        const controls = element("div", { className: "controls" }, ...rows(({ first }) => first), ...rows(({ first, steps }) => !first && !steps), again);
        const parts = steps.length ? [this.sentence, this.box, ...steps, controls] : [this.box, controls, this.sentence]; // what changes, together
        this.attachShadow({ mode: "open" }).append(element("style", { textContent: STYLE }), header, ...parts, this.list);
        this.setAttribute("role", "group");
        this.setAttribute("aria-label", `Explorer: ${this.kind.title}`);
        if (this.kind.drag) this.listen();
        this.settings = settle(this.kind, given);
        const fit = () => {
          const width = Math.max(280, Math.min(760, Math.floor(this.box.clientWidth / 20) * 20)); // so that a scroll bar changes nothing
          if (width !== this.width) {
            this.width = width;
            this.show();
          }
        };
        fit();
        new ResizeObserver(fit).observe(this);
      }

      disconnectedCallback() {
        this.stop();
      }

      /* One control: {control, row, show(settings)}. */
      input(control) {
        const { name, label, options, unit, steps, step = 1 } = control;
        const set = (value) => this.change({ ...this.settings, [name]: value });
        const caption = element("label", { textContent: label, htmlFor: name });
        if (String(options).length > 40) { // too many for a row of buttons
          const select = element("select", { id: name, onchange: () => set(select.value) }, ...options.map(([value, words]) => new Option(words, value)));
          caption.className = "name";
          const row = element("div", { className: "control" }, caption, select);
          return { control, row, show: (settings) => (select.value = settings[name]) };
        }
        if (options) {
          const radios = options.map(([value]) => element("input", { type: "radio", name, value, onchange: () => set(value) }));
          const choices = radios.map((radio, i) => element("label", {}, radio, element("span", { textContent: options[i][1] })));
          const row = element("fieldset", { className: "control" }, element("legend", { className: "name", textContent: label }), element("div", { className: "choices" }, ...choices));
          return { control, row, show: (settings) => radios.forEach((radio, i) => (radio.checked = options[i][0] === settings[name])) };
        }
        if ("on" in control) {
          const box = element("input", { type: "checkbox", id: name, onchange: () => set(box.checked) });
          const row = element("div", { className: "control" }, box, caption);
          return { control, row, show: (settings) => (box.checked = settings[name]) };
        }
        const slider = element("input", { type: "range", id: name, step, oninput: () => set(slider.value) });
        const shown = element("output", { htmlFor: name });
        const words = element("div", { className: "name" }, caption, " ", shown);
        const by = (change, given) => this.button(() => set(this.settings[name] + change), given);
        const [less, more] = steps
          ? [by(-1, { textContent: "Back" }), by(1, { textContent: "Next" })]
          : [["−", "less"], ["+", "more"]].map(([sign, said], i) => by(i ? step : -step, { textContent: sign, ariaLabel: `${label}: ${said}`, tabIndex: -1 })); // keys move the slider
        const row = element("div", { className: "control" }, words, less, ...(steps ? [more, this.player(control), slider] : [slider, more]));
        row.classList.toggle("steps", Boolean(steps));
        const show = (settings) => {
          const value = settings[name];
          Object.assign(slider, { min: bound(control.min, settings), max: bound(control.max, settings), value });
          shown.textContent = control.show ? control.show(value, settings) : unit ? `${draw.count(value)} ${unit}` : value;
          slider.setAttribute("aria-valuetext", shown.textContent);
        };
        return { control, row, show };
      }

      /* A button that goes on by itself. */
      player({ name, min, max }) {
        const to = (value) => this.show({ ...this.settings, [name]: value });
        const last = () => this.settings[name] >= max(this.settings);
        const start = () => {
          if (this.timer) return this.stop();
          if (last()) to(min);
          this.play.textContent = "Pause";
          this.timer = setInterval(() => (to(this.settings[name] + 1), last() && this.stop()), 900);
        };
        return (this.play = this.button(start, { textContent: "Play", className: "play" }));
      }

      stop() {
        clearInterval(this.timer);
        this.timer = null;
        if (this.play) this.play.textContent = "Play";
      }

      button(onclick, given) {
        return element("button", { type: "button", onclick, ...given });
      }

      listen() {
        let held = null;
        const place = (event) => {
          const frame = this.box.firstElementChild.getBoundingClientRect();
          const scale = this.width / frame.width;
          return { x: (event.clientX - frame.left) * scale, y: (event.clientY - frame.top) * scale };
        };
        const follow = (event) => {
          if (!held) return;
          const { x, y } = place(event);
          const wanted = this.kind.drag(this.settings, x, y, this.width, held);
          if (wanted) this.change({ ...this.settings, ...wanted });
        };
        this.box.classList.add("drags");
        this.box.onpointerdown = (event) => {
          if (event.button) return;
          this.box.setPointerCapture(event.pointerId);
          held = { ...place(event), settings: this.settings };
          if (event.pointerType === "mouse") follow(event); // a finger may be about to scroll
        };
        this.box.onpointermove = follow;
        this.box.onpointerup = (event) => (follow(event), (held = null));
        this.box.onpointercancel = () => (held && this.change(held.settings), (held = null));
      }

      /* What the reader sets: it ends the play. */
      change(settings) {
        this.stop();
        this.show(settings);
      }

      show(settings = this.settings) {
        const { kind } = this;
        this.settings = settings = settle(kind, settings);
        const result = kind.compute(settings);
        this.inputs.forEach((input) => input.show(settings));
        this.box.innerHTML = kind.picture(settings, result, this.width);
        this.box.firstElementChild.setAttribute("aria-hidden", "true"); // the sentence says it
        this.list.innerHTML = kind.facts(settings, result).map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join("");
        this.sentence.textContent = kind.says(settings, result);
      }
    },
  );
}
