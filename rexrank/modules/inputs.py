"""What every evaluate module of rexrank shares: checked inputs, safe state, one form of result.

The evaluate library prints the inputs when it dislikes one of them, takes a bare string for a list of characters and
keeps rows of a failed batch. :class:`Checked` stands in front of it and refuses such input in one sentence that names
argument, position and type, never the text.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from rexrank.errors import shown
from rexrank.metrics.inputs import InvalidCall, check_names
from rexrank.reports.studies import is_encodable

if TYPE_CHECKING:
    import datasets
    from evaluate import Metric as _Base

    from rexrank.metrics import Convention
else:
    _Base = object


class Checked(_Base):
    """Mixin for an evaluate module: ``class Bleu(Checked, evaluate.Metric)``.

    A subclass sets ``keys`` and writes ``_info``. A call that fails leaves nothing behind, and rows that an earlier
    ``add_batch`` left behind never enter a call that brings its own inputs.

    Attributes:
        keys: The score keys that the module computes unless it is asked for fewer.
    """

    keys: tuple[str, ...] = ()
    _listed = False

    def __init__(
        self, config_name: str | None = None, keep_in_memory: bool = True, num_process: int = 1, **settings: Any
    ) -> None:
        """Set the module up in memory: no cache file, so any number of processes may share a cache folder.

        Args:
            config_name: As in evaluate.
            keep_in_memory: Always on, whatever is given.
            num_process: Only 1.
            **settings: Passed on to evaluate.

        Raises:
            InvalidCall: More than one process was asked for.
        """
        if num_process != 1:
            raise InvalidCall("num_process: only 1 is possible; give all texts to one compute call")
        super().__init__(config_name=config_name, keep_in_memory=True, **settings)

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> dict[str, Any]:
        """Score predictions against references.

        Args:
            predictions: List of strings; None to score what ``add`` and ``add_batch`` collected.
            references: List as long, of strings or of lists of strings.
            **options: ``ids`` (unique strings, one a report, named in messages) and the module's own options.

        Returns:
            The scores, see the module's description.

        Raises:
            InvalidCall: An input cannot be scored; a ValueError whose message never holds report text.
        """
        ids = options.pop("ids", None)
        if predictions is None and references is None:
            _check_collected(len(self), ids)
        else:
            predictions, references = check_call(predictions, references, ids)
            if len(self):
                warnings.warn(f"{len(self)} collected reports are dropped: compute got its own", stacklevel=2)
                self._forget()
        try:
            scores: dict[str, Any] = super().compute(predictions=predictions, references=references, **options)
        except BaseException:
            self._forget()
            raise
        return scores

    def add_batch(self, *, predictions: Any = None, references: Any = None, **options: Any) -> None:
        """Collect a batch for a later ``compute`` without inputs.

        Args:
            predictions: List of strings.
            references: List as long, of strings or of lists of strings, alike in all batches.
            **options: None are known.

        Raises:
            InvalidCall: An input cannot be scored; nothing of this batch is kept.
        """
        if options:
            raise InvalidCall(f"{sorted(options)[0]}: not an argument of add or add_batch; give it to compute")
        predictions, references = check_call(predictions, references)
        listed = not isinstance(references[0], str)
        if len(self) and listed != self._listed:
            raise InvalidCall("references: expected strings or lists of strings throughout, got both in two batches")
        self._listed = listed
        super().add_batch(predictions=predictions, references=references)

    def add(self, *, prediction: Any = None, reference: Any = None, **options: Any) -> None:
        """Collect one report for a later ``compute`` without inputs.

        Args:
            prediction: A string.
            reference: A string or a list of strings.
            **options: None are known.

        Raises:
            InvalidCall: An input cannot be scored; it is not kept.
        """
        self.add_batch(predictions=[prediction], references=[reference], **options)

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        convention: "Convention" = "published",
        keys: Sequence[str] | str | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        from rexrank.metrics import compute

        scores = compute(self._chosen(keys), list(predictions), list(references), convention=convention, **options)
        return result_of(list(scores.values()))

    def _chosen(self, keys: Sequence[str] | str | None) -> tuple[str, ...]:
        if keys is None:
            return self.keys
        chosen = tuple(check_names("keys", keys))
        unknown = [key for key in chosen if key not in self.keys]
        if unknown or not chosen:
            found = shown(unknown[0]) if unknown else "an empty list"
            raise InvalidCall(f"keys: expected some of {', '.join(self.keys)}; got {found}")
        return chosen

    def _forget(self) -> None:
        self.writer = self.buf_writer = self.data = self.selected_feature_format = None


def result_of(scores: Sequence[Any]) -> dict[str, Any]:
    """Write scores as an evaluate module returns them.

    Args:
        scores: ``KeyScores`` of :func:`rexrank.metrics.compute`, one a key, over the same reports.

    Returns:
        Per key its aggregate (float or None) and ``<key>_per_report`` (floats or None, in input order); ``signature``,
        the signatures of all keys with a blank between them; ``n_empty``, ``n_truncated``, and ``n_undefined``, the
        number of reports that have no value for at least one key.
    """
    result: dict[str, Any] = {}
    undefined: set[int] = set()
    for score in scores:
        values = [None if value != value else float(value) for value in score.values]
        result[score.key] = score.aggregate
        result[f"{score.key}_per_report"] = values
        undefined.update(index for index, value in enumerate(values) if value is None)
    result["signature"] = " ".join(score.signature for score in scores)
    for count in ("n_empty", "n_truncated"):
        result[count] = max(score.counts.get(count, 0) for score in scores)
    result["n_undefined"] = len(undefined)
    return result


def text_features() -> "list[datasets.Features]":
    """Features of a module that takes one or several references a report, for its ``_info``."""
    from datasets import Features, Sequence, Value

    text = Value("string")
    return [
        Features({"predictions": text, "references": text}),
        Features({"predictions": text, "references": Sequence(text)}),
    ]


def check_call(predictions: Any, references: Any, ids: Any = None) -> tuple[list[str], list[str] | list[list[str]]]:
    """Check the inputs of one call.

    Args:
        predictions: What the caller gave.
        references: What the caller gave.
        ids: Ids of the reports, or None.

    Returns:
        Both sides as lists; the references are all strings or all lists of strings.

    Raises:
        InvalidCall: An input cannot be scored. The message names argument, first bad position, number of bad items and
            type found, and the id when there are ids; never any text.
    """
    predicted, referred = _as_list("predictions", predictions), _as_list("references", references)
    if len(predicted) != len(referred):
        raise InvalidCall(
            f"predictions has {len(predicted)} and references has {len(referred)} items; "
            "give one reference for each prediction"
        )
    if not predicted:
        raise InvalidCall("no items: predictions and references are empty lists")
    names = _check_ids(ids, len(predicted))
    _refuse("predictions", predicted, names, _is_text, "str")
    _refuse("references", referred, names, _is_text_or_texts, "str or list of str")
    if len({isinstance(item, str) for item in referred}) > 1:
        listed = next(index for index, item in enumerate(referred) if not isinstance(item, str))
        raise InvalidCall(
            f"references: expected strings or lists of strings throughout, got both; the first list is at {listed}"
            f"{_named(names, listed)}"
        )
    references = [str(item) if isinstance(item, str) else [str(text) for text in item] for item in referred]
    return [str(item) for item in predicted], references


def _check_collected(count: int, ids: Any) -> None:
    if not count:
        raise InvalidCall("no items: give predictions and references, or collect some with add_batch first")
    _check_ids(ids, count)


def _as_list(argument: str, value: Any) -> list[Any]:
    if value is None:
        raise InvalidCall(f"{argument}: missing; give a list with one item a report")
    if isinstance(value, str | bytes | bytearray | Mapping | Set) or not isinstance(value, Iterable):
        raise InvalidCall(f"{argument}: expected a list, got {type(value).__name__}")
    return list(value)


def _check_ids(ids: Any, count: int) -> list[str] | None:
    if ids is None:
        return None
    names = _as_list("ids", ids)
    _refuse("ids", names, None, lambda item: isinstance(item, str), "str")
    if len(names) != count:
        raise InvalidCall(f"ids has {len(names)} and predictions has {count} items; give one id for each prediction")
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise InvalidCall(f"ids[{index}]: {shown(name)} is there twice; ids must be unique")
        seen.add(name)
    return names


def _refuse(argument: str, items: list[Any], names: list[str] | None, good: Any, expected: str) -> None:
    bad = [index for index, item in enumerate(items) if not good(item)]
    if bad:
        number = "1 item" if len(bad) == 1 else f"{len(bad)} items"
        raise InvalidCall(
            f"{argument}[{bad[0]}]{_named(names, bad[0])}: expected {expected}, "
            f"got {_found(items[bad[0]])} ({number} affected)"
        )


def _named(names: list[str] | None, index: int) -> str:
    return f" (id {shown(names[index])})" if names else ""


def _is_text(item: Any) -> bool:
    return isinstance(item, str) and is_encodable(item)


def _is_text_or_texts(item: Any) -> bool:
    return _is_text(item) or (isinstance(item, list | tuple) and len(item) > 0 and all(map(_is_text, item)))


def _found(item: Any) -> str:
    """What a bad item is, without its content."""
    if isinstance(item, str):
        return "str with half a surrogate pair"
    if isinstance(item, list | tuple) and item:
        wrong = [text for text in item if not _is_text(text)]
        return f"{type(item).__name__} holding {_found(wrong[0])}" if wrong else _list_of(item)
    return f"an empty {type(item).__name__}" if isinstance(item, list | tuple) else type(item).__name__


def _list_of(item: Sequence[Any]) -> str:
    return f"{type(item).__name__} of {type(item[0]).__name__}"
