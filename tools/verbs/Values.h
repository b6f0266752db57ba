// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays as people write and read them: `x=[[1, 2], [3, 4]]` on the command line, and rows of
// numbers on standard output. Refuses numbers that the element type cannot hold; reads no file.
#ifndef FOVEA_TOOLS_VERBS_VALUES_H
#define FOVEA_TOOLS_VERBS_VALUES_H

#include "tools/verbs/Npz.h"

#include <nlohmann/json_fwd.hpp>

namespace fovea::verbs {

/// What made-up numbers depend on besides an array's name and shape.
struct Chance {
  uint64_t seed = 0;
  int64_t vocabulary = 0; ///< token ids are below it; 0: not known
};

/// An array of `value`'s name and element type from VALUES: nested lists of numbers as JSON has
/// them, or `random:2x5x8`: floats of mean 0 and variance 4/3; token ids of the vocabulary; ones of
/// an attention mask; `random:2x5:100`, integers from 0 to 99. False, and `error` says what was
/// found and expected, if it is neither.
/// Whether the shape is what the entry takes is for the runtime to say.
bool parseValues(const std::string &text, const fovea_value_info &value, const Chance &chance,
                 Array &array, std::string &error);

/// Whether elements are floats of any size.
bool isReal(fovea_dtype type);
/// "f32", "bf16", "bool".
std::string typeName(fovea_dtype type);
/// Appends the nearest float of that type, ties to even; what is too large becomes infinite.
void appendReal(Bytes &data, double value, fovea_dtype type);
double realAt(const Array &array, size_t i);
int64_t integerAt(const Array &array, size_t i);
size_t countElements(const Array &array);

/// The array as the runtime reads it, which does not copy.
fovea_tensor tensorOf(Array &array);

/// "[batch, 3, 8] f32": what a caller has to give or will get.
std::string describe(const fovea_value_info &value);

/// A title and the numbers, the innermost axis on a line: four decimals, or exponents where these
/// would say nothing or too much. Finite numbers are what parseValues reads. Of more than a
/// thousand only the first and last three of each axis, with dots between, unless `isFull`.
std::string printValues(const Array &array, bool isFull);

/// The numbers as nested lists; null for what is not finite.
nlohmann::ordered_json toJson(const Array &array);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_VALUES_H
