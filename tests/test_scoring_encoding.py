"""Encoders and scores together: one pass a model, features kept, what is absent said, RadCliQ from its components."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexrank
from rexrank.encoders.devices import UnknownDevice
from rexrank.encoders.weights import Weights
from rexrank.metrics import InvalidCall, Unavailable, compute, metric_of, radcliq, score_keys
from rexrank.metrics.features import FEATURES
from rexrank.metrics.registry import needs_of
from rexrank.scoring.encoding import EncoderSettings, Encoding, requests, why_not, why_not_here
from rexrank.verification.reports import PAIRS

NEURAL = [
    key for key, known in score_keys().items() if known.needs and all(FEATURES[name].runs for name in known.needs)
]
USUAL = [key for key in NEURAL if not score_keys()[key].opt_in]
CHOSEN = [pair for pair in PAIRS if all(10 < len(text) < 300 for text in pair)][:12]
PREDICTIONS, REFERENCES = [one for one, _ in CHOSEN], [other for _, other in CHOSEN]


@pytest.fixture
def settings(seeded_weights: Path, tmp_path: Path) -> EncoderSettings:
    return EncoderSettings(device="cpu", cache_dir=tmp_path / "store", weights=seeded_weights, download=False)


@pytest.fixture
def passes() -> Iterator[Callable[[], dict[str, list[int]]]]:
    """Rows of every forward pass of a transformer's embeddings since it was asked last, by the model's class."""
    import torch

    seen: dict[str, list[int]] = {}

    def note(module: torch.nn.Module, given: Any, keywords: Any, made: Any) -> None:
        if type(module).__name__.endswith("Embeddings") and torch.is_tensor(made) and made.ndim == 3:
            seen.setdefault(type(module).__name__, []).append(int(made.shape[0]))

    handle = torch.nn.modules.module.register_module_forward_hook(note, with_kwargs=True)

    def taken() -> dict[str, list[int]]:
        found = dict(seen)
        seen.clear()
        return found

    yield taken
    handle.remove()


def scores(settings: EncoderSettings, keys: list[str], predictions: list[str], references: list[Any]) -> dict[str, Any]:
    with Encoding(predictions, references, "published", settings) as encoding:
        features: dict[str, Any] = {}
        for key in keys:
            features |= encoding.features(key, {})
        return dict(compute(keys, predictions, references, features=features))


def test_every_neural_score_is_computed_from_texts(settings: EncoderSettings) -> None:
    found = scores(settings, NEURAL, PREDICTIONS, REFERENCES)
    assert set(found) == set(NEURAL)
    for key, one in found.items():
        assert len(one.values) == len(PREDICTIONS)
        assert "|w:" in one.signature, key
        assert "|dtype:fp32" in one.signature, key
        assert one.counts["n_truncated"] == 0


def test_every_distinct_text_goes_once_through_each_model(
    settings: EncoderSettings, passes: Callable[[], dict[str, list[int]]]
) -> None:
    predictions, references = [*PREDICTIONS, PREDICTIONS[0]], [*REFERENCES, REFERENCES[0]]
    texts = len({*predictions, *references})
    scores(settings, ["f1chexbert_micro_14", "ce_f1", "sembscore"], predictions, references)
    assert {name: sum(rows) for name, rows in passes().items()} == {"BertEmbeddings": texts}
    # RadCliQ finds CheXbert's features, and runs the two others once.
    scores(settings, ["radcliq_v0", "radcliq_v1", "inv_radcliq_v1"], predictions, references)
    assert {name: sum(rows) for name, rows in passes().items()} == {
        "RobertaEmbeddings": texts,
        "BertEmbeddings": texts,
    }
    scores(settings, ["bertscore", "radgraph_combined", "sembscore", "radcliq_v1"], predictions, references)
    assert passes() == {}


def test_a_second_submission_pays_for_its_new_texts_alone(
    settings: EncoderSettings, passes: Callable[[], dict[str, list[int]]]
) -> None:
    first = scores(settings, ["sembscore"], PREDICTIONS, REFERENCES)["sembscore"]
    passes()
    changed = ["A new text about a nodule.", *PREDICTIONS[1:]]
    second = scores(settings, ["sembscore"], changed, REFERENCES)["sembscore"]
    assert passes() == {"BertEmbeddings": [1]}
    assert second.values[1:].tolist() == first.values[1:].tolist()
    assert second.values[0] != first.values[0]


def test_a_record_that_is_gone_is_made_again(settings: EncoderSettings) -> None:
    whole = scores(settings, ["sembscore"], PREDICTIONS, REFERENCES)["sembscore"]
    with Encoding(PREDICTIONS, REFERENCES, "published", settings) as encoding:
        features = encoding.features("sembscore", {})
        for database in [path for path in Path(str(settings.cache_dir)).iterdir() if path.is_file()]:
            content = bytearray(database.read_bytes())
            content[len(content) // 3 :: 7] = b"\xff" * len(content[len(content) // 3 :: 7])
            database.write_bytes(content)
        found = compute("sembscore", PREDICTIONS, REFERENCES, features=features)["sembscore"]
    np.testing.assert_allclose(found.values, whole.values, atol=1e-6)
    again = scores(settings, ["sembscore"], PREDICTIONS, REFERENCES)["sembscore"]
    np.testing.assert_allclose(again.values, whole.values, atol=1e-6)


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_radcliq_is_the_formula_of_the_scores_beside_it(settings: EncoderSettings, convention: Any) -> None:
    keys = ["radgraph_combined", "bertscore", "sembscore", "bleu2", "radcliq_v1"]
    with Encoding(PREDICTIONS, REFERENCES, convention, settings) as encoding:
        features: dict[str, Any] = {}
        for key in keys:
            features |= encoding.features(key, {})
        found = compute(keys, PREDICTIONS, REFERENCES, convention, features=features)
    with Encoding(PREDICTIONS, REFERENCES, "published", settings) as encoding:
        plain = {key: encoding.features(key, {}) for key in ("bertscore", "sembscore")}
        raw = {key: compute(key, PREDICTIONS, REFERENCES, features=one)[key].values for key, one in plain.items()}
    expected = radcliq.v1(found["radgraph_combined"].values, raw["bertscore"], raw["sembscore"], found["bleu2"].values)
    equal = [one == other for one, other in CHOSEN]
    if convention == "corrected":
        expected = np.where(equal, -1.4406902828047017, expected)
    np.testing.assert_allclose(found["radcliq_v1"].values, expected, atol=1e-12)
    signature = found["radcliq_v1"].signature
    assert signature.count("unverified-") == 3


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_what_is_no_number_is_no_score_and_is_not_kept(settings: EncoderSettings, convention: Any) -> None:
    import torch

    def spoil(module: torch.nn.Module, given: Any, made: Any) -> Any:
        return made * float("nan") if type(module).__name__.endswith("Embeddings") else None

    def reasons() -> dict[str, dict[int, str]]:
        with Encoding(PREDICTIONS, REFERENCES, convention, settings) as encoding:
            features = {name: one for key in USUAL for name, one in encoding.features(key, {}).items()}
            found = compute(USUAL, PREDICTIONS, REFERENCES, convention, features=features)
        return {key: dict(one.reasons) for key, one in found.items()}

    handle = torch.nn.modules.module.register_module_forward_hook(spoil)
    try:
        spoilt = reasons()
    finally:
        handle.remove()
    different = [at for at, (one, other) in enumerate(CHOSEN) if one != other]
    for key, found in spoilt.items():
        known = {"failed", "undefined_component", "only_together"}
        assert {found.get(at) for at in different} <= known, key
    assert not any("failed" in found.values() for found in reasons().values())


def test_order_and_neighbours_do_not_matter(settings: EncoderSettings) -> None:
    together = scores(settings, USUAL, PREDICTIONS, REFERENCES)
    alone = EncoderSettings("cpu", Path(str(settings.cache_dir)) / "other", True, settings.weights, False)
    single = scores(alone, USUAL, PREDICTIONS[3:4], REFERENCES[3:4])
    backwards = scores(settings, USUAL, PREDICTIONS[::-1], REFERENCES[::-1])
    for key in USUAL:
        np.testing.assert_allclose(single[key].values, together[key].values[3:4], atol=1e-5, err_msg=key)
        assert backwards[key].values[::-1].tolist() == pytest.approx(together[key].values.tolist(), nan_ok=True), key


def test_several_references_count_by_the_best(settings: EncoderSettings) -> None:
    several = [[reference, prediction] for reference, prediction in zip(REFERENCES, PREDICTIONS, strict=True)]
    found = scores(settings, ["bertscore", "sembscore"], PREDICTIONS, several)
    np.testing.assert_allclose(found["bertscore"].values, 1, atol=1e-5)
    np.testing.assert_allclose(found["sembscore"].values, 1, atol=1e-6)


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_radcliq_takes_all_components_from_one_reference(settings: EncoderSettings, convention: Any) -> None:
    def radcliq_of(references: list[Any]) -> Any:
        with Encoding(PREDICTIONS, references, convention, settings) as encoding:
            features = encoding.features("radcliq_v1", {})
            return compute("radcliq_v1", PREDICTIONS, references, convention, features=features)["radcliq_v1"]

    others = REFERENCES[1:] + REFERENCES[:1]
    found = radcliq_of([list(both) for both in zip(REFERENCES, others, strict=True)])
    alone = [radcliq_of(list(one)).values for one in (REFERENCES, others)]
    np.testing.assert_allclose(found.values, np.fmin(*alone), atol=1e-5)
    assert "|refs:best|" in found.signature
    # A blank reference among others says nothing in `corrected`.
    if convention == "corrected":
        np.testing.assert_allclose(radcliq_of([["", text] for text in REFERENCES]).values, alone[0], atol=1e-5)


def test_long_texts_are_counted(settings: EncoderSettings) -> None:
    long = "There is a small nodule in the left apex. " * 90
    found = scores(settings, USUAL, [long, "Edema."], ["Edema.", "Scar."])
    for key in ("bertscore", "sembscore", "f1chexbert_micro_14", "radcliq_v1"):
        assert found[key].counts["n_truncated"] == 1, key
    assert found["radgraph_simple"].counts["n_chunked"] == 1


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_odd_texts_have_scores_or_reasons(settings: EncoderSettings, convention: Any) -> None:
    odd = ["", "  \n", ".", "\u200b", "🩻", "Лёгкие чистые", "x" * 3000, "a\tb\r\nc", "</s> [SEP] <mask>", "None"]
    others = ["Clear lungs.", *odd[:-1]]
    with Encoding(odd, others, convention, settings) as encoding:
        for key in NEURAL:
            features = encoding.features(key, {})
            one = compute(key, odd, others, convention, features=features)[key]
            assert not np.isinf(one.values).any(), key
            undefined = set(np.flatnonzero(np.isnan(one.values)).tolist())
            assert undefined <= set(one.reasons), key
            if convention == "corrected" and score_keys()[key].kind == "mean":
                low, high = score_keys()[key].range(convention)
                defined = one.values[~np.isnan(one.values)]
                assert (defined >= (-np.inf if low is None else low)).all(), key
                assert (defined <= (np.inf if high is None else high)).all(), key


def test_what_lacks_its_files_is_said_and_costs_nothing_else(
    seeded_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = tmp_path / "weights"
    part.mkdir()
    for name in ("bert-base-uncased", "StanfordAIMI"):
        (part / name).symlink_to(seeded_weights / name)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    card = rexrank.score(
        dict(zip("abc", PREDICTIONS[:3], strict=True)),
        dict(zip("abc", REFERENCES[:3], strict=True)),
        protocol="plain",
        metrics=["bleu2", "sembscore", "bertscore", "radcliq_v1", "green"],
        weights=str(part),
        cache_dir=str(tmp_path / "store"),
        device="cpu",
        progress=False,
    )
    assert set(card.summary) == {"bleu2", "sembscore"}
    assert set(card.unavailable) == {"bertscore", "radcliq_v1", "green"}
    assert card.unavailable["bertscore"].startswith("weights distilroberta-base (config.json, model.safetensors) not")
    assert re.match(r"weights \S+ \(config.json\) not found", card.unavailable["radcliq_v1"])
    assert card.weights["chexbert"]["status"] != "verified"
    assert card.device == "cpu"
    assert {"torch", "transformers"} <= set(card.packages)
    assert not {text for text in (*PREDICTIONS, *REFERENCES) if text in json.dumps(card.to_json())}


def test_a_card_says_whether_the_weights_are_the_published_ones(seeded_weights: Path, tmp_path: Path) -> None:
    card = rexrank.score(
        PREDICTIONS,
        REFERENCES,
        protocol="plain",
        metrics="all",
        weights=str(seeded_weights),
        cache_dir=str(tmp_path / "store"),
        device="cpu",
        progress=False,
    )
    assert set(USUAL) <= set(card.summary) | set(card.unavailable)
    assert {"radcliq_v1", "radgraph_partial", "ratescore", "srrbert_f1", "bertscore", "ce_f1"} <= set(card.summary)
    assert "bertscore_minilm" not in card.summary
    assert "unverified checksum" in str(card)
    card.save(tmp_path / "card")
    assert rexrank.ScoreCard.load(tmp_path / "card").weights == card.weights


def test_nothing_of_a_text_reaches_the_store(settings: EncoderSettings) -> None:
    scores(settings, USUAL, PREDICTIONS, REFERENCES)
    words = {word for text in (*PREDICTIONS, *REFERENCES) for word in text.split() if len(word) > 8 and word.isalpha()}
    assert len(words) > 5
    for path in Path(str(settings.cache_dir)).rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not [word for word in words if word.encode() in content]


def test_what_a_progress_function_raises_is_the_callers(seeded_weights: Path, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if "texts" in stage:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        rexrank.score(
            PREDICTIONS,
            REFERENCES,
            protocol="plain",
            metrics="sembscore",
            weights=str(seeded_weights),
            cache_dir=str(tmp_path / "store"),
            device="cpu",
            progress=stop,
        )


def test_scores_without_encoders_pay_nothing_for_them(tmp_path: Path) -> None:
    code = (
        "import sys, rexrank; rexrank.score(['Clear.'], ['Clear.'], metrics='bleu2', protocol='plain'); "
        "print({'torch', 'transformers', 'huggingface_hub', 'sqlite3', 'rexrank.encoders.weights'} & set(sys.modules))"
    )
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    assert not list(tmp_path.iterdir())


def test_a_module_refuses_a_wrong_device_also_where_all_features_are_there(
    settings: EncoderSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")
    monkeypatch.setenv("REXRANK_CACHE", str(settings.cache_dir))
    monkeypatch.setenv("REXRANK_WEIGHTS", str(settings.weights))
    module = evaluate.load(str(Path(__file__).parent.parent / "evaluate_modules" / "sembscore"))
    module.compute(predictions=["Clear."], references=["Edema."], device="cpu")
    with pytest.raises(UnknownDevice, match='"gpu" is unknown'):
        module.compute(predictions=["Clear."], references=["Edema."], device="gpu")


def test_a_score_of_several_encoders_says_that_it_lacks_more_than_one(tmp_path: Path) -> None:
    nowhere = EncoderSettings(weights=tmp_path, download=False)
    with Encoding(["A."], ["B."], "published", nowhere) as encoding, pytest.raises(Unavailable) as caught:
        encoding.features("radcliq_v1", {})
    assert str(caught.value).endswith("`rexrank weights pull --for radcliq_v1` fetches it all")


def test_a_refused_option_says_whose_it_is() -> None:
    texts: Any = (["Edema."], ["Scar."])
    for metrics in ("radgraph_partial,bertscore", "radgraph_partial,srrbert_f1"):
        with pytest.raises(InvalidCall, match=r"\Amodel: expected .* \(by (bertscore|srrbert); \w+\.OPTION means"):
            rexrank.score(*texts, metrics=metrics.split(","), options={"model": "modern"}, progress=False)


def test_options_choose_the_encoder() -> None:
    chosen = {
        "radgraph_partial": {"model": "modern"},
        "srrbert_f1": {"model": "leaves"},
        "bertscore": {"model": "radeval"},
    }
    for key, options in chosen.items():
        usual = [request.encoder.name for request in requests(key, {}, "published")]
        other = [request.encoder.name for request in requests(key, options, "published")]
        assert usual != other, key
        assert set(options) <= set(metric_of(key).option_names)
        with pytest.raises(InvalidCall, match="model"):
            requests(key, {"model": "no such"}, "published")


def test_reasons_name_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert why_not("bleu2", {}, "published") is None
    assert why_not("sembscore", {}, "published") is None
    assert "judge" in str(why_not("green", {}, "published"))
    nowhere = EncoderSettings(weights=tmp_path, download=False)
    assert "weights StanfordAIMI/RRG_scorers (chexbert.pth) not found" in str(why_not_here("sembscore", nowhere))
    with (
        Encoding(["A."], ["B."], "published", nowhere) as encoding,
        pytest.raises(Unavailable, match="rexrank weights"),
    ):
        encoding.features("sembscore", {})


def test_requests_end_in_features_of_texts() -> None:
    for key in NEURAL:
        found = requests(key, {}, "published")
        assert found
        assert all(FEATURES[request.feature].of == "text" for request in found)
        assert all(request.feature in request.encoder.features for request in found)
        if not any(FEATURES[name].of == "pair" for name in needs_of(key, {})):
            assert [request.feature for request in found] == list(needs_of(key, {}))


def test_all_default_encoders_find_seeded_files(seeded_weights: Path) -> None:
    weights = Weights(seeded_weights, download=False)
    for key in NEURAL:
        for request in requests(key, {}, "corrected"):
            assert request.encoder.locate(weights)[0].checkpoint.holds_weights
