/* The online softmax of one row, block by block (lesson 05), and the weighted sum of values that goes with it (lesson 06). */

"use strict";

{
  const { box, text, path, svg } = draw;
  const LOGS = [1, 2, 8, 4, 4, 2, 16, 32, 8, 1, 64, 4, 2, 16, 1, 8];
  const DIGITS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
  const ROWS = {
    digits: ["3 1 4 1 5 9 2 6 …", (j) => DIGITS[j]],
    more: ["the same + 100", (j) => DIGITS[j] + 100],
    logs: ["log 1, log 2, log 8 …", (j) => Math.log(LOGS[j])],
    rising: ["rising", (j) => j + 1],
    falling: ["falling", (j) => 16 - j],
    large: ["one large", (j) => (j === 4 ? 30 : DIGITS[j])],
    equal: ["all equal", () => 2],
    first: ["−∞ first", (j) => (j < 5 ? -Infinity : DIGITS[j])],
    all: ["all −∞", () => -Infinity],
  };
  const VALUES = [6, 0, 3, 9, 0, 6, 3, 6, 3, 9, 6, 0, 6, 3, 0, 9];

  const NOTHING = { m: -Infinity, l: 0, acc: 0, kept: 0 };

  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

  /* What each block does to m_i, l_i and acc, in the names of exercise 5.3; `kept` is l_i if nothing were ever rescaled. */
  const walk = (x, v, size) => {
    const steps = [];
    let state = NOTHING;
    for (let start = 0; start < x.length; start += size) {
      const block = x.slice(start, start + size);
      const [top, before] = [Math.max(...block), state];
      const m = Math.max(before.m, top);
      const shift = m > -Infinity ? m : 0;
      const alpha = Math.exp(before.m - shift);
      const p = block.map((score) => Math.exp(score - shift));
      const added = { l: sum(p), acc: sum(p.map((term, j) => term * v[start + j])) };
      const carried = { l: before.l * alpha, acc: before.acc * alpha };
      state = { m, l: carried.l + added.l, acc: carried.acc + added.acc, kept: before.kept + added.l };
      steps.push({ start, stop: start + block.length, top, before, alpha, p, carried, added, after: state });
    }
    return steps;
  };

  const blocksOf = ({ n, block_size }) => Math.ceil(n / block_size);

  const compute = ({ row, n, block_size, step }) => {
    const x = Array.from({ length: n }, (_, j) => ROWS[row][1](j));
    const v = VALUES.slice(0, n);
    const steps = walk(x, v, block_size);
    const { m, l } = steps[steps.length - 1].after;
    const weigh = (scale) => x.map((score) => (l === 0 ? 0 : scale(score))); // a row of −∞ has weights of 0
    const terms = weigh((score) => Math.exp(score - Math.max(...x)));
    const past = steps[Math.min(step, steps.length) - 1];
    return {
      x,
      v,
      steps,
      now: steps[step - 1] ?? null, // null before the first block, and at the end
      state: past?.after ?? NOTHING,
      end: step > steps.length,
      read: past?.stop ?? 0,
      weights: weigh((score) => Math.exp(score - m) / l),
      safe: terms.map((term) => term / (sum(terms) || 1)), // in one go, to compare with
    };
  };

  /* ---- the picture */

  const fixed = (x) => (x === -Infinity ? "−∞" : x.toFixed(3));
  const short = (x) => (x === -Infinity ? "−∞" : String(+x.toFixed(1)));
  const same = (a, b) => Math.abs(a - b) < 0.0005; // not to be told apart with three digits

  const geometry = (settings, width) => {
    const { n, block_size } = settings;
    const beside = width >= 600; // the table stands at the right of the bars, or below them
    const across = beside ? width * 0.52 : width;
    const gap = Math.min(7, 40 / blocksOf(settings));
    const cell = (across - 4 - gap * (blocksOf(settings) - 1)) / n;
    const at = (j) => 2 + j * cell + Math.floor(j / block_size) * gap;
    const span = ({ start, stop }) => [Math.max(0, at(start) - gap / 2), Math.min(across, at(stop - 1) + cell + gap / 2)]; // of a block
    return { beside, across, cell, at, span };
  };

  const TALL = 78; // of each of the two rows of bars
  const [SCORES, TERMS, TABLE] = [22, 156, 278];

  const level = (x, y, wide, look) => path([[x, y], [x + wide, y]], look);

  /* A number below its bar, where the bars are wide enough for it. */
  const below = (x, y, words, look, room) => (6.4 * String(words).length + 2 <= room ? text(x, y, words, look, "middle", 11) : "");

  const scoreBars = (settings, { x, v, steps, read }, { at, span, cell, across }) => {
    const floor = SCORES + TALL;
    const zero = settings.row === "more" ? 100 : 0;
    const top = Math.max(1, ...x.map((score) => score - zero));
    const height = (score) => Math.max(2, ((score - zero) / top) * (TALL - 8));
    const parts = [text(2, 14, "scores, and the line m_i, the largest so far", "muted", "start", 12)];
    parts.push(level(0, floor, across, "grid"));
    x.forEach((score, j) => {
      if (score > -Infinity) parts.push(box(at(j) + cell * 0.14, floor - height(score), cell * 0.72, height(score), j < read ? "naive" : "empty", 1));
      const words = settings.row === "logs" && cell > 40 ? `log ${LOGS[j]}` : short(score);
      parts.push(below(at(j) + cell / 2, floor + 15, words, j < read ? "ink" : "muted", cell));
      if (settings.values) parts.push(below(at(j) + cell / 2, floor + 31, j === 0 && cell > 32 ? `v ${v[j]}` : v[j], "muted", cell));
    });
    const line = steps.filter(({ stop, after }) => stop <= read && after.m > -Infinity);
    const points = line.flatMap((block) => span(block).map((place) => [place, floor - height(block.after.m)]));
    if (points.length) parts.push(path(points, "ours"));
    return parts;
  };

  const termBars = (settings, { x, now, state, end, read, weights, safe }, { at, cell, across }) => {
    const floor = TERMS + TALL;
    const caption = end ? "weights exp(x − m) / l; lines: safe softmax" : "the terms exp(x − m_i), which add up to l_i";
    const parts = [text(2, TERMS - 8, caption, "muted", "start", 12)];
    if (!end) parts.push(text(2, floor + 31, "solid: kept, pale: added, dashed: before", "muted", "start", 11));
    parts.push(level(0, TERMS, across, "limit"), text(across, TERMS - 8, "1", "muted", "end", 11));
    parts.push(level(0, floor, across, "grid"));
    const term = (score, m) => (score > -Infinity ? Math.exp(score - m) : 0);
    for (let j = 0; j < read; j++) {
      const [left, wide] = [at(j) + cell * 0.14, cell * 0.72];
      const isNew = now && j >= now.start;
      if (now && !isNew && now.alpha < 0.999) {
        const old = term(x[j], now.before.m) * TALL;
        if (old > 1) parts.push(box(left, floor - old, wide, old, "naive ghost", 1));
      }
      const height = end ? weights[j] : term(x[j], state.m);
      if (height > 0) parts.push(box(left, floor - height * TALL, wide, Math.max(0.5, height * TALL), isNew ? "ours soft" : "ours", 1));
      if (end) parts.push(level(left, floor - safe[j] * TALL, wide, "ink"));
      parts.push(below(at(j) + cell / 2, floor + 15, fixed(height), isNew || end ? "ink" : "muted", cell));
    }
    return parts;
  };

  const table = ({ row, values }, { now, state, end }, left, top, width) => {
    const sums = (key) => [now?.before[key], now?.carried[key], now?.added[key], state[key]];
    const rows = [
      ["m_i", now?.before.m, null, now?.top, state.m],
      [end && values ? "acc / l" : "alpha", null, now?.alpha, null, end && values ? state.acc / (state.l || 1) : null],
      ["l_i", ...sums("l")],
      ...(values ? [["acc", ...sums("acc")]] : []),
    ];
    const column = (c) => left + 42 + ((width - 42) * c) / 4; // its right edge
    const line = (k) => top + 16 + (k + 0.66) * (128 / (rows.length + 1));
    const parts = [level(left, top + 15, width, "grid")];
    ["before", "× alpha", "this block", "after"].forEach((words, c) => parts.push(text(column(c + 1), top + 9, words, "muted", "end", 11)));
    rows.forEach(([name, ...cells], k) => {
      parts.push(text(left, line(k), name));
      cells.forEach((value, c) => value == null || parts.push(text(column(c + 1), line(k), fixed(value), ["muted", "ours", "muted", "ink"][c], "end")));
    });
    if (now && values) {
      // how alpha is found is the question of exercise 5.3: it stands where acc does, in lesson 06
      const ms = [now.before.m, now.after.m].map((m) => (row === "logs" ? Math.round(Math.exp(m)) : short(m)));
      const words = row === "logs" ? ms.join(" / ") : `exp(${ms[0]} − ${now.after.m > -Infinity ? ms[1] : 0})`;
      parts.push(text(left + width, line(1), `= ${words}`, "muted", "end", 12));
    }
    const look = same(state.kept, state.l) ? "muted" : "wrong";
    const number = text(left + width, line(rows.length), fixed(state.kept), look, "end");
    parts.push(text(left, line(rows.length), "l_i, never rescaled", look));
    parts.push(look === "wrong" ? number.replace("<text", '<text text-decoration="line-through"') : number);
    return parts;
  };

  const picture = (settings, result, width) => {
    const place = geometry(settings, width);
    const parts = [];
    if (result.now) {
      const [left, right] = place.span(result.now);
      parts.push(`<g opacity="0.3">${box(left, SCORES - 2, right - left, TERMS + TALL + 22 - SCORES, "grid", 4)}</g>`);
    }
    parts.push(scoreBars(settings, result, place), termBars(settings, result, place));
    const [left, top] = place.beside ? [place.across + 32, 60] : [2, TABLE];
    parts.push(table(settings, result, left, top, width - left - (place.beside ? 4 : 2)));
    return svg(width, place.beside ? TERMS + TALL + 38 : TABLE + 150, parts);
  };

  /* ---- the sentence */

  const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}` : words[0]);

  const says = ({ row }, { x, steps, now, state, end }) => {
    const name = (score) => (row === "logs" ? `log ${Math.round(Math.exp(score))}` : short(score));
    if (end) {
      if (state.l === 0) return "Every score is −∞: nothing to attend to, and all weights are 0.";
      const wrong = same(state.kept, state.l) ? "" : ` Divided by the sum that was never rescaled, they would add up to ${fixed(state.l / state.kept)}.`;
      return `A second reading gives the weights exp(x − m) / l. They add up to 1.${wrong}`;
    }
    if (!now) return "Nothing is read yet: m_i is −∞ and l_i is 0. Predict what the first block makes of them.";
    const scores = now.stop - now.start > 4 ? "" : `, ${listed(x.slice(now.start, now.stop).map(name))}`;
    const block = `Block ${steps.indexOf(now) + 1} of ${steps.length}${scores}: `;
    const adds = `the block adds ${fixed(now.added.l)}.`;
    if (state.m === -Infinity) return `${block}every score so far is −∞, and nothing is added.`;
    if (now.before.m === -Infinity) return `${block}m_i becomes ${name(state.m)}. Nothing was there to rescale, and ${adds}`;
    if (now.before.m === state.m) return `${block}m_i stays ${name(state.m)} and alpha is 1. l_i is carried over whole, and ${adds}`;
    return `${block}m_i rises from ${name(now.before.m)} to ${name(state.m)}, and alpha is ${fixed(now.alpha)}. Of l_i, ${fixed(now.carried.l)} is left, and ${adds}`;
  };

  explorers.softmax = {
    title: "the online softmax of one row",
    controls: [
      { name: "row", label: "Scores", options: Object.entries(ROWS).map(([row, [words]]) => [row, words]), value: "digits" },
      { name: "block_size", label: "Block size", min: 1, max: 8, value: 2 },
      { name: "n", label: "How many", min: 8, max: 16, value: 8 },
      { name: "values", label: "with values v, and acc", on: false },
      {
        name: "step",
        label: "Step",
        min: 0,
        max: (settings) => blocksOf(settings) + 1,
        value: 0,
        steps: true,
        show: (step, settings) => (step === 0 ? "start" : step > blocksOf(settings) ? "weights" : `block ${step} of ${blocksOf(settings)}`),
      },
    ],
    compute,
    picture,
    facts: ({ n, values }, { read, end }) => [
      ["scores read", end ? `${n}, twice` : `${read} of ${n}`],
      ["kept of them", values ? "m_i, l_i, acc" : "m_i, l_i"],
    ],
    says,
    walk,
  };
}
