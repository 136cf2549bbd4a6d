"""What can go wrong with a Hub, as a few codes instead of client exceptions.

Texts of the clients' exceptions are never passed on: they quote addresses and
inputs, and differ between versions.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx2
from huggingface_hub import errors as client_errors
from huggingface_hub.utils import parse_ratelimit_headers

from rexrank.errors import RexrankError


class HubError(RexrankError):
    """A request to the Hub that did not succeed.

    Attributes:
        code: ``repo_not_found``, ``revision_not_found``, ``file_missing``, ``gated``, ``file_too_large``,
            ``unauthorized``, ``forbidden``, ``bad_request``, ``conflict``, ``rate_limited`` or ``hub_unavailable``.
        retryable: Whether the same request may succeed later.
        retry_after: Seconds the Hub asked to wait, or None.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.code, str(self), self.retryable, self.retry_after)


class Contention(HubError):
    """A compare-and-swap that found no quiet moment before its deadline; try again later."""

    def __init__(self, message: str) -> None:
        super().__init__("contention", message, retryable=True)

    def __reduce__(self) -> tuple[object, ...]:
        return Contention, (str(self),)


def _rebuild(code: str, message: str, retryable: bool, retry_after: float | None) -> HubError:
    return HubError(code, message, retryable=retryable, retry_after=retry_after)


@contextmanager
def translated(subject: str) -> Iterator[None]:
    """Turn the clients' exceptions into ``HubError``.

    Args:
        subject: What was asked for, as the message names it: ``rexrank/requests`` or ``acme/preds, file a.json``.

    Raises:
        HubError: For every failure of the Hub, the network or the client.
    """
    try:
        yield
    except client_errors.GatedRepoError as error:
        raise HubError("gated", f"{subject}: the repo is gated and this token has no access to it") from error
    except client_errors.RepositoryNotFoundError as error:
        raise HubError("repo_not_found", f"{subject}: no such repo, or this token may not see it") from error
    except client_errors.RevisionNotFoundError as error:
        raise HubError("revision_not_found", f"{subject}: no such revision") from error
    except client_errors.EntryNotFoundError as error:
        raise HubError("file_missing", f"{subject}: not found") from error
    except (client_errors.HfHubHTTPError, httpx2.HTTPStatusError) as error:
        raise _of_status(subject, error.response) from error
    except client_errors.HFValidationError as error:
        raise HubError("bad_request", f"{subject}: not a valid repo name") from error
    except (httpx2.HTTPError, OSError) as error:
        raise HubError("hub_unavailable", f"{subject}: the Hub did not answer", retryable=True) from error
    except RuntimeError as error:
        # The client library shares one connection pool and closes it for every thread when one fails to connect.
        if "client has been closed" not in str(error):
            raise
        raise HubError("hub_unavailable", f"{subject}: the connection was closed", retryable=True) from error


def _of_status(subject: str, response: httpx2.Response) -> HubError:
    status = response.status_code
    if status in (409, 412):
        return HubError("conflict", f"{subject}: somebody else committed first", retryable=True)
    if status == 429:
        wait = _asked_wait(response.headers)
        return HubError("rate_limited", f"{subject}: too many requests", retryable=True, retry_after=wait)
    if status == 408 or status >= 500:
        wait = _asked_wait(response.headers)
        return HubError("hub_unavailable", f"{subject}: the Hub answered {status}", retryable=True, retry_after=wait)
    if status == 401:
        return HubError("unauthorized", f"{subject}: the Hub does not know this token; set HF_TOKEN to a valid one")
    if status == 403:
        return HubError("forbidden", f"{subject}: this token may not do that")
    if status == 404:
        return HubError("file_missing", f"{subject}: not found")
    return HubError("bad_request", f"{subject}: the Hub refused the request ({status})")


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    limit = parse_ratelimit_headers(headers)
    return float(limit.reset_in_seconds) if limit and limit.remaining == 0 else None
