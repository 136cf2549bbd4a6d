"""Compare-and-swap against a real Hub that also fails on demand (rules Q10 to Q13)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hosting import HandClock, together

from rexrank.hub import Contention, Hub, HubError, View, connect, converge, swap
from rexrank.localhub import Fault, accounts, running

PATH = "state.json"


class Faults:
    """Faults for the next commits, in order; everything else works."""

    def __init__(self) -> None:
        self.next: list[Fault] = []
        self.commits = 0

    def __call__(self, method: str, path: str) -> Fault | None:
        if method != "POST" or "/commit/" not in path:
            return None
        self.commits += 1
        return self.next.pop(0) if self.next else None


@contextmanager
def faulty_hub(tmp_path: Path) -> Iterator[tuple[Hub, Faults]]:
    faults = Faults()
    with running(tmp_path / "hub", fault=faults) as server:
        accounts.add_user(server.root, "acme")
        hub = connect(server.url, accounts.create_token(server.root, "acme", "write"))
        hub.ensure_repo("acme/state")
        yield hub, faults


def history(view: View) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(view.files[PATH])["history"] if PATH in view.files else []
    return found


def append(view: View, op: str, writer: str = "w") -> dict[str, bytes | None]:
    return {PATH: json.dumps({"history": [*history(view), {"op": op, "writer": writer}]}).encode()}


def written(hub: Hub) -> list[dict[str, str]]:
    return history(hub.view("acme/state", [PATH]))


def test_parallel_writers_all_arrive_once(hub_server) -> None:
    token = hub_server.user("swap-race")
    connect(hub_server.url, token).ensure_repo("swap-race/state")

    def write(number: int) -> str:
        hub = connect(hub_server.url, token)
        change = swap(hub, "swap-race/state", [PATH], lambda view, op: append(view, op, f"w{number}"))
        assert change is not None
        return change.op

    ops = together(10, write)
    found = history(connect(hub_server.url, token).view("swap-race/state", [PATH]))
    assert sorted(entry["writer"] for entry in found) == sorted(f"w{number}" for number in range(10))
    assert sorted(entry["op"] for entry in found) == sorted(ops)


def test_nothing_to_do_makes_no_commit(hub_server) -> None:
    hub = connect(hub_server.url, hub_server.user("swap-idle"))
    hub.ensure_repo("swap-idle/state")
    before = hub.head("swap-idle/state")
    assert swap(hub, "swap-idle/state", [PATH], lambda _view, _op: {}) is None
    assert hub.head("swap-idle/state") == before


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=503, when="before"),
        Fault(status=502, when="after"),
        Fault(cut=True, when="after"),
        Fault(status=412, when="before"),
        Fault(status=409, when="before"),
    ],
    ids=["503 before", "502 after the commit", "answer cut after the commit", "412", "409"],
)
def test_a_fault_neither_loses_nor_doubles_a_write(tmp_path: Path, fault: Fault) -> None:
    with faulty_hub(tmp_path) as (hub, faults):
        faults.next = [fault]
        time = HandClock()
        change = swap(hub, "acme/state", [PATH], append, clock=time.clock())
        assert change is not None
        assert [entry["op"] for entry in written(hub)] == [change.op]
        assert change.files[PATH] == hub.view("acme/state", [PATH]).files[PATH]
        assert len(time.waits) == 1
        landed_at_once = fault.when == "after"
        assert faults.commits == (1 if landed_at_once else 2)


def test_the_wait_that_the_hub_asks_for_is_kept(tmp_path: Path) -> None:
    with faulty_hub(tmp_path) as (hub, faults):
        faults.next = [Fault(status=429, retry_after=7)]
        time = HandClock()
        assert swap(hub, "acme/state", [PATH], append, clock=time.clock()) is not None
        assert len(time.waits) == 1
        assert 7.0 <= time.waits[0] <= 7.2


def test_waits_grow_up_to_a_cap_and_end_at_the_deadline(tmp_path: Path) -> None:
    with faulty_hub(tmp_path) as (hub, faults):
        faults.next = [Fault(status=412)] * 200
        time = HandClock()
        with pytest.raises(Contention):
            swap(hub, "acme/state", [PATH], append, deadline=120.0, clock=time.clock())
        assert time.seconds < 120.0
        assert all(wait <= min(20.0, 0.2 * 2**number) for number, wait in enumerate(time.waits))
        assert written(hub) == []


def test_content_without_the_id_of_the_swap_is_refused(hub_server) -> None:
    hub = connect(hub_server.url, hub_server.user("swap-noop"))
    hub.ensure_repo("swap-noop/state")
    before = hub.head("swap-noop/state")
    with pytest.raises(ValueError, match="its own id"):
        swap(hub, "swap-noop/state", [PATH], lambda _view, _op: {PATH: b"{}"})
    assert hub.head("swap-noop/state") == before


def test_a_lasting_refusal_is_raised_at_once(hub_server) -> None:
    writer = connect(hub_server.url, hub_server.user("swap-owner"))
    writer.ensure_repo("swap-owner/state")
    reader = connect(hub_server.url, hub_server.user("swap-reader", "read"))
    time = HandClock()
    with pytest.raises(HubError) as refused:
        swap(reader, "swap-owner/state", [PATH], append, clock=time.clock())
    assert refused.value.code == "forbidden"
    assert time.waits == []
    with pytest.raises(HubError) as absent:
        swap(writer, "swap-owner/nothing", [PATH], append, clock=time.clock())
    assert absent.value.code == "repo_not_found"


def test_converging_writers_end_in_one_state(hub_server) -> None:
    token = hub_server.user("converge-race")
    connect(hub_server.url, token).ensure_repo("converge-race/tables")

    def write(number: int) -> str:
        hub = connect(hub_server.url, token)

        def build(head: str) -> dict[str, bytes | None]:
            files = hub.view("converge-race/tables", ["parts/"], head).files
            parts = {**files, f"parts/{number}": b"x"}
            return {f"parts/{number}": b"x", "sum.txt": str(len(parts)).encode()}

        return converge(hub, "converge-race/tables", build, "Sum")

    together(6, write)
    view = connect(hub_server.url, token).view("converge-race/tables", ["parts/", "sum.txt"])
    assert view.files["sum.txt"] == b"6"
    assert len(view.files) == 7
