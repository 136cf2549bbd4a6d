"""What every ``--help`` promises: it fits a terminal, and its examples can be copied."""

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rexrank import cli

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = re.compile(r"[A-Z_]+=\S+")


def walked(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser and those of its actions."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in dict.fromkeys(action.choices.values()):
                yield from walked(one)


def parsers(command: str) -> list[argparse.ArgumentParser]:
    (commands,) = (
        action for action in cli._parser([command])._actions if isinstance(action, argparse._SubParsersAction)
    )
    return list(walked(commands.choices[command]))


def examples(parser: argparse.ArgumentParser) -> list[str]:
    """Calls of the help's block of examples, without assignments before them and redirections behind."""
    _, _, block = (parser.description or "").partition("Examples:\n")
    lines = block.partition("\n\n")[0].replace("\\\n", " ").splitlines()
    return [re.sub(r" > \S+$", "", line.strip()) for line in lines]


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_fits_a_terminal_and_has_examples_that_parse(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for parser in parsers(command):
        wide = [line for line in parser.format_help().splitlines() if len(line) > 80]
        assert not wide, parser.prog
        every = parser._actions
        nested = any(isinstance(action, argparse._SubParsersAction) for action in every)
        assert [action.dest for action in every if not action.help and not nested] == [], parser.prog
        calls = examples(parser)
        assert calls or nested, f"{parser.prog} has no examples"
        for call in calls:
            words = [word for word in shlex.split(call) if not ASSIGNMENT.fullmatch(word)]
            assert words[0] == "rexrank"
            cli._parser(words[1:]).parse_args(words[1:])


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_of_a_command_names_its_exit_codes(command: str) -> None:
    description = parsers(command)[0].description or ""
    assert examples(parsers(command)[0])
    assert "\nExit codes: 0 " in description


@pytest.mark.parametrize("option", ["--quiet", "--device", "--no-download", "--confirm-licence"])
def test_an_option_of_many_commands_is_told_in_the_same_words(option: str) -> None:
    told = {
        parser.prog: action.help
        for command in cli.COMMANDS
        for parser in parsers(command)
        for action in parser._actions
        if option in action.option_strings
    }
    assert len(told) > 1
    assert len(set(told.values())) == 1, told


@pytest.mark.parametrize("program", [["-m", "backend"], ["app.py"]])
def test_help_of_the_other_programs_fits_a_terminal(program: list[str]) -> None:
    words = [sys.executable, *program, "--help"]
    surroundings = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(words, cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=120, check=True)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_list_of_commands_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli._parser([]).format_help().splitlines()
    assert max(map(len, lines)) <= 80
    assert "Examples:" in lines


def test_the_next_step_after_a_new_user_names_the_same_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "my store"
    assert cli.main(["hub", "user", "add", "ana", "--root", str(root)]) == 0
    _, _, call = capsys.readouterr().out.strip().partition("next: rexrank ")
    assert cli.main(shlex.split(call)) == 0
    assert capsys.readouterr().out.startswith("hf_")
