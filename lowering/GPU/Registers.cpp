// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The digits of layouts, read for one thread.
#include "lowering/GPU/Registers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

bool mlir::fovea::isReadInPlace(Value tile) {
  Operation *op = tile.getDefiningOp();
  return isa_and_present<LoadOp, DequantizeOp>(op) &&
         llvm::all_of(tile.getUses(), [](OpOperand &use) {
           if (auto dequantize = dyn_cast<DequantizeOp>(use.getOwner()))
             return isReadInPlace(dequantize.getResult());
           auto mma = dyn_cast<MmaOp>(use.getOwner());
           return mma && !mma.getAtom() &&
                  &use != &mma.getAccMutable(); // not the sum that a product begins with
         });
}

bool mlir::fovea::isReadByRows(DequantizeOp op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    return dot && dot.getTransposeB() && use.getOperandNumber() == 1;
  });
}

int64_t mlir::fovea::countCopies(LayoutAttr layout, int64_t threads) {
  int64_t held = 1;
  for (int64_t axis : {0, 1})
    for (LayoutAttr::Digit digit : layout.getDigits(axis))
      held *= digit.by ? digit.size : 1;
  // Digits that leave none out count to their product.
  return held == layout.getThreads() && threads % held == 0 ? threads / held : 1;
}

std::optional<TensorWarps> TensorWarps::find(KernelOp kernel, int64_t threads) {
  int64_t rows = 0;
  kernel->walk([&](Operation *op) {
    bool atom = isa<DotOp>(op)   ? cast<DotOp>(op).getAtom().has_value()
                : isa<MmaOp>(op) ? cast<MmaOp>(op).getAtom().has_value()
                                 : false;
    if (atom)
      rows = std::max(rows, cast<TileType>(op->getResult(0).getType()).getRows());
  });
  if (rows == 0)
    return std::nullopt;
  int64_t warps = threads / kWarp;
  TensorWarps result;
  result.rows = std::min(warps, std::max<int64_t>(llvm::PowerOf2Ceil(rows) / 16, 1));
  result.columns = warps / result.rows;
  return result;
}

TileRegisters::TileRegisters(TileType type) {
  LayoutAttr layout = type.getLayout();
  for (int64_t axis : {0, 1}) {
    sizes[axis] = type.getSize(axis);
    counts[axis] = layout.getRegisters(axis);
    for (int64_t number = 0; number < counts[axis]; ++number)
      places[axis].push_back(layout.getPlace(axis, number));
    int64_t stride = 1;
    for (LayoutAttr::Digit digit : layout.getDigits(axis)) {
      if (digit.by)
        reaches[axis] += (digit.size - 1) * stride;
      stride *= digit.size;
    }
  }
}

bool TileRegisters::isFull() const {
  for (int64_t axis : {0, 1})
    if (!surelyInside(axis, counts[axis] - 1)) // the last has the greatest place
      return false;
  return true;
}

bool mlir::fovea::beginsWith(ArrayRef<LayoutAttr::Digit> digits,
                             ArrayRef<LayoutAttr::Digit> first) {
  return digits.size() >= first.size() &&
         llvm::equal(digits.take_front(first.size()), first,
                     [](const LayoutAttr::Digit &l, const LayoutAttr::Digit &r) {
                       return l.size == r.size && l.by == r.by;
                     });
}

bool mlir::fovea::isLeftOperand(LayoutAttr held, LayoutAttr sums) {
  Digits depth = held.getDigits(1);
  return held.getRows() == sums.getRows() && beginsWith(depth, {{2, 0}, {4, 1}}) &&
         llvm::all_of(ArrayRef(depth).drop_front(2),
                      [](LayoutAttr::Digit digit) { return digit.by == 0; });
}

ReduceDigits::ReduceDigits(LayoutAttr layout, int64_t axis) {
  for (LayoutAttr::Digit digit : layout.getDigits(axis)) {
    if (!digit.by || digit.size == 1)
      continue;
    bool powers = llvm::isPowerOf2_64(digit.size) && llvm::isPowerOf2_64(digit.by);
    if (!powers || digit.by >= kWarp) {
      across.push_back(digit);
    } else if (digit.size * digit.by <= kWarp) {
      lanes.push_back(digit);
    } else {
      lanes.push_back({kWarp / digit.by, digit.by});
      across.push_back({digit.size * digit.by / kWarp, kWarp});
    }
  }
}

int64_t ReduceDigits::parts() const {
  int64_t count = 1;
  for (LayoutAttr::Digit digit : across)
    count *= digit.size;
  return count;
}
