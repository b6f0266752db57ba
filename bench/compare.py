# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models and attention beside onnxruntime, OpenVINO, CTranslate2, llama.cpp and torch, all from PyPI. Started by scripts/bench.

For each case every program first shows that its result is the f64 reference's; then they run in turns, each in a process of its own that times itself. Medians over all turns.
Shares are of this machine's own limits, sampled by `fovea-peaks` in the same turns. Of several counts of threads each has its processes in the same turns, and a record.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import cases
import models
import picture

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN, LIBRARY = ROOT / "build" / "bin", ROOT / "build" / "lib" / "libfovea-runtime.so"
FOLDER = ROOT / "build" / "bench-models"
ALONE = ["start", "compile"]  # cases without peers
TOLERANCES = {"f32": 1e-4, "bf16": 5e-2, "int8": 0.15, "int4": 0.6}  # largest difference over largest value
BYTES = {"f32": 4, "bf16": 2, "int8": 1, "int4": 0.5625}  # of a weight, of int4 with its share of a scale
# Beside fovea itself what a case measures of ours "also": compiled for its lengths alone; called with denormals on the stack; read from ONNX.
OURS = ["fovea", "fovea.fixed", "fovea.denormals", "fovea.onnx"]
PEERS = [*OURS, "onnxruntime", "onnxruntime-genai", "openvino", "openvino-genai", "ctranslate2", "llama.cpp", "torch",
         "torch.compile"]


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        sys.exit(f"bench: {' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    return done.stdout


class Process:
    """A program that answers each line of JSON by one."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)

    def ask(self, **command):
        try:
            print(json.dumps(command), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"failed": f"its process ended with code {self.process.wait()}"}

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Neighbours:
    """Other programs on the machine that do nothing but compute."""

    def __init__(self, count):
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]

    def __enter__(self):
        time.sleep(0.1)  # until they run
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


class Worker(Process):
    """bench/worker.py for one program on one case; `answer` says whether it is ready."""

    def __init__(self, peer, case, paths, threads):
        environment = dict(os.environ, HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false",
                           **{name: str(threads) for name in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"]})
        super().__init__([sys.executable, pathlib.Path(__file__).with_name("worker.py")], env=environment)
        self.answer = self.ask(peer=peer, case=case, paths=paths, threads=threads)


def prepare(case, dtype):
    """Makes what the case needs and compiles it; gives the paths for the workers."""
    paths = {"library": str(LIBRARY), "folder": str(FOLDER), "dtype": dtype}
    also = case.get("also", [])
    if case["kind"] == "attention":
        stem = f"attention-query-{case['length']}" if "queries" in case else f"attention-{case['mask']}"
        source = FOLDER / f"{stem}.mlir"
        source.write_text(cases.attention_module(case, fixed=False))
    else:
        source = cases.minilm() if case["kind"] == "encoder" else models.make(case.get("model", "llama-110m"), FOLDER / case.get("model", "llama-110m"))
        paths["model"], paths["config"] = str(source), json.loads((source / "config.json").read_text())
        paths["config"].setdefault("rope_theta", 10000.0)
    suffix, flags = ("", []) if dtype == "f32" else (f"-{dtype}", [f"--dtype={dtype}"])
    paths["artifact"] = str(FOLDER / f"{source.stem if source.is_file() else source.name}{suffix}.fovea")
    run(BIN / "fovea", "compile", source, "-o", paths["artifact"], *flags)
    if "fovea.fixed" in also:
        fixed, paths["fixed"] = FOLDER / f"{stem}-fixed.mlir", str(FOLDER / f"{stem}-fixed.fovea")
        fixed.write_text(cases.attention_module(case, fixed=True))
        run(BIN / "fovea", "compile", fixed, "-o", paths["fixed"])
    if "fovea.denormals" in also:
        paths["stack"] = str(FOLDER / "stack.so")
        run("clang-22", "-shared", "-fPIC", "-O1", pathlib.Path(__file__).with_name("stack.c"), "-o", paths["stack"])
    if "fovea.onnx" in also:
        file, paths["onnx"] = FOLDER / "llama-past.onnx", str(FOLDER / "llama-past.fovea")
        if not file.exists():
            # In a process of its own, for what exporters print.
            run(sys.executable, "-c", "import json, sys, peers; peers.save_llama(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3])",
                source, json.dumps(paths["config"]), file, cwd=pathlib.Path(__file__).parent)
        run(BIN / "fovea", "compile", file, "-o", paths["onnx"], *flags)
    return paths


def kernels(name, case, paths, threads):
    """What `fovea bench` says of the kernels."""
    flags = ["--threads", threads, "--json", "--repeat", 3]
    if case["kind"] == "attention":
        flags += ["--dim", f"sequence={case['length']}", *(["--dim", f"queries={case['queries']}"] if "queries" in case else [])]
        if case["mask"] == "documents":
            inputs = FOLDER / "segments.npz"
            np.savez(inputs, segments=cases.segments(case))
            flags += ["--inputs", inputs]
    elif case["kind"] == "encoder":
        flags += ["--entry", "forward", "--batch", case["batch"], "--prompt-tokens", case["length"]]
    else:
        flags += ["--prompt-tokens", case["length"], "--new-tokens", case.get("steps", 0)]
    return json.loads(run(BIN / "fovea-run", "bench", paths["artifact"], *flags))


def reference(name, paths, threads):
    file = FOLDER / f"reference-{name}.npy"
    if not file.exists():
        say(f"{name}: computing the reference in f64")
        worker = Worker("reference", name, paths, threads)
        answer = worker.ask(result=str(file), model=paths.get("model"))
        worker.close()
        if answer:
            sys.exit(f"bench: {name}: the reference failed: {answer}")
    return np.load(file)


def programs(name, wanted):
    """Those of `wanted`, or of all, that the case measures."""
    return [peer for peer in wanted or PEERS if peer not in OURS[1:] or peer in cases.CASES[name].get("also", [])]


def measures(name, dtype):
    """Whether a case has weights of that type."""
    return dtype == "f32" or name not in ALONE and cases.CASES[name]["kind"] != "attention"


def plural(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def check(worker, name, paths, expected, threads):
    """Runs a program once; gives the error of its result, or why it has none."""
    with tempfile.TemporaryDirectory() as temporary:
        file = pathlib.Path(temporary) / "result.npy"
        answer = worker.answer or worker.ask(result=str(file))
        if "told" in answer:
            judge = Worker("reference", name, paths, threads)
            answer = judge.ask(told=answer["told"], model=paths["model"])
            judge.close()
            if "error" not in answer:
                return None, f"its tokens cannot be checked: {answer['failed']}"
            error = answer["error"]
        elif answer:
            return None, answer.get("unable") or answer["failed"]
        else:
            found = np.load(file)
            fits = found.shape == expected.shape
            error = float(np.abs(found - expected).max() / np.abs(expected).max()) if fits else float("inf")
    tolerance = TOLERANCES[paths["dtype"]]
    return error, None if error <= tolerance else f"differs from the reference by {error:.2g}, more than {tolerance:g}"


class Contest:
    """A case with one count of threads: its record, a process for each program that is right, and the yardstick."""

    def __init__(self, name, threads, several):
        self.name, self.threads, self.workers, self.counts = name, threads, {}, {}
        self.record = {"case": name, **({"threads": threads} if several else {}), "programs": {}, "unable": {}}

    def enter(self, peer, paths, expected, neighbours):
        """Lets a program take part once it has shown that it is right."""
        say(f"{self.name}: {peer}" + (f", {plural(self.threads)}" if "threads" in self.record else ""))
        worker = Worker(peer, self.name, paths, self.threads)
        error, reason = check(worker, self.name, paths, expected, self.threads)
        answer = {} if reason else worker.ask(run=2)
        if "seconds" not in answer:
            self.record["unable"][peer] = reason or answer.get("unable") or answer["failed"]
            worker.close()
            return
        self.workers[peer] = worker
        seconds = answer["seconds"][-1] * cases.CASES[self.name].get("steps", 1)
        self.counts[peer] = max(2, min(20, round(0.5 / max(seconds, 1e-4))))
        self.record["programs"][peer] = {"error": error, "times": [], **({"beside": []} if neighbours else {})}

    def begin(self, paths):
        self.record["kernels"] = kernels(self.name, cases.CASES[self.name], paths, self.threads)
        self.yardstick = Process([BIN / "fovea-peaks", self.threads])
        self.limits = [self.yardstick.ask()]

    def measure(self, peer, neighbours):
        time.sleep(0.25)  # other libraries' threads spin for a while after their last run
        self.limits += [self.yardstick.ask() for _ in range(3)]
        program = self.record["programs"][peer]
        answer = self.workers[peer].ask(run=self.counts[peer])
        if "seconds" in answer:
            program["times"] += answer["seconds"][1:]  # the first one warms
        if neighbours:
            with Neighbours(neighbours):
                program["beside"] += self.workers[peer].ask(run=self.counts[peer]).get("seconds", [])[1:]

    def end(self, flops, size):
        """Stops the processes; gives the record."""
        for process in [self.yardstick, *self.workers.values()]:
            process.close()
        keys = ["flops_per_second", "bytes_per_second"]
        limits = {key: statistics.median(limit[key] for limit in self.limits) for key in keys}
        for program in self.record["programs"].values():
            program["seconds"] = statistics.median(program["times"])
            if program.get("beside"):
                program["seconds_beside"] = statistics.median(program["beside"])
            program["share_of_peak"] = flops / program["seconds"] / limits["flops_per_second"]
            program["share_of_bandwidth"] = size / program["seconds"] / limits["bytes_per_second"]
        return {**self.record, "limits": limits, "flops": flops, "bytes": size}


def compare(name, wanted, threads, rounds, dtype, neighbours):
    """Runs one case with each count of threads, interleaved; gives a record for each."""
    case = cases.CASES[name]
    paths = prepare(case, dtype)
    expected = reference(name, paths, max(threads))
    contests = [Contest(name, count, len(threads) > 1) for count in threads]
    for contest in contests:
        for peer in wanted:
            contest.enter(peer, paths, expected, neighbours)
        contest.begin(paths)
    order = [(contest, peer) for contest in contests for peer in contest.workers]
    for turn in range(rounds if order else 0):
        at = turn % len(order)
        for contest, peer in order[at:] + order[:at]:
            contest.measure(peer, neighbours)
    work = cases.work(case, paths.get("config"), BYTES[dtype])
    return [contest.end(*work) for contest in contests]


def start(rounds):
    """From starting the process to the first token on its standard output."""
    model = ROOT / "examples" / "models" / "shakespeare-llama"
    artifact = FOLDER / "shakespeare-llama.fovea"
    run(BIN / "fovea", "compile", model, "-o", artifact)
    times = []
    for _ in range(3 + 3 * rounds):
        begin = time.perf_counter()
        process = subprocess.Popen([BIN / "fovea-run", "generate", artifact, "--prompt", "ROMEO:", "-n", "4", "--temp", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        process.stdout.read(1)
        times.append(time.perf_counter() - begin)
        process.communicate()
    return {"case": "start", "seconds": statistics.median(times[3:]), "times": times[3:]}


def measured(*command):
    """Seconds and the most memory in bytes that a program took."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"bench: {' '.join(map(str, command))} failed")
    return time.perf_counter() - begin, usage.ru_maxrss * 1024


def seconds_to_write(path, size):
    """A file of `size` bytes, written plainly and synced: what the disk takes for a compiler's output."""
    block = np.random.default_rng(3).bytes(1 << 24)
    begin = time.perf_counter()
    with path.open("wb") as file:
        for _ in range(0, size, len(block)):
            file.write(block)
        os.fsync(file.fileno())
    seconds = time.perf_counter() - begin
    path.unlink()
    return seconds


def compiling():
    """Compile time and memory: MiniLM, and a random Llama of 1.1 billion parameters in 22 layers."""
    rows = []
    for title, make in [("MiniLM", cases.minilm), ("llama-1b bf16", lambda: models.make("llama-1b", FOLDER / "llama-1b-bf16", "bf16")),
                        ("llama-1b f32", lambda: models.make("llama-1b", FOLDER / "llama-1b-f32", "f32"))]:
        say(f"compile: {title}")
        folder, out = make(), FOLDER / "compiled.fovea"
        seconds, memory = measured(BIN / "fovea", "compile", folder, "-o", out)
        size = out.stat().st_size
        out.unlink()
        rows.append({"model": title, "seconds": seconds, "memory": memory, "bytes": size, "write_seconds": seconds_to_write(out, size)})
    return {"case": "compile", "models": rows}


def shares(report):
    """Of what `fovea bench` told the kinds of kernels that take at least a hundredth of the time, of the last of its parts (decode behind prefill)."""
    kernels = [part for part in report.values() if isinstance(part, dict) and "kernels" in part][-1]["kernels"]
    seconds = collections.Counter()
    for name, kernel in kernels.items():
        seconds[re.sub(r"_\d+$", "", name)] += kernel["seconds"]
    whole = sum(seconds.values())
    return ", ".join(f"{kind} {100 * part / whole:.1f} %" for kind, part in seconds.most_common() if part >= 0.01 * whole)


def beside(program):
    """Columns of a program's time beside others, and how many times its own that is."""
    if "seconds_beside" not in program:
        return ""
    return f" {program['seconds_beside'] * 1e3:10.3f} {program['seconds_beside'] / program['seconds']:8.2f}"


def row(case, program, numbers):
    """A line of the table; a name longer than its column takes of the space before the numbers."""
    room = 16 + len(numbers) - len(program)
    return f"{case:<20} {program}{numbers.lstrip().rjust(room)}"


def heading(several, neighbours):
    more = f" {'beside':>10} {'slower':>8}" if neighbours else ""
    threads = f"{'threads':>7} " if several else ""
    return row("case", "program", f"{threads}{'ms':>10} {'to best':>9} {'% peak':>8} {'% read':>8} {'error':>10}{more}")


def table(record):
    """The record as lines of text."""
    if record["case"] == "start":
        return [f"start: first token of the Shakespeare Llama after {record['seconds'] * 1e3:.1f} ms (median of {len(record['times'])})"]
    if record["case"] == "compile":
        return [f"compile: {row['model']}: {row['seconds']:.1f} s; writing {row['bytes'] / 1e6:.0f} MB plainly takes {row['write_seconds']:.1f} s; memory at most {row['memory'] / 1e6:.0f} MB, "
                f"{row['memory'] / row['bytes']:.2f} times the file" for row in record["models"]]
    programs = record["programs"]
    others = {name: program["seconds"] for name, program in programs.items() if name not in OURS}
    best = min(others, key=others.get) if others else None
    threads = f"{record['threads']:7} " if "threads" in record else ""
    lines = []
    for name, program in programs.items():
        to_best = program["seconds"] / others[best] if best else float("nan")
        numbers = f"{threads}{program['seconds'] * 1e3:10.3f} {to_best:9.2f} {100 * program['share_of_peak']:8.1f} "
        numbers += f"{100 * program['share_of_bandwidth']:8.1f} {program['error']:10.1e}{beside(program)}"
        lines.append(row(record["case"], name, numbers + ("  best peer" if name == best else "")))
    lines += [f"{record['case']:<20} {name:<15} {threads}unable: {reason}" for name, reason in record["unable"].items()]
    which = f", {plural(record['threads'])}" if threads else ""
    return [*lines, f"{record['case']:<20} time of kernels{which}: {shares(record['kernels'])}"]


def versions():
    """Of the peers that are there."""
    from importlib import metadata
    installed = {}
    for name in ["onnxruntime", "onnxruntime-genai", "openvino", "openvino-genai", "ctranslate2", "llama_cpp_python",
                 "torch", "transformers"]:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return installed


def own_version():
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return f"{run(BIN / 'fovea', '--version').split()[-1]} ({done.stdout.strip() or 'unknown commit'})"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return "unknown processor"


def counts_of_threads(text):
    """"1,2" as [1, 2]."""
    counts = [int(part) if part.isascii() and part.isdigit() else 0 for part in text.split(",")]
    if min(counts) < 1 or len(set(counts)) < len(counts):
        raise argparse.ArgumentTypeError(f"expects different counts of 1 or more with commas between, got '{text}'")
    return counts


class Options(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def read_options(words=None):
    every = [*cases.CASES, *ALONE]
    parser = Options(prog="scripts/bench", allow_abbrev=False,
                     description="Measures Fovea beside onnxruntime, OpenVINO, CTranslate2, llama.cpp and torch; results are "
                                 "checked before anything is timed.")
    parser.add_argument("--case", action="append", metavar="NAME", help=f"one of {', '.join(every)}; may be repeated; without it all but compile and {', '.join(cases.LARGE)}")
    parser.add_argument("--peer", action="append", choices=PEERS, help="one of the programs; may be repeated; without it all")
    parser.add_argument("--threads", type=counts_of_threads, default=[2], metavar="N[,N]...",
                        help="of each program (2); of a list each is measured in the same turns")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each program (5)")
    parser.add_argument("--dtype", choices=TOLERANCES, default="f32", help="element type of the weights, and what each program multiplies (f32)")
    parser.add_argument("--neighbours", type=int, default=0, metavar="N", help="measures each turn again beside N processes that compute all the time (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument("--out", metavar="FILE", help="write all measurements as JSON")
    parser.add_argument("--svg", metavar="FILE", help="draw the times as a picture")
    parser.add_argument("--from", dest="saved", metavar="FILE",
                        help="with --svg: draw what --out has written; measures nothing")
    arguments = parser.parse_args(words)
    if arguments.saved:
        others = {name: value for name, value in vars(arguments).items() if name not in ("saved", "svg")}
        if not arguments.svg or any(value != parser.get_default(name) for name, value in others.items()):
            parser.error("--from expects --svg FILE and no other option")
    for path in [arguments.out, arguments.svg]:
        if path and not pathlib.Path(path).absolute().parent.is_dir():
            parser.error(f"{path}: its folder does not exist")
    if arguments.svg:
        try:
            picture.library()
        except ImportError:
            parser.error("--svg expects matplotlib; bench/requirements.txt lists it")
    chosen = arguments.case or [name for name in every if name not in ("compile", *cases.LARGE)]
    for name in chosen:
        if name not in every:
            parser.error(f"--case {name}: expects one of {', '.join(every)}")
        if name not in ALONE and not programs(name, arguments.peer):
            parser.error(f"--case {name}: measures none of {', '.join(arguments.peer)}")
        if arguments.case and not measures(name, arguments.dtype):
            parser.error(f"--case {name}: expects a whole model with --dtype {arguments.dtype}; attention alone is measured in f32")
    arguments.cases = [name for name in chosen if measures(name, arguments.dtype)]
    if arguments.rounds < 1:
        parser.error(f"--rounds expects 1 or more, got {arguments.rounds}")
    if arguments.neighbours < 0:
        parser.error(f"--neighbours expects 0 or more, got {arguments.neighbours}")
    return parser, arguments


def draw(result, path, refuse):
    try:
        picture.draw(result, path)
    except (OSError, ValueError) as error:
        refuse(f"--svg {path}: {error}")


def measure(arguments):
    """Prints what is measured as it comes; gives all of it."""
    threads = arguments.threads[0] if len(arguments.threads) == 1 else arguments.threads
    result = {"processor": processor(), "cores": len(os.sched_getaffinity(0)), "date": datetime.date.today().isoformat(),
              "fovea": own_version(), "threads": threads, "dtype": arguments.dtype, "neighbours": arguments.neighbours,
              "versions": versions(), "cases": []}
    if not arguments.json:
        installed = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
        print(f"{result['processor']}, {','.join(map(str, arguments.threads))} threads, {arguments.dtype}; {installed}")
        print(heading(len(arguments.threads) > 1, arguments.neighbours), flush=True)
    for name in arguments.cases:
        if name == "start":
            records = [start(arguments.rounds)]
        elif name == "compile":
            records = [compiling()]
        else:
            records = compare(name, programs(name, arguments.peer), arguments.threads, arguments.rounds, arguments.dtype,
                              arguments.neighbours)
        result["cases"] += records
        if not arguments.json:
            print("\n".join(line for record in records for line in table(record)), flush=True)
    return result


def main():
    parser, arguments = read_options()
    if arguments.saved:
        try:
            result = json.loads(pathlib.Path(arguments.saved).read_text())
        except (OSError, ValueError) as error:
            parser.error(f"--from {arguments.saved}: {error}")
        draw(result, arguments.svg, parser.error)
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    result = measure(arguments)
    if arguments.json:
        print(json.dumps(result))
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")
    if arguments.svg:
        draw(result, arguments.svg, parser.error)


if __name__ == "__main__":
    main()
