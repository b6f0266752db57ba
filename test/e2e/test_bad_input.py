# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faulty input through the command line: exit code 1, one clear message, nothing left behind."""
import contextlib
import fcntl
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import zlib

import numpy as np
import pytest

from programs import BIN


# Enough for the compiler; far less than a size read from a lying file would ask for.
MEMORY = (resource.RLIMIT_AS, 12 << 30)


def refused(result, *words):
    """Exit code 1, and on standard error one message, which holds `words`."""
    assert result.code == 1, str(result)
    errors = [line for line in result.err.decode().splitlines() if "error:" in line]
    assert len(errors) == 1, str(result)
    for word in words:
        assert word in result.err.decode(), f"no '{word}' in the message{result}"
    return result


def compile_refused(fovea, model, tmp_path, *words):
    """Compiling fails, and the folder of the output is left as empty as it was."""
    folder = tmp_path / "out"
    folder.mkdir()
    result = refused(fovea("compile", model, "-o", folder / "model.fovea", limits=[MEMORY], timeout=60), *words)
    assert list(folder.iterdir()) == [], str(result)


# The model's folder ---------------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def model(checkpoints, tmp_path):
    return pathlib.Path(shutil.copytree(checkpoints / "llama-tied" / "model", tmp_path / "model"))


@pytest.fixture
def sharded(checkpoints, tmp_path):
    return pathlib.Path(shutil.copytree(checkpoints / "llama-sharded" / "model", tmp_path / "model"))


def read_safetensors(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + length]), data[8 + length:]


def write_safetensors(path, header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


NORM = "model.norm.weight"


def weights_fault(change):
    """A fault in the header of model.safetensors; `change` edits it in place, or returns another header."""
    def apply(folder):
        path = folder / "model.safetensors"
        header, data = read_safetensors(path)
        write_safetensors(path, change(header) or header, data)
    return apply


def config_fault(change):
    def apply(folder):
        path = folder / "config.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps(change(config) or config))
    return apply


def tokenizer_fault(change):
    def apply(folder):
        path = folder / "tokenizer.json"
        tokenizer = json.loads(path.read_text())
        path.write_text(json.dumps(change(tokenizer) or tokenizer))
    return apply


def written(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def cut(name, keep):
    def apply(folder):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[:keep if keep >= 0 else len(data) + keep])
    return apply


def removed(name):
    return lambda folder: (folder / name).unlink()


def setting(**values):
    return config_fault(lambda config: config.update(values))


def tensor(name, **values):
    return weights_fault(lambda header: header[name].update(values))


def duplicate_name(header):
    text = json.dumps(header)
    entry = json.dumps({NORM: header[NORM]})[1:-1]
    return (text[:-1] + ", " + entry + "}").encode()


def moved(header, name, by):
    begin, end = header[name]["data_offsets"]
    header[name]["data_offsets"] = [begin + by, end + by]


WEIGHTS = "model.safetensors"
# name: (fault, words of the message)
FOLDER_FAULTS = {
    "weights-empty": (written(WEIGHTS, b""), [WEIGHTS]),
    "weights-too-short-for-length": (cut(WEIGHTS, 5), [WEIGHTS]),
    "weights-header-cut": (cut(WEIGHTS, 100), [WEIGHTS]),
    "weights-data-cut": (cut(WEIGHTS, -1), [WEIGHTS]),
    "weights-header-beyond-file": (written(WEIGHTS, struct.pack("<Q", 1 << 40) + b"{}"), [WEIGHTS]),
    "weights-header-length-overflows": (written(WEIGHTS, struct.pack("<Q", (1 << 64) - 1) + b"{}"), [WEIGHTS]),
    "weights-header-no-json": (written(WEIGHTS, struct.pack("<Q", 8) + b"{\"a\": [1"), [WEIGHTS]),
    "weights-header-nested-without-end": (written(WEIGHTS, struct.pack("<Q", 200000) + b"[" * 200000), [WEIGHTS]),
    "weights-header-no-object": (written(WEIGHTS, struct.pack("<Q", 2) + b"[]"), [WEIGHTS]),
    "weights-trailing-bytes": (lambda folder: (folder / WEIGHTS).open("ab").write(b"xxxx"), [WEIGHTS]),
    "tensor-overlaps-another": (weights_fault(lambda header: header.update(another=dict(header[NORM]))), [WEIGHTS, NORM]),
    "tensor-beyond-data": (weights_fault(lambda header: moved(header, NORM, 1 << 30)), [WEIGHTS, NORM]),
    "tensor-range-reversed": (weights_fault(lambda header: header[NORM]["data_offsets"].reverse()), [WEIGHTS, NORM]),
    "tensor-range-negative": (tensor(NORM, data_offsets=[-192, 0]), [WEIGHTS, NORM]),
    "tensor-range-missing": (weights_fault(lambda header: header[NORM].pop("data_offsets") and None), [WEIGHTS, NORM]),
    "tensor-range-of-text": (tensor(NORM, data_offsets=["0", "192"]), [WEIGHTS, NORM]),
    "tensor-shape-not-its-bytes": (tensor(NORM, shape=[49]), [WEIGHTS, NORM]),
    "tensor-shape-overflows": (tensor(NORM, shape=[1 << 62, 1 << 62, 48]), [WEIGHTS, NORM]),
    "tensor-shape-negative": (tensor(NORM, shape=[-48]), [WEIGHTS, NORM]),
    "tensor-shape-fractional": (tensor(NORM, shape=[48.5]), [WEIGHTS, NORM]),
    "tensor-shape-missing": (weights_fault(lambda header: header[NORM].pop("shape") and None), [WEIGHTS, NORM]),
    "tensor-shape-of-another-model": (tensor(NORM, shape=[24, 2]), [NORM]),
    "tensor-dtype-unknown": (tensor(NORM, dtype="F12"), [WEIGHTS, NORM, "F12"]),
    "tensor-dtype-missing": (weights_fault(lambda header: header[NORM].pop("dtype") and None), [WEIGHTS, NORM]),
    "tensor-named-twice": (weights_fault(duplicate_name), [WEIGHTS, NORM]),
    "tensor-missing": (weights_fault(lambda header: header.update({"other": header.pop(NORM)})), [NORM]),
    "weights-missing": (removed(WEIGHTS), [WEIGHTS]),
    "config-missing": (removed("config.json"), ["config.json"]),
    "config-empty": (written("config.json", b""), ["config.json"]),
    "config-cut": (cut("config.json", 200), ["config.json"]),
    "config-no-object": (written("config.json", b"[1, 2]"), ["config.json"]),
    "config-binary": (written("config.json", bytes(range(256)) * 20), ["config.json"]),
    "config-nested-without-end": (written("config.json", b'{"a":' * 100000), ["config.json"]),
    "config-key-missing": (config_fault(lambda config: config.pop("hidden_size") and None), ["config.json", "hidden_size"]),
    "config-number-zero": (setting(num_attention_heads=0), ["config.json", "num_attention_heads"]),
    "config-number-negative": (setting(num_hidden_layers=-2), ["config.json", "num_hidden_layers"]),
    "config-number-huge": (setting(num_hidden_layers=10**12), ["config.json", "num_hidden_layers"]),
    "config-number-beyond-64-bits": (setting(vocab_size=10**30), ["config.json", "vocab_size"]),
    "config-number-fractional": (setting(hidden_size=48.5), ["config.json", "hidden_size"]),
    "config-number-as-text": (setting(hidden_size="48"), ["config.json", "hidden_size"]),
    "config-epsilon-negative": (setting(rms_norm_eps=-1.0), ["config.json", "rms_norm_eps"]),
    "config-heads-not-divisible": (setting(num_attention_heads=4, num_key_value_heads=3), ["config.json", "num_key_value_heads"]),
    "config-key-not-understood": (setting(attention_sharpening=2.0), ["config.json", "attention_sharpening"]),
    "config-activation-unknown": (setting(hidden_act="swirl"), ["config.json", "hidden_act", "swirl"]),
    "config-architecture-unknown": (setting(architectures=["HopfieldForCausalLM"], model_type="hopfield"), ["config.json", "opfield"]),
    "config-rotary-unknown": (setting(rope_parameters={"rope_type": "spiral", "rope_theta": 500.0}), ["config.json", "spiral"]),
    "config-rotary-factor-missing": (setting(rope_parameters={"rope_type": "linear", "rope_theta": 500.0}), ["config.json", "factor"]),
    "config-rotary-factors-of-wrong-length": (
        setting(rope_parameters={"rope_type": "longrope", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 32, "short_factor": [1.0], "long_factor": [1.0] * 8}),
        ["config.json", "short_factor"]),
    "tokenizer-cut": (cut("tokenizer.json", 1000), ["tokenizer.json"]),
    "tokenizer-nested-without-end": (written("tokenizer.json", b"[" * 300000), ["tokenizer.json"]),
    "tokenizer-model-unknown": (tokenizer_fault(lambda tokenizer: tokenizer["model"].update(type="Quantum")), ["tokenizer.json", "Quantum"]),
    "tokenizer-pre-tokenizer-unknown": (tokenizer_fault(lambda tokenizer: tokenizer.update(pre_tokenizer={"type": "Psychic"})), ["tokenizer.json", "Psychic"]),
    "tokenizer-normalizer-unknown": (tokenizer_fault(lambda tokenizer: tokenizer.update(normalizer={"type": "Shout"})), ["tokenizer.json", "Shout"]),
    "tokenizer-decoder-unknown": (tokenizer_fault(lambda tokenizer: tokenizer.update(decoder={"type": "Guess"})), ["tokenizer.json", "Guess"]),
    "tokenizer-merge-of-unknown-word": (tokenizer_fault(lambda tokenizer: tokenizer["model"]["merges"].append(["qqqq", "zzzz"])), ["tokenizer.json"]),
}


@pytest.mark.long
@pytest.mark.parametrize("name", FOLDER_FAULTS)
def test_faulty_model_folder(fovea, model, tmp_path, name):
    fault, words = FOLDER_FAULTS[name]
    fault(model)
    compile_refused(fovea, model, tmp_path, *words)


def index_fault(change):
    def apply(folder):
        path = folder / "model.safetensors.index.json"
        index = json.loads(path.read_text())
        change(index["weight_map"])
        path.write_text(json.dumps(index))
    return apply


SHARD = "model-00002-of-"
SHARD_FAULTS = {
    "shard-missing": (lambda folder: next(folder.glob(SHARD + "*")).unlink(), [SHARD]),
    "shard-cut": (lambda folder: next(folder.glob(SHARD + "*")).write_bytes(b"1234567"), [SHARD]),
    "index-cut": (cut("model.safetensors.index.json", 100), ["model.safetensors.index.json"]),
    "index-names-no-such-tensor": (index_fault(lambda index: index.update({NORM: index["model.embed_tokens.weight"]})), [NORM]),
    "index-leaves-the-folder": (index_fault(lambda index: index.update({NORM: "../elsewhere.safetensors"})), ["../elsewhere.safetensors"]),
    "index-names-an-absolute-path": (index_fault(lambda index: index.update({NORM: "/etc/passwd"})), ["/etc/passwd"]),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SHARD_FAULTS)
def test_faulty_shards(fovea, sharded, tmp_path, name):
    fault, words = SHARD_FAULTS[name]
    fault(sharded)
    compile_refused(fovea, sharded, tmp_path, *words)


def test_no_such_model(fovea, tmp_path):
    compile_refused(fovea, tmp_path / "nowhere", tmp_path, "nowhere")


def test_model_is_an_empty_folder(fovea, tmp_path):
    (tmp_path / "empty").mkdir()
    compile_refused(fovea, tmp_path / "empty", tmp_path, "empty")


def test_model_is_no_model(fovea, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    compile_refused(fovea, tmp_path / "notes.txt", tmp_path, "notes.txt")


def all_refused(result, *words):
    """Exit code 1, and one message for each entry of `words`, in order, that holds all of it."""
    assert result.code == 1, str(result)
    errors = [line for line in result.err.decode().splitlines() if "error:" in line]
    assert len(errors) == len(words), str(result)
    for expected, line in zip(words, errors):
        for word in expected:
            assert word in line, f"no '{word}' in: {line}"


def test_check_names_all_faults_at_once(fovea, model):
    """Of the configuration, a stored tensor and the tokenizer: each with what it expects."""
    setting(hidden_act="swirl", attention_sharpening=2.0, attention_bias="yes", quantization_config={"bits": 4}, rope_scaling={"type": "spiral", "factor": 2.0})(model)
    header, data = read_safetensors(model / "model.safetensors")
    name = next(name for name in header if "down_proj" in name)
    header[name]["dtype"] = "F8_E4M3"
    write_safetensors(model / "model.safetensors", header, data)
    (model / "tokenizer.json").write_text(json.dumps({"version": "1.0", "normalizer": {"type": "Sparkle"}, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}))
    all_refused(fovea("check", model), ["quantization_config.quant_method", "is required, but missing"], [name, "of F8_E4M3"], ["attention_bias", "expects true or false", '"yes"'],
                ["hidden_act", "expects an activation among gelu, ", "swirl"], ["attention_sharpening", "could change numbers and is not understood"], ["rope_scaling", "expects"],
                ["normalizer.type", "expects one of 'NFC'", "Sparkle"])


def test_check_names_all_faults_of_ir_at_once(fovea, tmp_path):
    """Foreign ops by their location and with the nearest known one, types, weights: what a compilation would refuse one after the other."""
    write_safetensors(tmp_path / "model.safetensors", {"w": {"dtype": "F32", "shape": [8, 4], "data_offsets": [0, 128]}}, bytes(128))
    (tmp_path / "model.mlir").write_text("""
fovea.weight @w : tensor<8x5xf32> = #fovea.stored<"model.safetensors", "w", tensor<8x5xf32>> loc("decoder.w")
fovea.weight @v : tensor<8x4xf32> = #fovea.stored<"model.safetensors", "v", tensor<8x4xf32>> loc("decoder.v")
func.func @forward(%x: tensor<?x4xf32> {fovea.name = "x", fovea.dims = ["n"]}, %c: tensor<?x4xcomplex<f32>> {fovea.name = "angles", fovea.dims = ["n"]}) -> (tensor<?x4xf32> {fovea.name = "y", fovea.dims = ["n"]})
    attributes {fovea.entry} {
  %v = fovea.weight_ref @v : tensor<8x4xf32>
  %a = tosa.abs %x : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("layers.0.abs")
  %b = "stablehlo.tanh"(%a) : (tensor<?x4xf32>) -> tensor<?x4xf32> loc("layers.1.tanh")
  %t = arith.constant false
  %d = scf.if %t -> tensor<?x4xf32> {
    scf.yield %b : tensor<?x4xf32>
  } else {
    scf.yield %a : tensor<?x4xf32>
  } loc("layers.2.branch")
  %e = arith.truncf %d : tensor<?x4xf32> to tensor<?x4xf8E5M2>
  %y = arith.extf %e : tensor<?x4xf8E5M2> to tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
""")
    all_refused(fovea("check", tmp_path / "model.mlir"), ["model.mlir:4:1: argument 'angles': expects elements that are bool,", "tensor<?x4xcomplex<f32>>"],
                [": layers.0.abs: 'tosa.abs' is not supported", "nearest is math.absf"], [": layers.1.tanh: 'stablehlo.tanh' is not supported", "nearest is math.tanh"],
                [": layers.2.branch: 'scf.if' is not supported", "nearest is arith.select"], ["model.mlir:15:8: 'arith.truncf': expects elements", "f8E5M2"],
                [": w: ", "expects 'tensor<8x5xf32>', got [8, 4] of F32"], [": v: ", "missing"])


COMPILES_NOT = {
    "axis-beyond-32-bits": ("""func.func @f(%x: tensor<?x4xf32>) -> tensor<1x?x4xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %y = tensor.expand_shape %x [[4294967296, 1], [2]] output_shape [1, %n, 4] : tensor<?x4xf32> into tensor<1x?x4xf32>
  %z = fovea.activation relu %y : tensor<1x?x4xf32>
  return %z : tensor<1x?x4xf32>
}""", "model.mlir:4:8: 'tensor.expand_shape' op expects axes 0, 1, 2, ... in its groups, got [[4294967296, 1], [2]]"),
    "element-at-run-time": ("""func.func @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %sizes = arith.constant dense<[1, 2]> : tensor<2xindex>
  %rows = tensor.dim %x, %c0 : tensor<?x2xf32>
  %n = tensor.extract %sizes[%rows] : tensor<2xindex>
  %y = tensor.extract_slice %x[0, 0] [%n, 2] [1, 1] : tensor<?x2xf32> to tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}""", "model.mlir:5:8: 'tensor.extract' op is neither in a group, nor a view, nor index arithmetic"),
    "cache-twice": ("""func.func @f(%c: !fovea.cache<key, 1x2xf32> {fovea.name = "past"}) -> (!fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>) attributes {fovea.entry} {
  return %c, %c : !fovea.cache<key, 1x2xf32>, !fovea.cache<key, 1x2xf32>
}""", "model.mlir:2:3: 'func.return' op continues argument 'past' twice, as results 0 and 1"),
    "number-as-argument": ("""func.func @f(%n: index) attributes {fovea.entry} {
  return
}""", "model.mlir:1:1: 'func.func' op expects tensors and caches as arguments of an entry, got 'index'"),
}


@pytest.mark.parametrize("name", COMPILES_NOT)
def test_check_finds_what_a_pass_refuses(fovea, tmp_path, name):
    """All ops and types are known, and yet it cannot be compiled: `check` says so, in the words of `compile`."""
    text, message = COMPILES_NOT[name]
    (tmp_path / "model.mlir").write_text(text + "\n")
    said = [refused(fovea(*command), message) for command in [("check", tmp_path / "model.mlir"), ("compile", tmp_path / "model.mlir", "-o", tmp_path / "y.fovea")]]
    assert said[0].err == said[1].err and not (tmp_path / "y.fovea").exists()


# The artifact ---------------------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_artifact(compiled, checkpoints):
    return compiled(checkpoints / "llama-tied" / "model")


def opened(fovea_run, file):
    return fovea_run("generate", file, "--prompt", "night", "-n", 1, "--temp", 0, limits=[MEMORY], timeout=60)


def test_artifact_opens(fovea_run, small_artifact):
    opened(fovea_run, small_artifact).ok()


@pytest.mark.long
def test_artifact_with_any_byte_changed(fovea_run, small_artifact, tmp_path):
    data = small_artifact.read_bytes()
    random = np.random.default_rng(1)
    places = sorted({*range(0, 256), len(data) - 1, *(int(place) for place in random.integers(0, len(data), 200))})
    file = tmp_path / "changed.fovea"
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        file.write_bytes(changed)
        try:
            refused(opened(fovea_run, file), "changed.fovea")
        except AssertionError as fault:
            raise AssertionError(f"byte {place} of {len(data)}: {fault}") from None


@pytest.mark.long
def test_artifact_cut_short(fovea_run, small_artifact, tmp_path):
    data = small_artifact.read_bytes()
    file = tmp_path / "cut.fovea"
    for keep in sorted({0, 1, 7, 8, 16, 63, 64, 100, 4095, 4096, 4097, *range(0, len(data), len(data) // 40), len(data) - 1}):
        file.write_bytes(data[:keep])
        try:
            refused(opened(fovea_run, file), "cut.fovea")
        except AssertionError as fault:
            raise AssertionError(f"first {keep} of {len(data)} bytes: {fault}") from None


def test_artifact_with_bytes_after_its_end(fovea_run, small_artifact, tmp_path):
    (tmp_path / "long.fovea").write_bytes(small_artifact.read_bytes() + b"more")
    refused(opened(fovea_run, tmp_path / "long.fovea"), "long.fovea")


@pytest.mark.parametrize("data", [b"", b"\x7fELF" + bytes(5000), b"some text\n" * 1000], ids=["empty", "elf", "text"])
def test_artifact_is_something_else(fovea_run, tmp_path, data):
    (tmp_path / "other.fovea").write_bytes(data)
    refused(opened(fovea_run, tmp_path / "other.fovea"), "other.fovea")


def test_artifact_missing(fovea_run, tmp_path):
    refused(opened(fovea_run, tmp_path / "none.fovea"), "none.fovea")


def test_artifact_is_a_folder(fovea_run, tmp_path):
    refused(opened(fovea_run, tmp_path), tmp_path.name)


# The output -----------------------------------------------------------------------------------------------------------------------------------------------


def test_output_folder_missing(fovea, model, tmp_path):
    refused(fovea("compile", model, "-o", tmp_path / "no" / "such" / "model.fovea"), "model.fovea")
    assert not (tmp_path / "no").exists()


def test_output_is_a_folder(fovea, model, tmp_path):
    out = tmp_path / "taken"
    out.mkdir()
    refused(fovea("compile", model, "-o", out), "taken")
    assert list(out.iterdir()) == [] and {path.name for path in tmp_path.iterdir()} == {"model", "taken"}


def test_output_in_a_read_only_place(fovea, model):
    refused(fovea("compile", model, "-o", "/proc/model.fovea"), "/proc/model.fovea")


def test_disk_full(fovea, model, tmp_path):
    """A file system of 64 KiB, where this user may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        (disk / "model.fovea").write_bytes(b"what was there before")
        refused(fovea("compile", model, "-o", disk / "model.fovea"), "model.fovea")
        assert [path.name for path in disk.iterdir()] == ["model.fovea"]
        assert (disk / "model.fovea").read_bytes() == b"what was there before"
    finally:
        subprocess.run(["umount", disk], check=True)


def test_write_fails_midway(fovea, model, tmp_path):
    """As on a full disk, by a limit on the size of files; the limit's signal is ignored, so the write itself fails. Which file
    meets it first, the artifact or what the linker reads, is not told here."""
    folder = tmp_path / "out"
    folder.mkdir()
    earlier = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        result = fovea("compile", model, "-o", folder / "model.fovea", limits=[(resource.RLIMIT_FSIZE, 64 << 10)], restore_signals=False)
    finally:
        signal.signal(signal.SIGXFSZ, earlier)
    refused(result, "cannot write")
    assert list(folder.iterdir()) == []


def test_too_little_memory(fovea, shakespeare, tmp_path):
    """One message, wherever memory ends; below some 140 MB the system does not even load the program."""
    (tmp_path / "out").mkdir()
    codes = []
    for megabytes in [150, 170, 195, 230, 4000]:
        result = fovea("compile", shakespeare, "--threads=1", "-o", tmp_path / "out" / "m.fovea", limits=[(resource.RLIMIT_AS, megabytes << 20)], timeout=60)
        codes.append(result.code)
        if result.code == 1:
            refused(result)
        assert len(list((tmp_path / "out").iterdir())) == (0 if result.code else 1), str(result)
        (tmp_path / "out" / "m.fovea").unlink(missing_ok=True)
    assert set(codes) <= {0, 1, 127} and codes[0] != 0 and codes[-1] == 0, codes


def test_killed_compilations_leave_nothing(fovea, shakespeare, tmp_path):
    """Killed at twelve moments, a compilation leaves what was there before or all of the new file; and what else it left, which it can no longer remove, the next one does."""
    path, out, temporary = BIN / "fovea", tmp_path / "out" / "model.fovea", tmp_path / "temporary"
    if not path.exists():
        pytest.skip("build/bin/fovea does not exist")
    out.parent.mkdir()
    temporary.mkdir()
    place = {**os.environ, "TMPDIR": str(temporary)}
    fovea("compile", shakespeare, "-o", out).ok()
    whole, left = out.read_bytes(), 0
    for moment in range(12):
        out.write_bytes(b"before")
        process = subprocess.Popen([path, "compile", shakespeare, "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=place)
        try:
            process.wait(0.04 * moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert out.read_bytes() in (b"before", whole) and not list(temporary.iterdir())
        left += len(list(out.parent.iterdir())) - 1
    assert left, "no compilation was killed while it wrote"
    fovea("compile", shakespeare, "-o", out).ok()
    assert [file.name for file in out.parent.iterdir()] == ["model.fovea"] and out.read_bytes() == whole


def test_what_another_program_writes_stays(fovea, model, tmp_path):
    """A file of a temporary's name is removed only if nobody holds it."""
    held, other = tmp_path / "model.fovea.tmp-AbCdEf", tmp_path / "model.fovea.tmp-longer-name"
    other.write_bytes(b"")
    with held.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fovea("compile", model, "-o", tmp_path / "model.fovea").ok()
        assert held.exists()
    fovea("compile", model, "-o", tmp_path / "model.fovea").ok()
    assert not held.exists() and other.exists()


@pytest.mark.parametrize("arguments, name", [(["--emit=fused", "-o", "OUT/fused.mlir"], "fused.mlir"), (["-o", "OUT/m.fovea", "--report", "OUT/report"], "report"),
                                             (["-o", "OUT/m.fovea", "--dump-ir", "OUT"], "02-graph.mlir")])
def test_what_is_abandoned_is_removed(fovea, model, tmp_path, arguments, name):
    """Texts too, not only artifacts."""
    (tmp_path / f"{name}.tmp-AbCdEf").write_bytes(b"half")
    fovea("compile", model, *(word.replace("OUT", str(tmp_path)) for word in arguments)).ok()
    assert (tmp_path / name).stat().st_size and not list(tmp_path.glob("*.tmp-*"))


def test_verification_leaves_nothing(fovea, model, tmp_path):
    """Not even when it is killed: what it compiles has no name."""
    (tmp_path / "temporary").mkdir()
    place = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    fovea("verify", model, env=place).ok()
    process = subprocess.Popen([BIN / "fovea", "verify", model], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=place)
    seen = False
    while not seen and process.poll() is None:
        for entry in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                name = os.readlink(entry)
                seen |= name.startswith(str(tmp_path / "temporary")) and name.endswith("(deleted)")
    process.kill()
    process.wait()
    assert seen, "the artifact was not seen"
    assert not list((tmp_path / "temporary").iterdir())


def test_compilations_to_one_target(fovea, model, tmp_path):
    """None takes another's file for abandoned."""
    out = tmp_path / "out" / "model.fovea"
    out.parent.mkdir()
    running = [subprocess.Popen([BIN / "fovea", "compile", model, "-o", out, "--quiet"], stderr=subprocess.PIPE) for _ in range(6)]
    for process in running:
        assert process.communicate()[1] == b"" and process.returncode == 0
    assert [file.name for file in out.parent.iterdir()] == ["model.fovea"]
    fovea("inspect", out, "--verify").ok()


def test_output_through_a_link(fovea, fovea_run, model, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "m.fovea").write_bytes(b"before")
    (tmp_path / "m.fovea").symlink_to("real/m.fovea")
    (tmp_path / "report").symlink_to("real/report")
    (tmp_path / "real" / "report").write_bytes(b"before")
    fovea("compile", model, "-o", tmp_path / "m.fovea", "--report", tmp_path / "report").ok()
    assert (tmp_path / "m.fovea").is_symlink() and (tmp_path / "report").is_symlink()
    assert {file.name for file in (tmp_path / "real").iterdir()} == {"m.fovea", "report"}
    assert "attention" in json.loads((tmp_path / "real" / "report").read_text())
    fovea_run("generate", tmp_path / "m.fovea", "--prompt", "night", "-n", 1).ok()


def test_full_devices(fovea, fovea_run, small_artifact, tmp_path):
    """What cannot be written is told, whoever writes it; and no file takes a device's place."""
    for program, words in [("fovea", ["inspect", small_artifact]), ("fovea", ["inspect", "--help"]), ("fovea-run", ["--help"])]:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BIN / program, *words], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1 and done.stderr.decode().count("error:") == 1, done.stderr
    refused(fovea_run("generate", small_artifact, "--prompt", "night", "-n", 2, "--trace", "/dev/full"), "/dev/full: cannot be written")
    fovea_run("generate", small_artifact, "--prompt", "night", "-n", 2, "--trace", "/dev/null").ok()
    assert pathlib.Path("/dev/full").is_char_device() and pathlib.Path("/dev/null").is_char_device()


def test_outputs_of_run_unwritable(fovea_run, small_artifact, checkpoints, tmp_path):
    refused(fovea_run("run", small_artifact, "--entry", "forward", "--inputs", checkpoints / "llama-tied" / "inputs-0.npz", "--outputs", tmp_path / "no" / "out.npz"), "out.npz")


def test_standard_output_full(fovea_run, small_artifact):
    path = BIN / "fovea-run"
    with open("/dev/full", "wb") as full:
        done = subprocess.run([path, "generate", small_artifact, "--prompt", "night", "-n", "20", "--temp", "0"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and done.stderr.decode().count("error:") == 1, done.stderr


# What a call is given ---------------------------------------------------------------------------------------------------------------------------------------


def test_prompt_longer_than_the_context(fovea_run, shakespeare_artifact):
    result = refused(fovea_run("generate", shakespeare_artifact, "--prompt", "the king and the night " * 400, "-n", 4, "--temp", 0), "512")
    assert result.out == b""


def test_generation_stops_at_the_context(fovea_run, shakespeare_artifact):
    """Asking for more tokens than the context holds is no fault of the input: the text ends there, or it is refused, but nothing breaks."""
    result = fovea_run("generate", shakespeare_artifact, "--prompt", "ROMEO:", "-n", 600, "--temp", 0)
    assert result.code in (0, 1), str(result)
    if result.code == 1:
        refused(result, "512")


@pytest.mark.parametrize("flag, value, expected", [
    ("--temp", "inf", "a number from 0 to 1000"), ("--temp", "nan", "a number from 0 to 1000"), ("--temp", "1e308", "a number from 0 to 1000"), ("--temp", "-1", "a number from 0 to 1000"),
    ("--count", "-1", "a number from 0 to 1073741824"), ("--count", "9223372036854775808", "a number from 0 to 1073741824"), ("--count", "1e999", "a number from 0 to 1073741824"),
    ("--top-k", "-3", "a number from 0 to 1073741824"), ("--top-p", "nan", "a number from 1e-06 to 1"), ("--min-p", "2", "a number from 0 to 1"), ("--repeat-penalty", "inf", "a number from 0.001 to 1000"),
    ("--repeat-penalty", "1e-300", "a number from 0.001 to 1000"), ("--threads", "-1", "a number from 0 to 1024"), ("--threads", "99999", "a number from 0 to 1024"),
    ("--context", "0", "a number of at least 1"), ("--prompt-ids", "1,,2", "integers as in 1,2,3"), ("--prompt-ids", "1,2,", "integers as in 1,2,3"),
    ("--prompt-ids", "1,x", "integers as in 1,2,3"), ("--prompt-ids", "99999999999999999999", "integers as in 1,2,3")])
def test_numbers_out_of_range(fovea_run, shakespeare_artifact, flag, value, expected):
    prompt = [] if flag == "--prompt-ids" else ["--prompt", "a"]
    result = fovea_run("generate", shakespeare_artifact, *prompt, f"{flag}={value}")
    assert result.code == 2 and f"{flag}: expects {expected}, got '{value}'" in result.err.decode() and len(result.err.splitlines()) <= 2, str(result)


def test_numbers_at_the_ends_of_their_ranges(fovea_run, shakespeare_artifact):
    for flag in ("--temp=1000", "--top-p=1e-6", "--min-p=1", "--repeat-penalty=0.001", "--repeat-penalty=1000", "--threads=1024", "--count=0"):
        fovea_run("generate", shakespeare_artifact, "--prompt-ids=1,2", *([] if "count" in flag else ["-n", 2]), "--quiet", flag).ok()


def arrays(tmp_path, **members):
    np.savez(tmp_path / "in.npz", **members)
    return tmp_path / "in.npz"


IDS = np.zeros((1, 5), dtype=np.int64)
CALL_FAULTS = {
    "input-missing": ({"other": IDS}, ["input_ids"]),
    "input-of-wrong-rank": ({"input_ids": IDS[0]}, ["input_ids"]),
    "input-of-wrong-type": ({"input_ids": IDS.astype(np.float32)}, ["input_ids"]),
    "input-not-known": ({"input_ids": IDS, "colour": IDS}, ["colour"]),
    "token-outside-the-vocabulary": ({"input_ids": IDS + 100000}, ["token"]),
    "token-negative": ({"input_ids": IDS - 1}, ["token"]),
    "sequence-longer-than-the-context": ({"input_ids": np.zeros((1, 200), dtype=np.int64)}, ["128"]),
}


@pytest.mark.parametrize("name", CALL_FAULTS)
def test_faulty_call(fovea_run, small_artifact, tmp_path, name):
    members, words = CALL_FAULTS[name]
    if name.startswith("token"):
        words = ["input_ids"]
    refused(fovea_run("run", small_artifact, "--entry", "forward", "--inputs", arrays(tmp_path, **members), "--outputs", tmp_path / "out.npz"), *words)
    assert not (tmp_path / "out.npz").exists()


def test_entry_not_known(fovea_run, small_artifact, tmp_path):
    refused(fovea_run("run", small_artifact, "--entry", "backward", "--inputs", arrays(tmp_path, input_ids=IDS), "--outputs", tmp_path / "out.npz"), "backward", "forward")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 no zip", b"text"], ids=["empty", "cut", "text"])
def test_inputs_are_no_npz(fovea_run, small_artifact, tmp_path, data):
    (tmp_path / "in.npz").write_bytes(data)
    refused(fovea_run("run", small_artifact, "--entry", "forward", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"), "in.npz")


def test_npz_with_any_byte_cut_does_not_crash(fovea_run, small_artifact, tmp_path):
    data = arrays(tmp_path, input_ids=IDS).read_bytes()
    for keep in range(0, len(data), 23):
        (tmp_path / "in.npz").write_bytes(data[:keep])
        refused(fovea_run("run", small_artifact, "--entry", "forward", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"), "in.npz")


def npz(entries, packed, size):
    """A file whose directory has `entries`, (name, offset) each, of one deflated member."""
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, 0, len(packed), size, 1, 0) + b"m" + packed
    directory = b"".join(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0, 0, len(packed), size, len(name), 0, 0, 0, 0, 0, offset) + name for name, offset in entries)
    return local + directory + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(entries), len(entries), len(directory), len(local), 0)


@pytest.mark.parametrize("dtype, value", [("f32", float("nan")), ("f32", float("inf")), ("bf16", float("nan"))])
def test_weights_that_are_no_numbers_are_blamed(fovea, fovea_run, model, tmp_path, dtype, value):
    header, data = read_safetensors(model / "model.safetensors")
    name = "model.layers.1.mlp.down_proj.weight"
    begin, _ = header[name]["data_offsets"]
    patched = bytearray(data)
    patched[begin + 8:begin + 12] = struct.pack("<f", value)
    assert header[name]["dtype"] == "F32"
    write_safetensors(model / "model.safetensors", header, bytes(patched))
    fovea("compile", model, f"--dtype={dtype}", "-o", tmp_path / "m.fovea").ok()
    refused(fovea_run("generate", tmp_path / "m.fovea", "--prompt", "night", "-n", 3), "is not a number", f"weight '{name}' holds NaN or infinity")


def test_pattern_that_takes_for_ever(fovea, fovea_run, model, tmp_path):
    """Repeats of repeats, tried in 2^36 ways on 36 letters: one request would stop a server."""
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    tokenizer["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    fovea("compile", model, "-o", tmp_path / "m.fovea").ok()
    fovea_run("generate", tmp_path / "m.fovea", "--prompt", "a" * 36, "-n", 1, timeout=20).ok()
    refused(fovea_run("generate", tmp_path / "m.fovea", "--prompt", "a" * 36 + "!", "-n", 1, timeout=20), "(?:a+)+$", "takes too long")


@pytest.mark.parametrize("names, word", [([b"a%d.npy" % i for i in range(100)], "shares bytes with member"), ([b"a%d.npy" % i for i in range(400)], "more than 16 GiB"),
                                         ([b"a.npy"] * 2, "is there twice")], ids=["shared", "large", "twice"])
def test_npz_bomb(fovea_run, small_artifact, tmp_path, names, word):
    """Hundreds of arrays of 50 MB in 70 KB: their directory names one member again and again."""
    size = 50 << 20
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    (tmp_path / "in.npz").write_bytes(npz([(name, 0) for name in names], pack.compress(bytes(size)) + pack.flush(), size))
    assert (tmp_path / "in.npz").stat().st_size < 100_000
    refused(fovea_run("run", small_artifact, "--inputs", tmp_path / "in.npz", limits=[(resource.RLIMIT_AS, 1 << 30)], timeout=10), word)


def test_pipes_and_devices_are_no_files(fovea, fovea_run, small_artifact, tmp_path):
    """Nothing waits for the writer of a pipe, or reads a device to its end."""
    for name in ["pipe.npz", "pipe.fovea", "pipe.mlir", "pipe.onnx"]:
        os.mkfifo(tmp_path / name)
    for inputs in [tmp_path / "pipe.npz", "/dev/zero"]:
        refused(fovea_run("run", small_artifact, "--inputs", inputs, timeout=10), "regular file")
    refused(fovea("inspect", tmp_path / "pipe.fovea", timeout=10), "regular file")
    for model in ["pipe.mlir", "pipe.onnx"]:
        refused(fovea("check", tmp_path / model, timeout=10), "regular file")


def test_generate_on_an_encoder(fovea_run, compiled, checkpoints):
    refused(fovea_run("generate", compiled(checkpoints / "bert" / "model"), "--prompt", "night"))


def test_embed_without_pooling(fovea_run, compiled, checkpoints):
    refused(fovea_run("embed", compiled(checkpoints / "bert" / "model"), "--text", "night"))


def test_generate_without_a_tokenizer(fovea, fovea_run, model, checkpoints, tmp_path):
    """A checkpoint without tokenizer.json compiles and runs; only text needs one."""
    (model / "tokenizer.json").unlink()
    fovea("compile", model, "-o", tmp_path / "model.fovea").ok()
    fovea_run("run", tmp_path / "model.fovea", "--entry", "forward", "--inputs", checkpoints / "llama-tied" / "inputs-0.npz", "--outputs", tmp_path / "out.npz").ok()
    refused(fovea_run("generate", tmp_path / "model.fovea", "--prompt", "night"), "tokenizer")


@pytest.mark.parametrize("text", [b"\xff\xfe\x80 not UTF-8 \xc3", b"", "\u0000 zero \U0001f600 e\u0301".encode()], ids=["invalid", "empty", "odd"])
def test_odd_prompts_do_not_crash(fovea_run, shakespeare_artifact, tmp_path, text):
    (tmp_path / "prompt.txt").write_bytes(text)
    result = fovea_run("generate", shakespeare_artifact, "--prompt-file", tmp_path / "prompt.txt", "-n", 3, "--temp", 0)
    assert result.code in (0, 1), str(result)
    if result.code:
        refused(result)


def test_faulty_ir_is_refused(fovea, tmp_path):
    (tmp_path / "broken.mlir").write_text("func.func @f( {")
    compile_refused(fovea, tmp_path / "broken.mlir", tmp_path, "broken.mlir")


# Iterator types that are no words, which linalg.generic reports through a reference that is gone; a list that is cut, of which linalg.reduce keeps nothing.
DOWN = {
    "iterator-types": """#m = affine_map<(i) -> (i)>
func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = [0]} ins(%a : tensor<3xf32>) outs(%a : tensor<3xf32>) {
  ^bb0(%x: f32, %u: f32):
    linalg.yield %x : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}
""",
    "cut-dimensions": """func.func @f(%a: tensor<3x3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %s = linalg.reduce {arith.addf} ins(%a : tensor<3x3xf32>) outs(%b : tensor<3xf32>) dimensions = [10
  return %s : tensor<3xf32>
}
""",
}


@pytest.mark.parametrize("name", DOWN)
@pytest.mark.parametrize("verb", ["check", "verify", "inspect"])
def test_ir_that_brings_a_parser_down(fovea, tmp_path, name, verb):
    """Faults of MLIR's own parsers, which end the program where nothing guards them."""
    model = tmp_path / "model.mlir"
    model.write_text(DOWN[name])
    refused(fovea(verb, model, timeout=60), "model.mlir:2:")
    compile_refused(fovea, model, tmp_path, "model.mlir:2:")


@pytest.mark.parametrize("text", ["module attributes {f.a = " + "[" * 2_000_000, "func.func private @f(" + "tuple<" * 5000 + ">" * 5000 + ")", "module {" * 3000 + "}" * 3000],
                         ids=["attributes", "types", "regions"])
def test_ir_nested_deeply(fovea, tmp_path, text):
    (tmp_path / "model.mlir").write_text("// ((((\n" + text)
    compile_refused(fovea, tmp_path / "model.mlir", tmp_path, "model.mlir:2:", "at most 1000 deep")


def test_brackets_that_nest_nothing(fovea, tmp_path):
    """In strings, comments and arrows, and side by side."""
    rows = "".join(f'  "some.op"() {{a = "{"(" * 2000}\\"{"[" * 10}"}} : () -> () // {"<" * 2000}\n' for _ in range(3))
    (tmp_path / "model.mlir").write_text("func.func private @g(%a: f32) {\n" + rows + "  return\n}\n" + "func.func private @h(() -> (() -> ()))\n" * 1500)
    result = fovea("check", tmp_path / "model.mlir")
    assert result.code == 1 and "deep" not in result.err.decode(), str(result)
