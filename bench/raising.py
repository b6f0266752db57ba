# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how long raising takes: exports transformers of any depth and width to ONNX, random weights, and times the passes of the `graph` stage on each.

usage: build/venv/bin/python bench/raising.py [--model NAME]... [--layers 4,22] [--width 2048] [--export dynamo18]... [--out FILE] [--svg FILE]

One line for each file: seconds in the passes of `graph` (all threads of two, wall time), in the slowest pass, seconds of the report, peak memory of the compiler in
proportion to the file's size, attentions fused and not. With several depths or widths the lines of a model are its curve; --svg draws them.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXPORTS = ["ts17", "dynamo18", "dynamo20", "dynamo23"]


def unet_block(layers, width):
    """A ResNet block and `layers` transformer blocks of Stable Diffusion's U-Net (Rombach et al. 2022): self- and cross-attention with heads of 64, a gated feed-forward; at 32 x 32 places."""
    import torch
    from torch import nn

    class Attention(nn.Module):
        def __init__(self, context):
            super().__init__()
            self.q, self.k, self.v = nn.Linear(width, width, bias=False), nn.Linear(context, width, bias=False), nn.Linear(context, width, bias=False)
            self.out = nn.Linear(width, width)

        def forward(self, x, context):
            q, k, v = (y.unflatten(-1, (width // 64, 64)).transpose(1, 2) for y in (self.q(x), self.k(context), self.v(context)))
            p = torch.softmax(q @ k.transpose(-1, -2) * 64**-0.5, dim=-1)
            return self.out((p @ v).transpose(1, 2).flatten(2))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
            self.inner, self.cross = Attention(width), Attention(768)
            self.up, self.down = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

        def forward(self, x, context):
            y = self.norms[0](x)
            x = x + self.inner(y, y)
            x = x + self.cross(self.norms[1](x), context)
            a, gate = self.up(self.norms[2](x)).chunk(2, dim=-1)
            return x + self.down(a * nn.functional.gelu(gate))

    class UNetBlock(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(nn.GroupNorm(32, width, eps=1e-6) for _ in range(3))
            self.convolutions = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
            self.time, self.into, self.out_of = nn.Linear(1280, width), nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))

        def forward(self, x, time, context):
            y = self.convolutions[0](nn.functional.silu(self.norms[0](x))) + self.time(nn.functional.silu(time))[:, :, None, None]
            x = x + self.convolutions[1](nn.functional.silu(self.norms[1](y)))
            y = self.into(self.norms[2](x)).flatten(2).transpose(1, 2)
            for block in self.blocks:
                y = block(y, context)
            return x + self.out_of(y.transpose(1, 2).unflatten(2, (32, 32)))

    return UNetBlock().eval()


def sizes(layers, width, words):
    """What most configurations call their sizes: heads of 64, feed-forward of 2.75 times the width as Llama has it."""
    return dict(vocab_size=words, hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 64, intermediate_size=width * 11 // 4, max_position_embeddings=4096)


def grouped(layers, width, words):
    return dict(sizes(layers, width, words), num_key_value_heads=max(1, width // 256))


# Name: the model's class, its configuration.
MODELS = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", grouped),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", lambda *args: dict(grouped(*args), head_dim=64)),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", lambda *args: dict(grouped(*args), head_dim=64, sliding_window=1024)),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", lambda *args: dict(grouped(*args), pad_token_id=0)),
    "gpt-neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", sizes),
    "bert": ("BertModel", "BertConfig", sizes),
    "modernbert": ("ModernBertModel", "ModernBertConfig", lambda *args: dict(sizes(*args), pad_token_id=0)),
    "t5": ("T5ForConditionalGeneration", "T5Config",
           lambda layers, width, words: dict(vocab_size=words, d_model=width, d_kv=64, d_ff=width * 11 // 4, num_layers=layers // 2, num_decoder_layers=layers - layers // 2,
                                             num_heads=width // 64, decoder_start_token_id=0, feed_forward_proj="gated-gelu")),
    "vit": ("ViTModel", "ViTConfig",
            lambda layers, width, words: dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 64, intermediate_size=width * 4, image_size=224, patch_size=16)),
    "unet": None,  # written out here
}


def build(name, layers, width, words):
    import torch
    import transformers

    torch.manual_seed(0)
    if name == "unet":
        return unet_block(layers, width)
    model_class, config_class, make = MODELS[name]
    config = getattr(transformers, config_class)(**make(layers, width, words))
    config._attn_implementation = "eager"
    config.use_cache = False
    model = getattr(transformers, model_class)(config).eval()

    class Positional(torch.nn.Module):
        """Ids or pixels in, one tensor out."""

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *inputs):
            names = {1: ["pixel_values"] if name == "vit" else ["input_ids"], 2: ["input_ids", "decoder_input_ids" if name == "t5" else "attention_mask"]}[len(inputs)]
            out = self.model(**dict(zip(names, inputs)), return_dict=True)
            return out.logits if hasattr(out, "logits") else out.last_hidden_state

    return Positional()


def inputs(name, width, words):
    import torch

    if name == "vit":
        return (torch.zeros(1, 3, 224, 224),), None
    if name == "unet":
        return (torch.zeros(1, width, 32, 32), torch.zeros(1, 1280), torch.zeros(1, 77, 768)), None
    ids = torch.randint(0, words, (2, 16))
    names = ["input_ids", "decoder_input_ids"] if name == "t5" else ["input_ids", "attention_mask"]
    second = ids.clone() if name == "t5" else torch.ones_like(ids)
    return (ids, second), names


def export(name, layers, width, words, how, folder):
    """Gives the file, or the exporter's complaint."""
    import torch

    kind, opset = re.fullmatch(r"(ts|dynamo)(\d+)", how).groups()
    path = folder / "model.onnx"
    model = build(name, layers, width, words)
    given, names = inputs(name, width, words)
    open_axes = {"dynamo": {}, "ts": {}}[kind]
    if names and kind == "dynamo":
        batch, length = torch.export.Dim("batch", min=1, max=64), torch.export.Dim("sequence", min=2, max=4096)
        second = torch.export.Dim("target", min=2, max=4096) if name == "t5" else length
        open_axes = {"dynamic_shapes": (({0: batch, 1: length}, {0: batch, 1: second}),)}
    elif names:
        open_axes = {"input_names": names, "dynamic_axes": {n: {0: "batch", 1: "target" if n.startswith("decoder") else "sequence"} for n in names}}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        stdout, sys.stdout = sys.stdout, sys.stderr
        try:
            torch.onnx.export(model, given, str(path), dynamo=kind == "dynamo", opset_version=int(opset), verbose=False, **({"external_data": True} if kind == "dynamo" else {}), **open_axes)
        except Exception as error:
            return None, (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
        finally:
            sys.stdout = stdout
    return path, None


PASS = re.compile(r"^\s*([\d.]+) \(\s*[\d.]+%\)\s+(?:([\d.]+) \(\s*[\d.]+%\)\s+)?(.*)$")


def measure(fovea, path, limit):
    """Compiles to the `graph` stage."""
    folder = path.parent
    start = time.monotonic()
    try:
        done = subprocess.run([str(fovea), "compile", str(path), "--emit=graph", "-o", str(folder / "graph.mlir"), f"--report={folder / 'report.json'}", "--mlir-timing", "--mlir-timing-display=list"],
                              capture_output=True, text=True, timeout=limit, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {limit} s"}
    wall = time.monotonic() - start
    if done.returncode:
        return {"error": next((line for line in done.stderr.splitlines() if "error" in line), f"exit code {done.returncode}")[:160]}
    times = {}
    for line in done.stderr.splitlines():
        if match := PASS.match(line):
            times[match[3].strip()] = times.get(match[3].strip(), 0) + float(match[2] or match[1])
    passes = {name: seconds for name, seconds in times.items() if name.endswith("Pass") or name in ("Canonicalizer", "CSE")}
    slowest = max(passes, key=passes.get)
    entries = json.loads((folder / "report.json").read_text())["attention"]
    size = sum(file.stat().st_size for file in folder.iterdir() if file.name not in ("graph.mlir", "report.json"))
    return {"passes": sum(passes.values()), "slowest": [slowest, passes[slowest]], "raise-attention": passes.get("RaiseAttentionPass", 0), "wall": wall, "file": size,
            "fused": sum(entry["status"] == "fused" for entry in entries), "not-fused": sum(entry["status"] != "fused" for entry in entries), "all": passes}


def peak_memory(fovea, path):
    """Peak resident bytes of a compiler that reads the file and makes its graph, in a process of its own."""
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)")
    return int(subprocess.run([sys.executable, "-c", code, str(fovea), "compile", str(path), "--emit=graph", "-o", str(path.parent / "graph.mlir")], capture_output=True, text=True).stdout)


def run_one(name, layers, width, how, options):
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        # The exporter's memory must not be this process's.
        code = subprocess.run([sys.executable, __file__, "--export-only", str(folder), "--model", name, "--layers", str(layers), "--width", str(width), "--words", str(options.words), "--export", how],
                              capture_output=True, text=True)
        path = folder / "model.onnx"
        row = {"model": name, "layers": layers, "width": width, "export": how}
        if code.returncode or not path.exists():
            text = (code.stdout.strip().splitlines() or code.stderr.strip().splitlines() or ["no file"])[-1]
            return {**row, "error": "cannot be exported: " + text}
        row.update(measure(options.fovea, path, options.limit))
        if "error" not in row:
            row["memory"] = peak_memory(options.fovea, path)
        return row


def describe(row):
    title = f"{row['model']:<11} {row['layers']:>3} x {row['width']:<5} {row['export']:<9}"
    if "error" in row:
        return f"{title} {row['error']}"
    return (f"{title} {row['passes']:7.2f} s  {row['slowest'][0]} {row['slowest'][1]:.2f} s  report {max(0, row['wall'] - row['passes']):.2f} s  "
            f"memory {row['memory'] / row['file']:.2f} of {row['file'] / 2**20:.0f} MiB  {row['fused']} fused, {row['not-fused']} not")


def draw(rows, path):
    """Seconds over depth, a line for each model and width; plain SVG, as this needs no more."""
    rows = [row for row in rows if "error" not in row]
    if not rows:
        return
    width, height, left, bottom = 720, 420, 60, 40
    deepest, longest = max(row["layers"] for row in rows), max(row["passes"] for row in rows) or 1
    x = lambda layers: left + (width - left - 150) * layers / deepest
    y = lambda seconds: height - bottom - (height - bottom - 20) * seconds / longest
    colours = ["#1b6ca8", "#c8553d", "#2a9d8f", "#8a5a9e", "#c99700", "#555555", "#5b8c2a", "#b0306a"]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<path d="M{left} 20V{height - bottom}H{width - 150}" fill="none" stroke="#000"/>',
             f'<text x="{left}" y="14">seconds in the passes of graph</text><text x="{width - 240}" y="{height - 8}">layers</text>']
    for tick in range(5):
        seconds = longest * tick / 4
        parts.append(f'<text x="{left - 6}" y="{y(seconds) + 4:.1f}" text-anchor="end">{seconds:.2g}</text><path d="M{left} {y(seconds):.1f}H{width - 150}" stroke="#ddd"/>')
    for layers in sorted({row["layers"] for row in rows}):
        parts.append(f'<text x="{x(layers):.1f}" y="{height - bottom + 16}" text-anchor="middle">{layers}</text>')
    curves = {}
    for row in rows:
        curves.setdefault((row["model"], row["width"], row["export"]), []).append(row)
    for number, (key, points) in enumerate(sorted(curves.items())):
        points.sort(key=lambda row: row["layers"])
        colour = colours[number % len(colours)]
        line = " ".join(f"{x(row['layers']):.1f},{y(row['passes']):.1f}" for row in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x(row["layers"]):.1f}" cy="{y(row["passes"]):.1f}" r="2.5" fill="{colour}"/>' for row in points]
        parts.append(f'<text x="{width - 145}" y="{30 + 15 * number}" fill="{colour}">{key[0]} {key[1]} {key[2]}</text>')
    pathlib.Path(path).write_text("\n".join(parts + ["</svg>"]) + "\n")


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description="Times raising on exported transformers.")
    parser.add_argument("--model", action="append", choices=sorted(MODELS), help="without it all")
    parser.add_argument("--layers", type=numbers, default=[4, 22])
    parser.add_argument("--width", type=numbers, default=[2048])
    parser.add_argument("--words", type=int, default=32000, help="size of the vocabulary")
    parser.add_argument("--export", action="append", help=f"exporter and opset, of {', '.join(EXPORTS)} and the like; without it these")
    parser.add_argument("--fovea", type=pathlib.Path, default=ROOT / "build/bin/fovea")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/bench-models", help="where files are made, and removed")
    parser.add_argument("--limit", type=int, default=600, help="seconds after which a compilation is stopped")
    parser.add_argument("--out", type=pathlib.Path, help="all measurements as JSON")
    parser.add_argument("--svg", type=pathlib.Path, help="a drawing of seconds over depth")
    parser.add_argument("--export-only", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.export_only:
        path, why = export(options.model[0], options.layers[0], options.width[0], options.words, options.export[0], options.export_only)
        if not path:
            print(why)
        sys.exit(0 if path else 1)
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in options.model or list(MODELS):
        for how in options.export or EXPORTS:
            for width in options.width:
                for layers in options.layers:
                    rows.append(run_one(name, layers, width, how, options))
                    print(describe(rows[-1]), flush=True)
    if options.out:
        options.out.write_text(json.dumps({"processors": os.cpu_count(), "rows": rows}, indent=1) + "\n")
    if options.svg:
        draw(rows, options.svg)


if __name__ == "__main__":
    main()
