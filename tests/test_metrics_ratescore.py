"""RaTEScore from entities against the table of the specification, its published tables and plain loops."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import InvalidCall, TextFeatures, compute
from rexrank.metrics.ratescore import AFFINITIES, TYPES, Entity, score
from rexrank.terms import CONVENTIONS, Convention

OPPOSITE = {
    frozenset(pair)
    for pair in [
        ("DISEASE", "NON-DISEASE"),
        ("DISEASE", "NON-ABNORMALITY"),
        ("ABNORMALITY", "NON-DISEASE"),
        ("ABNORMALITY", "NON-ABNORMALITY"),
    ]
}


def entity(kind: str, *vector: float) -> Entity:
    return Entity("invented", kind, np.array(vector))


def at_cosine(kind: str, cosine: float, length: float = 1.0) -> Entity:
    return entity(kind, length * cosine, length * math.sqrt(1 - cosine**2))


FIRST = entity("ABNORMALITY", 1, 0)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(
    ("prediction", "reference", "long", "short"),
    [
        ([FIRST], [at_cosine("NON-ABNORMALITY", 0.9)], 0.784490, 0.325042),
        ([FIRST], [FIRST, at_cosine("ANATOMY", 0.2)], 0.658434, 0.691879),
        ([at_cosine("ABNORMALITY", 0.9, 7.5)], [FIRST], 0.9, 0.9),
        ([entity("DISEASE", 0, 1)], [entity("ANATOMY", 1, 0)], 0, 0),
    ],
)
def test_ratescore_gives_the_tabled_values(
    prediction: list[Entity], reference: list[Entity], long: float, short: float, convention: Convention
) -> None:
    for affinity, expected in {"long": long, "short": short}.items():
        assert score(prediction, reference, affinity, convention) == pytest.approx(expected, abs=5e-7)
        assert score(reference, prediction, affinity, convention) == pytest.approx(expected, abs=5e-7)


def test_reports_without_entities() -> None:
    for prediction, reference, corrected in [([], [], None), ([], [FIRST], 0), ([FIRST], [], 0)]:
        assert score(prediction, reference, "long", "published") == 0.5
        value = score(prediction, reference, "long", "corrected")
        assert math.isnan(value) if corrected is None else value == corrected


def test_tables_are_the_published_ones(shared_data: Path) -> None:
    published = json.loads((shared_data / "expected" / "ratescore_affinity.json").read_text(encoding="utf-8"))
    assert set(AFFINITIES) == {"long", "short"}
    for name, table in AFFINITIES.items():
        for row, one in enumerate(TYPES):
            for column, other in enumerate(TYPES):
                assert table.weights[row, column] == published[name]["weight"][one.lower()][other.lower()]
                opposite = [one.lower(), other.lower()] in published["opposite_pairs"]
                opposite |= [other.lower(), one.lower()] in published["opposite_pairs"]
                assert table.factors[row, column] == (published[name]["neg_weight"] if opposite else 1)


def plain(prediction: list[Entity], reference: list[Entity], affinity: str) -> float:
    """The published definition, entity by entity."""
    table = AFFINITIES[affinity]

    def cosine(one: Entity, other: Entity) -> float:
        first, second = np.asarray(one.vector, dtype=float), np.asarray(other.vector, dtype=float)
        return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))

    def directed(side: list[Entity], others: list[Entity]) -> float:
        total = weights = 0.0
        for one in side:
            met = max(others, key=lambda other: cosine(one, other))
            weight = float(table.weights[TYPES.index(one.type), TYPES.index(met.type)])
            penalty = float(table.factors.min()) if frozenset((one.type, met.type)) in OPPOSITE else 1.0
            total += cosine(one, met) * weight * penalty
            weights += weight
        return total / weights

    precision, recall = directed(prediction, reference), directed(reference, prediction)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("affinity", sorted(AFFINITIES))
def test_published_equals_plain_loops(affinity: str) -> None:
    generator = np.random.default_rng(3)

    def side() -> list[Entity]:
        kinds = generator.integers(len(TYPES), size=generator.integers(1, 9))
        return [Entity("", TYPES[kind], generator.normal(size=16) + 0.5) for kind in kinds]

    for _ in range(200):
        prediction, reference = side(), side()
        value = score(prediction, reference, affinity, "published")
        assert value == pytest.approx(plain(prediction, reference, affinity), rel=1e-9)
        clamped = score(prediction, reference, affinity, "corrected")
        assert 0 <= clamped <= 1
        if 0 < value < 1:
            assert clamped in (value, 0)


def test_corrected_lets_no_negative_cosine_leave_the_range() -> None:
    prediction, reference = [entity("DISEASE", 1, 0)], [at_cosine("DISEASE", 0.3), at_cosine("DISEASE", -0.8)]
    assert score(prediction, reference, "long", "published") == pytest.approx(2 * 0.3 * -0.25 / 0.05)
    assert score(prediction, reference, "long", "corrected") == 0
    assert score(prediction, reference[1:], "long", "published") == pytest.approx(-0.8)
    assert score(prediction, reference[1:], "long", "corrected") == 0


def test_of_equally_similar_entities_the_first_is_met() -> None:
    present, absent = entity("DISEASE", 0, 1), entity("NON-DISEASE", 0, 1)
    weights, factors = AFFINITIES["long"]
    disease, denied = TYPES.index("DISEASE"), TYPES.index("NON-DISEASE")
    penalty = factors[disease, denied]
    back = weights[disease, disease] + weights[denied, disease]
    recall = (weights[disease, disease] + weights[denied, disease] * penalty) / back
    for reference, precision in [([present, absent], 1.0), ([absent, present], penalty)]:
        expected = 2 * precision * recall / (precision + recall)
        assert score([present], reference, "long", "corrected") == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(8))
def test_equal_vectors_are_equally_similar_wherever_they_stand(seed: int) -> None:
    # In products of matrices their cosines differ in the last digits, by the places of the vectors.
    vector, *others = np.random.default_rng(seed).normal(size=(10, 768))
    present, denied = Entity("", "DISEASE", vector), Entity("", "NON-DISEASE", vector)
    rest = [Entity("", "ANATOMY", other) for other in others]
    scores = [
        score([present], [*rest[:place], present, *rest[place:], denied], "long", "published")
        for place in range(len(rest) + 1)
    ]
    assert scores == pytest.approx([scores[0]] * len(scores), abs=1e-9)


vectors = st.lists(st.floats(-10, 10, width=32), min_size=3, max_size=3).filter(lambda vector: any(vector))
entities = st.builds(Entity, st.just(""), st.sampled_from(TYPES), vectors)
sides = st.lists(entities, max_size=5)


@settings(deadline=None)
@given(sides, sides, st.sampled_from(sorted(AFFINITIES)))
def test_scores_are_symmetric_and_in_range(prediction: list[Entity], reference: list[Entity], affinity: str) -> None:
    value = score(prediction, reference, affinity, "corrected")
    assert math.isnan(value) if not prediction and not reference else 0 <= value <= 1
    assert score(reference, prediction, affinity, "corrected") == pytest.approx(value, abs=1e-12, nan_ok=True)
    published = score(prediction, reference, affinity, "published")
    assert math.isfinite(published)
    same = score(prediction, prediction, affinity, "corrected")
    opposites = {frozenset((one.type, other.type)) for one in prediction for other in prediction} & OPPOSITE
    if prediction and not opposites:
        assert same == pytest.approx(1, abs=1e-9)


def test_lengths_of_vectors_do_not_matter_even_extreme_ones() -> None:
    huge, tiny = entity("DISEASE", 3e200, 4e200), entity("DISEASE", 3e-200, 4e-200)
    assert score([huge], [tiny], "long", "published") == pytest.approx(1)


def ratescore(
    predictions: list[Any],
    references: list[list[Any]],
    convention: Convention = "corrected",
    texts: list[str] | None = None,
    **options: Any,
) -> Any:
    said = texts or [f"Report {at}." for at in range(len(predictions))]
    true = [[f"Reference {at} {number}." for number in range(len(items))] for at, items in enumerate(references)]
    features = {"ratescore_entities": TextFeatures(predictions, references)}
    return compute("ratescore", said, true, convention, features=features, **options)["ratescore"]


def test_a_report_without_entities_disturbs_no_other() -> None:
    predictions = [[FIRST], [], [FIRST], [], None]
    references = [[[FIRST]], [[FIRST]], [[]], [[]], [[FIRST]]]
    corrected = ratescore(predictions, references)
    assert corrected.values[:3].tolist() == [pytest.approx(1), 0, 0]
    assert corrected.reasons == {3: "no_content", 4: "failed"}
    assert corrected.aggregate == pytest.approx(1 / 3)
    published = ratescore(predictions, references, "published")
    assert published.values[:4].tolist() == [pytest.approx(1), 0.5, 0.5, 0.5]
    assert published.reasons == {4: "failed"}


def test_the_best_reference_counts_and_blank_reports_need_no_entities() -> None:
    worse = at_cosine("ABNORMALITY", 0.4)
    scores = ratescore([[FIRST], None], [[[worse], [FIRST], []], [[FIRST]]], texts=["Report.", " "])
    assert scores.values.tolist() == [pytest.approx(1), 0]
    assert scores.counts["n_empty"] == 1


def test_options_and_signatures() -> None:
    prediction, reference = [[FIRST]], [[[at_cosine("NON-ABNORMALITY", 0.9)]]]
    assert ratescore(prediction, reference).signature == "ratescore|conv:corrected|affinity:long|v:2"
    short = ratescore(prediction, reference, affinity="short")
    assert short.values[0] == pytest.approx(0.325042, abs=5e-7)
    assert "affinity:short" in short.signature
    with pytest.raises(InvalidCall, match="affinity"):
        ratescore(prediction, reference, affinity="medium")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("entities", r"\.predictions\[0\]: expected a list of entities, got str$"),
        ({"a": 1}, r"\.predictions\[0\]: expected a list of entities, got dict$"),
        (["secret"], r"\.predictions\[0\]\[0\]: expected .* or an Entity, got str$"),
        ([{"text": "secret", "type": "DISEASE"}], r"\.predictions\[0\]\[0\]: the entity has no vector$"),
        ([Entity("secret", "SIGN", [1.0])], r"\[0\]\.type: expected one of ABNORMALITY, .*, got \"SIGN\"$"),
        ([Entity("secret", "DISEASE", ["x"])], r"\[0\]\.vector: expected numbers"),
        ([Entity("secret", "DISEASE", 1.0)], r"\[0\]\.vector: expected numbers"),
        ([FIRST, Entity("secret", "DISEASE", [0, 0])], r"\[1\]\.vector: expected finite numbers that are not all 0$"),
        ([FIRST, Entity("secret", "DISEASE", [1, math.nan])], r"\[1\]\.vector: expected finite numbers"),
        ([FIRST, Entity("secret", "DISEASE", [1])], r"vectors of several lengths; encode all alike$"),
        ([Entity("secret", "DISEASE", [])], r"\[0\]\.vector: expected"),
        (
            [Entity("secret", "DISEASE", [1, 2, 3])],
            r"\.predictions\[0\]: the vectors have 3 numbers and those of its reference 2; encode both alike$",
        ),
    ],
)
def test_wrong_entities_are_refused_by_their_place(item: Any, message: str) -> None:
    with pytest.raises(InvalidCall, match=message) as caught:
        ratescore([item], [[[FIRST]]])
    assert "secret" not in str(caught.value)
