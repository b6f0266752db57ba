// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that `verify` makes up for an entry: random, but such as the entry's ops can take.
#ifndef FOVEA_TOOLS_VERIFY_INPUTS_H
#define FOVEA_TOOLS_VERIFY_INPUTS_H

#include "interpreter/Value.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <random>
#include <set>

namespace mlir::fovea::verify {

/// What an integer argument is used for, which says what it may hold.
struct IntegerUse {
  enum Kind {
    Flag,     ///< 0 or 1: masks, anything of one bit
    Keep,     ///< attention_mask: ones, then zeros that pad the row
    Id,       ///< below `limit`: rows of a table
    Position, ///< consecutive along the last axis
    Length,   ///< up to the longest sequence and one more
    Segment,  ///< small numbers that do not fall along the last axis
  };
  Kind kind = Flag;
  int64_t limit = 2;
};

/// Follows an entry's argument through calls to the ops that take it.
IntegerUse findUse(func::FuncOp entry, unsigned argument);

/// How great the floats of an input are.
enum class Magnitude {
  One,   ///< about normal
  Small, ///< a thousandth of that
  Large, ///< a thousand times
  Mixed, ///< one in fifty, and at least one, is large; a third is what the model compares it with
};

/// Whether an argument of floats is a mask of zeros and ones by what is made of it: the source
/// multiplies 1 - x, or x - 1, by a number beyond 5000. For other numbers that means nothing.
bool isMaskOfFloats(BlockArgument argument);

/// The numbers that elements of an argument are compared with, by `==` or an order: zeros of masks
/// that are floats, for example.
SmallVector<double> findCompared(BlockArgument argument);

/// Sizes that names of dynamic ones have in every call.
using FixedSizes = std::map<std::string, int64_t>;

/// The names of the dynamic sizes of an entry's arguments, each once.
std::set<std::string> getOpenDims(func::FuncOp entry);

/// The sizes of one call: `batch` rows; the first other name of a dynamic size that is not fixed
/// gets `length`, the next ones `lengths` in turn.
struct Sizes {
  int64_t batch = 1, length = 1;
  SmallVector<int64_t> others;
  FixedSizes fixed;
};

/// One tensor for each argument that is not a cache. Equal generators give equal inputs.
FailureOr<std::vector<interpreter::TensorRef>> makeInputs(func::FuncOp entry, const Sizes &sizes,
                                                          std::mt19937_64 &random,
                                                          Magnitude magnitude = Magnitude::One);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_INPUTS_H
