// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows that slide over the spatial axes of [N, C, ...]: what convolutions and pools share.
#ifndef FOVEA_FRONTEND_ONNX_WINDOWS_H
#define FOVEA_FRONTEND_ONNX_WINDOWS_H

#include "frontend/ONNX/Importer.h"

namespace mlir::fovea::onnx {

/// What the attributes say about each spatial axis.
struct Window {
  SmallVector<int64_t> kernel, strides, dilations;
  /// Elements that are put before and behind each axis.
  SmallVector<Sym> low, high;
  /// How many of `high` only complete the last window (ceil_mode).
  SmallVector<Sym> beyond;
  /// How many windows there are along each axis.
  SmallVector<Sym> counts;

  size_t rank() const { return kernel.size(); }
  /// Elements of one window.
  int64_t volume() const;
  /// The place of window `window`'s element `element` along spatial axis `i`.
  AffineExpr place(size_t i, AffineExpr window, AffineExpr element) const {
    return window * strides[i] + element * dilations[i];
  }
};

/// Reads strides, dilations, pads and auto_pad for windows of this kernel, of a pool ceil_mode too.
/// Refuses an input that is smaller than a window.
FailureOr<Window> readWindow(Importer &im, const Data &x, ArrayRef<int64_t> kernel, bool isPool);

/// `x` with so many elements `value` around its spatial axes.
Data *pad(Importer &im, Data &x, ArrayRef<Sym> low, ArrayRef<Sym> high, const Element &value);

/// The sum or the greatest element of each window of a padded tensor; sums of half precision are in
/// f32.
Data *slide(Importer &im, Data &padded, const Window &window, Importer::Reduction kind);

} // namespace mlir::fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_WINDOWS_H
