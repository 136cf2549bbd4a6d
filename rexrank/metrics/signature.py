"""Signatures: the line that pins how a number came about.

Two numbers may be compared only if their signatures are equal.
"""

import re
from collections.abc import Mapping

from rexrank.metrics.inputs import InvalidCall

# What each part says, for readers; every part that a metric or the policy writes stands here.
PARTS: Mapping[str, str] = {
    "conv": "convention: `published` or `corrected`",
    "tok": "tokeniser, see above",
    "stem": "`porter` where words are compared by their stems, else `none`",
    "n": "longest n-gram",
    "sigma": "width of CIDEr's penalty for another length, in bigrams",
    "df": "where CIDEr's document frequencies come from: `refs(590)`, the 590 documents of this call's references, or "
    "the first 8 digits of a table's sha256",
    "beta": "weight of recall against precision; 1 makes an F1",
    "impl": "whose implementation the numbers equal, where several share a name",
    "agg": "how studies make a score: `mean`, or `corpus` of their sums; in FineRadScore how the lines make a study's "
    "value: `worst` or `mean`",
    "labels": "labels that are counted: all `14`, the `5` of the CheXpert competition, or one",
    "avg": "how labels make a score: `micro`, `macro`, `macro_supported`, `weighted` or `samples`",
    "uncertain": "what an uncertain label counts as",
    "blank": "what a blank label counts as",
    "zero": "what 0/0 counts as; `null`: it is left out",
    "rules": "version of the rules of `rexrank.labels`",
    "enc": "encoder; `label-files` where the labels come from files of the caller",
    "layer": "the encoder's layer",
    "pool": "how token vectors make one vector",
    "max": "tokens of a text that the encoder reads",
    "rescale": "baseline that BERTScore is rescaled with, or `no`",
    "idf": "whether tokens are weighted by rarity",
    "w": "weights of the encoder: the first 8 digits of the published file's sha256; `unverified-` and 8 of what "
    "was loaded, where it is not known as published; `unverified` where the caller gave the features",
    "dtype": "numbers that the encoder computes with, in bits",
    "split": "what splits reports into sentences",
    "level": "what RadGraph compares: `simple`, `partial`, `complete` or `combined`",
    "model": "RadGraph model: `xl`, `v1` or `modern`; or variant of SRR-BERT",
    "case": "how RadGraph compares tokens: `fold` in lower case, `0.1.18` as that release does",
    "dup": "what equal entities count as: a `set`",
    "rg": "RadCliQ's RadGraph component: model, level and case",
    "bertscore": "RadCliQ's BERTScore component",
    "sembscore": "RadCliQ's SembScore component",
    "bleu": "tokeniser of RadCliQ's BLEU component",
    "affinity": "RaTEScore's table of affinities",
    "parser": "how a judge's answer is read: `strict` or `tolerant`",
    "tol": "how far two lengths may differ",
    "prior": "whether it was `given` for each study if an earlier one is known, else `unknown`",
    "terms": "number of words that speak of change",
    "training": "number of different training reports, and the first 8 digits of their sha256",
    "categories": "number of categories of questions",
    "choices": "whether the choices of the questions were `given`",
    "refs": "where a study has more than one reference: `several` in a metric whose own form takes them, else the rule "
    "`best` or `mean` (option `several`)",
    "empty_reference": "option `on_empty_reference`, where it is not the convention's own",
    "empty_prediction": "option `on_empty_prediction`, likewise",
    "unsupported_language": "option `on_unsupported_language`, likewise",
    "prep": "what a protocol did to the texts before (`findings-ref`), with the versions of text options",
    "v": "version of the metric, raised whenever a value can change",
}

_PREPARATION = re.compile(r"[a-z0-9][a-z0-9.+_-]*")


def signature(key: str, convention: str, parts: Mapping[str, str], preparation: str | None, version: str) -> str:
    """Write the signature of a score.

    Args:
        key: Score key.
        convention: ``published`` or ``corrected``.
        parts: What the metric and the policy add, in order.
        preparation: Name of the text preparation done before, or None.
        version: Version of the metric.

    Returns:
        For instance ``bleu2|conv:published|tok:rexrank|prep:findings-ref|v:1``.

    Raises:
        InvalidCall: `preparation` is not a plain lower-case name.
    """
    if preparation is not None and not (isinstance(preparation, str) and _PREPARATION.fullmatch(preparation)):
        raise InvalidCall(
            "preparation: expected a name of lower-case letters, digits and . + _ - (it goes into the signature)"
        )
    named = {"conv": convention, **parts}
    if preparation is not None:
        named["prep"] = preparation
    named["v"] = version
    return "|".join([key, *(f"{name}:{value}" for name, value in named.items())])
