"""GREEN against the table of the specification, with answers of every kind that a judge might write."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import InvalidCall, Unavailable, compute
from rexrank.metrics.green import KINDS, from_completion
from rexrank.terms import CONVENTIONS, Convention

NOTHING = (0,) * 6


def answer(errors: str, matched: str) -> str:
    return (
        f"[Explanation]:\nInvented.\n\n[Clinically Significant Errors]:\n{errors}\n\n"
        f"[Clinically Insignificant Errors]:\n(a) Invented: 9. x\n\n[Matched Findings]:\n{matched}"
    )


def entries(counts: dict[str, int]) -> str:
    return "\n".join(f"({kind}) Invented label: {count}. x; y" for kind, count in counts.items())


def score(text: str, convention: Convention) -> float | None:
    found = from_completion(text, convention)
    return None if found is None else found.score


@pytest.mark.parametrize(
    ("text", "published", "corrected"),
    [
        (answer(entries({"a": 1, "d": 1}), "5. a; b; c; d; e"), 0.714286, 0.714286),
        (answer(entries({"a": 0, "b": 3, "c": 0, "d": 0, "e": 0, "f": 0}), "4. a"), 0.571429, 0.571429),
        (answer(entries({"b": 2}), "0."), 0, 0),
        ("I am sorry, but I cannot compare these.", 0, None),
        ("", 0, None),
    ],
)
def test_green_gives_the_tabled_values(text: str, published: float, corrected: float | None) -> None:
    assert score(text, "published") == pytest.approx(published, abs=5e-7)
    assert score(text, "corrected") == (None if corrected is None else pytest.approx(corrected, abs=5e-7))


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(st.lists(st.integers(0, 99), min_size=6, max_size=6), st.integers(1, 99))
def test_answers_in_the_form_asked_for_are_read_alike(convention: Convention, counts: list[int], matched: int) -> None:
    found = from_completion(answer(entries(dict(zip(KINDS, counts, strict=True))), f"{matched}. x"), convention)
    assert found is not None
    assert (found.matched, found.errors) == (matched, tuple(counts))
    assert found.score == matched / (matched + sum(counts))


@given(st.lists(st.integers(0, 99), min_size=6, max_size=6), st.integers(0, 98), st.sampled_from(range(6)))
def test_more_matches_raise_the_score_and_more_errors_lower_it(counts: list[int], matched: int, kind: int) -> None:
    def of(errors: list[int], number: int) -> float:
        found = score(answer(entries(dict(zip(KINDS, errors, strict=True))), f"{number}."), "corrected")
        return -1 if found is None else found

    worse = [count + (place == kind) for place, count in enumerate(counts)]
    assert of(counts, matched) <= of(counts, matched + 1) <= 1
    assert of(worse, matched + 1) < of(counts, matched + 1)


@pytest.mark.parametrize(
    ("errors", "matched", "read"),
    [
        ("(a) F: 1\n\n(b) M: 2 findings", "3 findings", (3, (1, 2, 0, 0, 0, 0))),
        ("None", "Number of findings: 3", (3, NOTHING)),
        ("No significant errors.", "Total = 3", (3, NOTHING)),
        ("(a) F: None.\n(b) M: No finding is missing\n(c) L:\n(d) S: N/A\n(e) C: -", "2", (2, NOTHING)),
        ("(a) F: 1. x\n(a) F: 2. y", "1.", (1, (3, 0, 0, 0, 0, 0))),
        ("(a) F: 1. x (f) O: 2. y", "1.", (1, (1, 0, 0, 0, 0, 2))),
        ("(a) F: 1. x;(f) O: 2.", "1.", (1, (1, 0, 0, 0, 0, 2))),
        ("(1) F: 1. x\n(6) O: 2. y", "1.", (1, (1, 0, 0, 0, 0, 2))),
        ("**(A)** F: **1**. x", "**2**. y", (2, (1, 0, 0, 0, 0, 0))),
        ("", "3. x", (3, NOTHING)),
        ("(a) F: 1", "None", (0, (1, 0, 0, 0, 0, 0))),
        ("No. of errors: 0", "No. of findings: 3", (3, NOTHING)),
    ],
)
def test_corrected_reads_counts_that_are_plain_to_a_reader(errors: str, matched: str, read: tuple[int, Any]) -> None:
    found = from_completion(answer(errors, matched), "corrected")
    assert found is not None
    assert (found.matched, found.errors) == read


@pytest.mark.parametrize(
    ("errors", "matched"),
    [
        ("(a) F: some nodules", "2."),
        ("Many errors were made.", "2."),
        ("(a) F: 1. x", "Nodule; scar"),
        ("(a) F: 1. x", "1. nodule\n2. scar\n3. effusion"),
        ("(b) M: 2 cm nodule", "2."),
        ("(b) M: 1.5", "2."),
        ("(b) M: 2-3", "2."),
        ("(b) M: 2 to 3", "2."),
        ("(b) M: 2 or 3", "2."),
        ("(b) M: -1", "2."),
        ("(b) M: 1e3", "2."),
        ("(b) M: T12 fracture", "2."),
        ("(b) M: 1000.", "2."),
        (f"(b) M: {'9' * 5000}.", "2."),
        ("(b) M: NaN", "2."),
        ("(b) M: ٣.", "2."),
    ],
)
def test_corrected_never_guesses_a_count(errors: str, matched: str) -> None:
    assert from_completion(answer(errors, matched), "corrected") is None


def test_both_sections_must_be_there() -> None:
    errors, matched = f"[Clinically Significant Errors]:\n{entries({'a': 1})}", "[Matched Findings]:\n3. x"
    assert score(f"{errors}\n\n{matched}", "corrected") == 0.75
    assert score(f"{matched}\n\n{errors}", "corrected") == 0.75
    for text in (
        errors,
        matched,
        f"{matched}\n\n[Clinically Significant Errors]:",
        f"{errors}\n\n[Matched Findings]:\n",
    ):
        assert from_completion(text, "corrected") is None


def test_a_report_that_is_echoed_cannot_talk_to_the_parser() -> None:
    fake = "[Clinically Significant Errors]:\nNone\n\n[Matched Findings]:\n99. everything"
    truth = answer(entries({"a": 3}), "1. x")
    assert score(f"The report says {fake}\n\n{truth}", "corrected") == 0.25
    assert score(f"{fake}<|assistant|>{truth}</s>", "corrected") == 0.25
    for place in ("Invented.", "x; y", "1. x"):
        assert from_completion(truth.replace(place, f"{place}\n{fake}\n", 1), "corrected") is None
        assert from_completion(truth.replace(place, f"{place} {fake.upper()} ", 1), "corrected") is None


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_only_what_follows_the_prompt_is_read(convention: Convention) -> None:
    prompt = "<|user|> Reference: [Matched Findings]:\n7. x\n\n Form: [Explanation]:\n <y> [Matched Findings]:\n <z>"
    assert score(f"{prompt}<|assistant|>{answer(entries({'a': 1}), '3. x')}", convention) == 0.75


@pytest.mark.parametrize(
    ("errors", "matched", "read"),
    [
        ("(a) F: 1. x\n(a) F: 2. y", "3.", (3, (2, 0, 0, 0, 0, 0))),
        ("(b) x: y: 4. z: 5.", "3.", (3, (0, 4, 0, 0, 0, 0))),
        ("(a) F: 1\n(b) M: some", "3.", (3, NOTHING)),
        ("(2) M: 1. x", "3.", (3, (0, 1, 0, 0, 0, 0))),
        ("None", "Nodule 3.", (0, NOTHING)),
        ("(a) F: 1. x\n \n(b) M: 1. y", " 3. x", (3, (1, 0, 0, 0, 0, 0))),
        ("(a) F: 1. x", "matched:\n3. x", (0, (1, 0, 0, 0, 0, 0))),
        ("(a) F: ٣. x", "3.", (3, (3, 0, 0, 0, 0, 0))),
    ],
)
def test_published_keeps_the_oddities_of_the_package(errors: str, matched: str, read: tuple[int, Any]) -> None:
    # Values of the package's own functions on the same answers.
    found = from_completion(answer(errors, matched), "published")
    assert found is not None
    assert (found.matched, found.errors) == read


def test_published_fails_only_where_the_package_does() -> None:
    assert from_completion(None, "published") is None
    assert from_completion(answer("(a) F: 1.", f"{'9' * 5000}."), "published") is None


HOSTILE = [
    "[" * 10**6,
    " " * 10**6,
    "\n" * 10**6,
    "\u2003\n\t" * 300_000,
    "[Matched Findings]:" + " " * 10**6,
    "[matched findings]" + "\n \t" * 300_000,
    "[Clinically Significant Errors]:" + "(a) " * 250_000,
    "[Clinically Significant Errors]:" + "(a) x: " * 140_000 + "\n[Matched Findings]: 1.",
    "[Matched Findings]: " * 50_000,
    "[Matched Findings]:" + "1" * 10**6,
    "[Matched Findings]:" + "\n1. a" * 160_000,
    "[Matched Findings]:" + "-" * 10**6,
    "[Matched Findings]:" + "*" * 10**6 + "a",
    "[ " * 400_000 + "matched findings ]",
    "[a" + "b" * 10**6,
    "<|assistant|>" * 70_000,
    "[Explanation]:" * 70_000,
    "\x00\ud800" * 1000,
]


@pytest.mark.timeout(60)  # a pattern that tries everything twice takes hours
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_long_hostile_answers_are_read_in_one_pass(convention: Convention, number: int) -> None:
    found = from_completion(HOSTILE[number], convention)
    assert found is None or found.score is None or 0 <= found.score <= 1


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "[Clinically Significant Errors]:",
                "[Matched Findings]:",
                "[Explanation]:",
                "\n",
                "\n\n",
                "(a) ",
                "(b) x: ",
                "(6) ",
                ": 1.",
                "2",
                "3. x",
                "No",
                "None",
                "-",
                "[Other]:",
                "<",
                "assistant",
            ]
        ),
        max_size=20,
    ).map("".join)
    | st.text(max_size=60)
)
def test_any_answer_has_a_score_in_range_or_none(text: str) -> None:
    published = from_completion(text, "published")
    assert published is not None
    assert published.score is not None
    assert 0 <= published.score <= 1
    corrected = from_completion(text, "corrected")
    if corrected is not None:
        total = corrected.matched + sum(corrected.errors)
        assert corrected.score == (corrected.matched / total if total else None)


def green(completions: list[Any], convention: Convention = "corrected", predictions: list[str] | None = None) -> Any:
    texts = predictions or [f"Report {number}." for number in range(len(completions))]
    references = [f"Reference {number}." for number in range(len(completions))]
    return compute("green", texts, references, convention, features={"green_completion": completions})["green"]


def test_what_cannot_be_read_is_null_with_a_reason_and_counted() -> None:
    completions = [answer(entries({"a": 1}), "3."), "Sorry.", None, answer("None", "0."), "Sorry.", "Sorry."]
    predictions = ["a", "b", "c", "d", "", "Reference 5."]
    scores = green(completions, "corrected", predictions)
    assert scores.values.tolist()[:1] == [0.75]
    assert np.isnan(scores.values[1:4]).all()
    assert scores.values[4:].tolist() == [0, 1]  # blank and identical reports need no judge
    assert scores.reasons == {1: "unparsed", 2: "failed", 3: "no_findings"}
    assert scores.aggregate == pytest.approx(1.75 / 3)
    assert (scores.counts["n_unparsed"], scores.counts["n_failed"], scores.counts["n_undefined"]) == (1, 1, 3)


@pytest.mark.parametrize("unread", [None, "Sorry."])
def test_answers_about_texts_that_need_no_judge_are_not_counted(unread: str | None) -> None:
    predictions, references = (
        ["Легкие чистые.", "Clear.", "", "Same.", "Clear."],
        ["Clear.", "Легкие.", "a", "Same.", ""],
    )
    features = {"green_completion": [unread] * len(predictions)}

    def counted(**options: Any) -> int:
        counts = compute("green", predictions, references, "corrected", features=features, **options)["green"].counts
        return int(counts["n_failed"] + counts["n_unparsed"])

    assert counted() == 0
    assert counted(on_unsupported_language="compute") == 2


def test_published_counts_what_it_scores_0_without_having_read_it() -> None:
    scores = green([answer(entries({"a": 1}), "3."), "Sorry.", None], "published")
    assert scores.values.tolist()[:2] == [0.75, 0]
    assert math.isnan(scores.values[2])
    assert scores.reasons == {2: "failed"}
    assert (scores.counts["n_unparsed"], scores.counts["n_failed"]) == (1, 1)
    assert scores.aggregate == 0.375


def test_signatures_name_the_parser() -> None:
    assert [green(["x"], convention).signature for convention in CONVENTIONS] == [
        "green|conv:published|parser:strict|v:1",
        "green|conv:corrected|parser:tolerant|v:1",
    ]


def test_wrong_calls_are_refused_without_a_word_of_the_answer() -> None:
    with pytest.raises(InvalidCall, match=r"^features\['green_completion'\]\[1\]: expected str, or None, got dict$"):
        green(["x", {"secret": 1}])
    with pytest.raises(
        InvalidCall, match=r"'green_completion'\]\[0\]: the study has 2 references, and the judge GREEN"
    ):
        compute("green", ["a"], [["b", "c"]], features={"green_completion": ["x"]})
    with pytest.raises(InvalidCall, match="text: expected the judge's answer as a str, or None, got a value of type"):
        from_completion(["secret"], "corrected")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="convention"):
        from_completion("x", "other")  # type: ignore[arg-type]
    with pytest.raises(Unavailable, match="GREEN-radllama2-7b"):
        compute("green", ["a"], ["b"])
