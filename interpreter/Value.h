// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a value of the IR is while the interpreter runs: an index or integer, a float, a tensor, a
// mask, a cache. All floats are held as f64, whatever their type; all integers as int64.
#ifndef FOVEA_INTERPRETER_VALUE_H
#define FOVEA_INTERPRETER_VALUE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

namespace mlir::fovea::interpreter {

/// The most elements a tensor may have: 8 GiB of doubles. Sizes come from IR and inputs that nobody
/// has checked.
constexpr int64_t kMaxElements = int64_t(1) << 30;

/// One element: `real` if its type is a float, `integer` if it is an integer (sign-extended to 64
/// bits; i1 is 0 or 1) or an index.
struct Element {
  double real = 0;
  int64_t integer = 0;
};

/// Row-major without gaps. `reals` or `integers` holds the elements, as `isReal` says.
struct Tensor {
  SmallVector<int64_t, 4> shape;
  bool isReal = true;
  std::vector<double> reals;
  std::vector<int64_t> integers;

  int64_t size() const { return isReal ? reals.size() : integers.size(); }
  int64_t rank() const { return shape.size(); }
  Element at(int64_t i) const { return isReal ? Element{reals[i], 0} : Element{0, integers[i]}; }
  void put(int64_t i, Element e) {
    if (isReal)
      reals[i] = e.real;
    else
      integers[i] = e.integer;
  }
  /// Whether every index lies inside its axis.
  bool contains(ArrayRef<int64_t> indices) const;
  /// Place of an element among the elements; `contains` holds.
  int64_t place(ArrayRef<int64_t> indices) const;
};
using TensorRef = std::shared_ptr<const Tensor>;

/// A query and a key, for which a mask says whether they meet.
struct QueryKey {
  int64_t batch, head, query, key;
  int64_t queryPosition, keyPosition;
};

/// A predicate; failure comes after a diagnostic. `depth` counts the masks inside each other.
struct Mask {
  unsigned depth = 1;
  std::function<FailureOr<bool>(const QueryKey &)> allows;
};
using MaskRef = std::shared_ptr<const Mask>;

/// `data` is [batch, length, heads, size]: what was appended so far.
struct Cache {
  int64_t batch = 0, capacity = 0, heads = 0, size = 0, length = 0;
  std::vector<double> data;
};
using CacheRef = std::shared_ptr<const Cache>;

using RuntimeValue = std::variant<std::monostate, int64_t, double, TensorRef, MaskRef, CacheRef>;

/// An empty sequence for every batch row.
RuntimeValue makeCache(int64_t batch, int64_t capacity, int64_t heads, int64_t size);
RuntimeValue makeReals(ArrayRef<int64_t> shape, std::vector<double> elements);
RuntimeValue makeIntegers(ArrayRef<int64_t> shape, std::vector<int64_t> elements);

/// The number of elements of a shape, or -1 if a size is negative or they are more than
/// `kMaxElements`.
int64_t countElements(ArrayRef<int64_t> shape);

/// `value` rounded to the nearest number of a float type, ties to even.
double roundToType(double value, Type type);
double roundToSemantics(double value, const llvm::fltSemantics &semantics);
/// `value` as an integer of `width` bits, sign-extended; i1 gives 0 or 1.
int64_t wrapToWidth(int64_t value, unsigned width);
/// The low `width` bits of `value`.
uint64_t unsignedBits(int64_t value, unsigned width);
/// Bits of an integer or index type.
unsigned widthOf(Type type);

/// Which floats are rounded to their type after each op.
enum class Precision {
  Reference, ///< f16 and bf16; not f32: the interpreter is to be more exact than what it judges
  Exact,     ///< none: what the program means
  Literal,   ///< all: what the program gives if each op rounds
};

/// What values of a type look like: floats are rounded as `precision` says and integers wrapped.
Element normalise(Element element, Type type, Precision precision = Precision::Reference);
/// The same for a value of any kind; copies a tensor only if an element changes type.
RuntimeValue normalise(RuntimeValue value, Type type, Precision precision = Precision::Reference);

/// Empty if `value` can be one of `type`; else what was found: "tensor of 2x3 floats".
std::string describeMismatch(const RuntimeValue &value, Type type);
/// "a tensor of 2x3 floats", "a mask", "an integer".
std::string describe(const RuntimeValue &value);

} // namespace mlir::fovea::interpreter

#endif // FOVEA_INTERPRETER_VALUE_H
