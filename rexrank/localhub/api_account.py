"""Answers about the caller and about this Hub as a whole."""

from starlette.responses import Response

from rexrank.localhub import cards
from rexrank.localhub.accounts import account
from rexrank.localhub.calls import Call, answer
from rexrank.localhub.errors import HubFault


def health(_call: Call) -> Response:
    """Whether the server answers at all."""
    return answer({"status": "ok"})


def agent_harnesses(_call: Call) -> Response:
    """An empty object; every client asks for it once a day."""
    return answer({"standardEnvVars": [], "harnesses": {}})


def whoami(call: Call) -> Response:
    """The user behind the token."""
    caller = call.caller
    if caller.name is None:
        raise HubFault(401, "Sign in with a token.")
    organisations = []
    for key, role in sorted(caller.organisations.items()):
        registered = account(call.hub.database, key)
        if registered is not None:
            name, _, org_id = registered
            organisations.append({"type": "org", "id": org_id, "name": name, "fullname": name, "roleInOrg": role})
    registered = account(call.hub.database, caller.name)
    return answer(
        {
            "type": "user",
            "id": registered[2] if registered else "",
            "name": caller.name,
            "fullname": caller.name,
            "isPro": False,
            "avatarUrl": "",
            "orgs": organisations,
            "auth": {"type": "access_token", "accessToken": {"displayName": caller.label, "role": caller.role}},
        }
    )


def validate_yaml(call: Call) -> Response:
    """Check the metadata of a card before it is committed."""
    content = call.json().get("content")
    found = cards.faults(content) if isinstance(content, str) else ["content must be text"]
    body = {"errors": [{"message": fault} for fault in found], "warnings": []}
    if not found:
        return answer(body)
    raise HubFault(400, "The metadata of README.md is not valid: " + "; ".join(found), fields=body)


def no_squash(_call: Call) -> Response:
    """Shortening of a branch's history."""
    raise HubFault(501, "This Hub cannot squash the history of a branch yet.")


def not_yet(_call: Call) -> Response:
    """Discussions and pull requests."""
    raise HubFault(501, "This Hub has no discussions and pull requests yet.")
