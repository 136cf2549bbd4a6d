"""Users, organisations and tokens of a local Hub.

The functions open the store by its folder, so they work while a server runs
in another process.
"""

import hashlib
import hmac
import secrets
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from rexrank.errors import RexrankError
from rexrank.localhub.database import Database
from rexrank.localhub.names import is_account_name

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
DATABASE_FILE = "hub.sqlite3"

_PREFIX = "hf_"
_ID_LENGTH = 16


class AccountError(RexrankError):
    """A user, organisation or token that cannot be made as asked."""


@dataclass(frozen=True)
class Caller:
    """Who sends a request.

    Attributes:
        name: User name; None for an anonymous caller.
        role: Role of the token: ``read``, ``write``, or ``admin`` for the whole Hub.
        organisations: Role of the user in each organisation, by its name in lower case.
    """

    name: str | None = None
    role: Role = "read"
    label: str = ""
    organisations: Mapping[str, Role] = field(default_factory=dict)

    def may_see(self, namespace: str) -> bool:
        """Whether private repositories under ``namespace`` are visible."""
        if self.name is None:
            return False
        key = namespace.lower()
        return self.role == "admin" or key == self.name.lower() or key in self.organisations

    def may_write(self, namespace: str) -> bool:
        """Whether repositories under ``namespace`` may be made and changed."""
        if self.name is None or self.role == "read":
            return False
        key = namespace.lower()
        member = self.organisations.get(key) in ("write", "admin")
        return self.role == "admin" or key == self.name.lower() or member


ANONYMOUS = Caller()


def open_database(root: str | Path) -> Database:
    """The records of the Hub in folder ``root``, which is made when missing, readable by its owner only."""
    folder = Path(root)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Database(folder / DATABASE_FILE)


def add_user(root: str | Path, name: str, exist_ok: bool = False) -> None:
    """Add a user.

    Args:
        root: Folder of the Hub.
        name: Name of the user, also the namespace of the user's repositories.
        exist_ok: Do nothing where the user exists already.

    Raises:
        AccountError: The name is not allowed, or taken by another account.
    """
    _add_account(root, name, "user", {}, exist_ok)


def add_organisation(
    root: str | Path, name: str, members: Mapping[str, str] | None = None, exist_ok: bool = False
) -> None:
    """Add an organisation and its members.

    Args:
        root: Folder of the Hub.
        name: Name of the organisation, also the namespace of its repositories.
        members: Role of each member: ``read``, ``write`` or ``admin``. Of an existing organisation, with
            ``exist_ok``, these members are added or changed and the others kept.
        exist_ok: Accept an organisation that exists already.

    Raises:
        AccountError: The name is not allowed or taken, a member is no user, or a role is unknown.
    """
    for role in (members or {}).values():
        _check_role(role)
    _add_account(root, name, "org", members or {}, exist_ok)


def create_token(root: str | Path, user: str, role: str = "write", label: str = "token") -> str:
    """Make a token and return it; the Hub itself keeps a salted hash only.

    Args:
        root: Folder of the Hub.
        user: The user that the token stands for.
        role: ``read``; ``write`` as far as the user may; ``admin`` for every repository of this Hub.
        label: Name of the token, shown by ``whoami``.

    Raises:
        AccountError: There is no such user, or the role is unknown.
    """
    _check_role(role)
    token_id, secret = _random_text(_ID_LENGTH), _random_text(32)
    salt = secrets.token_bytes(16)
    with closing(open_database(root)) as database, database.writing() as connection:
        _require_user(connection, user)
        connection.execute(
            "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)",
            (token_id, user, salt, _hash(salt, secret), role, label, _now()),
        )
    return _PREFIX + token_id + secret


def has_users(database: Database) -> bool:
    """Whether anybody could sign in."""
    with database.reading() as connection:
        return connection.execute("SELECT 1 FROM accounts WHERE kind = 'user'").fetchone() is not None


def authenticate(database: Database, token: str) -> Caller | None:
    """The caller whom a token stands for; None where the token is unknown."""
    body = token.removeprefix(_PREFIX)
    token_id, secret = body[:_ID_LENGTH], body[_ID_LENGTH:]
    with database.reading() as connection:
        row = connection.execute(
            "SELECT accounts.name, salt, hash, role, label FROM tokens JOIN accounts ON accounts.name = tokens.user"
            " WHERE tokens.id = ?",
            (token_id,),
        ).fetchone()
        # An unknown id costs the same work as a wrong secret.
        salt, stored = (row["salt"], row["hash"]) if row is not None else (b"", b"")
        if not hmac.compare_digest(_hash(salt, secret), stored) or row is None:
            return None
        organisations = connection.execute("SELECT org, role FROM members WHERE user = ?", (row["name"],)).fetchall()
    return Caller(row["name"], row["role"], row["label"], {item["org"].lower(): item["role"] for item in organisations})


def account(database: Database, name: str) -> tuple[str, str, str] | None:
    """Name as registered, kind (``user`` or ``org``) and id of an account."""
    with database.reading() as connection:
        row = connection.execute("SELECT name, kind, id FROM accounts WHERE name = ?", (name,)).fetchone()
    return None if row is None else (row["name"], row["kind"], row["id"])


def _add_account(root: str | Path, name: str, kind: str, members: Mapping[str, str], exist_ok: bool) -> None:
    if not is_account_name(name):
        raise AccountError(
            f"{name!r} cannot be an account: 1 to 96 letters, digits, '.', '_' or '-', starting with a letter or "
            "digit, without '--' or '..', and none of the server's own words such as 'api' or 'datasets'."
        )
    with closing(open_database(root)) as database, database.writing() as connection:
        existing = connection.execute("SELECT kind FROM accounts WHERE name = ?", (name,)).fetchone()
        if existing is not None and (not exist_ok or existing["kind"] != kind):
            raise AccountError(f"The name {name!r} is taken; choose another.")
        if existing is None:
            connection.execute("INSERT INTO accounts VALUES (?, ?, ?, ?)", (name, new_id(), kind, _now()))
        for member, role in members.items():
            _require_user(connection, member)
            connection.execute("INSERT OR REPLACE INTO members VALUES (?, ?, ?)", (name, member, role))


def _require_user(connection: sqlite3.Connection, name: str) -> None:
    if connection.execute("SELECT 1 FROM accounts WHERE name = ? AND kind = 'user'", (name,)).fetchone() is None:
        raise AccountError(
            f"There is no user {name!r} in this store; add it with `rexrank hub user add`, to the same --root"
        )


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise AccountError(f"The role {role!r} is unknown; use one of: {', '.join(ROLES)}.")


def _hash(salt: bytes, secret: str) -> bytes:
    # The secret is 190 random bits, so a slow hash would add nothing but waiting.
    return hashlib.blake2b(secret.encode("utf-8", "replace"), key=salt, digest_size=32).digest()


def _random_text(length: int) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    return "".join(secrets.choice(alphabet) for _ in range(length))


def new_id() -> str:
    """A fresh id of 24 hexadecimal digits."""
    return secrets.token_hex(12)


def _now() -> str:
    return iso(datetime.now(UTC))


def iso(moment: datetime) -> str:
    """UTC time as the Hub writes it, e.g. ``2026-01-31T09:30:00.000Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
