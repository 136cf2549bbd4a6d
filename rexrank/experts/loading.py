"""The sets of judgements that can be read, by the kind of their files."""

import os
from collections.abc import Sequence
from pathlib import Path

from rexrank.errors import shown
from rexrank.experts import radeval, radevalx, radpref, rexval, table
from rexrank.experts.judgements import Judgements, UnreadableJudgements
from rexrank.experts.radevalx import Blank
from rexrank.files import user_path

KINDS = ("radpref", "rexval", "radevalx", "radeval", "table")
_FILES = {"radpref": radpref.REPORTS, "rexval": rexval.REPORTS, "radevalx": radevalx.SIGNIFICANT}


def load(
    path: str | os.PathLike[str],
    kind: str | None = None,
    allow_missing: bool = False,
    blank_cells: Blank = "missing",
    given: Sequence[str] = (),
) -> Judgements:
    """Read a set of judgements from its owner's files.

    Args:
        path: Folder of RadPref, ReXVal or RadEvalX; file of the RadEval expert set, or a table of one's own.
        kind: ``radpref``, ``rexval``, ``radevalx``, ``radeval`` or ``table``; None for what the names of the files say.
        allow_missing: Whether raters may have left candidates out; the mean is then of those who judged.
        blank_cells: What a blank cell of RadEvalX means: ``missing`` or ``zero``.
        given: Columns of a table with scores of metrics.

    Raises:
        UnreadableJudgements: There is no such set, or it is not as its kind has it; with the file, line and column.
    """
    place = user_path(path)
    if not place.exists():
        raise UnreadableJudgements(f"{place} is not there; name the folder or file of the judgements")
    # "." and ".." have no name by which a table could call the set.
    place = Path(os.path.abspath(place))
    chosen = kind or kind_of(place)
    if chosen not in KINDS:
        raise UnreadableJudgements(f"no kind is called {shown(chosen)}; there are {', '.join(KINDS)}")
    if chosen in ("radeval", "table") and place.is_dir():
        raise UnreadableJudgements(f"{place} is a folder; name the file of {chosen}")
    if given and chosen != "table":
        raise UnreadableJudgements(f"only a table has columns of scores, and {place} is {chosen}; use a file of scores")
    if chosen == "radpref":
        return radpref.load(place, allow_missing)
    if chosen == "rexval":
        return rexval.load(place, allow_missing)
    if chosen == "radevalx":
        return radevalx.load(place, blank_cells)
    return radeval.load(place) if chosen == "radeval" else table.load(place, allow_missing, given)


def kind_of(path: Path) -> str:
    """The kind of a set by the names of its files: a table, where a file has no known name.

    Raises:
        UnreadableJudgements: A folder has no known file.
    """
    folder = path if path.is_dir() else path.parent
    for kind, name in _FILES.items():
        if (path.is_dir() and (folder / name).exists()) or path.name == name:
            return kind
    if path.is_dir():
        raise UnreadableJudgements(f"{path} has none of {', '.join(_FILES.values())}; name a file or the kind")
    return "radeval" if path.name.startswith("reader_study_final") else "table"
