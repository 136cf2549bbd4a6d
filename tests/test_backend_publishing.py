"""Results are written once, and tables follow them (rules Q16, Q25)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hosting import Hosted, host, request, sentences, together

import rexrank
from backend import rules, setup
from backend.crew import Outcome
from backend.publishing import Publisher
from rexrank.board import results, tables
from rexrank.board.requests import Request
from rexrank.board.results import ResultEvaluator, Texts
from rexrank.hub import Clock

AT = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:
    found = host(hub_server.url, hub_server.root, tmp_path)
    setup.ensure_repos(found.hub, found.config())
    return found


@pytest.fixture(scope="module")
def card() -> Any:
    return rexrank.score(sentences(5, seed=1), sentences(5), protocol="plain", progress=False)


def publisher(hosted: Hosted) -> Publisher:
    return Publisher(hosted.hub, hosted.repo("results"), rexrank.__version__, Clock())


def outcome(card: Any, there: Request, at: datetime = AT) -> Outcome:
    rule = rules.rules(there.protocol, None)
    evaluator = ResultEvaluator(
        hash=results.evaluator_hash(rexrank.__version__, rule, there.settings),
        version=rexrank.__version__,
        python="3.11",
    )
    result = results.build(there, card, rule, Texts("e" * 64, 5, 0), evaluator, at, at, public=True)
    per_study = tables.to_parquet(tables.per_study(result.result_id, card))
    return Outcome(there, "claim", result=result.to_bytes(), per_study=per_study)


def test_a_result_that_is_there_is_kept(hosted: Hosted, card: Any) -> None:
    there = request(1)
    first = publisher(hosted).publish([outcome(card, there)])[there.id][0]
    later = outcome(card, there, AT + timedelta(hours=1))
    second = publisher(hosted).publish([later])[there.id][0]
    assert second == first
    (kept,) = hosted.results()
    assert kept.finished_at == AT


def test_a_result_is_found_by_id_revision_and_evaluator(hosted: Hosted, card: Any) -> None:
    there = request(1)
    assert publisher(hosted).find(there) is None
    place = publisher(hosted).publish([outcome(card, there)])[there.id][0]
    found = publisher(hosted).find(there)
    assert found is not None
    assert found.path == place.path
    others = [
        there.updated(revision="f" * 40),
        there.updated(settings={"protocol": "rexrank"}),
        there.updated(settings={"protocol": "unheard@1"}),
        request(2),
    ]
    assert [publisher(hosted).find(other) for other in others] == [None] * 4


def test_tables_of_parallel_publishers_hold_every_result(hosted: Hosted, card: Any) -> None:
    def publish(number: int) -> None:
        one = publisher(hosted)
        one.publish([outcome(card, request(number))])
        one.rebuild()

    assert together(5, publish) == [None] * 5
    assert sorted(row["request_id"] for row in hosted.leaderboard()) == [request(number).id for number in range(5)]
    assert len(hosted.results()) == 5
    before = hosted.hub.head(hosted.repo("results"))
    publisher(hosted).rebuild()
    assert hosted.hub.head(hosted.repo("results")) == before, "an unchanged table is not committed again"


def test_further_metrics_of_the_host_are_computed_for_information() -> None:
    alone = rules.rules("rexrank", ("bleu2",))
    more = rules.rules("rexrank", ("bleu2", "rouge_l"))
    assert more.metrics == (*alone.metrics, "rouge_l")
    assert more.directions["rouge_l"] == "higher"
    assert set(rules.rules("rexrank", None).metrics) >= {*alone.metrics, "rouge_l", "coco_bleu4"}
    hashes = {results.evaluator_hash("0", rule, {}) for rule in (alone, more)}
    assert len(hashes) == 2
