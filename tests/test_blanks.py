"""Blanks are found without running anything, wherever a student can leave one."""

import subprocess
import sys

import triton
import triton.language as tl

from tiles.blanks import blank_message, blanks_of, python_function


def left(x):
    m_new = ______  # the running max
    return [m_new for _ in range(______)]


def calls_left(x):
    return left(x) + 1


@triton.jit
def helper(x):
    return x * ______


@triton.jit
def kernel(x_ptr, BLOCK_SIZE: tl.constexpr):
    offs = tl.arange(0, BLOCK_SIZE)
    tl.store(x_ptr + offs, helper(offs))


tuned = triton.autotune(configs=[triton.Config({"BLOCK_SIZE": 16})], key=[])(kernel)


def launcher(x):
    tuned[(1,)](x)


def closes_over(function):
    def inner(x):
        return function(x)

    return inner


def texts(thing):
    return [blank.text for blank in blanks_of(thing)]


def test_every_blank_of_a_function():
    assert texts(left) == ["m_new = ______  # the running max", "return [m_new for _ in range(______)]"]


def test_blanks_of_what_a_function_names():
    assert texts(calls_left) == texts(closes_over(left)) == texts(left)
    assert texts(kernel) == texts(tuned) == texts(launcher) == texts(closes_over(launcher)) == ["return x * ______"]


def test_what_has_no_blanks():
    assert blanks_of(python_function) == blanks_of(3) == blanks_of(None) == blanks_of(len) == []


def test_the_message_gives_line_and_text():
    said = blank_message("Exercise 5.3", blanks_of(left))
    line = left.__code__.co_firstlineno + 1
    assert said.startswith(f"Exercise 5.3 still has 2 blanks: line {line}, `m_new = ______`; line {line + 1}, `return [")


def in_jupyter(*cells):
    """What the cells print, one after the other in one shell."""
    script = "from IPython.core.interactiveshell import InteractiveShell as S\nshell = S.instance()\n" + "".join(
        f"shell.run_cell({cell!r})\n" for cell in cells
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60).stdout


def test_a_check_before_its_exercise_says_what_to_run_first():
    printed = in_jupyter("from tiles import choice", 'choice("5.c1", answer)')
    assert "There is no `answer` yet" in printed and "run its cell first." in printed
    assert "Traceback" not in printed


def test_an_earlier_answer_does_not_stand_in_for_a_blank():
    printed = in_jupyter("from tiles import choice", 'answer = "b"', "answer = ______  # a letter", 'choice("5.c2", answer)')
    assert "line 1, `answer = ______`" in printed and "There is no `answer` yet" in printed


def test_a_blank_in_a_cell_is_one_line_in_jupyter():
    printed = in_jupyter("import tiles", "x = 1\ny = ______  # a number", "undefined_name")
    assert "A blank is left to fill: line 2, `y = ______`." in printed
    assert "Traceback" in printed.split("A blank is left")[1] and "undefined_name" in printed  # other names as always
    assert "Traceback" not in printed.split("A blank is left")[0]


def test_the_package_needs_numpy_alone():
    script = "import sys, tiles; assert not {'torch', 'triton', 'matplotlib', 'IPython'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


EARLIER = "# Exercise 99.3\ndef online(x):\n    m = ______\n    return m + ______"
LATER = "# Exercise 99.5\ndef later(x):\n    return online(x)"


def test_blanks_of_an_earlier_exercise():
    later = 'check("99.5", later, against=abs, cases=rows(3))'
    printed = in_jupyter("from tiles import check, rows", EARLIER, LATER, later)
    assert printed.rstrip().endswith("Exercise 99.5 calls online, and exercise 99.3 still has 2 blanks: fill them in first.")
    printed = in_jupyter("from tiles import check, rows", EARLIER, LATER.replace("online(x)", "online(______)"), later)
    assert "Exercise 99.5 still has 1 blank: line 3, `return online(______)`. It also calls online, and exercise 99.3" in printed


def test_a_blank_that_runs_says_in_which_exercise():
    printed = in_jupyter("import tiles", EARLIER, "online(1)")
    assert "A blank is left in exercise 99.3: line 3, `m = ______`." in printed
