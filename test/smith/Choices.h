// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The description that a random program is made from: a list of small numbers, each of which says
// one thing about it. Zero is the plainest of each, so a program is made simpler by turning choices
// off.
#ifndef FOVEA_TEST_SMITH_CHOICES_H
#define FOVEA_TEST_SMITH_CHOICES_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fovea::smith {

enum class Choice {
  Type,       ///< of q, k, v and the result
  Upcast,     ///< where f16 and bf16 become f32: nowhere, in the first product, behind it, at once
  Batch,      ///< batch axes: none, one, two
  Heads,      ///< key heads; 0: no axis of heads
  Group,      ///< query heads for each key head
  Grouping,   ///< how keys meet grouped queries
  Depth,      ///< head size
  ValueDepth, ///< the values' size; 0: the head size
  Self,       ///< keys are as many as queries
  Static,     ///< bits: batch, queries, keys are static
  BatchSize,  ///< batch rows of the first call
  Queries,    ///< queries of the first call
  Keys,       ///< keys of the first call, if not as many as queries
  LayoutQ,    ///< the order of q's axes
  LayoutK,
  LayoutV,
  LayoutOut, ///< the order of the result's axes
  Merge,     ///< bits: heads and depth of q, k, v, result are one axis; q, k, v are one argument
  Copies,    ///< inputs are transposed first
  ScoreProduct,
  ValueProduct,
  ScoreOrder, ///< the order of the scores' axes
  Scale,
  Rule0,
  Rule1,
  Rule2,
  Mask0,
  Mask1,
  Mask2,
  Join,  ///< how several masks become one
  Apply, ///< how a mask is applied
  MaskForm,
  Softmax,
  Shift, ///< what is subtracted before the exponential
  Norm,  ///< how exponentials are normalised
  Guard,
  Sink,
  Between, ///< between softmax and second product
  Returns, ///< bits: weights, scores are results too
  Style,   ///< how elementwise code is cut into ops
  Negative,
  Twice, ///< a second attention reads the first
  Spelling,
  Empty, ///< bits: batch, queries, keys, heads' size, values' size are zero; open ones in the
         ///< second call
  Count
};

constexpr int kChoices = static_cast<int>(Choice::Count);

struct Choices {
  std::array<int, kChoices> values{};
  int &operator[](Choice c) { return values[static_cast<int>(c)]; }
  int operator[](Choice c) const { return values[static_cast<int>(c)]; }
  bool operator==(const Choices &other) const { return values == other.values; }
};

/// Program `index` of `seed`. Large ones have several tiles of queries and keys, and heads as
/// models have them, mostly of half precision: what a GPU's schedules are made for.
Choices draw(uint64_t seed, uint64_t index, bool isLarge = false);
/// Makes choices agree with each other; each rule says why. What `draw` gives is settled.
void settle(Choices &choices);
/// Whether what a program gives for rows without keys depends on rounding: a large number that is
/// added swallows scores or does not.
bool needsKeys(const Choices &choices);
/// Whether a mask allows the keys up to the query, in one of its spellings.
bool isTriangular(const Choices &choices, int mask);
/// "type=f16 heads=2": what is not zero.
std::string print(const Choices &choices);
/// Reads what `print` wrote; false, and `error`, for anything else.
bool parse(const std::string &text, Choices &choices, std::string &error);
/// Simpler descriptions, the boldest first.
std::vector<Choices> simplify(const Choices &choices);

// Values of choices that have names; the tables in Choices.cpp follow the same order.
enum Type { kF32, kF16, kBF16, kF64 };
enum Upcast { kNoUpcast, kInProduct, kBehindProduct, kAtOnce };
enum Grouping { kEinsum, kBroadcast, kGather, kTile };
enum Product { kContract, kGeneric, kMatmul, kMultiplyAndReduce };
enum Scaling {
  kNoScale,
  kOnScores,
  kOnQueries,
  kOnKeys,
  kOnBoth,
  kDivided,
  kByRootOfSize,
  kTemperature
};
enum Rule {
  kNoRule,
  kBias,
  kHeadFactor,
  kSoftCap,
  kSlopes,
  kDistance,
  kLeaky,
  kMinimum,
  kGate,
  kSquare,
  kSine,
  kLogDistance,
  kDiagonal,
  kTable,
  kTree,
  kBuckets ///< of T5; near misses alone have it
};
enum MaskKind {
  kNoMask,
  kCausal,
  kBottomRight,
  kOffset,
  kOffsets,
  kWindow,
  kCausalWindow,
  kStrict,
  kLength,
  kLeftPadding,
  kOneLength,
  kPrefix,
  kSegment,
  kGlobal,
  kPadding,
  kDense,
  kTriangle,
  kTriangleSlice,
  kBlocks,
  kDilated,
  kRandomTable
};
enum Join { kAnd, kOr, kAndNot, kSeparate };
enum Apply {
  kSelectInfinity,
  kSelectLow,
  kSelectLowest,
  kAddLow,
  kAddInfinity,
  kAddSelected,
  kAddLog,
  kBlend,
  kMinimumOf,
  kTimesExp,
  kTimesWeights
};
enum MaskForm { kAsPredicate, kAsBooleans, kAsFloats, kAsIntegers };
enum SoftmaxKind { kNamed, kByExp, kByExp2, kLogSoftmax, kLogSumExp };
enum Shift { kMaximum, kNothing, kConstant, kGuardedMaximum };
enum Norm { kDivide, kReciprocal, kLate, kLateReciprocal };
enum Guard { kNoGuard, kNaNToZero, kSumOrOne };
enum Sink { kNoSink, kSinkColumn, kSinkTerm, kOnePlus };
enum Between { kNothingBetween, kTimesOne, kDropout, kDoubleCast };
enum Style { kFused, kSomeCuts, kManyCuts, kWhole };
enum Negative {
  kPositive,
  kOverQueries,
  kNoSoftmax,
  kGivenScores,
  kValuesByQuery,
  kNotNormalized,
  kNormalizedByKey,
  kSigmoid,
  kSquaredWeights,
  kSumOverQueries,
  kMaximumOfValues,
  kRelu,
  kOverHeads
};

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_CHOICES_H
