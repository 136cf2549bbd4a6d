"""The section parser: six layouts of the specification, and prose that must stay whole."""

import pytest

from rexrank import read_sections

LAYOUTS = [
    (
        "INDICATION: Cough.\n\nFINDINGS: Lungs clear.\n\nIMPRESSION: No acute process.",
        "Lungs clear.",
        "No acute process.",
    ),
    ("Findings: Lungs clear.\nImpression: Normal.", "Lungs clear.", "Normal."),
    ("FINDINGS: Lungs clear. IMPRESSION: Normal.", "Lungs clear.", "Normal."),
    ("Lungs are clear. No effusion.", "Lungs are clear. No effusion.", None),
    ("FINDINGS AND IMPRESSION: Lungs clear.", "Lungs clear.", None),
    ("RÉSULTATS : Poumons clairs.\n\nCONCLUSION : Normal.", "Poumons clairs.", "Normal."),
]


@pytest.mark.parametrize(("text", "findings", "impression"), LAYOUTS)
def test_specified_layouts(text: str, findings: str, impression: str | None) -> None:
    sections = read_sections(text)
    assert (sections.findings, sections.impression) == (findings, impression)


@pytest.mark.parametrize(
    ("text", "findings", "impression"),
    [
        ("findings: a\nimpression: b", "a", "b"),
        ("Findings:a.Impression:b.", "a.", "b."),
        ("FINDINGS\nLungs clear.\n\nIMPRESSION\nNormal.", "Lungs clear.", "Normal."),
        ("Findings: lungs clear Impression: normal", "lungs clear", "normal"),
        ("**FINDINGS:** a\n\n**IMPRESSION:** b", "a", "b"),
        ("## Findings\na\n## Impression\nb", "a", "b"),
        ("RESULT: a. OPINION: b.", "a.", "b."),
        ("Befund: Lunge frei.\nBeurteilung: Unauffällig.", "Lunge frei.", "Unauffällig."),
        ("FINDINGS:\u00a0a\r\nCONCLUSION\u202f: b\r\n", "a", "b"),
        ("FINDINGS: a\nFINDINGS: b\nIMPRESSION: c", "a\nb", "c"),
        ("FINDINGS: a\nRECOMMENDATION: CT.\nIMPRESSION: c", "a", "c"),
        ("The lungs are clear.\n\nIMPRESSION: Normal.", "The lungs are clear.", "Normal."),
        ("CHEST, TWO VIEWS\nIMPRESSION: Normal.", None, "Normal."),
        ("FINDINGS:\nIMPRESSION: Normal.", None, "Normal."),
    ],
)
def test_headers_in_other_spellings(text: str, findings: str | None, impression: str | None) -> None:
    sections = read_sections(text)
    assert (sections.findings, sections.impression) == (findings, impression)
    assert sections.headers


@pytest.mark.parametrize(
    "text",
    [
        "There is no impression: of the node on the vessel. Findings are unchanged.",
        "NO IMPRESSION: NOTHING TO COMPARE",
        "Results of the study are pending; findings and impression follow.",
        "The Impression: of mass effect is mild.",
        "Unchanged since the last study: small effusion.",
    ],
)
def test_prose_is_not_split(text: str) -> None:
    sections = read_sections(text)
    assert sections.headers == ()
    assert sections.findings == text


def test_whole_report() -> None:
    sections = read_sections(
        "        FINAL REPORT\n EXAMINATION:  CHEST\n\n INDICATION:  Cough.\n\n TECHNIQUE:  PA.\n\n"
        " COMPARISON:  None.\n\n FINDINGS: \n\n Lungs clear.\n\n IMPRESSION: \n \n Normal."
    )
    assert sections.indication == "Cough."
    assert sections.technique == "CHEST\nPA."
    assert sections.comparison == "None."
    assert (sections.findings, sections.impression) == ("Lungs clear.", "Normal.")
    assert sections.headers[0] == "FINAL REPORT"


@pytest.mark.parametrize("header", ["FINDINGS AND IMPRESSION", "Findings/Impression", "FINDINGS & IMPRESSION"])
def test_combined_block_is_flagged(header: str) -> None:
    sections = read_sections(f"{header}: Lungs clear.")
    assert sections.combined
    assert (sections.findings, sections.impression) == ("Lungs clear.", None)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_blank_text_has_no_section(text: str) -> None:
    assert read_sections(text).findings is None
