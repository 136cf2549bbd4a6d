"""Programs that answer lines: whatever they do, answers stay with their lines and nothing hangs."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from line_program import line_program
from waiting import until

from rexrank.external.programs import ProgramFailed, TimeLimits, Workers


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers[float]]:
    found = Workers(line_program(tmp_path), 3)
    yield found
    found.close()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_answers_come_in_the_order_of_the_lines_whoever_gives_them(workers: Workers[float]) -> None:
    lines = ["sleep 0.2".ljust(number + 9) if number % 7 == 0 else "x" * number for number in range(40)]
    assert workers.ask(lines, 3) == [len(line) for line in lines]
    assert len(workers.process_ids()) == 3


def test_nothing_runs_before_the_first_call_and_copies_stay_for_the_next(workers: Workers[float]) -> None:
    assert workers.process_ids() == []
    assert workers.ask([], 3) == []
    assert workers.process_ids() == []
    (first,) = workers.ask(["pid"])
    assert workers.process_ids() == [first]
    assert workers.ask(["pid", "pid"]) == [first, first]
    assert len(set(workers.ask(["sleep 0.3"] * 5, 50))) == 1
    assert len(workers.process_ids()) == 3
    assert first in workers.process_ids()


def test_no_more_copies_start_than_there_are_lines(workers: Workers[float]) -> None:
    workers.ask(["a", "b"], 3)
    assert len(workers.process_ids()) == 2


def test_a_line_longer_than_any_pipe_arrives(workers: Workers[float]) -> None:
    assert workers.ask(["a", "x" * 3_000_000, "ab"]) == [1, 3_000_000, 2]


@pytest.mark.parametrize("bad", ["die", "nonsense", "twice"])
@pytest.mark.parametrize("copies", [1, 2])
def test_a_line_that_breaks_the_program_costs_that_line_alone(workers: Workers[float], bad: str, copies: int) -> None:
    lines = ["a", bad, "abc", "", "abcd"] * 2
    assert workers.ask(lines, copies) == [1, None, 3, 0, 4] * 2
    assert workers.ask(["ab"]) == [2]


def test_a_line_is_tried_again_where_the_program_died(workers: Workers[float], tmp_path: Path) -> None:
    once = f"die-once {tmp_path / 'died'}"
    assert workers.ask(["a", once, "abc"]) == [1, len(once), 3]


def test_silence_has_a_limit_and_is_not_tried_again(tmp_path: Path) -> None:
    workers = Workers(line_program(tmp_path), 2, TimeLimits(answer=2))
    lines = ["a", "sleep 600", "abc", "ab"]
    try:
        assert workers.ask(lines, 2) == [1, None, 3, 2]
        assert workers.ask(["sleep 600"]) == [None]
        assert workers.ask(["a"]) == [1]
    finally:
        workers.close()


def test_a_stopped_program_is_killed_and_replaced(tmp_path: Path) -> None:
    workers = Workers(line_program(tmp_path), 1, TimeLimits(answer=2))
    try:
        (pid,) = workers.ask(["pid"])
        os.kill(int(pid), signal.SIGSTOP)
        assert workers.ask(["a", "ab"]) == [None, 2]
        assert not is_alive(int(pid))
    finally:
        workers.close()


def test_a_program_that_keeps_dying_is_given_up(workers: Workers[float]) -> None:
    with pytest.raises(ProgramFailed, match="Lines ended or stayed silent 11 times in one call"):
        workers.ask(["die"] * 20, 2)
    assert workers.ask(["a"]) == [1]


@pytest.mark.parametrize(
    ("greeting", "sentence"),
    [
        ("die", "Lines ended while it started; look at the test"),
        ("nonsense", "Lines ended while it started; look at the test"),
        ("sleep 600", "Lines was not ready after 1 s; look at the test"),
    ],
)
def test_a_program_that_does_not_start_is_given_up(tmp_path: Path, greeting: str, sentence: str) -> None:
    workers = Workers(line_program(tmp_path, greeting), 2, TimeLimits(start=1))
    with pytest.raises(ProgramFailed) as caught:
        workers.ask(["a", "b", "c"], 2)
    assert str(caught.value) == sentence
    workers.close()
    assert workers.process_ids() == []


def test_where_only_one_copy_can_run_it_does_all_the_work(tmp_path: Path) -> None:
    workers = Workers(line_program(tmp_path, f"alone {tmp_path / 'taken'}"), 3)
    try:
        assert workers.ask(["sleep 0.5", *"abcdef"], 3) == [9] + [1] * 6
        assert len(workers.process_ids()) == 1
    finally:
        workers.close()


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    program = replace(line_program(tmp_path), command=(str(tmp_path / "absent"),))
    with pytest.raises(ProgramFailed, match=r"Lines cannot be started \(No such file or directory\); look at the test"):
        Workers(program, 1).ask(["a"])


def test_a_copy_that_died_between_two_calls_is_replaced(workers: Workers[float]) -> None:
    (pid,) = workers.ask(["pid"])
    os.kill(int(pid), signal.SIGKILL)
    until(lambda: not is_alive(int(pid)))
    assert workers.ask(["a", "ab"]) == [1, 2]
    assert int(pid) not in workers.process_ids()


def test_copies_that_die_together_are_each_replaced_once(workers: Workers[float]) -> None:
    workers.ask(["sleep 0.3"] * 3, 3)
    pids = workers.process_ids()

    def kill_all() -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            # No pause in which the thread that asks could see the first death before the others.
            end = time.monotonic() + 0.05
            while time.monotonic() < end:
                pass

    killer = threading.Timer(0.5, kill_all)
    switch_interval = sys.getswitchinterval()
    sys.setswitchinterval(10)
    killer.start()
    try:
        assert workers.ask(["sleep 1.5", "a", "ab"], 3) == [9, 1, 2]
    finally:
        killer.join()
        sys.setswitchinterval(switch_interval)
    assert not set(pids) & set(workers.process_ids())


def test_threads_share_the_copies_and_get_their_own_answers(tmp_path: Path) -> None:
    workers = Workers(line_program(tmp_path), 2)
    texts = [["x" * (thread + 5 * number) for number in range(60)] for thread in range(5)]
    try:
        with ThreadPoolExecutor(5) as threads:
            answers = list(threads.map(lambda lines: workers.ask(lines, 2), texts))
        assert answers == [[len(line) for line in lines] for lines in texts]
        assert len(workers.process_ids()) <= 2
    finally:
        workers.close()


def test_waiting_for_other_threads_has_a_limit(tmp_path: Path) -> None:
    workers = Workers(line_program(tmp_path), 1, TimeLimits(turn=0.5))
    other = threading.Thread(target=workers.ask, args=(["sleep 5"],))
    other.start()
    try:
        until(lambda: bool(workers.process_ids()))
        with pytest.raises(ProgramFailed, match="in use by other threads for"):
            workers.ask(["a"])
    finally:
        other.join(60)
        workers.close()


def test_a_program_does_not_see_variables_that_are_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWER", "7")
    program = replace(line_program(tmp_path), command=("sh", "-c", "while read -r _; do echo ${ANSWER:-1}; done"))
    for unset, answer in (((), 7), (("ANSWER",), 1)):
        workers = Workers(replace(program, unset=unset), 1)
        try:
            assert workers.ask(["a"]) == [answer]
        finally:
            workers.close()


def test_an_exception_in_mid_call_leaves_nothing_locked_or_out_of_step(workers: Workers[float]) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    (pid,) = workers.ask(["pid"])
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            workers.ask(["sleep 60"])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert workers.process_ids() == []
    assert not is_alive(int(pid))
    assert workers.ask(["abc"]) == [3]


def test_a_forked_child_has_programs_of_its_own(workers: Workers[float]) -> None:
    (pid,) = workers.ask(["pid"])
    child = os.fork()
    if child == 0:
        (own,) = workers.ask(["pid"])
        alone = workers.process_ids() == [own] and own != pid and workers.ask(["abc"]) == [3]
        workers.close()
        os._exit(0 if alone else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert workers.ask(["pid", "ab"]) == [pid, 2]


def test_a_copy_is_killed_with_all_that_it_started(workers: Workers[float]) -> None:
    (child,) = workers.ask(["child"])
    assert is_alive(int(child))
    workers.close()
    until(lambda: not is_alive(int(child)))
    with pytest.raises(ProgramFailed, match="not started any more"):
        workers.ask(["a"])


@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(3)", "raise ValueError"])
def test_copies_end_with_the_process(tmp_path: Path, end: str) -> None:
    program = line_program(tmp_path)
    code = (
        "import os, signal, sys, pathlib\n"
        "from rexrank.external.programs import Program, Workers\n"
        f"workers = Workers(Program('Lines', {program.command!r}, pathlib.Path('.'), 'ready', float, ''), 1)\n"
        f"print(int(workers.ask(['pid'])[0]), flush=True)\n{end}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    pid = int(done.stdout)
    until(lambda: not is_alive(pid))
