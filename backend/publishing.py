"""Results on the Hub: single files first, then the tables that are made of them (rules Q16, Q25)."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from backend import rules
from backend.crew import Outcome
from rexrank.board import host as hosts
from rexrank.board import results, samples, tables
from rexrank.board.gaps import BASELINE, Gaps, chosen_floors
from rexrank.board.host import Host
from rexrank.board.ranges import Ranges
from rexrank.board.requests import Request, ResultPlace
from rexrank.board.results import Result
from rexrank.board.samples import Kept
from rexrank.errors import RexrankError
from rexrank.hub import Clock, Hub, HubError, converge
from rexrank.protocols.protocol import UnknownProtocol
from rexrank.terms import FLOORS_FILE, FLOORS_FOLDER

# A larger table is sent again unseen; the client drops it when nothing changed.
TABLE_BYTES = 16 * 2**20
# Scores of single studies: of 100,000 studies a few megabytes.
STUDIES_BYTES = 64 * 2**20
_NOTHING_KEPT = "no scores of single studies are kept of it; score it again"

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
        self._hidden = hosts.repo(hosts.HIDDEN_SAMPLES, repo.partition("/")[0])
        self._ranges = Ranges(self._kept)
        self._gaps = Gaps(self._kept)

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
        hidden: dict[str, bytes] = {}
        for outcome in outcomes:
            result = found[outcome.request.id]
            contents[result.path] = outcome.result or b""
            is_public = outcome.per_study is not None
            if outcome.per_study is not None:
                contents[results.per_study_path(result.result_id)] = outcome.per_study
            if outcome.samples is not None:
                (contents if is_public else hidden)[samples.path_of(result.result_id)] = outcome.samples
        # First, so that a result is never without what its rank is drawn from.
        self._keep_hidden(hidden)
        revision = self._add(self._repo, contents, f"{len(found)} results")
        return {request_id: (_place(result, revision), result) for request_id, result in found.items()}

    def _add(self, repo: str, contents: Mapping[str, bytes], message: str) -> str:
        """Write files that are not there yet, and return the commit that has them."""

        def missing(head: str) -> Mapping[str, bytes | None]:
            view = self._hub.view(repo, contents, head)
            held = view.files.keys() | view.oversize.keys()
            return {path: content for path, content in contents.items() if path not in held}

        return converge(self._hub, repo, missing, message, clock=self._clock)

    def _keep_hidden(self, contents: Mapping[str, bytes]) -> None:
        """Keep single studies of hidden benchmarks where nobody but the host reads; else results go on without."""
        if not contents:
            return
        try:
            if self._hub.is_private(self._hidden):
                self._add(self._hidden, contents, f"{len(contents)} results")
                return
            reason = "everybody can read it; make it private in its settings"
        except HubError as error:
            if error.retryable:
                raise
            reason = str(error)
        _log.warning("ranks of hidden benchmarks get no ranges: nothing is kept in %s (%s)", self._hidden, reason)

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
        standard = replace(rules.standard(host, found), floors=self._chosen_floors(found))
        try:
            wanted = {
                tables.LEADERBOARD_PATH: tables.to_parquet(
                    tables.leaderboard(found, standard, self._ranges, self._gaps)
                ),
                tables.SCORES_PATH: tables.to_parquet(tables.scores(found, standard)),
                tables.NO_STUDIES_PATH: tables.to_parquet(tables.checked([], tables.PER_STUDY)),
            }
        except HubError:
            raise
        except Exception as error:
            # A value that no table can hold; the queue must go on without the tables.
            raise RexrankError(f"the tables cannot be built from the results ({type(error).__name__})") from error
        present = self._hub.view(self._repo, wanted, head, TABLE_BYTES).files
        return {path: content for path, content in wanted.items() if present.get(path) != content}

    def _chosen_floors(self, found: Sequence[Result]) -> dict[tuple[str, ...], Mapping[str, str]]:
        """What the floors say that are stored beside benchmarks; asked for those that have baselines."""
        chosen: dict[tuple[str, ...], Mapping[str, str]] = {}
        namespace = self._repo.partition("/")[0]
        for dataset, section in sorted({(one.dataset, one.section) for one in found if one.kind == BASELINE}):
            path = f"{FLOORS_FOLDER}/{section}/{FLOORS_FILE}"
            for content in self._studies(hosts.repo(dataset, namespace), [path]).values():
                chosen |= {(dataset, section, *rule): keys for rule, keys in chosen_floors(content).items()}
        return chosen

    def _kept(self, group: Sequence[Result], key: str) -> list[Kept | str]:
        """What is kept of the single studies of results; of older public ones, the published values."""
        files = self._studies(self._repo, [samples.path_of(result.result_id) for result in group])
        lacking = [result for result in group if samples.path_of(result.result_id) not in files]
        files |= self._studies(self._hidden, [samples.path_of(result.result_id) for result in lacking])
        lacking = [result for result in lacking if samples.path_of(result.result_id) not in files]
        files |= self._studies(self._repo, [results.per_study_path(result.result_id) for result in lacking])
        return [_read_kept(files, result, key) for result in group]

    def _studies(self, repo: str, paths: Sequence[str]) -> dict[str, bytes]:
        if not paths:
            return {}
        try:
            return dict(self._hub.view(repo, paths, limit_bytes=STUDIES_BYTES).files)
        except HubError as error:
            # Hosts of before have no repo for hidden ones.
            if error.retryable:
                raise
            return {}


def _read_kept(files: Mapping[str, bytes], result: Result, key: str) -> Kept | str:
    own, published = samples.path_of(result.result_id), results.per_study_path(result.result_id)
    signature = result.metrics[key].signature
    try:
        if own in files:
            return samples.read(files[own], key, signature)
        if published in files:
            return samples.of_values(files[published], key, signature)
    except RexrankError as error:
        return str(error)
    return _NOTHING_KEPT


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
