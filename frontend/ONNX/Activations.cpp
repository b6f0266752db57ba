// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activations: those that are an op of the dialect, and formulas of one element for the rest, as
// ONNX's operator documents write them.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

//===-- Ops of the dialect -------------------------------------------------------------------===//

Data *Importer::activate(Data &x, ActivationKind kind) {
  return make(x.type, x.shape, ActivationOp::create(b, typeOf(x), kind, value(x)));
}

static LogicalResult setActivation(Importer &im, ActivationKind kind) {
  Data *x = im.floats();
  if (!x)
    return failure();
  return im.setResult(im.activate(*x, kind));
}

template <ActivationKind kind> static LogicalResult importActivation(Importer &im) {
  return setActivation(im, kind);
}

static LogicalResult importRelu(Importer &im) {
  Data *x = im.input(0);
  bool isKnown = x && im.elements(*x);
  if (!x || (isFloat(x->type) && !isKnown))
    return setActivation(im, ActivationKind::Relu);
  Data *zero = isFloat(x->type) ? im.makeReal(x->type, 0) : im.makeInteger(x->type, 0);
  return im.setResult(im.binary("Max", x, zero));
}

static LogicalResult importGelu(Importer &im) {
  std::string kind = im.text("approximate", "none");
  if (kind != "none" && kind != "tanh")
    return im.unsupported("approximate '" + kind + "'; expects none or tanh");
  return setActivation(im, kind == "tanh" ? ActivationKind::GeluTanh : ActivationKind::Gelu);
}

//===-- Formulas -----------------------------------------------------------------------------===//

namespace {

/// Code of one element of a float type, written with plain operators.
struct Number {
  ImplicitLocOpBuilder *b;
  Value v;
  Number lift(double value) const {
    auto type = cast<FloatType>(v.getType());
    return {b, arith::ConstantOp::create(*b, b->getFloatAttr(type, value))};
  }
  Number operator+(Number o) const { return {b, arith::AddFOp::create(*b, v, o.v)}; }
  Number operator-(Number o) const { return {b, arith::SubFOp::create(*b, v, o.v)}; }
  Number operator*(Number o) const { return {b, arith::MulFOp::create(*b, v, o.v)}; }
  Number operator/(Number o) const { return {b, arith::DivFOp::create(*b, v, o.v)}; }
  Number operator-() const { return {b, arith::NegFOp::create(*b, v)}; }
  Number exp() const { return {b, math::ExpOp::create(*b, v)}; }
  Number tanh() const { return {b, math::TanhOp::create(*b, v)}; }
  Number log1p() const { return {b, math::Log1pOp::create(*b, v)}; }
  Number max(Number o) const { return {b, arith::MaximumFOp::create(*b, v, o.v)}; }
  Number min(Number o) const { return {b, arith::MinimumFOp::create(*b, v, o.v)}; }
  Number abs() const { return {b, math::AbsFOp::create(*b, v)}; }
  Number ifPositive(Number then, Number otherwise) const {
    Value zero = lift(0).v;
    Value bit = arith::CmpFOp::create(*b, arith::CmpFPredicate::OGT, v, zero);
    return {b, arith::SelectOp::create(*b, bit, then.v, otherwise.v)};
  }
  /// log(1 + exp(x)) that does not overflow.
  Number softplus() const { return max(lift(0)) + (-abs()).exp().log1p(); }
};

/// `of` one element and two numbers, which attributes give; unnamed ones are not used.
struct Formula {
  StringRef op;
  Number (*of)(Number, double, double);
  StringRef first = "";
  double firstDefault = 0;
  StringRef second = "";
  double secondDefault = 0;
};

} // namespace

static Number leakyRelu(Number x, double alpha, double) {
  return x.ifPositive(x, x * x.lift(alpha));
}
static Number elu(Number x, double alpha, double) {
  return x.ifPositive(x, (x.exp() - x.lift(1)) * x.lift(alpha));
}
static Number selu(Number x, double alpha, double gamma) {
  return elu(x, alpha, 0) * x.lift(gamma);
}
static Number celu(Number x, double alpha, double) {
  return x.ifPositive(x, ((x / x.lift(alpha)).exp() - x.lift(1)) * x.lift(alpha));
}
static Number hardSigmoid(Number x, double alpha, double beta) {
  return (x * x.lift(alpha) + x.lift(beta)).min(x.lift(1)).max(x.lift(0));
}
static Number hardSwish(Number x, double, double) { return x * hardSigmoid(x, 1.0 / 6, 0.5); }
static Number softplus(Number x, double, double) { return x.softplus(); }
static Number softsign(Number x, double, double) { return x / (x.abs() + x.lift(1)); }
static Number mish(Number x, double, double) { return x * x.softplus().tanh(); }
static Number thresholded(Number x, double alpha, double) {
  return (x - x.lift(alpha)).ifPositive(x, x.lift(0));
}
static Number swish(Number x, double alpha, double) {
  return x / ((-(x * x.lift(alpha))).exp() + x.lift(1));
}
static Number shrink(Number x, double bias, double lambda) {
  Number zero = x.lift(0), shift = x.lift(bias);
  Number low = (-(x + x.lift(lambda))).ifPositive(x + shift, zero);
  return (x - x.lift(lambda)).ifPositive(x - shift, low);
}
static Number reciprocal(Number x, double, double) { return x.lift(1) / x; }

static const Formula kFormulas[] = {
    {"Celu", celu, "alpha", 1},
    {"Elu", elu, "alpha", 1},
    {"HardSigmoid", hardSigmoid, "alpha", 0.2f, "beta", 0.5},
    {"HardSwish", hardSwish},
    {"LeakyRelu", leakyRelu, "alpha", 0.01f},
    {"Mish", mish},
    {"Reciprocal", reciprocal},
    {"Selu", selu, "alpha", 1.67326319217681884765625, "gamma", 1.05070102214813232421875},
    {"Shrink", shrink, "bias", 0, "lambd", 0.5},
    {"Softplus", softplus},
    {"Softsign", softsign},
    {"Swish", swish, "alpha", 1},
    {"ThresholdedRelu", thresholded, "alpha", 1},
};

static LogicalResult importFormula(Importer &im) {
  const Formula *rule =
      llvm::find_if(kFormulas, [&](const Formula &f) { return f.op == im.node().op; });
  auto number = [&](StringRef name, double fallback) {
    return name.empty() ? 0 : im.real(name, fallback);
  };
  double first = number(rule->first, rule->firstDefault),
         second = number(rule->second, rule->secondDefault);
  Data *x = im.floats();
  if (!x)
    return failure();
  return im.setResult(im.elementwise(x->type, {x}, [&](ImplicitLocOpBuilder &b, ValueRange v) {
    return rule->of(Number{&b, v[0]}, first, second).v;
  }));
}

static LogicalResult importReciprocal(Importer &im) {
  Data *x = im.input(0);
  if (!x || !isFloat(x->type) || !im.elements(*x))
    return importFormula(im);
  return im.setResult(im.binary("Div", im.makeReal(x->type, 1), x));
}

static LogicalResult importSwish(Importer &im) {
  return im.real("alpha", 1) == 1 ? setActivation(im, ActivationKind::Silu) : importFormula(im);
}

static LogicalResult importPRelu(Importer &im) {
  Data *x = im.floats(), *slope = im.input(1);
  if (!x)
    return failure();
  if (slope->type != x->type)
    return im.invalid("expects slopes of " + nameOf(x->type) + ", got " + nameOf(slope->type));
  return im.setResult(
      im.elementwise(x->type, {x, slope}, [&](ImplicitLocOpBuilder &b, ValueRange v) {
        Number n{&b, v[0]};
        return n.ifPositive(n, n * Number{&b, v[1]}).v;
      }));
}

/// Swish of the first operand times the second.
static LogicalResult importSwiGlu(Importer &im) {
  Data *gate = im.floats(), *x = im.input(1);
  if (!gate)
    return failure();
  if (!x || x->type != gate->type || x->shape != gate->shape)
    return im.invalid("expects two operands of one type and shape");
  double alpha = im.real("alpha", 1);
  Data *scaled = alpha == 1 ? gate : im.binary("Mul", gate, im.makeReal(gate->type, alpha));
  Data *open = alpha == 1 ? im.activate(*gate, ActivationKind::Silu)
                          : im.binary("Mul", gate, im.activate(*scaled, ActivationKind::Sigmoid));
  return im.setResult(im.binary("Mul", open, x));
}

void mlir::fovea::onnx::addActivationOps(OpTable &table) {
  for (const Formula &rule : kFormulas)
    table.add(rule.op, 13, importFormula);
  // Those with a better way for some operands.
  table.add("Reciprocal", 13, importReciprocal);
  table.add("Swish", 13, importSwish);
  table.add("Gelu", 13, importGelu);
  table.add("PRelu", 13, importPRelu);
  table.add("Relu", 13, importRelu);
  table.add("SwiGLU", 28, importSwiGlu);
  table.add("Sigmoid", 13, importActivation<ActivationKind::Sigmoid>);
  table.add("Tanh", 13, importActivation<ActivationKind::Tanh>);
}
