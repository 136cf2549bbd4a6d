"""What a file of references says of a study: whether an earlier one is known."""

from typing import Any

import pytest

from rexrank.reports.known import attributes_of
from rexrank.reports.studies import Study


@pytest.mark.parametrize(
    ("context", "attributes", "prior"),
    [
        ("Indication: Cough. Comparison: XXXX.", {}, "yes"),
        ("Comparison: None. Indication: Cough.", {}, "no"),
        ("Comparison: No prior studies.", {}, "no"),
        ("Comparison: No comparison available.", {}, "no"),
        ("Comparison: None available. Clinical History: Cough.", {}, "no"),
        ("Comparison: There are no old films.", {}, "no"),
        ("COMPARISON: No relevant prior studies. INDICATION: Cough.", {}, "no"),
        ("COMPARISON: XXXX. INDICATION: Cough.", {}, "yes"),
        ("Comparison: Unknown.", {}, None),
        ("Indication: Cough.", {}, None),
        (None, {}, None),
        (None, {"comparison": "Chest x-ray of May"}, "yes"),
        ("Comparison: None.", {"comparison": "Chest x-ray of May"}, "yes"),
        ("Comparison: None.", {"prior": "True"}, "yes"),
        ("Comparison: Chest x-ray.", {"prior": "no"}, "no"),
        (None, {"prior": "perhaps"}, None),
        (None, {"comparison": "no"}, "no"),
        (None, {"comparison": "Not applicable"}, "no"),
        (None, {"comparison": "--"}, None),
        (None, {"comparison": "No change since the film of May"}, "yes"),
    ],
)
def test_whether_a_prior_is_known(context: str | None, attributes: dict[str, Any], prior: str | None) -> None:
    found = attributes_of(Study("a", "Clear.", context=context, attributes={**attributes, "sex": "F"}))
    assert found == {"sex": "F"} | ({} if prior is None else {"prior": prior})
