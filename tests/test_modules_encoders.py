"""Modules of neural metrics from a Hub, with weights from the same Hub: the whole way of a user's one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi
from localhub_fixtures import HubServer
from module_processes import environment, run

import rexrank
from rexrank.encoders.inventory import CHECKPOINTS
from rexrank.encoders.weights import Weights
from rexrank.hub import Hub, connect
from rexrank.metrics import metrics
from rexrank.metrics.features import FEATURES
from rexrank.modules.publish import publish
from rexrank.scoring.encoding import requests

pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")

NEURAL = [
    name
    for name, metric in metrics().items()
    if all(key.needs and all(FEATURES[need].runs for need in key.needs) for key in metric.keys)
]
PREDICTIONS = ["Small left effusion, no edema.", "", "Clear lungs.", "Stable 2.5 cm nodule in the right apex."]
REFERENCES = ["Small right effusion without edema.", "Old scar.", "Clear lungs.", "The nodule is larger."]
SCORE = f"""
import json, sys, warnings
warnings.simplefilter("error", UserWarning)
import evaluate
found = {{}}
for address, keys in json.loads(sys.argv[1]).items():
    module = evaluate.load(address)
    found[address] = module.compute(predictions={PREDICTIONS!r}, references={REFERENCES!r}, keys=keys)
    assert "torch" in sys.modules
    again = module.compute(predictions={PREDICTIONS!r}, references={REFERENCES!r}, keys=keys)
    assert again == found[address]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def hub_with_weights(hub_server: HubServer, seeded_weights: Path) -> Hub:
    """A Hub with the modules of neural metrics and the checkpoints that they need."""
    weights = Weights(seeded_weights, download=False)
    needed = {
        located.checkpoint.name: located
        for name in NEURAL
        for key in metrics()[name].keys
        if not key.opt_in
        for request in requests(key.key, {}, "published")
        for located in request.encoder.locate(weights)
    }
    for located in needed.values():
        repo = located.checkpoint.repos[0]
        api = HfApi(hub_server.url, token=hub_server.user(repo.split("/")[0]))
        api.create_repo(repo, exist_ok=True)
        for path, source in located.files.items():
            api.upload_file(repo_id=repo, path_in_repo=path, path_or_fileobj=source)
    hub = connect(hub_server.url, hub_server.user("module-maker"))
    publish(hub, "module-maker", only=NEURAL)
    return hub


@pytest.mark.slow
def test_neural_modules_load_from_a_hub_and_fetch_their_weights(
    hub_with_weights: Hub, seeded_weights: Path, tmp_path: Path
) -> None:
    keys = {name: [key.key for key in metrics()[name].keys if not key.opt_in] for name in NEURAL}
    settings = environment(
        tmp_path / "hf",
        HF_ENDPOINT=hub_with_weights.endpoint,
        HF_HUB_DISABLE_XET="1",
        REXRANK_CACHE=str(tmp_path / "c"),
    )
    settings = {name: value for name, value in settings.items() if name not in ("REXRANK_DOWNLOAD", "REXRANK_WEIGHTS")}
    addresses = {f"module-maker/{name}": wanted for name, wanted in keys.items()}
    found: dict[str, dict[str, Any]] = run(SCORE, [json.dumps(addresses)], tmp_path, settings)
    card = rexrank.score(
        PREDICTIONS,
        REFERENCES,
        protocol="plain",
        metrics=[key for wanted in keys.values() for key in wanted],
        weights=str(seeded_weights),
        cache_dir=str(tmp_path / "store"),
        device="cpu",
        progress=False,
    )
    assert set(keys) == {"bertscore", "f1chexbert", "radcliq", "radgraph", "ratescore", "sembscore", "srrbert"}
    for name, wanted in keys.items():
        one = found[f"module-maker/{name}"]
        for key in wanted:
            assert one[key] == pytest.approx(card.summary.get(key), abs=1e-6), key
            assert f"{key}|conv:published|" in one["signature"]
            assert len(one[f"{key}_per_report"]) == len(PREDICTIONS)
        assert "|w:unverified-" in one["signature"]
        assert one["n_empty"] == 1


def test_the_inventory_names_every_repo_that_is_needed() -> None:
    weights = {checkpoint.repo for checkpoint in CHECKPOINTS.values()}
    for name in NEURAL:
        for key in metrics()[name].keys:
            for request in requests(key.key, {}, "published"):
                assert {checkpoint.repo for checkpoint in request.encoder.checkpoints} <= weights
