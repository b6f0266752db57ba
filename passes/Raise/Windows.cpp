// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions as products with a weight: the windows that they read become a tensor, of which an
// ordinary contraction is left. Refuses groups, weights that are computed, and copies that would be
// too large.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "passes/Elements/Expression.h"
#include "passes/Raise/Passes.h"
#include "passes/Raise/ViewPatterns.h"
#include "passes/Raise/WeightViews.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_GATHERWINDOWSPASS
#include "passes/Raise/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// One axis of the input: of a window `begin * stride + element * dilation`, else `begin` alone.
struct Axis {
  int64_t begin;
  int64_t element = -1; ///< the loop over the window; -1: none
  int64_t stride = 1, dilation = 1;
};

/// A sum of products of a weight and the windows of an input.
struct Convolution {
  linalg::GenericOp op;
  unsigned input; ///< the operand's number
  SmallVector<Axis> axes;
};

/// A term of an index: a loop times a positive constant.
std::optional<std::pair<int64_t, int64_t>> getTerm(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return std::pair<int64_t, int64_t>(dim.getPosition(), 1);
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  if (!dim || !factor || factor.getValue() < 1)
    return std::nullopt;
  return std::pair<int64_t, int64_t>(dim.getPosition(), factor.getValue());
}

/// The axis that an index is, if `isSummed` tells its loops apart.
std::optional<Axis> getAxis(AffineExpr expr, function_ref<bool(int64_t)> isSummed) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Axis{static_cast<int64_t>(dim.getPosition())};
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto one = getTerm(sum.getLHS()), other = getTerm(sum.getRHS());
  if (!one || !other)
    return std::nullopt;
  if (isSummed(one->first))
    std::swap(one, other);
  if (isSummed(one->first) || !isSummed(other->first))
    return std::nullopt;
  return Axis{one->first, other->first, one->second, other->second};
}

/// Makes the windows of convolutions tensors.
class WindowGatherer {
public:
  explicit WindowGatherer(ModuleOp module) : weights(module) {}

  std::optional<Convolution> find(linalg::GenericOp op);
  /// Whether windows are views of the input, or few enough to be copied.
  bool isCheap(const Convolution &convolution);
  void rewrite(const Convolution &convolution);

private:
  /// Whether an axis is cut into windows without gaps that lie beside each other.
  static bool isTiled(const Convolution &convolution, int64_t number);
  static bool isTiled(const Convolution &convolution) {
    return llvm::all_of(llvm::seq<int64_t>(0, convolution.axes.size()),
                        [&](int64_t axis) { return isTiled(convolution, axis); });
  }
  Value expand(OpBuilder &b, const Convolution &convolution, SmallVector<int64_t> &loops);
  Value gather(OpBuilder &b, const Convolution &convolution, SmallVector<int64_t> &loops);

  raise::WeightViews weights;
};
} // namespace

/// Whether `factor`, read by `map`, is an argument that raise-linear takes for a weight: its
/// outputs before what is summed, in the order in which windows have it.
static bool isMatrix(const Convolution &convolution, Value factor, AffineMap map) {
  linalg::GenericOp op = convolution.op;
  SmallVector<int64_t> loops, wanted;
  for (AffineExpr expr : map.getResults())
    loops.push_back(cast<AffineDimExpr>(expr).getPosition());
  if (!raise::findArgument(factor, loops))
    return false;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto isSummed = [&](int64_t loop) { return kinds[loop] == utils::IteratorType::reduction; };
  llvm::copy_if(loops, std::back_inserter(wanted), [&](int64_t loop) { return !isSummed(loop); });
  for (const Axis &axis : convolution.axes)
    for (int64_t loop : {axis.begin, axis.element})
      if (loop >= 0 && isSummed(loop))
        wanted.push_back(loop);
  return loops == wanted;
}

std::optional<Convolution> WindowGatherer::find(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op->getNumResults() != 1 ||
      !raise::isContraction(op))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto isSummed = [&](int64_t loop) { return kinds[loop] == utils::IteratorType::reduction; };
  if (!maps[2].isProjectedPermutation())
    return std::nullopt;
  for (unsigned input : {0u, 1u}) {
    AffineMap map = maps[input], weight = maps[1 - input];
    if (map.isProjectedPermutation() || !weight.isProjectedPermutation())
      continue;
    Convolution found{op, input, {}};
    llvm::SmallBitVector seen(op.getNumLoops());
    for (AffineExpr expr : map.getResults()) {
      std::optional<Axis> axis = getAxis(expr, isSummed);
      if (!axis || seen[axis->begin] || (axis->element >= 0 && seen[axis->element]))
        return std::nullopt;
      seen.set(axis->begin);
      if (axis->element >= 0)
        seen.set(axis->element);
      // A weight for each group is none that linears have.
      if (!isSummed(axis->begin) && weight.isFunctionOfDim(axis->begin))
        return std::nullopt;
      found.axes.push_back(*axis);
    }
    Value factor = op.getDpsInputOperand(1 - input)->get();
    if (weights.find(factor) || isMatrix(found, factor, weight))
      return found;
  }
  return std::nullopt;
}

bool WindowGatherer::isTiled(const Convolution &convolution, int64_t number) {
  const Axis &axis = convolution.axes[number];
  if (axis.element < 0)
    return true;
  linalg::GenericOp op = convolution.op;
  int64_t length = op.getStaticLoopRanges()[axis.element];
  if (axis.stride != length || (length > 1 && axis.dilation != 1))
    return false;
  auto type = cast<RankedTensorType>(op.getDpsInputOperand(convolution.input)->get().getType());
  int64_t size = type.getDimSize(number), count = op.getStaticLoopRanges()[axis.begin];
  return length == 1 || (!ShapedType::isDynamic(size) && size == count * length);
}

bool WindowGatherer::isCheap(const Convolution &convolution) {
  constexpr int64_t kMostGrowth = 4, kMostElements = int64_t(1) << 24;
  if (isTiled(convolution))
    return true;
  SmallVector<int64_t> ranges = linalg::GenericOp(convolution.op).getStaticLoopRanges();
  int64_t growth = 1, strides = 1, elements = 1;
  for (const Axis &axis : convolution.axes) {
    for (int64_t loop : {axis.begin, axis.element})
      if (loop >= 0 && !ShapedType::isDynamic(ranges[loop]))
        elements *= ranges[loop];
    if (axis.element >= 0) {
      growth *= ranges[axis.element];
      strides *= axis.stride;
    }
  }
  bool isOpen = llvm::any_of(convolution.axes, [&](const Axis &axis) {
    return axis.element >= 0 && ShapedType::isDynamic(ranges[axis.begin]);
  });
  return growth <= kMostGrowth * strides || (!isOpen && elements <= kMostElements);
}

/// The input with an axis for each loop, as a view. `loops` are those axes'.
Value WindowGatherer::expand(OpBuilder &b, const Convolution &convolution,
                             SmallVector<int64_t> &loops) {
  linalg::GenericOp op = convolution.op;
  Location loc = op.getLoc();
  Value input = op.getDpsInputOperand(convolution.input)->get();
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes;
  for (auto [number, axis] : llvm::enumerate(convolution.axes)) {
    int64_t place = loops.size(), size = type.getDimSize(number);
    OpFoldResult mixed = tensor::getMixedSize(b, loc, input, number);
    loops.push_back(axis.begin);
    if (axis.element < 0) {
      groups.push_back({place});
      shape.push_back(size);
      sizes.push_back(mixed);
      continue;
    }
    int64_t length = op.getStaticLoopRanges()[axis.element];
    loops.push_back(axis.element);
    groups.push_back({place, place + 1});
    bool keeps = length == 1;
    shape.push_back(keeps ? size : size / length);
    sizes.push_back(keeps ? mixed : OpFoldResult(b.getIndexAttr(size / length)));
    shape.push_back(length);
    sizes.push_back(b.getIndexAttr(length));
  }
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), input, groups, sizes);
}

/// A copy of the windows, what is summed last, and of that axes without windows: so that a window's
/// channels are copied beside each other.
Value WindowGatherer::gather(OpBuilder &b, const Convolution &convolution,
                             SmallVector<int64_t> &loops) {
  linalg::GenericOp op = convolution.op;
  Location loc = op.getLoc();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> order;
  SmallVector<Axis> axes;
  for (auto kind : {utils::IteratorType::parallel, utils::IteratorType::reduction})
    for (auto [number, axis] : llvm::enumerate(convolution.axes))
      if (kinds[axis.begin] == kind) {
        order.push_back(number);
        axes.push_back(axis);
      }
  Value input = raise::transpose(b, loc, op.getDpsInputOperand(convolution.input)->get(), order);
  for (const Axis &axis : axes)
    if (kinds[axis.begin] == utils::IteratorType::parallel)
      loops.push_back(axis.begin);
  for (const Axis &axis : axes)
    if (axis.element >= 0)
      loops.push_back(axis.element);
  for (const Axis &axis : axes)
    if (kinds[axis.begin] == utils::IteratorType::reduction)
      loops.push_back(axis.begin);
  SmallVector<Range> ranges = cast<linalg::LinalgOp>(*op).createLoopRanges(b, loc);
  SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(loops, [&](int64_t loop) { return ranges[loop].size; });
  SmallVector<AffineExpr> places;
  auto place = [&](int64_t loop) {
    return b.getAffineDimExpr(llvm::find(loops, loop) - loops.begin());
  };
  for (const Axis &axis : axes) {
    AffineExpr expr = place(axis.begin);
    if (axis.element >= 0)
      expr = expr * axis.stride + place(axis.element) * axis.dilation;
    places.push_back(expr);
  }
  Type element = getElementTypeOrSelf(input.getType());
  Value init = tensor::EmptyOp::create(b, loc, sizes, element);
  unsigned rank = loops.size();
  return linalg::GenericOp::create(
             b, loc, TypeRange{init.getType()}, ValueRange{input}, ValueRange{init},
             ArrayRef{AffineMap::get(rank, 0, places, b.getContext()),
                      b.getMultiDimIdentityMap(rank)},
             SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
             [](OpBuilder &inner, Location at, ValueRange v) {
               linalg::YieldOp::create(inner, at, v[0]);
             })
      .getResult(0);
}

void WindowGatherer::rewrite(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  OpBuilder b(op);
  SmallVector<int64_t> loops;
  Value windows =
      isTiled(convolution) ? expand(b, convolution, loops) : gather(b, convolution, loops);
  SmallVector<AffineExpr> places =
      llvm::map_to_vector(loops, [&](int64_t loop) { return b.getAffineDimExpr(loop); });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[convolution.input] = AffineMap::get(op.getNumLoops(), 0, places, b.getContext());
  op.getDpsInputOperand(convolution.input)->set(windows);
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

namespace {
struct GatherWindowsPass : fovea::impl::GatherWindowsPassBase<GatherWindowsPass> {
  using GatherWindowsPassBase::GatherWindowsPassBase;

  void runOnOperation() override {
    WindowGatherer gatherer(getOperation());
    SmallVector<Convolution> convolutions;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (std::optional<Convolution> found = gatherer.find(op))
        convolutions.push_back(*found);
    });
    for (const Convolution &convolution : convolutions) {
      if (gatherer.isCheap(convolution)) {
        gatherer.rewrite(convolution);
        ++numConvolutions;
        continue;
      }
      remark::missed(convolution.op->getLoc(),
                     remark::RemarkOpts::name("gather-windows").category("raise-linear"))
          << "its windows are too many to be copied";
    }
  }
};
} // namespace
