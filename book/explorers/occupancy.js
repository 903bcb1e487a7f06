/* How many blocks fit on one multiprocessor: four resources, and the scarcest decides (lesson 03). */

"use strict";

{
  const KIB = 1024;
  const WARP = 32;
  const QUARTERS = 4;
  const up = (number, unit) => Math.ceil(number / unit) * unit;

  /* What NVIDIA's formula says, resource by resource: what an SM has of it, what of that whole warps can use, what a block takes. */
  const compute = ({ gpu, registers, shared, warps }) => {
    const sm = tiles.gpus[gpu];
    const ofWarp = up(registers * WARP, sm.register_unit);
    const inQuarter = Math.floor(sm.registers_per_sm / QUARTERS / ofWarp);
    const resources = [
      { name: "registers", has: sm.registers_per_sm, usable: QUARTERS * inQuarter * ofWarp, each: warps * ofWarp },
      { name: "shared memory", has: sm.shared_per_sm, usable: sm.shared_per_sm, each: up(shared * KIB + sm.shared_reserved, sm.shared_unit) },
      { name: "warps", has: sm.warps_per_sm, usable: sm.warps_per_sm, each: warps },
      { name: "blocks", has: sm.blocks_per_sm, usable: sm.blocks_per_sm, each: 1 },
    ];
    for (const resource of resources) resource.fit = resource.each ? Math.floor(resource.usable / resource.each) : null; // null: any number
    const blocks = Math.min(...resources.filter(({ fit }) => fit !== null).map(({ fit }) => fit));
    const scarcest = resources.filter(({ fit }) => fit === blocks).map(({ name }) => name);
    return { resources, blocks, scarcest, warps: blocks * warps, slots: sm.warps_per_sm, share: (blocks * warps) / sm.warps_per_sm };
  };

  const TOP = 24; // of the warps
  const PITCH = 46; // of the bars
  const BAR = 18;

  const geometry = (width) => {
    const slot = width >= 520 ? 24 : 20;
    return { slot, bars: TOP + QUARTERS * slot + 34, end: Math.round(width * 0.86) }; // what does not fit sticks out beyond the end
  };

  const amount = (name, number) => (name === "shared memory" ? `${draw.count(number)} B` : draw.count(number));

  const picture = (settings, { resources, blocks, scarcest, warps, slots }, width) => {
    const { slot, bars, end } = geometry(width);
    const cell = (end * QUARTERS) / slots;
    const shade = (block) => (block % 2 ? "ours soft" : "ours");
    const parts = [draw.text(0, 13, `${settings.gpu}, one SM: ${warps} of ${slots} warps`, "bold"), width < 520 ? "" : draw.text(end, 13, "rows: quarters; numbers: blocks", "muted", "end", 12)];
    for (let warp = 0; warp < slots; warp++) {
      const [x, y] = [Math.floor(warp / QUARTERS) * cell, TOP + (warp % QUARTERS) * slot];
      const block = Math.floor(warp / settings.warps);
      const full = block < blocks;
      parts.push(draw.box(x + 1, y + 1, cell - 2, slot - 2, full ? shade(block) : "empty"));
      if (full) parts.push(draw.text(x + cell / 2, y + slot / 2 + 4, block, block % 2 ? "ink" : "on", "middle", 11));
    }
    resources.forEach(({ name, has, usable, each, fit }, i) => {
      const y = bars + i * PITCH;
      const scale = end / has;
      const tight = scarcest.includes(name);
      const wide = width >= 520;
      const words = (fit === null ? "any number" : wide ? draw.many(fit, "block") : fit) + (wide ? " would fit" : fit === 1 ? " fits" : " fit") + (tight ? ": the scarcest" : "");
      parts.push(draw.text(0, y, name, tight ? "wrong bold" : "bold"));
      if (width >= 660) parts.push(draw.text(122, y, `${amount(name, each)} a block, of ${amount(name, has)}`, "muted", "start", 12));
      parts.push(draw.text(end, y, words, tight ? "wrong bold" : "ink", "end"));
      const top = y + 6;
      parts.push(draw.box(0.5, top, end - 1, BAR, "empty"));
      if (usable < has) parts.push(draw.box(usable * scale, top, (has - usable) * scale, BAR, "grid", 0)); // less than a warp in each quarter
      for (let block = 0; block < blocks; block++) {
        const gap = each * scale > 4 ? 1 : 0;
        if (each) parts.push(draw.box(block * each * scale, top, each * scale - gap, BAR, shade(block), gap));
      }
      if (tight) {
        const start = Math.min(blocks * each * scale + 1, width - 6);
        parts.push(draw.box(start, top, Math.min(each * scale, width - start - 1), BAR, "wrong ghost"));
      }
    });
    return draw.svg(width, bars + 4 * PITCH - 14, parts);
  };

  explorers.occupancy = {
    title: "how many blocks fit on one SM",
    hint: "Each row is a quarter of the SM, each number a block. The dashed one is the first that does not fit; registers in grey are too few for a warp. Drag one of the upper three bars to stretch its blocks.",
    controls: [
      { name: "gpu", label: "GPU", options: Object.keys(tiles.gpus).map((name) => [name, name]), value: "H100" },
      { name: "registers", label: "Registers a thread", min: 16, max: 255, value: 64 },
      { name: "shared", label: "Shared memory a block", unit: "KiB", min: 0, max: ({ gpu }) => tiles.gpus[gpu].shared_per_block / KIB, value: 24 },
      { name: "warps", label: "Warps a block", min: 1, max: 32, value: 4 },
    ],
    compute,
    picture,
    facts: (settings, { blocks, warps, slots, share }) => [
      ["blocks on the SM", blocks],
      ["warps", `${warps} of ${slots}`],
      ["threads", draw.count(warps * WARP)],
      ["occupancy", `${+(100 * share).toFixed(1)}\u00a0%`],
    ],
    says: ({ gpu, registers, shared, warps }, { blocks, scarcest, share }) =>
      `On an SM of the ${gpu}, ${draw.many(blocks, "block")} of ${draw.many(warps, "warp")} ${blocks === 1 ? "fits" : "fit"}, ` +
      `with ${registers} registers a thread and ${shared} KiB: ` +
      `${blocks ? `${+(100 * share).toFixed(1)}\u00a0%, limited by` : "such a kernel cannot start, for want of"} ${scarcest.join(" and ")}.`,
    drag: (settings, x, y, width, held = { settings, x, y }) => {
      const bar = Math.floor((held.y - geometry(width).bars + 16) / PITCH);
      const name = ["registers", "shared", "warps"][bar];
      return name && { [name]: (held.settings[name] || 1) * Math.max(0, x / Math.max(1, held.x)) };
    },
  };
}
