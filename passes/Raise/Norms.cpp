// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalisations over the last axis, found by what they compute: an element's expression is tested
// beside each formula, on rows of all sizes. Refuses other axes, and what depends on more than one
// row and two vectors.
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Equivalence.h"
#include "passes/Raise/Identity.h"
#include "passes/Raise/NearMisses.h"
#include "passes/Raise/Passes.h"
#include "passes/Raise/WeightViews.h"
#include <cmath>

namespace mlir::fovea {
#define GEN_PASS_DEF_RAISENORMSPASS
#include "passes/Raise/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

enum class NormKind { Layer, Rms, L2 };

/// What an expression was found to be.
struct Norm {
  NormKind kind;
  double eps = 0, offset = 0;
  Expr weight = nullptr, bias = nullptr; ///< Elements of vectors, or null.
};

/// An expression as a function of a row and vectors.
struct RowFunction {
  Expr root;                   ///< In terms of elements of the row's tensor, or of an unknown.
  Expr input;                  ///< The row's element at the place of the result.
  Expr source;                 ///< That element as the program has it.
  SmallVector<Expr> vectors;   ///< Elements of vectors at that place.
  SmallVector<double> numbers; ///< Positive constants: what eps may be.
  unsigned axis;               ///< The dim of the last axis, of `size` places.
  int64_t size;
  SmallVector<unsigned> dims; ///< All of the result's.
};

/// Norms of a row as expressions, in f64, as docs of `fovea.layer_norm`, `fovea.rms_norm` and
/// `fovea.l2_norm` say.
class NormFormula {
public:
  NormFormula(Expressions &e, const RowFunction &function)
      : e(e), function(function), type(Float64Type::get(e.getContext())),
        x(e.convert(function.input, type)) {}

  Expr make(const Norm &norm) {
    Expr y = scaled(norm, x, norm.kind == NormKind::Layer ? mean() : nullptr);
    if (norm.weight || norm.offset != 0)
      y = multiply(
          y, add(norm.weight ? e.convert(norm.weight, type) : number(0), number(norm.offset)));
    return norm.bias ? add(y, e.convert(norm.bias, type)) : y;
  }

  /// The sum of the magnitudes of what `make` adds up: what rounding is in proportion to.
  Expr makeSize(const Norm &norm) {
    Expr size = abs(scaled(norm, x, nullptr));
    if (norm.kind == NormKind::Layer)
      size = add(size, abs(scaled(norm, mean(), nullptr)));
    if (norm.weight || norm.offset != 0)
      size = multiply(size, add(norm.weight ? abs(e.convert(norm.weight, type)) : number(0),
                                number(norm.offset)));
    return norm.bias ? add(size, abs(e.convert(norm.bias, type))) : size;
  }

  Expr variance() { return multiply(sumOf(centred()), number(1.0 / double(function.size))); }

private:
  Expr number(double value) { return e.constant(value, type); }
  Expr add(Expr a, Expr b) { return e.compute<arith::AddFOp>(type, {a, b}); }
  Expr multiply(Expr a, Expr b) { return e.compute<arith::MulFOp>(type, {a, b}); }
  Expr subtract(Expr a, Expr b) { return e.compute<arith::SubFOp>(type, {a, b}); }
  Expr divide(Expr a, Expr b) { return e.compute<arith::DivFOp>(type, {a, b}); }
  Expr root(Expr a) { return e.compute<math::SqrtOp>(type, {a}); }
  Expr abs(Expr a) { return e.compute<math::AbsFOp>(type, {a}); }

  /// Sum over the row of a function of its element.
  Expr sumOf(llvm::function_ref<Expr(Expr)> term) {
    if (!row)
      row = e.addDim(getAffineConstantExpr(function.size, e.getContext()));
    llvm::DenseMap<unsigned, Expr> to{{function.axis, e.dim(*row)}};
    return e.reduce(Combiner::Add, *row, term(e.substitute(x, to)));
  }
  std::function<Expr(Expr)> centred() {
    return [this, mean = mean()](Expr element) {
      Expr distance = subtract(element, mean);
      return multiply(distance, distance);
    };
  }
  Expr sumOfSquares() {
    return sumOf([&](Expr element) { return multiply(element, element); });
  }
  Expr mean() {
    return multiply(sumOf([](Expr element) { return element; }),
                    number(1.0 / double(function.size)));
  }

  Expr scaled(const Norm &norm, Expr of, Expr less) {
    if (less)
      of = subtract(of, less);
    switch (norm.kind) {
    case NormKind::Layer:
      return divide(of, root(add(variance(), number(norm.eps))));
    case NormKind::Rms:
      return divide(of, root(add(multiply(sumOfSquares(), number(1.0 / double(function.size))),
                                 number(norm.eps))));
    case NormKind::L2:
      return divide(of,
                    e.compute<arith::MaximumFOp>(type, {root(sumOfSquares()), number(norm.eps)}));
    }
    llvm_unreachable("a norm");
  }

  Expressions &e;
  const RowFunction &function;
  FloatType type;
  Expr x;
  std::optional<unsigned> row;
};

/// All norms that have as many vectors.
SmallVector<Norm> getCandidates(const RowFunction &function) {
  SmallVector<Norm> candidates;
  SmallVector<double> numbers(function.numbers);
  numbers.push_back(0);
  ArrayRef<Expr> v = function.vectors;
  for (double eps : numbers) {
    auto add = [&](NormKind kind, Expr weight, Expr bias, double offset) {
      candidates.push_back({kind, eps, offset, weight, bias});
    };
    if (v.empty()) {
      add(NormKind::Layer, nullptr, nullptr, 0);
      add(NormKind::Rms, nullptr, nullptr, 0);
      add(NormKind::L2, nullptr, nullptr, 0);
      // The least square of the length.
      if (eps != 0)
        candidates.push_back({NormKind::L2, std::sqrt(eps), 0, nullptr, nullptr});
    } else if (v.size() == 1) {
      add(NormKind::Layer, v[0], nullptr, 0);
      add(NormKind::Layer, nullptr, v[0], 0);
      add(NormKind::Rms, v[0], nullptr, 0);
      add(NormKind::Rms, v[0], nullptr, 1);
    } else {
      add(NormKind::Layer, v[0], v[1], 0);
      add(NormKind::Layer, v[1], v[0], 0);
    }
  }
  return candidates;
}

/// Whether rows are the norm's, decided for rows of all sizes: those at which each eps counts, and
/// such with one element far from the others.
class NormClaim {
public:
  NormClaim(Expressions &e, const RowFunction &function)
      : e(e), function(function), formula(e, function) {
    claim.source = function.root;
    claim.dims = function.dims;
    claim.rounding = std::min(function.root->type.getIntOrFloatBitWidth(),
                              function.input->type.getIntOrFloatBitWidth());
    uint64_t seed = 0;
    auto add = [&](SmallVectorImpl<Draw> &rounds, double magnitude) {
      rounds.push_back({++seed, magnitude, magnitude, 0, 0});
    };
    for (double magnitude : {1.0, 1e3, 1e-3, 30.0, 1e-8, 1e8})
      add(claim.rounds, magnitude);
    double length = std::sqrt(double(function.size));
    for (double number : function.numbers)
      for (double magnitude : {std::sqrt(number), std::sqrt(number) / length, number / length})
        for (double factor : {0.3, 3.0})
          add(claim.rounds, magnitude * factor);
    for (int power = -30; power <= 30; power += 3)
      add(claim.steered, std::pow(10.0, power));
    claim.draw = [this](Expr leaf, ArrayRef<int64_t> at, const Draw &how) {
      return draw(leaf, at, how);
    };
    claim.ranges = [this](Expr part) { return getRange(part); };
  }

  Verdict decide(const Norm &norm, double tolerance) {
    claim.formula = formula.make(norm);
    claim.size = formula.makeSize(norm);
    claim.tolerance = tolerance;
    return raise::decide(e, claim);
  }

private:
  std::optional<Number> draw(Expr leaf, ArrayRef<int64_t> at, const Draw &how) {
    bool isRow = leaf->kind == function.input->kind && leaf->tensor == function.input->tensor &&
                 leaf->variable == function.input->variable;
    if (!isa<FloatType>(leaf->type) || !(leaf->tensor || isRow))
      return std::nullopt;
    uint64_t id = leaf->tensor ? e.getNumber(leaf->tensor) : ~uint64_t(0);
    double unit = static_cast<double>(mix(id, how.seed, at) >> 11) * 0x1p-52 - 1;
    if (!isRow) {
      static constexpr double kSizes[] = {1, 1e-2, 1e2};
      return Number{unit * kSizes[mix(id, how.seed) % std::size(kSizes)], 0};
    }
    // Not centred, so that a mean that is left out shows.
    bool isFar = how.seed % 3 == 0 && at.back() == 0; // of the row's places, which stand last
    return Number{how.magnitude * (unit + 0.25) * (isFar ? 40 : 1), 0};
  }

  /// A variance is not negative, also as the mean of squares less the square of the mean.
  std::optional<Interval> getRange(Expr part) {
    if (!part->is<arith::SubFOp>() || part->dependsOn(function.axis))
      return std::nullopt;
    auto [entry, isNew] = variances.try_emplace(part, false);
    if (isNew) {
      Claim isVariance = claim;
      isVariance.source = part;
      isVariance.formula = formula.variance();
      isVariance.size = nullptr;
      isVariance.ranges = nullptr;
      isVariance.tolerance = 1e-6;
      variances[part] = getPiecewise(part).empty() && raise::decide(e, isVariance);
    }
    if (!variances[part])
      return std::nullopt;
    return Interval{0, Interval::kInfinity, false, true, false};
  }

  Expressions &e;
  const RowFunction &function;
  NormFormula formula;
  Claim claim;
  llvm::DenseMap<Expr, bool> variances;
};

/// What keeps an expression from being a formula that it comes near to.
struct Against {
  Verdict verdict;
  NormKind kind = NormKind::Layer;
};

/// The norm that the function is. Constants of narrow floats are rounded, so of several the
/// nearest. What speaks against those that come near goes to `against`, with the norm's kind.
std::optional<Norm> match(Expressions &e, const RowFunction &function, Against &against) {
  NormClaim claim(e, function);
  SmallVector<Norm> candidates = getCandidates(function);
  SmallVector<double> tolerances{1e-6};
  if (double rounding = getTolerance(function.root); rounding > 1e-6)
    tolerances.push_back(rounding);
  for (double tolerance : tolerances)
    for (const Norm &norm : candidates) {
      Verdict verdict = claim.decide(norm, tolerance);
      if (verdict)
        return norm;
      if (verdict.culprit && verdict.kind != Verdict::Unevaluated)
        against = {verdict, norm.kind};
    }
  return std::nullopt;
}

bool isSumOverRow(Expr part, int64_t size, Expressions &e) {
  return part->kind == Node::Kind::Reduce && part->combiner == Combiner::Add &&
         e.getExtent(part->dim) == getAffineConstantExpr(size, e.getContext());
}

/// The number of an unknown that stands for a tensor's elements at these indices, where they are
/// not read place by place: what a view makes of places plays no part. Nothing where they are.
std::optional<unsigned> addUnknown(Expressions &e, Expr part, ArrayRef<Expr> indices) {
  if (llvm::all_of(indices, [](Expr index) {
        return index->isConstant() ||
               (index->kind == Node::Kind::Index && isa<AffineDimExpr>(index->affine));
      }))
    return std::nullopt;
  SmallVector<AffineExpr> sizes =
      llvm::map_to_vector(part->dims.set_bits(), [&](unsigned dim) { return e.getExtent(dim); });
  return e.addVariable(sizes);
}

/// The row's element elsewhere: where the result is, and in each sum.
class RowElements {
public:
  RowElements(Expressions &e, Expr part, unsigned bound)
      : e(e), part(part), bound(bound), home(e.getHome(part)) {
    if (home.first)
      unknown = addUnknown(e, part, home.second);
  }

  bool areOfTensor() const { return static_cast<bool>(home.first); }

  /// Reads the element at `dim` instead of `bound`; its source and what stands for it.
  std::pair<Expr, Expr> readAt(unsigned dim) {
    llvm::DenseMap<unsigned, Expr> to{{bound, e.dim(dim)}};
    SmallVector<Expr> at, places;
    for (Expr index : home.second)
      at.push_back(e.substitute(index, to));
    for (unsigned other : part->dims.set_bits())
      places.push_back(e.dim(other == bound ? dim : other));
    Expr source = e.element(home.first, at);
    Expr element = unknown ? e.variable(*unknown, part->type, places) : source;
    elements[e.substitute(part, to)] = element;
    known.insert(element);
    return {source, element};
  }

  /// `root` of the elements that were read.
  Expr apply(Expr root) { return e.replace(root, elements); }
  bool contains(Expr element) const { return known.contains(element); }

private:
  Expressions &e;
  Expr part;
  unsigned bound;
  std::pair<Value, SmallVector<Expr>> home;
  std::optional<unsigned> unknown;
  llvm::DenseMap<Expr, Expr> elements;
  llvm::DenseSet<Expr> known;
};

/// Whether an element of another tensor is that of a vector along the row.
bool isAlongRow(Expressions &e, Expr element, const RowFunction &function) {
  auto type = cast<RankedTensorType>(element->tensor.getType());
  for (auto [place, index] : llvm::enumerate(element->args)) {
    bool isRow = index == e.dim(function.axis) && type.getDimSize(place) == function.size;
    bool isUnit = index->isConstant() && index->integer == 0 && type.getDimSize(place) == 1;
    if (!isRow && !isUnit)
      return false;
  }
  return element->dependsOn(function.axis) && isa<FloatType>(element->type);
}

/// Collects the numbers and vectors that the function computes with; false if it reads something
/// else, or computes with places.
bool addNumbersAndVectors(Expressions &e, const RowElements &row, RowFunction &function) {
  SmallVector<Expr> parts = getParts(function.root, 256);
  if (parts.size() >= 256)
    return false;
  for (Expr part : parts) {
    if (part->kind == Node::Kind::Index)
      continue; // of an element that is looked at below, or of none
    if (part->isConstant() && part->real) {
      double number = part->real.getValueAsDouble();
      if (number > 0 && std::isfinite(number) && !llvm::is_contained(function.numbers, number))
        function.numbers.push_back(number);
    }
    if (part->kind == Node::Kind::Compute &&
        llvm::any_of(part->args, [](Expr arg) { return arg->kind == Node::Kind::Index; }))
      return false;
    if (part->kind != Node::Kind::Element || row.contains(part))
      continue;
    if (!isAlongRow(e, part, function))
      return false;
    function.vectors.push_back(part);
  }
  return function.vectors.size() <= 2;
}

/// `root` as a function of the rows whose element `part` is within a sum over dim `bound`.
std::optional<RowFunction> asFunctionOf(Expressions &e, Expr root, Expr part, unsigned bound,
                                        unsigned axis, int64_t size) {
  RowElements row(e, part, bound);
  if (!row.areOfTensor())
    return std::nullopt;
  RowFunction function;
  function.axis = axis;
  function.size = size;
  std::tie(function.source, function.input) = row.readAt(axis);
  for (Expr other : getParts(root, 256))
    if (other->kind == Node::Kind::Reduce && other->dim != axis)
      row.readAt(other->dim);
  for (unsigned dim : root->dims.set_bits())
    function.dims.push_back(dim);
  function.root = row.apply(root);
  return addNumbersAndVectors(e, row, function) ? std::optional(function) : std::nullopt;
}

/// Calls `visit` with a tensor's element as each function of rows that it is, until that says true.
bool forEachRowFunction(Expressions &e, Value result, bool &isNested,
                        llvm::function_ref<bool(const RowFunction &)> visit) {
  auto type = cast<RankedTensorType>(result.getType());
  int64_t size = type.getShape().back();
  unsigned axis = type.getRank() - 1;
  Expr root = e.at(result, makeIndices(e, result));
  // What is summed in the innermost sums is the row, or computed from its elements one by one.
  for (Expr sum : getParts(root, 256)) {
    if (!isSumOverRow(sum, size, e))
      continue;
    if (llvm::any_of(getParts(sum->args[0], 256),
                     [&](Expr part) { return isSumOverRow(part, size, e); })) {
      isNested = true;
      continue;
    }
    for (Expr part : getCuts(sum->args[0], [&](Expr leaf) { return leaf->dependsOn(sum->dim); })) {
      if (!isa<FloatType>(part->type) || !part->dependsOn(sum->dim))
        continue;
      std::optional<RowFunction> function = asFunctionOf(e, root, part, sum->dim, axis, size);
      if (function && visit(*function))
        return true;
    }
  }
  return false;
}

bool mayBeNorm(Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  return type.getRank() > 0 && !type.isDynamicDim(type.getRank() - 1) &&
         type.getShape().back() >= 2;
}

struct RaiseNormsPass : fovea::impl::RaiseNormsPassBase<RaiseNormsPass> {
  using RaiseNormsPassBase::RaiseNormsPassBase;

  void runOnOperation() override {
    WeightViews weights(getOperation());
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isElementwise(op))
        ops.push_back(op);
    });
    while (!ops.empty()) {
      bool changed = false;
      nested.clear();
      // The last ones hold the norm with its weight and bias.
      raiseLastFirst(getOperation(), ops, [&](Operation *op) {
        bool raised = raise(op, weights);
        changed |= raised;
        return raised;
      });
      ops.clear();
      // Rows that another norm gave are seen as such once that is raised.
      if (changed)
        getOperation()->walk([&](Operation *op) {
          if (nested.contains(op))
            ops.push_back(op);
        });
    }
  }

private:
  bool raise(Operation *op, WeightViews &weights) {
    Value result = op->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    if (!mayBeNorm(result))
      return false;
    int64_t size = type.getShape().back();
    Expressions e(op->getContext());
    bool isNested = false;
    bool raised = forEachRowFunction(e, result, isNested, [&](const RowFunction &function) {
      Against against;
      std::optional<Norm> norm = match(e, function, against);
      return norm && create(op, e, *norm, function.source, size, weights);
    });
    if (isNested)
      nested.insert(op);
    return raised;
  }

  bool create(Operation *op, Expressions &e, const Norm &norm, Expr row, int64_t size,
              WeightViews &weights) {
    OpBuilder builder(op);
    Value result = op->getResult(0);
    Location loc = op->getLoc();
    Value input = getTensor(e, builder, row, result);
    if (!input || input == result)
      return false;
    auto getVector = [&](Expr element) -> Value {
      if (!element || cast<RankedTensorType>(element->tensor.getType()).getRank() == 1)
        return element ? element->tensor : Value();
      if (std::optional<WeightView> view = weights.find(element->tensor))
        return weights.materialize(builder, loc, view->reshape({size}));
      ReassociationIndices all;
      for (unsigned axis = 0; axis < element->args.size(); ++axis)
        all.push_back(axis);
      return tensor::CollapseShapeOp::create(builder, loc, element->tensor,
                                             ArrayRef<ReassociationIndices>{all});
    };
    Value weight = getVector(norm.weight), bias = getVector(norm.bias), raised;
    FloatAttr eps = builder.getF64FloatAttr(norm.eps);
    switch (norm.kind) {
    case NormKind::Layer:
      raised = LayerNormOp::create(builder, loc, result.getType(), input, weight, bias, eps);
      ++numLayerNorms;
      break;
    case NormKind::Rms:
      raised = RmsNormOp::create(builder, loc, result.getType(), input, weight, eps,
                                 builder.getF64FloatAttr(norm.offset));
      ++numRmsNorms;
      break;
    case NormKind::L2:
      raised = L2NormOp::create(builder, loc, result.getType(), input, eps);
      ++numL2Norms;
      break;
    }
    result.replaceAllUsesWith(raised);
    return true;
  }

  llvm::DenseSet<Operation *> nested; ///< with sums of sums over the row
};
} // namespace

SmallVector<NearMiss> mlir::fovea::findNearNorms(ModuleOp module) {
  SmallVector<NearMiss> found;
  llvm::DenseSet<Operation *> told;
  module.walk([&](Operation *op) {
    if (!isElementwise(op) || !mayBeNorm(op->getResult(0)))
      return;
    Expressions e(op->getContext());
    bool isNested;
    forEachRowFunction(e, op->getResult(0), isNested, [&](const RowFunction &function) {
      Against against;
      if (match(e, function, against) || !against.verdict.culprit)
        return false;
      Operation *culprit = e.getOrigin(against.verdict.culprit);
      if (!told.insert(culprit).second)
        return false;
      static constexpr const char *kNames[] = {"layer_norm", "rms_norm", "l2_norm"};
      found.push_back({op, kNames[static_cast<int>(against.kind)], describe(e, against.verdict)});
      return true;
    });
  });
  return found;
}
