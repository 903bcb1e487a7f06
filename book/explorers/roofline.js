/* How fast an operation can be at best: as fast as memory feeds it, or as fast as the GPU computes (lesson 04). */

"use strict";

{
  const RATES = [["fp32", "fp32"], ["fp16", "fp16 tensor"]];
  const X = [-1.3, 4.3]; // FLOPs for each byte, powers of ten
  const Y = [-1.7, 3.7]; // TFLOP/s

  /* 0.00123 as "1.23 m", with the unit behind it. */
  const si = (number, unit) => {
    const [power, prefix] = [[15, "P"], [12, "T"], [9, "G"], [6, "M"], [3, "k"], [0, ""], [-3, "m"], [-6, "µ"], [-9, "n"]].find(([power]) => number >= 0.9995 * 10 ** power) ?? [-9, "n"];
    return `${short(number / 10 ** power)}\u00a0${prefix}${unit}`;
  };
  const short = (number) => (number >= 999.5 ? draw.count(number) : String(+number.toPrecision(3)));

  const amount = (power) => +(10 ** power).toPrecision(2); // 400 M, not 398 M

  const compute = ({ gpu, rate, bytes, flops }) => {
    const { bandwidth: feed, [rate]: peak } = tiles.gpus[gpu];
    const [nbytes, work] = [amount(bytes), amount(flops)];
    const intensity = work / nbytes;
    const [moving, computing] = [nbytes / feed, work / peak];
    return {
      nbytes, work, intensity, bandwidth: feed, peak, moving, computing,
      ridge: peak / feed,
      attainable: Math.min(peak, intensity * feed),
      seconds: Math.max(moving, computing),
      memory: moving > computing, // which of the two sets the pace
    };
  };

  const geometry = (width) => {
    const wide = width >= 520;
    const [left, right, top, tall] = [42, width - 9, 10, wide ? 296 : 270];
    const scale = (value, [low, high], from, to) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
    return {
      wide, left, right, top, bottom: top + tall,
      x: (intensity) => scale(intensity, X, left, right),
      y: (flops) => scale(flops / 1e12, Y, top + tall, top),
      reach: (x) => 10 ** (X[0] + ((x - left) / (right - left)) * (X[1] - X[0])),
    };
  };

  const picture = ({ gpu, rate, bytes }, result, width) => {
    const { nbytes, work, intensity, bandwidth, peak, moving, computing, ridge, attainable, seconds, memory } = result;
    const { wide, left, right, top, bottom, x, y, reach } = geometry(width);
    const parts = [];
    for (let power = -1; power <= 4; power++) {
      const at = 10 ** power;
      parts.push(draw.path([[x(at), top], [x(at), bottom]], "grid"), draw.text(x(at), bottom + 15, draw.count(at) === "0" ? at : draw.count(at), "muted", "middle", 11));
      if (power < 4) parts.push(draw.path([[left, y(at * 1e12)], [right, y(at * 1e12)]], "grid"), draw.text(left - 5, y(at * 1e12) + 4, draw.count(at) === "0" ? at : draw.count(at), "muted", "end", 11));
    }
    parts.push(draw.text(right, bottom + 32, "FLOPs for each byte", "muted", "end", 12), draw.text(left + 6, top + 12, `TFLOP/s, ${gpu}`, "muted halo", "start", 12));

    // The roof: memory, then arithmetic. What sets the pace is drawn in the colour of what is scarce.
    const from = Math.max(10 ** X[0], (10 ** Y[0] * 1e12) / bandwidth);
    const slope = [[x(from), y(from * bandwidth)], [x(ridge), y(peak)]];
    const level = [[x(ridge), y(peak)], [right, y(peak)]];
    const [other] = RATES.map(([name]) => name).filter((name) => name !== rate);
    const second = tiles.gpus[gpu][other];
    if (second > peak) parts.push(draw.path([[x(ridge), y(peak)], [x(second / bandwidth), y(second)], [right, y(second)]], "limit"));
    else parts.push(draw.path([[x(second / bandwidth), y(second)], [right, y(second)]], "limit"));
    const name = (which, at, look) => draw.text(right - 4, y(at) + (which === "fp16" ? -6 : 16), `${which}: ${si(at, "FLOP/s")}`, `${look} halo`, "end", 12);
    parts.push(name(other, second, "muted"), name(rate, peak, memory ? "ink" : "wrong bold")); // above and below the course's kernels
    const label = Math.max(x(Math.sqrt(from * ridge)), left + 132);
    parts.push(draw.text(label - 10, y(reach(label) * bandwidth) - 4, `memory: ${si(bandwidth, "B/s")}`, memory ? "wrong bold halo" : "ink halo", "end", 12));
    parts.push(draw.path([[x(ridge), y(peak)], [x(ridge), bottom]], "limit"), draw.text(x(ridge) + (memory ? 5 : -5), bottom - 6, `ridge: ${short(ridge)}`, "ink", memory ? "start" : "end", 12)); // not on the line of the point

    for (const [, type, at, tflops] of measured(gpu)) parts.push(draw.circle(x(at), y(tflops * 1e12), 3.5, sameRate(type, rate) ? "ours" : "ours soft"));
    parts.push(draw.path(memory ? level : slope, "ink"), draw.path(memory ? slope : level, "wrong bold"));

    const near = nearest(gpu, rate, result);
    const [here, there] = [x(intensity), y(attainable)];
    parts.push(draw.path([[here, there], [here, bottom]], "ink"));
    if (near) {
      const [name, , at, tflops] = near;
      parts.push(draw.circle(x(at), y(tflops * 1e12), 6, "ours stroke"), draw.text(right - 4, bottom - 50, `nearest: ${name}`, "ours bold halo", "end", 12));
    }
    parts.push(draw.circle(here, there, 8, "paper"), draw.circle(here, there, 6, "ink"));

    // How long each of the two takes, the longer one over the whole width.
    const bars = [
      [`moving ${si(nbytes, "B")}`, moving, memory],
      [`computing ${si(work, "FLOP")}`, computing, !memory],
    ];
    bars.forEach(([words, time, longer], i) => {
      const at = bottom + 56 + i * 38;
      parts.push(draw.text(0, at, `${words}: ${si(time, "s")}`, longer ? "wrong bold" : "ink"));
      if (longer) parts.push(draw.text(width, at, wide ? "sets the pace" : "the pace", "wrong bold", "end"));
      parts.push(draw.box(0.5, at + 6, width - 1, 12, "empty"), draw.box(0.5, at + 6, Math.max(1, (width - 1) * (time / seconds)), 12, longer ? "wrong" : "ours soft"));
    });
    return draw.svg(width, bottom + 116, parts);
  };

  const measured = (gpu) => (tiles.kernels.gpu === gpu ? tiles.kernels.points : []);
  const sameRate = (type, rate) => (type === "fp32") === (rate === "fp32");

  /* The course's kernel whose place is next to the reader's, if one is near. */
  const nearest = (gpu, rate, { intensity, attainable }) => {
    const apart = ([, , at, tflops]) => Math.hypot(Math.log10(at / intensity), Math.log10((tflops * 1e12) / attainable));
    const found = measured(gpu).filter(([, type]) => sameRate(type, rate));
    return found.filter((point) => apart(point) < 0.4).sort((a, b) => apart(a) - apart(b))[0];
  };

  explorers.roofline = {
    title: "how fast at best",
    hint: "Drag left and right: your operation slides along its roof. Small dots, on the H200: kernels of this course, filled in this arithmetic, hollow in the other.",
    controls: [
      { name: "gpu", label: "GPU", options: Object.keys(tiles.gpus).map((name) => [name, name]), value: "H200" },
      { name: "rate", label: "Arithmetic", options: RATES, value: "fp32" },
      { name: "bytes", label: "Moves", min: 5, max: 11, step: 0.05, value: 9, show: (value) => si(amount(value), "B") },
      { name: "flops", label: "Computes", min: ({ bytes }) => bytes + X[0], max: ({ bytes }) => bytes + X[1], step: 0.05, value: 8.6, show: (value) => si(amount(value), "FLOP") },
    ],
    compute,
    picture,
    facts: (settings, { intensity, ridge, memory, attainable, seconds }) => [
      ["FLOPs for each byte", short(intensity)],
      ["ridge point", short(ridge)],
      ["it is", memory ? "memory-bound" : "compute-bound"],
      ["time at best", si(seconds, "s")],
      ["speed at best", si(attainable, "FLOP/s")],
    ],
    says: ({ gpu, rate }, { nbytes, work, intensity, ridge, memory, seconds, attainable }) =>
      `${si(nbytes, "B")} and ${si(work, "FLOP")}: ${short(intensity)} FLOPs a byte. On the ${gpu} the ridge is at ${short(ridge)} in ${rate}, so ` +
      `this is ${memory ? "memory-bound" : "compute-bound"}: ${si(seconds, "s")} at best, ${si(attainable, "FLOP/s")}.`,
    drag: ({ bytes }, x, y, width) => ({ flops: bytes + Math.log10(geometry(width).reach(x)) }),
  };
}
