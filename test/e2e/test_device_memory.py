# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors in a device's memory, from C, with what the compiler made: a decoder whose tokens never leave the emulator, or a GPU by --device, writes what it writes by way of
the host."""
import ctypes
import json
import sys

import numpy as np
import pytest

from programs import BIN, DATA, ROOT

SHAKESPEARE = json.loads((DATA / "shakespeare-reference.json").read_text())
TOKENS = 6


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class ContextInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("capacity", ctypes.c_int64), ("length", ctypes.c_int64), ("device", Device)]


class RunOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("results_on_device", ctypes.c_int), ("stream", ctypes.c_void_p)]


class OnDevice:
    """A context's memory on its device, and runs whose results stay there."""

    def __init__(self, runtime, tensor):
        self.runtime, self.Tensor = runtime, tensor
        info = ContextInfo(ctypes.sizeof(ContextInfo))
        runtime("context_get_info", runtime.context, ctypes.byref(info))
        self.device = info.device

    def put(self, array):
        """Its address there, `array` being copied."""
        memory = ctypes.c_void_p()
        self.runtime("context_allocate", self.runtime.context, ctypes.c_uint64(array.nbytes), ctypes.byref(memory))
        self.runtime("context_copy_in", self.runtime.context, memory, ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(array.nbytes))
        return memory.value

    def set(self, entry, name, address, shape):
        self.runtime.set(entry)
        tensor = self.Tensor(address, self.device.type, self.device.id, len(shape), 0, 64, 1, (ctypes.c_int64 * len(shape))(*shape), None, 0)
        self.runtime("call_set_argument", self.runtime.calls[entry], name.encode(), ctypes.byref(tensor))

    def run(self, entry):
        self.runtime("call_run_with", self.runtime.calls[entry], ctypes.byref(RunOptions(ctypes.sizeof(RunOptions), 1, None)))

    def address(self, entry, name):
        """Of a result that stayed."""
        tensor = ctypes.POINTER(self.Tensor)()
        self.runtime("call_get_result", self.runtime.calls[entry], name.encode(), ctypes.byref(tensor))
        assert (tensor.contents.device_type, tensor.contents.device_id) == (self.device.type, self.device.id)
        return tensor.contents.data

    def read(self, address, shape, dtype):
        array = np.empty(shape, dtype)
        self.runtime("context_copy_out", self.runtime.context, ctypes.c_void_p(array.ctypes.data), ctypes.c_void_p(address), ctypes.c_uint64(array.nbytes))
        return array


@pytest.mark.devices("emulator", "emulator:late")
def test_tokens_stay_on_the_device(this_processor, compiled, shakespeare, device, gpu_code, monkeypatch):
    library = BIN.parent / "lib" / "libfovea-runtime.so"
    if not library.exists():
        pytest.skip("build/lib/libfovea-runtime.so does not exist")
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    monkeypatch.delitem(sys.modules, "runtime", raising=False)
    import runtime as module
    case = SHAKESPEARE[0]
    runtime = module.Runtime(library, compiled(shakespeare, *gpu_code), threads=2, capacity=64, device=device)
    there = OnDevice(runtime, module.Tensor)
    assert there.device.type == (12 if device.startswith("emulator") else 2)
    prompt = np.array([case["prompt_ids"]], dtype=np.int64)
    there.set("prefill", "input_ids", there.put(prompt), prompt.shape)
    there.run("prefill")
    token, found = there.address("prefill", "next_token"), []
    for _ in range(TOKENS):
        found.append(int(there.read(token, (1,), np.int64)[0]))
        # From the second on the argument is this call's own result.
        there.set("decode", "input_ids", token, (1, 1))
        there.run("decode")
        token = there.address("decode", "next_token")
    assert found == case["greedy_ids"][:TOKENS]
    bad = np.array([[prompt.max() + 10**6]], dtype=np.int64)
    there.set("decode", "input_ids", there.put(bad), bad.shape)
    with pytest.raises(RuntimeError, match="met an index or a size out of bounds; look at the values of 'input_ids'"):
        there.run("decode")
    runtime.close()
