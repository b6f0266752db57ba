# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random models that write what they hear: compiled code, from samples on, against the features and the models of `transformers`, by parts and at once; texts
of WAV files in each language; and on the emulator."""
import json
import shutil
import struct

import numpy as np
import pytest
from tokenizers import Tokenizer

from programs import unexpected_plain_loops
from speech_cases import CASES, LANGUAGES, NEW_TOKENS, PLAIN, SEARCHES, TASKS, configuration
from test_families import difference
from test_translator_families import forward, refused

pytestmark = pytest.mark.long
EVERY = pytest.mark.parametrize("name", CASES)
OUTPUTS = ["logits", "encoder_last_hidden_state"]


@pytest.fixture
def artifact(compiled, speech, name):
    """All in f32, as its references were computed."""
    return compiled(speech / name / "model", "--compute=f32")


@pytest.fixture(scope="module")
def whisper(compiled, speech):
    return compiled(speech / "whisper" / "model", "--compute=f32")


def load(folder):
    return [dict(np.load(folder / f"{kind}.npz").items()) for kind in ("inputs", "reference")]


@EVERY
def test_forward(fovea_run, artifact, speech, tmp_path, name):
    """Clips together, and one alone."""
    inputs, expected = load(speech / name)
    found, alone = (forward(fovea_run, artifact, part, tmp_path) for part in (inputs, {key: array[1:] for key, array in inputs.items()}))
    for output in OUTPUTS:
        assert difference(found[output], expected[output]) <= 1e-4, output
        assert difference(alone[output], expected[output][1:]) <= 1e-4, output


@pytest.mark.parametrize("flags", [["--dtype=bf16"], ["--dtype=int8"], []], ids=["bf16", "int8", "stored"])
def test_mels_stay_exact_in_halves(fovea, fovea_run, compiled, speech, tmp_path, flags):
    """What linears multiply rounded to bf16 or smaller: the error is that of the layers, not of a clip's logarithms. Of quiet sound, which 8 bits would drown."""
    inputs, expected = load(speech / "whisper-bf16")
    artifact = compiled(speech / "whisper-bf16" / "model", *flags)
    found = forward(fovea_run, artifact, inputs, tmp_path)
    for output in OUTPUTS:
        assert difference(found[output], expected[output]) <= 6e-2, output
    tables = [line for line in fovea("inspect", artifact).ok().text.split("weights (")[1].splitlines() if "log_mel" in line]
    assert len(tables) == 2 and all(" f32" in line for line in tables)


@EVERY
def test_verify(fovea, artifact, speech, name):
    fovea("verify", artifact, "--source", speech / name / "model").ok()


@EVERY
def test_check_finds_nothing(fovea, speech, name):
    assert not fovea("check", speech / name / "model").ok().err


@pytest.mark.parametrize("name", ["whisper"])
def test_few_kernels_are_plain_loops(fovea, artifact, name):
    """Copies of windows and of what is around them, and the greatest of a clip: once a call, together below a hundredth of its time at the size of published models;
    the choice of the next token."""
    assert set(unexpected_plain_loops(fovea, artifact)) <= {"argmax", "generic", "pad"}


@EVERY
def test_parts(fovea_run, artifact, speech, tmp_path, name):
    """The clip read once, what is written in parts, the last token by itself: as at once."""
    inputs, _ = load(speech / name)
    # Few digits, or they are too many for a command line.
    digits = [f"{sample:.3f}" for sample in inputs["samples"][0]]
    inputs = {"samples": np.array([digits], np.float32), "decoder_input_ids": inputs["decoder_input_ids"][:1]}
    expected, ids = forward(fovea_run, artifact, inputs, tmp_path)["logits"], inputs["decoder_input_ids"]
    given, length = ["--entry", "encode", "--input", f"samples=[[{','.join(digits)}]]"], ids.shape[1]
    for first, end, entry in [(0, 1, "prefill"), (1, length - 2, "prefill"), (length - 2, length - 1, "decode"), (length - 1, length, "decode")]:
        given += ["--entry", entry, "--input", f"decoder_input_ids={ids[:, first:end].tolist()}"]
        fovea_run("run", artifact, *given, "--outputs", tmp_path / "out.npz").ok()
        found = np.load(tmp_path / "out.npz")
        assert difference(found["logits"], expected[:, end - 1]) <= 1e-5, f"{end} tokens"
        assert (found["next_token"].ravel() == found["logits"].argmax(-1)).all()


# Texts -------------------------------------------------------------------------------------------------------------------------------------------------------


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(data, rate=16000, channels=1, bits=32, kind=3, extensible=False, before=b"", size=None):
    """A WAV file of these bytes. `size`: what it says of them."""
    frame = channels * bits // 8
    head = struct.pack("<HHIIHH", 0xFFFE if extensible else kind, channels, rate, rate * frame, frame, bits)
    if extensible:
        head += struct.pack("<HHIH", 22, bits, 0, kind) + bytes.fromhex("000000001000800000aa00389b71")
    body = b"WAVE" + chunk(b"fmt ", head) + before + b"data" + struct.pack("<I", len(data) if size is None else size) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def write_clips(folder, name, tmp_path):
    """The clips of a case as WAV files of floats; the second one ends where its silence begins."""
    samples, paths = np.load(folder / name / "inputs.npz")["samples"], []
    for number, clip in enumerate(samples):
        clip = clip[:len(clip) * 5 // 8] if number else clip
        paths.append(tmp_path / f"clip-{number}.wav")
        paths[-1].write_bytes(wav(clip.astype("<f4").tobytes(), configuration(name)[2]["sampling_rate"]))
    return paths


def transcribe(program, artifact, files, *flags, count=NEW_TOKENS):
    return json.loads(program("transcribe", artifact, *files, "--json", "-n", count, *flags).ok().text)


@EVERY
def test_texts(fovea_run, artifact, speech, tmp_path, name):
    """In the likeliest language, greedily and by beams."""
    wanted = json.loads((speech / name / "written.json").read_text())
    tokenizer = Tokenizer.from_file(str(speech / name / "model" / "tokenizer.json"))
    files, english = write_clips(speech, name, tmp_path), configuration(name)[4]
    flags = [[]] + [["--beams", search["num_beams"], f"--length-penalty={search.get('length_penalty', 1.0)}",
                     "--early-stopping", {True: "yes", "never": "never"}.get(search.get("early_stopping"), "no")] for search in SEARCHES]
    for number, search in enumerate(flags):
        for found, expected in zip(transcribe(fovea_run, artifact, files, *search), wanted, strict=True):
            tokens = expected["beams"][number - 1] if number else expected["greedy"]["" if english else f"{expected['language']} transcribe"]
            assert found["tokens"] == tokens, search
            assert found["text"] == tokenizer.decode(tokens).removeprefix(" ")
            assert ("language" in found) is not english and (english or (found["language"], found["task"]) == (expected["language"], "transcribe"))


def test_languages_and_tasks(fovea_run, whisper, speech, tmp_path):
    wanted = json.loads((speech / "whisper" / "written.json").read_text())
    files = write_clips(speech, "whisper", tmp_path)
    for language in LANGUAGES:
        for task in TASKS:
            for found, expected in zip(transcribe(fovea_run, whisper, files, "--language", language, "--task", task), wanted, strict=True):
                assert found["tokens"] == expected["greedy"][f"{language} {task}"]
                assert (found["language"], found["task"]) == (language, task)


def test_lines_of_both_programs(fovea, fovea_run, whisper, speech, tmp_path):
    """A line for each file; a folder is compiled first."""
    files = write_clips(speech, "whisper", tmp_path)
    lines = "".join(one["text"] + "\n" for one in transcribe(fovea_run, whisper, files))
    assert fovea_run("transcribe", whisper, *files, "-n", NEW_TOKENS).ok().text == lines
    assert fovea("transcribe", speech / "whisper" / "model", *files, "-n", NEW_TOKENS, "--compute=f32").ok().text == lines
    assert fovea_run("transcribe", whisper, "-", "-n", NEW_TOKENS, stdin=files[0].read_bytes()).ok().text == lines.splitlines(keepends=True)[0]


def test_long_sound_is_cut_into_clips(fovea_run, whisper, speech, tmp_path):
    """Both clips, one behind the other, in the first one's language."""
    samples = np.load(speech / "whisper" / "inputs.npz")["samples"]
    (tmp_path / "both.wav").write_bytes(wav(samples.astype("<f4").tobytes()))
    clips = transcribe(fovea_run, whisper, write_clips(speech, "whisper", tmp_path))
    again = transcribe(fovea_run, whisper, [tmp_path / "clip-1.wav"], "--language", clips[0]["language"])[0]
    [found] = transcribe(fovea_run, whisper, [tmp_path / "both.wav"])
    assert found["tokens"] == clips[0]["tokens"] + again["tokens"] and found["length"] == 2 and found["language"] == clips[0]["language"]


def test_formats_of_wav(fovea_run, whisper, speech, tmp_path):
    """Each type gives the samples that it rounds to; channels are averaged; other chunks are passed over."""
    clip = np.load(speech / "whisper" / "inputs.npz")["samples"][0]
    whole = (clip * 32768).round() / 32768  # all types but the first hold it
    eighths = (clip * 128).round() / 128
    as24 = b"".join(struct.pack("<i", int(x))[:3] for x in whole * (1 << 23))
    other = chunk(b"LIST", b"INFOISFT\5\0\0\0Lavf\0") + chunk(b"fact", b"\0\0\0\0")
    stereo = np.stack([whole + 0.25, whole - 0.25], -1)
    files = {
        "f32": wav(whole.astype("<f4").tobytes()), "f64": wav(whole.astype("<f8").tobytes(), bits=64), "i16": wav((whole * 32768).astype("<i2").tobytes(), bits=16, kind=1),
        "i24": wav(as24, bits=24, kind=1), "i32": wav((whole * 2.0**31).astype("<i4").tobytes(), bits=32, kind=1),
        "stereo": wav(stereo.astype("<f4").tobytes(), channels=2), "chunks": wav(whole.astype("<f4").tobytes(), before=other),
        "extensible": wav((whole * 32768).astype("<i2").tobytes(), bits=16, kind=1, extensible=True),
        "streamed": wav(whole.astype("<f4").tobytes(), size=0xFFFFFFFF),
        "u8": wav((eighths * 128 + 128).astype("u1").tobytes(), bits=8, kind=1), "u8 as f32": wav(eighths.astype("<f4").tobytes()),
    }
    for name, data in files.items():
        (tmp_path / f"{name}.wav").write_bytes(data)
    found = {name: transcribe(fovea_run, whisper, [tmp_path / f"{name}.wav"])[0]["tokens"] for name in files}
    assert found["u8"] == found["u8 as f32"]
    assert all(found[name] == found["f32"] for name in files if "u8" not in name)


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000])
def test_other_rates(fovea_run, whisper, tmp_path, rate):
    """Tones that all rates hold, as if they were recorded at the model's own."""
    def tones(at):
        time = np.arange(at) / at
        return sum(0.2 * np.sin(2 * np.pi * hertz * time + hertz) for hertz in (200, 950, 1700, 2900)) * np.hanning(at)

    for at in (rate, 16000):
        (tmp_path / f"{at}.wav").write_bytes(wav(tones(at).astype("<f4").tobytes(), rate=at))
    found, expected = transcribe(fovea_run, whisper, [tmp_path / f"{rate}.wav", tmp_path / "16000.wav"])
    assert found["length"] == expected["length"] == 1 and found["tokens"] == expected["tokens"]


# On a device ---------------------------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.devices("emulator")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_on_a_device(fovea_run, compiled, speech, tmp_path, device, gpu_code, chip):
    code = [f"--gpu={chip}", "-O0"] if device.startswith("emulator") else gpu_code
    artifact = compiled(speech / "whisper-gaps" / "model", "--compute=f32", *code)
    inputs, _ = load(speech / "whisper-gaps")
    inputs = {"samples": inputs["samples"][:1], "decoder_input_ids": inputs["decoder_input_ids"][:1, :4]}
    there, here = (forward(fovea_run, artifact, inputs, tmp_path, "--device", where) for where in (device, "cpu"))
    for output in OUTPUTS:
        assert difference(there[output], here[output]) <= 1e-4
    files = write_clips(speech, "whisper-gaps", tmp_path)[:1]
    there, here = (transcribe(fovea_run, artifact, files, "--device", where, count=3)[0]["tokens"] for where in (device, "cpu"))
    assert there == here


# What is refused -------------------------------------------------------------------------------------------------------------------------------------------


def edited(folder, tmp_path, file, **settings):
    """A copy of a model, one of whose files says something else; None takes a key away."""
    shutil.copytree(folder, tmp_path / "model")
    path = tmp_path / "model" / file
    config = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
    return tmp_path / "model"


@pytest.mark.parametrize("file, change, message", [
    ("preprocessor_config.json", dict(feature_size=80), "feature_size: expects num_mel_bins, 20, got 80"),
    ("preprocessor_config.json", dict(n_fft=401), "n_fft: expects an even number"),
    ("preprocessor_config.json", dict(chunk_length=2, n_samples=None, nb_max_frames=None), "max_source_positions: expects 100, the places of the feature extractor's clips, got 50"),
    ("preprocessor_config.json", dict(n_samples=7), "n_samples: expects 16000, as the other keys say, got 7"),
    ("preprocessor_config.json", dict(feature_extractor_type="ASTFeatureExtractor"), "feature_extractor_type: expects \"WhisperFeatureExtractor\""),
    ("preprocessor_config.json", dict(dither=0.1), "dither: expects 0, got 0.1"),
    ("preprocessor_config.json", dict(win_length=300), "win_length: could change numbers and is not understood"),
    ("preprocessor_config.json", dict(do_normalize=True), "do_normalize: expects false"),
    ("config.json", dict(num_mel_bins=24), "feature_size: expects num_mel_bins, 24, got 20"),
    ("config.json", dict(scale_embedding=True), "scale_embedding: expects false"),
    ("config.json", dict(max_target_positions=32), "decoder.embed_positions.weight\": expects shape [32, 48] as the configuration says, got [64, 48]"),
    ("config.json", dict(some_new_key=1), "some_new_key: could change numbers and is not understood"),
    ("generation_config.json", dict(lang_to_id={"<|en|>": 2048}), "lang_to_id.<|en|>: expects an integer from 0 to 2047, got 2048"),
    ("generation_config.json", dict(lang_to_id=None, task_to_id=None, forced_decoder_ids=[[2, 5]]), "forced_decoder_ids: expects pairs of a place"),
])
def test_what_does_not_fit_is_named(fovea, speech, tmp_path, file, change, message):
    folder = edited(speech / "whisper" / "model", tmp_path, file, **change)
    result = fovea("compile", folder, "-o", tmp_path / "out.fovea")
    assert result.code == 1 and message in result.err.decode() and not (tmp_path / "out.fovea").exists(), str(result)


def test_a_feature_extractor_is_needed(fovea, speech, tmp_path):
    folder = edited(speech / "whisper" / "model", tmp_path, "config.json")
    extractor = json.loads((folder / "preprocessor_config.json").read_text())
    (folder / "preprocessor_config.json").unlink()
    result = fovea("compile", folder, "-o", tmp_path / "out.fovea")
    assert result.code == 1 and "preprocessor_config.json: is missing; expects how sound becomes mels" in result.err.decode()
    # Processors of transformers 5 keep it with the rest.
    (folder / "processor_config.json").write_text(json.dumps({"feature_extractor": extractor, "processor_class": "WhisperProcessor"}))
    assert not fovea("check", folder).ok().err


def test_older_configurations(fovea, fovea_run, speech, tmp_path):
    """Without a table of languages tokens are forced by their places; what older extractors stored of filters is passed over."""
    wanted = json.loads((speech / "whisper" / "written.json").read_text())
    forced = [[1, LANGUAGES["de"]], [2, TASKS["translate"]], [3, PLAIN]]
    folder = edited(speech / "whisper" / "model", tmp_path, "generation_config.json", lang_to_id=None, task_to_id=None, no_timestamps_token_id=None, forced_decoder_ids=forced)
    path = folder / "preprocessor_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mel_filters": [[0.0]], "n_samples": 16000, "nb_max_frames": 100, "processor_class": "WhisperProcessor"}))
    fovea("compile", folder, "--compute=f32", "-o", tmp_path / "model.fovea").ok()
    files = write_clips(speech, "whisper", tmp_path)
    assert [one["tokens"] for one in transcribe(fovea_run, tmp_path / "model.fovea", files)] == [one["greedy"]["de translate"] for one in wanted]
    refused(fovea_run("transcribe", tmp_path / "model.fovea", *files, "--language", "de"), 1, "has no choice of a language; expects no --language")


def test_other_choices_are_refused(fovea_run, compiled, whisper, speech, translators, tmp_path):
    files = write_clips(speech, "whisper", tmp_path)
    refused(fovea_run("transcribe", whisper, *files, "--language", "dee"), 1, "--language: expects one of de, en, fr, yue, got dee; did you mean 'de'?")
    refused(fovea_run("transcribe", whisper, *files, "--task", "sing"), 1, "--task: expects one of transcribe, translate, got sing")
    refused(fovea_run("transcribe", whisper, *files, "--context", 3), 1, "the context has room for 3 tokens; before a text stand 4")
    refused(fovea_run("transcribe", whisper), 2, "SOUND is required")
    refused(fovea_run("transcribe", compiled(translators / "marian" / "model", "--compute=f32"), *files), 1, "cannot transcribe: it reads no sound")
    refused(fovea_run("translate", whisper, "--text", "a"), 1, "reads sound, and no samples are given")


SOUND = np.zeros(100, "<f4").tobytes()


@pytest.mark.parametrize("data, message", [
    (b"", "expects a WAV file, got a file of 0 bytes"),
    (b"ID3\4" + bytes(40), "expects a WAV file, got other bytes at its beginning; ffmpeg"),
    (b"RIFX" + wav(SOUND)[4:], "got a file of type RIFX"),
    (wav(SOUND)[:30], "chunk at byte 12 goes past the end: expects 16 bytes, got 10"),
    (wav(SOUND)[:60], "chunk at byte 36 goes past the end: expects 400 bytes, got 16"),
    (wav(SOUND)[:36], "ends at byte 36 without a chunk 'data'"),
    (wav(SOUND[:-1], size=399), "chunk 'data' expects a multiple of 4 bytes, got 399"),
    (wav(SOUND, kind=6, bits=8), "got format 6 of 8 bits"),
    (wav(SOUND, kind=1, bits=12), "got format 1 of 12 bits"),
    (wav(SOUND, kind=3, bits=16), "got format 3 of 16 bits"),
    (wav(SOUND, rate=1), "expects 1000 to 1048576 samples a second, got 1"),
    (wav(SOUND, rate=0), "expects 1000 to 1048576 samples a second, got 0"),
    (wav(SOUND, channels=0), "expects 1 to 256 channels, got 0"),
    (b"RIFF\0\0\0\0WAVE" + chunk(b"data", SOUND), "expects a chunk 'fmt ' before 'data'"),
    (b"RIFF\0\0\0\0WAVE" + chunk(b"fmt ", b"\1\0"), "chunk 'fmt ' expects 16 bytes or more, got 2"),
    (wav(SOUND)[:32] + b"\7\0" + wav(SOUND)[34:], "expects 4 bytes for a sample of all channels, got 7"),
    (wav(struct.pack("<2f", 0, float("nan"))), "sample 1 is not a finite number"),
    (wav(b""), "has no samples"),
])
def test_broken_sound_is_refused(fovea_run, whisper, tmp_path, data, message):
    (tmp_path / "a.wav").write_bytes(data)
    refused(fovea_run("transcribe", whisper, tmp_path / "a.wav"), 1, "a.wav: ", message)


def test_no_sound(fovea_run, whisper, tmp_path):
    refused(fovea_run("transcribe", whisper, tmp_path / "none.wav"), 1, "none.wav")
    refused(fovea_run("transcribe", whisper, tmp_path), 1, str(tmp_path))
