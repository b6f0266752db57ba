# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of models, by matplotlib (pip install 'fovea[plot]'). Each function draws into the `axes` that it is given, or into those of a new figure, and gives them back.

    fovea.plot.attention(model, "ROMEO: I love thee", layer=3)
    matplotlib.pyplot.show()

What is drawn is the model's own: fovea.Model.probe compiles an entry that gives it. `fovea draw` does the same on the command line.
"""
import csv
import json
import os
import pathlib
import re

import numpy as np

from . import errors

EMPTY, PARTIAL, FULL = range(3)
# Of what takes no time nobody can read the place.
LEAST_SHARE = 0.005


def pyplot():
    try:
        import matplotlib.pyplot
    except ImportError:
        raise errors.InputError("fovea.plot draws by matplotlib, which is not installed: pip install 'fovea[plot]'") from None
    return matplotlib.pyplot


def one_axes(axes, size):
    return axes if axes is not None else pyplot().subplots(figsize=size, layout="constrained")[1]


def group_equal(arrays):
    """The arrays that differ, each with the names that have it: layers often share positions and masks."""
    groups = []
    for name, array in arrays.items():
        found = next((names for names, other in groups if other.shape == array.shape and np.array_equal(other, array)), None)
        if found is None:
            groups.append(([name], array))
        else:
            found.append(name)
    return groups


def choose(arrays, which, what):
    """A name and its array, by name or number."""
    names = list(arrays)
    if isinstance(which, str) and which in arrays:
        return which, arrays[which]
    if isinstance(which, (int, np.integer)) and -len(names) <= which < len(names):
        return names[which], arrays[names[which]]
    raise errors.InputError(f"{what}: expects a number from 0 to {len(names) - 1} or one of {', '.join(names)}, got {which!r}")


def plain(text):
    """Not as mathematics."""
    return text.replace("$", r"\$")


def title_of(model):
    return plain(model.name or model.path.stem)


def name_group(names):
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} equal to it"


def make_up(entry, length):
    """Arguments of one row of `length` tokens: token 0, their positions in order, and ones where a mask says which tokens there are."""
    # What the open size of rows is called, the token ids say.
    rows = {argument["shape"][0] for argument in entry.arguments if argument["role"] == "token_ids" and argument["shape"]} | {"batch", "batch_size", "N"}
    values = {}
    for argument in entry.arguments:
        shape = [size if isinstance(size, int) and size >= 0 else 1 if size in rows else length for size in argument["shape"]]
        if argument["role"] == "positions" or argument["name"] == "position_ids":
            value = np.broadcast_to(np.arange(shape[-1]), shape)
        else:
            value = np.full(shape, 1 if argument["role"] == "attention_mask" or "mask" in argument["name"] else 0)
        # A list becomes what the argument wants, also where numpy has no such type.
        values[argument["name"]] = value.tolist()
    return values


def see(model, kind, length, values, named):
    """What Model.probe gives for these arguments, or for made up ones of that length: arrays of numpy, whatever the arguments are."""
    if not values and not named:
        if length < 1:
            raise errors.InputError(f"length: expects a number from 1, got {length}")
        named = make_up(model._probe_entry(kind), length)
    found = model.probe(kind, *values, **named)
    return {name: array if isinstance(array, np.ndarray) else array.detach().cpu().float().numpy() for name, array in found.items()}


def positions(model, *values, length=64, which=0, head=0, axes=None, **named):
    """Positional encodings as a heat map, positions downwards: what is added to token vectors, or the cosines and sines by which rotary embeddings turn a head's pairs; of
    ALiBi, T5 and other biases what one head's scores get, keys to the right.

    Args:
        values, named: what the model takes, or a text; none: made up, `length` positions long.
        which: of those that differ, by number or name.
        head: of biases.
    """
    found = {names[0]: (names, array) for names, array in group_equal(see(model, "positions", length, values, named))}
    _, (names, array) = choose(found, which, "which")
    title = f"{title_of(model)}: {name_group(names)}"
    if names[0].startswith("bias"):
        check_head(head, array)
        rows, labels = array[0, head], {"xlabel": "key", "ylabel": "query", "title": f"{title}, head {head}"}
    elif names[0].startswith("rotary"):
        rows, labels = array[0, :, 0], {"xlabel": "cosines and sines of a head's elements", "ylabel": "position", "title": title}
    else:
        rows, labels = array.reshape(-1, *array.shape[-2:])[0], {"xlabel": "element", "ylabel": "position", "title": title}
    axes = one_axes(axes, (7, 4.5))
    # A few elements of learned vectors are far from all others.
    most = float(np.percentile(np.abs(rows[np.isfinite(rows)]), 99)) or 1.0
    image = axes.imshow(rows, aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most, interpolation="nearest")
    axes.figure.colorbar(image, ax=axes, extend="both" if np.abs(rows).max() > 1.001 * most else "neither")
    axes.set(**labels)
    return axes


def check_head(head, array):
    if not 0 <= head < array.shape[1]:
        raise errors.InputError(f"head: expects a number from 0 to {array.shape[1] - 1}, got {head}")


def name_tokens(model, text):
    """The tokens of a text as people read them."""
    ids, *_ = model._module.encode_texts([text], 0)
    texts = [model._module.decode([i]) for i in ids]
    # Special tokens have no text.
    return [plain(text).strip() or text.replace("\n", "\\n").replace(" ", "_") or f"<{i}>" for i, text in zip(ids, texts)]


def attention(model, *values, layer=0, heads=None, axes=None, **named):
    """What each head of one attention looks at: probabilities, queries downwards and keys to the right. Gives an array of axes.

    Args:
        values, named: a text, whose tokens are written at the edges, or what the model takes.
        layer: the attention, by its number in the program (-1: the last) or its name, "attention_3".
        heads: their numbers; None: all.
        axes: as many as heads.
    """
    if not values and not named:
        raise errors.InputError("attention: expects a text or the model's arguments, got none")
    name, maps = choose(see(model, "attention", 0, values, named), layer, "layer")
    heads = range(maps.shape[1]) if heads is None else [heads] if isinstance(heads, int) else list(heads)
    if not heads or (wrong := [head for head in heads if not 0 <= head < maps.shape[1]]):
        raise errors.InputError(f"heads: expects numbers from 0 to {maps.shape[1] - 1}, got {wrong[0] if heads else 'none'}")
    if axes is None:
        columns = min(len(heads), 4)
        rows = -(-len(heads) // columns)
        figure, grid = pyplot().subplots(rows, columns, figsize=(2.9 * columns + 0.6, 2.9 * rows + 0.4), squeeze=False, layout="constrained")
        figure.suptitle(f"{title_of(model)}: {name}")
        axes = grid.ravel()
        for unused in axes[len(heads):]:
            unused.remove()
        axes = axes[:len(heads)]
    axes = np.ravel(axes)
    if len(axes) != len(heads):
        raise errors.InputError(f"axes: expects one for each of {len(heads)} heads, got {len(axes)}")
    tokens = name_tokens(model, values[0]) if values and isinstance(values[0], str) else None
    for head, each in zip(heads, axes):
        image = each.imshow(maps[0, head], cmap="viridis", vmin=0, vmax=1, interpolation="nearest")
        each.set_title(f"head {head}", fontsize="small")
        if tokens and maps.shape[2:] == (len(tokens), len(tokens)) and len(tokens) <= 40:
            each.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize="x-small")
            is_first = each.get_subplotspec() is None or each.get_subplotspec().is_first_col()
            each.set_yticks(range(len(tokens)), tokens if is_first else [""] * len(tokens), fontsize="x-small")
    axes[0].figure.colorbar(image, ax=list(axes), shrink=0.7, label="probability")
    return axes


def classify_tiles(mask, block):
    """For each block of [queries, keys] whether none of it is seen (0), some (1) or all (2)."""
    rows, columns = block
    tiles = np.empty((-(-mask.shape[0] // rows), -(-mask.shape[1] // columns)), np.int64)
    for i, j in np.ndindex(*tiles.shape):
        tile = mask[i * rows:(i + 1) * rows, j * columns:(j + 1) * columns]
        tiles[i, j] = FULL if tile.all() else PARTIAL if tile.any() else EMPTY
    return tiles


def masks(model, *values, length=64, which=0, head=0, block=(8, 8), axes=None, **named):
    """A mask as tiles, queries downwards and keys to the right: a kernel computes full tiles without asking the mask, asks it in partial ones, and leaves empty ones out.

    Args:
        values, named: what the model takes, or a text; none: made up, `length` tokens that are all there.
        which: of the masks that differ, by number or name.
        head: of masks that are not the same for all heads.
        block: queries and keys of a tile.
    """
    if len(block) != 2 or min(block) < 1:
        raise errors.InputError(f"block: expects the queries and keys of a tile, two numbers from 1, got {block}")
    found = {names[0]: (names, array) for names, array in group_equal(see(model, "masks", length, values, named))}
    _, (names, mask) = choose(found, which, "which")
    check_head(head, mask)
    tiles = classify_tiles(mask[0, head], block)
    plt = pyplot()
    axes = one_axes(axes, (5.2, 5.4))
    colours = plt.matplotlib.colors.ListedColormap(["#f2f2f2", "#f4a259", "#2b6cb0"])
    queries, keys = mask.shape[2:]
    axes.pcolormesh(np.minimum(np.arange(tiles.shape[1] + 1) * block[1], keys), np.minimum(np.arange(tiles.shape[0] + 1) * block[0], queries), tiles,
                    cmap=colours, vmin=0, vmax=2, edgecolors="white", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    patches = [plt.matplotlib.patches.Patch(color=colours(kind), label=f"{label}, {100 * np.mean(tiles == kind):.0f} %")
               for kind, label in ((FULL, "full"), (PARTIAL, "partial"), (EMPTY, "empty"))]
    axes.legend(handles=patches, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3, frameon=False)
    axes.set(title=f"{title_of(model)}: {name_group(names)}", xlabel="key", ylabel="query")
    return axes


def read_text(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError as error:
        raise errors.InputError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise errors.InputError(f"{path}: expects text, got bytes that are no UTF-8") from None


def parse_json(text, place, what):
    try:
        return json.loads(text)
    except ValueError as error:
        raise errors.InputError(f"{place}: expects {what}, got no JSON: {error}") from None


def roofline(measured, *, phases=None, axes=None):
    """Kernels under the machine's roofs (Williams et al. 2009): operations for each byte to the right, operations a second upwards, areas by share of time.

    Args:
        measured: what `fovea bench --json` printed, as a dictionary or its file; with the machine's limits, which --no-peaks leaves out.
        phases: of those measured ("prefill", "decode", "forward", ...); None: all.

    Kernels that multiply nothing have no place there; the legend says what share of the time they are. Those that multiply bf16 or bytes may be above the roof of f32,
    and those whose weights stay in the processor's caches above that of memory.
    """
    if not isinstance(measured, dict):
        measured = parse_json(read_text(measured), measured, "what `fovea bench --json` prints")
    peaks = measured.get("peaks") if isinstance(measured, dict) else None
    if not peaks or not peaks.get("flops_per_second") or not peaks.get("bytes_per_second"):
        raise errors.InputError("roofline: expects what `fovea bench --json` prints of a processor, with its limits, got none of them (--no-peaks, or a GPU)")
    found = {name: value["kernels"] for name, value in measured.items() if isinstance(value, dict) and isinstance(value.get("kernels"), dict)}
    names = list(found) if phases is None else [phases] if isinstance(phases, str) else list(phases)
    if not names or (missing := [name for name in names if name not in found]):
        raise errors.InputError(f"phases: expects some of {', '.join(found) or 'the phases that were measured'}, got {missing[0] if found else 'none'}")
    axes = one_axes(axes, (7.2, 4.8))
    flops, size = peaks["flops_per_second"] / 1e9, peaks["bytes_per_second"] / 1e9
    spots, colours = [], pyplot().rcParams["axes.prop_cycle"].by_key()["color"]
    for number, name in enumerate(names):
        total = sum(kernel["seconds"] for kernel in found[name].values()) or 1.0
        seen = [(kernel["flops"] / kernel["bytes"], kernel["flops"] / kernel["seconds"] / 1e9, kernel["seconds"] / total, title) for title, kernel in found[name].items()
                if kernel.get("flops", 0) > 0 and kernel.get("bytes", 0) > 0 and kernel["seconds"] > LEAST_SHARE * total]
        share = 1 - sum(spot[2] for spot in seen)
        axes.scatter([spot[0] for spot in seen], [spot[1] for spot in seen], s=[30 + 700 * spot[2] for spot in seen], color=colours[number % len(colours)], alpha=0.65,
                     label=f"{name} ({100 * share:.0f} % of its time not shown)", edgecolors="white", zorder=3)
        spots += seen
    left = min([spot[0] for spot in spots] + [flops / size]) / 3
    right = max([spot[0] for spot in spots] + [flops / size]) * 4
    x = np.geomspace(left, right, 200)
    axes.plot(x, np.minimum(flops, x * size), color="black", linewidth=1.2, zorder=2)
    axes.plot([left, flops / size], [flops, flops], color="black", linewidth=0.8, linestyle=":", zorder=2)
    axes.annotate(f"multiply-adds of f32 in registers, {flops:,.0f} GFLOP/s", (left * 1.1, flops), va="bottom", xytext=(0, 2), textcoords="offset points", fontsize="small")
    axes.annotate(f"reading memory, {size:,.1f} GB/s", (left * 1.1, left * 1.1 * size), rotation=0, va="top", xytext=(8, -4), textcoords="offset points", fontsize="small")
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(None, 1.8 * max([flops] + [spot[1] for spot in spots])), xlabel="operations for each byte of weights, caches and activations", ylabel="GFLOP/s",
             title=f"{measured.get('processor', '')}, {measured.get('threads', '?')} threads")
    label_spots(axes, spots)
    axes.legend(loc="lower right", fontsize="small", frameon=False)
    axes.grid(alpha=0.25, which="both")
    return axes


def label_spots(axes, spots, width=54, height=8):
    """Writes names beside spots (x, y, share, name), each of `width` by `height` points, above those that it would cover."""
    to_points = 72 / axes.figure.dpi
    placed = []
    for (x, y), (_, _, share, name) in sorted(((axes.transData.transform(spot[:2]) * to_points).tolist(), spot) for spot in spots):
        at = y + 6
        for other_x, other_y in sorted(placed, key=lambda each: each[1]):
            if abs(other_x - x) < width and abs(other_y - at) < height:
                at = other_y + height
        placed.append((x, at))
        axes.annotate(f"{name} {100 * share:.0f} %", axes.transData.inverted().transform((x / to_points, y / to_points)), xytext=(7, at - y), textcoords="offset points",
                      fontsize="x-small", zorder=4)


STEPS = ("step", "global_step", "steps", "iteration", "iter", "epoch")
PAIR = re.compile(r"([A-Za-z_][\w./-]*)\s*[=:\s]\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)(?![\w.])")


def read_log(path):
    """Rows of a training's log, each a dictionary of numbers: .json (a list, or `log_history` of a trainer of transformers), .jsonl, .csv, .tsv, or text with pairs as
    "step 10: loss 2.3" or "step=10 loss=2.3"."""
    path = pathlib.Path(path)
    text = read_text(path)
    if path.suffix == ".json":
        rows = parse_json(text, path, "a list of dictionaries, or one under log_history")
        rows = rows.get("log_history") if isinstance(rows, dict) else rows
    elif path.suffix == ".jsonl":
        rows = [parse_json(line, f"{path}:{number}", "a JSON object") for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    elif path.suffix in (".csv", ".tsv"):
        rows = list(csv.DictReader(text.splitlines(), delimiter="\t" if path.suffix == ".tsv" else ","))
    else:
        rows = [dict(PAIR.findall(line)) for line in text.splitlines()]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise errors.InputError(f"{path}: expects a list of dictionaries, or one under log_history")
    return [numbers for row in rows if (numbers := {name: number for name, value in row.items() if name and (number := as_number(value)) is not None})]


def as_number(value):
    try:
        return float(value) if not isinstance(value, bool) else None
    except (TypeError, ValueError):
        return None


def learning_curves(*logs, values=None, axes=None):
    """What a training's logs say of its course: one line for each log and value over the steps. Rows between the evaluations need not have all values.

    Args:
        logs: files (.json, .jsonl, .csv, .tsv, or text with pairs of names and numbers), or lists of dictionaries.
        values: their names; None: those with "loss" in their name, or all if there is none.
    """
    if not logs:
        raise errors.InputError("learning_curves: expects a log, got none")
    axes = one_axes(axes, (7, 4.2))
    step = "row"
    for log in logs:
        is_file = isinstance(log, (str, os.PathLike))
        rows = read_log(log) if is_file else list(log)
        step = max(STEPS, key=lambda name: sum(name in row for row in rows)) if any(name in row for row in rows for name in STEPS) else "row"
        known = list(dict.fromkeys(name for row in rows for name in row if name not in STEPS))
        wanted = [values] if isinstance(values, str) else values or [name for name in known if "loss" in name.lower()] or known
        if missing := [name for name in wanted if name not in known]:
            raise errors.InputError(f"{log if is_file else 'log'}: expects values {missing[0]}, got {', '.join(known) or 'none'}")
        if not wanted:
            raise errors.InputError(f"{log if is_file else 'log'}: expects names and numbers, as in 'step 10: loss 2.3', got none")
        for name in wanted:
            points = [(row.get(step, number), row[name]) for number, row in enumerate(rows) if name in row and (step == "row" or step in row)]
            axes.plot(*zip(*points), label=plain(f"{pathlib.Path(log).stem}: {name}" if is_file and len(logs) > 1 else name))
    axes.set(xlabel=step, title="learning curves")
    axes.legend(frameon=False)
    axes.grid(alpha=0.25)
    return axes
