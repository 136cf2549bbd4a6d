"""Edits of reports: what each changes, what it leaves alone, and that it does so always alike."""

from itertools import pairwise

import pytest

from rexrank.labels import label
from rexrank.validity.edits import EDITS, Edit, Report, edited, errors
from rexrank.validity.edits.lengths import concatenated, truncated
from rexrank.validity.invented import reports
from rexrank.verification.reports import REPORTS

BY_NAME = {edit.name: edit for edit in EDITS}
INVENTED = reports(60, seed=3)
TEXTS = [*INVENTED, *dict.fromkeys(REPORTS)]

# Edit, report, and the report after the edit everywhere.
EXAMPLES = [
    ("laterality_swap", "Left effusion. Right base clear.", "Right effusion. Left base clear."),
    ("laterality_swap", "Opacity in the RUL, left more than right.", "Opacity in the LUL, right more than left."),
    ("negation_deleted", "No effusion. There is no edema.", "Effusion. There is edema."),
    ("negation_deleted", "Clear without consolidation.", "Clear consolidation."),
    ("negation_added", "The lungs are clear. There is a mass.", "The lungs are not clear. There is no mass."),
    ("negation_added", "Small left effusion. No edema.", "No small left effusion. No edema."),
    ("finding_omitted", "Small effusion. Heart is normal.", "Heart is normal."),
    ("finding_omitted", "Heart is normal. Lungs clear. There is a nodule.", "Heart is normal. Lungs clear."),
    ("severity_changed", "Mild edema with a large effusion.", "Severe edema with a small effusion."),
    ("measurement_changed", "There is an 8 mm nodule.", "There is a 24 mm nodule."),
    ("measurement_changed", "Mass of 2.5 x 3 cm.", "Mass of 7.5 x 9 cm."),
    ("certainty_changed", "Opacity, possibly pneumonia.", "Opacity, definitely pneumonia."),
    ("certainty_changed", "There is a small effusion.", "There may be a small effusion."),
    ("sentence_order", "Lungs clear. Heart normal.", "Heart normal. Lungs clear."),
    ("synonyms", "A right upper lobe opacity.", "An RUL opacity."),
    ("synonyms", "Osseous structures are unremarkable.", "Bony structures are normal."),
    ("case", "Nodule of 4 mm.", "NODULE OF 4 mm."),
    ("white_space", "Lungs clear. Heart normal.", "Lungs  clear.\nHeart  normal."),
    ("section_header", "Lungs clear.", "FINDINGS: Lungs clear."),
    ("deid_marks", "The XXXX is stable since ___.", "The ___ is stable since XXXX."),
    ("negation_deleted", "No no effusion. No without edema.", "Effusion. Edema."),
]

# What an edit must leave alone: it would say something else than the edit's name, or nothing.
LEFT_ALONE = [
    ("laterality_swap", "Leftward curvature of the spine."),
    ("negation_added", "No effusion is seen. There may be a nodule. Heart size cannot be judged."),
    ("finding_omitted", "There is a nodule."),
    ("finding_omitted", "Cardiomegaly. The lungs are clear. Cardiomegaly is stable."),
    ("finding_omitted", "There is a nodule. It measures 4 mm."),
    ("severity_changed", "No edema, large effusion or pneumothorax. Small bowel is normal. Mild to moderate edema."),
    ("measurement_changed", "Rib 7 and T12. Film of 03/04."),
    ("certainty_changed", "Pneumonia is less likely. There is no edema."),
    ("prior_invented", "The effusion is unchanged."),
    ("sentence_order", "There is a nodule. This may be a granuloma."),
    ("sentence_order", "1. Edema. 2. Effusion."),
    ("synonyms", "The visualized bones are fine."),
    ("section_header", "FINDINGS: Lungs clear."),
    ("deid_marks", "Lungs clear."),
    ("typing_errors", "Heart is not left."),
]


@pytest.mark.parametrize(("name", "text", "after"), EXAMPLES)
def test_an_edit_changes_what_its_name_says(name: str, text: str, after: str) -> None:
    assert edited(text, BY_NAME[name].places(Report.of(text), 0)) == after


@pytest.mark.parametrize(("name", "text"), LEFT_ALONE)
def test_an_edit_leaves_other_things_alone(name: str, text: str) -> None:
    assert BY_NAME[name].places(Report.of(text), 0) == []


def test_an_invented_finding_is_none_that_the_report_states() -> None:
    text = "There is a left pneumothorax. Small effusion. Nodule. Rib fracture. Consolidation. Edema. Atelectasis."
    sentences = edited(text, BY_NAME["finding_invented"].places(Report.of(text), 0))
    added = [one for one in sentences.replace(". ", ".|").split("|") if one not in text]
    assert sorted(added) == ["A right chest port ends in the superior vena cava.", "The heart is severely enlarged."]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_is_the_same_each_time_and_touches_only_its_places(edit: Edit) -> None:
    applied = 0
    for text in TEXTS:
        report = Report.of(text)
        places = edit.places(report, 1)
        assert places == edit.places(Report.of(text), 1)
        assert edit.most is None or len(places) <= edit.most
        spans = sorted(span for change in places for span in change.spans)
        assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))
        assert all(text[start:end] != new for start, end, new in spans), edit.name
        if places:
            applied += 1
            assert edited(text, places) != text
            assert edited(text, places[:1]) != text
            # What lies between the places is still there, in its order.
            edges = [0, *(edge for start, end, _ in spans for edge in (start, end)), len(text)]
            rest, position = edited(text, places), 0
            for start, end in zip(edges[::2], edges[1::2], strict=True):
                position = rest.index(text[start:end], position) + end - start
    assert applied >= 10


@pytest.mark.parametrize("name", ["sentence_order", "case", "white_space", "section_header", "deid_marks", "synonyms"])
def test_a_harmless_edit_changes_no_label(name: str) -> None:
    pairs = [(text, edited(text, BY_NAME[name].places(Report.of(text), 0))) for text in INVENTED]
    before, after = label([text for text, _ in pairs]), label([new for _, new in pairs])
    assert (before == after).all(), [pairs[row] for row in (before != after).any(axis=1).nonzero()[0]]


@pytest.mark.parametrize("text", ["An 8" + " " * 20_000 + "y", "\n" * 20_000 + "x", "5 x " * 5_000])
def test_time_is_linear_in_blanks_and_numbers(text: str) -> None:
    report = Report.of(text)
    assert not BY_NAME["measurement_changed"].places(report, 0)
    assert BY_NAME["section_header"].places(report, 0)


def test_a_seed_chooses_other_places() -> None:
    edit = BY_NAME["typing_errors"]
    found = {edited(INVENTED[0], edit.places(Report.of(INVENTED[0]), seed)[:1]) for seed in range(10)}
    assert len(found) > 3


def test_several_errors_are_harmful_and_stand_in_sentences_of_their_own() -> None:
    for text in INVENTED:
        report = Report.of(text)
        three = errors(report, EDITS, 3, 0)
        assert errors(report, EDITS, 1, 0) == three[:1]
        assert len({edited(text, three[:number]) for number in range(4)}) == len(three) + 1
        spans = [span for change in three for span in change.spans]
        for one in report.sentences:
            inside = [span for span in spans if one.start <= span[0] <= span[1] <= one.end]
            changes = {position for position, change in enumerate(three) if set(change.spans) & set(inside)}
            assert len(changes) <= 1


def test_truncation_keeps_the_text_as_it_stands() -> None:
    text = "The  lungs are\nclear. Heart is normal."
    assert truncated(text, 0.5) == "The  lungs are\nclear."
    assert truncated(text, 0.01) == "The"
    assert truncated("Clear", 0.5) is None


def test_concatenation_needs_two_reports() -> None:
    assert concatenated("Clear. ", " Edema.") == "Clear. Edema."
    assert concatenated(" ", "Edema.") is None


def test_invented_reports_are_different_and_always_the_same() -> None:
    assert len(set(reports(200))) == 200
    assert reports(200)[:50] == reports(50)
    assert reports(5, seed=1) != reports(5, seed=2)
