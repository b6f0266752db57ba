// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feed-forward layers of experts: which of them a token meets, their products with the rows sorted
// by expert, and the weighted sums.
#include "frontend/Builder/Body.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

Value Body::softmax(Value x, Location loc) {
  RankedTensorType type = typeOf(x);
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, x), type.getElementType());
  return linalg::SoftmaxOp::create(b, loc, TypeRange{type}, x, empty, type.getRank() - 1)
      ->getResult(0);
}

Value Body::columns(Value x, int64_t first, int64_t count, Location loc) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      strides(sizes.size(), b.getIndexAttr(1));
  offsets.back() = b.getIndexAttr(first);
  sizes.back() = b.getIndexAttr(count);
  return tensor::ExtractSliceOp::create(b, loc, withLastSize(x, count), x, offsets, sizes, strides);
}

Value Body::gate(Value gateUp, const model::Experts &experts, Location loc) {
  int64_t width = typeOf(gateUp).getShape().back() / 2;
  Value gate = columns(gateUp, 0, width, loc), up = columns(gateUp, width, width, loc);
  if (experts.limit) {
    gate = map(gate, loc, [&](ImplicitLocOpBuilder &inner, Value x) -> Value {
      return arith::MinimumFOp::create(inner, x, constant(inner, x, *experts.limit));
    });
    up = map(up, loc, [&](ImplicitLocOpBuilder &inner, Value x) -> Value {
      x = arith::MinimumFOp::create(inner, x, constant(inner, x, *experts.limit));
      x = arith::MaximumFOp::create(inner, x, constant(inner, x, -*experts.limit));
      return arith::AddFOp::create(inner, x, constant(inner, x, 1));
    });
  }
  return GluOp::create(b, loc, gate.getType(), kindOf(experts.activation), gate, up);
}

Body::Choice Body::route(Value x, const model::Experts &experts) {
  using Scores = model::Routing::Scores;
  const model::Routing &routing = experts.routing;
  Location loc = locate(experts.name);
  Value scores = linear(x, experts.router);
  if (routing.scores == Scores::Softmax)
    scores = softmax(scores, loc);
  if (routing.scores == Scores::Sigmoid)
    scores = activation(scores, model::Activation::Sigmoid, loc);
  RankedTensorType type = withLastSize(scores, experts.chosen);
  auto choice =
      TopKOp::create(b, loc, type, type.clone(b.getI64Type()), scores,
                     routing.bias ? weightValue(*routing.bias) : Value(), routing.chosenGroups,
                     routing.groups, routing.groupTop, routing.sumToOne);
  Value weights = choice.getValues();
  if (routing.scores == Scores::SoftmaxOfChosen)
    weights = softmax(weights, loc);
  return {choice.getIndices(), scale(weights, routing.scale, loc)};
}

Value Body::experts(Value x, const model::Experts &experts) {
  Location loc = locate(experts.name);
  MLIRContext *context = b.getContext();
  Choice choice = route(x, experts);
  RankedTensorType numbers = typeOf(choice.numbers);
  auto offsets = RankedTensorType::get({experts.count + 1}, b.getI64Type());
  auto dispatch = DispatchOp::create(b, loc, numbers, numbers, offsets, choice.numbers);
  SmallVector<int64_t> shape(numbers.getShape());
  shape.push_back(typeOf(x).getShape().back());
  Value rows =
      GatherRowsOp::create(b, loc, getActivationType(context, shape), x, dispatch.getTokens());
  Value ends = dispatch.getOffsets();
  Value inner = gate(linear(rows, experts.gateUp, ends), experts, loc);
  rows = linear(inner, experts.down, ends);
  Value result = CombineOp::create(b, loc, x.getType(), rows, dispatch.getPlaces(), choice.weights);
  if (!experts.shared)
    return result;
  Value shared = feedForward(x, *experts.shared);
  if (experts.sharedGate) {
    Location here = locate(experts.sharedGate->name);
    Value open = activation(linear(x, *experts.sharedGate), model::Activation::Sigmoid, here);
    shared = timesColumn(shared, open, here);
  }
  return arith::AddFOp::create(b, loc, result, shared);
}

Value Body::timesColumn(Value x, Value column, Location loc) {
  Value row = tensor::CollapseShapeOp::create(b, loc, column,
                                              SmallVector<ReassociationIndices>{{0}, {1, 2}});
  AffineMap all = b.getMultiDimIdentityMap(3);
  return elementwise(typeOf(x), tensor::getMixedSizes(b, loc, x), {x, row},
                     {all, all.getMajorSubMap(2)}, loc,
                     [](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
                       return arith::MulFOp::create(inner, elements[0], elements[1]);
                     });
}
