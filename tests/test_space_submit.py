"""The submit form against a real Hub: in whose name, what is refused, and that nothing of a refusal stays."""

import hashlib
import io
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from localhub_fixtures import HubServer
from space_fixtures import publish

from rexrank.board.host import PATH as HOST_FILE
from rexrank.board.host import Host, HostBenchmark
from rexrank.hub import connect
from rexrank.reports import read_predictions
from rexrank.reports.sources import ENDINGS
from space.data import BoardData
from space.submit import TEMPLATE, Form, Submitters, help_html, identity_html, offers, outcome

STUDIES = ("q01", "q02", "q03")
SECRET = "markerword"


def _references() -> bytes:
    columns = {
        "study_id": list(STUDIES),
        "findings": ["The lungs are clear.", "Heart size is normal.", "No effusion."],
        "impression": ["Normal.", "Normal.", "Normal."],
        "context": ["", "", ""],
    }
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


@pytest.fixture
def submitters(hub_server: HubServer, request: pytest.FixtureRequest) -> Submitters:
    """A host with one benchmark of three studies, and a visitor who submits as the local user."""
    namespace = "form-" + hashlib.sha256(request.node.name.encode()).hexdigest()[:10]
    owner, visitor = hub_server.user("form-owner"), hub_server.user("form-visitor")
    hub_server.organisation(namespace, {"form-owner": "admin", "form-visitor": "write"})
    hub = connect(hub_server.url, owner)
    hub.ensure_repo(f"{namespace}/tiny")
    revision = hub.commit(f"{namespace}/tiny", {"data/test.parquet": _references()}, "Write references")
    host = Host(
        protocols=["rexrank@2025-09-05"],
        metrics=["bleu2"],
        benchmarks={"tiny": HostBenchmark(tracks={"findings": 3}, revision=revision, public=True)},
    )
    publish(hub, namespace, results={HOST_FILE: host.to_bytes()})
    return Submitters(hub_server.url, namespace, "form-visitor", visitor)


def _file(folder: Path, lines: list[str]) -> str:
    path = folder / "preds.csv"
    path.write_text("study_id,prediction\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def _form(folder: Path, **values: str) -> Form:
    file = _file(folder, [f"{study},The lungs are clear {values['model_name']}." for study in STUDIES])
    return replace(Form(benchmark="tiny", track="findings", file=file), **values)


def _queued(submitters: Submitters) -> list[str]:
    hub = connect(submitters.endpoint, submitters.local_token)
    repo = f"{submitters.namespace}/requests"
    return sorted(path for path in hub.list_files(repo, hub.head(repo)) if path.startswith("requests/"))


def test_a_good_file_is_queued_and_the_answer_links_to_it(submitters: Submitters, tmp_path: Path) -> None:
    form = _form(tmp_path, model_name="Web One", organization="Hospital North", paper_url="https://example.org/p")
    form = replace(form, license="cc-by-4.0")
    said, queued = outcome(form, submitters)
    assert queued is not None, said
    (path,) = _queued(submitters)
    request_id = path.removeprefix("requests/").removesuffix(".json")
    assert f'href="./queue?request={request_id}"' in said
    assert not Path(form.file or "").exists()
    hub = connect(submitters.endpoint, submitters.local_token)
    stored = hub.view(f"{submitters.namespace}/requests", [path]).files[path].decode()
    assert '"via": "web"' in stored
    assert '"license": "cc-by-4.0"' in stored
    assert '"name": "form-visitor"' in stored


def test_every_fault_of_a_file_is_named_and_no_text_is_repeated(submitters: Submitters, tmp_path: Path) -> None:
    file = _file(tmp_path, [f"q01,{SECRET}", f"q01,{SECRET}", f"q99,{SECRET}", f"q03,{SECRET}"])
    said, queued = outcome(Form("tiny", "findings", model_name="Web Two", file=file), submitters)
    assert not queued
    for study in ("q01", "q02", "q99"):
        assert study in said
    assert "q03" not in said
    assert SECRET not in said
    assert _queued(submitters) == []
    assert Path(file).is_file(), "a refused file stays for the next try"
    for code in ("duplicate_key", "missing_ids", "extra_ids"):
        assert f"<h4><code>{code.replace('_', '&#95;')}</code> 1</h4>" in said
    assert "study ids is among" not in said


def test_a_file_without_any_id_of_the_benchmark_is_said_in_a_sentence(
    submitters: Submitters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", submitters.endpoint)
    file = _file(tmp_path, [f"z{number:02},Clear." for number in range(14)])
    said, queued = outcome(Form("tiny", "findings", model_name="Web Ten", file=file), submitters)
    assert queued is None
    assert said.index("none of its 14 study ids is among the 3 wanted") < said.index("<h4>")
    assert f"{submitters.endpoint}/datasets/{submitters.namespace}/tiny" in said
    assert "<code>extra&#95;ids</code> 14</h4>" in said
    assert "and 4 more" in said
    assert "z09" in said
    assert "z10" not in said


def test_a_file_of_another_kind_is_one_fault_that_names_the_kinds(submitters: Submitters, tmp_path: Path) -> None:
    path = tmp_path / "preds.docx"
    path.write_bytes(b"PK")
    said, queued = outcome(Form("tiny", "findings", model_name="Web Nine", file=str(path)), submitters)
    assert queued is None
    assert said.count("<li>") == 1
    for ending in (".csv", ".ndjson", ".parquet"):
        assert ending.replace(".", "&#46;") in said


def test_a_file_that_the_board_has_cleared_away_is_asked_for_again(submitters: Submitters, tmp_path: Path) -> None:
    form = Form("tiny", "findings", model_name="Web Eight", file=str(tmp_path / "gone.csv"))
    assert "choose it again" in outcome(form, submitters)[0]


def test_the_help_says_where_the_ids_come_from_and_every_form_of_file() -> None:
    host = Host(benchmarks={"tiny": HostBenchmark(tracks={"findings": 3}, revision="0" * 40, public=True)})
    said = help_html(BoardData(host=host), "lab", "tiny").replace("&quot;", '"')
    assert 'load&#95;dataset("lab/tiny")' in said or 'load_dataset("lab/tiny")' in said
    assert "/datasets/lab/tiny" in said
    assert all(f"<code>{ending}</code>" in said for ending in ENDINGS)
    assert read_predictions(dict(row.split(",", 1) for row in TEMPLATE.splitlines()[1:])).texts


def test_empty_fields_are_all_named_before_anything_is_sent(submitters: Submitters) -> None:
    said, queued = outcome(Form(), submitters)
    assert not queued
    assert said.count("<li>") == 4


def test_a_name_with_markup_is_refused_and_escaped(submitters: Submitters, tmp_path: Path) -> None:
    said, queued = outcome(_form(tmp_path, model_name="<b>Acme</b>", code_url="http://example.org"), submitters)
    assert not queued
    assert "<b>" not in said
    assert said.count("<li>") == 2


def test_a_repo_field_never_reaches_the_disk_of_the_board(submitters: Submitters) -> None:
    # "space/data.py" is both a well-formed repo name and a file beside the running board.
    assert Path("space/data.py").is_file()
    for repo in ("space/data.py", "/etc/hostname", "../app.py"):
        said, queued = outcome(Form("tiny", "findings", model_name="Web Three", repo=repo), submitters)
        assert not queued
        assert "rx-faults" in said
    assert _queued(submitters) == []


def test_without_a_token_nothing_is_submitted_even_if_the_board_has_one(submitters: Submitters, tmp_path: Path) -> None:
    board = connect(submitters.endpoint, submitters.local_token)
    public = replace(submitters, local_user=None, local_token=None, queue=board)
    said, queued = outcome(_form(tmp_path, model_name="Web Four", token="  "), public)
    assert not queued
    assert "token" in said
    assert _queued(submitters) == []


def test_a_false_token_is_refused_without_being_repeated(submitters: Submitters, tmp_path: Path) -> None:
    public = replace(submitters, local_user=None, local_token=None)
    token = "hf_" + "x" * 40
    said, queued = outcome(_form(tmp_path, model_name="Web Five", token=token), public)
    assert not queued
    assert token not in said


def test_a_visitor_who_may_not_write_the_queue_submits_through_the_board(
    submitters: Submitters, hub_server: HubServer, tmp_path: Path
) -> None:
    stranger = hub_server.user("form-stranger")
    board = connect(submitters.endpoint, submitters.local_token)
    public = replace(submitters, local_user=None, local_token=None, queue=board)
    said, queued = outcome(_form(tmp_path, model_name="Web Six", token=stranger), public)
    assert queued is not None, said
    (path,) = _queued(submitters)
    stored = board.view(f"{submitters.namespace}/requests", [path]).files[path].decode()
    assert '"owner": "form-stranger"' in stored


def test_a_space_ignores_the_local_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXRANK_LOCAL_USER", "local")
    monkeypatch.setenv("REXRANK_LOCAL_TOKEN", "hf_x")
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert "local" in identity_html(Submitters.from_environment("http://127.0.0.1:9", "rexrank"))
    monkeypatch.setenv("SPACE_ID", "rexrank/board")
    there = Submitters.from_environment("http://127.0.0.1:9", "rexrank")
    assert there.local_user is there.local_token is None
    assert "used once" in identity_html(there)


def test_offers_follow_the_host_and_keep_the_choice() -> None:
    tracks = {"findings": 3, "impression": 2}
    host = Host(protocols=["a@1"], benchmarks={"tiny": HostBenchmark(tracks=tracks, revision="0" * 40)})
    benchmark, track, protocol = offers(BoardData(host=host), "gone", "impression")
    assert (benchmark.value, track.value, protocol.value) == ("tiny", "impression", "a@1")
    assert offers(BoardData(), "", "")[0].value is None
