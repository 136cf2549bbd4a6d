"""The host's repos and what ``host.json`` says: made at the start, brought up to date at every tick."""

import logging
from functools import cache, lru_cache

import yaml

from backend import rules
from backend.config import Config
from backend.publishing import Publisher
from rexrank import __version__
from rexrank.board import host as hosts
from rexrank.board.host import Host, HostBenchmark
from rexrank.errors import RexrankError
from rexrank.hub import Clock, Hub, HubError, converge, patiently
from rexrank.scoring.scope import ANY, Scope
from rexrank.terms import DESCRIPTION_FILE, REFERENCE_FILE

OWN_REPOS = ("requests", "results", "status", hosts.HIDDEN_SAMPLES)
CARD = "README.md"
KNOWN_COMMITS = 1000

_log = logging.getLogger(__name__)

_RESULTS_CARD = """---
pretty_name: ReXrank results
license: cc-by-4.0
tags: [leaderboard, radiology, report-generation]
configs:
- config_name: leaderboard
  default: true
  data_files: data/leaderboard.parquet
- config_name: scores
  data_files: data/scores.parquet
- config_name: per_study
  data_files: per_study/*.parquet
---
# Results

Scores of AI-written radiology reports, computed by rexrank. Scores only: no report
text is in this repo.

| config | one row for each |
| --- | --- |
| `leaderboard` | model on the board, with rank and intervals |
| `scores` | result and metric |
| `per_study` | study and metric, of public benchmarks |

In `leaderboard`, `rank_lo` and `rank_hi` are the ranks that paired comparisons of the models leave open (95 %),
`p_first` is the share of resamples in which the model comes first, `rank_tau` says how alike resampled orders are to
the board's (mean of Kendall's tau-b), and `rank_note` why there is no range. `over_floor` is how much better the model
is than `floor`, a blind baseline, in the score that ranks, below 0 where it is worse; `over_floor_lo` and
`over_floor_hi` are the ends of its 95 % interval.

```python
from datasets import load_dataset

load_dataset("{repo}", split="train")
load_dataset("{repo}", "scores", split="train")
```

Before the first result the tables are empty; `load_dataset` can then only stream them (`streaming=True`).

`results/` holds one JSON file for each result, from which the tables are rebuilt. `host.json` says which protocols,
metrics and benchmarks this host offers. A null score was not computed or is undefined; `scores` says why. It never
stands for 0.
"""
_REQUESTS_CARD = """---
pretty_name: ReXrank requests
tags: [queue]
---
# Requests

The queue: one JSON file for each submission in `requests/`, its state and its history. `names/` records who owns a
model name, `quarantine/` copies of files that could not be read. Written by rexrank; do not edit by hand.
"""
_STATUS_CARD = """---
pretty_name: ReXrank status
tags: [queue]
---
# Status

One file for each scoring worker in `workers/`: when it last looked at the queue, and how it went.
"""
_SAMPLES_CARD = """---
pretty_name: ReXrank samples of hidden benchmarks
---
# Samples

What the ranks of results on hidden benchmarks are resampled from: in `samples/` one file for each result, with what
each study adds to the ranking scores. No report text. This repo must stay private; written by rexrank.
"""
_CARDS = {
    "requests": _REQUESTS_CARD,
    "results": _RESULTS_CARD,
    "status": _STATUS_CARD,
    hosts.HIDDEN_SAMPLES: _SAMPLES_CARD,
}


def ensure_repos(hub: Hub, config: Config, clock: Clock | None = None) -> Host:
    """Create the repos for requests, results, status and samples with their cards, ``host.json`` and empty tables.

    Returns:
        What this host offers.

    Raises:
        HubError: The token may not write there, or the Hub stayed away.
    """
    clock = clock or Clock()
    for name in OWN_REPOS:
        try:
            _ensure_repo(hub, hosts.repo(name, config.namespace), name, clock)
        except HubError as error:
            # An owner may have no room for a private repo; its results are published all the same.
            if name != hosts.HIDDEN_SAMPLES or error.retryable:
                raise
            _log.warning("ranks of hidden benchmarks get no ranges: %s", error)
    host = refresh_host(hub, config, clock)
    try:
        Publisher(hub, hosts.repo("results", config.namespace), __version__, clock).rebuild()
    except HubError:
        raise
    except RexrankError as error:
        _log.warning("the tables are as they were: %s", error)
    return host


def refresh_host(hub: Hub, config: Config, clock: Clock | None = None) -> Host:
    """Bring ``host.json`` up to date with the benchmarks of the namespace.

    Returns:
        What it says now.

    Raises:
        HubError: The Hub cannot be read or written.
    """
    repo = hosts.repo("results", config.namespace)
    present: list[Host] = []

    def wanted(head: str) -> dict[str, bytes | None]:
        held = hub.view(repo, [hosts.PATH], head).files.get(hosts.PATH)
        before = _earlier(held)
        host = Host(
            protocols=rules.offered(config),
            metrics=rules.computed(config),
            benchmarks=_benchmarks(hub, config, before),
            weights=dict(config.weights),
        )
        present[:] = [host]
        return {} if held == host.to_bytes() else {hosts.PATH: host.to_bytes()}

    converge(hub, repo, wanted, "What this host offers", clock=clock)
    return present[0]


def _ensure_repo(hub: Hub, repo: str, name: str, clock: Clock) -> None:
    patiently(lambda: hub.ensure_repo(repo, private=name == hosts.HIDDEN_SAMPLES), repo, clock=clock)
    card = _CARDS[name].replace("{repo}", repo).encode()
    converge(hub, repo, lambda head: _absent_card(hub, repo, head, card), "Card", clock=clock)


def _absent_card(hub: Hub, repo: str, head: str, card: bytes) -> dict[str, bytes | None]:
    return {} if CARD in hub.view(repo, [CARD], head).files else {CARD: card}


def _earlier(held: bytes | None) -> Host:
    try:
        return hosts.parse(held) if held is not None else Host()
    except RexrankError:
        return Host()


def _benchmarks(hub: Hub, config: Config, before: Host) -> dict[str, HostBenchmark]:
    found = {}
    for repo in hub.datasets_of(config.namespace):
        name = repo.partition("/")[2]
        if name in OWN_REPOS:
            continue
        try:
            benchmark = _benchmark(hub, repo, before.benchmarks.get(name))
        except HubError as error:
            if error.retryable:
                raise
            _warn_once(f"{repo} is not offered: {error}")
            continue
        if benchmark is not None:
            found[name] = benchmark
    return found


def _benchmark(hub: Hub, repo: str, before: HostBenchmark | None) -> HostBenchmark | None:
    """One benchmark of the namespace, or None for a repo that is none."""
    head = hub.head(repo)
    description = _description(hub, repo, head)
    if description is None:
        return None
    if REFERENCE_FILE not in hub.list_files(repo, head, "data/"):
        _warn_once(f"{repo} is not offered: it has no {REFERENCE_FILE} at {head[:12]}")
        return None
    try:
        described = yaml.safe_load(description)
        scope = Scope.of(described.get("modality", "CXR"), described.get("language", "en"))
        return HostBenchmark(
            tracks=described["tracks"],
            split=described.get("split", "test"),
            revision=_data_revision(hub, repo, head, before),
            licence=described.get("licence"),
            modality=scope.modality or ANY,
            language=scope.language or ANY,
            # A repo can be made private without a commit, so this is asked every time.
            public=described.get("references") == "public" and not hub.is_private(repo),
        )
    except HubError:
        raise
    except Exception as error:
        # Whatever a file of somebody's makes of a parser, the other benchmarks are offered.
        kind = type(error).__name__
        _warn_once(f"{repo} is not offered: its {DESCRIPTION_FILE} at {head[:12]} cannot be read ({kind})")
        return None


@lru_cache(maxsize=KNOWN_COMMITS)
def _description(hub: Hub, repo: str, head: str) -> bytes | None:
    """What a repo says of itself as a benchmark at a commit; kept, because every tick comes by every repo."""
    return hub.view(repo, [DESCRIPTION_FILE], head).files.get(DESCRIPTION_FILE)


@cache
def _warn_once(message: str) -> None:
    """Say something that every tick finds anew a single time."""
    _log.warning("%s", message)


def _data_revision(hub: Hub, repo: str, head: str, before: HostBenchmark | None) -> str:
    """The commit at which the data last changed: a new card alone must not make every row stale."""
    if before is None:
        return head
    data = [hub.list_files(repo, commit, "data/").get(REFERENCE_FILE) for commit in (before.revision, head)]
    return before.revision if data[0] == data[1] else head
