// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds attention in a graph of plain ops: a sum over keys of weights times values, where the
// weights are the softmax of scores that come from a product of queries and keys. It looks at what
// is computed, not at how it is written; whether a guess is right is decided by evaluating both
// sides.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_ATTENTIONFORM_H
#define FOVEA_PASSES_RAISE_ATTENTION_ATTENTIONFORM_H

#include "passes/Elements/Layout.h"

namespace mlir::fovea::raise {

/// A tensor's element as an operand of attention.
struct Operand {
  Value tensor;
  SmallVector<Expr> indices;
  bool dependsOn(unsigned dim) const {
    return llvm::any_of(indices, [&](Expr index) { return index->dependsOn(dim); });
  }
};

/// An attention as found. Dims are those of `e`.
struct AttentionForm {
  Value root;                  ///< the tensor that attention gives, perhaps in another layout
  SmallVector<Axis> axes;      ///< of root, in dims
  Expr whole = nullptr;        ///< root's element
  unsigned key = 0;            ///< the dim of keys
  SmallVector<unsigned> depth; ///< the dims of the head size
  Expr score = nullptr;        ///< what the softmax is of, up to what all keys share
  Expr value = nullptr;        ///< what the weights are multiplied with
  Expr raw = nullptr;          ///< the part of `score` that is the product of queries and keys
  double scale = 1;            ///< raw is scale times the product
  Operand query, keys, values, additive; ///< additive.tensor is null for dot products
  Expr sink = nullptr;                   ///< a further logit, which only the denominator sees
  /// What each row is multiplied with, as a function of `sum`: a denominator that is kept from
  /// being small. Null: nothing.
  Expr rowFactor = nullptr;
  Expr sum = nullptr; ///< of the exponentials of the score
  /// What values are multiplied with, as a function of `probability`, an unknown. Null: that
  /// itself.
  Expr weight = nullptr, probability = nullptr;
  /// The probabilities as a tensor, if there is one that attention could give.
  Operand weights;
  /// Probabilities are multiplied by zero, or replaced by it, where a row has no key.
  bool guarded = false;

  // Roles of the dims.
  SmallVector<unsigned> batch, heads, queries, sizes; ///< sizes: of the values
  unsigned keyHeads = 0; ///< how many of `heads`, the first ones, keys and values have
};

/// Why something is not an attention, for the report: empty if nothing looks like one.
struct Refusal {
  std::string reason; ///< "the keys of the softmax are not those that are summed"
  std::string change; ///< what would make it fuse
};

/// Reads the attention that `root` is the result of, with the roles of its dims; nothing, and a
/// reason if it has a softmax, if there is none. `product` is where the product with values stands,
/// if that is not the root.
std::optional<AttentionForm> recognizeAttention(Expressions &e, Value root, Value product,
                                                Refusal &refusal);

/// What a producer writes for "not at all" is below; biases are above.
constexpr double kVeryNegative = -5000;

/// Whether a sum of products stands at `value`, from which `recognizeAttention` may start.
bool mayBeAttention(Value value);

//===-- Queries and keys (QueryKeyProduct.cpp) ----------------------------------------------===//

/// Factors of a product, through casts. What is divided by is one factor 1 / x.
void addFactors(Expressions &e, Expr expr, SmallVectorImpl<Expr> &factors);
/// The operand as a tensor; the constant that it is multiplied by goes into `scale`.
std::optional<Operand> getOperand(Expressions &e, Expr expr, double &scale);
/// Finds the product of queries and keys in `form.score`, along dims `rootDims` of the result.
bool findQueryKeyProduct(Expressions &e, AttentionForm &form, ArrayRef<unsigned> rootDims);

//===-- Roles of axes (AxisRoles.cpp) -------------------------------------------------------===//

/// Replaces dims that are read as `d floordiv c` and `d mod c` by two.
void splitDims(Expressions &e, AttentionForm &form);
/// Decides which dims are batch, heads, queries and sizes. False, with a reason, if none fits.
bool assignRoles(Expressions &e, AttentionForm &form, Refusal &refusal);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTION_ATTENTIONFORM_H
