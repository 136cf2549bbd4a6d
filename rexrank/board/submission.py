"""From a file or a repo of predictions to a request in the queue.

A submission is acknowledged only when its commit is on the Hub. All checks run
again on every try of that commit, because somebody else may have taken the
name or sent the same file in the meantime.
"""

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import yaml

from rexrank.board import host as hosts
from rexrank.board import names, requests
from rexrank.board.host import Host, HostBenchmark
from rexrank.board.requests import Kind, Request, Submitter, entered
from rexrank.errors import RefusedInput, RexrankError
from rexrank.files import json_bytes
from rexrank.hub import Hub, HubError, Identity, View, patiently, swap
from rexrank.hub.clock import utc_now
from rexrank.hub.upload import upload_changed
from rexrank.reports import Limits, Problem, read_predictions, validate
from rexrank.terms import REFERENCE_FILE, Track

PREDICTION_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
GENERIC_STEMS = frozenset({"preds", "pred", "predictions", "prediction", "results", "output", "outputs", "generated"})
UNREADABLE = frozenset({"repo_not_found", "gated", "forbidden", "unauthorized", "file_missing", "revision_not_found"})


@dataclass(frozen=True)
class _Place:
    """Where the predictions lie on the Hub, and the hash of the file."""

    repo_id: str
    path: str
    revision: str
    sha256: str


@dataclass(frozen=True)
class _Submission:
    """Who sends what to which benchmark."""

    hub: Hub
    who: Identity
    name: str
    license: str | None
    kind: Kind
    benchmark: str
    entry: HostBenchmark
    track: Track
    namespace: str | None


def submit(
    hub: Hub,
    source: str | Path,
    benchmark: str,
    track: Track = "findings",
    model_name: str | None = None,
    file: str | None = None,
    protocol: str | None = None,
    *,
    model_url: str | None = None,
    paper_url: str | None = None,
    code_url: str | None = None,
    organization: str | None = None,
    license: str | None = None,
    description: str | None = None,
    kind: Kind = "predictions",
    via: Literal["web", "api", "cli"] = "cli",
    namespace: str | None = None,
    queue: Hub | None = None,
) -> Request:
    """Queue predictions for scoring.

    A local file is uploaded to a dataset repo of the submitter first. Where the submitter may read the benchmark's
    references, the file is validated against them before anything is sent; else its form alone is.

    Args:
        hub: The Hub with the submitter's token.
        source: Path of a prediction file, or ``owner/name[@revision]`` of a dataset repo that holds one.
        benchmark: Name of the benchmark.
        track: ``findings``, ``impression`` or ``report``.
        model_name: Name on the board; by default made from the file's or the repo's name.
        file: Path inside the repo; needed when it holds several files.
        protocol: ``name`` or ``name@version``; the host's first by default.
        model_url: https link to the model.
        paper_url: https link to the paper.
        code_url: https link to the code.
        organization: Institution shown on the board.
        license: Licence of the predictions.
        description: Up to 500 characters.
        kind: ``baseline`` is kept to people of the host's namespace.
        via: By which way the submission came.
        namespace: Owner of the host's repos; ``REXRANK_NAMESPACE`` by default.
        queue: The Hub with a token that may write requests, where the submitter's may not.

    Returns:
        The request as it stands in the queue.

    Raises:
        RefusedInput: With every fault of the fields or of the file.
        RexrankError: The host offers no benchmark, or its Hub cannot be reached or refuses.
    """
    who = hub.whoami()
    links = {"model_url": model_url, "paper_url": paper_url, "code_url": code_url}
    name = model_name or default_name(source)
    host = patiently(lambda: hosts.load(hub, namespace), hub.endpoint)
    problems = [
        *_target_problems(host, benchmark, track, protocol),
        *_field_problems(name, organization, links, license, description),
    ]
    if kind == "baseline" and not who.may_write(hosts.owner(namespace)):
        problems.append(Problem("forbidden", None, None, "kind", "baselines are sent by the host's own people"))
    if problems:
        raise RefusedInput(problems)
    entry = host.benchmarks[benchmark]
    sent = _Submission(hub, who, name, license, kind, benchmark, entry, track, namespace)
    place = _placed(sent, source, file)
    moment = utc_now()
    values: dict[str, Any] = {
        "id": requests.new_id(),
        "kind": kind,
        "repo_id": place.repo_id,
        "path_in_repo": place.path,
        "revision": place.revision,
        "file_sha256": place.sha256,
        "model_name": names.model_name(name),
        "name_key": names.name_key(name),
        "owner": place.repo_id.partition("/")[0],
        "submitter": Submitter(name=who.name, via=via),
        **{field: names.link(link) if link else None for field, link in links.items()},
        "organization": organization or None,
        "license": license or None,
        "description": description or None,
        "dataset": benchmark,
        "dataset_revision": entry.revision,
        "split": entry.split,
        "section": track,
        "modality": entry.modality,
        "settings": {"protocol": host.protocol(protocol)},
        "status": "PENDING",
        "submitted_at": moment,
        "status_at": moment,
    }
    return _enqueue(queue or hub, values, hosts.repo("requests", namespace))


def current(hub: Hub, request_id: str, namespace: str | None = None) -> Request:
    """The request as it stands now.

    Raises:
        RexrankError: There is no such request, or the Hub cannot be reached.
    """
    path = requests.path_of(request_id)
    repo = hosts.repo("requests", namespace)
    files = patiently(lambda: hub.view(repo, [path]).files, repo)
    if path not in files:
        raise RexrankError(f"{repo} holds no request {request_id}")
    return requests.read(files[path], path)


def default_name(source: str | Path) -> str:
    """A model name from a file's name, its folder's where that says nothing, or a repo's."""
    path = Path(source)
    if path.suffix.lower() not in PREDICTION_SUFFIXES:
        return str(source).partition("@")[0].rpartition("/")[2]
    generic = path.stem.lower() in GENERIC_STEMS
    return path.resolve().parent.name if generic else path.stem


def _target_problems(host: Host, benchmark: str, track: str, protocol: str | None) -> list[Problem]:
    problems = []
    offered = host.benchmarks.get(benchmark)
    if offered is None:
        there = ", ".join(sorted(host.benchmarks)) or "none yet"
        problems.append(_field("benchmark", f'this host has no benchmark "{benchmark}"; there are: {there}'))
    elif track not in offered.tracks:
        problems.append(_field("track", f"{benchmark} has no such track; there are: {', '.join(offered.tracks)}"))
    if host.protocol(protocol) is None:
        there = ", ".join(host.protocols) or "none yet"
        problems.append(_field("protocol", f"this host does not offer that protocol; there are: {there}"))
    return problems


def _field_problems(
    name: str, organization: str | None, links: Mapping[str, str | None], license: str | None, description: str | None
) -> list[Problem]:
    checks: list[tuple[str, str | None, Callable[[str], str]]] = [
        ("model_name", name, names.model_name),
        ("organization", organization, names.model_name),
        *((field, link, names.link) for field, link in links.items()),
        ("license", license, partial(_remark, most=requests.LICENSE_LENGTH)),
        ("description", description, partial(_remark, most=requests.DESCRIPTION_LENGTH)),
    ]
    problems = []
    for field, value, check in checks:
        try:
            if value:
                check(value)
        except ValueError as error:
            problems.append(_field(field, str(error)))
    return problems


def _remark(text: str, most: int) -> str:
    if len(text) > most:
        raise ValueError(f"it has at most {most} characters, not {len(text)}")
    return names.remark(text)


def _field(field: str, message: str) -> Problem:
    return Problem("wrong_value", None, None, field, message)


def _placed(sent: _Submission, source: str | Path, file: str | None) -> _Place:
    """Bring the predictions to a fixed revision on the Hub, after validating them."""
    with tempfile.TemporaryDirectory(prefix="rexrank-submit-") as folder:
        if Path(source).is_file():
            if file is not None:
                message = f"{source} is a file on this machine; name a file inside of a repo only"
                raise RefusedInput([_field("file", message)])
            path = Path(source)
            _validate(sent, path, Path(folder))
            return _upload(sent, path)
        hub = sent.hub
        repo_id, revision = _repo(sent, str(source))
        commit = patiently(lambda: hub.resolve(repo_id, revision), repo_id)
        inside = _path_in_repo(hub, repo_id, commit, file)
        copy = Path(folder) / f"predictions{PurePosixPath(inside).suffix.lower()}"
        limit = Limits().file_bytes
        sha256 = patiently(lambda: hub.download(repo_id, inside, commit, copy, limit), repo_id)
        _validate(sent, copy, Path(folder), shown=f"{repo_id}/{inside}")
        return _Place(repo_id, inside, commit, sha256)


def _repo(sent: _Submission, source: str) -> tuple[str, str | None]:
    repo_id, _, revision = source.removeprefix("hf://").removeprefix("datasets/").partition("@")
    if Path(source).suffix.lower() in PREDICTION_SUFFIXES and "@" not in source:
        raise RefusedInput([Problem("file_missing", source, None, None, "there is no such file on this machine")])
    try:
        names.repo_id(repo_id)
    except ValueError as error:
        what = f"neither a file on this machine nor a repo on the Hub: {error}"
        raise RefusedInput([Problem("file_missing", source, None, None, what)]) from None
    owner = repo_id.partition("/")[0]
    if not sent.who.may_write(owner):
        message = f"{repo_id} belongs to {owner}; as {sent.who.name} you may submit repos of your own and of your teams"
        raise RefusedInput([Problem("forbidden", None, None, "repo", message)])
    if owner == hosts.owner(sent.namespace) and sent.kind == "predictions":
        # Whoever may write the queue may write these repos too; a row of theirs must not pass for the host's model.
        message = f"{repo_id} is the host's own, which enters baselines only; copy the file to a repo of yours"
        raise RefusedInput([Problem("forbidden", None, None, "repo", message)])
    return repo_id, revision or None


def _path_in_repo(hub: Hub, repo_id: str, commit: str, file: str | None) -> str:
    held = patiently(lambda: hub.list_files(repo_id, commit), repo_id)
    candidates = sorted(path for path in held if path.lower().endswith(PREDICTION_SUFFIXES))
    if file is not None:
        if file in held:
            return names.path_in_repo(file)
        raise RefusedInput([Problem("file_missing", file, None, None, f"not found in {repo_id} at {commit[:12]}")])
    if len(candidates) == 1:
        return names.path_in_repo(candidates[0])
    shown = ", ".join(candidates[:10]) or "none"
    message = f"name the file with --file: {repo_id} holds {len(candidates)} prediction files ({shown})"
    raise RefusedInput([Problem("file_missing", None, None, "file", message)])


def _validate(sent: _Submission, path: Path, folder: Path, shown: str | None = None) -> None:
    """Refuse a faulty file; against the references where this token may read them, else by its form alone."""
    repo = hosts.repo(sent.benchmark, sent.namespace)
    references = folder / "references.parquet"
    limit = Limits().file_bytes
    try:
        patiently(lambda: sent.hub.download(repo, REFERENCE_FILE, sent.entry.revision, references, limit), repo)
    except HubError as error:
        if error.code not in UNREADABLE:
            raise
        read_predictions(path)
        return
    problems = validate(path, references, track=sent.track)
    if problems:
        raise RefusedInput([_renamed(problem, path.name, shown) for problem in problems])


def _renamed(problem: Problem, name: str, shown: str | None) -> Problem:
    if shown is None or problem.file != name:
        return problem
    return Problem(problem.code, shown, problem.study_id, problem.field, problem.message)


def _upload(sent: _Submission, path: Path) -> _Place:
    repo_id = f"{sent.who.name}/{names.slug_of(sent.name)}-predictions"
    inside = f"{sent.benchmark}/{sent.track}{path.suffix.lower()}"
    content = path.read_bytes()
    patiently(lambda: sent.hub.ensure_repo(repo_id), repo_id)
    files = {inside: content}
    if not patiently(lambda: sent.hub.view(repo_id, ["README.md"]).files, repo_id):
        files["README.md"] = _card(sent).encode()
    commit = upload_changed(sent.hub, repo_id, files, f"Predictions of {sent.name} for {sent.benchmark}")
    return _Place(repo_id, inside, commit, hashlib.sha256(content).hexdigest())


def _card(sent: _Submission) -> str:
    front: dict[str, Any] = {"pretty_name": f"Predictions of {sent.name}"}
    if sent.license:
        front["license"] = sent.license
    front["tags"] = ["radiology", "report-generation", "predictions", "rexrank"]
    head = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    return (
        f"---\n{head}---\n# Predictions of {sent.name}\n\n"
        f"Reports that the model {sent.name} wrote, as submitted to rexrank: one folder a benchmark "
        f"(`{sent.benchmark}`), one file a track (`{sent.track}`).\n"
    )


def _enqueue(queue: Hub, values: dict[str, Any], repo: str) -> Request:
    """Commit the request, with all checks against the queue as it is at that commit."""
    name_path = names.name_path(values["name_key"])
    accepted: list[Request] = []

    def decide(view: View, op: str) -> dict[str, bytes | None]:
        others = requests.readable(view.files)
        _check_name(view, name_path, values)
        _check_duplicate(others, values)
        request = Request(
            **values,
            supersedes=_predecessor(others, values),
            history=(entered(op, values["status_at"], None, "PENDING"),),
        )
        accepted[:] = [request]
        plan: dict[str, bytes | None] = {request.path: request.to_bytes()}
        if name_path not in view.files:
            plan[name_path] = _name_file(request)
        return plan

    try:
        swap(queue, repo, [requests.FOLDER, name_path], decide, f"Submit {values['id']}")
    except HubError as error:
        if error.code not in ("forbidden", "unauthorized"):
            raise
        raise RexrankError(f"this token may not write to {repo}: submit on the host's board instead") from None
    return accepted[0]


def _check_name(view: View, name_path: str, values: Mapping[str, Any]) -> None:
    if name_path not in view.files and name_path not in view.oversize:
        return
    # A record that cannot be read has an owner too, whoever it may be.
    owner = requests.document(view.files.get(name_path, b"")).get("owner")
    if owner != values["owner"]:
        known = isinstance(owner, str) and names.SLUG.fullmatch(owner)
        message = f"the name belongs to {owner if known else 'somebody else'}; choose another with --model-name"
        raise RefusedInput([Problem("name_taken", None, None, "model_name", message)])


def _same_track(request: Request, values: Mapping[str, Any]) -> bool:
    fields = ("owner", "name_key", "dataset", "split", "section")
    return all(getattr(request, field) == values[field] for field in fields)


def _check_duplicate(others: list[Request], values: Mapping[str, Any]) -> None:
    for request in others:
        if (
            _same_track(request, values)
            and request.status in ("PENDING", "RUNNING", "FINISHED")
            and request.file_sha256 == values["file_sha256"]
            and request.dataset_revision == values["dataset_revision"]
            and request.settings == values["settings"]
        ):
            message = f"request {request.id} ({requests.SHOWN[request.status]}) already holds this file under this name"
            raise RefusedInput([Problem("duplicate_submission", None, None, None, message)])


def _predecessor(others: list[Request], values: Mapping[str, Any]) -> str | None:
    return max((request.id for request in others if _same_track(request, values)), default=None)


def _name_file(request: Request) -> bytes:
    document = {
        "schema_version": requests.SCHEMA_VERSION,
        "name_key": request.name_key,
        "owner": request.owner,
        "request": request.id,
        "at": requests.iso(request.submitted_at),
    }
    return json_bytes(document)
