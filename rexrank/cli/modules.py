"""Publish the evaluate modules of this checkout as Spaces of a Hub.

Each folder of evaluate_modules/ becomes the Space NAMESPACE/<folder> at
HF_ENDPOINT, which evaluate.load("NAMESPACE/<folder>") loads. HF_TOKEN has to be
one that may write there. A Space that is up to date gets no commit.

Examples:
  rexrank modules publish
  rexrank modules publish --only bleu --namespace acme

Exit codes: 0 done, 1 refused (a Hub that cannot be reached or written to),
2 wrong usage.
"""

import argparse

from rexrank.cli.actions import add_action


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action ``publish``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    examples = ["rexrank modules publish", "rexrank modules publish --only bleu --namespace acme"]
    publish = add_action(actions, "publish", "bring the Spaces up to date", examples)
    publish.add_argument("--only", action="append", default=[], metavar="NAME", help="this module only (repeatable)")
    publish.add_argument("--namespace", metavar="NS", help="owner of the Spaces (default: REXRANK_NAMESPACE)")


def run(arguments: argparse.Namespace) -> int:
    """Publish; see :func:`rexrank.modules.publish.publish` for the errors."""
    from rexrank.environment import namespace
    from rexrank.hub import connect
    from rexrank.modules.publish import publish

    hub = connect()
    owner = arguments.namespace or namespace()
    for name, commit in publish(hub, owner, arguments.only).items():
        print(f"{hub.endpoint}/spaces/{owner}/{name} at {commit}")
    return 0
