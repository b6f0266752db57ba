// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX files to IR, as the compiler reads them: import, and verify what was made. MLIR itself is
// not instrumented.
#include "dialects/Fovea/FoveaDialect.h"
#include "frontend/ONNX/Onnx.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/WireTree.h"
#include "test/fuzz/support/Words.h"

#include <cstdio>
#include <memory>
#include <string>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fovea::fuzz::mutateWire(data, size, most, seed, fovea::fuzz::onnxWords());
}

/// What the verifier found, which says where the importer was wrong.
static std::string &diagnosed() {
  static std::string text;
  return text;
}

/// A context keeps all types and attributes that it has seen, so now and then there is a new one.
static mlir::MLIRContext &context() {
  static std::unique_ptr<mlir::MLIRContext> made;
  static unsigned uses = 0;
  if (uses++ % 500 == 0) {
    made = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    made->getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
      diagnosed() += diagnostic.str() + "\n";
      return mlir::success();
    });
  }
  return *made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fovea::fuzz::Folder folder;
  static const bool once = (folder.write("m.data", std::string(256, 'd')), true);
  (void)once;
  folder.write("m.onnx", {reinterpret_cast<const char *>(data), size});
  fovea::Problems problems;
  diagnosed().clear();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::fovea::importOnnx(
      context(), folder.file("m.onnx"), problems, fovea::artifact::FileAccess::Mapped);
  // What the importer makes is right by itself: the verifier finds nothing.
  if (!module && !fovea::hasErrors(problems))
    std::fputs(diagnosed().c_str(), stderr);
  fovea::fuzz::checkProblems(problems, bool(module));
  return 0;
}
