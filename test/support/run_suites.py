# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every suite of tests on build/ and counts single tests over all of them.

usage: run_suites.py [--all] [--filter=EXPRESSION]... | --device=cuda | --sanitize

With --device, the suites that run code on the emulator run it on that device instead: the GoogleTest programs labelled `device` and the Python tests with a device.

The last line is `N passed, N failed` (`, N skipped` where some were); the exit code is 1 when one failed, or when none ran. A suite whose runner breaks
before it can report counts as one failed test, never as none.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
RESULTS = BUILD / "test-results"


class Suite:
    def __init__(self, name):
        self.name, self.passed, self.skipped, self.failures, self.seconds = name, 0, collections.Counter(), [], 0.0

    def add(self, outcome, title, why=""):
        if outcome == "passed":
            self.passed += 1
        elif outcome == "skipped":
            self.skipped[why] += 1
        else:
            self.failures.append(title)

    def line(self):
        text = f"{self.name:<8} {self.passed:6} passed, {len(self.failures)} failed"
        if self.skipped:
            text += f", {self.skipped.total()} skipped"
        return f"{text}  ({self.seconds:.1f} s)"


def run(suite, command, log=None, **environment):
    """Runs a suite's program with its output in a log, which is shown if it fails."""
    log = log or RESULTS / f"{suite.name}.log"
    start = time.monotonic()
    with log.open("w") as out:
        code = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                              env={**os.environ, **environment}).returncode
    suite.seconds += time.monotonic() - start
    if code:
        text = log.read_text(errors="replace")
        if len(text) > 20000:
            text = f"... (all of it in {log.relative_to(ROOT)})\n{text[-20000:]}"
        print(text, flush=True)
    return code


def count_junit(suite, file, title):
    for case in xml.parse(file).getroot().iter("testcase"):
        outcome, why = "passed", ""
        if case.find("failure") is not None or case.find("error") is not None:
            outcome = "failed"
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            outcome, why = "skipped", case.find("skipped").get("message", "") if case.find("skipped") is not None else "disabled"
        suite.add(outcome, title(case), why)


def unit_tests(everything, device=None):
    """The GoogleTest programs. Those labelled `long` only with --all; on a device those labelled so, one by one."""
    suite = Suite("unit")
    which = ["-j1", "-L", "device"] if device else ["-j2", *([] if everything else ["-LE", "long"])]
    run_ctest(suite, BUILD, which, RESULTS / suite.name, **({"FOVEA_TEST_DEVICE": device} if device else {}))
    return suite


def run_ctest(suite, build, which, reports, **environment):
    """GoogleTest programs of a build; ctest runs them, their own reports count the cases."""
    reports.mkdir(parents=True)
    junit = reports.with_name(f"{reports.name}-ctest.xml")
    failures = len(suite.failures)
    code = run(suite, ["ctest", "--test-dir", str(build), "--output-on-failure", "--output-junit", str(junit), *which], reports.with_suffix(".log"),
               GTEST_OUTPUT=f"xml:{reports}/", **environment)
    for report in sorted(reports.glob("*.xml")):
        count_junit(suite, report, lambda case: f"{report.stem}: {case.get('classname')}.{case.get('name')}")
    # A program that crashed, or that is no GoogleTest, left no report of its own.
    if junit.exists():
        for case in xml.parse(junit).getroot().iter("testcase"):
            if not (reports / f"{case.get('name')}.xml").exists():
                suite.add("passed" if case.get("status") == "run" else "failed", case.get("name"))
    if code and len(suite.failures) == failures:
        suite.add("failed", "ctest itself")


# What is built once more with sanitizers, by CMake's presets: the readers of files, the runtime and the interpreter, with their tests.
SANITIZED = {
    "asan": ["FoveaArtifactTest", "FoveaFrontendTest", "FoveaRuntimeTest", "FoveaTemplateTest", "FoveaTokenizerTest", "fuzz-artifact", "fuzz-gguf", "fuzz-hugging-face", "fuzz-input-text", "fuzz-json", "fuzz-npz",
             "fuzz-onnx-reader", "fuzz-regex", "fuzz-runtime", "fuzz-safetensors", "fuzz-sentencepiece", "fuzz-template", "fuzz-tokenizer-json", "fuzz-tokenizer-tables", "fuzz-tokenizer-text", "fovea-interpret"],
    "tsan": ["FoveaRuntimeTest"],
}


def sanitized_tests():
    """Tests of what reads, runs and interprets, under the address, undefined-behaviour and thread sanitizers."""
    suite = Suite("sanitize")
    for preset, targets in SANITIZED.items():
        build = ROOT / f"build-{preset}"
        if (not (build / "build.ninja").exists() and run(suite, ["cmake", "--preset", preset], RESULTS / f"{preset}-configure.log")) or \
                run(suite, ["cmake", "--build", str(build), "--target", *targets], RESULTS / f"{preset}-build.log"):
            suite.add("failed", f"the build with preset {preset}")
            continue
        # A child of a process with threads may make threads of its own.
        run_ctest(suite, build, ["-j2", "-R", f"^({'|'.join(targets)})$"], RESULTS / preset, TSAN_OPTIONS="die_after_fork=0")
        if "fovea-interpret" in targets:
            run_lit(suite, build / "test" / "interpreter", [], RESULTS / f"{preset}-lit")
    return suite


def tidy_sources():
    """clang-tidy on what the last commit changed, or forty files of that: each takes some seconds."""
    suite = Suite("tidy")
    suite.add("failed" if run(suite, ["scripts/tidy", "--most", "40"]) else "passed", "scripts/tidy")
    return suite


def lit_tests(filters):
    suite = Suite("lit")
    run_lit(suite, BUILD / "test", ["--filter", "|".join(filters)] if filters else [], RESULTS / suite.name)
    return suite


def run_lit(suite, tests, flags, name):
    report = name.with_suffix(".json")
    failures = len(suite.failures)
    code = run(suite, [lit_program(), "-sv", "-j2", "--output", str(report), *flags, str(tests)], name.with_suffix(".log"))
    if report.exists():
        for test in json.loads(report.read_text())["tests"]:
            kind = test["code"]
            suite.add({"PASS": "passed", "FLAKYPASS": "passed", "XFAIL": "passed", "UNSUPPORTED": "skipped", "SKIPPED": "skipped"}.get(kind, "failed"), test["name"], "not supported here")
    if code and len(suite.failures) == failures:
        suite.add("failed", "lit itself")


def lit_program():
    """The lit that CMake found."""
    match = re.search(r"^FOVEA_LIT:\w+=(.+)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    if not match:
        sys.exit("run_suites.py: build/CMakeCache.txt names no FOVEA_LIT; run scripts/setup")
    return match.group(1)


def python_tests(everything, device=None):
    """Processes that share no file's fixtures: three, since two leave a tenth of two cores idle. One on a device, whose memory is for one.

    Files begin in the order of test/conftest.py, the longest first: pytest-xdist's own is by the number of tests. Bytecode of torch and transformers, which pip was told
    not to make, is kept for the next process that imports them, whatever the machine's environment says. torch's threads wait without a core: three processes share two, and
    those that wait for work by looking for it took a fourteenth of all time of Python."""
    suite = Suite("python")
    junit = RESULTS / "pytest.xml"
    code = run(suite, [sys.executable, "-m", "pytest", "-q", "--tb=short", "-rfE", f"--junitxml={junit}", "--durations=10", *([] if device else ["-n3", "--dist=loadfile", "--no-loadscope-reorder"]),
                       *(["--all"] if everything else []), *([f"--device={device}"] if device else []), "test"], PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX=str(BUILD / "bytecode"), OMP_WAIT_POLICY="passive")
    if junit.exists():
        count_junit(suite, junit, lambda case: f"{case.get('classname')}::{case.get('name')}")
    if code and not suite.failures:
        suite.add("failed", "pytest itself")
    return suite


def random_programs(everything):
    """fovea-smith: always the same programs, 2,000 with --all; a part of them, and large ones, as code of GPUs on the emulator, and others as aarch64 by qemu where scripts/setup --aarch64 built what runs them; as many near misses, whose tables stand in the log. Programs of this processor that test/smith/open.txt names fail in the way that it says: in no other, and none that passes may stand there."""
    suite = Suite("smith")
    listed = re.findall(r"^(\d+) (\w+):", (ROOT / "test" / "smith" / "open.txt").read_text(), re.MULTILINE)
    series = [([], 2000 if everything else 50)]
    for gpu in ["sm_80", "sm_90a"]:
        series += [(["--gpu", gpu], 200 if everything else 10), (["--gpu", gpu, "--large"], 16 if everything else 1)]
    for flags, count in series:
        known = {int(number): kind for number, kind in listed if int(number) < count and not flags}
        run_series(suite, flags, 1, count, known)
    if everything and (BUILD / "aarch64" / "bin" / "fovea-grid-remote").exists() and shutil.which("qemu-aarch64"):
        run_series(suite, [], 19, 100, {}, FOVEA_TEST_PROCESSOR="aarch64-i8mm")
    run_series(suite, ["--near-misses"], 18, 2000 if everything else 60, {})
    return suite


def run_series(suite, flags, seed, count, known, **environment):
    """Programs 0 to `count` - 1 of a seed; `known` has the kinds of those that fail."""
    name = " ".join([*(f"{name}={value}" for name, value in environment.items()), "fovea-smith", *flags])
    failures = len(suite.failures)
    file = RESULTS / f"{''.join([suite.name, *environment.values(), *flags])}.log"
    code = run(suite, [str(BUILD / "bin" / "fovea-smith"), "--seed", str(seed), "--count", str(count), "--quiet", *flags], file, **environment)
    log = file.read_text(errors="replace")
    if match := re.search(r"^(\d+) passed, \d+ failed$", log, re.MULTILINE):
        suite.passed += int(match[1])
    missed = set()
    for line, number, kind in re.findall(r"^(program (\d+) of seed \d+: (\w+).*)$", log, re.MULTILINE):
        if known.get(int(number)) == kind:
            missed.add(int(number))
        else:
            suite.add("failed", f"{name}: {line}")
    for number in sorted(known.keys() - missed):
        suite.add("failed", f"program {number} of seed {seed} is as expected: test/smith/open.txt need not name it")
    if code and len(suite.failures) == failures and not missed:
        suite.add("failed", f"{name} itself")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--device")
    parser.add_argument("--sanitize", action="store_true")
    arguments = parser.parse_args()
    subprocess.run(["rm", "-rf", str(RESULTS)], check=True)
    RESULTS.mkdir(parents=True)

    runs = [lambda: lit_tests(arguments.filter)]
    if not arguments.filter:
        runs = [lambda: unit_tests(arguments.all), *runs, lambda: random_programs(arguments.all), lambda: python_tests(arguments.all)]
    if arguments.sanitize:
        runs = [sanitized_tests]
    elif arguments.all:
        runs += [sanitized_tests, tidy_sources]
    if arguments.device:
        runs = [lambda: unit_tests(True, arguments.device), lambda: python_tests(True, arguments.device)]
    suites = []
    for start in runs:
        suites.append(start())
        print(suites[-1].line(), flush=True)

    failures = [f"{suite.name}: {title}" for suite in suites for title in suite.failures]
    if failures:
        print("\nfailed:")
        print("\n".join(f"  {title}" for title in failures))
    reasons = sum((suite.skipped for suite in suites), collections.Counter())
    if reasons:
        print("\nskipped:")
        print("\n".join(f"  {count} because: {why}" for why, count in reasons.most_common()))
    passed, skipped = sum(suite.passed for suite in suites), reasons.total()
    print(f"\n{passed} passed, {len(failures)} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failures or not passed else 0)


if __name__ == "__main__":
    main()
