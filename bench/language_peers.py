# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for language models alone, in the shape of those in peers.py: onnxruntime-genai, openvino-genai, CTranslate2
(encoders too) and llama.cpp.

Each reads what its own converter made of the checkpoint, kept in the folder of models. Caches are f32 (of bf16: bf16),
but for llama.cpp's, which are f16 as it has them by default. Integers too are as each has them by default: of
onnxruntime-genai's builder blocks of 32, of openvino-genai as of openvino in peers.py, of CTranslate2 a scale for each
output, of llama.cpp Q8_0 and Q4_0.

All but openvino-genai take the case's tokens one by one and give logits. openvino-genai goes on with tokens of its own
choice: `told_error` of cases.py checks these.
"""
import importlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import cases
import models
import peers
from peers import Unable, time_decoder

LISTED = "bench/requirements-language.txt lists it"


def there(module, how=LISTED):
    """The module, or Unable and how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Unable(f"is not there: {how}") from None


def decoders_only(case):
    if case["kind"] != "decoder":
        raise Unable("is measured with decoders alone")


def word(token):
    """A token's text in the vocabulary that `with_vocabulary` invents."""
    return f"t{token}"


def with_vocabulary(source, folder):
    """The checkpoint with a vocabulary, without which no converter takes it."""
    source, folder = pathlib.Path(source).resolve(), pathlib.Path(folder)
    for name in ["config.json", "model.safetensors"]:
        (folder / name).symlink_to(source / name)
    size = json.loads((source / "config.json").read_text())["vocab_size"]
    words = {"<unk>": 0, "<s>": 1, "</s>": 2, **{word(token): token for token in range(3, size)}}
    nothing = dict.fromkeys(["truncation", "padding", "normalizer", "post_processor", "decoder"])
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], **nothing, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "<unk>"}}))
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}))
    return folder


def converted(folder, *command):
    """The folder that a converter has written; in a process of its own, whose words OUT and WORK become that folder and
    an empty one."""
    if folder.exists():
        return folder
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        command = [{"OUT": unfinished, "WORK": work}.get(text, text) for text in command]
        done = subprocess.run([sys.executable, *map(str, command)], cwd=pathlib.Path(__file__).parent, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise RuntimeError(f"its converter failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return unfinished.rename(folder)


def stored(paths, case, program, kind):
    """Where a program's form of the case's model lies."""
    name = "minilm" if case["kind"] == "encoder" else case.get("model", "llama")
    return pathlib.Path(paths["folder"]) / f"{name}-{program}-{kind}"


class CTranslate2:
    def __init__(self, case, paths, threads):
        if case["kind"] == "attention":
            raise Unable("is measured with whole models alone")
        if paths["dtype"] == "int4":
            raise Unable("has no weights of int4 for processors")
        ctranslate2 = there("ctranslate2")
        kind = {"f32": "float32", "bf16": "bfloat16", "int8": "int8_float32"}[paths["dtype"]]
        if kind not in ctranslate2.get_supported_compute_types("cpu"):
            raise Unable(f"has no {paths['dtype']} for this processor")
        self.case = case
        folder = converted(stored(paths, case, "ctranslate2", kind), "-c",
                           "import sys, language_peers; language_peers.save_ctranslate2(*sys.argv[1:])",
                           paths["model"], case["kind"], kind, "OUT", "WORK")
        ids = cases.token_ids(case, paths["config"]["vocab_size"])
        how = dict(device="cpu", compute_type=kind, intra_threads=threads, inter_threads=1)
        if case["kind"] == "encoder":
            self.model = ctranslate2.Encoder(str(folder), **how)
            lengths = np.full(len(ids), ids.shape[1], np.int32)
            self.inputs = [ctranslate2.StorageView.from_array(array) for array in (ids.astype(np.int32), lengths)]
        else:
            self.model = ctranslate2.Generator(str(folder), **how)
            self.words = [word(token) for token in ids[0]]

    def generate(self, **more):
        """Reads the prompt at once; tokens behind it are forced one by one, each a step that gives logits."""
        length, steps = self.case["length"], self.case.get("steps", 0)
        if not steps:
            return self.model.generate_batch([self.words], max_length=1, include_prompt_in_result=False, **more)[0]
        return self.model.generate_batch([self.words[length:]], static_prompt=self.words[:length], max_length=steps,
                                         include_prompt_in_result=True, **more)[0]

    def run(self):
        start = time.perf_counter()
        if self.case["kind"] == "encoder":
            self.out = self.model.forward_batch(*self.inputs).last_hidden_state
            return time.perf_counter() - start
        if not self.case.get("steps"):
            self.generate()
            return time.perf_counter() - start
        ends = []
        self.generate(callback=lambda step: ends.append(time.perf_counter()) is not None)  # true would stop it
        return (ends[-1] - ends[0]) / (len(ends) - 1)

    def result(self):
        if self.case["kind"] == "encoder":
            return np.array(self.out)
        return np.array(self.generate(return_logits_vocab=True).logits[0][-1])[None]


def save_ctranslate2(model, kind, quantization, out, work):
    from ctranslate2.converters import TransformersConverter
    source = model if kind == "encoder" else with_vocabulary(model, work)
    TransformersConverter(str(source)).convert(out, quantization=quantization)


class OnnxRuntimeGenai:
    def __init__(self, case, paths, threads):
        decoders_only(case)
        if paths["dtype"] == "bf16":
            raise Unable("has no kernels of bf16 for processors")
        self.case, self.genai = case, there("onnxruntime_genai")
        kind = {"f32": "fp32"}.get(paths["dtype"], paths["dtype"])
        folder = converted(stored(paths, case, "onnxruntime-genai", kind), "-c",
                           "import sys, language_peers; language_peers.save_onnxruntime_genai(*sys.argv[1:])",
                           paths["model"], kind, "OUT", "WORK")
        config = self.genai.Config(str(folder))
        session = {"intra_op_num_threads": threads, "inter_op_num_threads": 1, "log_severity_level": 3}
        config.overlay(json.dumps({"model": {"decoder": {"session_options": session}}}))
        self.model = self.genai.Model(config)
        self.ids = cases.token_ids(case, paths["config"]["vocab_size"]).astype(np.int32)

    def step(self, begin, end):
        self.generator.append_tokens(self.ids[0, begin:end])

    def run(self):
        parameters = self.genai.GeneratorParams(self.model)
        parameters.set_search_options(max_length=self.ids.shape[1] + 1, do_sample=False)
        self.generator = self.genai.Generator(self.model, parameters)
        return time_decoder(self)

    def result(self):
        return np.array(self.generator.get_logits()).reshape(1, -1)


def save_onnxruntime_genai(model, precision, out, work):
    folder, cache = pathlib.Path(work) / "model", pathlib.Path(work) / "cache"
    folder.mkdir()
    builder = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-e", "cpu", "-c", cache, "-p", precision]
    last = ["--extra_options", "prune_lm_head=true"]  # of a prompt logits of the last token alone, as the others
    subprocess.run([*builder, "-i", with_vocabulary(model, folder), "-o", out, *last], check=True)


class OpenVinoGenai:
    CHECKED = 16  # tokens behind a prompt that are checked, though only the first is timed

    def __init__(self, case, paths, threads):
        decoders_only(case)
        genai = there("openvino_genai")
        import openvino
        self.case = case
        kind = paths["dtype"] if paths["dtype"] in peers.BITS else "f32"
        folder = converted(stored(paths, case, "openvino-genai", kind), "-c",
                           "import sys, language_peers; language_peers.save_openvino_genai(*sys.argv[1:])",
                           paths["model"], json.dumps(paths["config"]), kind, "OUT", "WORK")
        scheduler = genai.SchedulerConfig()
        scheduler.enable_prefix_caching = False  # else a prompt that comes again is not read again
        scheduler.max_num_batched_tokens = 1024  # a prompt at once
        self.pipeline = genai.LLMPipeline(str(folder), "CPU", scheduler_config=scheduler,
                                          **peers.openvino_properties(paths["dtype"], threads))
        ids = cases.token_ids(case, paths["config"]["vocab_size"])
        self.prompt = openvino.Tensor(np.ascontiguousarray(ids[:, :case["length"]]))

    def generate(self, count, **more):
        return self.pipeline.generate(self.prompt, max_new_tokens=count, ignore_eos=True, do_sample=False, **more)

    def run(self):
        steps = self.case.get("steps", 0)
        start = time.perf_counter()
        told = self.generate(1 + steps)
        if not steps:
            return time.perf_counter() - start
        durations = told.perf_metrics.raw_metrics.m_durations  # microseconds of each token but the first
        if len(durations) != steps:
            raise RuntimeError(f"gave {len(durations)} times for {steps} tokens")
        return sum(durations) / steps * 1e-6

    def result(self):
        """Tokens of its own choice, none that was there before: random models repeat themselves whatever they read."""
        count = 1 + self.case["steps"] if "steps" in self.case else self.CHECKED
        told = self.generate(count, repetition_penalty=1e6, logprobs=1)
        return {"tokens": list(told.tokens[0]), "logarithm": told.scores[0]}


def paged_llama(folder, config):
    """plain_llama with the arguments that openvino-genai knows."""
    import torch

    class Paged(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.plain = peers.plain_llama(folder, config, paged=True)

        def forward(self, input_ids, attention_mask, position_ids, *past):
            keys = torch.arange(attention_mask.shape[1])
            mask = (keys <= position_ids[..., None]) & (attention_mask[:, None] != 0)
            return self.plain(input_ids, position_ids, mask[:, None], *past)

    return Paged().eval()


def save_openvino_genai(model, config, kind, out, work):
    """The graph that optimum-intel would export (it does not work with this transformers): caches as state that starts
    empty, rows of them chosen by beam_idx, and logits of all positions, of which the pipeline takes the last."""
    import openvino
    import openvino_tokenizers
    import torch
    from openvino import opset13 as ops
    from openvino._offline_transformations import apply_make_stateful_transformation
    from transformers import AutoTokenizer
    config = json.loads(config)
    heads, size = config["num_key_value_heads"], config["hidden_size"] // config["num_attention_heads"]
    caches = range(2 * config["num_hidden_layers"])
    example = (torch.ones(1, 2, dtype=torch.int64), torch.ones(1, 5, dtype=torch.int64), torch.tensor([[3, 4]]),
               *(torch.zeros(1, heads, 3, size) for _ in caches))
    graph = openvino.convert_model(paged_llama(model, config), example_input=example)
    names = ["input_ids", "attention_mask", "position_ids", *(f"past.{i}" for i in caches)]
    for port, name in zip(graph.inputs, names):
        port.get_tensor().set_names({name})
    for port, name in zip(graph.outputs, ["logits", *(f"present.{i}" for i in caches)]):
        port.get_tensor().set_names({name})
    shape = lambda name: [-1, heads, -1, size] if name.startswith("past.") else [-1, -1]
    graph.reshape({name: openvino.PartialShape(shape(name)) for name in names})
    beam = ops.parameter([-1], np.int32, name="beam_idx")
    beam.output(0).set_names({"beam_idx"})
    for port in graph.inputs[3:]:
        users = port.get_target_inputs()
        chosen = ops.gather(port, beam, ops.constant(0))
        for user in users:
            user.replace_source_output(chosen.output(0))
    graph.add_parameters([beam])
    apply_make_stateful_transformation(graph, {f"past.{i}": f"present.{i}" for i in caches})
    batch = ops.gather(ops.shape_of(graph.input("input_ids")), ops.constant([0]), ops.constant(0))
    empty = ops.broadcast(ops.constant(np.float32(0)), ops.concat([batch, ops.constant(np.array([heads, 0, size]))], 0))
    for node in graph.get_ops():
        if node.get_type_name() == "ReadValue":
            node.set_arguments([empty.output(0)])
    graph.validate_nodes_and_infer_types()
    if kind in peers.BITS:
        graph = peers.compress(graph, peers.BITS[kind])
    out = pathlib.Path(out)
    out.mkdir()
    openvino.save_model(graph, out / "openvino_model.xml", compress_to_fp16=False)
    tokenizer = AutoTokenizer.from_pretrained(with_vocabulary(model, work))
    parts = openvino_tokenizers.convert_tokenizer(tokenizer, with_detokenizer=True)
    for part, name in zip(parts, ["tokenizer", "detokenizer"]):
        openvino.save_model(part, out / f"openvino_{name}.xml")


def save_gguf(folder, config, path):
    """A Llama as an f32 GGUF file: rotary pairs beside each other, as llama.cpp's graph of this family wants them, and
    no vocabulary."""
    import gguf
    heads, key_heads = config["num_attention_heads"], config["num_key_value_heads"]
    size = config["hidden_size"] // heads
    file = gguf.GGUFWriter(str(path), "llama")
    file.add_context_length(config["max_position_embeddings"])
    file.add_embedding_length(config["hidden_size"])
    file.add_block_count(config["num_hidden_layers"])
    file.add_feed_forward_length(config["intermediate_size"])
    file.add_head_count(heads)
    file.add_head_count_kv(key_heads)
    file.add_layer_norm_rms_eps(config["rms_norm_eps"])
    file.add_rope_dimension_count(size)
    file.add_rope_freq_base(config["rope_theta"])
    file.add_vocab_size(config["vocab_size"])
    file.add_tokenizer_model("none")
    names = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
             "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
             "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
    others = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
              "lm_head.weight": "output.weight"}
    for name, tensor in models.weights(folder).items():
        tensor = np.array(tensor)
        if name.startswith("model.layers."):
            layer, part = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
            if part in ("self_attn.q_proj", "self_attn.k_proj"):
                count = heads if part == "self_attn.q_proj" else key_heads
                tensor = tensor.reshape(count, 2, size // 2, -1).swapaxes(1, 2).reshape(tensor.shape)
            file.add_tensor(f"blk.{layer}.{names[part]}.weight", np.ascontiguousarray(tensor))
        else:
            file.add_tensor(others[name], tensor)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


class LlamaCpp:
    def __init__(self, case, paths, threads):
        decoders_only(case)
        import ctypes
        llama_cpp = there("llama_cpp", "scripts/bench compiles it for --dtype int8 and int4, or with --peer llama.cpp")
        self.case, self.llama = case, llama_cpp
        self.silence = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(self.silence, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        folder = pathlib.Path(paths["folder"])
        kind = {"f32": "F32", "bf16": "MOSTLY_BF16", "int8": "MOSTLY_Q8_0", "int4": "MOSTLY_Q4_0"}[paths["dtype"]]
        name = case.get("model", "llama")
        plain = folder / f"{name}-F32.gguf"
        if not plain.exists():
            save_gguf(paths["model"], paths["config"], plain)
        path = folder / f"{name}-{kind.removeprefix('MOSTLY_')}.gguf"
        if not path.exists():
            how = llama_cpp.llama_model_quantize_default_params()
            how.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_{'ALL_' if kind == 'F32' else ''}{kind}")
            if llama_cpp.llama_model_quantize(str(plain).encode(), str(path).encode(), ctypes.byref(how)):
                raise Unable(f"cannot make {kind}")
        how = llama_cpp.llama_model_default_params()
        model = llama_cpp.llama_model_load_from_file(str(path).encode(), how)
        self.ids = cases.token_ids(case, paths["config"]["vocab_size"]).astype(np.int32)
        self.words = paths["config"]["vocab_size"]
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = 1024
        options.n_batch = options.n_ubatch = 512
        options.n_threads = options.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(model, options)
        if not self.context:
            raise Unable("refuses the model")

    def step(self, begin, end):
        tokens = (self.llama.llama_token * (end - begin))(*self.ids[0, begin:end].tolist())
        batch = self.llama.llama_batch_get_one(tokens, end - begin)
        if self.llama.llama_decode(self.context, batch):
            raise RuntimeError("llama_decode failed")
        self.logits = self.llama.llama_get_logits_ith(self.context, -1)

    def run(self):
        self.llama.llama_memory_clear(self.llama.llama_get_memory(self.context), True)
        return time_decoder(self)

    def result(self):
        return np.ctypeslib.as_array(self.logits, (self.words,)).copy()[None]


PEERS = {"onnxruntime-genai": OnnxRuntimeGenai, "openvino-genai": OpenVinoGenai, "ctranslate2": CTranslate2,
         "llama.cpp": LlamaCpp}
