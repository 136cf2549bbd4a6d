"""Protocols: versions, columns, ranking, and the sentence for a name that is not there."""

import pytest

from rexrank.metrics import score_keys
from rexrank.protocols import UnknownProtocol, available, load


def test_newest_version_is_the_default() -> None:
    assert load().id == "rexrank@2026-08"
    assert load("rexrank").version == "2026-08"
    assert load(None).name == "plain"


@pytest.mark.parametrize(
    ("asked", "version"),
    [("2025-09-05", "2025-09-05"), ("2025-09", "2025-09-05"), ("2024-07", "2024-07-14"), ("2026-08", "2026-08")],
)
def test_versions_by_date_or_unambiguous_beginning(asked: str, version: str) -> None:
    assert load(f"rexrank@{asked}").version == version


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rexrnk", 'no protocol "rexrnk"; there are rexrank, cxpmrg, cxpmrg-iu, plain'),
        ("rexrank@2024", "several versions; there are rexrank@2024-07-14, rexrank@2024-11-19"),
        ("rexrank@2023", "not a version; there are rexrank@2024-07-14"),
    ],
)
def test_unknown_names_list_what_there_is(name: str, words: str) -> None:
    with pytest.raises(UnknownProtocol, match=words):
        load(name)


LABELS = {
    "2024-07": ["BLEU", "BertScore", "SembScore", "RadGraph", "RadCliQ-v0", "RadCliQ-v1"],
    "2024-11": ["BLEU", "BertScore", "SembScore", "RadGraph", "1/RadCliQ-v1", "RaTEScore", "GREEN", "1/FineRadScore"],
    "2025-06": ["BLEU", "BertScore", "SembScore", "RadGraph", "1/RadCliQ-v1", "RaTEScore", "GREEN", "1/FineRadScore"],
    "2025-09": ["BLEU", "BertScore", "SembScore", "RadGraph", "1/RadCliQ-v1", "RaTEScore", "GREEN"],
    "2026-08": ["1/RadCliQ-v1", "BLEU", "BertScore", "SembScore", "RadGraph", "RaTEScore", "GREEN", "CRIMSON"],
}


@pytest.mark.parametrize("version", LABELS)
def test_columns_of_each_period(version: str) -> None:
    protocol = load(f"rexrank@{version}")
    assert [column.label for column in protocol.columns] == LABELS[version]
    assert protocol.ranking[-2:] == ("radcliq_v1", "bleu2")
    assert (protocol.ranking[0] == "fineradscore") == (version == "2025-06")
    assert not any(key.startswith("inv_") for key in (*protocol.metrics, *protocol.ranking))


@pytest.mark.parametrize("name", available())
def test_directions_agree_with_the_registry(name: str) -> None:
    protocol = load(name)
    for key in protocol.metrics:
        if key in score_keys():
            assert protocol.directions[key] == score_keys()[key].direction
    assert protocol.directions.get("radcliq_v1", "lower") == "lower"


def test_a_protocol_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().version = "2030"  # type: ignore[misc]
