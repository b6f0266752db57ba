# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares Fovea's reading of SentencePiece models with the package `sentencepiece`: ids and decoded
text have to be equal, string by string.

    compare_sentencepiece.py [--quick] [--only NAME] [--tool build/bin/fovea-tokenize]

Models are trained here, with options of models in use and with others; some are edited, so that
scores are equal and pieces unused. Special tokens are found in text first, and what lies between
them is encoded by itself, as transformers' slow tokenizers do; Marian's is compared with that class.
"""

import argparse
import json
import pathlib
import random
import re
import struct
import sys
import tempfile
import time

import sentencepiece
from compare_tokenizers import DECODE, PAIR, SKIP, SPECIAL, ROOT, ask, code_points, corpus, make_texts, request
from sentencepiece import sentencepiece_model_pb2

# Text without newlines: sentencepiece trains on lines.
TYPES = sentencepiece_model_pb2.ModelProto.SentencePiece


def train(prefix, lines=None, **options):
    options = {"vocab_size": 900, "model_type": "unigram", "hard_vocab_limit": False, "num_threads": 1,
               "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines or corpus()), model_prefix=str(prefix), **options)
    return pathlib.Path(f"{prefix}.model")


class Folder:
    """A folder with a model, and what it should make of text."""

    def __init__(self, folder, name, file="tokenizer.model", change=None, settings=None, config=None, **options):
        self.path = pathlib.Path(folder) / name
        self.path.mkdir()
        model = train(self.path / "trained", **options)
        proto = sentencepiece_model_pb2.ModelProto.FromString(model.read_bytes())
        model.unlink()
        if change:
            change(proto)
        (self.path / file).write_bytes(proto.SerializeToString())
        for name, content in (("tokenizer_config.json", settings), ("config.json", config)):
            if content is not None:
                (self.path / name).write_text(json.dumps(content))
        self.pieces = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
        self.proto = proto
        self.special = {piece.piece: number for number, piece in enumerate(proto.pieces)
                        if piece.type in (TYPES.CONTROL, TYPES.UNKNOWN)}
        self.before, self.after, self.between = [], [], []
        self.size = len(proto.pieces)

    def id_of(self, piece):
        return piece

    def piece_of(self, number):
        return number

    def encode_part(self, text, first):
        return [self.id_of(piece) for piece in self.pieces.encode(text)]

    def encode(self, text):
        ids, at = [], 0
        for found in re.finditer("|".join(map(re.escape, sorted(self.special, key=len, reverse=True))), text):
            if text[at:found.start()]:
                ids += self.encode_part(text[at:found.start()], at == 0)
            ids.append(self.special[found.group()])
            at = found.end()
        return ids + (self.encode_part(text[at:], at == 0) if text[at:] else [])

    def decode(self, ids):
        """Without special tokens and what is no token."""
        special = set(self.special.values())
        return self.pieces.decode([self.piece_of(i) for i in ids if i not in special and 0 <= i < self.size])

    def single(self, text):
        return self.before + self.encode(text) + self.after

    def pair(self, a, b):
        return self.before + self.encode(a) + self.between + self.encode(b) + self.after


class Llama(Folder):
    def __init__(self, folder, name, **options):
        super().__init__(folder, name, **options)
        begin = self.pieces.bos_id()
        self.before, self.between = [begin], [begin]


class LlamaOfVersionTwo(Llama):
    """The space goes in front of the text alone, not behind special tokens."""

    def __init__(self, folder, name, **options):
        super().__init__(folder, name, settings={"tokenizer_class": "LlamaTokenizer", "legacy": False, "add_eos_token": True,
                                                 "eos_token": {"content": "</s>"},
                                                 "added_tokens_decoder": {"0": {"content": "<unk>", "special": True},
                                                                          "907": {"content": "<|user|>", "special": True}}}, **options)
        assert self.size < 907
        self.special["<|user|>"] = 907
        self.after, self.between = [2], [2, 1]
        bare = sentencepiece_model_pb2.ModelProto()
        bare.CopyFrom(self.proto)
        bare.normalizer_spec.add_dummy_prefix = False
        self.bare = sentencepiece.SentencePieceProcessor(model_proto=bare.SerializeToString())

    def encode_part(self, text, first):
        return (self.pieces if first else self.bare).encode(text)


class T5(Folder):
    def __init__(self, folder, name, **options):
        super().__init__(folder, name, "spiece.model", config={"model_type": "t5"}, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, **options)
        self.after, self.between = [1], [1]
        for i in range(100):
            self.special[f"<extra_id_{i}>"] = self.size + 99 - i


class XlmRoberta(Folder):
    def __init__(self, folder, name, **options):
        super().__init__(folder, name, "sentencepiece.bpe.model", settings={"tokenizer_class": "XLMRobertaTokenizer"}, **options)
        self.before, self.after, self.between = [0], [2], [2, 2]
        self.special = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        self.size += 1

    def id_of(self, piece):
        return {0: 3, 1: 0, 2: 2}.get(piece, piece + 1)

    def piece_of(self, number):
        return number - 1


class Marian:
    """Two models, whose pieces have the ids of one vocabulary, which lacks some of them."""

    def __init__(self, folder, name):
        from transformers import MarianTokenizer
        self.path = pathlib.Path(folder) / name
        self.path.mkdir()
        lines = corpus()
        texts = {}
        for side, part in (("source", lines[::2]), ("target", lines[1::2])):
            file = train(self.path / side, part, vocab_size=700, user_defined_symbols=["<sep>"])
            file.rename(self.path / f"{side}.spm")
            pieces = sentencepiece.SentencePieceProcessor(model_file=str(self.path / f"{side}.spm"))
            texts.update(dict.fromkeys(pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size())))
        order = sorted(texts, key=lambda text: text[::-1])
        vocabulary = ["</s>", "<unk>", ">>deu<<", ">>eng<<"] + [text for i, text in enumerate(order) if i % 9] + ["<pad>"]
        (self.path / "vocab.json").write_text(json.dumps({text: i for i, text in enumerate(vocabulary)}, ensure_ascii=False))
        self.tokenizer = MarianTokenizer(str(self.path / "source.spm"), str(self.path / "target.spm"), str(self.path / "vocab.json"))
        self.special = {"</s>": 0, "<unk>": 1, "<pad>": len(vocabulary) - 1}
        self.size = len(vocabulary)

    def single(self, text):
        return self.tokenizer.encode(text)

    def pair(self, a, b):
        return self.tokenizer.encode(a, b)

    def decode(self, ids):
        return self.tokenizer.decode([i for i in ids if 0 <= i < self.size], skip_special_tokens=True)


def ties(proto):
    """Scores that are whole numbers, or a third of them, so that f32 rounds sums."""
    for number, piece in enumerate(proto.pieces):
        if piece.type == TYPES.NORMAL:
            piece.score = -float(len(piece.piece)) / (3 if number % 2 else 1)


def unused(proto):
    for number, piece in enumerate(proto.pieces):
        if piece.type == TYPES.NORMAL and number % 5 == 0 and len(piece.piece) > 1:
            piece.type = TYPES.UNUSED
    proto.normalizer_spec.escape_whitespaces = False


LLAMA = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "byte_fallback": True}


def folders():
    return {
        "t5": lambda f, n: T5(f, n),
        "t5-symbols": lambda f, n: T5(f, n, user_defined_symbols=["<sep>", "New York", "▁the", "é", "ab", "abc", "x"], normalization_rule_name="nfkc_cf"),
        "xlm-roberta": lambda f, n: XlmRoberta(f, n),
        "llama": lambda f, n: Llama(f, n, model_type="bpe", split_digits=True, allow_whitespace_only_pieces=True, **LLAMA),
        "llama-2": lambda f, n: LlamaOfVersionTwo(f, n, model_type="bpe", **LLAMA),
        "llama-unigram": lambda f, n: Llama(f, n, **LLAMA),
        "gemma": lambda f, n: Llama(f, n, model_type="bpe", add_dummy_prefix=False, bos_piece="<bos>", eos_piece="<eos>", user_defined_symbols=["\n", "\n\n", "▁▁", "▁▁▁", "<html>", "<x>"],
                                    control_symbols=["<start_of_turn>"], **LLAMA),
        "bpe": lambda f, n: Llama(f, n, model_type="bpe", character_coverage=0.98, normalization_rule_name="nmt_nfkc_cf", user_defined_symbols=["New York", "ab", "é"]),
        "bpe-ties": lambda f, n: Llama(f, n, model_type="bpe", change=ties),
        "bpe-unused": lambda f, n: Llama(f, n, model_type="bpe", change=unused),
        "unigram-ties": lambda f, n: Llama(f, n, change=ties, split_by_whitespace=False),
        "unigram-unused": lambda f, n: Llama(f, n, change=unused, byte_fallback=True),
        "suffix": lambda f, n: Llama(f, n, treat_whitespace_as_suffix=True, normalization_rule_name="nfkc"),
        "whole": lambda f, n: Llama(f, n, remove_extra_whitespaces=False, add_dummy_prefix=False, max_sentencepiece_length=60, split_by_unicode_script=False),
        "marian": Marian,
    }


# The package has whole passes for a text: those with a line's worth of special characters are enough.
def compare(tool, name, made, points, mixes, seed):
    rng = random.Random(seed)
    names = sorted(made.special)[:30] + ["<sep>", "New York", ">>deu<<", ">>xyz<<"]
    texts = [t.replace("\r", "\n") for t in make_texts(names, points, points, rng, mixes)]
    pairs = [(rng.choice(texts), rng.choice(texts)) for _ in range(500)]
    # Not the special ones: what sentencepiece makes of those is something else.
    known = [i for i in range(made.size) if i not in made.special.values()]
    ids = [[rng.choice(known) for _ in range(rng.randrange(1, 30))] for _ in range(2000)]
    ids.append([made.size + 1000, known[0], -1])
    requests = [request(SPECIAL | SKIP, t) for t in texts] + [request(SPECIAL | PAIR | SKIP, a, b) for a, b in pairs]
    requests += [request(DECODE | SKIP, struct.pack(f"<{len(i)}i", *i)) for i in ids]
    wanted = [made.single(t) for t in texts] + [made.pair(a, b) for a, b in pairs] + ids
    got = ask(tool, str(made.path), requests)
    wrong = 0
    for k, (numbers, answer) in enumerate(zip(wanted, got)):
        text = made.decode(numbers)
        if answer[0] == numbers and answer[2] == text:
            continue
        wrong += 1
        if wrong <= 10:
            print(f"  request {requests[k][:90]!r}\n    expected {numbers} {text!r:.150}\n    got      {answer[0]} {answer[2]!r:.150}")
    print(f"{name}: {len(wanted)} compared, {wrong} differ", flush=True)
    return len(wanted), wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--tool", default=str(ROOT / "build/bin/fovea-tokenize"))
    arguments = parser.parse_args()
    begin, total, failures = time.time(), 0, 0
    points = code_points()
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, make) in enumerate(folders().items()):
            if arguments.only and arguments.only not in name:
                continue
            # Some code points alone and in context, every model its own; all below U+3000 for each in the long run.
            alone = points[number::101][:1500] if arguments.quick else points[:0x3000] + points[0x3000 + number::40]
            compared, wrong = compare(arguments.tool, name, make(folder, name), alone, 1000 if arguments.quick else 4000, number)
            total += compared
            failures += wrong
    print(f"{total - failures} passed, {failures} failed in {time.time() - begin:.0f} s")
    return 1 if failures or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
