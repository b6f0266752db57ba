# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(model, backend="fovea").

What TorchDynamo and AOTAutograd find is compiled as one entry whose arguments are the graph's: parameters stay torch's and are read where they are. Small buffers are
constants of the code, which is made anew if they have changed. Graphs that are not supported run as they are, with the reason once.
"""
import functools
import pathlib
import tempfile
import warnings

import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch.utils._python_dispatch import _disable_current_modes

from . import compiler, errors, fx
from .compilation import compile_file
from .model import Model

# What the compiler has words for itself.
KEPT = {"native_layer_norm", "native_group_norm", "_native_batch_norm_legit_no_training", "_softmax", "_log_softmax", "gelu", "silu", "embedding", "addmm", "t", "transpose",
        "split", "split_with_sizes", "hardtanh", "rsub", "masked_fill", "stack", "_unsafe_view", "full_like", "clamp_min", "zeros_like", "ones_like", "rsqrt", "tril", "triu",
        "roll", "flip", "_scaled_dot_product_flash_attention_for_cpu"}
LARGEST_CONSTANT = 1 << 20  # bytes


def attend(queries, keys, values, heads, mask, mask_type):
    """Of [batch, length, heads * size] each. Where the mask is true, or a float that is not 0, nothing is seen; its type says what its axes are."""
    queries, keys, values = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (queries, keys, values))
    if mask is not None:
        mask = mask.to(torch.bool).logical_not()
        if mask_type == 1:  # keys of each row of the batch
            mask = mask[:, None, None, :]
    return torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask).transpose(1, 2).flatten(2)


def decompose_encoder_layer(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2,
                            norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask=None, mask_type=None):
    """aten._transformer_encoder_layer_fwd, which torch.nn.TransformerEncoderLayer calls where no gradient is wanted."""
    functional = torch.nn.functional

    def norm(x, weight, bias):
        return functional.layer_norm(x, (embed_dim,), weight, bias, eps)

    def attention(x):
        return functional.linear(attend(*functional.linear(x, qkv_weight, qkv_bias).chunk(3, -1), num_heads, mask, mask_type), proj_weight, proj_bias)

    def feed(x):
        inner = functional.linear(x, ffn_weight_1, ffn_bias_1)
        return functional.linear(functional.gelu(inner) if use_gelu else functional.relu(inner), ffn_weight_2, ffn_bias_2)

    if norm_first:
        src = src + attention(norm(src, norm_weight_1, norm_bias_1))
        return src + feed(norm(src, norm_weight_2, norm_bias_2))
    src = norm(src + attention(src), norm_weight_1, norm_bias_1)
    return norm(src + feed(src), norm_weight_2, norm_bias_2)


def decompose_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask=None, need_weights=True, average_attn_weights=True,
                        mask_type=None):
    """aten._native_multi_head_attention, which torch.nn.MultiheadAttention calls there."""
    if need_weights:
        return NotImplemented
    parts = [torch.nn.functional.linear(x, weight, bias) for x, weight, bias in zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))]
    out = torch.nn.functional.linear(attend(*parts, num_head, mask, mask_type), proj_weight, proj_bias)
    return out, out.new_empty(0)


@functools.cache
def decompositions():
    own = {torch.ops.aten._transformer_encoder_layer_fwd.default: decompose_encoder_layer, torch.ops.aten._native_multi_head_attention.default: decompose_attention}
    return own | {op: rule for op, rule in core_aten_decompositions().items() if op.name().partition("::")[2].partition(".")[0] not in KEPT}


@functools.cache
def warn_once(reason):
    warnings.warn(f"fovea: {reason}; this graph runs as it is", stacklevel=2)


class Graph:
    """A compiled graph, called with a list of its inputs."""

    _boxed_call = True

    def __init__(self, module, inputs, flags, settings):
        self.module, self.flags, self.settings = module, flags, settings
        nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
        # AOTAutograd may have joined inputs that share memory.
        inputs = inputs if len(inputs) == len(nodes) else [None] * len(nodes)
        self.constants, self.weights, self.actives, self.integers = [], [], [], []
        for i, (node, value) in enumerate(zip(nodes, inputs)):
            if not isinstance(node.meta["val"], torch.Tensor):
                self.integers.append((i, node.name))
                continue
            is_static = isinstance(value, torch.Tensor) and (isinstance(value, torch.nn.Parameter) or getattr(value, "_dynamo_static_input_type", None) is not None)
            if is_static and not isinstance(value, torch.nn.Parameter) and value.nbytes <= LARGEST_CONSTANT:
                self.constants.append((i, node.name))
            elif is_static and value.is_contiguous():
                self.weights.append((i, node.name))
            else:
                self.actives.append((i, node.name))
        self.build(inputs)

    def build(self, inputs):
        """Compiles with the constants that are among these inputs."""
        self.held = [(inputs[i], self.version(inputs[i])) for i, _ in self.constants]
        writer = fx.Writer()
        with torch.no_grad(), _disable_current_modes():  # the constants are real
            arguments, self.outputs = writer.read(self.module.graph, {name: inputs[i] for i, name in self.constants})
        with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
            path = pathlib.Path(folder) / "graph" / "model.onnx"
            path.parent.mkdir()
            writer.save(str(path), "graph")
            self.model = Model(compile_file(path, None, self.flags), **self.settings)
        (self.entry,) = self.model.entries.values()
        self.checks = [message for _, message in writer.checks]
        self.numbers = [i for i, name in self.integers if name in writer.numbers]  # most are sizes of tensors
        known = [value["name"] for value in self.entry.arguments]
        if known != arguments:
            raise errors.InternalError(f"expects arguments {arguments}, got {known}")
        self.addresses = None

    @staticmethod
    def version(tensor):
        return None if tensor.is_inference() else tensor._version

    def bind(self, inputs):
        """Gives the parameters to the entry, for all runs until they change."""
        self.addresses = [inputs[i].data_ptr() for i, _ in self.weights]
        self.entry._entry.bind([name for _, name in self.weights], tuple(inputs[i].detach() for i, _ in self.weights))

    def __call__(self, inputs):
        if not all(inputs[i] is tensor and self.version(tensor) == version for (i, _), (tensor, version) in zip(self.constants, self.held)):
            self.build(inputs)
        if self.addresses is None or not all(inputs[i].data_ptr() == address for (i, _), address in zip(self.weights, self.addresses)):
            self.bind(inputs)
        given = tuple(inputs[i].detach().contiguous() for i, _ in self.actives) + tuple([inputs[i]] for i in self.numbers)
        inputs.clear()
        results = iter(self.entry._entry.run(given, None, True, None))
        outputs = [next(results) if isinstance(output, str) else int(next(results)) if isinstance(output, fx.Size) else output for output in self.outputs]
        for message, is_true in zip(self.checks, results):
            if not is_true:
                raise RuntimeError(message)
        return outputs


def wants_gradients(inputs):
    return torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in inputs)


def backend(graph, example_inputs, *, options=None, **_):
    """The backend: `options` are those of fovea.compile ("dtype", "compute", "threads", ...)."""
    options = dict(options or {})
    settings = {"threads": options.pop("threads", torch.get_num_threads())}
    level = options.pop("optimization", None)
    flags = compiler.as_flags(options) + ([] if level is None else [f"-O{level}"])
    if wants_gradients(example_inputs):
        warn_once("gradients are wanted: expects a model under torch.no_grad() or torch.inference_mode()")
        return graph.forward
    devices = {value.device.type for value in example_inputs if isinstance(value, torch.Tensor)}
    if devices - {"cpu"}:
        warn_once(f"expects tensors on the CPU, got {', '.join(sorted(devices))}")
        return graph.forward

    def compile_graph(module, _):
        return Graph(module, example_inputs, flags, settings)

    try:
        return aot_autograd(fw_compiler=compile_graph, inference_compiler=compile_graph, decompositions=decompositions())(graph, example_inputs)
    except (fx.Unsupported, errors.CompileError) as reason:
        warn_once(str(reason))
        return graph.forward
