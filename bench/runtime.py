# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of fovea/runtime.h that the benchmarks call, through ctypes: opens an artifact, runs its entries in this process. A call takes and gives numpy arrays; uint16 holds
bf16."""
import ctypes
import time

import numpy as np

pointer, i32, i64, size_t = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_size_t
CODES = {"f": 2, "i": 0, "u": 4, "b": 6}  # by numpy's kinds; u2 is bf16


class Tensor(ctypes.Structure):
    _fields_ = [("data", pointer), ("device_type", i32), ("device_id", i32), ("ndim", i32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(i64)), ("strides", ctypes.POINTER(i64)), ("byte_offset", ctypes.c_uint64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("struct_size", size_t), ("threads", i32), ("capacity", i64), ("threading", pointer), ("profile", ctypes.c_int), ("trace", ctypes.c_int),
                ("device", ctypes.c_char_p)]


class StepInfo(ctypes.Structure):
    _fields_ = [("struct_size", size_t), ("kernel", ctypes.c_char_p), ("description", ctypes.c_char_p), ("location", ctypes.c_char_p), ("is_fallback", ctypes.c_int), ("schedule", ctypes.c_char_p)]


class Runtime:
    """An artifact, opened, with a context of `threads` threads and room for `capacity` positions on `device`."""

    def __init__(self, library, artifact, threads, capacity=0, device="cpu"):
        self.library = ctypes.CDLL(str(library))
        self.library.fovea_status_message.restype = ctypes.c_char_p
        for function in ["status_message", "call_free", "context_free", "module_free"]:
            getattr(self.library, "fovea_" + function).argtypes = [pointer]
        self.module, self.context, self.calls, self.kept = pointer(), pointer(), {}, {}
        self("module_open", str(artifact).encode(), ctypes.byref(self.module))
        options = ContextOptions(ctypes.sizeof(ContextOptions), threads, capacity, None, 0, 0, device.encode())
        self("context_create", self.module, ctypes.byref(options), ctypes.byref(self.context))

    def __call__(self, function, *arguments):
        entry = getattr(self.library, "fovea_" + function)
        entry.restype = pointer
        status = entry(*arguments)
        if status:
            raise RuntimeError(f"fovea_{function}: {self.library.fovea_status_message(status).decode()}")

    def close(self):
        for call in self.calls.values():
            self.library.fovea_call_free(call)
        self.library.fovea_context_free(self.context)
        self.library.fovea_module_free(self.module)
        self.calls, self.kept = {}, {}

    def device(self):
        """In words."""
        name = ctypes.c_char_p()
        self("context_get_device", self.context, ctypes.byref(name))
        return name.value.decode()

    def fallbacks(self, entry):
        """Kernels of the entry that are plain loops, as the context's device runs it."""
        index, count, step = size_t(), size_t(), StepInfo(ctypes.sizeof(StepInfo))
        self("module_find_entry", self.module, entry.encode(), ctypes.byref(index))
        self("context_get_step_count", self.context, index, ctypes.byref(count))
        found = []
        for i in range(count.value):
            self("context_get_step", self.context, index, size_t(i), ctypes.byref(step))
            if step.is_fallback:
                found.append(step.kernel.decode())
        return found

    def measure_copy(self, size, runs):
        """Seconds of copying `size` bytes within the device's memory."""
        seconds = ctypes.c_double()
        self("context_measure_copy", self.context, ctypes.c_uint64(size), i64(runs), ctypes.byref(seconds))
        return seconds.value

    def reset(self):
        self("context_reset", self.context)

    def set(self, entry, **arrays):
        if entry not in self.calls:
            self.calls[entry] = pointer()
            self("call_create", self.context, entry.encode(), ctypes.byref(self.calls[entry]))
        for name, array in arrays.items():
            shape = (i64 * array.ndim)(*array.shape)
            tensor = Tensor(array.ctypes.data, 1, 0, array.ndim, CODES[array.dtype.kind], 8 * array.itemsize, 1, shape, None, 0)
            self("call_set_argument", self.calls[entry], name.encode(), ctypes.byref(tensor))
            self.kept[entry, name] = array

    def run(self, entry):
        """Runs with what was set last; gives seconds."""
        call = self.calls[entry]
        start = time.perf_counter()
        self("call_run", call)
        return time.perf_counter() - start

    def measure(self, entry, runs):
        """Runs the steps `runs` times with what was set last; gives the seconds of one by the device's clock, without copies there and back."""
        seconds = ctypes.c_double()
        self("call_measure", self.calls[entry], i64(runs), ctypes.byref(seconds))
        return seconds.value

    def result(self, entry, name):
        tensor = ctypes.POINTER(Tensor)()
        self("call_get_result", self.calls[entry], name.encode(), ctypes.byref(tensor))
        shape = [tensor.contents.shape[axis] for axis in range(tensor.contents.ndim)]
        kind = {code: kind for kind, code in CODES.items()}[tensor.contents.code]
        data = (ctypes.c_uint8 * (int(np.prod(shape)) * tensor.contents.bits // 8)).from_address(tensor.contents.data)
        return np.frombuffer(data, f"<{kind}{tensor.contents.bits // 8}").reshape(shape).copy()
