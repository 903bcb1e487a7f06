"""Concept questions: an answer is a letter, and each letter is answered with a line."""

from __future__ import annotations

import gzip
import hashlib
import json
import secrets
from pathlib import Path

from tiles import cells
from tiles.blanks import NotYet

QUESTIONS = Path(__file__).parent / "questions"


def choice(exercise: str, answer: str) -> None:
    """A concept question: print why the answer is right, or raise NotYet with what follows from the wrong one.

    answer: a letter; "C", " c" and "c)" are c as well.
    The questions of a lesson are in tiles/questions/LESSON.json: {"5.c1": {"salt", "digest", "why": {"a": "...", ...}}}.
    """
    if isinstance(answer, str) and answer == "______":
        raise NotYet(f'Exercise {exercise} still has a blank: write a letter, as in answer = "a".')
    if outdated := cells.stale(exercise):
        raise NotYet(outdated)
    if not isinstance(answer, str):
        raise NotYet(f'Exercise {exercise}: put the letter in quotes, as in "a".')
    question = _question(exercise)
    letters = sorted(question["why"])
    letter = answer.strip(" ()").lower()
    if letter not in letters:
        raise NotYet(f"Exercise {exercise}: the answer is one of the letters {', '.join(letters)}; yours is {answer!r}.")
    if _digest(question["salt"], letter) != question["digest"]:
        raise NotYet(f"Exercise {exercise} is not right yet.\n  {question['why'][letter]}")
    print(f"Exercise {exercise} passed: {question['why'][letter]}")


def seal(letter: str) -> dict[str, str]:
    """Salt and digest of a concept question's right letter, for the JSON file."""
    salt = secrets.token_hex(8)
    return {"salt": salt, "digest": _digest(salt, letter)}


def _digest(salt: str, letter: str) -> str:
    return hashlib.sha256(f"{salt}{letter}".encode()).hexdigest()


def _question(exercise: str) -> dict:
    lesson = f"{int(exercise.split('.')[0]):02d}_"
    for file in sorted(QUESTIONS.glob(f"{lesson}*.json*")):
        text = file.read_bytes()
        questions = json.loads(gzip.decompress(text) if file.suffix == ".gz" else text)  # packed in the student edition
        if exercise in questions:
            return questions[exercise]
    raise LookupError(f"no question {exercise} in tiles/questions/{lesson}*.json")
