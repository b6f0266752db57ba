// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a weight of two axes lies in memory: what the compiler packs, a manifest says, kernels read
// and a device may want otherwise.
#ifndef FOVEA_ABI_PANELS_H
#define FOVEA_ABI_PANELS_H

#include <cstdint>

namespace fovea {

/// A matrix [outputs, inputs] lies as [outputs / width][inputs / interleave][width][interleave],
/// rounded up; what is past its sizes is zero. Inputs that share a byte are one. One by one it is
/// row-major, as is every tensor of other than two axes.
struct Panels {
  int64_t width = 1, interleave = 1;

  bool isRowMajor() const { return width == 1 && interleave == 1; }
  static bool isWidth(int64_t width) { return width > 0 && width <= 1024 && width % 8 == 0; }
  static bool isInterleave(int64_t interleave) {
    return interleave > 0 && interleave <= 16 && (interleave & (interleave - 1)) == 0;
  }
  /// Whether kernels know this layout.
  bool isKnown() const { return isRowMajor() || (isWidth(width) && isInterleave(interleave)); }

  int64_t count(int64_t outputs) const { return divideUp(outputs, width); }
  /// Pieces of an output, each of `interleave` inputs.
  int64_t units(int64_t inputs) const { return divideUp(inputs, interleave); }
  /// Elements of each output, with those that are past its end.
  int64_t depth(int64_t inputs) const { return units(inputs) * interleave; }

  bool operator==(const Panels &other) const {
    return width == other.width && interleave == other.interleave;
  }
  bool operator!=(const Panels &other) const { return !(*this == other); }

private:
  /// For a that is not negative; a + b may be too large.
  static int64_t divideUp(int64_t a, int64_t b) { return a / b + (a % b != 0); }
};

} // namespace fovea

#endif // FOVEA_ABI_PANELS_H
