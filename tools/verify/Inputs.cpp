// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes inputs for entries. Ids stay inside their tables, rows beyond the first are padded, floats
// are exact in f32.
#include "tools/verify/Inputs.h"
#include "dialects/Fovea/Ports.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "tools/verify/Backend.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

/// Values that are followed from one argument; a graph has few ops for each integer argument.
static constexpr size_t kMaxFollowed = 4096;

/// Of a role; what was known before of one that may hold anything.
static IntegerUse::Kind getKind(IntegerRole::Kind role, IntegerUse::Kind before) {
  switch (role) {
  case IntegerRole::Any:
    return before;
  case IntegerRole::Row:
    return IntegerUse::Id;
  case IntegerRole::Position:
    return IntegerUse::Position;
  case IntegerRole::Length:
    return IntegerUse::Length;
  case IntegerRole::Segment:
    return IntegerUse::Segment;
  }
  llvm_unreachable("all roles return");
}

IntegerUse verify::findUse(func::FuncOp entry, unsigned number) {
  BlockArgument argument = entry.getArgument(number);
  IntegerUse use;
  std::optional<int64_t> rows;
  if (getArgumentRole(entry, number) == PortRole::AttentionMask)
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
      if (auto op = dyn_cast<IntegersOpInterface>(user)) {
        IntegerRole role = op.getIntegerRole(operand);
        if (role.kind == IntegerRole::Row)
          rows = std::min(role.limit, rows.value_or(role.limit));
        else
          use.kind = getKind(role.kind, use.kind);
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

/// Of the dynamic size number `dynamic` of an argument.
static std::string nameOfDim(func::FuncOp entry, unsigned argument, size_t dynamic) {
  auto dims = entry.getArgAttrOfType<ArrayAttr>(argument, FoveaDialect::kDimsAttr);
  return dims && dynamic < dims.size() ? cast<StringAttr>(dims[dynamic]).str()
                                       : "argument " + std::to_string(argument);
}

std::set<std::string> verify::getOpenDims(func::FuncOp entry) {
  std::set<std::string> names;
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (size_t d = 0, open = tensor.getNumDynamicDims(); d < open; ++d)
        names.insert(nameOfDim(entry, i, d));
  return names;
}

static SmallVector<int64_t> shapeOf(func::FuncOp entry, unsigned argument, RankedTensorType type,
                                    std::map<std::string, int64_t> &named, const Sizes &sizes,
                                    size_t &nextOther) {
  const StringRef batch = getBatchDim(entry);
  SmallVector<int64_t> shape(type.getShape());
  size_t dynamic = 0;
  for (int64_t &size : shape) {
    if (!ShapedType::isDynamic(size))
      continue;
    std::string name = nameOfDim(entry, argument, dynamic++);
    auto [found, isNew] = named.try_emplace(name);
    auto fixed = sizes.fixed.find(name);
    if (isNew && fixed != sizes.fixed.end()) {
      found->second = fixed->second;
    } else if (isNew) {
      bool isFirst = llvm::none_of(named, [&](const auto &other) {
        return other.first != batch && other.first != name && !sizes.fixed.count(other.first);
      });
      if (name == batch)
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

/// What holds a value's elements, scaled at most in its shape, behind one use of it.
static void follow(OpOperand &operand, SmallVectorImpl<Value> &work) {
  Operation *user = operand.getOwner();
  if (auto call = dyn_cast<func::CallOp>(user)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (callee && !callee.isExternal())
      work.push_back(callee.getArgument(operand.getOperandNumber()));
  } else if (auto op = dyn_cast<linalg::LinalgOp>(user)) {
    if (op->getNumRegions() == 1 && operand.getOperandNumber() < op.getBlock()->getNumArguments())
      work.push_back(op.getBlock()->getArgument(operand.getOperandNumber()));
  } else if (isa<linalg::YieldOp>(user)) {
    work.push_back(user->getParentOp()->getResult(operand.getOperandNumber()));
  } else if (isa<tensor::TensorDialect>(user->getDialect()) ||
             isa<arith::ExtFOp, arith::TruncFOp>(user)) {
    if (operand.getOperandNumber() == 0 && user->getNumResults() == 1)
      work.push_back(user->getResult(0));
  }
}

/// The constant that an op of two operands has beside this one, if it is one float.
static std::optional<double> getOther(OpOperand &operand) {
  Attribute constant;
  Operation *op = operand.getOwner();
  if (op->getNumOperands() != 2 ||
      !matchPattern(op->getOperand(1 - operand.getOperandNumber()), m_Constant(&constant)))
    return std::nullopt;
  if (auto dense = dyn_cast<SplatElementsAttr>(constant))
    constant = dense.getSplatValue<Attribute>();
  auto real = dyn_cast<FloatAttr>(constant);
  return real ? std::optional(real.getValueAsDouble()) : std::nullopt;
}

/// All uses of what holds an argument's elements, until one answers.
static bool anyUse(Value value, function_ref<bool(OpOperand &)> answers) {
  SmallVector<Value> work{value};
  DenseSet<Value> seen;
  while (!work.empty() && seen.size() < kMaxFollowed) {
    value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &operand : value.getUses()) {
      if (answers(operand))
        return true;
      follow(operand, work);
    }
  }
  return false;
}

SmallVector<double> verify::findCompared(BlockArgument argument) {
  SmallVector<double> numbers;
  anyUse(argument, [&](OpOperand &operand) {
    std::optional<double> other = getOther(operand);
    if (isa<arith::CmpFOp>(operand.getOwner()) && other && std::isfinite(*other))
      numbers.push_back(*other);
    return false;
  });
  return numbers;
}

bool verify::isMaskOfFloats(BlockArgument argument) {
  auto isFar = [](OpOperand &operand) {
    std::optional<double> other = getOther(operand);
    return isa<arith::MulFOp>(operand.getOwner()) && other && std::fabs(*other) > 5000;
  };
  return anyUse(argument, [&](OpOperand &operand) {
    return isa<arith::SubFOp>(operand.getOwner()) && getOther(operand) == 1 &&
           anyUse(operand.getOwner()->getResult(0), isFar);
  });
}

static void scale(std::vector<double> &reals, BlockArgument argument, Magnitude magnitude,
                  std::mt19937_64 &random) {
  Type type = getElementTypeOrSelf(argument.getType());
  if (magnitude == Magnitude::One || reals.empty())
    return;
  size_t certain = random() % reals.size();
  for (auto [i, real] : llvm::enumerate(reals)) {
    bool isLarge = magnitude == Magnitude::Large ||
                   (magnitude == Magnitude::Mixed && (i == certain || random() % 50 == 0));
    real = roundToType(real * (isLarge ? 1e3 : magnitude == Magnitude::Small ? 1e-3 : 1), type);
  }
  SmallVector<double> compared = findCompared(argument);
  if (magnitude == Magnitude::Mixed && !compared.empty())
    for (double &real : reals)
      if (random() % 3 == 0)
        real = roundToType(compared[random() % compared.size()], type);
}

FailureOr<std::vector<TensorRef>> verify::makeInputs(func::FuncOp entry, const Sizes &sizes,
                                                     std::mt19937_64 &random, Magnitude magnitude) {
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
    if (tensor.isReal && isMaskOfFloats(entry.getArgument(i))) {
      for (int64_t at = 0; at < count; ++at)
        tensor.reals.push_back(below(2));
    } else if (tensor.isReal) {
      // The sum of four uniform numbers is normal enough; 20 bits each are exact in f32.
      tensor.reals.resize(count);
      for (double &real : tensor.reals) {
        int64_t sum = 0;
        for (int n = 0; n < 4; ++n)
          sum += below(1 << 20) - (1 << 19);
        real = roundToType(std::ldexp(sum, -19), type.getElementType());
      }
      scale(tensor.reals, entry.getArgument(i), magnitude, random);
    } else {
      tensor.integers.resize(count);
      IntegerUse use = findUse(entry, i);
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
