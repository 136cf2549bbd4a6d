"""datasets, evaluate, pandas and HfFileSystem work with the local Hub, unmodified.

These libraries read HF_ENDPOINT when they are imported and are slow to import,
so each script runs many checks in one process of its own.
"""

import os
from pathlib import Path

import pytest
from huggingface_hub import HfApi
from localhub_fixtures import HubServer
from waiting import last_json

DATASETS = """
import io, json
import datasets, pandas
from huggingface_hub import HfApi, HfFileSystem

found = {}
rows = datasets.Dataset.from_dict({"study_id": [str(n) for n in range(50)], "prediction": ["No effusion."] * 50})
splits = datasets.DatasetDict({"train": rows, "test": rows.select(range(10))})
splits.push_to_hub("libraries-ana/predictions", private=True)
rows.select(range(7)).push_to_hub("libraries-ana/predictions", config_name="other", split="test")
rows.select(range(9)).push_to_hub("libraries-ana/predictions", split="train", revision="feature/x")

repo = "libraries-ana/predictions"
found["rows"] = {name: len(split) for name, split in datasets.load_dataset(repo).items()}
found["other"] = len(datasets.load_dataset(repo, "other", split="test"))
found["branch"] = len(datasets.load_dataset(repo, split="train", revision="feature/x"))
found["configs"] = datasets.get_dataset_config_names(repo)
found["streamed"] = sum(1 for _ in datasets.load_dataset(repo, streaming=True, split="train"))
found["private"] = HfApi().repo_info(repo, repo_type="dataset").private

files = HfFileSystem()
folder = f"datasets/{repo}"
found["parquet"] = sorted(files.glob(f"{folder}/**/*.parquet"))
found["pandas"] = list(pandas.read_parquet(f"hf://{folder}/data/test-00000-of-00001.parquet").shape)
pandas.DataFrame({"a": [1, 2]}).to_csv(f"hf://{folder}/notes/x.csv", index=False)
found["csv"] = pandas.read_csv(f"hf://{folder}@main/notes/x.csv")["a"].tolist()
with files.open(f"{folder}/notes/x.csv", "rb") as handle:
    handle.seek(2)
    found["seek"] = handle.read(1).decode()
files.rm(f"{folder}/notes", recursive=True)
found["removed"] = not files.exists(f"{folder}/notes/x.csv")
found["on branch"] = files.exists(f"datasets/{repo}@feature%2Fx/README.md")
print(json.dumps(found))
"""

EVALUATE = """
import json
import evaluate

first = evaluate.load("libraries-ana/toy").compute(predictions=["a", "b"], references=["a", "c"])
pinned = evaluate.load("libraries-ana/toy", revision="{revision}").compute(predictions=["a"], references=["a"])
print(json.dumps([first["same"], pinned["same"]]))
"""

MODULE = """
import datasets
import evaluate


class Toy(evaluate.Metric):
    def _info(self):
        text = datasets.Value("string")
        features = datasets.Features({"predictions": text, "references": text})
        return evaluate.MetricInfo(description="d", citation="c", inputs_description="i", features=features)

    def _compute(self, predictions, references):
        return {"same": sum(map(str.__eq__, predictions, references)) / len(predictions)}
"""


def run(script: str, url: str, token: str, folder: Path) -> object:
    """What a script prints last, as JSON, run in an empty folder with empty caches."""
    settings = {
        "HF_ENDPOINT": url,
        "HF_TOKEN": token,
        "HF_HOME": str(folder / "home"),
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "PYTHONWARNINGS": "ignore",
    }
    # A proxy for everything but the Hub that does not exist: whoever leaves the machine fails.
    outside = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return last_json(script, [], folder, {**os.environ, **settings, **outside}, timeout=240)


@pytest.mark.slow
def test_datasets_and_file_systems(hub_server: HubServer, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    assert run(DATASETS, hub_server.url, hub_server.user("libraries-ana"), tmp_path) == {
        "rows": {"train": 50, "test": 10},
        "other": 7,
        "branch": 9,
        "configs": ["default", "other"],
        "streamed": 50,
        "private": True,
        "parquet": [
            f"datasets/libraries-ana/predictions/{name}-00000-of-00001.parquet"
            for name in ("data/test", "data/train", "other/test")
        ],
        "pandas": [10, 2],
        "csv": [1, 2],
        "seek": "1",
        "removed": True,
        "on branch": True,
    }


@pytest.mark.slow
def test_evaluate_loads_a_module_from_a_private_space(hub_server: HubServer, tmp_path: Path) -> None:
    pytest.importorskip("evaluate")
    token = hub_server.user("libraries-ana")
    api = HfApi(hub_server.url, token=token)
    repo = api.create_repo("libraries-ana/toy", repo_type="space", space_sdk="gradio", private=True).repo_id
    commit = api.upload_file(path_or_fileobj=MODULE.encode(), path_in_repo="toy.py", repo_id=repo, repo_type="space")
    script = EVALUATE.replace("{revision}", commit.oid)
    assert run(script, hub_server.url, token, tmp_path) == [0.5, 1.0]
