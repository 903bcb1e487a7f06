"""The explorers' scripts in a JavaScript engine, for tests: many settings in one call, and a look at what a picture holds."""

from __future__ import annotations

import functools
import json
import math
import re
from typing import Any
from xml.etree import ElementTree

from classroom import explorers

WIDTHS = (280, 540, 760)
SVG = "{http://www.w3.org/2000/svg}"

TOOLS = """
const limit = (bound, settings) => (typeof bound === "function" ? bound(settings) : bound);

// Settings as a reader could choose them; `pick` gives a number from 0 to 1 for each.
const chosen = (kind, pick) => {
  const settings = {};
  for (const control of kind.controls) {
    if (control.options) settings[control.name] = control.options[Math.min(control.options.length - 1, Math.floor(pick() * control.options.length))][0];
    else if ("on" in control) settings[control.name] = pick() >= 0.5;
    else {
      const [min, max, step] = [limit(control.min, settings), limit(control.max, settings), control.step ?? 1];
      settings[control.name] = min + Math.round((pick() * (max - min)) / step) * step;
    }
    settings[control.name] = settle(kind, settings)[control.name];
  }
  return settings;
};
const random = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0; // mulberry32
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const corners = (kind) => {
  const count = kind.controls.length;
  return [...Array(2 ** count).keys()].map((bits) => {
    let place = 0;
    return chosen(kind, () => (bits >> place++) & 1);
  });
};
"""


@functools.cache
def engine() -> Any:
    """An engine in which all scripts have run."""
    context = explorers.engine()
    context.eval(TOOLS)
    return context


def call(expression: str, *values: Any) -> Any:
    """The result of `expression`, a JavaScript function, for the given values."""
    result = engine().eval(f"JSON.stringify(({expression})({', '.join(json.dumps(value) for value in values)}))")
    return json.loads(result)


def settings(kind: str, count: int = 1000, seed: int = 10) -> list[dict[str, Any]]:
    """So many settings, each as a reader could choose it at random."""
    source = "(kind, count, seed) => { const pick = random(seed); return Array.from({ length: count }, () => chosen(explorers[kind], pick)); }"
    return call(source, kind, count, seed)


def extremes(kind: str) -> list[dict[str, Any]]:
    """All corners: each control at its first or its last value."""
    return call("(kind) => corners(explorers[kind])", kind)


def settled(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The settings that `given` leads to: what is missing is added, what does not exist is put right."""
    return call("(kind, given) => settle(explorers[kind], given)", kind, given)


def computed(kind: str, many: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What `compute` says to each of the settings."""
    return call("(kind, many) => many.map((settings) => explorers[kind].compute(settings))", kind, many)


def shown(kind: str, many: list[dict[str, Any]], width: int = 680) -> list[dict[str, Any]]:
    """{picture, facts, says} for each of the settings."""
    source = """(name, many, width) => many.map((settings) => {
      const kind = explorers[name], result = kind.compute(settings);
      return { picture: kind.picture(settings, result, width), facts: kind.facts(settings, result), says: kind.says(settings, result) };
    })"""
    return call(source, kind, many, width)


def dragged(kind: str, start: dict[str, Any], path: list[tuple[float, float]], width: int = 680) -> dict[str, Any]:
    """The settings after a pointer went down at the first place of a path, and along it."""
    source = """(name, start, path, width) => {
      const kind = explorers[name], [[x, y]] = path;
      const held = { x, y, settings: settle(kind, start) };
      return path.reduce((now, [x, y]) => settle(kind, { ...now, ...kind.drag(now, x, y, width, held) }), held.settings);
    }"""
    return call(source, kind, start, path, width)


def faults(svg: str) -> list[str]:
    """What of a picture lies outside of its frame or is no number; the width of a text is an estimate."""
    if found := re.findall(r'[\w-]+="[^"]*(?:NaN|Infinity|undefined|null)[^"]*"|>[^<]*(?:NaN|Infinity|undefined)[^<]*<', svg):
        return found
    root = ElementTree.fromstring(svg)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    outside = []
    for part in root.iter():
        low_x, low_y, high_x, high_y = extent(part)
        if low_x < left - 1 or low_y < top - 1 or high_x > left + width + 1 or high_y > top + height + 1:
            outside.append(ElementTree.tostring(part, encoding="unicode"))
    return outside


def extent(part: ElementTree.Element) -> tuple[float, float, float, float]:
    """The frame of one element, x and y from and to; of what has no place, the empty one."""
    number = {name: float(value) for name, value in part.attrib.items() if re.fullmatch(r"-?[\d.]+(?:e-?\d+)?", value)}
    if part.tag == f"{SVG}rect" and "x" in number:
        if part.attrib["width"].endswith("%"):
            return number["x"], number["y"], number["x"], number["y"]
        assert number["width"] >= 0 and number["height"] >= 0, part.attrib
        return number["x"], number["y"], number["x"] + number["width"], number["y"] + number["height"]
    if part.tag == f"{SVG}circle":
        x, y, r = number["cx"], number["cy"], number["r"]
        return x - r, y - r, x + r, y + r
    if part.tag == f"{SVG}polyline":
        points = [tuple(map(float, point.split(","))) for point in part.attrib["points"].split()]
        return (*map(min, zip(*points)), *map(max, zip(*points)))
    if part.tag == f"{SVG}text":
        size, text = number["font-size"], part.text or ""
        wide = size * sum(0.3 if letter in " .,:iljtf1|" else 0.62 for letter in text)
        start = number["x"] - wide * {"start": 0, "middle": 0.5, "end": 1}[part.attrib["text-anchor"]]
        return start, number["y"] - size, start + wide, number["y"] + 0.3 * size
    return math.inf, math.inf, -math.inf, -math.inf
