# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configurations by which a loader would fetch or run code. The code would leave a file `owned` behind."""
import json

from library import case
from seeds import CONFIG, checkpoint

EVIL = "import pathlib\npathlib.Path('owned').write_text('')\n\n\nclass Evil:\n    pass\n"


def setting(folder, **values):
    model = checkpoint(folder)
    (model / "config.json").write_text(json.dumps({**CONFIG, **values}))
    (model / "modeling_evil.py").write_text(EVIL)
    return "model"


@case("CVE-2026-22807", "auto_map names a module of the checkpoint, which is imported", "model/config.json: auto_map: expects nothing: code that a checkpoint brings or names is never run")
def auto_map_of_a_module(folder):
    return setting(folder, auto_map={"AutoConfig": "modeling_evil.Evil", "AutoModelForCausalLM": "modeling_evil.Evil"})


@case("CVE-2025-66448", "auto_map names a module of another repository, which is fetched", 'model/config.json: architectures: expects one of LlamaForCausalLM, LlamaModel of family "llama", got "EvilForCausalLM"; most Transformers compile from ONNX, which "optimum-cli export onnx --model model model-onnx" writes')
def auto_map_of_another_repository(folder):
    return setting(folder, architectures=["EvilForCausalLM"], auto_map={"AutoConfig": "evil/backend--modeling_evil.Evil"})


@case("CVE-2026-5241", "the checkpoint says itself that its code is to be trusted", "model/config.json: trust_remote_code: expects nothing: code that a checkpoint brings or names is never run")
def trust_in_its_own_words(folder):
    return setting(folder, trust_remote_code=True)


@case("CVE-2026-4372", "a key for internal use names a repository with kernels to run", "model/config.json: _attn_implementation_internal: expects nothing: code that a checkpoint brings or names is never run")
def attention_of_a_repository(folder):
    return setting(folder, _attn_implementation_internal="evil/kernels")


@case("CVE-2026-27893", "a nested configuration that names code", "model/config.json: text_config: could change numbers and is not understood")
def nested_configuration_with_code(folder):
    return setting(folder, text_config={"auto_map": {"AutoModel": "modeling_evil.Evil"}})


@case("CVE-2026-4372", "a quantiser that is imported by its name", "model/config.json: quantization_config.quant_method: expects \"gptq\", \"awq\", \"compressed-tensors\", \"fp8\" or \"mxfp4\": others are not supported, got \"evil\"")
def quantiser_by_name(folder):
    return setting(folder, quantization_config={"quant_method": "evil", "modules_to_not_convert": ["modeling_evil.Evil"]})


@case("huggingface/transformers, custom_generate", "a folder with a program that generates, and the rest of a repository's Python", end="untouched")
def program_that_generates(folder):
    setting(folder)
    (folder / "model" / "custom_generate").mkdir()
    (folder / "model" / "custom_generate" / "generate.py").write_text(EVIL)
    (folder / "model" / "handler.py").write_text(EVIL)
    (folder / "model" / "setup.py").write_text(EVIL)
    return "model"


@case("CVE-2026-4372", "attention chosen by a repository's name, a key that transformers writes itself", end="untouched")
def attention_by_the_public_key(folder):
    return setting(folder, _attn_implementation="evil/kernels:Evil", attn_implementation="evil/kernels")


@case("CVE-2024-37032", "the name of a path above, which a loader goes back to", end="untouched")
def name_that_is_a_path(folder):
    return setting(folder, _name_or_path="../../../../etc")
