"""Answers about branches, tags and the list of commits."""

from starlette.responses import Response

from rexrank.localhub.calls import Call, answer
from rexrank.localhub.errors import bad_request
from rexrank.localhub.history import BRANCHES, TAGS
from rexrank.localhub.names import COMMIT

_PAGE, _LONGEST_PAGE = 50, 1000


def refs(call: Call) -> Response:
    """All branches and tags."""
    found = call.hub.history.refs(call.repo().number)
    body: dict[str, object] = {"converts": []}
    for field, prefix in (("branches", BRANCHES), ("tags", TAGS)):
        body[field] = [
            {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": commit_id}
            for ref, commit_id in found.items()
            if ref.startswith(prefix)
        ]
    if call.flag("include_prs"):
        body["pullRequests"] = []
    return answer(body)


def commits(call: Call) -> Response:
    """A page of the commits up to a revision, newest first."""
    repo = call.repo()
    history = call.hub.history
    start = history.resolve(repo.number, call.request.query_params.get("cursor") or call.revision)
    limit = call.number("limit", _PAGE, _LONGEST_PAGE)
    found = history.log(start, limit + 1)
    headers = call.link_to_next(cursor=found[limit].id) if len(found) > limit else {}
    body = [
        {
            "id": commit.id,
            "title": commit.title,
            "message": commit.message,
            "authors": [{"user": commit.author}],
            "date": commit.created_at,
        }
        for commit in found[:limit]
    ]
    return answer(body, headers=headers)


def create_branch(call: Call) -> Response:
    """Start a branch at a revision, ``main`` by default."""
    repo = call.writable_repo()
    start = call.json().get("startingPoint", "main")
    if not isinstance(start, str):
        raise bad_request("startingPoint is the name of a revision.")
    call.hub.history.create_ref(repo.number, BRANCHES + call.groups["ref"], start)
    return answer({})


def delete_branch(call: Call) -> Response:
    """Remove a branch."""
    call.hub.history.delete_ref(call.writable_repo().number, BRANCHES + call.groups["ref"])
    return answer({})


def create_tag(call: Call) -> Response:
    """Name a revision for good."""
    repo = call.writable_repo()
    tag = call.json().get("tag")
    if not isinstance(tag, str) or COMMIT.fullmatch(tag):
        raise bad_request("tag is the name of the new tag.")
    call.hub.history.create_ref(repo.number, TAGS + tag, call.revision)
    return answer({})


def delete_tag(call: Call) -> Response:
    """Remove a tag."""
    call.hub.history.delete_ref(call.writable_repo().number, TAGS + call.groups["ref"])
    return answer({})
