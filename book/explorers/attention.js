/* The walk of flash attention over the tiles of scores, and the bytes that it moves (lessons 06 and 10). */

"use strict";

{
  const { box, text, path, svg } = draw;
  const KIB = 1024;
  const ITEMSIZE = 4; // bytes: float32, as in lesson 06

  /* The tiles of scores that are computed, in order. Keys behind the last query of a block are not loaded (exercise 6.4). */
  const walk = ({ seq_len, block_m, block_n, causal }) => {
    const tiles = [];
    for (let start = 0; start < seq_len; start += block_m) {
      const stop = Math.min(start + block_m, seq_len);
      const end = causal ? stop : seq_len;
      for (let key = 0; key < end; key += block_n) {
        const [whole, seen] = [seq_len, end].map((limit) => Math.min(key + block_n, limit));
        tiles.push({ queries: [start, stop], keys: [key, seen], masked: causal && whole - 1 > start, last: seen === end });
      }
    }
    return tiles;
  };

  const computed = (settings) => walk(settings).length;

  /* Numbers of q, k, v and out that the first tiles of the walk move: q once for a row of tiles, out when the row is done. */
  const moved = (tiles, d) => {
    const numbers = { q: 0, k: 0, v: 0, out: 0 };
    for (const { queries, keys, last } of tiles) {
      if (keys[0] === 0) numbers.q += (queries[1] - queries[0]) * d;
      numbers.k += (keys[1] - keys[0]) * d;
      numbers.v += (keys[1] - keys[0]) * d;
      if (last) numbers.out += (queries[1] - queries[0]) * d;
    }
    return { ...numbers, all: numbers.q + numbers.k + numbers.v + numbers.out };
  };

  const compute = (settings) => {
    const { seq_len, d, block_m, block_n, step } = settings;
    const tiles = walk(settings);
    const grid = Math.ceil(seq_len / block_m) * Math.ceil(seq_len / block_n);
    return {
      tiles,
      now: tiles[step - 1] ?? null,
      masked: tiles.filter((tile) => tile.masked).length,
      hidden: grid - tiles.length,
      soFar: moved(tiles.slice(0, step), d),
      inAll: moved(tiles, d),
      standard: 4 * seq_len * d + 4 * seq_len * seq_len, // numbers: q, k, v, out once; s and p written and read
      fast: 2 * block_m * d + 2 * block_n * d + block_m * block_n, // numbers: q_i and acc, k_j and v_j, the scores
    };
  };

  /* ---- the picture */

  const kib = (numbers) => `${draw.count((numbers * ITEMSIZE) / KIB)} KiB`;
  const of = (part, all) => `${kib(part)} of ${kib(all)}`.replace(" KiB of", " of");

  const geometry = (width) => {
    const beside = width >= 560; // the bars stand at the right of the tiles, or below them
    const strip = 14;
    const [left, top] = [strip + 22, 2 * strip + 26];
    const side = Math.min(300, width - left - strip - 26);
    return { beside, strip, left, top, side, right: left + side + 6 };
  };

  const scores = ({ seq_len, block_m, block_n, causal, step }, { tiles, now }, { strip, left, top, side, right }) => {
    const parts = [];
    const scale = side / seq_len;
    const [x, y] = [(key) => left + key * scale, (query) => top + query * scale];
    const gap = Math.min(2, (Math.min(block_m, block_n) * scale) / 8);
    tiles.forEach(({ queries, keys }, i) => {
      const look = i === step - 1 ? "ours" : i < step ? "ours soft" : "empty";
      parts.push(box(x(keys[0]), y(queries[0]), (keys[1] - keys[0]) * scale - gap, (queries[1] - queries[0]) * scale - gap, look, 1));
    });
    if (causal) {
      const corners = [[0, 0], [seq_len, 0], [seq_len, seq_len]].map(([key, query]) => `${x(key).toFixed(1)},${y(query).toFixed(1)}`);
      parts.push(`<g opacity="0.4"><polygon points="${corners.join(" ")}" class="grid"/></g>`);
      parts.push(path([[x(0), y(0)], [x(seq_len), y(seq_len)]], "limit"));
    }

    // q and out lie beside the rows, k and v above the columns
    for (let start = 0; start < seq_len; start += block_m) {
      const tall = (Math.min(start + block_m, seq_len) - start) * scale - gap;
      const here = now?.queries[0] === start;
      const done = tiles.slice(0, step).some((tile) => tile.queries[0] === start && tile.last);
      parts.push(box(left - strip - 6, y(start), strip, tall, here ? "ours" : "empty", 1));
      parts.push(box(right, y(start), strip, tall, here && done ? "ours" : done ? "ours soft" : "empty", 1));
    }
    for (let start = 0; start < seq_len; start += block_n) {
      const here = now?.keys[0] === start;
      const stop = Math.min(start + block_n, seq_len);
      for (const row of [0, 1]) {
        const at = top - 6 - (2 - row) * (strip + 3);
        parts.push(box(x(start), at, (stop - start) * scale - gap, strip, "empty", 1));
        if (here) parts.push(box(x(start), at, (now.keys[1] - start) * scale - gap, strip, "ours", 1));
      }
    }
    const name = (at, down, words) => parts.push(text(at, down, words, "ink", "middle", 13));
    name(left - 13, top - 12 - strip, "k");
    name(left - 13, top - 9, "v");
    name(left - strip / 2 - 6, top + side + 16, "q");
    name(right + strip / 2, top + side + 16, "out");
    parts.push(text(left + side / 2, top + side + 16, "scores: a row for each query", "muted", "middle", 12));
    return parts;
  };

  /* The bytes of both forms, on one scale. */
  const bars = (settings, { soFar, inAll, standard, masked, hidden, tiles }, x, y, width) => {
    const most = Math.max(standard, inAll.all);
    const long = (numbers) => (numbers / most) * width;
    const once = 4 * settings.seq_len * settings.d;
    const parts = [];
    parts.push(text(x, y + 11, "standard form", "ink", "start", 12), text(x + width, y + 11, kib(standard), "ink", "end", 12));
    parts.push(box(x, y + 16, long(once), 14, "naive", 1), box(x + long(once), y + 16, long(standard - once), 14, "naive soft", 1));
    parts.push(text(x, y + 43, "filled: q, k, v, out; pale: scores and weights", "muted", "start", 11));
    parts.push(text(x, y + 64, "block by block, so far", "ink", "start", 12), text(x + width, y + 64, of(soFar.all, inAll.all), "ink", "end", 12));
    parts.push(box(x, y + 69, long(inAll.all), 14, "empty", 1), box(x, y + 69, long(soFar.all), 14, "ours", 1));
    const kinds = settings.causal ? `${tiles.length - masked} full, ${masked} masked, ${hidden} skipped` : "one at a time";
    parts.push(text(x, y + 99, `${draw.many(tiles.length + hidden, "tile")}: ${kinds}`, "ink", "start", 11));
    return parts;
  };

  const picture = (settings, result, width) => {
    const place = geometry(width);
    const bottom = place.top + place.side + 24;
    const parts = [scores(settings, result, place)];
    if (place.beside) {
      const left = place.right + place.strip + 32;
      parts.push(bars(settings, result, left, place.top + 20, width - left - 4));
      return svg(width, bottom, parts);
    }
    parts.push(bars(settings, result, 2, bottom + 4, width - 4));
    return svg(width, bottom + 108, parts);
  };

  /* ---- words */

  const says = (settings, { tiles, now, hidden }) => {
    if (!now) return `${draw.many(tiles.length, "tile")} of scores will be computed, and ${hidden} skipped. Predict the order, and what must be loaded for each.`;
    const { queries, keys, masked, last } = now;
    const kind = masked ? ": the diagonal crosses this tile, and it needs a mask" : settings.causal ? ": a full tile, without a mask" : "";
    const written = last ? " The row is done: acc / l_i is written to out." : " m_i, l_i and acc stay in fast memory.";
    return `Queries ${queries[0]} to ${queries[1] - 1}, keys ${keys[0]} to ${keys[1] - 1}${kind}.${written}`;
  };

  explorers.attention = {
    title: "the block walk of flash attention",
    controls: [
      { name: "block_m", label: "block_q, or BLOCK_M", options: [[32, "32"], [64, "64"], [128, "128"]], value: 64 },
      { name: "block_n", label: "block_k, or BLOCK_N", options: [[32, "32"], [64, "64"], [128, "128"]], value: 64 },
      { name: "seq_len", label: "n, queries and keys", min: 32, max: 512, step: 32, value: 512 },
      { name: "d", label: "d, the width of a head", options: [[32, "32"], [64, "64"], [128, "128"]], value: 64 },
      { name: "causal", label: "causal", on: false },
      {
        name: "step",
        label: "Step",
        min: 0,
        max: computed,
        value: 0,
        steps: true,
        show: (step, settings) => (step === 0 ? "start" : `tile ${step} of ${computed(settings)}`),
      },
    ],
    compute,
    picture,
    facts: (settings, { soFar, inAll, fast }) => [
      ...["q", "k", "v", "out"].map((name) => [`${name} ${name === "out" ? "written" : "read"}`, of(soFar[name], inAll[name])]),
      ["in fast memory", kib(fast)],
    ],
    says,
  };
}
