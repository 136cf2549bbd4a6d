"""``rexrank published``: tables with source and flags, in three forms, and nothing that was not published."""

import json

import pytest

from rexrank.cli import main


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command prints."""
    assert main(["published", *words]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command says on stderr when it refuses."""
    assert main(["published", *words]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_a_table_has_its_rows_its_source_and_its_flags(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--benchmark", "iu-xray", "--track", "report")
    lines = text.splitlines()
    assert lines[0] == "2026-08-04, iu-xray, report (test)"
    assert "590 studies" in text
    assert "Source: github.com/rajpurkarlab/ReXrank@1602a4c" in text
    first = next(line for line in lines if line.startswith("   1  "))
    assert first.split()[:3] == ["1", "UniRG-CXR", "5.138"]
    assert any(line.split()[:3] == ["3", "MedVersa", "!"] for line in lines)
    assert "MedVersa: 1/RadCliQ-v1 does not follow" in text
    assert "recomputed 1.442" in text
    assert "No rank has a range" in text


def test_the_newest_snapshot_is_shown_unless_another_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    old = printed(capsys, "--benchmark", "iu-xray", "--track", "findings", "--snapshot", "2024-11-27")
    assert old.startswith("2024-11-27, iu-xray, findings (test)\n")
    assert "Deepwise-RG" not in old
    assert "MedVersa*" in printed(capsys, "--benchmark", "mimic-cxr", "--snapshot", "2024-11-04")


def test_prose_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--board", "cxpmrg", "--benchmark", "chexpert-plus")
    prose = [line for line in text.splitlines() if not line[:4].strip().isdigit() and "  " not in line.strip()]
    assert max(map(len, prose)) <= 79
    assert text.count("\n\n\n") == 4


def test_json_holds_every_row_and_says_that_there_are_no_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    (table,) = json.loads(printed(capsys, "--benchmark", "iu-xray", "--track", "findings", "--json"))
    assert (table["reported_by"], table["n"], table["ranked_by"]) == ("ReXrank", 590, "inv_radcliq_v1")
    assert table["rank_ranges"] is None
    assert len(table["rows"]) == 31
    assert [row["rank"] for row in table["rows"][:3]] == [1, 2, 3]
    assert table["rows"][0]["scores"]["inv_radcliq_v1"] == 4.804
    flagged = {row["model"]: [flag["kind"] for flag in row["flags"]] for row in table["rows"] if row["flags"]}
    assert flagged == {"MAIRA-2": ["noted"], "VLCI-MIMIC": ["noted"]}


def test_markdown_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--benchmark", "chexpert-plus", "--track", "report", "--markdown")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.count(" | ") for row in rows} == {rows[0].count(" | ")}
    assert "| 3 | CheXpertPlus\\_CheX | 0.512 |" in text


def test_without_a_benchmark_the_tables_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()
    assert lines[1].split()[:2] == ["2026-08-04", "rexvqa"]
    assert sum("iu-xray" in line for line in lines) == 12
    listed = json.loads(printed(capsys, "--json", "--board", "cxpmrg"))
    assert {table["snapshot"]["name"] for table in listed} >= {"table-1", "table-2", "table-3"}
    assert all("rows" not in table for table in listed)


def test_ranks_stand_side_by_side_without_a_mean(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--across")
    assert text.splitlines()[0].split() == ["model", "rexgradient", "mimic-cxr", "iu-xray", "chexpert-plus"]
    assert ["MoERad-IU", "7", "26", "4", "24"] in [line.split() for line in text.splitlines()]
    assert "No mean of ranks is given" in text
    ranks = json.loads(printed(capsys, "--across", "--json"))["ranks"]
    assert ranks["VLCI-IU"] == {"rexgradient": 13, "mimic-cxr": 28, "iu-xray": 10, "chexpert-plus": 29}


def test_a_model_is_shown_over_time(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--model", "unirg-cxr", "--track", "findings")
    found = [line.split() for line in text.splitlines() if " iu-xray " in line]
    assert [(line[0], line[4], line[-1]) for line in found[:2]] == [
        ("2025-09-05", "1", "1.977"),
        ("2026-08-04", "1", "4.804"),
    ]
    assert "placeholder" in text


def test_what_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert 'no benchmark "iu_xray"; there are chexpert-plus, iu-xray' in refused(capsys, "--benchmark", "iu_xray")
    assert "has no table of that track" in refused(capsys, "--benchmark", "rexvqa", "--track", "report")
    assert "has no table of that track" in refused(capsys, "--across", "--snapshot", "2024-07")
    assert "has no table of that track" in refused(capsys, "--track", "vqa", "--snapshot", "2024-07")
    assert "close to it: UniRG-CXR" in refused(capsys, "--model", "UniRG")
    assert "`rexrank published --across` names those of today" in refused(capsys, "--model", "zzzz")
    assert "--board rexrank" in refused(capsys, "--across", "--board", "cxpmrg")


def test_help_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["published", "--help"])
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "rexrank published --benchmark iu-xray --track findings" in text


def test_a_model_that_lacks_a_snapshot_is_not_called_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "--model", "MedVersa", "--snapshot", "1999")
    assert "MedVersa has no row of that track and snapshot; it has 2024-" in said
