// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary position embeddings, found by what they compute. A pair of elements is evaluated at single
// positions: what it gives for (1, 0) and (0, 1) says by which angle it turns, the angles at
// position one are the frequencies, and theta is read off these. All pairs and some positions, far
// ones too, are then compared with the formula. Refuses what turns by other frequencies than
// powers of one number (over a constant factor), and what scales.
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Equivalence.h"
#include "passes/Raise/Identity.h"
#include "passes/Raise/Passes.h"
#include <cmath>

namespace mlir::fovea {
#define GEN_PASS_DEF_RAISEROPEPASS
#include "passes/Raise/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

/// An expression with products of one summand (frequency by position, as exporters write it) seen
/// through.
Expr expandOuterProducts(Expressions &e, Expr root) {
  for (int round = 0; round < 4; ++round) {
    llvm::DenseMap<Expr, Expr> parts;
    for (Expr part : getParts(root, 512)) {
      if (part->kind != Node::Kind::Element)
        continue;
      Expr product = e.product(part->tensor, part->args);
      if (product && product->kind != Node::Kind::Reduce)
        parts[part] = product;
    }
    if (parts.empty())
      return root;
    root = e.replace(root, parts);
  }
  return root;
}

bool isConstantTable(Expr expr) {
  DenseElementsAttr table;
  return expr->kind == Node::Kind::Element && matchPattern(expr->tensor, m_Constant(&table)) &&
         isa<FloatType>(table.getElementType());
}

/// An index of an axis without what only matters outside of it: negative ones count from the end,
/// and it is kept inside. Each is looked through once: more is the source's own.
Expr stripWrap(Expr index, int64_t size) {
  auto isNumber = [](Expr expr, int64_t number) {
    return expr->isConstant() && !expr->real && expr->integer == number;
  };
  bool isCut = false, isKept = false;
  while (true) {
    index = stripIntegerCasts(index);
    if (index->is<arith::MaxSIOp>() && isNumber(index->args[1], 0) && !isKept) {
      index = index->args[0];
      isKept = true;
      continue;
    }
    if (index->is<arith::MinSIOp>() && isNumber(index->args[1], size - 1) && !isCut) {
      index = index->args[0];
      isCut = true;
      continue;
    }
    if (!index->is<arith::SelectOp>())
      return index;
    Expr condition = index->args[0], wrapped = index->args[1], inside = index->args[2];
    bool wraps = condition->is<arith::CmpIOp>() &&
                 getPredicate(condition) == arith::CmpIPredicate::slt &&
                 condition->args[0] == inside && isNumber(condition->args[1], 0) &&
                 wrapped->is<arith::AddIOp>() && wrapped->args[0] == inside &&
                 isNumber(wrapped->args[1], size);
    return wraps ? stripIntegerCasts(inside) : index;
  }
}

/// What an op was found to be.
struct Rotation {
  RopePairing pairing;
  int64_t dim;  ///< Elements of a head that turn.
  Value tensor; ///< What is turned, read at `indices` with the head's element as dim.
  SmallVector<Expr> indices;
  Expr position; ///< An integer.
  double theta = 0, factor = 1;
};

/// The two elements of pair `i` as expressions of the pair, and what they are made of.
class Pairs {
public:
  Pairs(Expressions &e, Expr root, unsigned axis, RopePairing pairing, int64_t dim)
      : e(e), axis(axis) {
    MLIRContext *context = e.getContext();
    pair = e.addDim(getAffineConstantExpr(dim / 2, context));
    AffineExpr i = getAffineDimExpr(pair, context);
    bool half = pairing == RopePairing::Half;
    place[0] = half ? i : i * 2;
    place[1] = half ? i + dim / 2 : i * 2 + 1;
    for (int side : {0, 1}) {
      llvm::DenseMap<unsigned, Expr> to{{axis, e.index(place[side])}};
      turned[side] = expandOuterProducts(e, e.substitute(root, to));
    }
  }

  /// Finds the two elements that turn, and the position; whether there is nothing else.
  bool sort(Rotation &rotation) {
    SmallVector<Expr> found;
    for (int side : {0, 1})
      for (Expr part : getParts(turned[side], 512)) {
        if (part->kind == Node::Kind::Compute && !part->is<arith::SIToFPOp, arith::UIToFPOp>())
          continue;
        if (part->kind == Node::Kind::Compute) {
          if (!addPosition(part->args[0]))
            return false;
          continue;
        }
        if (part->kind != Node::Kind::Element || !isa<FloatType>(part->type))
          continue;
        if (isConstantTable(part)) {
          auto shape = cast<RankedTensorType>(part->tensor.getType()).getShape();
          for (auto [index, size] : llvm::zip_equal(part->args, shape))
            if (!index->isConstant() && !isOfPair(index)) {
              if (!addPosition(stripWrap(index, size)))
                return false;
              rows = std::min(rows, size);
            }
          continue;
        }
        if (!llvm::is_contained(found, part))
          found.push_back(part);
      }
    if (found.size() != 2 || !position || found[0]->tensor != found[1]->tensor)
      return false;
    if (!areApart(found[0], found[1]))
      std::swap(found[0], found[1]);
    if (!areApart(found[0], found[1]))
      return false;
    elements[0] = found[0];
    elements[1] = found[1];
    rotation.tensor = found[0]->tensor;
    // The indices with the head's element where the pair's first one was.
    for (auto [first, second] : llvm::zip(elements[0]->args, elements[1]->args))
      rotation.indices.push_back(first == second
                                     ? first
                                     : e.index(e.simplify(first->affine - place[0] +
                                                          getAffineDimExpr(axis, e.getContext()))));
    rotation.position = position;
    return true;
  }

  /// How pair `i` turns at position `p`: what (x, 0) and (0, x) give, and thus the angle and the
  /// scale. Nothing if that is no rotation.
  std::optional<std::pair<double, double>> turn(int64_t i, int64_t p) {
    double matrix[2][2];
    for (int input : {0, 1})
      for (int side : {0, 1}) {
        llvm::DenseMap<Expr, Expr> parts;
        for (int element : {0, 1})
          parts[elements[element]] =
              e.constant(element == input ? 1.0 : 0.0, cast<FloatType>(elements[0]->type));
        std::optional<double> value = evaluateAt(e.replace(turned[side], parts), i, p);
        if (!value)
          return std::nullopt;
        matrix[side][input] = *value;
      }
    double scale = std::hypot(matrix[0][0], matrix[1][0]);
    if (std::abs(matrix[0][0] - matrix[1][1]) > 1e-5 * scale ||
        std::abs(matrix[0][1] + matrix[1][0]) > 1e-5 * scale)
      return std::nullopt;
    return std::make_pair(std::atan2(matrix[1][0], matrix[0][0]), scale);
  }

  /// Whether each pair turns at each position as the formula says: all that is in the way of that
  /// is accounted for, and each row of a table is looked at.
  bool isRotation(double theta, double factor) {
    count = getInteger(e.getExtent(pair)).value_or(1);
    for (int side : {0, 1})
      for (Expr part : getParts(turned[side], 512))
        if (isConstantTable(part) && !isTableOfAngles(part, theta, factor))
          return false;
    for (int side : {0, 1})
      if (!decide(e, makeClaim(side, theta, factor)))
        return false;
    return true;
  }

private:
  Expr number(double value) {
    FloatType wide = Float64Type::get(e.getContext());
    return e.constant(value, wide);
  }
  template <typename OpT> Expr apply(ArrayRef<Expr> args) {
    return e.compute<OpT>(Float64Type::get(e.getContext()), args);
  }

  /// Position times frequency of the pair.
  Expr makeAngle(double theta, double factor) {
    Expr p = apply<arith::SIToFPOp>({position});
    Expr i = apply<arith::SIToFPOp>({e.index(getAffineDimExpr(pair, e.getContext()))});
    Expr power = apply<arith::MulFOp>({i, number(-std::log(theta) / double(count))});
    return apply<arith::MulFOp>(
        {p, apply<arith::DivFOp>({apply<math::ExpOp>({power}), number(factor)})});
  }

  Claim makeClaim(int side, double theta, double factor) {
    FloatType wide = Float64Type::get(e.getContext());
    Expr x = e.convert(elements[side], wide), other = e.convert(elements[1 - side], wide);
    Expr angle = makeAngle(theta, factor), sine = apply<math::SinOp>({angle});
    Expr turnedBy = apply<arith::MulFOp>({other, side == 0 ? apply<arith::NegFOp>({sine}) : sine});
    Claim claim;
    claim.source = turned[side];
    claim.formula =
        apply<arith::AddFOp>({apply<arith::MulFOp>({x, apply<math::CosOp>({angle})}), turnedBy});
    // Constants are of f32, so angles are inexact by their own size.
    claim.tolerance = 1e-5;
    Expr slack = apply<arith::AddFOp>({number(1), apply<arith::MulFOp>({angle, number(0.2)})});
    Expr terms = apply<arith::AddFOp>({apply<math::AbsFOp>({x}), apply<math::AbsFOp>({other})});
    claim.size = apply<arith::MulFOp>({terms, slack});
    claim.rounding = elements[0]->type.getIntOrFloatBitWidth();
    for (unsigned dim = 0; dim < e.getNumDims(); ++dim)
      if (turned[side]->dependsOn(dim) || position->dependsOn(dim))
        claim.dims.push_back(dim);
    uint64_t seed = 0;
    for (int64_t stretch : {0, 0, 0, 0, 60, 700, 4200, 33'000, 140'000})
      claim.rounds.push_back({++seed, 1, 1, 0, stretch});
    for (int64_t stretch = 0; stretch < 300; stretch += 7)
      claim.steered.push_back({++seed, 1, 1, 0, stretch});
    claim.isScalable = false;
    claim.draw = [this](Expr leaf, ArrayRef<int64_t> at, const Draw &how) -> std::optional<Number> {
      if (leaf != position && (!leaf->tensor || leaf->tensor != position->tensor))
        return std::nullopt;
      uint64_t bits = mix(how.seed, leaf->args.size(), at) >> 11;
      return Number{0, static_cast<int64_t>(bits % uint64_t(std::min(how.stretch + 12, rows)))};
    };
    // Positions are not negative, and inside of tables that they are read from.
    claim.ranges = [this](Expr part) -> std::optional<Interval> {
      bool isSame = part == position ||
                    (part->kind == Node::Kind::Index && part->getAffine() == position->getAffine());
      if (!isSame)
        return std::nullopt;
      bool isOpen = rows == kAnyRows;
      return Interval{0, isOpen ? Interval::kInfinity : double(rows - 1), false, isOpen, false};
    };
    return claim;
  }

  /// Whether a table holds, in the columns of each pair, cosines or sines of all its positions, or
  /// the angles themselves.
  bool isTableOfAngles(Expr element, double theta, double factor) {
    DenseElementsAttr table;
    matchPattern(element->tensor, m_Constant(&table));
    ArrayRef<int64_t> shape = table.getType().getShape();
    // One axis goes with the position, one perhaps with the pair.
    std::optional<unsigned> rows;
    for (auto [axis, index] : llvm::enumerate(element->args)) {
      if (index->isConstant() || isOfPair(index))
        continue;
      if (rows)
        return false;
      rows = axis;
    }
    auto values = table.getValues<APFloat>();
    // Where each pair is read along the other axes.
    std::vector<SmallVector<Number>> columns(count);
    for (int64_t i = 0; i < count; ++i)
      for (auto [axis, index] : llvm::enumerate(element->args)) {
        Evaluator evaluate(e, 1);
        evaluate.place.assign(e.getNumDims(), 0);
        evaluate.place[pair] = i;
        std::optional<Number> at = rows && axis == *rows ? Number{0, 0} : evaluate.evaluate(index);
        if (!at)
          return false;
        columns[i].push_back(*at);
      }
    auto valueAt = [&](int64_t pairNumber, int64_t row) -> std::optional<double> {
      int64_t place = 0;
      for (auto [axis, index] : llvm::enumerate(element->args)) {
        std::optional<Number> at =
            rows && axis == *rows ? Number{0, row} : std::optional(columns[pairNumber][axis]);
        if (!at || at->integer < 0 || at->integer >= shape[axis])
          return std::nullopt;
        place = place * shape[axis] + at->integer;
      }
      return values[place].convertToDouble();
    };
    if (!rows)
      return true; // frequencies, say: no positions, so what is tested is all there is
    using F = double (*)(double);
    F functions[] = {[](double x) { return std::cos(x); }, [](double x) { return std::sin(x); },
                     [](double x) { return -std::sin(x); }, [](double x) { return x; }};
    return llvm::any_of(functions, [&](F function) {
      for (int64_t i = 0; i < count; ++i) {
        double frequency = std::pow(theta, -double(i) / double(count)) / factor;
        for (int64_t row = 0; row < shape[*rows]; ++row) {
          double angle = double(row) * frequency;
          std::optional<double> value = valueAt(i, row);
          if (!value || !(std::abs(*value - function(angle)) <= 1e-5 + 2e-6 * angle))
            return false;
        }
      }
      return true;
    });
  }

  bool isOfPair(Expr index) {
    for (unsigned dim = 0; dim < e.getNumDims(); ++dim)
      if (dim != pair && index->dependsOn(dim))
        return false;
    return index->kind == Node::Kind::Index &&
           (index->dependsOn(pair) || !index->affine.isSymbolicOrConstant());
  }

  bool addPosition(Expr expr) {
    expr = stripIntegerCasts(expr);
    if (expr->isConstant() || expr->dependsOn(pair) ||
        (expr->kind != Node::Kind::Index && expr->kind != Node::Kind::Element))
      return expr->isConstant() || isOfPair(expr);
    if (position && position != expr)
      return false;
    position = expr;
    return true;
  }

  /// Whether two elements differ in one index, by as much as the pair's places, and only there
  /// depend on the pair.
  bool areApart(Expr first, Expr second) {
    unsigned apart = 0;
    for (auto [a, b] : llvm::zip_equal(first->args, second->args)) {
      if (a == b && !a->dependsOn(pair))
        continue;
      if (a->kind != Node::Kind::Index || b->kind != Node::Kind::Index ||
          e.simplify(b->affine - a->affine - (place[1] - place[0])) !=
              getAffineConstantExpr(0, e.getContext()) ||
          e.simplify(a->affine - place[0]).isFunctionOfDim(pair))
        return false;
      ++apart;
    }
    return apart == 1;
  }

  std::optional<double> evaluateAt(Expr expr, int64_t i, int64_t p) {
    Evaluator evaluator(e, /*seed=*/1);
    evaluator.place.assign(e.getNumDims(), 0);
    evaluator.place[pair] = i;
    if (position->kind == Node::Kind::Element) {
      evaluator.given = [&](Expr leaf, ArrayRef<int64_t>) -> std::optional<Number> {
        if (leaf->tensor != position->tensor)
          return std::nullopt;
        return Number{0, p};
      };
    } else {
      // Along the one dim that it depends on, from where it begins.
      int64_t first = evaluator.evaluate(position->affine);
      for (unsigned dim = 0; dim < e.getNumDims(); ++dim)
        if (position->dependsOn(dim))
          evaluator.place[dim] = p - first;
      if (evaluator.evaluate(position->affine) != p)
        return std::nullopt;
    }
    return evaluator.evaluateReal(expr);
  }

  Expressions &e;
  unsigned axis, pair;
  AffineExpr place[2];
  Expr turned[2];
  Expr elements[2] = {nullptr, nullptr};
  Expr position = nullptr;
  int64_t count = 1; ///< of pairs
  static constexpr int64_t kAnyRows = int64_t(1) << 40;
  int64_t rows = kAnyRows; ///< positions in the smallest table
};

/// The number that people write for one that was rounded to f32.
double roundToShort(double value) {
  for (int digits = 1; digits < 9; ++digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    double shorter = std::strtod(text, nullptr);
    if (std::abs(shorter - value) <= 2e-6 * value)
      return shorter;
  }
  return value;
}

/// Reads theta and a linear factor off the angles, and checks them everywhere.
bool measure(Pairs &pairs, Rotation &rotation) {
  int64_t count = rotation.dim / 2;
  SmallVector<double> frequencies;
  for (int64_t i = 0; i < count; ++i) {
    auto turned = pairs.turn(i, 1);
    if (!turned || !(turned->first > 0) || std::abs(turned->second - 1) > 1e-5)
      return false;
    frequencies.push_back(turned->first);
  }
  rotation.factor = roundToShort(1 / frequencies[0]);
  // The last pair is the most exact. One pair alone turns by one, whatever theta is.
  if (count == 1)
    rotation.theta = 10000;
  else
    rotation.theta = roundToShort(
        std::pow(frequencies.back() * rotation.factor, -double(count) / double(count - 1)));
  if (!std::isfinite(rotation.theta) || rotation.theta <= 1 || !(rotation.factor > 0))
    return false;
  return pairs.isRotation(rotation.theta, rotation.factor);
}

struct RaiseRopePass : fovea::impl::RaiseRopePassBase<RaiseRopePass> {
  using RaiseRopePassBase::RaiseRopePassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) ||
          !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
        return;
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (isa<arith::AddFOp, arith::SubFOp, tensor::ConcatOp, tensor::CollapseShapeOp,
              tensor::InsertSliceOp>(op) ||
          (generic && generic.getNumLoops() == generic.getNumParallelLoops()))
        ops.push_back(op);
    });
    // The last ones hold the elements that do not turn.
    raiseLastFirst(getOperation(), ops, [&](Operation *op) { return raise(op); });
  }

private:
  bool raise(Operation *op) {
    Value result = op->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getRank() < 2 || type.getRank() > 4 || type.isDynamicDim(type.getRank() - 1))
      return false;
    int64_t size = type.getShape().back();
    if (size < 2 || size > 1024)
      return false;
    Expressions e(op->getContext());
    SmallVector<Expr> indices = makeIndices(e, result);
    Expr root = e.at(result, indices);
    // It must turn by something.
    bool turns = llvm::any_of(getParts(root, 512), [](Expr part) {
      return part->is<math::CosOp, math::SinOp>() || isConstantTable(part);
    });
    if (!turns)
      return false;
    unsigned axis = type.getRank() - 1;
    for (RopePairing pairing : {RopePairing::Half, RopePairing::Interleaved})
      for (int64_t dim : getDims(e, root, axis, size)) {
        Rotation rotation;
        rotation.pairing = pairing;
        rotation.dim = dim;
        Pairs pairs(e, root, axis, pairing, dim);
        if (pairs.sort(rotation) && keepsTheRest(e, root, axis, size, rotation) &&
            measure(pairs, rotation) && create(e, op, rotation))
          return true;
      }
    return false;
  }

  /// How many elements may turn: all, or up to where the head is divided.
  static SmallVector<int64_t> getDims(Expressions &e, Expr root, unsigned axis, int64_t size) {
    SmallVector<int64_t> dims;
    auto add = [&](int64_t dim) {
      if (dim > 1 && dim <= size && dim % 2 == 0 && !llvm::is_contained(dims, dim))
        dims.push_back(dim);
    };
    add(size);
    for (Expr part : getParts(root, 512)) {
      if (!part->is<arith::CmpIOp>())
        continue;
      for (Expr arg : part->args) {
        if (arg->isConstant() && !arg->real)
          add(arg->integer);
      }
    }
    return dims;
  }

  /// Whether elements past `dim` are the tensor's own.
  static bool keepsTheRest(Expressions &e, Expr root, unsigned axis, int64_t size,
                           const Rotation &rotation) {
    if (rotation.dim == size)
      return true;
    MLIRContext *context = e.getContext();
    unsigned rest = e.addDim(getAffineConstantExpr(size - rotation.dim, context));
    Expr place = e.index(getAffineDimExpr(rest, context) + rotation.dim);
    llvm::DenseMap<unsigned, Expr> to{{axis, place}};
    SmallVector<Expr> indices =
        llvm::map_to_vector(rotation.indices, [&](Expr index) { return e.substitute(index, to); });
    return e.substitute(root, to) == e.element(rotation.tensor, indices);
  }

  bool create(Expressions &e, Operation *op, const Rotation &rotation) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value result = op->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    MLIRContext *context = op->getContext();
    unsigned last = type.getRank() - 1;
    // Which axis is the batch, which the sequence: positions run along the sequence, and along the
    // batch only if they are given for each row.
    SmallVector<unsigned> running;
    for (unsigned axis = 0; axis < last; ++axis)
      if (rotation.position->dependsOn(axis))
        running.push_back(axis);
    if (rotation.position->dependsOn(last) || running.empty() || running.size() > 2)
      return false;
    Axis batch, sequence{running.back()}, head;
    if (running.size() == 2)
      batch = {running.front()};
    for (unsigned axis = 0; axis < last; ++axis) {
      if (axis == sequence[0] || (!batch.empty() && axis == batch[0]))
        continue;
      // The first that is left is the batch, if it is not static where another is.
      if (batch.empty() && running.size() == 1 &&
          (axis == 0 && (last == 3 || type.isDynamicDim(axis))))
        batch = {axis};
      else if (head.empty())
        head = {axis};
      else
        return false;
    }
    SmallVector<Axis> own = makeAxes(type.getShape());
    if (!batch.empty())
      batch = own[batch[0]];
    if (!head.empty())
      head = own[head[0]];
    SmallVector<Axis> wanted{batch, sequence, head, {last}};
    // Heads are static.
    if (!head.empty() && type.isDynamicDim(head[0]))
      return false;
    Value x = layOut(e, builder, loc, rotation.tensor, rotation.indices, wanted);
    Value positions =
        x ? getPositions(e, builder, loc, rotation.position, batch, sequence, result) : Value();
    auto xType = x ? dyn_cast<RankedTensorType>(x.getType()) : RankedTensorType();
    if (!positions || xType.getElementType() != type.getElementType())
      return false;
    RopeScalingAttr scaling;
    if (rotation.factor != 1)
      scaling = RopeScalingAttr::get(context, RopeScalingKind::Linear,
                                     builder.getF64FloatAttr(rotation.factor), 0, {}, {}, {}, true,
                                     {}, {});
    Value turned = RopeOp::create(
        builder, loc, xType, x, positions, RopePairingAttr::get(context, rotation.pairing),
        builder.getI64IntegerAttr(rotation.dim), builder.getF64FloatAttr(rotation.theta), scaling);
    Value raised = rearrange(e, builder, loc, turned, wanted, own);
    if (!raised)
      return false;
    if (raised.getType() != type)
      raised = tensor::CastOp::create(builder, loc, type, raised);
    result.replaceAllUsesWith(raised);
    ++numRopes;
    return true;
  }

  static Value getPositions(Expressions &e, OpBuilder &builder, Location loc, Expr position,
                            const Axis &batch, const Axis &sequence, Value result) {
    MLIRContext *context = e.getContext();
    auto type = cast<RankedTensorType>(result.getType());
    if (position->kind == Node::Kind::Element) {
      bool perRow = !batch.empty() && position->dependsOn(batch[0]);
      Value given = layOut(e, builder, loc, position->tensor, position->args,
                           {perRow ? batch : Axis(), sequence});
      auto givenType = given ? cast<RankedTensorType>(given.getType()) : RankedTensorType();
      if (!given || !givenType.getElementType().isInteger())
        return {};
      return toElementType(builder, loc, given, builder.getI32Type());
    }
    AffineExpr first = e.simplify(position->affine - getAffineDimExpr(sequence[0], context));
    if (!first.isSymbolicOrConstant())
      return {};
    Value start = e.materialize(builder, loc, first), count;
    if (type.isDynamicDim(sequence[0]))
      count = e.materialize(builder, loc, e.getExtent(sequence[0]));
    if (!start)
      return {};
    return PositionsOp::create(
        builder, loc,
        RankedTensorType::get({1, type.getDimSize(sequence[0])}, builder.getI32Type()), start,
        count);
  }
};
} // namespace
