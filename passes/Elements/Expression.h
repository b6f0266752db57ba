// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one element of a tensor is, as a scalar expression: seen through views, elementwise code and
// reductions, however the graph spells them. Raising passes ask for `x[b,h,i,j]` and read meaning
// off the answer: they compare it with a formula by evaluating both, or look at which indices a
// part of it depends on. Nothing here changes IR.
//
// An expression is a hash-consed node, so equal expressions are equal pointers. Its leaves are
// constants, affine index arithmetic, and elements of tensors that are not looked into: arguments,
// weights, products of matrices, and results of ops that are unknown.
#ifndef FOVEA_PASSES_ELEMENTS_EXPRESSION_H
#define FOVEA_PASSES_ELEMENTS_EXPRESSION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "passes/Analysis/SizeOrigin.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/SmallBitVector.h"
#include <memory>
#include <optional>

namespace mlir::fovea::raise {

class Node;
/// Expressions are compared and hashed by pointer; they live as long as their `Expressions`.
using Expr = const Node *;

enum class Combiner { Add, Mul, Max, Min, And, Or };

/// A table of integers that counts along its axes: `first + sum of steps[k] * place[k]`.
struct Progression {
  int64_t first = 0;
  SmallVector<int64_t> steps;
};

/// Nothing if some number is another. Floats count if they are integers.
std::optional<Progression> getProgression(DenseElementsAttr table);

class Node : public llvm::FoldingSetNode {
public:
  enum class Kind {
    Constant, ///< a number
    Index,    ///< affine in dims and symbols; any integer type
    Element,  ///< of `tensor` at `args`, which are index expressions
    Variable, ///< an unknown number at each of the places `args`: stands for a part in a test
    Compute,  ///< the arith or math op `name`, on scalars `args`
    Reduce    ///< over `dim` of `args[0]` by `combiner`
  };

  Kind kind;
  Type type; ///< of the scalar

  FloatAttr real;                    ///< Constant of float type
  int64_t integer = 0;               ///< Constant of integer or index type
  AffineExpr affine;                 ///< Index
  Value tensor;                      ///< Element
  StringAttr name;                   ///< Compute: "arith.addf"
  DictionaryAttr attrs;              ///< Compute: all of the op's attributes
  Combiner combiner = Combiner::Add; ///< Reduce
  unsigned dim = 0;                  ///< Reduce: the one that it binds
  unsigned variable = 0;             ///< Variable: its number
  SmallVector<Expr, 3> args;

  /// Which dims the value depends on; what a reduction binds is left out.
  llvm::SmallBitVector dims;
  bool dependsOn(unsigned dim) const { return dim < dims.size() && dims.test(dim); }

  bool isConstant() const { return kind == Kind::Constant; }
  /// The number of a constant, of any type.
  double getNumber() const;
  /// The index arithmetic that it is, a constant integer included; null: it is something else.
  AffineExpr getAffine() const;
  /// A Compute node of this op.
  /// Whether it is computed by one of these ops.
  template <typename... OpT> bool is() const {
    return kind == Kind::Compute && ((name.getValue() == OpT::getOperationName()) || ...);
  }

  void Profile(llvm::FoldingSetNodeID &id) const;
};

class ElementReader;
class Folder;
class Rebuilder;

/// All expressions of one question. Dims are numbered 0, 1, ...; sizes and first positions that are
/// only known when the model runs are symbols of affine expressions.
class Expressions {
public:
  explicit Expressions(MLIRContext *context) : context(context) {}

  //===-- Indices ---------------------------------------------------------------------------===//

  /// A new dim that ranges over [0, extent).
  unsigned addDim(AffineExpr extent);
  AffineExpr getExtent(unsigned dim) const { return extents[dim]; }
  unsigned getNumDims() const { return extents.size(); }
  /// A size as an affine expression; equal expressions are equal sizes, whatever the call.
  AffineExpr getSize(Value tensor, int64_t axis);
  AffineExpr getSize(OpFoldResult size);
  /// An index expression without dims as a value.
  /// The graph's sizes are read where `sizes` stands, if that is given.
  Value materialize(OpBuilder &builder, Location loc, AffineExpr expr, ValueRange dims = {},
                    OpBuilder *sizes = nullptr);
  unsigned getNumSymbols() const { return symbols.size(); }
  /// Folds what ranges of dims decide: (8*d0 + d1) floordiv 8 is d0 where d1 < 8.
  AffineExpr simplify(AffineExpr expr);
  /// The factor of a dim in an affine expression without divisions of it; nothing else.
  std::optional<int64_t> getFactor(AffineExpr expr, unsigned dim);
  /// Whether lower <= expr < upper can be shown. Sizes are taken as positive.
  bool isWithin(AffineExpr expr, AffineExpr lower, AffineExpr upper);
  /// The least and the greatest number that an expression is, where they are known.
  std::pair<std::optional<int64_t>, std::optional<int64_t>> getBounds(AffineExpr expr);

  //===-- Making expressions ----------------------------------------------------------------===//

  Expr dim(unsigned number) { return index(getAffineDimExpr(number, context)); }
  Expr index(AffineExpr affine, Type type = {});
  Expr constant(double value, FloatType type);
  Expr constant(int64_t value, Type type);
  Expr element(Value tensor, ArrayRef<Expr> indices);
  /// A new unknown with a number for each place along axes of these sizes.
  unsigned addVariable(ArrayRef<AffineExpr> sizes) {
    variableSizes.emplace_back(sizes);
    return variableSizes.size() - 1;
  }
  /// The size of an axis of an element's tensor or of a variable.
  AffineExpr getAxisSize(Expr leaf, unsigned axis) {
    return leaf->tensor ? getSize(leaf->tensor, axis) : variableSizes[leaf->variable][axis];
  }
  Expr variable(unsigned number, Type type, ArrayRef<Expr> places);
  /// An op on these scalars; folds what is trivial. `type` is the scalar result's.
  Expr compute(StringAttr name, DictionaryAttr attrs, Type type, ArrayRef<Expr> args);
  template <typename OpT> Expr compute(Type type, ArrayRef<Expr> args, DictionaryAttr attrs = {}) {
    return compute(StringAttr::get(context, OpT::getOperationName()),
                   attrs ? attrs : DictionaryAttr::get(context), type, args);
  }
  Expr compare(arith::CmpIPredicate predicate, Expr a, Expr b);
  /// A float in another float type.
  Expr convert(Expr expr, FloatType type);
  Expr reduce(Combiner combiner, unsigned dim, Expr body);
  /// The same node of other operands.
  Expr withArgs(Expr expr, ArrayRef<Expr> args);

  /// The element of `tensor` at these indices, seen through everything but products of matrices
  /// and unknown ops.
  Expr at(Value tensor, ArrayRef<Expr> indices);
  /// The same for a scalar of the graph.
  Expr scalar(Value value);
  /// The element of a product of matrices, or of what is spelled like one: a reduction by addition
  /// whose body is a product. Null for anything else.
  Expr product(Value tensor, ArrayRef<Expr> indices);
  /// `expr` with dims replaced by index expressions.
  Expr substitute(Expr expr, const llvm::DenseMap<unsigned, Expr> &replacements);
  /// `expr` with parts replaced by others of their type.
  Expr replace(Expr expr, const llvm::DenseMap<Expr, Expr> &parts);

  /// A tensor whose element at these indices the expression is: the one nearest to the graph's
  /// beginning. Null for expressions made here.
  std::pair<Value, SmallVector<Expr>> getHome(Expr expr) const;

  /// The op that computes it, or that the nearest part of it is computed by; null if there is none.
  Operation *getOrigin(Expr expr) const;

  /// `addf(arg0[d0, d1], 2)`, for tests and reports.
  void print(Expr expr, llvm::raw_ostream &os) const;

  MLIRContext *getContext() const { return context; }

  /// A number of the tensor, in the order in which they are asked for: unlike its address the same
  /// in each run.
  uint64_t getNumber(Value tensor) {
    return numbers.try_emplace(tensor, numbers.size() + 1).first->second;
  }

private:
  Expr intern(Node &node);
  /// The dim that a loop of a reducing op binds, always the same: so parts that are equal up to
  /// where they are read are equal up to substitution.
  unsigned bindDim(Operation *op, unsigned loop, AffineExpr extent);
  Expr atResult(OpResult result, ArrayRef<Expr> indices);
  Expr atConstant(arith::ConstantOp op, ArrayRef<Expr> indices);
  Expr atStructured(OpResult result, ArrayRef<Expr> indices, bool isProduct);
  Expr inBody(Value value, llvm::DenseMap<Value, Expr> &known, ArrayRef<Expr> loops);
  Expr select(Expr condition, Expr yes, Expr no);
  Expr countBelow(unsigned dim, Expr body);
  /// What an op on these scalars is without it; null if it is needed.
  Expr fold(StringAttr name, DictionaryAttr attrs, Type type, ArrayRef<Expr> args);
  std::optional<SmallVector<AffineExpr>> affineOf(ArrayRef<Expr> indices);

  MLIRContext *context;
  SmallVector<AffineExpr> extents;
  SmallVector<SizeOrigin> symbols;
  AffineExpr getComputedSize(Operation *op, int64_t axis);
  AffineExpr getSymbolOf(const SizeOrigin &origin);
  llvm::FoldingSet<Node> nodes;
  std::vector<std::unique_ptr<Node>> owned;
  llvm::DenseMap<Value, std::vector<std::pair<SmallVector<Expr>, Expr>>> memo;
  llvm::DenseMap<Expr, std::pair<Value, SmallVector<Expr>>> homes;
  llvm::DenseMap<Value, uint64_t> numbers;
  llvm::DenseMap<std::pair<Operation *, unsigned>, unsigned> bound;
  llvm::DenseMap<Expr, Operation *> origins;
  llvm::DenseMap<Operation *, std::optional<Progression>> progressions;
  std::vector<SmallVector<AffineExpr>> variableSizes;
  friend class ElementReader;
  friend class Folder;
  friend class Rebuilder;
};

//===-- Looking at expressions --------------------------------------------------------------===//

/// A float that is widened or narrowed.
bool isCast(Expr expr);
/// A float without its casts.
Expr stripCasts(Expr expr);
/// A signed integer without what only changes its width.
Expr stripIntegerCasts(Expr expr);
/// An exponential, to base e or two.
bool isExp(Expr expr);
/// The outermost exponentials that depend on `dim`.
SmallVector<Expr> getExps(Expr root, unsigned dim);
bool hasExp(Expr root, unsigned dim);
/// A sum along an axis of what exponentials give there: what a softmax is divided by, mostly.
bool isSumOfExps(Expr expr);

/// A float without its casts and the constants that it is multiplied or divided by; `factor` is
/// multiplied by these.
Expr takeFactor(Expr expr, double &factor);

/// What a comparison of signed integers says about its left side x: x < n + shift, or that this is
/// not so.
struct Order {
  bool below = false, above = false; ///< neither: it asks for equality, or is unsigned
  bool strict = false;
  int64_t getShift() const { return below != strict; }
};
Order getOrder(arith::CmpIPredicate predicate);
/// The predicate when left and right change places.
arith::CmpIPredicate mirror(arith::CmpIPredicate predicate);
/// The predicate of an `arith.cmpi`.
arith::CmpIPredicate getPredicate(Expr comparison);

/// All nodes of an expression, each once, operands behind what they are operands of; `enter` says
/// below which to go on.
SmallVector<Expr> collect(Expr root, llvm::function_ref<bool(Expr)> enter);
SmallVector<Expr> collect(Expr root);
bool contains(Expr root, Expr part);

/// Whether a node follows one formula for some numbers and another for others: choices,
/// comparisons, conditions as numbers, the greater and the lesser, what rounds, conversions to
/// integers and to narrower floats.
bool isPiecewise(Expr node);

/// The number that an affine expression is.
std::optional<int64_t> getInteger(AffineExpr expr);

/// Whether a linalg op sums products of two operands' elements: a contraction.
bool isContraction(Operation *op);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_ELEMENTS_EXPRESSION_H
