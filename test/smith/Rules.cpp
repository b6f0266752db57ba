// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs do to scores before the softmax. All rules are continuous in the score and keep it
// below a hundred or so: else rounding alone would decide what comes out.
#include "test/smith/Builder.h"
#include <cmath>

namespace fovea::smith {

std::string Builder::someAxes(Random &random, bool needsOne) {
  std::string axes;
  do {
    axes.clear();
    for (char axis : batch + heads + "ij")
      if (random.percent(50))
        axes += axis;
  } while (needsOne && axes.empty());
  return axes;
}

/// Axes with 1 for those of `all` that are missing.
static std::string withOnes(const std::string &axes, const std::string &all) {
  std::string padded;
  for (char axis : all)
    padded += axes.find(axis) != std::string::npos ? axis : '1';
  return padded;
}

Ex Builder::tree(Random &random, int depth, const Ex &x, int slot, int &tensors) {
  auto bounded = [](Ex y) { return math("tanh", std::move(y)); };
  if (depth == 0) {
    switch (random.below(5)) {
    case 0:
      return number(std::round((random.unit() - 0.5) * 40) / 16, inner);
    case 1: {
      std::string axes = someAxes(random, false);
      std::string name = "leaf" + std::to_string(slot) + std::to_string(tensors++);
      return convert(argument(name, axes, type, "normal 1"), inner);
    }
    case 2:
      return arith("mul", convert(convert(arith("sub", place('i'), place('j')), Elem::I64), inner),
                   number(0.03125, inner));
    default:
      return x;
    }
  }
  Ex a = tree(random, depth - 1, x, slot, tensors);
  switch (random.below(9)) {
  case 0:
    return bounded(a);
  case 1:
    return apply("math.absf", {a}, inner);
  case 2:
    return apply("arith.negf", {a}, inner);
  case 3:
    return arith("maximum", a, tree(random, depth - 1, x, slot, tensors));
  case 4:
    return arith("minimum", a, tree(random, depth - 1, x, slot, tensors));
  case 5:
    return arith("mul", bounded(a), bounded(tree(random, depth - 1, x, slot, tensors)));
  case 6:
    return arith("sub", a, tree(random, depth - 1, x, slot, tensors));
  case 7:
    return arith("div", a,
                 arith("add", number(1, inner),
                       apply("math.absf", {tree(random, depth - 1, x, slot, tensors)}, inner)));
  default:
    return arith("add", a, tree(random, depth - 1, x, slot, tensors));
  }
}

/// An element of a learned table at the bucket of the distance from query to key (T5): each near
/// one has its own, far ones share theirs by their logarithm.
Ex Builder::bucketBias(Random &random, const std::string &suffix) {
  w.declareAxis('z', 8, "");
  Tensor table = argument("table" + suffix, "z" + heads, type, "normal 1")->tensor;
  bool isBothWays = random.percent(70);
  int exact = isBothWays ? 2 : 4, furthest = isBothWays ? 16 : 32, count = isBothWays ? 4 : 8;
  auto whole = [](double value) { return number(value, Elem::I64); };
  auto part = [](double value) { return number(value, Elem::F32); };
  Ex apart = arith("sub", convert(place('j'), Elem::I64), convert(place('i'), Elem::I64));
  apart = edited(Site::Bias, apart, Part::Distance);
  Ex distance = isBothWays ? apply("math.absi", {apart}, Elem::I64)
                           : arith("sub", whole(0), arith("minsi", apart, whole(0)));
  Ex ratio = arith("div", convert(arith("maxsi", distance, whole(1)), Elem::F32), part(exact));
  Ex far = arith("mul", arith("div", math("log", ratio), part(std::log(furthest / exact))),
                 part(count - exact));
  far = arith("minsi", arith("add", convert(far, Elem::I64), whole(exact)), whole(count - 1));
  Ex bucket = select(compare("slt", distance, whole(exact)), distance, far);
  if (isBothWays)
    bucket = arith("add", bucket, select(compare("sgt", apart, whole(0)), whole(count), whole(0)));
  std::vector<Ex> indices = {convert(bucket, Elem::Index)};
  for (char head : heads)
    indices.push_back(place(head));
  return extract(table, indices);
}

Ex Builder::rule(int kind, int slot, Ex x) {
  Random random(c[Choice::Spelling] + static_cast<unsigned>(slot), "rule");
  std::string suffix = std::to_string(slot);
  auto real = [&](double value) { return number(value, inner); };
  auto distance = [&](bool isAbsolute) {
    Elem elem = random.percent(50) ? Elem::I32 : Elem::I64;
    Ex i = convert(place('i'), elem), j = convert(place('j'), elem);
    Ex d = random.percent(50) ? arith("sub", j, i) : arith("sub", i, j);
    d = edited(Site::Bias, d, Part::Distance);
    if (isAbsolute)
      return convert(random.percent(50) ? apply("math.absi", {d}, elem)
                                        : select(compare("slt", d, number(0, elem)),
                                                 arith("sub", number(0, elem), d), d),
                     inner);
    return convert(d, inner);
  };
  switch (kind) {
  case kBias: {
    std::string axes = someAxes(random, true);
    // What is the same for all keys changes no softmax, so no edit of it shows.
    if (editor && axes.find('j') == std::string::npos)
      axes += 'j';
    if (random.percent(50))
      axes = withOnes(axes, batch + heads + "ij");
    Ex bias = convert(argument("bias" + suffix, axes, type, "normal 1"), inner);
    bias = edited(Site::Bias, bias);
    return random.percent(50) ? arith("add", x, bias) : arith("add", bias, x);
  }
  case kHeadFactor: {
    Ex factor = convert(argument("factor" + suffix, heads, type, "normal 1"), inner);
    return arith("mul", x, factor);
  }
  case kSoftCap: {
    double cap = 1 + random.below(8);
    Ex scaled = random.percent(50) ? arith("div", x, real(cap)) : arith("mul", x, real(1 / cap));
    return arith("mul", math("tanh", scaled), real(cap));
  }
  case kSlopes: {
    Ex slope = real(0.25);
    if (!heads.empty()) {
      int64_t count = 1;
      for (char axis : heads)
        count *= w.sizeOf(axis);
      std::vector<double> slopes;
      for (int64_t h = 0; h < count; ++h)
        slopes.push_back(std::ldexp(1, -1 - static_cast<int>(h)));
      slope = read(w.constant(heads, inner, slopes));
    }
    return arith("add", x, edited(Site::Bias, arith("mul", slope, distance(false))));
  }
  case kDistance:
    return arith("sub", x, edited(Site::Bias, arith("mul", real(0.125), distance(true))));
  case kLeaky:
    return arith("maximum", x, arith("mul", x, real(0.25)));
  case kMinimum:
    return arith("minimum", x, real(1.5));
  case kGate: {
    Ex sigmoid =
        arith("div", real(1), arith("add", real(1), math("exp", apply("arith.negf", {x}, inner))));
    return arith("mul", x, sigmoid);
  }
  case kSquare:
    return arith("mul", arith("mul", math("tanh", x), math("tanh", x)), real(3));
  case kSine:
    return math("sin", x);
  case kLogDistance:
    return arith("sub", x, math("log", arith("add", distance(true), real(1))));
  case kDiagonal:
    return select(compare("eq", convert(place('i'), Elem::I32), convert(place('j'), Elem::I32)),
                  arith("add", x, real(1)), x);
  case kTable: {
    // A bias for each distance, as relative positions have.
    int reach = 1 + random.below(4);
    w.declareAxis(static_cast<char>('r' + slot), 2 * reach + 1, "");
    std::string axes = std::string(1, static_cast<char>('r' + slot)) + heads;
    Tensor table = argument("table" + suffix, axes, type, "normal 1")->tensor;
    Elem elem = random.percent(50) ? Elem::I64 : Elem::I32;
    Ex bucket = arith("sub", convert(place('j'), elem), convert(place('i'), elem));
    bucket = edited(Site::Bias, bucket, Part::Distance);
    bucket = arith("minsi", arith("maxsi", bucket, number(-reach, elem)), number(reach, elem));
    bucket = arith("add", bucket, number(reach, elem));
    std::vector<Ex> indices = {convert(bucket, Elem::Index)};
    for (char head : heads)
      indices.push_back(place(head));
    return arith("add", x, edited(Site::Bias, convert(extract(table, indices), inner)));
  }
  case kBuckets:
    return arith("add", x, edited(Site::Bias, convert(bucketBias(random, suffix), inner)));
  case kTree: {
    int tensors = 0;
    Ex y = tree(random, 1 + random.below(3), x, slot, tensors);
    // The score itself is part of it.
    return arith("add", y, arith("mul", x, real(0.5)));
  }
  default:
    return x;
  }
}

} // namespace fovea::smith
