"""What every evaluate module of rexrank shares: its metric, checked inputs, safe state, one form of result.

The evaluate library keeps rows of a failed batch, and shares a cache file between processes. :class:`Checked` stands in
front of it, so that a module is no more than the name of a metric and words about it.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rexrank.errors import shown
from rexrank.metrics.features import check_feature_names, wanted_form
from rexrank.metrics.inputs import InvalidCall, Unavailable, check_names
from rexrank.modules.arguments import FURTHER_COUNTS, inputs_description, option_names
from rexrank.modules.inputs import check_call, check_collected

if TYPE_CHECKING:
    from evaluate import Metric as _Base
    from evaluate import MetricInfo

    from rexrank.metrics.computation import KeyScores
    from rexrank.metrics.features import Features
    from rexrank.metrics.registry import Metric
    from rexrank.scoring.encoding import Encoding
    from rexrank.terms import Convention
else:
    _Base = object

# The reason that `rexrank.metrics.compute` gives for reports of which only the whole set has a score.
_ONLY_TOGETHER = "only_together"


class Checked(_Base):
    """Mixin for an evaluate module: ``class Bleu(Checked, evaluate.Metric)``.

    A subclass sets ``metric`` and writes ``_info``, which returns what `describe` makes. A call that fails leaves
    nothing behind, and rows that an earlier ``add_batch`` left behind never enter a call that brings its own inputs.

    Attributes:
        metric: Name of the metric in the registry, which is also the name of the folder.
    """

    metric: str
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

    @property
    def registered(self) -> "Metric":
        """What the registry knows of the module's metric."""
        from rexrank.metrics.registry import metrics

        return metrics()[self.metric]

    @property
    def keys(self) -> tuple[str, ...]:
        """The score keys of the module."""
        return tuple(score_key.key for score_key in self.registered.keys)

    def describe(
        self, description: str, citation: str, example: str, papers: Sequence[str], code: Sequence[str]
    ) -> "MetricInfo":
        """What a module says of itself; its arguments, options and results are written from the registry.

        Args:
            description: What is compared and how, in a few sentences.
            citation: BibTeX.
            example: A doctest, whose module is ``evaluate.load("rexrank/<metric>")``.
            papers: Addresses of the publications.
            code: Addresses of the originals' code.
        """
        from datasets import Features, List, Value
        from evaluate import MetricInfo

        text = Value("string")
        return MetricInfo(
            description=description,
            citation=citation,
            inputs_description=inputs_description(self.registered, example),
            features=[
                Features({"predictions": text, "references": text}),
                Features({"predictions": text, "references": List(text)}),
            ],
            reference_urls=list(papers),
            codebase_urls=list(code),
            license="apache-2.0",
        )

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
            Unavailable: The metric lacks something here: features that were not given, a program.
        """
        ids = options.pop("ids", None)
        if predictions is None and references is None:
            check_collected(len(self), ids)
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

    def _download_and_prepare(self, dl_manager: Any) -> None:
        """Fetch the weights of the metric's encoders; where that fails, `compute` says what to do."""
        from rexrank.scoring.encoding import EncoderSettings, fetch

        fetch([key.key for key in self.registered.keys if not key.opt_in], EncoderSettings(progress=True))

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        convention: "Convention" = "published",
        keys: Sequence[str] | str | None = None,
        features: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        from rexrank.encoders.devices import devices
        from rexrank.metrics.computation import compute
        from rexrank.scoring.encoding import EncoderSettings, Encoding

        known = option_names(self.registered)
        for name in options:
            if name not in known:
                raise InvalidCall(f"unknown option {shown(name)}; {self.metric} takes {', '.join(known)}")
        given = check_feature_names(features)
        texts = list(predictions), list(references)
        device = options.pop("device", None)
        if device is not None:
            devices(device)  # refused also where no text has to be encoded
        settings = EncoderSettings(device=device, weights=options.pop("weights", None), keep_models=True)
        with Encoding(*texts, convention, settings, options) as encoding:
            wanted, made = self._encoded(encoding, self._asked(keys), given, options)
            # Inside, because the vectors of tokens are read from the store one report after the other.
            scores = compute(wanted, *texts, convention, features={**made, **given}, **options)
        return result_of(list(scores.values()))

    def _asked(self, keys: Sequence[str] | str | None) -> list[str] | None:
        """The keys that were asked for, None for those that can be computed."""
        if keys is None:
            return None
        asked = check_names("keys", keys)
        unknown = [key for key in asked if key not in self.keys]
        if unknown or not asked:
            found = shown(unknown[0]) if unknown else "an empty list"
            raise InvalidCall(f"keys: expected some of {', '.join(self.keys)}; got {found}")
        return asked

    def _encoded(
        self, encoding: "Encoding", asked: list[str] | None, given: Mapping[str, Any], options: Mapping[str, Any]
    ) -> "tuple[list[str], dict[str, Features]]":
        """The keys to compute, and those of their features that were not given.

        Raises:
            Unavailable: A key that was asked for cannot be computed, or none of them.
        """
        possible: list[str] = []
        features: dict[str, Features] = {}
        failure: Unavailable | None = None
        for key in asked or self._meant(given, options):
            try:
                features |= encoding.features(key, options, given)
                possible.append(key)
            except Unavailable as error:
                failure = failure or Unavailable(f"{error}; or give {wanted_form(self._lacking(key, given, options))}")
                if asked:
                    raise failure from None
        if failure and not possible:
            raise failure
        if failure:
            warnings.warn(f"not computed: {failure}", stacklevel=2)
        return possible, features

    def _meant(self, given: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """The keys of a call that names none: those of the features given, else all that texts are enough for."""
        if given and (computable := self.computable(given, options)):
            return computable
        options_given = {name for name, value in options.items() if value is not None}
        usual = [key for key in self.registered.keys if not key.opt_in]
        return [key.key for key in usual if set(key.requires) <= options_given] or [usual[0].key]

    def computable(self, features: Iterable[str], options: Mapping[str, Any]) -> list[str]:
        """The score keys that features and options, by name, are enough for."""
        given = {name for name, value in options.items() if value is not None}
        return [
            key.key
            for key in self.registered.keys
            if not self._lacking(key.key, features, options) and set(key.requires) <= given
        ]

    def _lacking(self, key: str, features: Iterable[str], options: Mapping[str, Any]) -> list[str]:
        from rexrank.metrics.registry import needs_of

        return [name for name in needs_of(key, options) if name not in features]

    def _forget(self) -> None:
        self.writer = self.buf_writer = self.data = self.selected_feature_format = None


def result_of(scores: "Sequence[KeyScores]") -> dict[str, Any]:
    """Write scores as an evaluate module returns them.

    Args:
        scores: Results of :func:`rexrank.metrics.compute`, one a key, over the same reports.

    Returns:
        Per key its aggregate (float or None) and ``<key>_per_report`` (floats or None, in input order); ``signature``,
        the signatures of all keys with a blank between them; ``n_empty``, ``n_truncated``, and ``n_undefined``, the
        number of reports that have no value for at least one key that has values of reports; and those of
        `FURTHER_COUNTS` that a key has. Of a count that differs between keys the largest is returned.
    """
    result: dict[str, Any] = {}
    undefined: set[int] = set()
    for score in scores:
        values = [None if value != value else float(value) for value in score.values]
        result[score.key] = score.aggregate
        result[f"{score.key}_per_report"] = values
        # Where only all reports together have a score, no report lacks one.
        undefined.update(place for place, reason in score.reasons.items() if reason != _ONLY_TOGETHER)
    result["signature"] = " ".join(score.signature for score in scores)
    for count in ("n_empty", "n_truncated"):
        result[count] = max(score.counts.get(count, 0) for score in scores)
    result["n_undefined"] = len(undefined)
    for count in FURTHER_COUNTS:
        if found := [score.counts[count] for score in scores if count in score.counts]:
            result[count] = int(max(found))
    return result
