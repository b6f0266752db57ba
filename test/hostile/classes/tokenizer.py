# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vocabularies, merges, patterns and templates that do not fit together, or that take for ever."""
import json
import struct

from library import case
from seeds import byte_characters, checkpoint, tokenizer


def changed(folder, change, model=None):
    model = model or checkpoint(folder)
    content = tokenizer()
    content = change(content) or content
    (model / "tokenizer.json").write_text(json.dumps(content))
    return "model"


def vocabulary(folder, change):
    return changed(folder, lambda content: change(content["model"]["vocab"]))


def words(content, **changes):
    """A WordPiece model in place of the merges."""
    content["added_tokens"] = []
    content["model"] = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1}, **changes}


def split_by(pattern):
    return lambda content: content.update(pre_tokenizer={"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False})


@case("huggingface/tokenizers#2333", "a merge longer than any token: written behind a buffer of the longest", 'model/tokenizer.json: model.merges[3]: expects tokens of the vocabulary, got "thean"')
def merge_longer_than_any_token(folder):
    return changed(folder, lambda content: content["model"]["merges"].append(["the", "an"]))


@case("huggingface/tokenizers#2333", "a right half shorter than the prefix that is cut from it", 'model/tokenizer.json: model.merges[0]: expects a right half of at least the 4 bytes of continuing_subword_prefix, got "h"')
def merge_shorter_than_its_prefix(folder):
    def shorter(content):
        content["model"].update(continuing_subword_prefix="####", merges=[["t", "h"]])
        content["model"]["vocab"].update({"tx": 261})
    return changed(folder, shorter)


@case("huggingface/tokenizers, MergeTokenOutOfVocabulary", "a merge of tokens that the vocabulary lacks", 'model/tokenizer.json: model.merges[3]: expects tokens of the vocabulary, got "qq"')
def merge_of_unknown_tokens(folder):
    return changed(folder, lambda content: content["model"]["merges"].append(["qq", "zz"]))


@case("huggingface/tokenizers, BadMerges", "a merge that is no pair", 'model/tokenizer.json: model.merges[3]: expects two tokens, got "t h e"')
def merge_of_three(folder):
    return changed(folder, lambda content: content["model"]["merges"].append("t h e"))


@case("CVE-2025-49847", "an id of 2^31: a table as large as the greatest id, or a negative index", "model/tokenizer.json: model.vocab.evil: expects an id from 0 to 67631, got 2147483648")
def id_beyond_31_bits(folder):
    return vocabulary(folder, lambda table: table.update(evil=1 << 31))


@case("ggml-org/llama.cpp#25969", "an id of -1: written before the table", "model/tokenizer.json: model.vocab.evil: expects an id from 0 to 67631, got -1")
def id_negative(folder):
    return vocabulary(folder, lambda table: table.update(evil=-1))


@case("CVE-2025-0315", "an id far behind the others: a table that is mostly holes", "model/tokenizer.json: model.vocab.evil: expects an id from 0 to 67631, got 2000000000")
def id_behind_a_hole(folder):
    return vocabulary(folder, lambda table: table.update(evil=2_000_000_000))


@case("CWE-694", "two tokens of one id, of which one decodes", "model/tokenizer.json: model.vocab.evil: expects an id of its own, got 5, which another token has")
def id_of_two_tokens(folder):
    return vocabulary(folder, lambda table: table.update(evil=5))


@case("CWE-694", "a token given twice, of which parsers take the first or the last", 'model/tokenizer.json: expects each key once; the key "the" is given twice')
def token_given_twice(folder):
    model = checkpoint(folder)
    text = json.dumps(tokenizer())
    (model / "tokenizer.json").write_text(text.replace('"vocab": {', '"vocab": {"the": 3, ', 1))
    return "model"


@case("CWE-1284", "a vocabulary without a token", "model/tokenizer.json: model.vocab: expects at least one token, got an object")
def vocabulary_empty(folder):
    return changed(folder, lambda content: content["model"].update(vocab={}, merges=[]) or content.update(added_tokens=[]))


@case("huggingface/tokenizers#705", "an unknown token that is no token: an error in the middle of a text", 'model/tokenizer.json: model.unk_token: expects a token of the vocabulary, got "[NOTHING]"')
def unknown_token_that_is_none(folder):
    return changed(folder, lambda content: words(content, unk_token="[NOTHING]"))


@case("CWE-694", "an added token whose id is another token's", 'model/tokenizer.json: added_tokens[2].id: expects 261, the id of "<evil>" in the vocabulary or the next free one, got 7')
def added_token_of_another_id(folder):
    return changed(folder, lambda content: content["added_tokens"].append({**content["added_tokens"][0], "content": "<evil>", "id": 7}))


@case("ggml-org/llama.cpp#3604", "an added token far behind the vocabulary", 'model/tokenizer.json: added_tokens[2].id: expects 261, the id of "<evil>" in the vocabulary or the next free one, got 2147483646')
def added_token_behind_the_vocabulary(folder):
    return changed(folder, lambda content: content["added_tokens"].append({**content["added_tokens"][0], "content": "<evil>", "id": 2147483646}))


@case("CWE-835", "an empty added token, found everywhere: a loop without end", end="untouched")
def added_token_without_text(folder):
    return changed(folder, lambda content: content["added_tokens"].append({**content["added_tokens"][0], "content": "", "id": 261}))


@case("CVE-2024-42478", "a template that puts an id behind the vocabulary into each prompt: read anywhere in the table", "model/tokenizer.json: post_processor.special_tokens.<s>.ids[0]: expects a token id from 0 to 260, got 1000000")
def template_of_an_unknown_id(folder):
    return changed(folder, lambda content: content.update(post_processor={
        "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [1_000_000], "tokens": ["<s>"]}}}))


@case("CVE-2024-41130", "a template that names a token which is nowhere defined", "model/tokenizer.json: post_processor.single[0].SpecialToken.id: expects a token of 'special_tokens', got \"<evil>\"")
def template_of_an_undefined_token(folder):
    return changed(folder, lambda content: content.update(post_processor={
        "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<evil>", "type_id": 0}}], "pair": [], "special_tokens": {}}))


@case("google/sentencepiece#1269", "a table of normalisation whose offsets are trusted", "model/tokenizer.json: normalizer.precompiled_charsmap: expects a map of characters whose trie lies within its 14 bytes, got a trie of 4294967295")
def character_map_with_offsets(folder):
    return changed(folder, lambda content: content.update(normalizer={"type": "Precompiled", "precompiled_charsmap": "//////////////////8="}))


@case("google/sentencepiece#1263", "a token of a megabyte: recursion as deep as it is long", end="runs", call=("--prompt", "a" * 60, "--temp", "0", "-n", "2"))
def token_of_a_megabyte(folder):
    return vocabulary(folder, lambda table: table.update({"a" * (1 << 20): 261}))


@case("openai/tiktoken#568", "a vocabulary that lacks bytes: an error in the middle of a text", end="runs", call=("--prompt", "thé an", "--temp", "0", "-n", "4", "--json"))
def vocabulary_without_some_bytes(folder):
    def without(content):
        for character in byte_characters()[0x80:]:
            del content["model"]["vocab"][character]
    return changed(folder, without)


@case("ggml-org/llama.cpp#25969", "byte tokens that are no hexadecimal numbers: an index of -1", end="runs", call=("--prompt", "<0x-1> é", "--temp", "0", "-n", "4"))
def byte_tokens_with_a_sign(folder):
    def signed(content):
        content["model"].update(byte_fallback=True)
        content["model"]["vocab"].update({"<0x-1>": 261, "<0xZZ>": 262, "<0x-F>": 263})
    return changed(folder, signed)


@case("CVE-2024-12720", "a pattern that goes back exponentially often", "the tokenizer's pattern '(?:a+)+$' takes too long on this text, from byte 0 of 41: it repeats what repeats by itself", end="at the call", call=("--prompt", "a" * 40 + "!"))
def pattern_that_takes_for_ever(folder):
    return changed(folder, split_by("(a+)+$"))


@case("CVE-2025-1194", "a pattern of alternatives that overlap", "the tokenizer's pattern '(?:x|xx)+$' takes too long on this text, from byte 0 of 61: it repeats what repeats by itself", end="at the call", call=("--prompt", "x" * 60 + "!"))
def pattern_of_overlapping_alternatives(folder):
    return changed(folder, split_by("(x|xx)+$"))


@case("CWE-185", "a pattern that does not close", 'model/tokenizer.json: pre_tokenizer.pattern.Regex: expects a regular expression that can be translated (it has a group without end at byte 4), got "(a|b"')
def pattern_that_does_not_close(folder):
    return changed(folder, split_by("(a|b"))


@case("CVE-2019-16163", "groups nested by the thousand: the pattern compiler's stack", 'model/tokenizer.json: pre_tokenizer.pattern.Regex: expects a regular expression that can be translated (it has groups nested deeper than 50 at byte 51), got "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((..."')
def pattern_nested_by_the_thousand(folder):
    return changed(folder, split_by("(" * 20_000 + "a" + ")" * 20_000))


@case("CVE-2022-24713", "repeats of repeats: a pattern of a gigabyte", 'model/tokenizer.json: pre_tokenizer.pattern.Regex: expects a regular expression that can be translated (it has regular expression is too large at byte 41), got "((((a{1000}){1000}){1000}){1000})"')
def pattern_of_a_gigabyte(folder):
    return changed(folder, split_by("((((a{1000}){1000}){1000}){1000})"))


@case("CVE-2015-3210", "a pattern that calls itself", 'model/tokenizer.json: pre_tokenizer.pattern.Regex: expects a regular expression that can be translated (it has an escape that is not supported at byte 8), got "(?<x>\\(\\g<x>*\\))"')
def pattern_that_calls_itself(folder):
    return changed(folder, split_by(r"(?<x>\(\g<x>*\))"))


@case("CWE-624", "a pattern with a call of the host's code", 'model/tokenizer.json: pre_tokenizer.pattern.Regex: expects a regular expression that can be translated (it has a kind of group that is not supported at byte 1), got "a(?C1)b(?{evil})"')
def pattern_with_a_callout(folder):
    return changed(folder, split_by("a(?C1)b(?{evil})"))


@case("CWE-409", "a replacement that makes a gigabyte of a kilobyte", "the tokenizer's normalizers make more than 1280200 bytes of 20000; expects at most 1 MiB, or 64 times as many", end="at the call", call=("--prompt", "a" * 20_000))
def replacement_that_multiplies(folder):
    return changed(folder, lambda content: content.update(normalizer={"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 200}] * 5}))


@case("CWE-409", "a decoder's replacement that makes gigabytes of a token", "the tokenizer's decoders make more than 8001000 bytes of 1000000; expects at most 1 MiB, or 8 times as many", end="at the call", call=("--prompt-ids", "97,97", "--temp", "0", "-n", "8"))
def replacement_that_multiplies_what_is_decoded(folder):
    steps = [{"type": "Replace", "pattern": {"Regex": "."}, "content": "a" * 1000}] * 4
    return changed(folder, lambda content: content.update(decoder={"type": "Sequence", "decoders": steps}))


@case("CWE-409", "decoders that each make four of what the one before made", "the tokenizer's decoders make more than 1398101 bytes of 1; expects at most 1 MiB, or 68 times as many", end="at the call", call=("--prompt-ids", "97,97", "--temp", "0", "-n", "8"))
def decoders_that_feed_each_other(folder):
    steps = [{"type": "Replace", "pattern": {"String": "a"}, "content": "aaaa"}] * 16
    return changed(folder, lambda content: content.update(decoder={"type": "Sequence", "decoders": steps}))


def added_token(content, text, *replacements):
    normalizers = [{"type": "Replace", "pattern": {"String": "a"}, "content": "a" * times} for times in replacements]
    content.update(normalizer={"type": "Sequence", "normalizers": normalizers})
    content["added_tokens"].append({"id": 261, "content": text, "special": False, "normalized": True, "single_word": False, "lstrip": False, "rstrip": False})


@case("CWE-409", "an added token of which normalizers make a gigabyte", "model/tokenizer.json: tokenizer tables: expects added tokens that can be normalized: the tokenizer's normalizers make more than 1048600 bytes of 4; expects at most 1 MiB, or 64 times as many")
def added_token_that_multiplies(folder):
    return changed(folder, lambda content: added_token(content, "aaaa", 200, 200, 200, 200))


@case("CWE-409", "an added token that is half a megabyte when it is normalized: as long each time that it is decoded", "model/tokenizer.json: tokenizer tables: expects added tokens of at most 64 KiB when they are normalized, got 720000 bytes")
def added_token_of_half_a_megabyte(folder):
    return changed(folder, lambda content: added_token(content, "aa", 600, 600))


@case("CVE-2026-0994", "normalisers nested without end", "model/tokenizer.json: expects JSON nested at most 64 deep, got deeper nesting")
def normalisers_nested_without_end(folder):
    def nested(content):
        inner = {"type": "NFC"}
        for _ in range(200):
            inner = {"type": "Sequence", "normalizers": [inner]}
        content["normalizer"] = inner
    return changed(folder, nested)


@case("CWE-843", "a list where an object is read", "model/tokenizer.json: model: expects an object, got an array of 3")
def model_that_is_a_list(folder):
    return changed(folder, lambda content: content.update(model=[1, 2, 3]))


@case("CVE-2024-39720", "a file that ends in the middle of a word", "model/tokenizer.json: expects JSON, at byte 3001: syntax error while parsing value - unexpected end of input; expected '[', '{', or a literal")
def file_cut_short(folder):
    model = checkpoint(folder)
    path = model / "tokenizer.json"
    path.write_bytes(path.read_bytes()[:3000])
    return "model"


@case("huggingface/tokenizers, UnkIdNotInVocabulary", "an unknown token behind the vocabulary: an index in the middle of a text", "model/tokenizer.json: model.unk_id: expects an integer from 0 to 1, got 4294967295")
def unknown_token_behind_the_vocabulary(folder):
    return changed(folder, lambda content: content.update(added_tokens=[], model={"type": "Unigram", "unk_id": 0xFFFFFFFF, "vocab": [["<unk>", 0], ["a", -1]]}))


@case("CWE-400", "pieces of a kilobyte each that share their beginnings: as many steps at each place of a text", end="runs", call=("--prompt", "a" * 2000, "--temp", "0", "-n", "2"))
def pieces_that_share_their_beginnings(folder):
    def long(content):
        content["model"] = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], *(["a" * size, -size] for size in range(1, 256))]}
        content.update(added_tokens=[], pre_tokenizer=None, decoder=None)
    return changed(folder, long)


def field(number, content):
    """A field of protobuf's wire format: a number, or bytes."""
    def varint(value):
        out = b""
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    if isinstance(content, float):
        return varint(number << 3 | 5) + struct.pack("<f", content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def piece(text, score=0.0, kind=1):
    return field(1, field(1, text if isinstance(text, bytes) else text.encode()) + field(2, score) + field(3, kind))


PIECES = piece("<unk>", kind=2) + piece("<s>", kind=3) + piece("</s>", kind=3) + piece("▁") + piece("a")


def sentencepiece(folder, content):
    """A checkpoint whose tokenizer is a SentencePiece model."""
    model = checkpoint(folder)
    (model / "tokenizer.json").unlink()
    (model / "tokenizer.model").write_bytes(content)
    return "model"


@case("google/sentencepiece#1269", "the same table in a SentencePiece model", "model/tokenizer.model: normalizer_spec.precompiled_charsmap: expects a map of characters whose trie lies within its 14 bytes, got a trie of 4294967295")
def character_map_of_a_model(folder):
    return sentencepiece(folder, PIECES + field(3, field(2, b"\xff" * 13 + b"\xf0")))


@case("google/sentencepiece#1269", "a rule whose replacement lies behind all replacements", "model/tokenizer.model: normalizer_spec.precompiled_charsmap: expects replacements within the 2 bytes of them, got one at byte 2147483647")
def replacement_behind_the_replacements(folder):
    units = [0] * 256
    units[0x61] = (0x61 ^ 0x80) << 10 | 0x100 | 0x61  # "a" leads to the state at 0x80, which holds its value
    units[0x80] = 0xFFFFFFFF
    return sentencepiece(folder, PIECES + field(3, field(2, struct.pack("<257I", 1024, *units) + b"b\0")))


@case("google/sentencepiece#1269", "a rule that leads out of the trie", "model/tokenizer.model: normalizer_spec.precompiled_charsmap: expects rules within the map, got some that lead out of it")
def rule_that_leads_out_of_the_trie(folder):
    return sentencepiece(folder, PIECES + field(3, field(2, struct.pack("<257I", 1024, *[0x7FFFFC00] * 256) + b"b\0")))


@case("CVE-2024-7254", "a message in a message, two thousand deep: recursion of the parser", end="runs", call=("--prompt", "a", "--temp", "0", "-n", "2"))
def messages_in_messages(folder):
    inner = b""
    for _ in range(2000):
        inner = field(15, inner)
    return sentencepiece(folder, PIECES + b"".join(piece(f"w{i}") for i in range(250)) + inner)


@case("CWE-125", "a piece that is longer than the file", "model/tokenizer.model: byte 77: expects a field of a SentencePiece model")
def piece_longer_than_the_file(folder):
    return sentencepiece(folder, PIECES + b"\x0a\xff\xff\xff\xff\x0f")


@case("CWE-20", "a score that is no number: no sum is better than another", "model/tokenizer.model: pieces[5].score: expects a finite number, got nan")
def score_that_is_no_number(folder):
    return sentencepiece(folder, PIECES + piece("b", float("nan")))


@case("google/sentencepiece, InitializePieces", "no unknown piece: an id of -1 in the middle of a text", "model/tokenizer.model: pieces: expects one unknown piece, got none")
def no_unknown_piece(folder):
    return sentencepiece(folder, piece("a") + piece("b"))


@case("google/sentencepiece, InitializePieces", "bytes for all but one: an id of -1 for that one", "model/tokenizer.model: pieces: expects a piece for each byte, got none for 255")
def bytes_for_all_but_one(folder):
    return sentencepiece(folder, PIECES + b"".join(piece(f"<0x{byte:02X}>", kind=6) for byte in range(255)) + field(2, field(35, 1)))


@case("CVE-2025-49847", "an added token of an id of 900 million: a table as large as that", "model/tokenizer_config.json: added_tokens_decoder.900000000: expects an id below 65576, got an object")
def added_token_of_a_model_far_behind(folder):
    name = sentencepiece(folder, PIECES)
    (folder / name / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"900000000": {"content": "<evil>"}}}))
    return name
