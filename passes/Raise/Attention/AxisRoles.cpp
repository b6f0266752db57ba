// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The roles of an attention's axes: batch, heads, queries, head size and size of values, by what
// depends on them. Refuses a head size or size of values that is not known, and a router, whose
// queries have values of their own.
#include "passes/Elements/Evaluate.h"
#include "passes/Raise/Attention/AttentionForm.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {
/// A dim and what it is divided by.
struct Division {
  unsigned dim;
  AffineExpr divisor;
};
} // namespace

/// The first division of a dim in an expression's indices that comes out even.
static std::optional<Division> findDivision(Expressions &e, Expr root) {
  std::optional<Division> found;
  for (Expr node : collect(root)) {
    if (node->kind != Node::Kind::Index)
      continue;
    node->affine.walk([&](AffineExpr part) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(part);
      if (found || !binary ||
          (part.getKind() != AffineExprKind::FloorDiv && part.getKind() != AffineExprKind::Mod))
        return;
      // Inside of a sum the dim itself is what can be split.
      AffineExpr divisor = binary.getRHS();
      auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
      if (!dim || !divisor.isSymbolicOrConstant())
        return;
      AffineExpr extent = e.getExtent(dim.getPosition());
      AffineExpr quotient = e.simplify(extent.floorDiv(divisor));
      if (e.simplify(quotient * divisor) != e.simplify(extent) || quotient == extent)
        return;
      found = Division{dim.getPosition(), divisor};
    });
  }
  return found;
}

void raise::splitDims(Expressions &e, AttentionForm &form) {
  auto all = [&](llvm::function_ref<void(Expr &)> visit) {
    for (Operand *operand : {&form.query, &form.keys, &form.values, &form.additive, &form.weights})
      for (Expr &index : operand->indices)
        visit(index);
    for (Expr *expr : {&form.score, &form.raw, &form.sink, &form.value, &form.whole, &form.weight,
                       &form.probability})
      if (*expr)
        visit(*expr);
  };
  for (int n = 0; n < 16; ++n) {
    std::optional<Division> division;
    for (Operand *operand : {&form.query, &form.keys, &form.values})
      for (Expr index : operand->indices)
        if (!division)
          division = findDivision(e, index);
    if (!division)
      division = findDivision(e, form.score);
    if (!division || division->dim == form.key)
      return;
    AffineExpr extent = e.getExtent(division->dim), divisor = division->divisor;
    unsigned high = e.addDim(e.simplify(extent.floorDiv(divisor))), low = e.addDim(divisor);
    AffineExpr place =
        getAffineDimExpr(high, e.getContext()) * divisor + getAffineDimExpr(low, e.getContext());
    llvm::DenseMap<unsigned, Expr> replacements;
    replacements[division->dim] = e.index(place);
    all([&](Expr &expr) { expr = e.substitute(expr, replacements); });
    auto split = [&](SmallVectorImpl<unsigned> &dims) {
      for (size_t i = 0; i < dims.size(); ++i)
        if (dims[i] == division->dim) {
          dims[i] = high;
          dims.insert(dims.begin() + i + 1, low);
          ++i;
        }
    };
    for (Axis &axis : form.axes)
      split(axis);
    split(form.depth);
  }
}

/// Dims in the order in which they stand in a tensor, outermost first.
static void sortByPlace(SmallVectorImpl<unsigned> &dims, const Operand &operand, Expressions &e) {
  auto place = [&](unsigned dim) -> std::pair<int64_t, int64_t> {
    for (auto [axis, index] : llvm::enumerate(operand.indices)) {
      if (!index->dependsOn(dim))
        continue;
      // Within an axis, the larger factor stands outside: its distance at d = 1.
      Evaluator evaluate(e, 1);
      evaluate.place.assign(e.getNumDims(), 0);
      std::optional<Number> zero = evaluate.evaluate(index);
      Evaluator next(e, 1);
      next.place.assign(e.getNumDims(), 0);
      next.place[dim] = 1;
      std::optional<Number> one = next.evaluate(index);
      return {axis, zero && one ? zero->integer - one->integer : 0};
    }
    return {std::numeric_limits<int64_t>::max(), 0};
  };
  llvm::sort(dims, [&](unsigned a, unsigned b) { return place(a) < place(b); });
}

/// Whether a condition compares places along two dims, or what stands at these places. An element
/// of a tensor that has both dims compares nothing: a dense mask, which may differ between heads.
static bool comparesAlong(Expr condition, unsigned a, unsigned b) {
  if (!condition->is<arith::CmpIOp, arith::CmpFOp>())
    return false;
  bool seesA = false, seesB = false;
  for (Expr part : collect(condition, [](Expr x) { return x->kind == Node::Kind::Compute; })) {
    bool isIndex = part->kind == Node::Kind::Index;
    if ((!isIndex && part->kind != Node::Kind::Element) ||
        (!isIndex && part->dependsOn(a) && part->dependsOn(b)))
      continue;
    seesA |= part->dependsOn(a);
    seesB |= part->dependsOn(b);
  }
  return seesA && seesB;
}

namespace {
/// Decides what each dim of the result is to attention.
class RoleFinder {
public:
  RoleFinder(Expressions &e, AttentionForm &form, Refusal &refusal)
      : e(e), form(form), refusal(refusal) {
    for (const Axis &axis : form.axes)
      llvm::append_range(root, axis);
  }

  bool run() {
    sortByOperands();
    if (ofQuery.empty() && eachQueryHasValues())
      return false;
    splitQueries();
    splitShared();
    if (!isKnown(form.depth, "the head size is not known",
                 "give the last axis of queries and keys a static size") ||
        !isKnown(form.sizes, "the size of values is not known",
                 "give the last axis of values a static size"))
      return false;
    sortByPlace(form.depth, form.query, e);
    return true;
  }

private:
  void sortByOperands();
  bool eachQueryHasValues();
  int rankAsSequence(unsigned dim);
  void splitQueries();
  bool standsBesideDepth(unsigned dim);
  bool standsBehindUnit(unsigned dim);
  bool isOfRow(unsigned dim);
  void takeBatch(SmallVectorImpl<unsigned> &fixed);
  void splitShared();

  bool isStatic(unsigned dim) { return isa<AffineConstantExpr>(e.getExtent(dim)); }
  bool isKnown(ArrayRef<unsigned> dims, StringRef reason, StringRef change) {
    if (llvm::all_of(dims, [&](unsigned dim) { return isStatic(dim); }))
      return true;
    refusal = {reason.str(), change.str()};
    return false;
  }
  bool ofSinks(unsigned dim) { return form.sink && form.sink->dependsOn(dim); }

  Expressions &e;
  AttentionForm &form;
  Refusal &refusal;
  SmallVector<unsigned> root;    ///< the result's dims
  SmallVector<unsigned> ofQuery; ///< of the queries alone
  SmallVector<unsigned> shared;  ///< of queries, keys and values, perhaps: batch and heads
  SmallVector<unsigned> keyless; ///< heads that share keys
};
} // namespace

void RoleFinder::sortByOperands() {
  auto inWeights = [&](unsigned dim) {
    return form.score->dependsOn(dim) || form.query.dependsOn(dim) || form.keys.dependsOn(dim) ||
           ofSinks(dim) || (form.weight && form.weight->dependsOn(dim));
  };
  for (unsigned dim : root) {
    if (!inWeights(dim) && form.values.dependsOn(dim))
      form.sizes.push_back(dim);
    else if (form.query.dependsOn(dim) && !form.keys.dependsOn(dim) && !form.values.dependsOn(dim))
      ofQuery.push_back(dim);
    else
      shared.push_back(dim);
  }
}

/// Weights of the same token's experts, a router's, look like one query that all share.
bool RoleFinder::eachQueryHasValues() {
  bool isOwn = llvm::any_of(shared, [&](unsigned dim) {
    return form.values.dependsOn(dim) && form.query.dependsOn(dim) && !form.keys.dependsOn(dim);
  });
  if (!isOwn)
    return false;
  // What it takes for keys has a place for queries: these are scores, and a matrix mixes them.
  bool isMixed = llvm::any_of(root, [&](unsigned other) {
    return form.keys.dependsOn(other) && !form.values.dependsOn(other);
  });
  refusal = {isMixed ? "heads are mixed before the softmax, so that no score is one product"
                     : "each query has values of its own, as a router's experts",
             ""};
  return true;
}

/// How likely a dim is the sequence of queries: what is compared with keys, is as long as them, is
/// open.
int RoleFinder::rankAsSequence(unsigned dim) {
  int points = 0;
  if (llvm::any_of(collect(form.score, [&](Expr node) { return node != form.raw; }),
                   [&](Expr node) { return comparesAlong(node, dim, form.key); }))
    points += 8;
  points += e.getExtent(dim) == e.getExtent(form.key) ? 4 : 0;
  points += isStatic(dim) ? 0 : 2;
  return points;
}

/// Of several dims that queries alone have, one is the sequence, the last one of the likeliest; the
/// others are heads that share keys.
void RoleFinder::splitQueries() {
  std::optional<unsigned> sequence;
  for (unsigned dim : ofQuery) {
    if (ofSinks(dim) && isStatic(dim))
      continue; // sinks are one for each head
    if (!sequence || rankAsSequence(dim) >= rankAsSequence(*sequence))
      sequence = dim;
  }
  for (unsigned dim : ofQuery)
    (dim == sequence || !isStatic(dim) ? form.queries : keyless).push_back(dim);
}

bool RoleFinder::standsBesideDepth(unsigned dim) {
  return llvm::any_of(form.query.indices, [&](Expr index) {
    return index->dependsOn(dim) &&
           llvm::any_of(form.depth, [&](unsigned other) { return index->dependsOn(other); });
  });
}

/// Lengths and ids of integers are one for each batch row.
bool RoleFinder::isOfRow(unsigned dim) {
  return llvm::any_of(collect(form.score), [&](Expr node) {
    return node->is<arith::CmpIOp>() && llvm::any_of(collect(node), [&](Expr part) {
             return part->kind == Node::Kind::Element && part->dependsOn(dim);
           });
  });
}

/// Whether the result has an axis of one before that of `dim`: a batch of one.
bool RoleFinder::standsBehindUnit(unsigned dim) {
  for (const Axis &axis : form.axes) {
    if (axis.empty())
      return true;
    if (llvm::is_contained(axis, dim))
      return false;
  }
  return false;
}

/// Where all sizes are fixed, the first dim of several is the batch; a single one is heads if it
/// stands beside the head size, or behind a batch of one.
void RoleFinder::takeBatch(SmallVectorImpl<unsigned> &fixed) {
  bool isHead = standsBesideDepth(fixed.front()) || standsBehindUnit(fixed.front());
  // Sinks are one for each head.
  auto mayBeBatch = [&](unsigned dim) { return !ofSinks(dim); };
  auto *first = llvm::find_if(fixed, [&](unsigned dim) { return mayBeBatch(dim) && isOfRow(dim); });
  bool hasRows = first != fixed.end();
  if (!hasRows)
    first = llvm::find_if(fixed, mayBeBatch);
  if (first == fixed.end() || (fixed.size() == 1 && !hasRows && (isHead || !keyless.empty())))
    return;
  form.batch.push_back(*first);
  fixed.erase(first);
}

/// Open sizes are batches, fixed ones heads.
void RoleFinder::splitShared() {
  SmallVector<unsigned> fixed;
  for (unsigned dim : shared)
    (isStatic(dim) ? fixed : form.batch).push_back(dim);
  if (form.batch.empty() && !fixed.empty())
    takeBatch(fixed);
  form.heads = fixed;
  form.keyHeads = fixed.size();
  llvm::append_range(form.heads, keyless);
}

bool raise::assignRoles(Expressions &e, AttentionForm &form, Refusal &refusal) {
  return RoleFinder(e, form, refusal).run();
}
