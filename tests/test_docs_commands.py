"""Every command and every piece of Python in README and docs/ runs as it stands there."""

import fnmatch
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hosting import write_predictions
from huggingface_hub import HfApi
from waiting import free_port, surroundings, until

from rexrank.benchmarks import iu_xray
from rexrank.cli.children import answers
from rexrank.encoders.inventory import CHECKPOINTS
from rexrank.localhub import accounts, running
from rexrank.localhub.serve import Running
from rexrank.verification.seeded import make

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<language>sh|python)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)

# Commands that stay until stopped; they are started, must say that they serve, and must end cleanly on Ctrl-C.
SERVERS = {
    "rexrank up": "rexrank is running: http://127.0.0.1:",
    "rexrank hub serve": "rexrank hub: http://127.0.0.1:",
    "python -m backend serve": "looks at the queue every 1 s",
    "python app.py": "board: http://127.0.0.1:",
}
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
# Each block begins with nothing of the one before it.
RUN_BLOCKS = "import json, sys; [exec(compile(b, b, 'exec'), {}) for b in json.load(open(sys.argv[1]))]"
# `make test` is what runs this file; `make run` calls `rexrank up`, and its recipe is checked without installing anew.
BY_MAKE = {"make run": ["make", "--dry-run", "run"], "make test": ["make", "--dry-run", "test"]}


@dataclass(frozen=True)
class Desk:
    """A folder with what the pages take for granted: the checkout, a Hub with a host on it, and a submission."""

    folder: Path
    environment: dict[str, str]

    def run(self, words: list[str]) -> None:
        done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{shlex.join(words)} exited {done.returncode}: {done.stderr[-2000:]}"

    def serve(self, words: list[str], line: str) -> None:
        ports = {"REXRANK_BOARD_PORT": str(free_port()), "REXRANK_HUB_PORT": str(free_port())}
        # `rexrank up` brings its own Hub; it must not meet the accounts of this one.
        own = {"REXRANK_HOME": str(self.folder / "another-home")} if words[-1] == "up" else {}
        printed = self.folder / "printed.txt"
        with printed.open("wb") as output:
            process = subprocess.Popen(
                words, cwd=self.folder, env={**self.environment, **ports, **own}, stdout=output, stderr=output
            )
        try:
            until(lambda: line in printed.read_text(), 120, process, printed.read_text, pause=0.2)
            for address in ADDRESS.findall(printed.read_text()):
                until(lambda url=address: answers(url), 30, process, printed.read_text)  # type: ignore[misc]
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0, printed.read_text()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    for name in ("examples", "evaluate_modules", "backend", "space", "app.py", "Makefile", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "constraints.txt").symlink_to(ROOT / "constraints.txt")
    studies = [study.study_id for study in iu_xray.load().studies]
    write_predictions(folder / "predictions.csv", dict.fromkeys(studies, "The lungs are clear."))
    with running(tmp_path_factory.mktemp("hub")) as hub:
        accounts.add_user(hub.root, "local")
        accounts.add_organisation(hub.root, "rexrank", {"local": "admin"})
        environment = {
            **surroundings("HF_", "REXRANK_"),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": accounts.create_token(hub.root, "local", role="write"),
            "HF_HOME": str(folder / "hf"),
            "HF_HUB_DISABLE_XET": "1",
            "REXRANK_HOME": str(folder / "home"),
            "REXRANK_TICK_SECONDS": "1",
            # Without METEOR, whose Java takes its time to start in every scoring process.
            "REXRANK_METRICS": "bleu2,rouge_l,cider",
            "NO_PROXY": "127.0.0.1,localhost",
        }
        desk = Desk(folder, environment)
        _publish_weights(hub, folder / "seeded")
        desk.run(["rexrank", "benchmark", "push", "iu-xray"])
        desk.run(["python", "-m", "backend", "once"])
        _add_own_submission(desk)
        yield desk


def _publish_weights(hub: Running, folder: Path) -> None:
    """What docs/weights.md fetches, as small as can be, where the public Hub has the real ones."""
    names = ("chexbert", "bert-base-uncased")
    make(folder, "tiny", names)
    for checkpoint in map(CHECKPOINTS.__getitem__, names):
        repo = checkpoint.repos[0]
        owner = repo.split("/")[0]
        accounts.add_user(hub.root, owner)
        api = HfApi(hub.url, token=accounts.create_token(hub.root, owner))
        api.create_repo(repo)
        api.upload_folder(repo_id=repo, folder_path=folder / checkpoint.repo)


def _add_own_submission(desk: Desk) -> None:
    """The repo that docs/submit.md submits by its name, and one result, without which no table loads as a dataset."""
    (desk.folder / "findings.csv").write_text((desk.folder / "predictions.csv").read_text().replace("clear", "normal"))
    desk.run(["hf", "upload", "local/my-model", "findings.csv", "--repo-type", "dataset"])
    desk.run(["rexrank", "submit", "findings.csv", "--benchmark", "iu-xray", "--track", "findings"])
    desk.run(["python", "-m", "backend", "once"])


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [found["body"] for found in BLOCK.finditer(text) if found["language"] == language]


def commands(page: str) -> list[list[str]]:
    lines = [line for body in blocks(page, "sh") for line in body.splitlines() if line.strip()]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def test_the_pages_hold_commands() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 15


@pytest.mark.parametrize("page", PAGES)
def test_commands_run(page: str, desk: Desk) -> None:
    for words in commands(page):
        line = shlex.join(words)
        if line in BY_MAKE:
            desk.run(BY_MAKE[line])
        elif served := [said for start, said in SERVERS.items() if line.startswith(start)]:
            desk.serve(words, *served)
        else:
            desk.run(words)


@pytest.mark.parametrize("page", PAGES)
def test_python_runs(page: str, desk: Desk) -> None:
    (desk.folder / "blocks.json").write_text(json.dumps(blocks(page, "python")), encoding="utf-8")
    desk.run(["python", "-c", RUN_BLOCKS, "blocks.json"])


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "examples/README.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_the_table_of_metrics_is_that_of_the_registry() -> None:
    from rexrank.metrics import metric_of, score_keys
    from rexrank.metrics.documentation import BETTER, shown_range

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    listed = [
        (key, row)
        for row in rows
        for name in re.findall(r"`([\w*]+)`", row[1])
        for key in fnmatch.filter(score_keys(), name)
    ]
    assert sorted(key for key, _ in listed) == sorted(score_keys())
    for key, row in listed:
        found = score_keys()[key]
        assert row[4].strip() == BETTER[found.direction], key
        assert row[5].strip() == shown_range(found, "published"), key
        assert ("texts" in row[3]) == (not found.needs and metric_of(key).task == "report"), key
        assert all(f"option `{option}`" in row[3] for option in found.requires), key
        assert ("not a quality" in row[2]) == (found.direction == "none"), key


def test_the_table_of_protocols_is_what_there_is() -> None:
    from rexrank.protocols import available

    text = (ROOT / "docs/score.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `([\w-]+)` \| `([\d-]+)` \|", text, re.MULTILINE)) == sorted(
        tuple(name.split("@")) for name in available()
    )


def test_the_fields_of_a_card_are_described() -> None:
    import rexrank

    card = rexrank.score({"a": "x"}, {"a": "x"}, progress=False)
    text = (ROOT / "docs/score.md").read_text(encoding="utf-8")
    rows = re.search(r"^\| field \| what \|\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert rows is not None
    named = [name for row in rows[1].splitlines()[1:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(named) == sorted([*card.to_json(), "per_study", "statistics"])


def test_the_page_of_metrics_is_what_the_registry_says() -> None:
    from rexrank.metrics import metrics
    from rexrank.metrics.documentation import markdown

    if reasons := [reason for found in metrics().values() if found.missing and (reason := found.missing())]:
        pytest.skip(reasons[0])
    assert (ROOT / "docs/metrics.md").read_text(encoding="utf-8") == markdown(), (
        "docs/metrics.md is not current; run `rexrank metrics --markdown > docs/metrics.md`"
    )
