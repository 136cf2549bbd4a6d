"""Modules become Spaces that the real client loads; a second publication changes nothing."""

import re
import shutil
from pathlib import Path

import pytest
import yaml
from localhub_fixtures import HubServer
from module_processes import CHECK, FOLDERS, LIGHT, MODULES, ROOT, environment, run

from rexrank.cli import main
from rexrank.hub import Hub, connect
from rexrank.modules import publish as publishing
from rexrank.modules.publish import ModulesNotFound, module_files, modules_folder, publish


@pytest.fixture
def hub(hub_server: HubServer) -> Hub:
    return connect(hub_server.url, hub_server.user("module-maker"))


def test_every_module_has_a_card_for_its_space() -> None:
    gradio = re.search(r"^gradio==(\S+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M)
    assert gradio
    for name, files in module_files(modules_folder()).items():
        card = yaml.safe_load(files["README.md"].decode().split("---\n")[1])
        assert card["sdk"] == "gradio"
        assert card["sdk_version"] == gradio[1]
        assert card["app_file"] in files
        assert {"evaluate", "metric"} <= set(card["tags"])
        assert len(card["title"]) <= 60
        assert "rexrank" in files["requirements.txt"].decode()
        assert f"{name}.py" in files


@pytest.mark.slow
def test_published_modules_load_from_the_hub(hub: Hub, hub_server: HubServer, tmp_path: Path) -> None:
    pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")
    assert tuple(publish(hub, "module-maker")) == MODULES
    settings = environment(tmp_path / "cache", HF_ENDPOINT=hub_server.url, HF_HUB_DISABLE_XET="1")
    run(CHECK, [f"{FOLDERS / name}=module-maker/{name}" for name in LIGHT], tmp_path, settings)


def test_publishing_again_makes_no_commit(hub: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "modules"
    shutil.copytree(modules_folder() / "bleu", folder / "metric-a" / "ui")
    (folder / "metric-a" / "metric-a.py").write_text("x = 1\n")
    (folder / "metric-a" / "README.md").write_text("---\nsdk: gradio\n---\n")
    (folder / "metric-a" / "__pycache__").mkdir()
    (folder / "metric-a" / "__pycache__" / "a.pyc").write_bytes(b"\0")
    first = publish(hub, "module-maker", folder=folder)
    assert publish(hub, "module-maker", folder=folder) == first

    (folder / "metric-a" / "metric-a.py").write_text("x = 2\n")
    (folder / "metric-a" / "ui" / "tests.py").unlink()
    second = publish(hub, "module-maker", folder=folder)
    assert second != first
    found = set(hub.list_files("module-maker/metric-a", second["metric-a"], repo_type="space")) - {".gitattributes"}
    assert {"metric-a.py", "README.md", "ui/README.md"} <= found
    assert not {path for path in found if "__pycache__" in path or path == "ui/tests.py"}


def test_the_command_publishes_one_module(
    hub_server: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub_server.url)
    monkeypatch.setenv("HF_TOKEN", hub_server.user("module-cli"))
    monkeypatch.setenv("REXRANK_NAMESPACE", "module-cli")
    assert main(["modules", "publish", "--only", "rouge"]) == 0
    assert f"{hub_server.url}/spaces/module-cli/rouge at " in capsys.readouterr().out
    assert main(["modules", "publish", "--only", "radgraf"]) == 1
    assert f"no module 'radgraf'; there are {', '.join(MODULES)}" in capsys.readouterr().err


def test_outside_a_checkout_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing.rexrank, "__file__", str(tmp_path / "site-packages/rexrank/__init__.py"))
    with pytest.raises(ModulesNotFound, match="clone the repository"):
        modules_folder()


def test_a_folder_without_its_script_is_named(tmp_path: Path) -> None:
    (tmp_path / "bleu").mkdir()
    (tmp_path / "bleu" / "README.md").write_text("x")
    with pytest.raises(ModulesNotFound, match=r"evaluate_modules/bleu has no bleu\.py"):
        module_files(tmp_path)
