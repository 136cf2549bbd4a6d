"""Which devices encoders run on: what is asked for, what is there, and one sentence where the two differ."""

import os
import subprocess
import sys
from typing import Any

import pytest
import torch

from rexrank.encoders.devices import UnknownDevice, devices
from rexrank.errors import RexrankError

HAS_CUDA = torch.cuda.is_available()


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """No device of the user's own."""
    monkeypatch.delenv("REXRANK_DEVICE", raising=False)


@pytest.mark.parametrize(("asked", "found"), [("cpu", ["cpu"]), (" CPU ", ["cpu"]), ("cpu,cpu", ["cpu", "cpu"])])
def test_what_is_asked_for_is_taken(asked: str, found: list[str]) -> None:
    assert devices(asked) == found


def test_the_environment_answers_where_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXRANK_DEVICE", "cpu, cpu")
    assert devices() == ["cpu", "cpu"]
    assert devices("cpu") == ["cpu"]
    monkeypatch.setenv("REXRANK_DEVICE", "")
    assert devices() == devices(None) != []
    monkeypatch.setenv("REXRANK_DEVICE", "gpu")
    with pytest.raises(UnknownDevice, match='device "gpu" is unknown'):
        devices()


@pytest.mark.parametrize("asked", ["gpu", "cuda:", "cuda:-1", "cuda:01", "cuda:x", "cpu:0", "cpu,", "0", "cpu;cpu"])
def test_what_is_no_device_is_told(asked: str) -> None:
    with pytest.raises(UnknownDevice, match=r"^device .+ is unknown; known are cpu, mps, cuda and cuda:0"):
        devices(asked)


@pytest.mark.parametrize("asked", [0, 1, torch.device("cpu"), ["cpu"]])
def test_what_is_no_name_is_told(asked: Any) -> None:
    with pytest.raises(UnknownDevice, match=r"^device: expected a name such as cpu or cuda:0, got "):
        devices(asked)


def test_a_report_in_the_place_of_a_device_is_not_repeated() -> None:
    with pytest.raises(RexrankError, match=r"device a text of 18 characters is unknown"):
        devices("no acute zebrafish")


@pytest.mark.skipif(HAS_CUDA, reason="there is a CUDA device")
@pytest.mark.parametrize("asked", ["cuda", "cuda:0", "cpu,cuda:1"])
def test_cuda_that_is_not_there_is_told(asked: str) -> None:
    with pytest.raises(UnknownDevice, match=r'^device "cuda(:\d)?" is not on this machine: .+CUDA'):
        devices(asked)


@pytest.mark.skipif(HAS_CUDA or torch.backends.mps.is_available(), reason="there is a graphics processor")
def test_a_machine_without_graphics_processor_uses_its_processor() -> None:
    assert devices() == ["cpu"]
    with pytest.raises(UnknownDevice, match=r'device "mps" is not on this machine'):
        devices("mps")


@pytest.mark.skipif(not HAS_CUDA, reason="there is no CUDA device")
def test_every_cuda_device_is_used() -> None:
    every = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    assert devices() == devices("cuda") == every
    assert devices("cuda:0,cpu") == ["cuda:0", "cpu"]
    with pytest.raises(UnknownDevice, match=f"the last CUDA device here is {every[-1]}"):
        devices("cuda:4000")


@pytest.mark.skipif(not HAS_CUDA, reason="there is no CUDA device")
def test_cuda_devices_can_be_hidden() -> None:
    code = "from rexrank.encoders.devices import devices; print(devices()); devices('cuda')"
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run([sys.executable, "-c", code], env=hidden, capture_output=True, text=True, check=False)
    assert done.stdout == "['cpu']\n"
    assert 'CUDA_VISIBLE_DEVICES is "-1", which leaves no CUDA device' in done.stderr


def test_torch_is_not_imported_for_the_processor() -> None:
    code = (
        "import sys; from rexrank.encoders.devices import devices; import rexrank.encoders.sharding; "
        "assert devices('cpu') == ['cpu']; assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
