# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says which NVIDIA GPU and driver this machine has, or why there is none, before anything is built: in the words of the runtime (runtime/CudaDevice.cpp), by the same
functions of the driver.

usage: python cuda_device.py [cuda|cuda:N]     exit code 1 if there is no such device
"""
import ctypes
import pathlib
import sys


class Missing(Exception):
    pass


def text(driver, result):
    words = ctypes.c_char_p()
    driver.cuGetErrorString(result, ctypes.byref(words))
    return words.value.decode() if words.value else f"error {result}"


def describe(name="cuda"):
    """{"name", "driver"} of a device; raises Missing with the reason."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise Missing(f"device 'cuda': expects NVIDIA's driver on this machine: {error}")
    if result := driver.cuInit(0):
        raise Missing(f"device 'cuda': NVIDIA's driver does not start: {text(driver, result)}")
    number, count = int(name.partition(":")[2] or 0), ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    if number >= count.value:
        raise Missing(f"device 'cuda': expects device {number} of this machine, which has {count.value}")
    device, words = ctypes.c_int(), ctypes.create_string_buffer(256)
    driver.cuDeviceGet(ctypes.byref(device), number)
    driver.cuDeviceGetName(words, 255, device)
    return {"name": words.value.decode(), "driver": version()}


def version():
    """The driver's, as its kernel module says."""
    try:
        line = pathlib.Path("/proc/driver/nvidia/version").read_text().splitlines()[0]
    except OSError:
        return "unknown"
    return next((word for word in line.split() if word[:1].isdigit() and "." in word), "unknown")


def main():
    try:
        found = describe(*sys.argv[1:2])
    except Missing as missing:
        print(missing, file=sys.stderr)
        sys.exit(1)
    print(f"{found['name']}, driver {found['driver']}")


if __name__ == "__main__":
    main()
