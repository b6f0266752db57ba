// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-opt: reads IR of any stage, runs passes, prints IR.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<mlir::fovea::FoveaDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Fovea: reads IR of any stage, runs passes, prints IR\n", registry));
}
