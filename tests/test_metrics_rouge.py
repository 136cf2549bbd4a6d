"""ROUGE against the table of the specification and against the original packages."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from pycocoevalcap.rouge.rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

from rexrank.metrics import InvalidCall, compute
from rexrank.metrics.porter import stem

SCORER_KEYS = {"rouge1": "rouge1", "rouge2": "rouge2", "rouge_l_f1": "rougeL"}

words = st.sampled_from(
    [
        "effusions",
        "effusion",
        "Effusion",
        "no",
        "no",
        "skies",
        "clearly",
        "2.5",
        "größe",
        "İ",
        "K",
        "肺",
        "легкие",
        "...",
        "a\tb",
    ]
)
spaces = st.sampled_from([" ", " ", " ", "  ", "\n", "-"])
reports = st.lists(st.tuples(words, spaces), max_size=25).map(lambda parts: "".join(w + s for w, s in parts)) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=40
)
studies_strategy = st.lists(st.tuples(reports, st.lists(reports, min_size=1, max_size=3)), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("prediction", "reference", "coco", "scorer", "corrected"),
    [
        ("", "", 1, 0, None),
        ("Stable right scar", "stable right scar", 0.666667, 1, 1),
        ("stable  right scar", "stable right scar", 0.879808, 1, 1),
        ("opacities", "opacity", 0, 1, 0),
        ("Лёгкие без очаговых теней", "Лёгкие без очаговых теней", 1, 0, 1),
        ("...", "...", 1, 0, 1),
        ("scar", "scar", 1, 1, 1),
    ],
)
def test_rouge_gives_the_tabled_values(
    prediction: str, reference: str, coco: float, scorer: float, corrected: float | None
) -> None:
    keys = ["rouge_l", "rouge1", "rouge_l_f1"]
    published = compute(keys, [prediction], [reference])
    assert published["rouge_l"].aggregate == pytest.approx(coco, abs=5e-7)
    assert published["rouge1"].aggregate == published["rouge_l_f1"].aggregate == pytest.approx(scorer)
    assert [compute(keys, [prediction], [reference], "corrected")[key].aggregate for key in keys] == [corrected] * 3


def test_rouge2_of_one_equal_word() -> None:
    assert compute("rouge2", ["scar"], ["scar"])["rouge2"].aggregate == 0
    assert compute("rouge2", ["scar"], ["scar"], "corrected")["rouge2"].aggregate == 1
    different = compute("rouge2", ["scar"], ["scar."], "corrected")["rouge2"]
    assert different.aggregate is None
    assert different.reasons == {0: "no_content"}


def test_stemmer_is_an_option_that_the_signature_shows() -> None:
    texts = (["opacities"], ["opacity"])
    assert compute("rouge1", *texts, stemmer=False)["rouge1"].aggregate == 0
    stemmed = compute("rouge1", *texts, "corrected", stemmer=True)["rouge1"]
    assert stemmed.aggregate == 1
    assert stemmed.signature == "rouge1|conv:corrected|tok:unicode-words|stem:porter|beta:1|v:1"
    published = compute(["rouge1", "rouge_l"], *texts)
    assert published["rouge1"].signature == "rouge1|conv:published|tok:alnum|stem:porter|impl:rouge_score|v:1"
    assert published["rouge_l"].signature == "rouge_l|conv:published|tok:space|impl:coco|beta:1.2|v:1"
    with pytest.raises(InvalidCall, match="stemmer: expected True or False, got str"):
        compute("rouge1", *texts, stemmer="porter")


@settings(deadline=None)
@given(studies_strategy)
def test_published_rouge_l_equals_pycocoevalcap(studies: list[tuple[str, list[str]]]) -> None:
    mean, each = Rouge().compute_score(
        {i: texts for i, (_, texts) in enumerate(studies)}, {i: [text] for i, (text, _) in enumerate(studies)}
    )
    scores = compute("rouge_l", [study[0] for study in studies], [study[1] for study in studies])["rouge_l"]
    assert scores.values.tolist() == pytest.approx(each.tolist(), abs=1e-12)
    assert scores.aggregate == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("stemmer", [True, False])
@settings(deadline=None)
@given(studies=studies_strategy)
def test_published_scores_equal_rouge_score(stemmer: bool, studies: list[tuple[str, list[str]]]) -> None:
    scorer = RougeScorer(list(SCORER_KEYS.values()), use_stemmer=stemmer)
    expected = [scorer.score_multi(texts, prediction) for prediction, texts in studies]
    scores = compute(list(SCORER_KEYS), [s[0] for s in studies], [s[1] for s in studies], stemmer=stemmer)
    for key, kind in SCORER_KEYS.items():
        assert scores[key].values.tolist() == pytest.approx([study[kind].fmeasure for study in expected], abs=1e-12)


_SUFFIXES = (
    "ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti "
    "iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent "
    "sion tion ou ism ate iti ous ive ize e ll y ies ied sses ss s ed eed ing ly"
)
suffixes = st.sampled_from(_SUFFIXES.split())
stems = st.text("aeiouyybcdlmstzwx7", max_size=6)


@settings(deadline=None)
@given(stems, st.lists(suffixes, max_size=3).map("".join))
def test_stems_equal_nltk(start: str, end: str) -> None:
    assert stem(start + end) == PorterStemmer().stem(start + end)


@pytest.mark.parametrize(
    "word", ["skies", "dying", "news", "innings", "proceed", "dies", "died", "flies", "spied", "ay", "sky"]
)
def test_irregular_stems_equal_nltk(word: str) -> None:
    assert stem(word) == PorterStemmer().stem(word)


def test_published_equals_the_stored_rouge_l_of_mrg_rl(shared_data: Path) -> None:
    (folder,) = (path for path in (shared_data / "iu_xray" / "predictions" / "mrg_rl").iterdir() if path.is_dir())
    predictions = json.loads((folder / "test_preds.json").read_text(encoding="utf-8"))
    references = json.loads((folder / "test_refs.json").read_text(encoding="utf-8"))
    stored = json.loads((folder / "test_metrics.json").read_text(encoding="utf-8"))["ROUGE_L"]
    scores = compute("rouge_l", [predictions[study][0] for study in references], list(references.values()))["rouge_l"]
    assert len(scores.values) == 382
    assert scores.aggregate == pytest.approx(stored, abs=1e-9)
    assert scores.aggregate == pytest.approx(float(np.mean(scores.values)), abs=1e-15)


@pytest.mark.parametrize("stemmer", [True, False])
def test_published_equals_rouge_score_on_real_reports(stemmer: bool, shared_data: Path) -> None:
    (folder,) = (path for path in (shared_data / "iu_xray" / "predictions" / "mrg_rl").iterdir() if path.is_dir())
    references = json.loads((folder / "test_refs.json").read_text(encoding="utf-8"))
    predictions = json.loads((folder / "test_preds.json").read_text(encoding="utf-8"))
    texts = [predictions[study][0] for study in references]
    scorer = RougeScorer(list(SCORER_KEYS.values()), use_stemmer=stemmer)
    expected = [scorer.score_multi(true, text) for true, text in zip(references.values(), texts, strict=True)]
    scores = compute(list(SCORER_KEYS), texts, list(references.values()), stemmer=stemmer)
    for key, kind in SCORER_KEYS.items():
        assert scores[key].counts["n"] == 382
        assert scores[key].values.tolist() == pytest.approx([study[kind].fmeasure for study in expected], abs=1e-12)
