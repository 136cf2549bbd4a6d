"""The sections of a whole report, found by their headers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from rexrank.errors import WrongType, shown

Kind = Literal["findings", "impression", "both", "indication", "comparison", "technique", "other"]

# English, with the French and German words of the same headers. Case does not matter; a space stands for any white
# space; "/" and "&" are as good as "and".
_NAMES: dict[Kind, tuple[str, ...]] = {
    "both": (
        "findings and impression",
        "findings and impressions",
        "findings and conclusion",
        "findings and interpretation",
        "impression and findings",
        "befund und beurteilung",
    ),
    "findings": (
        "findings",
        "finding",
        "result",
        "results",
        "observations",
        "radiographic findings",
        "imaging findings",
        "chest findings",
        "résultat",
        "résultats",
        "resultat",
        "resultats",
        "constatations",
        "befund",
        "befunde",
    ),
    "impression": (
        "impression",
        "impressions",
        "final impression",
        "impression and recommendation",
        "impression and recommendations",
        "conclusion",
        "conclusions",
        "conclusion and recommendations",
        "opinion",
        "summary",
        "interpretation",
        "diagnostic impression",
        "beurteilung",
        "zusammenfassung",
    ),
    "indication": (
        "indication",
        "indications",
        "clinical indication",
        "history",
        "clinical history",
        "clinical information",
        "clinical details",
        "indication and history",
        "reason for exam",
        "reason for examination",
        "reason for study",
        "reason for the exam",
        "reason for the examination",
        "renseignements cliniques",
        "indikation",
        "fragestellung",
        "klinische angaben",
    ),
    "comparison": ("comparison", "comparisons", "comparison study", "comparaison", "vergleich", "voraufnahmen"),
    "technique": (
        "technique",
        "techniques",
        "procedure",
        "exam",
        "examination",
        "exam type",
        "study",
        "views",
        "technik",
    ),
    "other": (
        "recommendation",
        "recommendations",
        "notification",
        "notifications",
        "addendum",
        "final report",
        "wet read",
        "attestation",
    ),
}
# Also everyday words: a header only at the start of a line or in capitals.
_EVERYDAY = frozenset({"exam", "examination", "study", "views", "procedure", "history", "summary", "notification"})
# After one of these a capitalised "Impression:" is still prose.
_BINDING = re.compile("an?|and|by|for|from|in|my|not?|of|on|or|our|per|see|the|their|these|this|to|under|with")


@dataclass(frozen=True)
class Sections:
    """A report's parts, stripped; None where a part is absent or blank.

    Attributes:
        findings: What is seen; the whole text when the report has no header.
        impression: The conclusion.
        indication: Why the study was made, history included.
        comparison: Earlier studies.
        technique: How the study was made.
        headers: Headers in their order, as written; empty when there is none.
        combined: True when one section holds findings and impression together; it then stands in ``findings``.
    """

    findings: str | None = None
    impression: str | None = None
    indication: str | None = None
    comparison: str | None = None
    technique: str | None = None
    headers: tuple[str, ...] = ()
    combined: bool = False


@dataclass(frozen=True)
class _Header:
    kind: Kind
    written: str
    start: int
    end: int


def read_sections(text: str) -> Sections:
    """Split a report at its headers.

    A header is a known name followed by a colon, in any case at the start of a line or sentence and capitalised
    elsewhere, unless an article or the like binds it to its sentence; or a known name alone on its line. Text before
    the first header is findings when that header is the impression's, unless it is a title in capitals; else it
    belongs to no section.

    Args:
        text: A report or a part of one.

    Returns:
        The sections. Two sections of one kind are joined by a line break. A report without headers is all
        findings, with empty ``headers``.

    Raises:
        WrongType: It is no text.
    """
    if not isinstance(text, str):
        raise WrongType(f"text: expected a report as str, got {shown(text)}")
    headers = list(_headers(text))
    if not headers:
        return Sections(findings=text.strip() or None)
    parts: dict[Kind, list[str]] = {}
    before = text[: headers[0].start].strip()
    if headers[0].kind == "impression" and before and not _is_title(before):
        parts["findings"] = [before]
    ends = [header.start for header in headers[1:]] + [len(text)]
    for header, end in zip(headers, ends, strict=True):
        body = text[header.end : end].strip()
        if body:
            parts.setdefault("findings" if header.kind == "both" else header.kind, []).append(body)
    return Sections(
        findings=_joined(parts, "findings"),
        impression=_joined(parts, "impression"),
        indication=_joined(parts, "indication"),
        comparison=_joined(parts, "comparison"),
        technique=_joined(parts, "technique"),
        headers=tuple(header.written for header in headers),
        combined=any(header.kind == "both" for header in headers),
    )


def _is_title(text: str) -> bool:
    return text == text.upper() and not text.endswith(".")


def _joined(parts: dict[Kind, list[str]], kind: Kind) -> str | None:
    return "\n".join(parts[kind]) if kind in parts else None


def _headers(text: str) -> Iterator[_Header]:
    for match in _pattern().finditer(text):
        name = match["alone"] or match["named"]
        if match["alone"] or _starts_section(text[max(0, match.start() - 80) : match.start()], name):
            yield _Header(_kinds()[_folded(name)], name, match.start(), match.end())


def _starts_section(before: str, name: str) -> bool:
    """Whether a name with a colon, after these characters, is a header and not prose."""
    line = before.rsplit("\n", 1)[-1].rstrip()
    if not line:
        return True
    word = line.rsplit(None, 1)[-1]
    if _BINDING.fullmatch(word.lower()):
        return False
    if name == name.upper():
        return True
    if _folded(name) in _EVERYDAY:
        return False
    return line[-1] in ".!?;:)" or (name[0].isupper() and word[0].islower())


@cache
def _kinds() -> dict[str, Kind]:
    return {_folded(name): kind for kind, names in _NAMES.items() for name in names}


@cache
def _pattern() -> re.Pattern[str]:
    names = sorted(_kinds(), key=len, reverse=True)
    escaped = (re.escape(name).replace(r"\ and\ ", r"\s{0,3}(?:and|&|/)\s{0,3}") for name in names)
    name = "|".join(pattern.replace(r"\ ", r"\s{1,3}") for pattern in escaped)
    markup, blanks = r"[*_#>]{0,4}[ \t]?", r"[ \t\u00a0\u202f]{0,3}"
    alone = rf"^[ \t]{{0,40}}{markup}(?P<alone>{name})[*_]{{0,4}}[ \t\r]{{0,40}}$"
    named = rf"{markup}(?<![^\W_])(?P<named>{name})[*_]{{0,4}}{blanks}[:：][*_]{{0,4}}"
    return re.compile(f"{alone}|{named}", re.IGNORECASE | re.MULTILINE)


def _folded(name: str) -> str:
    words = name.lower().replace("/", " and ").replace("&", " and ").split()
    return " ".join(words)
