"""A process that encodes a share of the texts on its device; `rexrank.encoders.sharding` starts it.

It is a program of its own and not a copy of its parent, so that a user's script needs no guard around what it does,
and nothing but the pipe connects the two.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from rexrank.encoders.encoder import Model, Record
from rexrank.encoders.store import Store
from rexrank.errors import RexrankError
from rexrank.processes import follow_parent


@dataclass(frozen=True)
class Job:
    """What a process is told to do.

    Attributes:
        load: Takes a device, gives a model.
        device: Torch device.
        texts: All different.
        folder: The store's.
        limit_bytes: The store's.
        patience_seconds: The store's.
        shelf: The store's.
    """

    load: Callable[[str], Model]
    device: str
    texts: Sequence[str]
    folder: Path
    limit_bytes: int
    patience_seconds: float
    shelf: str


@dataclass(frozen=True)
class Progress:
    """What a process tells.

    Attributes:
        kept: Positions of the texts whose records are in the store now.
        failed: Positions of those for which the model gave nothing.
        records: Records by position that the store did not take.
        fault: Why the process gives up, in one sentence; empty otherwise.
    """

    kept: Sequence[int] = ()
    failed: Sequence[int] = ()
    records: Mapping[int, Record] = field(default_factory=dict)
    fault: str = ""


def main() -> None:
    """Do the job that comes through the pipe, whose number is the only argument."""
    follow_parent()
    number = int(sys.argv[1])
    os.set_inheritable(number, False)
    pipe = Connection(number)
    try:
        for progress in _work(pipe.recv()):
            pipe.send(progress)
    except RexrankError as error:
        pipe.send(Progress(fault=str(error)))
    except Exception as error:  # whose words may quote a report
        pipe.send(Progress(fault=f"{type(error).__name__} in the model"))


def _work(job: Job) -> Iterator[Progress]:
    if job.device.startswith("cuda"):
        import torch

        torch.cuda.set_device(job.device)
    model = job.load(job.device)
    position_of = {text: position for position, text in enumerate(job.texts)}
    failed: list[int] = []
    made: dict[int, Record] = {}

    def records() -> Iterator[tuple[str, Record]]:
        for position, record in model.encode(job.texts):
            if record is None:
                failed.append(position)
            else:
                made[position] = record
                yield job.texts[position], record

    with Store(job.folder, job.limit_bytes, job.patience_seconds, keeps_elsewhere=False) as store:
        model.keep_parts_in(store, job.shelf)
        for batch in store.put_in_batches(job.shelf, records()):
            positions = [position_of[text] for text in batch.texts]
            if batch.on_disk:
                yield Progress(positions, tuple(failed))
            else:
                yield Progress((), tuple(failed), dict(made))
            failed.clear()
            made.clear()
    yield Progress((), tuple(failed))
