"""Results and tables: fixed schemas, equal bytes, no number that is none (specs/hub.md 4.8)."""

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hosting import request, sentences

import rexrank
from rexrank.board import results, tables
from rexrank.board.results import Result, ResultEvaluator, Rules, Texts
from rexrank.board.tables import LEADERBOARD, PER_STUDY, SCORES, Ranking, Standard
from rexrank.errors import RexrankError

BOARD_REQUIRED = """
schema_version result_id request_id owner model_name repo_id revision dataset dataset_revision split section protocol
protocol_version convention modality evaluator_hash leakage submitted_at finished_at n_expected n_studies n_empty
coverage complete stale is_baseline verified trained_on flags
"""
SCORE_COLUMNS = """
schema_version result_id request_id owner model_name dataset split section metric direction status metric_version
signature reason module_revision weights_sha256 ci_method value ci_low ci_high ci_level n stale computed_at
"""
AT = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)
RULES = Rules(
    name="plain",
    version="1",
    convention="published",
    text_preparation="none.1",
    metrics=("bleu2", "rouge_l", "radcliq_v1"),
    directions={"bleu2": "higher", "rouge_l": "higher", "radcliq_v1": "lower"},
)
STANDARD = Standard(
    computed=frozenset({"bleu2", "rouge_l"}),
    rankings={("plain", "1"): Ranking(("radcliq_v1", "bleu2"), RULES.metrics)},
    revisions={"toy": "b" * 40},
)
EVALUATOR = ResultEvaluator(hash="9c41e07b52d8" + "0" * 52, version="0.1.0", python="3.11")


@pytest.fixture(scope="module")
def card() -> Any:
    texts = sentences(8)
    return rexrank.score(sentences(8, seed=1), texts, protocol="plain", metrics=["bleu2", "rouge_l"], progress=False)


def built(card: Any, number: int = 0, public: bool = True, **fields: Any) -> Result:
    there = request(number, **fields)
    return results.build(there, card, RULES, Texts("e" * 64, 8, 0), EVALUATOR, AT, AT + timedelta(seconds=1), public)


def with_value(result: Result, key: str, value: float | None) -> Result:
    found = result.metrics[key].model_copy(update={"value": value, "status": "ok" if value is not None else "failed"})
    return result.model_copy(update={"metrics": {**result.metrics, key: found}})


def test_a_result_says_every_score_or_why_there_is_none(card: Any) -> None:
    result = built(card)
    assert result.path == f"results/acme/{request().id}.9c41e07b52d8.json"
    document = json.loads(result.to_bytes())
    assert list(document["metrics"]) == ["bleu2", "rouge_l", "radcliq_v1"]
    bleu2 = document["metrics"]["bleu2"]
    assert bleu2["value"] == card.summary["bleu2"]
    assert bleu2["ci_low"] < bleu2["value"] < bleu2["ci_high"]
    assert bleu2["ci_method"] == "scaled bootstrap, n=10000, seed=0"
    assert bleu2["signature"].startswith("bleu2|conv:published")
    absent = document["metrics"]["radcliq_v1"]
    assert (absent["status"], absent["value"], absent["direction"]) == ("not_available", None, "lower")
    assert absent["reason"]
    assert results.read(result.to_bytes()) == result


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_none_become_null_with_a_reason(card: Any, value: float) -> None:
    broken = replace(card, summary={**card.summary, "bleu2": value})
    found = built(broken).metrics["bleu2"]
    assert (found.value, found.status, found.reason) == (None, "failed", "undefined for every study")
    with pytest.raises(ValueError, match="finite"):
        results.MetricResult(status="ok", direction="higher", value=value)


def test_values_of_a_hidden_benchmark_are_rounded(card: Any) -> None:
    found = built(card, public=False).metrics["bleu2"]
    assert found.value == round(card.summary["bleu2"], 3)
    assert found.ci_low == round(card.intervals["bleu2"][0], 3)


def test_a_faulty_result_file_is_not_quoted() -> None:
    with pytest.raises(RexrankError) as refused:
        results.read(b'{"owner": "marker phrase"}')
    assert "marker" not in str(refused.value)


def test_the_evaluator_hash_moves_with_everything_that_moves_a_number() -> None:
    first = results.evaluator_hash("0.1.0", RULES, {"protocol": "plain@1"})
    assert first == results.evaluator_hash("0.1.0", RULES, {"protocol": "plain@1"})
    others = [
        results.evaluator_hash("0.1.1", RULES, {"protocol": "plain@1"}),
        results.evaluator_hash("0.1.0", replace(RULES, convention="corrected"), {"protocol": "plain@1"}),
        results.evaluator_hash("0.1.0", replace(RULES, text_preparation="both.1"), {"protocol": "plain@1"}),
        results.evaluator_hash("0.1.0", replace(RULES, metrics=("bleu2",)), {"protocol": "plain@1"}),
        results.evaluator_hash("0.1.0", RULES, {"protocol": "plain@1", "seed": 1}),
    ]
    assert len({first, *others}) == 6


def test_schemas_are_those_of_the_specification() -> None:
    required = BOARD_REQUIRED.split()
    assert [field.name for field in LEADERBOARD if not field.nullable] == [
        name for name in LEADERBOARD.names if name in required
    ]
    assert set(required) < set(LEADERBOARD.names)
    assert LEADERBOARD.field("submitted_at").type == pa.timestamp("us", tz="UTC")
    assert {LEADERBOARD.field(f"rouge_l{end}").type for end in ("", "_lo", "_hi")} == {pa.float64()}
    assert set(SCORES.names) == set(SCORE_COLUMNS.split())
    assert PER_STUDY.names == ["schema_version", "result_id", "study_id", "metric", "value", "flags"]


def test_a_first_file_with_nothing_but_null_has_the_same_schema(card: Any) -> None:
    empty = with_value(with_value(built(card), "bleu2", None), "rouge_l", None)
    for some in ([], [empty], [empty, built(card, 1)]):
        board = pq.read_table(io.BytesIO(tables.to_parquet(tables.leaderboard(some, STANDARD))))
        assert board.schema.equals(LEADERBOARD)
        assert board.num_rows == len(some)
        scores = pq.read_table(io.BytesIO(tables.to_parquet(tables.scores(some, STANDARD))))
        assert scores.schema.equals(SCORES)
        assert scores.num_rows == 3 * len(some)


def test_equal_results_give_equal_bytes_in_any_order(card: Any) -> None:
    some = [built(card, number) for number in range(5)]
    again = [results.read(result.to_bytes()) for result in reversed(some)]
    for build in (tables.leaderboard, tables.scores):
        assert tables.to_parquet(build(some, STANDARD)) == tables.to_parquet(build(again, STANDARD))


def test_a_row_without_a_value_that_must_be_there_is_refused(card: Any) -> None:
    row = tables.leaderboard([built(card)], STANDARD).to_pylist()[0]
    with pytest.raises(RexrankError, match="owner"):
        tables.checked([{**row, "owner": None}], LEADERBOARD)


def test_the_board_ranks_by_the_first_key_that_the_host_computes(card: Any) -> None:
    some = [with_value(built(card, number), "bleu2", value) for number, value in enumerate([0.2, 0.3, 0.3, 0.1, None])]
    rows = tables.leaderboard(some, STANDARD).to_pylist()
    assert [(row["model_name"], row["rank"], row["bleu2"]) for row in rows] == [
        ("Acme 1", 1, 0.3),
        ("Acme 2", 1, 0.3),
        ("Acme 0", 3, 0.2),
        ("Acme 3", 4, 0.1),
        ("Acme 4", None, None),
    ]
    assert [row["complete"] for row in rows] == [True, True, True, True, False]


def test_the_latest_submission_of_a_name_is_shown_and_history_stays_in_scores(card: Any) -> None:
    first = built(card, 1)
    second = with_value(built(card, 2, model_name="ACME 1", name_key="acme 1"), "bleu2", 0.01)
    other = built(card, 3, owner="beta", model_name="Acme 1", name_key="acme 1")
    rows = tables.leaderboard([second, other, first], STANDARD).to_pylist()
    assert {(row["owner"], row["model_name"]) for row in rows} == {("acme", "ACME 1"), ("beta", "Acme 1")}
    assert tables.scores([first, second, other], STANDARD).num_rows == 9


def test_rows_of_another_protocol_are_another_group(card: Any) -> None:
    other = built(card, 1).model_copy(update={"protocol_version": "2"})
    rows = tables.leaderboard([built(card), other], STANDARD).to_pylist()
    assert [(row["protocol_version"], row["rank"], row["complete"]) for row in rows] == [
        ("1", 1, True),
        ("2", None, False),
    ]


def test_changed_references_or_metric_versions_make_a_row_stale(card: Any) -> None:
    changed = replace(STANDARD, revisions={"toy": "c" * 40})
    (row,) = tables.leaderboard([built(card)], changed).to_pylist()
    assert (row["stale"], row["rank"]) == (True, None)
    result = built(card)
    old = result.metrics["bleu2"].model_copy(update={"metric_version": "0"})
    older = result.model_copy(update={"metrics": {**result.metrics, "bleu2": old}})
    (row,) = tables.leaderboard([older], STANDARD).to_pylist()
    assert (row["stale"], row["rank"]) == (True, None)
    stale = {row["metric"]: row["stale"] for row in tables.scores([older], STANDARD).to_pylist()}
    assert stale == {"bleu2": True, "rouge_l": False, "radcliq_v1": False}


def test_per_study_holds_one_row_a_study_and_metric(card: Any) -> None:
    table = tables.per_study("r", card)
    assert table.schema.equals(PER_STUDY)
    assert table.num_rows == 8 * 2
    values = {(row["study_id"], row["metric"]): row["value"] for row in table.to_pylist()}
    for study, value in zip(card.per_study["study_id"].to_pylist(), card.per_study["bleu2"].to_pylist(), strict=True):
        assert values[study, "bleu2"] == value
