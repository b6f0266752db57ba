// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceCode.h. Kernels and host code are made of one module of the `kernels` stage, so they
// agree on grids and parameters.
#include "tools/compile/DeviceCode.h"
#include "frontend/Nearest.h"
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/Entries/LaunchSite.h"
#include "lowering/GPU/GPU.h"
#include "lowering/Pipelines.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "tools/compile/DeviceKernels.h"
#include "tools/compile/Manifest.h"

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::compile::Outcome;

FailureOr<std::vector<std::string>> mlir::fovea::parseGpus(StringRef list, std::string &error) {
  std::vector<std::string> chips;
  if (list.empty() || list == "none")
    return chips;
  if (list == "all") {
    for (const Level &level : getDeviceLevels())
      chips.push_back(level.name.str());
    return chips;
  }
  SmallVector<StringRef> names;
  list.split(names, ',');
  for (StringRef name : names) {
    bool isKnown = llvm::any_of(getDeviceLevels(), [&](const Level &l) { return l.name == name; });
    if (!isKnown || llvm::is_contained(chips, name)) {
      error = (isKnown ? "expects each architecture once, got " + name + " twice"
                       : "expects none, all, or with commas between them: " +
                             llvm::join(llvm::map_range(getDeviceLevels(),
                                                        [](const Level &l) { return l.name; }),
                                        ", ") +
                             "; got '" + name + "'")
                  .str();
      if (!isKnown)
        error += ::fovea::didYouMean(name.str(), ::fovea::compile::getGpuNames());
      return failure();
    }
    chips.push_back(name.str());
  }
  return chips;
}

static constexpr llvm::StringLiteral kNames[] = {"scheduled", "kernels", "threads", "nvvm", "ptx"};

StringRef mlir::fovea::getDeviceStageName(DeviceStage stage) {
  return kNames[static_cast<size_t>(stage)];
}

std::optional<DeviceStage> mlir::fovea::parseDeviceStage(StringRef name) {
  for (auto [i, known] : llvm::enumerate(kNames))
    if (name == known)
      return static_cast<DeviceStage>(i);
  return std::nullopt;
}

/// What the passes of the device decided of each kernel, for the host.
static void copyLaunchShapes(ModuleOp device, ModuleOp host) {
  SymbolTable symbols(host);
  device.walk([&](FunctionOpInterface kernel) {
    if (Operation *own = symbols.lookup(kernel.getName()))
      setLaunchShape(own, getLaunchShape(kernel));
  });
}

/// The cubin, as ptxas makes it or as it made it before of the same text.
static LogicalResult makeCubin(StringRef ptxas, StringRef chip, const KernelCache &cache,
                               DeviceCode &code, std::string &error) {
  std::optional<std::string> key = hashAssembly(ptxas, chip, code.ptx);
  SmallVector<char, 0> kept;
  if (key && cache.find(*key, kept)) {
    code.cubin.assign(kept.begin(), kept.end());
    return success();
  }
  std::vector<char> cubin;
  AssemblyReport report;
  if (failed(assemble(ptxas, code.ptx, chip, cubin, report, error)))
    return failure();
  if (key)
    cache.keep(*key, cubin);
  code.cubin.assign(cubin.begin(), cubin.end());
  return success();
}

Outcome mlir::fovea::compileForDevice(ModuleOp module, StringRef chip, const TargetOptions &target,
                                      const DeviceOptions &options, const DeviceHooks &hooks,
                                      DeviceCode &code) {
  DeviceStage last = options.last;
  Outcome outcome = Outcome::Done;
  auto reach = [&](ModuleOp of, DeviceStage stage, function_ref<void(OpPassManager &)> build) {
    if (outcome != Outcome::Done || stage > last)
      return false;
    outcome = hooks.run(of, getDeviceStageName(stage), build);
    if (outcome == Outcome::Done && !hooks.reached(stage, of, ""))
      outcome = Outcome::InputFault;
    return outcome == Outcome::Done;
  };
  if (!reach(module, DeviceStage::Scheduled,
             [&](OpPassManager &pm) { buildScheduledPipeline(pm, chip); }) ||
      !reach(module, DeviceStage::Kernels, buildKernelsPipeline))
    return outcome;
  OwningOpRef<ModuleOp> device(module.clone());
  DeviceKernels own(chip, target.optimizes, options.optimization, options.cache);
  own.find(*device, module, options.asWritten);
  if (!reach(*device, DeviceStage::Threads, [&](OpPassManager &pm) {
        pm.addPass(createOutlineDevicePass());
        buildThreadsPipeline(pm, *findChip(chip));
      }))
    return outcome;
  copyLaunchShapes(*device, module);
  if (!reach(*device, DeviceStage::Nvvm, buildNvvmPipeline) || last < DeviceStage::Ptx)
    return outcome;
  for (auto kernels : device->getOps<gpu::GPUModuleOp>())
    if (failed(own.emit(kernels, module, code.ptx)))
      return hooks.blame("ptx", *device);
  if (!hooks.reached(DeviceStage::Ptx, *device, code.ptx))
    return Outcome::InputFault;
  if (!options.complete)
    return Outcome::Done;

  std::string error;
  std::optional<std::string> ptxas = target.optimizes ? findPtxas() : std::nullopt;
  if (ptxas && failed(makeCubin(*ptxas, chip, options.cache, code, error))) {
    hooks.error(error);
    return hooks.blame("cubin", *device);
  }
  FailureOr<std::unique_ptr<::fovea::manifest::DeviceT>> description =
      buildDevice(module, chip.str());
  if (failed(description))
    return hooks.blame("manifest", module);
  code.description = std::move(*description);
  if (outcome = hooks.run(module, "host", buildHostPipeline); outcome != Outcome::Done)
    return outcome;
  SmallVector<char, 0> object;
  if (failed(emitObject(module, target, object)))
    return hooks.blame("host object", module);
  std::vector<char> elf;
  if (failed(linkSharedObject(*target.family, ArrayRef<char>(object), elf, error))) {
    hooks.error(error);
    return Outcome::InputFault;
  }
  code.host.assign(elf.begin(), elf.end());
  return Outcome::Done;
}
