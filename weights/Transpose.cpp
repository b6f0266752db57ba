// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposition in blocks of vectors of 16 bytes, which every x86-64 has: about as fast as memory.
// Sizes other than 2, 4 and 8 bytes, and what is left at the edges, go element by element.
#include "weights/Transpose.h"
#include <algorithm>
#include <cstring>

/// `a[0], b[0], a[1], b[1], ...`: the first and the second half.
template <typename Vector> struct Zip;

#define FOVEA_ZIP(TYPE, LOW, HIGH)                                                                 \
  template <> struct Zip<TYPE> {                                                                   \
    static TYPE low(TYPE a, TYPE b) { return __builtin_shufflevector LOW; }                        \
    static TYPE high(TYPE a, TYPE b) { return __builtin_shufflevector HIGH; }                      \
  }

typedef uint16_t Vector16 __attribute__((vector_size(16)));
typedef uint32_t Vector32 __attribute__((vector_size(16)));
typedef uint64_t Vector64 __attribute__((vector_size(16)));
FOVEA_ZIP(Vector16, (a, b, 0, 8, 1, 9, 2, 10, 3, 11), (a, b, 4, 12, 5, 13, 6, 14, 7, 15));
FOVEA_ZIP(Vector32, (a, b, 0, 4, 1, 5), (a, b, 2, 6, 3, 7));
FOVEA_ZIP(Vector64, (a, b, 0, 2), (a, b, 1, 3));
#undef FOVEA_ZIP

/// A block of as many rows as a vector has elements.
template <typename Vector>
static void transposeBlock(const char *in, int64_t inStride, char *out, int64_t outStride) {
  constexpr int kSize = sizeof(Vector) / sizeof(Vector{}[0]);
  Vector rows[kSize], next[kSize];
  for (int i = 0; i < kSize; ++i)
    std::memcpy(&rows[i], in + i * inStride, sizeof(Vector));
  // Each step shuffles the rows perfectly; after log2 steps rows have become columns.
  for (int step = 1; step < kSize; step *= 2) {
    for (int i = 0; i < kSize / 2; ++i) {
      next[2 * i] = Zip<Vector>::low(rows[i], rows[i + kSize / 2]);
      next[2 * i + 1] = Zip<Vector>::high(rows[i], rows[i + kSize / 2]);
    }
    std::memcpy(rows, next, sizeof rows);
  }
  for (int i = 0; i < kSize; ++i)
    std::memcpy(out + i * outStride, &rows[i], sizeof(Vector));
}

/// Element by element. `Size` of 0: `size` bytes.
template <int64_t Size>
static void transposeEdge(const char *in, int64_t inStride, int64_t rows, int64_t columns,
                          int64_t size, char *out, int64_t outStride) {
  if (Size != 0)
    size = Size;
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(out + c * outStride + r * size, in + r * inStride + c * size, size);
}

template <typename Vector>
static void transposeVectors(const char *in, int64_t inStride, int64_t rows, int64_t columns,
                             char *out, int64_t outStride) {
  constexpr int64_t kElement = sizeof(Vector{}[0]), kSize = sizeof(Vector) / kElement;
  constexpr int64_t kLine = 64 / kElement;
  int64_t wholeRows = rows - rows % kSize, wholeColumns = columns - columns % kSize;
  // A cache line of few rows is read whole before the next rows: they may lie a power of two apart
  // and push each other out of the cache.
  for (int64_t line = 0; line < wholeColumns; line += kLine)
    for (int64_t r = 0; r < wholeRows; r += kSize)
      for (int64_t c = line; c < std::min(line + kLine, wholeColumns); c += kSize)
        transposeBlock<Vector>(in + r * inStride + c * kElement, inStride,
                               out + c * outStride + r * kElement, outStride);
  transposeEdge<kElement>(in + wholeColumns * kElement, inStride, wholeRows, columns - wholeColumns,
                          kElement, out + wholeColumns * outStride, outStride);
  transposeEdge<kElement>(in + wholeRows * inStride, inStride, rows - wholeRows, columns, kElement,
                          out + wholeRows * kElement, outStride);
}

void mlir::fovea::transposeElements(const char *in, int64_t inStride, int64_t rows, int64_t columns,
                                    int64_t size, char *out, int64_t outStride) {
  switch (size) {
  case 2:
    return transposeVectors<Vector16>(in, inStride, rows, columns, out, outStride);
  case 4:
    return transposeVectors<Vector32>(in, inStride, rows, columns, out, outStride);
  case 8:
    return transposeVectors<Vector64>(in, inStride, rows, columns, out, outStride);
  default:
    return transposeEdge<0>(in, inStride, rows, columns, size, out, outStride);
  }
}
