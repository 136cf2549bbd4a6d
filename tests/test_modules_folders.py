"""Every folder of evaluate_modules/: what it returns, what it refuses in which words, and that its card is current."""

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

evaluate = pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")

from feature_makers import features_of as invented_features  # noqa: E402
from module_processes import FOLDERS, LIGHT, MODULES, RUNNING, cases, module_class  # noqa: E402

from rexrank.metrics.features import FEATURES  # noqa: E402
from rexrank.metrics.inputs import InvalidCall, Unavailable  # noqa: E402
from rexrank.metrics.registry import metrics  # noqa: E402
from rexrank.modules.arguments import FURTHER_COUNTS, features_of  # noqa: E402
from rexrank.modules.cards import SpoiledCard, current, write_all  # noqa: E402
from rexrank.modules.checked import Checked  # noqa: E402

MARK = "ZEBRAFISH"
COUNTS = {"signature", "n_empty", "n_truncated", "n_undefined"}
FEATURED = tuple(name for name in MODULES if features_of(metrics()[name]))
LEXICAL = tuple(name for name in LIGHT if name not in FEATURED and metrics()[name].task == "report")
EACH = [name if name in LIGHT else pytest.param(name, marks=pytest.mark.slow) for name in RUNNING]
OPTIONS = [(name, option.name) for name in RUNNING for option in metrics()[name].options]


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], Checked]:
    """Makes the module of a name."""
    return lambda name: classes(name)(cache_dir=str(tmp_path))


@cache
def classes(name: str) -> Callable[..., Checked]:
    return module_class(name)


def example(name: str) -> dict[str, Any]:
    """The inputs of a module's first worked example, with the features of the others left aside."""
    first = copy.deepcopy(cases(name)[0])
    return {"predictions": first["predictions"], "references": first["references"], **first["options"]}


def test_every_metric_has_a_folder() -> None:
    assert set(MODULES) == set(metrics())


@pytest.mark.parametrize("name", MODULES)
def test_the_tables_of_a_card_are_those_of_the_registry(name: str) -> None:
    card = (FOLDERS / name / "README.md").read_text(encoding="utf-8")
    assert current(card, metrics()[name]) == card, "run python -m rexrank.modules.cards"
    for key in metrics()[name].keys:
        assert f"`{key.family or key.key}`" in card
    for option in metrics()[name].options:
        assert f"`{option.name}`" in card


def test_a_card_is_written_anew_only_where_it_is_old(tmp_path: Path) -> None:
    (tmp_path / "bleu").mkdir()
    path = tmp_path / "bleu" / "README.md"
    path.write_text(
        "# BLEU\n\n<!-- inputs -->\nold\n<!-- /inputs -->\n\nWords.\n\n<!-- scores --><!-- /scores -->\n"
        "<!-- usage --><!-- /usage -->\n"
    )
    assert write_all(tmp_path) == ["bleu"]
    written = path.read_text(encoding="utf-8")
    assert "\nold\n" not in written
    assert written.startswith("# BLEU\n\n<!-- inputs -->\n\n| argument |")
    assert "\n\nWords.\n\n" in written
    assert write_all(tmp_path) == []
    path.write_text("# BLEU\n")
    with pytest.raises(SpoiledCard, match="the card of bleu needs one <!-- usage -->"):
        write_all(tmp_path)


@pytest.mark.parametrize("name", EACH)
def test_a_module_returns_its_keys_and_nothing_else(name: str, make: Callable[[str], Checked]) -> None:
    module = make(name)
    found = module.compute(**example(name))
    keys = [key for key in module.keys if key in found]
    assert keys
    further = [count for count in FURTHER_COUNTS if count in found]
    assert list(found) == [part for key in keys for part in (key, f"{key}_per_report")] + [
        "signature",
        "n_empty",
        "n_truncated",
        "n_undefined",
        *further,
    ]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert len(found["signature"].split(" ")) == len(keys)
    count = len(example(name)["predictions"])
    assert all(len(found[f"{key}_per_report"]) == count for key in keys)
    only = module.compute(**{**example(name), "keys": keys[-1]})
    assert set(only) - {*FURTHER_COUNTS} == {keys[-1], f"{keys[-1]}_per_report", *COUNTS}
    assert only[keys[-1]] == found[keys[-1]]


def test_a_module_returns_what_its_metric_counts(make: Callable[[str], Checked]) -> None:
    features = {"green_completion": ["I cannot compare these.", None, "[Clinically Significant Errors]:\nNone"]}
    texts = {"predictions": ["Small effusion.", "Clear.", "Edema."], "references": ["Old scar."] * 3}
    found = make("green").compute(**texts, features=features, convention="corrected")
    assert (found["n_unparsed"], found["n_failed"], found["n_undefined"]) == (2, 1, 3)
    opposite = {"predictions": [[1.0, 0.0]] * 3, "references": [[-1.0, 0.0]] * 3}
    (feature,) = features_of(metrics()["sembscore"])
    clamped = make("sembscore").compute(**texts, features={feature: opposite}, convention="corrected")
    assert clamped["n_clamped"] == 3
    foreign = {"predictions": ["Clear.", "肺野清晰。"], "references": ["肺野清晰。", "Clear."]}
    found = make("meteor" if "meteor" in LIGHT else "temporal_f1").compute(**foreign, convention="corrected")
    assert found["n_unsupported_language"] == 2


@pytest.mark.parametrize("name", EACH)
def test_a_module_refuses_in_one_sentence_without_text(
    name: str, make: Callable[[str], Checked], capfd: pytest.CaptureFixture[str]
) -> None:
    module, good = make(name), example(name)
    count = len(good["predictions"])
    for bad, words in (
        ({"predictions": [*good["predictions"][1:], 3]}, f"predictions[{count - 1}]: expected str, got int"),
        ({"references": [None, *good["references"][1:]]}, "references[0]: expected str or list of str, got NoneType"),
        ({"predictions": MARK}, "predictions: expected a list, got str"),
        ({"no_such_option": MARK}, f'unknown option "no_such_option"; {name} takes convention, keys, ids'),
        ({"preparation": MARK}, f'unknown option "preparation"; {name} takes'),
        ({"on_empty_prediction": f"{MARK} {MARK}"}, "on_empty_prediction: expected one of undefined, worst, error"),
        ({"keys": [f"{MARK} {MARK}"]}, "keys: expected some of"),
        ({"convention": f"{MARK} {MARK}"}, "convention: expected published or corrected"),
        ({"features": [MARK]}, "features: expected a dict, got list"),
        ({"features": {f"{MARK} {MARK}": [MARK]}}, "features: unknown name"),
    ):
        with pytest.raises(InvalidCall) as caught:
            module.compute(**{**good, **bad})
        assert str(caught.value).startswith(words)
        assert "\n" not in str(caught.value)
        assert MARK not in str(caught.value) + "".join(capfd.readouterr())
    assert module.compute(**good)


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_of_a_wrong_type_is_named(name: str, option: str, make: Callable[[str], Checked]) -> None:
    for wrong in (object(), {MARK: MARK}, f"{MARK} {MARK}"):
        with pytest.raises(InvalidCall, match=rf"\A{option}\b") as caught:
            make(name).compute(**{**example(name), option: wrong})
        assert MARK not in str(caught.value)


@pytest.mark.parametrize("name", FEATURED)
def test_texts_alone_get_a_sentence_that_says_what_to_give(name: str, make: Callable[[str], Checked]) -> None:
    with pytest.raises(Unavailable, match="; or give features=") as caught:
        make(name).compute(predictions=[MARK], references=[MARK])
    needed = metrics()[name].keys[0].needs
    assert all(f'"{feature}"' in str(caught.value) for feature in needed)
    assert MARK not in str(caught.value)


@pytest.mark.parametrize("name", FEATURED)
def test_features_are_refused_without_quoting_them(name: str, make: Callable[[str], Checked]) -> None:
    module, good = make(name), example(name)
    count = len(good["predictions"])
    for feature, items in good["features"].items():
        of_pairs = FEATURES[feature].of == "pair"
        long = [MARK] * (count + 1)
        for bad, words in (
            (MARK, f"features['{feature}']: expected "),
            (
                long if of_pairs else {**items, "predictions": long},
                f"features['{feature}']{'' if of_pairs else '.predictions'} has {count + 1} items",
            ),
            ({"predictions": [MARK]}, f"features['{feature}']: expected "),
        ):
            with pytest.raises(InvalidCall) as caught:
                module.compute(**{**good, "features": {**good["features"], feature: bad}})
            assert str(caught.value).startswith(words)
            assert MARK not in str(caught.value)


@pytest.mark.parametrize("name", FEATURED)
def test_features_are_what_stands_in_a_json_file(name: str, make: Callable[[str], Checked]) -> None:
    good = example(name)
    assert json.loads(json.dumps(good["features"])) == good["features"]
    plain = make(name).compute(**good)
    listed = copy.deepcopy(good)
    listed["references"] = [[text] for text in good["references"]]
    for feature, items in listed["features"].items():
        if FEATURES[feature].of == "text":
            items["references"] = [[item] for item in items["references"]]
    assert make(name).compute(**listed) == plain


def test_modules_combine(make: Callable[[str], Checked]) -> None:
    modules = {name: make(name) for name in (*LEXICAL, *FEATURED)}
    predictions, references = ["Small left effusion.", "", "Stable edema."], ["Small right effusion."] * 3
    needed = {feature for name in FEATURED for feature in features_of(metrics()[name])}
    features = invented_features(needed, predictions, [[text] for text in references])
    together = evaluate.combine(list(modules.values()))
    found = together.compute(
        predictions=predictions, references=references, convention="corrected", features=features, ids=list("abc")
    )
    keys = [key for module in modules.values() for key in module.computable(features, {})]
    assert len(set(keys)) == len(keys)
    counts = {f"{name}_{count}" for name in modules for count in COUNTS}
    # What only one module returns keeps its name.
    further = {f"{lead}{count}" for lead in ("", *(f"{name}_" for name in modules)) for count in FURTHER_COUNTS}
    assert set(found) - further == {*keys, *(f"{key}_per_report" for key in keys)} | counts
    assert found["green_n_unparsed"] == 0
    with pytest.raises(InvalidCall, match='unknown option "stemmer"; bleu takes'):
        evaluate.combine([make("bleu"), make("rouge")]).compute(
            predictions=predictions, references=references, stemmer=False
        )
    assert found["bleu_n_empty"] == 1


def test_a_module_without_its_program_says_so(
    make: Callable[[str], Checked], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(Unavailable, match=r"\Ameteor (runs a Java program|needs the package)") as caught:
        make("meteor").compute(predictions=[MARK], references=[MARK])
    assert MARK not in str(caught.value)
