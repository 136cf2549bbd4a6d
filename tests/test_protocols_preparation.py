"""What the metrics get to see, per track and option."""

import pytest

from rexrank.protocols import Prepared, UnknownProtocol, load, prepare
from rexrank.reports import Study

STUDIES = {
    "a": Study("a", "Clear.", "Normal.", "Findings: Clear. Impression: Normal."),
    "b": Study("b", None, "Mass.", "Findings: None. Impression: Mass."),
    "c": Study("c", "Effusion."),
}
PREDICTIONS = {"a": "FINDINGS: Lungs clear. IMPRESSION: Fine.", "b": "A mass.", "c": " "}


def prepared(track: str, protocol: str = "rexrank", **options: str) -> Prepared:
    """Both sides of the three studies."""
    return prepare(load(protocol), track, STUDIES, PREDICTIONS, **options)  # type: ignore[arg-type]


def test_findings_have_the_header_on_the_reference_only() -> None:
    result = prepared("findings")
    assert result.study_ids == ["a", "c"]
    assert result.references == [("Findings: Clear.",), ("Findings: Effusion.",)]
    assert result.predictions == [PREDICTIONS["a"], " "]
    assert result.name == "findings-ref"
    assert result.left_out == {"no findings": 1}
    assert result.ignored == 1


def test_both_leaves_a_blank_prediction_blank() -> None:
    result = prepared("findings", option="both")
    assert result.predictions == ["Findings: " + PREDICTIONS["a"], " "]
    assert (result.references[0], result.name) == (("Findings: Clear.",), "findings-both")


@pytest.mark.parametrize("options", [{"option": "none"}, {"protocol": "plain"}])
def test_texts_as_they_are(options: dict[str, str]) -> None:
    result = prepared("findings", **options)
    assert result.references == [("Clear.",), ("Effusion.",)]
    assert result.predictions[0] == PREDICTIONS["a"]
    assert result.name is None


def test_impression_is_compared_as_it_is() -> None:
    result = prepared("impression")
    assert result.references == [("Normal.",), ("Mass.",)]
    assert (result.name, result.left_out) == (None, {"no impression": 1})


def test_report_is_verbatim_or_written_from_its_sections() -> None:
    result = prepared("report")
    assert result.references == [(STUDIES["a"].report,), (STUDIES["b"].report,), ("Findings: Effusion.",)]
    assert (result.name, result.left_out) == ("report-verbatim", {})


def test_corrected_takes_the_sections_of_both_sides() -> None:
    findings = prepared("findings", convention="corrected")
    assert findings.predictions == ["Lungs clear.", " "]
    assert findings.references == [("Clear.",), ("Effusion.",)]
    assert findings.name == "sections"
    report = prepared("report", convention="corrected")
    assert (report.study_ids, report.references) == (["a"], [("Clear. Normal.",)])
    assert report.predictions == ["Lungs clear. Fine."]
    assert report.left_out == {"no findings": 1, "no impression": 1}
    impression = prepared("impression", convention="corrected")
    assert impression.predictions == ["Fine.", "A mass."]


def test_a_prediction_without_the_tracks_section_is_empty() -> None:
    studies = {"a": Study("a", "Clear.")}
    result = prepare(load(), "findings", studies, {"a": "IMPRESSION: Normal."}, option="sections")
    assert result.predictions == [""]


def test_alternatives_are_prepared_alike() -> None:
    studies = {"a": Study("a", "One.", alternatives=("Two.",))}
    result = prepare(load(), "findings", studies, {"a": "x"})
    assert result.references == [("Findings: One.", "Findings: Two.")]


@pytest.mark.parametrize("option", ["refs", "reference "])
def test_unknown_option_lists_the_choices(option: str) -> None:
    with pytest.raises(UnknownProtocol, match="it has reference, both, none, sections"):
        prepared("findings", option=option)
    with pytest.raises(UnknownProtocol, match="no track"):
        prepared("history")
