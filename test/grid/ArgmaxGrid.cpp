// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argmax that is a product's epilogue: ties across and inside blocks of columns, NaN,
// infinities, rows that are all negative (so that a panel's padding must not win), compiled against
// the interpreter; whole and in parts, which must agree.
#include "interpreter/Interpreter.h"
#include "lowering/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "test/grid/NativeProgram.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

constexpr int64_t kInputs = 5;

struct Lowering {
  const char *name;
  TilesTo tiles;
  const char *level;
};
const Lowering kLowerings[] = {
    {"loops", TilesTo::Loops, "avx2"},        {"avx512", TilesTo::Vectors, "avx512"},
    {"avx2", TilesTo::Vectors, "avx2"},       {"sse", TilesTo::Vectors, "sse"},
    {"aarch64", TilesTo::Vectors, "aarch64"},
};

/// Weights by name; with inputs that are positive, products of whole numbers of few bits.
struct Weights : RecipeSource {
  static double element(StringRef name, int64_t output, int64_t outputs, uint64_t noise) {
    double infinity = std::numeric_limits<double>::infinity();
    if (name == "negative")
      return -1.0 - noise % 3;
    if (name == "least")
      return -infinity;
    if (name == "infinite" && output % 20 == 3)
      return infinity;
    if (name == "unordered" && output == 0)
      return infinity;
    if (name == "unordered" && (output == outputs / 2 || output == outputs - 1))
      return std::nan("");
    return static_cast<double>(noise % 3) - 1;
  }
  FailureOr<ArrayRef<char>> read(StoredAttr tensor) override {
    RankedTensorType type = tensor.getType();
    StringRef name = tensor.getTensor();
    std::vector<char> &bytes = known[name.str()];
    if (!bytes.empty())
      return ArrayRef<char>(bytes);
    int64_t size = getStorageBytes(type.getElementType(), 1), outputs = type.getDimSize(0);
    bytes.resize(type.getNumElements() * size);
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      int64_t output = i / (type.getNumElements() / outputs);
      uint64_t noise =
          (static_cast<uint64_t>(i) * 6364136223846793005u + 1442695040888963407u) >> 33;
      putElement(bytes.data() + i * size, type.getElementType(),
                 {element(name, output, outputs, noise), 0});
    }
    return ArrayRef<char>(bytes);
  }
  std::map<std::string, std::vector<char>> known;
};

const char *const kWeights[] = {"ties", "negative", "least", "infinite", "unordered"};

/// Logits and tokens of each weight; then tokens alone, of rows that are scaled and cut off at
/// zero, so that most are equal. `shape` is the rows' without the last axis.
std::string makeProgram(const std::string &shape, const std::string &element, int64_t outputs) {
  std::string n = std::to_string(outputs), k = std::to_string(kInputs);
  std::string matrix = "tensor<" + n + "x" + k + "x" + element + ">",
              bias = "tensor<" + n + "xf32>";
  std::string rows = "tensor<" + shape + "x" + k + "xf32>",
              logits = "tensor<" + shape + "x" + n + "xf32>", tokens = "tensor<" + shape + "xi64>";
  std::string symbols, body, arguments, returned, types;
  auto weight = [&](const std::string &name, const std::string &type) {
    symbols += "fovea.weight @" + name + " : " + type + " = #fovea.stored<\"f\", \"" + name +
               "\", " + type + ">\n";
    body += "  %" + name + " = fovea.weight_ref @" + name + " : " + type + "\n";
  };
  auto give = [&](const std::string &value, const std::string &type) {
    returned += (returned.empty() ? "" : ", ") + value;
    types += (types.empty() ? "" : ", ") + type;
  };
  auto argmax = [&](const std::string &name, const std::string &of) {
    body += "  %" + name + " = fovea.argmax %" + of + " : " + logits + " -> " + tokens + "\n";
    give("%" + name, tokens);
  };
  auto linear = [&](const std::string &name, const std::string &x, const std::string &w) {
    body += "  %" + name + " = fovea.linear %" + x + ", %" + w + " bias(%bias : " + bias +
            ") : " + rows + ", " + matrix + " -> " + logits + "\n";
  };
  weight("bias", bias);
  for (std::string name : kWeights) {
    // Each has rows of its own: linears of one input would be merged.
    arguments += "%" + name + "_x: " + rows + ", ";
    weight(name, matrix);
    linear(name + "_y", name + "_x", name);
    give("%" + name + "_y", logits);
    argmax(name + "_t", name + "_y");
  }
  weight("scaled", matrix);
  body += "  %n = fovea.rms_norm %x eps(1.0e-5) : " + rows + "\n";
  body += "  %s = fovea.linear %n, %scaled : " + rows + ", " + matrix + " -> " + logits + "\n";
  body += "  %r = fovea.activation relu %s : " + logits + "\n";
  argmax("scaled_t", "r");
  return symbols + "func.func @run(" + arguments + "%x: " + rows + ") -> (" + types +
         ") attributes {fovea.entry} {\n" + body + "  return " + returned + " : " + types + "\n}\n";
}

struct Shape {
  const char *name, *text;
  std::vector<SmallVector<int64_t>> sizes;
};
const Shape kShapes[] = {{"one_row", "?", {{1}, {3}}},
                         {"rows", "?x?", {{2, 7}, {1, 1}, {0, 3}, {1, 260}}}};
const int64_t kOutputs[] = {1, 64, 97, 258};

using Parameters = std::tuple<size_t, const char *, size_t, int64_t>;
class ArgmaxGrid : public testing::TestWithParam<Parameters> {};

TEST_P(ArgmaxGrid, agreesWithTheInterpreter) {
  const auto &[way, element, shapeNumber, outputs] = GetParam();
  const Lowering &lowering = kLowerings[way];
  const Shape &shape = kShapes[shapeNumber];
  if (std::string lacking = findLacking(lowering.level); !lacking.empty())
    GTEST_SKIP() << "this machine has no " << lacking;
  std::unique_ptr<MLIRContext> context = makeContext();
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    ADD_FAILURE() << diagnostic.str();
    return success();
  });
  std::string text = makeProgram(shape.text, element, outputs), error;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
  ASSERT_TRUE(module) << text;
  Weights source;
  // Each argmax stands with its product.
  size_t fused = 0;
  auto count = [&](GroupOp group) {
    Block &body = group.getBody().front();
    fused += !body.getOps<LinearOp>().empty() && !body.getOps<ArgmaxOp>().empty();
  };
  std::unique_ptr<NativeProgram> program = NativeProgram::compile(
      *module, error,
      {.source = &source, .tiles = lowering.tiles, .choose = count, .level = lowering.level});
  ASSERT_TRUE(program) << error << text;
  ASSERT_EQ(fused, std::size(kWeights) + 1);
  Interpreter interpreter(*module, source);
  for (const SmallVector<int64_t> &sizes : shape.sizes) {
    SmallVector<int64_t> whole(sizes);
    whole.push_back(kInputs);
    int64_t elements = countElements(whole);
    std::vector<double> numbers(elements);
    for (int64_t i = 0; i < elements; ++i)
      numbers[i] = 1 + (i * 7 + i / 5) % 3;
    // One row has a NaN itself: all its products are.
    if (elements > 2 * kInputs)
      numbers[2 * kInputs - 1] = std::nan("");
    std::vector<RuntimeValue> inputs(std::size(kWeights) + 1, makeReals(whole, numbers));
    auto expected = interpreter.call("run", inputs);
    ASSERT_TRUE(succeeded(expected));
    for (int64_t parts : {1, 3, 8}) {
      auto got = program->call("run", inputs, parts, error);
      ASSERT_TRUE(succeeded(got)) << error;
      for (size_t result = 0; result < got->size(); ++result) {
        const Tensor &x = *std::get<TensorRef>((*got)[result]),
                     &y = *std::get<TensorRef>((*expected)[result]);
        SCOPED_TRACE("result " + std::to_string(result) + " of " + std::to_string(sizes[0]) +
                     " rows in " + std::to_string(parts) + " parts");
        ASSERT_EQ(x.shape, y.shape);
        ASSERT_EQ(x.integers, y.integers);
        for (int64_t i = 0; i < y.size() && y.isReal; ++i)
          ASSERT_TRUE(x.reals[i] == y.reals[i] ||
                      (std::isnan(x.reals[i]) && std::isnan(y.reals[i])))
              << i << ": got " << x.reals[i] << ", expected " << y.reals[i];
      }
    }
  }
}

/// Rows of no product: plain loops.
TEST(ArgmaxAlone, givesMinusOneForNaN) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> rows = {nan, 1, 2,   3,         nan,       infinity,
                                    1,   2, nan, -infinity, -infinity, -infinity,
                                    1,   3, 3,   nan,       nan,       nan};
  for (const char *element : {"f32", "f64", "bf16"}) {
    std::unique_ptr<MLIRContext> context = makeContext();
    std::string type = std::string("x") + element + ">", error;
    std::string text = "func.func @run(%x: tensor<?x3" + type +
                       ") -> tensor<?xi64> attributes {fovea.entry} {\n  %t = fovea.argmax %x : "
                       "tensor<?x3" +
                       type + " -> tensor<?xi64>\n  return %t : tensor<?xi64>\n}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
    ASSERT_TRUE(module) << text;
    std::unique_ptr<NativeProgram> program = NativeProgram::compile(*module, error);
    ASSERT_TRUE(program) << error << text;
    for (int64_t parts : {1, 4}) {
      auto got = program->call("run", {makeReals({6, 3}, rows)}, parts, error);
      ASSERT_TRUE(succeeded(got)) << error;
      EXPECT_EQ(std::get<TensorRef>((*got)[0])->integers,
                (std::vector<int64_t>{-1, -1, -1, 0, 1, -1}))
          << element;
    }
  }
}

std::string nameCase(const testing::TestParamInfo<Parameters> &info) {
  const auto &[way, element, shape, outputs] = info.param;
  return std::string(kLowerings[way].name) + "_" + element + "_" + kShapes[shape].name + "_" +
         std::to_string(outputs);
}

INSTANTIATE_TEST_SUITE_P(All, ArgmaxGrid,
                         testing::Combine(testing::Range<size_t>(0, std::size(kLowerings)),
                                          testing::Values("f32", "bf16"),
                                          testing::Range<size_t>(0, std::size(kShapes)),
                                          testing::ValuesIn(kOutputs)),
                         nameCase);

} // namespace
