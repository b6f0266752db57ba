// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module of the `fused` stage to code for one GPU: the stages there, PTX, and the host's
// object that plans and describes launches.
#ifndef FOVEA_TOOLS_COMPILE_DEVICECODE_H
#define FOVEA_TOOLS_COMPILE_DEVICECODE_H

#include "artifact/Manifest_generated.h"
#include "lowering/CodeGen/CodeGen.h"
#include "mlir/IR/BuiltinOps.h"
#include "tools/compile/KernelCache.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::fovea {

/// The architectures that `list` names, as --gpu takes it: none, or names with commas between.
/// On failure `error` says what was found and expected.
FailureOr<std::vector<std::string>> parseGpus(StringRef list, std::string &error);

/// What a GPU's code goes through; the first two are also the CPU's.
enum class DeviceStage { Scheduled, Kernels, Threads, Nvvm, Ptx };
StringRef getDeviceStageName(DeviceStage stage);
std::optional<DeviceStage> parseDeviceStage(StringRef name);

struct DeviceCode {
  std::unique_ptr<::fovea::manifest::DeviceT> description;
  std::string ptx;
  std::vector<uint8_t> cubin; ///< empty where no ptxas was found, or nothing shall be optimised
  std::vector<uint8_t> host;
};

/// How a compilation runs passes, keeps texts, and reports.
struct DeviceHooks {
  std::function<::fovea::compile::Outcome(ModuleOp, StringRef stage,
                                          function_ref<void(OpPassManager &)> build)>
      run;
  /// Called with the text of each stage that is reached: the IR, or PTX. False ends the
  /// compilation.
  std::function<bool(DeviceStage, ModuleOp, StringRef ptx)> reached;
  /// Reports a fault of the compiler at a stage.
  std::function<::fovea::compile::Outcome(StringRef stage, ModuleOp)> blame;
  std::function<void(const std::string &)> error;
};

struct DeviceOptions {
  DeviceStage last = DeviceStage::Ptx;
  bool complete = true;   ///< behind Ptx, all of DeviceCode
  bool asWritten = false; ///< stages have all kernels, those too whose code is known
  unsigned optimization = 2;
  KernelCache cache;
};

/// Compiles `fused`, which is changed, for `chip`. `target` is the host's processor.
::fovea::compile::Outcome compileForDevice(ModuleOp fused, StringRef chip,
                                           const TargetOptions &target,
                                           const DeviceOptions &options, const DeviceHooks &hooks,
                                           DeviceCode &code);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_DEVICECODE_H
