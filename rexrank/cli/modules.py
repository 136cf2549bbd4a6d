"""Publish the evaluate modules of this checkout as Spaces of the Hub at HF_ENDPOINT.

Each folder of evaluate_modules/ becomes the Space NAMESPACE/<folder>, which evaluate.load("NAMESPACE/<folder>") loads.
A Space that is up to date gets no commit.

examples:
  HF_ENDPOINT=http://127.0.0.1:7861 HF_TOKEN=hf_… rexrank modules publish
  rexrank modules publish --only bleu --namespace acme
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action ``publish``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    publish = actions.add_parser("publish", help="bring the Spaces up to date")
    publish.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="this module only; may be repeated"
    )
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
