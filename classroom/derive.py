"""Solution -> student's copy: answers become blanks; hidden checks and outputs go.

Three forms mark what the student has to write:

    m_new = np.maximum(m_i, s.max())  # ______ the running max      m_new = ______  # the running max
    # BEGIN SOLUTION: load, add, store                              ______  # write 3 lines: load, add, store
    ...
    # END SOLUTION
    mask = offs < n_elements  # ______ instead: offs <= n_elements  mask = offs <= n_elements

A mark at the end of a statement blanks the right-hand side of an assignment, what `return` returns, the condition of
`if` or `while`, what `for` runs over, or the whole of a bare call. Inside a call over several lines it blanks the keyword
argument that ends on its line. Whatever is doubtful is refused: a blank that was missed would ship the answer.

A lesson asks for predictions, so the copy holds no output: the student runs the cells. The pages of the book, where nobody
can run them, show those outputs that give no answer away.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import io
import json
import re
import subprocess
import tokenize
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenInfo

import nbformat
from nbformat import NotebookNode

from classroom.lesson import (
    CHECK,
    EXERCISE,
    HIDDEN,
    NOTEBOOKS,
    Lesson,
    LessonError,
    lesson_paths,
    read,
    role,
    tags,
    write_if_changed,
)

BLANK = "______"

_MARK = re.compile(r"#\s*_{6}(?!_)\s*(.*)$")
_UNDERSCORES = re.compile(r"_{4,}")
_INSTEAD = re.compile(r"^instead\s*:\s*(.*)$")
_BEGIN = re.compile(r"^#+\s*BEGIN SOLUTION\b\s*:?\s*(.*)$")
_END = re.compile(r"^#+\s*END SOLUTION\b")
_LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_OPEN, _CLOSE = {"(", "[", "{"}, {")", "]", "}"}

Position = tuple[int, int]  # (line from 1, column from 0, in characters)


class BlankError(LessonError):
    """A mark that cannot be turned into a blank without doubt."""


@dataclass(frozen=True)
class Edit:
    """Replace the text between two positions; `mark` is the comment that asked for it."""

    start: Position
    end: Position
    text: str
    comment: str
    mark: TokenInfo


@functools.lru_cache(maxsize=1000)
def student_source(source: str) -> str:
    """The student's form of an exercise cell. Raises BlankError, naming the line."""
    return _derived(source)[0]


def removed(source: str) -> list[str]:
    """The pieces of text that `student_source` takes out of an exercise cell: the answer."""
    return _derived(source)[1]


def blanks(source: str) -> list[int]:
    """The lines on which a blank is left, one entry a blank; works on source that does not parse."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        code = [line.split("#")[0] for line in source.split("\n")]
        return [number for number, line in enumerate(code, 1) for _ in re.findall(rf"(?<!\w){BLANK}(?!\w)", line)]
    return [token.start[0] for token in tokens if token.type == tokenize.NAME and token.string == BLANK]


def has_marks(source: str) -> bool:
    """Whether any comment asks for a blank: only those of exercise cells may."""
    try:
        comments = [token.string for token in _tokens(source) if token.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):
        comments = [line.strip() for line in source.split("\n")]
    return any(_MARK.search(comment) or _BEGIN.match(comment) or _END.match(comment) for comment in comments)


def _derived(source: str) -> tuple[str, list[str]]:
    _parse(source)
    if blanks(source):
        raise BlankError(
            f"line {blanks(source)[0]}: the solution itself holds a blank. Write the answer, and `# {BLANK} hint` behind it."
        )
    with_regions, regions = _blank_regions(source)
    edits = _edits(with_regions)
    expected = len(regions) + sum(edit.text == BLANK for edit in edits)
    if not regions and not edits:
        raise BlankError(f"nothing is blanked. Mark the answer with `# {BLANK} hint` or `# BEGIN SOLUTION` … `# END SOLUTION`.")
    student = _apply(with_regions, edits)
    _parse(student)
    if len(blanks(student)) != expected or has_marks(student):
        raise BlankError(
            f"{expected} blanks are marked and {len(blanks(student))} were made. Put each answer in a statement of its own."
        )
    return student, regions + [_text(with_regions, edit.start, edit.end) for edit in edits]


def _parse(source: str) -> ast.Module:
    for number, line in enumerate(source.split("\n"), 1):
        if line.startswith(("%", "!")):
            raise BlankError(
                f"line {number}: a cell with a magic command cannot be blanked. Move the magic to a cell of its own."
            )
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise BlankError(f"line {error.lineno}: this is not Python ({error.msg}).") from None


def _tokens(source: str) -> list[TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


def _stands_alone(token: TokenInfo, lines: list[str]) -> bool:
    return lines[token.start[0] - 1][: token.start[1]].strip() == ""


# Regions


def _blank_regions(source: str) -> tuple[str, list[str]]:
    """Each BEGIN … END region becomes one blank line; also the texts taken out."""
    lines = source.split("\n")
    out, taken, done, begin = [], [], 0, None
    for token in _tokens(source):
        if token.type != tokenize.COMMENT:
            continue
        opens, closes = _BEGIN.match(token.string), _END.match(token.string)
        line = token.start[0]
        if (opens or closes) and not _stands_alone(token, lines):
            raise BlankError(f"line {line}: put {token.string} on a line of its own.")
        if opens and begin:
            raise BlankError(f"line {line}: BEGIN SOLUTION inside the region that begins on line {begin[0]}. End that one first.")
        if closes and not begin:
            raise BlankError(f"line {line}: END SOLUTION without BEGIN SOLUTION.")
        if opens:
            begin = line, token.start[1], opens[1].strip()
        if closes:
            out += lines[done : begin[0] - 1] + [_region(lines[begin[0] : line - 1], begin, token.start[1])]
            taken.append("\n".join(lines[begin[0] : line - 1]))
            done, begin = line, None
    if begin:
        raise BlankError(f"line {begin[0]}: BEGIN SOLUTION without END SOLUTION.")
    return "\n".join(out + lines[done:]), taken


def _region(body: list[str], begin: tuple[int, int, str], end_column: int) -> str:
    line, column, hint = begin
    code = [text for text in body if text.strip() and not text.strip().startswith("#")]
    if not code:
        raise BlankError(f"line {line}: the region holds no code.")
    if end_column != column or len(code[0]) - len(code[0].lstrip()) != column:
        raise BlankError(f"line {line}: BEGIN SOLUTION, END SOLUTION and the code between must start in the same column.")
    if any(_MARK.search(text) for text in body):
        raise BlankError(f"line {line}: a `# {BLANK}` mark inside a region. The region is blanked as a whole: remove the mark.")
    count = f"write {len(code)} line{'s' if len(code) > 1 else ''}"
    return f"{' ' * column}{BLANK}  # {count}{': ' + hint if hint else ''}"


# Marks


def _edits(source: str) -> list[Edit]:
    """One edit a mark, in order. Raises BlankError for a doubtful one."""
    tree, tokens = ast.parse(source), _tokens(source)
    lines = source.split("\n")
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    edits = []
    for logical in _logical_lines(tokens):
        for mark in logical:
            if mark.type == tokenize.COMMENT and _is_mark(mark, lines):
                edits.append(_edit(mark, logical, statements, lines))
    edits.sort(key=lambda edit: edit.start)
    for first, second in zip(edits, edits[1:], strict=False):
        if second.start < first.end:
            raise BlankError(f"line {second.mark.start[0]}: this mark lies inside another blank. Remove one of the two.")
    return edits


def _is_mark(comment: TokenInfo, lines: list[str]) -> bool:
    """Whether a comment is a mark. Raises BlankError for a misspelt mark or one that belongs to no code."""
    line, match = comment.start[0], _MARK.search(comment.string)
    runs = _UNDERSCORES.findall(comment.string)
    if runs and (not match or len(runs) > 1 or _MARK.search(match[1])):
        raise BlankError(f"line {line}: `{comment.string}` is nearly a mark. Write `# {BLANK} hint`, with six underscores.")
    if match and _stands_alone(comment, lines):
        raise BlankError(f"line {line}: this mark stands alone. Put it behind the answer, on the line where that ends.")
    return bool(match)


def _logical_lines(tokens: list[TokenInfo]) -> list[list[TokenInfo]]:
    """Tokens grouped by statement line; a comment inside brackets or behind the code belongs to its statement."""
    groups, group = [], []
    for token in tokens:
        if token.type == tokenize.NEWLINE:
            groups.append(group)
            group = []
        elif token.type == tokenize.COMMENT and not any(t.type not in _LAYOUT for t in group):
            groups.append([token])
        else:
            group.append(token)
    return [*groups, group]


def _edit(mark: TokenInfo, logical: list[TokenInfo], statements: list[ast.stmt], lines: list[str]) -> Edit:
    line = mark.start[0]
    code = [token for token in logical if token.type not in _LAYOUT]
    begun = [node for node in statements if code and code[0].start <= _start(node, lines) <= code[-1].end]
    if any(token.string == ";" for token in code) or len(begun) > 1:
        raise BlankError(f"line {line}: two statements on one line. Give each its own line.")
    if not begun:
        raise BlankError(
            f"line {line}: nothing can be blanked here. Mark an assignment, a return, a call, an if, a while or a for."
        )
    first, last = _answer(mark, code, begun[0], lines)
    text, comment = _replacement(mark)
    return Edit(first.start, last.end, text, comment, mark)


def _replacement(mark: TokenInfo) -> tuple[str, str]:
    """The text that goes in the answer's place, and the comment that stays behind it."""
    match = _MARK.search(mark.string)
    before, hint = mark.string[: match.start()].rstrip(), match[1].strip()
    text = BLANK
    if instead := _INSTEAD.match(hint):
        text, hint = instead[1].strip(), ""
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            raise BlankError(
                f"line {mark.start[0]}: `{text}` is not an expression; after `instead:` comes the wrong answer."
            ) from None
    return text, "  ".join(filter(None, [before, f"# {hint}" if hint else ""]))


def _answer(mark: TokenInfo, code: list[TokenInfo], node: ast.stmt, lines: list[str]) -> tuple[TokenInfo, TokenInfo]:
    """The first and the last token that a mark blanks."""
    line = mark.start[0]
    before = [token for token in code if token.start < mark.start]
    if before and before[-1] is code[-1]:
        return _right_hand_side(line, code, node, lines)
    on_line = [token for token in before if token.end[0] == line]
    if not on_line:
        raise BlankError(f"line {line}: this mark stands alone. Put it behind the answer, on the line where that ends.")
    if on_line[0] is code[0] and on_line[-1].string in _OPEN and _closes_statement(on_line[-1], code):
        return _right_hand_side(line, code, node, lines)  # x = (  # ______ hint
    return _keyword_value(line, on_line, code, node, lines)


def _right_hand_side(line: int, code: list[TokenInfo], node: ast.stmt, lines: list[str]) -> tuple[TokenInfo, TokenInfo]:
    """What a whole statement computes, with the parentheses around it."""
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        return code[0], code[-1]
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
        value = _start(node.value, lines)
        last = [i for i, token in enumerate(code) if _is_assignment(token) and token.start < value and _depth(code, i) == 0][-1]
        return code[last + 1], code[-1]
    if isinstance(node, ast.Return) and node.value is not None:
        return code[1], code[-1]
    if isinstance(node, (ast.If, ast.While)) and code[-1].string == ":":
        return code[1], code[-2]
    if isinstance(node, ast.For) and code[-1].string == ":":
        value = _start(node.iter, lines)
        last = [i for i, token in enumerate(code) if token.string == "in" and token.start < value and _depth(code, i) == 0][-1]
        return code[last + 1], code[-2]
    raise BlankError(
        f"line {line}: a {type(node).__name__} statement cannot be blanked. Use `# BEGIN SOLUTION` … `# END SOLUTION`."
    )


def _keyword_value(line: int, on_line: list[TokenInfo], code: list[TokenInfo], node: ast.stmt, lines: list[str]):
    """The value of the one keyword argument that ends on a line inside a call."""
    header_end = code[-1].end
    keywords = [k for k in ast.walk(node) if isinstance(k, ast.keyword) and k.arg and _end(k, lines) <= header_end]
    begins = {token.start: i for i, token in enumerate(code)}
    ending = []
    for at in sorted(begins[start] for keyword in keywords if (start := _start(keyword, lines)) in begins):
        last = _last_of_argument(code, at + 2)
        if code[last].end[0] == line:
            ending.append((at, last))
    outer = [one for one in ending if not any(other[0] < one[0] and one[1] <= other[1] for other in ending)]
    if len(outer) != 1:
        count = "no keyword argument ends" if not outer else f"{len(outer)} keyword arguments end"
        raise BlankError(
            f"line {line}: {count} here. Inside a call over several lines, a mark blanks the one `name=value` on its line."
        )
    at, last = outer[0]
    if any(token.start >= code[last].end and token.string != "," for token in on_line):
        raise BlankError(f"line {line}: more follows the keyword argument on this line. Give it a line of its own.")
    return code[at + 2], code[last]


def _last_of_argument(code: list[TokenInfo], start: int) -> int:
    """The index of the last token of the argument that begins at `start`."""
    depth = 0
    for i in range(start, len(code)):
        text = code[i].string
        if depth == 0 and (text == "," or text in _CLOSE):
            return i - 1
        depth += (text in _OPEN) - (text in _CLOSE)
    return len(code) - 1


def _is_assignment(token: TokenInfo) -> bool:
    return token.type == tokenize.OP and token.string.endswith("=") and token.string not in {"==", "!=", "<=", ">=", ":="}


def _depth(code: list[TokenInfo], index: int) -> int:
    return sum((token.string in _OPEN) - (token.string in _CLOSE) for token in code[:index])


def _closes_statement(opening: TokenInfo, code: list[TokenInfo]) -> bool:
    """Whether a bracket is closed by the last token of the statement (a header's colon left aside)."""
    body = code[:-1] if code[-1].string == ":" else code
    depth = 0
    for token in body[next(i for i, token in enumerate(body) if token is opening) :]:
        depth += (token.string in _OPEN) - (token.string in _CLOSE)
        if depth == 0:
            return token is body[-1]
    return False


def _start(node: ast.AST, lines: list[str]) -> Position:
    """Where a node starts, in characters (`ast` counts UTF-8 bytes)."""
    return node.lineno, len(lines[node.lineno - 1].encode()[: node.col_offset].decode())


def _end(node: ast.AST, lines: list[str]) -> Position:
    return node.end_lineno, len(lines[node.end_lineno - 1].encode()[: node.end_col_offset].decode())


def _apply(source: str, edits: list[Edit]) -> str:
    lines = source.split("\n")
    for edit in reversed(edits):
        (first, left), (last, right) = edit.start, edit.end
        head, tail = lines[first - 1][:left], lines[last - 1][right:]
        if edit.mark.start[0] == last and edit.mark.start[1] >= right:
            tail = lines[last - 1][right : edit.mark.start[1]]
        line = f"{head}{edit.text}{tail}".rstrip()
        lines[first - 1 : last] = [f"{line}  {edit.comment}".rstrip()]
    return "\n".join(lines)


def _text(source: str, start: Position, end: Position) -> str:
    lines = source.split("\n")[start[0] - 1 : end[0]]
    lines[-1] = lines[-1][: end[1]]
    lines[0] = lines[0][start[1] :]
    return "\n".join(lines)


# Notebooks


def student_notebook(lesson: Lesson, outputs: bool = False) -> NotebookNode:
    """The student's copy of a solved lesson. Raises BlankError, naming the notebook and the cell.

    outputs: keep what the cells print, as a page of the book needs it; but not what a right answer prints.
    """
    copy_ = copy.deepcopy(lesson.notebook)
    copy_.cells = [
        _student_cell(cell, f"{lesson.path}, cell {n + 1}", outputs)
        for n, cell in enumerate(copy_.cells)
        if role(cell)[0] != HIDDEN
    ]
    copy_.metadata["tiles"] = {"derived": _digest(copy_)}
    return copy_


def _student_cell(cell: NotebookNode, where: str, outputs: bool) -> NotebookNode:
    if cell.cell_type != "code":
        return cell
    kind, _ = role(cell)
    if kind == EXERCISE:
        try:
            cell.source = student_source(cell.source)
        except BlankError as error:
            raise BlankError(f"{where}: {error}") from None
    elif has_marks(cell.source):
        raise BlankError(
            f"{where}: only a cell with an exercise tag is blanked; this one would ship its answer. Tag it, or remove the mark."
        )
    if not outputs or kind in (EXERCISE, CHECK) or "solution-output" in tags(cell):
        cell.outputs = []
    cell.execution_count = None
    for output in cell.outputs:
        if "execution_count" in output:
            output.execution_count = None
    return cell


def _digest(notebook: NotebookNode) -> str:
    """A fingerprint of a copy; tells one that is as it was derived from one that somebody has worked in."""
    metadata = {key: value for key, value in notebook.metadata.items() if key != "tiles"}
    return hashlib.sha256(json.dumps([notebook.cells, metadata], sort_keys=True).encode()).hexdigest()[:16]


def derived_text(path: Path) -> str:
    """The bytes that the student's copy of `solutions/NAME.ipynb` must have. Raises LessonError."""
    from classroom.execute import dumps

    return dumps(student_notebook(read(path)))


def secrets(lesson: Lesson, at_least: int = 12) -> list[str]:
    """Answers and hidden checks of a lesson, as pieces of text that must stand nowhere in what students receive.

    Pieces under `at_least` characters say nothing; a piece that the lesson itself shows elsewhere is no secret.
    """
    given = "\n".join(cell.source for cell in student_notebook(lesson).cells)
    answers = [
        line.strip()
        for exercise in lesson.exercises.values()
        for text in removed(exercise.answer.source)
        for line in text.splitlines()
    ]
    return [line for line in dict.fromkeys(answers + lesson.hidden_lines) if len(line) >= at_least and line not in given]


def write_notebooks(root: Path, names: list[str] | None = None, force: bool = False) -> list[tuple[Path, str]]:
    """Derive the students' copies; returns (copy, "written" | "unchanged" | "modified") for each lesson.

    A copy that somebody has worked in, and that git does not hold as it is, is left alone unless `force`.
    All lessons are derived before the first one is written. Raises LessonError.
    """
    texts = {root / NOTEBOOKS / path.name: derived_text(path) for path in lesson_paths(root, names)}
    results = []
    for path, text in texts.items():
        if not force and _would_lose_work(path, text):
            results.append((path, "modified"))
        else:
            results.append((path, "written" if write_if_changed(path, text) else "unchanged"))
    return results


def check_notebooks(root: Path) -> list[str]:
    """What is out of step between `solutions/` and `notebooks/`: one sentence each, none when all is well. Raises LessonError."""
    from classroom.execute import check_canonical

    paths = lesson_paths(root)
    problems = [problem for path in paths for problem in check_canonical(path)]
    for path in paths:
        copy_ = root / NOTEBOOKS / path.name
        if not copy_.exists() or copy_.read_text(encoding="utf-8") != derived_text(path):
            problems.append(f"{NOTEBOOKS}/{path.name} is not in step with its solution. Run `make notebooks`.")
    known = {path.name for path in paths}
    for extra in sorted((root / NOTEBOOKS).glob("[!.]*.ipynb")):
        if extra.name not in known:
            problems.append(f"{NOTEBOOKS}/{extra.name} has no solution. Remove it, or add the solution.")
    return problems


def _would_lose_work(path: Path, text: str) -> bool:
    """Whether writing `text` would destroy what somebody did and git does not hold."""
    return path.exists() and path.read_text(encoding="utf-8") != text and _worked_in(path) and not _held_by_git(path)


def _worked_in(path: Path) -> bool:
    """Whether a copy differs from how it was derived, by so much as one byte."""
    from classroom.execute import dumps

    try:
        text = path.read_text(encoding="utf-8")
        notebook = nbformat.reads(text, as_version=4)
        return notebook.metadata["tiles"]["derived"] != _digest(notebook) or dumps(notebook) != text
    except Exception:
        return True


def _held_by_git(path: Path) -> bool:
    """Whether git tracks the file and shows no change: overwriting it then loses nothing."""
    try:
        tracked = subprocess.run(["git", "ls-files", "--error-unmatch", path.name], cwd=path.parent, capture_output=True)
        changed = subprocess.run(["git", "status", "--porcelain", "--", path.name], cwd=path.parent, capture_output=True)
    except OSError:
        return False
    return tracked.returncode == 0 and changed.returncode == 0 and not changed.stdout.strip()
