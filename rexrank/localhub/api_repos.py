"""Answers about repositories as a whole: make, list, describe, change, remove."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from rexrank.localhub import cards
from rexrank.localhub.accounts import account
from rexrank.localhub.blobs import git_blob_id
from rexrank.localhub.calls import Call, answer, truthy
from rexrank.localhub.errors import HubFault, bad_request
from rexrank.localhub.filetypes import GIT_ATTRIBUTES
from rexrank.localhub.history import NewCommit
from rexrank.localhub.hub import LocalHub
from rexrank.localhub.names import KINDS, check_repo_name, check_repo_type
from rexrank.localhub.paging import read_cursor, write_cursor
from rexrank.localhub.repositories import Repo, RepoExists, require_write
from rexrank.localhub.trees import Entry, Tree

_SDKS = ("gradio", "streamlit", "docker", "static")
_PAGE, _LONGEST_PAGE = 100, 1000
_NO = ("false", "0", "no", "off")
_SORTED_BY = {
    "lastModified": "lastModified",
    "last_modified": "lastModified",
    "createdAt": "createdAt",
    "created_at": "createdAt",
}


def create(call: Call) -> Response:
    """Make a repository with an initial commit on ``main``."""
    body = call.json()
    kind = check_repo_type(body.get("type"))
    namespace, name = _target(call, body)
    private = _wanted_privacy(body) or False
    sdk = body.get("sdk") if kind == "space" else None
    if kind == "space" and sdk not in _SDKS:
        raise bad_request(f"A Space needs an sdk: {', '.join(_SDKS)}.")
    hub = call.hub
    content = GIT_ATTRIBUTES.encode()
    first = {".gitattributes": Entry(git_blob_id(content), hub.blobs.put(content), len(content), lfs=False)}
    about = NewCommit(call.caller.name or "", "initial commit", "", hub.now())
    try:
        repo = hub.repositories.create(kind, namespace, name, about, first, private, sdk)
    except RepoExists as fault:
        fault.fields["url"] = f"{call.base_url}/{fault.repo.address}"
        raise
    return answer({"url": f"{call.base_url}/{repo.address}", "name": repo.full_name, "id": repo.id})


def delete(call: Call) -> Response:
    """Remove a repository."""
    body = call.json()
    namespace, name = str(body.get("organization") or call.caller.name or ""), str(body.get("name") or "")
    if "/" in name:
        namespace, _, name = name.partition("/")
    repo = call.hub.repositories.find(call.caller, check_repo_type(body.get("type")), namespace, name)
    call.hub.repositories.require_write(call.caller, repo)
    call.hub.repositories.delete(repo, call.caller.name or "", call.hub.now())
    return answer({})


def move(call: Call) -> Response:
    """Give a repository another name or owner."""
    body = call.json()
    kind = check_repo_type(body.get("type"))
    source, target = (str(body.get(field) or "").split("/") for field in ("fromRepo", "toRepo"))
    if len(source) != 2 or len(target) != 2:
        raise bad_request("fromRepo and toRepo are namespace/name.")
    repo = call.hub.repositories.find(call.caller, kind, *source)
    call.hub.repositories.require_write(call.caller, repo)
    namespace = _registered_namespace(call, target[0])
    call.hub.repositories.move(repo, namespace, check_repo_name(target[1]), call.caller.name or "", call.hub.now())
    return answer({})


def settings(call: Call) -> Response:
    """Change visibility and gating."""
    repo = call.writable_repo()
    body = call.json()
    gated = body.get("gated")
    if gated not in (None, False, "auto", "manual"):
        raise bad_request("gated is false, 'auto' or 'manual'.")
    call.hub.repositories.change_settings(
        repo, _wanted_privacy(body), None if gated is None else gated or "", call.caller.name or "", call.hub.now()
    )
    return answer({})


def auth_check(call: Call) -> Response:
    """Whether the caller may read the files of a repository."""
    call.hub.repositories.require_content(call.caller, call.repo())
    return answer({})


def auth_check_write(call: Call) -> Response:
    """Whether the caller may write to a repository."""
    call.writable_repo()
    return answer({})


def info(call: Call) -> Response:
    """All about one repository at a revision."""
    repo = call.repo()
    commit_id = call.hub.history.resolve(repo.number, call.revision)
    tree = call.hub.history.tree(commit_id)
    described = _described(call.hub, repo, commit_id, tree)
    described["siblings"] = _siblings(tree, with_blobs=call.flag("blobs"))
    described["cardData"] = call.hub.card(tree)
    described["lastModified"] = call.hub.history.commit(commit_id).created_at
    return answer(_selected(described, call.values("expand")))


def index(call: Call) -> Response:
    """A page of the repositories that the caller may see."""
    query = call.request.query_params
    repos = call.hub.repositories.visible(call.caller, KINDS[call.groups["kind"]])
    author, search = query.get("author"), (query.get("search") or "").lower()
    if author:
        repos = [repo for repo in repos if repo.namespace.lower() == author.lower()]
    repos = [repo for repo in repos if search in repo.full_name.lower()]
    described = [_with_tree(call.hub, repo) for repo in repos]
    wanted = {tag for value in call.values("filter") for tag in value.split(",") if tag}
    found = [item for item in described if item is not None and wanted <= set(item[0]["tags"])]
    page, link = _page(call, found)
    expand = call.values("expand")
    full = call.flag("full")
    for fields, tree in page:
        if full or "siblings" in expand:
            fields["siblings"] = _siblings(tree, with_blobs=False)
        if full or call.flag("cardData") or "cardData" in expand:
            fields["cardData"] = call.hub.card(tree)
    return answer([_selected(fields, expand) for fields, _ in page], headers=link)


_Described = tuple[dict[str, Any], Tree]


def _with_tree(hub: LocalHub, repo: Repo) -> _Described | None:
    """Description and files of ``main``; None where the repository has gone in the meantime."""
    try:
        commit_id = hub.history.resolve(repo.number, "main")
        tree = hub.history.tree(commit_id)
    except HubFault:
        return None
    return _described(hub, repo, commit_id, tree), tree


def _page(call: Call, found: list[_Described]) -> tuple[list[_Described], dict[str, str]]:
    """Sort, and cut out the page after the cursor; ties are broken by name, so the order is stable."""
    field = _SORTED_BY.get(call.request.query_params.get("sort") or "")

    def key(item: _Described) -> list[str]:
        return [str(item[0][field]) if field else "", str(item[0]["id"])]

    descending = bool(field) and call.request.query_params.get("direction", "-1") == "-1"
    ordered = sorted(found, key=key, reverse=descending)
    cursor = call.request.query_params.get("cursor")
    if cursor:
        after = read_cursor(cursor, 2)
        ordered = [item for item in ordered if (key(item) < after if descending else key(item) > after)]
    limit = call.number("limit", _PAGE, _LONGEST_PAGE)
    page = ordered[:limit]
    if len(ordered) <= limit:
        return page, {}
    return page, call.link_to_next(cursor=write_cursor(key(page[-1])))


def _described(hub: LocalHub, repo: Repo, commit_id: str, tree: Tree) -> dict[str, Any]:
    card = hub.card(tree)
    described: dict[str, Any] = {
        "_id": repo.id,
        "id": repo.full_name,
        "author": repo.namespace,
        "sha": commit_id,
        "private": repo.private,
        "gated": repo.gated or False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": cards.tags(card),
        "createdAt": repo.created_at,
        "lastModified": repo.updated_at,
    }
    if repo.type == "model":
        described["modelId"] = repo.full_name
        for name in ("pipeline_tag", "library_name"):
            if isinstance(card.get(name), str):
                described[name] = card[name]
    if repo.type == "space":
        described["sdk"] = repo.sdk
    return described


def _siblings(tree: Tree, with_blobs: bool) -> list[dict[str, Any]]:
    if not with_blobs:
        return [{"rfilename": path} for path in tree.paths]
    return [{"rfilename": path, **_blob_fields(tree.entries[path])} for path in tree.paths]


def _blob_fields(entry: Entry) -> dict[str, Any]:
    fields: dict[str, Any] = {"size": entry.size, "blobId": entry.oid}
    if entry.lfs:
        fields["lfs"] = {"sha256": entry.sha256, "size": entry.size, "pointerSize": entry.pointer_size}
    return fields


def _selected(described: dict[str, Any], expand: list[str]) -> dict[str, Any]:
    if not expand:
        return described
    return {name: value for name, value in described.items() if name in ("_id", "id", *expand)}


def _target(call: Call, body: Mapping[str, Any]) -> tuple[str, str]:
    """Namespace and name of a repository to be made, where the caller may make it."""
    if call.caller.name is None:
        raise HubFault(401, "A token with the role write is needed to make a repository.")
    name = check_repo_name(body.get("name"))
    return _registered_namespace(call, str(body.get("organization") or call.caller.name)), name


def _registered_namespace(call: Call, name: str) -> str:
    """The namespace as it is registered, where the caller may write there."""
    require_write(call.caller, name)
    registered = account(call.hub.database, name)
    if registered is None:
        raise HubFault(403, "There is no user or organisation of that name.")
    return registered[0]


def _wanted_privacy(body: Mapping[str, Any]) -> bool | None:
    visibility = body.get("visibility")
    if visibility is not None:
        if visibility not in ("public", "private"):
            raise bad_request("visibility is 'public' or 'private'.")
        return bool(visibility == "private")
    private = body.get("private")
    if private is None or isinstance(private, bool):
        return private
    # A word that is not understood must never make a repository public.
    if isinstance(private, str):
        if truthy(private):
            return True
        if private.strip().lower() in _NO:
            return False
    raise bad_request("private is true or false.")
