// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error norms. What is not finite must be the same on both sides.
#include "tools/verify/Compare.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static double distance(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected)))
    return 0;
  double difference = std::fabs(found - expected);
  return std::isfinite(difference) ? difference : kInfinity;
}

static std::string shapeOf(const Tensor &tensor) {
  return "[" +
         llvm::join(llvm::map_range(tensor.shape, [](int64_t s) { return std::to_string(s); }),
                    ", ") +
         "]";
}

static std::string indicesOf(const Tensor &tensor, int64_t place) {
  SmallVector<std::string> indices(tensor.rank());
  for (int64_t axis = tensor.rank(); axis-- > 0; place /= tensor.shape[axis])
    indices[axis] = std::to_string(place % tensor.shape[axis]);
  return "[" + llvm::join(indices, ", ") + "]";
}

Difference mlir::fovea::verify::compare(const Tensor &found, const Tensor &expected, Norm norm) {
  if (found.shape != expected.shape)
    return {kInfinity, "shape " + shapeOf(found) + " instead of " + shapeOf(expected)};
  if (found.isReal != expected.isReal)
    return {kInfinity, "integers and floats"};
  int64_t count = expected.size();
  int64_t row = norm == Norm::PerPosition && expected.rank() ? expected.shape.back() : count;
  Difference result;
  int64_t worst = -1;
  for (int64_t first = 0; first < count; first += row) {
    double greatest = 0, scale = 0;
    int64_t at = first;
    for (int64_t i = first; i < first + row; ++i) {
      Element f = found.at(i), e = expected.at(i);
      double apart =
          expected.isReal ? distance(f.real, e.real) : (f.integer == e.integer ? 0 : kInfinity);
      if (apart > greatest) {
        greatest = apart;
        at = i;
      }
      if (std::isfinite(e.real))
        scale = std::max(scale, std::fabs(e.real));
    }
    // Where all that is expected is zero, any difference is too much.
    double error = greatest == 0 ? 0 : scale == 0 ? kInfinity : greatest / scale;
    if (error > result.error) {
      result.error = error;
      worst = at;
    }
  }
  if (worst >= 0)
    result.where = indicesOf(expected, worst);
  return result;
}

//===-- Overflow and rounding of the program's own -------------------------------------------===//

/// How many times the program's own error is allowed.
static constexpr double kOwnErrors = 3;

/// What a number is expected to be where the exact one and the literal one are not both finite.
static double settleOne(double found, double exact, double literal, bool mayOverflow) {
  bool isLost = std::isfinite(exact) || (mayOverflow && !std::isfinite(literal));
  if (!std::isfinite(found) || isLost)
    return found;
  return std::isfinite(literal) ? literal : exact;
}

Tensor mlir::fovea::verify::settle(const Tensor &found, const Tensor &exact, const Tensor &literal,
                                   bool mayOverflow) {
  Tensor expected = exact;
  int64_t count = exact.size(), row = exact.rank() ? exact.shape.back() : count;
  for (int64_t first = 0; first < count; first += row) {
    double own = 0;
    for (int64_t i = first; i < first + row && exact.isReal; ++i)
      if (std::isfinite(exact.reals[i]) && std::isfinite(literal.reals[i]))
        own = std::max(own, std::fabs(literal.reals[i] - exact.reals[i]));
    for (int64_t i = first; i < first + row; ++i) {
      if (!exact.isReal) {
        if (found.integers[i] == literal.integers[i])
          expected.integers[i] = literal.integers[i];
        continue;
      }
      double one = found.reals[i], &other = expected.reals[i];
      if (!std::isfinite(other) || !std::isfinite(literal.reals[i]))
        other = settleOne(one, other, literal.reals[i], mayOverflow);
      else if (std::fabs(one - other) <= kOwnErrors * own)
        other = one;
    }
  }
  return expected;
}

Difference mlir::fovea::verify::judge(const Tensor &found, const Tensor &exact,
                                      const Tensor &literal, Norm norm, bool mayOverflow) {
  if (found.shape != exact.shape || found.isReal != exact.isReal)
    return compare(found, exact, norm);
  return compare(found, settle(found, exact, literal, mayOverflow), norm);
}

//===-- Tokens -------------------------------------------------------------------------------===//

/// Written after the text of `fovea.argmax`, not after the interpreter's code.
static int64_t chooseToken(const double *logits, int64_t count) {
  if (std::any_of(logits, logits + count, [](double logit) { return std::isnan(logit); }))
    return -1;
  return std::max_element(logits, logits + count) - logits;
}

TensorRef mlir::fovea::verify::chooseTokens(const Tensor &logits) {
  auto tokens = std::make_shared<Tensor>();
  tokens->isReal = false;
  tokens->shape.assign(logits.shape.begin(), logits.shape.end() - 1);
  int64_t count = logits.shape.back();
  for (int64_t first = 0; first < logits.size(); first += count)
    tokens->integers.push_back(chooseToken(&logits.reals[first], count));
  return tokens;
}

Difference mlir::fovea::verify::compareTokens(const Tensor &found, const Tensor &logits,
                                              const Tensor &expected) {
  TensorRef own = chooseTokens(logits);
  if (found.shape != own->shape || found.isReal || logits.shape != expected.shape)
    return compare(found, *own, Norm::Whole);
  int64_t count = expected.shape.back();
  Difference result;
  for (int64_t row = 0; row < found.size(); ++row) {
    const double *reference = &expected.reals[row * count];
    int64_t token = found.integers[row], best = chooseToken(reference, count);
    double scale = 0, error = kInfinity;
    for (int64_t i = 0; i < count; ++i)
      if (std::isfinite(reference[i]))
        scale = std::max(scale, std::fabs(reference[i]));
    if (token == own->integers[row] && token == best)
      error = 0;
    else if (token == own->integers[row] && token >= 0 && best >= 0)
      error = distance(reference[token], reference[best]);
    error = error == 0 ? 0 : scale == 0 ? kInfinity : error / scale;
    if (error > result.error)
      result = {error, indicesOf(found, row)};
  }
  return result;
}
