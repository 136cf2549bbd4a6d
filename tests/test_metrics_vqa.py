"""Accuracy of answers: how they are read, and the two means over categories."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank import score
from rexrank.metrics import InvalidCall, Unavailable, compute, metric_of
from rexrank.metrics.vqa import CATEGORIES, accuracies, lettered, letters
from rexrank.statistics.bootstrap import corpus_interval

BOTH = ["vqa_accuracy_macro", "vqa_accuracy_micro"]
CHOICES = ["A. Small effusion", "B. No effusion", "C. Both.", "D. None of these"]


def graded(prediction: str, reference: str, convention: Any, **options: Any) -> tuple[float, int]:
    scores = compute("vqa_accuracy_micro", [prediction], [reference], convention, **options)["vqa_accuracy_micro"]
    return scores.values[0], scores.counts["n_unparsed"]


@pytest.mark.parametrize("prediction", ["B", "B.", "(B)", "Answer: B", "Answer:(B)", " B\n"])
def test_letters_that_both_conventions_read(prediction: str) -> None:
    for convention in ("published", "corrected"):
        for options in ({}, {"choices": [CHOICES]}):
            assert graded(prediction, "B", convention, **options) == (1, 0)
            assert graded(prediction, "A", convention, **options) == (0, 0)


@pytest.mark.parametrize(
    "prediction",
    [
        *("b", "b)", "[B]", "The answer is B.", "**B**", "the correct option is (b)", "Ｂ", "Answer: **B**"),
        *(r"\boxed{B}", r"\boxed{\text{B}}", "<answer>B</answer>", "B\n\nThe angles are sharp, so A is wrong."),
        *("I look at the angles.\nThey are sharp.\n\nFinal answer: B", "B\nThe answer is B."),
    ],
)
def test_letters_that_corrected_reads_too(prediction: str) -> None:
    assert graded(prediction, "B", "published") == (0, 1)
    assert graded(prediction, "B", "corrected") == (1, 0)
    assert graded(prediction, "A", "corrected") == (0, 0)


@pytest.mark.parametrize("prediction", ["A small effusion", "AB", "A or B", "I cannot say", "", "...", "Effusion: B C"])
def test_what_is_no_answer_is_wrong_and_counted(prediction: str) -> None:
    for convention in ("published", "corrected"):
        for options in ({}, {"choices": [CHOICES]}):
            assert graded(prediction, "A", convention, **options) == (0, 1)


def test_the_text_of_a_choice_is_an_answer() -> None:
    options = {"choices": [CHOICES]}
    for text in ("No effusion", "B. No effusion"):
        for convention in ("published", "corrected"):
            assert graded(text, "B", convention, **options) == (1, 0)
            assert graded(text, "A", convention, **options) == (0, 0)
            assert graded("B", text, convention, **options) == (1, 0)
    for text in ("no effusion.", "The answer is B. No effusion", "(b) No  effusion", "*No effusion*"):
        assert graded(text, "B", "published", **options) == (0, 1)
        assert graded(text, "B", "corrected", **options) == (1, 0)
    # A letter and the words of another choice say nothing; neither do words that two choices have, nor other letters.
    assert graded("A. No effusion", "A", "corrected", **options) == (0, 1)
    assert graded("Yes", "A", "corrected", choices=[["A. Yes", "B. Yes"]]) == (0, 1)
    assert graded("E", "A", "published", **options) == (0, 1)
    assert graded("E", "A", "published") == (0, 0)
    assert graded("no effusion, surely", "A", "corrected", **options) == (0, 1)
    # Reasons may follow the words of a choice, more letters or another word may not.
    for text in ("B. No effusion. The angles are sharp.", "(b) no effusion, as the angles are sharp"):
        assert graded(text, "B", "corrected", **options) == (1, 0)
        assert graded(text, "B", "published", **options) == (0, 1)
    assert graded("B. No effusions", "B", "corrected", **options) == (0, 1)


def test_lines_that_name_two_letters_are_no_answer() -> None:
    for text in ("A\nB", "Answer: A\nbecause\nAnswer: B", "A small effusion\nis there", "perhaps\nA\nor not"):
        assert graded(text, "A", "corrected", choices=[CHOICES]) == (0, 1)
    assert graded("A\nwords\nA", "A", "corrected") == (1, 0)


def test_letters_of_answers() -> None:
    assert letters(["b", "No effusion", "x"], [CHOICES] * 3, "corrected") == ["B", "B", None]
    assert letters(["b", "No effusion", "x"], [CHOICES] * 3) == [None, "B", None]
    assert lettered(["A. Yes", "B) No"]) == {"A": "Yes", "B": "No"}
    assert lettered(["Yes", "B. No"]) == {"A": "Yes", "B": "B. No"}
    for wrong in ([CHOICES], None, "x"):
        with pytest.raises(InvalidCall, match="choices"):
            letters(["b", "c"], wrong)  # type: ignore[arg-type]


def test_words_after_a_letter_count_without_choices_in_corrected_alone() -> None:
    assert graded("B. No effusion", "B", "published") == (0, 1)
    assert graded("B. No effusion", "B", "corrected") == (1, 0)
    assert graded("B) none\nbecause it is clear", "A", "corrected") == (0, 0)


def test_choices_without_letters_get_them_by_their_place() -> None:
    options = {"choices": [["Left", "Right"]]}
    assert graded("B", "Right", "published", **options) == (1, 0)
    assert graded("Left", "A", "published", **options) == (1, 0)
    assert graded("C", "A", "published", **options) == (0, 1)


def test_answers_in_words_have_to_be_equal() -> None:
    assert graded(" right lung", "right lung", "published") == (1, 0)
    assert graded("Right  lung.", "right lung", "published") == (0, 0)
    assert graded("Right  lung.", "right lung", "corrected") == (1, 0)
    assert graded("lung", "right lung", "corrected") == (0, 0)
    assert graded("", "right lung", "published") == (0, 1)
    assert graded("Café", "cafe\u0301", "corrected") == (1, 0)
    assert graded("", "", "published") == (0, 1)


def test_each_of_several_references_is_right() -> None:
    found = compute("vqa_accuracy_micro", ["C", "B", "lung"], [["A", "B"], ["A", "B"], ["heart", "lung"]])
    assert found["vqa_accuracy_micro"].values.tolist() == [0, 1, 1]


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_micro_is_the_mean_of_questions_and_macro_that_of_categories(convention: Any) -> None:
    predictions, references = ["A", "B", "A", "C", "C"], ["A", "A", "A", "C", "D"]
    categories = ["Presence", "Presence", "Presence", "Negation", "Negation"]
    found = compute(BOTH, predictions, references, convention, categories=categories)
    assert found["vqa_accuracy_micro"].aggregate == pytest.approx(3 / 5)
    assert found["vqa_accuracy_macro"].aggregate == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found["vqa_accuracy_macro"].counts["n_categories"] == 2
    assert found["vqa_accuracy_macro"].values.tolist() == [1, 0, 1, 1, 0]
    assert "|categories:2|choices:none|" in found["vqa_accuracy_macro"].signature
    rows = accuracies(predictions, references, categories, convention)
    assert rows == [("Presence", pytest.approx(2 / 3), 3, 0), ("Negation", 0.5, 2, 0)]


def test_a_category_without_a_question_is_null() -> None:
    rows = accuracies(["A", "x"], ["A", "B"], [CATEGORIES[4]] * 2, "published", names=CATEGORIES)
    assert [row.category for row in rows] == list(CATEGORIES)
    assert [row.accuracy for row in rows] == [None, None, None, None, 0.5]
    assert [(row.n, row.n_unparsed) for row in rows] == [(0, 0)] * 4 + [(2, 1)]
    # No right answer, no score: the category is left out of the mean too.
    options: dict[str, Any] = {"categories": ["one", "other"]}
    found = compute("vqa_accuracy_macro", ["A", "A"], ["A", ""], "corrected", **options)["vqa_accuracy_macro"]
    assert (found.aggregate, found.counts["n_categories"], found.reasons) == (1, 1, {1: "empty_reference"})
    assert accuracies(["A", "A"], ["A", ""], ["one", "other"], "corrected")[1] == ("other", None, 0, 0)
    assert accuracies(["A", "A"], ["A", ""], ["one", "other"], "published")[1] == ("other", 0, 1, 0)


def test_without_categories_the_mean_of_categories_alone_is_unavailable() -> None:
    reason = "vqa_accuracy_macro needs the option categories"
    with pytest.raises(Unavailable, match=reason):
        compute(BOTH, ["A"], ["A"])
    card = score(["A", "B"], ["A", "A"], protocol="plain", metrics="vqa", progress=False)
    assert card.summary == {"vqa_accuracy_micro": 0.5}
    assert card.unavailable["vqa_accuracy_macro"].startswith(reason)
    whole = score(
        *(["A", "B"], ["A", "A"]), protocol="plain", metrics="vqa", progress=False, options={"categories": ["x", "y"]}
    )
    assert whole.summary == {"vqa_accuracy_macro": 0.5, "vqa_accuracy_micro": 0.5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"categories": "Presence"}, "categories: expected a list, got str"),
        ({"categories": ["x"]}, "categories has 1 items, and there are 2 questions"),
        ({"categories": ["x", None]}, r"categories\[1\]: expected the name"),
        ({"categories": [" ", "x"]}, r"categories\[0\]: expected the name"),
        ({"categories": ["x", "x"], "choices": [["A. yes"], "no"]}, r"choices\[1\]: expected a list of texts"),
        ({"categories": ["x", "x"], "choices": [["A. yes"], []]}, r"choices\[1\]: expected a list of texts"),
        ({"categories": ["x", "x"], "choices": [["A. yes"], [1]]}, r"choices\[1\]: expected a list of texts"),
        ({"categories": ["x", "x"], "choices": [["A. yes"]]}, "choices has 1 items, and there are 2 questions"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidCall, match=message):
        compute(BOTH, ["A", "B"], ["A", "A"], **options)


@pytest.mark.parametrize("names", ["xy", 3, ["x", None], [["x"]]])
def test_names_of_categories_that_make_no_sense(names: Any) -> None:
    with pytest.raises(InvalidCall, match="names"):
        accuracies(["A"], ["A"], ["x"], "published", names=names)


def test_numbers_of_questions_are_no_categories() -> None:
    numbers = [str(question) for question in range(300)]
    with pytest.raises(InvalidCall, match=r"categories: .* at most 200, got 300 different names"):
        compute("vqa_accuracy_macro", ["A"] * 300, ["A"] * 300, categories=numbers)


texts = (
    st.sampled_from(["A", "b", "(C)", "Answer: D", "", " ", "A.", "A. Left", "Left", "левый", "\x00", "👩🏽‍⚕️"])
    | st.text()
)


@settings(deadline=None, max_examples=120)
@given(st.lists(st.tuples(texts, texts, st.sampled_from("xyz")), min_size=1, max_size=6), st.booleans(), st.randoms())
def test_the_laws(studies: list[tuple[str, str, str]], offered: bool, random: Any) -> None:
    def scores(chosen: list[tuple[str, str, str]], convention: Any) -> dict[str, Any]:
        predictions, references, categories = (list(each) for each in zip(*chosen, strict=True))
        options = {"choices": [["A. Left", "B. Right"]] * len(chosen)} if offered else {}
        return compute(BOTH, predictions, references, convention, categories=categories, **options)

    shuffled = random.sample(range(len(studies)), len(studies))
    for convention in ("published", "corrected"):
        together = scores(studies, convention)
        other = scores([studies[position] for position in shuffled], convention)
        for key in BOTH:
            values = together[key].values
            assert np.isin(values[~np.isnan(values)], (0, 1)).all()
            assert convention == "corrected" or not np.isnan(values).any()
            assert np.array_equal(other[key].values, values[shuffled], equal_nan=True)
            alone = [scores([study], convention)[key].values[0] for study in studies]
            assert np.array_equal(alone, values, equal_nan=True)
            assert (other[key].aggregate is None) == (together[key].aggregate is None)
            assert other[key].aggregate == pytest.approx(together[key].aggregate)
            if convention == "corrected":
                same = scores([(reference, reference, category) for _, reference, category in studies], convention)
                assert all(value == 1 or math.isnan(value) for value in same[key].values)
                assert same[key].aggregate in (1, None)


def test_intervals_of_both() -> None:
    generator = np.random.default_rng(0)
    predictions = generator.choice(list("ABCD"), 400).tolist()
    categories = [CATEGORIES[position % 5] for position in range(400)]
    found = compute("vqa_accuracy_macro", predictions, ["A"] * 400, categories=categories)["vqa_accuracy_macro"]
    low, high = corpus_interval(found.statistics, found.formula, resamples=500)
    assert low < found.aggregate < high


def test_long_answers_are_read_in_linear_time() -> None:
    for text in (
        "A." + " " * 50_000,
        "Answer:" + " " * 50_000 + "zz",
        "the answer" + "\n" * 50_000 + "is",
        "(" * 50_000,
    ):
        for convention in ("published", "corrected"):
            assert graded(text, "B", convention, choices=[["A." + " " * 20_000, "B. x"]])[0] == 0


def test_it_is_a_metric_of_answers() -> None:
    assert metric_of("vqa_accuracy_micro").task == "vqa"
