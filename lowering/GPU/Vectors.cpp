// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which neighbours move at once. Nothing is emitted here but what proofs need of places.
#include "lowering/GPU/Vectors.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

int64_t mlir::fovea::getVectorElements(Type element) {
  int64_t bits = element.getIntOrFloatBitWidth();
  return bits % 4 == 0 ? kVectorBytes * 8 / bits : 1;
}

bool mlir::fovea::isAligned(const ViewMemory &view, Value row, Value column, int64_t axis,
                            bool several, int64_t width) {
  if (view.panel != 0) // what is interleaved, of any output
    return axis == 1 && view.interleave % width == 0 && isMultipleOf(view.base, width) &&
           isMultipleOf(view.panelStride, width) && isMultipleOf(column, width);
  if (!view.isUnit(axis))
    return false;
  Value first[2] = {row, column};
  return isMultipleOf(view.base, width) && isMultipleOf(first[axis], width) &&
         (isMultipleOf(view.stride[1 - axis], width) ||
          (!several && isMultipleOf(first[1 - axis], width)));
}

//===-- Registers ----------------------------------------------------------------------------===//

RegisterRuns::RegisterRuns(TileType type, int64_t axis, function_ref<bool(int64_t)> isAligned)
    : axis(axis) {
  SmallVector<LayoutAttr::Digit> digits = type.getLayout().getDigits(axis);
  if (digits.empty() || digits.front().by != 0)
    return;
  int64_t most = getVectorElements(type.getElementType());
  while (digits.front().size % most != 0 || type.getSize(axis) % most != 0 ||
         (most > 1 && !isAligned(most)))
    most /= 2;
  width = most;
}

SmallVector<int64_t> RegisterRuns::from(const TileRegisters &registers, int64_t index) const {
  SmallVector<int64_t> run;
  if (registers.along(axis, index) % width != 0)
    return run;
  for (int64_t i = 0; i < width; ++i)
    run.push_back(index + i * (axis == 1 ? 1 : registers.count(1)));
  return run;
}

//===-- Copies -------------------------------------------------------------------------------===//

CopyOrder::CopyOrder(const ViewMemory &view, SharedType type)
    : inside({{0, 0}}), elementBytes(type.getElementType().getIntOrFloatBitWidth() / 8) {
  // Of what is interleaved as much as divides the matrix.
  int64_t panel = view.panel, pair = std::gcd(view.interleave, type.getColumns());
  bool panels = panel != 0 && type.getRows() % panel == 0;
  if (panels) {
    int64_t of[4][3] = {{pair, 1, 1},
                        {panel, 0, 1},
                        {type.getColumns() / pair, 1, pair},
                        {type.getRows() / panel, 0, panel}};
    for (int i = 0; i < 4; ++i)
      sizes[i] = of[i][0], axes[i] = of[i][1], steps[i] = of[i][2];
  } else {
    int64_t fast = panel != 0 || view.isUnit(0) ? 0 : 1;
    for (int i = 0; i < 4; ++i)
      sizes[i] = 1, axes[i] = 0, steps[i] = 0;
    for (int i = 0; i < 2; ++i)
      axes[i] = i == 0 ? fast : 1 - fast, sizes[i] = type.getSize(axes[i]), steps[i] = 1;
  }
  cut(type);
}

CopyOrder::CopyOrder(const ViewMemory &view, Value row, Value column, SharedType type,
                     bool asynchronous)
    : CopyOrder(view, type) {
  // Of integers that become floats as many as one load brings; they are stored in pieces.
  int64_t bits =
      std::min(view.type.getIntOrFloatBitWidth(), type.getElementType().getIntOrFloatBitWidth());
  for (int64_t width = kVectorBytes * 8 / bits; width > 1; width /= 2) {
    CopyOrder wider = *this;
    if (!wider.widen(view, row, column, type, width))
      continue;
    // Else each element is stored for itself, by threads that are further apart.
    if (wider.pieces.front().size() == 1 || (asynchronous && !wider.isOnePiece()))
      continue;
    *this = wider;
    return;
  }
}

bool CopyOrder::widen(const ViewMemory &view, Value row, Value column, SharedType type,
                      int64_t width) {
  bool panels = view.panel != 0 && sizes[3] * steps[3] == type.getRows();
  if (!panels) {
    int64_t fast = axes[0];
    if (view.panel != 0 || !view.isUnit(fast) || sizes[0] % width != 0)
      return false;
    if (!isAligned(view, row, column, fast, sizes[1] > 1, width))
      return false;
    endsWithVectors = isMultipleOf(view.extent[fast], width);
  } else {
    // Neighbours in k of one output, or all that are interleaved of outputs beside each other. What
    // is past the view's end beside its elements is zero.
    int64_t pair = sizes[0], along = std::min(width, pair), outputs = width / along;
    if (pair % along != 0 || (outputs > 1 && pair != view.interleave) ||
        view.panel % outputs != 0 || !isMultipleOf(view.base, width) ||
        !isMultipleOf(view.panelStride, width) || !isMultipleOf(row, outputs) ||
        !isMultipleOf(column, along))
      return false;
  }
  inside.clear();
  for (int64_t number = 0; number < width; ++number) {
    std::array<int64_t, 2> at = {0, 0};
    int64_t rest = number;
    for (int i = 0; i < 4; ++i) {
      at[axes[i]] += rest % sizes[i] * steps[i];
      rest /= sizes[i];
    }
    inside.push_back(at);
  }
  int64_t left = width;
  for (int i = 0; i < 4 && left > 1; ++i) {
    int64_t whole = std::min(left, sizes[i]);
    sizes[i] /= whole;
    steps[i] *= whole;
    left /= whole;
  }
  cut(type);
  return true;
}

/// Pieces are as large as all of a vector's places in shared memory allow, and begin at multiples
/// of their size.
void CopyOrder::cut(SharedType type) {
  auto place = [&](std::array<int64_t, 2> at) {
    return at[0] * type.getRowStride() + at[1] * type.getColumnStride();
  };
  auto sorted = llvm::to_vector(llvm::seq<int64_t>(0, width()));
  llvm::sort(sorted, [&](int64_t l, int64_t r) { return place(inside[l]) < place(inside[r]); });
  auto fits = [&](int64_t size) {
    for (int i = 0; i < 4; ++i) {
      std::array<int64_t, 2> at = {0, 0};
      at[axes[i]] = steps[i];
      if (sizes[i] > 1 && place(at) % size != 0)
        return false;
    }
    for (int64_t i = 0; i < width(); ++i) {
      int64_t begin = place(inside[sorted[i / size * size]]);
      if (begin % size != 0 || place(inside[sorted[i]]) != begin + i % size)
        return false;
    }
    return true;
  };
  int64_t piece = std::min(width(), getVectorElements(type.getElementType()));
  while (!fits(piece))
    piece /= 2;
  pieces.clear();
  for (int64_t i = 0; i < width(); i += piece)
    pieces.emplace_back(ArrayRef(sorted).slice(i, piece));
}
