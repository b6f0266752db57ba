// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buckets are recognised by what they are: the index is evaluated for each distance up to the last
// bucket, as a framework computes it in f32, and compared with the formula of Raffel et al. 2020;
// beyond, on both sides of each border that a comparison in it has. The greatest distance is read
// off where the last bucket begins; several numbers may sort all distances alike, of which the one
// that people write is taken. Refuses what reads tensors, what depends on more than the distance,
// and comparisons of which one side is never seen.
#include "passes/Raise/Attention/RelativeBias.h"
#include "passes/Elements/Evaluate.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// Distances that are looked at one by one: the last bucket must begin below. Farther ones are
/// samples.
static constexpr int64_t kNear = 2048;

std::optional<TableElement> raise::getTableElement(Expressions &e, Expr element) {
  if (element->kind != Node::Kind::Element)
    return std::nullopt;
  if (auto rows = element->tensor.getDefiningOp<EmbeddingOp>(); rows && !rows.getScales()) {
    ArrayRef<Expr> indices(element->args);
    Expr id = e.at(rows.getIds(), indices.drop_back());
    return TableElement{rows.getTable(), stripIntegerCasts(id), indices.back()};
  }
  if (element->args.size() != 2)
    return std::nullopt;
  return TableElement{element->tensor, stripIntegerCasts(element->args[0]), element->args[1]};
}

/// As docs of `fovea.relative_bias` say.
static int64_t getBucket(const Buckets &buckets, int64_t n) {
  int64_t oneSided = buckets.bidirectional ? buckets.count / 2 : buckets.count;
  int64_t first = buckets.bidirectional && n > 0 ? oneSided : 0;
  int64_t distance = buckets.bidirectional ? std::abs(n) : std::max<int64_t>(-n, 0);
  int64_t exact = oneSided / 2;
  if (distance < exact)
    return first + distance;
  double place = std::log(double(distance) / exact) /
                 std::log(double(buckets.maxDistance) / exact) * (oneSided - exact);
  // Where the exact number is whole, the computed one may lie a rounding error below it.
  if (std::fabs(place - std::round(place)) < 1e-9)
    place = std::round(place);
  return first + exact + static_cast<int64_t>(std::min<double>(place, oneSided - exact - 1));
}

namespace {
/// A bucket as a function of the distance.
class BucketFunction {
public:
  BucketFunction(Expressions &e, Expr bucket, AffineExpr distance, unsigned query, unsigned key)
      : e(e), bucket(bucket), query(query), key(key),
        queries(getInteger(e.getExtent(query)).value_or(kNone)),
        keys(getInteger(e.getExtent(key)).value_or(kNone)) {
    start = Evaluator(e, 1, SmallVector<int64_t>(e.getNumDims())).evaluate(distance);
  }

  /// Whether a pair of places is so far apart; beyond, expressions may be simplified wrongly.
  bool has(int64_t n) const { return n - start > -queries && n - start < keys; }

  /// The bucket of a distance that places have; nothing if it cannot be computed, or is not the
  /// same for another pair of places.
  std::optional<int64_t> operator()(int64_t n) {
    int64_t apart = n - start; // of the key's place from the query's
    int64_t i = std::max<int64_t>(-apart, 0), j = std::max<int64_t>(apart, 0);
    int64_t further = std::min({int64_t(3), queries - 1 - i, keys - 1 - j});
    std::optional<int64_t> here = at(i, j);
    return here && at(i + further, j + further) == here ? here : std::nullopt;
  }

  /// What each comparison, maximum and minimum chose when it was asked last; a choice that was not
  /// reached is missing.
  using Sides = llvm::DenseMap<Expr, bool>;
  Sides getSides(int64_t n) {
    sides.clear();
    (void)(*this)(n);
    return sides;
  }

private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max() / 2;

  std::optional<int64_t> at(int64_t i, int64_t j) {
    Evaluator evaluate(e, /*seed=*/1, SmallVector<int64_t>(e.getNumDims()));
    evaluate.rounds = true;
    evaluate.place[query] = i;
    evaluate.place[key] = j;
    evaluate.observe = [&](Expr node, ArrayRef<Number> args, Number result) {
      bool isReal = isa<FloatType>(node->type);
      if (node->type.isInteger(1))
        sides[node] = result.integer;
      else if (args.size() == 2)
        sides[node] = isReal ? args[0].real < args[1].real : args[0].integer < args[1].integer;
    };
    std::optional<Number> number = evaluate.evaluate(bucket);
    return number ? std::optional(number->integer) : std::nullopt;
  }

  Expressions &e;
  Sides sides;
  Expr bucket;
  unsigned query, key;
  int64_t queries, keys; ///< how many; far more than any if not known
  int64_t start;
};
} // namespace

/// Whether an integer expression is of the distance and constants alone.
static bool isOfDistance(Expressions &e, Expr bucket, AffineExpr distance, unsigned query,
                         unsigned key) {
  for (Expr node : collect(bucket)) {
    if (node->kind == Node::Kind::Element || node->kind == Node::Kind::Reduce)
      return false;
    for (unsigned dim : node->dims.set_bits())
      if (dim != query && dim != key)
        return false;
    if (node->kind != Node::Kind::Index)
      continue;
    std::optional<int64_t> factor = e.getFactor(node->affine, key);
    if (!factor || !getInteger(e.simplify(node->affine - distance * *factor)))
      return false;
  }
  return true;
}

/// How round a number is: of 128, 120 and 121 the first.
static unsigned getRoundness(int64_t number) {
  unsigned roundness = 0;
  for (int64_t base : {2, 10})
    for (int64_t rest = number; rest > 0 && rest % base == 0; rest /= base)
      roundness += base == 10 ? 3 : 1;
  return roundness;
}

/// Whether buckets are the formula's at these distances, in one direction, and on both sides of
/// each border between them at which some comparison changes.
static bool agreesAt(BucketFunction &function, const Buckets &buckets, ArrayRef<int64_t> distances,
                     int64_t sign) {
  auto isRight = [&](int64_t d) {
    return !function.has(sign * d) || function(sign * d) == getBucket(buckets, sign * d);
  };
  // Looks between two distances, as long as anything was decided in another way at them.
  std::function<bool(int64_t, int64_t)> between = [&](int64_t low, int64_t high) {
    if (!isRight(low) || !isRight(high))
      return false;
    if (high - low < 2 || !function.has(sign * low) || !function.has(sign * high))
      return true;
    BucketFunction::Sides a = function.getSides(sign * low), b = function.getSides(sign * high);
    bool changes = llvm::any_of(a, [&](auto &side) {
      auto other = b.find(side.first);
      return other == b.end() || other->second != side.second;
    });
    int64_t middle = low + (high - low) / 2;
    return !changes || (between(low, middle) && between(middle, high));
  };
  for (size_t i = 0; i + 1 < distances.size(); ++i)
    if (!between(distances[i], distances[i + 1]))
      return false;
  return true;
}

/// Whether each comparison was seen both ways: one that was not may change what no distance shows.
/// Maxima and minima may be needless.
static bool seesBothSides(BucketFunction &function, Expr bucket, ArrayRef<int64_t> distances) {
  llvm::MapVector<Expr, unsigned> seen;
  for (Expr node : collect(bucket))
    if (node->is<arith::CmpIOp, arith::CmpFOp>())
      seen[node] = 0;
  for (int64_t d : distances)
    for (int64_t n : {-d, d})
      if (function.has(n))
        for (auto [node, side] : function.getSides(n))
          if (seen.contains(node))
            seen[node] |= side ? 2 : 1;
  return llvm::all_of(seen, [](auto &entry) { return entry.second == 3; });
}

/// The buckets of keys 0, 1, 2, ... places before the query, up to the last one; nothing if these
/// are not `oneSided` buckets that rise, the first `exact` ones one distance each.
static std::optional<SmallVector<int64_t>> getBucketsBefore(BucketFunction &function,
                                                            int64_t oneSided, int64_t exact) {
  SmallVector<int64_t> before{0};
  while (before.back() != oneSided - 1) {
    int64_t number = before.size();
    std::optional<int64_t> next = function.has(-number) ? function(-number) : std::nullopt;
    if (!next || *next < before.back() || *next >= oneSided || number > kNear ||
        (number < exact && *next != number))
      return std::nullopt;
    before.push_back(*next);
  }
  return before;
}

/// The roundest greatest distance with which the formula gives these buckets.
static std::optional<int64_t> findMaxDistance(Buckets buckets, ArrayRef<int64_t> before,
                                              int64_t oneSided, int64_t exact) {
  // With bucket b = exact + floor(log(d / exact) / log(max / exact) * logarithmic) the last one
  // begins at d = exact * (max / exact)^((logarithmic - 1) / logarithmic).
  int64_t last = before.size() - 1, logarithmic = oneSided - exact;
  double power = logarithmic > 1 ? double(logarithmic) / double(logarithmic - 1) : 1;
  auto maxDistanceAt = [&](int64_t d) {
    return exact * std::pow(double(std::max(d, exact)) / double(exact), power);
  };
  double greatest = std::ceil(maxDistanceAt(last)) + 1;
  if (greatest > 1e6)
    return std::nullopt;
  std::optional<int64_t> best;
  for (int64_t candidate = std::max<int64_t>(std::floor(maxDistanceAt(last - 1)), exact + 1);
       candidate <= static_cast<int64_t>(greatest); ++candidate) {
    buckets.maxDistance = candidate;
    if (best && getRoundness(candidate) <= getRoundness(*best))
      continue;
    bool isRight = true;
    for (int64_t d = last; d >= 0 && isRight; --d)
      isRight = before[d] == getBucket(buckets, -d);
    if (isRight)
      best = candidate;
  }
  return best;
}

/// Distances up to and behind the last bucket's first one, and samples far away.
static SmallVector<int64_t> makeDistances(int64_t last) {
  SmallVector<int64_t> distances;
  for (int64_t d = 0; d <= last + 64; ++d)
    distances.push_back(d);
  for (int64_t d = 2 * last + 64; d < (1 << 24); d *= 2)
    distances.append({d - 1, d, d + 1});
  return distances;
}

std::optional<Buckets> raise::matchBuckets(Expressions &e, Expr bucket, AffineExpr distance,
                                           unsigned query, unsigned key, int64_t rows) {
  if (rows < 2 || !isa<IntegerType, IndexType>(bucket->type) || !bucket->dependsOn(query) ||
      !bucket->dependsOn(key) || !isOfDistance(e, bucket, distance, query, key))
    return std::nullopt;
  BucketFunction function(e, bucket, distance, query, key);
  Buckets found;
  found.count = rows;
  // Keys behind the query have buckets of their own, or none.
  if (!function.has(0) || !function.has(1))
    return std::nullopt;
  std::optional<int64_t> behind = function(1), same = function(0);
  if (!behind || same != 0)
    return std::nullopt;
  found.bidirectional = *behind != 0;
  int64_t oneSided = found.bidirectional ? rows / 2 : rows;
  if (oneSided < 2 || (found.bidirectional && rows % 2 != 0))
    return std::nullopt;
  int64_t exact = oneSided / 2;
  std::optional<SmallVector<int64_t>> before = getBucketsBefore(function, oneSided, exact);
  if (!before)
    return std::nullopt;
  std::optional<int64_t> best = findMaxDistance(found, *before, oneSided, exact);
  if (!best)
    return std::nullopt;
  found.maxDistance = *best;
  // The other side, and far away on both.
  SmallVector<int64_t> distances = makeDistances(before->size() - 1);
  for (int64_t sign : {-1, 1})
    if (!agreesAt(function, found, distances, sign))
      return std::nullopt;
  return seesBothSides(function, bucket, distances) ? std::optional(found) : std::nullopt;
}
