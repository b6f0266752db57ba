// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workbench for passes: reads IR of any stage, runs the passes named on the
// command line, prints the result. It knows all of upstream's dialects and
// passes beside our own, so that any dump can be taken further by hand.

#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/GPU/GPU.h"
#include "lowering/Pipelines.h"
#include "lowering/Schedule/Schedule.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/Raise/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<mlir::fovea::FoveaDialect, mlir::fovea::tile::TileDialect>();
  mlir::fovea::registerGPULowering();
  mlir::fovea::registerLoweringPasses();
  mlir::fovea::registerFoveaPasses();
  mlir::fovea::registerFoveaRaisePasses();
  mlir::fovea::registerPipelines();
  mlir::fovea::registerFoveaSchedulePasses();
  mlir::fovea::registerSchedulePipeline();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Fovea: reads IR of any stage, runs passes, prints IR\n", registry));
}
