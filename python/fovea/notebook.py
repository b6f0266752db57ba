# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The HTML form of a model."""
from html import escape


def table(head, rows):
    cells = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td style='text-align:left'>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def describe_entry(entry):
    steps = entry.steps
    total = sum(step.get("seconds", 0) for step in steps)
    head, rows = ["kernel", "what", "schedule"], []
    if total:
        head, steps = head + ["share of time"], sorted(steps, key=lambda step: -step["seconds"])
    for step in steps:
        share = [f"{100 * step['seconds'] / total:.1f} %"] if total else []
        rows.append([step["kernel"], step["description"], "plain loops" if step["is_fallback"] else step["schedule"], *share])
    return f"<details{' open' if total else ''}><summary><code>{escape(repr(entry))}</code>, {len(steps)} kernels</summary>{table(head, rows)}</details>"


def describe(model):
    """Its name, its entries with their kernels, and the kernels' shares of the time that was measured."""
    title = f"<b>{escape(model.name or model.path.name)}</b> {escape(model.architecture)} on {escape(model.device)}, {model.threads} threads"
    return "<div>" + title + "".join(describe_entry(entry) for entry in model.entries.values()) + "</div>"
