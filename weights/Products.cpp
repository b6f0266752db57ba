// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of both operands are copied side by side, so that rows which lie a power of two apart do
// not share a set of the cache, and multiplied in registers. The loops are written once for any
// width of vectors.
#include "weights/Products.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace mlir::fovea;

namespace {

/// Rows of a and b that are copied at once, and columns of b: a quarter MiB.
constexpr int64_t kDepth = 256, kColumns = 256;

/// Registers of `Lanes` floats; a tile is `Rows` by `Vectors` of them.
template <int Lanes, int Rows, int Vectors> struct Tile {
  typedef float Vector __attribute__((vector_size(Lanes * sizeof(float)), aligned(4)));
  static constexpr int64_t kRows = Rows, kWidth = int64_t(Lanes) * Vectors;

  /// `a` holds kRows and `b` kWidth numbers for each k.
  [[gnu::always_inline]] static inline void multiply(const float *a, const float *b, int64_t depth,
                                                     float *c) {
    Vector sums[Rows][Vectors] = {};
    for (int64_t k = 0; k < depth; ++k, a += kRows, b += kWidth) {
      Vector row[Vectors];
      std::memcpy(row, b, sizeof(row));
#pragma clang loop unroll(full)
      for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
        for (int j = 0; j < Vectors; ++j)
          sums[i][j] += row[j] * a[i];
    }
    std::memcpy(c, sums, sizeof(sums));
  }
};

/// Copies columns [first, first + width) of `depth` rows, each row's behind the other's; zeros
/// where there are no more than `count`.
[[gnu::always_inline]] inline void copyColumns(const float *from, int64_t stride, int64_t depth,
                                               int64_t count, int64_t width, float *to) {
  for (int64_t k = 0; k < depth; ++k, from += stride, to += width) {
    std::memcpy(to, from, sizeof(float) * count);
    std::fill(to + count, to + width, 0.0f);
  }
}

template <typename T>
[[gnu::always_inline]] inline void addProductBy(const ProductOfColumns &p, float *a, float *b) {
  constexpr int64_t kRows = T::kRows, kWidth = T::kWidth;
  alignas(64) float sums[kRows * kWidth];
  for (int64_t first = 0; first < p.columns; first += kColumns)
    for (int64_t k = 0; k < p.depth; k += kDepth) {
      int64_t depth = std::min(kDepth, p.depth - k);
      int64_t end = std::min(first + kColumns, p.columns);
      for (int64_t j = first; j < end; j += kWidth)
        copyColumns(p.b + k * p.strideOfB + j, p.strideOfB, depth, std::min(kWidth, end - j),
                    kWidth, b + (j - first) * depth);
      for (int64_t i = 0; i < p.rows; i += kRows) {
        int64_t rows = std::min(kRows, p.rows - i);
        copyColumns(p.a + k * p.strideOfA + i, p.strideOfA, depth, rows, kRows, a);
        for (int64_t j = first; j < end; j += kWidth) {
          int64_t width = std::min(kWidth, end - j);
          T::multiply(a, b + (j - first) * depth, depth, sums);
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t column = 0; column < width; ++column)
              p.c[(i + row) * p.strideOfC + j + column] += p.factor * sums[row * kWidth + column];
        }
      }
    }
}

} // namespace

/// The most rows and the most width of a tile.
static constexpr int64_t kMostRows = 8, kMostWidth = 64;

#if defined(__x86_64__)
[[gnu::target("arch=x86-64-v4"), clang::min_vector_width(512)]] static void
addByAvx512(const ProductOfColumns &product, float *a, float *b) {
  addProductBy<Tile<16, 8, 3>>(product, a, b);
}

[[gnu::target("arch=x86-64-v3")]] static void addByAvx2(const ProductOfColumns &product, float *a,
                                                        float *b) {
  addProductBy<Tile<8, 6, 2>>(product, a, b);
}
#endif

void mlir::fovea::addProduct(const ProductOfColumns &product) {
  // Kept, since small products are many.
  thread_local std::vector<float> a(kDepth * kMostRows), b(kDepth * (kColumns + kMostWidth));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4"))
    return addByAvx512(product, a.data(), b.data());
  if (__builtin_cpu_supports("x86-64-v3"))
    return addByAvx2(product, a.data(), b.data());
#endif
  addProductBy<Tile<4, 4, 2>>(product, a.data(), b.data());
}
