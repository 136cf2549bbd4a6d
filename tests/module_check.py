"""Run as text by a new interpreter: load modules as a user does and compare all numbers that they show.

Arguments are FOLDER or FOLDER=ADDRESS, the address being what ``evaluate.load`` gets. Without one it gets the folder,
which then is the current one: nothing in it may hide an installed package. The last line printed is the keys and the
revision of each, as JSON. evaluate reads its folders from the environment when it is imported.
"""

import ast
import doctest
import json
import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import evaluate

from rexrank.modules.arguments import FURTHER_COUNTS

COUNTS = {"signature", "n_empty", "n_truncated", "n_undefined"}
LOAD = re.compile(r"evaluate\.load\(.*\)")


def rounded(value: Any) -> Any:
    """A value to six digits, inside lists too."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


def check_cases(module: Any, folder: Path) -> None:
    """Compute the worked examples of tests.py, at once and collected one by one."""
    for case in runpy.run_path(str(folder / "tests.py"))["test_cases"]:
        predictions, references, options = case["predictions"], case["references"], case["options"]
        result = module.compute(predictions=predictions, references=references, **options)
        found = {key: rounded(result[key]) for key in case["result"]}
        assert found == case["result"], found
        keys = [key for key in module.keys if key in result]
        expected = {*keys, *(f"{key}_per_report" for key in keys), *COUNTS}
        assert expected <= set(result) <= expected | {*FURTHER_COUNTS}, sorted(result)
        assert keys, "no score"
        for prediction, reference in zip(predictions, references, strict=True):
            module.add(prediction=prediction, reference=reference)
        assert module.compute(**options) == result


def check_card(folder: Path, address: str) -> None:
    """Run the code of the card and compare the values in its comments."""
    block = re.search(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block
    names: dict[str, Any] = {}
    exec(LOAD.sub(f"evaluate.load({address!r})", block[1]), names)
    shown = re.findall(r"^(result\[.*?\]) +# ([^(\n]+)", block[1], re.MULTILINE)
    assert shown, "no value in the card"
    for expression, value in shown:
        assert rounded(eval(expression, names)) == ast.literal_eval(value.strip()), expression


def check_help(module: Any, address: str) -> None:
    """Run the example of the module's own description."""
    example = LOAD.sub(f"evaluate.load({address!r})", module.inputs_description)
    parsed = doctest.DocTestParser().get_doctest(example, {"evaluate": evaluate}, module.name, None, 0)
    done = doctest.DocTestRunner().run(parsed, out=sys.stderr.write)
    assert done.attempted
    assert not done.failed


def children() -> str:
    """Process ids of everything that this process has started."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


def check(folder: Path, address: str) -> dict[str, Any]:
    """Check one module."""
    running = children()
    module = evaluate.load(address)
    assert module.name == folder.name
    assert children() == running, "loading has started a process"
    check_cases(module, folder)
    check_card(folder, address)
    check_help(module, address)
    return {"keys": module.keys, "revision": module._hash}


before = set(sys.modules)
checked = {}
for argument in sys.argv[1:]:
    path, _, address = argument.partition("=")
    if not address:
        os.chdir(path)
    try:
        checked[Path(path).name] = check(Path(path), address or path)
    except Exception as failure:
        failure.add_note(f"in the module {Path(path).name}")
        raise
heavy = {"torch", "transformers", "tensorflow", "jax"} & (set(sys.modules) - before)
assert not heavy, heavy
print(json.dumps(checked))
