// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes inputs for entries. Ids stay inside their tables, rows beyond the first are padded, floats
// are exact in f32.
#include "tools/verify/Inputs.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "tools/verify/Backend.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

/// Values that are followed from one argument; a graph has few ops for each integer argument.
static constexpr size_t kMaxFollowed = 4096;

IntegerUse verify::findUse(BlockArgument argument, StringRef name) {
  IntegerUse use;
  std::optional<int64_t> rows;
  if (name == "attention_mask")
    return {IntegerUse::Keep, 2};
  if (getElementTypeOrSelf(argument.getType()).isInteger(1))
    return use;
  SmallVector<Value> work{argument};
  DenseSet<Value> seen;
  while (!work.empty() && seen.size() < kMaxFollowed) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &operand : value.getUses()) {
      Operation *user = operand.getOwner();
      auto table = [&](int64_t size) { rows = std::min(size, rows.value_or(size)); };
      if (auto op = dyn_cast<EmbeddingOp>(user)) {
        table(cast<RankedTensorType>(op.getTable().getType()).getDimSize(0));
      } else if (auto op = dyn_cast<PositionLearnedOp>(user)) {
        table(op.getTable().getType().getDimSize(0) - static_cast<int64_t>(op.getOffset()));
      } else if (isa<MaskLengthOp, MaskPrefixOp>(user)) {
        use.kind = IntegerUse::Length;
      } else if (isa<MaskSegmentOp>(user)) {
        use.kind = IntegerUse::Segment;
      } else if (auto op = dyn_cast<AttentionOp>(user)) {
        // What a score reads may be anything.
        if (value == op.getQueryPositions() || value == op.getKeyPositions())
          use.kind = IntegerUse::Position;
      } else if (isa<RopeOp, PositionSinusoidalOp, MaskMaterializeOp>(user)) {
        use.kind = IntegerUse::Position;
      } else if (auto call = dyn_cast<func::CallOp>(user)) {
        auto callee =
            SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
        if (callee && !callee.isExternal())
          work.push_back(callee.getArgument(operand.getOperandNumber()));
      } else if (user->getNumResults() == 1 &&
                 isa<RankedTensorType>(user->getResult(0).getType())) {
        work.push_back(user->getResult(0)); // casts and new shapes
      }
    }
  }
  if (rows)
    return {IntegerUse::Id, std::max<int64_t>(*rows, 1)};
  return use;
}

static SmallVector<int64_t> shapeOf(func::FuncOp entry, unsigned argument, RankedTensorType type,
                                    std::map<std::string, int64_t> &named, const Sizes &sizes,
                                    size_t &nextOther) {
  auto dims = entry.getArgAttrOfType<ArrayAttr>(argument, FoveaDialect::kDimsAttr);
  SmallVector<int64_t> shape(type.getShape());
  size_t dynamic = 0;
  for (int64_t &size : shape) {
    if (!ShapedType::isDynamic(size))
      continue;
    std::string name = dims && dynamic < dims.size() ? cast<StringAttr>(dims[dynamic]).str()
                                                     : "argument " + std::to_string(argument);
    ++dynamic;
    auto [found, isNew] = named.try_emplace(name);
    if (isNew) {
      bool isFirst = llvm::none_of(
          named, [&](const auto &other) { return other.first != "batch" && other.first != name; });
      if (name == "batch")
        found->second = sizes.batch;
      else if (isFirst || sizes.others.empty())
        found->second = sizes.length;
      else
        found->second = sizes.others[nextOther++ % sizes.others.size()];
    }
    size = found->second;
  }
  return shape;
}

FailureOr<std::vector<TensorRef>> verify::makeInputs(func::FuncOp entry, const Sizes &sizes,
                                                     std::mt19937_64 &random) {
  std::map<std::string, int64_t> named;
  size_t nextOther = 0;
  std::vector<TensorRef> tensors;
  // Not std::normal_distribution and the like: their numbers differ from library to library.
  auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % uint64_t(limit)); };
  for (auto [i, argumentType] : llvm::enumerate(entry.getArgumentTypes())) {
    if (isa<CacheType>(argumentType))
      continue;
    std::string name = nameOfArgument(entry, i);
    auto type = dyn_cast<RankedTensorType>(argumentType);
    if (!type)
      return entry.emitOpError("expects tensors and caches as arguments, got ")
             << argumentType << " for " << name;
    Tensor tensor;
    tensor.shape = shapeOf(entry, i, type, named, sizes, nextOther);
    int64_t count = countElements(tensor.shape);
    if (count < 0)
      return entry.emitOpError("expects arguments of moderate size, got ")
             << type << " for " << name;
    tensor.isReal = isa<FloatType>(type.getElementType());
    if (tensor.isReal) {
      // The sum of four uniform numbers is normal enough; 20 bits each are exact in f32.
      tensor.reals.resize(count);
      for (double &real : tensor.reals) {
        int64_t sum = 0;
        for (int n = 0; n < 4; ++n)
          sum += below(1 << 20) - (1 << 19);
        real = roundToType(std::ldexp(sum, -19), type.getElementType());
      }
    } else {
      tensor.integers.resize(count);
      IntegerUse use = findUse(entry.getArgument(i), name);
      int64_t row = tensor.rank() ? std::max<int64_t>(tensor.shape.back(), 1) : 1;
      int64_t longest = sizes.length;
      for (int64_t other : sizes.others)
        longest = std::max(longest, other);
      for (int64_t at = 0; at < count; ++at) {
        int64_t inRow = at % row, rowNumber = at / row, &element = tensor.integers[at];
        int64_t before = inRow ? tensor.integers[at - 1] : 0;
        switch (use.kind) {
        case IntegerUse::Flag:
          element = below(2);
          break;
        case IntegerUse::Keep: // row 0 is whole, the others lose a third at their end
          element = rowNumber == 0 || inRow < (2 * row + 2) / 3;
          break;
        case IntegerUse::Id:
          element = below(use.limit);
          break;
        case IntegerUse::Position:
          element = inRow ? before + 1 : below(3);
          break;
        case IntegerUse::Length:
          element = below(longest + 2);
          break;
        case IntegerUse::Segment:
          element = inRow ? before + (below(4) == 0) : below(2);
          break;
        }
      }
    }
    tensors.push_back(std::make_shared<Tensor>(std::move(tensor)));
  }
  return tensors;
}
