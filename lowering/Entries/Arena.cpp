// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Entries/Arena.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fovea;

static constexpr int64_t kAlignment = 64;

Value ArenaPlan::getBytes(OpBuilder &math, Location loc, ArrayRef<OpFoldResult> sizes,
                          Type elementType) {
  int64_t factor = getStorageBytes(elementType, 1);
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      factor *= *constant;
    else
      dynamic.push_back(cast<Value>(size));
  }
  llvm::sort(dynamic,
             [](Value l, Value r) { return l.getAsOpaquePointer() < r.getAsOpaquePointer(); });
  for (auto &[knownFactor, knownSizes, bytes] : known)
    if (knownFactor == factor && knownSizes == dynamic)
      return bytes;
  Value bytes = arith::ConstantIndexOp::create(math, loc, factor);
  // In the order of the axes, so that the text does not depend on addresses.
  for (OpFoldResult size : sizes)
    if (!getConstantIntValue(size))
      bytes = arith::MulIOp::create(math, loc, bytes, cast<Value>(size));
  if (dynamic.empty() || factor % kAlignment != 0) {
    Value mask = arith::ConstantIndexOp::create(math, loc, -kAlignment);
    Value slack = arith::ConstantIndexOp::create(math, loc, kAlignment - 1);
    bytes = arith::AndIOp::create(math, loc, arith::AddIOp::create(math, loc, bytes, slack), mask);
  }
  known.emplace_back(factor, dynamic, bytes);
  return bytes;
}

unsigned ArenaPlan::allocate(int64_t first, int64_t last, Value bytes) {
  // A free slot that had this very size wastes nothing; any other free one is better than a new
  // one.
  std::optional<unsigned> free;
  for (auto [i, slot] : llvm::enumerate(slots)) {
    if (slot.busyUntil >= first)
      continue;
    bool same = llvm::is_contained(slot.bytes, bytes);
    if (same || !free)
      free = i;
    if (same)
      break;
  }
  if (!free) {
    slots.push_back({{bytes}, last});
    return slots.size() - 1;
  }
  Slot &slot = slots[*free];
  if (!llvm::is_contained(slot.bytes, bytes))
    slot.bytes.push_back(bytes);
  slot.busyUntil = last;
  return *free;
}

Value ArenaPlan::finish(OpBuilder &math, Location loc) {
  Value offset = arith::ConstantIndexOp::create(math, loc, 0);
  SmallVector<Value> offsets;
  for (Slot &slot : slots) {
    offsets.push_back(offset);
    Value bytes = slot.bytes.front();
    for (Value other : ArrayRef(slot.bytes).drop_front())
      bytes = arith::MaxUIOp::create(math, loc, bytes, other);
    offset = arith::AddIOp::create(math, loc, offset, bytes);
  }
  for (auto [slot, use] : uses)
    use->set(offsets[slot]);
  return offset;
}
