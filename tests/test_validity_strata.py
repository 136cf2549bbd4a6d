"""Scores of groups of studies: who is in a group, what stays hidden, and where two systems differ more."""

import csv
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexrank
from bench.random_groups import shares
from rexrank.benchmarks import BenchmarkError
from rexrank.errors import WrongSetting
from rexrank.labels import NAMES, label
from rexrank.metrics import InvalidCall
from rexrank.statistics.bootstrap import intervals
from rexrank.statistics.paired import p_values
from rexrank.statistics.sample import Sample
from rexrank.validity.divisions import NAMES_OF_DIVISIONS, UNKNOWN, divisions
from rexrank.validity.score_tables import UnreadableScores, aligned_tables
from rexrank.validity.sets import EvaluationSet, open_set
from rexrank.validity.strata import Settings, Strata, apart, strata
from rexrank.validity.strata_tables import markdown, notes, picture, sentences, table
from rexrank.validity.suppression import hidden, least_studies

FEW = Settings(resamples=500, minimum=1)
NORMAL, EFFUSION = "Lungs are clear. No pleural effusion.", "Small left pleural effusion."


def studies(number: int = 12, **further: Any) -> list[dict[str, Any]]:
    """Invented studies, every third abnormal."""
    return [
        {
            "study_id": f"s{place}",
            "findings": EFFUSION if place % 3 == 0 else NORMAL,
            **{name: value(place) if callable(value) else value for name, value in further.items()},
        }
        for place in range(number)
    ]


def known(*records: Mapping[str, Any]) -> EvaluationSet:
    return open_set(references=list(records))


def names_and_sizes(found: EvaluationSet, by: str) -> dict[str, int]:
    parted, absent = divisions(found, list(found.studies), [by])
    assert absent == {}
    for one in parted:
        together = np.sum([stratum.rows for stratum in one.strata], axis=0)
        assert (together == 1).all(), "a study is in no group, or in two"
    return {stratum.name: stratum.n for one in parted for stratum in one.strata if stratum.is_listed}


def test_human_labels_name_normal_studies_where_there_are_any() -> None:
    found = known(*studies(labels_normal=lambda place: 1 if place < 9 else 0))
    parted, _ = divisions(found, list(found.studies), ["normal"])
    assert "human labels" in parted[0].source
    assert {one.name: one.n for one in parted[0].strata} == {"normal": 9, "abnormal": 3}


def test_without_human_labels_rules_read_the_reference_and_the_source_says_so() -> None:
    found = known(*studies())
    parted, _ = divisions(found, list(found.studies), ["normal", "finding"])
    assert all("rule labels" in one.source for one in parted)
    assert {one.name: one.n for one in parted[0].strata} == {"normal": 8, "abnormal": 4}
    assert names_and_sizes(found, "finding") == {"Pleural Effusion": 4}


def test_findings_by_people_leave_out_the_unsure() -> None:
    found = known(*studies(labels_edema=lambda place: [1, 0, -1][place % 3], labels_normal=0))
    parted, _ = divisions(found, list(found.studies), ["finding"])
    assert {one.name: (one.n, one.is_listed) for one in parted[0].strata} == {
        "Edema": (4, True),
        "no Edema": (4, False),
        UNKNOWN: (4, False),
    }


@pytest.mark.parametrize(
    ("by", "column", "values", "expected"),
    [
        ("sex", "sex", ["F", "m", "female"], {"female": 8, "male": 4}),
        ("age", "age", ["061Y", 17.0, "006M"], {"under 18": 8, "40 to 64": 4}),
        ("age", "age", ["85 years", 65, "unclear"], {"65 to 79": 4, "80 and older": 4, UNKNOWN: 4}),
        ("view", "view", [["PA", "Lateral"], ["lateral", "pa"], ["AP"]], {"lateral + pa": 8, "ap": 4}),
        ("site", "site", ["A", None, "B"], {"A": 4, "B": 4, UNKNOWN: 4}),
        ("prior", "comparison", ["None.", "Film of May.", None], {"prior": 4, "no prior": 4, UNKNOWN: 4}),
    ],
)
def test_what_the_set_says_makes_groups(by: str, column: str, values: list[Any], expected: dict[str, int]) -> None:
    found = known(*studies(**{column: lambda place: values[place % 3]}))
    assert names_and_sizes(found, by) == expected


def test_many_sites_become_twelve_groups() -> None:
    sizes = names_and_sizes(known(*studies(60, site=lambda place: f"site {min(place, 25)}")), "site")
    assert (len(sizes), sum(sizes.values())) == (12, 60)
    assert sizes["site 25"] == 35
    assert sizes["others (15)"] == 15


def test_quarters_by_length_never_part_equal_lengths() -> None:
    records = studies(40, findings=lambda place: "word " * (3 if place < 30 else place))
    assert names_and_sizes(known(*records), "length") == {"3 words": 30, "30 to 39 words": 10}


def test_what_nobody_says_is_absent_with_the_reason() -> None:
    found = known(*studies())
    parted, absent = divisions(found, list(found.studies))
    assert {one.name for one in parted} == {"normal", "finding", "length"}
    assert set(absent) == set(NAMES_OF_DIVISIONS) - {"normal", "finding", "length"}
    assert "does not say the sex" in absent["sex"]


def test_studies_that_the_set_lacks_are_named() -> None:
    with pytest.raises(BenchmarkError, match=r"references: 1 of the 2 studies .* \(x9\)"):
        divisions(known(*studies()), ["s0", "x9"])
    with pytest.raises(InvalidCall, match="by: expected some of normal"):
        divisions(known(*studies()), ["s0"], ["colour"])


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([307, 283], [None, None]),
        ([300, 3], ["complement", "small"]),
        ([100, 50, 3], [None, "complement", "small"]),
        ([100, 50, 3, 4], [None, "complement", "small", "small"]),
        ([100, 50, 12, 13], [None, None, "small", "small"]),
        ([100, 3, 0], ["complement", "small", None]),
        ([5, 6], ["small", "small"]),
        ([20], [None]),
    ],
)
def test_small_groups_hide_what_they_could_be_computed_from(counts: list[int], expected: list[str | None]) -> None:
    assert hidden(counts, 20) == expected


def test_no_hidden_group_can_be_computed_whatever_the_sizes() -> None:
    random = np.random.default_rng(0)
    for _ in range(500):
        counts = random.integers(0, 60, random.integers(1, 7)).tolist()
        found = hidden(counts, 20)
        together = sum(count for count, reason in zip(counts, found, strict=True) if reason)
        assert together == 0 or together >= 20 or together == sum(counts)
        assert all(reason or not 0 < count < 20 for count, reason in zip(counts, found, strict=True))


def test_the_least_size_is_the_hosts_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert least_studies() == 20
    monkeypatch.setenv("REXRANK_MIN_STRATUM", "50")
    assert (least_studies(), least_studies(3)) == (50, 3)
    monkeypatch.setenv("REXRANK_MIN_STRATUM", "2.5")
    with pytest.raises(WrongSetting, match="REXRANK_MIN_STRATUM"):
        least_studies()
    with pytest.raises(InvalidCall, match="minimum"):
        least_studies(0)


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    return studies(90, site=lambda place: "small" if place < 5 else "large", patient_id=lambda place: f"p{place // 2}")


@pytest.fixture(scope="module")
def cards(records: list[dict[str, Any]]) -> dict[str, rexrank.ScoreCard]:
    """A template, and a system that differs from it on abnormal studies alone."""
    keys = ["bleu2", "coco_bleu1", "f1labels_micro_14"]
    template = dict.fromkeys((one["study_id"] for one in records), NORMAL)
    better = {one["study_id"]: one["findings"] if place % 2 else NORMAL for place, one in enumerate(records)}
    return {
        name: rexrank.score(texts, records, "plain", metrics=keys, progress=False)
        for name, texts in (("template", template), ("better", better))
    }


@pytest.fixture(scope="module")
def of_two(cards: dict[str, rexrank.ScoreCard], records: list[dict[str, Any]]) -> Strata:
    return strata(cards, known(*records), "all", settings=Settings(resamples=500))


def test_scores_of_a_group_are_those_of_its_studies_alone(of_two: Strata, records: list[dict[str, Any]]) -> None:
    abnormal = [one for one in records if one["findings"] == EFFUSION]
    texts = dict.fromkeys((one["study_id"] for one in abnormal), NORMAL)
    keys = ["bleu2", "coco_bleu1", "f1labels_micro_14"]
    alone = rexrank.score(texts, abnormal, "plain", metrics=keys, progress=False)
    for key in keys:
        row = of_two.row(key, "abnormal")
        assert row is not None
        assert row.n == 30
        assert row.scores[0].value == pytest.approx(alone.summary[key], abs=1e-12), key
        drawn = intervals([_sample(alone, key)], resamples=500, groups=alone.groups)[0]
        assert drawn is not None
        assert row.scores[0].interval == pytest.approx((drawn.low, drawn.high), abs=1e-9), key


def _sample(card: rexrank.ScoreCard, key: str) -> Sample:
    found = card.sample(key)
    assert found is not None
    return found


def test_a_lead_in_one_group_alone_is_found_and_said(of_two: Strata) -> None:
    for key in of_two.keys:
        normal, abnormal = of_two.row(key, "normal"), of_two.row(key, "abnormal")
        assert normal is not None
        assert normal.difference is not None
        assert normal.contrast is not None
        assert abnormal is not None
        assert abnormal.difference is not None
        assert abnormal.contrast is not None
        assert normal.difference.value == 0
        assert abnormal.difference.value == pytest.approx(
            (abnormal.scores[1].value or 0) - (abnormal.scores[0].value or 0)
        )
        lead = abnormal.difference.value - normal.difference.value
        assert abnormal.contrast.estimate.value == pytest.approx(lead)
        assert normal.contrast.estimate.value == pytest.approx(-lead)
        assert normal.contrast.p == abnormal.contrast.p
        assert (abnormal.contrast.p_holm or 1) < 0.05
    assert sentences(of_two, "bleu2")[0].endswith(f"the two differ (p = {_p(of_two):.4f}).")


def _p(found: Strata) -> float:
    row = found.row("bleu2", "abnormal")
    assert row is not None
    assert row.contrast is not None
    assert row.contrast.p_holm is not None
    return row.contrast.p_holm


def test_the_same_two_groups_are_one_test(of_two: Strata) -> None:
    """Normal against abnormal, the only finding and the only two lengths are the same parting of studies."""
    tested = [row.contrast for row in of_two.of("bleu2") if row.contrast]
    assert [one.family for one in tested] == [1] * 5


def test_hidden_groups_have_no_number_anywhere(of_two: Strata) -> None:
    small, large = of_two.row("bleu2", "small", "site"), of_two.row("bleu2", "large", "site")
    assert small is not None
    assert large is not None
    assert (small.hidden, large.hidden) == ("small", "complement")
    assert (small.n, small.n_undefined, small.scores, small.contrast) == (None, None, (), None)
    assert (large.n, large.scores, large.difference) == (None, (), None)
    shown = json.dumps(of_two.to_json(), allow_nan=False)
    assert '"n": 5' not in shown
    assert '"n": 85' not in shown
    for words in (table(of_two), markdown(of_two)):
        assert not {"5", "85"} & set(words.replace("|", " ").split())
    assert any("fewer than 20 studies: small" in line for line in notes(of_two))


def test_the_name_of_a_hidden_group_tells_no_length(tmp_path: Path) -> None:
    records = studies(8, findings=lambda place: "word " * (place + 1))
    file = tmp_path / "scores.csv"
    file.write_text("study_id,judge\n" + "".join(f"s{place},{place}\n" for place in range(8)))
    scored = aligned_tables([file], None, ["mine"])
    found = strata(scored, known(*records), by=["length"], settings=Settings(resamples=100, minimum=20))
    assert [row.stratum for row in found.of("judge")[1:]] == [f"length {place} of 4" for place in range(1, 5)]
    for words in (table(found), markdown(found), json.dumps(found.to_json())):
        assert " words" not in words.replace("words of the reference", "")
    shown = strata(scored, known(*records), by=["length"], settings=FEW)
    assert shown.row("judge", "7 to 8 words") is not None


def test_the_table_of_two_systems_fits_a_terminal(of_two: Strata) -> None:
    lines = [
        line
        for block in table(of_two).split("\n\n")
        if "Holm p" in block or "n  " in block
        for line in block.split("\n")
    ]
    assert sum(line.startswith("studies ") for line in lines) == 2 * len(of_two.keys)
    assert max(len(line) for line in lines if line.startswith(("studies", "  ", "all studies"))) <= 80


def test_random_groups_are_seldom_found_to_differ() -> None:
    samples = {"a": Sample.of_values(np.random.default_rng(1).exponential(1, 150))}
    (share,) = shares(samples, size=60, trials=80, resamples=199, seed=0)
    assert share <= 0.14


def test_intervals_draw_patients_where_they_are_known(of_two: Strata) -> None:
    assert of_two.unit == "patient"


def test_a_confidence_is_printed_as_it_was_asked_for(
    cards: dict[str, rexrank.ScoreCard], records: list[dict[str, Any]]
) -> None:
    asked = Settings(resamples=200, confidence=0.999)
    found = strata({"a": cards["better"]}, known(*records), by=["normal"], settings=asked)
    assert any(line.startswith("intervals: 99.9%") for line in notes(found))


def test_equal_systems_differ_nowhere(cards: dict[str, rexrank.ScoreCard], records: list[dict[str, Any]]) -> None:
    found = strata({"a": cards["better"], "b": cards["better"]}, known(*records), by=["normal"], settings=FEW)
    for row in found.rows:
        assert row.difference is not None
        assert row.difference.value == 0
        assert row.contrast is None or row.contrast.p == 1


def test_a_resample_without_any_study_of_a_group_has_no_score_and_no_noise() -> None:
    """Groups of two are often not drawn at all; what is left of their sums by rounding must not be divided by 0."""
    values = np.array([0.1, 0.7, 0.3, 1 / 3, 0.2, 0.9, 0.6, 0.55, 0.45, 0.123456789])
    inside = np.arange(10) < 2
    pair = apart(Sample.of_values(values), inside, ~inside)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = intervals([pair.difference])
        p = p_values([pair], test="bootstrap")
    assert pair.difference.score == pytest.approx(values[:2].mean() - values[2:].mean())
    assert found is not None
    assert found.undefined_draws == pytest.approx(10_000 * 0.8**10, rel=0.1)
    assert -1 < found.low < found.high < 1
    assert p[0] is not None
    assert p[0] > 0.3


def test_resamples_without_a_score_are_counted_and_said(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("study_id,a\n" + "".join(f"s{place},{place}\n" for place in range(6)), encoding="utf-8")
    found = strata(aligned_tables([path], None, ["mine"]), known(*studies(6)), by=["normal"], settings=FEW)
    row = found.row("a", "abnormal")
    assert row is not None
    assert row.contrast is not None
    assert row.contrast.estimate.undefined_resamples == pytest.approx(500 * (4**6 + 2**6) / 6**6, abs=25)
    assert any("resamples have no score" in line for line in notes(found))


def test_a_study_without_a_value_is_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = "".join(f"s{place},{'' if place == 1 else place / 10}\n" for place in range(12))
    path.write_text(f"study_id,bertscore\n{rows}", encoding="utf-8")
    scored = aligned_tables([path], None, ["mine"])
    found = strata(scored, known(*studies()), by=["normal"], settings=FEW)
    normal = found.row("bertscore", "normal")
    assert normal is not None
    assert (normal.n, normal.n_undefined) == (7, 1)
    assert normal.scores[0].value == pytest.approx(np.mean([0.2, 0.4, 0.5, 0.7, 0.8, 1.0, 1.1]))
    assert any("bertscore: 1 study without a value" in line for line in notes(found))


def test_too_few_values_hide_a_group_though_it_has_studies(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = "".join(f"s{place},{0.5 if place % 3 or place < 6 else ''}\n" for place in range(90))
    path.write_text(f"study_id,mine\n{rows}", encoding="utf-8")
    scored = aligned_tables([path], None, ["mine"])
    found = strata(scored, known(*studies(90)), by=["normal"], settings=Settings(resamples=100))
    assert [(row.stratum, row.hidden) for row in found.rows[1:]] == [("normal", "complement"), ("abnormal", "small")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("study_id,a\ns1,1\ns1,2\n", "twice"),
        ("id,a\ns1,1\n", "no column study_id"),
        ("study_id,text\ns1,word\n", "no column of numbers"),
        ("study_id,a\ns1,inf\n", "infinite"),
        ("", "no readable table"),
    ],
)
def test_unreadable_tables_are_refused_with_the_reason(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UnreadableScores, match=reason):
        aligned_tables([path], None, ["mine"])


def test_a_table_has_no_corpus_scores_and_other_studies_are_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("study_id,coco_bleu1,a\n01,0.5,1\n2,0.5,2\n", encoding="utf-8")
    other.write_text("study_id,a\n01,0.5\n3,0.5\n", encoding="utf-8")
    found = aligned_tables([one], None, ["mine"])
    assert (found.study_ids, list(found.samples)) == (("01", "2"), ["a"])
    assert "no mean of studies" in found.absent["coco_bleu1"]
    with pytest.raises(UnreadableScores, match="2 studies are in only one"):
        aligned_tables([one, other], None, ["one", "other"])


def test_a_picture_has_every_group_that_is_shown(of_two: Strata) -> None:
    svg = picture(of_two).svg()
    assert "abnormal (30)" in svg
    assert "small" not in svg


def test_radcliq_of_moerad_hides_abnormal_studies_behind_normal_ones(shared_data: Path, tmp_path: Path) -> None:
    """The published scores of MoERad: .210 on 307 normal studies, .814 on 283 abnormal ones, by human label."""
    folder = shared_data / "iu_xray/predictions/moerad"
    scores = tmp_path / "scores.csv"
    with (folder / "preds.csv").open(newline="") as ids, (folder / "report_scores.csv").open(newline="") as values:
        pairs = list(zip(csv.DictReader(ids), csv.DictReader(values), strict=True))
    lines = [f"{left['study_id']},{right['RadCliQ-v1']}" for left, right in pairs]
    scores.write_text("\n".join(["study_id,radcliq_v1", *lines]), encoding="utf-8")
    scored = aligned_tables([scores], None, ["MoERad"])
    found = strata(scored, open_set("iu-xray"), by=["normal"], settings=Settings(resamples=1000))
    rows = {row.stratum: row for row in found.of("radcliq_v1")}
    assert {name: row.n for name, row in rows.items()} == {"all studies": 590, "normal": 307, "abnormal": 283}
    values = {name: round(row.scores[0].value or 0, 3) for name, row in rows.items()}
    assert values == {"all studies": 0.5, "normal": 0.210, "abnormal": 0.814}
    assert rows["normal"].source == "human labels of iu-xray"
    assert "on 307 normal studies and" in sentences(found, "radcliq_v1")[0]
    assert ", which is worse (p = " in sentences(found, "radcliq_v1")[0]


def test_rule_labels_agree_with_people_on_most_studies_of_iu_xray() -> None:
    """Docs say how often; people saw the images and indexed the whole report, rules read its findings."""
    found = open_set("iu-xray")
    human = np.array([one["labels_normal"] == "1" for one in found.attributes.values()])
    texts = [study.findings or "" for study in found.studies.values()]
    rules = label(texts)[:, NAMES.index("No Finding")] == 1
    assert (human & rules).sum() / human.sum() > 0.9
    assert (human == rules).mean() > 0.75
