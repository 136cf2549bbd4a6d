"""The order of the board: rules Q38 to Q44."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rexrank.board.ranking import Key, Standing, choose, order, ranks
from rexrank.terms import Direction

START = datetime(2026, 3, 1, tzinfo=UTC)
DIRECTIONS: dict[str, Direction] = {"radcliq_v1": "lower", "bleu2": "higher"}


def row(
    value: float | None, minute: int = 0, name: str = "a", group: str = "g", complete: bool = True, stale: bool = False
):
    return Standing(group, value, complete and value is not None, stale, START + timedelta(minutes=minute), name)


def test_raw_radcliq_is_ranked_ascending_below_zero_too() -> None:
    rows = [row(1.5), row(-0.8), row(0.2)]
    assert ranks(rows, "lower") == [3, 1, 2]
    assert [rows[i].value for i in order(rows, "lower")] == [-0.8, 0.2, 1.5]


def test_equal_values_share_a_rank_and_the_next_is_skipped() -> None:
    assert ranks([row(0.3), row(0.2), row(0.2), row(0.1)], "higher") == [1, 2, 2, 4]
    assert ranks([row(0.2), row(0.2 + 1e-18)], "higher") == [1, 1], "the same number"
    assert ranks([row(0.2), row(0.2 + 1e-12)], "higher") == [2, 1], "full precision counts"


def test_among_equals_the_earlier_submission_comes_first_then_the_name() -> None:
    rows = [row(0.2, 5, "b"), row(0.2, 5, "a"), row(0.2, 1, "z")]
    assert [rows[i].name for i in order(rows, "higher")] == ["z", "a", "b"]


def test_incomplete_rows_have_no_rank_and_stand_below_in_both_directions() -> None:
    rows = [row(None), row(0.9, complete=False), row(0.6), row(0.1)]
    assert ranks(rows, "higher") == [None, None, 1, 2]
    assert order(rows, "higher") == [2, 3, 1, 0]
    assert order(rows, "higher", best_first=False) == [3, 2, 1, 0]


def test_a_missing_value_is_last_even_where_the_row_is_complete() -> None:
    complete = Standing("g", None, True, False, START, "complete")
    rows = [complete, row(0.5, complete=False, name="incomplete"), row(0.1, name="low")]
    for best_first in (True, False):
        assert [rows[i].name for i in order(rows, "higher", best_first)] == ["low", "incomplete", "complete"]


def test_a_real_zero_is_a_number() -> None:
    rows = [row(None), row(0.0), row(0.1)]
    assert ranks(rows, "higher") == [None, 2, 1]
    assert order(rows, "higher") == [2, 1, 0]


def test_stale_rows_are_not_ranked_with_current_ones() -> None:
    rows = [row(0.9, stale=True), row(0.1)]
    assert ranks(rows, "higher") == [None, 1]
    assert order(rows, "higher") == [1, 0]


def test_groups_do_not_see_each_other() -> None:
    assert ranks([row(0.1, group="g"), row(0.9, group="h")], "higher") == [1, 1]


def test_a_later_ranking_key_is_provisional() -> None:
    ranking = ("radcliq_v1", "bleu2")
    assert choose(ranking, {"radcliq_v1", "bleu2"}, DIRECTIONS) == Key("radcliq_v1", "lower", False)
    assert choose(ranking, {"bleu2"}, DIRECTIONS) == Key("bleu2", "higher", True)
    assert choose(ranking, {"rouge_l"}, DIRECTIONS) is None


@given(
    st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.2, 0.3])), max_size=30),
    st.sampled_from(["higher", "lower"]),
)
def test_ranks_count_the_better_rows(values: list[float | None], direction: Direction) -> None:
    rows = [row(value, number) for number, value in enumerate(values)]
    found = ranks(rows, direction)
    for standing, rank in zip(rows, found, strict=True):
        if standing.value is None:
            assert rank is None
            continue
        better = [
            v
            for v in values
            if v is not None and ((v > standing.value) == (direction == "higher")) and v != standing.value
        ]
        assert rank == len(better) + 1
    shown = [found[i] for i in order(rows, direction)]
    numbers = [rank for rank in shown if rank is not None]
    assert numbers == sorted(numbers)
    assert shown[len(numbers) :] == [None] * (len(shown) - len(numbers))
