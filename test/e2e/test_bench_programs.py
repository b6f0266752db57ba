# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/bench without its packages: options, rows of the table, what a program must show before it is timed, and the
picture."""
import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from programs import ROOT

sys.path.insert(0, str(ROOT / "bench"))
import cases
import compare
import language_peers
import models
import peers
import picture

TINY = dict(models.SHAPES["llama-110m"], hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, intermediate_size=96, vocab_size=100)
BENCH_PYTHON = ROOT / "build" / "bench-venv" / "bin" / "python"


def can_import(*names):
    """Whether scripts/bench has made its environment, with these packages."""
    if not BENCH_PYTHON.exists():
        return False
    return subprocess.run([BENCH_PYTHON, "-c", f"import {', '.join(names)}"], capture_output=True).returncode == 0


def bench(*words):
    command = [ROOT / "scripts" / "bench", "--python", sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def programs(**seconds):
    return {name.replace("_", "-"): {"seconds": value, "share_of_peak": 0.5, "share_of_bandwidth": 0.25, "error": 1e-6}
            for name, value in seconds.items()}


def measured():
    """As --out writes it: one case with two counts of threads, one that has no programs."""
    kernels = {"decode": {"kernels": {"linear_1": {"seconds": 3}, "linear_2": {"seconds": 1}}}}
    one = {"case": "decode", "threads": 1, "programs": programs(fovea=0.02, onnxruntime_genai=0.03, torch=0.3),
           "unable": {"llama.cpp": "is not there"}, "kernels": kernels}
    two = {**one, "threads": 2, "programs": programs(fovea=0.012345, onnxruntime_genai=0.01)}
    return {"processor": "AMD EPYC", "threads": [1, 2], "dtype": "f32", "date": "2026-11-27",
            "fovea": "0.1.0 (abc1234)", "versions": {"onnxruntime-genai": "0.18.0"},
            "cases": [one, two, {"case": "start", "seconds": 0.01, "times": [0.01]}]}


def test_threads_are_a_list():
    assert compare.read_options([])[1].threads == [2]
    assert compare.read_options(["--threads", "2"])[1].threads == [2]
    assert compare.read_options(["--threads=4,1"])[1].threads == [4, 1]


@pytest.mark.parametrize("words, message", [
    (["--threads", "0"], "--threads: expects different counts of 1 or more with commas between, got '0'"),
    (["--threads", "1,"], "got '1,'"),
    (["--threads", "2,2"], "got '2,2'"),
    (["--threads", "two"], "got 'two'"),
    (["--rounds", "0"], "--rounds expects 1 or more, got 0"),
    (["--neighbours=-1"], "--neighbours expects 0 or more, got -1"),
    (["--peer", "ctranslate"], "invalid choice: 'ctranslate'"),
    (["--case", "prefil"], "--case prefil: expects one of"),
    (["--case", "attention-full", "--dtype", "int4"], "attention alone is measured in f32"),
    (["--nothing"], "unknown flag '--nothing'"),
    (["--svg", "build/there/is/none.svg"], "build/there/is/none.svg: its folder does not exist"),
    (["--from", "a.json"], "--from expects --svg FILE and no other option"),
    (["--from", "a.json", "--svg", "a.svg", "--rounds", "3"], "--from expects --svg FILE and no other option"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_bad_options_are_one_message(words, message):
    done = bench(*words)
    assert done.returncode == 2 and not done.stdout
    line, = done.stderr.splitlines()
    assert line.startswith("scripts/bench: ") and message in line


def test_help_names_every_option_and_program():
    text = bench("--help").stdout
    command = [sys.executable, ROOT / "bench" / "compare.py", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for option in set(re.findall(r"--[a-z]+", done.stdout)) - {"--help"}:
        assert f"  {option} " in text, option
    for name in compare.PEERS:
        assert re.search(rf"\b{re.escape(name)}\b", text), name


def test_one_count_of_threads_has_no_column():
    """As the table was before there could be several; a long name leaves the numbers where they are."""
    record = measured()["cases"][0]
    del record["threads"]
    heading, rows = compare.heading(False, 0), compare.table(record)
    assert heading == "case                 program                 ms   to best   % peak   % read      error"
    assert rows == [
        "decode               fovea               20.000      0.67     50.0     25.0    1.0e-06",
        "decode               onnxruntime-genai   30.000      1.00     50.0     25.0    1.0e-06  best peer",
        "decode               torch              300.000     10.00     50.0     25.0    1.0e-06",
        "decode               llama.cpp       unable: is not there",
        "decode               time of kernels: linear 100.0 %"]


def test_several_counts_of_threads_are_told():
    heading, rows = compare.heading(True, 0), compare.table(measured()["cases"][0])
    at = heading.index("threads") + len("threads")
    assert [row[:at].split()[-1] for row in rows[:3]] == ["1", "1", "1"]
    assert len(rows[1].removesuffix("  best peer")) == len(heading)
    assert rows[-1] == "decode               time of kernels, 1 thread: linear 100.0 %"


def test_every_program_is_made_somewhere():
    assert set(compare.PEERS) == {*peers.PEERS, *language_peers.PEERS}


@pytest.mark.parametrize("peer, case, dtype, reason", [
    ("ctranslate2", "attention-full", "f32", "is measured with whole models alone"),
    ("ctranslate2", "decode", "int4", "has no weights of int4 for processors"),
    ("onnxruntime-genai", "minilm-1", "f32", "is measured with decoders alone"),
    ("onnxruntime-genai", "prefill", "bf16", "has no kernels of bf16 for processors"),
    ("openvino-genai", "minilm-8", "f32", "is measured with decoders alone"),
    ("llama.cpp", "minilm-1", "int8", "is measured with decoders alone"),
])
def test_what_a_program_cannot_do_has_a_reason(peer, case, dtype, reason):
    with pytest.raises(peers.Unable, match=reason):
        language_peers.PEERS[peer](cases.CASES[case], {"dtype": dtype}, 1)


def test_a_package_that_is_not_there_is_named():
    with pytest.raises(peers.Unable, match="is not there: bench/requirements-language.txt lists it"):
        language_peers.there("no_such_module_of_language")


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.setitem(models.SHAPES, "tiny", TINY)
    return models.make("tiny", tmp_path / "tiny")


def test_invented_vocabulary_has_a_word_for_each_token(tiny, tmp_path):
    from tokenizers import Tokenizer
    (tmp_path / "words").mkdir()
    folder = language_peers.with_vocabulary(tiny, tmp_path / "words")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.get_vocab_size() == 100
    assert tokenizer.encode(" ".join(map(language_peers.word, [3, 99, 41]))).ids == [3, 99, 41]
    assert (folder / "model.safetensors").read_bytes() == (tiny / "model.safetensors").read_bytes()


def test_chosen_tokens_are_checked_against_f64(tiny):
    """The best tokens that were not there before are right; another, or a wrong likelihood, is not."""
    import torch
    from transformers import LlamaForCausalLM
    case = dict(kind="decoder", length=7)
    network = LlamaForCausalLM.from_pretrained(tiny, dtype=torch.float32).eval()
    tokens, chosen, logarithm = cases.token_ids(case, 100)[0].tolist(), [], 0.0
    for _ in range(5):
        with torch.no_grad():
            logits = network(torch.tensor([tokens])).logits[0, -1]
        best = next(int(token) for token in logits.argsort(descending=True) if token not in tokens)
        logarithm += float(logits.log_softmax(-1)[best])
        tokens.append(best)
        chosen.append(best)
    error = lambda tokens, logarithm: cases.told_error(case, tiny, {"tokens": tokens, "logarithm": logarithm})
    assert error(chosen, logarithm) < 1e-5
    assert error(chosen, 2 * logarithm) > 0.05
    other = next(token for token in range(3, 100) if token not in tokens)
    assert error([*chosen[:-1], other], logarithm) > 1e-3
    assert error([*chosen[:-1], chosen[0]], logarithm) == float("inf")


TRIAL = """
import json, sys
import numpy as np
import cases, language_peers
model, dtype = sys.argv[1:]
config = json.load(open(model + "/config.json"))
paths = {"model": model, "config": config, "folder": model + "-programs", "dtype": dtype}
errors = {}
for steps in [{}, {"steps": 8}]:
    case = dict(kind="decoder", length=24, **steps)
    expected = cases.reference(case, model)
    for name in ["onnxruntime-genai", "openvino-genai", "ctranslate2"]:
        try:
            program = language_peers.PEERS[name](case, paths, 1)
        except language_peers.Unable:
            continue
        assert program.run() > 0
        found = program.result()
        told = isinstance(found, dict)
        distance = lambda: abs(found - expected).max() / abs(expected).max()
        error = cases.told_error(case, model, found) if told else distance()
        errors[f"{name} {len(steps)}"] = float(error)
print(json.dumps(errors))
"""


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["f32", "int8"])
def test_language_peers_compute_the_model(tmp_path, dtype):
    """Those of bench/requirements-language.txt, each by its own converter; query heads of the Llama share key heads."""
    if not can_import("onnxruntime_genai", "openvino_genai", "ctranslate2"):
        pytest.skip("build/bench-venv lacks the programs of bench/requirements-language.txt")
    models.SHAPES["small"] = dict(TINY, hidden_size=128, intermediate_size=256, vocab_size=1000)
    model = models.make("small", tmp_path / "small")
    (tmp_path / "small-programs").mkdir()
    done = subprocess.run([BENCH_PYTHON, "-c", TRIAL, model, dtype], cwd=ROOT / "bench", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    errors = json.loads(done.stdout.splitlines()[-1])
    assert len(errors) == 6
    assert all(error <= compare.TOLERANCES[dtype] for error in errors.values()), errors


def test_picture_has_a_group_for_each_case_and_its_fastest_first():
    lines, shown = picture.content(measured())
    assert lines[1] == "AMD EPYC, 1 and 2 threads, f32, 2026-11-27"
    assert lines[2:] == ["fovea 0.1.0 (abc1234), onnxruntime-genai 0.18.0"]
    assert [title for title, _ in shown] == ["decode, 1 thread", "decode, 2 threads"]
    assert [name for name, _, _ in shown[1][1]] == ["onnxruntime-genai", "fovea"]
    assert [speed for _, _, speed in shown[0][1]] == pytest.approx([1, 2 / 3, 1 / 15])
    assert len({picture.colour(name) for name in ["fovea", "fovea.fixed", "torch"]}) == 3
    times = [picture.milliseconds(value) for value in [1.2345, 0.0123456, 0.002, 0.0001234]]
    assert times == ["1,234 ms", "12.3 ms", "2.00 ms", "0.123 ms"]
    old = {key: value for key, value in measured().items() if key not in ("date", "fovea")} | {"threads": 2}
    assert picture.heading(old)[1] == "AMD EPYC, 2 threads, f32"


@pytest.mark.parametrize("result", [
    [], {}, {"cases": 3}, {**measured(), "cases": [{"case": "decode", "programs": {"fovea": {}}}]},
], ids=["list", "empty", "number", "no-seconds"])
def test_picture_of_something_else_is_refused(result):
    with pytest.raises(ValueError, match="these are no measurements of scripts/bench"):
        picture.content(result)
    with pytest.raises(ValueError, match="there is no case with programs to draw"):
        picture.content({**measured(), "cases": measured()["cases"][2:]})


def test_a_saved_result_is_drawn_without_measuring(tmp_path):
    if not can_import("matplotlib"):
        pytest.skip("build/bench-venv has no matplotlib")
    saved, drawn = tmp_path / "out.json", tmp_path / "out.svg"
    saved.write_text(json.dumps(measured()))
    command = [ROOT / "scripts" / "bench", "--python", BENCH_PYTHON, "--from", saved, "--svg", drawn]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    root = ElementTree.parse(drawn).getroot()
    space = "{http://www.w3.org/2000/svg}"
    bars = {element.get("id"): element.find(f"{space}path") for element in root.iter(f"{space}g")
            if (element.get("id") or "").startswith("bar-")}
    assert list(bars) == ["bar-decode-1-thread-fovea", "bar-decode-1-thread-onnxruntime-genai",
                          "bar-decode-1-thread-torch", "bar-decode-2-threads-onnxruntime-genai",
                          "bar-decode-2-threads-fovea"]
    fills = {name: re.search("fill: (#\\w+)", path.get("style"))[1] for name, path in bars.items()}
    ours = {fill for name, fill in fills.items() if name.endswith("fovea")}
    assert len(ours) == 1 and ours.isdisjoint(fill for name, fill in fills.items() if not name.endswith("fovea"))
    length = lambda name: np.ptp([float(x) for x in re.findall(r"[ML] ([\d.]+) ", bars[name].get("d"))])
    ratio = length("bar-decode-1-thread-torch") / length("bar-decode-1-thread-fovea")
    assert ratio == pytest.approx(1 / 15, 1e-3)
    texts = ["".join(element.itertext()) for element in root.iter(f"{space}text")]
    for text in ["decode, 1 thread", "20.0 ms", "300 ms", "12.3 ms", "AMD EPYC, 1 and 2 threads, f32, 2026-11-27"]:
        assert text in texts
    first = drawn.read_bytes()
    subprocess.run(command, cwd=ROOT, check=True)
    assert drawn.read_bytes() == first
    saved.write_text("{")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    line, = done.stderr.splitlines()
    assert done.returncode == 2 and line.startswith(f"scripts/bench: --from {saved}: ")
