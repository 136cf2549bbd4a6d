"""The actions ``split`` and ``leakage`` of ``rexrank benchmark``: annotation files, made and examined."""

import argparse
import sys
from pathlib import Path

from rexrank.cli import DONE
from rexrank.cli.actions import add_action
from rexrank.cli.streams import print_json
from rexrank.errors import RexrankError, shown
from rexrank.files import user_path

SPLIT_HELP = "divide your CheXpert Plus table into train, val and test"
LEAKAGE_HELP = "count what the splits of an annotation file share"

_SPLIT = """
Takes the images whose findings have two words or more, 70 : 10 : 20, and
writes an annotation file that only you can read. The rule and the sizes are
those of CXPMRG-Bench; its own split cannot be made again, as its seed is not
published. --by image divides images, as it does, so that images of one study
stand on both sides; --by patient keeps each patient on one side. What the
splits share is printed.
"""
_SPLIT_EXAMPLES = (
    "rexrank benchmark split --source df_chexpert_plus_240401.csv",
    "rexrank benchmark split --source df_chexpert_plus_240401.csv --by patient",
    "rexrank benchmark split --source table.csv --seed 7 --out split.json",
)
_LEAKAGE = """
Prints images, studies and patients of each split, how many of them stand in
two splits, and how many test texts stand word for word in the training split.
"""
_LEAKAGE_EXAMPLES = (
    "rexrank benchmark leakage annotation.json",
    "rexrank benchmark leakage annotation.json --images PNG/ --json",
)


def add_actions(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare both actions beside those of ``rexrank benchmark``."""
    split = add_action(actions, "split", SPLIT_HELP, _SPLIT_EXAMPLES, _SPLIT)
    split.add_argument("--source", required=True, type=Path, metavar="FILE", help="df_chexpert_plus_240401.csv")
    split.add_argument("--by", choices=("image", "patient"), default="image", help="what is divided (default: image)")
    split.add_argument("--seed", type=int, default=0, metavar="N", help="another number, another split (default: 0)")
    split.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: chexpert-plus-BY-split-seedN.json)"
    )
    leakage = add_action(actions, "leakage", LEAKAGE_HELP, _LEAKAGE_EXAMPLES, _LEAKAGE)
    leakage.add_argument("annotation", type=Path, metavar="ANNOTATION", help="the annotation file")
    leakage.add_argument("--images", type=Path, metavar="DIR", help="also look for the images, below this folder")
    for parser in (split, leakage):
        parser.add_argument("--json", action="store_true", help="print the counts as JSON, and nothing else, on stdout")
        parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def run_split(arguments: argparse.Namespace) -> int:
    """Divide, write, and print what the splits share.

    Raises:
        RefusedInput: The table cannot be divided.
        RexrankError: The file cannot be written, or is the table.
    """
    from rexrank.benchmarks.cxpmrg import split
    from rexrank.benchmarks.cxpmrg_annotation import leakage
    from rexrank.files import write_atomically

    if arguments.out and user_path(arguments.out).resolve() == user_path(arguments.source).resolve():
        raise RexrankError(
            f"--out {shown(arguments.out.name)} is the table itself, which would be lost; name another file"
        )
    division = split(arguments.source, arguments.by, arguments.seed, progress=not arguments.quiet)
    annotation = division.annotation
    out = user_path(arguments.out or f"{annotation.name}.json")
    try:
        # The reports are the owner's, and may not be passed on.
        write_atomically(out, annotation.to_bytes(), 0o600)
    except OSError as error:
        raise RexrankError(f"{out} cannot be written: {error.strerror or 'unknown reason'}") from None
    found = leakage(annotation)
    if arguments.json:
        print_json({**found.to_json(), "rows": division.rows, "left_out": division.left_out})
    else:
        print(f"{found.table()}\n{division.left_out:,} of {division.rows:,} rows have no findings of two words.")
    if not arguments.quiet:
        for note in [*division.notes, f"written: {out}"]:
            print(f"note: {note}", file=sys.stderr)
    return DONE


def run_leakage(arguments: argparse.Namespace) -> int:
    """Print what the splits of a file hold and share.

    Raises:
        RefusedInput: The file cannot be read as an annotation file.
    """
    from rexrank.benchmarks.cxpmrg_annotation import leakage, read_annotation

    found = leakage(read_annotation(arguments.annotation, progress=not arguments.quiet), arguments.images)
    if arguments.json:
        print_json(found.to_json())
    else:
        print(found.table())
    return DONE
