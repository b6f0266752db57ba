# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names are labels: a model whose entry, arguments, results and sizes are called otherwise, and says what each is, does what the one with the frameworks' names does."""
import json
import re

import make_golden
import numpy as np
from test_golden import ok, run

OTHER_NAMES = {"input_ids": "tokens", "logits": "scores", "sequence": "time", "batch": "texts"}
ROLES = {"input_ids": "token_ids", "logits": "logits"}


def sources(folder, roles=True):
    """The golden model under other names."""
    make_golden.write_sources(folder)
    text = (folder / "golden.mlir").read_text()
    for name, role in ROLES.items():
        assert f'fovea.name = "{name}"}}' in text
        text = text.replace(f'fovea.name = "{name}"}}', f'fovea.name = "{name}"' + (f", fovea.role = #fovea.role<{role}>}}" if roles else "}"))
    for name, other in OTHER_NAMES.items():
        assert f'"{name}"' in text
        text = text.replace(f'"{name}"', f'"{other}"')
    text = text.replace("@prefill", "@read")
    if roles:
        text = text.replace("attributes {fovea.entry,", "attributes {fovea.entry, fovea.kind = #fovea.entry_kind<prefill>,")
    (folder / "renamed.mlir").write_text(text)


def generate(folder, artifact):
    return run("fovea-run", "generate", folder / artifact, "--prompt", "ONE", "--temp", "0", "-n", 20, "--json", "--quiet")


def test_roles_decide_not_names(tmp_path):
    sources(tmp_path)
    ok(run("fovea", "compile", "renamed.mlir", "-o", "renamed.fovea", cwd=tmp_path))
    told = json.loads(ok(generate(tmp_path, "renamed.fovea")))
    assert told["text"] == " two three four five" and told["stop"] == "end", told
    # The bound on positions is that of the ids' second axis, whatever it is called.
    np.savez(tmp_path / "in.npz", tokens=np.zeros((1, 33), np.int64))
    done = run("fovea-run", "run", tmp_path / "renamed.fovea", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert done.returncode == 1 and "33 new positions are more than the 32" in done.stderr, done.stderr


def test_verify_reads_the_renamed_in_chunks(tmp_path):
    sources(tmp_path)
    told = ok(run("fovea", "verify", "renamed.mlir", cwd=tmp_path))
    assert re.search(r"^read +batch 2, read 16 \+ 16 +scores ", told, re.MULTILINE), told


def test_without_roles_other_names_are_only_names(tmp_path):
    sources(tmp_path, roles=False)
    ok(run("fovea", "compile", "renamed.mlir", "-o", "renamed.fovea", cwd=tmp_path))
    done = generate(tmp_path, "renamed.fovea")
    assert done.returncode == 1 and "it has no entry 'prefill'" in done.stderr, done.stderr


def test_two_entries_of_a_kind_are_refused(tmp_path):
    sources(tmp_path)
    entry = "func.func @{0}(%x: tensor<4xf32> {{fovea.name = \"x\"}}) -> (tensor<4xf32> {{fovea.name = \"y\"}}) attributes {{fovea.entry, fovea.kind = #fovea.entry_kind<embed>}} {{ return %x : tensor<4xf32> }}"
    (tmp_path / "two.mlir").write_text("\n".join(entry.format(name) for name in ("one", "other")))
    done = run("fovea", "compile", "two.mlir", "-o", "two.fovea", cwd=tmp_path)
    assert done.returncode == 1 and "expects one entry of kind 'embed', got 'one' and 'other'" in done.stderr, done.stderr
