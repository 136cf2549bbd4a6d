"""Archives of checkpoints: what is taken, what is refused, and what neither a kill nor a full disk leaves behind."""

import gzip
import io
import os
import resource
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from waiting import surroundings

from rexrank.encoders.archives import unpack
from rexrank.encoders.encoder import EncoderFailure
from rexrank.encoders.inventory import RADGRAPH_V1
from rexrank.encoders.radgraph_archive import folder_of
from rexrank.encoders.weights import Located

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {"config.json": 2**10, "vocabulary/*.txt": 2**10, "weights.th": 2**22}
CONFIG = ("config.json", b"{}")

Part = tuple[str, bytes] | tarfile.TarInfo


def packed(path: Path, parts: Sequence[Part]) -> Path:
    """Write an archive of files, and of members without content."""
    with tarfile.open(path, "w:gz") as archive:
        for part in parts:
            if isinstance(part, tarfile.TarInfo):
                archive.addfile(part)
            else:
                archive.addfile(member(part[0], len(part[1])), io.BytesIO(part[1]))
    return path


def member(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    """What stands before a file."""
    made = tarfile.TarInfo(name)
    made.size, made.type, made.linkname = size, kind, target
    return made


def unpacked(archive: Path) -> dict[str, bytes]:
    """What is taken of an archive, by its path."""
    folder = unpack(archive, "0" * 64, archive.parent / "out", LIMITS, "ana/repo/one.tar.gz")
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".digests"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def refused(archive: Path) -> str:
    """The sentence for an archive of which nothing is taken, and nothing left."""
    with pytest.raises(EncoderFailure) as raised:
        unpacked(archive)
    assert not [path for path in (archive.parent / "out").rglob("*") if path.name != "lock" and path.is_file()]
    assert str(archive.parent) not in str(raised.value)
    return str(raised.value)


def test_files_of_the_expected_names_are_taken_and_no_others(tmp_path: Path) -> None:
    parts = [("./config.json", b"{}"), ("vocabulary/a.txt", b"a"), ("weights.th", b"w")]
    others = [("run.py", b"x"), ("deep/config.json", b"x"), ("vocabulary/a.py", b"x"), ("log", b"x" * 2**20)]
    archive = packed(tmp_path / "one", [*others, member("vocabulary", kind=tarfile.DIRTYPE), *parts])
    assert unpacked(archive) == {"config.json": b"{}", "vocabulary/a.txt": b"a", "weights.th": b"w"}
    archive.unlink()  # what is there is not unpacked again
    assert len(unpacked(archive)) == 3


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (member("/etc/config.json"), "reaches for a path outside its folder"),
        (member("vocabulary/../../config.json"), "reaches for a path outside its folder"),
        (member("..\\config.json"), "reaches for a path outside its folder"),
        (member("weights.th", kind=tarfile.SYMTYPE, target="/etc/passwd"), "holds a link or a device"),
        (member("weights.th", kind=tarfile.LNKTYPE, target="config.json"), "holds a link or a device"),
        (member("weights.th", kind=tarfile.FIFOTYPE), "holds a link or a device"),
        (member("weights.th", kind=tarfile.CHRTYPE), "holds a link or a device"),
        (CONFIG, "holds config.json twice"),
        (("vocabulary/a.txt", b"x" * 2**11), "a.txt in it is larger than the 1,024 bytes that it may have"),
    ],
)
def test_one_member_that_must_not_be_costs_the_archive(tmp_path: Path, part: Part, said: str) -> None:
    assert said in refused(packed(tmp_path / "one", [CONFIG, part]))


def test_many_files_and_many_bytes_are_refused_before_they_are_read(tmp_path: Path) -> None:
    many = [(f"log{number}", b"") for number in range(1001)]
    assert "holds more than a checkpoint" in refused(packed(tmp_path / "many", many))
    # One alone would pass; together they are more than a checkpoint has.
    large = [(f"log{number}", bytes(2**22)) for number in range(3)]
    assert "holds more than a checkpoint" in refused(packed(tmp_path / "large", large))
    behind = gzip.decompress(packed(tmp_path / "small", [CONFIG]).read_bytes()) + bytes(2**22)
    (tmp_path / "behind").write_bytes(gzip.compress(behind, 1))
    assert "holds more than a checkpoint" in refused(tmp_path / "behind")
    (tmp_path / "told").write_bytes(gzip.compress(member("weights.th", 2**40).tobuf(tarfile.GNU_FORMAT)))
    assert "holds more than a checkpoint" in refused(tmp_path / "told")


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_name_or_remark_that_would_fill_the_memory_is_not_read(tmp_path: Path, kind: bytes) -> None:
    content = member("long", 2**28, kind).tobuf(tarfile.GNU_FORMAT)
    with gzip.open(tmp_path / "one", "wb", 1) as written:
        written.write(content)
        for _ in range(2**8):
            written.write(b"9" * 2**20)
    started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "is not a whole archive" in refused(tmp_path / "one")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - started < 2**17  # of kB


def test_every_damage_is_noticed(tmp_path: Path) -> None:
    whole = packed(tmp_path / "whole", [CONFIG, ("weights.th", os.urandom(2**20))]).read_bytes()
    # Weights hardly compress, so most of them stand in the archive as they are, and any change goes through.
    for place in (len(whole) // 2, len(whole) // 3, -6):
        spoilt = bytearray(whole)
        spoilt[place] ^= 1
        (tmp_path / "spoilt").write_bytes(spoilt)
        assert "is not a whole archive" in refused(tmp_path / "spoilt")
    for left in (0, 10, 600, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut").write_bytes(whole[:left])
        assert "is not a whole archive" in refused(tmp_path / "cut")
    (tmp_path / "page").write_bytes(b"<html>" * 1000)
    assert "is not a whole archive (BadGzipFile); fetch it again" in refused(tmp_path / "page")
    with tarfile.open(tmp_path / "other", "w:xz"):
        pass
    assert "is not a whole archive" in refused(tmp_path / "other")


SMALL_DISK = """
import resource, sys
from pathlib import Path
from rexrank.encoders.archives import unpack
from rexrank.encoders.encoder import EncoderFailure
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
try:
    unpack(Path(sys.argv[1]), "0" * 64, Path(sys.argv[2]), {"weights.th": 2**30}, "ana/repo/one.tar.gz")
except EncoderFailure as error:
    print(error)
"""


def test_a_disk_without_room_is_named_and_nothing_half_stays(tmp_path: Path) -> None:
    archive = packed(tmp_path / "one", [("weights.th", os.urandom(2**22))])
    command = [sys.executable, "-c", SMALL_DISK, str(archive), str(tmp_path / "out")]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60).stdout
    assert "one.tar.gz cannot be unpacked beside the features (File too large); make room there, or set REX" in said
    assert str(tmp_path) not in said
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file() and path.name != "lock"]


UNPACK = """
import sys
from pathlib import Path
from rexrank.encoders.archives import unpack
print("begun", flush=True)
unpack(Path(sys.argv[1]), "0" * 64, Path(sys.argv[2]), {"weights.th": 2**30}, "ana/repo/one.tar.gz")
"""


def test_after_a_kill_it_begins_anew_and_two_at_once_do_it_once(tmp_path: Path) -> None:
    content = os.urandom(2**20) * 24
    archive = packed(tmp_path / "one", [("weights.th", content)])
    command = [sys.executable, "-c", UNPACK, str(archive), str(tmp_path / "out")]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=surroundings("REXRANK_"))
    deadline = time.monotonic() + 30
    while not list((tmp_path / "out").glob("*/*.part/weights.th")) and time.monotonic() < deadline:
        time.sleep(0.001)
    killed.kill()
    killed.communicate()
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    for process in both:
        process.communicate()
    (result,) = (tmp_path / "out").iterdir()
    assert sorted(path.name for path in result.iterdir()) == ["lock", "unpacked"]
    assert (result / "unpacked/weights.th").read_bytes() == content


@pytest.mark.parametrize("damaged", ["weights.th", ".digests"])
@pytest.mark.parametrize("content", [b"", b"x" * 1000, None])
def test_what_was_unpacked_and_is_no_longer_whole_is_unpacked_anew(
    tmp_path: Path, damaged: str, content: bytes | None
) -> None:
    archive = packed(tmp_path / "one", [CONFIG, ("weights.th", b"w" * 1000)])
    whole = unpacked(archive)
    (result,) = (tmp_path / "out").iterdir()
    path = result / "unpacked" / damaged
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    assert unpacked(archive) == whole
    assert sorted(path.name for path in result.iterdir()) == ["lock", "unpacked"]


def test_what_is_whole_is_not_unpacked_again(tmp_path: Path) -> None:
    archive = packed(tmp_path / "one", [CONFIG, ("weights.th", b"w" * 2**21)])
    unpacked(archive)
    (path,) = (tmp_path / "out").rglob("weights.th")
    before = path.stat()
    archive.unlink()
    unpacked(archive)
    assert path.stat() == before


def test_archives_are_unpacked_once_a_machine_and_not_once_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REXRANK_HOME", raising=False)
    monkeypatch.delenv("REXRANK_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    archive = packed(tmp_path / "radgraph.tar.gz", [CONFIG])
    located = Located(RADGRAPH_V1, tmp_path, {archive.name: archive}, {archive.name: "0" * 64})
    for work in ("here", "there"):
        (tmp_path / work).mkdir()
        monkeypatch.chdir(tmp_path / work)
        assert (folder_of(located) / "config.json").read_bytes() == b"{}"
        assert not list((tmp_path / work).iterdir())
    assert (tmp_path / "caches/rexrank/features/unpacked").is_dir()
