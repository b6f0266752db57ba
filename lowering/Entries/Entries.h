// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the manifest says of entries, and what a launch tells a kernel.
#ifndef FOVEA_LOWERING_ENTRIES_ENTRIES_H
#define FOVEA_LOWERING_ENTRIES_ENTRIES_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace mlir::fovea {

/// Whether a kernel has `fovea.fault` ops, or had some before it lost its body.
bool mayFault(func::FuncOp kernel);
/// Turns a kernel's `fovea.fault` ops into stores of `word`, an i64, to `address`.
void lowerFaults(func::FuncOp kernel, Value address, Value word);

/// The threads of a block of a kernel (`fovea.threads`, or this many), and the bytes of shared
/// memory that a launch asks for (`fovea.shared_bytes`, or none).
inline constexpr int64_t kDefaultThreads = 128;
int64_t getThreads(Operation *kernel);
int64_t getSharedBytes(Operation *kernel);

/// What a kernel on a device is told of a buffer behind its address: in this order the axes whose
/// sizes, whether the offset, and the axes whose strides are not in its type. The strides of a
/// buffer without a layout follow from its sizes.
struct BufferParameters {
  explicit BufferParameters(MemRefType type);
  SmallVector<int64_t> sizes;
  bool offset = false;
  SmallVector<int64_t> strides;
};

/// One launch of an entry.
struct EntryStep {
  std::string kernel;   ///< symbol of the kernel
  std::string location; ///< where in the model it comes from
  /// Places, among the numbers that `plan` writes, of its floating-point operations and of its
  /// bytes read and written; 0 where they are not known.
  int64_t flops = 0, bytes = 0;
};

/// What the manifest says about an entry.
struct EntryLayout {
  std::string name;
  SignatureAttr signature;
  int64_t localsCount = 0;  ///< numbers that `plan` writes
  int64_t maxPositions = 0; ///< 0: not bounded
  std::vector<EntryStep> steps;
};

/// Describes the entries of a module of the `kernels` or `llvm` stage. The number of a weight is
/// its place among the module's `fovea.weight` ops.
FailureOr<std::vector<EntryLayout>> describeEntries(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_ENTRIES_ENTRIES_H
