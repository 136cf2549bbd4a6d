"""Hostile and mistaken files: read or refused with a sentence that helps, never a crash, a hang or a leak."""

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

import rexrank
from rexrank.reports import Limits, Problem, read_predictions

SECRET = "Axolotl"
TEXT = f"{SECRET} sign in both lungs today."


def zipped() -> bytes:
    """A small archive, which an Excel file also is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("sheet.xml", TEXT)
    return buffer.getvalue()


CSV = f"study_id,report\na,{TEXT}\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gzip.compress(CSV.encode()), "gzip"),
        (zipped(), "Excel"),
        (b"PAR1\x15\x04" + TEXT.encode(), "Parquet"),
        (b"%PDF-1.7\n" + TEXT.encode(), "PDF"),
        (CSV.encode("utf-16"), "UTF-16"),
        (CSV.encode("utf-16-le"), "UTF-16"),
        (CSV.encode("utf-16-be"), "UTF-16"),
        (CSV.encode("utf-32-le"), "UTF-32"),
        (CSV.encode("utf-32"), "UTF-32"),
    ],
    ids=["gzip", "zip", "parquet", "pdf", "utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32"],
)
@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_other_formats_are_called_by_their_name(tmp_path: Path, data: bytes, words: str, ending: str) -> None:
    (tmp_path / f"p.{ending}").write_bytes(data)
    (problem,) = rexrank.validate(tmp_path / f"p.{ending}", {"a": "x"})
    assert problem.code == "bad_encoding"
    assert words in problem.message
    assert SECRET not in str(problem)


def invalid_utf8() -> pyarrow.Array:
    """Two texts, the first of which is not UTF-8."""
    offsets = pyarrow.py_buffer(b"\0\0\0\0\2\0\0\0\3\0\0\0")
    return pyarrow.StringArray.from_buffers(2, offsets, pyarrow.py_buffer(b"\xff\xfex"))


@pytest.mark.parametrize("column", ["study_id", "report"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet_texts_that_are_not_utf8(tmp_path: Path, column: str, dictionary: bool) -> None:
    path = tmp_path / "p.parquet"
    columns = {"study_id": pyarrow.array(["a", "b"]), "report": pyarrow.array(["x", "y"]), column: invalid_utf8()}
    parquet.write_table(pyarrow.table(columns), path, use_dictionary=dictionary)
    problems = rexrank.validate(path, {"a": "x", "b": "y"})
    assert problems[0].code == "bad_encoding"


DAMAGE = """
import io, random, sys
import pyarrow
from pyarrow import parquet
from rexrank.errors import RefusedInput
from rexrank.reports.faults import Faults
from rexrank.reports.json_files import Fields
from rexrank.reports.tables import parquet_entries

random.seed(int(sys.argv[1]))
table = pyarrow.table({"study_id": [f"s{n}" for n in range(40)], "report": [f"Axolotl {n} \\u00e9" for n in range(40)]})
files = []
for options in ({}, {"use_dictionary": False, "compression": "zstd"}, {"row_group_size": 10}):
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, **options)
    files.append(buffer.getvalue())
for _ in range(3000):
    data = bytearray(random.choice(files))
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for _ in range(random.choice([1, 1, 2, 5])):
        place = random.randrange(footer if random.random() < 0.7 else 0, len(data) - 8)
        data[place] = random.choice([random.randrange(256), 0, 255, 128])
    try:
        entries = list(parquet_entries(bytes(data), Fields(("report",)), Faults("p.parquet", 10)))
    except RefusedInput as refused:
        assert "Axolotl" not in str(refused)
    else:
        texts = [entry.value["report"] for entry in entries]
        assert all(text is None or isinstance(text, str) for text in texts)
print("done")
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_parquet_ends_no_process(seed: int) -> None:
    # In a process of its own: pyarrow ends the process where it meets an error that it does not pass on.
    done = subprocess.run(
        [sys.executable, "-c", DAMAGE, str(seed)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr[-2000:]


def test_more_rows_than_are_read(tmp_path: Path) -> None:
    limits = Limits(studies=100)
    ids = [f"s{n}" for n in range(101)]
    parquet.write_table(pyarrow.table({"study_id": ids, "report": ["x"] * 101}), tmp_path / "p.parquet")
    (tmp_path / "p.csv").write_text("study_id,report\n" + "".join(f"{name},x\n" for name in ids))
    (tmp_path / "p.json").write_text(json.dumps(dict.fromkeys(ids, "x")))
    for source in (tmp_path / "p.parquet", tmp_path / "p.csv", tmp_path / "p.json", dict.fromkeys(ids, "x")):
        problems = rexrank.validate(source, {"s0": "x"}, limits=limits)
        assert problems[0].code == "file_too_large"
        assert "100" in problems[0].message


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.csv")
    program = f"import rexrank; print(rexrank.validate({str(tmp_path / 'p.csv')!r}, {{'a': 'x'}})[0].code)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "file_missing"


def test_a_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.csv").symlink_to("/dev/zero")
    (problem,) = rexrank.validate(tmp_path / "p.csv", {"a": "x"})
    assert "device" in problem.message


def all_words(problems: list[Problem]) -> str:
    """Everything a list of problems shows anywhere."""
    return " ".join(f"{problem} {problem!r}" for problem in problems)


@pytest.mark.parametrize("side", ["predictions", "references"])
@pytest.mark.parametrize("kind", ["csv", "mapping"])
def test_ids_and_texts_swapped(tmp_path: Path, side: str, kind: str) -> None:
    texts = {f"{TEXT} Number {number}.": f"s{number}" for number in range(5)}
    # A short report looks like an id; beside sentences it is none.
    texts[f"{SECRET}."] = "s5"
    path = tmp_path / "swapped.csv"
    path.write_text("study_id,report\n" + "".join(f"{text},{name}\n" for text, name in [*texts.items()] * 2))
    swapped = path if kind == "csv" else texts
    right = {f"s{number}": "Lungs clear." for number in range(6)}
    problems = rexrank.validate(swapped, right) if side == "predictions" else rexrank.validate(right, swapped)
    assert [problem.code for problem in problems] == ["wrong_columns"]
    assert "swapped" in problems[0].message
    assert SECRET not in all_words(problems)


def test_an_id_of_many_words_is_allowed_and_not_repeated() -> None:
    name = f"{SECRET} patient 1 study 2"
    assert rexrank.validate({name: "x"}, {name: "y"}) == []
    problems = rexrank.validate({name: "x", "a": "x"}, {"a": "y"})
    assert [problem.code for problem in problems] == ["extra_ids"]
    assert SECRET not in all_words(problems)
    assert "an id of 5 words" in str(problems[0])
    with pytest.raises(rexrank.RefusedInput) as caught:
        read_predictions({name: 3})
    assert SECRET not in all_words(caught.value.problems)


def test_ids_with_blanks_at_their_ends_are_shown() -> None:
    problems = rexrank.validate({" s1 ": "x"}, {"s1": "y"})
    assert [problem.study_id for problem in problems] == ["s1", " s1 "]


@pytest.mark.parametrize("ids", [["1e5", "100000"], ["001", "1"], ["s1", " s1"], ["S1", "s1"]])
def test_ids_are_never_made_alike(tmp_path: Path, ids: list[str]) -> None:
    (tmp_path / "p.csv").write_text("study_id,report\n" + "".join(f'"{name}",x\n' for name in ids))
    assert list(read_predictions(tmp_path / "p.csv").texts) == ids
