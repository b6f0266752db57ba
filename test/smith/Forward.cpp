// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/smith/Forward.h"
#include "lowering/CodeGen/MemoryFile.h"
#include "test/grid/NativeProgram.h"
#include "tools/compile/CompileModule.h"
#include "tools/verify/RuntimeBackend.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

/// For this processor; the second call in parts, as threads share the work. Null as
/// NativeProgram::compile.
static Forward compileHere(ModuleOp module, int optimization, std::string &error) {
  std::shared_ptr<NativeProgram> program =
      NativeProgram::compile(module, error,
                             {.isGraph = true,
                              .tiles = optimization > 0 ? TilesTo::Vectors : TilesTo::Loops,
                              .optimizes = optimization > 1});
  if (!program)
    return nullptr;
  return [program](ArrayRef<RuntimeValue> arguments, int call, std::string &error) {
    return program->call("forward", arguments, call ? 3 : 1, error);
  };
}

/// For a GPU, on the emulator; the second call with asynchronous work as late as allowed. Null
/// after a diagnostic or with an error.
static Forward compileForDevice(ModuleOp module, const std::string &gpu, int optimization,
                                std::string &error) {
  ::fovea::compile::Options options;
  options.model = "program.mlir";
  options.fromStage = "graph";
  options.gpu = gpu;
  options.optimization = optimization;
  options.threads = 1;
  MemoryFile file;
  options.output = file.getPath();
  OwningOpRef<ModuleOp> copy(module.clone());
  auto keep = [&](::fovea::compile::Log::Severity severity, const std::string &message) {
    if (severity == ::fovea::compile::Log::Severity::Error)
      error = message;
  };
  if (compileModule(*copy, options, {keep, nullptr}) != ::fovea::compile::Outcome::Done)
    return nullptr;
  std::array<std::shared_ptr<verify::Backend>, 2> devices;
  for (auto [device, name] : llvm::zip(devices, ArrayRef<StringRef>{"emulator", "emulator:late"})) {
    auto opened = verify::RuntimeBackend::open(module.getContext(), options.output, /*threads=*/1,
                                               name.str());
    if (failed(opened))
      return nullptr;
    device = std::move(*opened);
  }
  return [devices](ArrayRef<RuntimeValue> arguments, int call, std::string &) -> CallResults {
    SmallVector<TensorRef> tensors;
    for (const RuntimeValue &value : arguments)
      tensors.push_back(std::get<TensorRef>(value));
    FailureOr<std::vector<TensorRef>> results = devices[call]->run("forward", tensors);
    if (failed(results))
      return failure();
    return std::vector<RuntimeValue>(results->begin(), results->end());
  };
}

Forward mlir::fovea::compileForward(ModuleOp module, const std::string &gpu, int optimization,
                                    std::string &error) {
  return gpu.empty() ? compileHere(module, optimization, error)
                     : compileForDevice(module, gpu, optimization, error);
}
