// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear, embedding, norms, activations, pooling, argmax and cache appends as plain loops.
#include "lowering/Kernels/KernelBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

static SmallVector<Value> append(ValueRange at, Value last) {
  SmallVector<Value> result(at);
  result.push_back(last);
  return result;
}

static Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

//===-- Linear, embedding --------------------------------------------------------------------===//

/// A linear with a weight in panels: the sums of a panel side by side, since its outputs lie side
/// by side.
static void buildLinearOfPanels(KernelBuilder &k, LinearOp op, PanelsAttr panels) {
  Value x = k.buffer(op.getInput()), w = k.buffer(op.getWeight()), bias = k.buffer(op.getBias());
  Type type = getAccumulationType(elementOf(x));
  int64_t outputs = op.getWeight().getType().getDimSize(0);
  int64_t inputs = op.getWeight().getType().getDimSize(1);
  int64_t width = panels.getWidth(), interleave = panels.getInterleave();
  SmallVector<Value> extents = k.sizes(k.outputs[0], 1);
  extents.push_back(k.size(w, 0));
  k.parallelNest(extents, [&](ValueRange at) {
    ValueRange row = at.drop_back();
    Value panel = at.back();
    // The products of `count` neighbouring inputs, from unit `unit` on.
    auto addUnit = [&](Value unit, int64_t count, ValueRange sums) {
      SmallVector<Value> next(sums);
      Value first = k.mul(unit, k.index(interleave));
      for (int64_t i = 0; i < count; ++i) {
        Value factor = k.loadAs(type, x, append(row, k.add(first, k.index(i))));
        for (int64_t n = 0; n < width; ++n) {
          SmallVector<Value> place{panel, unit, k.index(n)};
          if (interleave != 1)
            place.push_back(k.index(i));
          next[n] = k.add(next[n], k.mul(factor, k.loadAs(type, w, place)));
        }
      }
      return next;
    };
    SmallVector<Value> sums = k.loopCarried(
        k.index(0), k.index(inputs / interleave), SmallVector<Value>(width, k.real(type, 0)),
        [&](Value unit, ValueRange sums) { return addUnit(unit, interleave, sums); });
    if (inputs % interleave != 0)
      sums = addUnit(k.index(inputs / interleave), inputs % interleave, sums);
    Value begin = k.mul(panel, k.index(width));
    for (int64_t i = 0; i < width; ++i) {
      Value n = k.add(begin, k.index(i));
      Value inside = arith::CmpIOp::create(k, arith::CmpIPredicate::ult, n, k.index(outputs));
      k.when(inside, [&] {
        Value sum = bias ? k.add(sums[i], k.loadAs(type, bias, n)) : sums[i];
        k.storeTo(k.outputs[0], append(row, n), sum);
      });
    }
  });
}

/// A quantised weight, in any layout: sums of numbers over what shares a scale.
static void buildLinearOfNumbers(KernelBuilder &k, LinearOp op) {
  Value x = k.buffer(op.getInput()), bias = k.buffer(op.getBias());
  Type type = getAccumulationType(elementOf(x));
  int64_t inputs = op.getWeight().getType().getDimSize(1), each = op.getScaledInputs();
  k.parallelNest(k.sizes(k.outputs[0]), [&](ValueRange at) {
    ValueRange row = at.drop_back();
    Value n = at.back();
    auto sumFrom = [&](Value first) {
      return k.sum(type, k.index(each), [&](Value i) {
        Value c = k.add(first, i);
        return k.mul(k.loadAs(type, x, append(row, c)), k.loadWeight(type, op.getWeight(), n, c));
      });
    };
    Value sum;
    if (op.getScales().getType().getRank() == 1)
      sum = k.mul(sumFrom(k.index(0)), k.loadAs(type, k.buffer(op.getScales()), n));
    else
      sum = k.sum(type, k.index(each ? inputs / each : 0), [&](Value g) {
        return k.mul(sumFrom(k.mul(g, k.index(each))), k.loadWeight(type, op.getScales(), n, g));
      });
    if (bias)
      sum = k.add(sum, k.loadAs(type, bias, n));
    k.storeTo(k.outputs[0], at, sum);
  });
}

LogicalResult mlir::fovea::buildLinear(KernelBuilder &k, LinearOp op) {
  if (op.getScales()) {
    buildLinearOfNumbers(k, op);
    return success();
  }
  if (PanelsAttr panels = getPanels(op.getWeight().getType())) {
    buildLinearOfPanels(k, op, panels);
    return success();
  }
  Value x = k.buffer(op.getInput()), w = k.buffer(op.getWeight()), bias = k.buffer(op.getBias());
  Type type = getAccumulationType(elementOf(x));
  k.parallelNest(k.sizes(k.outputs[0]), [&](ValueRange at) {
    ValueRange row = at.drop_back();
    Value n = at.back();
    Value sum = k.sum(type, k.size(w, 1), [&](Value c) {
      return k.mul(k.loadAs(type, x, append(row, c)), k.loadAs(type, w, {n, c}));
    });
    if (bias)
      sum = k.add(sum, k.loadAs(type, bias, n));
    k.storeTo(k.outputs[0], at, sum);
  });
  return success();
}

/// Copies table[id] to the row `at` of `out`; an id outside the table is a fault and reads its
/// first row.
static void emitRow(KernelBuilder &k, TypedValue<RankedTensorType> table, Value id, Value out,
                    ValueRange at) {
  Value rows = k.index(table.getType().getDimSize(0)), zero = k.index(0);
  Value outside = arith::CmpIOp::create(k, arith::CmpIPredicate::uge, id, rows);
  FaultOp::create(k, outside);
  Value row = k.select(outside, zero, id);
  Type type = getAccumulationType(elementOf(out));
  k.loop(zero, k.index(table.getType().getDimSize(1)),
         [&](Value d) { k.storeTo(out, append(at, d), k.loadWeight(type, table, row, d)); });
}

LogicalResult mlir::fovea::buildEmbedding(KernelBuilder &k, EmbeddingOp op) {
  Value ids = k.buffer(op.getIds());
  k.parallelNest(k.sizes(ids), [&](ValueRange at) {
    emitRow(k, op.getTable(), k.toIndex(k.load(ids, at)), k.outputs[0], at);
  });
  return success();
}

LogicalResult mlir::fovea::buildPositionLearned(KernelBuilder &k, PositionLearnedOp op) {
  Value positions = k.buffer(op.getPositions());
  k.parallelNest(k.sizes(positions), [&](ValueRange at) {
    Value position = k.toIndex(k.load(positions, at));
    emitRow(k, op.getTable(), k.add(position, k.index(op.getOffset())), k.outputs[0], at);
  });
  return success();
}

//===-- Norms --------------------------------------------------------------------------------===//

/// Mean of `term` over the last axis.
static Value mean(KernelBuilder &k, Type type, Value x, function_ref<Value(Value)> term) {
  int64_t size = cast<MemRefType>(x.getType()).getShape().back();
  Value sum = k.sum(type, k.index(size), term);
  return k.mul(sum, k.real(type, 1.0 / size));
}

LogicalResult mlir::fovea::buildLayerNorm(KernelBuilder &k, LayerNormOp op) {
  Value x = k.buffer(op.getInput()), weight = k.buffer(op.getWeight()),
        bias = k.buffer(op.getBias());
  Type type = getAccumulationType(elementOf(x));
  double eps = op.getEps().convertToDouble();
  k.parallelNest(k.sizes(x, 1), [&](ValueRange row) {
    auto load = [&](Value c) { return k.loadAs(type, x, append(row, c)); };
    Value average = mean(k, type, x, load);
    Value variance = mean(k, type, x, [&](Value c) {
      Value centered = k.sub(load(c), average);
      return k.mul(centered, centered);
    });
    Value deviation = math::SqrtOp::create(k, k.add(variance, k.real(type, eps)));
    Value factor = k.div(k.real(type, 1), deviation);
    k.loop(k.index(0), k.size(x, row.size()), [&](Value c) {
      Value y = k.mul(k.sub(load(c), average), factor);
      if (weight)
        y = k.mul(y, k.loadAs(type, weight, c));
      if (bias)
        y = k.add(y, k.loadAs(type, bias, c));
      k.storeTo(k.outputs[0], append(row, c), y);
    });
  });
  return success();
}

LogicalResult mlir::fovea::buildRmsNorm(KernelBuilder &k, RmsNormOp op) {
  Value x = k.buffer(op.getInput()), weight = k.buffer(op.getWeight());
  Type type = getAccumulationType(elementOf(x));
  double eps = op.getEps().convertToDouble(), offset = op.getWeightOffset().convertToDouble();
  k.parallelNest(k.sizes(x, 1), [&](ValueRange row) {
    auto load = [&](Value c) { return k.loadAs(type, x, append(row, c)); };
    Value square = mean(k, type, x, [&](Value c) { return k.mul(load(c), load(c)); });
    Value root = math::SqrtOp::create(k, k.add(square, k.real(type, eps)));
    Value factor = k.div(k.real(type, 1), root);
    k.loop(k.index(0), k.size(x, row.size()), [&](Value c) {
      Value y = k.mul(load(c), factor);
      if (weight) {
        Value scale = k.loadAs(type, weight, c);
        y = k.mul(y, offset == 0 ? scale : k.add(scale, k.real(type, offset)));
      }
      k.storeTo(k.outputs[0], append(row, c), y);
    });
  });
  return success();
}

LogicalResult mlir::fovea::buildL2Norm(KernelBuilder &k, L2NormOp op) {
  Value x = k.buffer(op.getInput());
  Type type = getAccumulationType(elementOf(x));
  k.parallelNest(k.sizes(x, 1), [&](ValueRange row) {
    auto load = [&](Value c) { return k.loadAs(type, x, append(row, c)); };
    Value last = k.size(x, row.size());
    Value square = k.sum(type, last, [&](Value c) { return k.mul(load(c), load(c)); });
    Value length =
        k.maximum(math::SqrtOp::create(k, square), k.real(type, op.getEps().convertToDouble()));
    k.loop(k.index(0), last,
           [&](Value c) { k.storeTo(k.outputs[0], append(row, c), k.div(load(c), length)); });
  });
  return success();
}

//===-- Activations --------------------------------------------------------------------------===//

static Value sigmoid(KernelBuilder &k, Value x) {
  Type type = x.getType();
  Value e = math::ExpOp::create(k, arith::NegFOp::create(k, x));
  return k.div(k.real(type, 1), k.add(k.real(type, 1), e));
}

Value mlir::fovea::activate(KernelBuilder &k, ActivationKind kind, Value x) {
  Type type = x.getType();
  Value half = k.real(type, 0.5), one = k.real(type, 1), zero = k.real(type, 0);
  switch (kind) {
  case ActivationKind::Gelu: {
    Value e = math::ErfOp::create(k, k.mul(x, k.real(type, std::sqrt(0.5))));
    return k.mul(k.mul(x, half), k.add(one, e));
  }
  case ActivationKind::GeluTanh: {
    Value cube = k.mul(k.mul(x, x), x);
    Value inner = k.mul(k.add(x, k.mul(cube, k.real(type, 0.044715))),
                        k.real(type, std::sqrt(2.0 / 3.14159265358979323846)));
    return k.mul(k.mul(x, half), k.add(one, math::TanhOp::create(k, inner)));
  }
  case ActivationKind::GeluQuick:
    return k.mul(x, sigmoid(k, k.mul(x, k.real(type, 1.702))));
  case ActivationKind::Relu:
    return k.maximum(x, zero);
  case ActivationKind::ReluSquared: {
    Value y = k.maximum(x, zero);
    return k.mul(y, y);
  }
  case ActivationKind::Silu:
    return k.mul(x, sigmoid(k, x));
  case ActivationKind::Tanh:
    return math::TanhOp::create(k, x);
  case ActivationKind::Sigmoid:
    return sigmoid(k, x);
  }
  llvm_unreachable("all activations are handled");
}

LogicalResult mlir::fovea::buildActivation(KernelBuilder &k, ActivationOp op) {
  Value x = k.buffer(op.getInput());
  Type type = getAccumulationType(elementOf(x));
  k.parallelNest(k.sizes(x), [&](ValueRange at) {
    k.storeTo(k.outputs[0], at, activate(k, op.getKind(), k.loadAs(type, x, at)));
  });
  return success();
}

LogicalResult mlir::fovea::buildGlu(KernelBuilder &k, GluOp op) {
  Value gate = k.buffer(op.getGate()), up = k.buffer(op.getUp());
  Type type = getAccumulationType(elementOf(gate));
  k.parallelNest(k.sizesSharedWith(gate, up), [&](ValueRange at) {
    Value activated = activate(k, op.getKind(), k.loadAs(type, gate, at));
    k.storeTo(k.outputs[0], at, k.mul(activated, k.loadAs(type, up, at)));
  });
  return success();
}

//===-- Pooling ------------------------------------------------------------------------------===//

LogicalResult mlir::fovea::buildPool(KernelBuilder &k, PoolOp op) {
  Value x = k.buffer(op.getInput()), keep = k.buffer(op.getKeep());
  Type type = getAccumulationType(elementOf(x));
  Value zero = k.real(type, 0), one = k.real(type, 1);
  PoolKind kind = op.getKind();
  double start = kind == PoolKind::Max ? -std::numeric_limits<double>::infinity() : 0;
  k.parallelNest(k.sizes(k.outputs[0]), [&](ValueRange at) {
    Value b = at[0], d = at[1];
    // Carried: the value so far, and how many places were kept.
    SmallVector<Value> result = k.loopCarried(
        k.index(0), k.size(x, 1), {k.real(type, start), zero},
        [&](Value s, ValueRange carried) -> SmallVector<Value> {
          Value element = k.loadAs(type, x, {b, s, d}), next;
          switch (kind) {
          case PoolKind::Mean:
            next = k.add(carried[0], element);
            break;
          case PoolKind::Max:
            next = k.maximum(carried[0], element);
            break;
          case PoolKind::First:
            next = k.select(k.less(zero, carried[1]), carried[0], element);
            break;
          case PoolKind::Last:
            next = element;
            break;
          }
          Value count = k.add(carried[1], one);
          if (!keep)
            return {next, count};
          Value kept = k.load(keep, {b, s});
          if (!kept.getType().isInteger(1))
            kept = arith::CmpIOp::create(k, arith::CmpIPredicate::ne, kept,
                                         k.integer(kept.getType(), 0));
          return {k.select(kept, next, carried[0]), k.select(kept, count, carried[1])};
        });
    Value value = result[0];
    if (kind == PoolKind::Mean)
      value = k.div(value, k.maximum(result[1], k.real(type, 1e-9)));
    k.storeTo(k.outputs[0], at, value);
  });
  return success();
}

//===-- Argmax -------------------------------------------------------------------------------===//

Value mlir::fovea::isGreater(KernelBuilder &k, Value l, Value r) {
  Value greater = arith::CmpFOp::create(k, arith::CmpFPredicate::UGT, l, r);
  Value isNumber = arith::CmpFOp::create(k, arith::CmpFPredicate::ORD, r, r);
  return arith::AndIOp::create(k, greater, isNumber);
}

LogicalResult mlir::fovea::buildArgmax(KernelBuilder &k, ArgmaxOp op) {
  Value x = k.buffer(op.getInput());
  Type type = getAccumulationType(elementOf(x));
  k.parallelNest(k.sizes(x, 1), [&](ValueRange row) {
    auto load = [&](Value i) { return k.loadAs(type, x, append(row, i)); };
    Value first = k.index(0);
    // Carried: the greatest so far, and where it stands.
    SmallVector<Value> best = k.loopCarried(
        k.index(1), k.size(x, row.size()), {load(first), first},
        [&](Value i, ValueRange carried) -> SmallVector<Value> {
          Value element = load(i), better = isGreater(k, element, carried[0]);
          return {k.select(better, element, carried[0]), k.select(better, i, carried[1])};
        });
    Value place = arith::IndexCastOp::create(k, k.getI64Type(), best[1]);
    k.storeTo(k.outputs[0], row, place);
  });
  return success();
}

//===-- Caches -------------------------------------------------------------------------------===//

LogicalResult mlir::fovea::buildCacheAppend(KernelBuilder &k, CacheAppendOp op) {
  Value x = k.buffer(op.getInput());
  CacheBuffer cache = k.cache(op.getCache());
  Type type = getAccumulationType(elementOf(x));
  k.parallelNest(k.sizes(x), [&](ValueRange at) {
    Value place = k.add(cache.length, at[1]);
    k.storeTo(cache.memory, {at[0], at[2], place, at[3]}, k.loadAs(type, x, at));
  });
  return success();
}
