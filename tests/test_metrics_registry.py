"""The registry: what is known about each score, and that a new metric is one new file."""

import subprocess
import sys
from pathlib import Path

import pytest

import backend.rules
import rexrank.metrics
import space.rules
from rexrank.metrics import InvalidCall, compute, metric_of, metrics, registry, score_keys
from rexrank.metrics.documentation import scores_table
from rexrank.protocols import load
from rexrank.scoring.plan import plan
from rexrank.terms import CONVENTIONS

LEXICAL = {"bleu2", "coco_bleu1", "coco_bleu2", "coco_bleu3", "coco_bleu4", "rouge_l", "rouge1", "rouge2", "rouge_l_f1"}

NEW_METRIC = '''
"""Share of studies whose texts have equal length."""
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.registry import Metric, ScoreKey
import numpy as np


def _compute(pairs, keys, convention, options):
    same = [float(len(p) == len(r[0])) for p, r in zip(pairs.predictions, pairs.references)]
    full = np.ones(len(pairs), dtype=bool)
    return {"same_length": Outcome(np.array(same), {"unit": "characters"}, full, full)}


RANGES = {"published": (0, 1), "corrected": (0, 1)}
KEY = ScoreKey("same_length", "Length", "higher", RANGES, "mean", 2, ("any",), ("any",), "Equal length.")
METRIC = Metric("length", "3", (KEY,), _compute, "a test")
'''


def test_every_lexical_key_is_described() -> None:
    keys = score_keys()
    assert set(keys) >= LEXICAL
    for key in LEXICAL:
        entry = keys[key]
        assert entry.direction == "higher"
        assert entry.kind == ("corpus" if key.startswith("coco") else "mean")
        for convention in CONVENTIONS:
            assert entry.range(convention) == (entry.worst(convention), entry.best(convention)) == (0, 1)
        assert entry.label
        assert entry.description.endswith(".")
        assert entry.digits == 3
        assert hash(entry) == hash(keys[key])
    assert metric_of("coco_bleu3").name == "bleu"
    assert set(metrics()) >= {"bleu", "rouge"}
    assert {entry.label for entry in keys.values() if entry.key in LEXICAL} == {
        *("BLEU-2", "COCO BLEU-1", "COCO BLEU-2", "COCO BLEU-3", "COCO BLEU-4"),
        *("ROUGE-L (COCO)", "ROUGE-1", "ROUGE-2", "ROUGE-L F1"),
    }


def test_lower_is_better_turns_best_and_worst_round() -> None:
    severity = registry.ScoreKey(
        *("severity", "Severity", "lower"),
        {"published": (0, 4), "corrected": (0, None)},
        "mean",
        2,
        ("any",),
        ("en",),
        ".",
    )
    assert (severity.best("published"), severity.worst("published")) == (0, 4)
    assert severity.worst("corrected") is None


def test_unknown_key_names_the_known_ones() -> None:
    with pytest.raises(InvalidCall, match=r'unknown score key "bleu"; did you mean .*bleu2'):
        metric_of("bleu")


def test_a_new_metric_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "same_length.py").write_text(NEW_METRIC, encoding="utf-8")
    monkeypatch.setattr(rexrank.metrics, "__path__", [*rexrank.metrics.__path__, str(tmp_path)])
    registry._found.cache_clear()
    try:
        scores = compute(["same_length", "bleu2"], ["abc", "abc"], ["xyz", "abcd"])
        assert scores["same_length"].values.tolist() == [1, 0]
        assert scores["same_length"].signature == "same_length|conv:published|unit:characters|v:3"
        assert set(scores) == {"same_length", "bleu2"}
        assert "same_length" in plan("all", load("plain")).keys
        assert "| `same_length` | Equal length. | higher | 0 to 1 | 0 to 1 | 0 |" in scores_table(metrics()["length"])
        assert "same_length" in backend.rules.rules("plain", None).metrics
        assert space.rules.score_column("same_length", None).label == "Length"
    finally:
        monkeypatch.undo()
        registry._found.cache_clear()
        sys.modules.pop("rexrank.metrics.same_length", None)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, rexrank.metrics, rexrank.metrics.registry, rexrank.statistics;"
        "print([name for name in ('numpy', 'torch', 'nltk', 'rouge_score', 'pyarrow') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


def test_scoring_imports_no_original() -> None:
    code = (
        "import sys; from rexrank.metrics import compute, metric_of, score_keys, why_unavailable;"
        "keys = [k for k in score_keys() if metric_of(k).name != 'meteor' and not why_unavailable(k)];"
        "compute(keys, ['Mild edema.'], ['Edema.']);"
        "print([name for name in ('torch', 'nltk', 'rouge_score', 'pycocoevalcap', 'scipy') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_timing_compares_equal_numbers() -> None:
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "bench.metrics", "--pairs", "60"]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=250)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("x ") >= 5
