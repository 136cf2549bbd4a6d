"""Ranks are published with their ranges; what they are drawn from is published of public benchmarks only."""

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hosting import Hosted, host, request, sentences

import rexrank
from backend import config, rules, scheduler, setup
from backend.crew import Outcome
from backend.publishing import Publisher
from rexrank.board import results, samples, tables
from rexrank.board.host import load
from rexrank.board.requests import Request
from rexrank.board.results import ResultEvaluator, Texts
from rexrank.errors import WrongSetting
from rexrank.hub import Clock, HubError, connect
from rexrank.protocols import load as load_protocol

AT = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)
STUDIES = 12
TEXTS = sentences(STUDIES)
METRICS = ("bleu2", "coco_bleu4")


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:
    found = host(hub_server.url, hub_server.root, tmp_path)
    setup.ensure_repos(found.hub, found.config(metrics=METRICS))
    return found


@pytest.fixture(scope="module")
def cards() -> list[Any]:
    """The references themselves, and two models that say something else."""
    predictions = [TEXTS, sentences(STUDIES, seed=1), sentences(STUDIES, seed=2)]
    return [rexrank.score(own, TEXTS, protocol="plain", metrics=list(METRICS), progress=False) for own in predictions]


def publisher(hosted: Hosted) -> Publisher:
    return Publisher(hosted.hub, hosted.repo("results"), rexrank.__version__, Clock(), METRICS)


def outcome(card: Any, there: Request, public: bool, with_samples: bool = True) -> Outcome:
    rule = rules.rules(there.protocol, METRICS)
    evaluator = ResultEvaluator(
        hash=results.evaluator_hash(rexrank.__version__, rule, there.settings),
        version=rexrank.__version__,
        python="3.11",
    )
    result = results.build(there, card, rule, Texts("e" * 64, STUDIES, 0), evaluator, AT, AT, public)
    kept = samples.table(card, load_protocol(there.protocol).ranking)
    return Outcome(
        there,
        "claim",
        result=result.to_bytes(),
        per_study=tables.to_parquet(tables.per_study(result.result_id, card)) if public else None,
        samples=tables.to_parquet(kept) if with_samples else None,
    )


def published(hosted: Hosted, cards: list[Any], public: bool, with_samples: bool = True) -> list[tuple[Any, ...]]:
    """Rank, range and note of each row after a rebuild by a publisher that knows nothing of before."""
    if not hosted.results():
        outcomes = [outcome(card, request(number), public, with_samples) for number, card in enumerate(cards)]
        publisher(hosted).publish(outcomes)
    publisher(hosted).rebuild()
    return [(row["rank"], row["rank_lo"], row["rank_hi"], row["rank_note"]) for row in hosted.leaderboard()]


def test_a_public_benchmark_keeps_its_samples_beside_the_results(hosted: Hosted, cards: list[Any]) -> None:
    found = published(hosted, cards, public=True)
    assert found[0] == (1, 1, 1, None)
    assert [low >= 2 for _, low, _, _ in found[1:]] == [True, True]
    paths = hosted.everything("results").keys()
    assert sum(path.startswith("results/samples/") for path in paths) == 3
    assert hosted.hub.list_files(hosted.repo("samples"), hosted.hub.head(hosted.repo("samples")), "samples/") == {}


def test_a_hidden_benchmark_gets_ranges_and_shows_no_single_study(hosted: Hosted, cards: list[Any]) -> None:
    found = published(hosted, cards, public=False)
    assert found[0] == (1, 1, 1, None)
    assert None not in {high for _, _, high, _ in found}
    tables_of_studies = [path for path in hosted.everything("results") if "samples/" in path or "per_study/" in path]
    assert tables_of_studies == [f"results/{tables.NO_STUDIES_PATH}"]
    repo = hosted.repo("samples")
    assert hosted.hub.is_private(repo)
    with pytest.raises(HubError) as refused:
        connect(hosted.url, None).head(repo)
    assert refused.value.code in ("repo_not_found", "unauthorized", "forbidden")
    kept = [content for path, content in hosted.everything("samples").items() if path.endswith(".parquet")]
    assert [pq.read_table(io.BytesIO(content)).column_names for content in kept] == [
        ["study_id", "patient", "bleu2"]
    ] * 3


def test_nothing_hidden_is_kept_where_everybody_reads(hosted: Hosted, cards: list[Any]) -> None:
    hosted.hub.api.update_repo_settings(hosted.repo("samples"), private=False, repo_type="dataset")
    found = published(hosted, cards, public=False)
    assert [row[:3] for row in found] == [(rank, None, None) for rank in (1, 2, 3)]
    assert {note for *_, note in found} == {"no scores of single studies are kept of it; score it again"}
    assert not [path for path in hosted.everything("samples") if path.endswith(".parquet")]


def test_results_of_before_get_ranges_from_their_published_values(hosted: Hosted, cards: list[Any]) -> None:
    assert published(hosted, cards, public=True, with_samples=False)[0] == (1, 1, 1, None)


def test_a_damaged_file_costs_its_own_row_alone(hosted: Hosted, cards: list[Any]) -> None:
    published(hosted, cards, public=True)
    last = hosted.leaderboard()[-1]["result_id"]
    hosted.hub.commit(hosted.repo("results"), {samples.path_of(last): b"no table"}, "Damage")
    found = published(hosted, cards, public=True)
    assert found[-1] == (3, None, None, "the scores of its single studies cannot be read for bleu2")
    assert found[0][:3] == (1, 1, 2)


def test_tables_are_not_written_again_where_nothing_changed(hosted: Hosted, cards: list[Any]) -> None:
    published(hosted, cards, public=False)
    before = hosted.hub.head(hosted.repo("results"))
    published(hosted, cards, public=False)
    assert hosted.hub.head(hosted.repo("results")) == before


def test_what_a_worker_scores_gets_a_range(hosted: Hosted) -> None:
    hosted.benchmark("toy", TEXTS, public=False)
    setup.refresh_host(hosted.hub, hosted.config(metrics=METRICS))
    for number, name in enumerate(("Acme", "Beta")):
        hosted.submit(sentences(STUDIES, seed=number), name, protocol="plain")
    with hosted.worker(metrics=METRICS) as worker:
        assert scheduler.once(worker)
    first, second = hosted.leaderboard()
    assert (first["model_name"], first["rank"], first["rank_hi"], first["p_first"]) == ("Acme", 1, 1, 1.0)
    assert (second["rank"], second["rank_lo"]) == (2, 2)
    assert len(hosted.hub.list_files(hosted.repo("samples"), hosted.hub.head(hosted.repo("samples")), "samples/")) == 2


def test_weights_of_benchmarks_are_what_the_host_declares(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXRANK_BENCHMARK_WEIGHTS", "iu-xray=.25, mimic-cxr=.75")
    weights = config.from_environment().weights
    assert weights == {"iu-xray": 0.25, "mimic-cxr": 0.75}
    setup.ensure_repos(hosted.hub, hosted.config(weights=weights))
    assert load(hosted.user_hub, hosted.namespace).weights == weights


@pytest.mark.parametrize("text", ["iu-xray", "iu-xray=half", "iu-xray=0", "iu-xray=-1", "iu-xray=inf", "a=1,a=2", "=1"])
def test_weights_that_make_no_sense_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXRANK_BENCHMARK_WEIGHTS", text)
    with pytest.raises(WrongSetting, match="REXRANK_BENCHMARK_WEIGHTS: expected each benchmark once"):
        config.from_environment()
