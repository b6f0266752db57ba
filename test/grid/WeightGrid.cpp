// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in the layouts that schedules give them: linears and tables of every element type and
// edge sizes, one and many rows, compiled against the interpreter; whole and in three parts, which
// must agree to the bit. Quantised weights too, row-major as well.
#include "dialects/Fovea/Blocks.h"
#include "interpreter/Interpreter.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "test/grid/NativeProgram.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

struct WeightCase {
  const char *type; ///< of the weight
  int64_t outputs, inputs;
  const char *input = "f32"; ///< of the activations
  double tolerance = 2e-6;
};

/// Where a block has numbers of f16.
ArrayRef<int64_t> getHalves(BlockKind kind) {
  static constexpr int64_t first[] = {0, 2}, ofTwoBits[] = {80, 82}, last[] = {108, 208};
  switch (kind) {
  case BlockKind::Q4_1:
  case BlockKind::Q5_1:
  case BlockKind::Q4_K:
  case BlockKind::Q5_K:
    return first;
  case BlockKind::Q2_K:
    return ofTwoBits;
  case BlockKind::Q3_K:
    return ArrayRef(last).take_front();
  case BlockKind::Q6_K:
    return ArrayRef(last).drop_front();
  case BlockKind::MXFP4:
    return {};
  default:
    return ArrayRef(first).take_front();
  }
}

/// Numbers of a block of integers, where the kind does not say it.
constexpr int64_t kIntegers = 40;

BlockFormat getFormat(BlockKind kind) {
  return getBlockFormat(kind, isOfIntegers(kind) ? kIntegers : 0);
}

/// Any bits but for scales, which are small.
std::vector<char> makeBlocks(const BlockFormat &format, int64_t count) {
  std::vector<char> bytes(count * format.bytes);
  std::mt19937_64 random(4);
  for (char &byte : bytes)
    byte = static_cast<char>(random());
  for (int64_t block = 0; block < count; ++block) {
    char *at = bytes.data() + block * format.bytes;
    for (int64_t place = 0; isOfIntegers(format.kind) && place <= (format.hasOffsets ? 4 : 0);
         place += 4) {
      float number = (static_cast<int>(random() % 65) - 32) / 2048.0f;
      std::memcpy(at + place, &number, 4);
    }
    if (isOfIntegers(format.kind))
      continue;
    for (int64_t place : getHalves(format.kind)) {
      uint16_t half = 0x2000 + random() % 0x800 + (random() % 2 ? 0x8000 : 0); // 2^-7 to 2^-5
      std::memcpy(at + place, &half, 2);
    }
    if (format.kind == BlockKind::MXFP4)
      *at = static_cast<char>(118 + random() % 4);
  }
  return bytes;
}

/// Bytes of any tensor that is asked for: numbers of few bits.
struct MadeUp : RecipeSource {
  FailureOr<ArrayRef<char>> read(StoredAttr tensor) override {
    std::vector<char> &bytes = known[tensor.getTensor().str()];
    RankedTensorType type = tensor.getType();
    if (!bytes.empty())
      return ArrayRef<char>(bytes);
    if (std::optional<BlockFormat> format = getBlockFormat(type)) {
      bytes = makeBlocks(*format, type.getNumElements() / format->elements);
      return ArrayRef<char>(bytes);
    }
    int64_t size = getStorageBytes(type.getElementType(), 1);
    bytes.resize(type.getNumElements() * size);
    std::mt19937_64 random(3);
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      llvm::APFloat value((static_cast<int>(random() % 65) - 32) / 32.0);
      bool lost;
      value.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
      uint64_t bits = value.bitcastToAPInt().getZExtValue();
      std::memcpy(bytes.data() + i * size, &bits, size);
    }
    return ArrayRef<char>(bytes);
  }
  std::map<std::string, std::vector<char>> known;
};

/// A weight that is a table and a linear's at once, one that goes through a layer function with
/// another of its kind, and a bias.
std::string makeProgram(const WeightCase &c) {
  std::string n = std::to_string(c.outputs), k = std::to_string(c.inputs), t = c.type, x = c.input;
  std::string matrix = "tensor<" + n + "x" + k + "x" + t + ">";
  std::string square = "tensor<" + k + "x" + k + "x" + t + ">";
  std::string bias = "tensor<" + n + "x" + t + ">";
  std::string rows = "tensor<?x?x" + k + "x" + x + ">", result = "tensor<?x?x" + n + "x" + x + ">";
  auto weight = [](const std::string &name, const std::string &type) {
    return "fovea.weight @" + name + " : " + type + " = #fovea.stored<\"f\", \"" + name + "\", " +
           type + ">\n";
  };
  return weight("tied", matrix) + weight("bias", bias) + weight("first", square) +
         weight("second", square) + "func.func private @layer(%x: " + rows + ", %w: " + square +
         ") -> " + rows + " {\n  %y = fovea.linear %x, %w : " + rows + ", " + square + " -> " +
         rows + "\n  return %y : " + rows + "\n}\nfunc.func @run(%ids: tensor<?x?xi64>) -> (" +
         result + ", " + rows +
         ") attributes {fovea.entry} {\n  %t = fovea.weight_ref @tied : " + matrix +
         "\n  %b = fovea.weight_ref @bias : " + bias +
         "\n  %f = fovea.weight_ref @first : " + square +
         "\n  %s = fovea.weight_ref @second : " + square +
         "\n  %e = fovea.embedding %ids, %t : tensor<?x?xi64>, " + matrix + " -> " + rows +
         "\n  %h = call @layer(%e, %f) : (" + rows + ", " + square + ") -> " + rows +
         "\n  %g = call @layer(%h, %s) : (" + rows + ", " + square + ") -> " + rows +
         "\n  %y = fovea.linear %g, %t bias(%b : " + bias + ") : " + rows + ", " + matrix + " -> " +
         result + "\n  return %y, %e : " + result + ", " + rows + "\n}\n";
}

const WeightCase kCases[] = {
    {"f32", 32, 16},
    {"f32", 33, 5},
    {"f32", 1, 1},
    {"f32", 15, 70},
    {"bf16", 32, 16},
    {"bf16", 33, 5},
    {"bf16", 1, 1},
    {"bf16", 17, 70},
    {"f16", 32, 16},
    {"f16", 33, 5},
    {"bf16", 33, 5, "f64", 1e-13},
    {"f32", 33, 5, "f64", 1e-13},
    {"f64", 33, 5, "f64", 1e-13},
};

class WeightGrid : public testing::TestWithParam<WeightCase> {};

/// The inputs of a call for two texts of some length.
using MakeInputs = std::function<std::vector<RuntimeValue>(int64_t length)>;

/// `run` of a program, compiled, whole and in three parts, against the interpreter: each result
/// within its tolerance, relative to the largest element.
void checkAgainstInterpreter(const std::string &text, const MakeInputs &makeInputs,
                             ArrayRef<double> tolerances, bool isNeverZero,
                             NativeOptions options = {}) {
  std::unique_ptr<MLIRContext> context = makeContext();
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    ADD_FAILURE() << diagnostic.str();
    return success();
  });
  std::string error;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
  ASSERT_TRUE(module) << text;
  MadeUp source;
  options.source = &source;
  std::unique_ptr<NativeProgram> program = NativeProgram::compile(*module, error, options);
  ASSERT_TRUE(program) << error << text;
  Interpreter interpreter(*module, source);
  for (int64_t length : {1, 7}) {
    std::vector<RuntimeValue> inputs = makeInputs(length);
    auto expected = interpreter.call("run", inputs);
    auto got = program->call("run", inputs, 1, error);
    ASSERT_TRUE(succeeded(expected) && succeeded(got)) << error;
    auto inParts = program->call("run", inputs, 3, error);
    ASSERT_TRUE(succeeded(inParts)) << error;
    for (auto [result, tolerance] : llvm::enumerate(tolerances)) {
      const Tensor &x = *std::get<TensorRef>((*got)[result]),
                   &y = *std::get<TensorRef>((*expected)[result]),
                   &z = *std::get<TensorRef>((*inParts)[result]);
      ASSERT_EQ(x.shape, y.shape);
      double largest = 0;
      for (int64_t i = 0; i < y.size(); ++i)
        largest = std::max(largest, std::abs(y.at(i).real));
      if (isNeverZero)
        EXPECT_GT(largest, 0);
      for (int64_t i = 0; i < y.size(); ++i) {
        EXPECT_LE(std::abs(x.at(i).real - y.at(i).real), tolerance * largest)
            << "element " << i << " of result " << result << ", length " << length;
        EXPECT_EQ(x.at(i).real, z.at(i).real) << i << " depends on the number of parts";
      }
    }
  }
}

TEST_P(WeightGrid, agreesWithTheInterpreter) {
  const WeightCase &c = GetParam();
  auto makeInputs = [&](int64_t length) {
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < 2 * length; ++i)
      ids.push_back((i * 5 + c.outputs - 1) % c.outputs);
    return std::vector<RuntimeValue>{makeIntegers({2, length}, ids)};
  };
  checkAgainstInterpreter(makeProgram(c), makeInputs, {c.tolerance, 0.0}, /*isNeverZero=*/false);
}

INSTANTIATE_TEST_SUITE_P(All, WeightGrid, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<WeightCase> &info) {
                           const WeightCase &c = info.param;
                           return std::string(c.type) + "_" + std::to_string(c.outputs) + "x" +
                                  std::to_string(c.inputs) + "_" + c.input;
                         });

//===-- Quantised ----------------------------------------------------------------------------===//

struct QuantizedCase {
  const char *name;
  const char *type; ///< of the numbers
  int64_t outputs, inputs;
  int64_t group = 0; ///< inputs of a scale; 0: all
  const char *scales = "f32";
  const char *input = "f32"; ///< of the activations
  double tolerance = 2e-6;
  bool isRowMajor = false;
  bool quantizesRows = false;
};

/// A linear by itself, with a bias, and two layers that share a function.
std::string makeQuantized(const QuantizedCase &c) {
  std::string n = std::to_string(c.outputs), k = std::to_string(c.inputs), x = c.input, text;
  std::string rows = "tensor<?x?x" + k + "x" + x + ">", result = "tensor<?x?x" + n + "x" + x + ">";
  std::string bias = "tensor<" + n + "xf32>", how = c.quantizesRows ? " quantize_rows" : "";
  auto matrix = [&](const std::string &outputs) {
    return "tensor<" + outputs + "x" + k + "x" + c.type + ">";
  };
  auto scales = [&](const std::string &outputs) {
    return "tensor<" + outputs + (c.group ? "x" + std::to_string(c.inputs / c.group) : "") + "x" +
           c.scales + ">";
  };
  auto weight = [&](const std::string &name, const std::string &outputs) {
    std::string step = "<#fovea.stored<\"f\", \"" + name + "\", tensor<" + outputs + "x" + k +
                       "xf32>>, " + c.type + ", " + c.scales +
                       (c.group ? ", group = " + std::to_string(c.group) : "") + ">";
    auto one = [&](const std::string &as, const std::string &type, std::string recipe) {
      // What is packed already stays as it is.
      if (c.isRowMajor)
        recipe = "#fovea.pack<" + recipe + ">";
      text += "fovea.weight @" + as + " : " + type + " = " + recipe + "\n";
    };
    one(name, matrix(outputs), "#fovea.quantize" + step);
    one(name + ".scales", scales(outputs), "#fovea.quantization_scales" + step);
  };
  weight("w", n);
  weight("first", k);
  weight("second", k);
  std::string product = " : " + rows + ", " + matrix(k) + " -> " + rows + "\n";
  text += "fovea.weight @bias : " + bias + " = #fovea.stored<\"f\", \"bias\", " + bias + ">\n";
  text += "func.func private @layer(%x: " + rows + ", %w: " + matrix(k) + ", %s: " + scales(k) +
          ") -> " + rows + " {\n  %y = fovea.linear %x, %w" + how + " scales(%s : " + scales(k) +
          ")" + product + "  return %y : " + rows + "\n}\n";
  text += "func.func @run(%x: " + rows + ") -> (" + result + ", " + rows +
          ") attributes {fovea.entry} {\n";
  for (std::string name : {"w", "first", "second"}) {
    std::string outputs = name == "w" ? n : k;
    text += "  %" + name + " = fovea.weight_ref @" + name + " : " + matrix(outputs) + "\n  %" +
            name + "s = fovea.weight_ref @" + name + ".scales : " + scales(outputs) + "\n";
  }
  std::string call = ") : (" + rows + ", " + matrix(k) + ", " + scales(k) + ") -> " + rows + "\n";
  text += "  %b = fovea.weight_ref @bias : " + bias + "\n  %h = call @layer(%x, %first, %firsts" +
          call + "  %g = call @layer(%h, %second, %seconds" + call + "  %y = fovea.linear %x, %w" +
          how + " scales(%ws : " + scales(n) + ") bias(%b : " + bias + ") : " + rows + ", " +
          matrix(n) + " -> " + result + "\n  return %y, %g : " + result + ", " + rows + "\n}\n";
  return text;
}

const QuantizedCase kQuantized[] = {
    {"int8", "i8", 32, 16},
    {"int8_odd", "i8", 33, 5},
    {"int8_one", "i8", 1, 1},
    {"int8_row_major", "i8", 33, 5, 0, "f32", "f32", 2e-6, true},
    {"int8_groups", "i8", 17, 70, 10, "f16"},
    {"int8_odd_groups", "i8", 17, 15, 5},
    {"int8_groups_row_major", "i8", 17, 70, 10, "f16", "f32", 2e-6, true},
    {"int8_f64", "i8", 33, 5, 0, "f32", "f64", 1e-13},
    {"int8_f16", "i8", 33, 6, 0, "f32", "f16", 2e-3},
    {"int8_bf16", "i8", 33, 6, 0, "f32", "bf16", 1.6e-2},
    {"int4", "i4", 33, 64, 32, "f16"},
    {"int4_rows", "i4", 18, 10},
    {"int4_pairs", "i4", 15, 6, 2, "f16"},
    {"int4_wide_scales", "i4", 1, 96, 32},
    {"int4_row_major", "i4", 33, 64, 32, "f16", "f32", 2e-6, true},
    {"int4_f64", "i4", 33, 64, 32, "f16", "f64", 1e-13},
    {"int4_f16", "i4", 33, 64, 32, "f16", "f16", 2e-3},
    {"int8_rows", "i8", 33, 64, 0, "f32", "f32", 2e-6, false, true},
    {"int8_rows_odd", "i8", 130, 30, 0, "f32", "f32", 2e-6, false, true},
    {"int8_rows_groups", "i8", 33, 96, 12, "f16", "f32", 2e-6, false, true},
    {"int8_rows_row_major", "i8", 33, 6, 0, "f32", "f32", 2e-6, true, true},
    {"int4_rows_groups", "i4", 130, 96, 32, "f16", "f32", 2e-6, false, true},
    {"int4_rows_odd_groups", "i4", 33, 30, 10, "f16", "f32", 2e-6, false, true},
    {"int4_rows_whole", "i4", 33, 64, 0, "f32", "f32", 2e-6, false, true},
};

class QuantizedGrid : public testing::TestWithParam<QuantizedCase> {};

TEST_P(QuantizedGrid, agreesWithTheInterpreter) {
  const QuantizedCase &c = GetParam();
  auto makeInputs = [&](int64_t length) {
    std::vector<double> numbers;                        // exact in every type
    for (int64_t i = 0; i < 2 * length * c.inputs; ++i) // the greatest of a row is no rounding's
      numbers.push_back(
          (c.quantizesRows && i % c.inputs == 0 ? 127 : static_cast<double>(i * 7 % 33 - 16)) / 16);
    return std::vector<RuntimeValue>{makeReals({2, length, c.inputs}, numbers)};
  };
  // What a product gives falls to either side where it is rounded again.
  checkAgainstInterpreter(makeQuantized(c), makeInputs,
                          {c.tolerance, c.quantizesRows ? 3.2e-2 : c.tolerance},
                          /*isNeverZero=*/true);
}

INSTANTIATE_TEST_SUITE_P(All, QuantizedGrid, testing::ValuesIn(kQuantized),
                         [](const testing::TestParamInfo<QuantizedCase> &info) {
                           return info.param.name;
                         });

//===-- Blocks -------------------------------------------------------------------------------===//

/// A table that is a head, too, as of a model, and experts' matrices behind a bias of their own.
std::string makeBlockProgram(const std::string &kind, const std::string &how, int64_t inputs) {
  std::string k = std::to_string(inputs), type = "!fovea.blocks<" + kind + ">";
  std::string matrix = "tensor<35x" + k + "x" + type + ">", rows = "tensor<?x?x" + k + "xf32>";
  std::string other = "tensor<80x" + k + "x" + type + ">", result = "tensor<?x?x35xf32>";
  return "fovea.weight @tied : " + matrix + " = #fovea.stored<\"f\", \"tied\", " + matrix +
         ">\nfovea.weight @parts : " + other + " = #fovea.concat<0, #fovea.stored<\"f\", \"a\", " +
         "tensor<16x" + k + "x" + type + ">>, #fovea.slice<#fovea.stored<\"f\", \"b\", tensor<99x" +
         k + "x" + type + ">>, 0 from 3 count 64>>\nfunc.func @run(%x: " + rows +
         ", %ids: tensor<?x?xi64>) -> (" + result + ", tensor<?x?x80xf32>, " + rows +
         ") attributes {fovea.entry} {\n  %t = fovea.weight_ref @tied : " + matrix +
         "\n  %p = fovea.weight_ref @parts : " + other +
         "\n  %e = fovea.embedding %ids, %t : tensor<?x?xi64>, " + matrix + " -> " + rows +
         "\n  %y = fovea.linear %x, %t" + how + " : " + rows + ", " + matrix + " -> " + result +
         "\n  %z = fovea.linear %x, %p" + how + " : " + rows + ", " + other +
         " -> tensor<?x?x80xf32>\n  return %y, %z, %e : " + result + ", tensor<?x?x80xf32>, " +
         rows + "\n}\n";
}

struct BlockCase {
  const char *name, *level;
  bool quantizesRows = false;
  TilesTo tiles = TilesTo::Vectors;
};

const BlockCase kBlockCases[] = {
    {"bytes", "", true},
    {"floats", ""},
    {"narrow", "avx2"},
    {"narrow_bytes", "avxvnni", true},
    {"narrow_shorts", "avx2", true},
    {"loops", "", false, TilesTo::Loops},
};

class BlockGrid : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(BlockGrid, agreesWithTheInterpreter) {
  auto kind = static_cast<BlockKind>(std::get<0>(GetParam()));
  const BlockCase &c = kBlockCases[std::get<1>(GetParam())];
  if (c.level == getTestedLevel())
    GTEST_SKIP() << "this is the level that is tested";
  // AVX-512 has the instruction for vectors of any width.
  if (c.level == StringRef("avxvnni") && !findLevel(getHostLevel())->hasVnni())
    GTEST_SKIP() << "this machine has no VPDPBUSD";
  int64_t inputs = 2 * getFormat(kind).elements;
  std::string type = stringifyBlockKind(kind).str();
  if (isOfIntegers(kind))
    type += ", " + std::to_string(kIntegers);
  auto makeInputs = [&](int64_t length) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < 2 * length * inputs; ++i) // the greatest of a row is no rounding's
      numbers.push_back(
          (c.quantizesRows && i % inputs == 0 ? 127 : static_cast<double>(i * 7 % 33 - 16)) / 16);
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < 2 * length; ++i)
      ids.push_back((i * 5 + 34) % 35);
    return std::vector<RuntimeValue>{makeReals({2, length, inputs}, numbers),
                                     makeIntegers({2, length}, ids)};
  };
  NativeOptions options;
  options.level = c.level;
  options.tiles = c.tiles;
  checkAgainstInterpreter(makeBlockProgram(type, c.quantizesRows ? " quantize_rows" : "", inputs),
                          makeInputs, {4e-6, 4e-6, 1e-7}, /*isNeverZero=*/true, options);
}

std::string nameBlockCase(const testing::TestParamInfo<std::tuple<int, int>> &info) {
  return stringifyBlockKind(static_cast<BlockKind>(std::get<0>(info.param))).str() + "_" +
         kBlockCases[std::get<1>(info.param)].name;
}

constexpr int kBestLevel = 2, kLevels = std::size(kBlockCases);
INSTANTIATE_TEST_SUITE_P(
    All, BlockGrid,
    testing::Combine(testing::Range(0, static_cast<int>(getMaxEnumValForBlockKind()) + 1),
                     testing::Range(0, kBestLevel)),
    nameBlockCase);

/// One of each structure.
INSTANTIATE_TEST_SUITE_P(OtherLevels, BlockGrid,
                         testing::Combine(testing::Values(static_cast<int>(BlockKind::Q4_1),
                                                          static_cast<int>(BlockKind::Q4_K),
                                                          static_cast<int>(BlockKind::Q6_K),
                                                          static_cast<int>(BlockKind::MXFP4),
                                                          static_cast<int>(BlockKind::Int4Offset)),
                                          testing::Range(kBestLevel, kLevels)),
                         nameBlockCase);

} // namespace
