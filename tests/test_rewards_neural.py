"""Rewards that encoders compute: equal to `rexrank.score`, one load and one pass a text, kept and let go."""

import json
import math
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexrank
from rexrank import rewards
from rexrank.encoders.devices import UnknownDevice, devices
from rexrank.encoders.weights import MissingWeights
from rexrank.errors import NoFolder
from rexrank.external import meteor
from rexrank.metrics import score_keys
from rexrank.metrics.cider import document_frequencies
from rexrank.reports.studies import is_blank
from rexrank.rewards.keys import Scale
from rexrank.rewards.sessions import own_device, session
from rexrank.verification.reports import PAIRS

CHOSEN = [pair for pair in PAIRS if all(10 < len(text) < 300 for text in pair)][:10]
PREDICTIONS, REFERENCES = [one for one, _ in CHOSEN], [other for _, other in CHOSEN]
# METEOR's Java takes ten seconds to start in every call.
KEYS = [key for key in rewards.reward_keys() if key != "meteor_mean"]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    rewards.close()


@pytest.fixture
def here(seeded_weights: Path, tmp_path: Path) -> dict[str, Any]:
    """Settings of a reward with seeded weights and a store of its own."""
    return {
        "weights": str(seeded_weights),
        "cache_dir": str(tmp_path / "store"),
        "device": "cpu",
        "download": False,
        "progress": False,
    }


def options_for(key: str, convention: Any = "corrected") -> dict[str, Any]:
    return {"df": document_frequencies(REFERENCES, convention)} if key == "cider" else {}


@pytest.fixture
def passes() -> Iterator[Callable[[], dict[str, int]]]:
    """Texts that went through each transformer since it was asked last, by the class of its embeddings."""
    import torch

    seen: dict[str, int] = {}

    def note(module: torch.nn.Module, given: Any, keywords: Any, made: Any) -> None:
        if type(module).__name__.endswith("Embeddings") and torch.is_tensor(made) and made.ndim == 3:
            name = type(module).__name__
            seen[name] = seen.get(name, 0) + int(made.shape[0])

    handle = torch.nn.modules.module.register_module_forward_hook(note, with_kwargs=True)

    def taken() -> dict[str, int]:
        found = dict(seen)
        seen.clear()
        return found

    yield taken
    handle.remove()


def numbers(values: list[float | None]) -> np.ndarray[Any, Any]:
    return np.array([math.nan if value is None else value for value in values])


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_rewards_are_the_scores_of_a_card(here: dict[str, Any], convention: Any) -> None:
    options = options_for("cider", convention)
    card = rexrank.score(
        PREDICTIONS,
        REFERENCES,
        protocol="plain",
        metrics=KEYS,
        convention=convention,
        options=options,
        **here,
    )
    assert not card.unavailable
    together = rewards.make(dict.fromkeys(KEYS, 1.0), convention=convention, **here, **options)
    total = np.zeros(len(PREDICTIONS))
    for key in KEYS:
        reward = rewards.make(key, convention=convention, **here, **options_for(key, convention))
        scores = np.array([math.nan if value is None else value for value in card.per_study[key].to_pylist()])
        found = numbers(reward(completions=PREDICTIONS, reference=REFERENCES))
        np.testing.assert_allclose(found, Scale.of(key).rewards(scores), atol=1e-6, err_msg=key)
        if Scale.of(key) == Scale(0.0, 1.0) and convention == "corrected":
            np.testing.assert_allclose(found, scores, atol=1e-6, err_msg=key)
        assert card.signatures[key] in reward.signature
        better = scores if score_keys()[key].direction == "higher" else -scores
        order = np.argsort(better[~np.isnan(better)], kind="stable")
        assert (np.diff(found[~np.isnan(better)][order]) >= -1e-6).all(), f"{key}: a better score has a lower reward"
        total += found
    np.testing.assert_allclose(numbers(together(completions=PREDICTIONS, reference=REFERENCES)), total, atol=1e-5)


def test_an_identical_text_has_the_highest_reward(here: dict[str, Any]) -> None:
    candidates = [*PREDICTIONS[:5], "Nothing else.", ""]
    for key in KEYS:
        reward = rewards.make(key, **here, **options_for(key))
        for reference in REFERENCES[:3]:
            best, *others = reward(completions=[reference, *candidates], reference=[reference] * (len(candidates) + 1))
            if best is None:
                continue
            assert best == 1.0, key
            assert all(value is None or 0.0 <= value <= 1.0 for value in others), key
            assert others[-1] == min(value for value in others if value is not None), f"{key} rewards silence"
        assert reward.counts.n > reward.counts.n_undefined, key


def test_order_and_neighbours_do_not_matter(here: dict[str, Any]) -> None:
    made = {key: rewards.make(key, cache=False, **here, **options_for(key)) for key in KEYS}
    rows = [*CHOSEN, (PREDICTIONS[0], REFERENCES[1]), (PREDICTIONS[0], REFERENCES[1])]
    order = random.Random(3).sample(range(len(rows)), len(rows))

    def found(positions: list[int]) -> dict[str, np.ndarray[Any, Any]]:
        rewards.close()  # what was made of a text in other company is forgotten
        chosen = [rows[at] for at in positions]
        return {
            key: numbers(reward(completions=[one for one, _ in chosen], reference=[other for _, other in chosen]))
            for key, reward in made.items()
        }

    together, shuffled, alone = found(list(range(len(rows)))), found(order), found([2])
    for key in KEYS:
        np.testing.assert_allclose(shuffled[key], together[key][order], atol=1e-5, err_msg=key)
        np.testing.assert_allclose(alone[key], together[key][2:3], atol=1e-5, err_msg=key)


@pytest.mark.slow
@pytest.mark.skipif(meteor.missing() is not None, reason=str(meteor.missing()))
def test_meteor_is_a_reward() -> None:
    found = rewards.make("meteor_mean")(completions=[*REFERENCES[:2], ""], reference=[*REFERENCES[:2], REFERENCES[0]])
    assert found == [1.0, 1.0, 0.0]


def test_models_and_references_are_there_at_the_next_call(
    here: dict[str, Any], passes: Callable[[], dict[str, int]]
) -> None:
    reward = rewards.make({"radgraph_partial": 0.5, "radcliq_v1": 0.5}, **here)
    group = [REFERENCES[0]] * 4 + [REFERENCES[1]] * 4
    reward(completions=PREDICTIONS[:8], reference=group)
    texts = len({*PREDICTIONS[:8], *group[::4]})
    assert passes()["RobertaEmbeddings"] == texts
    models = dict(session(reward._settings)._models)
    new = [f"{text} Again." for text in PREDICTIONS[:8]]
    reward(completions=new, reference=group)
    assert passes()["RobertaEmbeddings"] == len(new), "references went through the encoder once"
    reward(completions=new, reference=group)
    assert passes() == {}
    # Another reward has the same models, and what was made of the texts.
    rewards.make("bertscore", **here)(completions=new, reference=group)
    assert passes() == {}
    assert dict(session(reward._settings)._models) == models


def test_completions_never_reach_the_disk(here: dict[str, Any], passes: Callable[[], dict[str, int]]) -> None:
    reward = rewards.make("sembscore", **here)
    first = reward(completions=PREDICTIONS, reference=REFERENCES)
    passes()
    rewards.close()
    assert reward(completions=PREDICTIONS, reference=REFERENCES) == pytest.approx(first, abs=1e-6)
    assert passes()["BertEmbeddings"] == len({*PREDICTIONS} - {*REFERENCES}), "references were kept, completions not"


def test_nothing_reaches_the_disk_without_a_cache(here: dict[str, Any]) -> None:
    reward = rewards.make("sembscore", cache=False, **here)
    assert all(reward(completions=PREDICTIONS, reference=REFERENCES))
    assert not Path(here["cache_dir"]).exists()


def test_a_card_finds_what_a_reward_made_of_references(
    here: dict[str, Any], passes: Callable[[], dict[str, int]]
) -> None:
    rewards.make("sembscore", **here)(completions=PREDICTIONS, reference=REFERENCES)
    rewards.close()
    passes()
    rexrank.score(REFERENCES, REFERENCES, protocol="plain", metrics="sembscore", **here)
    assert passes() == {}


def test_missing_files_are_said_before_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(MissingWeights, match="radgraph-xl"):
        rewards.make("radgraph_partial", weights=str(tmp_path), device="cpu", download=False)
    with pytest.raises(NoFolder):
        rewards.make("radgraph_partial", weights=str(tmp_path / "none"), device="cpu")
    with pytest.raises(UnknownDevice):
        rewards.make("radgraph_partial", weights=str(tmp_path), device="tpu")


def test_each_process_of_a_training_has_its_own_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert own_device("cpu") == "cpu"
    monkeypatch.setenv("REXRANK_DEVICE", "cpu")
    assert own_device(None) is None
    monkeypatch.delenv("REXRANK_DEVICE")
    found = devices()
    assert own_device(None) == found[3 % len(found)]
    monkeypatch.setenv("LOCAL_RANK", "")
    assert own_device(None) is None


def test_threads_may_share_encoders(here: dict[str, Any]) -> None:
    made = [rewards.make(key, **here) for key in ("sembscore", "bertscore", "radcliq_v1", "sembscore")]
    expected = [reward(completions=PREDICTIONS, reference=REFERENCES) for reward in made]
    rewards.close()
    with ThreadPoolExecutor(8) as pool:
        jobs = [(at, pool.submit(made[at], completions=PREDICTIONS, reference=REFERENCES)) for at in [0, 1, 2, 3] * 3]
        for at, job in jobs:
            np.testing.assert_allclose(numbers(job.result()), numbers(expected[at]), atol=1e-6)


def _in_a_fork(reward: Any, results: Any) -> None:
    results.put(reward(completions=PREDICTIONS[:3], reference=REFERENCES[:3]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_opens_its_own(here: dict[str, Any]) -> None:
    reward = rewards.make("sembscore", **here)
    # The parent has its store open and its references in it; torch's threads would not live on in a child.
    session(reward._settings).records.missing("shelf", REFERENCES)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=_in_a_fork, args=(reward, results))
    process.start()
    found = results.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0
    assert found == pytest.approx(reward(completions=PREDICTIONS[:3], reference=REFERENCES[:3]), abs=1e-6)


def test_a_reward_travels_with_its_settings_alone(here: dict[str, Any]) -> None:
    reward = rewards.make("sembscore", **here)
    expected = reward(completions=PREDICTIONS[:2], reference=REFERENCES[:2])
    packed = pickle.dumps(reward)
    assert len(packed) < 2000
    code = (
        "import json, pickle, sys; reward, texts = pickle.load(sys.stdin.buffer); "
        "print(json.dumps(reward(completions=texts[0], reference=texts[1])))"
    )
    given = pickle.dumps((reward, (PREDICTIONS[:2], REFERENCES[:2])))
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True)
    assert json.loads(done.stdout) == pytest.approx(expected, abs=1e-6)


def test_long_texts_and_odd_ones_are_counted(here: dict[str, Any]) -> None:
    reward = rewards.make("sembscore", **here)
    long = "There is a small nodule in the left apex. " * 90
    found = reward(completions=[long, "", "🩻", "\x00"], reference=["Edema."] * 4)
    assert all(value is not None and 0 <= value <= 1 for value in found)
    assert reward.counts.n_truncated == 1
    assert reward.counts.n_empty == sum(map(is_blank, ["", "🩻", "\x00"]))
