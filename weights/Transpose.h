// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposition of plain bytes, for recipes.
#ifndef FOVEA_WEIGHTS_TRANSPOSE_H
#define FOVEA_WEIGHTS_TRANSPOSE_H

#include <cstdint>

namespace mlir::fovea {

/// `out[c][r] = in[r][c]` for r below `rows` and c below `columns`, elements of `size` bytes.
/// Strides are bytes from row to row. The two must not overlap; nothing need be aligned.
void transposeElements(const char *in, int64_t inStride, int64_t rows, int64_t columns,
                       int64_t size, char *out, int64_t outStride);

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_TRANSPOSE_H
