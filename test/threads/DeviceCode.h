// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as text, compiled to PTX and called on the emulator.
#ifndef FOVEA_TEST_THREADS_DEVICECODE_H
#define FOVEA_TEST_THREADS_DEVICECODE_H

#include "dialects/Tile/TileDialect.h"
#include "lowering/GPU/GPU.h"
#include "test/grid/TileCase.h"
#include "test/threads/emulated/EmulatedLaunch.h"
#include <map>
#include <memory>

namespace mlir::fovea {

MLIRContext &getTestContext();

/// The kernels of a module in PTX.
class DeviceCode {
public:
  /// `text` is a module of the `kernels` stage, whose tiles have layouts or get them from
  /// fovea-to-threads. Null after diagnostics.
  static std::unique_ptr<DeviceCode> make(const std::string &text,
                                          const std::string &chip = "sm_80", bool hasLayouts = true,
                                          bool tensorCores = true);
  /// Runs `kernel` in that many blocks, early and late, which must agree; returns what is in the
  /// buffers. `fault` is the word that a kernel which may fault writes to. Errors are gtest's.
  std::vector<std::vector<char>> run(const std::string &kernel, const std::vector<Array> &arguments,
                                     uint64_t blocks, uint64_t *fault = nullptr,
                                     ::fovea::test::Counts *counts = nullptr) const;

  /// What a call gives to the device; last the word for faults, where the kernel has one, and its
  /// tensor maps.
  std::vector<::fovea::test::Operand> makeOperands(const std::string &kernel,
                                                   const std::vector<Array> &arguments) const;
  /// Of a persistent kernel one block, which then does all points of the grid one behind the other.
  ::fovea::test::Shape getShape(const std::string &kernel, uint64_t blocks) const;

  std::string ptx, chip;

private:
  struct Kernel {
    SmallVector<Type> arguments;
    bool mayFault;
    uint32_t threads;
    uint64_t sharedBytes;
    bool persistent = false;
    SmallVector<tile::TensorMapAttr> maps;
  };
  std::map<std::string, Kernel> kernels;
};

/// A kernel of plain loops, y[i] = body of x[i]: the body reads %v and gives %r.
std::string writeElementwise(const std::string &name, const std::string &body,
                             const std::string &in, const std::string &out);

/// A call of `kernel` must turn the arguments `before` into `after`.
void checkKernel(const DeviceCode &code, const std::string &kernel, const TileCall &call,
                 double tolerance, uint64_t blocks);
inline void checkCall(const DeviceCode &code, const TileCall &call, double tolerance,
                      uint64_t blocks) {
  checkKernel(code, "kernel", call, tolerance, blocks);
}

/// Where ptxas is installed, it must take the PTX for the chip without spilling.
void checkAssembles(const DeviceCode &code);

} // namespace mlir::fovea

#endif // FOVEA_TEST_THREADS_DEVICECODE_H
