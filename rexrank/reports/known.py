"""What a file of references says of a study beside its texts."""

import re
from collections.abc import Mapping

from rexrank.reports.studies import Study

# "Comparison: None." stands in ReXrank's files where there is none, and a blank where nobody said.
_COMPARISON = re.compile(r"(?i:Comparison):\s*(?P<said>.*?)\s*(?:[A-Z][A-Za-z]+:|$)", re.DOTALL)
_NO_PRIOR = re.compile(
    r"(?:there (?:is|are|was|were) )?(?:none\b.*|no(?: (?:known|relevant|available|other|direct|chest))*"
    r" (?:prior|previous|earlier|old|comparison|stud|film|exam|image|imaging|radiograph|x-?ray)\w*\b.*"
    r"|no|not (?:available|applicable)|unavailable|n/?a|nil)\W*",
    re.IGNORECASE | re.DOTALL,
)
_UNSAID = re.compile(r"(?:unknown|not (?:known|stated|given|specified))?\W*", re.IGNORECASE)
_ANSWERS: Mapping[str, str] = {
    **dict.fromkeys(("yes", "true", "1"), "yes"),
    **dict.fromkeys(("no", "false", "0"), "no"),
}


def attributes_of(study: Study) -> dict[str, str]:
    """The attributes of a study, with ``prior``.

    Returns:
        `Study.attributes`, in which ``prior`` is ``yes`` or ``no`` by its own column, else by the column
        ``comparison``, else by "Comparison: …" in the context; absent where nobody said.
    """
    known = dict(study.attributes)
    said = known.pop("comparison", None)
    answer = _ANSWERS.get(known.pop("prior", "").strip().lower())
    if said is None and study.context:
        match = _COMPARISON.search(study.context)
        said = match["said"] if match else None
    if answer is None and said and not _UNSAID.fullmatch(said):
        answer = "no" if _NO_PRIOR.fullmatch(said) else "yes"
    return known if answer is None else {**known, "prior": answer}
