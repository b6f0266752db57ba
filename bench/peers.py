# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that are measured, each behind one shape: made with (case, paths, threads), `run()` gives the seconds of one run and `result()` what it computed (of the
attention cases the compared heads only). A program that cannot do a case raises Unable with the reason. Each is imported in a process of its own (worker.py).

All compute in f32 with `threads` threads, or in bf16 where paths["dtype"] says so: onnxruntime with all graph optimisations and, for Llama, its own fused operators over one shared key/value buffer; OpenVINO with
f32 forced and, for Llama, the cache as state; torch with scaled_dot_product_attention, eager and compiled.

Of int8 and int4 weights of linears are integers with scales, and each may round inputs as it does by default: onnxruntime's MatMulNBits in blocks of 32 with accuracy_level 4 (int8); OpenVINO's decompression
pattern, as NNCF writes it (a scale for each output of int8, for 32 inputs of int4), with dynamic quantisation; torch's quantize_dynamic (int8 alone). Caches are f32.
Programs for language models alone are in language_peers.py.
"""
import pathlib
import time

import numpy as np

import cases
import models


class Unable(Exception):
    """A program cannot do a case, and why."""


class Fovea:
    artifact = "artifact"

    def __init__(self, case, paths, threads):
        from runtime import Runtime
        self.case = case
        self.runtime = Runtime(paths["library"], paths[self.artifact], threads, 1024 if case["kind"] == "decoder" else 0)
        self.prepare(paths)

    def prepare(self, paths):
        case = self.case
        if case["kind"] == "encoder":
            ids = cases.token_ids(case, paths["config"]["vocab_size"])
            self.entry, self.output = "forward", "last_hidden_state"
            self.runtime.set("forward", input_ids=ids, attention_mask=np.ones_like(ids), token_type_ids=np.zeros_like(ids))
        elif case["kind"] == "attention":
            self.entry, self.output = "forward", "output"
            q, k, v = cases.attention_inputs(case)
            more = {"segments": cases.segments(case)} if case["mask"] == "documents" else {}
            self.runtime.set("forward", q=q, k=k, v=v, **more)
        else:
            ids = cases.token_ids(case, paths["config"]["vocab_size"])
            self.runtime.set("prefill", input_ids=np.ascontiguousarray(ids[:, :case["length"]]))
            self.steps = [np.ascontiguousarray(ids[:, i:i + 1]) for i in range(case["length"], ids.shape[1])]
            self.entry, self.output = "decode" if self.steps else "prefill", "logits"

    def run(self):
        if self.case["kind"] != "decoder":
            return self.runtime.run("forward")
        self.runtime.reset()
        seconds = self.runtime.run("prefill")
        if not self.steps:
            return seconds
        start = time.perf_counter()
        for ids in self.steps:
            self.runtime.set("decode", input_ids=ids)
            self.runtime.run("decode")
        return (time.perf_counter() - start) / len(self.steps)

    def result(self):
        out = self.runtime.result(self.entry, self.output)
        return out[0][:, cases.CHECKED] if self.case["kind"] == "attention" else out


class FoveaFixed(Fovea):
    """Compiled for the case's lengths alone."""
    artifact = "fixed"


class FoveaDenormals(Fovea):
    """Where the calling thread's stack holds what is slowest to multiply: a kernel that computed with scratch which nobody wrote would show it."""

    def prepare(self, paths):
        import ctypes
        self.plant = ctypes.CDLL(paths["stack"]).plant_denormals
        super().prepare(paths)

    def run(self):
        self.plant()
        return super().run()


class FoveaOnnx(Fovea):
    """The decoder as an ONNX file whose caches are arguments and results; what is copied between two calls is not counted, what is joined inside of one is."""
    artifact = "onnx"

    def prepare(self, paths):
        config = paths["config"]
        size = config["hidden_size"] // config["num_attention_heads"]
        self.ids = cases.token_ids(self.case, config["vocab_size"])
        self.empty = np.zeros((1, config["num_key_value_heads"], 0, size), np.float32)
        self.layers = config["num_hidden_layers"]
        self.entry, self.output = "forward", "logits"

    def step(self, begin, end):
        mask = np.where(np.arange(end)[None] <= np.arange(begin, end)[:, None], np.float32(0), np.float32(-1e30))[None, None]
        self.runtime.set("forward", input_ids=np.ascontiguousarray(self.ids[:, begin:end]), position_ids=np.arange(begin, end)[None], mask=mask, **self.past)
        seconds = self.runtime.run("forward")
        self.past = {f"past.{i}": self.runtime.result("forward", f"present.{i}") for i in range(2 * self.layers)}
        return seconds

    def run(self):
        self.past = {f"past.{i}": self.empty for i in range(2 * self.layers)}
        self.step(0, self.case["length"])
        return sum(self.step(at, at + 1) for at in range(self.case["length"], self.ids.shape[1])) / self.case["steps"]


BITS = {"int8": 8, "int4": 4}
GROUP = {8: 64, 4: 32}  # inputs that OpenVINO quantises together: the fastest of 32, 64, 128 and all
BLOCK = 32  # inputs that share a scale in int4, and in onnxruntime's int8


def integers(weight, bits, block):
    """[N, K / block, block] of int8 that `bits` hold, and a scale for each block, by its greatest magnitude."""
    blocks = np.asarray(weight, np.float32).reshape(weight.shape[0], -1, block)
    scales = np.maximum(np.abs(blocks).max(-1, keepdims=True), 1e-30) / (2**(bits - 1) - 1)
    return np.rint(blocks / scales).astype(np.int8), scales


class Torch:
    compiled = False

    def __init__(self, case, paths, threads):
        import torch
        torch.set_num_threads(threads)
        self.torch, self.case = torch, case
        if case["kind"] == "attention":
            self.inputs = [torch.from_numpy(array).transpose(1, 2) for array in cases.attention_inputs(case)]
            mask = None
            if case["mask"] in ("window", "documents"):
                mask = torch.from_numpy(cases.allowed(case, np.arange(case["length"])))
            call = lambda: torch.nn.functional.scaled_dot_product_attention(*self.inputs, attn_mask=mask, is_causal=case["mask"] == "causal")
            if self.compiled:
                call = self.flex(mask)
            self.call = call
            return
        from transformers import AutoModel, LlamaForCausalLM
        encoder = case["kind"] == "encoder"
        if paths["dtype"] == "int4" or paths["dtype"] == "int8" and self.compiled:
            raise Unable(f"has no linears of {paths['dtype']} for processors by itself")
        element = {"f32": torch.float32, "bf16": torch.bfloat16}.get(paths["dtype"], torch.float32)
        self.model = (AutoModel if encoder else LlamaForCausalLM).from_pretrained(paths["model"], dtype=element, attn_implementation="sdpa").eval()
        if paths["dtype"] == "int8":
            self.model = torch.ao.quantization.quantize_dynamic(self.model, {torch.nn.Linear}, torch.qint8)
        ids = torch.from_numpy(cases.token_ids(case, self.model.config.vocab_size))
        forward = torch.compile(self.model.forward, dynamic=False) if self.compiled else self.model.forward
        if encoder:
            mask = torch.ones_like(ids)
            self.call = lambda: forward(input_ids=ids, attention_mask=mask).last_hidden_state
        else:
            self.ids, self.forward = ids, forward

    def flex(self, mask):
        """torch's own compiler for attention with a mask; without one there is nothing to compile."""
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        length = self.case["length"]
        if self.case["mask"] == "full":
            raise Unable("the same call as torch")
        segments = self.torch.from_numpy(cases.segments(self.case)[0])
        rule = {"causal": lambda b, h, q, k: q >= k, "window": lambda b, h, q, k: (q >= k) & (q - k < cases.WINDOW), "documents": lambda b, h, q, k: segments[q] == segments[k]}
        blocks = create_block_mask(rule[self.case["mask"]], None, None, length, length, device="cpu")
        attention = self.torch.compile(flex_attention, dynamic=False)
        return lambda: attention(*self.inputs, block_mask=blocks)

    def cache(self):
        from transformers import DynamicCache, StaticCache
        if not self.compiled:
            return DynamicCache(config=self.model.config)
        return StaticCache(config=self.model.config, max_cache_len=self.ids.shape[1])

    def run(self):
        torch = self.torch
        with torch.inference_mode():
            if self.case["kind"] != "decoder":
                start = time.perf_counter()
                self.out = self.call()
                return time.perf_counter() - start
            cache, length = self.cache(), self.case["length"]
            positions = torch.arange(self.ids.shape[1])
            step = lambda begin, end: self.forward(self.ids[:, begin:end], past_key_values=cache, use_cache=True, logits_to_keep=1, position_ids=positions[None, begin:end])
            start = time.perf_counter()
            out = step(0, length)
            seconds = time.perf_counter() - start
            if self.ids.shape[1] > length:
                start = time.perf_counter()
                for at in range(length, self.ids.shape[1]):
                    out = step(at, at + 1)
                seconds = (time.perf_counter() - start) / (self.ids.shape[1] - length)
            self.out = out.logits[:, -1]
            return seconds

    def result(self):
        out = self.out.float().clone().numpy()
        return out[0][cases.CHECKED].swapaxes(0, 1) if self.case["kind"] == "attention" else out


class TorchCompiled(Torch):
    compiled = True


def plain_encoder(model):
    """MiniLM as a torch module of two arguments, which is what converters understand."""
    import torch
    from transformers import AutoModel
    network = AutoModel.from_pretrained(model, dtype=torch.float32, attn_implementation="sdpa").eval()

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, input_ids, attention_mask):
            return self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    return Plain()


def head_of(config):
    """The weight of a Llama's last product."""
    return "model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"


class Graph:
    """An ONNX graph in the making, over the named tensors of a checkpoint and onnxruntime's own operators."""

    def __init__(self, store, dtype):
        self.store, self.nodes, self.initializers = store, [], {}
        self.bits = BITS.get(dtype)

    def constant(self, name, array):
        from onnx import numpy_helper
        self.initializers[name] = numpy_helper.from_array(np.array(array, order="C"), name)
        return name

    def weight(self, name):
        return self.constant(name, self.store[name])

    def node(self, kind, inputs, outputs, domain="", **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def linear(self, x, weight, out):
        return self.product(x, weight, self.store[weight], out)

    def product(self, x, name, weight, out):
        if not self.bits:
            return self.node("MatMul", [x, self.constant(name + ".T", weight.T)], [out])
        numbers, scales = integers(weight, self.bits, BLOCK)
        numbers = (numbers.astype(np.int16) + (1 << (self.bits - 1))).astype(np.uint8)  # with the zero point in the middle
        if self.bits == 4:
            numbers = numbers[..., ::2] | numbers[..., 1::2] << 4
        return self.node("MatMulNBits", [x, self.constant(name + ".q", numbers), self.constant(name + ".s", scales.reshape(weight.shape[0], -1))], [out], "com.microsoft",
                         K=weight.shape[1], N=weight.shape[0], bits=self.bits, block_size=BLOCK, accuracy_level=4)

    def save(self, path, inputs, outputs):
        import onnx
        from onnx import helper
        path.with_name(path.name + ".data").unlink(missing_ok=True)  # else it would grow
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, list(self.initializers.values()))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10), str(path), save_as_external_data=True, location=path.name + ".data")


def bert_graph(folder, config, path, dtype):
    """MiniLM as an ONNX file over onnxruntime's fused operators, those that its own optimiser makes of BERT: EmbedLayerNormalization, Attention with one product for query, key
    and value, SkipLayerNormalization, BiasGelu."""
    import onnx
    from onnx import helper
    from safetensors.numpy import load_file
    g = Graph(load_file(pathlib.Path(folder) / "model.safetensors"), dtype)
    eps, contrib = config["layer_norm_eps"], "com.microsoft"
    ids, mask = (g.node("Cast", [name], [name + ".i32"], to=onnx.TensorProto.INT32) for name in ("input_ids", "attention_mask"))
    types = g.node("Mul", [ids, g.constant("zero", np.array(0, np.int32))], ["types"])
    x = g.node("EmbedLayerNormalization", [ids, types, *(g.weight(f"embeddings.{name}") for name in ["word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight", "LayerNorm.bias"])],
               ["x", "unused"], contrib, epsilon=eps)
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        names = [f"{at}attention.self.{name}" for name in ("query", "key", "value")]
        bias = g.constant(at + "qkv.bias", np.concatenate([g.store[name + ".bias"] for name in names]))
        if g.bits:
            parts = [g.linear(x, name + ".weight", name) for name in names]
            a = g.node("MultiHeadAttention", [*parts, bias, mask], [at + "a"], contrib, num_heads=config["num_attention_heads"])
        else:
            weight = g.constant(at + "qkv", np.concatenate([g.store[name + ".weight"].T for name in names], 1))
            a = g.node("Attention", [x, weight, bias, mask], [at + "a"], contrib, num_heads=config["num_attention_heads"])
        skip = lambda h, x, dense, norm, out: g.node("SkipLayerNormalization", [h, x, g.weight(norm + ".weight"), g.weight(norm + ".bias"), g.weight(dense + ".bias")], [out], contrib, epsilon=eps)
        x = skip(g.linear(a, f"{at}attention.output.dense.weight", at + "o"), x, f"{at}attention.output.dense", f"{at}attention.output.LayerNorm", at + "x")
        h = g.node("BiasGelu", [g.linear(x, f"{at}intermediate.dense.weight", at + "i"), g.weight(f"{at}intermediate.dense.bias")], [at + "g"], contrib)
        x = skip(g.linear(h, f"{at}output.dense.weight", at + "m"), x, f"{at}output.dense", f"{at}output.LayerNorm", "last_hidden_state" if layer + 1 == config["num_hidden_layers"] else at + "y")
    i64, f32 = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    g.save(path, [helper.make_tensor_value_info(name, i64, ["batch", "sequence"]) for name in ("input_ids", "attention_mask")],
           [helper.make_tensor_value_info("last_hidden_state", f32, ["batch", "sequence", config["hidden_size"]])])


def llama_graph(folder, config, path, dtype):
    """A Llama as an ONNX file over onnxruntime's fused operators: rotary, cache and attention in GroupQueryAttention, RMSNorm with the residual before it in
    SkipSimplifiedLayerNormalization; logits of the last position."""
    import onnx
    from onnx import helper
    g = Graph(models.weights(folder), dtype)
    heads, key_heads, layers = config["num_attention_heads"], config["num_key_value_heads"], config["num_hidden_layers"]
    size, eps, contrib = config["hidden_size"] // heads, config["rms_norm_eps"], "com.microsoft"
    i32, i64, f32 = onnx.TensorProto.INT32, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    angles = np.arange(config["max_position_embeddings"])[:, None] * config["rope_theta"]**(-np.arange(size // 2) * 2 / size)
    cos, sin = g.constant("cos", np.cos(angles).astype(np.float32)), g.constant("sin", np.sin(angles).astype(np.float32))
    x = g.node("Gather", [g.weight("model.embed_tokens.weight"), "input_ids"], ["x"])
    h = g.node("SimplifiedLayerNormalization", [x, g.weight("model.layers.0.input_layernorm.weight")], ["h"], axis=-1, epsilon=eps)
    caches, grown = [], []
    for layer in range(layers):
        at = f"model.layers.{layer}."
        q, k, v = (g.linear(h, f"{at}self_attn.{name}_proj.weight", f"{at}{name}") for name in "qkv")
        for kind in ("key", "value"):
            caches.append(helper.make_tensor_value_info(f"past_{kind}.{layer}", f32, ["batch", key_heads, "past", size]))
            grown.append(helper.make_tensor_value_info(f"present_{kind}.{layer}", f32, ["batch", key_heads, "total", size]))
        a = g.node("GroupQueryAttention", [q, k, v, f"past_key.{layer}", f"past_value.{layer}", "seqlens_k", "total_length", cos, sin],
                   [f"{at}a", f"present_key.{layer}", f"present_value.{layer}"], contrib, num_heads=heads, kv_num_heads=key_heads, do_rotary=1)
        skip = lambda h, x, norm, name: g.node("SkipSimplifiedLayerNormalization", [h, x, g.weight(norm)], [f"{at}{name}n", "", "", f"{at}{name}"], contrib, epsilon=eps)
        h, x = skip(g.linear(a, f"{at}self_attn.o_proj.weight", f"{at}o"), x, f"{at}post_attention_layernorm.weight", "x"), f"{at}x"
        gate, up = (g.linear(h, f"{at}mlp.{name}_proj.weight", f"{at}{name}") for name in ("gate", "up"))
        gate = g.node("Mul", [gate, g.node("Sigmoid", [gate], [f"{at}s"])], [f"{at}silu"])
        m = g.linear(g.node("Mul", [gate, up], [f"{at}g"]), f"{at}mlp.down_proj.weight", f"{at}m")
        h, x = skip(m, x, f"model.layers.{layer + 1}.input_layernorm.weight" if layer + 1 < layers else "model.norm.weight", "y"), f"{at}y"
    last = g.node("Gather", [h, g.constant("last", np.array(-1))], ["h_last"], axis=1)
    g.linear(last, head_of(config), "logits")
    g.save(path, [helper.make_tensor_value_info("input_ids", i64, ["batch", "sequence"]), helper.make_tensor_value_info("seqlens_k", i32, ["batch"]),
                  helper.make_tensor_value_info("total_length", i32, []), *caches],
           [helper.make_tensor_value_info("logits", f32, ["batch", config["vocab_size"]]), *grown])


def attention_graph(case, path):
    """One MultiHeadAttention of onnxruntime; a mask other than causal becomes a tensor added to the scores."""
    import onnx
    from onnx import helper
    width, length = cases.HEADS * cases.SIZE, case["length"]
    names = ["q", "k", "v"]
    inputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size, width]) for name, size in zip(names, [cases.queries(case), length, length])]
    operands = list(names)
    if case["mask"] in ("window", "documents"):
        inputs.append(helper.make_tensor_value_info("bias", onnx.TensorProto.FLOAT, [1, 1, length, length]))
        operands += ["", "", "bias"]
    node = helper.make_node("MultiHeadAttention", operands, ["output"], domain="com.microsoft", num_heads=cases.HEADS, unidirectional=int(case["mask"] == "causal"))
    graph = helper.make_graph([node], "attention", inputs, [helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, [1, cases.queries(case), width])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10), str(path))


def bias(case):
    return np.where(cases.allowed(case, np.arange(case["length"])), np.float32(0), np.float32(-1e30))[None, None]


def time_decoder(peer):
    """Seconds of the prompt, or, where tokens follow it, of each of them; `peer.step(begin, end)` reads those places."""
    length, whole = peer.case["length"], peer.ids.shape[1]
    start = time.perf_counter()
    peer.step(0, length)
    if whole == length:
        return time.perf_counter() - start
    start = time.perf_counter()
    for at in range(length, whole):
        peer.step(at, at + 1)
    return (time.perf_counter() - start) / (whole - length)


class OnnxRuntime:
    def __init__(self, case, paths, threads):
        import onnxruntime
        if paths["dtype"] == "bf16":
            raise Unable("has no kernels of bf16 for processors")
        suffix = "" if paths["dtype"] == "f32" else f"-{paths['dtype']}"
        self.case = case
        folder = pathlib.Path(paths["folder"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        if case["kind"] == "encoder":
            path = folder / f"minilm{suffix}.onnx"
            bert_graph(paths["model"], paths["config"], path, paths["dtype"])
        elif case["kind"] == "decoder":
            path = folder / f"{case.get('model', 'llama')}{suffix}.onnx"
            if not path.exists():
                llama_graph(paths["model"], paths["config"], path, paths["dtype"])
        else:
            scores = 4 * cases.HEADS * cases.queries(case) * case["length"]
            if scores > 4e9:
                raise Unable(f"would hold {1e-9 * scores:.0f} GB of scores")
            path = folder / f"attention-{case['mask']}-{cases.queries(case)}-{case['length']}.onnx"
            attention_graph(case, path)
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        if case["kind"] == "encoder":
            ids = cases.token_ids(case, paths["config"]["vocab_size"])
            self.feed, self.name = {"input_ids": ids, "attention_mask": np.ones_like(ids)}, "last_hidden_state"
        elif case["kind"] == "attention":
            self.feed = {name: array.reshape(1, array.shape[1], -1) for name, array in zip("qkv", cases.attention_inputs(case))}
            self.name = "output"
            if case["mask"] in ("window", "documents"):
                self.feed["bias"] = bias(case)
        else:
            self.name, self.ids = "logits", cases.token_ids(case, paths["config"]["vocab_size"])
            config = paths["config"]
            size = config["hidden_size"] // config["num_attention_heads"]
            empty = lambda: onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros((1, config["num_key_value_heads"], self.ids.shape[1], size), np.float32))
            # One buffer for what is past and what is present, which the operator writes in place.
            self.caches = {f"{kind}.{layer}": empty() for kind in ("key", "value") for layer in range(config["num_hidden_layers"])}
            for name, value in self.caches.items():
                self.binding.bind_ortvalue_input("past_" + name, value)
                self.binding.bind_ortvalue_output("present_" + name, value)
            self.feed = {}
        for name, array in self.feed.items():
            self.binding.bind_cpu_input(name, array)
        self.binding.bind_output(self.name)

    def step(self, begin, end):
        self.binding.bind_cpu_input("input_ids", np.ascontiguousarray(self.ids[:, begin:end]))
        self.binding.bind_cpu_input("seqlens_k", np.array([end - 1], np.int32))
        self.binding.bind_cpu_input("total_length", np.array(end, np.int32))
        self.session.run_with_iobinding(self.binding)

    def run(self):
        if self.case["kind"] == "decoder":
            return time_decoder(self)
        start = time.perf_counter()
        self.session.run_with_iobinding(self.binding)
        return time.perf_counter() - start

    def result(self):
        out = self.binding.get_outputs()[-1].numpy()  # what was bound last
        return out.reshape(1, -1, cases.HEADS, cases.SIZE)[0][:, cases.CHECKED] if self.case["kind"] == "attention" else out


def plain_llama(folder, config, paged=False):
    """A Llama in plain torch whose caches are arguments and results, which is what converters understand. `paged`: logits of all positions, and heads repeated as OpenVINO's paged
    attention recognises it."""
    import torch
    from torch.nn import functional as F
    store = {name: torch.nn.Parameter(torch.from_numpy(np.array(array)), requires_grad=False) for name, array in models.weights(folder).items()}
    heads, key_heads, layers = config["num_attention_heads"], config["num_key_value_heads"], config["num_hidden_layers"]
    size = config["hidden_size"] // heads

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.store = torch.nn.ParameterDict({name.replace(".", "_"): value for name, value in store.items()})
            self.register_buffer("frequencies", torch.tensor(config["rope_theta"])**(-torch.arange(size // 2) * 2 / size))

        def weight(self, name):
            return self.store[name.replace(".", "_")]

        def norm(self, x, name):
            return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + config["rms_norm_eps"]) * self.weight(name)

        def forward(self, input_ids, position_ids, mask, *past):
            x = F.embedding(input_ids, self.weight("model.embed_tokens.weight"))
            angles = position_ids[:, None, :, None].float() * self.frequencies
            cos, sin = (torch.cat([part, part], -1) for part in (angles.cos(), angles.sin()))
            turn = lambda t: t * cos + torch.cat([-t[..., size // 2:], t[..., :size // 2]], -1) * sin
            present = []
            for layer in range(layers):
                at = f"model.layers.{layer}."
                h = self.norm(x, at + "input_layernorm.weight")
                q, k, v = (F.linear(h, self.weight(f"{at}self_attn.{name}_proj.weight")).reshape(*input_ids.shape, -1, size).transpose(1, 2) for name in "qkv")
                k, v = torch.cat([past[2 * layer], turn(k)], 2), torch.cat([past[2 * layer + 1], v], 2)
                present += [k, v]
                if k.shape[1] != heads and paged:
                    k, v = (t[:, :, None].expand(-1, -1, heads // key_heads, -1, -1).reshape(t.shape[0], heads, -1, size) for t in (k, v))
                elif k.shape[1] != heads:
                    k, v = (t.repeat_interleave(heads // t.shape[1], 1) for t in (k, v))
                a = F.scaled_dot_product_attention(turn(q), k, v, attn_mask=mask).transpose(1, 2).reshape(x.shape)
                x = x + F.linear(a, self.weight(at + "self_attn.o_proj.weight"))
                h = self.norm(x, at + "post_attention_layernorm.weight")
                gated = F.silu(F.linear(h, self.weight(at + "mlp.gate_proj.weight"))) * F.linear(h, self.weight(at + "mlp.up_proj.weight"))
                x = x + F.linear(gated, self.weight(at + "mlp.down_proj.weight"))
            return F.linear(self.norm(x if paged else x[:, -1], "model.norm.weight"), self.weight(head_of(config))), *present

    return Plain().eval()


def save_llama(folder, config, path):
    """That module as an ONNX file by PyTorch's own exporter, every length open."""
    import torch
    layers, size = config["num_hidden_layers"], config["hidden_size"] // config["num_attention_heads"]
    past = [torch.zeros(1, config["num_key_value_heads"], 3, size) for _ in range(2 * layers)]
    inputs = (torch.ones(1, 2, dtype=torch.int64), torch.ones(1, 2, dtype=torch.int64), torch.zeros(1, 1, 2, 5), *past)
    sequence, before, auto = torch.export.Dim("sequence"), torch.export.Dim("past"), torch.export.Dim.AUTO
    program = torch.onnx.export(plain_llama(folder, config), inputs, dynamo=True, verbose=False,
                                dynamic_shapes=({1: sequence}, {1: sequence}, {2: sequence, 3: auto}, tuple({2: before} for _ in past)),
                                input_names=["input_ids", "position_ids", "mask", *(f"past.{i}" for i in range(2 * layers))],
                                output_names=["logits", *(f"present.{i}" for i in range(2 * layers))])
    program.save(str(path), external_data=True)


def compress(model, bits):
    """Weights of products as integers with scales, in the pattern that OpenVINO's plugin reads as such."""
    import openvino
    from openvino import opset13 as ops
    for product in model.get_ordered_ops():
        if product.get_type_name() != "MatMul":
            continue
        source = product.input_value(1).get_node()
        while source.get_type_name() == "Convert":
            source = source.input_value(0).get_node()
        if source.get_type_name() != "Constant" or not product.get_attributes()["transpose_b"]:
            continue
        weight = source.data
        outputs, inputs = weight.shape
        numbers, scales = integers(weight, bits, inputs if bits == 8 else BLOCK)
        if bits == 8:
            numbers, scales = numbers.reshape(weight.shape), scales.reshape(outputs, 1)
        packed = ops.constant(numbers, dtype={8: openvino.Type.i8, 4: openvino.Type.i4}[bits])
        scaled = ops.multiply(ops.convert(packed, np.float32), ops.constant(scales.astype(np.float32)))
        if bits == 4:
            scaled = ops.reshape(scaled, ops.constant(np.array(weight.shape)), False)
        product.input(1).replace_source_output(scaled.output(0))
    return model


def openvino_properties(dtype, threads):
    bits = BITS.get(dtype)
    element = "f32" if bits else dtype
    return {"INFERENCE_PRECISION_HINT": element, "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
            "EXECUTION_MODE_HINT": "ACCURACY" if dtype == "f32" else "PERFORMANCE", "KV_CACHE_PRECISION": element,
            **({"DYNAMIC_QUANTIZATION_GROUP_SIZE": GROUP[bits]} if bits else {})}


class OpenVino:
    def __init__(self, case, paths, threads):
        import openvino
        self.case, self.openvino = case, openvino
        core = openvino.Core()
        if case["kind"] == "encoder":
            import torch
            ids = cases.token_ids(case, paths["config"]["vocab_size"])
            self.feed = [ids, np.ones_like(ids)]
            # From torch itself: the same model by way of ONNX gives other numbers.
            model = openvino.convert_model(plain_encoder(paths["model"]), example_input=tuple(map(torch.from_numpy, self.feed)))
        elif case["kind"] == "attention":
            model = self.attention()
            self.feed = dict(zip("qkv", cases.attention_inputs(case)))
            if case["mask"] in ("window", "documents"):
                self.feed["bias"] = bias(case)
        else:
            model = self.llama(paths)
            self.ids = cases.token_ids(case, paths["config"]["vocab_size"])
        if paths["dtype"] in BITS:
            model = compress(model, BITS[paths["dtype"]])
        self.request = core.compile_model(model, "CPU", openvino_properties(paths["dtype"], threads)).create_infer_request()

    def attention(self):
        from openvino import opset13 as ops
        length = self.case["length"]
        parameters = [ops.parameter([1, size, cases.HEADS, cases.SIZE], np.float32, name=name) for name, size in zip("qkv", [cases.queries(self.case), length, length])]
        turned = [ops.transpose(parameter, ops.constant(np.array([0, 2, 1, 3]))) for parameter in parameters]
        arguments = list(turned)
        if self.case["mask"] in ("window", "documents"):
            parameters.append(ops.parameter([1, 1, length, length], np.float32, name="bias"))
            arguments.append(parameters[-1])
        for parameter in parameters:
            parameter.output(0).set_names({parameter.get_friendly_name()})
        out = ops.scaled_dot_product_attention(*arguments, causal=self.case["mask"] == "causal")
        return self.openvino.Model([ops.transpose(out, ops.constant(np.array([0, 2, 1, 3])))], parameters)

    def llama(self, paths):
        import torch
        from openvino._offline_transformations import apply_make_stateful_transformation
        config = paths["config"]
        layers, size = config["num_hidden_layers"], config["hidden_size"] // config["num_attention_heads"]
        past = [torch.zeros(1, config["num_key_value_heads"], 3, size) for _ in range(2 * layers)]
        model = self.openvino.convert_model(plain_llama(paths["model"], config), example_input=(torch.ones(1, 2, dtype=torch.int64), torch.ones(1, 2, dtype=torch.int64), torch.zeros(1, 1, 2, 5), *past))
        names = ["input_ids", "position_ids", "mask"] + [f"past.{i}" for i in range(2 * layers)]
        shapes = [[1, -1], [1, -1], [1, 1, -1, -1]] + [[1, config["num_key_value_heads"], -1, size]] * (2 * layers)
        for port, name in zip(model.inputs, names):
            port.get_tensor().set_names({name})
        for port, name in zip(model.outputs, ["logits"] + [f"present.{i}" for i in range(2 * layers)]):
            port.get_tensor().set_names({name})
        model.reshape({name: self.openvino.PartialShape(shape) for name, shape in zip(names, shapes)})
        apply_make_stateful_transformation(model, {f"past.{i}": f"present.{i}" for i in range(2 * layers)})
        return model

    def step(self, begin, end):
        mask = np.where(np.arange(end)[None] <= np.arange(begin, end)[:, None], np.float32(0), np.float32(-1e30))[None, None]
        self.request.infer({"input_ids": self.ids[:, begin:end], "position_ids": np.arange(begin, end)[None], "mask": mask})

    def run(self):
        if self.case["kind"] == "decoder":
            self.request.reset_state()
            return time_decoder(self)
        start = time.perf_counter()
        self.request.infer(self.feed, share_inputs=True)
        return time.perf_counter() - start

    def result(self):
        out = np.array(self.request.get_output_tensor(0).data)
        return out[0][:, cases.CHECKED] if self.case["kind"] == "attention" else out


PEERS = {"fovea": Fovea, "fovea.fixed": FoveaFixed, "fovea.denormals": FoveaDenormals, "fovea.onnx": FoveaOnnx, "onnxruntime": OnnxRuntime, "openvino": OpenVino, "torch": Torch, "torch.compile": TorchCompiled}
