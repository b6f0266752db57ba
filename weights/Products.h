// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices of f32 for the compiler's own arithmetic, in the vectors that this machine
// has. Models are multiplied by compiled kernels; this is for what is asked of their weights.
#ifndef FOVEA_WEIGHTS_PRODUCTS_H
#define FOVEA_WEIGHTS_PRODUCTS_H

#include <cstdint>

namespace mlir::fovea {

/// c[i, j] += factor * sum over k of a[k, i] * b[k, j]. Strides are from row to row, in elements.
struct ProductOfColumns {
  const float *a;
  int64_t strideOfA;
  const float *b;
  int64_t strideOfB;
  float *c;
  int64_t strideOfC;
  int64_t rows, columns, depth; ///< of c, and the number of k
  float factor = 1;
};

/// On the calling thread.
void addProduct(const ProductOfColumns &product);

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_PRODUCTS_H
