# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime's own operators (com.microsoft), against ONNX Runtime."""
import numpy as np
import onnxruntime
import pytest

from onnx_cases import TensorProto, difference, helper, interpret, model

FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int32): INT32, np.dtype(np.int64): INT64}
BATCH, LENGTH, HEADS, SIZE = 2, 5, 4, 16
WIDTH = HEADS * SIZE
rng = np.random.default_rng(0)


def real(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def check(op, inputs, outputs, tmp_path, weights=(), only=None, tolerance=2e-6, **attributes):
    """inputs: name -> array or None for an absent one; those named in `weights` are initializers. outputs: ranks."""
    names = [name if array is not None else "" for name, array in inputs.items()]
    results = [f"y{i}" if rank is not None else "" for i, rank in enumerate(outputs)]
    node = helper.make_node(op, names, results, domain="com.microsoft", name=op, **attributes)
    feeds = {name: array for name, array in inputs.items() if array is not None and name not in weights}
    sizes = {BATCH: "batch", LENGTH: "length"}
    types = {}
    for name, array in feeds.items():
        # The batch stands first and the length second; in tensors of one axis only the batch can.
        shape = [sizes.get(size, size) if axis == 0 and size == BATCH or axis == 1 and array.ndim == 3 else size for axis, size in enumerate(array.shape)]
        types[name] = (TYPES[array.dtype], shape)
    proto = model([node], types, {f"y{i}": (FLOAT, [None] * rank) for i, rank in enumerate(outputs) if rank is not None},
                  {name: inputs[name] for name in weights}, domains=["com.microsoft"])
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    expected = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
    got = interpret(path, feeds, tmp_path)
    assert len(got) == len(expected)
    for i, (mine, theirs) in enumerate(zip(got, expected)):
        if only is None or i in only:
            assert difference(mine, theirs) < tolerance, i


@pytest.mark.parametrize("op", ["Gelu", "QuickGelu", "FastGelu"])
def test_gelu(op, tmp_path):
    check(op, {"x": real(BATCH, LENGTH, WIDTH)}, [3], tmp_path, tolerance=2e-5)


@pytest.mark.parametrize("op", ["BiasGelu", "FastGelu"])
def test_gelu_with_bias(op, tmp_path):
    check(op, {"x": real(BATCH, LENGTH, WIDTH), "b": real(WIDTH)}, [3], tmp_path, weights=["b"], tolerance=2e-5)


@pytest.mark.parametrize("trans_a,trans_b", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_fused_matmul(trans_a, trans_b, tmp_path):
    a, b = real(BATCH, 6, 7), real(BATCH, 7, 3)
    check("FusedMatMul", {"a": a.swapaxes(1, 2).copy() if trans_a else a, "b": b.swapaxes(1, 2).copy() if trans_b else b}, [3], tmp_path,
          alpha=0.5, transA=trans_a, transB=trans_b)


@pytest.mark.parametrize("bias", [False, True])
def test_skip_layer_norm(bias, tmp_path):
    inputs = {"x": real(BATCH, LENGTH, WIDTH), "skip": real(BATCH, LENGTH, WIDTH), "gamma": real(WIDTH), "beta": real(WIDTH)}
    inputs |= {"bias": real(WIDTH)} if bias else {}
    check("SkipLayerNormalization", inputs, [3, None, None, 3], tmp_path, weights=[name for name in inputs if name not in ("x", "skip")], epsilon=1e-5)


def test_skip_rms_norm(tmp_path):
    inputs = {"x": real(BATCH, LENGTH, WIDTH), "skip": real(BATCH, LENGTH, WIDTH), "gamma": real(WIDTH), "bias": real(WIDTH)}
    check("SkipSimplifiedLayerNormalization", inputs, [3, None, None, 3], tmp_path, weights=["gamma", "bias"], epsilon=1e-5)


def test_embed_layer_norm(tmp_path):
    ids = rng.integers(0, 20, (BATCH, LENGTH)).astype(np.int32)
    inputs = {"ids": ids, "segments": ids % 2, "words": real(20, WIDTH), "positions": real(16, WIDTH), "kinds": real(2, WIDTH), "gamma": real(WIDTH), "beta": real(WIDTH)}
    # ONNX Runtime wants the second result, a mask index, to be asked for.
    node = helper.make_node("EmbedLayerNormalization", list(inputs), ["y", "m"], domain="com.microsoft", epsilon=1e-5)
    proto = model([node], {"ids": (INT32, ["b", "s"]), "segments": (INT32, ["b", "s"])}, {"y": (FLOAT, ["b", "s", WIDTH])},
                  {name: array for name, array in inputs.items() if name not in ("ids", "segments")}, domains=["com.microsoft"])
    feeds = {"ids": ids, "segments": inputs["segments"]}
    expected, = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    got, = interpret(path, feeds, tmp_path)
    assert difference(got, expected) < 2e-6


MASKS = {"none": None, "keys": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32), "lengths": np.array([5, 3], np.int32),
         "square": np.tril(np.ones((BATCH, LENGTH, LENGTH), np.int32))}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("causal", [0, 1])
def test_attention(mask, causal, tmp_path):
    inputs = {"x": real(BATCH, LENGTH, WIDTH), "w": real(WIDTH, 3 * WIDTH, scale=0.3), "b": real(3 * WIDTH), "mask": MASKS[mask]}
    weights = ["w", "b"] + (["mask"] if mask == "square" else [])
    check("Attention", inputs, [3], tmp_path, weights=weights, num_heads=HEADS, unidirectional=causal, mask_filter_value=-1e30, tolerance=1e-5)


def test_attention_with_past(tmp_path):
    inputs = {"x": real(BATCH, LENGTH, WIDTH), "w": real(WIDTH, 3 * WIDTH, scale=0.3), "b": real(3 * WIDTH), "mask": None, "past": real(2, BATCH, HEADS, 3, SIZE)}
    check("Attention", inputs, [3, 5], tmp_path, weights=["w", "b"], num_heads=HEADS, unidirectional=1, tolerance=1e-5)


@pytest.mark.parametrize("causal", [0, 1])
def test_multi_head_attention(causal, tmp_path):
    inputs = {name: real(BATCH, LENGTH, WIDTH) for name in "qkv"} | {"bias": real(3 * WIDTH), "mask": MASKS["keys"]}
    check("MultiHeadAttention", inputs, [3], tmp_path, weights=["bias"], num_heads=HEADS, unidirectional=causal, mask_filter_value=-1e30, tolerance=1e-5)


def test_multi_head_attention_packed(tmp_path):
    """ONNX Runtime has no packed form on a CPU: against its own formula."""
    qkv = real(BATCH, LENGTH, HEADS, 3, SIZE)
    node = helper.make_node("MultiHeadAttention", ["qkv"], ["y"], domain="com.microsoft", num_heads=HEADS)
    path = tmp_path / "model.onnx"
    path.write_bytes(model([node], {"qkv": (FLOAT, ["b", "s", HEADS, 3, SIZE])}, {"y": (FLOAT, ["b", "s", WIDTH])}, domains=["com.microsoft"]).SerializeToString())
    got, = interpret(path, {"qkv": qkv}, tmp_path)
    q, k, v = (qkv[:, :, :, i].transpose(0, 2, 1, 3).astype(np.float64) for i in range(3))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(SIZE)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = (weights / weights.sum(-1, keepdims=True)) @ v
    assert difference(got, expected.transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH)) < 1e-6


def test_multi_head_attention_with_bias_and_past(tmp_path):
    inputs = {name: real(BATCH, LENGTH, WIDTH) for name in "qkv"} | {"bias": None, "mask": None, "extra": real(1, HEADS, LENGTH, LENGTH + 3)}
    inputs |= {"past_key": real(BATCH, HEADS, 3, SIZE), "past_value": real(BATCH, HEADS, 3, SIZE)}
    check("MultiHeadAttention", inputs, [3, 4, 4], tmp_path, num_heads=HEADS, tolerance=1e-5)


def tables(length=16):
    angles = np.arange(length)[:, None] * 100.0 ** (-np.arange(SIZE // 2) / (SIZE // 2))
    return {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("shape", [(BATCH, LENGTH, WIDTH), (BATCH, HEADS, LENGTH, SIZE)])
@pytest.mark.parametrize("positions", [np.array([2]), np.array([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]])])
def test_rotary(shape, interleaved, positions, tmp_path):
    check("RotaryEmbedding", {"x": real(*shape), "positions": positions} | tables(), [len(shape)], tmp_path, weights=["cos", "sin"], interleaved=interleaved)


@pytest.mark.parametrize("rotary", [0, 1])
@pytest.mark.parametrize("packed", [False, True])
def test_group_query_prompt(rotary, packed, tmp_path):
    """A prompt with nothing before it; the second text is padded at its end, where results do not matter."""
    inputs = {"q": real(BATCH, LENGTH, WIDTH * 2 if packed else WIDTH), "k": None if packed else real(BATCH, LENGTH, WIDTH // 2), "v": None if packed else real(BATCH, LENGTH, WIDTH // 2)}
    inputs |= {"past_key": None, "past_value": None, "lengths": np.array([LENGTH - 1, LENGTH - 1], np.int32), "total": np.array([LENGTH], np.int32)}
    inputs |= tables() if rotary else {}
    check("GroupQueryAttention", inputs, [3, 4, 4], tmp_path, weights=["total"] + (["cos", "sin"] if rotary else []), num_heads=HEADS, kv_num_heads=HEADS // 2,
          do_rotary=rotary, tolerance=1e-5)


@pytest.mark.parametrize("attributes", [{}, {"softcap": 5.0}, {"local_window_size": 3}, {"scale": 0.5}])
def test_group_query_step(attributes, tmp_path):
    past = 6
    inputs = {"q": real(BATCH, 1, WIDTH), "k": real(BATCH, 1, WIDTH // 2), "v": real(BATCH, 1, WIDTH // 2)}
    inputs |= {"past_key": real(BATCH, HEADS // 2, past, SIZE), "past_value": real(BATCH, HEADS // 2, past, SIZE)}
    inputs |= {"lengths": np.array([past, past], np.int32), "total": np.array([past + 1], np.int32)} | tables()
    check("GroupQueryAttention", inputs, [3, 4, 4], tmp_path, weights=["total", "cos", "sin"], num_heads=HEADS, kv_num_heads=HEADS // 2, do_rotary=1, tolerance=1e-5,
          **attributes)
