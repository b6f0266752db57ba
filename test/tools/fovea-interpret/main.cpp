// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-interpret: runs functions of a module by the reference interpreter and prints what they
// return. For tests. Without --entry it runs all public functions that have no arguments; with it
// the arguments come from --inputs: {"fovea.name": {"shape": [2, 3], "data": [...]}}. A cache that
// is not named there is empty, with room for --capacity positions.
#include "frontend/Builder/StoredTensors.h"
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
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::desc("FILE"),
                                       llvm::cl::init("-"));
static llvm::cl::opt<std::string> entry("entry", llvm::cl::desc("the only function to run"));
static llvm::cl::opt<std::string> weights("weights", llvm::cl::desc("folder of stored tensors"));
static llvm::cl::opt<std::string> inputs("inputs", llvm::cl::desc("JSON file of the arguments"));
static llvm::cl::opt<int64_t> capacity("capacity", llvm::cl::desc("room in empty caches"),
                                       llvm::cl::init(512));
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

/// Where stored tensors lie: the flag, or what the module says.
static std::string weightFolder(ModuleOp module) {
  auto models = module.getOps<ModelOp>();
  if (weights.empty() && !models.empty())
    return (*models.begin()).getFolder().str();
  return weights;
}

/// The value of an argument, as the file of inputs gives it.
static FailureOr<RuntimeValue> readInput(func::FuncOp function, unsigned i,
                                         const llvm::json::Object &values, int64_t batch) {
  Type type = function.getArgumentTypes()[i];
  auto name = function.getArgAttrOfType<StringAttr>(i, FoveaDialect::kNameAttr);
  const llvm::json::Object *value = name ? values.getObject(name.getValue()) : nullptr;
  if (auto cache = dyn_cast<CacheType>(type); cache && !value)
    return makeCache(batch, capacity, cache.getHeads(), cache.getSize());
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !value || !value->getArray("shape") || !value->getArray("data"))
    return function.emitError("expects an input for argument ") << i << " of " << type;
  SmallVector<int64_t> shape;
  for (const llvm::json::Value &size : *value->getArray("shape"))
    shape.push_back(size.getAsInteger().value_or(-1));
  std::vector<double> reals;
  std::vector<int64_t> integers;
  for (const llvm::json::Value &element : *value->getArray("data")) {
    reals.push_back(element.getAsNumber().value_or(NAN));
    integers.push_back(element.getAsInteger().value_or(0));
  }
  return isa<FloatType>(tensor.getElementType()) ? makeReals(shape, std::move(reals))
                                                 : makeIntegers(shape, std::move(integers));
}

static FailureOr<std::vector<RuntimeValue>> readInputs(func::FuncOp function) {
  std::vector<RuntimeValue> arguments;
  if (function.getNumArguments() == 0)
    return arguments;
  auto buffer = llvm::MemoryBuffer::getFile(inputs);
  if (!buffer)
    return function.emitError("expects --inputs for its arguments: ")
           << buffer.getError().message();
  auto parsed = llvm::json::parse((*buffer)->getBuffer());
  if (!parsed || !parsed->getAsObject()) {
    llvm::consumeError(parsed.takeError());
    return function.emitError("expects --inputs to be a JSON object");
  }
  int64_t batch = 1;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto value = readInput(function, i, *parsed->getAsObject(), batch);
    if (failed(value))
      return failure();
    if (auto *tensor = std::get_if<TensorRef>(&*value); tensor && (*tensor)->rank())
      batch = (*tensor)->shape[0];
    arguments.push_back(*value);
  }
  return arguments;
}

static LogicalResult runAll(ModuleOp module) {
  StoredTensors source(weightFolder(module));
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
    FailureOr<std::vector<RuntimeValue>> results = readInputs(function);
    if (succeeded(results))
      results = interpreter.call(function.getName(), *results, trace ? &observer : nullptr);
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
