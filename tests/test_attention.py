"""What checks of attention need: their inputs, the mistakes of lesson 6, refusals, advice on budgets."""

import numpy as np
import pytest

from tiles import Case, NotYet, attention_inputs, check

SIZES = [(4, 6, 3, 5, 2, 3), (5, 7, 3, 2, 2, 4)]
KINDS = ["normal", "rising", "large negatives", "rows apart", "rows crossing"]


def attention_reference(q, k, v, *blocks, causal=False):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.where(np.tri(*s.shape), s, -np.inf) if causal else s
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True) @ v


def other_reference(q, k, v, *blocks, causal=False):
    return attention_reference(q, k, v, causal=causal)


def magnitude(q, k, v, *blocks, causal=False):
    return attention_reference(q, k, np.abs(v), causal=causal) * (1 + (np.abs(q) @ np.abs(k).T).max(axis=1, keepdims=True))


def answer(scale=lambda q: q.shape[1] ** -0.5, mask=lambda row, col: row >= col, finish=lambda s: s, result=lambda o: o):
    """Attention in one tile, with steps that can be exchanged."""

    def given(q, k, v, block_q, block_k, causal=False):
        s = finish(q @ k.T * scale(q))
        if causal:
            s = np.where(mask(np.arange(len(q))[:, None], np.arange(len(k))), s, -np.inf)
        p = np.exp(s - s.max(axis=1, keepdims=True))
        return result(p / p.sum(axis=1, keepdims=True) @ v)

    return given


def verdict(wrong, cases, exercise="6.3", **options) -> str:
    with pytest.raises(NotYet) as said:
        check(exercise, wrong, against=other_reference, cases=cases, magnitude=magnitude, steps=16, **options)
    return str(said.value)


def test_inputs_have_the_sizes_and_the_scores_that_were_asked_for():
    cases = attention_inputs(*SIZES, kinds=KINDS, causal=True)
    assert len(cases) == 10 and {case.options["causal"] for case in cases} == {True}
    for case in cases:
        q, k, v, block_q, block_k = case.inputs
        n_q, n_k, d, d_v = (case.sizes[name] for name in ("n_q", "n_k", "d", "d_v"))
        assert (q.shape, k.shape, v.shape, q.dtype) == ((n_q, d), (n_k, d), (n_k, d_v), np.float32)
        assert (block_q, block_k) == (case.sizes["block_q"], case.sizes["block_k"]) and "causal" in case.label
        s = q @ k.T * d**-0.5
        if case.kind == "large negatives":
            assert s.max() < -150
        if case.kind == "rows apart":
            assert s[0].max() < -150 and s[1].min() > 150
        if case.kind == "rows crossing":
            assert s[0, 0] - s[0, -1] > 100 and s[1, -1] - s[1, 0] > 100
    assert "scores: rising" in cases[2].label and attention_inputs(SIZES[0])[0].label.endswith("block_k = 3")


def test_inputs_without_width():
    q, k, v, *_ = attention_inputs((3, 4, 1, 1, 2, 2), kinds=["one huge"])[0].inputs
    assert np.isclose((q @ k.T).max(), 1e4)


def test_right(capsys):
    cases = attention_inputs(*SIZES, kinds=KINDS) + attention_inputs((6, 6, 2, 3, 4, 2), kinds=KINDS, causal=True)
    check("6.3", answer(), against=other_reference, cases=cases, magnitude=magnitude, steps=16)
    assert capsys.readouterr().out == "Exercise 6.3 passed: 15 cases.\n"


@pytest.mark.parametrize(
    "steps, words",
    [
        ({"scale": lambda q: 1.0}, "not scaled"),
        ({"scale": lambda q: (q.shape[1] * 8.05**2 / 64) ** -0.5}, "fit another scale than 1/√d"),
        ({"finish": lambda s: s.astype(np.float16).astype(np.float32)}, "rounded to float16"),
        ({"result": lambda o: o.astype(np.float64)}, "is float64, expected float32"),
    ],
)
def test_a_wrong_scale_or_precision_is_named(steps, words):
    assert words in verdict(answer(**steps), attention_inputs(*SIZES))


@pytest.mark.parametrize(
    "mask, words",
    [
        (lambda row, col: row > col, "Causal is off by one: a query's own key is hidden"),
        (lambda row, col: row + 1 >= col, "Causal is off by one: the key after a query's own is visible"),
        (lambda row, col: row <= col, "Causal is flipped"),
        (lambda row, col: row < col, "Causal is flipped, and the query's own key is left out"),
        (lambda row, col: row + col >= 0, "Nothing is hidden"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_causal_mask_is_named(mask, words):
    assert words in verdict(answer(mask=mask), attention_inputs((4, 4, 3, 5, 4, 4), causal=True))


def test_what_is_not_known_is_not_named():
    said = verdict(answer(result=lambda o: o[::-1].copy()), attention_inputs(*SIZES))
    assert "Causal" not in said and "scale" not in said


def refused(**options):
    case = attention_inputs((2, 3, 2, 2, 2, 2), causal=True)[0]
    return Case(case.label, case.inputs, sizes=case.sizes, options=case.options, raises=ValueError)


def test_an_answer_that_has_to_refuse():
    cases = attention_inputs(*SIZES) + [refused()]

    def refusing(message):
        def given(q, k, v, block_q, block_k, causal=False):
            if causal:
                raise ValueError(message)
            return answer()(q, k, v, block_q, block_k)

        return given

    check("6.3", refusing("causal needs n_q = n_k"), against=other_reference, cases=cases, magnitude=magnitude, steps=16)
    assert "should raise ValueError, and it returns something" in verdict(answer(), cases)
    assert "The ValueError has no message" in verdict(refusing(""), cases)


def test_advice_on_a_budget():
    said = verdict(answer(), attention_inputs((90, 80, 2, 2, 2, 2)), memory=lambda **sizes: 6000, saving="Hold no matrix.")
    assert said.endswith("Hold no matrix.")
    said = verdict(answer(), attention_inputs(*SIZES), moves=lambda **sizes: 3, saving="Read less.")
    assert said.endswith("Read less.")


def test_references_that_the_specification_names_may_not_be_called_either():
    def given(q, k, v, block_q, block_k):
        return attention_reference(q, k, v).astype(q.dtype)

    assert "The answer calls attention_reference, the specification." in verdict(given, attention_inputs(*SIZES))
    assert attention_reference(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1))) == 1  # and it works again
