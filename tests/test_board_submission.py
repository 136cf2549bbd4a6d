"""From a file to a request, on a real Hub: everything wrong is refused before anything is written."""

import json
from pathlib import Path

import pytest
from hosting import Hosted, host, sentences, together

from rexrank.board import names, requests
from rexrank.board.submission import default_name, submit
from rexrank.errors import RefusedInput, RexrankError
from rexrank.hub import HubError, connect
from rexrank.localhub import Fault, accounts, running

TEXTS = sentences(6)


def ready(hosted: Hosted, **benchmark: bool) -> Hosted:
    hosted.benchmark("toy", TEXTS, **benchmark)
    with hosted.worker("setup") as worker:
        worker.prepare()
    return hosted


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:
    return ready(host(hub_server.url, hub_server.root, tmp_path))


def codes(refused: pytest.ExceptionInfo[RefusedInput]) -> list[str]:
    return [problem.code for problem in refused.value.problems]


def test_a_file_becomes_a_repo_and_a_request(hosted: Hosted) -> None:
    texts = sentences(6, seed=1)
    there = hosted.submit(texts, "Acme CXR 2", code_url="https://example.org/code", organization="Acme")
    assert there == hosted.request(there.id)
    assert (there.status, there.attempt, there.owner) == ("PENDING", 0, hosted.user)
    assert there.repo_id == f"{hosted.user}/acme-cxr-2-predictions"
    assert there.path_in_repo == "toy/findings.json"
    assert json.loads(hosted.hub.read(there.repo_id, there.path_in_repo, there.revision)) == texts
    assert there.settings == {"protocol": hosted_protocols(hosted)[0]}
    assert there.submitter.via == "cli"
    view = hosted.hub.view(hosted.repo("requests"), [names.name_path("acme cxr 2")])
    assert json.loads(view.files[names.name_path("acme cxr 2")])["owner"] == hosted.user


def hosted_protocols(hosted: Hosted) -> list[str]:
    from rexrank.board.host import load

    return load(hosted.hub, hosted.namespace).protocols


def test_missing_extra_and_duplicate_studies_are_named_and_nothing_is_written(hosted: Hosted) -> None:
    path = hosted.folder / "preds.csv"
    rows = [*list(TEXTS.items())[1:], ("study-00002", "again"), ("stranger", "text")]
    path.write_text("study_id,prediction\n" + "".join(f"{study},{text}\n" for study, text in rows))
    with pytest.raises(RefusedInput) as refused:
        submit(hosted.user_hub, path, "toy", model_name="Acme", namespace=hosted.namespace)
    found = {(problem.code, problem.study_id) for problem in refused.value.problems}
    assert found == {("missing_ids", "study-00000"), ("extra_ids", "stranger"), ("duplicate_key", "study-00002")}
    assert hosted.requests() == []
    with pytest.raises(HubError) as absent:
        hosted.hub.head(f"{hosted.user}/acme-predictions")
    assert absent.value.code == "repo_not_found"


def test_all_faulty_fields_are_named_at_once(hosted: Hosted) -> None:
    with pytest.raises(RefusedInput) as refused:
        submit(
            hosted.user_hub,
            hosted.predictions(TEXTS),
            "nothing",
            model_name="<b>Acme</b>",
            protocol="unheard",
            paper_url="http://example.org",
            organization="a//b",
            namespace=hosted.namespace,
        )
    fields = {problem.field for problem in refused.value.problems}
    assert fields == {"benchmark", "protocol", "model_name", "organization", "paper_url"}
    with pytest.raises(RefusedInput, match="findings"):
        submit(hosted.user_hub, hosted.predictions(TEXTS), "toy", "impression", namespace=hosted.namespace)


def test_a_repo_is_taken_at_its_commit(hosted: Hosted) -> None:
    hub = hosted.user_hub
    repo = f"{hosted.user}/preds"
    hub.ensure_repo(repo)
    files: dict[str, bytes | None] = {"a.json": json.dumps(TEXTS).encode(), "README.md": b"# Mine\n"}
    commit = hub.commit(repo, files, "Predictions")
    there = submit(hub, repo, "toy", namespace=hosted.namespace)
    assert (there.revision, there.path_in_repo, there.model_name) == (commit, "a.json", "preds")
    hub.commit(repo, {"b.jsonl": b'{"study_id": "x", "prediction": "y"}\n'}, "More")
    with pytest.raises(RefusedInput, match=r"a\.json, b\.jsonl"):
        submit(hub, repo, "toy", model_name="Two", namespace=hosted.namespace)
    with pytest.raises(RefusedInput, match="6 of 6 studies missing"):
        submit(hub, repo, "toy", model_name="Two", file="b.jsonl", namespace=hosted.namespace)
    with pytest.raises(RefusedInput, match="not found"):
        submit(hub, repo, "toy", model_name="Two", file="c.json", namespace=hosted.namespace)
    with pytest.raises(HubError) as unknown:
        submit(hub, f"{repo}@nowhere", "toy", model_name="Two", namespace=hosted.namespace)
    assert unknown.value.code == "revision_not_found"
    assert len(hosted.requests()) == 1


def test_somebody_elses_repo_and_an_absent_file_are_refused(hosted: Hosted) -> None:
    with pytest.raises(RefusedInput, match="belongs to"):
        submit(hosted.user_hub, "stranger/preds", "toy", namespace=hosted.namespace)
    with pytest.raises(RefusedInput, match="no such file"):
        submit(hosted.user_hub, str(hosted.folder / "absent.csv"), "toy", namespace=hosted.namespace)
    with pytest.raises(RefusedInput) as baseline:
        submit(
            connect(hosted.url, _stranger(hosted)), hosted.predictions(TEXTS), "toy", kind="baseline",
            namespace=hosted.namespace,
        )  # fmt: skip
    assert codes(baseline) == ["forbidden"]


def test_a_file_inside_of_a_local_file_is_refused_and_not_passed_over(hosted: Hosted) -> None:
    with pytest.raises(RefusedInput, match="is a file on this machine") as refused:
        submit(hosted.user_hub, hosted.predictions(TEXTS), "toy", file="findings.csv", namespace=hosted.namespace)
    assert codes(refused) == ["wrong_value"]


def test_the_hosts_own_repos_enter_as_baselines_only(hosted: Hosted) -> None:
    repo = hosted.repo("floor")
    hosted.hub.ensure_repo(repo)
    hosted.hub.commit(repo, {"floor.json": json.dumps(TEXTS).encode()}, "Floor")
    with pytest.raises(RefusedInput, match="baselines only") as refused:
        submit(hosted.user_hub, repo, "toy", model_name="Stolen", namespace=hosted.namespace)
    assert codes(refused) == ["forbidden"]
    assert not hosted.requests()
    there = submit(hosted.hub, repo, "toy", model_name="Floor", kind="baseline", namespace=hosted.namespace)
    assert (there.owner, there.kind) == (hosted.namespace, "baseline")


def _stranger(hosted: Hosted) -> str:
    name = f"stranger-of-{hosted.namespace}"
    accounts.add_user(hosted.root, name)
    return accounts.create_token(hosted.root, name, "write")


def test_a_token_that_may_not_write_requests_is_told_so(hosted: Hosted) -> None:
    hub = connect(hosted.url, _stranger(hosted))
    with pytest.raises(RexrankError, match="submit on the host's board"):
        submit(hub, hosted.predictions(TEXTS), "toy", namespace=hosted.namespace)
    there = submit(hub, hosted.predictions(TEXTS), "toy", namespace=hosted.namespace, queue=hosted.hub, via="web")
    assert there.submitter.name == there.owner == f"stranger-of-{hosted.namespace}"


def test_a_name_belongs_to_its_first_owner_and_the_same_file_is_sent_once(hosted: Hosted) -> None:
    first = hosted.submit(TEXTS, "Acme CXR")
    hub = connect(hosted.url, _stranger(hosted))
    with pytest.raises(RefusedInput) as taken:
        submit(
            hub, hosted.predictions(TEXTS), "toy", model_name="ACME  cxr".replace("  ", " "),
            namespace=hosted.namespace, queue=hosted.hub,
        )  # fmt: skip
    assert codes(taken) == ["name_taken"]
    with pytest.raises(RefusedInput, match=first.id) as again:
        hosted.submit(TEXTS, "acme cxr")
    assert codes(again) == ["duplicate_submission"]
    second = hosted.submit(sentences(6, seed=2), "Acme CXR")
    assert second.supersedes == first.id
    other = hosted.submit(TEXTS, "Acme CXR", protocol="plain")
    assert other.settings["protocol"].startswith("plain@")


def test_parallel_submissions_all_arrive(hosted: Hosted) -> None:
    def send(number: int) -> str:
        return hosted.submit(sentences(6, seed=number), f"Model {number}").id

    ids = together(8, send)
    assert sorted(ids) == sorted(there.id for there in hosted.requests())
    assert len(set(ids)) == 8


def test_of_parallel_submissions_of_one_file_one_arrives(hosted: Hosted) -> None:
    found = together(5, lambda _number: hosted.submit(TEXTS, "Acme"))
    accepted = [there for there in found if not isinstance(there, Exception)]
    assert len(accepted) == 1
    assert [there.id for there in hosted.requests()] == [accepted[0].id]
    assert all(isinstance(there, RefusedInput) for there in found if there is not accepted[0])


@pytest.mark.parametrize("fault", [Fault(status=502, when="after"), Fault(status=503), Fault(cut=True, when="after")])
def test_a_lost_answer_neither_loses_nor_doubles_a_submission(tmp_path: Path, fault: Fault) -> None:
    faults: list[Fault] = []

    def fail(method: str, path: str) -> Fault | None:
        hit = method == "POST" and "/requests/commit/" in path
        return faults.pop() if hit and faults else None

    with running(tmp_path / "hub", fault=fail) as server:
        hosted = ready(host(server.url, server.root, tmp_path))
        faults.append(fault)
        there = hosted.submit(TEXTS, "Acme")
        assert not faults
        assert hosted.requests() == [there]


def test_references_that_the_submitter_may_not_read_leave_the_check_of_the_form(hub_server, tmp_path: Path) -> None:
    hosted = ready(host(hub_server.url, hub_server.root, tmp_path), public=False, private_repo=True)
    hub = connect(hosted.url, _stranger(hosted))
    missing = hosted.predictions(dict(list(TEXTS.items())[1:]), "short.json")
    there = submit(hub, missing, "toy", namespace=hosted.namespace, queue=hosted.hub)
    assert there.status == "PENDING", "the backend, which reads the references, refuses it"
    wrong = hosted.folder / "wrong.json"
    wrong.write_text('{"study-00000": 7}')
    with pytest.raises(RefusedInput) as refused:
        submit(hub, wrong, "toy", namespace=hosted.namespace, queue=hosted.hub)
    assert codes(refused) == ["wrong_type"]


def test_a_corrupt_request_does_not_stop_others(hosted: Hosted) -> None:
    hosted.hub.commit(hosted.repo("requests"), {f"{requests.FOLDER}broken.json": b"{"}, "Broken")
    assert hosted.submit(TEXTS, "Acme").status == "PENDING"


def test_a_host_that_never_ran_is_named(hub_server, tmp_path: Path) -> None:
    hosted = host(hub_server.url, hub_server.root, tmp_path)
    with pytest.raises(RexrankError, match="start the backend"):
        hosted.submit(TEXTS, "Acme")


def test_default_names(tmp_path: Path) -> None:
    assert default_name(tmp_path / "moerad" / "preds.csv") == "moerad"
    assert default_name(tmp_path / "Acme 2.json") == "Acme 2"
    assert default_name("acme/my-preds@main") == "my-preds"
