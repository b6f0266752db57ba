// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sound as an encoder reads it: its mels, and convolutions along time. Both are linears of windows,
// which are copied: at most three times what they are windows of.
#include "frontend/Builder/Body.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

static Value real(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(value)));
}

Value Body::reflect(Value x, int64_t before, int64_t behind, Location loc) {
  int64_t last = typeOf(x).getShape()[1] - 1, length = before + last + 1 + behind;
  RankedTensorType type = getActivationType(b.getContext(), {ShapedType::kDynamic, length});
  SmallVector<OpFoldResult> sizes = {batch(), b.getIndexAttr(length)};
  return elementwise(type, sizes, {}, {}, loc, [&](ImplicitLocOpBuilder &inner, ValueRange) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(inner, value);
    };
    Value at = arith::SubIOp::create(inner, linalg::IndexOp::create(inner, 1), index(before));
    Value place = arith::MaxSIOp::create(inner, at, arith::SubIOp::create(inner, index(0), at));
    Value back = arith::SubIOp::create(inner, index(2 * last), place);
    place = arith::MinSIOp::create(inner, place, back);
    Value row = linalg::IndexOp::create(inner, 0);
    return tensor::ExtractOp::create(inner, x, ValueRange{row, place}).getResult();
  });
}

Value Body::windows(Value x, int64_t count, int64_t stride, Location loc) {
  ArrayRef<int64_t> in = typeOf(x).getShape();
  int64_t places = (in[1] - count) / stride + 1;
  SmallVector<int64_t> shape = {ShapedType::kDynamic, places, count};
  SmallVector<OpFoldResult> sizes = {batch(), b.getIndexAttr(places), b.getIndexAttr(count)};
  AffineExpr place = b.getAffineDimExpr(1) * stride + b.getAffineDimExpr(2);
  SmallVector<AffineExpr> data = {b.getAffineDimExpr(0), place};
  if (in.size() == 3) {
    shape.push_back(in[2]);
    sizes.push_back(b.getIndexAttr(in[2]));
    data.push_back(b.getAffineDimExpr(3));
  }
  x = elementwise(getActivationType(b.getContext(), shape), sizes, x,
                  AffineMap::get(shape.size(), 0, data, b.getContext()), loc,
                  [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; });
  if (in.size() == 2)
    return x;
  return tensor::CollapseShapeOp::create(b, loc, x,
                                         SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
}

Value Body::convolution(Value x, const model::Convolution &convolution) {
  Location loc = locate(convolution.projection.name);
  ImplicitLocOpBuilder here(loc, b);
  int64_t around = convolution.kernel / 2;
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[1] += 2 * around;
  SmallVector<OpFoldResult> pads = {b.getIndexAttr(0), b.getIndexAttr(around), b.getIndexAttr(0)};
  x = tensor::PadOp::create(here, getActivationType(b.getContext(), shape), x, pads, pads,
                            real(here, 0));
  return linear(windows(x, convolution.kernel, convolution.stride, loc), convolution.projection);
}

Value Body::greatest(Value x, Location loc) {
  auto least = b.getF32FloatAttr(-std::numeric_limits<float>::infinity());
  return reduceLast(x, least, loc,
                    [](ImplicitLocOpBuilder &inner, Value element, Value most) -> Value {
                      return arith::MaximumFOp::create(inner, element, most);
                    });
}

Value Body::logMel(Value samples, const model::LogMel &mels) {
  Location loc = locate(mels.name);
  // Windows are centred: the first one's middle is the first sample.
  int64_t before = mels.window / 2;
  int64_t needed = (mels.count() - 1) * mels.hop + mels.window - before;
  Value x = reflect(samples, before, std::max<int64_t>(needed - mels.samples, 0), loc);
  x = linear(windows(x, mels.window, mels.hop, loc), mels.basis);
  // A last window that fits beyond the last hop is none.
  SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0)), strides(3, b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = {batch(), b.getIndexAttr(mels.count()),
                                     b.getIndexAttr(typeOf(x).getShape()[2])};
  if (typeOf(x).getShape()[1] != mels.count())
    x = tensor::ExtractSliceOp::create(b, loc, x, offsets, sizes, strides);
  int64_t bins = mels.window / 2 + 1;
  Value parts[] = {columns(x, 0, bins, loc), columns(x, bins, bins, loc)};
  AffineMap identity = b.getMultiDimIdentityMap(3);
  sizes.back() = b.getIndexAttr(bins);
  x = elementwise(typeOf(parts[0]), sizes, parts, {identity, identity}, loc,
                  [](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                    Value square = arith::MulFOp::create(inner, v[0], v[0]);
                    return arith::AddFOp::create(inner, square,
                                                 arith::MulFOp::create(inner, v[1], v[1]));
                  });
  x = linear(x, mels.filters);
  x = map(x, loc, [](ImplicitLocOpBuilder &inner, Value v) -> Value {
    return math::Log10Op::create(inner, arith::MaximumFOp::create(inner, v, real(inner, 1e-10)));
  });
  Value most = greatest(greatest(x, loc), loc);
  return elementwise(typeOf(x), tensor::getMixedSizes(b, loc, x), {x, most},
                     {identity, identity.getMajorSubMap(1)}, loc,
                     [](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                       Value least = arith::AddFOp::create(inner, v[1], real(inner, -8));
                       Value kept = arith::MaximumFOp::create(inner, v[0], least);
                       kept = arith::AddFOp::create(inner, kept, real(inner, 4));
                       return arith::MulFOp::create(inner, kept, real(inner, 0.25));
                     });
}

Value Body::embedSound(Value samples, const model::Embeddings &embeddings) {
  const model::Sound &sound = *embeddings.sound;
  Value x = logMel(samples, sound.mels);
  for (const model::Convolution &one : sound.convolutions)
    x = activation(convolution(x, one), sound.activation, locate(one.projection.name));
  if (embeddings.position)
    x = addShared(x, weightValue(*embeddings.position), locate(embeddings.position->name));
  return x;
}
