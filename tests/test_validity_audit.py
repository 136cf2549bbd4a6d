"""The audit of one file: four answers, a page that a stranger can read, and nothing on it that must not be there."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from rexrank.validity.audit import Audit, Settings, audit, single_errors
from rexrank.validity.audit_answers import answers
from rexrank.validity.audit_page import audit_page
from rexrank.validity.invented import reports
from rexrank.validity.sets import EvaluationSet, open_set

TRAINING = 60
TEXTS = reports(120)
NORMAL = "The lungs are clear. No pleural effusion or pneumothorax. Heart size is within normal limits."
# Half of the studies are normal ones, written each in another way.
STUDIES = {
    f"S{place}": {"findings": f"{NORMAL} {text.split('.')[0]}." if place % 2 else text, "labels_normal": str(place % 2)}
    for place, text in enumerate(TEXTS[TRAINING:])
}
TRUTH = {study: str(known["findings"]) for study, known in STUDIES.items()}
METRICS = ("bleu2", "rouge_l")


def evaluation_set(folder: Path, studies: Mapping[str, Mapping[str, str]], training: bool = True) -> EvaluationSet:
    references, train = folder / "references.json", folder / "train.json"
    references.write_text(json.dumps([{"study_id": study, **known} for study, known in studies.items()]))
    train.write_text(json.dumps([{"study_id": f"T{n}", "findings": text} for n, text in enumerate(TEXTS[:TRAINING])]))
    return open_set(references=references, training=train if training else None)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> EvaluationSet:
    return evaluation_set(tmp_path_factory.mktemp("set"), STUDIES)


def audited(known: EvaluationSet, predictions: Mapping[str, str], stress: int = 0) -> Audit:
    settings = Settings(metrics=METRICS, stress_reports=stress, minimum=10, scoring={"download": False})
    return audit(predictions, known, "Ours", settings)


def of_templates(study: str) -> str:
    return NORMAL if int(study[1:]) % 3 else "Portable film."


@pytest.fixture(scope="module")
def templates(known: EvaluationSet) -> Audit:
    """Two texts for sixty studies, with the stress suite."""
    return audited(known, {study: of_templates(study) for study in STUDIES}, 20)


@pytest.fixture(scope="module")
def perfect(known: EvaluationSet) -> Audit:
    return audited(known, TRUTH)


def test_a_perfect_system_is_better_than_the_floor_everywhere(perfect: Audit) -> None:
    floor, abnormal, texts, _ = answers(perfect)
    assert (floor.verdict, abnormal.verdict) == ("Yes", "Yes")
    assert "better than its floor in 2 (BLEU-2 and ROUGE-L (COCO))" in floor.reasons[1]
    assert texts.verdict == f"{len(set(TRUTH.values()))} for 60 studies"


def test_templates_are_told_from_reports(templates: Audit) -> None:
    floor, abnormal, texts, _ = answers(templates)
    assert abnormal.verdict == "No"
    assert floor.verdict in ("No", "In part", "Not beyond chance")
    assert texts.verdict == "2 for 60 studies"
    assert "one of them stands 40 times (67%). Radiologists wrote" in texts.reasons[0]
    assert any("templates" in reason for reason in texts.reasons)


def test_the_abnormal_answer_names_its_numbers(templates: Audit) -> None:
    assert templates.against.found is not None
    row = templates.against.found["bleu2"].row("bleu2", "abnormal", "normal")
    assert row is not None
    assert row.n == 30
    reasons = answers(templates)[1].reasons
    assert reasons[0].startswith(f"On 30 abnormal studies it has {row.scores[1].value:.3f} in BLEU-2")
    assert "on 30 normal and" in reasons[-1]
    assert reasons[-1].endswith("worse on the latter.")


def test_the_floor_is_that_of_the_training_split(perfect: Audit) -> None:
    assert perfect.floors.found is not None
    assert perfect.over.found is not None
    for key in METRICS:
        floor = perfect.floors.found.of(key)
        row = perfect.over.found.row(key)
        assert floor is not None
        assert row is not None
        assert row.paired.scores[1] == pytest.approx(floor.card.summary[key])
        above = perfect.above(key)
        assert above is not None
        assert above.value == pytest.approx(perfect.card.summary[key] - floor.card.summary[key])


def test_scores_that_miss_a_negation_are_named(templates: Audit) -> None:
    assert templates.stressed.found is not None
    scores = templates.stressed.found.scores
    edits = ("negation_deleted", "negation_added")
    blind = [key for key in METRICS if "no" in {scores[key].sees(edit) for edit in edits}]
    verdict = answers(templates)[3].verdict
    assert blind
    assert ("BLEU-2" in verdict) == ("bleu2" in blind)
    assert ("ROUGE-L" in verdict) == ("rouge_l" in blind)


def test_every_audit_of_single_errors_is_scored_and_stressed(templates: Audit) -> None:
    assert "laterality" in single_errors()
    assert not {*METRICS, "f1labels_micro_14", "temporal_f1"} & set(single_errors())
    assert set(single_errors()) <= {*templates.card.summary, *templates.card.unavailable}
    assert templates.stressed.found is not None
    assert set(single_errors()) <= {*templates.stressed.found.scores, *templates.stressed.found.unavailable}


def test_the_page_answers_before_it_shows(templates: Audit) -> None:
    html = audit_page(templates)
    order = [html.index(one.title) for one in answers(templates)]
    assert order == sorted(order)
    assert order[-1] < html.index("<main>")
    for title in ("Flags", "All scores", "Groups of studies", "Audits of single errors", "Not computed, and why"):
        assert f">{title}</h2>" in html
    assert "Only 2 distinct texts among 60 predictions" in html
    assert html.count('class="rx-figure"') >= 4
    assert "failed with" not in html


def test_the_page_holds_no_text_and_fetches_nothing(templates: Audit) -> None:
    html = audit_page(templates)
    texts = [*TRUTH.values(), *TEXTS, NORMAL, "Portable film."]
    assert not [one for text in texts for one in text.split(". ") if len(one) > 20 and one.rstrip(".") in html]
    assert "<script" not in html
    assert "src=" not in html
    assert "@import" not in html
    assert "default-src 'none'" in html


def test_ids_stand_on_the_page_only_where_they_may(templates: Audit) -> None:
    shown = replace(templates, settings=replace(templates.settings, shows_studies=True))
    ids = [f">{study}<" for study in STUDIES]
    hidden, listed = audit_page(templates), audit_page(shown)
    assert not any(one in hidden for one in ids)
    assert sum(one in listed for one in ids) == 15
    values = dict(
        zip(shown.card.per_study["study_id"].to_pylist(), shown.card.per_study["bleu2"].to_pylist(), strict=True)
    )
    worst = min(values, key=lambda study: values[study])
    assert listed.index(f">{worst}<") == min(listed.index(one) for one in ids if one in listed)


def test_a_name_cannot_write_into_the_page(perfect: Audit) -> None:
    html = audit_page(replace(perfect, name="<img src=x onerror=alert(1)>"))
    assert "<img" not in html
    assert "&lt;img" in html


def test_what_cannot_be_computed_costs_nothing_else(tmp_path: Path) -> None:
    alike = {f"S{place}": {"findings": NORMAL} for place in range(12)}
    opened = evaluation_set(tmp_path, alike, training=False)
    found = audit(dict.fromkeys(alike, "Portable film."), opened, "Ours", Settings(metrics=["bleu2"]))
    assert "no training reports of references.json" in found.floors.why
    assert "two different reports" in found.stressed.why
    verdicts = [one.verdict for one in answers(found)]
    assert verdicts[0] == verdicts[1] == verdicts[3] == "Not known"
    html = audit_page(found)
    assert "Blind floors: no training reports of references.json are known here" in html
    assert "Stress suite: the stress suite needs two different reports" in html
    assert "BLEU-2 (bleu2)" in html
    assert "failed with" not in html


def test_a_single_study_gives_no_verdict(tmp_path: Path) -> None:
    known = evaluation_set(tmp_path, {"S1": {"findings": TEXTS[70]}})
    found = audited(known, {"S1": "Portable film."})
    answer = answers(found)[0]
    assert answer.verdict == "Not known"
    assert "there is no interval" in answer.reasons[-1]
    assert "level</td>" not in audit_page(found)


def test_rules_and_edits_in_english_are_refused_for_a_set_in_german(tmp_path: Path) -> None:
    texts = ["Kein Erguss.", "Kleiner Erguss links.", "Unauffälliger Befund.", "Rundherd rechts."]
    german = {f"S{place}": {"findings": f"{texts[place % 4]} Bild {place}."} for place in range(24)}
    known = evaluation_set(tmp_path, german)
    settings = Settings(metrics=["bleu2"], stress_reports=10, minimum=2, scoring={"language": "de"})
    found = audit(dict.fromkeys(german, "Kein Erguss."), known, "Ours", settings)
    assert "the rule labeller is made for texts in English, and these are in German" in answers(found)[1].reasons[0]
    assert "the stress suite is made for texts in English, and these are in German" in found.stressed.why
    assert found.groups.found is not None
    assert {"normal", "finding"} <= set(found.groups.found.absent)
    assert {row.division for row in found.groups.found.rows} == {"all", "length"}
    labelled = {study: {**said, "labels_normal": str(place % 2)} for place, (study, said) in enumerate(german.items())}
    by_people = audit(dict.fromkeys(german, "Kein Erguss."), evaluation_set(tmp_path, labelled), "Ours", settings)
    assert by_people.groups.found is not None
    assert by_people.groups.found.row("bleu2", "abnormal", "normal") is not None
    meant = audit(dict.fromkeys(german, "Kein Erguss."), known, "Ours", replace(settings, scoring={"language": "any"}))
    assert meant.stressed.found is not None


def test_without_a_score_of_whole_reports_the_page_says_so(known: EvaluationSet) -> None:
    settings = Settings(metrics=["radgraph_simple"], stress_reports=0, scoring={"download": False})
    found = audit(TRUTH, known, "Ours", settings)
    html = audit_page(found)
    assert not found.qualities
    assert "hedging" in found.card.summary
    assert "Blind floors: no score of whole reports could be computed" in html
    assert "Stress suite: it was not asked for" in html
    assert "failed with" not in html


def test_progress_tells_of_every_stage(known: EvaluationSet) -> None:
    told: list[tuple[str, int, int]] = []
    settings = Settings(metrics=["bleu2"], stress_reports=0)
    audit(TRUTH, known, "Ours", settings, lambda *stage: told.append(stage))
    begun = [(stage, done) for stage, done, total in told if ":" not in stage and total == 5]
    assert list(dict.fromkeys(stage for stage, _ in begun)) == [
        "scores",
        "floors",
        "system against floors",
        "groups of studies",
        "stress suite",
    ]
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


@pytest.mark.slow
def test_a_stranger_can_tell_what_the_scores_of_moerad_mean(shared_data: Path) -> None:
    predictions = shared_data / "iu_xray/predictions/moerad/preds.csv"
    settings = Settings(metrics=["bleu2"], stress_reports=40)
    found = audit(predictions, open_set("iu-xray"), "MoERad", settings)
    floor, abnormal, texts, negation = answers(found)
    assert floor.verdict == "No"
    assert "it has 0.263" in floor.reasons[0]
    assert "(one training text for every study) 0.288: worse by 0.026" in floor.reasons[0]
    assert abnormal.verdict == "No"
    assert "On 283 abnormal studies" in abnormal.reasons[0]
    assert "307 normal" in abnormal.reasons[-1]
    assert texts.verdict == "25 for 590 studies"
    assert "46% of the reference texts" in texts.reasons[-1]
    assert negation.verdict == "BLEU-2"
    html = audit_page(found)
    for one in answers(found):
        assert one.title in html
