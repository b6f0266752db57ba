// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions are guessed from where a table is true, each as narrow as can be, and the whole is
// compared with the table. If that is too wide, some part of it may be true in more places than the
// rest: a prefix, global tokens, a band; what is left is guessed without these.
#include "passes/Raise/Attention/PlaceRules.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fovea::raise;

static bool says(const PlaceTable &table, const PlaceFormula &formula) {
  for (int64_t i = 0; i < table.rows; ++i)
    for (int64_t j = 0; j < table.columns; ++j)
      if (table.at(i, j) != formula.holds(i, j))
        return false;
  return true;
}

/// All conditions that hold where the table is true and none of `without` does.
static std::optional<PlaceRule> tighten(const PlaceTable &table, bool hasRows,
                                        ArrayRef<PlaceRule> without = {}) {
  auto each = [&](auto visit) {
    for (int64_t i = 0; i < table.rows; ++i)
      for (int64_t j = 0; j < table.columns; ++j)
        if (table.at(i, j) &&
            llvm::none_of(without, [&](const PlaceRule &rule) { return rule.holds(i, j); }))
          visit(i, j);
  };
  PlaceRule rule;
  auto widen = [](std::optional<int64_t> &least, std::optional<int64_t> &most, int64_t n,
                  int64_t last) {
    least = std::min(least.value_or(n), n);
    most = std::max(most.value_or(last), last);
  };
  std::optional<int64_t> distance; // of some place
  int64_t period = 0;              // divides what all others differ from it
  // How many places have i and j on different sides of a border; at first, where that changes.
  int64_t size = std::max(table.rows, table.columns);
  std::vector<int64_t> crossings(size + 1);
  each([&](int64_t i, int64_t j) {
    widen(rule.firstColumn, rule.columns, j, j + 1);
    if (!hasRows)
      return;
    widen(rule.firstRow, rule.rows, i, i + 1);
    widen(rule.least, rule.most, j - i, j - i);
    distance = distance.value_or(j - i);
    period = std::gcd(period, j - i - *distance);
    ++crossings[std::min(i, j) + 1];
    --crossings[std::max(i, j) + 1];
  });
  if (!rule.columns)
    return std::nullopt;
  if (!hasRows)
    return rule;
  if (period > 1) {
    rule.period = period;
    rule.phase = (*distance % period + period) % period;
  }
  // The smallest blocks between which nothing is true.
  for (int64_t i = 1; i < size; ++i)
    crossings[i] += crossings[i - 1];
  for (int64_t block = 2; block < size && !rule.block; ++block) {
    bool isCrossed = false;
    for (int64_t border = block; border < size; border += block)
      isCrossed |= crossings[border] != 0;
    if (!isCrossed)
      rule.block = block;
  }
  return rule;
}

namespace {
/// How far a prefix, global tokens and a band reach at most, inside of `outer`.
struct Reach {
  int64_t columns, tokens;
  PlaceRule band;
};
} // namespace

static Reach getReach(const PlaceTable &table, const PlaceRule &outer) {
  Reach reach{table.columns, std::max(table.rows, table.columns), {}};
  int64_t count = *outer.most - *outer.least + 1;
  std::vector<bool> isBroken(count);
  for (int64_t i = 0; i < table.rows; ++i)
    for (int64_t j = 0; j < table.columns; ++j)
      if (outer.holds(i, j) && !table.at(i, j)) {
        reach.columns = std::min(reach.columns, j);
        reach.tokens = std::min(reach.tokens, std::min(i, j));
        isBroken[j - i - *outer.least] = true;
      }
  // The run of whole diagonals around the main one; if that is broken, the longest.
  int64_t most = 0;
  for (int64_t first = 0, next; first < count; first = next + 1) {
    next = first;
    while (next < count && !isBroken[next])
      ++next;
    bool hasMain = *outer.least + first <= 0 && 0 < *outer.least + next;
    if (next - first <= most && !hasMain)
      continue;
    most = hasMain ? count : next - first;
    reach.band.least = *outer.least + first;
    reach.band.most = *outer.least + next - 1;
  }
  return reach;
}

/// Drops conditions that the others imply, those first that save no work.
static void simplify(const PlaceTable &table, PlaceFormula &formula) {
  auto drop = [&](PlaceRule &rule) {
    for (std::optional<int64_t> *condition :
         {&rule.block, &rule.period, &rule.firstRow, &rule.rows, &rule.firstColumn, &rule.columns,
          &rule.least, &rule.most}) {
      std::optional<int64_t> bound = *condition;
      if (!bound)
        continue;
      condition->reset();
      if (!says(table, formula))
        *condition = bound;
    }
  };
  for (PlaceRule &term : formula.terms)
    drop(term);
  drop(formula.outer);
}

std::optional<PlaceFormula> fovea::raise::findFormula(const PlaceTable &table, bool hasRows) {
  std::optional<PlaceRule> outer = tighten(table, hasRows);
  if (!outer)
    return std::nullopt;
  PlaceFormula formula{*outer, {}};
  bool isFound = says(table, formula);
  if (!isFound && hasRows) {
    Reach reach = getReach(table, *outer);
    PlaceRule prefix, rows;
    enum { kNone, kPrefix, kGlobal };
    for (bool hasBand : {false, true})
      for (auto first : {kNone, kPrefix, kGlobal}) {
        if (isFound || (hasBand && !reach.band.least) || (first == kNone && !hasBand) ||
            (first == kPrefix && !reach.columns) || (first == kGlobal && !reach.tokens))
          continue;
        formula.terms.clear();
        if (first != kNone) {
          prefix.columns = rows.rows = first == kPrefix ? reach.columns : reach.tokens;
          formula.terms.push_back(prefix);
        }
        if (first == kGlobal)
          formula.terms.push_back(rows);
        if (hasBand)
          formula.terms.push_back(reach.band);
        if (std::optional<PlaceRule> rest = tighten(table, hasRows, formula.terms))
          formula.terms.push_back(*rest);
        isFound = says(table, formula);
      }
  }
  if (!isFound)
    return std::nullopt;
  simplify(table, formula);
  return formula;
}
