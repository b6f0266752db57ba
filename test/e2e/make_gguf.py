# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny random models as GGUF files, each with inputs and the outputs of `transformers` in f64.

usage: make_gguf.py FOLDER SHAKESPEARE_MODEL

Writes FOLDER/NAME/model.gguf, FOLDER/NAME/inputs.npz and FOLDER/NAME/reference.npz. Matrices are stored in the type of the case, norms and biases in f32; where types are mixed, each layer's output has
another than its inputs.
"""
import pathlib
import sys

import numpy as np
import torch
import transformers

from gguf_cases import CASES
from gguf_files import TYPES, write_model
from make_checkpoints import randomise, token_ids
from make_decoders import make_model

def types_of(kind):
    """The type of each matrix; `mixed`: what layers end with is of halves, all else of bf16, and the head is not."""
    if kind != "mixed":
        return lambda name: TYPES[kind]
    return lambda name: TYPES.F32 if name == "output.weight" else TYPES.F16 if "down" in name or "output" in name else TYPES.BF16


def rounded(model, kind):
    """The model with what is stored of its matrices, in f64."""
    if kind in ("F16", "BF16"):
        dtype = torch.float16 if kind == "F16" else torch.bfloat16
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.copy_(parameter.to(dtype).to(parameter.dtype))
    elif kind == "mixed":
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if parameter.dim() > 1 and name != "lm_head.weight":
                    parameter.copy_(parameter.to(torch.float16 if "down" in name or "o_proj" in name else torch.bfloat16).to(parameter.dtype))
    return model


def make(out, name):
    arch, prefix, settings, kind = CASES[name]
    seed = sum(map(ord, name))
    if prefix == "Bert":
        model = randomise(transformers.BertModel(transformers.BertConfig(**settings)), seed)
    elif prefix == "GPT2":
        model = randomise(transformers.GPT2LMHeadModel(transformers.GPT2Config(**settings, bos_token_id=0, eos_token_id=1)), seed)
    else:
        model = make_model(prefix, settings, seed)
    # Past windows, and past the positions that stretched rotations were trained on.
    inputs = {"input_ids": token_ids(7, 2, 50)}
    if prefix == "Bert":
        mask = np.arange(50)[None] < [[50], [21]]
        inputs |= {"attention_mask": mask.astype(np.int64), "token_type_ids": token_ids(8, 2, 50) % 2}
    model = rounded(model.eval(), kind)
    out = out / name
    out.mkdir(parents=True)
    write_model(out / "model.gguf", arch, model, types_of(kind), **({"pooling_type": 1} if prefix == "Bert" else {}))
    exact = type(model)(model.config).to(torch.float64).eval()
    exact.load_state_dict({key: value.to(torch.float64) for key, value in model.state_dict().items()})
    exact.config._experts_implementation = "eager"
    with torch.no_grad():
        result = exact(**{key: torch.from_numpy(array) for key, array in inputs.items()})
    np.savez(out / "inputs.npz", **inputs)
    if prefix == "Bert":
        seen = torch.from_numpy(mask)[..., None]
        mean = torch.nn.functional.normalize((result.last_hidden_state * seen).sum(1) / seen.sum(1), dim=-1)
        np.savez(out / "reference.npz", last_hidden_state=(result.last_hidden_state * seen).numpy(), embedding=mean.numpy())
    else:
        np.savez(out / "reference.npz", logits=result.logits.numpy())


def main():
    out = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)  # so small that a second one only waits
    for name in CASES:
        make(out, name)


if __name__ == "__main__":
    main()
