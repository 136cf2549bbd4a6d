"""What holds for every text that is labelled."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.errors import WrongType
from rexrank.labels import BLANK, NAMES, NEGATIVE, POSITIVE, RULE_VERSION, UNCERTAIN, label, mentions

WORDS = (
    "no effusion pneumothorax heart size is normal enlarged and or , . : ; ? / may represent atelectasis not seen but "
    "with small stable history of pneumonia lungs clear XXXX cannot exclude edema mediastinum borderline calcified "
    "nodule tube resolved removed versus findings: impression: 1."
)
REPORTS = st.lists(st.sampled_from([*WORDS.split(), "\n", "\n\n"]), max_size=40).map(" ".join)
NO_FINDING = NAMES.index("No Finding")
# Each takes most time where a rule looks far ahead or back for its word.
HOSTILE = {
    "negations": "no " * 333_333,
    "full stops": "." * 1_000_000,
    "question marks": "?" * 100_000,
    "a list": "no effusion, " * 20_000,
    "alternatives": "effusion or " * 20_000,
    "parts": "heart " * 30_000,
    "parts with judgements": "heart " * 30_000 + "enlarged " * 30_000,
    "judgements with parts": "enlarged " * 30_000 + "heart " * 30_000,
    "findings with cues": "effusion " * 30_000 + "not seen " * 30_000,
    "clauses": "the heart is normal and " * 15_000,
    "line breaks": "\n" * 1_000_000,
    "blank lines": "\n \t" * 50_000,
    "a line break before spaces": "\n" + " " * 1_000_000 + "x",
    "one word": "a" * 1_000_000,
    "abbreviations": "e.g." * 200_000,
    "a phrase that breaks off": "no significant interval " * 40_000,
    "headers": "Findings:" * 30_000,
    "combining marks": "\u0301" * 1_000_000,
}


@given(st.lists(REPORTS, max_size=6))
@settings(max_examples=60, deadline=None)
def test_a_text_is_labelled_for_itself(texts: list[str]) -> None:
    labels = label(texts)
    assert labels.dtype == np.int8
    assert labels.shape == (len(texts), len(NAMES))
    assert np.isin(labels, (BLANK, POSITIVE, NEGATIVE, UNCERTAIN)).all()
    assert np.isin(labels[:, NO_FINDING], (BLANK, POSITIVE)).all()
    np.testing.assert_array_equal(label(texts[::-1]), labels[::-1])
    np.testing.assert_array_equal(label(texts + texts), np.concatenate([labels, labels]))
    for text, row in zip(texts, labels, strict=True):
        np.testing.assert_array_equal(label([text])[0], row)


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_any_unicode_is_labelled(text: str) -> None:
    assert label([text, "No effusion."])[1].tolist() == label(["No effusion."])[0].tolist()


@given(REPORTS)
@settings(max_examples=60, deadline=None)
def test_labels_are_those_of_the_mentions(text: str) -> None:
    rank = (BLANK, NEGATIVE, UNCERTAIN, POSITIVE).index
    best = dict.fromkeys(NAMES[:NO_FINDING], BLANK)
    for mention in mentions(text):
        if mention.name is not None:
            best[mention.name] = max(best[mention.name], mention.status, key=rank)
    assert label([text])[0, :NO_FINDING].tolist() == list(best.values())


SPELLINGS = {
    "small": "small left pleural effusion. no pneumothorax; heart is normal.",
    "capitals": "SMALL LEFT PLEURAL EFFUSION. NO PNEUMOTHORAX; HEART IS NORMAL.",
    "white space": "  Small  left\tpleural effusion. \n\n\n No\npneumothorax;\u00a0heart is   normal. ",
    "carriage returns": "Small left pleural effusion.\r\nNo pneumothorax;\r\nheart is normal.",
    "full width": "Small left pleural ｅｆｆｕｓｉｏｎ． Ｎｏ pneumothorax； ｈｅａｒｔ is normal．",
    "soft hyphens": "Small left pleural effu\u00adsion. No pneumo\u200bthorax; heart is normal.",
    "a list": "1. Small left pleural effusion\n2. No pneumothorax\n3. Heart is normal",
    "headers": "FINDINGS: Small left pleural effusion. No pneumothorax.\nIMPRESSION: Heart is normal.",
    "marks": "Small XXXX left pleural ___ effusion. No XXXX pneumothorax; XXXX heart is normal.",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spelling_does_not_count(spelling: str) -> None:
    (row,) = label([SPELLINGS[spelling]])
    found = {name: code for name, code in zip(NAMES, row.tolist(), strict=True) if code}
    assert found == {"Cardiomegaly": NEGATIVE, "Pneumothorax": NEGATIVE, "Pleural Effusion": POSITIVE}


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", ".", "1. 2.", "XXXX", "___", "?"])
def test_a_text_without_a_word_has_no_label(text: str) -> None:
    assert not label([text]).any()


def test_no_texts_have_no_labels() -> None:
    assert label([]).shape == (0, len(NAMES))


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.timeout(60)  # quadratic steps would take hours
def test_hostile_texts_end(kind: str) -> None:
    label([HOSTILE[kind]])


def test_a_finding_is_read_behind_a_long_beginning() -> None:
    (row,) = label(["The lungs are clear. " * 950 + "Small effusion."])
    assert row[NAMES.index("Pleural Effusion")] == POSITIVE


def test_threads_agree() -> None:
    texts = [f"No effusion. {size} cm nodule in the {side} lung." for size in range(200) for side in ("left", "right")]
    expected = label(texts)
    with ThreadPoolExecutor(8) as pool:
        for labels in pool.map(label, [texts] * 16, timeout=60):
            np.testing.assert_array_equal(labels, expected)


def test_any_iterable_of_texts_will_do() -> None:
    texts = ("No effusion.", "Cardiomegaly.")
    np.testing.assert_array_equal(label(np.array(texts)), label(list(texts)))
    np.testing.assert_array_equal(label(text for text in texts), label(list(texts)))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("No effusion.", "texts: expected a list of texts, got str"),
        (b"No effusion.", "texts: expected a list of texts, got bytes"),
        (None, "texts: expected a list of texts, got NoneType"),
        (["Clear.", None], r"texts\[1\]: expected str, got NoneType"),
        (["Clear.", 3.5], r"texts\[1\]: expected str, got float"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(texts: object, message: str) -> None:
    with pytest.raises(WrongType, match=message):
        label(texts)  # type: ignore[arg-type]


def test_a_mention_of_what_is_no_text_is_refused() -> None:
    with pytest.raises(WrongType, match=r"text: expected str, got list"):
        mentions(["Clear."])  # type: ignore[arg-type]


def test_names_need_no_numpy() -> None:
    code = "import sys, rexrank; assert len(rexrank.labels.NAMES) == 14; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_version_of_the_rules_fits_into_a_signature() -> None:
    assert RULE_VERSION
    assert not set(RULE_VERSION) & set("|: ")
