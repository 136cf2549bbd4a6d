"""One timed run of rexrank's encoders in a process of its own; started by `bench.neural` with a job on stdin.

Kinds: ``score``, which encodes and scores report pairs with a store, and ``bound``, forward passes alone.
"""

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rexrank.metrics import compute
from rexrank.scoring.encoding import EncoderSettings, Encoding

KEYS: Mapping[str, tuple[str, ...]] = {
    "f1chexbert": ("f1chexbert_micro_14", "f1chexbert_macro_5", "ce_f1"),
    "sembscore": ("sembscore",),
    "bertscore": ("bertscore",),
    "radgraph": ("radgraph_simple", "radgraph_partial", "radgraph_complete"),
    "radgraph_combined": ("radgraph_combined",),
    "radcliq": ("radcliq_v1",),
    "ratescore": ("ratescore",),
}
_BUDGETS = (512, 1024, 2048, 4096)
_TRIED_ROWS = 64


def score(job: Mapping[str, Any]) -> dict[str, Any]:
    """Encode and score; seconds by encoder, its loading included, and by metric.

    Importing torch and transformers is timed apart, since it is the same for one text and for a million.
    """
    begun = time.perf_counter()
    import torch  # noqa: F401
    import transformers  # noqa: F401

    started = time.perf_counter()
    texts = job["predictions"], job["references"]
    names = job["only"] or list(KEYS)
    seconds: dict[str, float] = {}
    with Encoding(*texts, "published", _settings(job)) as encoding:
        for request in encoding.requests({key: job["options"] for name in names for key in KEYS[name]}):
            at = time.perf_counter()
            encoding.run(request)
            seconds[request.encoder.label] = time.perf_counter() - at
        for name in names:
            at = time.perf_counter()
            features: dict[str, Any] = {}
            for key in KEYS[name]:
                features |= encoding.features(key, job["options"])
            compute(KEYS[name], *texts, "published", features=features, **job["options"])
            seconds[f"metric {name}"] = time.perf_counter() - at
    total = time.perf_counter() - started
    return {"seconds": seconds, "import_s": started - begun, "total_s": total, "peak_gib": _peak_gib()}


def bound(job: Mapping[str, Any]) -> dict[str, Any]:
    """Forward passes alone over what each transformer reads, all of its layers, at the best of several batch sizes."""
    from transformers import AutoModel

    seconds: dict[str, float] = {}
    texts = job["predictions"], job["references"]
    with (
        tempfile.TemporaryDirectory() as store,
        Encoding(*texts, "published", _settings({**job, "store": store})) as encoding,
    ):
        wanted = {key: job["options"] for name in job["only"] or KEYS for key in KEYS[name]}
        for request in encoding.requests(wanted):
            read = _Read()
            with read:
                encoding.run(request)
            seconds[request.encoder.label] = sum(
                _passes(AutoModel.from_config(config).eval(), rows) for config, rows in read.inputs()
            )
    return {"seconds": seconds, "total_s": sum(seconds.values())}


class _Read:
    """What the transformers of an encoder read while it runs, as rows of token ids without padding."""

    def __init__(self) -> None:
        self._configs: dict[int, Any] = {}
        self._rows: dict[int, list[list[int]]] = {}

    def __enter__(self) -> None:
        import torch

        # Hooks for all modules see no keywords, and ids come as one.
        plain = self._plain = torch.nn.Module.__call__

        def call(module: Any, *given: Any, **keywords: Any) -> Any:
            self._note(module, given, keywords)
            return plain(module, *given, **keywords)

        torch.nn.Module.__call__ = call

    def __exit__(self, *error: object) -> None:
        import torch

        torch.nn.Module.__call__ = self._plain

    def _note(self, module: Any, given: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        from transformers import PreTrainedModel

        if not isinstance(module, PreTrainedModel) or module.base_model is not module:
            return
        ids = given[0] if given else keywords["input_ids"]
        mask = keywords.get("attention_mask")
        lengths = [ids.shape[1]] * len(ids) if mask is None else mask.sum(dim=1).tolist()
        self._configs[id(module)] = module.config
        rows = self._rows.setdefault(id(module), [])
        rows += [row[:length].tolist() for row, length in zip(ids, lengths, strict=True)]

    def inputs(self) -> list[tuple[Any, list[list[int]]]]:
        """Configuration and rows of each transformer."""
        return [(self._configs[one], rows) for one, rows in self._rows.items()]


def _passes(model: Any, rows: Sequence[Sequence[int]]) -> float:
    """Seconds of a transformer over all rows at its best batch size."""
    import torch

    from rexrank.encoders.loading import padded

    ordered = sorted(rows, key=len, reverse=True)
    pad = model.config.pad_token_id or 0

    def timed(chosen: Sequence[Sequence[int]], budget: int) -> float:
        begun = time.perf_counter()
        start = 0
        with torch.inference_mode():
            while start < len(chosen):
                size = max(1, budget // len(chosen[start]))
                ids, mask = padded(chosen[start : start + size], pad, "cpu")
                model(ids, attention_mask=mask)
                start += size
        return time.perf_counter() - begun

    sample = ordered[:: max(1, len(ordered) // _TRIED_ROWS)]
    timed(sample, _BUDGETS[0])
    return timed(ordered, min(_BUDGETS, key=lambda budget: timed(sample, budget)))


def _settings(job: Mapping[str, Any]) -> EncoderSettings:
    return EncoderSettings(device="cpu", cache_dir=job["store"], weights=job["weights"], download=False)


def _peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> int:
    """Run the job on stdin."""
    job = json.load(sys.stdin)
    # What libraries print goes to stderr, so that stdout holds the answer alone.
    answer = os.dup(1)
    os.dup2(2, 1)
    made = {"score": score, "bound": bound}[job["kind"]](job)
    with os.fdopen(answer, "w", encoding="utf-8") as out:
        json.dump(made, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
