"""Results on the Hub: single files first, then the tables that are made of them (rules Q16, Q25)."""

import logging
from collections.abc import Collection, Mapping, Sequence

from backend import rules
from backend.crew import Outcome
from rexrank.board import host as hosts
from rexrank.board import results, tables
from rexrank.board.host import Host
from rexrank.board.requests import Request, ResultPlace
from rexrank.board.results import Result
from rexrank.errors import RexrankError
from rexrank.hub import Clock, Hub, converge
from rexrank.protocols.protocol import UnknownProtocol

# A larger table is sent again unseen; the client drops it when nothing changed.
TABLE_BYTES = 16 * 2**20

_log = logging.getLogger(__name__)


class Publisher:
    """The results repo as one worker writes it."""

    def __init__(
        self, hub: Hub, repo: str, version: str, clock: Clock, declared: Collection[str] | None = None
    ) -> None:
        self._hub = hub
        self._declared = declared
        self._repo = repo
        self._version = version
        self._clock = clock

    def publish(self, outcomes: Sequence[Outcome]) -> dict[str, tuple[ResultPlace, Result]]:
        """Write the result files of finished attempts in one commit; a result that is there already is kept.

        Args:
            outcomes: Attempts that ended with a result.

        Returns:
            For each request id the place of its result, and the result.

        Raises:
            HubError: Nothing is known to be written; calling again is safe.
        """
        if not outcomes:
            return {}
        found = {outcome.request.id: results.read(outcome.result or b"") for outcome in outcomes}
        contents: dict[str, bytes] = {}
        for outcome in outcomes:
            result = found[outcome.request.id]
            contents[result.path] = outcome.result or b""
            if outcome.per_study is not None:
                contents[results.per_study_path(result.result_id)] = outcome.per_study

        def missing(head: str) -> Mapping[str, bytes | None]:
            view = self._hub.view(self._repo, contents, head)
            held = view.files.keys() | view.oversize.keys()
            return {path: content for path, content in contents.items() if path not in held}

        revision = converge(self._hub, self._repo, missing, f"{len(found)} results", clock=self._clock)
        return {request_id: (_place(result, revision), result) for request_id, result in found.items()}

    def find(self, request: Request) -> ResultPlace | None:
        """Where the result of a request already is: same id, revision and evaluator.

        Raises:
            HubError: The results repo cannot be read.
        """
        try:
            asked = rules.rules(request.protocol, self._declared)
        except UnknownProtocol:
            return None
        evaluator = results.evaluator_hash(self._version, asked, request.settings)
        path = results.path_of(request.owner, request.id, evaluator)
        view = self._hub.view(self._repo, [path])
        found = _readable(view.files)
        return _place(found[0], view.commit) if found and found[0].revision == request.revision else None

    def rebuild(self) -> None:
        """Make the tables of all result files anew; tables that come out the same are not committed.

        Raises:
            RexrankError: The tables are as they were.
        """
        converge(self._hub, self._repo, self._tables, "Tables", clock=self._clock)

    def _tables(self, head: str) -> dict[str, bytes | None]:
        view = self._hub.view(self._repo, [results.FOLDER, hosts.PATH], head)
        host = hosts.parse(view.files[hosts.PATH]) if hosts.PATH in view.files else Host()
        found = _readable(view.files)
        standard = rules.standard(host, found)
        try:
            wanted = {
                tables.LEADERBOARD_PATH: tables.to_parquet(tables.leaderboard(found, standard)),
                tables.SCORES_PATH: tables.to_parquet(tables.scores(found, standard)),
                tables.NO_STUDIES_PATH: tables.to_parquet(tables.checked([], tables.PER_STUDY)),
            }
        except Exception as error:
            # A value that no table can hold; the queue must go on without the tables.
            raise RexrankError(f"the tables cannot be built from the results ({type(error).__name__})") from error
        present = self._hub.view(self._repo, wanted, head, TABLE_BYTES).files
        return {path: content for path, content in wanted.items() if present.get(path) != content}


def _place(result: Result, revision: str) -> ResultPlace:
    return ResultPlace(path=result.path, results_revision=revision, evaluator_hash=result.evaluator.hash)


def _readable(files: Mapping[str, bytes]) -> list[Result]:
    found = []
    for path, content in sorted(files.items()):
        if path.startswith(results.FOLDER):
            try:
                found.append(results.read(content, path))
            except RexrankError as error:
                _log.warning("%s is left out of the tables: %s", path, error)
    return found
