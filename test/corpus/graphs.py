# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says whether two models are the same graph of operators, whatever their names, weights, attributes and order: a hash of each node over its operator and those of what it reads.

What is computed from constants alone counts as a constant, so that two spellings of one number are no two graphs.
"""
import collections
import hashlib
import re


def short(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def hash_of(graph):
    """Equal for two models whose nodes are the same operators on the same nodes, inputs and constants."""
    known = {value.name: "input" for value in graph.input}
    known |= {tensor.name: "constant" for tensor in graph.initializer}
    nodes = []
    for node in graph.node:
        reads = [known.get(name, "absent") for name in node.input]
        inner = [hash_of(attribute.g) for attribute in node.attribute if attribute.HasField("g")]
        if not inner and all(read in ("constant", "absent") for read in reads):
            found = "constant"
        else:
            found = short(node.op_type, *reads, *inner)
            nodes.append(found)
        for place, name in enumerate(node.output):
            known[name] = found if found == "constant" or not place else short(found, str(place))
    return short(*sorted(nodes), *(known.get(value.name, "absent") for value in graph.output))


def hash_of_text(text):
    """The same for a program in MLIR's text: its ops in order, the signatures left out."""
    code = re.sub(r"//.*", "", text)
    return short(*re.findall(r"\b(?:linalg|arith|math|tensor|fovea)\.\w+", code), *re.findall(r"affine_map<[^>]*>>?", code))


def summary(cases):
    """A table of what the corpus holds."""
    rows = [("positive", [case for case in cases if case["masks"]]), ("negative", [case for case in cases if case.get("negative")])]
    lines = []
    for name, some in rows:
        models = [model for case in some for model in case["models"]]
        graphs = collections.Counter(model["graph"] for model in models)
        lines.append(f"{name}: {len(some)} programs with {sum(len(case['masks']) for case in some)} attentions, {len(models)} models, {len(graphs)} distinct operator graphs")
    return "\n".join(lines)
