// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buckets are recognised by what they are: the index is evaluated for each distance up to a few
// thousand, as a framework computes it in f32, and compared with the formula of Raffel et al. 2020.
// The greatest distance is read off where the last bucket begins; several numbers may sort all
// distances alike, of which the one that people write is taken. Refuses what reads tensors.
#include "passes/Raise/RelativeBias.h"
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
  if (auto rows = element->tensor.getDefiningOp<EmbeddingOp>()) {
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
      : evaluator(e, /*seed=*/1), bucket(bucket), query(query), key(key),
        queries(getInteger(e.getExtent(query)).value_or(kNone)),
        keys(getInteger(e.getExtent(key)).value_or(kNone)) {
    evaluator.rounds = true;
    evaluator.place.assign(e.getNumDims(), 0);
    start = evaluator.evaluate(distance);
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

private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max() / 2;

  std::optional<int64_t> at(int64_t i, int64_t j) {
    evaluator.place[query] = i;
    evaluator.place[key] = j;
    std::optional<Number> number = evaluator.evaluate(bucket);
    return number ? std::optional(number->integer) : std::nullopt;
  }

  Evaluator evaluator;
  Expr bucket;
  unsigned query, key;
  int64_t queries, keys; ///< how many; far more than any if not known
  int64_t start;
};
} // namespace

/// Whether an integer expression is of places and sizes alone, and where it names sizes, of no
/// more than the distance: sizes are evaluated at one value only.
static bool isOfPlaces(Expressions &e, Expr bucket, AffineExpr distance, unsigned query,
                       unsigned key) {
  auto hasSymbols = [](AffineExpr expr) {
    bool found = false;
    expr.walk([&](AffineExpr part) { found |= isa<AffineSymbolExpr>(part); });
    return found;
  };
  for (Expr node : collect(bucket)) {
    if (node->kind == Node::Kind::Element || node->kind == Node::Kind::Reduce)
      return false;
    for (unsigned dim : node->dims.set_bits())
      if (dim != query && dim != key)
        return false;
    if (node->kind != Node::Kind::Index || (!hasSymbols(node->affine) && !hasSymbols(distance)))
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

std::optional<Buckets> raise::matchBuckets(Expressions &e, Expr bucket, AffineExpr distance,
                                           unsigned query, unsigned key, int64_t rows) {
  if (rows < 2 || !isa<IntegerType, IndexType>(bucket->type) || !bucket->dependsOn(query) ||
      !bucket->dependsOn(key) || !isOfPlaces(e, bucket, distance, query, key))
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
  int64_t exact = oneSided / 2, logarithmic = oneSided - exact;
  SmallVector<int64_t> before{0}; // buckets of keys 0, 1, 2, ... places before the query
  while (before.back() != oneSided - 1) {
    int64_t number = before.size();
    std::optional<int64_t> next = function.has(-number) ? function(-number) : std::nullopt;
    if (!next || *next < before.back() || *next >= oneSided || number > kNear ||
        (number < exact && *next != number))
      return std::nullopt;
    before.push_back(*next);
  }
  // With bucket b = exact + floor(log(d / exact) / log(max / exact) * logarithmic) the last one
  // begins at d = exact * (max / exact)^((logarithmic - 1) / logarithmic).
  int64_t last = before.size() - 1;
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
    found.maxDistance = candidate;
    if (best && getRoundness(candidate) <= getRoundness(*best))
      continue;
    bool isRight = true;
    for (int64_t d = last; d >= 0 && isRight; --d)
      isRight = before[d] == getBucket(found, -d);
    if (isRight)
      best = candidate;
  }
  if (!best)
    return std::nullopt;
  found.maxDistance = *best;
  // The other side, and far away on both.
  SmallVector<int64_t> distances;
  for (int64_t d = 0; d <= last + 64; ++d)
    distances.push_back(d);
  for (int64_t d = 2 * last + 64; d < (1 << 24); d *= 2)
    distances.append({d - 1, d, d + 1});
  for (int64_t d : distances)
    for (int64_t n : {-d, d})
      if (function.has(n) && function(n) != getBucket(found, n))
        return std::nullopt;
  return found;
}
