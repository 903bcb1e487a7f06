/* The addresses of one warp's load, and the 32-byte sectors and 128-byte lines that they fall into (lesson 02). */

"use strict";

{
  const LANES = 32;
  const SECTOR = 32;
  const LINE = 128;
  const SHOWN = 36; // lines: what the largest stride and offset reach

  const compute = ({ itemsize, stride, offset }) => {
    const bytes = new Set();
    const touched = new Map(); // sector → its first and its last lane
    for (let lane = 0; lane < LANES; lane++) {
      const address = (offset + lane * stride) * itemsize;
      for (let byte = address; byte < address + itemsize; byte++) bytes.add(byte);
      const sector = Math.floor(address / SECTOR); // an element starts at a multiple of its size: it lies in one
      touched.set(sector, { first: lane, ...touched.get(sector), last: lane });
    }
    const sectors = [...touched].map(([number, lanes]) => ({ number, ...lanes }));
    const lines = new Set(sectors.map(({ number }) => Math.floor((number * SECTOR) / LINE))).size;
    const moved = sectors.length * SECTOR;
    return { sectors, lines, asked: LANES * itemsize, wanted: bytes.size, moved, useful: bytes.size / moved };
  };

  /* Where memory lies in the picture: rows of a few lines. */
  const geometry = (width) => {
    const wide = width >= 600;
    const [across, pitch, tall] = wide ? [4, 36, 31] : [2, 21, 19];
    const [left, top, gap] = [wide ? 44 : width < 320 ? 35 : 38, 64, wide ? 8 : 5];
    const line = (width - left - (across - 1) * gap) / across;
    return { wide, across, pitch, tall, left, top, gap, line, byte: line / LINE };
  };

  const place = (g, byte) => {
    const line = Math.floor(byte / LINE);
    return [g.left + (line % g.across) * (g.line + g.gap) + (byte % LINE) * g.byte, g.top + Math.floor(line / g.across) * g.pitch];
  };

  const byteAt = (g, x, y) => {
    const row = Math.max(0, Math.min(SHOWN / g.across - 1, Math.floor((y - g.top) / g.pitch)));
    const column = Math.max(0, Math.min(g.across - 1, Math.floor((x - g.left) / (g.line + g.gap))));
    const inside = (x - g.left - column * (g.line + g.gap)) / g.byte;
    return (row * g.across + column) * LINE + Math.max(0, Math.min(LINE - 1, inside));
  };

  const picture = ({ itemsize, stride, offset }, { sectors, wanted, moved }, width) => {
    const g = geometry(width);
    const { wide, tall } = g;
    const small = wide ? 11 : width < 320 ? 9 : 9.5;
    const room = width / (LANES * SECTOR); // at most, each lane moves a sector
    const vain = wide ? width / 3 : width / 2;
    const parts = [
      draw.box(0, 1, 12, 12, "ours"),
      draw.text(18, 12, `wanted: ${draw.count(wanted)}${width < 320 ? "" : " bytes"}`),
      draw.box(vain, 1, 12, 12, "ours soft"),
      draw.text(vain + 18, 12, `${wide ? "moved in vain" : "in vain"}: ${draw.count(moved - wanted)}`),
      draw.box(0.5, 22, width - 1, 16, "empty"),
      draw.box(0.5, 22, moved * room - 1, 16, "ours soft"),
      draw.box(0.5, 22, Math.max(1, wanted * room - 1), 16, "ours"),
      draw.text(g.left - 7, 56, "byte", "muted", "end", small),
      draw.text(g.left + g.line / 2, 56, "a line, 128 bytes", "muted", "middle", 11),
      wide ? draw.text(width, 12, "at most 1,024", "muted", "end", 12) : "",
    ];
    const of = new Map(sectors.map((sector) => [sector.number, sector]));
    for (let number = 0; number < (SHOWN * LINE) / SECTOR; number++) {
      const [x, y] = place(g, number * SECTOR);
      const cell = SECTOR * g.byte - 2;
      const lanes = of.get(number);
      if ((number * SECTOR) % (LINE * g.across) === 0) parts.push(draw.text(g.left - 7, y + tall / 2 + 4, draw.count(number * SECTOR), "muted", "end", small));
      parts.push(draw.box(x, y, cell, tall, lanes ? "ours soft" : "empty"));
      if (!lanes) continue;
      const { first, last } = lanes;
      const height = wide ? 9 : 6;
      parts.push(draw.text(x + cell / 2, y + tall - height - (wide ? 6 : 3.5), first === last ? first : `${first}–${last}`, "ink", "middle", small));
      const run = stride === 1 ? last - first + 1 : 1; // neighbours are drawn as one
      for (let lane = first; lane <= last; lane += run) {
        const start = ((offset + lane * stride) * itemsize) % SECTOR;
        parts.push(draw.box(x + (start / SECTOR) * cell, y + tall - height, ((run * itemsize) / SECTOR) * cell, height, "ours", 0));
        if (stride === 0) break;
      }
    }
    return draw.svg(width, g.top + (SHOWN / g.across) * g.pitch, parts);
  };

  /* The lane that a pointer takes hold of: 0 in the first sector that moves, none far from all of them. */
  const laneAt = ({ itemsize, stride, offset }, byte) => {
    const first = offset * itemsize;
    if (Math.floor(byte / SECTOR) === Math.floor(first / SECTOR)) return 0;
    const lane = stride ? Math.max(0, Math.min(LANES - 1, Math.floor((byte / itemsize - offset) / stride + 0.5))) : 0;
    return Math.abs(byte - first - lane * stride * itemsize) < 2 * SECTOR ? lane : null;
  };

  const percent = (share) => `${+(100 * share).toFixed(1)}\u00a0%`;

  explorers.sectors = {
    title: "one load of a warp",
    hint: "Below the bar, memory: each box is a sector, with the lanes that read it. Drag the box of lane 0 to shift the load, another coloured box to stretch it.",
    controls: [
      { name: "itemsize", label: "Bytes of an element", options: [1, 2, 4, 8, 16].map((size) => [size, String(size)]), value: 4 },
      { name: "stride", label: "Stride", show: (stride) => draw.many(stride, "element"), min: 0, max: ({ itemsize }) => Math.min(32, LINE / itemsize), value: 1 },
      { name: "offset", label: "First element", min: 0, max: 31, value: 0 },
    ],
    compute,
    picture,
    facts: (settings, { sectors, lines, asked, moved, useful }) => [
      ["sectors of 32 bytes", sectors.length],
      ["lines of 128 bytes", lines],
      ["bytes asked for", draw.count(asked)],
      ["bytes moved", draw.count(moved)],
      ["of these wanted", percent(useful)],
    ],
    says: ({ itemsize, stride, offset }, { sectors, lines, useful }) =>
      `32 lanes read ${draw.many(itemsize, "byte")} each, at stride ${stride} from element ${offset} on: ` +
      `${draw.many(sectors.length, "sector")} of ${draw.many(lines, "line")} ${sectors.length === 1 ? "moves" : "move"}, and ${percent(useful)} of their bytes are wanted.`,
    drag: (settings, x, y, width, held = { settings, x, y }) => {
      const g = geometry(width);
      const lane = held.y < g.top ? null : laneAt(held.settings, byteAt(g, held.x, held.y));
      if (lane === null) return null;
      const element = Math.floor(byteAt(g, x, y) / settings.itemsize);
      return lane ? { stride: Math.round((element - settings.offset) / lane) } : { offset: element };
    },
  };
}
