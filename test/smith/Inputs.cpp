// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of inputs. Each argument takes its numbers from one stream, one after the other.
#include "test/smith/Inputs.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "test/smith/Random.h"
#include "llvm/ADT/STLExtras.h"
#include <sstream>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

/// "SCALE", then "rows FACTOR", "some FACTOR", "percent P", "plus NUMBER" as asked for.
static void putNormal(std::istream &words, int64_t count, int64_t last,
                      ::fovea::smith::Random &random, function_ref<void(int64_t, double)> put) {
  double scale = 1, factor = 1, plus = 0, number = 0;
  int percent = 0;
  bool isByRows = false;
  words >> scale;
  for (std::string word; words >> word >> number;) {
    if (word == "percent")
      percent = static_cast<int>(number);
    else if (word == "plus")
      plus = number;
    else
      factor = number;
    isByRows |= word == "rows";
  }
  bool isRare = false;
  for (int64_t i = 0; i < count; ++i) {
    if (percent && (!isByRows || i % last == 0))
      isRare = random.percent(percent);
    put(i, scale * (isRare ? factor : 1) * random.normal() + plus);
  }
}

/// Values for an argument, as its recipe says. Null if the recipe is not understood.
static TensorRef makeInput(RankedTensorType type, ArrayRef<int64_t> shape,
                           const std::string &recipe, const ::fovea::smith::Program &program,
                           int call, ::fovea::smith::Random &random) {
  std::istringstream words(recipe);
  std::string kind;
  words >> kind;
  auto tensor = std::make_shared<Tensor>();
  tensor->shape.assign(shape.begin(), shape.end());
  tensor->isReal = isa<FloatType>(type.getElementType());
  int64_t count = countElements(shape), last = shape.empty() ? 1 : shape.back();
  (tensor->isReal ? (void)tensor->reals.resize(count) : (void)tensor->integers.resize(count));
  auto put = [&](int64_t i, double value) {
    if (tensor->isReal)
      tensor->reals[i] = roundToType(static_cast<float>(value), type.getElementType());
    else
      tensor->integers[i] = static_cast<int64_t>(value);
  };
  auto sizeOf = [&](const std::string &word) -> int {
    if (auto it = program.sizes.find(word); it != program.sizes.end())
      return call ? it->second.second : it->second.first;
    return std::atoi(word.c_str());
  };
  if (kind == "normal") {
    putNormal(words, count, last, random, put);
  } else if (kind == "keep") {
    int percent = 50;
    std::string first;
    words >> percent >> first;
    for (int64_t i = 0; i < count; ++i)
      put(i, random.percent(percent) || (first == "first" && i % last == 0));
  } else if (kind == "upto") {
    std::string most;
    int least = 0;
    words >> most >> least;
    for (int64_t i = 0; i < count; ++i)
      put(i, least + random.below(std::max(1, sizeOf(most) - least + 1)));
  } else if (kind == "below") {
    std::string limit;
    words >> limit;
    for (int64_t i = 0; i < count; ++i)
      put(i, random.below(std::max(1, sizeOf(limit))));
  } else if (kind == "documents") {
    int documents = 2;
    words >> documents;
    int id = 0;
    for (int64_t i = 0; i < count; ++i) {
      id = i % last == 0
               ? random.below(2)
               : id + (random.percent(100 * documents / std::max<int64_t>(last, documents)));
      put(i, id);
    }
  } else {
    return nullptr;
  }
  return tensor;
}

FailureOr<std::vector<RuntimeValue>>
mlir::fovea::makeArguments(func::FuncOp entry, const ::fovea::smith::Program &program, int call,
                           std::string &error) {
  ::fovea::smith::Random random(static_cast<uint64_t>(call + 2 * program.seed) + 1, "inputs");
  std::vector<RuntimeValue> arguments;
  for (auto [i, argument] : llvm::enumerate(entry.getArguments())) {
    auto type = cast<RankedTensorType>(argument.getType());
    SmallVector<int64_t> shape(type.getShape());
    auto dims = entry.getArgAttrOfType<ArrayAttr>(i, "fovea.dims");
    size_t next = 0;
    for (int64_t &size : shape) {
      if (!ShapedType::isDynamic(size))
        continue;
      StringRef name = dims && next < dims.size() ? cast<StringAttr>(dims[next++]).getValue() : "";
      auto it = program.sizes.find(name.str());
      if (it == program.sizes.end()) {
        error = "no line '// size:' for '" + name.str() + "'";
        return failure();
      }
      size = call ? it->second.second : it->second.first;
    }
    TensorRef value = makeInput(type, shape, program.inputs[i].second, program, call, random);
    if (!value) {
      error = "input '" + program.inputs[i].second + "' is not understood";
      return failure();
    }
    arguments.push_back(value);
  }
  return arguments;
}
