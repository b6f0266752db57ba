// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Families of processors: those that run the same code, apart from instructions that only some of
// them have.
#ifndef FOVEA_LOWERING_TARGETS_PROCESSORFAMILY_H
#define FOVEA_LOWERING_TARGETS_PROCESSORFAMILY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::fovea {

struct ProcessorFamily {
  llvm::StringLiteral name; ///< of the family, and in --target of the least of its processors
  llvm::StringLiteral triple;
  llvm::StringLiteral processor; ///< LLVM's name of the least
  llvm::StringLiteral portable;  ///< in --target: one processor of each level
  llvm::StringLiteral emulation; ///< as linkers name it
  llvm::StringLiteral binutils;  ///< how Debian's programs for it begin
  /// By LLVM's names, sorted: what LLVM makes use of, a processor of the family may lack, and
  /// runtime/CpuFeatures.cpp asks it for.
  llvm::ArrayRef<llvm::StringLiteral> asked;
};

extern const ProcessorFamily kX86, kAarch64;

llvm::ArrayRef<const ProcessorFamily *> getFamilies();

/// That of the machine which the compiler runs on.
const ProcessorFamily &getHostFamily();

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_TARGETS_PROCESSORFAMILY_H
