# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line's contract: exit codes, what goes where, what the programs link."""
import json
import re
import shutil
import subprocess

import pytest

from programs import BIN, ROOT


@pytest.mark.parametrize("arguments", [["--help"], ["compile", "--help"], ["generate", "--help"]])
def test_help_goes_to_standard_output(fovea, arguments):
    result = fovea(*arguments).ok()
    assert result.out and not result.err


@pytest.mark.parametrize("program", ["fovea", "fovea-run"])
def test_options_are_described_alike(fovea, fovea_run, program):
    """In lower case, but for what stands for a value, as NAME=SIZE, and for names."""
    run = {"fovea": fovea, "fovea-run": fovea_run}[program]
    listed = [line.split() for line in run("--help").ok().text.split("Subcommands:")[1].splitlines() if re.match(r"  \w", line)]
    verbs = [line[0] for line in listed]
    assert {"run", "generate", "embed", "bench"} <= set(verbs)
    for verb in [[], *[[verb] for verb in verbs]]:
        helps = re.findall(r"^  -.*?(?:  +|\n {20,})(\S+)", run(*verb, "--help").ok().text, re.MULTILINE)
        assert len(helps) >= (1 if verb in (["completions"], ["draw"], ["man"]) else 2) and not [word for word in helps if re.match("[A-Z][a-z]", word)], (verb, helps)


def test_version(fovea):
    text = fovea("--version").ok().text
    assert re.fullmatch(r"fovea 0\.\d+\.\d+( \([0-9a-f]{7,}\))?\nLLVM 22\.\S+\ntargets: x86-64 and aarch64 by LLVM's names of processors \(this one is \S+\), GPUs sm_80, sm_90a\n", text), text


@pytest.mark.parametrize("arguments", [[], ["no-such-verb"], ["compile"], ["compile", "--no-such-flag"], ["generate", "x.fovea", "--temp", "warm"], ["generate", "x.fovea", "-n", "-3"]])
def test_usage_errors(fovea, arguments):
    result = fovea(*arguments)
    assert result.code == 2 and not result.out and result.err, str(result)


def test_thin_runtime_has_no_compiler(fovea_run, shakespeare, tmp_path):
    assert fovea_run("compile", shakespeare, "-o", tmp_path / "model.fovea").code == 2


def test_compile_says_nothing_on_standard_output(fovea, shakespeare, tmp_path):
    assert not fovea("compile", shakespeare, "-o", tmp_path / "model.fovea").ok().out


def test_inspect_names_entries_and_kernels(fovea, shakespeare_artifact):
    text = fovea("inspect", shakespeare_artifact).ok().text
    for word in ["forward", "prefill", "decode", "input_ids", "logits", "next_token"]:
        assert word in text
    fovea("inspect", shakespeare_artifact, "--verify").ok()


# What an artifact cannot honour ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--dtype=int8", "--target=x86-64", "--gpu=sm_80", "--compute=f32", "--cache=f32", "-O1", "--from-stage=import"])
@pytest.mark.parametrize("verb", [["generate", "--prompt", "a"], ["run", "--input", "input_ids=[[1]]"], ["embed", "--text", "a"], ["bench", "--no-peaks"], ["inspect"]])
def test_artifacts_are_compiled_already(fovea, shakespeare_artifact, verb, option):
    result = fovea(verb[0], shakespeare_artifact, *verb[1:], option)
    name = option.split("=")[0] if option[1] == "-" else "-O"
    assert result.code == 1 and not result.out and result.err.decode().count("error:") == 1, str(result)
    assert f"{shakespeare_artifact}: is compiled already, {name} changes nothing; give it to `fovea compile`" in result.err.decode(), str(result)


def test_all_vain_options_are_named(fovea, shakespeare, shakespeare_artifact, tmp_path):
    result = fovea("generate", shakespeare_artifact, "--prompt", "a", "--dtype", "int8", "--gpu", "all", "-O0")
    assert "-O, --gpu and --dtype change nothing; give them" in result.err.decode(), str(result)
    result = fovea("verify", shakespeare_artifact, "--source", shakespeare, "--compute", "f32")
    assert result.code == 1 and "--compute changes nothing" in result.err.decode(), str(result)
    # What is no artifact is named as that.
    (tmp_path / "none.fovea").write_text("no artifact")
    result = fovea("generate", tmp_path / "none.fovea", "--prompt", "a", "--dtype", "int8")
    assert result.code == 1 and "--dtype" not in result.err.decode(), str(result)


# What was meant -------------------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, code, words", [
    (["complie", "x"], 2, "expected one of compile, check, inspect, verify, run, generate, chat, embed, translate, transcribe, fill-mask, classify, tag, answer, bench, draw, cache, families, completions, man; did you mean 'compile'?"),
    (["compile", "x", "--dtpye", "int8"], 2, "error: unknown option '--dtpye'; did you mean '--dtype'?"),
    (["compile", "--dtpye", "int8"], 2, "error: unknown option '--dtpye'; did you mean '--dtype'?"),
    (["compile", "x", "y"], 2, "error: expects no more words, got 'y'"),
    (["compile", "SHAKESPEARE", "--target", "sapphierapids", "-o", "x.fovea"], 1, "(sapphirerapids, znver5, neoverse-n2, ...); did you mean 'sapphirerapids'?"),
    (["compile", "SHAKESPEARE", "--target", "prtable", "-o", "x.fovea"], 1, "did you mean 'portable'?"),
    (["compile", "SHAKESPEARE", "--gpu", "sm_9a", "-o", "x.fovea"], 1, "got 'sm_9a'; did you mean 'sm_90a'?"),
])
def test_did_you_mean(fovea, shakespeare, arguments, code, words):
    result = fovea(*[shakespeare if word == "SHAKESPEARE" else word for word in arguments])
    assert result.code == code and words in result.err.decode() and result.err.decode().count("error:") == 1, str(result)


def test_nearest_architecture(fovea, checkpoints, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(checkpoints / "llama-tied" / "model", folder)
    config = json.loads((folder / "config.json").read_text())
    for name, nearest in [("LlamaForCasualLM", "; did you mean 'LlamaForCausalLM'?; "), ("SomethingElse", "'SomethingElse'; ")]:
        (folder / "config.json").write_text(json.dumps({**config, "architectures": [name]}))
        result = fovea("check", folder)
        assert result.code == 1 and nearest in result.err.decode().replace('"', "'"), str(result)


# ----------------------------------------------------------------------------------------------------------------------------------------------------------


def test_generate_json(fovea_run, shakespeare_artifact):
    record = json.loads(fovea_run("generate", shakespeare_artifact, "--prompt", "ROMEO:", "-n", 5, "--temp", 0, "--json").ok().text)
    assert isinstance(record, dict) and any(isinstance(value, list) and len(value) == 5 for value in record.values())


def test_inspect_json(fovea, shakespeare_artifact):
    record = json.loads(fovea("inspect", shakespeare_artifact, "--json", "--verify").ok().text)
    assert record["model"] == {"name": "shakespeare-llama", "architecture": "LlamaForCausalLM", "vocabulary": 2048, "longest_context": 512}
    entries = {entry["name"]: entry for entry in record["entries"]}
    assert list(entries) == ["forward", "prefill", "decode", "verify"]
    assert entries["prefill"]["takes"][0] == {"name": "input_ids", "element": "i64", "shape": ["batch", "sequence"]}
    assert any("cache" in value for value in entries["decode"]["takes"])
    for entry in entries.values():
        assert sum(kernel["calls"] for kernel in entry["kernels"]) == entry["steps"] and not any(kernel["fallback"] for kernel in entry["kernels"])
    assert {"weights", "code", "tokenizer", "manifest"} <= set(record["sections"]) and sum(record["sections"].values()) <= shakespeare_artifact.stat().st_size
    assert all(weight["shape"] for weight in record["weights"]) and {entry["status"] for entry in record["report"]["attention"]} == {"fused"}


def test_check_json(fovea, shakespeare, tmp_path):
    record = json.loads(fovea("check", shakespeare, "--json").ok().text)
    assert record == {"model": str(shakespeare), "supported": True, "summary": "LlamaForCausalLM, 4 layers", "problems": [], "notes": []}
    (tmp_path / "two.mlir").write_text("""func.func @forward(%x: tensor<?x2xf32> {fovea.name = "x"}) -> (tensor<?x2xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %y = "tosa.abs"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %z = "tosa.tanh"(%y) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %z : tensor<?x2xf32>
}
""")
    for model, words in [(tmp_path / "two.mlir", ["'tosa.abs' is not supported", "'tosa.tanh' is not supported"]), (tmp_path / "nowhere", ["No such file"])]:
        result = fovea("check", model, "--json")
        record = json.loads(result.text)
        assert result.code == 1 and not result.err and record["supported"] is False and len(record["problems"]) == len(words), str(result)
        assert all(word in problem for word, problem in zip(words, record["problems"])), record
    (tmp_path / "model.bin").write_bytes(b"GGUF" + bytes(60))
    result = fovea("check", tmp_path / "model.bin", "--json")
    assert result.code == 1 and "GGUF" in json.loads(result.text)["problems"][0], str(result)


def test_bench_reports(fovea_run, shakespeare_artifact):
    assert re.search(r"\d", fovea_run("bench", shakespeare_artifact, "--prompt-tokens", 16, "--new-tokens", 4).ok().text)


def test_verify_shakespeare(fovea, shakespeare):
    fovea("verify", shakespeare).ok()


def test_compiled_code_is_native(fovea, shakespeare, tmp_path):
    """--emit=asm writes assembly text; --target=x86-64 runs anywhere on x86-64, so it names no AVX register."""
    fovea("compile", shakespeare, "--emit=asm", "--target=x86-64", "-o", tmp_path / "model.s").ok()
    text = (tmp_path / "model.s").read_text()
    assert "mulss" in text or "mulps" in text
    assert "%ymm" not in text and "%zmm" not in text


@pytest.mark.parametrize("target", ["portable", "x86-64-v3", "host"])
def test_targets_agree(fovea, fovea_run, shakespeare, tmp_path, target):
    fovea("compile", shakespeare, f"--target={target}", "-o", tmp_path / "model.fovea").ok()
    text = fovea_run("generate", tmp_path / "model.fovea", "--prompt", "ROMEO:\nWhat light", "-n", 16, "--temp", 0).ok().text
    assert text.startswith(" is the king?")


FORBIDDEN = ["LLVM", "MLIR", "protobuf", "icu", "boost"]


def linked(path):
    if not path.exists():
        pytest.skip(f"{path.relative_to(ROOT)} does not exist")
    return subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("file", ["bin/fovea-run", "lib/libfovea-runtime.so"])
def test_runtime_links_no_compiler(file):
    libraries = linked(BIN.parent / file)
    for name in FORBIDDEN:
        assert name.lower() not in libraries.lower()
    # pcre2, utf8proc and the rest are inside; only the system's own are outside.
    allowed = re.compile(r"linux-vdso|ld-linux|lib(c|m|stdc\+\+|gcc_s|pthread|dl|rt)\.so|libfovea-runtime")
    assert [line.strip() for line in libraries.splitlines() if not allowed.search(line)] == []


def test_runtime_library_is_small(tmp_path):
    library = BIN.parent / "lib" / "libfovea-runtime.so"
    if not library.exists():
        pytest.skip("build/lib/libfovea-runtime.so does not exist")
    small = tmp_path / "stripped.so"
    shutil.copy(library.resolve(), small)
    subprocess.run([shutil.which("llvm-strip-22") or "strip", small], check=True)
    assert small.stat().st_size < 2_000_000


def test_demo_prints_shakespeare():
    for program in ["fovea", "fovea-run"]:
        if not (BIN / program).exists():
            pytest.skip(f"build/bin/{program} does not exist")
    done = subprocess.run([ROOT / "scripts" / "demo"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert "is the king?" in done.stdout


def test_script_usage_errors():
    for script in ["setup", "demo", "test", "bench"]:
        done = subprocess.run([ROOT / "scripts" / script, "--no-such-flag"], capture_output=True, text=True)
        assert done.returncode == 2 and "usage" in done.stderr
