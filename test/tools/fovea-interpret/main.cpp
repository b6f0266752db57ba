// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-interpret: runs the functions without arguments of a module by the reference interpreter
// and prints what they return. For tests.
#include "frontend/Weights/StoredWeights.h"
#include "interpreter/Interpreter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::desc("FILE"),
                                       llvm::cl::init("-"));
static llvm::cl::opt<std::string> entry("entry", llvm::cl::desc("the only function to run"));
static llvm::cl::opt<std::string> weights("weights", llvm::cl::desc("folder of stored tensors"));
static llvm::cl::opt<bool> exact("exact", llvm::cl::desc("print 17 digits instead of 6"));
static llvm::cl::opt<bool> verify("verify-diagnostics", llvm::cl::desc("check expected-error"));
static llvm::cl::opt<bool> trace("trace", llvm::cl::desc("print every op whose result is seen"));

static void printNumber(llvm::raw_ostream &os, double number) {
  // The same spelling on every C library: Python reads it too.
  if (std::isnan(number))
    os << "nan";
  else if (std::isinf(number))
    os << (number < 0 ? "-inf" : "inf");
  else
    os << llvm::format(exact ? "%.17g" : "%.6g", number);
}

static void print(llvm::raw_ostream &os, const RuntimeValue &value) {
  if (auto *integer = std::get_if<int64_t>(&value)) {
    os << *integer;
  } else if (auto *real = std::get_if<double>(&value)) {
    printNumber(os, *real);
  } else if (auto *cache = std::get_if<CacheRef>(&value)) {
    os << "cache of " << (*cache)->length << " [";
    llvm::interleaveComma((*cache)->data, os, [&](double number) { printNumber(os, number); });
    os << "]";
  } else if (auto *tensor = std::get_if<TensorRef>(&value)) {
    llvm::interleave((*tensor)->shape, os, "x");
    os << " [";
    if ((*tensor)->isReal)
      llvm::interleaveComma((*tensor)->reals, os, [&](double number) { printNumber(os, number); });
    else
      llvm::interleaveComma((*tensor)->integers, os);
    os << "]";
  } else {
    os << describe(value);
  }
}

namespace {
struct Trace : Observer {
  void onResult(ArrayRef<func::CallOp> calls, OpResult result, RuntimeValue &) override {
    llvm::outs() << "  ";
    for (func::CallOp call : calls)
      llvm::outs() << call.getCallee() << "/";
    llvm::outs() << result.getOwner()->getName() << "\n";
  }
};
} // namespace

static LogicalResult runAll(ModuleOp module) {
  StoredWeights source(weights);
  Interpreter interpreter(module, source);
  Trace observer;
  bool allRan = true, found = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (entry.empty()
            ? function.getNumArguments() != 0 || function.isExternal() || function.isPrivate()
            : function.getName() != entry)
      continue;
    found = true;
    llvm::outs() << "@" << function.getName() << "\n";
    auto results = interpreter.call(function.getName(), {}, trace ? &observer : nullptr);
    allRan &= succeeded(results);
    if (failed(results))
      continue;
    for (const RuntimeValue &value : *results) {
      llvm::outs() << "  ";
      print(llvm::outs(), value);
      llvm::outs() << "\n";
    }
  }
  if (!found)
    return module.emitError("expects a public function without arguments to run, got none");
  return success(allRan);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Runs IR by the reference interpreter\n");
  DialectRegistry registry;
  registry.insert<FoveaDialect, affine::AffineDialect, arith::ArithDialect, func::FuncDialect,
                  linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  std::string message;
  auto buffer = openInputFile(file, &message);
  if (!buffer) {
    llvm::errs() << message << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), {});
  auto run = [&]() -> LogicalResult {
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
    return module ? runAll(*module) : failure();
  };
  if (!verify) {
    SourceMgrDiagnosticHandler handler(sources, &context);
    return succeeded(run()) ? 0 : 1;
  }
  SourceMgrDiagnosticVerifierHandler handler(sources, &context);
  (void)run();
  return succeeded(handler.verify()) ? 0 : 1;
}
