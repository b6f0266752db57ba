# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs `fovea`, `fovea-run` and `fovea-opt` on files that a mutator changed, and judges how they end.

usage: commands.py SEED COUNT [--kind KIND] [--findings FOLDER] [--json FILE] [-j N] [--only NUMBER]

  SEED        run NUMBER of a seed is the same on every machine, whatever COUNT is
  --kind      runs of this kind alone, a fourth of COUNT: those that are of it among all
  --findings  where inputs are kept whose run was wrong, each in a folder with its command (build/fuzz-findings)
  --json      writes the counts to a file: {kind: {how it ended: runs}}
  -j          runs at a time (2)
  --only      that one run of the seed alone, and shows what it says

Four kinds of runs, in turns:

  ir             `compile` and `check` of examples and of the IR of tests, `compile` of dumped stages
  onnx           `compile` and `check` of models of test/corpus
  configuration  `compile` and `check` of a checkpoint of which one file of JSON is changed; what compiles is run
  opt            `fovea-opt` with one or two passes chosen at random, on the same IR as `ir`

A run is wrong if a signal ends it, if it ends otherwise than by 0, 1 or 2 (70 is the compiler's own fault), if it takes more than 20 s of the processor's time or
more than 2 GB of memory, or if `check` ends otherwise than `compile` does. `fovea-opt` is a workbench for the compiler's authors and reads text by MLIR's parsers without a guard: a run of it that falls without any pass
too is counted apart, as `parser`, and is no finding. Mutants are made by the fuzz targets of build/bin.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
KINDS = ["ir", "onnx", "configuration", "opt"]
SECONDS, GIGABYTES = 20, 2
CHUNK = 256  # runs whose mutants are made at once
MOST_KEPT = 30  # of one kind and one way to end


class Ended:
    """How a command ended."""

    def __init__(self, code, seconds, megabytes, text):
        self.code, self.seconds, self.megabytes, self.text = code, seconds, megabytes, text

    def judge(self, allowed):
        """What is counted, and whether it is wrong."""
        if self.seconds > SECONDS:
            return "slow", True
        if self.megabytes > GIGABYTES * 1024:
            return "memory", True
        if self.code < 0 or self.code > 128:
            return "signal", True
        return f"exit {self.code}", self.code not in allowed


def run(command, folder):
    """`command` in `folder`, bounded in time and memory. Its own temporary files and caches lie there too."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 1, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder)}
    with tempfile.TemporaryFile(dir=folder) as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, preexec_fn=bound)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read(1 << 20).decode(errors="replace")
    return Ended(process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text)


class Seeds:
    """Files that mutants are made of. Stages are dumped, and checkpoints written, into `folder`."""

    def __init__(self, folder):
        self.tests, self.stages, self.folder = [], {}, folder
        self.examples = sorted((ROOT / "examples").rglob("*.mlir"))
        for path in sorted((ROOT / "test").rglob("*.mlir")):
            if path.stat().st_size < 20_000 and "Inputs" not in path.parts:
                self.tests += self.parts(path)
        for number, name in enumerate(["masks/causal", "masks/window", "positions/rope", "attention/plain-score", "blocks/cache"]):
            dump = folder / f"stages-{number}"
            source = ROOT / "examples" / f"{name}.mlir"
            ended = run([str(BIN / "fovea"), "compile", str(source), "--threads=1", f"--dump-ir={dump}", "-o", str(folder / "stages.fovea")], folder)
            if ended.code:
                sys.exit(f"commands.py: {source} cannot be compiled:\n{ended.text}")
            for path in sorted(dump.glob("*.mlir")):
                if path.stat().st_size < 200_000:
                    self.stages[path] = path.stem.split("-", 1)[1]
        self.onnx = sorted(path for path in (ROOT / "test" / "corpus" / "models").glob("*.onnx") if path.stat().st_size < 60_000)
        self.checkpoints = write_checkpoints(folder)

    def parts(self, path):
        """A file, or the modules that a test has in one file, as files."""
        texts = re.split(r"^// -----.*$", path.read_text(errors="replace"), flags=re.MULTILINE)
        if len(texts) == 1:
            return [path]
        files = []
        for number, text in enumerate(texts):
            name = "_".join([*path.relative_to(ROOT).parts[:-1], path.stem])
            files.append(self.folder / f"{name}-{number}.mlir")
            files[-1].write_text(text)
        return files


def write_checkpoints(folder):
    """A tiny model of each family: {name: (folder, files of JSON)}."""
    def floats(shape, random_):
        count = 1
        for size in shape:
            count *= size
        return struct.pack(f"<{count}f", *(random_.gauss(0, 0.2) for _ in range(count)))

    def write(name, config, tensors, more):
        target = folder / name
        random_ = random.Random(name)
        header, data = {}, b""
        for tensor, shape in tensors.items():
            content = floats(shape, random_)
            header[tensor] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
            data += content
        text = json.dumps(header).encode()
        target.mkdir()
        (target / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
        shutil.copy(ROOT / "test" / "fuzz" / "tokenizers" / "tiny.json", target / "tokenizer.json")
        for file, content in {"config.json": config, **more}.items():
            (target / file).parent.mkdir(exist_ok=True)
            (target / file).write_text(json.dumps(content))
        return target, ["config.json"] * 3 + ["tokenizer.json", *more]

    words, layer = 43, "model.layers.0."
    llama = {"model.embed_tokens.weight": [words, 24], "model.norm.weight": [24], layer + "input_layernorm.weight": [24], layer + "post_attention_layernorm.weight": [24],
             layer + "self_attn.q_proj.weight": [32, 24], layer + "self_attn.k_proj.weight": [16, 24], layer + "self_attn.v_proj.weight": [16, 24],
             layer + "self_attn.o_proj.weight": [24, 32], layer + "mlp.gate_proj.weight": [20, 24], layer + "mlp.up_proj.weight": [20, 24], layer + "mlp.down_proj.weight": [24, 20]}
    gpt2 = {"transformer.wte.weight": [words, 12], "transformer.wpe.weight": [32, 12]}
    for name, shape in {"ln_f": [12], "h.0.ln_1": [12], "h.0.ln_2": [12], "h.0.attn.c_attn": [12, 36], "h.0.attn.c_proj": [12, 12], "h.0.mlp.c_fc": [12, 48], "h.0.mlp.c_proj": [48, 12]}.items():
        gpt2[f"transformer.{name}.weight"], gpt2[f"transformer.{name}.bias"] = shape, shape[-1:]
    bert = {"embeddings.word_embeddings.weight": [words, 12], "embeddings.position_embeddings.weight": [32, 12], "embeddings.token_type_embeddings.weight": [2, 12]}
    layer = "encoder.layer.0."
    for name, shape in {"embeddings.LayerNorm": [12], layer + "attention.self.query": [12, 12], layer + "attention.self.key": [12, 12], layer + "attention.self.value": [12, 12],
                        layer + "attention.output.dense": [12, 12], layer + "attention.output.LayerNorm": [12], layer + "intermediate.dense": [20, 12],
                        layer + "output.dense": [12, 20], layer + "output.LayerNorm": [12], "pooler.dense": [12, 12]}.items():
        bert[f"{name}.weight"], bert[f"{name}.bias"] = shape, shape[:1]
    generation = {"bos_token_id": 0, "eos_token_id": [1], "pad_token_id": None, "do_sample": True, "temperature": 0.7}
    sentence = "sentence_transformers.models."
    return [
        write("llama", {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 24, "intermediate_size": 20, "num_hidden_layers": 1, "num_attention_heads": 4,
                        "num_key_value_heads": 2, "head_dim": 8, "vocab_size": words, "max_position_embeddings": 64, "hidden_act": "silu", "rms_norm_eps": 1e-5, "tie_word_embeddings": True,
                        "bos_token_id": 0, "eos_token_id": 1, "rope_theta": 10000.0, "attention_bias": False,
                        "rope_scaling": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 32}}, llama, {"generation_config.json": generation}),
        write("gpt2", {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 12, "n_layer": 1, "n_head": 3, "n_positions": 32, "vocab_size": words,
                       "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}, gpt2, {"generation_config.json": generation}),
        write("bert", {"architectures": ["BertModel"], "model_type": "bert", "hidden_size": 12, "intermediate_size": 20, "num_hidden_layers": 1, "num_attention_heads": 3, "vocab_size": words,
                       "max_position_embeddings": 32, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12}, bert,
              {"modules.json": [{"idx": 0, "name": "0", "path": "", "type": sentence + "Transformer"}, {"idx": 1, "name": "1", "path": "1_Pooling", "type": sentence + "Pooling"}],
               "1_Pooling/config.json": {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True}}),
    ]


class Run:
    """One run: a file to change, and what is done with it."""

    def __init__(self, seed, number, seeds, passes):
        self.number, self.kind = number, KINDS[number % len(KINDS)]
        self.random = random.Random(f"{seed}:{number}")
        self.stage = self.checkpoint = None
        if self.kind in ("ir", "opt"):
            self.file = self.random.choice(self.random.choice([list(seeds.stages), seeds.examples, seeds.tests]))
            self.stage = seeds.stages.get(self.file)
            self.mutator = "fuzz-mlir"
        elif self.kind == "onnx":
            self.file, self.mutator = self.random.choice(seeds.onnx), "fuzz-onnx-reader"
        else:
            self.checkpoint, files = self.random.choice(seeds.checkpoints)
            self.file, self.mutator = self.checkpoint / self.random.choice(files), "fuzz-json"
        self.passes = [f"--{name}" for name in self.random.sample(passes, self.random.choice([1, 1, 2]))]

    def go(self, mutant, folder):
        """How it ended, what is counted, and the command that was judged."""
        fovea = str(BIN / "fovea")
        if self.kind == "configuration":
            return self.go_with_checkpoint(mutant, folder, fovea)
        name = "m.onnx" if self.kind == "onnx" else "m.mlir"
        shutil.copy(mutant, folder / name)
        for weights in self.file.parent.glob("*.safetensors"):
            (folder / weights.name).symlink_to(weights)
        if self.kind == "opt":
            command = [str(BIN / "fovea-opt"), name, *self.passes]
            ended = run(command, folder)
            what, is_wrong = ended.judge((0, 1))
            if what == "signal" and run(command[:2], folder).judge((0, 1))[0] == "signal":
                what, is_wrong = "parser", False
            return ended, what, is_wrong, command
        command = [fovea, "compile", name, "-o", "m.fovea", "--threads=1", *([f"--from-stage={self.stage}"] if self.stage else [])]
        ended = run(command, folder)
        what, is_wrong = ended.judge((0, 1, 2))
        return (ended, what, is_wrong, command) if is_wrong or self.stage else self.check(ended, what, command, folder, name)

    def check(self, ended, what, command, folder, name):
        """What `check` says of the same file."""
        asked = [command[0], "check", name]
        answer = run(asked, folder)
        found, is_wrong = answer.judge((0, 1, 2))
        if is_wrong:
            return answer, found, is_wrong, asked
        if answer.code != ended.code:
            ended.text += f"\nwhat check said, with exit code {answer.code}:\n{answer.text}"
            return ended, "disagree", True, command
        return ended, what, False, command

    def go_with_checkpoint(self, mutant, folder, fovea):
        shutil.copytree(self.checkpoint, folder / "m")
        shutil.copy(mutant, folder / "m" / self.file.relative_to(self.checkpoint))
        command = [fovea, "compile", "m", "-o", "m.fovea", "--threads=1"]
        ended = run(command, folder)
        what, is_wrong = ended.judge((0, 1, 2))
        if not is_wrong:
            ended, what, is_wrong, command = self.check(ended, what, command, folder, "m")
        if is_wrong or not (folder / "m.fovea").exists():
            return ended, what, is_wrong, command
        text = ["embed", "m.fovea", "--text", "hello the"] if self.checkpoint.name == "bert" else ["generate", "m.fovea", "--prompt", "hello", "-n", "4", "--seed", "1"]
        command = [str(BIN / "fovea-run"), *text, "--threads", "1"]
        ended = run(command, folder)
        return ended, *ended.judge((0, 1, 2)), command


class Judge:
    def __init__(self, seed, findings, shown):
        self.seed, self.findings, self.shown = seed, findings, shown
        self.counts = {kind: collections.Counter() for kind in KINDS}
        self.peaks = collections.Counter()
        self.kept = collections.Counter()
        self.wrong = 0

    def take(self, one, ended, what, is_wrong, command, folder):
        self.counts[one.kind][what] += 1
        self.peaks[one.kind] = max(self.peaks[one.kind], round(ended.megabytes))
        if self.shown:
            print(f"{' '.join(command)}\n{ended.text}\n{what}, {ended.seconds:.1f} s, {ended.megabytes:.0f} MB")
        self.wrong += is_wrong
        if not is_wrong and what != "parser":
            return
        self.kept[one.kind, what] += 1
        if self.kept[one.kind, what] > MOST_KEPT:
            return
        target = self.findings / f"{self.seed}-{one.number}-{one.kind}-{what.replace(' ', '-')}"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target, symlinks=True, ignore=shutil.ignore_patterns("cache", "*.fovea"))
        (target / "command").write_text(" ".join(command) + "\n")
        (target / "said").write_text(ended.text)
        if is_wrong:
            print(f"commands: run {one.number} of seed {self.seed}: {one.kind}: {what}: {target}", flush=True)

    def figures(self):
        return {kind: {"runs": counts.total(), **dict(sorted(counts.items())), "peak_mb": self.peaks[kind]} for kind, counts in self.counts.items() if counts}


def passes_of_opt():
    text = subprocess.run([str(BIN / "fovea-opt"), "--help"], capture_output=True, text=True).stdout
    ours = set(re.findall(r"^ +--(fovea-[a-z0-9-]+) ", text, re.MULTILINE))
    return sorted(ours | {"canonicalize", "cse", "inline", "symbol-dce"})


def runs_of(seed, first, seeds, passes, folder, kind=None):
    """The runs of a chunk, or those of a kind among them, with their mutants, of which each mutator makes its own at once."""
    runs = [Run(seed, number, seeds, passes) for number in range(first, first + CHUNK)]
    base = random.Random(f"{seed}:{first}").randrange(1 << 31)
    mutants = {}
    wanted = [one for one in runs if kind in (None, one.kind)]
    for mutator in sorted({one.mutator for one in wanted}):
        own = [one for one in runs if one.mutator == mutator]
        out = folder / mutator
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        subprocess.run([str(BIN / mutator), "--write", str(out), "--seed", str(base), *(str(one.file) for one in own)], check=True)
        mutants.update({one.number: out / str(place) for place, one in enumerate(own)})
    return [(one, mutants[one.number]) for one in wanted]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--findings", type=pathlib.Path, default=ROOT / "build" / "fuzz-findings")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--only", type=int)
    arguments = parser.parse_args()
    for program in ("fovea", "fovea-run", "fovea-opt", "fuzz-mlir"):
        if not (BIN / program).exists():
            sys.exit(f"commands.py: build/bin/{program} is missing; run scripts/setup")
    arguments.findings.mkdir(parents=True, exist_ok=True)
    judge = Judge(arguments.seed, arguments.findings, arguments.only is not None)
    with tempfile.TemporaryDirectory(prefix="fovea-commands-") as name, concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        scratch = pathlib.Path(name)
        (scratch / "seeds").mkdir()
        seeds, passes = Seeds(scratch / "seeds"), passes_of_opt()

        def go(one, mutant):
            folder = scratch / f"run-{one.number}"
            folder.mkdir()
            return one, one.go(mutant, folder), folder

        start = (arguments.only or 0) // CHUNK * CHUNK
        for first in range(start, arguments.count if arguments.only is None else start + 1, CHUNK):
            chunk = [pair for pair in runs_of(arguments.seed, first, seeds, passes, scratch, arguments.kind)
                     if (pair[0].number == arguments.only if arguments.only is not None else pair[0].number < arguments.count)]
            for one, outcome, folder in pool.map(lambda pair: go(*pair), chunk):
                judge.take(one, *outcome, folder)
                shutil.rmtree(folder, ignore_errors=True)
            if arguments.only is None:
                print(f"commands: {min(first + CHUNK, arguments.count)} of {arguments.count} runs, {judge.wrong} wrong", flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(judge.figures(), indent=1) + "\n")
    for kind, figures in judge.figures().items():
        print(f"{kind:<14} {'   '.join(f'{key} {value}' for key, value in figures.items())}")
    sys.exit(1 if judge.wrong else 0)


if __name__ == "__main__":
    main()
