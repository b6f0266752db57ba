// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks that are read from a constant matrix, a triangle of ones above all: bands, and prefixes
// that all see. Refuses matrices that are neither, which stay dense.
#include "passes/Raise/Predicates.h"
#include "passes/Raise/Score.h"
#include <unordered_map>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {
/// A predicate at each place of a constant matrix.
struct Table {
  int64_t rows, columns;
  std::vector<char> allowed;

  bool at(int64_t i, int64_t j) const { return allowed[i * columns + j]; }
  /// Whether `holds(i, j)` says what the table says.
  template <typename Fn> bool is(Fn holds) const {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if (at(i, j) != holds(i, j))
          return false;
    return true;
  }
};

/// Where a matrix is read: at row i + a and column j + b.
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
  if (!reading.row || !reading.column || e.getFactor(reading.row, query) != 1 ||
      e.getFactor(reading.column, key) != 1)
    return std::nullopt;
  return reading;
}

/// The predicate at all places of the matrix that `element` is of. It is asked once for each number
/// in the matrix, of which masks have few.
static std::optional<Table> readTable(Expressions &e, Expr predicate, Expr element,
                                      DenseElementsAttr dense, const Reading &reading) {
  ArrayRef<int64_t> shape = dense.getType().getShape();
  Table table{shape[reading.rowAxis], shape[reading.columnAxis], {}};
  if (table.rows * table.columns > (1 << 24))
    return std::nullopt;
  // Where the matrix begins among all elements, and how far apart its rows and columns are.
  int64_t first = 0, rowStep = 0, columnStep = 0, step = 1;
  for (unsigned axis = shape.size(); axis-- > 0; step *= shape[axis]) {
    Expr index = element->args[axis];
    if (axis == reading.rowAxis)
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

Value ScoreBuilder::maskOfConstant(Expr predicate) {
  Expr element = getOnlyElement(predicate);
  if (!element || form.queries.size() != 1)
    return {};
  auto constant = element->tensor.getDefiningOp<arith::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense)
    return {};
  std::optional<Reading> reading = getReading(e, element, form.queries[0], form.key);
  std::optional<Table> table =
      reading ? readTable(e, predicate, element, dense, *reading) : std::nullopt;
  if (!table)
    return {};
  // In terms of i and j.
  auto compare = [&](AffineExpr left, arith::CmpIPredicate predicate, AffineExpr right) {
    return e.compare(predicate, e.index(left), e.index(right));
  };
  auto number = [&](int64_t n) { return getAffineConstantExpr(n, e.getContext()); };

  std::optional<int64_t> least, most;
  for (int64_t i = 0; i < table->rows; ++i)
    for (int64_t j = 0; j < table->columns; ++j)
      if (table->at(i, j)) {
        least = std::min(least.value_or(j - i), j - i);
        most = std::max(most.value_or(j - i), j - i);
      }
  if (!least)
    return {};
  bool isBelow = table->is([&](int64_t i, int64_t j) { return j - i <= *most; });
  // A prefix that all see, and a triangle.
  int64_t prefix = 0;
  while (prefix < table->columns && table->at(0, prefix))
    ++prefix;
  if (!isBelow && prefix > 1 && prefix < table->columns &&
      table->is([&](int64_t i, int64_t j) { return j <= i || j < prefix; }))
    return buildMask(
        Predicates(e).either(compare(reading->column, arith::CmpIPredicate::sle, reading->row),
                             compare(reading->column, arith::CmpIPredicate::slt, number(prefix))));
  bool isAbove = !isBelow && table->is([&](int64_t i, int64_t j) { return j - i >= *least; });
  if (!isBelow && !isAbove &&
      !table->is([&](int64_t i, int64_t j) { return j - i >= *least && j - i <= *most; }))
    return {};
  AffineExpr difference = e.simplify(reading->column - reading->row);
  SmallVector<Value> masks;
  if (!isAbove)
    masks.push_back(buildMask(compare(difference, arith::CmpIPredicate::sle, number(*most))));
  if (!isBelow)
    masks.push_back(buildMask(compare(difference, arith::CmpIPredicate::sge, number(*least))));
  return llvm::is_contained(masks, Value()) ? Value() : logical(/*isAnd=*/true, masks);
}
