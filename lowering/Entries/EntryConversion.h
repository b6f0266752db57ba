// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One entry on its way from tensors to launches on buffers.
#ifndef FOVEA_LOWERING_ENTRIES_ENTRYCONVERSION_H
#define FOVEA_LOWERING_ENTRIES_ENTRYCONVERSION_H

#include "lowering/Entries/Arena.h"
#include "lowering/Entries/SizeChecks.h"
#include "lowering/Kernels/KernelTable.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fovea {

/// A tensor as memory, with its sizes as values of the new entry.
struct Buffer {
  Value memory;
  SmallVector<OpFoldResult> sizes;
};

/// Writes a new entry of launches beside `entry`, with the kernels of a table that all entries of
/// the module share. Says with a diagnostic what it cannot convert.
class EntryConversion {
public:
  EntryConversion(func::FuncOp entry, KernelTable &kernels)
      : entry(entry), kernels(kernels), math(entry), body(entry), checks(math) {}
  LogicalResult run();
  unsigned launches = 0;
  unsigned getSlotCount() const { return arena.getSlotCount(); }

private:
  LogicalResult createFunction();
  struct Signature;
  LogicalResult readSignature(Signature &signature);
  SmallVector<OpFoldResult> readSizes(Value memory, ArrayAttr dims);
  void bindArguments(Block *block);
  void findLifetimes();
  LogicalResult convert(Operation *op);
  LogicalResult convertGroup(GroupOp group);
  struct GroupBuffers;
  LogicalResult addCache(GroupOp group, Value operand, BlockArgument argument, GroupBuffers &of);
  LogicalResult addOperands(GroupOp group, GroupBuffers &of);
  LogicalResult addResults(GroupOp group, const ReifiedRankedShapedTypeDims &shapes,
                           const llvm::DenseMap<Value, OpFoldResult> &added, GroupBuffers &of);
  /// A size of a value in a group: a cache's (axis 0 its batch, 1 its length), and sizes outside of
  /// the group, added up.
  struct SizeOfGroup {
    Value cache;
    int64_t axis = 0;
    SmallVector<OpFoldResult, 2> terms;
  };
  struct RuleOfGroup {
    SizeOfGroup left, right;
    bool orOne;
  };
  LogicalResult findRules(GroupOp group, OpBuilder &asking, std::vector<RuleOfGroup> &rules);
  OpFoldResult sizeOf(const SizeOfGroup &size, const llvm::DenseMap<Value, CacheBuffer> &caches);
  LogicalResult launch(GroupOp group, ValueRange inputs, ValueRange outputs, ValueRange cost);
  Value computeAgain(Value value, const KernelPhases &phases, ValueRange operands,
                     IRMapping &known);
  OpFoldResult getSize(Value operand, int64_t axis);
  FailureOr<CacheBuffer> getCache(GroupOp group, Value operand, BlockArgument argument);
  LogicalResult convertReturn(func::ReturnOp op);
  LogicalResult convertView(Operation *op);
  Buffer viewSlice(tensor::ExtractSliceOp slice, const Buffer &source);
  FailureOr<Buffer> viewExpanded(tensor::ExpandShapeOp expand, Buffer source);
  Buffer viewCollapsed(tensor::CollapseShapeOp collapse, Buffer source);
  Buffer viewCast(Operation *op, const Buffer &source);
  OpFoldResult multiply(Location loc, ArrayRef<OpFoldResult> sizes, ArrayRef<int64_t> axes);
  void launchCopy(Location loc, Value source, Value target);
  Value copyDense(Operation *view, const Buffer &source);
  Value reshapeDense(Location loc, Value memory, ArrayRef<int64_t> shape,
                     ArrayRef<OpFoldResult> sizes);
  Value rootOf(Value value) const { return roots.lookup_or(value, value); }
  LogicalResult convertIndexOp(Operation *op);

  Value allocate(Location loc, MemRefType type, ArrayRef<OpFoldResult> sizes, int64_t first,
                 int64_t last);
  /// Memory that holds `value` from `op` to its last reader.
  Value allocateFor(Value value, Operation *op, MemRefType type, ArrayRef<OpFoldResult> sizes);
  OpFoldResult map(OpFoldResult size);
  SmallVector<OpFoldResult> map(ArrayRef<OpFoldResult> sizes);
  Value toValue(Location loc, OpFoldResult size);

  func::FuncOp entry, fresh;
  KernelTable &kernels;
  OpBuilder math, body;
  SizeChecks checks;
  ArenaPlan arena;
  Value arenaMemory;
  llvm::DenseMap<Value, Buffer> buffers;
  llvm::DenseMap<Value, SmallVector<OpFoldResult>> memorySizes; ///< of memory that is no argument
  llvm::DenseMap<Value, CacheBuffer> caches;
  llvm::DenseMap<Value, int64_t> cacheArgument; ///< which argument a cache value grows from
  llvm::DenseMap<Value, Operation *> appendedBy;
  IRMapping scalars;
  llvm::DenseMap<Value, unsigned>
      resultOf; ///< group results that go straight to the caller's buffers
  llvm::DenseMap<Value, int64_t> lastUse;
  llvm::DenseMap<Operation *, int64_t> order;
  llvm::DenseMap<Value, Value> roots; ///< what a view looks at, a grown cache's first value
  SmallVector<Value> resultBuffers;   ///< by result; null for caches
  /// Sizes by the names that `fovea.dims` gives them.
  llvm::StringMap<Value> namedSizes;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_ENTRIES_ENTRYCONVERSION_H
