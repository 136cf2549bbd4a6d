"""Users, organisations and tokens of the local Hub, from the library and the command line."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rexrank.cli import main
from rexrank.errors import RexrankError
from rexrank.localhub import accounts
from rexrank.localhub.accounts import AccountError


def whole_store(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in root.glob("hub.sqlite3*"))


def test_a_token_stands_for_its_user_and_role(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "ana")
    token = accounts.create_token(tmp_path, "ana", "read", label="laptop")
    with closing(accounts.open_database(tmp_path)) as database:
        caller = accounts.authenticate(database, token)
        assert caller is not None
        assert (caller.name, caller.role, caller.label) == ("ana", "read", "laptop")
        for wrong in ("", "hf_", token[:-1], token + "x", token[:-1] + "é", "hf_" + "x" * 48, token.upper()):
            assert accounts.authenticate(database, wrong) is None


def test_the_store_never_holds_a_token(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "ana")
    token = accounts.create_token(tmp_path, "ana")
    secret = token.removeprefix("hf_")[16:]
    assert token.startswith("hf_")
    assert len(secret) == 32
    assert secret.encode() not in whole_store(tmp_path)


def test_equal_roles_give_different_hashes(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "ana")
    for _ in range(2):
        accounts.create_token(tmp_path, "ana")
    with closing(sqlite3.connect(tmp_path / "hub.sqlite3")) as connection:
        rows = connection.execute("SELECT salt, hash FROM tokens").fetchall()
    assert len({row[0] for row in rows}) == len({row[1] for row in rows}) == 2


@pytest.mark.parametrize("name", ["", "api", "Datasets", "a b", "../x", "a--b", "-a", "x" * 97, "a/b", "é"])
def test_names_that_cannot_be_accounts(tmp_path: Path, name: str) -> None:
    with pytest.raises(AccountError):
        accounts.add_user(tmp_path, name)
    with pytest.raises(AccountError):
        accounts.add_organisation(tmp_path, name)


def test_names_are_taken_once_in_any_case(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "Ana")
    with pytest.raises(AccountError, match="taken"):
        accounts.add_user(tmp_path, "ana")
    accounts.add_user(tmp_path, "ana", exist_ok=True)
    with pytest.raises(AccountError, match="taken"):
        accounts.add_organisation(tmp_path, "ANA", exist_ok=True)


def test_organisations_need_known_members_and_roles(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "ana")
    with pytest.raises(AccountError, match="bob"):
        accounts.add_organisation(tmp_path, "team", {"ana": "admin", "bob": "read"})
    with pytest.raises(AccountError, match="owner"):
        accounts.add_organisation(tmp_path, "team", {"ana": "owner"})
    # Neither left a half-made organisation behind.
    accounts.add_organisation(tmp_path, "team", {"ana": "read"})
    accounts.add_organisation(tmp_path, "team", {"ana": "write"}, exist_ok=True)
    with closing(accounts.open_database(tmp_path)) as database:
        caller = accounts.authenticate(database, accounts.create_token(tmp_path, "ana"))
    assert caller is not None
    assert caller.organisations == {"team": "write"}


def test_tokens_need_a_user_and_a_role(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "ana")
    accounts.add_organisation(tmp_path, "team")
    for user, role in (("bob", "read"), ("team", "read"), ("ana", "root")):
        with pytest.raises(AccountError):
            accounts.create_token(tmp_path, user, role)


def test_the_command_line_manages_accounts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ["--root", str(tmp_path)]
    assert main(["hub", "user", "add", "ana", *root]) == 0
    assert main(["hub", "organisation", "add", "team", "--member", "ana:admin", *root]) == 0
    capsys.readouterr()
    assert main(["hub", "token", "create", "ana", "--role", "write", *root]) == 0
    token = capsys.readouterr().out.strip()
    with closing(accounts.open_database(tmp_path)) as database:
        caller = accounts.authenticate(database, token)
    assert caller is not None
    assert (caller.role, caller.organisations) == ("write", {"team": "admin"})
    assert main(["hub", "user", "add", "ana", *root]) == 1
    assert "taken" in capsys.readouterr().err


def test_other_machines_are_served_only_with_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hub", "serve", "--root", str(tmp_path), "--host", "0.0.0.0", "--port", "0"]) == 1
    assert "rexrank hub user add" in capsys.readouterr().err
    accounts.add_user(tmp_path, "ana")
    command = [sys.executable, "-m", "rexrank", "hub", "serve", "--root", str(tmp_path), "--host", "0.0.0.0"]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines = [server.stdout.readline(), server.stdout.readline()]
        server.terminate()
        assert server.wait(timeout=30) in (0, -15)
    assert "TLS" in lines[1]


def test_a_busy_port_gives_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rexrank.localhub import running

    with running(tmp_path) as hub:
        port = int(hub.url.rpartition(":")[2])
        assert main(["hub", "serve", "--root", str(tmp_path), "--port", str(port)]) == 1
        assert f"port {port}" in capsys.readouterr().err
        with pytest.raises(RexrankError, match=str(port)), running(tmp_path, port=port):
            pass


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "ana")
    with closing(sqlite3.connect(tmp_path / "hub.sqlite3")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(RexrankError, match="newer"):
        accounts.add_user(tmp_path, "bob")
