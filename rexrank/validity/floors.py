"""The blind floors of a benchmark with their scores: what a system reaches that sees no image.

All are built from the training split alone (`rexrank.benchmarks.floors`). Constants are chosen for each score
(`rexrank.validity.constant_choice`). Which floor a system has to beat in a score is decided on the training split as
well: each floor is scored there too, neighbours without the study itself, and the best one counts. So no floor profits
from the test texts, and neither does the system from an unlucky floor.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from rexrank.benchmarks import BenchmarkError, TrainingStudy
from rexrank.benchmarks.floors import CONSTANT, FREQUENT, RANDOM, Floor, Trained, blind, fields_of
from rexrank.errors import RexrankError
from rexrank.metrics import InvalidCall, KeyScores, compute, metric_of, score_keys
from rexrank.protocols import Protocol, load, prepare
from rexrank.reports.studies import Study
from rexrank.scoring.card import ScoreCard, finite
from rexrank.scoring.encoding import EncoderSettings, Encoding
from rexrank.scoring.plan import own_options, plan
from rexrank.scoring.progress import Progress, Report, reporting
from rexrank.scoring.score import score
from rexrank.terms import Convention, Track
from rexrank.validity.constant_choice import EXACT, RACED, best_by_bleu2, raced
from rexrank.validity.sets import EvaluationSet

# Of a larger training split a sample of so many studies chooses; neighbours are looked for in all of it.
MOST_TRAINING = 5_000
SEED = 0


@dataclass(frozen=True)
class ScoredFloor:
    """One floor with its scores.

    Attributes:
        name: What it is called.
        slug: The same as part of a path.
        description: How it was made.
        card: Its scores on the test studies.
        train: Score key to its score on the training split.
        predictions: Text by study id; None where only scores were kept.
    """

    name: str
    slug: str
    description: str
    card: ScoreCard
    train: Mapping[str, float]
    predictions: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Floors:
    """All floors of one track under one protocol.

    Attributes:
        set_name: Of the evaluation set.
        track: Which text is predicted.
        floors: The floors.
        chosen: Score key to the slug of the floor that is best on the training split.
        how: Score key to how its constant was chosen, in words.
        n_training: Training studies with a text of the track.
        n_chosen_on: Those of them that chose.
        public: Whether texts and scores of single studies may be shown to everyone.
        absent: Score key to the reason why no floor was chosen in it.
    """

    set_name: str
    track: str
    floors: tuple[ScoredFloor, ...]
    chosen: Mapping[str, str]
    how: Mapping[str, str]
    n_training: int
    n_chosen_on: int
    public: bool
    absent: Mapping[str, str] = field(default_factory=dict)

    def of(self, key: str) -> ScoredFloor | None:
        """The floor that counts in a score; None where none was chosen."""
        return next((floor for floor in self.floors if floor.slug == self.chosen.get(key)), None)

    def to_json(self) -> dict[str, Any]:
        """Scores and choices for ``json.dumps(…, allow_nan=False)``; no text and no id."""
        return {
            "set": self.set_name,
            "track": self.track,
            "protocol": f"{self.floors[0].card.protocol}@{self.floors[0].card.protocol_version}",
            "convention": self.floors[0].card.convention,
            "public": self.public,
            "n": self.floors[0].card.n,
            "n_training": self.n_training,
            "n_chosen_on": self.n_chosen_on,
            "chosen": dict(self.chosen),
            "constants": dict(self.how),
            "absent": dict(self.absent),
            "floors": [
                {
                    "name": one.name,
                    "slug": one.slug,
                    "description": one.description,
                    "train": dict(one.train),
                    "test": one.card.summary,
                    "intervals": {key: list(ends) for key, ends in one.card.intervals.items()},
                }
                for one in self.floors
            ],
        }


def build_floors(
    evaluation_set: EvaluationSet,
    metrics: str | Sequence[str] | None = None,
    protocol: str | Protocol | None = "rexrank",
    convention: Convention | None = None,
    fields: Sequence[str] = ("indication",),
    settings: EncoderSettings | None = None,
    progress: bool | Progress = False,
    text_preparation: str | None = None,
) -> Floors:
    """Build the floors of a set from its training split, score them, and choose one for each score.

    Args:
        evaluation_set: Test studies, of which no text but the context is read before the scoring, and training.
        metrics: Score keys or metric names; None for the protocol's. Those that only describe reports, and those of
            the whole set, have no floor.
        protocol: Rule book, as in `rexrank.score`.
        convention: ``published`` or ``corrected``; None for the protocol's.
        fields: Fields of the context by which a neighbour is looked for.
        settings: Where and how encoders run.
        progress: As in `rexrank.score`.
        text_preparation: As in `rexrank.score`.

    Raises:
        BenchmarkError: No training study has a text of the track, or a field is nowhere.
        InvalidCall: No such metric.
        RefusedInput: References cannot be scored.
    """
    # Its own constant is found from the sample below; of a large training split that would take hours.
    trained = Trained.of(evaluation_set.training, evaluation_set.track, constant="")
    kinds = [CONSTANT, FREQUENT, RANDOM, *_neighbours(trained, fields)]
    bench = _Bench.of(evaluation_set, protocol, convention, metrics, settings or EncoderSettings(), text_preparation)
    with reporting(progress, total=len(bench.keys) + 2 * len(kinds)) as report:
        usual, how, constants = _constants(bench, report)
        floors = (
            _floors(
                evaluation_set,
                bench,
                replace(trained, constant=usual, n_chosen_on=len(bench.training)),
                kinds,
                constants,
            )
            if bench.keys
            else []
        )
        scored = [_scored(bench, evaluation_set, floor, spoken, report) for floor, spoken in floors]
    scored = [one for one in scored if one.card.summary]
    absent = dict(bench.absent)
    chosen: dict[str, str] = {}
    for key in bench.keys:
        best = _best(key, scored)
        if best is not None:
            chosen[key] = best.slug
        else:
            absent.setdefault(key, "no floor has this score on the training split")
    return Floors(
        set_name=evaluation_set.name,
        track=evaluation_set.track,
        floors=tuple(scored),
        chosen=chosen,
        how={key: words for key, words in how.items() if key in chosen},
        n_training=len(trained.texts),
        n_chosen_on=len(bench.predictions),
        public=evaluation_set.public,
        absent=absent,
    )


@dataclass
class _Bench:
    """Training texts as a protocol prepares them, and what scores them."""

    rules: Protocol
    convention: Convention
    track: Track
    keys: list[str]
    options: Mapping[str, Any]
    settings: EncoderSettings
    training: list[TrainingStudy]
    predictions: list[str]
    references: list[tuple[str, ...]]
    preparation: str | None
    asked_preparation: str | None
    absent: dict[str, str]

    @classmethod
    def of(
        cls,
        known: EvaluationSet,
        protocol: str | Protocol | None,
        convention: Convention | None,
        metrics: str | Sequence[str] | None,
        settings: EncoderSettings,
        text_preparation: str | None,
    ) -> "_Bench":
        rules = load(protocol)
        chosen = convention or rules.convention
        work = plan(metrics, rules, None, chosen)
        absent = dict(work.unavailable)
        keys = []
        for key in work.keys:
            kind, direction = score_keys()[key].kind, score_keys()[key].direction
            if kind == "set" or direction == "none":
                absent[key] = "it describes the whole set of reports" if kind == "set" else "no value of it is better"
            else:
                keys.append(key)
        training = _sampled([study for study in known.training if study.text(known.track)])
        studies = {str(place): _study(one) for place, one in enumerate(training)}
        texts = {str(place): one.text(known.track) or "" for place, one in enumerate(training)}
        prepared = prepare(rules, known.track, studies, texts, chosen, text_preparation)
        kept = [training[int(place)] for place in prepared.study_ids]
        return cls(
            rules,
            chosen,
            known.track,
            keys,
            work.options,
            settings,
            kept,
            prepared.predictions,
            prepared.references,
            prepared.name,
            text_preparation,
            absent,
        )

    def scores(self, key: str, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> KeyScores:
        """Scores of pairs of training texts, without intervals."""
        own = own_options(metric_of(key).name, self.options)
        with Encoding(predictions, references, self.convention, self.settings, self.options) as encoding:
            for request in encoding.requests({key: own}):
                encoding.run(request)
            features = encoding.features(key, own)
            return compute([key], predictions, references, self.convention, self.preparation, features, **own)[key]

    def train_scores(self, texts: Sequence[str]) -> dict[str, float]:
        """The score of one text for each training study, by key; a key that fails is absent with its reason."""
        found = {}
        for key in list(self.keys):
            value = finite(self._attempt(key, partial(self.scores, key, texts, self.references)))
            if value is not None:
                found[key] = value
        return found

    def _attempt(self, key: str, work: Callable[[], KeyScores]) -> float | None:
        try:
            return work().aggregate
        except InvalidCall:
            raise
        except RexrankError as error:
            self.drop(key, str(error))
            return None

    def drop(self, key: str, reason: str) -> None:
        """Go on without a score."""
        self.keys.remove(key)
        self.absent[key] = reason

    def text(self, place: int) -> str:
        """A training text as it stands there."""
        return self.training[place].text(self.track) or ""

    def prepared(self, text: str) -> str:
        """A training text as a prediction."""
        return self._as_prediction.get(text, text)

    def __post_init__(self) -> None:
        texts = map(self.text, range(len(self.training)))
        self._as_prediction = dict(zip(texts, self.predictions, strict=True))


def _constants(bench: _Bench, report: Report) -> tuple[str, dict[str, str], dict[str, str]]:
    """The constant by BLEU-2; how each score's constant was found; and its text as the training split has it."""
    how, texts = {}, {}
    report("constants")
    by_bleu2 = best_by_bleu2(bench.predictions, bench.references)
    # Sums that differ by rounding alone count as equal, so that the choice is the same on every machine.
    usual = int(np.flatnonzero(by_bleu2 >= by_bleu2.max() - 1e-12)[0])
    number = len(set(bench.predictions))
    for key in list(bench.keys):
        report(f"best constant for {key}")
        try:
            if key == "bleu2" and bench.convention == "published":
                place, words = usual, EXACT
            else:
                scorer = partial(bench.scores, key)
                place, words = raced(key, scorer, bench.predictions, bench.references, by_bleu2), RACED
        except InvalidCall:
            raise
        except RexrankError as error:
            bench.drop(key, str(error))
            continue
        how[key], texts[key] = words.format(n=number), bench.text(place)
    return bench.text(usual), how, texts


def _floors(
    known: EvaluationSet, bench: _Bench, trained: Trained, kinds: Sequence[str], constants: Mapping[str, str]
) -> list[tuple[Floor, list[str]]]:
    """Each floor, and what it says of the training studies."""
    contexts = {
        study_id: fields_of(study.context) for study_id, study in known.studies.items() if study.has(known.track)
    }
    learnt = Trained.of(bench.training, bench.track, trained.constant)
    found = [
        (floor, learnt.predict_training(kind))
        for kind, floor in zip(kinds, blind(contexts, trained, kinds), strict=True)
    ]
    keys_of: dict[str, list[str]] = {}
    for key, text in constants.items():
        if text != trained.constant:
            keys_of.setdefault(text, []).append(key)
    for text, keys in keys_of.items():
        labels = [score_keys()[key].label for key in keys]
        floor = Floor(
            name=_constant_name(labels),
            slug=f"floor-constant-{keys[0].replace('_', '-')}"
            + ("" if known.track == "findings" else f"-{known.track}"),
            track=known.track,
            predictions=dict.fromkeys(contexts, text),
            description=f"The same text for every study: the training {known.track} with the best {', '.join(labels)}.",
        )
        found.append((floor, [text] * len(bench.training)))
    return found


def _constant_name(labels: Sequence[str]) -> str:
    """A name that the board has room for, however many scores chose this text."""
    more = len(labels) - 1
    return f"Floor - constant for {labels[0]}{f' and {more} more' if more else ''}"


def _scored(bench: _Bench, known: EvaluationSet, floor: Floor, spoken: Sequence[str], report: Report) -> ScoredFloor:
    report(f"{floor.name}, training")
    train = bench.train_scores(list(map(bench.prepared, spoken)))
    report(f"{floor.name}, test")
    card = score(
        floor.predictions,
        known.references,
        protocol=bench.rules,
        track=bench.track,
        metrics=bench.keys,
        convention=bench.convention,
        progress=False,
        text_preparation=bench.asked_preparation,
        device=bench.settings.device,
        cache_dir=None if bench.settings.cache_dir is None else str(bench.settings.cache_dir),
        weights=None if bench.settings.weights is None else str(bench.settings.weights),
        download=bench.settings.download,
        cache=bench.settings.cache,
    )
    return ScoredFloor(floor.name, floor.slug, floor.description, card, train, floor.predictions)


def _best(key: str, floors: Sequence[ScoredFloor]) -> ScoredFloor | None:
    """The floor with the best score on the training split that has one on the test split; the first of equals."""
    able = [floor for floor in floors if key in floor.train and key in floor.card.summary]
    sign = 1.0 if score_keys()[key].direction == "higher" else -1.0
    return max(able, key=lambda floor: sign * floor.train[key], default=None)


def _neighbours(trained: Trained, fields: Sequence[str]) -> list[str]:
    known = trained.field_names
    for name in fields:
        if name not in known and tuple(fields) != ("indication",):
            raise BenchmarkError(
                f"no training study has {name!r} in its context; there are {', '.join(known) or 'none'}"
            )
    return [f"nearest {name}" for name in fields if name in known]


def _sampled(training: list[TrainingStudy]) -> list[TrainingStudy]:
    if len(training) <= MOST_TRAINING:
        return training
    # random() is the one method whose sequence Python promises to keep for a seed.
    draw = random.Random(SEED).random
    keys = [draw() for _ in training]
    order = sorted(range(len(training)), key=keys.__getitem__)
    return [training[place] for place in sorted(order[:MOST_TRAINING])]


def _study(one: TrainingStudy) -> Study:
    return Study(one.study_id, one.findings, one.impression, one.report, one.indication)
