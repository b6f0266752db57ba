# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fovea.Model: what a compiled model does in Python is what it does on the command line."""
import gc
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import fovea

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = json.loads((ROOT / "test" / "e2e" / "data" / "shakespeare-reference.json").read_text())
CLI = ROOT / "build" / "bin" / "fovea"


def command(*arguments):
    return subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


# Calls ----------------------------------------------------------------------------------------------------------------------------------------------------


def test_logits(shakespeare):
    case = REFERENCE[0]
    logits = shakespeare(np.array([case["prompt_ids"]]))
    assert logits.shape == (1, len(case["prompt_ids"]), 2048) and logits.dtype == np.float32
    np.testing.assert_allclose(logits[0, -1, :16], case["last_logits_first16"], atol=2e-4)


def test_lists_by_name_and_in_order(shakespeare):
    forward = shakespeare.entries["forward"]
    by_name, in_order = forward(input_ids=[[1, 2, 3]])["logits"], forward(np.array([[1, 2, 3]]))["logits"]
    assert (by_name == in_order).all()


def test_torch_in_torch_out(shakespeare):
    import torch

    ids = torch.tensor([[5, 6, 7]])
    logits = shakespeare(ids)
    assert isinstance(logits, torch.Tensor) and (logits.numpy() == shakespeare(ids.numpy())).all()


def test_results_are_not_copied_and_stay(shakespeare):
    """A result is the runtime's own memory, which no later run touches as long as the result lives, and which is used again when it does not."""
    first = shakespeare([[1, 2, 3]])
    assert not first.flags.owndata
    kept, second = first.copy(), shakespeare([[4, 5, 6]])
    assert (first == kept).all() and not (first == second).all()
    address = second.ctypes.data
    del second
    assert shakespeare([[7, 8, 9]]).ctypes.data == address
    rows = first[:, 1]  # a view keeps it, too
    del first
    for i in range(3):
        shakespeare([[i, i, i]])
    assert (rows == kept[:, 1]).all()


def test_results_outlive_the_model(shakespeare):
    model = shakespeare.clone()
    logits = model([[1, 2, 3]])
    kept, gone = logits.copy(), weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None and (logits == kept).all()


def test_arguments_are_read_where_they_are(shakespeare):
    import torch

    ids = torch.tensor([[1, 2, 3, 4]])
    forward = shakespeare.entries["forward"]
    kept = forward.run(ids)[0].clone()
    ids[0, 3] = 9
    assert not torch.equal(forward.run(ids)[0], kept)


def test_halves(tmp_path):
    """bf16 comes as torch's; numpy, which has none, gives its bits and gets f32."""
    import ml_dtypes
    import torch

    (tmp_path / "twice.mlir").write_text("""func.func @forward(%x: tensor<?xbf16> {fovea.name = "x", fovea.dims = ["n"]}) -> (tensor<?xbf16> {fovea.name = "y"}) attributes {fovea.entry} {
  %y = arith.addf %x, %x : tensor<?xbf16>
  return %y : tensor<?xbf16>
}
""")
    model = fovea.compile(tmp_path / "twice.mlir")
    x = torch.tensor([1.5, -2.25, 1e20], dtype=torch.bfloat16)
    assert torch.equal(model(x), 2 * x)
    found = model(x.float().numpy().astype(ml_dtypes.bfloat16))
    assert found.dtype == np.float32 and (found == (2 * x).float().numpy()).all()


class Pretends:
    """Nothing that an array can be made of."""


BAD = {
    "type": (lambda: np.zeros((1, 2), np.int32), "int64", "int32"),
    "fraction": (lambda: [[1.5]], "int64", "float64"),
    "rank": (lambda: [1, 2], "[batch, sequence]", "[2]"),
    "strides": (lambda: np.zeros((4, 4), np.int64).T, "without gaps", "strides [1, 4]"),
    "object": (Pretends, "an array", "Pretends"),
    "words": (lambda: [["a"]], "int64", "<U1"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_does_not_fit(shakespeare, kind):
    make, expected, found = BAD[kind]
    with pytest.raises(fovea.ArgumentError) as raised:
        shakespeare(make())
    assert raised.value.argument == "input_ids" and raised.value.entry == "forward"
    assert expected in raised.value.expected and found in raised.value.found, raised.value
    assert isinstance(raised.value, (TypeError, ValueError)) and "input_ids" in str(raised.value)


def test_gradients(shakespeare, tmp_path):
    import torch

    (tmp_path / "twice.mlir").write_text("""func.func @forward(%x: tensor<?xf32> {fovea.name = "x", fovea.dims = ["n"]}) -> (tensor<?xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
""")
    model = fovea.compile(tmp_path / "twice.mlir")
    with pytest.raises(fovea.ArgumentError, match="detach"):
        model(torch.ones(3, requires_grad=True))
    assert torch.equal(model(torch.ones(3, requires_grad=True).detach()), 2 * torch.ones(3))


def test_wrong_names(shakespeare):
    with pytest.raises(fovea.ArgumentError, match="input_ids"):
        shakespeare(ids=[[1]])
    with pytest.raises(fovea.ArgumentError, match="input_ids"):
        shakespeare()
    with pytest.raises(fovea.ArgumentError, match="expects 1 arrays, got 2"):
        shakespeare([[1]], [[2]])


def test_ids_out_of_the_vocabulary(shakespeare):
    with pytest.raises(fovea.InputError, match="expects token ids from 0 to 2047, got 99999"):
        shakespeare([[1, 99999]])
    assert shakespeare([[1, 2]]).shape == (1, 2, 2048)  # as before


def test_threads(shakespeare):
    """Calls of several threads at once give what they give one by one, and the interpreter goes on meanwhile."""
    expected = {i: shakespeare([[i, i + 1, i + 2]]).copy() for i in range(8)}
    faults = []

    def work(i):
        for _ in range(20):
            if not (shakespeare([[i, i + 1, i + 2]]) == expected[i]).all():
                faults.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_the_interpreter_goes_on(shakespeare):
    ids, ticks, end = np.ones((4, 64), np.int64), 0, threading.Event()

    def work():
        for _ in range(10):
            shakespeare(ids)
        end.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not end.is_set():
        ticks += 1
        time.sleep(0)
    thread.join()
    assert ticks > 100


def in_child(model, fresh):
    """In a process that is a copy of this one."""
    receiver, sender = multiprocessing.Pipe(False)
    if (child := os.fork()) == 0:
        try:
            used = model.clone() if fresh else model
            sender.send(used([[1, 2, 3]]).tolist())
        except fovea.Error as error:
            sender.send(str(error))
        finally:
            sender.close()
            os._exit(0)
    sender.close()
    result = receiver.recv()
    os.waitpid(child, 0)
    return result


def test_fork(shakespeare):
    """As workers of a DataLoader: a model of one thread goes on there, others say what to do, and a new one may be made."""
    expected = shakespeare([[1, 2, 3]]).tolist()
    single = shakespeare.clone(threads=1)
    assert in_child(single, fresh=False) == expected
    assert "threads" in in_child(shakespeare.clone(threads=2), fresh=False)
    assert in_child(shakespeare.clone(threads=2), fresh=True) == expected
    assert shakespeare([[1, 2, 3]]).tolist() == expected


# Texts ----------------------------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: str(len(case["prompt"])))
def test_generate(shakespeare, case):
    generation = shakespeare.generate(case["prompt"], max_tokens=len(case["greedy_ids"]), temperature=0)
    pieces = list(generation)
    assert "".join(pieces) == case["text"] == generation.text and len(pieces) > 1
    assert generation.tokens == case["greedy_ids"]
    assert generation.result["stop"] == "count" and generation.result["new_tokens"] == len(case["greedy_ids"])


def test_generate_as_the_command_line(shakespeare):
    flags = dict(max_tokens=20, temperature=0.9, top_k=40, top_p=0.9, seed=7, repetition_penalty=1.1)
    text = command("generate", shakespeare.path, "--prompt", "ROMEO:", "-n", 20, "--temp", 0.9, "--top-k", 40, "--top-p", 0.9, "--seed", 7, "--repeat-penalty", 1.1, "--quiet")
    assert str(shakespeare.generate("ROMEO:", **flags)) == text.removeprefix("ROMEO:").removesuffix("\n")


def test_generation_ends_where_its_reader_does(shakespeare):
    generation = shakespeare.generate("ROMEO:", temperature=0)
    next(generation)
    generation.close()
    assert len(generation.tokens) < 20
    with shakespeare.generate("ROMEO:", max_tokens=3) as generation:
        pass
    assert shakespeare([[1]]).shape == (1, 1, 2048)  # nobody holds the model


def test_a_reader_that_waits_is_woken_by_close():
    """In another thread, while the model has made nothing yet."""
    goes_on, read = threading.Event(), []
    generation = fovea.Generation(lambda on_piece: goes_on.wait() and {"stop": "callback"})
    threads = [threading.Thread(target=lambda: read.append(list(generation))), threading.Thread(target=generation.close)]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    goes_on.set()
    for thread in threads:
        thread.join(timeout=10)
    assert read == [[]] and not any(thread.is_alive() for thread in threads)


def test_log_probabilities(shakespeare):
    seen = []
    str(shakespeare.generate("ROMEO:", max_tokens=4, temperature=0, top_logprobs=2, on_logprobs=lambda token, logprob, top: seen.append((token, logprob, top))))
    assert len(seen) == 4 and all(top[0] == (token, logprob) and top[1][1] <= logprob < 0 for token, logprob, top in seen)


def test_a_callback_that_raises(shakespeare):
    def fail(*_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        str(shakespeare.generate("ROMEO:", max_tokens=4, on_logprobs=fail))


def test_drafts(shakespeare):
    """Guessed by the text itself, and by another model: the same text."""
    options = dict(max_tokens=30, temperature=0)
    plain = str(shakespeare.generate("ROMEO:", **options))
    for draft in ("lookup", shakespeare.clone()):
        generation = shakespeare.generate("ROMEO:", draft=draft, **options)
        assert str(generation) == plain and generation.result["draft_tokens"] > 0


def test_tokens(shakespeare):
    ids = shakespeare.encode("ROMEO:")
    assert ids == REFERENCE[0]["prompt_ids"] or shakespeare.decode(ids) == "ROMEO:"


def test_embed(minilm):
    texts = ["The king speaks.", "A king is speaking.", "Two apples"]
    vectors = minilm.embed(texts)
    found = vectors @ vectors.T
    assert vectors.shape == (3, 384) and found[0, 1] > 0.8 > 0.3 > found[0, 2]
    np.testing.assert_allclose(minilm.embed(texts[0]), vectors[0], atol=1e-6)


def test_embed_uneven_texts(minilm):
    """Calls are made of texts of like lengths: each vector is what its text gives alone."""
    texts = [" ".join(["king", "speaks", "of"][i % 3] for i in range(length)) for length in (1, 200, 3, 90, 2, 150, 4, 40, 5, 7, 180, 1, 20)]
    vectors = minilm.embed(texts)
    for text, vector in zip(texts, vectors):
        np.testing.assert_allclose(vector, minilm.embed(text), atol=2e-6)


def test_wrong_kind_of_model(minilm, shakespeare):
    with pytest.raises(fovea.InputError, match="embed"):
        shakespeare.embed(["a"])
    with pytest.raises(fovea.Error, match="expects"):
        minilm.classify("a text")
    with pytest.raises(fovea.Error):
        str(minilm.generate("a text"))


# Compiling ------------------------------------------------------------------------------------------------------------------------------------------------


def test_a_fault_in_a_model(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama", "hidden_size": "wide"}')
    with pytest.raises(fovea.CompileError) as raised:
        fovea.compile(tmp_path)
    assert raised.value.problems and "config.json" in str(raised.value)


def test_nothing_there():
    with pytest.raises(fovea.CompileError, match="No such file"):
        fovea.compile("/nowhere/at/all")
    with pytest.raises(fovea.Error):
        fovea.load("/nowhere/at/all.fovea")
    with pytest.raises(fovea.InputError, match="source"):
        fovea.compile(3)


def test_a_crash_of_the_compiler_is_an_exception(monkeypatch, tmp_path):
    program = tmp_path / "fovea"
    program.write_text("#!/bin/sh\necho 'fovea: error: half of it' >&2\nkill -SEGV $$\n")
    program.chmod(0o755)
    monkeypatch.setenv("FOVEA", str(program))
    with pytest.raises(fovea.InternalError, match="SIGSEGV"):
        fovea.compile(tmp_path)


def test_save_and_load(shakespeare, tmp_path):
    shakespeare.save(tmp_path / "copy.fovea")
    again = fovea.load(tmp_path / "copy.fovea", threads=1)
    assert again.threads == 1 and (again([[1, 2]]) == shakespeare([[1, 2]])).all()
    with pytest.raises(fovea.InputError, match="stages"):
        again.stages


def test_what_it_says_of_itself(shakespeare):
    assert shakespeare.kind == "decoder" and shakespeare.architecture == "LlamaForCausalLM" and {"forward", "prefill", "decode"} <= set(shakespeare.entries)
    assert repr(shakespeare.entries["forward"]) == "forward(input_ids: int64[batch, sequence]) -> logits: float32[batch, sequence, 2048]"
    assert shakespeare.report["entries"]
    assert any("attention" in step["description"] for step in shakespeare.entries["forward"].steps)
    assert list(shakespeare.stages)[0].endswith("import") and "fovea.attention" in next(text for name, text in shakespeare.stages.items() if name.endswith("graph"))


def test_notebook(shakespeare):
    import html.parser

    model = shakespeare.clone(profile=True)
    model([[1, 2, 3]])
    page = model._repr_html_()
    rows = []

    class Reader(html.parser.HTMLParser):
        def handle_data(self, data):
            rows.append(data)

    Reader().feed(page)
    shares = [float(cell[:-2]) for cell in rows if cell.endswith(" %")]
    assert "attention" in page and abs(sum(shares) - 100) < 2 and shares == sorted(shares, reverse=True)


def test_import_is_light():
    """Neither torch nor a compiler is loaded before it is needed; the command line needs not even numpy."""
    names = "{'numpy', 'torch', 'onnx', 'matplotlib', 'transformers', 'PIL', 'fovea._runtime'}"
    for code, expected in [("import fovea.__main__", "[]"), ("import fovea; fovea.Model, fovea.compile, fovea.__version__", "['fovea._runtime', 'numpy']")]:
        done = subprocess.run([sys.executable, "-c", f"import sys; {code}; print(sorted(set(sys.modules) & {names}))"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "build" / "python")})
        assert done.stdout.strip() == expected, done.stderr


def test_names_of_the_package():
    import fovea

    assert set(fovea.__all__) <= set(dir(fovea)) and all(getattr(fovea, name) for name in fovea.__all__)
    with pytest.raises(AttributeError, match="module 'fovea' has no attribute 'compil'"):
        fovea.compil
