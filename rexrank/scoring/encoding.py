"""What encoders make of the texts of one run: each of them once over the distinct texts, whichever metrics need it."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rexrank import encoders
from rexrank.encoders.encoder import Encoder, EncoderFailure, Model, Record, UnknownEncoder
from rexrank.errors import RexrankError
from rexrank.metrics import InvalidCall, Unavailable, compute, metric_of, why_unavailable
from rexrank.metrics.features import FEATURES, Features, PairFeatures, TextFeatures
from rexrank.metrics.policy import OPTION_NAMES
from rexrank.metrics.registry import needs_of
from rexrank.scoring.session import EncoderSettings as EncoderSettings
from rexrank.scoring.session import Session
from rexrank.terms import Convention

# What runs encoders is imported when one is needed: most scores need none, and their run is short.
if TYPE_CHECKING:
    from rexrank.encoders.weights import Located

Tell = Callable[[int, int], None]

# RadCliQ takes them as they are, whatever its own convention; RadGraph's component follows the convention.
_ALWAYS_PUBLISHED = ("bertscore", "sembscore")


@dataclass(frozen=True)
class Request:
    """A feature of texts that a score needs, and the encoder that makes it.

    Attributes:
        feature: Its name.
        options: Options that chose the encoder.
        encoder: The encoder.
    """

    feature: str
    options: Mapping[str, Any] = field(hash=False)
    encoder: Encoder


def requests(key: str, options: Mapping[str, Any], convention: Convention) -> list[Request]:
    """The features of texts that a score is made of, in the end.

    Args:
        key: Score key.
        options: Options of its metric.
        convention: Of the score.

    Raises:
        InvalidCall: An option has a value that no encoder has.
        Unavailable: It needs a judge, or an encoder that this version does not run.
    """
    found: list[Request] = []
    for need in needs_of(key, options):
        if FEATURES[need].of == "pair" and FEATURES[need].runs:
            found += requests(need, {}, _convention_of(need, convention))
        else:
            found.append(_request(key, need, _encoder_options(key, options, convention)))
    return found


def _request(key: str, feature: str, options: Mapping[str, Any]) -> Request:
    try:
        encoder = encoders.find(feature, options) if FEATURES[feature].runs else None
    except UnknownEncoder as error:
        raise InvalidCall(str(error)) from None
    if encoder is None:
        raise Unavailable(str(why_unavailable(key)))
    return Request(feature, options, encoder)


def _encoder_options(key: str, options: Mapping[str, Any], convention: Convention) -> dict[str, Any]:
    names = metric_of(key).encoder_options
    return {name: value for name, value in options.items() if name in names and value is not None} | {
        "convention": convention
    }


def _convention_of(component: str, convention: Convention) -> Convention:
    return "published" if component in _ALWAYS_PUBLISHED else convention


def why_not(key: str, options: Mapping[str, Any], convention: Convention) -> str | None:
    """Why a score cannot be computed from texts here, in one sentence; None where nothing but files may lack.

    Raises:
        InvalidCall: No metric computes it, or an option has a value that it does not take.
    """
    given = [name for name, value in options.items() if value is not None]
    if not needs_of(key, options):
        return why_unavailable(key, given)
    try:
        requests(key, options, convention)
    except Unavailable as error:
        return str(error)
    absent = [package for package in ("torch", "transformers") if find_spec(package) is None]
    if absent:
        return f"{key} needs {' and '.join(absent)}: pip install 'rexrank[metrics]'"
    return None


def why_not_here(key: str, settings: EncoderSettings | None = None) -> str | None:
    """Why a score cannot be computed on this machine as it is, without asking the Hub; None where it can.

    Raises:
        InvalidCall: No metric computes it.
    """
    from rexrank.encoders.weights import MissingWeights, Weights

    settings = settings or EncoderSettings()
    if reason := why_not(key, {}, "published"):
        return reason
    weights = Weights(settings.weights, download=False)
    try:
        for request in requests(key, {}, "published") if needs_of(key, {}) else ():
            request.encoder.locate(weights)
    except (MissingWeights, EncoderFailure) as error:
        return str(error)
    return None


def fetch(keys: Iterable[str], settings: EncoderSettings | None = None) -> None:
    """Fetch the files of the encoders that scores need, where they are not here; what cannot be had stays missing."""
    from rexrank.encoders.weights import MissingWeights, Weights

    settings = settings or EncoderSettings()
    weights = Weights(settings.weights, settings.download, settings.progress)
    for key in keys:
        with suppress(Unavailable, MissingWeights, EncoderFailure):
            for request in requests(key, {}, "published"):
                request.encoder.locate(weights)


class Encoding:
    """The texts of one run and what encoders made of them; a context manager.

    Attributes:
        used: The encoders that ran or whose features were found, by name, with their files.
    """

    def __init__(
        self,
        predictions: Sequence[str],
        references: Sequence[str | Sequence[str]],
        convention: Convention,
        settings: EncoderSettings | None = None,
        policy: Mapping[str, Any] | None = None,
        session: Session | None = None,
    ) -> None:
        """Take the texts; nothing is loaded before `run`.

        Args:
            predictions: One text a study.
            references: One text, or several, a study.
            convention: Of the scores.
            settings: Where and how encoders run.
            policy: Options of the policy, which the components of RadCliQ follow too.
            session: One that is kept open and has the settings; None for one that ends with this encoding.
        """
        self.used: dict[str, list[Located]] = {}
        self._predictions = list(predictions)
        self._references = [(texts,) if isinstance(texts, str) else tuple(texts) for texts in references]
        self._texts = list(dict.fromkeys(chain(self._predictions, chain.from_iterable(self._references))))
        self._convention = convention
        self._session = session or Session(settings)
        self._policy = {name: value for name, value in (policy or {}).items() if name in OPTION_NAMES}
        self._runs: dict[str, _Run] = {}
        self._reasons: dict[str, str] = {}
        self._components: dict[str, PairFeatures] = {}
        self._session.begin(chain.from_iterable(self._references))

    @property
    def devices(self) -> list[str]:
        """Where the encoders run.

        Raises:
            UnknownDevice: The settings name a device that is not here.
        """
        return self._session.devices

    def requests(self, keys: Mapping[str, Mapping[str, Any]]) -> list[Request]:
        """What the encoders have to do: one request an encoder.

        Args:
            keys: Score keys with the options of their metrics.
        """
        found = [request for key, options in keys.items() for request in requests(key, options, self._convention)]
        return list({request.encoder.name: request for request in reversed(found)}.values())[::-1]

    def run(self, request: Request, tell: Tell = lambda done, total: None) -> None:
        """Encode the texts that the store has not; a failure is kept for the scores that need the encoder.

        Args:
            request: From `requests`.
            tell: Called with the numbers of texts that are encoded and that have to be.
        """
        encoder = request.encoder
        if encoder.name in self._runs or encoder.name in self._reasons:
            return
        try:
            self._runs[encoder.name] = self._encoded(request, tell)
        except RexrankError as error:
            self._reasons[encoder.name] = str(error)

    def fail(self, request: Request, reason: str) -> None:
        """Note why an encoder made nothing."""
        self._reasons[request.encoder.name] = reason

    def _encoded(self, request: Request, tell: Tell) -> "_Run":
        from rexrank.encoders.sharding import loader

        encoder = request.encoder
        located = self._session.locate(encoder)
        self.used[encoder.name] = located
        shelf = "/".join([encoder.name, encoder.version, *(one.fingerprint for one in located)])
        run = _Run(encoder, located, shelf, loader(request.feature, request.options, located))
        self._fill(run, tell)
        return run

    def _fill(self, run: "_Run", tell: Tell = lambda done, total: None) -> None:
        """Encode what the store lacks."""
        missing = [self._texts[position] for position in self._session.records.missing(run.shelf, self._texts)]
        missing = [text for text in missing if text not in run.failed]
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            tell(done, len(missing))

        if missing:
            failed = self._encode(run, missing, count)
            run.failed.update(missing[position] for position in failed)

    def _encode(self, run: "_Run", texts: Sequence[str], done: Callable[[int], None]) -> list[int]:
        from rexrank.encoders.sharding import encode, encode_here

        session = self._session
        if not session.keeps_models:
            return encode(run.load, texts, session.devices, session.store, run.shelf, done)
        model = session.model(run.shelf, run.load, session.devices[0])
        return encode_here(model, texts, session.records, run.shelf, done)

    def features(self, key: str, options: Mapping[str, Any], given: Container[str] = ()) -> dict[str, Features]:
        """The features that a score needs, for `rexrank.metrics.compute`; encoders that did not run yet run now.

        Items are read when they are asked for, so that the vectors of all texts never are in memory together.

        Args:
            key: Score key.
            options: Options of its metric.
            given: Names of features that are there already.

        Raises:
            Unavailable: An encoder failed or lacks its files.
        """
        found: dict[str, Features] = {}
        reasons: list[str] = []
        for need in needs_of(key, options):
            if need not in given:
                try:
                    found[need] = self._feature(key, need, options)
                except Unavailable as error:
                    reasons.append(str(error))
        if len(reasons) > 1:  # RadCliQ's: one sentence says enough, where it says that it is not all
            raise Unavailable(
                f"{reasons[0]}; {key} lacks more than that: `rexrank weights pull --for {key}` fetches it all"
            )
        if reasons:
            raise Unavailable(reasons[0])
        return found

    def _feature(self, key: str, need: str, options: Mapping[str, Any]) -> Features:
        if FEATURES[need].of == "pair" and FEATURES[need].runs:
            return self._component(need)
        request = _request(key, need, _encoder_options(key, options, self._convention))
        return self._of_texts(request, self._predictions, self._references)

    def _of_texts(
        self, request: Request, predictions: Sequence[str], references: Sequence[Sequence[str]]
    ) -> TextFeatures:
        run = self._run_of(request)
        read = partial(self._item, run, request.encoder.features[request.feature])
        return TextFeatures(
            _Items(predictions, read),
            _Items(references, lambda texts: _Items(texts, read)),
            {**request.encoder.signature, "dtype": "fp32", "w": run.weights},
            self._counts([run]),
        )

    def _run_of(self, request: Request) -> "_Run":
        self.run(request)
        if reason := self._reasons.get(request.encoder.name):
            raise Unavailable(reason)
        return self._runs[request.encoder.name]

    def _component(self, key: str) -> PairFeatures:
        """A score that is part of RadCliQ: of each study a list with one value a reference."""
        if key not in self._components:
            convention = _convention_of(key, self._convention)
            found = requests(key, {}, convention)
            counts = [len(texts) for texts in self._references]
            predictions = [text for text, count in zip(self._predictions, counts, strict=True) for _ in range(count)]
            references = [(text,) for texts in self._references for text in texts]
            features = {request.feature: self._of_texts(request, predictions, references) for request in found}
            policy = self._policy if convention == self._convention else {}
            scores = compute(key, predictions, references, convention, None, features, **policy)[key]
            values = iter(scores.values.tolist())
            runs = [self._run_of(request) for request in found]
            weights = {"w": "+".join(run.weights for run in runs), "dtype": "fp32"}
            items = [[next(values) for _ in range(count)] for count in counts]
            self._components[key] = PairFeatures(items, weights, self._counts(runs))
        return self._components[key]

    def _item(self, run: "_Run", make: Callable[[Record, str], Any], text: str) -> Any:
        record = self._record(run, text)
        if record is None:
            return None
        run.counted[text] = {name: int(record[name]) for name in run.encoder.counts if name in record}
        return make(record, text)

    def _record(self, run: "_Run", text: str) -> Record | None:
        if text in run.failed:
            return None
        record = self._session.records.get(run.shelf, text)
        if record is None and not run.filled_again:  # damage seldom comes alone: what else is gone comes along
            run.filled_again = True
            self._fill(run)
            record = self._session.records.get(run.shelf, text)
        if record is None:
            run.model = run.model or self._session.model(run.shelf, run.load, self.devices[0])
            record = next(iter(run.model.encode([text])))[1]
        return record

    def _counts(self, runs: Sequence["_Run"]) -> "_Counts":
        texts = [*self._predictions, *chain.from_iterable(self._references)]
        return _Counts(runs, texts)

    def close(self) -> None:
        """Let go of models and of the store, but for those of a session that is kept open."""
        self._runs.clear()
        self._session.end()

    def __enter__(self) -> "Encoding":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass
class _Run:
    """An encoder that went over the texts."""

    encoder: Encoder
    located: "list[Located]"
    shelf: str
    load: Callable[[str], Model]
    failed: set[str] = field(default_factory=set)
    counted: dict[str, dict[str, int]] = field(default_factory=dict)
    filled_again: bool = False
    model: Model | None = None

    @property
    def weights(self) -> str:
        """What pins the weights in a signature."""
        return "+".join(one.short for one in self.located if one.checkpoint.holds_weights)


class _Items(Sequence[Any]):
    """What is made of each text, whenever it is asked for."""

    def __init__(self, texts: Sequence[Any], make: Callable[[Any], Any]) -> None:
        self._texts = texts
        self._make = make

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, position: Any) -> Any:
        return self._make(self._texts[position])


class _Counts(Mapping[str, int]):
    """What encoders counted over the texts, once the metric has read what they made of them.

    Where several count the same thing in a text, the larger number holds.
    """

    def __init__(self, runs: Sequence[_Run], texts: Sequence[str]) -> None:
        self._runs = runs
        self._texts = texts

    def __getitem__(self, name: str) -> int:
        if name not in iter(self):
            raise KeyError(name)
        return sum(max(run.counted.get(text, {}).get(name, 0) for run in self._runs) for text in self._texts)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for run in self._runs for name in run.encoder.counts))

    def __len__(self) -> int:
        return len(list(iter(self)))
