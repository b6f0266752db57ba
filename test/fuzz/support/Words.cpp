// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Words.h.
#include "test/fuzz/support/Words.h"

#include "test/fuzz/support/Fuzz.h"

#include <algorithm>
#include <cctype>

namespace fovea::fuzz {

namespace {

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

bool isBlank(const std::string &word) { return std::isspace(static_cast<unsigned char>(word[0])); }

bool isNumber(const std::string &word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Words with what marks them as names, strings, runs of blanks, and all else character by
/// character; joined they are the text.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    size_t size = 1;
    auto extend = [&](auto belongs) {
      while (size < text.size() && belongs(text[size]))
        ++size;
    };
    char first = text[0];
    if (std::isspace(static_cast<unsigned char>(first)))
      extend([](char c) { return std::isspace(static_cast<unsigned char>(c)); });
    else if (first == '"')
      size = std::min(text.find('"', 1), text.size() - 1) + 1;
    else if (isWordCharacter(first) || first == '%' || first == '@' || first == '#' || first == '!')
      extend(isWordCharacter);
    words.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return words;
}

/// The words of the line that holds number `at`, with its end: [first, second).
std::pair<size_t, size_t> lineOf(const std::vector<std::string> &text, size_t at) {
  auto ends = [&](size_t i) { return text[i].find('\n') != std::string::npos; };
  size_t begin = at, end = at;
  while (begin > 0 && !ends(begin - 1))
    --begin;
  while (end < text.size() && !ends(end))
    ++end;
  return {begin, std::min(end + 1, text.size())};
}

void change(std::vector<std::string> &text, const std::vector<std::string> &words, Random &random) {
  if (text.empty())
    return;
  size_t at = random.below(text.size()), other = random.below(text.size());
  for (unsigned tries = 0; tries < 4 && isBlank(text[at]); ++tries)
    at = random.below(text.size());
  auto place = text.begin() + static_cast<ptrdiff_t>(at);
  if (isNumber(text[at]) && !random.oneIn(3)) {
    text[at] = std::to_string(random.oneIn(2) ? random.below(20) : oddNumber(random));
    return;
  }
  switch (random.below(10)) {
  case 0:
  case 1:
    text[at] = random.of(words);
    return;
  case 2:
    text.erase(place);
    return;
  case 3:
    std::swap(text[at], text[other]);
    return;
  case 4: { // a word of the same kind
    for (unsigned tries = 0; tries < 20 && text[other][0] != text[at][0]; ++tries)
      other = random.below(text.size());
    text[at] = std::string(text[other]);
    return;
  }
  case 5:
    text.insert(place, random.oneIn(2) ? random.of(words) : std::string(text[other]));
    return;
  case 6: {
    auto [begin, end] = lineOf(text, at);
    text.erase(text.begin() + static_cast<ptrdiff_t>(begin),
               text.begin() + static_cast<ptrdiff_t>(end));
    return;
  }
  case 7: {
    auto [begin, end] = lineOf(text, at);
    std::vector<std::string> line(text.begin() + static_cast<ptrdiff_t>(begin),
                                  text.begin() + static_cast<ptrdiff_t>(end));
    text.insert(text.begin() + static_cast<ptrdiff_t>(lineOf(text, other).first), line.begin(),
                line.end());
    return;
  }
  case 8:
    if (random.oneIn(4))
      text.resize(at);
    return;
  default:
    changeText(text[at], random);
  }
}

} // namespace

size_t mutateWords(uint8_t *data, size_t size, size_t most, unsigned seed,
                   const std::vector<std::string> &words) {
  Random random(seed);
  if (random.oneIn(16) || size == 0)
    return LLVMFuzzerMutate(data, size, most);
  std::vector<std::string> text = split({reinterpret_cast<char *>(data), size});
  for (size_t changes = 1 + random.below(3); changes; --changes)
    change(text, words, random);
  text.erase(std::remove(text.begin(), text.end(), ""), text.end());
  std::string joined;
  for (const std::string &word : text)
    joined += word;
  return give(joined, data, size, most);
}

const std::vector<std::string> &onnxWords() {
  static const std::vector<std::string> words = {
      "Abs",
      "Acos",
      "Acosh",
      "Add",
      "And",
      "ArgMax",
      "ArgMin",
      "Asin",
      "Asinh",
      "Atan",
      "Atanh",
      "Attention",
      "AveragePool",
      "BatchNormalization",
      "BitShift",
      "BitwiseAnd",
      "BitwiseNot",
      "BitwiseOr",
      "BitwiseXor",
      "Cast",
      "CastLike",
      "CausalConvWithState",
      "Ceil",
      "Celu",
      "Clip",
      "Compress",
      "Concat",
      "ConcatFromSequence",
      "Constant",
      "ConstantOfShape",
      "Conv",
      "ConvInteger",
      "ConvTranspose",
      "Cos",
      "Cosh",
      "CumProd",
      "CumSum",
      "DeformConv",
      "DequantizeLinear",
      "Det",
      "Div",
      "Dropout",
      "DynamicQuantizeLinear",
      "Einsum",
      "Elu",
      "Equal",
      "Erf",
      "Exp",
      "Expand",
      "EyeLike",
      "Flatten",
      "FlexAttention",
      "Floor",
      "GRU",
      "Gather",
      "GatherElements",
      "GatherND",
      "Gelu",
      "Gemm",
      "GlobalAveragePool",
      "GlobalLpPool",
      "GlobalMaxPool",
      "Greater",
      "GreaterOrEqual",
      "GridSample",
      "GroupNormalization",
      "HardSigmoid",
      "HardSwish",
      "Hardmax",
      "Identity",
      "If",
      "InstanceNormalization",
      "IsInf",
      "IsNaN",
      "LRN",
      "LSTM",
      "LayerNormalization",
      "LeakyRelu",
      "Less",
      "LessOrEqual",
      "LinearAttention",
      "Log",
      "LogSoftmax",
      "Loop",
      "LpNormalization",
      "LpPool",
      "MatMul",
      "MatMulInteger",
      "Max",
      "MaxPool",
      "MaxRoiPool",
      "MaxUnpool",
      "Mean",
      "MeanVarianceNormalization",
      "Min",
      "Mish",
      "Mod",
      "Mul",
      "Multinomial",
      "Neg",
      "NegativeLogLikelihoodLoss",
      "NonMaxSuppression",
      "NonZero",
      "Not",
      "OneHot",
      "Or",
      "PRelu",
      "Pad",
      "Pow",
      "QLinearConv",
      "QLinearMatMul",
      "QuantizeLinear",
      "RMSNormalization",
      "RNN",
      "RandomNormal",
      "RandomNormalLike",
      "RandomUniform",
      "RandomUniformLike",
      "Range",
      "Reciprocal",
      "ReduceL1",
      "ReduceL2",
      "ReduceLogSum",
      "ReduceLogSumExp",
      "ReduceMax",
      "ReduceMean",
      "ReduceMin",
      "ReduceProd",
      "ReduceSum",
      "ReduceSumSquare",
      "Relu",
      "Reshape",
      "Resize",
      "RotaryEmbedding",
      "Round",
      "Scan",
      "Scatter",
      "ScatterElements",
      "ScatterND",
      "Selu",
      "SequenceAt",
      "SequenceConstruct",
      "SequenceEmpty",
      "SequenceInsert",
      "SequenceLength",
      "SequenceMap",
      "Shape",
      "Shrink",
      "Sigmoid",
      "Sign",
      "SimplifiedLayerNormalization",
      "Sin",
      "Sinh",
      "Size",
      "Slice",
      "Softmax",
      "SoftmaxCrossEntropyLoss",
      "Softplus",
      "Softsign",
      "Split",
      "SplitToSequence",
      "Sqrt",
      "Squeeze",
      "StringNormalizer",
      "Sub",
      "Sum",
      "SwiGLU",
      "Swish",
      "Tan",
      "Tanh",
      "TensorScatter",
      "TfIdfVectorizer",
      "ThresholdedRelu",
      "Tile",
      "TopK",
      "Transpose",
      "Trilu",
      "Unique",
      "Unsqueeze",
      "Upsample",
      "Where",
      "Xor",
      "activation",
      "allowzero",
      "alpha",
      "approximate",
      "auto_pad",
      "axes",
      "axis",
      "batch_dims",
      "beta",
      "block_size",
      "body",
      "ceil_mode",
      "count_include_pad",
      "dilations",
      "direction",
      "do_rotary",
      "dtype",
      "else_branch",
      "end",
      "epsilon",
      "equation",
      "exclusive",
      "fmod",
      "group",
      "interleaved",
      "is_causal",
      "k",
      "keepdims",
      "kernel_shape",
      "kv_num_heads",
      "largest",
      "local_window_size",
      "mask_filter_value",
      "mode",
      "new_axis",
      "noop_with_empty_axes",
      "num_groups",
      "num_heads",
      "num_outputs",
      "output_dtype",
      "p",
      "pads",
      "past_present_share_buffer",
      "perm",
      "q_num_heads",
      "qk_matmul_output_mode",
      "qkv_hidden_sizes",
      "reduction",
      "reverse",
      "right_window_size",
      "rotary_embedding_dim",
      "round_mode",
      "saturate",
      "scale",
      "select_last_index",
      "smooth_softmax",
      "softcap",
      "softmax_precision",
      "sorted",
      "start",
      "stash_type",
      "storage_order",
      "strides",
      "then_branch",
      "to",
      "unidirectional",
      "upper",
      "value",
      "value_float",
      "value_floats",
      "value_int",
      "value_ints",
      "com.microsoft",
      "ai.onnx",
      "m.data",
      "m.onnx",
      "../m.data",
      "location",
      "offset",
      "length",
      "SAME_UPPER",
      "bij,bjk->bik",
      "...i,...j->...",
      "tanh",
      "none",
      "linear",
  };
  return words;
}

const std::vector<std::string> &ptxWords() {
  static const std::vector<std::string> words = {
      "{",
      "}",
      "[",
      "]",
      ";",
      ",",
      "%r1",
      "%rd1",
      "%f1",
      "%p1",
      "%tid.x",
      "%ctaid.x",
      "%laneid",
      "0",
      "-1",
      "0xffffffffffffffff",
      "0f3F800000",
      ".reg .b32 %z<99>;",
      ".v2",
      ".v4",
      ".f16x2",
      ".bf16x2",
      ".f32",
      ".f64",
      ".b8",
      ".b16",
      ".b32",
      ".b64",
      ".b128",
      ".u8",
      ".s32",
      ".u64",
      ".pred",
      ".shared",
      ".local",
      ".global",
      ".const",
      ".param",
      ".align 16",
      ".extern",
      "bra",
      "bra.uni",
      "ret",
      "exit",
      "@%p1",
      "@!%p1",
      "|",
      "::",
      "bar.sync 0;",
      "bar.warp.sync",
      "mov",
      "ld.shared.b32",
      "st.shared.b32",
      "ld.global.v4.b32",
      "cvt.rn.f16x2.f32",
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
      "cp.async.cg.shared.global",
      "cp.async.commit_group;",
      "cp.async.wait_group 0;",
      "mbarrier.init.shared.b64",
      "mbarrier.arrive.shared.b64",
      "mbarrier.try_wait.parity.shared.b64",
      "wgmma.fence.sync.aligned;",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
      "wgmma.commit_group.sync.aligned;",
      "shfl.sync.bfly.b32",
      "vote.sync.any.pred",
      "redux.sync.add.s32",
      "atom.global.add.u32",
      "red.shared.add.f32",
      "fma.rn.f32",
      "ex2.approx.f32",
      "prmt.b32",
      "lop3.b32",
      "setp.lt.s32",
      "selp.b32",
      "div.s32",
      "rem.u32",
      "shl.b32",
      "mad.wide.u32",
      ".maxntid 128, 1, 1",
      ".reqntid 128",
      ".branchtargets",
      "brx.idx",
  };
  return words;
}

const std::vector<std::string> &mlirWords() {
  static const std::vector<std::string> words = {
      "0",
      "-1",
      "1",
      "2",
      "7",
      "16",
      "65536",
      "4294967296",
      "9223372036854775807",
      "-9223372036854775808",
      "99999999999999999999",
      "0x7FC00000",
      "?",
      "1.0e308",
      "i1",
      "i4",
      "i64",
      "i128",
      "index",
      "f16",
      "bf16",
      "f32",
      "f64",
      "f8E4M3FN",
      "none",
      "tensor<*xf32>",
      "tensor<0xf32>",
      "tensor<?x?xf32>",
      "vector<4xf32>",
      "memref<?xf32>",
      "!fovea.cache<key, 2x16xf32>",
      "!tile.tile<16x8xf32>",
      "!tile.view<?x8xf32>",
      "#fovea.panels<16>",
      "#fovea.panels<0>",
      "dense<0>",
      "dense<>",
      "true",
      "unit",
      "[]",
      "{}",
      "()",
      "<>",
      "affine_map<(d0) -> (d0)>",
      "affine_map<()->()>",
      "%arg0",
      "@forward",
      "loc(unknown)",
      "attributes",
      "\"builtin.unrealized_conversion_cast\"",
      "func.func",
      "func.return",
      "linalg.generic",
      "tensor.expand_shape",
      "scf.for",
      "arith.constant",
      "\"x\"",
      "->",
      "::",
  };
  return words;
}

const std::vector<std::string> &templateWords() {
  static const std::vector<std::string> words = {"{{ ",
                                                 " }}",
                                                 "{%- ",
                                                 " -%}",
                                                 "{% ",
                                                 " %}",
                                                 "{# ",
                                                 " #}",
                                                 "if ",
                                                 "elif ",
                                                 "else",
                                                 "endif",
                                                 "for m in messages",
                                                 "endfor",
                                                 "set x = ",
                                                 "set ns.a = ",
                                                 "endset",
                                                 "macro f(a, b=1)",
                                                 "endmacro",
                                                 "call f(1)",
                                                 "endcall",
                                                 "filter upper",
                                                 "endfilter",
                                                 "with x = 1",
                                                 "endwith",
                                                 "generation",
                                                 "endgeneration",
                                                 "raw",
                                                 "endraw",
                                                 "break",
                                                 "continue",
                                                 "messages",
                                                 "tools",
                                                 "loop.index",
                                                 "loop.nextitem",
                                                 "loop.cycle(1, 2)",
                                                 "namespace(a=1)",
                                                 "range(9)",
                                                 "dict(a=1)",
                                                 "cycler(1, 2)",
                                                 "joiner()",
                                                 "caller()",
                                                 "varargs",
                                                 "kwargs",
                                                 "strftime_now('%Y')",
                                                 "raise_exception('x')",
                                                 " | tojson(indent=2)",
                                                 " | join(', ')",
                                                 " | map(attribute='role')",
                                                 " | selectattr('role', 'equalto', 'user')",
                                                 " | sort",
                                                 " | unique",
                                                 " | list",
                                                 " | length",
                                                 " | default('')",
                                                 " | indent(2)",
                                                 " | replace('a', 'b')",
                                                 " | trim",
                                                 " | int",
                                                 " | round(1)",
                                                 " | dictsort",
                                                 " | items",
                                                 " | reverse",
                                                 " | first",
                                                 " | sum",
                                                 " | batch(2)",
                                                 " | safe",
                                                 " | format(1)",
                                                 " is defined",
                                                 " is not none",
                                                 " is string",
                                                 " in ",
                                                 " not in ",
                                                 " and ",
                                                 " or ",
                                                 "not ",
                                                 "[0]",
                                                 "[::-1]",
                                                 "[1:]",
                                                 ".content",
                                                 ".split('a')",
                                                 ".strip()",
                                                 ".format(1)",
                                                 ".items()",
                                                 ".get('a')",
                                                 ".replace('', 'xx')",
                                                 ".__class__",
                                                 " ~ ",
                                                 " + ",
                                                 " * 99",
                                                 " ** 2",
                                                 " % 3",
                                                 " // 2",
                                                 " == ",
                                                 " < ",
                                                 "'%5d'",
                                                 "'{:>5}'",
                                                 "9223372036854775807",
                                                 "1.5",
                                                 "\"\\u00e9\"",
                                                 "none",
                                                 "true",
                                                 "(",
                                                 ")",
                                                 "[",
                                                 "]",
                                                 "{'a': 1}",
                                                 ", "};
  return words;
}

} // namespace fovea::fuzz
