"""What a module's ``compute`` takes and returns, in words from the registry: for its docstring and for its card."""

import textwrap
from collections.abc import Mapping

from rexrank.metrics.computation import options_of
from rexrank.metrics.features import FEATURES, wanted_form
from rexrank.metrics.policy import OPTIONS as POLICY_OPTIONS
from rexrank.metrics.registry import Metric

_WIDTH = 116
_TEXTS = {
    "predictions": "list of strings, one a {item}",
    "references": "list as long, of strings, or of lists of strings for several references a {item}",
}
SETTINGS = {
    "convention": '"published" (default): the numbers that the originals print, oddities included; or "corrected"',
    "keys": "which scores to compute, a list or one name; by default all for which there is what they need",
    "ids": "unique strings, one a {item}, which messages about a bad input name",
}
_FEATURES = (
    "what encoders or a judge made of the texts, as {form}; where each {item} has one reference, what was made of it "
    "may stand in the place of its list; docs/features.md explains them"
)
_ENCODERS = {
    "features": _FEATURES,
    "device": "where encoders run (cpu, cuda, mps); by default what is there",
    "weights": "folder with the checkpoints of encoders; by default REXRANK_WEIGHTS, else they come from the Hub",
}
# Beside these every metric counts its reports in `n_empty`, `n_truncated` and `n_undefined`.
FURTHER_COUNTS = {
    "n_unparsed": "answers that cannot be read",
    "n_chunked": "texts that the encoder read in pieces",
    "n_truncated_entities": "entities cut at a limit",
    "n_failed": "reports of which a judge or a program made nothing",
    "n_clamped": "values set to the end of their range",
    "n_unsupported_language": "pairs with a text in a script that the metric does not read",
    "n_inconsistent": "findings in answers that contradict themselves",
}
_RESULTS = {
    "<key>": "float, or None where nothing is defined",
    "<key>_per_report": "list with one float a {item} in the order of the inputs, None where undefined",
    "signature": "one word a key that pins how the number came about, with blanks between them",
    "n_empty": "number of blank predictions",
    "n_truncated": "number of texts cut at a limit",
    "n_undefined": "number of {item}s to which one of the keys at least gives no value",
    "n_<other>": "where the metric counts it, the largest number of one of the keys: "
    + "; ".join(f"`{name}`: {what}" for name, what in FURTHER_COUNTS.items()),
}


def features_of(metric: Metric) -> tuple[str, ...]:
    """Names of the features that the scores of a metric need."""
    return tuple(dict.fromkeys(name for score_key in metric.keys for name in score_key.needs))


def option_names(metric: Metric) -> tuple[str, ...]:
    """Names of the keyword arguments that a module takes beside the texts, in the order of its card."""
    encoders = _encoder_arguments(metric)
    return (*SETTINGS, *encoders, *options_of(metric.name))


def arguments(metric: Metric) -> dict[str, str]:
    """What a module takes beside the options of its metric and of the policy, in words by name."""
    found = {**_TEXTS, **SETTINGS}
    found |= _encoder_arguments(metric)
    return _of_items(metric, found)


def _encoder_arguments(metric: Metric) -> dict[str, str]:
    """What a module takes beside the texts where its metric needs features; of judges, the features alone."""
    names = features_of(metric)
    if not names:
        return {}
    words = {name: said.replace("{form}", wanted_form(names)) for name, said in _ENCODERS.items()}
    return words if all(FEATURES[name].runs for name in names) else {"features": words["features"]}


def results(metric: Metric) -> dict[str, str]:
    """What a module returns, in words by name; ``<key>`` stands for each of its score keys."""
    return _of_items(metric, _RESULTS)


def inputs_description(metric: Metric, example: str) -> str:
    """Arguments, results and an example of a module, for its docstrings.

    Args:
        metric: The metric of the module.
        example: A doctest.
    """
    options = {
        option.name: f"{option.values} (default: {option.default}). {option.description}"
        for option in (*metric.options, *POLICY_OPTIONS)
    }
    keys = f"For each <key> of {', '.join(score_key.key for score_key in metric.keys)}:"
    return "\n".join(
        [
            "Args:",
            *_indented({**arguments(metric), **options}),
            "Returns:",
            textwrap.fill(keys, _WIDTH, initial_indent="    ", subsequent_indent="    "),
            *_indented(results(metric)),
            "Example:",
            textwrap.indent(example.strip(), "    "),
            "",
        ]
    )


def _of_items(metric: Metric, words: Mapping[str, str]) -> dict[str, str]:
    item = "report" if metric.task == "report" else "question"
    return {name: said.replace("{item}", item) for name, said in words.items()}


def _indented(words: Mapping[str, str]) -> list[str]:
    return [
        textwrap.fill(f"{name}: {said}", _WIDTH, initial_indent="    ", subsequent_indent="        ")
        for name, said in words.items()
    ]
