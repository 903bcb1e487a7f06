"""Checks: try an answer on many cases, say in one line that it is right or, in three, what is wrong and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tiles import cells
from tiles.blanks import NotYet, functions_of, refuse_blanks
from tiles.cases import Case
from tiles.trial import Trial


def check(
    exercise: str,
    answer: Callable,
    *,
    against: Callable,
    cases: Sequence[Case],
    moves: Callable[..., int] | None = None,
    memory: Callable[..., int] | None = None,
    sectors: Callable[..., int] | None = None,
    compiled: Callable[..., str] | None = None,
    steps: int | Callable[..., int] = 4,
    magnitude: Callable | None = None,
    returns: Sequence[str] = (),
    note: str = "",
    saving: str = "",
) -> None:
    """Print one line when `answer` is right in every case; raise NotYet with a diagnosis when it is not.

    exercise: its number, "5.3".
    answer: the student's function, or a launcher where the cases come from `tensors`.
    against: the specification, called with the same inputs in float64 after the answer has been called.
        Inside the answer it may not be called.
    cases: see `tiles.cases`. Launchers run on the CPU, in the strict interpreter, and then on the GPU where there is one.
    moves: budget in elements read and written, from the case's sizes: `lambda n: 3 * n`. The line of a right answer calls it
        the minimum, so give a `note` where a right answer may need less. Where the sizes name a block_size, a NumPy answer
        may load no more than so many elements of a row at once.
    memory: budget in bytes of memory that the answer may hold at once, from the case's sizes (NumPy answers); measured in
        the largest case, after the answer has been called before, so that what it imports does not count.
    sectors: budget in 32-byte sectors that the warps of all launches ask for, from the case's sizes (launchers).
    compiled: called with every launch as a CompiledKernel for an H100 (launchers); says what it lacks, or "".
    steps: how many roundings a result goes through; magnitude: the size of the terms that are added up to it
        (same arguments as `against`; without it, the expected result). An error may be
        8 x unit roundoff x sqrt(steps) x magnitude.
    returns: names of the results in messages. note: what the line says last when there is more to it than the counts.
    saving: for NumPy answers, how a budget is kept; what an answer that exceeds one reads instead of general advice.
    """
    answer_name = f"Exercise {exercise}"
    if outdated := cells.stale(exercise, functions_of(answer)):
        raise NotYet(outdated)
    refuse_blanks(answer_name, answer)
    trial = Trial(
        exercise, answer, against, moves, memory, sectors, compiled, steps, magnitude, tuple(returns), note, cases, saving
    )
    budgets = []
    try:
        for case in cases:
            budgets.append(trial.launch(case) if case.launcher else trial.call(case))
            trial.passed.append(case)
        if cases[-1].launcher:
            trial.launch_backwards(cases[-1])
            trial.launch_on_the_gpu(cases)
        if trial.no_whole_number:
            trial.label, said = trial.no_whole_number
            raise NotYet(f"The values are right, but {said}")
        measured = [within_budget() for within_budget in budgets]  # once all values are right
    except NotYet as wrong:
        raise NotYet(f"{answer_name} is not right yet: {trial.label}.\n  {_indent(str(wrong))}") from None
    print(f"{answer_name} passed: {_summary(cases, measured, note)}.")


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")


def _summary(cases: Sequence[Case], measured: Sequence[str], note: str) -> str:
    sizes = len({tuple(case.sizes.items()) or case.label for case in cases})
    words = f"{sizes} size{'s' * (sizes != 1)}" if any(case.sizes for case in cases) else f"{len(cases)} cases"
    if len(cases) > sizes and not any(case.strided for case in cases):
        words = f"{len(cases)} cases"
    if any(case.strided for case in cases):
        words += ", strided too"
    said = note or next((m for m in reversed(measured) if m), "")
    return words + (f"; {said}" if said else "")
