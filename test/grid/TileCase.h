// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile programs as text, what to call them with, and what must come out, computed in f64.
#ifndef FOVEA_TEST_GRID_TILECASE_H
#define FOVEA_TEST_GRID_TILECASE_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::fovea {

/// An argument: a row-major buffer, or a number where `type` is "index".
struct Array {
  std::string type; ///< of the elements, as MLIR writes it
  std::vector<int64_t> shape;
  std::vector<double> values;

  double &at(int64_t row, int64_t column) { return values[row * shape.back() + column]; }
  double at(int64_t row, int64_t column) const { return values[row * shape.back() + column]; }
};

struct TileCall {
  std::vector<Array> before, after; ///< the arguments, when the call begins and when it ends
};

/// A kernel `@kernel(arguments..., part, parts)`.
struct TileCase {
  std::string name, text;
  std::vector<TileCall> calls;
  /// How far results may be off, relative to the largest of a buffer. Zero where the inputs have so
  /// few bits that f32 sums are exact in every order.
  double tolerance = 0;
  bool isOfProcessors = false; ///< which alone run it
};

std::vector<TileCase> makeContractionCases();
/// Contractions with weights of 4 and 8 bits.
std::vector<TileCase> makeIntegerCases();
std::vector<TileCase> makeAttentionCases();
/// Attention whose products multiply 16 bits by 16, as GPUs are scheduled to.
std::vector<TileCase> makeHalfAttentionCases();
std::vector<TileCase> makeRowCases();

/// `text` with every `$NAME` replaced by the word of that name.
std::string fill(const std::string &text,
                 const std::vector<std::pair<std::string, std::string>> &words);

/// A buffer of multiples of 1/32, most of them between -2 and 2, all exact in bf16; the same for
/// the same seed. Or, not `exact` ones, of any f32.
Array makeNumbers(std::string type, std::vector<int64_t> shape, int seed, bool exact = true);
Array makeIndex(int64_t value);

/// Numbers to be reduced; for a `maximum` negative ones, and NaN at two places: a maximum is a
/// number unless all are NaN.
Array makeReduced(std::string type, int64_t rows, int64_t columns, int seed, bool maximum);
/// The sum or the maximum of column `at` (axis 0) or row `at` (axis 1).
double reduce(const Array &x, int axis, bool maximum, int64_t at);

/// Tiles `$T` of 4x9 out of a branch, tiles that a loop exchanges, and beside them a scalar, which
/// `$EXTRACT` may make `$K` of.
extern const char *const kCarried;
/// What it makes of [rows, 9] in that many rounds; nothing in one.
void carry(const Array &x, int64_t rounds, Array &y);

} // namespace mlir::fovea

#endif // FOVEA_TEST_GRID_TILECASE_H
