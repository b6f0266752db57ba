// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a module: each group becomes one or more functions on buffers, and equal groups on
// equal buffers share them.
#ifndef FOVEA_LOWERING_KERNELS_KERNELTABLE_H
#define FOVEA_LOWERING_KERNELS_KERNELTABLE_H

#include "lowering/Kernels/KernelBuilder.h"
#include <deque>

namespace mlir::fovea {

/// All kernels of a module; equal groups on equal buffers get the same one.
class KernelTable {
public:
  explicit KernelTable(ModuleOp module) : module(module), symbols(module) {}

  /// The kernel that computes `group`, whose operands and results have become values of `types`;
  /// null if it is a tile program and these buffers lie so that they are no matrices.
  FailureOr<const KernelPhases *> get(GroupOp group, ArrayRef<Type> types);
  /// The kernel that copies between buffers of these types.
  func::FuncOp getCopy(Location loc, MemRefType source, MemRefType target);
  /// A constant as a buffer.
  memref::GlobalOp getConstant(Location loc, DenseElementsAttr value);

  unsigned getCount() const { return count; }

private:
  func::FuncOp insert(func::FuncOp function, StringRef name);
  void replaceTensorReads(func::FuncOp kernel);

  struct Kernel {
    GroupOp group; ///< null for a copy
    SmallVector<Type> types;
    KernelPhases phases;
  };
  FailureOr<bool> build(GroupOp group, ArrayRef<Type> types, Kernel &kernel);
  LogicalResult addConstants(KernelBuilder &k, GroupOp group);
  LogicalResult buildSingle(KernelBuilder &k, GroupOp group, Attribute schedule);

  ModuleOp module;
  SymbolTable symbols;
  std::deque<Kernel> kernels;
  llvm::DenseMap<Attribute, memref::GlobalOp> constants;
  llvm::StringMap<unsigned> names;
  unsigned count = 0;
};

/// Whether a cache, an argument of a group's region, is grown by the group rather than read.
bool isAppended(BlockArgument cache);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_KERNELTABLE_H
