"""A benchmark of the test split of an annotation file, for a host who owns its data set."""

import os
import re
from collections.abc import Mapping

from rexrank.benchmarks import chexpert_plus, mimic_cxr, openi
from rexrank.benchmarks.benchmark import Benchmark, BenchmarkStudy, Licence, WrongCall
from rexrank.benchmarks.cxpmrg_annotation import Item, read_annotation
from rexrank.benchmarks.owned import finished
from rexrank.errors import shown
from rexrank.reports.json_files import TEST
from rexrank.reports.reading import is_absent

LICENCES: Mapping[str, Licence] = {
    "chexpert-plus": chexpert_plus.LICENCE,
    "mimic-cxr": mimic_cxr.LICENCE,
    "iu-xray": openi.LICENCE,
}
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def load(source: str | os.PathLike[str], data_set: str, name: str, progress: bool = False) -> Benchmark:
    """The test split of an annotation file, one study an item, as the track ``findings``.

    Args:
        source: The annotation file, with all three splits.
        data_set: Whose texts these are, for their licence: a name of `LICENCES`.
        name: Name of the benchmark; a split of one's own has one that is not the data set's.
        progress: Whether to show a bar on stderr once two seconds have passed.

    Raises:
        RefusedInput: With every fault of the file.
        WrongCall: There is no such data set, or the name cannot be that of a benchmark.
    """
    if data_set not in LICENCES:
        raise WrongCall(f"there is no data set {shown(data_set)}; there are {', '.join(LICENCES)}")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in LICENCES:
        raise WrongCall(
            f"a split cannot be named {shown(name)}; use lower-case letters, digits, - _ and ., and no data set's name"
        )
    annotation = read_annotation(source, progress)
    benchmark = Benchmark(
        name=name,
        title=f"{name}, test split of an annotation file",
        split="test",
        studies=tuple(map(_study, annotation.splits[TEST])),
        licence=LICENCES[data_set],
        description=f"A test split of {data_set}, built from an owner's annotation file. No word is changed.",
        provenance="Ids are those of the annotation file's items, each of which is an image or a study.",
        references="public" if data_set == "iu-xray" else "private",
    )
    return finished(benchmark, (), annotation.name, None)


def _study(item: Item) -> BenchmarkStudy:
    return BenchmarkStudy(
        study_id=item.item_id,
        findings=None if is_absent(item.report) else item.report,
        impression=None,
        indication=None,
        comparison=None,
        image_path=item.image_path,
        key_image_path=item.image_path[0] if item.image_path else None,
        given_context="",
        patient_id=item.patient,
    )
