"""Show the published tables of ReXrank and CXPMRG-Bench, ranked and checked.

The numbers are as they were printed, with their source. What cannot be, or
hardly can, is flagged; no rank has a range, because no per-study scores were
published. Without a benchmark, a model or --across the tables are listed.

Examples:
  rexrank published
  rexrank published --benchmark iu-xray --track findings
  rexrank published --benchmark iu-xray --track report --snapshot 2024-11-27
  rexrank published --board cxpmrg --benchmark chexpert-plus --markdown
  rexrank published --across --track findings
  rexrank published --model UniRG-CXR

Exit codes: 0 done, 1 nothing of that name, 2 wrong usage.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from rexrank.cli import DONE, REFUSED
from rexrank.cli.streams import print_json

if TYPE_CHECKING:
    from rexrank.published.record import PublishedRow, UnknownTable
    from rexrank.published.standings import Place, PublishedTable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank published``."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--benchmark", metavar="NAME", help="tables of this test set")
    what.add_argument("--across", action="store_true", help="ranks of each model on all test sets of ReXrank")
    what.add_argument("--model", metavar="NAME", help="ranks of one model of ReXrank over time")
    parser.add_argument("--track", choices=("findings", "report", "vqa"), help="only this track")
    parser.add_argument("--snapshot", metavar="DATE", help="a date, or a table of CXPMRG-Bench (default: newest)")
    parser.add_argument("--board", choices=("rexrank", "cxpmrg"), default="rexrank", help="default: rexrank")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, and nothing else, on stdout")
    form.add_argument("--markdown", action="store_true", help="print Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Print what was asked for."""
    from rexrank.published.record import UnknownTable

    if (arguments.across or arguments.model) and arguments.board != "rexrank":
        raise UnknownTable("--across and --model are of --board rexrank; the papers behind cxpmrg share few models")
    if arguments.across:
        return _across(arguments)
    if arguments.model:
        return _history(arguments)
    return _tables(arguments) if arguments.benchmark else _list(arguments)


def _tables(arguments: argparse.Namespace) -> int:
    from rexrank.published.layout import as_json, markdown, text
    from rexrank.published.record import NEWEST, rows
    from rexrank.published.standings import tables

    # Of a paper all tables stand side by side; of a site the newest state replaces the others.
    snapshot = arguments.snapshot or (NEWEST if arguments.board == "rexrank" else None)
    found = tables(rows(arguments.benchmark, arguments.track, snapshot, arguments.board))
    if not found:
        raise _none_of(arguments.benchmark, arguments.board)
    if arguments.json:
        print_json(as_json(found))
    else:
        print(markdown(found) if arguments.markdown else text(found))
    return DONE


def _none_of(what: str, board: str) -> "UnknownTable":
    from rexrank.published.record import UnknownTable

    return UnknownTable(
        f"{what} has no table of that track and snapshot; `rexrank published --board {board}` lists what there is"
    )


def _list(arguments: argparse.Namespace) -> int:
    """Every table in one line, newest first."""
    from rexrank.published.layout import as_json, heading
    from rexrank.published.record import rows
    from rexrank.published.standings import tables

    found = tables(rows(None, arguments.track, arguments.snapshot, arguments.board))
    if not found:
        raise _none_of("the record", arguments.board)
    if arguments.json:
        print_json([{key: value for key, value in one.items() if key != "rows"} for one in as_json(found)])
        return DONE
    lines = [
        [
            table.snapshot.name,
            table.benchmark,
            table.track or "",
            table.split or "",
            str(len(table.places)),
            heading(table.deciding) if table.deciding else "",
            str(sum(bool(place.flags) for place in table.places)),
        ]
        for table in reversed(found)
    ]
    _print(["snapshot", "benchmark", "track", "split", "models", "ranked by", "flagged"], lines, arguments.markdown)
    return DONE


def _across(arguments: argparse.Namespace) -> int:
    from rexrank.published.layout import MISSING, filled
    from rexrank.published.standings import NO_MEAN, NO_RANGE, across

    found = across(arguments.track or "findings", arguments.snapshot)
    if not found:
        raise _none_of("the record", arguments.board)
    if arguments.json:
        ranks = {model: {name: place.rank for name, place in places.items()} for model, places in found.items()}
        print_json({"ranks": ranks, "why_no_rank_ranges": NO_RANGE, "why_no_mean": NO_MEAN})
        return DONE
    names = list(dict.fromkeys(name for places in found.values() for name in places))
    lines = [
        [model, *(str(places[name].rank or MISSING) if name in places else MISSING for name in names)]
        for model, places in found.items()
    ]
    _print(["model", *names], lines, arguments.markdown)
    print("", *map(filled, ("Ranks as ReXrank's numbers give them.", NO_RANGE, NO_MEAN)), sep="\n")
    return DONE


def _history(arguments: argparse.Namespace) -> int:
    from rexrank.published.layout import FLAGGED, MISSING, as_json, cell, flag_lines, heading
    from rexrank.published.record import UnknownTable
    from rexrank.published.standings import history

    every = history(arguments.model)
    if not every:
        _say_unknown(arguments.model)
        return REFUSED
    found = [
        (table, place)
        for table, place in every
        if arguments.track in (None, table.track) and arguments.snapshot in (None, table.snapshot.name)
    ]
    if not found:
        there = ", ".join(dict.fromkeys(f"{table.snapshot.name} {table.track}" for table, _ in every))
        raise UnknownTable(f"{every[0][1].row.model} has no row of that track and snapshot; it has {there}")
    if arguments.json:
        print_json(as_json([replace(table, places=(place,)) for table, place in found]))
        return DONE
    lines = [
        [
            table.snapshot.name,
            table.benchmark,
            table.track or "",
            table.split or "",
            f"{MISSING if place.rank is None else place.rank} of {len(table.places)}",
            f"{heading(table.deciding)} {cell(place.row, table.deciding)}" if table.deciding else "",
            FLAGGED if place.flags else "",
        ]
        for table, place in found
    ]
    _print(["snapshot", "benchmark", "track", "split", "rank", "ranked by", ""], lines, arguments.markdown)
    if flagged := flag_lines([replace(place, row=_dated(table, place)) for table, place in found]):
        print("", *flagged, sep="\n")
    return DONE


def _dated(table: "PublishedTable", place: "Place") -> "PublishedRow":
    """The row under the name of its table, which tells more than that of the one model."""
    return place.row.model_copy(update={"model": table.name})


def _say_unknown(model: str) -> None:
    from rexrank.errors import shown
    from rexrank.published.record import key_of, rows
    from rexrank.published.standings import model_names

    names = model_names(rows())
    close = [names[key] for key in get_close_matches(key_of(model), names)]
    offered = f"close to it: {', '.join(close)}" if close else "`rexrank published --across` names those of today"
    print(f"rexrank: no published table of ReXrank has a model {shown(model)}; {offered}", file=sys.stderr)


def _print(headings: Sequence[str], lines: Sequence[Sequence[str]], as_markdown: bool) -> None:
    """Columns of names to the left, of numbers to the right where they are only numbers."""
    if as_markdown:
        from rexrank.layout import pipes

        print("\n".join(pipes([headings, *lines])))
        return
    widths = [max(len(line[column]) for line in (headings, *lines)) for column in range(len(headings))]
    numbers = [all(line[column].isdigit() for line in lines) for column in range(len(headings))]
    for line in (headings, *lines):
        parts = zip(line, widths, numbers, strict=True)
        print("  ".join(part.rjust(width) if right else part.ljust(width) for part, width, right in parts).rstrip())
