"""The blind floors: right numbers, the same on every machine, nothing of the test texts in them."""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
import pytest

from rexrank.benchmarks import Benchmark, BenchmarkError, BenchmarkStudy, TrainingStudy, floors, iu_xray, openi
from rexrank.benchmarks.constants import best_constant, mean_bleu2
from rexrank.benchmarks.nearest import nearest
from rexrank.metrics import compute


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    return iu_xray.load()


@pytest.fixture(scope="module")
def training() -> list[TrainingStudy]:
    return iu_xray.training()


@pytest.fixture(scope="module")
def three(benchmark: Benchmark, training: list[TrainingStudy]) -> list[floors.Floor]:
    return floors.build(benchmark, training)


def _prefixed(texts: Sequence[str]) -> list[str]:
    return [f"Findings: {text}" for text in texts]


def _bleu2(prediction: str, references: Sequence[str]) -> float:
    mean = compute("bleu2", [prediction] * len(references), references)["bleu2"].aggregate
    assert mean is not None
    return mean


def _with_other_text(floor: floors.Floor, texts: set[str | None]) -> list[str]:
    """Ids, so that a failure shows no report text."""
    return [study_id for study_id, text in floor.predictions.items() if text not in texts]


def test_the_constant_has_the_known_bleu2(
    benchmark: Benchmark, training: list[TrainingStudy], three: list[floors.Floor]
) -> None:
    constant = next(iter(three[0].predictions.values()))
    train = [study.findings or "" for study in training]
    test = [study.findings or "" for study in benchmark.studies]
    assert _bleu2(constant, train) == pytest.approx(0.2864, abs=5e-5)
    assert _bleu2(constant, test) == pytest.approx(0.2904, abs=5e-5)
    assert _bleu2(constant, _prefixed(train)) == pytest.approx(0.2830, abs=5e-5)
    assert _bleu2(constant, _prefixed(test)) == pytest.approx(0.2882, abs=5e-5)


def test_the_search_agrees_with_the_metric(training: list[TrainingStudy]) -> None:
    texts = [study.findings or "" for study in training]
    candidates = texts[::400]
    expected = [_bleu2(candidate, texts) for candidate in candidates]
    np.testing.assert_allclose(mean_bleu2(candidates, texts), expected, rtol=0, atol=1e-12)


def test_no_training_text_beats_the_constant(training: list[TrainingStudy], three: list[floors.Floor]) -> None:
    texts = [study.findings or "" for study in training]
    means = mean_bleu2(texts, texts)
    assert texts.index(next(iter(three[0].predictions.values()))) == int(means.argmax())


@pytest.mark.parametrize("candidate", ["", "a", "a a a b.", "b a. a b", "x"])
def test_odd_texts_score_as_the_metric_scores_them(candidate: str) -> None:
    references = ["a b.", "a", "a a a b. a", "c d e f g h i", "a b."]
    assert mean_bleu2([candidate], references)[0] == pytest.approx(_bleu2(candidate, references), abs=1e-15)


def test_the_first_of_equally_good_constants_wins() -> None:
    assert best_constant(["lungs clear", "heart large", "lungs clear", "heart large"]) == "lungs clear"
    with pytest.raises(ValueError, match="no texts"):
        best_constant([])


def test_each_floor_answers_every_study_with_a_training_text(
    benchmark: Benchmark, training: list[TrainingStudy], three: list[floors.Floor]
) -> None:
    texts = {study.findings for study in training}
    assert [floor.name for floor in three] == [
        "Floor - constant report",
        "Floor - random report",
        "Floor - nearest indication",
    ]
    for floor in three:
        assert list(floor.predictions) == [study.study_id for study in benchmark.studies]
        assert _with_other_text(floor, texts) == []
    assert len(set(three[0].predictions.values())) == 1
    assert len(set(three[1].predictions.values())) > 400


def test_floors_are_the_same_bytes_everywhere(three: list[floors.Floor]) -> None:
    hashes = [hashlib.sha256(floor.prediction_file()).hexdigest()[:12] for floor in three]
    assert hashes == ["9c9fd0024738", "8bc21424a0a2", "97b7edfcc77f"]


def test_a_study_without_indication_gets_the_constant(benchmark: Benchmark, three: list[floors.Floor]) -> None:
    constant = next(iter(three[0].predictions.values()))
    blind = [study.study_id for study in benchmark.studies if not study.indication]
    assert len(blind) == 8
    assert [study_id for study_id in blind if three[2].predictions[study_id] != constant] == []


@pytest.mark.parametrize("track", ["impression", "report"])
def test_the_other_tracks_have_floors_too(benchmark: Benchmark, training: list[TrainingStudy], track: str) -> None:
    texts = {study.text(track) for study in training}
    for floor in floors.build(benchmark, training, track):
        assert len(floor.predictions) == 590
        assert _with_other_text(floor, texts) == []
        assert floor.slug.endswith(f"-{track}")


def test_the_prediction_file_is_json_lines() -> None:
    floor = floors.Floor("Floor - x", "floor-x", "findings", {"s1": "Öde Lungs.", "s2": "Clear."}, "Made up.")
    lines = floor.prediction_file().decode().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"study_id": "s1", "prediction": "Öde Lungs."},
        {"study_id": "s2", "prediction": "Clear."},
    ]


def test_a_track_without_texts_is_refused() -> None:
    study = BenchmarkStudy("s1", "Clear.", None, "Cough", None, ("s1/0.png",), "s1/0.png")
    benchmark = Benchmark("tiny", "Tiny", "test", (study,), openi.LICENCE, "Invented.")
    training = [TrainingStudy("t1", "Clear.", None, "Cough")]
    assert dict(benchmark.tracks) == {"findings": 1, "report": 1}, "of a report one section is enough"
    assert len(floors.build(benchmark, training)) == 3
    with pytest.raises(BenchmarkError, match="track 'impression'"):
        floors.build(benchmark, training, "impression")


def test_nearest_follows_the_rarer_word_and_the_first_of_equals() -> None:
    documents = ["chest pain", "chest pain fever", None, "fever", "chest pain"]
    assert nearest(["pain in the chest", "Fever.", None, "", "dizzy", "chest fever"], documents) == [
        0,
        3,
        None,
        None,
        None,
        1,
    ]


def test_nearest_agrees_with_scikit_learn(benchmark: Benchmark, training: list[TrainingStudy]) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    documents = [study.indication or "" for study in training]
    queries = [study.indication or "" for study in benchmark.studies]
    vectorizer = text.TfidfVectorizer(token_pattern=r"\w+").fit([document for document in documents if document])
    similarity = (vectorizer.transform(queries) @ vectorizer.transform(documents).T).toarray()
    for row, found in zip(similarity, nearest(queries, documents), strict=True):
        if found is None:
            assert row.max() == 0
        else:
            assert row[found] == pytest.approx(row.max(), abs=1e-12)
