// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutation operators: each plants one bug of one kind at a statement of PTX. What they write is
// PTX that assemblers take, so that a bug is found by what it does.
#ifndef FOVEA_TEST_MUTATION_OPERATORS_H
#define FOVEA_TEST_MUTATION_OPERATORS_H

#include "test/mutation/Ptx.h"

#include <functional>
#include <optional>
#include <random>

namespace fovea::mutation {

/// Draws that are the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  /// Below `n`, which is not zero.
  uint64_t below(uint64_t n) { return engine() % n; }

private:
  std::mt19937_64 engine;
};

/// What stands instead of a statement, and perhaps instead of a later one.
struct Edit {
  std::string by;
  std::optional<std::pair<size_t, std::string>> other;
};

struct Operator {
  const char *name, *matches, *writes;
  std::function<std::optional<Edit>(const Ptx &, size_t, Random &)> apply;
};

const std::vector<Operator> &operators();

/// The statements that an operator applies to.
std::vector<size_t> sitesOf(const Operator &op, const Ptx &ptx);

struct Mutant {
  const Operator *op = nullptr;
  size_t site = 0;
  std::string before, after, text; ///< the statement, what it became, and all of the PTX
  uint32_t line = 0;
};

/// `site` must be one of `sitesOf(op, ptx)`.
Mutant mutate(const Operator &op, const Ptx &ptx, size_t site, Random &random);

} // namespace fovea::mutation

#endif // FOVEA_TEST_MUTATION_OPERATORS_H
