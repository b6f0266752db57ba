// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and pipelines of the stages.
#include "tools/compile/Stages.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/Pipelines.h"
#include "lowering/Schedule/Schedule.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "tools/compile/Calibrate.h"
#include "tools/compile/Compile.h"
#include "tools/compile/Targets.h"

using namespace mlir;
using namespace mlir::fovea;

llvm::StringRef mlir::fovea::getStageName(Stage stage) {
  switch (stage) {
  case Stage::Import:
    return "import";
  case Stage::Graph:
    return "graph";
  case Stage::Fused:
    return "fused";
  case Stage::Scheduled:
    return "scheduled";
  case Stage::Kernels:
    return "kernels";
  case Stage::LLVM:
    return "llvm";
  }
  llvm_unreachable("all stages have a name");
}

std::optional<Stage> mlir::fovea::parseStage(llvm::StringRef name) {
  for (Stage stage : kStages)
    if (getStageName(stage) == name)
      return stage;
  return std::nullopt;
}

void mlir::fovea::buildStagePipeline(OpPassManager &manager, Stage stage,
                                     llvm::ArrayRef<std::string> features, bool vectorizes) {
  switch (stage) {
  case Stage::Import:
    return; // made by a frontend
  case Stage::Graph:
    return buildGraphPipeline(manager);
  case Stage::Fused:
    return buildFusedPipeline(manager);
  case Stage::Scheduled:
    return buildScheduledPipeline(manager, getTargetLevel(features));
  case Stage::Kernels:
    return buildKernelsPipeline(manager);
  case Stage::LLVM:
    return buildLLVMPipeline(manager, vectorizes ? TilesTo::Vectors : TilesTo::Loops);
  }
}

bool mlir::fovea::hasBlocks(ModuleOp module) {
  return llvm::any_of(module.getOps<WeightOp>(), [](WeightOp weight) {
    return isa<BlocksType>(weight.getWeightType().getElementType());
  });
}

bool mlir::fovea::isQuantized(llvm::StringRef dtype) { return dtype == "int8" || dtype == "int4"; }

bool mlir::fovea::castsCaches(llvm::StringRef cache) {
  return cache != "source" && cache != "auto";
}

void mlir::fovea::buildGraphStage(OpPassManager &manager, const ::fovea::compile::Options &options,
                                  llvm::StringRef compute, const Calibration *calibration,
                                  bool widensBlocks) {
  GraphOptions graph;
  graph.widensBlocks = widensBlocks;
  if (calibration) {
    for (const CalibratedWeight &weight : calibration->weights)
      graph.calibrated.push_back(weight.name);
    graph.wide = calibration->wide;
  }
  if (options.cache != "source")
    graph.caches = options.cache;
  graph.roundsInputs = compute != "f32";
  graph.quantizesRows = compute == "int8";
  if (options.dtype != "source")
    (isQuantized(options.dtype) ? graph.quantize : graph.cast) = options.dtype;
  graph.probes = options.probes;
  buildGraphPipeline(manager, graph);
}

namespace fovea::compile {

std::string chooseCompute(const Options &options, bool hasBlocks) {
  if (options.compute != "auto")
    return options.compute;
  std::string error;
  if (options.gpu != "none")
    return "bf16";
  FailureOr<std::vector<TargetOptions>> targets = parseTargets(options.target, error);
  bool hasIntegers = isQuantized(options.dtype) || (options.dtype == "source" && hasBlocks);
  auto isFaster = [&](const TargetOptions &target) {
    std::vector<std::string> features = getRequiredFeatures(target);
    return multipliesHalves(features, target.cpu) || (hasIntegers && multipliesBytes(features));
  };
  return succeeded(targets) && llvm::any_of(*targets, isFaster) ? "int8" : "f32";
}

std::vector<std::string> getStageNames() {
  std::vector<std::string> names;
  for (Stage stage : kStages)
    names.push_back(getStageName(stage).str());
  return names;
}

std::vector<std::string> getProbeNames() {
  return {std::begin(mlir::fovea::kProbeKinds), std::end(mlir::fovea::kProbeKinds)};
}

} // namespace fovea::compile
