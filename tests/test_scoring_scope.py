"""Scope: scores made for other images or another language are refused with the reason; guesses only warn."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rexrank import ScoreCard, score
from rexrank.errors import RefusedInput
from rexrank.labels import NAMES
from rexrank.metrics import InvalidCall, metric_of, metrics, score_keys
from rexrank.reports.languages import Guess, guess
from rexrank.scoring.scope import Scope
from rexrank.validity.sets import open_set
from rexrank.validity.strata import strata

TEXTS = {
    "en": [
        "The heart is normal in size. There is no pleural effusion and no pneumothorax.",
        "Small left effusion with opacity of the right base, which has not changed.",
    ],
    "de": [
        "Das Herz ist normal groß. Kein Pleuraerguss und kein Pneumothorax.",
        "Kleiner Erguss links mit Verschattung im rechten Unterfeld, unverändert bei bekannter Stauung.",
    ],
    "fr": [
        "Le cœur est de taille normale. Pas d'épanchement pleural ni de pneumothorax.",
        "Petit épanchement à gauche avec une opacité de la base droite, sans changement.",
    ],
    "es": [
        "El corazón es de tamaño normal. No se observa derrame pleural ni neumotórax.",
        "Pequeño derrame izquierdo con opacidad en la base del pulmón derecho, sin cambios.",
    ],
}
REFERENCES = {"a": TEXTS["de"][0], "b": TEXTS["de"][1]}


def card_of(**options: Any) -> ScoreCard:
    options = {"protocol": "plain", "metrics": "all", "progress": False, "download": False} | options
    return score(REFERENCES, options.pop("references", REFERENCES), **options)


def test_a_german_set_of_ct_gets_language_neutral_scores_and_clear_refusals() -> None:
    card = card_of(
        metrics=["bleu", "rouge", "cider", "f1labels_micro_14", "laterality", "radgraph"], modality="CT", language="de"
    )
    assert set(card.summary) == {"bleu2", "coco_bleu1", "coco_bleu2", "coco_bleu3", "coco_bleu4", "rouge_l", "cider"}
    assert card.unavailable["f1labels_micro_14"] == (
        "f1labels_micro_14 is made for reports of CXR and texts in English, and these are of CT and in German; any as "
        "modality and language computes it all the same"
    )
    # RadGraph-XL reads CT, and English alone.
    assert "made for texts in English, and these are in German" in card.unavailable["radgraph_simple"]
    assert "reports of CXR" in card.unavailable["radgraph_combined"]
    assert card.scope == {"modality": "CT", "language": "de", "source": "given", "guessed": "de"}
    assert "2 studies · CT · German" in str(card)
    assert "warning" not in str(card)


def test_all_of_the_registry_is_kept_or_refused_by_what_it_declares() -> None:
    for modality, language in (("CXR", "en"), ("CT", "en"), ("CXR", "de"), ("US", "ja"), (None, None), ("any", "any")):
        scope = Scope.of(modality, language)
        for key, one in score_keys().items():
            fits = all(
                said in (None, "any") or "any" in made or said in made
                for said, made in ((scope.modality, one.modality), (scope.language, one.language))
            )
            assert (scope.why_not(key) is None) == fits, (key, modality, language)
    assert Scope().why_not("no_such_score") is None
    assert any("any" in one.language for one in score_keys().values())


def test_nothing_is_refused_where_nobody_said_and_any_computes_all() -> None:
    asked = ["rouge1", "f1labels_micro_14"]
    assert set(card_of(metrics=asked).summary) == set(asked)
    assert set(card_of(metrics=asked, modality="any", language="any").summary) == set(asked)
    assert card_of(metrics=asked, modality="any", language="any").scope == {
        "modality": "any",
        "language": "any",
        "source": "given",
    }
    refused = card_of(metrics=asked, modality="CT")
    assert set(refused.summary) == {"rouge1"}


def test_scope_comes_before_missing_weights_and_given_labels() -> None:
    card = card_of(metrics=["bertscore", "ratescore"], language="fr")
    assert all("made for texts in English" in why for why in card.unavailable.values())
    labels = {study_id: dict.fromkeys(NAMES, "1") for study_id in REFERENCES}
    card = card_of(metrics=["ce_f1", "bleu2"], labels=(labels, labels), modality="CT")
    assert "made for reports of CXR" in card.unavailable["ce_f1"]


def test_names_are_read_as_people_write_them() -> None:
    assert Scope.of("mri", "de-DE") == Scope("MR", "de", "given")
    assert Scope.of(" ct ", "EN_us") == Scope("CT", "en", "given")
    assert Scope.of("Any", None) == Scope("any", None, "given")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"modality": ""}, "modality: expected a short name such as CXR, CT or MR, got an empty text"),
        ({"modality": 3}, "modality: expected a short name"),
        ({"language": "german"}, 'language: expected two letters of ISO 639-1 such as en or de, got "german"'),
        ({"language": "The lungs are clear."}, "got a text of 20 characters"),
        ({"language": ["de"]}, "got a value of type list"),
    ],
)
def test_names_of_another_form_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidCall, match=message):
        card_of(**options)


def built(folder: Path, **described: Any) -> Path:
    """A folder as `rexrank benchmark build` writes it."""
    import pyarrow
    from pyarrow import parquet

    (folder / "data").mkdir(parents=True)
    columns = {"study_id": list(REFERENCES), "findings": list(REFERENCES.values())}
    parquet.write_table(pyarrow.table(columns), folder / "data/test.parquet")
    (folder / "benchmark.yaml").write_text(yaml.safe_dump({"name": "own", **described}))
    return folder


def test_a_benchmark_brings_its_own_scope(tmp_path: Path) -> None:
    folder = built(tmp_path / "own", modality="CT", language="de")
    for references in (folder, folder / "data/test.parquet", str(folder)):
        card = card_of(references=references, metrics=["bleu2", "rouge1"])
        assert card.scope == {"modality": "CT", "language": "de", "source": "benchmark.yaml", "guessed": "de"}
        assert set(card.summary) == {"bleu2"}
    card = card_of(references=folder, metrics=["bleu2", "rouge1"], language="en")
    assert (card.scope["language"], card.scope["modality"]) == ("en", "CT")
    assert "rouge1" in card.summary
    assert "look German, and the language is said to be English" in card.scope["warning"]
    assert "warning: the references look German" in str(card)
    assert ScoreCard.load(card.save(tmp_path / "card")).scope == card.scope


def test_groups_and_edits_ask_the_benchmark_what_its_reports_are(tmp_path: Path) -> None:
    folder = built(tmp_path / "own", language="de")
    card = card_of(references=folder, metrics=["bleu2"])
    known = open_set(references=folder)
    for cards in ({"own": card}, {"own": replace(card, scope={})}):
        assert "in German" in strata(cards, known, ["bleu2"], ["normal"]).absent["normal"]
    assert not strata({"own": replace(card, scope={"language": "any"})}, known, ["bleu2"], ["normal"]).absent
    done = subprocess.run(
        [sys.executable, "-m", "rexrank", "stress", "--benchmark", str(folder), "--metrics", "bleu2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "made for texts in English, and these are in German" in done.stderr


def test_an_unquoted_no_in_a_benchmark_is_named_and_not_taken_for_nothing(tmp_path: Path) -> None:
    folder = built(tmp_path / "own", language=False)
    with pytest.raises(RefusedInput, match=r'benchmark\.yaml, field "language": expected two letters .* in quotes'):
        card_of(references=folder)
    (folder / "benchmark.yaml").write_text("[")
    with pytest.raises(RefusedInput, match=r"benchmark\.yaml: it cannot be read"):
        card_of(references=folder)


@pytest.mark.parametrize("language", TEXTS)
def test_plain_languages_are_guessed(language: str) -> None:
    assert guess(TEXTS[language]) == Guess(language)


def test_scripts_are_guessed() -> None:
    assert guess(["심장 크기는 정상입니다."]) == Guess("ko", "Hangul")
    assert guess(["心臓の大きさは正常です。胸水はありません。"]) == Guess("ja", "Hiragana")
    assert guess(["心影大小正常。未见胸腔积液。"]) == Guess("zh", "Chinese")
    assert guess(["Сердце не расширено."]) == Guess(None, "Cyrillic")
    # A mark of another script in English says nothing, and neither do bare words or nothing at all.
    assert guess([f"{text} 5 µm α" for text in TEXTS["en"]]) == Guess("en")
    assert guess(["Effusion", "Pneumothorax"]) is None
    assert guess([]) is guess([" "]) is None


def test_a_guess_warns_and_refuses_nothing() -> None:
    card = card_of(metrics=["rouge1"])
    assert "rouge1" in card.summary
    assert card.scope["warning"] == (
        "the references look German, and scores made for English were not refused; name the language (language=…)"
    )
    english = dict(zip("ab", TEXTS["en"], strict=True))
    assert score(english, english, protocol="plain", metrics="bleu2", progress=False).scope == {"guessed": "en"}
    russian = {"a": "Сердце не расширено. Выпота нет."}
    said = score(russian, russian, protocol="plain", metrics="bleu2", progress=False, language="en")
    assert said.scope["warning"] == "they are in Cyrillic script, and the language is said to be en"
    assert (
        "warning" not in score(russian, russian, protocol="plain", metrics="bleu2", progress=False, language="ru").scope
    )


def test_real_reports_are_plainly_english() -> None:
    from rexrank.benchmarks import iu_xray

    texts = [study.findings for study in iu_xray.load().studies if study.findings]
    assert guess(texts) == Guess("en")


def test_on_the_command_line(tmp_path: Path) -> None:
    for name in ("p.json", "r.json"):
        (tmp_path / name).write_text(json.dumps(REFERENCES))
    words = [sys.executable, "-m", "rexrank", "score", "p.json", "--references", "r.json", "--protocol", "plain"]
    done = subprocess.run(
        [*words, "--metrics", "bleu2,rouge1", "--language", "de"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "  rouge1: is made for texts in English, and these are in German; " in done.stdout
    done = subprocess.run(
        [*words, "--metrics", "rouge1", "--language", "de"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 3
    done = subprocess.run([*words, "--language", "deutsch"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, "ISO 639-1" in done.stderr) == (2, True)


def test_a_german_benchmark_of_ct_on_a_board(hub_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit is refused there too, and neither makes a row incomplete nor takes a column."""
    from hosting import host

    from backend import scheduler
    from rexrank.board import host as hosts
    from space.rules import rules

    hosted = host(hub_server.url, hub_server.root, tmp_path)
    hosted.benchmark("toy", REFERENCES)
    described = {"name": "toy", "tracks": {"findings": 2}, "references": "public", "modality": "CT", "language": "de"}
    hosted.hub.commit(hosted.repo("toy"), {"benchmark.yaml": yaml.safe_dump(described).encode()}, "German CT")
    with hosted.worker() as worker:
        worker.prepare()
    hosted.submit(REFERENCES, "Bericht", protocol="plain")
    with hosted.worker() as worker:
        assert scheduler.once(worker)
    (result,) = hosted.results()
    assert result.modality == "CT"
    assert result.metrics["bleu2"].value == pytest.approx(1)
    assert (result.metrics["f1labels_micro_14"].status, result.metrics["rouge1"].status) == ("not_available",) * 2
    assert "made for reports of CXR and texts in English" in result.metrics["f1labels_micro_14"].reason
    (row,) = hosted.leaderboard()
    assert (row["rank"], row["complete"]) == (1, True)
    monkeypatch.setenv("HF_ENDPOINT", hub_server.url)
    monkeypatch.setenv("HF_TOKEN", hosted.worker_token)
    address = f"hf://datasets/{hosted.repo('toy')}"
    for references in (address, f"{address}@main/data/test.parquet"):
        assert card_of(references=references, metrics=["bleu2"]).scope["source"] == "benchmark.yaml"
    found = hosts.load(hosted.hub, hosted.namespace)
    assert (found.benchmarks["toy"].modality, found.benchmarks["toy"].language) == ("CT", "de")
    assert "rouge1" in found.computes()
    assert "rouge1" not in found.computes("toy")
    columns = {column.key for column in rules("plain@2", found, [row], "toy").columns}
    assert {"bleu2", "rouge_l"} <= columns
    assert not columns & {"rouge1", "f1labels_micro_14"}


def test_the_page_tells_what_the_registry_declares() -> None:
    page = (Path(__file__).resolve().parents[1] / "docs/scope.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| (`[^|]+) \|$", page, re.MULTILINE))
    words = {
        (("any",), ("any",)): "any images, any language",
        (("any",), ("en",)): "any images, English",
        (("CXR", "CT", "MR"), ("en",)): "CXR, CT and MR, English",
        (("CXR",), ("any",)): "CXR, any language",
        (("CXR",), ("en",)): "CXR, English",
    }
    for key, one in score_keys().items():
        row = rows[words[one.modality, one.language]]
        assert f"`{metric_of(key).name}`" in row or f"`{key}`" in row, key
    for words_of, row in rows.items():
        for name in re.findall(r"`(\w+)`", row):
            keys = (
                [name] if name in score_keys() and name not in metrics() else [one.key for one in metrics()[name].keys]
            )
            assert any(words[score_keys()[key].modality, score_keys()[key].language] == words_of for key in keys), name
