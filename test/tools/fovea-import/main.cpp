// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of the frontend: reads a model folder and prints its `import` IR,
// or all problems. `--locations` prints where each op came from.
//
//   fovea-import FOLDER [--locations]
#include "frontend/Builder/ModuleBuilder.h"
#include "frontend/HuggingFace/HuggingFace.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  bool locations = argc == 3 && llvm::StringRef(argv[2]) == "--locations";
  if (argc != 2 && !locations) {
    llvm::errs() << "usage: fovea-import FOLDER [--locations]\n";
    return 2;
  }
  fovea::Problems problems;
  std::optional<fovea::ModelDescription> model = fovea::readHuggingFace(argv[1], problems);
  for (const fovea::Problem &problem : problems)
    llvm::errs() << problem.text() << "\n";
  if (!model)
    return 1;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::fovea::buildModule(context, *model);
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo(true, /*prettyForm=*/true);
  module->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return mlir::succeeded(mlir::verify(*module)) ? 0 : 70;
}
