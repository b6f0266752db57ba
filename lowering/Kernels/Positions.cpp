// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions, rotary and sinusoidal embeddings as plain loops. Angles are products in f64, so that
// sines and cosines are right for every position that an i32 can hold.
#include "lowering/Kernels/KernelBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

LogicalResult mlir::fovea::buildPositions(KernelBuilder &k, PositionsOp op) {
  Value first = k.cloneIn(op.getFirst());
  k.parallelNest(k.sizes(k.outputs[0]),
                 [&](ValueRange at) { k.storeTo(k.outputs[0], at, k.toI32(k.add(first, at[1]))); });
  return success();
}

//===-- Rotary -------------------------------------------------------------------------------===//

/// Peng et al. 2023, section 3.2: pairs that turn often keep their frequency, pairs that turn
/// rarely are stretched, a ramp between.
static SmallVector<double> yarnFrequencies(ArrayRef<double> base, RopeScalingAttr scaling,
                                           int64_t dim, double theta) {
  double factor = scaling.getFactor().getValueAsDouble();
  auto pairOfRotations = [&](double rotations) {
    return dim * std::log(scaling.getOriginal() / (rotations * 2 * M_PI)) / (2 * std::log(theta));
  };
  double low = pairOfRotations(scaling.getHigh().getValueAsDouble());
  double high = pairOfRotations(scaling.getLow().getValueAsDouble());
  if (scaling.getTruncate()) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1.0);
  if (low == high)
    high += 0.001; // as the original: no division by zero
  SmallVector<double> result;
  for (auto [i, f] : llvm::enumerate(base)) {
    double stretched = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    result.push_back(f / factor * stretched + f * (1 - stretched));
  }
  return result;
}

/// Llama 3.1: by wavelength.
static SmallVector<double> llama3Frequencies(ArrayRef<double> base, RopeScalingAttr scaling) {
  double factor = scaling.getFactor().getValueAsDouble(), original = scaling.getOriginal();
  double low = scaling.getLow().getValueAsDouble(), high = scaling.getHigh().getValueAsDouble();
  SmallVector<double> result;
  for (double f : base) {
    double wavelength = 2 * M_PI / f;
    if (wavelength < original / high)
      result.push_back(f);
    else if (wavelength > original / low)
      result.push_back(f / factor);
    else {
      double smooth = (original / wavelength - low) / (high - low);
      result.push_back((1 - smooth) * f / factor + smooth * f);
    }
  }
  return result;
}

RotaryFrequencies mlir::fovea::getRotaryFrequencies(RopeOp op) {
  int64_t dim = op.getDim();
  double theta = op.getTheta().convertToDouble();
  RotaryFrequencies result;
  for (int64_t i = 0; i < dim / 2; ++i)
    result.normal.push_back(std::pow(theta, -2.0 * i / dim));
  RopeScalingAttr scaling = op.getScalingAttr();
  if (!scaling)
    return result;
  if (scaling.getAttentionFactor())
    result.attentionFactor = scaling.getAttentionFactor().getValueAsDouble();
  switch (scaling.getKind()) {
  case RopeScalingKind::Default:
  case RopeScalingKind::Dynamic: // its base depends on the call: see emitDynamicFrequency
    break;
  case RopeScalingKind::Linear:
    for (double &f : result.normal)
      f /= scaling.getFactor().getValueAsDouble();
    break;
  case RopeScalingKind::Yarn:
    result.normal = yarnFrequencies(result.normal, scaling, dim, theta);
    break;
  case RopeScalingKind::LongRope:
    for (auto [i, f] : llvm::enumerate(result.normal)) {
      result.beyond.push_back(f / scaling.getLongFactors()[i]);
      f /= scaling.getShortFactors()[i];
    }
    break;
  case RopeScalingKind::Llama3:
    result.normal = llama3Frequencies(result.normal, scaling);
    break;
  }
  return result;
}

Value mlir::fovea::emitTable(KernelBuilder &k, ArrayRef<double> numbers) {
  Type f64 = k.getF64Type();
  int64_t size = numbers.size();
  Value table = memref::AllocaOp::create(k, MemRefType::get({size}, f64));
  for (auto [i, number] : llvm::enumerate(numbers))
    k.storeTo(table, k.index(i), k.real(f64, number));
  return table;
}

/// The longest position of the call plus one, as f64.
static Value emitContext(KernelBuilder &k, Value positions) {
  Type i32 = k.getI32Type();
  Value most = k.loopCarried(k.index(0), k.size(positions, 0), k.integer(i32, 0),
                             [&](Value b, ValueRange outer) {
                               return k.loopCarried(
                                   k.index(0), k.size(positions, 1), outer,
                                   [&](Value s, ValueRange inner) -> SmallVector<Value> {
                                     return {k.maximum(inner[0], k.load(positions, {b, s}))};
                                   });
                             })
                   .front();
  return arith::SIToFPOp::create(k, k.getF64Type(), k.add(most, k.integer(i32, 1)));
}

RotaryContext mlir::fovea::emitRotaryContext(KernelBuilder &k, RopeOp op, Value positions) {
  RopeScalingAttr scaling = op.getScalingAttr();
  RopeScalingKind kind = scaling ? scaling.getKind() : RopeScalingKind::Default;
  if (kind != RopeScalingKind::LongRope && kind != RopeScalingKind::Dynamic)
    return {};
  Type f64 = k.getF64Type();
  int64_t dim = op.getDim();
  RotaryContext result;
  Value context = emitContext(k, positions), original = k.real(f64, scaling.getOriginal());
  result.isBeyond = k.less(original, context);
  if (kind == RopeScalingKind::LongRope)
    return result;
  double factor = scaling.getFactor().getValueAsDouble();
  Value length = k.select(result.isBeyond, context, original);
  Value ratio = k.sub(k.mul(k.div(length, original), k.real(f64, factor)), k.real(f64, factor - 1));
  // With dim 2 the exponent is infinite, and there is only f_0 = 1, whatever the base.
  double exponent = dim > 2 ? static_cast<double>(dim) / (dim - 2) : 0;
  result.dynamicBase = k.mul(k.real(f64, op.getTheta().convertToDouble()),
                             math::PowFOp::create(k, ratio, k.real(f64, exponent)));
  return result;
}

Value mlir::fovea::emitRotaryFrequency(KernelBuilder &k, RopeOp op, const RotaryContext &context,
                                       Value normal, Value beyond, Value pair) {
  if (context.dynamicBase) {
    Type f64 = k.getF64Type();
    Value number = arith::UIToFPOp::create(k, f64, pair);
    Value exponent = k.mul(number, k.real(f64, -2.0 / op.getDim()));
    return math::PowFOp::create(k, context.dynamicBase, exponent);
  }
  return beyond ? k.select(context.isBeyond, beyond, normal) : normal;
}

LogicalResult mlir::fovea::buildRope(KernelBuilder &k, RopeOp op) {
  Value x = k.buffer(op.getInput()), positions = k.buffer(op.getPositions()), y = k.outputs[0];
  Type f64 = k.getF64Type();
  Type type = getAccumulationType(op.getInput().getType().getElementType());
  int64_t dim = op.getDim(), size = op.getInput().getType().getDimSize(3);
  RotaryFrequencies frequencies = getRotaryFrequencies(op);
  Value normal = emitTable(k, frequencies.normal), beyond;
  RotaryContext context = emitRotaryContext(k, op, positions);
  if (!frequencies.beyond.empty())
    beyond = emitTable(k, frequencies.beyond);

  k.parallelNest({k.size(x, 0), k.size(x, 1)}, [&](ValueRange at) {
    Value b = at[0], s = at[1];
    Value position = arith::SIToFPOp::create(k, f64, loadPosition(k, positions, b, s));
    k.loop(k.index(0), k.index(dim / 2), [&](Value i) {
      Value frequency = emitRotaryFrequency(k, op, context, k.load(normal, i),
                                            beyond ? k.load(beyond, i) : Value(),
                                            arith::IndexCastOp::create(k, k.getI64Type(), i));
      Value angle = k.mul(position, frequency);
      Value factor = k.real(f64, frequencies.attentionFactor);
      Value cosine = k.convert(k.mul(math::CosOp::create(k, angle), factor), type);
      Value sine = k.convert(k.mul(math::SinOp::create(k, angle), factor), type);
      Value first, second;
      if (op.getPairing() == RopePairing::Half) {
        first = i;
        second = k.add(i, k.index(dim / 2));
      } else {
        first = k.mul(i, k.index(2));
        second = k.add(first, k.index(1));
      }
      k.loop(k.index(0), k.size(x, 2), [&](Value h) {
        Value left = k.loadAs(type, x, {b, s, h, first});
        Value right = k.loadAs(type, x, {b, s, h, second});
        k.storeTo(y, {b, s, h, first}, k.sub(k.mul(left, cosine), k.mul(right, sine)));
        k.storeTo(y, {b, s, h, second}, k.add(k.mul(right, cosine), k.mul(left, sine)));
      });
    });
    if (dim < size)
      k.loop(k.index(0), k.size(x, 2), [&](Value h) {
        k.loop(k.index(dim), k.index(size), [&](Value d) {
          memref::StoreOp::create(k, k.load(x, {b, s, h, d}), y, ValueRange{b, s, h, d});
        });
      });
  });
  return success();
}

//===-- Sinusoids ----------------------------------------------------------------------------===//

LogicalResult mlir::fovea::buildPositionSinusoidal(KernelBuilder &k, PositionSinusoidalOp op) {
  Value positions = k.buffer(op.getPositions()), y = k.outputs[0];
  Type f64 = k.getF64Type();
  int64_t width = cast<RankedTensorType>(op.getResult().getType()).getDimSize(2);
  SmallVector<double> frequencies;
  for (int64_t i = 0; i < width / 2; ++i)
    frequencies.push_back(std::pow(op.getTheta().convertToDouble(), -2.0 * i / width));
  Value table = emitTable(k, frequencies);
  k.parallelNest(k.sizes(positions), [&](ValueRange at) {
    Value position = arith::SIToFPOp::create(k, f64, k.load(positions, at));
    k.loop(k.index(0), k.index(width / 2), [&](Value i) {
      Value angle = k.mul(position, k.load(table, i));
      bool halves = op.getLayout() == SinusoidLayout::Halves;
      Value sine = halves ? i : k.mul(i, k.index(2));
      Value cosine = k.add(sine, k.index(halves ? width / 2 : 1));
      k.storeTo(y, {at[0], at[1], sine}, math::SinOp::create(k, angle));
      k.storeTo(y, {at[0], at[1], cosine}, math::CosOp::create(k, angle));
    });
  });
  return success();
}
