"""Upload of large files: ask, send, confirm."""

from typing import Any

import anyio.to_thread
from starlette.responses import Response

from rexrank.localhub.blobs import BlobWriter
from rexrank.localhub.calls import Call, answer
from rexrank.localhub.errors import HubFault, bad_request
from rexrank.localhub.names import SHA256
from rexrank.localhub.repositories import Repo
from rexrank.localhub.tickets import Ticket

_CHUNK = 2**20


def batch(call: Call) -> Response:
    """Say for each large file whether it must be sent, and where."""
    repo = call.writable_repo()
    body = call.json()
    if body.get("operation") != "upload":
        raise bad_request("Only uploads go this way; files are downloaded through resolve.")
    if body.get("hash_algo", "sha256") != "sha256":
        raise bad_request("hash_algo is sha256.")
    objects = body.get("objects")
    if not isinstance(objects, list):
        raise bad_request("objects is a list.")
    return answer({"transfer": "basic", "objects": [_instructions(call, repo, item) for item in objects]})


def _instructions(call: Call, repo: Repo, item: object) -> dict[str, Any]:
    oid, size = (item.get("oid"), item.get("size")) if isinstance(item, dict) else (None, None)
    if not isinstance(oid, str) or not SHA256.fullmatch(oid) or not is_size(size):
        raise bad_request("An object has oid, 64 hexadecimal digits, and size, its bytes.")
    assert isinstance(size, int)
    found: dict[str, Any] = {"oid": oid, "size": size}
    if size > call.hub.limits.object_bytes:
        found["error"] = {"code": 413, "message": f"The file is larger than {call.hub.limits.object_bytes} bytes."}
    elif not is_available(call, repo, oid):
        expires = int(call.hub.clock().timestamp()) + call.hub.limits.ticket_seconds
        ticket = call.hub.tickets.write(Ticket(repo.number, oid, size, expires))
        found["actions"] = {
            "upload": {"href": f"{call.base_url}/lfs/upload/{ticket}", "header": {}},
            "verify": {"href": f"{call.base_url}/lfs/verify/{ticket}", "header": {}},
        }
    return found


def is_size(value: object) -> bool:
    """Whether a field holds a number of bytes."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def is_available(call: Call, repo: Repo, sha256: str) -> bool:
    """Whether a large file is stored and the caller has shown a right to it (H14).

    The store is shared, so the hash alone must not open other people's files:
    it takes an upload to this repository or read access to one that holds it.
    """
    repositories = call.hub.repositories
    return call.hub.blobs.contains(sha256) and (
        repositories.uploaded(repo, sha256) or repositories.holds(call.caller, sha256)
    )


async def upload(call: Call) -> Response:
    """Take the bytes of one large file."""
    ticket = call.hub.tickets.read(call.groups["ticket"], call.hub.clock().timestamp())
    announced = call.request.headers.get("content-length")
    if announced is not None and announced != str(ticket.size):
        raise bad_request("The length is not the one that was asked for.")
    writer = await anyio.to_thread.run_sync(call.hub.blobs.writer)
    try:
        await _receive(call, writer, ticket.size)
        await anyio.to_thread.run_sync(_finish, call, writer, ticket)
    finally:
        writer.drop()
    return Response(status_code=200)


async def _receive(call: Call, writer: BlobWriter, size: int) -> None:
    buffer = bytearray()
    received = 0
    async for chunk in call.request.stream():
        received += len(chunk)
        if received > size:
            raise bad_request("More bytes arrived than were asked for.")
        buffer += chunk
        if len(buffer) >= _CHUNK:
            await anyio.to_thread.run_sync(writer.write, bytes(buffer))
            buffer.clear()
    await anyio.to_thread.run_sync(writer.write, bytes(buffer))


def _finish(call: Call, writer: BlobWriter, ticket: Ticket) -> None:
    if writer.size != ticket.size or writer.sha256 != ticket.sha256:
        raise bad_request("The bytes do not have the size and SHA-256 that were announced.")
    writer.keep()
    if not call.hub.repositories.note_upload(ticket.repo, ticket.sha256, ticket.size, call.hub.now()):
        raise HubFault(403, "The repository of this upload is gone.")


def verify(call: Call) -> Response:
    """Confirm that a large file has arrived whole."""
    ticket = call.hub.tickets.read(call.groups["ticket"], call.hub.clock().timestamp())
    body = call.json()
    same = (body.get("oid"), body.get("size")) == (ticket.sha256, ticket.size)
    if not same or not call.hub.blobs.contains(ticket.sha256) or call.hub.blobs.size(ticket.sha256) != ticket.size:
        raise HubFault(404, "The file has not arrived.")
    return answer({})
