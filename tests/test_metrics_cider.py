"""CIDEr against the table of the specification and against pycocoevalcap."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pycocoevalcap.cider.cider import Cider

from rexrank.metrics import InvalidCall, compute
from rexrank.metrics.cider import DocumentFrequencies, document_frequencies
from rexrank.metrics.computation import KeyScores

THREE = ["small right pleural effusion", "stable large hiatal hernia today", "no acute rib fracture"]
UNRELATED = "tortuous calcified aorta again"

words = st.sampled_from(["heart", "Heart", "clear", "clear.", "no", "2.5", "größe", "легкие", "肺", "\u200bx", ","])
spaces = st.sampled_from([" ", " ", " ", "  ", "\n", "\t", " \u00a0", " . ", "\x1c"])
reports = st.lists(st.tuples(words, spaces), max_size=20).map(lambda parts: "".join(w + s for w, s in parts)) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=30
)
studies_strategy = st.lists(st.tuples(reports, st.lists(reports, min_size=1, max_size=3)), min_size=1, max_size=6)


def cider(predictions: list[str], references: list[Any], convention: str = "published", **options: Any) -> KeyScores:
    return compute("cider", predictions, references, convention, **options)["cider"]


def original(predictions: list[str], references: list[list[str]]) -> tuple[float, list[float]]:
    mean, each = Cider().compute_score(dict(enumerate(references)), {i: [text] for i, text in enumerate(predictions)})
    return float(mean), each.tolist()


@pytest.mark.parametrize(
    ("predictions", "references", "published", "corrected"),
    [
        (THREE, THREE, [10, 10, 10], [10, 10, 10]),
        ([*THREE[:2], UNRELATED], THREE, [10, 10, 0], [10, 10, 0]),
        ([THREE[1], THREE[0], THREE[2]], THREE, [0, 0, 10], [0, 0, 10]),
        (["effusion", "hernia", "fracture"], ["effusion", "hernia", "fracture"], [2.5] * 3, [10] * 3),
        (["new edema", "old scar", "clear lungs"], ["new edema", "old scar", "clear lungs"], [5] * 3, [10] * 3),
    ],
)
def test_cider_gives_the_tabled_values(
    predictions: list[str], references: list[str], published: list[float], corrected: list[float]
) -> None:
    for convention, expected in (("published", published), ("corrected", corrected)):
        scores = cider(predictions, references, convention)
        assert scores.values.tolist() == pytest.approx(expected, abs=1e-9)
        assert scores.aggregate == pytest.approx(np.mean(expected), abs=1e-9)


def test_one_pair_by_hand() -> None:
    scores = cider(["mild edema mild edema", "x"], ["mild edema", "mild scar"])
    # Only "edema" of the words (2 against 1) and "mild edema" of the pairs have weight, ln 2 each where df is 1;
    # so do "edema mild" and the longer n-grams of the prediction alone.
    unigrams, bigrams = 1 * 1 / (2 * 1), 1 * 1 / (math.sqrt(2**2 + 1**2) * 1)
    assert scores.values[0] == pytest.approx(10 * (unigrams + bigrams) / 4 * math.exp(-(2**2) / 72))


@settings(deadline=None)
@given(studies_strategy)
def test_published_equals_pycocoevalcap(studies: list[tuple[str, list[str]]]) -> None:
    predictions, references = [study[0] for study in studies], [study[1] for study in studies]
    assume(any(text.split() for texts in references for text in texts))
    mean, each = original(predictions, references)
    scores = cider(predictions, references)
    assert scores.values.tolist() == pytest.approx(each, abs=1e-9)
    assert scores.aggregate == pytest.approx(mean, abs=1e-9)


def column(path: Path, name: str) -> list[str]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [row[name] for row in csv.DictReader(stream)]


def test_published_equals_pycocoevalcap_on_real_reports(shared_data: Path) -> None:
    folder = shared_data / "iu_xray" / "predictions" / "moerad"
    predictions, references = column(folder / "preds.csv", "report"), column(folder / "gts.csv", "report")
    several = [[text, references[position - 1]] for position, text in enumerate(references)]
    for given_references in ([[text] for text in references], several):
        mean, each = original(predictions, given_references)
        scores = cider(predictions, given_references)
        assert scores.counts["n"] == 590
        assert np.abs(scores.values - each).max() <= 1e-9
        assert scores.aggregate == pytest.approx(mean, abs=1e-9)
        assert 0 < mean < 10


def test_the_table_of_the_references_gives_the_same_scores(shared_data: Path) -> None:
    folder = shared_data / "iu_xray" / "predictions" / "moerad"
    predictions, references = column(folder / "preds.csv", "report"), column(folder / "gts.csv", "report")
    for convention in ("published", "corrected"):
        table = document_frequencies(references, convention)
        assert table.n == 590
        by_table = cider(predictions, references, convention, df=table)
        assert by_table.values.tolist() == pytest.approx(cider(predictions, references, convention).values.tolist())


def test_blank_references_break_the_original_and_not_us() -> None:
    with pytest.raises(ValueError, match="empty"):
        original(["clear lungs"], [[""]])
    scores = cider(["clear lungs", ""], ["", " "])
    assert scores.values.tolist() == [0, 0]
    assert scores.counts["n_empty_reference"] == 2
    nulls = cider(["clear lungs", ""], ["", " "], "corrected")
    assert nulls.aggregate is None
    assert nulls.reasons == {0: "empty_reference", 1: "both_empty"}


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        (["mild edema"], ["mild edema"]),
        (["mild edema", "new scar", ""], ["clear lungs", "Clear  lungs", "clear lungs"]),
        (["mild edema", "clear lungs"], ["FINDINGS: clear lungs", "clear lungs"]),
        (["mild edema", "FINDINGS:"], ["clear lungs", "FINDINGS:"]),
    ],
)
def test_corrected_is_null_where_the_references_carry_no_contrast(
    predictions: list[str], references: list[str]
) -> None:
    scores = cider(predictions, references, "corrected")
    assert np.isnan(scores.values).all()
    assert scores.aggregate is None
    assert scores.reasons == dict.fromkeys(range(len(predictions)), "degenerate_reference_statistics")
    assert scores.counts["n_undefined"] == len(predictions)


def test_published_is_zero_even_for_perfect_output_where_the_references_carry_no_contrast() -> None:
    texts = ["clear lungs and heart", "clear lungs and heart"]
    assert cider(texts, texts).values.tolist() == original(texts, [[text] for text in texts])[1] == [0, 0]


def test_a_blank_reference_is_no_document_in_corrected() -> None:
    predictions = ["small effusion today", "hernia seen", UNRELATED]
    with_blank = cider(predictions, [*THREE[:2], " "], "corrected")
    alone = cider(predictions[:2], THREE[:2], "corrected")
    assert with_blank.values[:2].tolist() == alone.values.tolist()
    assert "|df:refs(2)|" in with_blank.signature
    assert with_blank.reasons == {2: "empty_reference"}
    assert "|df:refs(3)|" in cider(predictions, [*THREE[:2], " "]).signature


def test_a_report_of_common_words_alone_says_nothing() -> None:
    references = ["Stable.", "Stable. New scar.", "Stable. Old hernia."]
    scores = cider(["stable .", "stable .", "Old hernia"], references, "corrected")
    # Every document holds "stable" and ".", so neither weighs anything.
    assert scores.reasons == {0: "no_content"}
    assert scores.values[1:].tolist() == [0, pytest.approx(scores.values[2])]
    assert 0 < scores.values[2] < 10
    assert scores.counts["n_no_content"] == 1


def test_the_option_df_takes_a_file_a_mapping_or_an_object(tmp_path: Path) -> None:
    table = document_frequencies([*THREE, ["stable hernia", "stable small hernia"]])
    assert (table.n, table.tok, table.df["stable"], table.df["hernia"]) == (4, "split", 2, 2)
    assert "small right pleural effusion" in table.df
    path = tmp_path / "df.json"
    table.save(path)
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written == {"n": 4, "tok": "split", "df": dict(table.df)}
    plain = {"n": 4, "df": dict(reversed(table.df.items()))}
    results = [cider(["large hernia"], ["small hernia"], df=value) for value in (table, plain, str(path), path)]
    assert {scores.signature for scores in results} == {
        f"cider|conv:published|tok:split|n:4|sigma:6|df:{table.sha8}|v:1"
    }
    # "hernia" weighs ln(4/2), "large" and "small" ln 4 and ln(4/2).
    hernia, large, small = math.log(2), math.log(4), math.log(2)
    expected = 10 / 4 * hernia**2 / (math.hypot(hernia, large) * math.hypot(hernia, small))
    assert [scores.values[0] for scores in results] == [pytest.approx(expected)] * 4


def test_a_table_keeps_studies_independent_and_one_study_scorable() -> None:
    table = document_frequencies(THREE, "corrected")
    alone = cider(["No rib fracture."], ["No acute rib fracture."], "corrected", df=table)
    among = cider(["No rib fracture.", "x"], ["No acute rib fracture.", "Hernia."], "corrected", df=table)
    assert alone.values[0] == among.values[0] > 0
    assert cider(["Hernia"], ["Hernia"], "corrected", df=table).values.tolist() == [10]
    assert cider(["Hernia"], ["Hernia"], df=document_frequencies(THREE)).values[0] == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (7, "df: expected a path to a JSON file .* got 7"),
        ({"n": 3}, "df: expected a path .* got a value of type dict"),
        ({"n": 1, "df": {"a": 1}}, '"n" must be the number of documents, 2 or more and below .*, got 1'),
        ({"n": 1 << 53, "df": {"a": 1}}, '"n" must be the number of documents, .* got 9007199254740992'),
        ({"n": True, "df": {"a": 1}}, '"n" must be the number of documents, 2 or more .*, got True'),
        ({"n": 3, "df": {}}, '"df" must be an object .* that is not empty'),
        ({"n": 3, "df": [1]}, '"df" must be an object'),
        ({"n": 3, "df": {"a": 1, "secret  words": 1}}, "entry 1 of .* is not 1 to 4 words with one space"),
        ({"n": 3, "df": {"a b c d secret": 1}}, "entry 0 of .* is not 1 to 4 words"),
        ({"n": 3, "df": {"secret": 4}}, r'entry 0 of "df" must be a number of documents from 1 to "n" \(3\), got 4'),
        ({"n": 3, "df": {"secret": 1.5}}, "from 1 to .* got 1.5"),
        ({"n": 3, "df": {"secret": 3}}, "every n-gram stands in every document"),
        ({"n": 3, "df": {"secret": 2}, "tok": "words"}, "df: tok: expected split or unicode"),
        (
            {"n": 3, "df": {"secret": 2}, "tok": "unicode"},
            "made with the tokeniser unicode and this convention has spl",
        ),
    ],
)
def test_tables_of_another_form_are_refused_in_one_sentence(table: Any, sentence: str) -> None:
    with pytest.raises(InvalidCall, match=sentence) as caught:
        cider(["a"], ["b"], df=table)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "there is no file at the path given"),
        (b"{", "the file is not valid JSON"),
        (b"\xff\xfe\x00", "the file is not valid JSON"),
        (b"[" * 100_000, "the file is not valid JSON"),
        (b"[1]", "df: expected a path to a JSON file"),
        (b'{"n": 3, "df": {"a": NaN}}', "entry 0 of .* got nan"),
    ],
)
def test_files_of_another_form_are_refused_in_one_sentence(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "table.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidCall, match=sentence):
        cider(["a"], ["b"], df=path)


def test_corpora_without_contrast_give_no_table() -> None:
    with pytest.raises(InvalidCall, match=r"2 or more .*, got 1"):
        document_frequencies(["clear lungs", " "], "corrected")
    with pytest.raises(InvalidCall, match="every n-gram stands in every document"):
        document_frequencies(["clear lungs", "clear lungs"])
    with pytest.raises(InvalidCall, match="convention: expected"):
        document_frequencies(["clear", "lungs"], "strict")  # type: ignore[arg-type]
    assert DocumentFrequencies(2, {"a": 1}).sha8 == DocumentFrequencies(2, {"a": 1}, "split").sha8
