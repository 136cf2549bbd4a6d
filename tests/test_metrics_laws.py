"""The laws that every metric of the registry obeys, on texts of every kind.

A metric added to the registry is tested here at once; one that needs an encoder or a judge gets invented features.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import feature_makers
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import compute, metrics
from rexrank.metrics.computation import KeyScores
from rexrank.metrics.features import FEATURES, Features, TextFeatures
from rexrank.metrics.pairs import canonical
from rexrank.metrics.registry import ScoreKey
from rexrank.reports.studies import is_blank
from rexrank.terms import CONVENTIONS, Convention

Study = tuple[str, list[str]]
Studies = list[Study]
Column = list[float | None]

# A few texts for a metric that starts a program; hypothesis for all others.
SLOW = ("meteor",)
FAST = [name for name in metrics() if name not in SLOW]
LEXICAL = ("bleu", "rouge", "cider")
# What makes a study's score independent of its neighbours, where it is not: CIDEr's document frequencies come from
# the references of the call unless a table gives them.
INDEPENDENT: dict[str, dict[str, Any]] = {"cider": {"df": {"n": 9, "df": {"heart": 2, "clear": 5, ".": 9}}}}

# Values of the options that a key may require, made from predictions and references so that they move with them.
REQUIRED: dict[str, Callable[[Sequence[str], Sequence[Sequence[str]]], Any]] = {
    "training": lambda predictions, references: [REPORT, "clear ."],
    "categories": lambda predictions, references: [
        f"category {feature_makers.number(texts[0]) % 3}" for texts in references
    ],
}

# They also give CIDEr the contrast without which it has no value for anybody, identical texts included.
NEIGHBOURS: Studies = [
    ("Small left effusion.", ["Small right pleural effusion, new."]),
    ("Stable scar.", ["No acute fracture. Heart size is normal."]),
]
REPORT, OTHER = "Mild new edema. Heart is enlarged.", "No focal airspace disease; heart size is normal."
BLANKS = ["", " ", "\n\t ", "\u200b", "\u00a0\ufeff\x00"]
STRANGE = [
    "caf\u00e9 gro\u00df",
    "Лёгкие без очаговых теней.",
    "肺野清晰。",
    "हृदय सामान्य है",
    "صدر طبيعي",
    "👩🏽‍⚕️ 🫁",
    "a\x00b\x1cc\u2028d\u2029e",
    "\u202eedema\u202c",
    "ＦＩＮＤＩＮＧＳ：ｃｌｅａｒ",
    "İıßﬁ",
    "...",
    "B.",
    "FINDINGS:",
    "____ XXXX |||",
    '{"a": [1, "[Matched Findings]:"]} <|assistant|>',
]

_words = "heart Heart clear . new worsened edema FINDINGS: 2.5 größe легкие 肺 है \u200b ... (x) \x00 🫁"
texts = st.lists(st.sampled_from(_words.split(" ")), max_size=12).map(" ".join) | st.text(max_size=30)
some_studies = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=2)), min_size=1, max_size=4)

per_metric = pytest.mark.parametrize("name", FAST)
per_convention = pytest.mark.parametrize("convention", CONVENTIONS)


def keys_of(name: str) -> dict[str, ScoreKey]:
    return {key.key: key for key in metrics()[name].keys}


def score(name: str, studies: Studies, convention: Convention = "corrected", **options: Any) -> dict[str, KeyScores]:
    """Scores of all keys of a metric."""
    return _with_features(name, studies, convention, features_of(name, studies), **options)


def features_of(name: str, studies: Studies) -> dict[str, Features]:
    return feature_makers.features_of(needs(name), [study[0] for study in studies], [study[1] for study in studies])


def _with_features(
    name: str, studies: Studies, convention: Convention, features: dict[str, Features], **options: Any
) -> dict[str, KeyScores]:
    predictions, references = [study[0] for study in studies], [study[1] for study in studies]
    required = {option: REQUIRED[option](predictions, references) for option in requires(name)}
    options = {**required, **options}
    return compute(list(keys_of(name)), predictions, references, convention, features=features, **options)


def requires(name: str) -> list[str]:
    return list(dict.fromkeys(option for key in keys_of(name).values() for option in key.requires))


def needs(name: str) -> list[str]:
    return list(dict.fromkeys(feature for key in keys_of(name).values() for feature in key.needs))


def column(scores: KeyScores) -> Column:
    return [None if math.isnan(value) else value for value in scores.values.tolist()]


def same(column: Sequence[float | None], expected: Sequence[float | None]) -> bool:
    return len(column) == len(expected) and all(
        (one is None) == (other is None) and (one is None or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12))
        for one, other in zip(column, expected, strict=True)
    )


def only_together(scores: KeyScores) -> bool:
    """Whether studies have no value of their own in principle."""
    return set(scores.reasons.values()) >= {"only_together"}


def check_finite_or_null(name: str, studies: Studies, convention: Convention, **options: Any) -> None:
    predictions = [study[0] for study in studies]
    for key, scores in score(name, studies, convention, **options).items():
        low, high = (
            end if end is not None else sign * math.inf
            for end, sign in zip(keys_of(name)[key].range(convention), (-1, 1), strict=True)
        )
        values, lost = scores.values, np.isnan(scores.values)
        assert values.shape == (len(studies),)
        assert ((values[~lost] >= low) & (values[~lost] <= high) & np.isfinite(values[~lost])).all(), key
        assert set(scores.reasons) == set(np.flatnonzero(lost).tolist()), key
        assert all(scores.reasons.values()), key
        aggregate = scores.aggregate
        assert aggregate is None or (math.isfinite(aggregate) and low <= aggregate <= high), key
        assert scores.counts["n"] == len(studies)
        undefined = [reason for reason in scores.reasons.values() if reason != "only_together"]
        assert scores.counts["n_undefined"] == len(undefined), key
        assert scores.counts["n_empty"] == sum(map(is_blank, predictions))
        assert all(isinstance(count, int) and count >= 0 for count in scores.counts.values()), key
        assert scores.signature.startswith(f"{key}|conv:{convention}|")


def check_identity(name: str, identical: Studies) -> None:
    for key, scores in score(name, [*identical, *NEIGHBOURS]).items():
        best = keys_of(name)[key].best("corrected")
        if best is not None and not only_together(scores):
            assert column(scores)[: len(identical)] == [best] * len(identical), key
        assert scores.counts["n_identical"] == len(identical)


def check_independence(name: str, studies: Studies, order: Sequence[int], convention: Convention) -> None:
    options = INDEPENDENT.get(name, {})
    together = score(name, studies, convention, **options)
    permuted = score(name, [studies[position] for position in order], convention, **options)
    blanked = score(name, [study if i % 2 else ("", [""]) for i, study in enumerate(studies)], convention, **options)
    longer = score(name, [*studies, studies[0]], convention, **options)
    alone = [score(name, [study], convention, **options) for study in studies]
    for key, scores in together.items():
        values = column(scores)
        assert same([column(one[key])[0] for one in alone], values), key
        assert same(column(permuted[key]), [values[position] for position in order]), key
        assert same(column(blanked[key])[1::2], values[1::2]), key
        assert same(column(longer[key]), [*values, values[0]]), key
        assert same([permuted[key].aggregate], [scores.aggregate]), key


def check_doubling(name: str, studies: Studies) -> None:
    """A set that holds every study twice has the same aggregate, unless it is a statement about the set."""
    options = INDEPENDENT.get(name, {})
    once, twice = (score(name, studies * times, **options) for times in (1, 2))
    for key, scores in once.items():
        if keys_of(name)[key].kind != "set":
            assert same([twice[key].aggregate], [scores.aggregate]), key


def check_blanks(name: str, blank: str) -> None:
    studies = [(blank, [REPORT]), (REPORT, [OTHER]), (REPORT, [blank]), (blank, [blank]), *NEIGHBOURS]
    for key, scores in score(name, studies).items():
        entry = keys_of(name)[key]
        if entry.direction == "none":
            continue
        worst = entry.worst("corrected")
        assert {scores.reasons[2], scores.reasons[3]} == {"empty_reference", "both_empty"}, key
        assert (scores.counts["n_empty"], scores.counts["n_empty_reference"]) == (2, 2)
        if only_together(scores) or entry.blank == "formula":
            continue
        assert column(scores)[0] == worst, key
        assert scores.reasons.get(0) == ("empty_prediction" if worst is None else None), key


def check_very_long(name: str, length: int) -> None:
    generator = np.random.default_rng(0)
    long, longer = (
        " ".join(f"w{number}" for number in generator.integers(0, 500, size)) for size in (length, 2 * length)
    )
    studies: Studies = [(long, [longer]), ("clear", [longer]), (longer, ["clear"]), *NEIGHBOURS]
    for convention in CONVENTIONS:
        check_finite_or_null(name, studies, convention)
    check_identity(name, [(longer, [longer])])


def check_strange_texts(name: str) -> None:
    studies = [study for text in STRANGE for study in ((text, [REPORT]), (REPORT, [text]), (text, [text]))]
    for convention in CONVENTIONS:
        check_finite_or_null(name, studies, convention)
    check_identity(name, [(text, [text]) for text in STRANGE])
    check_identity(name, [("cafe\u0301  gro\u00df\n", [STRANGE[0]])])


def test_every_feature_can_be_invented() -> None:
    made = {**feature_makers.TEXT_MAKERS, **feature_makers.PAIR_MAKERS}
    assert set(made) == set(FEATURES)
    for name in FEATURES:
        assert (name in feature_makers.PAIR_MAKERS) == (FEATURES[name].of == "pair")


def test_every_option_that_a_key_requires_is_given() -> None:
    assert set(REQUIRED) == {option for name in metrics() for option in requires(name)}


@per_metric
@settings(deadline=None, max_examples=40)
@given(text=texts.filter(lambda text: not is_blank(text)), other=texts)
def test_identity_is_exactly_best(name: str, text: str, other: str) -> None:
    check_identity(name, [(text, [canonical(text)]), (f" {text}\n", [text, other])])


@per_metric
@per_convention
@settings(deadline=None, max_examples=60)
@given(studies=some_studies)
def test_scores_are_finite_or_null_and_in_range(name: str, convention: Convention, studies: Studies) -> None:
    check_finite_or_null(name, studies, convention)


@per_metric
@per_convention
@settings(deadline=None, max_examples=30)
@given(studies=some_studies, data=st.data())
def test_a_study_never_depends_on_its_neighbours_or_their_order(
    name: str, convention: Convention, studies: Studies, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(studies))))
    check_independence(name, studies, order, convention)


@per_metric
@settings(deadline=None, max_examples=30)
@given(studies=some_studies)
def test_a_set_given_twice_has_the_same_aggregate(name: str, studies: Studies) -> None:
    check_doubling(name, studies)


@per_metric
def test_several_references_are_taken_by_a_rule_that_the_signature_names(name: str) -> None:
    studies: Studies = [(REPORT, [OTHER]), (REPORT, [OTHER, REPORT])]
    check_finite_or_null(name, studies, "corrected")
    rule = "best" if "several" in metrics()[name].option_names else "several"
    assert all(f"|refs:{rule}|" in scores.signature for scores in score(name, studies).values())


@per_metric
@pytest.mark.parametrize("blank", BLANKS)
def test_blank_texts_are_worst_or_null(name: str, blank: str) -> None:
    check_blanks(name, blank)
    check_finite_or_null(name, [(blank, [REPORT]), (REPORT, [blank]), (blank, [blank])], "published")


@per_metric
def test_very_long_texts(name: str) -> None:
    check_very_long(name, 3_000)


@per_metric
def test_strange_texts(name: str) -> None:
    check_strange_texts(name)


@pytest.mark.parametrize(
    ("name", "feature"),
    [(name, feature) for name in FAST for feature in needs(name) if "None" in FEATURES[feature].description],
)
@per_convention
def test_a_feature_that_failed_costs_its_study_alone(name: str, feature: str, convention: Convention) -> None:
    studies: Studies = [(REPORT, [OTHER]), *NEIGHBOURS]
    features = features_of(name, studies)
    whole = _with_features(name, studies, convention, features)
    given_feature = features[feature]
    if isinstance(given_feature, TextFeatures):
        features[feature] = TextFeatures([None, *given_feature.predictions[1:]], given_feature.references)
    else:
        features[feature] = [None, *given_feature[1:]]
    lacking = _with_features(name, studies, convention, features)
    for key, scores in lacking.items():
        if feature in keys_of(name)[key].needs:
            assert 0 in scores.reasons, key
        assert same(column(scores)[1:], column(whole[key])[1:]), key


@settings(deadline=None, max_examples=50)
@given(texts, texts)
def test_both_sides_are_prepared_alike(prediction: str, reference: str) -> None:
    if is_blank(prediction) or is_blank(reference):
        return
    for name in LEXICAL:
        options = INDEPENDENT.get(name, {})
        forms = [
            score(name, [(f"{header} {prediction}", [f"{other}{reference}"])], **options)
            for header, other in (("FINDINGS:", "FINDINGS: "), ("Impression:", "FINDINGS:\n"))
        ]
        for key in keys_of(name):
            if canonical(prediction) == canonical(reference):
                assert column(forms[0][key]) == [keys_of(name)[key].best("corrected")]
            else:
                assert column(forms[0][key]) == column(forms[1][key])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_metric_that_starts_a_program_obeys_the_laws_on_a_few_texts(name: str) -> None:
    missing = metrics()[name].missing
    if missing and (reason := missing()):
        pytest.skip(reason)
    studies: Studies = [(REPORT, [OTHER, "heart"]), ("Effusion.", [""]), ("легкие", ["New edema."]), ("", [REPORT])]
    check_identity(name, [(text, [f" {text}\n", OTHER]) for text in (REPORT, "scar", "...", "A\tb")])
    check_blanks(name, " \u200b")
    check_doubling(name, studies)
    check_very_long(name, 300)
    check_strange_texts(name)
    for convention in CONVENTIONS:
        check_finite_or_null(name, studies, convention)
        check_independence(name, studies, [2, 0, 3, 1], convention)
