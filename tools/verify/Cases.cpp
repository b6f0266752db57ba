// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses cases by what can go wrong: one element, two, more than a vector holds; places on both
// sides of what the source compares them with; numbers that make exponentials saturate.
#include "tools/verify/Cases.h"
#include "dialects/Fovea/Ports.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::verify;

static constexpr int64_t kLengths[] = {1, 2, 7, 33};
/// Where in `kLengths` the length stands that other magnitudes are run with.
static constexpr size_t kScaledLength = 2;
static constexpr int64_t kBatches[] = {1, 2};
/// Values that are followed from one comparison.
static constexpr size_t kMaxFollowed = 256;

SmallVector<int64_t> verify::getLengths(ArrayRef<int64_t> asked) {
  return SmallVector<int64_t>(asked.empty() ? ArrayRef(kLengths) : asked);
}

//===-- Constants that places are compared with ----------------------------------------------===//

/// What a value inside a structured op or outside of it is computed from.
static void addSources(Value value, SmallVectorImpl<Value> &sources) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    if (op && argument.getArgNumber() < op->getNumOperands())
      sources.push_back(op->getOperand(argument.getArgNumber()));
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    sources.push_back(structured.getBlock()->getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber()));
  else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    sources.push_back(extract.getTensor());
  else if (!isa<tensor::DimOp>(op))
    llvm::append_range(sources, op->getOperands());
}

/// Whether a number comes from where an element stands.
static bool isPlace(Value value) {
  SmallVector<Value> work{value};
  DenseSet<Value> seen;
  while (!work.empty() && seen.size() < kMaxFollowed) {
    value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && isa<ElementRegionsOpInterface>(argument.getOwner()->getParentOp()) &&
        !isa<FloatType>(argument.getType()))
      return true;
    if (isa_and_nonnull<linalg::IndexOp, PositionsOp>(value.getDefiningOp()))
      return true;
    addSources(value, work);
  }
  return false;
}

/// The integer that an operand is.
static std::optional<int64_t> getConstant(Value value) {
  APInt integer;
  FloatAttr real;
  if (matchPattern(value, m_ConstantInt(&integer)) && integer.getSignificantBits() <= 64)
    return integer.getSExtValue();
  if (matchPattern(value, m_Constant(&real)) && std::abs(real.getValueAsDouble()) <= kLongest)
    return static_cast<int64_t>(real.getValueAsDouble());
  return std::nullopt;
}

/// Hears each constant that decides about places.
static void forEachConstant(Operation *op, function_ref<void(int64_t)> hear) {
  if (auto window = dyn_cast<MaskWindowOp>(op)) {
    hear(window.getLeft().value_or(0));
    hear(window.getRight().value_or(0));
  } else if (auto global = dyn_cast<MaskGlobalOp>(op)) {
    hear(global.getTokens());
  } else if (auto bias = dyn_cast<RelativeBiasOp>(op)) {
    hear(bias.getMaxDistance());
  } else if (isa<arith::CmpIOp, arith::CmpFOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
                 arith::MaxUIOp, arith::MinimumFOp, arith::MaximumFOp, arith::DivSIOp,
                 arith::FloorDivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    for (unsigned i : {0, 1})
      if (std::optional<int64_t> constant = getConstant(op->getOperand(i));
          constant && isPlace(op->getOperand(1 - i)))
        hear(*constant);
  }
}

int64_t verify::findLongLength(ModuleOp module) {
  int64_t greatest = 0;
  module.walk([&](Operation *op) {
    forEachConstant(op, [&](int64_t constant) {
      // Not by std::abs, which the least integer has none of.
      int64_t size = constant < 0 ? (constant < -kLongest ? kLongest + 1 : -constant) : constant;
      if (size + 2 <= kLongest)
        greatest = std::max(greatest, size + 2);
    });
  });
  return greatest > ArrayRef(kLengths).back() ? greatest : 0;
}

//===-- What tables and masks say ------------------------------------------------------------===//

bool verify::hasAxisOf(ModuleOp module, int64_t size) {
  auto isOne = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && llvm::any_of(tensor.getShape(),
                                  [&](int64_t axis) { return axis >= size && axis <= size + 2; });
  };
  return module
      .walk([&](Operation *op) {
        return llvm::any_of(op->getResultTypes(), isOne) ? WalkResult::interrupt()
                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What means "never" to raising, and how far off it is moved.
static constexpr double kVeryNegative = -5000, kFarther = 1e6;

/// The constant with what means "never" moved away, as floats of 64 bits, which hold that. Null if
/// nothing moves. What is multiplied or subtracted may have the other sign.
static Attribute widen(arith::ConstantOp op) {
  bool mayBePositive = llvm::all_of(op->getUsers(), llvm::IsaPred<arith::MulFOp, arith::SubFOp>);
  auto isFar = [&](const APFloat &number) {
    double real = number.convertToDouble();
    return std::isfinite(real) &&
           (real < kVeryNegative || (mayBePositive && -real < kVeryNegative));
  };
  auto move = [&](const APFloat &number) {
    return APFloat(number.convertToDouble() * (isFar(number) ? kFarther : 1));
  };
  Type wide = Float64Type::get(op.getContext());
  if (auto one = dyn_cast<FloatAttr>(op.getValue()))
    return isFar(one.getValue()) ? FloatAttr::get(wide, move(one.getValue())) : nullptr;
  auto dense = dyn_cast<DenseFPElementsAttr>(op.getValue());
  if (!dense || !llvm::any_of(dense, isFar))
    return nullptr;
  return dense.mapValues(wide,
                         [&](const APFloat &number) { return move(number).bitcastToAPInt(); });
}

OwningOpRef<ModuleOp> verify::widenMasks(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  bool isChanged = false;
  copy->walk([&](arith::ConstantOp op) {
    auto value = dyn_cast_or_null<TypedAttr>(widen(op));
    if (!value)
      return;
    OpBuilder builder(op);
    auto wide = arith::ConstantOp::create(builder, op.getLoc(), value);
    op.replaceAllUsesWith(
        arith::TruncFOp::create(builder, op.getLoc(), op.getType(), wide).getResult());
    op.erase();
    isChanged = true;
  });
  return isChanged ? std::move(copy) : OwningOpRef<ModuleOp>();
}

//===-- Cases --------------------------------------------------------------------------------===//

Case Case::cutTo(int64_t cap) const {
  Case cut = *this;
  cut.sizes.length = std::min(cut.sizes.length, cap);
  for (int64_t &other : cut.sizes.others)
    other = std::min(other, cap);
  return cut;
}

int64_t Case::getLongest() const {
  int64_t longest = sizes.length;
  for (int64_t other : sizes.others)
    longest = std::max(longest, other);
  return longest;
}

/// How many sizes of an entry's arguments are open and not fixed, those of one name once, without
/// the batch.
static size_t countLengths(func::FuncOp entry, const FixedSizes &fixed) {
  std::set<std::string> names = getOpenDims(entry);
  names.erase(getBatchDim(entry).str());
  for (const auto &[name, size] : fixed)
    names.erase(name);
  return names.size();
}

SmallVector<int64_t> verify::getBatches(func::FuncOp entry, const FixedSizes &fixed) {
  auto found = fixed.find(getBatchDim(entry).str());
  if (found != fixed.end())
    return {found->second};
  return llvm::to_vector(ArrayRef(kBatches));
}

static bool hasFloats(func::FuncOp entry) {
  return llvm::any_of(entry.getArgumentTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa<FloatType>(tensor.getElementType());
  });
}

std::vector<Case> verify::makeCases(func::FuncOp entry, ArrayRef<int64_t> lengths,
                                    int64_t longLength, const FixedSizes &fixed) {
  size_t open = countLengths(entry, fixed);
  SmallVector<int64_t> batches = getBatches(entry, fixed);
  if (open == 0)
    lengths = lengths.take_front();
  std::vector<Case> cases;
  auto add = [&](int64_t batch, size_t n, Magnitude magnitude) {
    Case one{{batch, lengths[n], {}, fixed}, magnitude};
    for (size_t i = 1; open > 1 && i < lengths.size(); ++i) // other axes have other lengths
      one.sizes.others.push_back(lengths[(n + i) % lengths.size()]);
    cases.push_back(std::move(one));
  };
  for (int64_t batch : batches)
    for (size_t n = 0; n < lengths.size(); ++n)
      add(batch, n, Magnitude::One);
  if (longLength && open) {
    cases.push_back({{batches.front(), longLength, {}, fixed}, Magnitude::One});
    if (open > 1) { // perhaps the first one is another batch
      cases.back().sizes.others = {lengths.front()};
      cases.push_back({{batches.front(), lengths.front(), {longLength}, fixed}, Magnitude::One});
    }
  }
  if (hasFloats(entry))
    for (Magnitude magnitude : {Magnitude::Small, Magnitude::Large, Magnitude::Mixed})
      add(batches.back(), std::min(kScaledLength, lengths.size() - 1), magnitude);
  return cases;
}

std::string verify::nameCase(func::FuncOp entry, const Case &one) {
  std::string name = "batch " + std::to_string(one.sizes.batch);
  size_t open = countLengths(entry, one.sizes.fixed);
  if (open)
    name += ", length " + std::to_string(one.sizes.length);
  if (one.sizes.others.size() == 1 && open > 1)
    name += " and " + std::to_string(one.sizes.others.front());
  for (const auto &[dim, size] : one.sizes.fixed)
    if (dim != getBatchDim(entry) && getOpenDims(entry).count(dim))
      name += ", " + dim + " " + std::to_string(size);
  switch (one.magnitude) {
  case Magnitude::One:
    return name;
  case Magnitude::Small:
    return name + ", scaled by 0.001";
  case Magnitude::Large:
    return name + ", scaled by 1000";
  case Magnitude::Mixed:
    return name + ", one in 50 scaled by 1000";
  }
  llvm_unreachable("all magnitudes are handled");
}
