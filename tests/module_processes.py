"""Processes that load an evaluate module with caches of their own."""

from pathlib import Path
from typing import Any

from waiting import last_json, surroundings

ROOT = Path(__file__).resolve().parents[1]

# Runs in a process of its own: evaluate reads its folders from the environment when it is imported.
CHECK = r"""
import ast, doctest, json, re, runpy, sys
from pathlib import Path
import evaluate

before = set(sys.modules)
folder = Path(sys.argv[1])
path = sys.argv[2] if len(sys.argv) > 2 else str(folder)
module = evaluate.load(path)


def rounded(value):
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


for case in runpy.run_path(str(folder / "tests.py"))["test_cases"]:
    result = module.compute(predictions=case["predictions"], references=case["references"], **case["options"])
    found = {key: rounded(result[key]) for key in case["result"]}
    assert found == case["result"], found

heavy = {"torch", "transformers", "tensorflow", "jax"} & (set(sys.modules) - before)
assert not heavy, heavy

block = re.search(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.S)[1]
names = {}
exec(re.sub(r"evaluate\.load\(.*\)", f"evaluate.load({path!r})", block), names)
shown = re.findall(r"^(result\[.*?\]) +# ([^(\n]+)", block, re.M)
assert shown
for expression, value in shown:
    assert rounded(eval(expression, names)) == ast.literal_eval(value.strip()), expression

example = re.sub(r"evaluate\.load\(.*\)", f"evaluate.load({path!r})", module.inputs_description)
failures = doctest.DocTestRunner().run(
    doctest.DocTestParser().get_doctest(example, {"evaluate": evaluate}, folder.name, None, 0), out=sys.stderr.write
)
assert failures.attempted and not failures.failed
print(json.dumps({"keys": module.keys, "revision": module._hash}))
"""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An empty cache and a home in which nobody, not even root, can write."""
    return surroundings("HF_", "XDG_") | {
        "HF_HOME": str(folder),
        "HOME": "/dev/null/home",
        "PYTHONPATH": str(ROOT),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        **more,
    }


def run(code: str, arguments: list[str], cwd: Path, settings: dict[str, str]) -> Any:
    """Run code in a new interpreter and return the JSON of its last line."""
    return last_json(code, arguments, cwd, settings, timeout=200)
