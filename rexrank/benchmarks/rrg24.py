"""RRG24 from the owner's files: one report a line, findings and impression in files apart.

Shared task on Large-Scale Radiology Report Generation, BioNLP at ACL 2024 (Xu et al., arXiv 2409.16603). A blank line
keeps its place: that study has no such section. The two sections may also be test sets of different studies; then each
file makes a benchmark of its own.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from rexrank.benchmarks.benchmark import Benchmark, BenchmarkStudy, Licence, WrongCall
from rexrank.benchmarks.owned import LIMITS, finished, shown_progress
from rexrank.errors import RefusedInput, shown
from rexrank.files import user_path
from rexrank.reports.faults import Faults
from rexrank.reports.formats import check_utf8
from rexrank.reports.json_files import Fields
from rexrank.reports.problems import Problem
from rexrank.reports.reading import Reader
from rexrank.reports.sources import read_file

NAME = "rrg24"
LICENCE = Licence(
    identifier="other",
    name="terms-of-the-five-sources-of-rrg24",
    url="https://stanford-aimi.github.io/RRG24/",
    terms="those of MIMIC-CXR, CheXpert, PadChest, BIMCV-COVID19 and OpenI; texts of the first two are not passed on",
    attribution=(
        "Report texts: RRG24. Xu et al., Overview of the First Shared Task on Clinical Text Generation: RRG24 and "
        "Discharge Me!, BioNLP 2024, arXiv 2409.16603."
    ),
    redistribution=False,
)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
SECTIONS = ("findings", "impression")


def load(
    findings: str | os.PathLike[str] | None = None,
    impression: str | os.PathLike[str] | None = None,
    ids: str | os.PathLike[str] | None = None,
    name: str = NAME,
    progress: bool = False,
) -> Benchmark:
    """A benchmark of the lines of one or two files.

    Args:
        findings: One findings section a line, in UTF-8.
        impression: One impression section a line; line k of both files is the same study.
        ids: One study id a line; by default a study's id is the number of its line, from 1.
        name: Name of the benchmark.
        progress: Whether to show a bar on stderr once two seconds have passed.

    Raises:
        RefusedInput: With every fault of the files.
        WrongCall: No file of reports was given, or the name cannot be that of a benchmark.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise WrongCall(f"a benchmark cannot be named {shown(name)}; use lower-case letters, digits, - _ and .")
    given = {section: path for section, path in zip(SECTIONS, (findings, impression), strict=True) if path is not None}
    if not given:
        raise WrongCall("name a file of findings, of impressions, or both (--findings, --impression)")
    problems: list[Problem] = []
    benchmark = Benchmark(
        name=name,
        title="RRG24 test set",
        split="test",
        studies=tuple(_studies(given, ids, problems, progress)),
        licence=LICENCE,
        description="A test set of the shared task RRG24, built by an owner of the data. No word is changed.",
        provenance="A study's id is the number of its line." if ids is None else "Ids are those of the owner's file.",
        references="private",
    )
    return finished(benchmark, problems, Path(next(iter(given.values()))).name, None)


def _studies(
    given: Mapping[str, str | os.PathLike[str]],
    ids: str | os.PathLike[str] | None,
    problems: list[Problem],
    progress: bool,
) -> Iterator[BenchmarkStudy]:
    """The studies of the lines of the files by section; adds the files' faults to the problems."""
    texts = {section: _lines(path, problems) for section, path in given.items()}
    study_ids = _study_ids(ids, max(map(len, texts.values())), problems)
    _check_lengths(texts, given, len(study_ids), ids, problems)
    sections = {
        section: _sections(lines, study_ids, section, Path(given[section]).name, problems, progress)
        for section, lines in texts.items()
    }
    for study_id in study_ids:
        yield BenchmarkStudy(
            study_id=study_id,
            findings=sections.get("findings", {}).get(study_id),
            impression=sections.get("impression", {}).get(study_id),
            indication=None,
            comparison=None,
            image_path=(),
            key_image_path=None,
            given_context="",
        )


def _lines(path: str | os.PathLike[str], problems: list[Problem]) -> list[str]:
    """Lines of a file; its last line break ends a line and begins none."""
    source = user_path(path)
    faults = Faults(source.name, LIMITS.listed_problems)
    try:
        data = read_file(source, source.name, LIMITS, any_ending=True)
        check_utf8(data, faults)
        if data.count(b"\n") > LIMITS.studies:
            raise faults.fatal("file_too_large", f"it has more than {LIMITS.studies:,} lines, which are read")
    except RefusedInput as refused:
        problems += refused.problems
        return []
    lines = data.decode("utf-8-sig").split("\n")
    if lines[-1] == "":
        del lines[-1]
    return [line.removesuffix("\r") for line in lines]


def _study_ids(path: str | os.PathLike[str] | None, count: int, problems: list[Problem]) -> list[str]:
    if path is None:
        return [str(number) for number in range(1, count + 1)]
    faults, seen = Faults(Path(path).name, LIMITS.listed_problems), dict[str, int]()
    study_ids = _lines(path, problems)
    for number, study_id in enumerate(study_ids, start=1):
        if not study_id or len(study_id) > LIMITS.id_characters or not study_id.isprintable():
            message = f"line {number}: expected a study id of 1 to {LIMITS.id_characters} printable characters"
            faults.add("wrong_type", message, field="study_id")
        elif study_id in seen:
            message = f"line {number}: duplicate study id, first on line {seen[study_id]}; keep one"
            faults.add("duplicate_key", message, study_id)
        seen.setdefault(study_id, number)
    problems += faults.problems()
    return study_ids


def _check_lengths(
    texts: Mapping[str, list[str]],
    given: Mapping[str, str | os.PathLike[str]],
    count: int,
    ids: str | os.PathLike[str] | None,
    problems: list[Problem],
) -> None:
    """Lines are joined by their place, so every file has equally many; unreadable files are faults already."""
    if problems:
        return
    for section, lines in texts.items():
        if len(lines) != count:
            other = "there are study ids" if ids is not None else "the other file has"
            message = (
                f"it has {len(lines):,} lines where {other} {count:,}; line k of each file is the same study and a "
                "blank line keeps its place, so files of different studies are benchmarks of their own"
            )
            problems.append(Problem("missing_ids", Path(given[section]).name, None, section, message))


def _sections(
    lines: list[str], study_ids: list[str], section: str, file: str, problems: list[Problem], progress: bool
) -> dict[str, str | None]:
    reader = Reader({}, "references", Fields((section,)), LIMITS)
    reader.faults.file = file
    pairs = zip(study_ids, lines, strict=False)
    found = {study_id: reader.section(study_id, line, section) for study_id, line in shown_progress(pairs, progress)}
    problems += reader.faults.problems()
    return found
