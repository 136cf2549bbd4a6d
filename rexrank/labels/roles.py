"""What a phrase can do in its clause.

The roles are those of ConText (Harkema et al., Journal of Biomedical Informatics 2009), for clauses of our own: a cue
acts on the findings after it, on those before it, or, where it can stand on either side, on those before it if any.
"""

from enum import StrEnum


class Role(StrEnum):
    """What a phrase does to the findings of its clause."""

    FINDING = "is a finding"
    ANYTHING = "stands for any finding"
    PART = "is a part whose look is judged"
    NOTHING = "takes its words away from shorter phrases"
    ABSENT_AFTER = "what follows is absent"
    ABSENT_BEFORE = "what stands before is absent"
    ABSENT_EITHER = "what stands before is absent, or else what follows"
    DOUBT_AFTER = "what follows is uncertain"
    DOUBT_BEFORE = "what stands before is uncertain"
    DOUBT_EITHER = "what stands before is uncertain, or else what follows"
    PAST_AFTER = "what follows was, or is only asked for"
    NORMAL = "the part is normal"
    LARGE = "the part is abnormal"
    PROMINENT = "the part is abnormal, the heart and the mediastinum perhaps"
    BORDERLINE = "the part is perhaps abnormal"
    NEW_START = "an adjective that begins a positive remark after a list of absent things"
    VERB = "a verb: a clause of its own"
    WITH = "ends a list of absent things"
    BREAK = "ends a clause"
    COMMA = "a comma"
    AND = "and"
    OR = "or, a slash"
