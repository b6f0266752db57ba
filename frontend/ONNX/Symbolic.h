// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes as expressions: polynomials over the sizes of the entry's arguments, and over what is no
// polynomial of them (quotients, remainders, extrema, choices), each kept once. So two sizes are
// equal if they are one expression, products can be divided exactly, and an expression becomes code
// only when a tensor needs it.
#ifndef FOVEA_FRONTEND_ONNX_SYMBOLIC_H
#define FOVEA_FRONTEND_ONNX_SYMBOLIC_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace mlir::fovea::onnx {

/// Factors of a product, by number, in order; a power is a factor more than once.
using Product = SmallVector<unsigned, 2>;

/// A sum of products with coefficients that are not zero; the empty product is 1.
struct Polynomial {
  std::map<Product, int64_t> terms;
  unsigned number = 0; ///< In the order of making, which gives operands an order.
};

/// A 64-bit integer that is known as an expression. Equal expressions are one pointer.
using Sym = const Polynomial *;

/// All expressions of one import. Sizes of arguments are taken to be at least one: what exporters
/// trace has no empty axes.
class Symbols {
public:
  /// `builder` stands where code for sizes goes: in the entry, behind what it may read.
  explicit Symbols(OpBuilder &builder) : builder(builder) {}

  enum class Op { Size, Data, FloorDiv, Mod, Min, Max, Select, Less, Equal };

  Sym constant(int64_t value);
  /// A new size, which is what `make` computes (`index`). `name` is its name in the model.
  Sym size(StringRef name, std::function<Value(OpBuilder &)> make);

  /// A number that a tensor holds: it can be reasoned about, but is no size.
  Sym data();
  /// True if sizes alone tell the value.
  bool isSize(Sym a) const;

  Sym add(Sym a, Sym b);
  Sym sub(Sym a, Sym b);
  Sym mul(Sym a, Sym b);
  /// Exact where it can be seen to be, else rounded down. Null for a divisor of zero.
  Sym floorDiv(Sym a, Sym b);
  Sym mod(Sym a, Sym b);
  Sym min(Sym a, Sym b);
  Sym max(Sym a, Sym b);
  /// Comparisons give 0 or 1.
  Sym less(Sym a, Sym b);
  Sym equal(Sym a, Sym b);
  Sym select(Sym condition, Sym a, Sym b);

  /// a / b if b divides a whatever the sizes are; null else.
  Sym divideExactly(Sym a, Sym b);

  static std::optional<int64_t> known(Sym a);
  /// The name of the size that this expression is, or "".
  StringRef nameOf(Sym a) const;
  /// Bounds that hold for all sizes of arguments; none if they cannot be seen.
  std::optional<int64_t> lowerBound(Sym a) const;
  std::optional<int64_t> upperBound(Sym a) const;

  /// The value as `index`.
  Value materialize(Sym a);
  /// Its size in a type.
  static int64_t typed(Sym a) { return known(a).value_or(ShapedType::kDynamic); }
  OpFoldResult mixed(Sym a);
  SmallVector<OpFoldResult> mixed(ArrayRef<Sym> sizes);
  /// Those of a shape's sizes that its type leaves open.
  SmallVector<Value> open(ArrayRef<Sym> sizes);

  /// True once a coefficient has left 64 bits, since the last call.
  bool takeOverflow() { return std::exchange(hasOverflow, false); }

private:
  struct Factor {
    Op op = Op::Size;
    SmallVector<Sym, 3> operands;
    std::string name;
    std::function<Value(OpBuilder &)> make;
    Value value;
  };

  Sym unique(Polynomial polynomial);
  Sym monomial(const Product &product, int64_t coefficient = 1);
  Sym factor(Op op, ArrayRef<Sym> operands);
  Sym extremum(Op op, Sym a, Sym b);
  std::optional<int64_t> bound(Sym a, bool isLower) const;
  std::optional<int64_t> factorBound(unsigned number, bool isLower) const;
  Value materializeFactor(unsigned number);

  OpBuilder &builder;
  std::vector<Factor> factors;
  std::map<std::map<Product, int64_t>, std::unique_ptr<Polynomial>> polynomials;
  std::map<std::pair<Op, SmallVector<Sym, 3>>, unsigned> byOperands;
  DenseMap<Sym, Value> values;
  bool hasOverflow = false;
};

} // namespace mlir::fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_SYMBOLIC_H
