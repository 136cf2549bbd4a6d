"""The sections of a whole report, found by their headers."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from rexrank.errors import WrongType, shown

Kind = Literal["findings", "impression", "both", "indication", "comparison", "technique", "other"]

# Case does not matter; a space stands for any white space; "/" and "&" are as good as "and", "et", "und", "y", "e".
# Letters with accents also match without them.
_NAMES: dict[Kind, tuple[str, ...]] = {
    "both": (
        "findings and impression",
        "findings and impressions",
        "findings and conclusion",
        "findings and interpretation",
        "impression and findings",
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
    ),
    "comparison": ("comparison", "comparisons", "comparison study"),
    "technique": ("technique", "techniques", "procedure", "exam", "examination", "exam type", "study", "views"),
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
# None of the further names is an English word of another kind, also not without its accents: an English report is read
# as if they were not there.
_FRENCH: dict[Kind, tuple[str, ...]] = {
    "both": ("résultats et conclusion", "résultats et conclusions", "constatations et conclusion"),
    "findings": ("résultat", "résultats", "constatations", "compte rendu", "compte-rendu"),
    "impression": ("synthèse", "en conclusion", "conclusion et recommandations", "interprétation", "au total"),
    "indication": (
        "renseignements cliniques",
        "contexte clinique",
        "indication clinique",
        "indications cliniques",
        "histoire clinique",
        "données cliniques",
        "antécédents",
        "motif de l'examen",
        "motif d'examen",
        "motif de consultation",
    ),
    "comparison": (
        "comparaison",
        "comparaisons",
        "élément de comparaison",
        "éléments de comparaison",
        "examen antérieur",
        "examens antérieurs",
        "examen de comparaison",
        "étude comparative",
    ),
    "technique": ("technique d'examen", "technique de l'examen", "procédure", "examen", "protocole"),
    "other": ("recommandation", "recommandations"),
}
_GERMAN: dict[Kind, tuple[str, ...]] = {
    "both": (
        "befund und beurteilung",
        "befunde und beurteilung",
        "befund und zusammenfassung",
        "beurteilung und befund",
    ),
    "findings": (
        "befund",
        "befunde",
        "befundbericht",
        "röntgenbefund",
        "roentgenbefund",
        "radiologischer befund",
        "bildbefund",
    ),
    "impression": (
        "beurteilung",
        "gesamtbeurteilung",
        "zusammenfassung",
        "zusammenfassende beurteilung",
        "beurteilung und empfehlung",
        "schlussfolgerung",
        "fazit",
    ),
    "indication": (
        "indikation",
        "indikationen",
        "rechtfertigende indikation",
        "klinische indikation",
        "fragestellung",
        "klinische fragestellung",
        "indikation und fragestellung",
        "klinische angaben",
        "klinische angabe",
        "klinische information",
        "klinische informationen",
        "klinik",
        "klinik und fragestellung",
        "anamnese",
        "vorgeschichte",
    ),
    "comparison": (
        "vergleich",
        "vergleichsaufnahme",
        "vergleichsaufnahmen",
        "vergleichsuntersuchung",
        "vergleichsuntersuchungen",
        "voraufnahme",
        "voraufnahmen",
        "voruntersuchung",
        "voruntersuchungen",
        "zum vergleich",
    ),
    "technique": (
        "technik",
        "methode",
        "methodik",
        "untersuchung",
        "untersuchungstechnik",
        "aufnahmetechnik",
        "art der untersuchung",
    ),
    "other": ("empfehlung", "empfehlungen", "nachtrag"),
}
_SPANISH: dict[Kind, tuple[str, ...]] = {
    "both": (
        "hallazgos e impresión",
        "hallazgos e impresión diagnóstica",
        "hallazgos y conclusión",
        "hallazgos y conclusiones",
        "hallazgos y opinión",
    ),
    "findings": (
        "hallazgo",
        "hallazgos",
        "hallazgos radiológicos",
        "hallazgos radiográficos",
        "resultado",
        "resultados",
        "informe",
        "informe radiológico",
        "descripción",
        "observaciones",
    ),
    "impression": (
        "impresión",
        "impresiones",
        "impresión diagnóstica",
        "impresión radiológica",
        "conclusión",
        "conclusiones",
        "opinión",
        "diagnóstico",
        "diagnóstico radiológico",
        "juicio diagnóstico",
        "interpretación",
        "resumen",
    ),
    "indication": (
        "indicación",
        "indicaciones",
        "indicación clínica",
        "motivo",
        "motivo del estudio",
        "motivo del examen",
        "motivo de la consulta",
        "motivo de consulta",
        "motivo de la exploración",
        "historia clínica",
        "información clínica",
        "datos clínicos",
        "antecedentes",
        "antecedentes clínicos",
        "sospecha clínica",
        "clínica",
    ),
    "comparison": (
        "comparación",
        "comparaciones",
        "estudio comparativo",
        "estudio previo",
        "estudios previos",
        "estudio anterior",
        "estudios anteriores",
        "exploraciones previas",
        "examen previo",
        "exámenes previos",
    ),
    "technique": (
        "técnica",
        "técnicas",
        "técnica de exploración",
        "procedimiento",
        "estudio",
        "exploración",
        "proyecciones",
    ),
    "other": ("recomendación", "recomendaciones"),
}
_PORTUGUESE: dict[Kind, tuple[str, ...]] = {
    "both": (
        "achados e impressão",
        "achados e impressão diagnóstica",
        "achados e conclusão",
        "achados e conclusões",
        "análise e conclusão",
    ),
    "findings": (
        "achado",
        "achados",
        "achados radiológicos",
        "achados radiográficos",
        "relatório",
        "laudo",
        "laudo radiológico",
        "descrição",
        "análise",
        "observações",
    ),
    "impression": (
        "impressão",
        "impressões",
        "impressão diagnóstica",
        "impressão radiológica",
        "conclusão",
        "conclusões",
        "opinião",
        "hipótese diagnóstica",
        "hipóteses diagnósticas",
        "interpretação",
        "resumo",
    ),
    "indication": (
        "indicação",
        "indicações",
        "indicação clínica",
        "motivo do exame",
        "motivo do estudo",
        "história clínica",
        "história",
        "informação clínica",
        "informações clínicas",
        "dados clínicos",
        "quadro clínico",
        "antecedentes pessoais",
    ),
    "comparison": (
        "comparação",
        "comparações",
        "comparativo",
        "estudo comparativo",
        "exame anterior",
        "exames anteriores",
        "exame prévio",
        "exames prévios",
        "estudo anterior",
        "estudos anteriores",
    ),
    "technique": (
        "técnica",
        "técnicas",
        "técnica do exame",
        "procedimento",
        "exame",
        "estudo",
        "método",
        "incidências",
    ),
    "other": ("recomendação", "recomendações"),
}
_FURTHER = (_FRENCH, _GERMAN, _SPANISH, _PORTUGUESE)
# Also everyday words: a header only at the start of a line or in capitals.
_EVERYDAY = frozenset(
    {
        *("exam", "examination", "study", "views", "procedure", "history", "summary", "notification"),
        *("examen", "protocole", "untersuchung", "methode", "methodik", "klinik", "vergleich"),
        *("estudio", "exploracion", "motivo", "informe", "resumen", "clinica"),
        *("exame", "estudo", "metodo", "relatorio", "resumo", "analise", "historia", "comparativo"),
    }
)
# After one of these a capitalised "Impression:" is still prose.
_BINDING = re.compile("an?|and|by|for|from|in|my|not?|of|on|or|our|per|see|the|their|these|this|to|under|with")
# The same before a name that is not English.
_FURTHER_BINDING = re.compile(
    "aux?|avec|ce|cette|dans|des?|du|en|et|las?|les?|par|pas|pour|sans|sa|ses|son|sur|une?|à|"
    "als|am|bei|das|dem|den|der|die|dies(?:e|er|es|em|en)|eine?[mnrs]?|im|keine?[mnrs]?|mit|nach|ohne|und|vo[mn]|zu[mr]|"
    "al|con|del?|el|est[ae]|los?|para|por|sin|sus?|un|y|"
    "ao|com|d?[ao]s?|e|em|n[ao]s?|sem|seu|sua|uma?"
)


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

    A header is a known name (English, French, German, Spanish or Portuguese) followed by a colon, in any case at the
    start of a line or sentence and capitalised elsewhere, unless an article or the like binds it to its sentence; or a
    known name alone on its line. Text before
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


def without_headers(text: str) -> str:
    """A report without its section headers: what stands below them, in its order, joined by blanks.

    Args:
        text: A report or a part of one.

    Returns:
        The same text where it has no header.
    """
    headers = list(_headers(text))
    if not headers:
        return text
    starts = [0, *(header.end for header in headers)]
    ends = [*(header.start for header in headers), len(text)]
    parts = (text[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return " ".join(filter(None, parts))


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
    folded = _folded(name)
    word = line.rsplit(None, 1)[-1]
    if _BINDING.fullmatch(word.lower()) or (folded in _further() and _FURTHER_BINDING.fullmatch(word.lower())):
        return False
    if name == name.upper():
        return True
    if folded in _EVERYDAY:
        return False
    # Every German noun is capitalised, so that alone makes no header.
    capitalised = name[0].isupper() and word[0].islower() and folded not in _german()
    return line[-1] in ".!?;:)" or capitalised


@cache
def _kinds() -> dict[str, Kind]:
    return {_folded(name): kind for group in (*_FURTHER, _NAMES) for kind, names in group.items() for name in names}


@cache
def _further() -> frozenset[str]:
    """Names that are not English."""
    english = {_folded(name) for names in _NAMES.values() for name in names}
    return frozenset(_kinds().keys() - english)


@cache
def _german() -> frozenset[str]:
    return frozenset(_folded(name) for names in _GERMAN.values() for name in names)


@cache
def _pattern() -> re.Pattern[str]:
    names = {name for group in (_NAMES, *_FURTHER) for names in group.values() for name in names}
    by_letter: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (-len(name), name)):
        by_letter.setdefault(_folded(name)[0], []).append(name)
    # Most words are ruled out by their first letter instead of by every name.
    name = "|".join(
        f"(?=[{letter}{''.join(sorted({name[0] for name in group}))}])(?:{'|'.join(map(_spellings, group))})"
        for letter, group in by_letter.items()
    )
    markup, blanks = r"[*_#>]{0,4}[ \t]?", r"[ \t\u00a0\u202f]{0,3}"
    alone = rf"^[ \t]{{0,40}}{markup}(?P<alone>{name})[*_]{{0,4}}[ \t\r]{{0,40}}$"
    named = rf"{markup}(?<![^\W_])(?P<named>{name})[*_]{{0,4}}{blanks}[:：][*_]{{0,4}}"
    return re.compile(f"{alone}|{named}", re.IGNORECASE | re.MULTILINE)


_JOINERS = ("and", "et", "und", "y", "e")


def _spellings(name: str) -> str:
    """Pattern of a name: other white space, signs for its "and", accents composed, decomposed or absent."""
    pattern = re.escape(name).replace("'", "['’]")
    for joiner in _JOINERS:
        pattern = pattern.replace(rf"\ {joiner}\ ", rf"(?:\s{{1,3}}{joiner}\s{{1,3}}|\s{{0,3}}[&/]\s{{0,3}})")
    pattern = pattern.replace(r"\ ", r"\s{1,3}")
    return "".join(character if character.isascii() else _accented(character) for character in pattern)


def _accented(letter: str) -> str:
    decomposed = unicodedata.normalize("NFD", letter)
    return f"(?:{letter}|{decomposed}|{decomposed[0]})" if len(decomposed) > 1 else letter


def _folded(name: str) -> str:
    """The one form of all spellings of a name."""
    decomposed = unicodedata.normalize("NFD", name.casefold().replace("’", "'").replace("ı", "i"))
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    words = plain.replace("/", " & ").replace("&", " & ").split()
    return " ".join("&" if word in _JOINERS else word for word in words)
