// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a program of choices: the parts of an attention, one function each.
#ifndef FOVEA_TEST_SMITH_BUILDER_H
#define FOVEA_TEST_SMITH_BUILDER_H

#include "test/smith/Edit.h"
#include "test/smith/Program.h"
#include "test/smith/Writer.h"

namespace fovea::smith {

class Builder {
public:
  /// `editor` may change one value.
  explicit Builder(const Choices &choices, Editor *editor = nullptr);
  Program build();

private:
  // Builder.cpp
  /// Whether an axis has no places: from the first call on where it is static.
  bool isEmpty(char axis) const;
  void declareAxes();
  std::string orderOf(int layout, const std::string &heads, const std::string &rest);
  Ex argument(const std::string &name, const std::string &axes, Elem elem,
              const std::string &recipe);
  /// One of q, k and v, with these axes in the order of its layout. `bit` of Merge.
  Tensor operand(const std::string &name, Choice layout, int bit, const std::string &heads,
                 const std::string &rest);
  void packedOperands(Tensor &q, Tensor &k, Tensor &v);
  Tensor repeatHeads(const Tensor &tensor);
  /// Product of queries and keys, with its scale.
  Ex scores(const Tensor &q, const Tensor &k);
  Tensor finish(const Tensor &out);
  Tensor secondAttention(const Tensor &out, const Tensor &k, const Tensor &v);
  /// What the editor makes of a value.
  Ex edited(Site site, Ex x, Part part = Part::Value) {
    return editor ? editor->at(w, site, part, std::move(x)) : x;
  }

  // Rules.cpp
  /// The scores' rule in one slot.
  Ex rule(int kind, int slot, Ex x);
  Ex tree(Random &random, int depth, const Ex &x, int slot, int &tensors);
  Ex bucketBias(Random &random, const std::string &suffix);
  /// Some of batch, heads, i and j; with axes of size one for the others, or not.
  std::string someAxes(Random &random, bool needsOne);

  // Masks.cpp
  /// Where keys are allowed.
  Ex mask(int kind, int slot);
  Ex inForm(Ex condition);
  /// Scores with a mask applied; `weightMask` is set to what multiplies exponentials or weights.
  Ex masked(Ex x, Ex allowed, int apply);
  /// All masks joined and applied.
  Ex masked(Ex x);
  void expectMasks();

  // Softmax.cpp
  struct Weights {
    Ex weights; ///< divided, or not if `divisor`
    Ex divisor; ///< what the product is still to be divided by
    Ex inverse; ///< or multiplied with
  };
  Weights softmax(Ex scores);
  Ex between(Ex weights);

  double low() const;

  Choices c;
  Editor *editor;
  Writer w;
  Program program;
  Elem type, inner; ///< of tensors, of the softmax
  std::string batch, heads, keyHeads;
  std::string scoreAxes; ///< in the scores' order
  Ex weightMask;
  bool asksForKeys = false; ///< inputs must leave each row a key
};

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_BUILDER_H
