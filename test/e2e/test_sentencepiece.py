# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A checkpoint whose tokenizer is a SentencePiece model, from the folder to text."""
import json
import shutil

import pytest
import sentencepiece


@pytest.fixture
def model(checkpoints, root, tmp_path):
    """A Llama with a tokenizer.model of as many pieces as it has ids."""
    folder = tmp_path / "model"
    shutil.copytree(checkpoints / "llama-tied" / "model", folder)
    (folder / "tokenizer.json").unlink()
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    text = (root / "test/e2e/data/shakespeare-heldout.txt").read_text().splitlines()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text), model_prefix=str(folder / "tokenizer"), model_type="bpe", vocab_size=size, hard_vocab_limit=False,
                                             character_coverage=1.0, normalization_rule_name="identity", remove_extra_whitespaces=False, minloglevel=2)
    (folder / "tokenizer.vocab").unlink()
    return folder


def generate(fovea_run, artifact, *prompt):
    return json.loads(fovea_run("generate", artifact, *prompt, "-n", 12, "--temp", 0, "--json").ok().out)


def test_text_through_a_model(fovea, fovea_run, model, tmp_path):
    fovea("check", model).ok()
    fovea("compile", model, "-o", tmp_path / "m.fovea").ok()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(model / "tokenizer.model"))
    prompt = "the night  comes, my lord"
    ids = [pieces.bos_id(), *pieces.encode(prompt)]
    of_text = generate(fovea_run, tmp_path / "m.fovea", "--prompt", prompt)
    of_ids = generate(fovea_run, tmp_path / "m.fovea", "--prompt-ids", ",".join(map(str, ids)))
    assert of_text["tokens"] == of_ids["tokens"] and len(of_text["tokens"]) > 3
    assert of_text["prompt_tokens"] == len(ids)
    known = [i for i in of_text["tokens"] if i > 2]
    assert of_text["text"].strip() == pieces.decode(known).strip()


def test_what_is_refused_is_named(fovea, model):
    (model / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "XLNetTokenizer"}))
    result = fovea("check", model)
    assert result.code == 1 and "tokenizer_config.json: tokenizer_class: expects one of 'LlamaTokenizer', 'GemmaTokenizer', 'T5Tokenizer', 'XLMRobertaTokenizer', got \"XLNetTokenizer\"" in result.err.decode()
    (model / "tokenizer_config.json").unlink()
    (model / "tokenizer.model").write_bytes((model / "tokenizer.model").read_bytes()[:3000])
    result = fovea("check", model)
    assert result.code == 1 and "tokenizer.model: byte " in result.err.decode()
