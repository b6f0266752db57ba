# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills Fovea at any moment, and lets each call that touches its files go wrong, and looks at what is left.

usage: faults.py kills COUNT [--seed N] [--only SCENARIO] [--figures FILE]
       faults.py calls [--only SCENARIO] [--fault FAULT] [--figures FILE]

  kills      COUNT runs, each ended by SIGKILL after a time that is drawn, up to what a whole run takes
  calls      of each scenario every call once in each way: it fails (no space, an error of the disk, no more files), is interrupted, reads or writes half, the program
             is killed before it, the file that was mapped is cut
  --only     one scenario: compile, compile-all, dump, run, cached
  --fault    one way to go wrong: ENOSPC, EIO, EMFILE, EINTR, short, kill, cut
  --figures  writes counts to a file: {"faults": {row: {what: number}}}

What must hold after each: the program ended with 0 or 1 (or by the kill), by one message if with 1, within a minute. Each output is what it was before or what the command makes,
to the byte, and what it makes if the command ended with 0. Nothing else lies in the output's folder, in the temporary folder or in the cache; after a kill that holds once the
same command has run again, which must end with 0.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN, SHIM = ROOT / "build" / "bin", ROOT / "build" / "lib" / "fovea_faults.so"
FAULTS = ["ENOSPC", "EIO", "EMFILE", "EINTR", "short", "kill", "cut"]
OLD = b"what was there before\n"


def write_model(folder):
    """A linear whose weight lies in a file of its own: all that files can do, compiled in no time."""
    weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [40, 30], (np.arange(1200, dtype=np.float32) / 1000).tobytes(), raw=True)
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", size]) for name, size in [("x", 40), ("y", 30)]]
    graph = onnx.helper.make_graph([onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weight])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location="tensors", size_threshold=0)


class Scenario:
    """A command in a folder of its own, `out` being where its outputs go."""

    def __init__(self, folder, name, program, arguments, outputs):
        self.folder, self.name, self.program, self.arguments, self.outputs = folder / name, name, program, arguments, outputs
        self.made = None
        self.prepare()

    def prepare(self):
        for name in ("in", "out", "tmp", "cache"):
            (self.folder / name).mkdir(parents=True)
        write_model(self.folder / "in")
        if "in/model.fovea" in self.arguments:
            subprocess.run([BIN / "fovea", "compile", "in/model.onnx", "-o", "in/model.fovea"], cwd=self.folder, check=True, capture_output=True)
        self.inputs = {path.name: path.read_bytes() for path in (self.folder / "in").iterdir()}
        self.reset()
        done = self.run()
        assert done.returncode == 0, done.stderr.decode()
        self.made = self.read()
        assert all(self.made.values()), "an output is missing or empty"
        self.rest = self.others()

    def reset(self):
        """The folder as before the command."""
        for name in ("out", "tmp", "cache"):
            shutil.rmtree(self.folder / name)
            (self.folder / name).mkdir()
        for name in self.outputs:
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(OLD)
        for name, data in self.inputs.items():
            (self.folder / "in" / name).write_bytes(data)

    def command(self):
        return [str(BIN / self.program), *self.arguments]

    def environment(self, **more):
        return {**os.environ, "TMPDIR": str(self.folder / "tmp"), "XDG_CACHE_HOME": str(self.folder / "cache"), **{name: str(value) for name, value in more.items()}}

    def run(self, **more):
        return subprocess.run(self.command(), cwd=self.folder, env=self.environment(**more), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def read(self):
        files = {name: self.folder / name for name in self.outputs}
        return {name: path.read_bytes() if path.exists() else None for name, path in files.items()}

    def others(self):
        """Files that are no outputs and no inputs. Caches have an entry for each model: as many as the command made are no remains."""
        found = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}
        return {name for name in found - set(self.outputs) if not name.startswith("in/")}

    def faulty(self, fault, at, log):
        log.unlink(missing_ok=True)
        return self.run(LD_PRELOAD=SHIM, FOVEA_FAULT_PROGRAM=self.program, FOVEA_FAULT_FOLDER=self.folder.resolve(), FOVEA_FAULT_LOG=log, FOVEA_FAULT=fault, FOVEA_FAULT_AT=at)

    def judge(self, code, said):
        """What is wrong after a run that ended with `code`; nothing if all is well."""
        if code not in (0, 1, -signal.SIGKILL):
            return f"ends with {code}: {said}"
        errors = re.findall(r"error: .*", said)
        if code == 1 and len(errors) != 1:
            return f"ends with 1 and {len(errors)} messages: {said}"
        for name, found in self.read().items():
            allowed = [self.made[name]] if code == 0 else [OLD, self.made[name]]
            if found not in allowed:
                return f"{name} is {'missing' if found is None else f'{len(found)} bytes of something else'} after code {code}: {said}"
        if code == -signal.SIGKILL:
            return self.again()
        left = self.others() - self.rest
        return f"leaves {sorted(left)} after code {code}: {said}" if left else None

    def again(self):
        """After a kill the next run makes all, and leaves nothing of the one before."""
        done = self.run()
        said = done.stderr.decode(errors="replace")
        if done.returncode or self.read() != self.made:
            return f"the run after the kill ends with {done.returncode}: {said}"
        left = self.others() - self.rest
        return f"the run after the kill leaves {sorted(left)}" if left else None


def scenarios(folder, only=None):
    one_thread, compile_it = ["--threads", "1"], ["compile", "in/model.onnx", "--threads", "1"]
    all_of_them = {
        "compile": ("fovea", [*compile_it, "-o", "out/model.fovea"], ["out/model.fovea"]),
        "compile-all": ("fovea", [*compile_it, "--emit=obj", "-o", "out/model.o", "--report", "out/report.json"], ["out/model.o", "out/report.json"]),
        "dump": ("fovea", [*compile_it, "-o", "out/model.fovea", "--dump-ir=out/ir"],
                 ["out/model.fovea", *(f"out/ir/{number:02}-{stage}.mlir" for number, stage in enumerate(["import", "graph", "fused", "scheduled", "kernels", "llvm"], 1))]),
        "run": ("fovea-run", ["run", "in/model.fovea", "--input", "x=random:7x40", *one_thread, "--outputs", "out/out.npz"], ["out/out.npz"]),
        "cached": ("fovea", ["run", "in/model.onnx", "--input", "x=random:7x40", *one_thread, "--outputs", "out/out.npz"], ["out/out.npz"]),
    }
    for name, (program, arguments, outputs) in all_of_them.items():
        if only in (None, name):
            yield Scenario(folder, name, program, arguments, outputs)


class Counts(collections.Counter):
    """How runs ended, and what was wrong of them."""

    def take(self, scenario, what, done):
        code, said = done
        wrong = scenario.judge(code, said)
        self["runs"] += 1
        self["killed" if code < 0 else f"exit {code}"] += 1
        if wrong:
            self["wrong"] += 1
            print(f"faults: {scenario.name}: {what}: {wrong}", flush=True)


def fail_calls(folder, only, faults, counts):
    for scenario in scenarios(folder, only):
        log = folder / f"{scenario.name}.log"
        scenario.reset()
        scenario.faulty("none", 0, log)
        calls = log.read_text().splitlines()
        for fault in faults:
            for at, call in enumerate(calls, 1):
                if fault == "cut" and not call.startswith("mmap "):
                    continue
                scenario.reset()
                done = scenario.faulty(fault, at, log)
                if not any(line.startswith("!") for line in log.read_text().splitlines()):
                    continue  # a call that cannot end in this way
                counts[fault].take(scenario, f"{fault} at call {at}, {call}", (done.returncode, done.stderr.decode(errors="replace")))


def kill_often(folder, only, count, seed, counts):
    everything = list(scenarios(folder, only))
    spans = {}
    for scenario in everything:
        times = []
        for _ in range(3):
            scenario.reset()
            start = time.monotonic()
            scenario.run()
            times.append(time.monotonic() - start)
        spans[scenario.name] = 1.1 * sorted(times)[1]
    draw = random.Random(seed)
    for number in range(count):
        scenario = everything[number % len(everything)]
        scenario.reset()
        pause = draw.uniform(0, spans[scenario.name])
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(scenario.command(), cwd=scenario.folder, env=scenario.environment(), stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            try:
                process.wait(timeout=pause)
            except subprocess.TimeoutExpired:
                process.kill()
            code = process.wait()
            said.seek(0)
            counts[scenario.name].take(scenario, f"killed after {pause * 1000:.1f} ms", (code, said.read().decode(errors="replace")))
        if (number + 1) % 100 == 0:
            print(f"faults: {number + 1} of {count} kills, {sum(one['wrong'] for one in counts.values())} wrong", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("what", choices=["kills", "calls"])
    parser.add_argument("count", type=int, nargs="?", default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--figures", type=pathlib.Path)
    arguments = parser.parse_args()
    if not SHIM.exists():
        sys.exit("faults.py: build/lib/fovea_faults.so is missing; run scripts/setup --tests")
    counts = collections.defaultdict(Counts)
    with tempfile.TemporaryDirectory(prefix="fovea-faults-") as name:
        if arguments.what == "kills":
            kill_often(pathlib.Path(name), arguments.only, arguments.count, arguments.seed, counts)
        else:
            fail_calls(pathlib.Path(name), arguments.only, [arguments.fault] if arguments.fault else FAULTS, counts)
    figures = {f"{arguments.what}: {row}": {"wrong": 0, **one} for row, one in counts.items()}
    for row, one in figures.items():
        print(f"{row:<28} {'   '.join(f'{key} {value}' for key, value in one.items())}")
    if arguments.figures:
        arguments.figures.write_text(json.dumps({"faults": figures}, indent=1) + "\n")
    sys.exit(1 if any(one["wrong"] for one in figures.values()) else 0)


if __name__ == "__main__":
    main()
