"""The report of analyses: score cards in, one page of HTML out."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rexrank import __version__
from rexrank.analysis import published
from rexrank.analysis.agreeing import agreement
from rexrank.analysis.appendix import not_computed, signatures
from rexrank.analysis.between import families, from_benchmark_to_benchmark
from rexrank.analysis.blocks import Paragraph, Section, safely
from rexrank.analysis.cards import CardSet, Lengths, card_sets
from rexrank.analysis.length_effects import length_effects
from rexrank.analysis.page import page
from rexrank.analysis.spreading import spread
from rexrank.analysis.standings import facts, scores_and_ranks
from rexrank.analysis.tracks import TITLE as TRACKS
from rexrank.analysis.tracks import findings_and_report, track_pairs
from rexrank.published.record import UnknownTable
from rexrank.scoring.progress import Progress, Report, reporting

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

_TITLE = "Analysis of scores of radiology reports"
_LEAD = (
    "The scores compare texts written by systems with those of radiologists, study by study. A high score is no proof "
    "that a report is safe."
)


def report(
    cards: "Sequence[ScoreCard]",
    names: Sequence[str],
    benchmarks: Mapping[str, str] | None = None,
    baselines: Sequence[str] = (),
    lengths: Lengths | None = None,
    snapshot: str | None = None,
    progress: bool | Progress = False,
) -> str:
    """Make the report.

    Args:
        cards: Score cards of any benchmarks, tracks and protocols.
        names: Of the systems, one a card; equal names on different benchmarks are the same system.
        benchmarks: Names of benchmarks, as `rexrank.analysis.cards.card_sets` takes them.
        baselines: Names of systems that are reference points.
        lengths: Words of texts, for cards that do not hold them (`rexrank.analysis.lengths.count`).
        snapshot: Also the analyses of this published snapshot of ReXrank (``newest``); None for none.
        progress: True for a bar on stderr after two seconds, or a function called with ``(stage, done, total)``.

    Returns:
        A page of HTML that needs nothing else.

    Raises:
        NamesClash: Systems that cannot be told apart, or a baseline that is none of them.
        UnknownTable: There is no such snapshot.
    """
    if snapshot is not None:
        published.tables(snapshot=snapshot)  # refused before any work
    sets = card_sets(cards, names, benchmarks, baselines)
    related = families(sets)
    pairs = track_pairs(sets)
    stages = 4 * len(sets) + len(cards) + len(related) + len(pairs) + bool(snapshot)
    with reporting(progress, max(stages, 1)) as tell:
        sections = [section for one in sets for section in _of_set(one, lengths or {}, tell)]
        between = list(_between(related, pairs, tell))
        if between:
            sections.append(Section("Between benchmarks and tracks", (), level=2))
            sections += between
        if snapshot is not None:
            tell("published tables")
            sections += _of_record(snapshot)
    if sets:
        sections += [safely("Not computed, and why", partial(not_computed, sets, _further(related, pairs)))]
        sections += [safely("How the numbers came about", partial(signatures, sets))]
    return page(_TITLE, _LEAD, sections, f"Made by rexrank {__version__}. It holds no text of any report.")


def _of_set(cards: CardSet, lengths: Lengths, tell: Report) -> Iterator[Section]:
    yield Section(cards.label, tuple(facts(cards)), level=2)
    tell(f"{cards.label}: ranks")
    yield safely("Scores and ranks", partial(scores_and_ranks, cards))
    tell(f"{cards.label}: spread")
    yield safely("Spread over single studies", lambda: spread(cards.studies))
    tell(f"{cards.label}: agreement")
    yield safely(
        "Do the scores agree?",
        lambda: agreement(cards.studies, cards.table, partial(tell, f"{cards.label}: agreement")),
    )
    tell(f"{cards.label}: length")
    yield safely("Does length matter?", partial(length_effects, cards, lengths))


def _between(
    related: Sequence[Sequence[CardSet]], pairs: Sequence[tuple[CardSet, CardSet]], tell: Report
) -> Iterator[Section]:
    for family in related:
        tell("from benchmark to benchmark")
        yield safely("From benchmark to benchmark", partial(from_benchmark_to_benchmark, family))
    for left, right in pairs:
        tell("findings and whole reports")
        yield safely(f"{TRACKS} · {left.benchmark}", partial(findings_and_report, left, right))


def _of_record(snapshot: str) -> Iterator[Section]:
    where = "the newest snapshot" if snapshot == "newest" else f"the snapshot {snapshot}"
    said = f"ReXrank's tables as they were published, {where}; copied, not computed here."
    yield Section("The published tables", (Paragraph(said),), level=2)
    for track, words in (("findings", "findings"), ("report", "findings and impression")):
        try:
            found = published.sections(track, snapshot)
        except UnknownTable:
            continue
        for section in found:
            told = tuple(f"{words.capitalize()}: {sentence[:1].lower()}{sentence[1:]}" for sentence in section.told)
            yield Section(f"{section.title} · {words}", section.blocks, told)
    yield safely(TRACKS, partial(published.between_tracks, snapshot))


def _further(related: Sequence[object], pairs: Sequence[object]) -> list[str]:
    sentences = []
    if not related:
        sentences.append(
            "From benchmark to benchmark: that takes cards of at least two benchmarks with the same track and protocol."
        )
    if not pairs:
        sentences.append(
            "Findings or whole report: that takes cards of the tracks findings and report with the same references."
        )
    return sentences
