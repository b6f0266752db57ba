// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes programs over func, linalg, arith, math and tensor as text. Tensors have named axes, one
// letter each, so that code says what an element is and the writer how it is spelled: as one
// generic, as several, or as ops on whole tensors.
#ifndef FOVEA_TEST_SMITH_WRITER_H
#define FOVEA_TEST_SMITH_WRITER_H

#include "test/smith/Random.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fovea::smith {

enum class Elem { F16, BF16, F32, F64, I1, I32, I64, Index };
const char *nameOf(Elem elem);
bool isReal(Elem elem);
inline bool isHalf(Elem elem) { return elem == Elem::F16 || elem == Elem::BF16; }

/// A tensor value. An axis is a letter that the writer knows the size of; `1` is an axis of size
/// one.
struct Tensor {
  std::string name; ///< "%scores4"
  std::string axes;
  Elem elem = Elem::F32;
};

/// An element, as a function of the letters of axes.
struct Node;
using Ex = std::shared_ptr<const Node>;
struct Node {
  enum Kind {
    Read,    ///< of a tensor, at its axes
    Extract, ///< of a tensor, at indices that are computed: `args`
    Place,   ///< the index along an axis
    Number,
    Scalar, ///< a value outside: a size
    Op
  } kind;
  Elem elem;
  std::string op; ///< "arith.addf", "arith.cmpi sle"; the value's name for Scalar
  Tensor tensor;
  char axis = 0;
  double number = 0;
  std::vector<Ex> args;
  std::string free; ///< the axes it depends on, each once
};

Ex read(const Tensor &tensor);
Ex extract(const Tensor &tensor, std::vector<Ex> indices);
Ex place(char axis);
Ex number(double value, Elem elem);
Ex scalar(const std::string &name, Elem elem);
/// An op whose result has `elem`.
Ex apply(const std::string &op, std::vector<Ex> args, Elem elem);
/// The same of the operands' element type; `name` without `f` or `i` at its end: "add".
Ex arith(const std::string &name, Ex a, Ex b);
Ex math(const std::string &name, Ex a);
/// "sle", "oeq": of integers or floats, as the operands are.
Ex compare(const std::string &predicate, Ex a, Ex b);
Ex select(Ex condition, Ex yes, Ex no);
Ex negate(Ex condition);
/// Between any two element types.
Ex convert(Ex x, Elem elem);

/// How code is spelled.
struct Spelling {
  int cutPercent = 0; ///< of the values inside an expression that become tensors
  bool whole = false; ///< ops on whole tensors where that is possible
};

class Writer {
public:
  Writer(uint64_t seed, Spelling spelling) : random(seed, "writer"), spelling(spelling) {}

  // Axes.
  /// Size -1 is dynamic; its value comes from the first argument that has it, or from `sameAs`.
  void declareAxis(char axis, int64_t size, const std::string &dim, char sameAs = 0);
  /// An axis that is longer than another by `more`.
  void declareLonger(char axis, char of, int64_t more);
  /// The axis that several become; static but for at most one of them.
  char merge(const std::string &parts);
  int64_t sizeOf(char axis) const { return axis == '1' ? 1 : axes.at(axis).size; }
  bool isStatic(char axis) const { return sizeOf(axis) >= 0; }
  /// The size as an index.
  Ex sizeValue(char axis);
  bool haveEqualSizes(char a, char b) const;

  // Arguments and results.
  Tensor argument(const std::string &name, const std::string &axes, Elem elem);
  void result(const std::string &name, const Tensor &tensor);
  /// The function with all that was written.
  std::string finish();

  // Tensors.
  Tensor fill(const std::string &axes, Elem elem, double value);
  /// `elements` in row-major order, printed as MLIR prints them.
  Tensor constant(const std::string &axes, Elem elem, const std::vector<double> &elements);
  /// The expression for all elements of these axes; what it reads, if it is that already.
  Tensor materialise(const Ex &x, const std::string &axes);
  /// The same, never as one of its inputs.
  Tensor generic(const Ex &x, const std::string &axes);
  /// "add", "maximum": over `over`, starting at `init`.
  Tensor reduce(const Ex &x, const std::string &axes, char over, const std::string &combiner,
                double init);
  Tensor transpose(const Tensor &tensor, const std::string &axes);
  /// Axes that stand side by side and become one.
  Tensor collapse(const Tensor &tensor, const std::vector<std::string> &groups);
  /// One axis made by `merge` becomes its parts.
  Tensor split(const Tensor &tensor, char axis);
  Tensor softmax(const Tensor &tensor, char over);
  Tensor concat(const std::vector<Tensor> &parts, char over, char result);
  /// Elements `first` to `first` + the size of `as` - 1 of `axis`, which become the axis `as`.
  Tensor slice(const Tensor &tensor, char axis, int64_t first, char as);
  /// Products, summed over the axes that the result lacks.
  enum class Product { Contract, Generic, Matmul, MultiplyAndReduce };
  Tensor contract(const Ex &a, const Ex &b, const std::string &axes, Elem elem, Product product);

  Random random;

private:
  struct Axis {
    int64_t size = -1;
    std::string dim, value, parts;
    char sameAs = 0;
  };
  std::string fresh(const std::string &stem) { return "%" + stem + std::to_string(next++); }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string typeOf(const std::string &axes, Elem elem) const;
  std::string typeOf(const Tensor &tensor) const { return typeOf(tensor.axes, tensor.elem); }
  /// "%b, %i": values of the dynamic sizes.
  std::string sizesOf(const std::string &axes);
  std::string valueOf(char axis);
  std::string mapOf(const std::string &loops, const std::string &axes) const;
  Tensor empty(const std::string &axes, Elem elem);
  Tensor loops(const Ex &x, const std::string &axes, const std::string &reduced, const Tensor &init,
               const std::string &combiner);
  /// Writes the ops of an element into `text`; the value's name.
  std::string emit(const Ex &x, std::string &text, std::map<const Node *, std::string> &known,
                   std::map<std::string, std::string> &inputs);
  void collect(const Ex &x, std::vector<Tensor> &tensors);
  /// Makes tensors of some values inside.
  Ex cut(const Ex &x, bool isRoot);
  Tensor whole(const Ex &x, const std::string &axes);
  Tensor broadcast(const Tensor &tensor, const std::string &axes);
  std::string order(const std::string &free);
  std::string scalarOp(const Ex &x, const std::vector<std::string> &operands,
                       const std::string &typeAxes, bool onTensors);

  Spelling spelling;
  std::map<char, Axis> axes;
  std::map<const Node *, Ex> cuts;
  std::vector<Ex> kept; ///< keys of `cuts` stay alive
  std::vector<std::string> arguments, results, resultTypes, resultNames;
  std::string body;
  int next = 0;
  char nextMerged = 'A';
};

/// "1.500000e+00", "0xFF800000", "true", "3": an attribute of the type without it.
std::string printNumber(double value, Elem elem);

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_WRITER_H
