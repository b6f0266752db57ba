# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of ATen operators, as AOTAutograd gives them to backends of torch.compile, in ONNX, which the compiler reads.

Parameters and inputs become arguments; sizes that are symbols stay open. torch.onnx.export would do the same in ten times the time, since it traces the graph again.
An operator that is not in the table raises Unsupported, which names it.
"""
import functools
import math
import operator

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
TYPES = {torch.float32: TensorProto.FLOAT, torch.float64: TensorProto.DOUBLE, torch.float16: TensorProto.FLOAT16, torch.bfloat16: TensorProto.BFLOAT16,
         torch.int64: TensorProto.INT64, torch.int32: TensorProto.INT32, torch.int16: TensorProto.INT16, torch.int8: TensorProto.INT8, torch.uint8: TensorProto.UINT8,
         torch.bool: TensorProto.BOOL}


class Unsupported(Exception):
    """The graph has something that the table does not."""

    def __str__(self):
        return f"does not know {super().__str__()}"


class Size:
    """An integer that the graph computes of its arguments' sizes: an ONNX tensor of shape [1]."""

    def __init__(self, name):
        self.name = name


def of(value):
    """What a node's value looks like: a fake tensor, a symbol, a number."""
    return value.meta["val"] if isinstance(value, torch.fx.Node) else value


def is_symbolic(size):
    return isinstance(size, torch.SymInt) and not size.node.expr.is_number


class Writer:
    """Writes one graph."""

    def __init__(self):
        self.nodes, self.initializers, self.inputs = [], [], []
        self.values, self.kept, self.count = {}, {}, 0
        self.numbers = []  # arguments that are integers, each as a tensor [1]
        self.checks = []  # what must be true, nodes, and what is said if it is not: results behind the others

    # Values -----------------------------------------------------------------------------------------------------------------------------------------------

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def emit(self, op, *inputs, outputs=1, **attributes):
        """A node of these values' names; gives the name of its output, or of all of them."""
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array, dtype=None):
        array = np.asarray(array)
        key = (array.dtype.str, array.shape, array.tobytes(), dtype)
        if key not in self.kept:
            name = self.fresh()
            if dtype == torch.bfloat16:
                tensor = helper.make_tensor(name, TensorProto.BFLOAT16, array.shape, array.astype(np.float32).reshape(-1))
            else:
                tensor = numpy_helper.from_array(array, name)
            self.initializers.append(tensor)
            self.kept[key] = name
        return self.kept[key]

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def scalar(self, value, dtype=torch.int64):
        # numpy has no bf16: its numbers as f32.
        kind = np.float32 if dtype == torch.bfloat16 else torch.empty(0, dtype=dtype).numpy().dtype
        return self.constant(np.array(value, kind), dtype)

    def cast(self, name, source, target):
        return name if source == target else self.emit("Cast", name, to=TYPES[target])

    def tensor(self, value, dtype=None):
        """The name of a node's tensor, or of a number's; of type `dtype` if that is given."""
        seen, known = of(value), self.known(value)
        if isinstance(seen, torch.Tensor):
            return self.cast(known, seen.dtype, dtype or seen.dtype)
        if isinstance(known, Size):
            return self.cast(self.emit("Squeeze", known.name, self.integers(0)), torch.int64, dtype or torch.int64)
        return self.scalar(known, dtype or (torch.float32 if isinstance(known, float) else torch.int64))

    def known(self, value):
        """What a node has become, or a number itself."""
        return self.values[value] if isinstance(value, torch.fx.Node) else value

    def size(self, value):
        """The name of a tensor [1] with an integer."""
        known = self.known(value)
        return known.name if isinstance(known, Size) else self.integers(int(known))

    def sizes(self, values):
        """The name of a tensor with these integers, some of which are nodes."""
        numbers = [self.number(value) for value in values]
        if all(number is not None for number in numbers):
            return self.integers(*numbers)
        return self.emit("Concat", *[self.size(value) for value in values], axis=0)

    def number(self, value):
        """An integer if it is known, else None."""
        known = self.known(value)
        return None if isinstance(known, Size) or is_symbolic(known) else int(known)

    def common(self, x, y):
        """Both as tensors of the type that torch computes in, and that type."""
        dtype = torch.result_type(*[1 if isinstance(of(value), torch.SymInt) else of(value) for value in (x, y)])
        return self.tensor(x, dtype), self.tensor(y, dtype), dtype

    # Graphs -----------------------------------------------------------------------------------------------------------------------------------------------

    def read(self, graph, constants):
        """Translates; `constants` are the tensors of placeholders that are no arguments. Gives the names of the placeholders that are, integers last, and what each output
        is: the name of a result, a Size that is one, or an integer or None."""
        arguments = []
        self.placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        for node in self.placeholders:
            seen = node.meta["val"]
            if not isinstance(seen, torch.Tensor):
                continue
            if node.name in constants:
                self.values[node] = self.put(constants[node.name])
            else:
                shape = [str(size.node.expr) if is_symbolic(size) else int(size) for size in seen.shape]
                self.inputs.append(helper.make_tensor_value_info(node.name, TYPES[seen.dtype], shape))
                self.values[node] = node.name
                arguments.append(node.name)
        for node in self.placeholders:
            if isinstance(node.meta["val"], torch.Tensor):
                continue
            try:
                self.values[node] = self.find_size(node.meta["val"])
            except Unsupported:  # a number that is no tensor's size
                self.inputs.append(helper.make_tensor_value_info(node.name, TensorProto.INT64, [1]))
                self.values[node] = Size(node.name)
                self.numbers.append(node.name)
        for node in graph.nodes:
            if node.op == "call_function":
                self.translate(node)
            elif node.op == "get_attr":
                self.values[node] = self.put(getattr(graph.owning_module, node.target))
            elif node.op == "output":
                return arguments + self.numbers, self.finish(node.args[0])
        raise Unsupported("a graph without an output")

    def put(self, tensor):
        tensor = tensor.detach().contiguous()
        if tensor.dtype == torch.bfloat16:
            return self.constant(tensor.float().numpy(), torch.bfloat16)
        return self.constant(tensor.numpy())

    def find_size(self, symbol):
        """A size as an integer, or as arithmetic with the arguments' sizes."""
        return self.evaluate(symbol.node.expr) if is_symbolic(symbol) else int(symbol)

    def evaluate(self, expression):
        if expression.is_number:
            return int(expression)
        for node in self.placeholders:
            seen = node.meta["val"]
            if isinstance(seen, torch.Tensor) and self.values[node] == node.name:
                for axis, size in enumerate(seen.shape):
                    if is_symbolic(size) and size.node.expr == expression:
                        return Size(self.emit("Shape", node.name, start=axis, end=axis + 1))
        op = {"Add": "Add", "Mul": "Mul", "FloorDiv": "Div", "CleanDiv": "Div", "Mod": "Mod", "PythonMod": "Mod", "Max": "Max", "Min": "Min"}.get(type(expression).__name__)
        if op is None:
            raise Unsupported(f"the size {expression}, which no argument has")
        parts = [self.evaluate(part) for part in expression.args]
        names = [part.name if isinstance(part, Size) else self.integers(part) for part in parts]
        return Size(functools.reduce(lambda left, right: self.emit(op, left, right), names))

    def translate(self, node):
        name = node.target.name().partition("::")[2].partition(".")[0] if isinstance(node.target, torch._ops.OpOverload) else node.target
        handler = TABLE.get(name)
        if handler is None:
            raise Unsupported(f"the operator {node.target}")
        seen = node.meta.get("val")
        # What is the same for all arguments is no computation.
        if isinstance(seen, (int, float, bool)) or isinstance(seen, torch.SymInt) and not is_symbolic(seen):
            self.values[node] = int(seen) if isinstance(seen, torch.SymInt) else seen
            return
        self.values[node] = handler(self, node, *node.args, **node.kwargs)

    def finish(self, outputs):
        self.outputs, results, names = [], [], set()
        for value in outputs:
            if not isinstance(value, torch.fx.Node):
                results.append(value)
                continue
            seen = value.meta["val"]
            if not isinstance(seen, torch.Tensor):
                known = self.values[value]
                if isinstance(known, Size):
                    name = self.emit("Identity", known.name)
                    self.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, [1]))
                    known = Size(name)
                results.append(known)
                continue
            name = self.values[value]
            if name in names or any(name == each.name for each in self.inputs + self.initializers):
                name = self.emit("Identity", name)
            names.add(name)
            shape = [str(size.node.expr) if is_symbolic(size) else int(size) for size in seen.shape]
            self.outputs.append(helper.make_tensor_value_info(name, TYPES[seen.dtype], shape))
            results.append(name)
        for node, _ in self.checks:
            name = self.emit("Reshape", self.tensor(node, torch.bool), self.integers(1))
            self.outputs.append(helper.make_tensor_value_info(name, TensorProto.BOOL, [1]))
        return results

    def save(self, path, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.initializers)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9), path)


# Operators ------------------------------------------------------------------------------------------------------------------------------------------------

TABLE = {}


def register(*names):
    def add(function):
        for name in names:
            TABLE[name] = function
        return function

    return add


def unary(name, op):
    TABLE[name] = lambda w, node, x, **_: w.emit(op, w.tensor(x, node.meta["val"].dtype))


for name, op in {"neg": "Neg", "abs": "Abs", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "cos": "Cos", "tanh": "Tanh", "sigmoid": "Sigmoid", "erf": "Erf",
                 "relu": "Relu", "reciprocal": "Reciprocal", "floor": "Floor", "ceil": "Ceil", "round": "Round", "sign": "Sign", "logical_not": "Not"}.items():
    unary(name, op)


@register("rsqrt")
def rsqrt(w, node, x):
    return w.emit("Reciprocal", w.emit("Sqrt", w.tensor(x, node.meta["val"].dtype)))


@register("silu")
def silu(w, node, x):
    x = w.tensor(x)
    return w.emit("Mul", x, w.emit("Sigmoid", x))


@register("gelu")
def gelu(w, node, x, approximate="none"):
    return w.emit("Gelu", w.tensor(x), approximate=approximate)


def binary(name, op):
    def handler(w, node, x, y, **options):
        if isinstance(node.meta["val"], torch.SymInt):
            return Size(w.emit(op, w.size(x), w.size(y)))
        x, y, dtype = w.common(x, y)
        if options.get("alpha", 1) != 1:
            y = w.emit("Mul", y, w.scalar(options["alpha"], dtype))
        return w.cast(w.emit(op, x, y), dtype, node.meta["val"].dtype)

    TABLE[name] = handler


for name, op in {"add": "Add", "sub": "Sub", "mul": "Mul", "maximum": "Max", "minimum": "Min"}.items():
    binary(name, op)
for function, op in {operator.add: "Add", operator.sub: "Sub", operator.mul: "Mul", torch.sym_max: "Max", torch.sym_min: "Min"}.items():
    binary(function, op)


@register("rsub")
def rsub(w, node, x, y, alpha=1):
    return TABLE["sub"](w, node, y, x, alpha=alpha)


@register("div")
def div(w, node, x, y, rounding_mode=None):
    dtype = node.meta["val"].dtype
    x, y = w.tensor(x, dtype), w.tensor(y, dtype)
    if rounding_mode == "floor" and not dtype.is_floating_point:
        x = w.emit("Sub", x, w.emit("Mod", x, y))
    quotient = w.emit("Div", x, y)  # of integers it is cut
    if rounding_mode is None or not dtype.is_floating_point:
        return quotient
    return w.emit("Floor", quotient) if rounding_mode == "floor" else w.emit("Mul", w.emit("Sign", quotient), w.emit("Floor", w.emit("Abs", quotient)))


@register(operator.floordiv)
def floordiv(w, node, x, y):
    # Sizes are not negative.
    return Size(w.emit("Div", w.size(x), w.size(y)))


@register(operator.mod)
def mod(w, node, x, y):
    return Size(w.emit("Mod", w.size(x), w.size(y)))


@register("pow")
def power(w, node, x, y):
    dtype = node.meta["val"].dtype
    if y == 2:
        x = w.tensor(x, dtype)
        return w.emit("Mul", x, x)
    return w.emit("Pow", w.tensor(x, dtype), w.tensor(y, dtype))


def comparison(name, op, negated=False):
    def handler(w, node, x, y):
        x, y, _ = w.common(x, y)
        result = w.emit(op, x, y)
        return w.emit("Not", result) if negated else result

    TABLE[name] = handler


for name, op in {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}.items():
    comparison(name, op)
comparison("ne", "Equal", negated=True)


def logical(name, op):
    def handler(w, node, x, y):
        if node.meta["val"].dtype != torch.bool:
            raise Unsupported(f"{name} of {node.meta['val'].dtype}")
        return w.emit(op, w.tensor(x, torch.bool), w.tensor(y, torch.bool))

    TABLE[name] = handler


for name, op in {"logical_and": "And", "logical_or": "Or", "bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor", "logical_xor": "Xor"}.items():
    logical(name, op)


@register("bitwise_not")
def bitwise_not(w, node, x):
    if node.meta["val"].dtype != torch.bool:
        raise Unsupported(f"bitwise_not of {node.meta['val'].dtype}")
    return w.emit("Not", w.tensor(x))


@register("where")
def where(w, node, condition, x, y):
    dtype = node.meta["val"].dtype
    return w.emit("Where", w.tensor(condition, torch.bool), w.tensor(x, dtype), w.tensor(y, dtype))


@register("masked_fill")
def masked_fill(w, node, x, mask, value):
    return where(w, node, mask, value, x)


@register("clamp", "hardtanh")
def clamp(w, node, x, low=None, high=None):
    dtype = node.meta["val"].dtype
    x = w.tensor(x, dtype)
    for op, bound in (("Max", low), ("Min", high)):
        if bound is not None:
            x = w.emit(op, x, w.tensor(bound, dtype))
    return x


@register("clamp_min")
def clamp_min(w, node, x, low):
    return clamp(w, node, x, low)


@register(torch.sym_sum)
def sym_sum(w, node, parts):
    return Size(functools.reduce(lambda left, right: w.emit("Add", left, right), [w.size(part) for part in parts]))


@register("remainder")
def remainder(w, node, x, y):
    dtype = node.meta["val"].dtype
    x, y = w.tensor(x, dtype), w.tensor(y, dtype)
    if dtype.is_floating_point:  # of the divisor's sign
        return w.emit("Sub", x, w.emit("Mul", w.emit("Floor", w.emit("Div", x, y)), y))
    return w.emit("Mod", x, y)


@register("_assert_async")
def assert_async(w, node, condition, message="an assertion of the model failed"):
    w.checks.append((condition, message))


@register("isnan")
def isnan(w, node, x):
    return w.emit("IsNaN", w.tensor(x))


@register("fmod")
def fmod(w, node, x, y):
    dtype = node.meta["val"].dtype
    return w.emit("Mod", w.tensor(x, dtype), w.tensor(y, dtype), fmod=1)


@register("clone", "alias", "detach", "lift_fresh_copy", "contiguous")
def same(w, node, x, **_):
    return w.values[x] if of(x).is_complex() else w.tensor(x, node.meta["val"].dtype)


@register("copy")
def copy(w, node, x, source, non_blocking=False):
    name = w.tensor(source, node.meta["val"].dtype)
    if len(of(source).shape) == len(of(x).shape) and all(map(same_size, of(source).shape, of(x).shape)):
        return name
    return w.emit("Expand", name, w.emit("Shape", w.tensor(x)))


@register("_to_copy")
def to_copy(w, node, x, **_):
    if node.meta["val"].is_complex():  # a last axis of the real part, to which transforms add the other
        return w.emit("Unsqueeze", w.tensor(x, torch.float32), w.integers(of(x).ndim))
    return w.tensor(x, node.meta["val"].dtype)


@register("_fft_c2c")
def fft(w, node, x, axes, normalization, forward):
    if normalization:
        raise Unsupported("a Fourier transform with a scale")
    name = w.values[x]
    for axis in axes:
        name = w.emit("DFT", name, "", w.scalar(axis % of(x).ndim), inverse=int(not forward))
    return name


@register("view_as_real")
def view_as_real(w, node, x):
    return w.values[x]


@register("convert_element_type")
def convert(w, node, x, dtype):
    return w.tensor(x, dtype)


# Shapes ---------------------------------------------------------------------------------------------------------------------------------------------------


@register("sym_size")
def sym_size(w, node, x, axis):
    size = of(x).shape[axis]
    if not is_symbolic(size):
        return int(size)
    return Size(w.emit("Shape", w.tensor(x), start=axis % of(x).ndim, end=axis % of(x).ndim + 1))


def same_size(left, right):
    if is_symbolic(left) or is_symbolic(right):
        return is_symbolic(left) and is_symbolic(right) and left.node.expr == right.node.expr
    return int(left) == int(right)


@register("view", "_unsafe_view", "reshape")
def view(w, node, x, sizes):
    source, target = of(x).shape, node.meta["val"].shape
    # Sizes that are kept, and one that follows, need no computation.
    wanted = [int(size) if not is_symbolic(size) else 0 if axis < len(source) and same_size(size, source[axis]) else -1 for axis, size in enumerate(target)]
    if wanted.count(-1) <= 1 and not (0 in [int(size) for size in target if not is_symbolic(size)]):
        return w.emit("Reshape", w.tensor(x), w.integers(*wanted))
    return w.emit("Reshape", w.tensor(x), w.sizes(sizes))


@register("as_strided")
def as_strided(w, node, x, sizes, strides, offset=None):
    seen, source = node.meta["val"], of(x)
    if offset or not seen.is_contiguous() or not source.is_contiguous() or not same_size(seen.numel(), source.numel()):
        raise Unsupported("as_strided of elements that do not follow each other")
    return view(w, node, x, sizes)


@register("permute")
def permute(w, node, x, axes):
    return w.emit("Transpose", w.tensor(x), perm=[axis % len(axes) for axis in axes])


@register("transpose")
def transpose(w, node, x, first, second):
    axes = list(range(of(x).ndim))
    axes[first], axes[second] = axes[second], axes[first]
    return w.emit("Transpose", w.tensor(x), perm=axes)


@register("t")
def t(w, node, x):
    return w.emit("Transpose", w.tensor(x), perm=list(range(of(x).ndim))[::-1])


@register("expand")
def expand(w, node, x, sizes, implicit=False):
    source, target = of(x).shape, node.meta["val"].shape
    offset = len(target) - len(source)
    # 1 keeps the size that is there.
    wanted = [1 if axis >= offset and same_size(size, source[axis - offset]) else value for axis, (size, value) in enumerate(zip(target, sizes))]
    if all(value == 1 for value in wanted) and not offset:
        return w.tensor(x)
    return w.emit("Expand", w.tensor(x), w.sizes(wanted))


@register("unsqueeze")
def unsqueeze(w, node, x, axis):
    return w.emit("Unsqueeze", w.tensor(x), w.integers(axis % (of(x).ndim + 1)))


@register("squeeze")
def squeeze(w, node, x, axes=None):
    shape = of(x).shape
    axes = range(len(shape)) if axes is None else [axes] if isinstance(axes, int) else axes
    gone = [axis % len(shape) for axis in axes if not is_symbolic(shape[axis]) and int(shape[axis]) == 1] if len(shape) else []
    return w.emit("Squeeze", w.tensor(x), w.integers(*gone)) if gone else w.tensor(x)


@register("slice")
def slice_(w, node, x, axis=0, start=None, end=None, step=1):
    if (start is None or start == 0) and step == 1 and same_size(of(x).shape[axis], node.meta["val"].shape[axis]):
        return w.tensor(x)
    return w.emit("Slice", w.tensor(x), w.sizes([0 if start is None else start]), w.sizes([2**63 - 1 if end is None else end]), w.integers(axis % of(x).ndim), w.integers(step))


@register("select")
def select(w, node, x, axis, index):
    if (number := w.number(index)) is not None:
        index = w.scalar(number)
    else:
        index = w.emit("Squeeze", w.size(index), w.integers(0))
    return w.emit("Gather", w.tensor(x), index, axis=axis % of(x).ndim)


@register("cat")
def cat(w, node, tensors, axis=0):
    dtype = node.meta["val"].dtype
    # torch takes an empty vector for nothing, whatever the others' rank.
    parts = [tensor for tensor in tensors if of(tensor).ndim == node.meta["val"].ndim]
    return w.emit("Concat", *[w.tensor(part, dtype) for part in parts], axis=axis % node.meta["val"].ndim)


@register("stack")
def stack(w, node, tensors, axis=0):
    axis %= node.meta["val"].ndim
    return w.emit("Concat", *[w.emit("Unsqueeze", w.tensor(tensor, node.meta["val"].dtype), w.integers(axis)) for tensor in tensors], axis=axis)


@register("split", "split_with_sizes")
def split(w, node, x, sizes, axis=0):
    parts = node.meta["val"]
    lengths = [part.shape[axis] for part in parts]
    if any(is_symbolic(length) for length in lengths):
        raise Unsupported("split into parts of open sizes")
    if len(parts) == 1:
        return [w.tensor(x)]
    return w.emit("Split", w.tensor(x), w.integers(*map(int, lengths)), outputs=len(parts), axis=axis % of(x).ndim)


@register("unbind")
def unbind(w, node, x, axis=0):
    return [w.emit("Gather", w.tensor(x), w.scalar(i), axis=axis % of(x).ndim) for i in range(len(node.meta["val"]))]


@register(operator.getitem)
def getitem(w, node, values, index):
    value = w.values[values][index]
    if value is None:
        raise Unsupported(f"result {index} of {values.target}")
    return value


@register("repeat")
def repeat(w, node, x, counts):
    x_ndim, name = of(x).ndim, w.tensor(x)
    if len(counts) > x_ndim:
        name = w.emit("Unsqueeze", name, w.integers(*range(len(counts) - x_ndim)))
    return w.emit("Tile", name, w.sizes(counts))


@register("constant_pad_nd")
def pad(w, node, x, pads, value=0):
    rank = of(x).ndim
    begins, ends = [0] * rank, [0] * rank
    for i in range(len(pads) // 2):
        begins[rank - 1 - i], ends[rank - 1 - i] = pads[2 * i], pads[2 * i + 1]
    return w.emit("Pad", w.tensor(x), w.sizes(begins + ends), w.scalar(value, node.meta["val"].dtype))


@register("flip")
def flip(w, node, x, axes):
    axes = [axis % of(x).ndim for axis in axes]
    return w.emit("Slice", w.tensor(x), w.integers(*[-1] * len(axes)), w.integers(*[-(2**63) + 1] * len(axes)), w.integers(*axes), w.integers(*[-1] * len(axes)))


@register("roll")
def roll(w, node, x, shifts, axes=()):
    if not axes:
        raise Unsupported("roll without dims")
    name = w.tensor(x)
    for shift, axis in zip(shifts, axes):
        axis %= of(x).ndim
        if is_symbolic(of(x).shape[axis]):
            raise Unsupported("roll along an open size")
        if cut := -shift % int(of(x).shape[axis]):
            halves = [w.emit("Slice", name, w.integers(first), w.integers(last), w.integers(axis)) for first, last in ((cut, 2**63 - 1), (0, cut))]
            name = w.emit("Concat", *halves, axis=axis)
    return name


# Made of nothing ------------------------------------------------------------------------------------------------------------------------------------------


def filled(w, node, value):
    seen = node.meta["val"]
    value = w.tensor(value, seen.dtype)
    if not seen.ndim:
        return value
    sizes = [w.find_size(size) if is_symbolic(size) else int(size) for size in seen.shape]
    names = [size.name if isinstance(size, Size) else w.integers(size) for size in sizes]
    return w.emit("Expand", value, names[0] if len(names) == 1 else w.emit("Concat", *names, axis=0))


@register("full", "full_like", "new_full")
def full(w, node, *args, **_):
    return filled(w, node, args[-1])


@register("zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty")
def zeros(w, node, *_, **__):
    return filled(w, node, 0)


@register("ones", "ones_like", "new_ones")
def ones(w, node, *_, **__):
    return filled(w, node, 1)


@register("scalar_tensor")
def scalar_tensor(w, node, value, **_):
    return w.tensor(value, node.meta["val"].dtype)


@register("arange")
def arange(w, node, *args, **_):
    dtype = node.meta["val"].dtype
    start, end, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return w.emit("Range", w.tensor(start, dtype), w.tensor(end, dtype), w.tensor(step, dtype))


@register("tril", "triu")
def triangle(w, node, x, diagonal=0):
    upper = int(node.target.name().endswith("triu"))
    return w.emit("Trilu", w.tensor(x), w.scalar(diagonal), upper=upper)


# Lookups --------------------------------------------------------------------------------------------------------------------------------------------------


@register("embedding")
def embedding(w, node, table, ids, *_, **__):
    return w.emit("Gather", w.tensor(table), w.tensor(ids), axis=0)


@register("index_select")
def index_select(w, node, x, axis, ids):
    return w.emit("Gather", w.tensor(x), w.tensor(ids), axis=axis % of(x).ndim)


@register("gather")
def gather(w, node, x, axis, ids, **_):
    return w.emit("GatherElements", w.tensor(x), w.tensor(ids), axis=axis % of(x).ndim)


@register("scatter")
def scatter(w, node, x, axis, ids, source, **options):
    if options:
        raise Unsupported("scatter with a reduction")
    dtype = node.meta["val"].dtype
    if not isinstance(of(source), torch.Tensor):
        source = w.emit("Expand", w.tensor(source, dtype), w.emit("Shape", w.tensor(ids)))
    else:
        source = w.tensor(source, dtype)
        if not all(map(same_size, of(node.args[3]).shape, of(ids).shape)):
            raise Unsupported("scatter of a part of its source")
    return w.emit("ScatterElements", w.tensor(x), w.tensor(ids), source, axis=axis % of(x).ndim)


@register("topk")
def topk(w, node, x, count, axis=-1, largest=True, sorted=True):
    return w.emit("TopK", w.tensor(x), w.size(count), outputs=2, axis=axis % of(x).ndim, largest=int(largest), sorted=1)


@register("index", "_unsafe_index")
def index(w, node, x, indices):
    used = [axis for axis, value in enumerate(indices) if value is not None]
    if any(of(indices[axis]).dtype == torch.bool for axis in used):
        raise Unsupported("index by a mask")
    rank, name = of(x).ndim, w.tensor(x)
    # In an axis of one every index is 0: it may go, if the shape of the result does not hang on it.
    shape = torch.broadcast_shapes(*[of(indices[axis]).shape for axis in used])
    if used == list(range(len(used))):
        for axis in list(used):
            others = [of(indices[other]).shape for other in used if other != axis]
            size = of(x).shape[axis]
            if others and not is_symbolic(size) and int(size) == 1 and len(shape) == len(kept := torch.broadcast_shapes(*others)) and all(map(same_size, shape, kept)):
                name, rank = w.emit("Squeeze", name, w.integers(used.index(axis))), rank - 1
                used.remove(axis)
        indices = [indices[axis] for axis in used]
        used = list(range(len(used)))
    if len(used) == 1:
        return w.emit("Gather", name, w.tensor(indices[used[0]]), axis=used[0])
    count = len(used)
    # The axes that are indexed first, and all indices, which broadcast against each other, side by side.
    axes = used + [axis for axis in range(rank) if axis not in used]
    name = name if axes == list(range(rank)) else w.emit("Transpose", name, perm=axes)
    width = len(torch.broadcast_shapes(*[of(indices[axis]).shape for axis in used]))
    total = w.emit("Shape", functools.reduce(lambda left, right: w.emit("Add", left, right), [w.tensor(indices[axis], torch.int64) for axis in used]))
    parts = [w.emit("Unsqueeze", w.emit("Expand", w.tensor(indices[axis], torch.int64), total), w.integers(width)) for axis in used]
    name = w.emit("GatherND", name, w.emit("Concat", *parts, axis=width))
    # Indices that are neighbours leave their axes where they were, else in front.
    first = used[0] if used == list(range(used[0], used[0] + count)) else 0
    order = [*range(width, width + first), *range(width), *range(width + first, width + rank - count)]
    return name if order == sorted(order) else w.emit("Transpose", name, perm=order)


@register("slice_scatter")
def slice_scatter(w, node, x, source, axis=0, start=None, end=None, step=1):
    axis %= of(x).ndim
    size = of(x).shape[axis]
    if step != 1 or is_symbolic(size):
        raise Unsupported("slice_scatter with steps or along an open size")
    start, end, size = w.number(start or 0), w.number(size if end is None else end), int(size)
    if start is None or end is None:
        raise Unsupported("slice_scatter of an open slice")
    start, end = (min(max(place + size if place < 0 else place, 0), size) for place in (start, end))
    parts = [w.tensor(source, node.meta["val"].dtype)]
    for first, last, at in ((0, start, 0), (end, size, 2)):
        if first < last:
            parts.insert(at, w.emit("Slice", w.tensor(x), w.integers(first), w.integers(last), w.integers(axis)))
    return parts[0] if len(parts) == 1 else w.emit("Concat", *parts, axis=axis)


# Products -------------------------------------------------------------------------------------------------------------------------------------------------


@register("mm", "bmm", "matmul")
def matmul(w, node, x, y):
    return w.emit("MatMul", w.tensor(x), w.tensor(y))


@register("addmm", "baddbmm")
def addmm(w, node, bias, x, y, beta=1, alpha=1):
    dtype = node.meta["val"].dtype
    product = w.emit("MatMul", w.tensor(x), w.tensor(y))
    if alpha != 1:
        product = w.emit("Mul", product, w.scalar(alpha, dtype))
    if beta == 0:
        return product
    bias = w.tensor(bias)
    return w.emit("Add", product, bias if beta == 1 else w.emit("Mul", bias, w.scalar(beta, dtype)))


def spread(rank, *settings):
    """A number for each axis: one alone is all axes'."""
    return [list(values) * (rank if len(values) == 1 else 1) for values in settings]


@register("convolution")
def convolution(w, node, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        raise Unsupported("a transposed convolution")
    stride, padding, dilation = spread(of(x).ndim - 2, stride, padding, dilation)
    return w.emit("Conv", w.tensor(x), w.tensor(weight), *([] if bias is None else [w.tensor(bias)]), strides=stride, pads=padding * 2, dilations=dilation, group=groups,
                  kernel_shape=[int(size) for size in of(weight).shape[2:]])


# Norms and reductions -------------------------------------------------------------------------------------------------------------------------------------


@register("native_layer_norm")
def layer_norm(w, node, x, shape, weight, bias, eps):
    seen = of(x)
    scale = w.tensor(weight) if weight is not None else w.constant(np.ones([int(size) for size in shape], np.float32), None)
    return [w.emit("LayerNormalization", w.tensor(x), scale, *([w.tensor(bias)] if bias is not None else []), axis=seen.ndim - len(shape), epsilon=eps), None, None]


@register("native_group_norm")
def group_norm(w, node, x, weight, bias, batch, channels, size, groups, eps):
    # Of opset 21 on scale and bias are of each channel: here by hand.
    seen = of(x)
    flat = w.emit("Reshape", w.tensor(x), w.integers(0, groups, -1))
    one, zero = (w.constant(np.full(groups, value, np.float32)) for value in (1, 0))
    normal = w.emit("Reshape", w.emit("InstanceNormalization", flat, one, zero, epsilon=eps), w.emit("Shape", w.tensor(x)))
    axes = w.integers(*range(1, seen.ndim - 1))
    for op, value in (("Mul", weight), ("Add", bias)):
        if value is not None:
            normal = w.emit(op, normal, w.emit("Unsqueeze", w.tensor(value), axes))
    return [normal, None, None]


@register("_native_batch_norm_legit_no_training")
def batch_norm(w, node, x, weight, bias, mean, variance, momentum, eps):
    channels = [int(of(mean).shape[0])]
    scale = w.tensor(weight) if weight is not None else w.constant(np.ones(channels, np.float32))
    shift = w.tensor(bias) if bias is not None else w.constant(np.zeros(channels, np.float32))
    return [w.emit("BatchNormalization", w.tensor(x), scale, shift, w.tensor(mean), w.tensor(variance), epsilon=eps), None, None]


@register("_softmax")
def softmax(w, node, x, axis, half_to_float=False):
    return w.emit("Softmax", w.tensor(x, node.meta["val"].dtype), axis=axis % of(x).ndim)


@register("_log_softmax")
def log_softmax(w, node, x, axis, half_to_float=False):
    return w.emit("LogSoftmax", w.tensor(x, node.meta["val"].dtype), axis=axis % of(x).ndim)


def reduction(name, op):
    def handler(w, node, x, axes=None, keepdim=False, **_):
        dtype, rank = node.meta["val"].dtype, of(x).ndim
        axes = [axes] if isinstance(axes, int) else axes or list(range(rank))
        source = torch.int64 if dtype == torch.bool else dtype
        result = w.emit(op, w.tensor(x, source), w.integers(*[axis % rank for axis in axes]), keepdims=int(keepdim))
        return w.cast(result, source, dtype)

    TABLE[name] = handler


for name, op in {"sum": "ReduceSum", "mean": "ReduceMean", "amax": "ReduceMax", "amin": "ReduceMin", "any": "ReduceMax", "all": "ReduceMin"}.items():
    reduction(name, op)


@register("max", "min")
def extreme(w, node, x, axis=None, keepdim=False):
    op, place = ("ReduceMax", "ArgMax") if node.target.name().startswith("aten::max") else ("ReduceMin", "ArgMin")
    if axis is None:
        return w.emit(op, w.tensor(x), keepdims=0)
    axis %= of(x).ndim
    return [w.emit(op, w.tensor(x), w.integers(axis), keepdims=int(keepdim)), w.emit(place, w.tensor(x), axis=axis, keepdims=int(keepdim))]


@register("var")
def variance(w, node, x, axes=None, *, correction=1, keepdim=False):
    seen, dtype = of(x), node.meta["val"].dtype
    axes = [axis % seen.ndim for axis in (range(seen.ndim) if axes is None else axes)]
    count = functools.reduce(operator.mul, [seen.shape[axis] for axis in axes])
    if is_symbolic(count):
        raise Unsupported("a variance of an open number of elements")
    x, axes = w.tensor(x), w.integers(*axes)
    off = w.emit("Sub", x, w.emit("ReduceMean", x, axes, keepdims=1))
    total = w.emit("ReduceSum", w.emit("Mul", off, off), axes, keepdims=int(keepdim))
    return w.emit("Div", total, w.scalar(max(int(count) - correction, 0), dtype))


@register("max_pool2d_with_indices")
def max_pool(w, node, x, kernel, stride=None, padding=(0, 0), dilation=(1, 1), ceil_mode=False):
    kernel, stride, padding, dilation = spread(2, kernel, stride or kernel, padding, dilation)
    if ceil_mode:
        raise Unsupported("max_pool2d with ceil_mode")
    return [w.emit("MaxPool", w.tensor(x), kernel_shape=kernel, strides=stride, pads=padding * 2, dilations=dilation), None]


@register("avg_pool2d")
def average_pool(w, node, x, kernel, stride=None, padding=(0, 0), ceil_mode=False, count_include_pad=True, divisor_override=None):
    kernel, stride, padding = spread(2, kernel, stride or kernel, padding)
    if ceil_mode or divisor_override:
        raise Unsupported("avg_pool2d with ceil_mode or divisor_override")
    return w.emit("AveragePool", w.tensor(x), kernel_shape=kernel, strides=stride, pads=padding * 2, count_include_pad=int(count_include_pad))


@register("cumsum")
def cumsum(w, node, x, axis, **_):
    return w.emit("CumSum", w.tensor(x, node.meta["val"].dtype), w.scalar(axis % of(x).ndim))


@register("argmax")
def argmax(w, node, x, axis=None, keepdim=False):
    if axis is None:
        return w.emit("ArgMax", w.emit("Reshape", w.tensor(x), w.integers(-1)), axis=0, keepdims=0)
    return w.emit("ArgMax", w.tensor(x, torch.int64 if of(x).dtype == torch.bool else None), axis=axis % of(x).ndim, keepdims=int(keepdim))


@register("_scaled_dot_product_flash_attention_for_cpu")
def attention(w, node, query, key, value, dropout=0.0, is_causal=False, attn_mask=None, scale=None):
    head = int(of(query).shape[-1])
    dtype = of(query).dtype
    factor = scale if scale is not None else 1 / math.sqrt(head)
    axes = list(range(of(key).ndim))
    axes[-1], axes[-2] = axes[-2], axes[-1]
    scores = w.emit("Mul", w.emit("MatMul", w.tensor(query), w.emit("Transpose", w.tensor(key), perm=axes)), w.scalar(factor, dtype))
    if is_causal:
        lengths = [w.emit("Shape", w.tensor(tensor), start=2, end=3) for tensor in (query, key)]
        triangle = w.emit("Trilu", w.emit("Expand", w.constant(np.array(True)), w.emit("Concat", *lengths, axis=0)), upper=0)
        scores = w.emit("Where", triangle, scores, w.scalar(-math.inf, dtype))
    if attn_mask is not None:
        mask = w.tensor(attn_mask)
        scores = w.emit("Add", scores, w.cast(mask, of(attn_mask).dtype, dtype)) if of(attn_mask).dtype != torch.bool else w.emit("Where", mask, scores, w.scalar(-math.inf, dtype))
    weights = w.emit("Softmax", scores, axis=-1)
    if attn_mask is not None:  # of a query that sees nothing nothing comes
        weights = w.emit("Where", w.emit("IsNaN", weights), w.scalar(0, dtype), weights)
    return [w.emit("MatMul", weights, w.tensor(value)), None]
