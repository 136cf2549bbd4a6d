"""Serve a Hub of your own, and manage its users, organisations and tokens.

The Hub speaks the interface of the public one, so the usual clients work with
HF_ENDPOINT set to its address. Users can be added while it runs.

Examples:
  rexrank hub user add ana --root store
  rexrank hub organisation add acme --member ana:admin --root store
  rexrank hub token create ana --role write --root store
  rexrank hub serve --root store --port 7861

Exit codes: 0 done, 1 refused, 2 wrong usage.
"""

import argparse
import shlex
from pathlib import Path

from rexrank.cli.actions import add_action
from rexrank.environment import home, hub_port
from rexrank.errors import RexrankError
from rexrank.localhub import accounts
from rexrank.processes import follow_parent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    serve = add_action(actions, "serve", "serve the Hub until stopped", ["rexrank hub serve --root store --port 7861"])
    serve.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen on (default: %(default)s, this machine)",
    )
    serve.add_argument(
        "--port", type=int, default=hub_port(), metavar="N", help="port to listen on (default: %(default)s)"
    )
    serve.add_argument("--public-url", metavar="URL", help="address that other machines use, for absolute links")
    _add_root(serve)
    serve.set_defaults(act=_serve)

    users = _group(actions, "user", "manage users")
    user = add_action(users, "add", "add a user", ["rexrank hub user add ana --root store"])
    user.add_argument("name", metavar="NAME", help="name of the user")
    _add_root(user)
    user.set_defaults(act=_add_user)

    organisations = _group(actions, "organisation", "manage organisations")
    example = "rexrank hub organisation add acme --member ana:admin --root store"
    organisation = add_action(organisations, "add", "add an organisation", [example])
    organisation.add_argument("name", metavar="NAME", help="name of the organisation")
    organisation.add_argument(
        "--member",
        action="append",
        default=[],
        metavar="USER:ROLE",
        help="a member; role read, write or admin (repeatable)",
    )
    _add_root(organisation)
    organisation.set_defaults(act=_add_organisation)

    tokens = _group(actions, "token", "manage tokens")
    token = add_action(
        tokens,
        "create",
        "print a new token, this once",
        ["rexrank hub token create ana --role write --root store"],
    )
    token.add_argument("user", metavar="USER", help="whose token it is")
    token.add_argument("--role", choices=accounts.ROLES, default="read", help="what it permits (default: %(default)s)")
    token.add_argument("--label", default="token", metavar="NAME", help="name of the token (default: %(default)s)")
    _add_root(token)
    token.set_defaults(act=_create_token)


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked; 0 when done."""
    arguments.act(arguments)
    return 0


def _group(actions: argparse._SubParsersAction, name: str, summary: str) -> argparse._SubParsersAction:
    parser = add_action(actions, name, summary, [])
    group: argparse._SubParsersAction = parser.add_subparsers(metavar="ACTION", required=True)
    return group


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root", type=Path, default=home() / "hub", metavar="DIR", help="folder of the store (default: %(default)s)"
    )


def _serve(arguments: argparse.Namespace) -> None:
    try:
        from rexrank.localhub.serve import serve
    except ModuleNotFoundError as missing:
        raise RexrankError(f"The Hub needs {missing.name}; install it: pip install 'rexrank[backend]'") from None
    follow_parent()
    serve(arguments.root, arguments.host, arguments.port, arguments.public_url)


def _add_user(arguments: argparse.Namespace) -> None:
    accounts.add_user(arguments.root, arguments.name)
    root = "" if arguments.root == home() / "hub" else f" --root {shlex.quote(str(arguments.root))}"
    print(f"added user {arguments.name}; next: rexrank hub token create {arguments.name} --role write{root}")


def _add_organisation(arguments: argparse.Namespace) -> None:
    members = {}
    for member in arguments.member:
        name, _, role = member.partition(":")
        members[name] = role or "read"
    accounts.add_organisation(arguments.root, arguments.name, members)
    print(f"added organisation {arguments.name}")


def _create_token(arguments: argparse.Namespace) -> None:
    print(accounts.create_token(arguments.root, arguments.user, arguments.role, arguments.label))
