// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attention of the grid: which variant of each clause, its IR, its inputs.
#ifndef FOVEA_TEST_GRID_ATTENTIONCASE_H
#define FOVEA_TEST_GRID_ATTENTIONCASE_H

#include "interpreter/Value.h"
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mlir::fovea {

/// The choices that are combined in pairs. Each is a number below `kChoices` of its axis.
enum Axis {
  HeadSize,
  ValueSize,
  Groups,
  Mask,
  Score,
  Probability,
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

/// The same of bf16.
Choice makeHalves(Choice choice);

/// The nearest choice whose keys a schedule may split: probabilities are known of all keys alone.
Choice makeSplittable(Choice choice);

/// The grid: a cover, and another one to be run by schedules that a test chooses.
const std::vector<Choice> &getAttentionCases();
const std::vector<Choice> &getScheduledAttentionCases();

/// Numbers of heads that share keys, with heads of a vector and more, in f32, bf16 and both.
std::vector<Choice> getHeadCases();

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
  bool isOfOneQuery() const { return oneQuery; }
  /// Whether queries, keys and values are all of bf16, and so what GPUs multiply.
  bool isOfHalves() const { return choice[Types] == 2; }
  /// Whether keys and values are in caches of integers with scales.
  bool isOfIntegers() const { return choice[Memory] == 2; }

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

/// Which schedule: the pipeline's own, or tiles so small that short sequences have edges and
/// several steps; of the last two, short sequences of keys have several parts.
enum class How { Default, Queries, Heads, SplitQueries, SplitHeads };

inline bool isByHeads(How how) { return how == How::Heads || how == How::SplitHeads; }
inline bool isSplit(How how) { return how == How::SplitQueries || how == How::SplitHeads; }

/// Keys that a part has at least, where a split is asked for.
constexpr int64_t kPartKeys = 32;

/// Numbers of queries and keys for the case `number`. Over all cases both take every value from 0
/// to 129; with a split queries are few, and keys lie around numbers of whole parts.
std::vector<std::pair<int64_t, int64_t>> makeLengths(int number, How how);

/// Empty if `got` is `expected` within the tolerance, a share of the largest number, or of `least`
/// where all are less but not all zero; else the first place where it is not.
std::string compareTensors(const interpreter::Tensor &got, const interpreter::Tensor &expected,
                           double tolerance, double least = 0);

/// Whether two tensors of floats have the same elements to the bit.
bool haveEqualBits(const interpreter::Tensor &x, const interpreter::Tensor &y);

} // namespace mlir::fovea

#endif // FOVEA_TEST_GRID_ATTENTIONCASE_H
