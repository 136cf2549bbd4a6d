"""Section headers in French, German, Spanish and Portuguese; English reports are read as if there were none."""

import unicodedata

import pytest

from rexrank import read_sections
from rexrank.benchmarks import openi
from rexrank.reports import sections as module

REPORTS = {
    "French": (
        "INDICATION : toux.\n\nTECHNIQUE : face debout.\n\nCOMPARAISON : aucune.\n\nRÉSULTATS : poumons clairs.\n\n"
        "CONCLUSION : examen normal.",
        ("poumons clairs.", "examen normal.", "toux.", "aucune.", "face debout."),
    ),
    "French, other words": (
        "Renseignements cliniques : toux.\nProcédure : face.\nExamens antérieurs : aucun.\n"
        "Constatations : poumons clairs.\nSynthèse : normal.",
        ("poumons clairs.", "normal.", "toux.", "aucun.", "face."),
    ),
    "French, with an apostrophe": (
        "Motif de l’examen : toux. Technique de l'examen : face. Résultats\u00a0: clair. Interprétation\u202f: normal.",
        ("clair.", "normal.", "toux.", None, "face."),
    ),
    "German": (
        "Klinische Angaben: Husten.\nUntersuchungstechnik: a.p.\nVoraufnahmen: keine.\nBefund: Lunge frei.\n"
        "Beurteilung: Unauffällig.",
        ("Lunge frei.", "Unauffällig.", "Husten.", "keine.", "a.p."),
    ),
    "German, other words": (
        "Rechtfertigende Indikation: Husten. Technik: a.p. Vergleichsaufnahmen: keine. Röntgenbefund: Frei. "
        "Zusammenfassung: Normal.",
        ("Frei.", "Normal.", "Husten.", "keine.", "a.p."),
    ),
    "Spanish": (
        "INDICACIÓN: tos.\nTÉCNICA: PA.\nCOMPARACIÓN: ninguna.\nHALLAZGOS: pulmones claros.\nIMPRESIÓN: normal.",
        ("pulmones claros.", "normal.", "tos.", "ninguna.", "PA."),
    ),
    "Spanish, other words": (
        "Datos clínicos: tos.\nProcedimiento: PA.\nEstudios previos: no.\nInforme: claros.\n"
        "Impresión diagnóstica: normal.",
        ("claros.", "normal.", "tos.", "no.", "PA."),
    ),
    "Portuguese": (
        "INDICAÇÃO: tosse.\nTÉCNICA: PA.\nCOMPARAÇÃO: nenhuma.\nACHADOS: pulmões limpos.\nIMPRESSÃO: normal.",
        ("pulmões limpos.", "normal.", "tosse.", "nenhuma.", "PA."),
    ),
    "Portuguese, other words": (
        "História clínica: tosse.\nMétodo: PA.\nExames anteriores: não.\nAnálise: limpos.\nConclusão: normal.",
        ("limpos.", "normal.", "tosse.", "não.", "PA."),
    ),
}


def parts(text: str) -> tuple[str | None, ...]:
    found = read_sections(text)
    return found.findings, found.impression, found.indication, found.comparison, found.technique


def without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


@pytest.mark.parametrize("language", REPORTS)
def test_every_section(language: str) -> None:
    text, expected = REPORTS[language]
    assert parts(text) == expected


@pytest.mark.parametrize("language", REPORTS)
def test_case_accents_and_decomposed_letters(language: str) -> None:
    text, expected = REPORTS[language]
    for change in (str.upper, str.lower, without_accents, lambda text: unicodedata.normalize("NFD", text)):
        assert parts(change(text)) == tuple(None if part is None else change(part) for part in expected)


@pytest.mark.parametrize("kind", ["both", "findings", "impression", "indication", "comparison", "technique"])
def test_every_name_alone_and_with_every_colon(kind: str) -> None:
    part = "findings" if kind == "both" else kind
    for group in module._FURTHER:
        for name in group[kind]:  # type: ignore[index]
            for colon in (":", " :", "\u00a0:", "\u202f:", "："):
                found = read_sections(f"{name.capitalize()}{colon} x")
                assert (getattr(found, part), found.headers, found.combined) == (
                    "x",
                    (name.capitalize(),),
                    kind == "both",
                )
            assert getattr(read_sections(f"{name.upper()}\nx"), part) == "x"


def test_no_name_stands_for_two_kinds() -> None:
    for group in (module._NAMES, *module._FURTHER):
        for kind, names in group.items():
            assert {module._kinds()[module._folded(name)] for name in names} <= {kind}


@pytest.mark.parametrize(
    "header",
    [
        "Hallazgos e impresión",
        "HALLAZGOS/CONCLUSIÓN",
        "Befund & Beurteilung",
        "Résultats et conclusion",
        "Achados / Impressão",
    ],
)
def test_findings_and_impression_together(header: str) -> None:
    found = read_sections(f"{header}: normal.")
    assert (found.findings, found.impression, found.combined) == ("normal.", None, True)


@pytest.mark.parametrize(
    "text",
    [
        "Kein pathologischer Befund: Lunge frei.",
        "Im Vergleich: zunehmender Erguss.",
        "Stabil im Vergleich: Erguss links.",
        "Pas de changement sur la Comparaison: épanchement.",
        "Sin cambios en el Estudio: derrame.",
        "Sem alteração no Exame: derrame.",
        "La impresión del estudio es normal.",
        "Derrame pleural, resultado del traumatismo.",
    ],
)
def test_prose_is_not_split(text: str) -> None:
    assert read_sections(text).headers == ()


@pytest.mark.parametrize("text", ["ſtudy: x", "FİNDİNGS: x", "fındıngs: x"])
def test_letters_that_only_look_alike_are_read_or_left(text: str) -> None:
    assert read_sections(text).headers == (text[:-3],)


def test_words_run_together_are_no_header() -> None:
    assert read_sections("findingsandimpression: x").headers == ()


def test_english_reports_have_english_headers_only() -> None:
    for number, report in openi.read_reports(openi.archive_path()).items():
        named = {"INDICATION": report.indication, "COMPARISON": report.comparison}
        named |= {"FINDINGS": report.findings, "IMPRESSION": report.impression}
        for text in ("\n\n".join(f"{name}: {part}" for name, part in named.items()), *filter(None, named.values())):
            found = {module._folded(header) for header in read_sections(text).headers}
            assert not found & module._further(), f"report {number}"
