# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all Python tests share: the --all flag, and where things lie."""
import gc
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the long tests too (marked `long`)")
    parser.addoption("--exhaustive", action="store_true", help="run every case of the long tests, too (marked `exhaustive`)")
    parser.addoption("--processor", help="compile models of the end-to-end tests for this one, and run fovea-run on it by qemu: aarch64, aarch64-dotprod, aarch64-i8mm")
    parser.addoption("--device", help="run only the tests that run code on a device, and on this one: cuda")


def pytest_configure(config):
    # torch, transformers and onnxscript keep millions of objects, which Python else goes through again and again.
    gc.set_threshold(50_000, 20, 100)
    config.addinivalue_line("markers", "devices(names): where the test runs code, if --device does not say it")
    config.addinivalue_line("markers", "exhaustive: another case of a long test that has one of its kind; only run with --exhaustive, by hand")
    config.addinivalue_line("markers", "long: takes more than a few seconds; only run with --all, as CI does")


def pytest_generate_tests(metafunc):
    """A test with an argument `device` names its devices by the mark `devices`; on others than the CPU it is long."""
    if "device" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--device")
        names = [chosen] if chosen else next(metafunc.definition.iter_markers("devices")).args
        metafunc.parametrize("device", [pytest.param(name, marks=() if name in ("cpu", chosen) else pytest.mark.long) for name in names])


# Files of minutes, which go first where several processes share the files: the last of them would else run alone.
LONGEST = ["python/test_dynamo.py", "e2e/test_corpus.py", "e2e/test_decoder_families.py", "e2e/test_decoder_families_onnx.py", "e2e/test_device.py",
           "e2e/test_attention_grid.py", "e2e/test_architectures_onnx.py", "tokenizer/test_compare.py", "hostile/test_hostile.py", "e2e/test_onnx_nodes.py",
           "e2e/test_onnx_empty.py", "e2e/test_gpu_commands.py", "e2e/test_translator_families.py", "e2e/test_caches.py", "template/test_template.py",
           "e2e/test_translator_families_onnx.py", "e2e/test_onnx_pairs.py", "e2e/test_encoder_families_onnx.py", "faults/test_faults.py", "e2e/test_onnx_generation.py",
           "e2e/test_onnx_heads.py", "e2e/test_speech_families.py"]


def pytest_collection_modifyitems(config, items):
    rank = {ROOT / "test" / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))
    if config.getoption("--device"):
        config.hook.pytest_deselected(items=[item for item in items if "device" not in item.fixturenames])
        items[:] = [item for item in items if "device" in item.fixturenames]
    exhaustive = config.getoption("--exhaustive")
    wanted = {"long": config.getoption("--all") or exhaustive, "exhaustive": exhaustive}
    for mark in [mark for mark, run in wanted.items() if not run]:
        config.hook.pytest_deselected(items=[item for item in items if mark in item.keywords])
        items[:] = [item for item in items if mark not in item.keywords]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def build():
    return ROOT / "build"
