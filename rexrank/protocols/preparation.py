"""Preparing texts as a protocol says, and leaving out studies that the track does not have."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from rexrank.protocols.protocol import Preparation, PreparationOption, Protocol
from rexrank.protocols.texts import treat
from rexrank.reports.sections import read_sections
from rexrank.reports.studies import Study, is_blank, whole_report
from rexrank.terms import Convention, Track

_HEADER = "Findings: "


@dataclass(frozen=True)
class Prepared:
    """Texts as the metrics get them, aligned.

    Attributes:
        study_ids: Studies of the track, in the order of the references.
        predictions: One text a study.
        references: One or more texts a study.
        name: Of the preparation, as it stands in signatures; None where texts are as they were.
        option: The preparation in force.
        left_out: Reason to number of studies that the references have and the track has not.
        ignored: Predictions for such studies.
        truncated: References that an option for references alone has shortened; None where none was asked for.
    """

    study_ids: list[str]
    predictions: list[str]
    references: list[tuple[str, ...]]
    name: str | None
    option: Preparation
    left_out: dict[str, int] = field(default_factory=dict)
    ignored: int = 0
    truncated: int | None = None


def prepare(
    protocol: Protocol,
    track: Track,
    studies: Mapping[str, Study],
    predictions: Mapping[str, str],
    convention: Convention | None = None,
    option: str | None = None,
) -> Prepared:
    """Prepare both sides of a track.

    ``reference`` puts ``Findings: `` before the reference only, as ReXrank's script does; ``both`` before both texts
    (a blank prediction stays blank); ``none`` before neither. These three concern the findings track; an impression
    is compared as it is, and so is a record's ``report``, which is written ``Findings: … Impression: …`` from its
    sections where the record has none. ``sections`` takes the track's section out of both texts by the same header
    rule, and its report track holds only studies with both sections. Text options (`rexrank.protocols.texts`) then
    treat both texts alike, or references alone; a reference of which they leave nothing stays as a blank one.

    Args:
        protocol: Rule book.
        track: Which text is compared.
        studies: References by study id.
        predictions: Texts by study id; every study of the track has one.
        convention: Decides the option where none is asked for; the protocol's by default.
        option: One of the protocol's choices, text options, or both, joined with ``+``.

    Raises:
        UnknownProtocol: The protocol has no such track or option.
    """
    protocol.check_track(track)
    preparation = protocol.option(convention or protocol.convention, option)
    chosen = preparation.choice
    options = [option for option in preparation.options if not option.references_only]
    cuts = [option for option in preparation.options if option.references_only]
    plain = protocol.text_preparation.choices == ("none",)
    study_ids, references = [], []
    left_out: Counter[str] = Counter()
    ignored = truncated = 0
    for study_id, study in studies.items():
        texts = _reference(study, track, chosen, plain)
        if texts:
            study_ids.append(study_id)
            whole = tuple(treat(text, options) for text in texts)
            references.append(tuple(treat(text, cuts) for text in whole))
            truncated += sum(text != kept for text, kept in zip(whole, references[-1], strict=True))
        else:
            left_out[_absence(study, track)] += 1
            ignored += study_id in predictions
    return Prepared(
        study_ids=study_ids,
        predictions=[treat(_prediction(predictions[study_id], track, chosen), options) for study_id in study_ids],
        references=references,
        name=_name(track, preparation, plain),
        option=preparation,
        left_out=dict(left_out),
        ignored=ignored,
        truncated=truncated if cuts else None,
    )


def _name(track: Track, preparation: Preparation, plain: bool) -> str | None:
    first = _choice_name(track, preparation.choice, plain)
    return "+".join([*filter(None, [first]), *(option.signature for option in preparation.options)]) or None


def _choice_name(track: Track, option: PreparationOption, plain: bool) -> str | None:
    if plain:
        return None
    if option == "sections":
        return "sections"
    if track == "report":
        return "report-verbatim"
    if track == "findings" and option != "none":
        return "findings-ref" if option == "reference" else "findings-both"
    return None


def _reference(study: Study, track: Track, option: PreparationOption, plain: bool) -> tuple[str, ...]:
    if not study.has(track):
        return ()
    if track == "report":
        first = _report(study, option, plain)
    else:
        first = study.findings if track == "findings" else study.impression
    if first is None:
        return ()
    texts = (first, *study.alternatives)
    if option == "sections":
        return tuple(_section(text, track) or text for text in texts)
    if track == "findings" and option in {"reference", "both"}:
        return tuple(_HEADER + text for text in texts)
    return texts


def _report(study: Study, option: PreparationOption, plain: bool) -> str | None:
    if option == "sections":
        if study.findings and study.impression:
            return f"{study.findings} {study.impression}"
        bare = study.findings is None and study.impression is None
        return study.report if bare else None
    if study.report is not None:
        return study.report
    if plain:
        return " ".join(text for text in (study.findings, study.impression) if text)
    return whole_report(study.findings, study.impression)


def _prediction(text: str, track: Track, option: PreparationOption) -> str:
    if option == "sections":
        return _section(text, track)
    if track == "findings" and option == "both" and not is_blank(text):
        return _HEADER + text
    return text


def _section(text: str, track: Track) -> str:
    """The track's part of a text with headers; the whole of a text without."""
    sections = read_sections(text)
    if not sections.headers:
        return text
    if track == "report":
        return " ".join(part for part in (sections.findings, sections.impression) if part)
    if track == "impression" and not sections.combined:
        return sections.impression or ""
    return sections.findings or ""


def _absence(study: Study, track: Track) -> str:
    if track != "report":
        return f"no {track}"
    absent = [name for name in ("findings", "impression") if getattr(study, name) is None]
    return f"no {' and no '.join(absent)}"
