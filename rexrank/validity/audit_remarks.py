"""Sections of the page of an audit around the scores: texts, stress, audits, flags, single studies, what is missing."""

from collections.abc import Iterator, Sequence
from typing import Any

from rexrank.analysis.appendix import signatures
from rexrank.analysis.blocks import Block, Folded, Paragraph, Picture, Points, Section, Table, listed
from rexrank.analysis.cards import CardSet
from rexrank.analysis.study_table import digits_of, direction_of, label_of
from rexrank.layout import NOTHING, ends, number
from rexrank.metrics import score_keys
from rexrank.scoring.diversity import flags
from rexrank.scoring.table import ARROWS, by_reason, counted
from rexrank.validity.audit import Audit, Part, single_errors
from rexrank.validity.audit_answers import DELETED, negation, section, texts
from rexrank.validity.audit_numbers import minus
from rexrank.validity.stress import Stress
from rexrank.validity.stress_tables import picture as stress_picture
from rexrank.validity.stress_texts import ALL as EVERYWHERE
from rexrank.validity.stress_texts import KINDS

_SIGHTS = {"yes": "sees", "barely": "barely", "no": "blind", "unsure": "unsure", None: NOTHING}
_SEE_HEATMAP = (
    "Upper rows, errors: dark blue where the score sees it, white where it guesses, orange where it likes the error "
    "better than a harmless change. Lower rows, harmless changes: orange where the score falls though the "
    "meaning is the same."
)
_LOWEST = 15
_MOST_COLUMNS = 4
# From this share on what is only counted is worth a flag.
_MANY = 0.10


def texts_written(found: Audit) -> Section:
    """How various the texts are."""
    said = texts(found)
    known = found.card.diversity
    blocks: tuple[Block, ...] = ()
    if known:
        sides = [(found.name, known["predictions"]), ("Radiologists", known["references"])]
        rows = tuple(
            (
                name,
                f"{one['distinct']:,} ({one['distinct_share']:.0%})",
                f"{one['most_frequent']:,} ({one['most_frequent_share']:.0%})",
                NOTHING if one["in_training"] is None else f"{one['in_training']:,} ({one['in_training_share']:.0%})",
                number(one["self_bleu"], ".2f"),
            )
            for name, one in sides
        )
        head = ("Texts of", "Distinct", "Most frequent", "In the training split", "Self-BLEU")
        caption = f"{counted(known['predictions']['n'], 'study')}; self-BLEU is 1 where all texts are alike"
        blocks = (Table(head, rows, caption),)
    return section(said, blocks)


def sights(found: Audit) -> Section:
    """Which errors the scores see."""
    said = negation(found)
    known = found.stressed.found
    blocks: tuple[Block, ...] = ()
    if known is not None and known.scores:
        keys = [key for key in found.qualities if key in known.scores]
        single = [key for key in single_errors() if key in known.scores]
        blocks = (
            Paragraph(
                f"Each of {counted(known.n, 'report')} ({known.source}) was changed on purpose and scored against "
                "itself. A score sees an error where it ranks the report with the error below the same report with a "
                "harmless change of like size (other words, another order, a slip of the pen).",
            ),
            *_sight_tables(known, keys),
            Picture(lambda: stress_picture(known), _SEE_HEATMAP),
            Folded("What the audits of single errors see", tuple(_sight_tables(known, single))),
        )
    return section(said, blocks)


def _sight_tables(known: Stress, keys: Sequence[str]) -> Iterator[Table]:
    """Harmful edits by scores, at most a few scores beside each other."""
    for start in range(0, len(keys), _MOST_COLUMNS):
        some = keys[start : start + _MOST_COLUMNS]
        rows = []
        for edit in (name for name in known.applied if KINDS[name] == "harmful"):
            cells = [known.scores[key] for key in some]
            words = [f"{number(one.by_edit[edit].value, '.2f')} {_SIGHTS[one.sees(edit)]}" for one in cells]
            rows.append((edit.replace("_", " "), *words))
        left = [known.scores[key].cell(DELETED, EVERYWHERE) for key in some]
        kept = [minus(number(cell.kept.value if cell else None, ".0%")) for cell in left]
        rows.append(("left once every “no” is deleted", *kept))
        caption = (
            "How often the error ranks below a harmless change: 1 always, .5 as a coin. Last row: what is left of the "
            "way from another report's score up to the report's own."
        )
        yield Table(("Error", *map(label_of, some)), tuple(rows), caption)


def audits(found: Audit) -> Section:
    """What was found of single kinds of errors."""
    card = found.card
    rows, meant = [], []
    for key in (one for one in single_errors() if one in card.signatures or one in card.unavailable):
        form, counts = f".{digits_of(key)}f", card.counts.get(key, {})
        judged = counts.get("n", card.n) - counts.get("n_undefined", 0)
        rows.append(
            (
                f"{label_of(key)} {ARROWS[direction_of(key)]}",
                number(card.summary.get(key), form),
                ends(card.intervals.get(key), form),
                f"{judged:,} of {card.n:,}",
            )
        )
        meant.append(f"{label_of(key)}: {score_keys()[key].description}")
    said = (
        "Each looks for one kind of error, by rules. A study in which there is nothing to judge has no value: a system "
        "that names no side makes no error of side, and says less."
    )
    table = Table(("Audit", "Value", "95% interval", "Studies judged"), tuple(rows))
    blocks = (Paragraph(said), table, Folded("What each of them is", (Points(tuple(meant)),)))
    return Section("Audits of single errors", blocks, level=2)


def flagged(found: Audit) -> Section:
    """What a reader has to know before any score."""
    card = found.card
    said = [*flags(card.diversity), *_of_counts(found)]
    if warning := card.interval.get("warning"):
        said.append(str(warning))
    if warning := card.scope.get("warning"):
        said.append(str(warning))
    said += [f"left out: {counted(number, 'study')} with {why}" for why, number in card.left_out.items()]
    if card.ignored_predictions:
        said.append(f"{counted(card.ignored_predictions, 'prediction')} of studies that were left out")
    said += found.evaluation_set.notes
    if not said:
        return Section("Flags", (Paragraph("None."),), level=2)
    return Section("Flags", (Points(tuple(f"{one[:1].upper()}{one[1:]}" for one in said)),), level=2)


def _of_counts(found: Audit) -> Iterator[str]:
    """What the card counted of the texts."""
    card = found.card
    counts = card.counts.get(next(iter(found.qualities), ""), {})
    if empty := counts.get("n_empty", 0):
        yield (
            f"{counted(empty, 'prediction')} of {card.n:,} is empty"
            if empty == 1
            else (f"{empty:,} of {card.n:,} predictions are empty")
        )
    if (alike := counts.get("n_identical", 0)) > _MANY * card.n:
        yield f"{alike:,} of {card.n:,} predictions are the reference word for word"
    beside = card.diversity.get("references", {})
    if (beside.get("in_training_share") or 0) > _MANY:
        yield (
            f"{beside['in_training']:,} of {card.n:,} reference texts ({beside['in_training_share']:.0%}) stand word "
            "for word in the training split: a system may know them by heart"
        )


def lowest(found: Audit) -> Section:
    """Studies with the lowest scores, by id, where ids may be shown."""
    title = "Studies that score lowest"
    keys = [key for key in found.leading if key in found.card.per_study.column_names]
    if not found.settings.shows_studies:
        why = "Not listed: nobody said that studies of this set may be shown to everyone."
        return Section(title, (Paragraph(why),), level=2)
    if not keys:
        return Section(title, (Paragraph("No score has values of single studies."),), level=2)
    columns = [found.card.per_study.column(key).to_pylist() for key in keys]
    worst = -1.0 if direction_of(keys[0]) == "lower" else 1.0
    ids = found.card.per_study.column("study_id").to_pylist()
    places = [place for place, value in enumerate(columns[0]) if value is not None]
    # Of equal values the order of the set.
    places = sorted(places, key=lambda place: worst * columns[0][place])[:_LOWEST]
    rows = tuple(
        (ids[place], *(number(column[place], f".{digits_of(key)}f") for key, column in zip(keys, columns, strict=True)))
        for place in places
    )
    caption = f"{counted(len(rows), 'study')} with the worst {label_of(keys[0])}"
    return Section(title, (Table(("Study", *map(label_of, keys)), rows, caption),), level=2)


def not_computed(found: Audit) -> Section:
    """Everything that is missing, with its reason."""
    items = [_absent(keys, why) for why, keys in by_reason(found.card.unavailable).items()]
    parts: dict[str, Part[Any]] = {
        "Blind floors": found.floors,
        "System over floors": found.over,
        "Floors in groups": found.against,
        "Groups of studies": found.groups,
        "Stress suite": found.stressed,
    }
    items += [f"{name}: {part.why}." for name, part in parts.items() if part.why]
    if found.floors.found:
        items += [f"Floor of {listed(keys, 6)}: {why}." for why, keys in by_reason(found.floors.found.absent).items()]
    if found.groups.found:
        items += [f"Groups by {name}: {why}." for name, why in found.groups.found.absent.items()]
    if found.stressed.found:
        items += [
            f"Stress of {listed(keys, 6)}: {why}." for why, keys in by_reason(found.stressed.found.unavailable).items()
        ]
    block: Block = Points(tuple(items)) if items else Paragraph("Everything was computed.")
    return Section("Not computed, and why", (block,), level=2)


def _absent(keys: Sequence[str], why: str) -> str:
    """What is missing and why, as a sentence; reasons that begin with their verb take the names as its subject."""
    return f"{listed(keys, 6)}{' ' if why.startswith(('is ', 'needs ')) else ': '}{why}."


def origins(found: Audit) -> Section:
    """What pins each number."""
    return signatures([CardSet(found.evaluation_set.name, (found.name,), (found.card,))])
