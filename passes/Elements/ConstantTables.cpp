// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of constants. A table that counts along its axes, which is what `arange` becomes when an
// exporter knows the size, is index arithmetic as it is where the size is open; of another table
// only single elements are known.
#include "mlir/IR/BuiltinTypes.h"
#include "passes/Elements/Expression.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// Tables beyond this are left alone: 128 MiB of i64.
static constexpr int64_t kMostElements = 1 << 24;

/// Compares all places with what the first ones promise; `at` gives nothing for what is no integer.
static std::optional<Progression>
findSteps(ArrayRef<int64_t> shape, llvm::function_ref<std::optional<int64_t>(int64_t)> at) {
  std::optional<int64_t> first = at(0);
  if (!first)
    return std::nullopt;
  Progression result{*first, SmallVector<int64_t>(shape.size())};
  int64_t stride = 1;
  for (unsigned axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
    std::optional<int64_t> next = shape[axis] > 1 ? at(stride) : first;
    // Such numbers are no places, and a difference of theirs might overflow.
    if (!next || std::abs(*next) > (1 << 30) || std::abs(*first) > (1 << 30))
      return std::nullopt;
    result.steps[axis] = *next - *first;
  }
  SmallVector<int64_t> place(shape.size());
  int64_t expected = *first;
  for (int64_t i = 0; i < stride; ++i) {
    if (at(i) != expected)
      return std::nullopt;
    for (unsigned axis = shape.size(); axis-- > 0;) {
      expected += result.steps[axis];
      if (++place[axis] < shape[axis])
        break;
      expected -= result.steps[axis] * shape[axis];
      place[axis] = 0;
    }
  }
  return result;
}

std::optional<Progression> raise::getProgression(DenseElementsAttr table) {
  Type element = table.getElementType();
  // Two numbers are always a progression; weights are not meant.
  int64_t least = isa<FloatType>(element) ? 3 : 2;
  if (table.isSplat() || table.getNumElements() < least || table.getNumElements() > kMostElements)
    return std::nullopt;
  ArrayRef<int64_t> shape = table.getType().getShape();
  if (isa<FloatType>(element)) {
    auto values = table.getValues<APFloat>();
    return findSteps(shape, [&](int64_t i) -> std::optional<int64_t> {
      double number = FloatAttr::getValueAsDouble(values[i]);
      if (!(std::fabs(number) <= (1 << 30)) || number != std::floor(number))
        return std::nullopt;
      return static_cast<int64_t>(number);
    });
  }
  // Sums of narrow integers may overflow, which index arithmetic does not.
  if (!element.isIndex() && !element.isSignlessInteger(32) && !element.isSignlessInteger(64))
    return std::nullopt;
  auto values = table.getValues<APInt>();
  return findSteps(shape,
                   [&](int64_t i) -> std::optional<int64_t> { return values[i].getSExtValue(); });
}

Expr Expressions::atConstant(arith::ConstantOp op, ArrayRef<Expr> indices) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return {};
  Type element = dense.getElementType();
  Attribute value;
  if (dense.isSplat()) {
    value = dense.getSplatValue<Attribute>();
  } else if (llvm::all_of(indices, [](Expr index) { return index->isConstant(); })) {
    SmallVector<uint64_t> place;
    for (auto [index, size] : llvm::zip(indices, dense.getType().getShape())) {
      if (index->integer < 0 || index->integer >= size)
        return {};
      place.push_back(index->integer);
    }
    value = dense.getValues<Attribute>()[place];
  } else if (std::optional<SmallVector<AffineExpr>> affine = affineOf(indices)) {
    auto [found, isNew] = progressions.try_emplace(op);
    if (isNew)
      found->second = getProgression(dense);
    if (!found->second)
      return {};
    AffineExpr place = getAffineConstantExpr(found->second->first, context);
    for (auto [step, index] : llvm::zip(found->second->steps, *affine))
      place = place + index * step;
    auto real = dyn_cast<FloatType>(element);
    if (!real)
      return index(place, element);
    return compute<arith::SIToFPOp>(real, {index(place, IntegerType::get(context, 64))});
  }
  if (auto real = dyn_cast_or_null<FloatAttr>(value))
    return constant(real.getValueAsDouble(), cast<FloatType>(element));
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    return constant(integer.getValue().getSExtValue(), element);
  return {};
}
