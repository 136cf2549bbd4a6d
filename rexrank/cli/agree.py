"""Hold metrics against radiologists' judgements: a metric paper's table.

SET is what the judgements' owner publishes, on this machine:
  radpref   folder with preference_data.json and user_1.json …
  rexval    folder with 50_samples_gt_and_candidates.csv and the counts
  radevalx  folder with the two RadEval CSV files, and the scores if there
  radeval   the CSV file of the RadEval expert set
  table     CSV, TSV or JSON: study_id, rater, rating or errors, candidate,
            reference
The kind is known by the names of the files, and else --kind says it.
docs/agree.md has every form.

Metrics are computed from the candidates' texts, or given by --scores. Printed
are Kendall's tau-b, Spearman, Pearson and the accuracy of preferences, with
intervals over studies, the agreement of radiologists with one another, and in
words which metrics cannot be told apart.

Examples:
  rexrank agree CRIMSON/radpref --metrics bleu2,rouge_l
  rexrank agree rexval/ --against errors_significant --markdown > table.md
  rexrank agree radevalx/ --metrics bleu2,rouge_l --json > agreement.json
  rexrank agree judged.csv --scores mine.csv --lower my_distance
  rexrank agree judged.csv --metrics rouge --plot agreement.svg

Exit codes: 0 done, 1 refused (with file, line and column), 2 wrong usage,
3 nothing could be compared.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_encoders, draw, words_of
from rexrank.cli.streams import print_json
from rexrank.errors import RexrankError
from rexrank.files import user_path

if TYPE_CHECKING:
    from rexrank.experts.agreement import Agreement, Scored
    from rexrank.experts.judgements import Judgements
    from rexrank.figures import Figure
    from rexrank.scoring.card import ScoreCard

_KINDS = ("radpref", "rexval", "radevalx", "radeval", "table")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank agree``."""
    parser.add_argument("set", metavar="SET", help="folder or file of the judgements")
    parser.add_argument("--kind", choices=_KINDS, help="form of the files (default: by their names, else a table)")
    parser.add_argument(
        "--against",
        metavar="MEASURE",
        help="what the radiologists said: rating, errors, errors_significant, … (default: what the set's paper uses)",
    )
    parser.add_argument(
        "--metrics",
        metavar="A,B",
        help="score keys or metric names to compute (default: those of the protocol, none where scores are given)",
    )
    parser.add_argument("--protocol", default="plain", metavar="P", help="how texts are prepared (default: plain)")
    parser.add_argument("--scores", metavar="FILE", help="scores by study_id and candidate: CSV, TSV, JSON or Parquet")
    parser.add_argument("--given", metavar="A,B", help="columns of a table that hold scores of metrics")
    parser.add_argument("--lower", metavar="A,B", help="given scores of which the lower one is the better one")
    parser.add_argument(
        "--allow-missing", action="store_true", help="accept candidates that some raters left out, and count them"
    )
    parser.add_argument(
        "--blank-cells",
        default="missing",
        choices=("missing", "zero"),
        help="what a blank cell of RadEvalX means (default: missing)",
    )
    add_encoders(parser)
    parser.add_argument(
        "--resamples", metavar="N", type=int, default=10_000, help="draws of the intervals (default: 10000)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the draws (default: 0)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, and nothing else, on stdout")
    form.add_argument("--markdown", action="store_true", help="print Markdown, and nothing else, on stdout")
    parser.add_argument("--plot", metavar="FILE", help="draw tau-b of each metric; FILE ends in .svg, .png or .pdf")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Read, score, compare and print.

    Raises:
        UnreadableJudgements: A file cannot be read, with its line and column.
        RexrankError: Texts cannot be scored, or the picture cannot be drawn or written.
    """
    from rexrank.experts import load
    from rexrank.experts.tables import markdown, text
    from rexrank.metrics import InvalidCall
    from rexrank.statistics import InvalidStatistics

    given = words_of(arguments.given) or []
    judgements = load(arguments.set, arguments.kind, arguments.allow_missing, arguments.blank_cells, given)
    judgements.opinion(arguments.against)  # refused before any work
    try:
        scores, unavailable, notes = _scores(arguments, judgements)
        if not scores:
            print(_nothing(unavailable), file=sys.stderr)
            return NOTHING_COMPUTED
        found = _agreement(arguments, judgements, scores)
    except (InvalidCall, InvalidStatistics) as error:
        print(f"rexrank agree: {error}", file=sys.stderr)
        return WRONG_USAGE
    found.unavailable.update(unavailable)
    found.notes.extend(notes)
    if arguments.json:
        print_json(found.to_json())
    else:
        print(markdown(found) if arguments.markdown else text(found))
    if not any(one.value is not None for every in found.comparisons.values() for one in every.estimates.values()):
        return NOTHING_COMPUTED
    # Printed first, so that a picture that cannot be drawn does not cost the numbers.
    if arguments.plot:
        draw(lambda: _picture(found), arguments.plot, arguments.quiet)
    return DONE


def _nothing(unavailable: dict[str, str]) -> str:
    """Why there is no metric to compare."""
    lines = [f"not computed: {name}: {why}" for name, why in unavailable.items()]
    return "\n".join(
        [*lines, "rexrank agree: no metric could be compared; name others with --metrics, or give --scores"]
    )


def _scores(
    arguments: argparse.Namespace, judgements: "Judgements"
) -> tuple[dict[str, "Scored"], dict[str, str], list[str]]:
    """Scores of metrics by name, what could not be had and why, and notes."""
    from rexrank.experts.scores import given_scores, read_scores

    columns = dict(judgements.scores)
    notes: list[str] = []
    if arguments.scores:
        read, notes = read_scores(user_path(arguments.scores), judgements.candidates)
        if twice := [name for name in read if name in columns]:
            raise RexrankError(f"{arguments.scores} and {judgements.source} both have {', '.join(twice)}; rename one")
        columns |= read
    given, assumed = given_scores(columns, words_of(arguments.lower) or [])
    computed: dict[str, Scored] = {}
    unavailable: dict[str, str] = {}
    if arguments.metrics or not given:
        computed, unavailable, more = _computed(arguments, judgements)
        notes += more
    named = {f"{name} (given)" if name in computed else name: one for name, one in given.items()}
    scores = computed | named
    for name in [name for name, one in scores.items() if one.direction == "none"]:
        unavailable[name] = "says nothing about quality, so there is no better and no worse"
        del scores[name]
    return scores, unavailable, notes + assumed


def _computed(
    arguments: argparse.Namespace, judgements: "Judgements"
) -> tuple[dict[str, "Scored"], dict[str, str], list[str]]:
    """Scores of texts by key, what could not be had and why, and notes."""
    import numpy as np

    from rexrank.experts.agreement import Scored
    from rexrank.metrics import score_keys

    number = len(judgements.candidates)
    card = _card(arguments, judgements)
    rows = [int(named.split(":")[0]) for named in card.per_study.column("study_id").to_pylist()]
    scores: dict[str, Scored] = {}
    unavailable = dict(card.unavailable)
    for key, signature in card.signatures.items():
        values = np.full(number, np.nan)
        if key in card.per_study.column_names:
            values[rows] = card.per_study.column(key).to_numpy()
        if np.isnan(values).all():
            unavailable.setdefault(key, "no value for a single report, only for a set of them")
        else:
            scores[key] = Scored(values, score_keys()[key].direction, "computed", signature)
    notes = []
    if lost := number - len(rows):
        notes.append(f"{lost:,} candidates have no text or no reference, and no computed score")
    if of_sets := [key for key in scores if score_keys()[key].kind == "corpus"]:
        notes.append(f"of scores of whole sets the value of a single report is used: {', '.join(of_sets)}")
    if "cider" in scores:
        notes.append("cider weighs words by how many of these references have them, so it depends on the set")
    return scores, unavailable, notes


def _card(arguments: argparse.Namespace, judgements: "Judgements") -> "ScoreCard":
    """The score card of the candidates that have a text and a reference; ids begin with their places."""
    from rexrank.experts.judgements import UnreadableJudgements
    from rexrank.reports.studies import is_blank
    from rexrank.scoring.score import score

    # A fault of a text is reported by id, so the id names its candidate too.
    with_texts = {
        f"{place}:{one.study_id}:{one.name}": (one.text, one.reference)
        for place, one in enumerate(judgements.candidates)
        if one.text is not None and one.reference is not None and not is_blank(one.reference)
    }
    if not with_texts:
        raise UnreadableJudgements(
            f"{judgements.source} has no texts of candidates and references, from which metrics could be computed; add "
            "the columns candidate and reference, or give --scores"
        )
    return score(
        {named: texts[0] for named, texts in with_texts.items()},
        {named: texts[1] for named, texts in with_texts.items()},
        protocol=arguments.protocol,
        track="report",
        metrics=arguments.metrics if arguments.metrics == "all" else words_of(arguments.metrics) or None,
        device=arguments.device,
        progress=not arguments.quiet,
        weights=arguments.weights,
        download=not arguments.no_download,
        groups="study",
    )


def _agreement(arguments: argparse.Namespace, judgements: "Judgements", scores: dict[str, "Scored"]) -> "Agreement":
    from rexrank.experts import agree
    from rexrank.scoring.progress import reporting
    from rexrank.statistics.agreement import MEASURES

    with reporting(not arguments.quiet, total=2 * len(MEASURES)) as report:
        return agree(judgements, scores, arguments.against, arguments.resamples, arguments.seed, report)


def _picture(found: "Agreement") -> "Figure":
    from rexrank.experts.tables import NAMES
    from rexrank.figures import Row, intervals

    comparison, between = found.comparisons["kendall"], found.between["kendall"]
    estimates = dict(comparison.estimates)
    beside = (between.mean_against_others or between.mean) if between else None
    if beside:
        estimates["radiologists"] = beside
    ends = {name: one.interval or (None, None) for name, one in estimates.items()}
    rows = [Row(name, one.value, ends[name][0], ends[name][1], one is beside) for name, one in estimates.items()]
    title = f"{NAMES['kendall']} with radiologists ({found.label})"
    return intervals(rows, title, "higher", beside.value if beside else None)
