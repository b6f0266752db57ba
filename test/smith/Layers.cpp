// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms are reductions and elementwise code, activations one expression; a rope is a pair of
// elements, turned.
#include "test/smith/Layers.h"
#include <cmath>

namespace fovea::smith {

bool isNorm(Layer layer) { return layer <= Layer::L2Norm; }
bool isActivation(Layer layer) { return layer >= Layer::Gelu && layer <= Layer::ReluSquared; }

namespace {

constexpr Spelling kSpellings[] = {{0, false}, {25, false}, {75, false}, {100, true}};

class LayerBuilder {
public:
  LayerBuilder(const LayerChoices &choices, Editor &editor)
      : c(choices), editor(editor), w(choices.spelling, kSpellings[choices.style]),
        random(choices.spelling, "layer") {}
  Program build();

private:
  Ex edited(Site site, Ex x, Part part = Part::Value) {
    return editor.at(w, site, part, std::move(x));
  }
  Ex argument(const std::string &name, const std::string &axes, Elem elem,
              const std::string &recipe) {
    program.inputs.push_back({name, recipe});
    return read(w.argument(name, axes, elem));
  }
  static Ex real(double value) { return number(value, Elem::F32); }
  /// A tensor of it, now and then.
  Ex kept(const Ex &x, const std::string &axes) {
    return random.percent(50) ? read(w.materialise(x, axes)) : x;
  }
  Ex sum(const Ex &x) { return read(w.reduce(x, rows, 'd', "add", 0)); }
  Ex mean(const Ex &x) {
    Ex all = sum(x);
    return random.percent(60) ? arith("div", all, real(c.width))
                              : arith("mul", all, real(1.0 / c.width));
  }
  Ex square(const Ex &x) {
    return random.percent(70) ? arith("mul", x, x) : apply("math.powf", {x, real(2)}, Elem::F32);
  }
  Ex divided(const Ex &x, const Ex &squares, double eps);
  Ex norm();
  Ex activation();
  Ex formula(const Ex &x);
  Ex sigmoid(const Ex &x);
  Ex angle();
  Ex ropeByReading(const Tensor &x);
  Ex ropeOfHalves(const Tensor &x);

  LayerChoices c;
  Editor &editor;
  Writer w;
  Random random;
  Program program;
  std::string rows, all;
};

} // namespace

/// x by the root of `squares`. The divisor is the root, or what it is taken of.
Ex LayerBuilder::divided(const Ex &x, const Ex &squares, double eps) {
  Ex inner = arith("add", squares, real(eps));
  switch (random.below(3)) {
  case 0:
    return arith("mul", x, math("rsqrt", edited(Site::NormDivisor, inner)));
  case 1:
    return arith("mul", x, arith("div", real(1), edited(Site::NormDivisor, math("sqrt", inner))));
  default:
    return arith("div", x, edited(Site::NormDivisor, math("sqrt", inner)));
  }
}

Ex LayerBuilder::norm() {
  Ex x = argument("x", all, Elem::F32, "normal 1");
  x = kept(edited(Site::NormInput, x), all);
  Ex squared = edited(Site::NormInput, x, Part::Squares);
  if (c.layer == Layer::L2Norm) {
    Ex root = math("sqrt", sum(square(squared)));
    root = edited(Site::NormDivisor, arith("maximum", root, real(1e-6)));
    return arith("div", x, root);
  }
  double eps = random.percent(50) ? 1e-5 : 1e-6;
  if (c.layer == Layer::RmsNorm)
    return divided(x, mean(square(squared)), eps);
  Ex average = mean(x);
  Ex apart = kept(arith("sub", x, average), all);
  return divided(apart, mean(square(arith("sub", squared, average))), eps);
}

Ex LayerBuilder::sigmoid(const Ex &x) {
  Ex power = math("exp", random.percent(50) ? apply("arith.negf", {x}, Elem::F32)
                                            : arith("mul", x, real(-1)));
  return arith("div", real(1), arith("add", real(1), power));
}

Ex LayerBuilder::formula(const Ex &x) {
  auto gate = [&](const Ex &y) {
    Ex half = arith("mul", x, real(0.5));
    return arith("mul", half, arith("add", y, real(1)));
  };
  auto positive = [&] {
    return random.percent(60) ? arith("maximum", x, real(0))
                              : select(compare("ogt", x, real(0)), x, real(0));
  };
  switch (c.layer) {
  case Layer::Gelu:
    return gate(math("erf", random.percent(50) ? arith("mul", x, real(M_SQRT1_2))
                                               : arith("div", x, real(M_SQRT2))));
  case Layer::GeluTanh: {
    Ex cube = arith("mul", arith("mul", x, arith("mul", x, x)), real(0.044715));
    return gate(math("tanh", arith("mul", arith("add", x, cube), real(std::sqrt(2 / M_PI)))));
  }
  case Layer::GeluQuick:
    return arith("mul", x, sigmoid(arith("mul", x, real(1.702))));
  case Layer::Relu:
    return positive();
  case Layer::Silu:
    return arith("mul", x, sigmoid(x));
  case Layer::Tanh:
    return math("tanh", x);
  case Layer::Sigmoid:
    return sigmoid(x);
  default: {
    Ex y = positive();
    return arith("mul", y, y);
  }
  }
}

Ex LayerBuilder::activation() {
  Ex x = argument("x", all, Elem::F32, "normal 1");
  x = kept(edited(Site::ActivationInput, x), all);
  Ex y = kept(edited(Site::ActivationOutput, formula(x)), all);
  if (!c.isGated)
    return y;
  return arith("mul", y, argument("up", all, Elem::F32, "normal 1"));
}

/// Of a place and the frequency `f`.
Ex LayerBuilder::angle() {
  int pairs = c.width / 2;
  double theta = random.percent(70) ? 10000 : 100;
  std::vector<double> frequencies;
  for (int i = 0; i < pairs; ++i)
    frequencies.push_back(std::pow(theta, -static_cast<double>(i) / pairs));
  Tensor table = w.constant("f", Elem::F32, frequencies);
  Ex at = c.hasPositions ? argument("positions", c.hasBatch ? "bi" : "i", Elem::I64, "below 8")
                         : convert(place('i'), Elem::I64);
  at = convert(edited(Site::Angle, at, Part::Distance), Elem::F32);
  Ex angle = edited(Site::Angle, arith("mul", at, read(table)));
  return read(w.materialise(angle, (c.hasPositions && c.hasBatch ? "bif" : "if")));
}

/// Each element and the other one of its pair, by their indices.
Ex LayerBuilder::ropeByReading(const Tensor &x) {
  Tensor angles = angle()->tensor;
  int pairs = c.width / 2;
  auto whole = [](double value) { return number(value, Elem::Index); };
  Ex d = place('d'), isFirst, pair;
  if (c.isInterleaved) {
    isFirst = compare("eq", arith("remsi", d, whole(2)), whole(0));
    pair = arith("divsi", d, whole(2));
  } else {
    isFirst = compare("slt", d, whole(pairs));
    pair = arith("remsi", d, whole(pairs));
  }
  double step = c.isInterleaved ? 1 : pairs;
  auto at = [&](const Tensor &tensor, const Ex &last) {
    std::vector<Ex> indices;
    for (char axis : tensor.axes)
      indices.push_back(axis == 'd' || axis == 'f' ? last : place(axis));
    return extract(tensor, indices);
  };
  Ex other = select(isFirst, arith("add", d, whole(step)), arith("sub", d, whole(step)));
  Ex turn = at(angles, pair), beside = at(x, other);
  Ex sine = arith("mul", beside, math("sin", turn));
  Ex own = arith("mul", read(x), math("cos", turn));
  return select(isFirst, arith("sub", own, sine), arith("add", own, sine));
}

Ex LayerBuilder::ropeOfHalves(const Tensor &x) {
  Tensor angles = angle()->tensor;
  Tensor first = w.slice(x, 'd', 0, 'f'), second = w.slice(x, 'd', c.width / 2, 'f');
  Tensor negative = w.materialise(apply("arith.negf", {read(second)}, Elem::F32), second.axes);
  Tensor turned = w.concat({negative, first}, 'f', 'd');
  Tensor twice = w.concat({angles, angles}, 'f', 'd');
  return arith("add", arith("mul", read(x), math("cos", read(twice))),
               arith("mul", read(turned), math("sin", read(twice))));
}

Program LayerBuilder::build() {
  bool isRope = c.layer == Layer::Rope;
  w.declareAxis('b', c.isStatic ? 2 : -1, "batch");
  w.declareAxis('i', c.isStatic ? c.moreRows : -1, "rows");
  w.declareAxis('h', 2, "");
  w.declareAxis('d', c.width, "");
  w.declareAxis('f', c.width / 2, "");
  if (!c.isStatic) {
    program.sizes["rows"] = {c.rows, c.moreRows};
    if (c.hasBatch)
      program.sizes["batch"] = {1, 2};
  }
  rows = c.hasBatch ? "bi" : "i";
  all = rows + "d";
  Ex y;
  Site site = Site::NormOutput;
  if (isRope) {
    // Heads before the places or behind them.
    all = (c.hasBatch ? "b" : "") + std::string(random.percent(50) ? "ih" : "hi") + "d";
    Tensor x = argument("x", all, Elem::F32, "normal 1")->tensor;
    y = c.isInterleaved || random.percent(40) ? ropeByReading(x) : ropeOfHalves(x);
  } else if (isActivation(c.layer)) {
    y = activation();
  } else {
    y = edited(site, norm());
    if (random.percent(30))
      y = arith("mul", y, argument("weight", "d", Elem::F32, "normal 1"));
  }
  w.result("output", w.generic(y, all));
  program.fused = -1;
  program.text = w.finish();
  return std::move(program);
}

Program generate(const LayerChoices &choices, Editor &editor) {
  return LayerBuilder(choices, editor).build();
}

} // namespace fovea::smith
