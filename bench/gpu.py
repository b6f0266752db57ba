# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, products, decoding and whole models on a GPU, beside torch's flash and cuDNN attention and cuBLAS. Started by scripts/bench --gpu.

Every result is compared with f64 before anything is timed (a model's with the CPU's). Then the programs run in turns, many launches in one measurement by the device's own
clock; told is the median of the turns. Standard output holds lines for docs/performance.md; what a machine cannot do is said and the rest goes on.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import compare
import gpu_cases
import models
from compare import say

ROOT = compare.ROOT
FOLDER = ROOT / "build" / "bench-models" / "gpu"
PEERS = ["flash", "cudnn", "cublas"]
COPIED = 1 << 30  # bytes of the copy whose rate is the device's
PEERS_OF = {"attention": ["flash", "cudnn"], "one-query": ["flash", "cudnn"], "gemm": ["cublas"], "model": []}
CHECKPOINTS = {"shakespeare": ROOT / "examples" / "models" / "shakespeare-llama"}
models.SHAPES["llama-tiny"] = dict(models.SHAPES["llama-110m"], hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=96, vocab_size=100)


class Worker(compare.Process):
    def __init__(self):
        super().__init__([sys.executable, pathlib.Path(__file__).with_name("gpu_worker.py")])


def checkpoint(case):
    folder = CHECKPOINTS.get(case["model"])
    return folder or models.make(case["model"], FOLDER / f"{case['model']}-{case['dtype']}-model", case["dtype"])


def write_weight(path, array):
    """A bf16 matrix called w as safetensors."""
    path.write_bytes(models.head({"w": {"dtype": "BF16", "shape": list(array.shape), "data_offsets": [0, array.nbytes]}}) + array.tobytes())


def prepare(case, gpu):
    """Compiles the case; its artifact's path is `path(case)`. The CPU's code is for any processor of the last ten years, so that another machine may run the file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    out = path(case)
    with tempfile.TemporaryDirectory() as temporary:
        source = pathlib.Path(temporary) / "kernel.mlir"
        if case["kind"] == "model":
            source = checkpoint(case)
        else:
            source.write_text(gpu_cases.module(case))
            if case["kind"] == "gemm":
                write_weight(source.with_name("weights.safetensors"), gpu_cases.weight(case))
        compare.run(compare.BIN / "fovea", "compile", source, "-o", out, f"--gpu={gpu}", "--target=x86-64-v3")
    if case["kind"] == "model":
        config(case).write_text((source / "config.json").read_text())


def path(case):
    return FOLDER / f"{gpu_cases.artifact(case)}.fovea"


def config(case):
    return FOLDER / f"{gpu_cases.artifact(case)}.json"


def difference(found, expected):
    """The largest over the largest value; infinite for another shape or what is no number."""
    if found.shape != expected.shape or not np.isfinite(found).all():
        return float("inf")
    return float(np.abs(found - expected).max() / np.abs(expected).max())


class Bench:
    def __init__(self, device, threads, rounds, seconds):
        self.device, self.threads, self.rounds, self.seconds = device, threads, rounds, seconds
        self.workers, self.about = {}, {}

    def ask(self, program, **command):
        # Fovea and torch apart, so that what one breaks is whole for the other.
        place = "fovea" if program == "fovea" else "torch"
        if place not in self.workers:
            self.workers[place] = Worker()
        answer = self.workers[place].ask(program=program, **command)
        if "failed" in answer:
            # A GPU's context is of no use after a fault; the next case gets a new one.
            self.workers.pop(place).close()
        return answer

    def command(self, case, device):
        command = dict(library=str(compare.LIBRARY), artifact=str(path(case)), device=device, threads=self.threads)
        if case["kind"] == "model":
            command["words"] = json.loads(config(case).read_text())["vocab_size"]
        return command

    def expected(self, name, case):
        if case["kind"] != "model":
            return gpu_cases.reference(case)
        with tempfile.TemporaryDirectory() as temporary:
            file, worker = pathlib.Path(temporary) / "logits.npy", Worker()
            answer = worker.ask(program="fovea", open=name, **self.command(case, "cpu")) or worker.ask(program="fovea", result=str(file))
            worker.close()
            if answer:
                sys.exit(f"bench: {name}: on the CPU: {answer}")
            return np.load(file)

    def copy_rate(self, name, case, size):
        """Bytes that the device's memory reads and writes in a second."""
        answer = self.ask("fovea", open=name, **self.command(case, self.device)) or self.ask("fovea", copy=size)
        if "seconds" not in answer:
            sys.exit(f"bench: the device's copy rate cannot be measured: {answer}")
        self.ask("fovea", close=True)
        return 2 * size / answer["seconds"]

    def check(self, name, case, program, expected):
        """Opens the program and compares its result; gives (error, None) or (None, why it is not measured)."""
        with tempfile.TemporaryDirectory() as temporary:
            file = pathlib.Path(temporary) / "result.npy"
            answer = self.ask(program, open=name, **self.command(case, self.device)) or self.ask(program, result=str(file))
            if answer:
                return None, answer.get("unable") or answer["failed"]
            error, allowed = difference(np.load(file), expected), gpu_cases.tolerance(case, program)
        if not error <= allowed:
            self.ask(program, close=True)
            return None, f"differs from the reference by {error:.2g}, more than {allowed:g}"
        self.about.setdefault(program, self.ask(program, about=True))
        return error, None

    def measure(self, name, peers):
        """One case; gives its record."""
        case = gpu_cases.find(name)
        record = {"case": name, "programs": {}, "unable": {}}
        expected = self.expected(name, case)
        counts = {}
        for program in ["fovea", *(peer for peer in PEERS_OF[case["kind"]] if peer in peers)]:
            say(f"{name}: {program}")
            error, reason = self.check(name, case, program, expected)
            answer = {} if reason else self.ask(program, measure=1)
            if "seconds" not in answer:
                record["unable"][program] = reason or answer.get("unable") or answer["failed"]
                continue
            # Launches enough for `seconds`; of a model, of which one measurement is a whole text, steps.
            one = answer.get("step", answer["seconds"])
            counts[program] = int(max(1, min(2000, self.seconds / max(one, 1e-7))))
            record["programs"][program] = {"error": error, "runs": counts[program], "measured": []}
            if program == "fovea":
                record["fallbacks"] = self.ask(program, about=True).get("fallbacks", [])
        for turn in range(self.rounds):
            order = list(record["programs"])
            for program in order[turn % max(len(order), 1):] + order[:turn % max(len(order), 1)]:
                answer = self.ask(program, measure=counts[program])
                if "seconds" not in answer:
                    record["unable"][program] = answer.get("unable") or answer["failed"]
                    del record["programs"][program]
                    continue
                record["programs"][program]["measured"].append(answer)
        for program, found in record["programs"].items():
            self.ask(program, close=True)
            for key in found["measured"][0]:
                found[key] = statistics.median(answer[key] for answer in found["measured"])
        return record

    def close(self):
        for worker in self.workers.values():
            worker.close()


# The table.

TABLES = {
    "attention": ("attention, forward, bf16, TFLOP/s", ["fovea", "flash", "cudnn"]),
    "one-query": ("attention of one query, bf16, GB/s of keys and values", ["fovea", "flash", "cudnn"]),
    "gemm": ("products with a bf16 weight, TFLOP/s", ["fovea", "cublas"]),
    "model": ("whole models, tokens/s", ["prefill", "decode", "of the copy rate"]),
}
TITLES = {"flash": "torch flash", "cudnn": "torch cuDNN", "cublas": "cuBLAS"}


def head(kind):
    title, columns = TABLES[kind]
    names = [title, "target", *(TITLES.get(column, column) for column in columns), *(["to the best"] if kind in ("attention", "gemm") else ["of the copy rate"] if kind == "one-query" else [])]
    return [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]


def target(case):
    if not case["target"]:
        return "-"
    return {"attention": f"{case['target'] / 1e12:.0f}", "one-query": f"{100 * case['target']:.0f} % of the copy rate", "gemm": f"{100 * case['target']:.0f} % of cuBLAS"}[case["kind"]]


def line(record, copy_rate):
    """One line of docs/performance.md."""
    case, programs = gpu_cases.find(record["case"]), record["programs"]
    seconds = {name: program["seconds"] for name, program in programs.items()}
    if case["kind"] == "model":
        cells = ["-", "-", "-"]
        if "fovea" in programs:
            found = programs["fovea"]
            shape = json.loads(config(case).read_text())
            share = gpu_cases.decode_bytes(case, shape) / found["step"] / copy_rate
            cells = [f"{case['prompt'] / found['prefill']:.0f}", f"{1 / found['decode']:.1f}", f"{100 * share:.1f} %"]
    else:
        work, unit = (gpu_cases.bytes_read(case), 1e9) if case["kind"] == "one-query" else (gpu_cases.flops(case), 1e12)
        cells = [f"{work / seconds[column] / unit:.4g}" if column in seconds else "-" for column in TABLES[case["kind"]][1]]
        others = [value for name, value in seconds.items() if name != "fovea"]
        if case["kind"] == "one-query":
            cells.append(f"{100 * work / seconds['fovea'] / copy_rate:.1f} %" if "fovea" in seconds else "-")
        else:
            cells.append(f"{min(others) / seconds['fovea']:.2f}" if others and "fovea" in seconds else "-")
    return f"| {record['case']} | {target(case)} | {' | '.join(cells)} |"


def notes(records):
    """What lines of numbers do not say."""
    told = {}
    for record in records:
        for name, reason in record["unable"].items():
            told.setdefault(f"{TITLES.get(name, name)} is not measured: {reason}", []).append(record["case"])
        if record.get("fallbacks"):
            told.setdefault(f"fovea runs plain loops, for which there is no tile program: {', '.join(record['fallbacks'])}", []).append(record["case"])
    return [f"- {', '.join(cases)}: {text}" for text, cases in told.items()]


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def driver(device):
    if not device.startswith("cuda"):
        return "none"
    sys.path.insert(0, str(ROOT / "test" / "support"))
    import cuda_device
    return cuda_device.version()


def chosen(words, every):
    names = [name for name in every if not words or any(name == word or name.startswith(word) for word in words)]
    for word in words:
        if not any(name.startswith(word) for name in every):
            raise ValueError(f"--case {word}: expects a case or the beginning of some, got none of {', '.join(every)}")
    return names


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --gpu", description="Measures Fovea on a GPU beside torch; results are checked before anything is timed.")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N, or emulator, whose times mean nothing (cuda)")
    parser.add_argument("--tiny", action="store_true", help="cases small enough for the emulator")
    parser.add_argument("--case", action="append", default=[], metavar="NAME", help="a case or the beginning of some, attention-128; may be repeated; without it all")
    parser.add_argument("--peer", action="append", choices=[*PEERS, "none"], help="may be repeated; without it all on a GPU, none on the emulator")
    parser.add_argument("--gpu-code", default="all", metavar="LEVELS", help="what fovea compile --gpu gets (all)")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads of the runtime; 0: one for each core")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each program (5)")
    parser.add_argument("--seconds", type=float, default=0.05, help="of one measurement, at least one run (0.05)")
    parser.add_argument("--prepare", action="store_true", help="only compile, into build/bench-models/gpu")
    parser.add_argument("--prepared", action="store_true", help="measure what --prepare made, on a machine without the compiler")
    parser.add_argument("--list", action="store_true", help="print the cases' names")
    parser.add_argument("--out", metavar="FILE", help="write all measurements as JSON")
    arguments = parser.parse_args()
    every = gpu_cases.TINY if arguments.tiny else gpu_cases.CASES
    try:
        names = chosen(arguments.case, every)
    except ValueError as error:
        parser.error(str(error))
    if arguments.rounds < 1 or arguments.seconds < 0 or arguments.threads < 0:
        parser.error("--rounds expects 1 or more, --seconds and --threads 0 or more")
    if arguments.list:
        return print("\n".join(names))
    peers = arguments.peer or (PEERS if arguments.device.startswith("cuda") else ["none"])
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not arguments.prepared:
        made = {gpu_cases.artifact(every[name]): every[name] for name in names}
        for title, case in made.items():
            say(f"compiling {title}")
            prepare(case, arguments.gpu_code)
    if arguments.prepare:
        return None
    bench = Bench(arguments.device, arguments.threads, arguments.rounds, arguments.seconds)
    rate = bench.copy_rate(names[0], every[names[0]], 1 << 16 if arguments.tiny else COPIED)
    result = {"date": datetime.date.today().isoformat(), "driver": driver(arguments.device), "commit": commit(), "copy_bytes_per_second": rate, "records": []}
    tables = {}
    for name in names:
        record = bench.measure(name, peers)
        result["records"].append(record)
        lines = tables.setdefault(every[name]["kind"], [])
        lines.append(line(record, rate))
        say(lines[-1])
    bench.close()
    result["about"] = bench.about
    versions = ", ".join(f"{key} {value}" for key, value in next((found for name, found in bench.about.items() if name != "fovea"), {}).items())
    device = bench.about.get("fovea", {}).get("device", arguments.device)
    print(f"Measured {result['date']} on {device}, driver {result['driver']}, commit {result['commit']}{', ' + versions if versions else ''}; copying within its memory reads and writes {rate / 1e9:.0f} GB/s.")
    for kind, lines in tables.items():
        print("\n" + "\n".join(head(kind) + lines))
    if told := notes(result["records"]):
        print("\n" + "\n".join(told))
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")
    # A result that is wrong, or a kernel that does not run, is a failure of the command too.
    return 1 if any("fovea" in record["unable"] for record in result["records"]) else 0


if __name__ == "__main__":
    sys.exit(main())
