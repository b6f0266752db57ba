// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of fovea.rope. Angles are products in f64, so that sines and cosines are right for
// every position that an i32 can hold; as tiles they are computed once for all heads, in a phase
// before.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

//===-- Frequencies --------------------------------------------------------------------------===//

namespace {
/// The frequencies of a rotary embedding: a table for each context they depend on (`beyond` for
/// contexts longer than the original, if it differs), and a factor for sine and cosine.
struct RotaryFrequencies {
  SmallVector<double> normal, beyond;
  double attentionFactor = 1;
};
/// What a call's longest position changes in the frequencies; null values where it changes nothing.
struct RotaryContext {
  Value isBeyond;    ///< i1: `beyond` instead of `normal`
  Value dynamicBase; ///< f64: frequencies are its powers
};
} // namespace

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

static RotaryFrequencies getRotaryFrequencies(RopeOp op) {
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

static RotaryContext emitRotaryContext(KernelBuilder &k, RopeOp op, Value positions) {
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

static Value emitRotaryFrequency(KernelBuilder &k, RopeOp op, const RotaryContext &context,
                                 Value normal, Value beyond, Value pair) {
  if (context.dynamicBase) {
    Type f64 = k.getF64Type();
    Value number = arith::UIToFPOp::create(k, f64, pair);
    Value exponent = k.mul(number, k.real(f64, -2.0 / op.getDim()));
    return math::PowFOp::create(k, context.dynamicBase, exponent);
  }
  return beyond ? k.select(context.isBeyond, beyond, normal) : normal;
}

/// An f64 angle for what computes in f32: within half a turn, whose sine and cosine are functions
/// of vectors. The turn is taken away in two parts, the first of 33 bits, so that its product with
/// up to a million turns is exact. Off by at most 2e-7.
static Value lessWholeTurns(KernelBuilder &k, Value angle) {
  constexpr long double kTurn = 6.283185307179586476925286766559L;
  const double first = std::ldexp(std::floor(std::ldexp(static_cast<double>(kTurn), 30)), -30);
  const double second = static_cast<double>(kTurn - first);
  Type f64 = k.getF64Type();
  Value turns =
      math::RoundEvenOp::create(k, k.mul(angle, k.real(f64, static_cast<double>(1 / kTurn))));
  Value rest = k.sub(angle, k.mul(turns, k.real(f64, first)));
  rest = k.sub(rest, k.mul(turns, k.real(f64, second)));
  return k.convert(rest, k.getF32Type());
}

/// Each number twice, for the two elements of a pair that lie beside each other.
static SmallVector<double> repeat(ArrayRef<double> numbers) {
  SmallVector<double> result;
  for (double number : numbers)
    result.append(2, number);
  return result;
}

/// Cosines and sines of each place and pair, from products in f64: right for every position. Of
/// pairs of neighbours, of each element, the sine with the sign that it has there.
static void emitAngles(TileBuilder &b, RopeOp op) {
  if (Operation *same = b.findPhase([&](Operation *other) {
        auto rope = dyn_cast<RopeOp>(other);
        return rope && rope.getPositions() == op.getPositions() && rope.getDim() == op.getDim() &&
               getAccumulationType(rope.getType()) == getAccumulationType(op.getType()) &&
               rope.getPairing() == op.getPairing() && rope.getTheta() == op.getTheta() &&
               rope.getScalingAttr() == op.getScalingAttr();
      }))
    return b.setTemporaries(op, b.getTemporaries(same));
  KernelBuilder &k = b.k;
  bool neighbours = op.getPairing() == RopePairing::Interleaved;
  int64_t columns = neighbours ? op.getDim() : op.getDim() / 2;
  Value positions = k.buffer(op.getPositions()), reference = b.memories(false).front();
  Value sizesOf = positions ? positions : reference;
  SmallVector<int64_t> shape(cast<MemRefType>(sizesOf.getType()).getShape().take_front(2));
  if (!positions)
    shape[0] = 1;
  SmallVector<Value> sizes = k.openSizes(sizesOf, shape);
  shape.push_back(columns);
  Type element = getAccumulationType(op.getType());
  MemRefType type = MemRefType::get(shape, element);
  unsigned cosines = k.addTemporary(type, sizes), sines = k.addTemporary(type, sizes);
  b.setTemporaries(op, {cosines, sines});
  RotaryFrequencies frequencies = getRotaryFrequencies(op);
  auto tableOf = [&](ArrayRef<double> numbers) {
    return emitTable(k, neighbours ? repeat(numbers) : SmallVector<double>(numbers));
  };
  Value normal = tableOf(frequencies.normal), beyond;
  if (!frequencies.beyond.empty())
    beyond = tableOf(frequencies.beyond);
  RotaryContext context = emitRotaryContext(k, op, positions);
  b.tileRows = b.helperRows;
  Value memory = k.temporary(cosines);
  SmallVector<Value> extents{k.size(memory, 0)};
  if (!b.single)
    extents.push_back(k.size(memory, 1));
  b.emitHelperGrid(extents, [&] {
    auto table = [&](Value numbers) {
      Value view = b.viewAt(numbers, {}, {0});
      Value tile = tile::LoadOp::create(k, b.tileType(1, columns, k.getF64Type()), view, k.index(0),
                                        k.index(0));
      return b.broadcast(tile, b.tileRows, columns);
    };
    Value place = b.numbersOfRows(op.getPositions(), columns);
    Value pair =
        tile::IotaOp::create(k, b.tileType(b.tileRows, columns, k.getI32Type()), k.index(0), 1);
    SmallVector<Value> operands{place, pair, table(normal)};
    if (beyond)
      operands.push_back(table(beyond));
    for (bool cosine : {true, false}) {
      Value result =
          b.map(b.tileType(b.tileRows, columns, element), operands, [&](ValueRange e) -> Value {
            Type f64 = k.getF64Type();
            Value one = k.integer(k.getI32Type(), 1);
            Value pair = neighbours ? arith::ShRUIOp::create(k, e[1], one).getResult() : e[1];
            Value frequency =
                emitRotaryFrequency(k, op, context, e[2], beyond ? e[3] : Value(), pair);
            Value angle = k.mul(arith::SIToFPOp::create(k, f64, e[0]), frequency);
            if (element.isF32())
              angle = lessWholeTurns(k, angle);
            Value turned = cosine ? math::CosOp::create(k, angle).getResult()
                                  : math::SinOp::create(k, angle).getResult();
            if (frequencies.attentionFactor != 1)
              turned = k.mul(turned, k.real(element, frequencies.attentionFactor));
            if (neighbours && !cosine) {
              Value isSecond = arith::TruncIOp::create(k, k.getI1Type(), e[1]);
              turned = k.select(isSecond, turned, arith::NegFOp::create(k, turned));
            }
            return turned;
          });
      b.storeRows(result, k.temporary(cosine ? cosines : sines), k.index(0));
    }
  });
  b.endPhase("rotary_angles");
}

namespace {
struct RopeKernel : KernelOpInterface::ExternalModel<RopeKernel, RopeOp> {
  /// Of halves a tile is in the first half of a head's pairs, in the second, or behind both.
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<RopeOp>(operation);
    KernelBuilder &k = b.k;
    Type type = getAccumulationType(op.getType());
    int64_t half = op.getDim() / 2, size = op.getInput().getType().getDimSize(3);
    int64_t place = c.offset % size;
    if (place >= 2 * half)
      return b.element(op.getInput(), c, leaves);
    ArrayRef<unsigned> angles = b.getTemporaries(op);
    auto angle = [&](unsigned which, int64_t from) {
      return b.leaf(b.loadTemporary(angles[which], from, c.width), c.width, leaves);
    };
    if (op.getPairing() == RopePairing::Interleaved) {
      TileElement x = b.convert(b.element(op.getInput(), c, leaves), type);
      TileElement other =
          b.convert(b.leaf(b.pairsSwapped(op.getInput(), c), c.width, leaves), type);
      TileElement cosine = angle(0, place), sine = angle(1, place);
      return
          [=, &k](ValueRange e) { return k.add(k.mul(x(e), cosine(e)), k.mul(other(e), sine(e))); };
    }
    bool second = place >= half;
    int64_t pair = second ? place - half : place;
    auto input = [&](TileColumns columns) {
      return b.convert(b.element(op.getInput(), columns, leaves), type);
    };
    TileElement left = input(second ? c.shifted(-half) : c);
    TileElement right = input(second ? c : c.shifted(half));
    TileElement cosine = angle(0, pair), sine = angle(1, pair);
    if (second)
      return [=, &k](ValueRange e) {
        return k.add(k.mul(right(e), cosine(e)), k.mul(left(e), sine(e)));
      };
    return [=, &k](ValueRange e) {
      return k.sub(k.mul(left(e), cosine(e)), k.mul(right(e), sine(e)));
    };
  }

  void emitPhaseBefore(Operation *op, TileBuilder &b) const { emitAngles(b, cast<RopeOp>(op)); }
};
} // namespace

void mlir::fovea::attachRopeKernel(MLIRContext &context) {
  RopeOp::attachInterface<RopeKernel>(context);
}
