"""A board that offers the protocol of CXPMRG-Bench: from a submission to a row."""

from pathlib import Path

import pytest
from hosting import Hosted, host, sentences

from backend import scheduler
from rexrank.protocols import load

TEXTS = sentences(6)


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:  # type: ignore[no-untyped-def]
    found = host(hub_server.url, hub_server.root, tmp_path)
    found.benchmark("toy", TEXTS)
    return found


def test_a_submission_is_cleaned_scored_and_ranked_by_bleu4(hosted: Hosted) -> None:
    metrics = tuple(key for key in load("cxpmrg").metrics if key != "meteor" and not key.startswith("ce_"))
    with hosted.worker("setup", protocols=("cxpmrg-iu",), metrics=metrics) as worker:
        worker.prepare()
    better = {study: f"{text[0].upper()}{text[1:]}." for study, text in TEXTS.items()}
    worse = {**better, "study-00000": "No effusion."}
    for name, texts in (("Worse", worse), ("Better", better)):
        hosted.submit(texts, name, protocol="cxpmrg-iu")
    with hosted.worker(protocols=("cxpmrg-iu",), metrics=metrics) as worker:
        assert scheduler.once(worker)
    rows = {row["model_name"]: row for row in hosted.leaderboard()}
    assert {name: (row["rank"], row["complete"]) for name, row in rows.items()} == {
        "Better": (1, True),
        "Worse": (2, True),
    }
    assert rows["Worse"]["coco_bleu4"] < 1
    # Cleaned alike, capitals and full stops make no difference.
    assert rows["Better"]["coco_bleu4"] == pytest.approx(1)
    assert (rows["Better"]["protocol"], rows["Better"]["protocol_version"]) == ("cxpmrg-iu", "1")
    assert rows["Better"]["f1labels_ce_f1"] is not None
