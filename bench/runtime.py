# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of fovea/runtime.h that the benchmarks call, through ctypes: opens an artifact, runs its entries in this process. A call takes and gives numpy arrays."""
import ctypes
import time

import numpy as np

pointer, i32, i64, size_t = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_size_t
CODES = {"f": 2, "i": 0, "u": 1, "b": 6}


class Tensor(ctypes.Structure):
    _fields_ = [("data", pointer), ("device_type", i32), ("device_id", i32), ("ndim", i32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(i64)), ("strides", ctypes.POINTER(i64)), ("byte_offset", ctypes.c_uint64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("struct_size", size_t), ("threads", i32), ("capacity", i64), ("threading", pointer), ("profile", ctypes.c_int)]


class Runtime:
    """An artifact, opened, with a context of `threads` threads and room for `capacity` positions."""

    def __init__(self, library, artifact, threads, capacity=0):
        self.library = ctypes.CDLL(str(library))
        self.library.fovea_status_message.restype = ctypes.c_char_p
        self.library.fovea_status_message.argtypes = [pointer]
        self.module, self.context, self.calls, self.kept = pointer(), pointer(), {}, {}
        self("module_open", str(artifact).encode(), ctypes.byref(self.module))
        options = ContextOptions(ctypes.sizeof(ContextOptions), threads, capacity, None, 0)
        self("context_create", self.module, ctypes.byref(options), ctypes.byref(self.context))

    def __call__(self, function, *arguments):
        entry = getattr(self.library, "fovea_" + function)
        entry.restype = pointer
        status = entry(*arguments)
        if status:
            raise RuntimeError(f"fovea_{function}: {self.library.fovea_status_message(status).decode()}")

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

    def result(self, entry, name):
        tensor = ctypes.POINTER(Tensor)()
        self("call_get_result", self.calls[entry], name.encode(), ctypes.byref(tensor))
        shape = [tensor.contents.shape[axis] for axis in range(tensor.contents.ndim)]
        kind = {code: kind for kind, code in CODES.items()}[tensor.contents.code]
        data = (ctypes.c_uint8 * (int(np.prod(shape)) * tensor.contents.bits // 8)).from_address(tensor.contents.data)
        return np.frombuffer(data, f"<{kind}{tensor.contents.bits // 8}").reshape(shape).copy()
