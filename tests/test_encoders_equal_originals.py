"""Our encoders and metrics on seeded checkpoints give what the original packages gave on the same."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rexrank.encoders.weights import Weights
from rexrank.verification.comparison import Comparison
from rexrank.verification.verify import ORIGINALS, PAIRS, TEXTS, encode, judge, texts_digest

# What the originals gave: `rexrank verify --python .venv-oracle/bin/python --seeded tiny --record` writes it.
RECORDED = Path(__file__).parent / "fixtures" / "originals.json"
ANSWERS: Mapping[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
WHITE = sum(text.isspace() for text in TEXTS)
CONTENTS = {
    "radgraph": {
        "graphs": len(TEXTS) - WHITE,
        "rewards": len(PAIRS) - sum(any(map(str.isspace, pair)) for pair in PAIRS),
    },
    "chexbert": {"labels": len(TEXTS), "[CLS] vectors": len(TEXTS), "F1": 8, "SembScore": len(PAIRS)},
    "bertscore": {"P, R, F": len(PAIRS)},
    "ratescore": {"scores (long)": 189, "scores (short)": 29},
}

Items = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def ours(seeded_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Items]:
    """What our encoders make of every text, by original; each model is loaded once for all tests of this file."""
    import torch

    weights, threads = Weights(seeded_weights, download=False), torch.get_num_threads()
    torch.set_num_threads(1)  # models of this size only wait for more
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REXRANK_HOME", str(tmp_path_factory.mktemp("home")))
        made = {name: encode(ORIGINALS[name], weights, lambda what, done, of: None) for name in ANSWERS}
    torch.set_num_threads(threads)
    return made


def judged(ours: Mapping[str, Items], name: str, answer: Mapping[str, Any] | None = None) -> dict[str, Comparison]:
    """Comparisons of one original by what is compared."""
    verdict = judge(ORIGINALS[name], answer or ANSWERS[name], ours[name])
    return {one.what: one for one in verdict.comparisons}


def test_every_original_is_recorded() -> None:
    assert set(ANSWERS) == set(ORIGINALS)


@pytest.mark.parametrize("name", ORIGINALS)
def test_the_record_is_of_these_texts(name: str) -> None:
    assert ANSWERS[name]["texts"] == texts_digest(), f"record {name} again: {RECORDED} is of other texts"


@pytest.mark.parametrize("name", ORIGINALS)
def test_equal_to_the_original(ours: Mapping[str, Items], name: str) -> None:
    compared = judged(ours, name)
    assert all(one.equal for one in compared.values()), [one for one in compared.values() if not one.equal]
    expected = CONTENTS[name.partition("-")[0]]
    assert {what: compared[what].compared for what in expected} == expected


def spoilt(name: str, *path: str | int, value: Any) -> Mapping[str, Any]:
    """A recorded answer in which one thing is another."""
    answer = copy.deepcopy(dict(ANSWERS[name]))
    place: Any = answer
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return answer


@pytest.mark.parametrize(
    ("name", "path", "value", "what"),
    [
        ("chexbert", ("codes", 20, -1), 3, "labels"),
        ("chexbert", ("vectors", 20, 5), 7.5, "[CLS] vectors"),
        ("radgraph-xl", ("graphs", 20, 2), "0" * 16, "graphs"),
        ("radgraph-v1", ("graphs", 20), {"error": "KeyError"}, "graphs"),
        ("radgraph-modern", ("rewards", 20, 1), 0.123, "rewards"),
        ("bertscore-distilbert", ("raw", 20, 1), 0.123, "P, R, F"),
        ("bertscore-roberta-large", ("rescaled", 20, 2), 0.123, "F rescaled"),
        ("ratescore", ("entities", 20, 1, 1), "NOTHING", "entities"),
        ("ratescore", ("short", 20), 0.123, "scores (short)"),
    ],
)
def test_one_wrong_thing_is_found(
    ours: Mapping[str, Items], name: str, path: tuple[str | int, ...], value: Any, what: str
) -> None:
    compared = judged(ours, name, spoilt(name, *path, value=value))
    assert [place for place, _ in compared[what].differences] == [20]
    assert not compared[what].equal


@pytest.mark.parametrize(("gap", "equal"), [(5e-6, True), (1e-4, False)])
def test_numbers_may_differ_by_a_hundred_thousandth(ours: Mapping[str, Items], gap: float, equal: bool) -> None:
    value = float(ours["chexbert"]["chexbert_cls"][TEXTS[30]][2]) + gap
    vectors = judged(ours, "chexbert", spoilt("chexbert", "vectors", 30, 2, value=value))["[CLS] vectors"]
    assert vectors.equal == equal


def test_graphs_without_relations_prove_nothing(ours: Mapping[str, Items]) -> None:
    bare = [graph if isinstance(graph, dict) else [graph[0], 0, graph[2]] for graph in ANSWERS["radgraph-xl"]["graphs"]]
    graphs = judged(ours, "radgraph-xl", {**ANSWERS["radgraph-xl"], "graphs": bare})["graphs"]
    assert "too little occurs in it" in graphs.hollow


@pytest.mark.parametrize("name", ["radgraph-v1", "radgraph-xl", "radgraph-modern"])
def test_reports_of_white_space_are_known_to_fail_in_radgraph(ours: Mapping[str, Items], name: str) -> None:
    compared = judged(ours, name)
    (places,) = compared["graphs"].known.values()
    assert places == tuple(place for place, text in enumerate(TEXTS) if text.isspace())
    assert not any(ours[name][feature][TEXTS[place]]["entities"] for feature in ours[name] for place in places)


def test_reports_without_a_sentence_are_known_to_be_dropped_by_ratescore(ours: Mapping[str, Items]) -> None:
    known = judged(ours, "ratescore")["scores (long)"].known
    (places,) = [places for why, places in known.items() if "no sentence" in why]
    assert places
    assert all(ANSWERS["ratescore"]["long"][place] == {"error": "IndexError"} for place in places)
    assert len(ANSWERS["ratescore"]["as_a_list"]) < len(ANSWERS["ratescore"]["short"])


def test_a_score_that_no_choice_among_equally_near_entities_gives_is_a_difference(ours: Mapping[str, Items]) -> None:
    known = judged(ours, "ratescore")["scores (long)"].known
    (tied,) = [places for why, places in known.items() if "as near to several" in why]
    spoilt_there = spoilt("ratescore", "long", tied[0], value=ANSWERS["ratescore"]["long"][tied[0]] + 0.01)
    scores = judged(ours, "ratescore", spoilt_there)["scores (long)"]
    assert [place for place, _ in scores.differences] == [tied[0]]
