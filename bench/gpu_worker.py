# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on a device, in a process of their own: reads a JSON line a command, answers a JSON line (see worker.py). Each command names its program, several of which are
open at a time.

{"open": CASE, ...} makes a program ready; {"result": FILE} runs it once and writes the compared parts (.npy); {"measure": N} gives the seconds of one of N runs by the
device's clock, of a model those of its phases; {"close": true} frees it. {"copy": BYTES} gives the seconds of copying them within the device; {"about": true} says what runs.

The peers are torch's: scaled_dot_product_attention with one back end allowed, and its product of matrices, which is cuBLAS's. On a device without torch's CUDA they
run on the CPU, so that their code can be tried.
"""
import time

import numpy as np

import gpu_cases
import worker
from peers import Unable


class Fovea:
    def __init__(self, case, command):
        from runtime import Runtime
        self.case = case
        capacity = case["prompt"] + case["steps"] if case["kind"] == "model" else 0
        self.runtime = Runtime(command["library"], command["artifact"], command["threads"], capacity, command["device"])
        if case["kind"] != "model":
            self.runtime.set("forward", **gpu_cases.inputs(case))
            return
        ids = gpu_cases.token_ids(case, command["words"])
        self.runtime.set("prefill", input_ids=np.ascontiguousarray(ids[:, :case["prompt"]]))
        self.steps = [np.ascontiguousarray(ids[:, i:i + 1]) for i in range(case["prompt"], ids.shape[1])]

    def generate(self):
        """A prompt and the tokens after it, as a user waits for them: seconds of each phase."""
        self.runtime.reset()
        prefill = self.runtime.run("prefill")
        start = time.perf_counter()
        for ids in self.steps:
            self.runtime.set("decode", input_ids=ids)
            self.runtime.run("decode")
        return prefill, (time.perf_counter() - start) / len(self.steps)

    def result(self):
        if self.case["kind"] == "model":
            self.generate()
            return self.runtime.result("decode", "logits")
        self.runtime.run("forward")
        return gpu_cases.sample(self.case, gpu_cases.widen(self.runtime.result("forward", "output")))

    def measure(self, runs):
        if self.case["kind"] != "model":
            return {"seconds": self.runtime.measure("forward", runs)}
        prefill, decode = self.generate()
        # The first step again and again, by the device's clock.
        self.runtime.reset()
        self.runtime.run("prefill")
        self.runtime.set("decode", input_ids=self.steps[0])
        return {"seconds": prefill + decode * len(self.steps), "prefill": prefill, "decode": decode, "step": self.runtime.measure("decode", runs)}

    def about(self):
        entries = ["prefill", "decode"] if self.case["kind"] == "model" else ["forward"]
        return {"device": self.runtime.device(), "fallbacks": sorted({kernel for entry in entries for kernel in self.runtime.fallbacks(entry)})}

    def copy(self, size):
        return {"seconds": self.runtime.measure_copy(size, 10)}

    def close(self):
        self.runtime.close()


class Torch:
    def __init__(self, case, command):
        import torch
        self.torch, self.case = torch, case
        # cuda:1 is torch's name too.
        self.device = command["device"] if command["device"].startswith("cuda") else "cpu"
        if self.device != "cpu" and not torch.cuda.is_available():
            raise Unable(f"torch {torch.__version__} finds no CUDA device")
        self.prepare({name: self.tensor(array) for name, array in gpu_cases.inputs(case).items()})

    def tensor(self, array):
        """On the device; uint16 is bf16."""
        torch = self.torch
        host = torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if array.dtype == np.uint16 else torch.from_numpy(array)
        return host.to(self.device)

    def settings(self):
        import contextlib
        return contextlib.nullcontext()

    def result(self):
        with self.torch.inference_mode(), self.settings():
            return gpu_cases.sample(self.case, self.call().float().cpu().numpy())

    def measure(self, runs):
        torch = self.torch
        with torch.inference_mode(), self.settings():
            if self.device == "cpu":
                start = time.perf_counter()
                for _ in range(runs):
                    self.call()
                return {"seconds": (time.perf_counter() - start) / runs}
            with torch.cuda.device(self.device):
                first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                self.call()
                first.record()
                for _ in range(runs):
                    self.call()
                last.record()
                last.synchronize()
                return {"seconds": first.elapsed_time(last) / 1e3 / runs}

    def about(self):
        torch = self.torch
        versions = {"torch": torch.__version__, "cuda": torch.version.cuda}
        if self.device != "cpu":
            versions["cudnn"] = torch.backends.cudnn.version()
        return versions

    def close(self):
        self.__dict__.clear()
        import gc
        import torch
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


class Attention(Torch):
    """One back end of scaled_dot_product_attention."""

    def prepare(self, given):
        if self.case["kind"] not in ("attention", "one-query"):
            raise Unable("computes attention only")
        self.given = [given[name].transpose(1, 2) for name in "qkv"]

    def settings(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        return sdpa_kernel(getattr(SDPBackend, self.backend))

    def call(self):
        grouped = self.case.get("key_heads", self.case["heads"]) != self.case["heads"]
        try:
            out = self.torch.nn.functional.scaled_dot_product_attention(*self.given, is_causal=self.case.get("mask") == "causal", enable_gqa=grouped)
        except RuntimeError as error:
            if "No available kernel" in str(error) or "No viable backend" in str(error):
                raise Unable("torch has no such kernel for this case")
            raise
        return out.transpose(1, 2)


class Flash(Attention):
    backend = "FLASH_ATTENTION"


class Cudnn(Attention):
    backend = "CUDNN_ATTENTION"


class Cublas(Torch):
    """torch.matmul: of bf16, or of f32 by tf32."""

    def prepare(self, given):
        if self.case["kind"] != "gemm":
            raise Unable("computes products only")
        self.torch.set_float32_matmul_precision("high")
        self.x = given["x"]
        self.w = self.tensor(gpu_cases.weight(self.case)).to(self.x.dtype)

    def call(self):
        return self.torch.matmul(self.x, self.w.T)


PROGRAMS = {"fovea": Fovea, "flash": Flash, "cudnn": Cudnn, "cublas": Cublas}


class Programs:
    def __init__(self):
        self.open = {}

    def respond(self, command):
        name = command["program"]
        if "open" in command:
            self.open[name] = PROGRAMS[name](gpu_cases.find(command["open"]), command)
            return {}
        program = self.open[name]
        if "result" in command:
            np.save(command["result"], program.result())
            return {}
        if "measure" in command:
            return program.measure(command["measure"])
        if "copy" in command:
            return program.copy(command["copy"])
        if "about" in command:
            return program.about()
        self.open.pop(name).close()
        return {}


if __name__ == "__main__":
    worker.serve(Programs().respond)
