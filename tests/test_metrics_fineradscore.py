"""FineRadScore against the table of the specification, and answers of every kind that a judge might write."""

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import InvalidCall, compute
from rexrank.metrics.fineradscore import Corrections, from_answer, lines
from rexrank.terms import CONVENTIONS, Convention

WORDS = ["Not actionable", "Actionable nonurgent error", "Urgent error", "Emergent error"]
REPORT = "Heart is large. Lungs are clear. No effusion. Old scar."


def entry(severity: Any, **fields: Any) -> dict[str, Any]:
    return {
        "corrections": "Invented.",
        "clinical severity": severity,
        "comments": "",
        "error category": ["Invented"],
        **fields,
    }


def read(answer: Any, convention: Convention = "corrected", parser: str = "strict") -> Corrections | None:
    return from_answer(answer, REPORT, convention, parser)


def worst(answer: Any, convention: Convention = "corrected", parser: str = "strict") -> int | None:
    found = read(answer, convention, parser)
    return None if found is None else found.worst


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(
    ("answer", "severity", "mean"),
    [
        ({}, 0, 0),
        ({"0": entry(WORDS[0]), "2": entry(WORDS[2])}, 3, 1),
        ({"None": entry(WORDS[3])}, 4, 0.8),
        ({"0": entry(WORDS[1], corrections="[delete]")}, 2, 0.5),
        ({"0": entry("[delete]", corrections=WORDS[0])}, 1, 0.25),  # as in one of the authors' examples
        ({"Failed": None}, None, None),
        ("no JSON", None, None),
        ("{}", 0, 0),
        ({"0": entry("Moderate error")}, None, None),
    ],
)
def test_fineradscore_gives_the_tabled_values(
    answer: Any, severity: int | None, mean: float | None, convention: Convention
) -> None:
    for form in (answer, answer if isinstance(answer, str) else json.dumps(answer)):
        found = read(form, convention)
        if severity is None:
            assert found is None
        else:
            assert found is not None
            assert (found.worst, found.mean) == (severity, mean)


def test_lines_insertions_and_severities_are_read_in_their_order() -> None:
    found = read({"3": entry("Urgent error"), "None": entry("Not actionable")})
    assert found is not None
    assert found.lines == 4
    assert [(one.line, one.severity) for one in found.entries] == [(3, 3), (None, 1)]


def test_what_else_an_entry_holds_does_not_matter() -> None:
    nested: list[Any] = []
    for _ in range(10**5):
        nested = [nested]
    for other in (None, 3, "one", nested):
        assert worst({"1": entry(WORDS[2], corrections=other, comments=other, **{"error category": other})}) == 3


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("not actionable", 1),
        ("Not-actionable.", 1),
        ("NOT ACTIONABLE ERROR", 1),
        ("Actionable non-urgent error", 2),
        ("actionable non urgent", 2),
        (" urgent\n", 3),
        ("Emergent", 4),
        ("nonurgent", None),
        ("error", None),
        ("", None),
        ("3", None),
        (3, None),
        (None, None),
        (["Urgent error"], None),
        ({"Urgent error": 1}, None),
        (float("nan"), None),
    ],
)
def test_severities_are_words_of_the_scale(word: Any, severity: int | None) -> None:
    assert worst({"1": entry(word)}) == severity


@pytest.mark.parametrize("key", ["0", " 1 ", 2, "None", None])
def test_lines_are_numbers_and_insertions_are_none(key: Any) -> None:
    assert worst({key: entry(WORDS[2])}) == 3


@pytest.mark.parametrize("key", ["-1", "1.0", "one", "", "²", "٣", "none of them", "[0]", -1, True, 1.0, ("0",)])
def test_any_other_key_cannot_be_read(key: Any) -> None:
    assert worst({key: entry(WORDS[2])}, "published") is None


def test_corrected_takes_only_lines_that_exist_and_each_once() -> None:
    for answer in ({"4": entry(WORDS[2])}, {"0": entry(WORDS[0]), "00": entry(WORDS[2])}):
        assert worst(answer, "published") == 3
        assert worst(answer, "corrected") is None
    twice = f'{{"0": {json.dumps(entry(WORDS[2]))}, "0": {json.dumps(entry(WORDS[0]))}}}'
    assert worst(twice, "published") == 1
    for parser in ("strict", "tolerant"):
        assert worst(twice, "corrected", parser) is None


def test_several_insertions_all_count_in_corrected() -> None:
    pair = [entry(WORDS[2]), entry(WORDS[0])]
    text = f'{{"None": {json.dumps(pair[0])}, "None": {json.dumps(pair[1])}}}'
    for form in (text, {"None": pair}, json.dumps({"None": pair})):
        found = read(form)
        assert found is not None
        assert (found.worst, found.mean) == (3, 4 / 6)
    assert worst(text, "published") == 1  # the last of equal keys, as Python reads it


def test_a_repair_changes_nothing_in_how_equal_keys_are_read() -> None:
    first, second = (json.dumps({"None": entry(word)})[1:-1] for word in (WORDS[2], WORDS[0]))
    for one, other, last in ((first, second, 1), (second, first, 3)):
        broken = f"{{{one}, {other}}}".replace("Invented.", 'so-called "mass" here')
        assert worst(broken, "corrected", "strict") is None
        assert worst(broken, "corrected", "tolerant") == 3
        assert worst(broken, "published", "tolerant") == last


def test_tolerant_finds_json_among_words_and_repairs_it() -> None:
    text = json.dumps({"0": entry(WORDS[2])}, separators=(",", ":"))
    for form in (f"```json\n{text}\n```", f"Here it is: {text} Done.", text.replace('"comments"', 'comments"')):
        for convention in CONVENTIONS:
            assert worst(form, convention) is None
            assert worst(form, convention, "tolerant") == 3


@pytest.mark.parametrize(
    "answer",
    [None, 1, [], "[]", "null", "NaN", '{"0": NaN}', {"0": None}, {"0": "Urgent error"}, {"0": [entry(WORDS[2])]},
     {"0": {}}, {"None": None}, {"None": [None]}, {"0": {"0": entry(WORDS[2])}}],
)  # fmt: skip
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("parser", ["strict", "tolerant"])
def test_wrong_types_cannot_be_read(answer: Any, convention: Convention, parser: str) -> None:
    assert read(answer, convention, parser) is None


@pytest.mark.timeout(60)  # a pattern that tries everything twice takes hours
@pytest.mark.parametrize("parser", ["strict", "tolerant"])
@pytest.mark.parametrize(
    "answer",
    ["{" * 10**6, '{"0":' * 200_000, "```\n" * 250_000, "{ }" * 300_000, '{"' + "9" * 10**6 + '": 1}', '"' * 10**6],
    ids=["braces", "nested", "fences", "objects", "number", "quotes"],
)
def test_long_hostile_answers_are_read_in_one_pass(answer: str, parser: str) -> None:
    assert read(answer, "corrected", parser) is None


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        ("Heart is large. Lungs are clear.", ["Heart is large.", "Lungs are clear."]),
        ("Seen by Dr. X. Clear", ["Seen by Dr.", "X.", "Clear."]),
        ("Nodule of 2.5 cm. Level 3. Stable.", ["Nodule of 2.5 cm.", "Level 3. Stable."]),
        ('The "mass" is new... Stable.\nSame. ', ["The mass is new.", "Stable.\nSame."]),
        ("a.b. c", ["a.b.", "c."]),
        ("", []),
        (" . ... ", []),
        (".\n..", []),
    ],
)
def test_lines_split_as_specified(prediction: str, expected: list[str]) -> None:
    assert lines(prediction) == expected


@given(st.lists(st.sampled_from(["a", "2", ".", ". ", " ", '"', "\n", "..", "b"]), max_size=25).map("".join))
def test_lines_split_where_the_authors_split(prediction: str) -> None:
    pieces = [piece.strip().replace('"', "").strip(" .\n") for piece in re.split(r"(?<!\d)\.(?!\d|$) ", prediction)]
    assert [line.strip(" .\n") for line in lines(prediction)] == [piece for piece in pieces if piece]
    assert all(line.endswith(".") and not line.endswith("..") and '"' not in line for line in lines(prediction))


severities = st.sampled_from(WORDS)
answers = st.dictionaries(st.sampled_from(["0", "1", "2", "3", "None"]), severities.map(entry))


@given(answers, severities)
def test_a_further_correction_never_lowers_the_severity(answer: dict[str, Any], severity: str) -> None:
    before, after = read(answer), read({**answer, "1": answer.get("1", entry(severity))})
    assert before is not None
    assert after is not None
    assert after.worst >= before.worst
    assert after.mean >= before.mean
    assert 0 <= after.mean <= after.worst <= 4


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["0", "None", "corrections", "clinical severity", "x"]), inner, max_size=4
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from(CONVENTIONS),
    st.sampled_from(["strict", "tolerant"]),
)
def test_no_answer_raises(answer: Any, convention: Convention, parser: str) -> None:
    for form in (answer, json.dumps(answer), {"0": answer}):
        found = read(form, convention, parser)
        assert found is None or 0 <= found.mean <= found.worst <= 4


KEYS = ["fineradscore", "fineradscore_mean", "inv_fineradscore"]


def scores(answers: list[Any], convention: Convention = "corrected", **options: Any) -> Any:
    predictions = ["" if answer == "blank" else REPORT for answer in answers]
    features = {"fineradscore_answer": [None if answer == "blank" else answer for answer in answers]}
    return compute(KEYS, predictions, ["Reference."] * len(answers), convention, features=features, **options)


def test_the_metric_gives_means_and_the_display_of_their_inverse() -> None:
    found = scores([{"0": entry(WORDS[0]), "2": entry(WORDS[2])}, {}, "no JSON", None, "blank"])
    worst_column, mean_column, inverse = (found[key] for key in KEYS)
    assert worst_column.values[[0, 1, 4]].tolist() == [3, 0, 4]
    assert mean_column.values[[0, 1, 4]].tolist() == [1, 0, 4]
    for column in (worst_column, mean_column):
        assert np.isnan(column.values[2:4]).all()
        assert column.reasons == {2: "unparsed", 3: "failed"}
        assert (column.counts["n_unparsed"], column.counts["n_failed"], column.counts["n_empty"]) == (1, 1, 1)
    assert worst_column.aggregate == pytest.approx(7 / 3)
    assert mean_column.aggregate == pytest.approx(5 / 3)
    assert np.isnan(inverse.values).all()
    assert inverse.aggregate == pytest.approx(3 / 7)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_inverse_is_null_where_nothing_is_wrong(convention: Convention) -> None:
    found = scores([{}, {}], convention)
    assert found["fineradscore"].aggregate == 0
    assert found["inv_fineradscore"].aggregate is None


def test_signatures_and_wrong_calls() -> None:
    assert scores([{}])["fineradscore"].signature == "fineradscore|conv:corrected|parser:strict|agg:worst|v:1"
    assert "parser:tolerant" in scores([{}], parser="tolerant")["fineradscore_mean"].signature
    with pytest.raises(InvalidCall, match="parser"):
        scores([{}], parser="other")
    with pytest.raises(InvalidCall, match=r"\[0\]: expected str or mapping, or None, got int$"):
        scores([5])
    with pytest.raises(InvalidCall, match=r"\[0\]: the study has 2 references, and the judge of FineRadScore compares"):
        compute(KEYS, ["a"], [["b", "c"]], features={"fineradscore_answer": [{}]})
    with pytest.raises(InvalidCall, match="convention"):
        from_answer({}, REPORT, "other")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match=r"^prediction: expected the report as a str, got NoneType$"):
        from_answer({}, None, "corrected")  # type: ignore[arg-type]
