"""How much one request may carry."""

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """Upper limits, in bytes unless said otherwise.

    Attributes:
        json_bytes: Body of an ordinary API call.
        line_bytes: One line of a commit, that is one regular file in base64.
        commit_bytes: Body of a commit.
        operations: Number of files that one commit may touch.
        object_bytes: One large file.
        ticket_seconds: How long the permission to upload one large file lasts.
        idle_seconds: How long a sender may pause in the middle of a request.
    """

    json_bytes: int = 32 * MIB
    line_bytes: int = 64 * MIB
    commit_bytes: int = 2048 * MIB
    operations: int = 50_000
    object_bytes: int = 64 * 1024 * MIB
    ticket_seconds: int = 6 * 3600
    idle_seconds: float = 120.0
