"""`rexrank agree`: one command makes the table of a metric paper."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from judged_sets import GOOD, POOR, REFERENCE, radevalx, radpref, table_rows, write_csv
from scipy import stats

import rexrank
from rexrank.cli import DONE, NOTHING_COMPUTED, REFUSED, WRONG_USAGE, main

Agree = Callable[..., tuple[int, str, str]]


@pytest.fixture
def agreed(capsys: pytest.CaptureFixture[str]) -> Agree:
    def run(*words: object) -> tuple[int, str, str]:
        code = main(["agree", *map(str, words), "--resamples", "200", "--quiet"])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_metrics_are_computed_from_texts(agreed: Agree, tmp_path: Path) -> None:
    ratings = [[(5, 1), (4, 3), (5, 2), (3, 3)], [(4, 2), (4, 2), (5, 1), (4, 3)], [(3, 1), (5, 3), (4, 2), (4, 4)]]
    folder = radpref(tmp_path / "set", ratings)
    code, out, _ = agreed(folder, "--metrics", "bleu2,rouge_l", "--json")
    assert code == DONE
    told = json.loads(out)
    assert told["metrics"]["bleu2"]["signature"].startswith("bleu2|conv:published")
    truth = np.array(ratings, dtype=float).mean(axis=0).ravel()
    card = rexrank.score(
        {"good": GOOD, "fair": "The lungs are clear. The heart is enlarged.", "poor": POOR},
        dict.fromkeys(("good", "fair", "poor"), REFERENCE),
        protocol="plain",
        track="report",
        metrics=["bleu2"],
        progress=False,
    )
    good, fair, poor = card.per_study.column("bleu2").to_pylist()
    tau = stats.kendalltau([good, poor, good, fair] * 2, truth)[0]
    assert told["coefficients"]["kendall"]["metrics"]["bleu2"]["value"] == pytest.approx(tau)
    assert told["coefficients"]["preference"]["metrics"]["bleu2"]["value"] == 1.0


def test_the_table_says_what_it_is(agreed: Agree, tmp_path: Path) -> None:
    folder = radpref(tmp_path / "set", [[(5, 1), (4, 3)], [(4, 2), (4, 2)]])
    code, out, err = agreed(folder, "--metrics", "bleu2,coco_bleu4,report_words")
    assert code == DONE
    assert err == ""
    assert out.startswith("RadPref (set): 4 candidates of 2 studies, 2 radiologists\n")
    assert "bleu2 ↑" in out
    assert "says nothing about quality" in " ".join(out.split())
    assert "of scores of whole sets the value of a single report is used: coco_bleu4" in " ".join(out.split())
    assert REFERENCE not in out


def test_given_scores_stand_beside_computed_ones(agreed: Agree, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "judged.csv", table_rows())
    rows = [{"study_id": f"s{n // 2}", "candidate": n % 2 + 1, "bleu2": 1 - n % 2, "far": n % 2} for n in range(12)]
    scores = write_csv(tmp_path / "scores.csv", rows)
    code, out, _ = agreed(path, "--metrics", "bleu2", "--scores", scores, "--lower", "far", "--json")
    assert code == DONE
    told = json.loads(out)
    assert {name: one["source"] for name, one in told["metrics"].items()} == {
        "bleu2": "computed",
        "bleu2 (given)": "given",
        "far": "given",
    }
    values = {name: one["value"] for name, one in told["coefficients"]["kendall"]["metrics"].items()}
    assert values["far"] == pytest.approx(values["bleu2 (given)"])
    assert values["far"] > 0


def test_published_scores_need_no_metric(agreed: Agree, tmp_path: Path) -> None:
    code, out, _ = agreed(radevalx(tmp_path / "set"))
    assert code == DONE
    assert "radcliq ↓" in out
    assert "rouge_l" not in out


def test_markdown_and_a_picture(agreed: Agree, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "judged.csv", table_rows())
    picture = tmp_path / "agreement.svg"
    code, out, _ = agreed(path, "--metrics", "bleu2,rouge", "--markdown", "--plot", picture)
    assert code == DONE
    assert out.startswith("**Judgements (judged.csv): 12 candidates of 6 studies, 2 radiologists**\n")
    assert "radiologists" in picture.read_text()
    code, _, err = agreed(path, "--metrics", "bleu2", "--plot", tmp_path / "agreement.bmp")
    assert code == REFUSED
    assert "agreement.bmp" in err


def test_texts_that_are_not_there(agreed: Agree, tmp_path: Path) -> None:
    rows = [
        {name: row[name] for name in ("study_id", "rater", "rating")} | {"candidate_id": n // 2 % 2}
        for n, row in enumerate(table_rows())
    ]
    path = write_csv(tmp_path / "judged.csv", rows)
    code, out, err = agreed(path, "--metrics", "bleu2")
    assert (code, out) == (REFUSED, "")
    assert "add the columns candidate and reference, or give --scores" in err


def test_candidates_without_reference_are_counted(agreed: Agree, tmp_path: Path) -> None:
    rows = [row | ({"reference": ""} if row["study_id"] == "s0" else {}) for row in table_rows()]
    code, out, _ = agreed(write_csv(tmp_path / "judged.csv", rows), "--metrics", "bleu2")
    assert code == DONE
    assert "2 candidates have no text or no reference" in out


def test_exit_codes(agreed: Agree, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "judged.csv", table_rows())
    assert agreed(tmp_path / "nowhere", "--metrics", "bleu2")[0] == REFUSED
    assert agreed(path, "--against", "errors")[0] == REFUSED
    code, _, err = agreed(path, "--metrics", "blue2")
    assert code == WRONG_USAGE
    assert "bleu2" in err
    assert agreed(path, "--metrics", "bleu2", "--seed", "-1")[0] == WRONG_USAGE
    code, _, err = agreed(path, "--metrics", "sembscore", "--no-download")
    assert code == NOTHING_COMPUTED
    assert "not computed: sembscore" in err
    code, _, err = agreed(path, "--metrics", "report_distinct")
    assert code == NOTHING_COMPUTED
    assert "only for a set of them" in err


def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["agree", "--help"])
    printed = capsys.readouterr().out
    assert "Examples:" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())


@pytest.mark.slow
def test_metrics_of_encoders_run_with_weights(agreed: Agree, tmp_path: Path, seeded_weights: Path) -> None:
    path = write_csv(tmp_path / "judged.csv", table_rows())
    words = ("--metrics", "sembscore,bleu2", "--weights", seeded_weights, "--no-download", "--device", "cpu", "--json")
    code, out, err = agreed(path, *words)
    assert code == DONE, err
    told = json.loads(out)
    assert told["unavailable"] == {}
    assert told["coefficients"]["kendall"]["metrics"]["sembscore"]["n"] == 12


def test_names_of_files_and_columns_are_no_markup(agreed: Agree, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "j\n# <b>.csv", table_rows())
    rows = [
        {"study_id": row["study_id"], "candidate": n // 2 % 2 + 1, "<img>|x": n} for n, row in enumerate(table_rows())
    ]
    scores = write_csv(tmp_path / "scores.csv", rows[::2])
    code, out, _ = agreed(path, "--scores", scores, "--markdown")
    assert code == DONE
    assert out.startswith("**Judgements (j?\\# \\<b\\>.csv): ")
    assert "<img>" not in out
    assert "\\<img\\>\\|x" in out


def test_nothing_is_compared_where_all_ratings_are_alike(agreed: Agree, tmp_path: Path) -> None:
    rows = [{**row, "rating": 3} for row in table_rows()]
    code, out, _ = agreed(write_csv(tmp_path / "judged.csv", rows), "--metrics", "bleu2")
    assert code == NOTHING_COMPUTED
    assert "No value" in out
