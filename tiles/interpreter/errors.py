"""What a kernel does wrong, as a sentence and as facts."""

from __future__ import annotations

from typing import Any

from tiles.blanks import NotYet


class KernelError(NotYet):
    """A launch that a GPU would get wrong, or that the interpreter would.

    message: the sentence, with its location, as shown; summary: the same without the location.
    kind: "load outside", "store outside", "atomic outside", "poison", "race", "waiting", "bfloat16", "block truth", "grid",
        "launch" or "error in kernel".
    Facts, each None where there is none: argument (a name without `_ptr`), line and text (of the source, line 1 is the
    first of the cell or file), program (an int, or a tuple for a grid of several axes), lane (position in the block),
    index (of the first element concerned: an int, or a tuple for several dimensions), count (elements concerned),
    extent (elements of the argument), shape and strides of the argument, side ("before", "after" or "between"),
    store_line (for poison: where the value went), programs (for a race: both), kernel, constants ({name: value}),
    values (of the variables in that line, {name: Value}), widened (loads whose mask was larger than their addresses,
    {line: (shape of the addresses, shape of the mask)}), source (of the kernel).
    """

    FACTS = (
        "argument line text program lane index count extent shape strides side store_line programs kernel constants "
        "values widened source"
    ).split()

    def __init__(self, summary: str, kind: str, at: str = "", **facts: Any):
        """at: what follows line and program in the location, "first at index 3"."""
        if unknown := set(facts) - set(self.FACTS):
            raise TypeError(f"unknown facts: {sorted(unknown)}")
        super().__init__(summary)
        self.summary, self.kind, self.at, self.location = summary, kind, at, ""
        for name in self.FACTS:
            setattr(self, name, facts.get(name))

    def locate(self, location: str, **facts: Any) -> None:
        """Say where it happened (the words between the parentheses); facts that are known already stay."""
        self.location = ", ".join(part for part in (location, self.at) if part)
        for name, value in facts.items():
            if getattr(self, name) is None:
                setattr(self, name, value)

    @property
    def message(self) -> str:
        """The sentence with its location."""
        if self.location:
            return f"{self.summary} ({self.location})."
        return self.summary if self.summary.endswith("?") else f"{self.summary}."

    def __str__(self) -> str:
        return self.message


def index_text(index: int | tuple[int, ...]) -> str:
    """An index as it stands between square brackets: "3", "2, 16"."""
    return str(index) if isinstance(index, int) else ", ".join(str(i) for i in index)
