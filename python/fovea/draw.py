# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fovea draw`: fovea.plot on the command line."""
import argparse
import json
import os
import pathlib
import sys

from . import errors

EPILOG = """Examples:

  fovea draw attention examples/models/shakespeare-llama --text "ROMEO: I love thee" --layer 3
  fovea draw positions model.onnx --length 128 -o positions.png
  fovea draw masks model.onnx --input 'digits=[[7, 8, 9]]' --input 'mask=[[0, 0, 0], [1, 0, 0], [1, 1, 0]]' --block 1 1
  fovea bench model.fovea --json | fovea draw roofline - -o roofline.svg
  fovea draw curves training.log --value loss
"""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"fovea: error: draw: {message}\nsee {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def parse_input(text):
    """NAME=VALUE, the value a list of lists of numbers, true or false."""
    name, found, value = text.partition("=")
    try:
        if not (name and found):
            raise ValueError
        return name, json.loads(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expects NAME=[[1, 2], ...], got '{text}'") from None


def at_least_one(text):
    try:
        if int(text) < 1:
            raise ValueError
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expects a number from 1, got '{text}'") from None


def make_parser():
    parser = Parser(prog="fovea draw", description="Draw positions, attention maps, masks, a roofline or learning curves, as SVG, PNG or PDF", epilog=EPILOG,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", metavar="WHAT", required=True, parser_class=Parser)

    def add(name, about, source, help):
        kind = kinds.add_parser(name, help=about, description=about, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        kind.add_argument(source, nargs="+" if source == "logs" else None, help=help)
        kind.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, help="the picture, .svg, .png or .pdf (without it WHAT.svg)", default=argparse.SUPPRESS)
        kind.add_argument("--dpi", type=at_least_one, default=150, help="of a .png")
        return kind

    def add_model(name, about):
        kind = add(name, about, "model", "a model's folder, .gguf, .onnx or .mlir file, which is compiled and kept, or an artifact that was compiled with --probe")
        inputs = kind.add_mutually_exclusive_group()
        inputs.add_argument("--text", help="what the model reads")
        inputs.add_argument("--input", action="append", metavar="NAME=VALUE", type=parse_input, help="an argument of the model", default=argparse.SUPPRESS)
        kind.add_argument("--compute", choices=["auto", "f32", "bf16", "int8"], default="auto", help="what linears multiply, as of fovea compile")
        return kind

    def add_length(kind):
        kind.add_argument("--length", type=at_least_one, default=64, help="tokens, where neither --text nor --input says them")
        kind.add_argument("--which", default="0", metavar="N|NAME", help="of those that differ")

    positions = add_model("positions", "Positional encodings as a heat map")
    add_length(positions)
    positions.add_argument("--head", type=int, default=0, help="of biases of scores")
    attention = add_model("attention", "The probabilities of each head of an attention for a text")
    attention.add_argument("--layer", default="0", metavar="N|NAME", help="which attention, -1: the last")
    attention.add_argument("--heads", type=int, nargs="+", help="their numbers; without it all")
    masks = add_model("masks", "A mask as tiles: full, partial, empty")
    add_length(masks)
    masks.add_argument("--head", type=int, default=0, help="of masks that are not the same for all heads")
    masks.add_argument("--block", type=at_least_one, nargs=2, default=[8, 8], metavar=("QUERIES", "KEYS"), help="size of a tile")
    roofline = add("roofline", "Kernels under the machine's limits", "measured", "what `fovea bench --json` printed (-: standard input)")
    roofline.add_argument("--phase", action="append", help="of those measured: prefill, decode, forward; without it all", default=argparse.SUPPRESS)
    curves = add("curves", "Learning curves", "logs", "logs of a training: .json, .jsonl, .csv, .tsv, or text as in 'step 10: loss 2.3'")
    curves.add_argument("--value", action="append", help="what to draw; without it all with loss in their name", default=argparse.SUPPRESS)
    return parser


def as_choice(text):
    try:
        return int(text)
    except ValueError:
        return text


def open_model(path, compute):
    from .compilation import compile
    from .model import load

    if path.endswith(".fovea"):
        return load(path)
    return compile(path, compute=None if compute == "auto" else compute)


def draw(options):
    """Any axes of the picture."""
    from . import plot

    if options.kind == "roofline":
        measured = options.measured
        if measured == "-":
            measured = plot.parse_json(sys.stdin.read(), "standard input", "what `fovea bench --json` prints")
        return plot.roofline(measured, phases=getattr(options, "phase", None))
    if options.kind == "curves":
        return plot.learning_curves(*options.logs, values=getattr(options, "value", None))
    plot.pyplot()  # before anything is compiled
    model = open_model(options.model, options.compute)
    named = dict(getattr(options, "input", []))
    values = () if options.text is None else (options.text,)
    if named:
        # By their order: an argument may be called as one of plot's.
        names = [argument["name"] for argument in model._probe_entry(options.kind).arguments]
        if sorted(named) != sorted(names):
            raise errors.InputError(f"--input: expects {', '.join(names)}, got {', '.join(named)}")
        values = [named[name] for name in names]
    if options.kind == "attention":
        return plot.attention(model, *values, layer=as_choice(options.layer), heads=options.heads)[0]
    if options.kind == "masks":
        return plot.masks(model, *values, length=options.length, which=as_choice(options.which), head=options.head, block=tuple(options.block))
    return plot.positions(model, *values, length=options.length, which=as_choice(options.which), head=options.head)


def save(figure, path, dpi):
    """Whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        # The same picture is the same file.
        figure.savefig(part, format=path.suffix[1:], dpi=dpi, metadata={} if path.suffix == ".png" else {"Date" if path.suffix == ".svg" else "CreationDate": None})
        os.replace(part, path)
    except OSError as error:
        raise errors.InputError(f"{path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def main(arguments):
    options = make_parser().parse_args(arguments)
    path = getattr(options, "output", pathlib.Path(f"{options.kind}.svg"))
    try:
        if path.suffix not in (".svg", ".png", ".pdf"):
            raise errors.InputError(f"{path}: expects a name that ends with .svg, .png or .pdf")
        os.environ["MPLBACKEND"] = "agg"
        axes = draw(options)
        import matplotlib

        matplotlib.rcParams["svg.hashsalt"] = "fovea"
        save(axes.figure, path, options.dpi)
    except errors.InternalError as error:
        print(f"fovea: error: draw: {error}", file=sys.stderr)
        return 70
    except errors.Error as error:
        print(f"fovea: error: draw: {error}", file=sys.stderr)
        return 1
    print(path)
    return 0
