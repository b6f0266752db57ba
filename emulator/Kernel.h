// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoded entry: instructions that a warp executes directly. Registers are arrays of 32 lanes in
// a warp's storage; an operand is a byte offset into it. Constants and special registers lie there
// too, so every operand is read in the same way.
#ifndef FOVEA_EMULATOR_KERNEL_H
#define FOVEA_EMULATOR_KERNEL_H

#include "emulator/Module.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fovea::emulator {

class Warp;
struct Instruction;

/// What a warp does after an instruction: goes on with the next, reads its place anew (a handler
/// moved it), or stops because it waits or has ended.
enum class Step : uint8_t { Next, Jump, Stop };

/// Executes one instruction for the lanes of `mask`.
using Handler = Step (*)(Warp &, const Instruction &, uint32_t mask);

/// Facts of an instruction that do not fit below; each family derives its own.
struct Details {
  virtual ~Details() = default;
};

struct Instruction {
  Handler run = nullptr;
  uint32_t d = 0, a = 0, b = 0, c = 0; ///< offsets of operands in a warp's storage
  uint32_t predicate = 0;              ///< offset of a mask of lanes
  uint8_t predication = 0;             ///< 0 none, 1 if set, 2 if clear
  uint8_t width = 0;                   ///< meaning depends on the family
  uint8_t count = 0;
  uint8_t flags = 0;
  uint32_t predicate2 = 0; ///< offset of a second result
  int64_t immediate = 0;
  const Details *details = nullptr;
  /// Where it touches registers of wgmma: what to watch, and the handler to run then.
  const Details *guard = nullptr;
  Handler guarded = nullptr;
  uint32_t line = 0;
  uint32_t statement = 0; ///< into Function::statements
};

enum SpecialRegister : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  DynamicSmemSize,
  TotalSmemSize,
  SmId,
  NsmId,
  Zero32,
  One32,
  GridId64,
  specialCount
};

/// Where symbols of a module stand.
struct Symbols {
  std::map<std::string, uint64_t> global; ///< addresses of .global and .const variables
};

struct Kernel {
  std::shared_ptr<const Module> module;
  const Function *function = nullptr;
  std::vector<Instruction> code;
  std::vector<std::unique_ptr<Details>> details;

  uint32_t storageBytes = 0;            ///< of a warp
  uint32_t registerBytes = 0;           ///< the registers come first
  uint32_t specials[specialCount] = {}; ///< offsets, zero where not used
  /// Bytes to be copied to `constantOffset` of each warp's storage.
  std::vector<uint8_t> constants;
  uint32_t constantOffset = 0;

  uint64_t staticShared = 0;  ///< bytes of shared memory without the launch's
  uint64_t dynamicShared = 0; ///< offset at which the launch's bytes begin
  uint64_t localBytes = 0;    ///< per thread
  uint32_t granule = 16;      ///< narrowest access to shared memory, in bytes
  bool usesWgmma = false;

  /// `file:line` of an instruction, and its text.
  std::string place(const Instruction &instruction) const;
  const Statement &statement(const Instruction &instruction) const {
    return function->statements[instruction.statement];
  }
};

/// Decodes `function`. Throws Error at the first instruction that is not supported or wrong.
std::shared_ptr<const Kernel> decode(std::shared_ptr<const Module> module, const Function &function,
                                     const Symbols &symbols);

/// Shared memory starts at this address; the bytes below are the system's, so a null pointer is
/// found.
constexpr uint64_t sharedStart = 1024;
/// Windows of the generic address space.
constexpr uint64_t sharedWindow = 0x7f0000000000, localWindow = 0x7f1000000000,
                   parameterWindow = 0x7f2000000000, windowBytes = 0x100000000;

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_KERNEL_H
