// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalisations over the last axis, found by what they compute: an element's expression is
// evaluated on random rows and compared with each formula. Refuses other axes, and what depends on
// more than one row and two vectors.
#include "passes/Raise/Identity.h"
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
  double distance = 0;                   ///< The greatest seen.
};

/// An expression as a function of a row and vectors.
struct RowFunction {
  Expr root;                   ///< In terms of elements of the row's tensor.
  Expr input;                  ///< The row's element at the place of the result.
  SmallVector<Expr> vectors;   ///< Elements of vectors at that place.
  SmallVector<double> numbers; ///< Small constants: what eps may be.
  unsigned axis;               ///< The dim of the last axis, of `size` places.
  int64_t size;
};

/// One row of numbers and the norm's value on it.
class Row {
public:
  explicit Row(ArrayRef<double> x) : x(x) {
    for (double value : x) {
      mean += value / x.size();
      squares += value * value;
    }
    for (double value : x)
      variance += (value - mean) * (value - mean) / x.size();
  }

  /// As docs of `fovea.layer_norm`, `fovea.rms_norm` and `fovea.l2_norm` say.
  double apply(const Norm &norm, int64_t place, double weight, double bias) const {
    switch (norm.kind) {
    case NormKind::Layer:
      return (x[place] - mean) / std::sqrt(variance + norm.eps) * weight + bias;
    case NormKind::Rms:
      return x[place] / std::sqrt(squares / x.size() + norm.eps) * (weight + norm.offset);
    case NormKind::L2:
      return x[place] / std::max(std::sqrt(squares), norm.eps);
    }
    llvm_unreachable("a norm");
  }

private:
  ArrayRef<double> x;
  double mean = 0, variance = 0, squares = 0;
};

/// All norms that have as many vectors.
SmallVector<Norm> getCandidates(const RowFunction &function) {
  SmallVector<Norm> candidates;
  SmallVector<double> numbers(function.numbers);
  numbers.push_back(0);
  ArrayRef<Expr> v = function.vectors;
  for (double eps : numbers) {
    auto add = [&](NormKind kind, Expr weight, Expr bias, double offset) {
      candidates.push_back({kind, eps, offset, weight, bias, 0});
    };
    if (v.empty()) {
      add(NormKind::Layer, nullptr, nullptr, 0);
      add(NormKind::Rms, nullptr, nullptr, 0);
      add(NormKind::L2, nullptr, nullptr, 0);
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

/// The norm that the function is on random rows. Rows are drawn at sizes where each eps counts.
std::optional<Norm> match(Expressions &e, const RowFunction &function) {
  SmallVector<Norm> candidates = getCandidates(function);
  double tolerance = getTolerance(function.root);
  SmallVector<double> scales{1};
  for (double eps : function.numbers) {
    scales.push_back(std::sqrt(eps));
    scales.push_back(eps / 2 / std::sqrt(static_cast<double>(function.size)));
  }
  uint64_t seed = 1;
  for (double scale : scales) {
    Evaluator evaluator(e, ++seed), drawn(e, seed);
    evaluator.given = [&](Value tensor, ArrayRef<int64_t> at) -> std::optional<Number> {
      if (tensor != function.input->tensor)
        return std::nullopt;
      // Not centred, so that a mean that is left out shows.
      llvm::hash_code bits = llvm::hash_combine(seed, llvm::hash_combine_range(at));
      return Number{scale * (static_cast<double>(bits % 1000003) / 600000 - 0.5), 0};
    };
    auto valueAt = [&](Expr expr, int64_t place) {
      evaluator.place.assign(e.getNumDims(), 0);
      evaluator.place[function.axis] = place;
      return evaluator.evaluateReal(expr);
    };
    SmallVector<double> x;
    for (int64_t place = 0; place < function.size; ++place) {
      std::optional<double> value = valueAt(function.input, place);
      if (!value)
        return std::nullopt;
      x.push_back(*value);
    }
    Row row(x);
    for (int64_t place : {int64_t(0), int64_t(1), function.size / 2, function.size - 1}) {
      std::optional<double> y = valueAt(function.root, place);
      if (!y)
        return std::nullopt;
      llvm::erase_if(candidates, [&](Norm &norm) {
        double weight = norm.weight ? *valueAt(norm.weight, place) : norm.offset == 0 ? 1 : 0;
        double bias = norm.bias ? *valueAt(norm.bias, place) : 0;
        double wanted = row.apply(norm, place, weight, bias);
        double distance = std::abs(*y - wanted) / std::max(1.0, std::abs(wanted));
        norm.distance = std::max(norm.distance, distance);
        return !(distance <= tolerance);
      });
      if (candidates.empty())
        return std::nullopt;
    }
  }
  return *llvm::min_element(candidates,
                            [](const Norm &a, const Norm &b) { return a.distance < b.distance; });
}

bool isSumOverRow(Expr part, int64_t size, Expressions &e) {
  return part->kind == Node::Kind::Reduce && part->combiner == Combiner::Add &&
         e.getExtent(part->dim) == getAffineConstantExpr(size, e.getContext());
}

/// `root` as a function of the rows whose element `part` is within a sum over dim `bound`.
std::optional<RowFunction> asFunctionOf(Expressions &e, Expr root, Expr part, unsigned bound,
                                        unsigned axis, int64_t size) {
  auto [home, indices] = e.getHome(part);
  if (!home)
    return std::nullopt;
  RowFunction function;
  function.axis = axis;
  function.size = size;
  // The same element elsewhere in the row: where the result is, and in each sum.
  llvm::DenseMap<Expr, Expr> elements;
  llvm::DenseSet<Expr> known;
  SmallVector<unsigned> dims{axis};
  for (Expr other : getParts(root, 256))
    if (other->kind == Node::Kind::Reduce)
      dims.push_back(other->dim);
  for (unsigned dim : dims) {
    llvm::DenseMap<unsigned, Expr> to{{bound, e.dim(dim)}};
    SmallVector<Expr> at;
    for (Expr index : indices)
      at.push_back(e.substitute(index, to));
    Expr element = e.element(home, at);
    elements[e.substitute(part, to)] = element;
    known.insert(element);
    if (dim == axis)
      function.input = element;
  }
  function.root = e.replace(root, elements);
  SmallVector<Expr> parts = getParts(function.root, 256);
  if (parts.size() >= 256)
    return std::nullopt;
  for (Expr other : parts) {
    if (other->kind == Node::Kind::Index)
      continue; // of an element that is looked at below, or of none
    if (other->isConstant() && other->real) {
      double number = other->real.getValueAsDouble();
      if (number > 0 && number <= 0.5)
        function.numbers.push_back(number);
    }
    if (other->kind == Node::Kind::Compute &&
        llvm::any_of(other->args, [](Expr arg) { return arg->kind == Node::Kind::Index; }))
      return std::nullopt;
    if (other->kind != Node::Kind::Element || known.contains(other))
      continue;
    // A vector along the row.
    auto type = cast<RankedTensorType>(other->tensor.getType());
    for (auto [place, index] : llvm::enumerate(other->args)) {
      bool isRow = index == e.dim(axis) && type.getDimSize(place) == size;
      bool isUnit = index->isConstant() && index->integer == 0 && type.getDimSize(place) == 1;
      if (!isRow && !isUnit)
        return std::nullopt;
    }
    if (!other->dependsOn(axis) || !isa<FloatType>(other->type))
      return std::nullopt;
    function.vectors.push_back(other);
  }
  if (function.vectors.size() > 2)
    return std::nullopt;
  return function;
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
    if (type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1) || type.getShape().back() < 2)
      return false;
    int64_t size = type.getShape().back();
    unsigned axis = type.getRank() - 1;
    Expressions e(op->getContext());
    Expr root = e.at(result, makeIndices(e, result));
    // What is summed in the innermost sums is the row, or computed from its elements one by one.
    for (Expr sum : getParts(root, 256)) {
      if (!isSumOverRow(sum, size, e))
        continue;
      if (llvm::any_of(getParts(sum->args[0], 256),
                       [&](Expr part) { return isSumOverRow(part, size, e); })) {
        nested.insert(op);
        continue;
      }
      for (Expr part :
           getCuts(sum->args[0], [&](Expr leaf) { return leaf->dependsOn(sum->dim); })) {
        if (!isa<FloatType>(part->type) || !part->dependsOn(sum->dim))
          continue;
        std::optional<RowFunction> function = asFunctionOf(e, root, part, sum->dim, axis, size);
        std::optional<Norm> norm = function ? match(e, *function) : std::nullopt;
        if (norm && create(op, e, *norm, function->input, size, weights))
          return true;
      }
    }
    return false;
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
