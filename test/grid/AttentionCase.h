// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attention of the grid: which variant of each clause, its IR, its inputs.
#ifndef FOVEA_TEST_GRID_ATTENTIONCASE_H
#define FOVEA_TEST_GRID_ATTENTIONCASE_H

#include "interpreter/Value.h"
#include <array>
#include <random>
#include <string>
#include <vector>

namespace mlir::fovea {

/// The choices that are combined in pairs. Each is a number below `kChoices` of its axis.
enum Axis {
  HeadSize,
  ValueSize,
  Groups,
  Mask,
  Score,
  Sinks,
  Fill,
  Positions,
  Memory,
  Outputs,
  Types,
  Form,
  Axes
};
extern const std::array<int, Axes> kChoices;
using Choice = std::array<int, Axes>;

/// A set of choices in which every pair of values of every two axes occurs.
std::vector<Choice> makePairwiseCover(unsigned seed);

class AttentionCase {
public:
  /// `oneQuery` makes the query length 1 in the types.
  AttentionCase(const Choice &choice, bool oneQuery = false) : choice(choice), oneQuery(oneQuery) {}

  /// "D40 G4 causal&length bias sinks ..." for messages.
  std::string describe() const;
  /// The module's text: one entry `attend`.
  std::string getText() const;
  /// Its arguments for these lengths.
  std::vector<interpreter::RuntimeValue> makeInputs(int64_t batch, int64_t queries, int64_t keys,
                                                    std::mt19937_64 &random) const;
  /// Largest |difference| / max |expected| that is right.
  double getTolerance() const;

private:
  struct Argument {
    std::string name, type;
    enum Kind { Real, Position, KeyPosition, Length, Segment, KeySegment, Dense, DenseRow } kind;
    std::vector<int64_t> shape; ///< -1 batch, -2 queries, -3 keys
  };
  std::vector<Argument> getArguments() const;
  int64_t headSize() const;
  int64_t valueSize() const;
  int64_t keyHeads() const;
  int64_t queryHeads() const;
  std::string queryType() const;
  std::string keyType() const;
  std::string accumulationType() const;

  Choice choice;
  bool oneQuery;
};

} // namespace mlir::fovea

#endif // FOVEA_TEST_GRID_ATTENTIONCASE_H
