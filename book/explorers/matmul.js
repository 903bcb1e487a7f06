/* The tiles of a matrix product: in which order programs compute them, and what they find in the L2 cache (lesson 09). */

"use strict";

{
  const { box, text, path, svg } = draw;
  const STEPS = 4; // along K
  const KIB = 1024;
  const TILE = 16 * KIB; // 128 × 64 or 64 × 128 numbers of 2 bytes
  const MOST = 8; // tiles of C below each other, and side by side

  /* [[pid_m, pid_n], …]: `group` rows of tiles after the other, each group column by column. */
  const orderOf = (rows, columns, group) => {
    const order = [];
    for (let first = 0; first < rows; first += group) {
      for (let pid_n = 0; pid_n < columns; pid_n++) {
        for (let pid_m = first; pid_m < Math.min(first + group, rows); pid_m++) order.push([pid_m, pid_n]);
      }
    }
    return order;
  };

  /* The model of exercise 9.3b: what each wave asks for in each of its steps, and what of it is missing.
     A Map goes through its keys in the order in which they were put in: the least recently used first. */
  const throughL2 = (order, { steps, a_bytes, b_bytes, capacity, together }, shown = Infinity) => {
    const cache = new Map();
    const moments = [];
    let [held, missed, loaded, inCache] = [0, 0, 0, []];
    for (let first = 0; first < order.length; first += together) {
      const wave = order.slice(first, first + together);
      for (let k = 0; k < steps; k++) {
        const wanted = new Map(wave.map(([pid_m]) => [`a ${pid_m} ${k}`, a_bytes]));
        for (const [, pid_n] of wave) wanted.set(`b ${k} ${pid_n}`, b_bytes);
        const moment = { first, last: first + wave.length - 1, k, hits: [], misses: [] };
        for (const [tile, bytes] of wanted) {
          if (cache.delete(tile)) {
            moment.hits.push(tile);
          } else {
            moment.misses.push(tile);
            [held, missed] = [held + bytes, missed + bytes];
          }
          cache.set(tile, bytes);
          while (held > capacity) {
            const [oldest, size] = cache.entries().next().value;
            cache.delete(oldest);
            held -= size;
          }
        }
        loaded += wave.length * (a_bytes + b_bytes);
        moments.push({ ...moment, missed, loaded });
        if (moments.length === shown) inCache = [...cache.keys()];
      }
    }
    return { moments, missed, loaded, inCache };
  };

  const momentsOf = ({ num_pid_m, num_pid_n, together }) => Math.ceil((num_pid_m * num_pid_n) / together) * STEPS;

  const compute = ({ num_pid_m, num_pid_n, group_m, together, capacity, step, steps = STEPS, a_bytes = TILE, b_bytes = TILE }) => {
    const product = { steps, a_bytes, b_bytes, together, capacity: capacity * KIB };
    const order = orderOf(num_pid_m, num_pid_n, group_m);
    const { moments, missed, loaded, inCache } = throughL2(order, product, step);
    const groups = Array.from({ length: num_pid_m }, (_, g) => g + 1);
    return {
      order,
      now: moments[step - 1] ?? null,
      after: moments.map((moment) => moment.missed), // bytes missed after each step
      missed,
      loaded,
      inCache,
      waves: Math.ceil(order.length / together),
      once: steps * (num_pid_m * a_bytes + num_pid_n * b_bytes), // each matrix once
      groups: groups.map((group) => throughL2(orderOf(num_pid_m, num_pid_n, group), product).missed), // by GROUP_M, 1 first
    };
  };

  /* ---- the picture */

  const geometry = (width) => {
    const beside = width >= 560; // the bars stand at the right of the matrices, or below them
    const between = 14;
    const cell = Math.min(30, (width - between - 4) / (STEPS + MOST));
    const corner = STEPS * cell + between + 2; // where C begins
    return { beside, cell, corner, side: corner + MOST * cell };
  };

  const shaded = (share, box) => `<g fill-opacity="${(0.06 + 0.44 * share).toFixed(3)}">${box}</g>`;

  const matrices = ({ num_pid_m, num_pid_n }, { order, now, inCache }, { cell, corner }) => {
    const parts = [];
    const [hits, misses, held] = [new Set(now?.hits), new Set(now?.misses), new Set(inCache)];
    const input = (tile, x, y) => {
      const look = misses.has(tile) ? "wrong" : hits.has(tile) ? "good" : held.has(tile) ? "ours soft" : "empty";
      parts.push(box(x, y, cell - 2, cell - 2, look));
      const sign = misses.has(tile) ? "↓" : hits.has(tile) ? "✓" : "";
      if (sign) parts.push(text(x + cell / 2 - 1, y + cell / 2 + 4, sign, "on", "middle", 13));
    };
    const inner = corner - 14; // where A ends, and B
    for (let k = 0; k < STEPS; k++) {
      const place = inner - (STEPS - k) * cell;
      for (let pid_m = 0; pid_m < num_pid_m; pid_m++) input(`a ${pid_m} ${k}`, place, corner + pid_m * cell);
      for (let pid_n = 0; pid_n < num_pid_n; pid_n++) input(`b ${k} ${pid_n}`, corner + pid_n * cell, place);
    }
    parts.push(text(inner - 2 - 2 * cell, inner + 6, "a", "ink", "middle", 14), text(inner + 2, inner - 2 * cell, "b", "ink", "middle", 14));
    parts.push(text(inner + 2, inner + 6, "c", "ink", "middle", 14));

    order.forEach(([pid_m, pid_n], pid) => {
      const [x, y] = [corner + pid_n * cell, corner + pid_m * cell];
      parts.push(shaded(pid / Math.max(1, order.length - 1), box(x, y, cell - 2, cell - 2, "ours")));
      const works = now && pid >= now.first && pid <= now.last;
      if (works) parts.push(box(x + 0.5, y + 0.5, cell - 3, cell - 3, "ink stroke"));
      parts.push(text(x + cell / 2 - 1, y + cell / 2 + 3, pid, works ? "bold" : "ink", "middle", 11));
    });
    return parts;
  };

  const legend = (x, y, wide) =>
    [
      ["wrong", "↓", wide ? "from memory: a miss" : "a miss"],
      ["good", "✓", wide ? "in L2: a hit" : "a hit"],
      ["ours soft", "", wide ? "kept in L2, not wanted now" : "kept in L2"],
    ].map(([look, sign, words], i) => [
      box(x, y + i * 22, 16, 16, look),
      text(x + 8, y + i * 22 + 12.5, sign, "on", "middle", 12),
      text(x + 24, y + i * 22 + 12.5, words, "ink", "start", 12),
    ]);

  /* What misses L2 in all, for each GROUP_M. */
  const bars = ({ group_m }, { groups, once }, x, y, width, tall) => {
    const most = Math.max(...groups);
    const wide = Math.min(40, width / MOST);
    const height = (bytes) => (bytes / most) * tall;
    const floor = y + 26 + tall;
    const parts = [text(x, y + 8, "KiB missed by GROUP_M; dotted: a and b once", "muted", "start", 11)];
    groups.forEach((bytes, g) => {
      const ours = g + 1 === group_m;
      parts.push(box(x + g * wide + 2, floor - height(bytes), wide - 4, height(bytes), ours ? "ours" : "naive soft", 1));
      parts.push(text(x + (g + 0.5) * wide, floor - height(bytes) - 4, draw.count(bytes / KIB), ours ? "ink" : "muted", "middle", 11));
      parts.push(text(x + (g + 0.5) * wide, floor + 14, g + 1, ours ? "ink" : "muted", "middle", 11));
    });
    parts.push(path([[x, floor - height(once)], [x + groups.length * wide, floor - height(once)]], "limit"));
    parts.push(path([[x, floor], [x + MOST * wide, floor]], "grid"));
    return parts;
  };

  const picture = (settings, result, width) => {
    const place = geometry(width);
    const parts = [matrices(settings, result, place)];
    if (place.beside) {
      const left = place.side + 24;
      parts.push(legend(left, 8, true), bars(settings, result, left, 120, width - left - 4, 110));
      return svg(width, Math.ceil(place.side + 2), parts);
    }
    parts.push(legend(2, 6), bars(settings, result, 2, place.side + 8, width - 4, 40)); // in the corner that a and b leave free
    return svg(width, Math.ceil(place.side + 92), parts);
  };

  /* ---- words */

  const programs = ({ first, last }) => (first === last ? `program ${first}` : `programs ${first} to ${last}`);

  const says = ({ together }, { now, waves }) => {
    if (!now) return `${waves === 1 ? "All programs run in one wave" : `The programs run in ${waves} waves`}. Predict which tiles of a and b the first one needs.`;
    const wanted = [...now.hits, ...now.misses];
    const ofA = wanted.filter((tile) => tile[0] === "a").length;
    const place = `Wave ${Math.floor(now.first / together) + 1} of ${waves}, step ${now.k + 1} of ${STEPS} along K`;
    const tiles = `${draw.many(ofA, "tile")} of a and ${wanted.length - ofA} of b`;
    return `${place}. Wanted by ${programs(now)}: ${tiles}; ${now.misses.length} from memory, ${now.hits.length} from L2.`;
  };

  explorers.matmul = {
    title: "programs, tiles and the L2 cache",
    controls: [
      { name: "num_pid_m", label: "Tiles of M", min: 1, max: MOST, value: 8 },
      { name: "num_pid_n", label: "Tiles of N", min: 1, max: MOST, value: 8 },
      { name: "group_m", label: "GROUP_M", min: 1, max: ({ num_pid_m }) => num_pid_m, value: 4, first: true },
      { name: "together", label: "Programs at a time", min: 1, max: 32, value: 16 },
      { name: "capacity", label: "L2 capacity", unit: "KiB", min: 64, max: 1088, step: 64, value: 512 },
      {
        name: "step",
        label: "Step",
        min: 0,
        max: momentsOf,
        value: 0,
        steps: true,
        show: (step, settings) => (step === 0 ? "start" : `${step} of ${momentsOf(settings)}`),
      },
    ],
    compute,
    picture,
    facts: (settings, { now, missed, loaded }) => {
      const [soFar, asked] = [now?.missed ?? 0, now?.loaded ?? 0];
      const of = (part, all) => `${draw.count(part)} of ${draw.count(all)}`;
      return [
        ["L2 misses, tiles", of(soFar / TILE, missed / TILE)],
        ["L2 hits, tiles", of((asked - soFar) / TILE, (loaded - missed) / TILE)],
        ["KiB from memory", of(soFar / KIB, missed / KIB)],
        ["KiB loaded by programs", of(asked / KIB, loaded / KIB)],
      ];
    },
    says,
  };
}
