"""What repositories, accounts, files and branches may be called."""

import re
import unicodedata

from rexrank.localhub.errors import bad_request

REPO_TYPES = ("model", "dataset", "space")
KINDS = {"models": "model", "datasets": "dataset", "spaces": "space"}
URL_PREFIXES = {"model": "", "dataset": "datasets/", "space": "spaces/"}

COMMIT = re.compile(r"[0-9a-f]{40}")
ABBREVIATED_COMMIT = re.compile(r"[0-9a-f]{7,40}")
SHA256 = re.compile(r"[0-9a-f]{64}")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
# First parts of the server's own addresses; an account of that name would hide them.
_RESERVED = frozenset({"api", "datasets", "healthz", "lfs", "models", "spaces", "static"})
_BRANCH_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
_PART_BYTES = 255
_PATH_BYTES = 4096


def check_repo_name(name: object) -> str:
    """Return ``name`` where a repository may be called so; 400 otherwise."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or "--" in name or ".." in name or name.endswith(".git"):
        raise bad_request(
            "A repository name has 1 to 96 letters, digits, '.', '_' or '-', starts with a letter or digit, "
            "has no '--' or '..' and does not end in '.git'."
        )
    return name


def is_account_name(name: str) -> bool:
    """Whether a user or organisation may be called so."""
    return bool(_NAME.fullmatch(name)) and "--" not in name and ".." not in name and name.lower() not in _RESERVED


def check_path(path: object) -> str:
    """Return ``path`` where a file of a repository may lie there; 400 otherwise."""
    if not isinstance(path, str) or not path:
        raise bad_request("A file needs a path.")
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        raise bad_request("A file path is not valid Unicode.") from None
    if len(encoded) > _PATH_BYTES:
        raise bad_request(f"A file path is longer than {_PATH_BYTES} bytes.")
    if "\\" in path or any(unicodedata.category(character) == "Cc" for character in path):
        raise bad_request("A file path holds a backslash or a control character.")
    for part in path.split("/"):
        if part in ("", ".", "..") or part.lower() == ".git":
            raise bad_request("A file path is relative and has no empty, '.', '..' or '.git' part.")
        if len(part.encode()) > _PART_BYTES:
            raise bad_request(f"A part of a file path is longer than {_PART_BYTES} bytes.")
    return path


def check_ref_name(name: object) -> str:
    """Return ``name`` where a branch or tag may be called so; 400 otherwise."""
    fault = bad_request("Not a name for a branch or tag.")
    if not isinstance(name, str) or not name or _BRANCH_FORBIDDEN.search(name) or COMMIT.fullmatch(name):
        raise fault
    if name.startswith(("-", "/", "refs/")) or name.endswith(("/", ".")) or len(name.encode()) > _PART_BYTES:
        raise fault
    if any(part.startswith(".") or part.endswith(".lock") for part in name.split("/")):
        raise fault
    return name


def check_repo_type(value: object) -> str:
    """Return the repository type of a request body; a missing one means model."""
    if value is None:
        return "model"
    if value not in REPO_TYPES:
        raise bad_request("A repository is of type model, dataset or space.")
    return str(value)
