"""How long texts are, for score cards that do not say so: a card holds no text."""

import hashlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rexrank.analysis.cards import Lengths
from rexrank.errors import RexrankError, shown
from rexrank.files import user_path
from rexrank.metrics import compute
from rexrank.reports.reading import read_predictions, read_references
from rexrank.reports.studies import Study, whole_report
from rexrank.terms import TRACKS, Track

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard


class UnknownTexts(RexrankError, ValueError):
    """A file of texts that no score card was made of, or that cannot be read."""


def count(files: Sequence[str | os.PathLike[str]], cards: "Sequence[ScoreCard]") -> Lengths:
    """Count the words of texts that cards were made of.

    Args:
        files: Files of predictions or references on this machine, the very ones that were scored; a card knows them
            by their sha256.
        cards: The cards.

    Returns:
        Words of each study's text, by the sha256 of its file and the track.

    Raises:
        UnknownTexts: A file cannot be read, or no card was made of it.
        RefusedInput: A file that cannot be scored.
    """
    found: dict[tuple[str, str], dict[str, float]] = {}
    for file in files:
        sha = _sha256(file)
        tracks = {
            role: {card.track for card in cards if card.inputs[role]["sha256"] == sha}
            for role in ("predictions", "references")
        }
        if not any(tracks.values()):
            name = shown(user_path(file).name)
            raise UnknownTexts(f"{name}: no card was made of this file; give the files that were scored, unchanged")
        for track in TRACKS:
            if track in tracks["predictions"]:
                found[sha, track] = _words_of_predictions(file)
            elif track in tracks["references"]:
                found[sha, track] = _words_of_references(file, track)
    return found


def _sha256(file: str | os.PathLike[str]) -> str:
    path = user_path(file)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise UnknownTexts(f"{shown(path.name)} cannot be read: {reason}; give a file on this machine") from None


def _words_of_predictions(file: str | os.PathLike[str]) -> dict[str, float]:
    texts = read_predictions(file).texts
    if not texts:
        return {}
    found = compute(["report_words"], list(texts.values()), [""] * len(texts))["report_words"]
    return dict(zip(texts, found.values.tolist(), strict=True))


def _words_of_references(file: str | os.PathLike[str], track: Track) -> dict[str, float]:
    studies = [study for study in read_references(file, track).studies.values() if study.has(track)]
    if not studies:
        return {}
    texts = [(_text(study, track), *study.alternatives) for study in studies]
    found = compute(["reference_words"], [""] * len(studies), texts)["reference_words"]
    return {study.study_id: value for study, value in zip(studies, found.values.tolist(), strict=True)}


def _text(study: Study, track: Track) -> str:
    if track == "report":
        return study.report or whole_report(study.findings, study.impression) or ""
    return (study.findings if track == "findings" else study.impression) or ""
