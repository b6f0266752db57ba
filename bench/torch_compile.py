#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile by fovea, by inductor, and eager, on models of `transformers` with random weights: milliseconds a call, by turns in one process, and what a call from Python
costs beyond the kernels.

usage: torch_compile.py [--case NAME]... [--dtype f32|bf16]... [--threads N] [--rounds N] [--json]

Needs torch, transformers and the package fovea (build/python on PYTHONPATH will do); inductor needs a C++ compiler."""
import argparse
import json
import statistics
import sys
import time
import timeit
import warnings

CASES = {"minilm": "MiniLM-L6 (128 tokens)", "llama": "Llama, 12 layers of 768 (128 tokens)", "llama-1": "the same, one token", "vit": "ViT-base (224 x 224)"}


def make(name, dtype):
    """A model and its inputs."""
    import torch
    import transformers

    torch.manual_seed(0)
    if name == "minilm":
        model = transformers.BertModel(transformers.BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536))
        inputs = {"input_ids": torch.randint(0, 30000, (1, 128)), "attention_mask": torch.ones(1, 128, dtype=torch.long)}
    elif name.startswith("llama"):
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=32000, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=2048, max_position_embeddings=1024, use_cache=False))
        inputs = {"input_ids": torch.randint(0, 30000, (1, 1 if name == "llama-1" else 128))}
    else:
        model, inputs = transformers.ViTModel(transformers.ViTConfig()), {"pixel_values": torch.randn(1, 3, 224, 224, dtype=dtype)}
    return model.eval().to(dtype), inputs


def take_turns(programs, rounds):
    """Milliseconds of a call of each program, medians."""
    times = {program: [] for program in programs}
    for _ in range(rounds):
        for program, run in programs.items():
            time.sleep(0.2)  # until the other ones' threads have stopped waiting in loops
            run()
            start = time.perf_counter()
            run()
            times[program].append(1e3 * (time.perf_counter() - start))
    return {program: statistics.median(taken) for program, taken in times.items()}


def measure(name, dtype, rounds):
    """Milliseconds of each program, seconds of the first call, and how far each is from eager, as a part of the greatest number."""
    import torch

    from fovea import dynamo

    model, inputs = make(name, dtype)
    expected = model(**inputs)[0].float()
    programs, first, off = {"eager": model}, {}, {}
    for backend in ("inductor", "fovea"):
        torch._dynamo.reset()
        compiled = torch.compile(model, backend=dynamo.backend if backend == "fovea" else backend)
        start = time.perf_counter()
        found = compiled(**inputs)[0].float()
        first[backend] = time.perf_counter() - start
        off[backend] = float((found - expected).abs().max() / expected.abs().max())
        programs[backend] = compiled
    ms = take_turns({program: lambda run=run: run(**inputs) for program, run in programs.items()}, rounds)
    return {"ms": ms, "first_s": first, "off": off}


def measure_call(threads):
    """Microseconds of a call from Python, and of its kernels."""
    import tempfile

    import numpy as np

    import fovea

    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write('func.func @forward(%x: tensor<?xf32> {fovea.name = "x", fovea.dims = ["n"]}) -> (tensor<?xf32> {fovea.name = "y"}) attributes {fovea.entry} {\n'
                   "  %y = arith.addf %x, %x : tensor<?xf32>\n  return %y : tensor<?xf32>\n}\n")
        file.flush()
        model = fovea.compile(file.name, threads=threads)
    entry, x = model.entries["forward"], np.ones(16, np.float32)
    call = min(timeit.repeat(lambda: entry.run(x), number=2000, repeat=7)) / 2000
    return {"call_us": 1e6 * call, "kernels_us": 1e6 * entry.measure(x, runs=2000)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--dtype", action="append", choices=["f32", "bf16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(options.threads)
    types, results = {"f32": torch.float32, "bf16": torch.bfloat16}, []
    with torch.no_grad():
        for name in options.case or CASES:
            for dtype in options.dtype or types:
                result = measure(name, types[dtype], options.rounds)
                results.append({"case": name, "dtype": dtype, **result})
                ms = result["ms"]
                best = min(time for program, time in ms.items() if program != "fovea")
                if not options.json:
                    print(f"{CASES[name]:38s} {dtype:4s} eager {ms['eager']:7.2f}  inductor {ms['inductor']:7.2f}  fovea {ms['fovea']:7.2f} ms  ratio {best / ms['fovea']:.2f}"
                          f"  first call {result['first_s']['inductor']:.1f} / {result['first_s']['fovea']:.1f} s", flush=True)
    call = measure_call(options.threads)
    if options.json:
        json.dump({"models": results, "call": call, "threads": options.threads, "torch": torch.__version__}, sys.stdout)
    else:
        print(f"a call from Python: {call['call_us']:.1f} us, of which kernels {call['kernels_us']:.1f}")


if __name__ == "__main__":
    main()
