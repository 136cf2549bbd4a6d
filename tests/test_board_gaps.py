"""How far rows of the board are above their floor: which row is the floor, in whose favour, and what is published."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hosting import host, request, sentences

import rexrank
from backend import rules, setup
from backend.crew import Outcome
from backend.publishing import Publisher
from rexrank.board import results, samples, tables
from rexrank.board.gaps import Gaps, chosen_floors
from rexrank.board.ranges import nothing_kept
from rexrank.board.results import Result, ResultEvaluator, Rules, Texts
from rexrank.board.samples import Kept
from rexrank.board.tables import Ranking, Standard
from rexrank.hub import Clock
from rexrank.protocols import load as load_protocol
from rexrank.statistics.sample import Sample
from space.table import laid_out

AT = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)
STUDIES = 40
TEXTS = sentences(STUDIES)
GROUP = ("toy", "findings", "plain@1", "published")
CHOSEN = b'{"protocol": "plain@1", "convention": "published", "chosen": {"bleu2": "a"}, '
CHOSEN += b'"floors": [{"slug": "a", "name": "B"}]}'


@pytest.fixture(scope="module")
def card() -> Any:
    return rexrank.score(sentences(STUDIES, seed=1), TEXTS, protocol="plain", metrics=["bleu2"], progress=False)


def row(card: Any, number: int, value: float, baseline: bool = False, direction: Any = "higher") -> Result:
    rule = Rules("plain", "1", "published", "none.1", ("bleu2",), {"bleu2": direction})
    evaluator = ResultEvaluator(hash="9c41e07b52d8" + "0" * 52, version="0.1.0", python="3.11")
    found = results.build(request(number), card, rule, Texts("e" * 64, STUDIES, 0), evaluator, AT, AT, True)
    metric = found.metrics["bleu2"].model_copy(update={"value": value})
    kind = "baseline" if baseline else "predictions"
    return found.model_copy(update={"metrics": {"bleu2": metric}, "kind": kind})


def board(
    card: Any, values: Sequence[float], baselines: Sequence[int], floor: str | None = None
) -> list[dict[str, Any]]:
    """Rows by number of the model, whose studies are spread around their value."""

    def source(group: Sequence[Result], key: str) -> list[Kept]:
        shift = [(place % 5 - 2) / 100 for place in range(STUDIES)]
        ids = tuple(f"s{number}" for number in range(STUDIES))
        means = [one.metrics[key].value or 0.0 for one in group]
        return [Kept(ids, None, Sample.of_values([mean + one for one in shift])) for mean in means]

    found = [row(card, number, value, number in baselines) for number, value in enumerate(values)]
    floors = {} if floor is None else {GROUP: {"bleu2": floor}}
    standard = Standard(
        frozenset({"bleu2"}), {("plain", "1"): Ranking(("bleu2",), ("bleu2",))}, {"toy": "b" * 40}, floors=floors
    )
    rows = tables.leaderboard(found, standard, gaps=Gaps(source)).to_pylist()
    return sorted(rows, key=lambda one: str(one["request_id"]))


def test_a_row_is_set_against_the_hardest_baseline_where_nobody_chose(card: Any) -> None:
    first, low, high, last = board(card, [0.5, 0.1, 0.3, 0.2], baselines=(1, 2))
    assert (first["floor"], first["over_floor"]) == (high["model_name"], 0.2)
    assert (first["over_floor_lo"], first["over_floor_hi"]) == (0.2, 0.2), "equal differences in all studies"
    assert last["over_floor"] == -0.1
    assert [one["over_floor"] for one in (low, high)] == [None, None]


def test_the_floor_that_training_chose_counts(card: Any) -> None:
    name = board(card, [0.5, 0.1, 0.3], baselines=(1, 2))[1]["model_name"]
    first = board(card, [0.5, 0.1, 0.3], baselines=(1, 2), floor=name)[0]
    assert (first["floor"], first["over_floor"]) == (name, 0.4)
    assert board(card, [0.5, 0.1, 0.3], baselines=(1, 2), floor="gone")[0]["over_floor"] == 0.2


def test_no_baseline_and_nothing_kept_is_no_gap(card: Any) -> None:
    assert [one["over_floor"] for one in board(card, [0.5, 0.1], baselines=())] == [None, None]
    found = [row(card, 0, 0.5), row(card, 1, 0.1, baseline=True)]
    standard = Standard(frozenset({"bleu2"}), {("plain", "1"): Ranking(("bleu2",), ("bleu2",))}, {"toy": "b" * 40})
    rows = tables.leaderboard(found, standard, gaps=Gaps(nothing_kept)).to_pylist()
    assert {(one["floor"], one["over_floor"]) for one in rows} == {(None, None)}


def test_lower_scores_are_better_where_they_are(card: Any) -> None:
    from rexrank.board.ranking import Key

    def source(group: Sequence[Result], key: str) -> list[Kept]:
        ids = tuple(f"s{number}" for number in range(20))
        return [Kept(ids, None, Sample.of_values([one.metrics[key].value or 0.0] * 20)) for one in group]

    found = [row(card, 0, 1.0), row(card, 1, 1.5, baseline=True), row(card, 2, 2.0, baseline=True)]
    gap, *others = Gaps(source).of(found, Key("bleu2", "lower", False))
    assert gap is not None
    assert (gap.floor, gap.value) == (found[1].model_name, 0.5)
    assert others == [None, None]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"floors": 1}', CHOSEN.replace(b'"slug": "a"', b'"slug": "c"')]
)
def test_stored_floors_that_cannot_be_read_say_nothing(content: bytes) -> None:
    assert chosen_floors(content) == {}


def test_stored_floors_name_the_row() -> None:
    assert chosen_floors(CHOSEN) == {("plain@1", "published"): {"bleu2": "B"}}


def test_the_page_shows_the_gap_and_whose_it_is() -> None:
    there = {"result_id": "r", "model_name": "Ant", "over_floor": -0.021, "floor": "<b>", "over_floor_lo": -0.03}
    shown = laid_out([{**there, "over_floor_hi": 0.001}], [], ["over_floor"], "rank", provisional=False)
    cell = shown.value["metadata"]["display_value"][0][-1]
    assert cell == ('<span title="better than &lt;b&gt; by">−0.021</span><br><small>−0.030 to +0.001</small>')
    assert laid_out([{"result_id": "r"}], [], ["over_floor"], "rank", False).value["data"][0][-1] is None


def test_a_row_carries_the_flags_of_its_texts() -> None:
    said = rexrank.score(dict.fromkeys(TEXTS, "Lungs clear."), TEXTS, "plain", metrics=["bleu2"], progress=False)
    first, second = row(said, 0, 0.1).flags
    assert first == "only 1 distinct text among 40 predictions"
    assert second.startswith("one text is 100% of the predictions; of the references ")


def test_published_rows_have_their_gap(hub_server: Any, tmp_path: Path, card: Any) -> None:
    hosted = host(hub_server.url, hub_server.root, tmp_path)
    setup.ensure_repos(hosted.hub, hosted.config(metrics=("bleu2",)))
    publisher = Publisher(hosted.hub, hosted.repo("results"), rexrank.__version__, Clock(), ("bleu2",))
    other = rexrank.score(sentences(STUDIES, seed=2), TEXTS, protocol="plain", metrics=["bleu2"], progress=False)
    outcomes = []
    for number, one in enumerate((card, other)):
        there = request(number)
        if number:
            there = there.model_copy(update={"kind": "baseline"})
        rule = rules.rules(there.protocol, ("bleu2",))
        digest = results.evaluator_hash(rexrank.__version__, rule, there.settings)
        evaluator = ResultEvaluator(hash=digest, version=rexrank.__version__, python="3.11")
        result = results.build(there, one, rule, Texts("e" * 64, STUDIES, 0), evaluator, AT, AT, True)
        kept = tables.to_parquet(samples.table(one, load_protocol(there.protocol).ranking))
        per_study = tables.to_parquet(tables.per_study(result.result_id, one))
        outcomes.append(Outcome(there, "c", result=result.to_bytes(), per_study=per_study, samples=kept))
    publisher.publish(outcomes)
    publisher.rebuild()
    model = next(found for found in hosted.leaderboard() if not found["is_baseline"])
    assert model["over_floor"] == pytest.approx(card.summary["bleu2"] - other.summary["bleu2"], abs=6e-4)
    assert model["over_floor_lo"] <= model["over_floor"] <= model["over_floor_hi"]
    assert json.dumps(model["floor"])
