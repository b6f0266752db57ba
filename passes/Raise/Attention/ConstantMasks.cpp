// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks that are read from a constant matrix, which is what an exporter that knows all sizes makes
// of any mask of places: bands, lengths, blocks, every n-th key, prefixes and global tokens. A
// matrix is what its formula says in each place; one that has no formula stays dense.
#include "passes/Elements/Evaluate.h"
#include "passes/Elements/Predicates.h"
#include "passes/Raise/Attention/PlaceRules.h"
#include "passes/Raise/Attention/Score.h"
#include <unordered_map>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {
/// Where a matrix is read: at row i + a and column j + b. What only one of them counts along is a
/// matrix of one row, without an index of it.
struct Reading {
  AffineExpr row, column;
  unsigned rowAxis = 0, columnAxis = 0;
};
} // namespace

/// The one element that a predicate of it and constants is of; null if there is none.
static Expr getOnlyElement(Expr predicate) {
  Expr element = predicate;
  while (element->kind == Node::Kind::Compute) {
    Expr next = nullptr;
    for (Expr arg : element->args)
      if (!arg->isConstant()) {
        if (next)
          return {};
        next = arg;
      }
    if (!next)
      return {};
    element = next;
  }
  return element->kind == Node::Kind::Element ? element : Expr();
}

static std::optional<Reading> getReading(Expressions &e, Expr element, unsigned query,
                                         unsigned key) {
  Reading reading;
  for (auto [axis, index] : llvm::enumerate(element->args)) {
    AffineExpr affine = index->getAffine();
    bool ofQuery = index->dependsOn(query), ofKey = index->dependsOn(key);
    if (!affine || (ofQuery && ofKey) || (!ofQuery && !ofKey && !index->isConstant()))
      return std::nullopt;
    if (!ofQuery && !ofKey)
      continue;
    AffineExpr &place = ofQuery ? reading.row : reading.column;
    if (place)
      return std::nullopt;
    place = affine;
    (ofQuery ? reading.rowAxis : reading.columnAxis) = axis;
  }
  if (!reading.row && !reading.column)
    return std::nullopt;
  if ((reading.column && e.getFactor(reading.column, key) != 1) ||
      (reading.row && e.getFactor(reading.row, query) != 1))
    return std::nullopt;
  if (!reading.column) {
    std::swap(reading.row, reading.column);
    std::swap(reading.rowAxis, reading.columnAxis);
  }
  return reading;
}

/// The predicate at all places of the matrix that `element` is of. It is asked once for each number
/// in the matrix, of which masks have few.
static std::optional<PlaceTable> readTable(Expressions &e, Expr predicate, Expr element,
                                           DenseElementsAttr dense, const Reading &reading) {
  ArrayRef<int64_t> shape = dense.getType().getShape();
  PlaceTable table{reading.row ? shape[reading.rowAxis] : 1, shape[reading.columnAxis], {}};
  if (table.rows * table.columns > (1 << 24))
    return std::nullopt;
  // Where the matrix begins among all elements, and how far apart its rows and columns are.
  int64_t first = 0, rowStep = 0, columnStep = 0, step = 1;
  for (unsigned axis = shape.size(); axis-- > 0; step *= shape[axis]) {
    Expr index = element->args[axis];
    if (reading.row && axis == reading.rowAxis)
      rowStep = step;
    else if (axis == reading.columnAxis)
      columnStep = step;
    else if (index->integer < 0 || index->integer >= shape[axis])
      return std::nullopt;
    else
      first += index->integer * step;
  }
  auto real = dyn_cast<FloatType>(dense.getElementType());
  auto isAllowed = [&](const APInt &bits) -> std::optional<bool> {
    llvm::DenseMap<Expr, Expr> parts;
    parts[element] =
        real ? e.constant(
                   FloatAttr::get(real, APFloat(real.getFloatSemantics(), bits)).getValueAsDouble(),
                   real)
             : e.constant(bits.getBitWidth() == 1 ? bits.getZExtValue() : bits.getSExtValue(),
                          element->type);
    std::optional<Number> value = Evaluator(e, 1).evaluate(e.replace(predicate, parts));
    return value ? std::optional(value->integer != 0) : std::nullopt;
  };
  std::unordered_map<uint64_t, bool> known; // by the number's bits
  auto read = [&](auto bitsAt) {
    for (int64_t i = 0; i < table.rows; ++i)
      for (int64_t j = 0; j < table.columns; ++j) {
        APInt bits = bitsAt(first + i * rowStep + j * columnStep);
        auto found = known.find(bits.getZExtValue());
        if (found == known.end()) {
          std::optional<bool> allowed = isAllowed(bits);
          if (!allowed)
            return false;
          found = known.insert({bits.getZExtValue(), *allowed}).first;
        }
        table.allowed.push_back(found->second);
      }
    return true;
  };
  bool isRead;
  if (real) {
    auto values = dense.getValues<APFloat>();
    isRead = read([&](int64_t place) { return values[place].bitcastToAPInt(); });
  } else {
    auto values = dense.getValues<APInt>();
    isRead = read([&](int64_t place) { return values[place]; });
  }
  return isRead ? std::optional(std::move(table)) : std::nullopt;
}

/// A rule of rows and columns in terms of i and j.
static Expr write(Expressions &e, const PlaceRule &rule, const Reading &reading) {
  Predicates booleans(e);
  Expr result = booleans.constant(true);
  auto add = [&](AffineExpr left, arith::CmpIPredicate predicate, std::optional<int64_t> number) {
    if (number)
      result =
          booleans.both(result, e.compare(predicate, e.index(left),
                                          e.index(getAffineConstantExpr(*number, e.getContext()))));
  };
  add(reading.column, arith::CmpIPredicate::slt, rule.columns);
  add(reading.column, arith::CmpIPredicate::sge, rule.firstColumn);
  if (!reading.row)
    return result;
  add(reading.row, arith::CmpIPredicate::slt, rule.rows);
  add(reading.row, arith::CmpIPredicate::sge, rule.firstRow);
  AffineExpr difference = reading.column - reading.row;
  add(difference, arith::CmpIPredicate::sle, rule.most);
  add(difference, arith::CmpIPredicate::sge, rule.least);
  if (rule.period)
    add(difference % *rule.period, arith::CmpIPredicate::eq, rule.phase);
  if (rule.block)
    result = booleans.both(result, e.compare(arith::CmpIPredicate::eq,
                                             e.index(reading.row.floorDiv(*rule.block)),
                                             e.index(reading.column.floorDiv(*rule.block))));
  return result;
}

Expr ScoreBuilder::asPlaces(Expr predicate) {
  Expr element = getOnlyElement(predicate);
  if (!element || form.queries.size() != 1)
    return {};
  auto constant = element->tensor.getDefiningOp<arith::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense)
    return {};
  std::optional<Reading> reading = getReading(e, element, form.queries[0], form.key);
  std::optional<PlaceTable> table =
      reading ? readTable(e, predicate, element, dense, *reading) : std::nullopt;
  if (!table)
    return {};
  std::optional<PlaceFormula> formula = findFormula(*table, bool(reading->row));
  if (!formula)
    return {};
  Predicates booleans(e);
  Expr allowed = write(e, formula->outer, *reading);
  Expr any = nullptr;
  for (const PlaceRule &term : formula->terms) {
    Expr next = write(e, term, *reading);
    any = any ? booleans.either(any, next) : next;
  }
  return any ? booleans.both(allowed, any) : allowed;
}
