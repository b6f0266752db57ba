# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as GGUF files: what they compute against `transformers`, their tokenizers against the originals, and what is refused."""
import json
import os
import shutil
import struct
import subprocess

import numpy as np
import pytest
import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

import gguf_files
from gguf_cases import CASES
from gguf_files import TYPES, bpe_keys, pieces_keys, vocabulary, wordpiece_keys
from programs import BIN, SHAKESPEARE
from test_families import difference, run_entry

TEXTS = ["the night  comes, my lord", "What's THIS?  12345 \u00e9\u00e8 \u4e2d\u6587 \U0001F600\n\n  x", "", " a", "I'll don't WE'VE camelCase's 3.14\tend \n", "<s>in</s> <|im_end|> out"]


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_forward(fovea, fovea_run, compiled, gguf_models, tmp_path, name):
    artifact = compiled(gguf_models / name / "model.gguf", "--compute=f32")
    expected = np.load(gguf_models / name / "reference.npz")
    found = run_entry(fovea_run, artifact, "forward", gguf_models / name / "inputs.npz", tmp_path / "out.npz")
    seen = np.load(gguf_models / name / "inputs.npz").get("attention_mask", np.ones((2, 50)))[..., None]
    for output in set(expected) & set(found):
        assert difference((found[output] * seen)[seen[..., 0] == 1], expected[output][seen[..., 0] == 1]) <= 2e-5, output
    if "embedding" in expected:
        embedding = run_entry(fovea_run, artifact, "embed", gguf_models / name / "inputs.npz", tmp_path / "out.npz")["embedding"]
        assert difference(embedding, expected["embedding"]) <= 2e-5
    notes = fovea("check", gguf_models / name / "model.gguf").ok().err.decode()
    assert notes == "", notes


# Texts ---------------------------------------------------------------------------------------------------------------------------------------------------

TEMPLATE = "{% for message in messages %}{{ bos_token }}{{ message.role }}: {{ message.content }}\n{% endfor %}"


@pytest.fixture(scope="module")
def shakespeare_file(tmp_path_factory):
    """The small Llama that is trained, with its tokenizer and a chat template."""
    import torch
    from transformers import LlamaForCausalLM

    path = tmp_path_factory.mktemp("gguf") / "shakespeare.gguf"
    keys = bpe_keys(json.loads((SHAKESPEARE / "tokenizer.json").read_text()), bos_token_id=0, eos_token_id=1, add_bos_token=True, chat_template=TEMPLATE)
    gguf_files.write_model(path, "llama", LlamaForCausalLM.from_pretrained(SHAKESPEARE, dtype=torch.float32), lambda name: TYPES.BF16, keys)
    return path


def test_text_is_as_of_the_checkpoint(fovea_run, compiled, shakespeare, shakespeare_file):
    """The same tokens, and the same text, up to where the end token is."""
    texts = []
    for model in (shakespeare_file, shakespeare):
        artifact = compiled(model, "--compute=f32")
        texts.append(json.loads(fovea_run("generate", artifact, "--prompt", "ROMEO: What light", "-n", 24, "--temp", 0, "--json").ok().text))
    assert texts[0]["tokens"] == texts[1]["tokens"] and texts[0]["text"] == texts[1]["text"]


def test_verbs_take_a_file(fovea, shakespeare_file, tmp_path):
    """Those that run models compile them first, once."""
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(2):
        result = fovea("generate", shakespeare_file, "--prompt", "To be", "-n", 4, "--temp", 0, env=os.environ | cache).ok()
        assert result.text
    assert len(list((tmp_path / "fovea").glob("*.fovea"))) == 1
    facts = json.loads(fovea("inspect", shakespeare_file, "--json", env=os.environ | cache).ok().text)
    assert "llama" in json.dumps(facts)


def test_chat(fovea_run, compiled, shakespeare_file):
    done = fovea_run("chat", compiled(shakespeare_file, "--compute=f32"), "-n", 4, "--temp", 0, stdin=b"Speak\n").ok()
    assert done.text.strip()


def test_ends_of_turns_end_texts(fovea, tmp_path):
    """Whatever the metadata says, texts end with tokens that end turns; and with no others."""
    tokens = ["<unk>", "<s>", "</s>", "<|im_end|>", "a", "<|end|>"]
    write(tmp_path / "m.gguf", others=vocabulary("gpt2", tokens, [1, 3, 3, 3, 1, 3], merges=[], pre="qwen2", bos_token_id=1, eos_token_id=2, eot_token_id=77))
    result = fovea("compile", tmp_path / "m.gguf", "--emit=import", "-o", "-").ok()
    assert "end_tokens = array<i64: 2, 3, 5>" in result.text and "begin_token = 1" in result.text, result.text[:2000]
    assert "eot_token_id: expects a token id from 0 to 5, ignores 77" in result.err.decode()


# Tokenizers ----------------------------------------------------------------------------------------------------------------------------------------------

def encode(path, texts, special=True):
    """Ids of texts, and what is decoded of them, by what is compiled of a file."""
    if not (BIN / "fovea-tokenize").exists():
        pytest.skip("build/bin/fovea-tokenize does not exist")
    requests = b"".join(struct.pack("<BI", special, len(text.encode())) + text.encode() for text in texts)
    done = subprocess.run([BIN / "fovea-tokenize", path], input=requests, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    at, found = 0, []
    for _ in texts:
        count, = struct.unpack_from("<I", done.stdout, at)
        ids = list(struct.unpack_from(f"<{count}i", done.stdout, at + 4))
        size, = struct.unpack_from("<I", done.stdout, at + 4 + 8 * count)
        found.append((ids, done.stdout[at + 8 + 8 * count:][:size].decode()))
        at += 8 + 8 * count + size
    return found


def write(path, others=(), **keys):
    """A file whose model is of little account."""
    rng = np.random.default_rng(1)
    size, width = len(dict(others).get("tokenizer.ggml.tokens", "123456")), 8
    tensors = {"token_embd.weight": rng.random((size, width)), "output_norm.weight": rng.random(width)}
    for name, shape in {"attn_norm": [width], "ffn_norm": [width], "attn_q": [width, width], "attn_k": [width, width], "attn_v": [width, width], "attn_output": [width, width],
                        "ffn_gate": [12, width], "ffn_up": [12, width], "ffn_down": [width, 12]}.items():
        tensors[f"blk.0.{name}.weight"] = rng.random(shape)
    gguf_files.write(path, "llama", {"embedding_length": width, "block_count": 1, "attention.head_count": 2, "context_length": 64, "feed_forward_length": 12,
                                     "attention.layer_norm_rms_epsilon": 1e-5} | keys, tensors, others=others)


def test_the_tokenizer_of_bytes(tmp_path):
    """The Shakespeare Llama's."""
    write(tmp_path / "m.gguf", bpe_keys(json.loads((SHAKESPEARE / "tokenizer.json").read_text()), bos_token_id=0, eos_token_id=1, add_bos_token=True))
    original = tokenizers.Tokenizer.from_file(str(SHAKESPEARE / "tokenizer.json"))
    ids = [original.encode(text).ids for text in TEXTS]
    assert encode(tmp_path / "m.gguf", TEXTS) == [(each, original.decode(each, skip_special_tokens=False)) for each in ids]


# Patterns as the tokenizers that are named so have them.
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
MORE = REST.replace(r"[\r\n]*|\s*", r"[\r\n/]*|\s*", 1)
CASED = {end: rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{end}|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{end}|" for end in ("", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?")}
PRE = {
    "llama-bpe": ([WORDS + r"\p{N}{1,3}" + REST], None), "qwen2": ([WORDS + r"\p{N}" + REST], normalizers.NFC()), "starcoder": (None, None),
    "deepseek-coder": ([r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}"], None),
    "deepseek-v3": ([r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                     r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""], None),
    "gpt-4o": ([CASED[r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"] + r"\p{N}{1,3}" + MORE], None), "tekken": ([CASED[""] + r"\p{N}" + MORE], None)}


@pytest.mark.parametrize("pre", PRE)
def test_pre_tokenizers(tmp_path, root, pre):
    patterns, normalizer = PRE[pre]
    original = tokenizers.Tokenizer(models.BPE(ignore_merges=pre in ("llama-bpe", "tekken")))
    if patterns:
        steps = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns] + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    else:
        steps = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    original.pre_tokenizer, original.decoder = pre_tokenizers.Sequence(steps), decoders.ByteLevel()
    if normalizer:
        original.normalizer = normalizer
    lines = (root / "test/e2e/data/shakespeare-heldout.txt").read_text().splitlines() + TEXTS
    original.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=700, special_tokens=["<s>", "</s>", "<|im_end|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                                            show_progress=False))
    write(tmp_path / "m.gguf", bpe_keys(json.loads(original.to_str()), pre=pre, bos_token_id=0, eos_token_id=1))
    begins = [0] if pre in ("llama-bpe", "tekken") else []
    texts = TEXTS + ["e\u0301", "HTTPServer/x//y"] + lines[:40]
    assert [ids for ids, _ in encode(tmp_path / "m.gguf", texts)] == [begins + original.encode(text).ids for text in texts]


def train(folder, root, **options):
    text = (root / "test/e2e/data/shakespeare-heldout.txt").read_text().splitlines()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text), model_prefix=str(folder / "trained"), vocab_size=500, hard_vocab_limit=False, minloglevel=2,
                                             num_threads=1, **options)
    proto = sentencepiece_model_pb2.ModelProto.FromString((folder / "trained.model").read_bytes())
    return proto, sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())


@pytest.mark.parametrize("prefix", [True, False])
def test_pieces_with_scores(tmp_path, root, prefix):
    """Llama's, and with `prefix` false Gemma's."""
    proto, original = train(tmp_path, root, model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=prefix,
                            user_defined_symbols=["\n\n"])
    write(tmp_path / "m.gguf", pieces_keys(proto, bos_token_id=1, eos_token_id=2, unknown_token_id=0))
    texts = TEXTS[:-1]
    found = encode(tmp_path / "m.gguf", texts)
    assert [ids for ids, _ in found] == [[1, *original.encode(text)] for text in texts]
    assert [text.removeprefix("<s>") for _, text in found] == [original.decode(original.encode(text)) for text in texts] or prefix
    between = encode(tmp_path / "m.gguf", ["a</s>b"])[0][0]
    assert between == [1, *original.encode("a"), 2, *original.encode("b")]


def test_pieces_of_unigrams(tmp_path, root):
    proto, original = train(tmp_path, root, model_type="unigram")
    write(tmp_path / "m.gguf", pieces_keys(proto, "t5", eos_token_id=2, unknown_token_id=0, precompiled_charsmap=np.frombuffer(proto.normalizer_spec.precompiled_charsmap, np.int8).tolist()))
    texts = TEXTS[:-1]
    assert [ids for ids, _ in encode(tmp_path / "m.gguf", texts)] == [[*original.encode(text), 2] for text in texts]


def test_word_pieces(tmp_path, minilm):
    original = tokenizers.Tokenizer.from_file(str(minilm / "tokenizer.json"))
    original.no_padding(), original.no_truncation()
    tokens = [original.id_to_token(i) for i in range(original.get_vocab_size())]
    write(tmp_path / "m.gguf", wordpiece_keys(tokens, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    texts = TEXTS[:-1] + ["unaffable [MASK] ##ing \u0141\u00f3d\u017a"]
    assert encode(tmp_path / "m.gguf", texts) == [(ids, original.decode(ids, skip_special_tokens=False)) for ids in (original.encode(text).ids for text in texts)]


# What is refused -----------------------------------------------------------------------------------------------------------------------------------------

REFUSED = {
    "m.gguf: llama.rope.swing: could change numbers and is not understood": dict(keys={"rope.swing": 2}),
    "m.gguf: llama.attention.head_count: expects an integer from 1 to 4096, got an array": dict(keys={"attention.head_count": [2, 2]}),
    "m.gguf: llama.expert_used_count: expects from 1 to expert_count, 4, got 9": dict(keys={"expert_count": 4, "expert_used_count": 9}),
    'm.gguf: llama.rope.scaling.type: expects one of none, linear, yarn, got "spiral"': dict(keys={"rope.scaling.type": "spiral"}),
    'm.gguf: llama.rope.dimension_count: expects an even number of at most 4 elements, which a head has, got 6': dict(keys={"rope.dimension_count": 6}),
    'm.gguf: tokenizer.ggml.pre: expects one of gpt-2,': dict(others=vocabulary("gpt2", ["a"] * 1, [1], merges=[], pre="nobody's")),
    'm.gguf: tokenizer.ggml.model: expects one of llama, gpt2, bert, t5, got "rwkv"': dict(others=vocabulary("rwkv", ["a"], [1])),
    'm.gguf: tokenizer.ggml.tokens[1]: expects a text of its own, got "a", which token 0 has': dict(others=vocabulary("gpt2", ["a", "a"], [1, 1], merges=[], pre="gpt-2")),
    'm.gguf: tokenizer.ggml.token_type: expects 2 elements, one a token, got 1': dict(others=vocabulary("gpt2", ["a", "b"], [1], merges=[])),
    'm.gguf: tokenizer.ggml.merges[0]: expects tokens of the vocabulary, got "b"': dict(others=vocabulary("gpt2", ["a"], [1], merges=["a b"], pre="gpt-2")),
    'm.gguf: split.count: expects a model in one file, got one of 3': dict(others={"split.count": 3}),
    'm.gguf: general.type: expects "model", got "adapter"': dict(others={"general.type": "adapter"}),
}


@pytest.mark.parametrize("says", REFUSED)
def test_what_is_refused_is_named(fovea, tmp_path, says):
    write(tmp_path / "m.gguf", REFUSED[says].get("others", ()), **REFUSED[says].get("keys", {}))
    result = fovea("check", tmp_path / "m.gguf")
    assert result.code == 1 and says in result.err.decode(), str(result)


def test_a_folder_with_a_file(fovea, tmp_path):
    write(tmp_path / "m.gguf")
    result = fovea("compile", tmp_path, "-o", tmp_path / "x.fovea")
    assert result.code == 1 and "only m.gguf, a GGUF file; give the file itself" in result.err.decode(), str(result)
    shutil.copy(tmp_path / "m.gguf", tmp_path / "m.bin")
    result = fovea("compile", tmp_path / "m.bin", "-o", tmp_path / "x.fovea")
    assert result.code == 1 and "a GGUF file; give the file itself, under a name that ends in .gguf" in result.err.decode(), str(result)
