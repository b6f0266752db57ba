# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of scripts/bench as a picture: a group for each case (of several counts of threads: for each of them), a
bar for each program, as long as it is fast beside the fastest of the group, with its time behind it.

Times of one group differ by ten times and more, and those of groups by thousands: so bars are of speeds, each group's
longest is full, and no bar grows out of the picture.
"""
import re
import textwrap

COLOURS = {"fovea": "#d9480f", "fovea.": "#f3a77d", "": "#8fa3b8"}  # Fovea, its other forms, others
FONTS = ["DejaVu Sans", "Verdana", "Arial"]
ROW = 0.21  # inches of a bar with its share of space


def library():
    """matplotlib, told to draw into files alone."""
    import matplotlib
    matplotlib.use("Agg")
    return matplotlib


def milliseconds(seconds):
    value = seconds * 1e3
    return f"{value:,.0f} ms" if value >= 100 else f"{value:#.3g} ms"


def name_of(*words):
    """For an element of the picture, by which a test or a style sheet finds it."""
    return re.sub(r"[^\w.]+", "-", " ".join(words))


def colour(program):
    return COLOURS["fovea" if program == "fovea" else "fovea." if program.startswith("fovea.") else ""]


def groups(result):
    """[(title, [(program, seconds, speed beside the fastest)]), ...], the fastest first."""
    found = []
    for record in result["cases"]:
        times = {name: float(program["seconds"]) for name, program in record.get("programs", {}).items()}
        if not times:
            continue
        title = record["case"]
        if "threads" in record:
            title += f", {record['threads']} thread{'s' if record['threads'] > 1 else ''}"
        best = min(times.values())
        found.append((title, [(name, times[name], best / times[name]) for name in sorted(times, key=times.get)]))
    return found


def heading(result):
    """Lines that say under what conditions."""
    threads = result["threads"] if isinstance(result["threads"], list) else [result["threads"]]
    counted = "1 thread" if threads == [1] else f"{' and '.join(map(str, threads))} threads"
    where = [result["processor"], counted, result["dtype"], result.get("date")]
    named = {**({"fovea": result["fovea"]} if "fovea" in result else {}), **result["versions"]}
    space = "\N{NO-BREAK SPACE}"  # until the lines are broken
    versions = ", ".join(f"{name} {version}".replace(" ", space) for name, version in named.items())
    return ["Time of one run, of decode one token; longer bars are faster", ", ".join(filter(None, where)),
            *(line.replace(space, " ") for line in textwrap.wrap(versions, 110, break_on_hyphens=False))]


def content(result):
    """The heading and the groups. Refuses what is no result of scripts/bench, or has nothing to draw."""
    try:
        lines, shown = heading(result), groups(result)
    except (AttributeError, KeyError, TypeError, ZeroDivisionError):
        raise ValueError("these are no measurements of scripts/bench") from None
    if not shown:
        raise ValueError("there is no case with programs to draw")
    return lines, shown


def figure(result):
    from matplotlib.figure import Figure
    lines, shown = content(result)
    rows = sum(len(bars) + 1.6 for _, bars in shown)
    above, below = 0.2 + 0.19 * len(lines), 0.5
    height = above + below + ROW * rows
    picture = Figure(figsize=(8.4, height))
    axes = picture.add_axes([0.19, below / height, 0.7, ROW * rows / height])
    y, ticks, names = 0.0, [], []
    for name, bars in shown:
        axes.text(0, y + 0.65, name, fontsize=9, fontweight="bold", va="center", gid=name_of("case", name))
        y += 1.5
        for program, seconds, speed in bars:
            bar, = axes.barh(y, speed, 0.78, color=colour(program))
            bar.set_gid(name_of("bar", name, program))
            axes.text(speed + 0.008, y, milliseconds(seconds), fontsize=8, va="center")
            ticks.append(y)
            names.append(program)
            y += 1
        y += 0.1
    axes.set_yticks(ticks, names, fontsize=8)
    for label, program in zip(axes.get_yticklabels(), names):
        label.set_color(COLOURS["fovea"] if program == "fovea" else "black")
    axes.set_ylim(rows, 0)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "¼", "½", "¾", "1"], fontsize=8)
    axes.set_xlabel("speed, the fastest program of each case as 1", fontsize=8)
    axes.grid(axis="x", color="#e3e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    for index, line in enumerate(lines):
        picture.text(0.02, 1 - (0.19 + 0.19 * index) / height, line, fontsize=10 if index == 0 else 8,
                     fontweight="bold" if index == 0 else "normal")
    return picture


def draw(result, path):
    """Writes the picture; the same bytes for the same result."""
    how = {"svg.fonttype": "none", "svg.hashsalt": "fovea", "font.family": "sans-serif", "font.sans-serif": FONTS}
    with library().rc_context(how):
        figure(result).savefig(path, format="svg", metadata={"Date": None})
