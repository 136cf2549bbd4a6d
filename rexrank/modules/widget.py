"""The page of a module's Space: a small table of reports in, scores out. No text is kept, logged or quoted.

It opens with the first worked example of the module's tests.py.
"""

import json
import runpy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.environment import prepare_libraries
from rexrank.errors import RexrankError
from rexrank.metrics.inputs import InvalidCall
from rexrank.modules.arguments import SETTINGS, features_of, option_names
from rexrank.modules.checked import Checked
from rexrank.reports.studies import Limits
from rexrank.terms import CONVENTIONS

if TYPE_CHECKING:
    import gradio

HEADERS = ["prediction", "reference"]
MAX_REPORTS = 200
# As in a file of predictions: some scores take time with the square of a text's length.
MAX_CHARACTERS = Limits().report_characters
# Options that also take the path of a file, which nobody may choose on another's machine.
TAKE_A_PATH = ("df", "training")
_MANY_KEYS = 12
_MARKED_OF_MANY = 5
_LINE = 60


def build(module: Path) -> "gradio.Interface":
    """Make the page of a module.

    Args:
        module: The module's script, for example ``bleu.py``.

    Returns:
        A Gradio interface; start it with :func:`launch`.
    """
    prepare_libraries()
    import evaluate
    import gradio as gr

    metric = evaluate.load(str(module))
    example = runpy.run_path(str(module.parent / "tests.py"))["test_cases"][0]
    return gr.Interface(
        fn=_scorer(type(metric)),
        inputs=_inputs(metric, example),
        outputs=gr.JSON(label="Result", elem_id="result"),
        title=f"rexrank/{module.stem}",
        description=metric.description,
        api_name="score",
        api_description="Score predictions against references with one convention.",
        flagging_mode="never",
        submit_btn="Score",
    )


def _inputs(metric: Checked, example: Mapping[str, Any]) -> "list[gradio.Component]":
    """The fields of the page, filled with an example."""
    import gradio as gr

    options = dict(example["options"])
    features = options.pop("features", {})
    item = "report" if metric.registered.task == "report" else "answer"
    return [
        gr.Dataframe(
            value=[list(row) for row in zip(example["predictions"], example["references"], strict=True)],
            headers=HEADERS,
            datatype="str",
            type="array",
            column_count=2,
            column_widths=["50%", "50%"],
            wrap=True,
            label=f"{item.capitalize()}s, one a row",
            elem_id="reports",
        ),
        gr.Radio(list(CONVENTIONS), value=options.pop("convention", "published"), label="Convention"),
        _choice_of_keys(metric, options.pop("keys", None) or metric.computable(features, options)),
        gr.Textbox(
            value=_readable(features) if features else "",
            lines=6 if features else 1,
            max_lines=20,
            label="Features, as JSON",
            info="What encoders or a judge made of these texts; this page runs none.",
            visible=bool(features_of(metric.registered)),
            elem_id="features",
        ),
        gr.Textbox(
            value=_readable(options) if options else "",
            max_lines=8,
            label="Options, as JSON",
            info=", ".join(name for name in option_names(metric.registered) if name not in (*SETTINGS, "features")),
            elem_id="options",
        ),
    ]


def launch(page: "gradio.Interface", **settings: Any) -> Any:
    """Start the page without a history of runs in the browser and without error details.

    Args:
        page: What :func:`build` made.
        **settings: Passed on to Gradio's ``launch``.
    """
    return page.launch(**{"run_history": False, "show_error": False, "footer_links": ["api"], **settings})


def _choice_of_keys(metric: Checked, chosen: Sequence[str]) -> "gradio.Component":
    """The scores to choose from; of very many the first ones are marked."""
    import gradio as gr

    keys = list(metric.keys)
    settings: dict[str, Any] = {"choices": keys, "label": "Scores", "elem_id": "keys"}
    if len(keys) <= _MANY_KEYS:
        return gr.CheckboxGroup(value=list(chosen), **settings)
    return gr.Dropdown(value=list(chosen)[:_MARKED_OF_MANY], multiselect=True, **settings)


def _readable(value: Any, indent: str = "") -> str:
    """JSON in which whatever is short stands in one line."""
    line = json.dumps(value)
    if len(line) <= _LINE or not isinstance(value, dict | list):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {_readable(part, inner)}" for name, part in value.items()]
    else:
        parts = [_readable(part, inner) for part in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([first, ",\n".join(f"{inner}{part}" for part in parts), f"{indent}{last}"])


def _scorer(module: type[Checked]) -> Callable[..., dict[str, Any]]:
    import gradio as gr

    def score(
        reports: Sequence[Sequence[Any]], convention: str, keys: Sequence[str], features: str, options: str
    ) -> dict[str, Any]:
        # A module keeps rows between calls, so every visitor gets an instance of their own.
        metric = module()
        try:
            rows = rows_of(reports)
            return metric.compute(
                predictions=[prediction for prediction, _ in rows],
                references=[reference for _, reference in rows],
                **{"convention": convention, "keys": list(keys), **settings_of(features, options)},
            )
        except RexrankError as refused:
            raise gr.Error(str(refused), print_exception=False) from None

    return score


def rows_of(reports: Sequence[Sequence[Any]]) -> list[tuple[Any, Any]]:
    """Prediction and reference of the rows of the table in which anything stands.

    Raises:
        InvalidCall: There are more or longer texts than a page takes from a visitor.
    """
    filled = ([cell or "" for cell in row] for row in reports if any(str(cell or "").strip() for cell in row))
    rows = [(row[0], row[1] if len(row) > 1 else "") for row in filled]
    if len(rows) > MAX_REPORTS:
        raise InvalidCall(f"at most {MAX_REPORTS} reports here; use the module in Python for more")
    for place, texts in enumerate(rows):
        if any(len(text) > MAX_CHARACTERS for text in texts if isinstance(text, str)):
            raise InvalidCall(
                f"row {place + 1}: at most {MAX_CHARACTERS:,} characters a text here; use the module in Python for more"
            )
    return rows


def settings_of(features: str, options: str) -> dict[str, Any]:
    """Keyword arguments of a module's ``compute`` from what stands in the two fields for JSON.

    Raises:
        InvalidCall: No JSON object, an argument that has a field of its own, or the path of a file; quotes nothing.
    """
    found = _object("options", options)
    if taken := [name for name in ("features", *SETTINGS) if name in found]:
        raise InvalidCall(f"options: {taken[0]} is not set here")
    if paths := [name for name in TAKE_A_PATH if isinstance(found.get(name), str)]:
        raise InvalidCall(f"options: {paths[0]} cannot be a file here; give its content")
    given = _object("features", features)
    return {**found, "features": given} if given else found


def _object(field: str, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as spoiled:
        place = f" (line {spoiled.lineno})" if isinstance(spoiled, json.JSONDecodeError) else ""
        raise InvalidCall(f"{field}: this is not JSON{place}") from None
    except RecursionError:
        raise InvalidCall(f"{field}: the JSON is nested too deeply") from None
    if not isinstance(found, dict):
        raise InvalidCall(f"{field}: expected an object of names and values, got {type(found).__name__}")
    return found
