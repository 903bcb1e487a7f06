"""The explorers: pictures in the book that the reader changes, and the still ones that stand for them elsewhere.

A lesson shows a still picture, `![what it shows](../book/figures/explorer-sectors.svg)`. The build puts it into an element
`<tiles-explorer>`, whose scripts (`book/explorers/`) draw the same picture with controls; without scripts the still one stays.

`python -m classroom.explorers` draws the still pictures anew, with those same scripts.
"""

from __future__ import annotations

import atexit
import json
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes

from classroom import recorded
from classroom.lesson import write_if_changed
from tiles import bench
from tiles.compiled.targets import TARGETS
from tiles.gpus import GPUS

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = "book/explorers"
STILLS = "book/figures"

PICTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "explorer-sectors": ("sectors", {"stride": 2}),
    "explorer-occupancy": ("occupancy", {}),
    "explorer-roofline": ("roofline", {}),
    "explorer-softmax": ("softmax", {"step": 3}),
    "explorer-softmax-values": ("softmax", {"row": "logs", "values": True, "step": 2}),
    "explorer-matmul": ("matmul", {"step": 6}),
    "explorer-attention": ("attention", {"step": 11}),
    "explorer-attention-causal": ("attention", {"causal": True, "step": 12}),
}
"""The pictures, by the name of the still one's file: their kind, and the settings that they begin with."""

KINDS = sorted({kind for kind, _ in PICTURES.values()})


# ---- what the scripts know of the course


def data() -> dict[str, Any]:
    """What `tiles` tells the scripts: the GPUs with the limits of their multiprocessors, and the recorded kernels.

    gpus: by name; memory in bytes, rates in bytes or FLOPs a second.
    kernels: of the GPU that they were recorded on, [name, type, FLOPs a byte, TFLOP/s] each, at the shape where it is fastest.
    """
    limits = ("shared_per_sm", "shared_per_block", "shared_reserved", "shared_unit")
    limits += ("warps_per_sm", "blocks_per_sm", "registers_per_sm", "register_unit", "partitions")
    gpus = {
        name: {limit: getattr(TARGETS[name], limit) for limit in limits}
        | {rate: getattr(gpu, rate) for rate in ("bandwidth", "fp32", "fp16")}
        for name, gpu in GPUS.items()
    }
    record = bench.recorded()
    best: dict[tuple[str, str], tuple[float, float]] = {}
    for row in recorded.rows(record):
        key = row.kernel.title, recorded.SHORT[row.run.dtype]
        if row.point and row.point[1] > best.get(key, (0, 0))[1]:
            best[key] = row.point
    points = [[*key, float(f"{intensity:.4g}"), float(f"{flops:.4g}")] for key, (intensity, flops) in best.items()]
    return {"gpus": gpus, "kernels": {"gpu": recorded.gpu_of(record).name, "points": points}}


def scripts(root: Path = ROOT) -> dict[str, str]:
    """The scripts by file name, in the order in which a page loads them: the frame, the data, the kinds; without comments."""
    texts = {path.name: without_comments(path.read_text(encoding="utf-8")) for path in sorted((root / SCRIPTS).glob("*.js"))}
    written = {"data.js": f"globalThis.tiles = {json.dumps(data(), separators=(',', ':'))};\n"}
    return {"explorer.js": texts.pop("explorer.js")} | written | texts


def without_comments(text: str) -> str:
    """A script without its lines of comment, and without indentation."""
    text = re.sub(r"^[ \t]+|[ \t]+// .*$", "", text, flags=re.MULTILINE)
    return re.sub(r"^(/\*.*?\*/|//[^\n]*|)\n", "", text, flags=re.MULTILINE | re.DOTALL)


def engine(root: Path = ROOT) -> Any:
    """A JavaScript engine without a page, in which all scripts have run: `engine().eval("still('sectors')")`."""
    from py_mini_racer import MiniRacer

    context = MiniRacer()
    atexit.register(context.close)  # Python would wait for the engine's thread for ever
    for text in scripts(root).values():
        context.eval(text)
    return context


def stills(root: Path = ROOT) -> dict[str, str]:
    """The still pictures, as SVG by file name."""
    context = engine(root)
    return {
        f"{name}.svg": context.eval(f"still({json.dumps(kind)}, {json.dumps(settings)})")
        for name, (kind, settings) in PICTURES.items()
    }


# ---- the Sphinx extension


def connect(app) -> None:
    """Register with Sphinx (called by `setup` of `classroom.book`)."""
    app.connect("builder-inited", write_scripts)
    app.connect("doctree-read", wrap_pictures)
    app.connect("html-page-context", add_scripts)


def write_scripts(app) -> None:
    """Put the scripts into the book."""
    if app.builder.format == "html":
        for name, text in scripts().items():
            path = Path(app.outdir, "_static", "explorers", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_if_changed(path, text)


def wrap_pictures(app, doctree) -> None:
    """Put each still picture into its element. Alone in its paragraph, it takes the paragraph's place."""
    for image in list(doctree.findall(nodes.image)):
        path = Path(image["uri"])
        if path.suffix == ".svg" and path.stem in PICTURES:
            kind, settings = PICTURES[path.stem]
            attributes = "".join(f' {name}="{escape(str(value).lower())}"' for name, value in {"kind": kind, **settings}.items())
            begin = nodes.raw("", f"<tiles-explorer{attributes}>", format="html", explorer=kind)
            wrapped = [begin, image, nodes.raw("", "</tiles-explorer>", format="html")]
            holder = image.parent
            if isinstance(holder, nodes.paragraph) and len(holder) == 1:
                holder.replace_self(wrapped)
            else:
                holder.replace(image, wrapped)


def add_scripts(app, pagename: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Load the scripts on pages that have an explorer: at once, so that the element is there when the page is drawn first."""
    found = {node["explorer"] for node in doctree.findall(nodes.raw) if "explorer" in node} if doctree else set()
    for name in ["explorer", "data", *sorted(found)] if found else []:
        app.add_js_file(f"explorers/{name}.js", loading_method=None)


def main() -> int:
    changed = [name for name, text in stills().items() if write_if_changed(ROOT / STILLS / name, text)]
    print("drawn anew:", ", ".join(changed) or "nothing, all are as they were")
    return 0


if __name__ == "__main__":
    sys.exit(main())
