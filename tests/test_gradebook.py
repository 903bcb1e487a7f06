"""The gradebook: who gets which points, under which name, and what the pages say to whom."""

from __future__ import annotations

import csv
import http.server
import json
import random
import re
import stat
import subprocess
import threading
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from sample_lesson import NAME, lesson_notebook

from classroom import gradebook, report
from classroom.grade import Attempt
from classroom.gradebook import Policy, attempt_file, output_name, write_gradebook
from classroom.lesson import LessonError

POINTS = {"5.1": 2, "5.2": 1, "5.3": 1, "5.c1": 1}
DEADLINE = datetime(2026, 11, 2, 22, 59, tzinfo=timezone.utc)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><style>*{display:none}</style>{{ 7 * 7 }}"
BIDI = "safe\u202egpj.exe\u2066 \x1b[31m\x07\u200b\u2028\x85"


@pytest.fixture(scope="module")
def solutions(tmp_path_factory):
    """Two lessons with titles; 06_other is 05_sample under another number."""
    folder = tmp_path_factory.mktemp("course") / "solutions"
    folder.mkdir()
    notebook = lesson_notebook()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace("### Exercise 5.1", "### Exercise 5.1: shifted <b>scores</b>")
    nbformat.write(notebook, folder / f"{NAME}.ipynb")
    other = nbformat.reads(re.sub(r"(?<![\d.])5\.(?=c?\d)", "6.", nbformat.writes(notebook)), as_version=4)
    nbformat.write(other, folder / "06_other.ipynb")
    return folder


class Class:
    """Made-up attempts, written as a grader writes them."""

    def __init__(self, solutions: Path, out: Path):
        self.solutions, self.out, self.attempts = solutions, out, []

    def hands_in(self, student, passed="", days=-1.0, lesson=NAME, message="", ungraded=None) -> Attempt:
        """An attempt; passed: the exercises that pass, such as "5.1 5.3"; days: after the deadline."""
        exercises = []
        for id_, points in POINTS.items():
            right = id_ in passed.split()
            told = "" if right else message or f"Exercise {id_} is not right yet: n = 3.\n  Yours equals x."
            exercise = {"exercise": id_.replace("5.", f"{int(lesson[:2])}."), "passed": right, "score": points * right}
            exercises.append({**exercise, "max": points, "message": told})
        handed_in = DEADLINE + timedelta(days=days)
        digest = f"{len(self.attempts):016x}"
        attempt = Attempt(student, self.solutions / f"{lesson}.ipynb", Path("x", f"{lesson}.ipynb"), handed_in, digest)
        score = sum(exercise["score"] for exercise in exercises)
        record = {"student": student, "lesson": lesson, "score": score, "max": 5, "exercises": exercises}
        path = attempt_file(self.out, attempt)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record | {"fingerprint": "f", "ungraded": ungraded}), encoding="utf-8")
        self.attempts.append(attempt)
        return attempt

    def grades(self, **policy) -> dict[str, dict[str, str]]:
        """The rows of grades.csv by student."""
        write_gradebook(self.out, self.attempts, Policy(**policy))
        with (self.out / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def result(self, student, lesson=NAME) -> dict:
        return json.loads((self.out / "results" / output_name(student) / f"{lesson}.json").read_text(encoding="utf-8"))

    def feedback(self, student) -> str:
        return (self.out / "feedback" / f"{output_name(student)}.html").read_text(encoding="utf-8")

    def report(self) -> str:
        return (self.out / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def group(solutions, tmp_path):
    return Class(solutions, tmp_path / "gradebook")


def text_of(page: str) -> str:
    """What one reads on a page, one space between words."""
    seen = Seen(page)
    return " ".join(" ".join(seen.text).split())


class Seen(HTMLParser):
    """A page as a browser takes it in: tags, attributes, the text outside <style>."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: Counter = Counter()
        self.attributes, self.text, self._style = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._style = tag == "style"

    def handle_endtag(self, tag):
        self._style = False

    def handle_data(self, data):
        if not self._style:
            self.text.append(data)


# ---- who gets which points


def test_grades(group):
    group.hands_in("ada", "5.1 5.2 5.3 5.c1")
    group.hands_in("ada", "5.1", lesson="06_other")
    group.hands_in("ben", "5.1 5.c1")
    grades = group.grades()
    assert list(grades["ada"]) == [
        *["student", NAME, "06_other", "score", "max"],
        *[f"{lesson} {number}.{rest}" for lesson, number in ((NAME, 5), ("06_other", 6)) for rest in ("1", "2", "3", "c1")],
    ]
    assert list(grades["ada"].values()) == ["ada", "5", "2", "7", "10", "2", "1", "1", "1", "2", "0", "0", "0"]
    assert list(grades["ben"].values()) == ["ben", "3", "", "3", "10", "2", "0", "0", "1", "", "", "", ""]
    documented = ["student", "lesson", "score", "max", "exercises"]
    assert list(group.result("ben"))[:5] == documented
    assert [group.result("ben")[key] for key in documented[:4]] == ["ben", NAME, 3, 5]
    assert group.result("ben")["exercises"][0] == {"exercise": "5.1", "passed": True, "score": 2, "max": 2, "message": ""}
    assert "06 Sample : 1 student" in text_of(group.report()) or "06 Sample: 1 student" in text_of(group.report())


@pytest.mark.parametrize(
    "days, cost, points, days_late",
    [
        *[(0, 0.1, 5, 0), (1e-5, 0.1, 4.5, 1), (1, 0.1, 4.5, 1), (1.01, 0.1, 4, 2), (30, 0.1, 0, 30)],
        *[(2.5, 0, 5, 3), (0.5, 0.033, 4.83, 1), (0.5, 1, 0, 1)],
    ],
)
def test_lateness(group, days, cost, points, days_late):
    group.hands_in("ada", "5.1 5.2 5.3 5.c1", days)
    assert float(group.grades(deadlines={NAME: DEADLINE}, late_per_day=cost)["ada"]["score"]) == points
    result = group.result("ada")
    assert result["score"] == points and (result["late"] or {"days": 0})["days"] == days_late
    assert ("after the deadline" in text_of(group.feedback("ada"))) == (days_late > 0)
    assert group.grades()["ada"]["score"] == "5"  # without a deadline


def test_the_best_attempt_is_the_best_after_lateness(group):
    early = group.hands_in("ada", "5.1 5.2", -1)
    late = group.hands_in("ada", "5.1 5.2 5.3 5.c1", 3.5)
    options = {"deadlines": {NAME: DEADLINE}}
    assert group.grades(**options, late_per_day=0.2)["ada"]["score"] == "3"
    assert group.result("ada")["attempt"] == early.digest
    assert [attempt["score"] for attempt in group.result("ada")["attempts"]] == [3, 1]
    assert group.grades(**options, late_per_day=0.05)["ada"]["score"] == "4"
    assert group.result("ada")["attempt"] == late.digest
    assert group.grades(**options, late_per_day=0.2, keep="last")["ada"]["score"] == "1"
    assert "2 attempts; the last one counts" in text_of(group.feedback("ada"))


def test_of_equal_attempts_the_earlier_counts(group):
    group.hands_in("ada", "5.1", -1)
    first = group.hands_in("ada", "5.2 5.3", -2)
    assert group.grades()["ada"]["score"] == "2" and group.result("ada")["attempt"] == first.digest


def test_an_attempt_that_could_not_be_graded_counts_nothing(group):
    group.hands_in("ada", "5.1", -2)
    group.hands_in("ada", "", -1, ungraded="the grader failed at secret_input = 7")
    group.hands_in("ben", "", ungraded="the grader failed", message="could not be graded (KeyError: secret_input)")
    lost = group.hands_in("cem", "5.1")
    attempt_file(group.out, lost).write_text('{"exercises": [', encoding="utf-8")
    grades = group.grades()
    assert [grades[student][NAME] for student in ("ada", "ben", "cem")] == ["2", "", ""]
    assert [grades[student]["score"] for student in ("ada", "ben", "cem")] == ["2", "0", "0"]
    assert grades["ben"][f"{NAME} 5.1"] == "" and group.result("ben")["ungraded"] == "the grader failed"
    assert "secret_input" in text_of(group.report()) and gradebook.NOT_GRADED_YET in text_of(group.report())
    assert not any("secret_input" in group.feedback(student) for student in grades)
    assert "your instructor sees it" in text_of(group.feedback("ben"))
    assert group.grades(keep="last")["ada"][NAME] == ""


def test_roster_and_missing(group):
    group.hands_in("ada", "5.1")
    group.hands_in("zed", "5.1")
    group.attempts.append(Attempt("ada", None, Path("x/home<work>.ipynb"), DEADLINE, "0"))
    grades = group.grades(roster={"ada": "Ada L.", "ben": "=1+1"}, deadlines={"06_other": DEADLINE})
    assert list(grades) == ["ada", "ben", "zed"]
    assert list(grades["ben"].values())[:6] == ["ben", "'=1+1", "", "", "0", "10"]
    page = text_of(group.report())
    assert "Nothing handed in: 1 student ben ( =1+1 )" in page and "Graded all the same: 1 student zed" in page
    assert "home<work>.ipynb" in page and "home<work>.ipynb : no lesson has this name" in text_of(group.feedback("ada"))
    assert "06 Sample : not handed in. The deadline is" in text_of(group.feedback("ben"))
    assert not (group.out / "results" / "ben").exists()


def test_a_second_run_changes_nothing_and_what_is_gone_goes(group):
    for student in ("ada", "ben"):
        group.hands_in(student, "5.1")
        group.hands_in(student, "5.1", lesson="06_other")
    group.grades()
    mine = [group.out / "results" / "ben" / "notes.json", group.out / "feedback" / "mine.html"]
    for path in mine:
        path.write_text("{}", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in group.out.rglob("*")}
    group.grades()
    assert {path: path.stat().st_mtime_ns for path in group.out.rglob("*")} == before
    group.attempts = [attempt for attempt in group.attempts if attempt.student == "ada" and attempt.lesson.stem == NAME]
    group.grades()
    left = {path.relative_to(group.out).as_posix() for path in before if path.is_file() and path.exists()}
    pages = {"grades.csv", "report.html", f"results/ada/{NAME}.json", "feedback/ada.html"}
    assert {path for path in left if not path.startswith("attempts")} == pages | {"results/ben/notes.json", "feedback/mine.html"}
    assert len([path for path in left if path.startswith("attempts")]) == 4


@pytest.mark.parametrize("policy", [{"keep": "first"}, {"late_per_day": 10}, {"late_per_day": -0.1}])
def test_a_policy_that_means_nothing(policy):
    with pytest.raises(LessonError, match="say best or last|give a fraction"):
        Policy(**policy)


# ---- what the instructor hands in


@pytest.fixture
def in_berlin(monkeypatch):
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone of a process can be set on POSIX alone")
def test_deadlines(solutions, tmp_path, in_berlin):
    table = tmp_path / "deadlines.csv"
    table.write_text("\ufeffDeadline;lesson;room\n2026-11-02T23:59;05;1\n2026-07-01 12:00;6;2\n\n", encoding="utf-8")
    root = solutions.parent
    read = gradebook.read_deadlines([str(table)], root)
    assert {name: when.astimezone(timezone.utc).isoformat() for name, when in read.items()} == {
        NAME: "2026-11-02T22:59:00+00:00",
        "06_other": "2026-07-01T10:00:00+00:00",
    }
    assert gradebook.read_deadlines([str(table), "05=2026-11-02T23:59Z"], root)[NAME] == DEADLINE + timedelta(hours=1)
    day = gradebook.read_deadlines(["05_sample=2026-11-02"], root)[NAME]
    assert day + timedelta(microseconds=1) == datetime(2026, 11, 2, 23, tzinfo=timezone.utc)
    assert report.moment(day) == "2026-11-02 23:59 (UTC+01:00)"


@pytest.mark.parametrize(
    "value, words",
    [
        ("05=2.11.2026", "'2.11.2026' is no time. Write 2026-11-02T23:59"),
        ("05=", "is no time"),
        ("17=2026-11-02", "No lesson is called 17"),
        ("nowhere.csv", "cannot be read"),
    ],
)
def test_deadlines_that_cannot_be_read(solutions, value, words):
    with pytest.raises(LessonError, match=re.escape(words)):
        gradebook.read_deadlines([value], solutions.parent)


def test_roster(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(
        '\ufeffName,E-mail,Student\r\n"Lovelace, Ada",a@x,ada\r\n,,\r\nJose,j@x,jose\u0301\r\nx,y,ben', encoding="utf-8"
    )
    assert gradebook.read_roster(path) == {"ada": "Lovelace, Ada", "jos\xe9": "Jose", "ben": "x"}
    for text, words in (("name\nada", "no column student"), ("student\nada\nada", "line 3: ada"), ("student\n", "names no")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(LessonError, match=words):
            gradebook.read_roster(path)
    path.write_bytes("student\njos\xe9".encode("cp1252"))
    with pytest.raises(LessonError, match="in UTF-8"):
        gradebook.read_roster(path)


# ---- names


NAMES = [
    *"ada Ada ADA \u0430da ad\u0430 ada~99a563ab2f6e ada. .. . ../x ..\\x a/b /etc CON con nul.txt com1 -rf ~ %2e%2e a:b".split(),
    *"<script> =cmd|'/C 王小明 \u202egpj 😀 ada@uni.edu s1234567 a+b zo\u200be zoe".split(),
    *["", " ada", "ada ", "\n", "a\nb", "a\rb", "a\x01b", "x" * 64, "x" * 65, "x" * 5000, "x" * 4999 + "y"],
]


def test_names_of_files_are_safe_and_never_meet():
    names = {student: output_name(student) for student in NAMES}
    assert len({name.casefold() for name in names.values()}) == len(NAMES)
    for name in names.values():
        assert re.fullmatch(r"[a-z0-9][a-z0-9._@+~-]{0,63}", name) and not name.endswith((".", "~"))
        assert not re.fullmatch(r"(con|nul|com1)(\..*)?", name)
    assert [names[student] for student in ("ada", "ada@uni.edu", "s1234567")] == ["ada", "ada@uni.edu", "s1234567"]
    assert output_name("jose\u0301") == output_name("jos\xe9") and output_name("Jos\xe9").startswith("jose~")
    with pytest.raises(LessonError, match="not UTF-8. Rename it"):
        output_name("ada\udcff")


def test_names_stay_in_the_gradebook(group):
    for student in NAMES:
        group.hands_in(student, "5.1")
    group.grades()
    inside = {path.relative_to(group.out).parts[0] for path in group.out.rglob("*")}
    assert inside == {"attempts", "results", "feedback", "grades.csv", "report.html"}
    assert [path.name for path in group.out.parent.iterdir()] == ["gradebook"]
    assert len(list(group.out.glob("feedback/*.html"))) == len(list(group.out.glob("results/*/*.json"))) == len(NAMES)
    links = {value for tag, name, value in Seen(group.report()).attributes if name == "href" and not value.startswith("#")}
    assert links == {f"feedback/{path.name.replace('@', '%40').replace('+', '%2B')}" for path in group.out.glob("feedback/*")}


@pytest.mark.parametrize("student", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "x;=1+1", 'x"\n=1+1', "x\r=1"])
def test_no_cell_of_the_table_is_a_formula(group, student):
    group.hands_in(student, "5.1")
    assert list(group.grades())[0].removeprefix("'") == student
    line = (group.out / "grades.csv").read_text(encoding="utf-8").split("\n", 1)[1]
    assert not line.lstrip('"').startswith(("=", "+", "-", "@", "\t", "＝"))
    for separator in ";\t":  # as a spreadsheet of another country reads it
        cells = [cell for row in csv.reader(line.splitlines(True), delimiter=separator) for cell in row]
        assert not any(cell.startswith("=") for cell in cells)


def test_pseudonyms(group):
    students = ["ada", "Ben <b>", "=cem", "'dora", "eve\nx\r", "jos\xe9"]
    ids = gradebook.pseudonyms(group.out, students)
    path = group.out / gradebook.NAMES
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(set(ids.values())) == 6 and all(re.fullmatch("[b-z]{6}", id_) for id_ in ids.values())
    path.chmod(0o644)
    more = gradebook.pseudonyms(group.out, [*students, "fay", "jose\u0301"])
    assert {student: more[student] for student in students} == ids and more["jose\u0301"] == ids["jos\xe9"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert gradebook.pseudonyms(group.out, ["ada"]) == {"ada": ids["ada"]}
    assert gradebook.pseudonyms(group.out, ["fay"]) == {"fay": more["fay"]}
    assert gradebook.pseudonyms(group.out.parent / "another", ["ada"]) != {"ada": ids["ada"]}
    path.write_text(path.read_text(encoding="utf-8").replace(ids["ada"], ids["=cem"]), encoding="utf-8")
    with pytest.raises(LessonError, match="another student has it"):
        gradebook.pseudonyms(group.out, ["ada"])


def test_an_anonymous_gradebook_has_names_in_one_place(group, tmp_path):
    secret = ["ada-secret", "Ben Secret"]
    policy = Policy(roster={secret[0]: "Ada Secret", "cem-secret": "Cem Secret"})
    found = [
        Attempt(secret[0], group.solutions / f"{NAME}.ipynb", Path("ada-secret.ipynb"), DEADLINE, "0"),
        Attempt(secret[1], None, Path("ben-secret.ipynb"), DEADLINE, "1"),
    ]
    attempts, policy = gradebook.anonymised(group.out, found, policy)
    assert [attempt.digest for attempt in sorted(attempts, key=lambda attempt: attempt.digest)] == ["0", "1"]
    write_gradebook(group.out, attempts, policy)
    texts = {path.name: path.read_text(encoding="utf-8") + str(path) for path in group.out.rglob("*") if path.is_file()}
    assert [name for name, text in texts.items() if "secret" in text.lower().replace(str(tmp_path).lower(), "")] == ["names.csv"]
    assert len(list(group.out.glob("feedback/*.html"))) == 3


# ---- what the pages say


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("1 of 128 values differ; first at index 3: yours 0.5", "7 of 9 values differ; first at index 12: yours nan", True),
        ("x has shape (3, 4)", "x has shape (5, 1,024, 7)", True),
        ("NameError: name 'foo' is not defined", "NameError: name 'Bar_2' is not defined", True),
        ("line 7, `m = a + b`: overflow", "line 12, `q = np.exp(x)`: overflow", True),
        ("Exercise 5.1 is not right yet: n = 3.\n  No.", "Exercise 5.1 is not right yet: n = 8, large.\n  No.", True),
        ("There x = [-0.1, 2e-05, -inf].", "There x = [7].", True),
        ("The sign is flipped.", "Yours equals x.", False),
        ("float16 overflows", "float32 overflows", False),
        ("the program's mask is the student's", "the program's store is the student's", False),
        ("Exercise 5.1 is not right yet.", "Exercise 5.1: the answer is one of the letters", False),
    ],
)
def test_messages_that_differ_in_numbers_and_quoted_names_are_one(one, other, same):
    assert (report.pattern(one) == report.pattern(other)) == same


def test_the_report_counts_states_and_messages(group):
    flipped = "Exercise 5.1 is not right yet: n = {}.\n  {} of {} values differ.\n  The sign is flipped."
    for number, student in enumerate("abcde"):
        group.hands_in(student, "5.2 5.3", message=flipped.format(number, number, number + 5))
    group.hands_in("f", "5.1 5.2 5.3 5.c1")
    group.hands_in("g", "5.2", message="not written yet: 2 blanks left: line 7, `m = ______`")
    group.hands_in("h", "5.2", message="could not be graded (OSError: x)")
    group.grades(roster=dict.fromkeys("abcdefghi", ""))
    page = text_of(group.report())
    assert "8 of 9 students handed something in" in page and "14 % 5.1" in page
    assert "5.1 shifted <b>scores</b>: 5 not yet, 5 of them alike 5 students Exercise 5.1 is not right yet: n = 0." in page
    assert page.count("The sign is flipped.") == 2  # one sample for 5.1, one for 5.c1
    cells = re.findall(r"<tr><th class=\"student\">.*?(?=<tr>|</tbody>)", group.report(), re.DOTALL)
    assert [Counter(re.findall(r"<td class=(\w)>", row)) for row in (cells[0], cells[-1])] == [Counter(p=4), Counter(m=4)]
    assert len(cells) == 9 and sum(row.count("<td class=u>?") for row in cells) == 3


def test_feedback_says_what_to_do_next(group):
    group.hands_in("ada", "5.1", message="not written yet")
    group.hands_in("ben", "5.1 5.2 5.3 5.c1")
    group.hands_in("cem", "5.2", message="Exercise 5.1 is not right yet: n = 3.\n  a   b\n\tc")
    group.grades()
    assert "1 of 4 exercises passed. Go on with 5.2 , 5.3 , 5.c1 ." in text_of(group.feedback("ada"))
    assert "Nothing: every exercise is passed." in text_of(group.feedback("ben"))
    assert "<pre>Exercise 5.1 is not right yet: n = 3.\n  a   b\n\tc</pre>" in group.feedback("cem")
    assert "× not yet, 0 of 2 points" in text_of(group.feedback("cem"))
    anchors = {value for _, name, value in Seen(group.feedback("ada")).attributes if name == "id"}
    links = {value[1:] for _, name, value in Seen(group.feedback("ada")).attributes if name == "href"}
    assert links and links <= anchors


def hostile_class(group, students=8) -> list[Path]:
    """A class whose names and messages attack the pages; returns the report and a page of feedback."""
    group.hands_in(HOSTILE, "5.2", message=f"its check raised {HOSTILE}{BIDI}\udc80", days=3)
    group.hands_in(HOSTILE, "5.3", message=HOSTILE, ungraded=HOSTILE)
    group.hands_in(BIDI, "5.1", message="x" * 1500)
    for number in range(students):
        group.hands_in(f"s{number}", "5.1")
    group.attempts.append(Attempt(HOSTILE, None, Path(f"{HOSTILE.replace('/', '')}.ipynb"), DEADLINE, "0"))
    group.grades(roster={HOSTILE: HOSTILE, "absent": BIDI}, deadlines={NAME: DEADLINE}, late_per_day=0.1)
    return [group.out / "report.html", group.out / "feedback" / f"{output_name(HOSTILE)}.html"]


def test_pages_are_safe(group):
    pages = hostile_class(group)
    assert group.result(HOSTILE)["exercises"][0]["message"].endswith(f"{BIDI}\udc80")
    for path in pages:
        text = path.read_text(encoding="utf-8")
        page = Seen(text)
        assert {"script", "img", "link", "iframe", "svg", "object", "form", "base"}.isdisjoint(page.tags)
        assert page.tags["style"] == 1
        assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("src", "srcset", "background")]
        assert all(value.startswith(("#", "feedback/")) for _, name, value in page.attributes if name == "href")
        assert re.search(r'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src', text)
        assert text.index("Content-Security-Policy") < text.index("<title>")
        assert "url(" not in text and "@import" not in text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", text)
        assert HOSTILE in "".join(page.text) and "\\u202e" in text and "\\udc80" in text and "\\x1b[31m" in text


def test_colours_can_be_read():
    css = (report.PAGES / "base.html").read_text(encoding="utf-8")
    themes = re.findall(r":root \{(.*?--paper.*?)\}", css, re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+);", theme)) for theme in themes[:2])
    inks = {"passed": "#fff", "not-yet": "#000", "blank": "#000", "ungraded": "#000"}
    for theme in (light, {**light, **dark}):
        pairs = [(theme[ink], theme[paper]) for ink in ("ink", "soft", "link") for paper in ("paper", "card")]
        pairs += [(ink, theme[state]) for state, ink in inks.items()]
        assert min(contrast(*pair) for pair in pairs) >= 4.5


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, after WCAG 2."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
        channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_report_of_a_large_class_stays_small(group):
    random_ = random.Random(1)
    for number in range(500):
        passed = [id_ for id_ in POINTS if random_.random() < 0.6]
        wrong = f"  first at index {number}: {random_.choice('abc') * 3}"
        group.hands_in(f"student-{number:03}", " ".join(passed), message=wrong)
    book = gradebook.gather(group.out, group.attempts, Policy())
    assert len(report.report_html(book)) < 200_000


# ---- in a browser


class Recorder(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and remembers what was asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *args):
        pass


def opened(browser: str, folder: Path, page: str, profile: Path) -> tuple[list[str], list[str]]:
    """What a browser asks for, and what its console says, when it opens a page of a folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: Recorder(*args, directory=str(folder)))
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    options += ["--enable-logging=stderr", "--log-level=0"]
    address = f"http://127.0.0.1:{server.server_port}/{page}"
    try:
        done = subprocess.run([browser, *options, "--dump-dom", address], capture_output=True, text=True, timeout=60)
    finally:
        server.shutdown()
        server.server_close()
    assert "</html>" in done.stdout, done.stderr
    return server.asked, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_pages_ask_for_nothing_in_a_browser(group, chromium, tmp_path):
    for path in hostile_class(group):
        page = path.relative_to(group.out).as_posix()
        asked, said = opened(chromium, group.out, page, tmp_path / "profile")
        assert asked[0] == f"/{page}" and set(asked[1:]) <= {"/favicon.ico"} and said == []


def test_a_browser_would_tell(chromium, tmp_path):
    (tmp_path / "page.html").write_text("<!doctype html><img src=x><script>console.log('here')</script>", encoding="utf-8")
    asked, said = opened(chromium, tmp_path, "page.html", tmp_path / "profile")
    assert "/x" in asked and any("here" in line for line in said)
