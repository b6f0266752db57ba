// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax in its spellings, and what resembles one.
#include "test/smith/Builder.h"
#include <cmath>

namespace fovea::smith {

Builder::Weights Builder::softmax(Ex x) {
  Random random(c[Choice::Spelling], "softmax");
  int negative = c[Choice::Negative], kind = c[Choice::Softmax];
  auto real = [&](double value) { return number(value, inner); };
  char over = negative == kOverQueries ? 'i' : negative == kOverHeads ? 'h' : 'j';
  std::string axes = scoreAxes;
  auto rows = [&] {
    std::string rest = axes;
    rest.erase(rest.find(over), 1);
    return rest;
  };

  switch (negative) {
  case kNoSoftmax:
    return {x, {}, {}};
  case kSigmoid:
    return {
        arith("div", real(1), arith("add", real(1), math("exp", apply("arith.negf", {x}, inner)))),
        {},
        {}};
  case kNotNormalized:
    return {math("exp", arith("mul", x, real(0.125))), {}, {}};
  case kRelu: {
    Ex positive = arith("maximum", x, real(0));
    Ex sum = read(w.reduce(positive, rows(), over, "add", 0));
    return {arith("div", positive, arith("add", sum, real(1))), {}, {}};
  }
  default:
    break;
  }

  Ex sink;
  if (c[Choice::Sink] == kSinkColumn || c[Choice::Sink] == kSinkTerm)
    sink = convert(argument("sink", heads, type, "normal 1"), inner);
  if (c[Choice::Sink] == kSinkColumn) {
    // A further column, dropped behind the softmax.
    std::string one = axes;
    one[one.find(over)] = 'u';
    Tensor column = w.materialise(sink, one), scores = w.materialise(x, axes);
    w.declareLonger('J', over, 1);
    bool isFirst = random.percent(20);
    Tensor both = scores;
    both.axes = axes;
    std::vector<Tensor> parts = {scores, column};
    if (isFirst)
      std::swap(parts[0], parts[1]);
    both = w.concat(parts, isFirst ? 'u' : over, 'J');
    x = read(both);
    axes[axes.find(over)] = 'J';
    Tensor weights;
    over = 'J';
    Ex p;
    if (kind == kNamed) {
      p = read(w.softmax(both, over));
    } else {
      Ex top = read(w.reduce(x, rows(), over, "maximum", -HUGE_VAL));
      Ex power = math("exp", arith("sub", x, top));
      Ex sum = read(w.reduce(power, rows(), over, "add", 0));
      p = arith("div", power, sum);
    }
    Tensor sliced = w.slice(w.materialise(p, axes), 'J', isFirst ? 1 : 0, 'j');
    return {read(sliced), {}, {}};
  }

  if (kind == kNamed) {
    Ex p = read(w.softmax(w.materialise(x, axes), over));
    if (c[Choice::Apply] == kTimesWeights && weightMask) {
      // Weights of hidden keys become zero, and the others are scaled anew.
      Ex kept = arith("mul", p, weightMask);
      p = arith("div", kept, read(w.reduce(kept, rows(), over, "add", 0)));
    }
    if (negative == kSquaredWeights)
      p = arith("mul", p, p);
    return {p, {}, {}};
  }

  // The scores as a tensor, or computed wherever they are asked for.
  if (random.percent(60))
    x = read(w.materialise(x, axes));
  double log2e = 1.4426950408889634;
  bool isBinary = kind == kByExp2;
  bool scalesFirst = isBinary && random.percent(50);
  if (scalesFirst)
    x = arith("mul", x, real(log2e));
  Ex shift;
  std::string maximum = random.percent(80) ? "maximum" : "maxnumf";
  switch (c[Choice::Shift]) {
  case kMaximum:
  case kGuardedMaximum: {
    Ex top;
    if (maximum == "maximum") {
      top = read(w.reduce(x, rows(), over, "maximum", -HUGE_VAL));
    } else {
      top = read(w.reduce(x, rows(), over, "maxnum", -HUGE_VAL));
    }
    shift = top;
    if (c[Choice::Shift] == kGuardedMaximum)
      shift = select(compare("oeq", top, real(-HUGE_VAL)), real(0), top);
    break;
  }
  case kConstant:
    shift = real(2);
    break;
  default:
    break;
  }
  auto power = [&](Ex y) {
    if (!isBinary)
      return math("exp", std::move(y));
    return math("exp2", scalesFirst ? std::move(y) : arith("mul", std::move(y), real(log2e)));
  };
  auto shifted = [&](Ex y) { return shift ? arith("sub", std::move(y), shift) : y; };
  Ex e = power(shifted(x));
  if (c[Choice::Apply] == kTimesExp && weightMask)
    e = arith("mul", e, weightMask);
  e = edited(Site::Exponential, e);
  if (random.percent(50))
    e = read(w.materialise(e, axes));
  char summed = negative == kNormalizedByKey ? 'i' : over;
  std::string sumAxes = axes;
  sumAxes.erase(sumAxes.find(summed), 1);
  Ex sum = read(w.reduce(e, sumAxes, summed, "add", 0));
  if (c[Choice::Sink] == kSinkTerm)
    sum = arith("add", sum, power(shifted(scalesFirst ? arith("mul", sink, real(log2e)) : sink)));
  if (c[Choice::Sink] == kOnePlus)
    sum = arith("add", shift ? power(shifted(real(0))) : real(1), sum);
  if (c[Choice::Guard] == kSumOrOne)
    sum = select(compare("oeq", sum, real(0)), real(1), sum);
  sum = edited(Site::Sum, sum);

  if (kind == kLogSoftmax)
    return {math("exp", arith("sub", shifted(x), math("log", sum))), {}, {}};
  if (kind == kLogSumExp) {
    Ex lse = shift ? arith("add", shift, math("log", sum)) : math("log", sum);
    lse = read(w.materialise(lse, sumAxes));
    return {math("exp", arith("sub", x, lse)), {}, {}};
  }
  Weights result;
  switch (c[Choice::Norm]) {
  case kLate:
    return {e, sum, {}};
  case kLateReciprocal:
    return {e, {}, arith("div", real(1), sum)};
  case kReciprocal:
    result.weights = arith("mul", e, arith("div", real(1), sum));
    break;
  default:
    result.weights = arith("div", e, sum);
    break;
  }
  if (c[Choice::Apply] == kTimesWeights && weightMask) {
    Ex kept = arith("mul", result.weights, weightMask);
    result.weights = arith("div", kept, read(w.reduce(kept, rows(), over, "add", 0)));
  }
  if (negative == kSquaredWeights)
    result.weights = arith("mul", result.weights, result.weights);
  return result;
}

Ex Builder::between(Ex p) {
  if (c[Choice::Guard] == kNaNToZero)
    p = select(compare(c[Choice::Spelling] & 4 ? "uno" : "une", p, p), number(0, inner), p);
  switch (c[Choice::Between]) {
  case kTimesOne:
    return arith("mul", p, number(1, inner));
  case kDropout:
    // Keeps all, as a dropout of zero.
    return arith("mul", p, read(w.fill(scoreAxes, inner, 1)));
  case kDoubleCast:
    if (inner == Elem::F64)
      return p;
    return convert(convert(p, inner == Elem::F32 ? Elem::F64 : Elem::F32), inner);
  default:
    return p;
  }
}

} // namespace fovea::smith
