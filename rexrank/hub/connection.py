"""One Hub with one token: reading at a commit id, whole commits, bounded waits."""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from rexrank import environment

environment.prepare_libraries()

import httpx2  # noqa: E402
from huggingface_hub import (  # noqa: E402
    CommitOperationAdd,
    CommitOperationDelete,
    HfApi,
    get_session,
    get_token,
    hf_hub_url,
    set_client_factory,
)
from huggingface_hub.hf_api import RepoFile  # noqa: E402
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, validate_repo_id  # noqa: E402
from huggingface_hub.utils._http import default_client_factory  # noqa: E402

from rexrank.hub.errors import HubError, translated  # noqa: E402

CONNECT_SECONDS, READ_SECONDS = 10.0, 60.0
SMALL_FILE_BYTES = 2**20
CACHE_BYTES = 64 * 2**20
CACHED_LISTINGS = 16
READERS = 8

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """A file in a repo at one commit: ``oid`` is its blob id, ``size`` is in bytes."""

    oid: str
    size: int


@dataclass(frozen=True)
class View:
    """Files of a repo at one commit.

    Attributes:
        commit: The 40-hex commit id that was read.
        files: Content by path; a path that does not exist is not in it.
        oversize: Size in bytes of each file that was too large to be read.
    """

    commit: str
    files: Mapping[str, bytes]
    oversize: Mapping[str, int]


@dataclass(frozen=True)
class Identity:
    """Whom a token belongs to: the user's name, and the organisations with the user's role in each."""

    name: str
    organisations: Mapping[str, str]

    def may_write(self, owner: str) -> bool:
        """Whether the user may own things in the name of ``owner``."""
        return owner == self.name or self.organisations.get(owner) in ("write", "admin", "contributor")


def connect(endpoint: str | None = None, token: str | None = None) -> "Hub":
    """Connect to a Hub; nothing is sent yet.

    Args:
        endpoint: Address; by default that of ``HF_ENDPOINT``, else the public Hub.
        token: By default ``HF_TOKEN``. The token of ``hf auth login`` is only ever sent to the public Hub.

    Returns:
        The Hub as this token sees it.
    """
    _bound_waits()
    address = (endpoint or environment.endpoint()).rstrip("/")
    chosen = token or os.environ.get("HF_TOKEN") or (get_token() if address == environment.PUBLIC_HUB else None)
    return Hub(address, chosen)


class Hub:
    """Reads and writes repos of one Hub with one token.

    Contents are kept in memory by blob id, which never changes meaning, so a
    second look at a folder costs one listing and the files that changed.
    """

    def __init__(self, endpoint: str, token: str | None) -> None:
        self.endpoint = endpoint
        self.token = token
        self.api = HfApi(endpoint=endpoint, token=token or False)
        self._blobs = _BlobCache(CACHE_BYTES)
        self._listings: OrderedDict[tuple[str, str, str, str], dict[str, Entry]] = OrderedDict()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Hub({self.endpoint!r})"

    def whoami(self) -> Identity:
        """Ask whom the token belongs to.

        Raises:
            HubError: ``unauthorized`` without a valid token.
        """
        if not self.token:
            raise HubError("unauthorized", f"{self.endpoint}: no token; set HF_TOKEN")
        with translated(self.endpoint):
            answer = self.api.whoami()
        organisations = {org["name"]: str(org.get("roleInOrg") or "") for org in answer.get("orgs", [])}
        return Identity(str(answer["name"]), organisations)

    def head(self, repo_id: str, repo_type: str = "dataset") -> str:
        """Commit id of ``main``.

        Raises:
            HubError: The repo is absent, hidden or the Hub does not answer.
        """
        with translated(repo_id):
            refs = self.api.list_repo_refs(repo_id, repo_type=repo_type)
        for branch in refs.branches:
            if branch.name == "main":
                return str(branch.target_commit)
        raise HubError("revision_not_found", f"{repo_id}: it has no branch main")

    def resolve(self, repo_id: str, revision: str | None = None) -> str:
        """Turn a branch, tag or abbreviated commit of a dataset repo into the 40-hex commit id."""
        if revision is None or revision == "main":
            return self.head(repo_id)
        with translated(f"{repo_id} at {revision}"):
            info = self.api.repo_info(repo_id, revision=revision, repo_type="dataset")
        return str(info.sha)

    def is_private(self, repo_id: str) -> bool:
        """Whether only its owner's people see the dataset repo."""
        with translated(repo_id):
            return bool(self.api.repo_info(repo_id, repo_type="dataset").private)

    def list_files(
        self, repo_id: str, commit: str, folder: str = "", repo_type: str = "dataset"
    ) -> Mapping[str, Entry]:
        """List the files below a folder at a commit; an absent folder is empty."""
        key = (repo_type, repo_id, commit, folder)
        with self._lock:
            if key in self._listings:
                return self._listings[key]
        found: dict[str, Entry] = {}
        place = f"tree/{quote(commit, safe='')}/{quote(folder.rstrip('/'), safe='')}".rstrip("/")
        try:
            with translated(repo_id):
                validate_repo_id(repo_id)
                items = self._pages(f"api/{repo_type}s/{repo_id}/{place}", recursive="true")
            found = {item["path"]: Entry(item["oid"], item["size"]) for item in items if item["type"] == "file"}
        except HubError as error:
            if error.code != "file_missing":
                raise
        with self._lock:
            self._listings[key] = found
            while len(self._listings) > CACHED_LISTINGS:
                self._listings.popitem(last=False)
        return found

    def view(
        self, repo_id: str, paths: Iterable[str], commit: str | None = None, limit_bytes: int = SMALL_FILE_BYTES
    ) -> View:
        """Read small files of a dataset repo at one commit.

        Args:
            repo_id: ``owner/name``.
            paths: Files, and folders written with a closing ``/``, which stand for every file below them.
            commit: 40-hex commit id; the head of ``main`` by default.
            limit_bytes: A larger file is not read and is named in ``oversize``.

        Returns:
            What is there; absent paths are left out.

        Raises:
            HubError: The repo cannot be read.
        """
        commit = commit or self.head(repo_id)
        entries = self._entries(repo_id, commit, list(paths))
        small = {path: entry for path, entry in entries.items() if entry.size <= limit_bytes}
        # Held from here on: the cache may drop what it has while the rest is fetched.
        contents = {
            entry.oid: content for entry in small.values() if (content := self._blobs.get(entry.oid)) is not None
        }
        missing = {entry.oid: path for path, entry in small.items() if entry.oid not in contents}
        contents |= self._fetch_all(repo_id, commit, missing, limit_bytes)
        files = {path: contents[entry.oid] for path, entry in small.items()}
        oversize = {path: entry.size for path, entry in entries.items() if path not in small}
        return View(commit, files, oversize)

    def read(self, repo_id: str, path: str, commit: str, limit_bytes: int = SMALL_FILE_BYTES) -> bytes:
        """Read one file of a dataset repo at a commit into memory.

        Raises:
            HubError: ``file_missing``, ``file_too_large`` and the usual ones.
        """
        return b"".join(self._stream(repo_id, path, commit, limit_bytes))

    def download(self, repo_id: str, path: str, revision: str, target: Path, limit_bytes: int) -> str:
        """Stream one file of a dataset repo to disk.

        Args:
            repo_id: ``owner/name``.
            path: Path inside the repo.
            revision: 40-hex commit id.
            target: A file in a folder of the caller's own; replaced when it exists.
            limit_bytes: The transfer is given up beyond this size.

        Returns:
            SHA-256 of the content, in hex.

        Raises:
            HubError: ``repo_not_found``, ``revision_not_found``, ``file_missing``, ``file_too_large``, ``gated`` …
        """
        digest = hashlib.sha256()
        with target.open("wb") as handle:
            for piece in self._stream(repo_id, path, revision, limit_bytes):
                digest.update(piece)
                handle.write(piece)
        return digest.hexdigest()

    def commit(
        self,
        repo_id: str,
        files: Mapping[str, bytes | None],
        message: str,
        parent: str | None = None,
        repo_type: str = "dataset",
    ) -> str:
        """Write files of a repo in one commit.

        Args:
            repo_id: ``owner/name``.
            files: New content by path; None deletes the path.
            message: Title of the commit.
            parent: Refuse unless ``main`` is still at this commit.
            repo_type: ``dataset``, ``model`` or ``space``.

        Returns:
            Id of the new commit. Content that is already there is dropped by the client: then no commit is made
            and this is the present head.

        Raises:
            HubError: ``conflict`` when ``main`` has moved. After ``hub_unavailable`` the commit may have landed.
        """
        # New operation objects at every call: a commit marks them as used.
        operations = [
            CommitOperationDelete(path) if content is None else CommitOperationAdd(path, content)
            for path, content in files.items()
        ]
        with translated(repo_id):
            done = self.api.create_commit(
                repo_id, operations, commit_message=message, repo_type=repo_type, parent_commit=parent
            )
        return str(done.oid)

    def ensure_repo(self, repo_id: str, private: bool = False) -> None:
        """Create a dataset repo unless it exists."""
        try:
            with translated(repo_id):
                self.api.create_repo(repo_id, repo_type="dataset", private=private)
        except HubError as error:
            if error.code != "conflict":
                raise

    def datasets_of(self, owner: str) -> list[str]:
        """Names ``owner/name`` of the dataset repos that this token sees, in order."""
        with translated(owner):
            return sorted(str(item["id"]) for item in self._pages("api/datasets", author=owner))

    def _pages(self, path: str, **query: str) -> list[Any]:
        """Everything in a list that the Hub gives page by page.

        The client's own reader of pages waits and repeats where nobody can stop it; whether a failure is worth
        another try is decided by ``patiently`` and ``swap``.
        """
        url: str | None = str(httpx2.URL(f"{self.endpoint}/{path}", params=query))
        headers = build_hf_headers(token=self.token or False)
        items: list[Any] = []
        while url is not None:
            response = get_session().get(url, headers=headers)
            hf_raise_for_status(response)
            items += response.json()
            url = response.links.get("next", {}).get("url")
        return items

    def _entries(self, repo_id: str, commit: str, paths: Sequence[str]) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        for folder in paths:
            if folder.endswith("/"):
                entries.update(self.list_files(repo_id, commit, folder))
        single = [path for path in paths if not path.endswith("/")]
        if single:
            with translated(repo_id):
                known = self.api.get_paths_info(repo_id, single, revision=commit, repo_type="dataset")
            entries.update({item.path: Entry(item.blob_id, item.size) for item in known if isinstance(item, RepoFile)})
        return entries

    def _stream(self, repo_id: str, path: str, commit: str, limit_bytes: int) -> Iterator[bytes]:
        """The pieces of a file, given up where they are more than ``limit_bytes`` together."""
        subject = f"{path} in {repo_id} at {commit[:12]}"
        url = hf_hub_url(repo_id, path, repo_type="dataset", revision=commit, endpoint=self.endpoint)
        headers = build_hf_headers(token=self.token or False)
        received = 0
        with translated(subject), get_session().stream("GET", url, headers=headers) as response:
            if response.is_error:
                response.read()
            hf_raise_for_status(response)
            announced = response.headers.get("content-length", "")
            if announced.isdigit() and int(announced) > limit_bytes:
                raise _too_large(subject, limit_bytes)
            for piece in response.iter_bytes():
                received += len(piece)
                if received > limit_bytes:
                    raise _too_large(subject, limit_bytes)
                yield piece

    def _fetch_all(
        self, repo_id: str, commit: str, paths_by_oid: Mapping[str, str], limit_bytes: int
    ) -> dict[str, bytes]:
        """Fetch blobs, a few at a time; returned as well as cached, because the cache may be too small for all."""
        if not paths_by_oid:
            return {}
        with ThreadPoolExecutor(min(READERS, len(paths_by_oid))) as pool:
            contents = list(pool.map(lambda path: self.read(repo_id, path, commit, limit_bytes), paths_by_oid.values()))
        fetched = dict(zip(paths_by_oid, contents, strict=True))
        for oid, content in fetched.items():
            self._blobs.put(oid, content)
        return fetched


def _too_large(subject: str, limit_bytes: int) -> HubError:
    return HubError("file_too_large", f"{subject}: larger than {limit_bytes:,} bytes")


class _BlobCache:
    """Contents by blob id, the least recently used dropped first; safe between threads."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._held = 0
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, oid: str) -> bytes | None:
        with self._lock:
            content = self._blobs.get(oid)
            if content is not None:
                self._blobs.move_to_end(oid)
            return content

    def put(self, oid: str, content: bytes) -> None:
        with self._lock:
            if oid not in self._blobs:
                self._blobs[oid] = content
                self._held += len(content)
            while self._held > self._limit:
                _, dropped = self._blobs.popitem(last=False)
                self._held -= len(dropped)


def _once(action: Callable[[], None]) -> Callable[[], None]:
    lock = threading.Lock()
    done = False

    def run() -> None:
        nonlocal done
        with lock:
            if not done:
                action()
                done = True

    return run


def _bounded_client() -> httpx2.Client:
    client = default_client_factory()
    client.timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    return client


# The client library waits for ever by default, so one lost answer would stop a worker.
_bound_waits = _once(lambda: set_client_factory(_bounded_client))
