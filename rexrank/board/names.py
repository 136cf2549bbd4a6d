"""Names, links, paths and slugs that users may choose.

Each check refuses with the rule it applies and never mends the value silently.
"""

import hashlib
import re
import unicodedata
from urllib.parse import urlsplit, urlunsplit

from rexrank.layout import TURNING_MARKS

NAME_LENGTH, LINK_LENGTH, PATH_PART_BYTES = 96, 300, 255
# None of these means anything in HTML or Markdown without a bracket or an angle before it, which are refused.
PUNCTUATION = "._-/()+,"
SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
COMMIT = re.compile(r"[0-9a-f]{40}")
GENERIC_SLUG = "model"
# Letters to Unicode, but nothing is seen of them: a name could be blank or pass for another one.
INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")


def model_name(text: str) -> str:
    """Check the name of a model, organisation or track (rule S1).

    Args:
        text: The name as typed.

    Returns:
        The name in Unicode form NFKC.

    Raises:
        ValueError: The sentence names the rule.
    """
    name = unicodedata.normalize("NFKC", text)
    if not 1 <= len(name) <= NAME_LENGTH:
        raise ValueError(f"a name has 1 to {NAME_LENGTH} characters, not {len(name)}")
    if name != name.strip():
        raise ValueError("a name neither starts nor ends with a blank")
    for position, character in enumerate(name, start=1):
        if not _allowed(character):
            raise ValueError(
                f"a name holds letters, digits, blanks and {' '.join(PUNCTUATION)} only; "
                f"character {position} is U+{ord(character):04X} ({unicodedata.name(character, 'unnamed')})"
            )
    if not _alphanumeric(name[0]):
        raise ValueError("a name starts with a letter or a digit")
    if ".." in name or "//" in name:
        raise ValueError('a name does not contain ".." or "//"')
    return name


def name_key(name: str) -> str:
    """The form under which two spellings are one name: NFKC, case-folded, blanks collapsed."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def name_path(key: str) -> str:
    """Where the requests repo records who owns a name."""
    return f"names/{hashlib.sha256(key.encode()).hexdigest()}.json"


def link(text: str) -> str:
    """Check a link (rule S2).

    Args:
        text: The address as typed.

    Returns:
        The address, parsed and written again.

    Raises:
        ValueError: The sentence names the rule.
    """
    if len(text) > LINK_LENGTH:
        raise ValueError(f"a link has at most {LINK_LENGTH} characters, not {len(text)}")
    if any(unicodedata.category(character) in ("Cc", "Cf", "Zs", "Zl", "Zp") for character in text):
        raise ValueError("a link has no blanks and no control or invisible characters")
    parts = urlsplit(text)
    if parts.scheme.lower() != "https":
        raise ValueError("a link starts with https://")
    if not parts.hostname:
        raise ValueError("a link names a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a link has no user name and no password")
    return urlunsplit(("https", parts.netloc.lower(), parts.path, parts.query, parts.fragment))


def remark(text: str) -> str:
    """Check a free remark of one or more lines: a licence, a description, a flag.

    Raises:
        ValueError: The sentence names the rule.
    """
    for position, character in enumerate(text, start=1):
        if character in TURNING_MARKS or (unicodedata.category(character) in ("Cc", "Cs") and character not in "\t\n"):
            raise ValueError(
                "a text has no control characters and no marks that turn the direction of reading; "
                f"character {position} is U+{ord(character):04X}"
            )
    return text


def path_in_repo(text: str) -> str:
    """Check a path inside a repo (rule H10).

    Raises:
        ValueError: The sentence names the rule.
    """
    if "\\" in text or any(unicodedata.category(character) == "Cc" for character in text):
        raise ValueError("a path has no backslash and no control characters")
    for part in text.split("/"):
        if part in ("", ".", "..", ".git"):
            raise ValueError('a path is relative, and no part of it is empty, ".", ".." or ".git"')
        if len(part.encode()) > PATH_PART_BYTES:
            raise ValueError(f"each part of a path has at most {PATH_PART_BYTES} bytes")
    return text


def slug(text: str) -> str:
    """Check a single name on the Hub: an owner, or a repo without its owner.

    Raises:
        ValueError: The sentence names the rule.
    """
    if not SLUG.fullmatch(text) or "--" in text or ".." in text:
        raise ValueError("a name on the Hub has up to 96 letters, digits and . _ - and starts with a letter or digit")
    return text


def repo_id(text: str) -> str:
    """Check ``owner/name``.

    Raises:
        ValueError: The sentence names the rule.
    """
    owner, slash, name = text.partition("/")
    if not slash:
        raise ValueError("a repo is written owner/name")
    slug(owner)
    slug(name)
    return text


def commit_id(text: str) -> str:
    """Check a full commit id; branch names are never stored because they move.

    Raises:
        ValueError: It is not 40 hexadecimal digits.
    """
    if not COMMIT.fullmatch(text):
        raise ValueError("a revision is a commit id of 40 hexadecimal digits")
    return text


def slug_of(name: str) -> str:
    """A repo name made from a model name; names without any Latin letter get a hash."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", ascii_name.lower()).strip("-")[:60].strip("-")
    return words or f"{GENERIC_SLUG}-{hashlib.sha256(name_key(name).encode()).hexdigest()[:10]}"


def _alphanumeric(character: str) -> bool:
    category = unicodedata.category(character)
    return (category.startswith("L") and character not in INVISIBLE_LETTERS) or category == "Nd"


def _allowed(character: str) -> bool:
    return _alphanumeric(character) or character == " " or character in PUNCTUATION
