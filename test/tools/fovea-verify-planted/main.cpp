// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-verify-planted: runs what `fovea verify` runs, but in the place of compiled code stands the
// interpreter with an error planted in one op, or without a branch of the source. For tests of what
// `verify` finds.
#include "frontend/Builder/ModuleBuilder.h"
#include "frontend/Builder/StoredTensors.h"
#include "frontend/HuggingFace/HuggingFace.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "tools/verify/Verify.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

static llvm::cl::opt<std::string> model(llvm::cl::Positional, llvm::cl::Required,
                                        llvm::cl::desc("FOLDER or FILE.mlir"));
static llvm::cl::opt<std::string> plant("plant", llvm::cl::desc("OP@LOCATION: where to err"));
static llvm::cl::opt<std::string> inEntry("in", llvm::cl::desc("err in this entry only"));
static llvm::cl::opt<std::string> drop("drop", llvm::cl::desc("LOCATION: of a select that gives "
                                                              "its second side always"));
static llvm::cl::opt<double> size("size", llvm::cl::desc("the error, relative to the greatest"),
                                  llvm::cl::init(1e-2));
static llvm::cl::opt<bool> json("json", llvm::cl::desc("print JSON"));
static llvm::cl::opt<bool> progress("progress", llvm::cl::desc("print progress"));

namespace {
/// Changes the last element of the first result of the op at the planted place; an integer by one.
class Planter : public Observer {
public:
  void onResult(ArrayRef<func::CallOp> calls, OpResult result, RuntimeValue &value) override {
    auto *tensor = std::get_if<TensorRef>(&value);
    if (!tensor || (*tensor)->size() == 0 || result.getResultNumber() != 0)
      return;
    func::CallOp call = calls.empty() ? func::CallOp() : calls.front();
    Operation *outermost = call ? call.getOperation() : result.getOwner();
    if (!inEntry.empty() && outermost->getParentOfType<func::FuncOp>().getName() != inEntry)
      return;
    Location location = result.getLoc();
    for (func::CallOp call : llvm::reverse(calls))
      location = CallSiteLoc::get(location, call.getLoc());
    std::string here =
        result.getOwner()->getName().getStringRef().str() + "@" + describeLocation(location);
    if (here != plant)
      return;
    Tensor wrong = **tensor;
    double greatest = 0;
    for (double real : wrong.reals)
      greatest = std::max(greatest, std::fabs(real));
    if (wrong.isReal)
      wrong.reals.back() += size * greatest;
    else
      ++wrong.integers.back();
    value = TensorRef(std::make_shared<Tensor>(std::move(wrong)));
  }
};
} // namespace

namespace {
/// The interpreter on a module of its own, in which selects lost a side.
class DroppingBackend : public Backend {
public:
  DroppingBackend(ModuleOp original, RecipeSource &weights, Observer *observer)
      : module(original.clone()) {
    module->walk([](arith::SelectOp select) {
      if (describeLocation(select.getLoc()) == drop)
        select.replaceAllUsesWith(select.getFalseValue());
    });
    inner = std::make_unique<InterpreterBackend>(*module, weights, observer);
  }
  bool hasEntry(StringRef entry) override { return inner->hasEntry(entry); }
  LogicalResult reset(int64_t batch, int64_t capacity) override {
    return inner->reset(batch, capacity);
  }
  FailureOr<std::vector<TensorRef>> run(StringRef entry, ArrayRef<TensorRef> tensors) override {
    return inner->run(entry, tensors);
  }

private:
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<InterpreterBackend> inner;
};
} // namespace

static OwningOpRef<ModuleOp> readModel(MLIRContext &context, llvm::SourceMgr &sources) {
  if (StringRef(model).ends_with(".mlir"))
    return parseSourceFile<ModuleOp>(model, sources, &context);
  ::fovea::Problems problems;
  std::optional<::fovea::ModelDescription> description = ::fovea::readHuggingFace(model, problems);
  for (const ::fovea::Problem &problem : problems)
    llvm::errs() << problem.text() << "\n";
  return description ? buildModule(context, *description) : OwningOpRef<ModuleOp>();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Verifies with a planted error\n");
  DialectRegistry registry;
  registry.insert<FoveaDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = readModel(context, sources);
  if (!module)
    return 1;
  auto models = module->getOps<ModelOp>();
  StoredTensors weights(models.empty() ? std::string() : (*models.begin()).getFolder().str());
  Planter planter;
  BackendFactory factory = [&](ModuleOp one) -> FailureOr<std::unique_ptr<Backend>> {
    return std::unique_ptr<Backend>(new DroppingBackend(one, weights, &planter));
  };
  Options options;
  if (progress)
    options.progress = [](const std::string &text) { llvm::errs() << text << "\n"; };
  Report report;
  if (failed(verifyModule(*module, weights, factory, options, report)))
    return 1;
  json ? printJson(llvm::outs(), report) : printTable(llvm::outs(), report);
  return report.passed() ? 0 : 1;
}
