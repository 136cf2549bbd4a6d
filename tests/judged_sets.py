"""Invented look-alikes of radiologists' judgements, in the forms in which their owners publish them."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

REFERENCE = "Heart size is normal. The lungs are clear. No pleural effusion or pneumothorax."
GOOD = "Heart size is normal. Lungs are clear. No effusion or pneumothorax."
FAIR = "The lungs are clear. The heart is enlarged."
POOR = "Large right pneumothorax with shift of the mediastinum."


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def radpref_study(study_id: object, first: str = GOOD, second: str = POOR) -> dict[str, Any]:
    return {
        "id": study_id,
        "ground_truth_report": REFERENCE,
        "ground_truth_findings": ["normal heart"],
        "C1_report": first,
        "C1_findings": [],
        "C1_source": "one",
        "C2_report": second,
        "C2_findings": [],
        "C2_source": "two",
        "PatientAge": "50",
        "PatientSex": "F",
        "Indication": "cough",
    }


def radpref_said(rating: float | None, *levels: str | None) -> dict[str, Any]:
    """A rating, and an error of each level: the first one is of the candidate's findings, the others are missing."""
    errors = [{"clinical_significance": level} if level else {} for level in levels]
    return {
        "finding_errors": {"0": {"error_type": "false", **errors[0]}} if errors else {},
        "missing_findings": {str(number): error for number, error in enumerate(errors[1:])},
        "rating": rating,
        "rating_explanation": "invented",
    }


def radpref(folder: Path, ratings: Sequence[Sequence[tuple[int, int]]]) -> Path:
    """Ratings of C1 and C2 by rater and study; C1 is good, C2 poor and in every second study fair."""
    studies = [radpref_study(number, GOOD, FAIR if number % 2 else POOR) for number in range(len(ratings[0]))]
    write_json(folder / "preference_data.json", studies)
    for rater, of_rater in enumerate(ratings, start=1):
        annotations = {
            str(number): {
                "C1": radpref_said(first),
                "C2": radpref_said(second, "urgent", "benign_expected"),
                "new_finding_indices": {"C1": [], "C2": [], "GT": []},
            }
            for number, (first, second) in enumerate(of_rater)
        }
        write_json(folder / f"user_{rater}.json", {"user_id": f"reader-{rater}", "annotations": annotations})
    return folder


def rexval_counts(study_numbers: Sequence[object], raters: int = 2) -> list[dict[str, Any]]:
    """A good candidate for BLEU, and worse ones: each category and rater adds one error."""
    errors = {"radgraph": 1, "bertscore": 2, "s_emb": 3, "bleu": 0}
    return [
        {
            "study_number": number,
            "candidate_type": name,
            "error_category": category,
            "clinically_significant": significant,
            "rater_index": rater,
            "num_errors": errors[name] + rater if significant else 0,
        }
        for number in study_numbers
        for name in errors
        for category in (1, 2)
        for significant in (True, False)
        for rater in range(raters)
    ]


def rexval(folder: Path, ids: Sequence[object] = ("s1", "s2", "s3"), numbers: Sequence[object] = (0, 1, 2)) -> Path:
    reports = [
        {"study_id": one, "gt_report": REFERENCE, "radgraph": FAIR, "bertscore": FAIR, "s_emb": POOR, "bleu": GOOD}
        for one in ids
    ]
    write_csv(folder / "50_samples_gt_and_candidates.csv", reports)
    write_csv(folder / "6_valid_raters_per_rater_error_categories.csv", rexval_counts(numbers))
    return folder


def radevalx(folder: Path, blank: bool = False, scores: bool = True) -> Path:
    """Reports r0, r1 and r2 with 0, 1 and 2 significant errors, and one insignificant error each."""
    texts = [GOOD, FAIR, POOR]
    for name, counts in (
        ("RadEval_clinically_significant_errors.csv", [0, 1, 2]),
        ("RadEval-clinically_insignificant_errors.csv", [1, 1, 1]),
    ):
        rows = [
            {
                "report_id": f"r{number}",
                "ground_truth": REFERENCE,
                "M2Tr-Generation": text,
                **{str(category): 0 for category in range(1, 9)},
                "3": count,
            }
            for number, (text, count) in enumerate(zip(texts, counts, strict=True))
        ]
        if blank:
            rows[0]["5"] = ""
        write_csv(folder / name, rows)
    if scores:
        names = ("bleu4", "bleu_2", "bertscore", "CheXbert", "radgraph_f1")
        write_csv(
            folder / "metrcis_scores_m2tr.csv",
            [
                {
                    "report_id": f"r{number}",
                    "id": number,
                    **dict.fromkeys(names, 1 - number / 10),
                    "radcliq": number,
                }
                for number in range(5)
            ],
        )
    return folder


def annotation(significant: Sequence[object], insignificant: Sequence[object]) -> str:
    lines = ["Clinically significant errors:"]
    lines += [f"{number}. Category: {count}" for number, count in enumerate(significant, start=1)]
    lines += ["", "Clinically insignificant errors:"]
    lines += [f"{number}. Category: {count}" for number, count in enumerate(insignificant, start=1)]
    return "\n".join(lines)


def radeval_row(picture: str, annotator: str = "A", section: str = "findings", **other: str) -> dict[str, Any]:
    return {
        "annotator": annotator,
        "type": section,
        "ground_truth": REFERENCE,
        "images_path": picture,
        "prediction1": GOOD,
        "prediction2": FAIR,
        "prediction3": POOR,
        "annotation1": annotation([0, 0], [0, 1]),
        "annotation2": annotation([1, 0], [0, 0]),
        "annotation3": annotation([2, 1], [1, 0]),
    } | other


def radeval(path: Path) -> Path:
    pictures = [
        "files/p10/p10000001/s1/a.jpg",
        "files/p10/p10000001/s2/b.jpg",
        "train/patient00007/study1/c.jpg",
        "x/d",
    ]
    return write_csv(path, [radeval_row(picture) for picture in pictures])


def table_rows(studies: int = 6) -> list[dict[str, Any]]:
    """Two raters, two candidates a study; the second rater is one point more severe."""
    return [
        {
            "study_id": f"s{study}",
            "candidate": text,
            "reference": REFERENCE,
            "rater": rater,
            "rating": rating - severity + (study % 2) * (text == GOOD),
        }
        for study in range(studies)
        for text, rating in ((GOOD, 4), (POOR if study % 3 else FAIR, 2 if study % 3 else 3))
        for rater, severity in (("ann", 0), ("bo", 1))
    ]
