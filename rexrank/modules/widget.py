"""The page of a module's Space: a small table of reports in, scores out. No text is kept, logged or quoted."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.environment import prepare_libraries
from rexrank.metrics.inputs import InvalidCall
from rexrank.modules.inputs import Checked
from rexrank.terms import CONVENTIONS

if TYPE_CHECKING:
    import gradio

HEADERS = ["prediction", "reference"]
MAX_REPORTS = 200
EXAMPLE = [
    ["Small right pleural effusion. The heart is enlarged.", "Small left pleural effusion. The heart is enlarged."],
    ["The lungs are clear.", "Lungs are clear. No pneumothorax."],
]


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
    keys = list(metric.keys)
    return gr.Interface(
        fn=_scorer(type(metric)),
        inputs=[
            gr.Dataframe(
                value=EXAMPLE,
                headers=HEADERS,
                datatype="str",
                type="array",
                column_count=2,
                column_widths=["50%", "50%"],
                wrap=True,
                label="Reports, one a row",
                elem_id="reports",
            ),
            gr.Radio(list(CONVENTIONS), value="published", label="Convention", elem_id="convention"),
            gr.CheckboxGroup(keys, value=keys, label="Scores", elem_id="keys"),
        ],
        outputs=gr.JSON(label="Result", elem_id="result"),
        title=f"rexrank/{module.stem}",
        description=metric.description,
        api_name="score",
        api_description="Score predictions against references with one convention.",
        flagging_mode="never",
        submit_btn="Score",
    )


def launch(page: "gradio.Interface", **settings: Any) -> Any:
    """Start the page without a history of runs in the browser and without error details.

    Args:
        page: What :func:`build` made.
        **settings: Passed on to Gradio's ``launch``.
    """
    return page.launch(**{"run_history": False, "show_error": False, "footer_links": ["api"], **settings})


def _scorer(module: type[Checked]) -> Callable[[Sequence[Sequence[Any]], str, Sequence[str]], dict[str, Any]]:
    import gradio as gr

    def score(reports: Sequence[Sequence[Any]], convention: str, keys: Sequence[str]) -> dict[str, Any]:
        rows = [[cell or "" for cell in row] for row in reports if any(str(cell or "").strip() for cell in row)]
        if len(rows) > MAX_REPORTS:
            raise gr.Error(
                f"at most {MAX_REPORTS} reports here; use the module in Python for more", print_exception=False
            )
        # A module keeps rows between calls, so every visitor gets an instance of their own.
        metric = module()
        try:
            return metric.compute(
                predictions=[row[0] for row in rows],
                references=[row[1] for row in rows],
                convention=convention,
                keys=list(keys),
            )
        except InvalidCall as refused:
            raise gr.Error(str(refused), print_exception=False) from None

    return score
