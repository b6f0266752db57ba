// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CheckModule.h. Looks at ops one by one, so it lists what a compilation would refuse one after
// the other; modules of later stages, which hold launches, are taken as they are.
#include "tools/compile/CheckModule.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "frontend/Builder/StoredTensors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "tools/compile/Report.h"
#include "weights/Stream.h"

using namespace mlir;
using namespace mlir::fovea;

static bool isKnown(Operation *op) {
  if (!op->getDialect()) // not registered
    return false;
  if (isa<tensor::TensorDialect>(op->getDialect()))
    return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp, tensor::DimOp,
               tensor::EmptyOp, tensor::ExpandShapeOp, tensor::ExtractOp, tensor::ExtractSliceOp,
               tensor::FromElementsOp, tensor::GenerateOp, tensor::InsertSliceOp, tensor::PadOp,
               tensor::SplatOp, tensor::YieldOp>(op);
  if (isa<linalg::LinalgDialect>(op->getDialect()))
    return isa<linalg::LinalgOp, linalg::SoftmaxOp, linalg::IndexOp, linalg::YieldOp>(op);
  return isa<ModuleOp, func::FuncOp, func::CallOp, func::ReturnOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect, FoveaDialect>(op->getDialect());
}

/// A known op that is named nearly like this one, or what does its work.
static std::string findNearest(Operation *op) {
  static const std::pair<StringRef, StringRef> kOthers[] = {
      {"scf.for", "ops written out for each round, or linalg.generic with a reduction"},
      {"scf.if", "arith.select"},
      {"scf.while", "ops written out for each round"},
      {"tensor.gather", "linalg.generic with tensor.extract"},
      {"tensor.insert", "tensor.insert_slice of tensor.from_elements"},
      {"tensor.reshape", "tensor.expand_shape and tensor.collapse_shape"},
      {"tensor.scatter", "linalg.generic with tensor.extract"},
  };
  StringRef full = op->getName().getStringRef(), name = full.split('.').second;
  for (auto [other, instead] : kOthers)
    if (other == full)
      return instead.str();
  bool isReal = op->getNumResults() && isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  std::string typed = name.str() + (isReal ? "f" : "i"), best;
  unsigned distance = std::max<size_t>(1, name.size() / 3) + 1;
  for (StringRef space : {"arith", "math", "linalg", "tensor", "fovea"})
    for (RegisteredOperationName known :
         op->getContext()->getRegisteredOperationsByDialect(space)) {
      StringRef own = known.stripDialect();
      if (own == name || own == typed)
        return known.getStringRef().str();
      if (unsigned here = own.edit_distance(name, true, distance); here < distance) {
        distance = here;
        best = known.getStringRef().str();
      }
    }
  return best.empty() ? "linalg.generic with the formula as its body" : best;
}

/// What is wrong with the type of a value; empty for what has kernels. Weights may be of i4
/// and blocks too.
static StringRef findFault(Type type, bool isWeight) {
  if (isa<CacheType, MaskType>(type))
    return "";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor && !type.isIntOrIndexOrFloat())
    return "expects tensors of a known rank, caches, masks and scalars";
  Type element = tensor ? tensor.getElementType() : type;
  if (isa<BlocksType>(element) && isWeight)
    return "";
  auto stored = getManifestType(element);
  if (!element.isIndex() && (stored == ::fovea::manifest::ElementType::None ||
                             (stored == ::fovea::manifest::ElementType::I4 && !isWeight)))
    return "expects elements that are bool, integers of 8, 16, 32 or 64 bits, f16, bf16, f32 or "
           "f64";
  return "";
}

static void checkOp(Operation *op) {
  if (!isKnown(op)) {
    op->emitError() << "'" << op->getName() << "' is not supported; expects ops of fovea, linalg, "
                    << "tensor, arith and math, of which the nearest is " << findNearest(op);
    return;
  }
  for (Type type : op->getResultTypes())
    if (StringRef fault = findFault(type, isa<WeightRefOp>(op)); !fault.empty()) {
      op->emitError() << "'" << op->getName() << "': " << fault << ", got " << type;
      return;
    }
  if (auto function = dyn_cast<func::FuncOp>(op))
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (StringRef fault = findFault(type, !function->hasAttr(FoveaDialect::kEntryAttr));
          !fault.empty()) {
        auto name = function.getArgAttrOfType<StringAttr>(i, FoveaDialect::kNameAttr);
        op->emitError() << (name ? "argument '" + name.getValue() + "'" : "argument " + Twine(i))
                        << ": " << fault << ", got " << type;
      }
}

static void checkEach(ModuleOp module, const std::string &path, const std::string &folder,
                      ::fovea::artifact::FileAccess access, ::fovea::Problems &problems) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    std::string place = placeOf(diagnostic.getLocation());
    bool namesFile = StringRef(place).starts_with(path + ":");
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      addError(problems, namesFile ? place : path, namesFile ? "" : place, diagnostic.str());
    return success();
  });
  if (llvm::none_of(module.getOps<func::FuncOp>(),
                    [](func::FuncOp f) { return f->hasAttr(FoveaDialect::kEntryAttr); }))
    addError(problems, path, "", "expects a function with the attribute fovea.entry, got none");
  llvm::SetVector<StoredAttr> stored;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<GroupOp>(op))
      return WalkResult::skip();
    checkOp(op);
    if (auto weight = dyn_cast<WeightOp>(op))
      weight.getRecipe().walk([&](StoredAttr leaf) { stored.insert(leaf); });
    // What stands in a foreign op falls with it.
    return isKnown(op) ? WalkResult::advance() : WalkResult::skip();
  });
  StoredTensors files(folder, access);
  for (StoredAttr tensor : stored)
    (void)files.read(tensor);
}

void mlir::fovea::checkModule(ModuleOp module, const std::string &path, const std::string &folder,
                              ::fovea::artifact::FileAccess access, ::fovea::Problems &problems) {
  ::fovea::Problems found;
  checkEach(module, path, folder, access, found);
  if (found.empty())
    return;
  // All is told as it was written, unless what is at fault is gone before anything reads it.
  OwningOpRef<ModuleOp> used = module.clone();
  PassManager manager(module.getContext());
  buildCleanUpPipeline(manager);
  ::fovea::Problems left;
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  if (succeeded(manager.run(*used)))
    checkEach(*used, path, folder, access, left);
  else
    left = found;
  if (!left.empty())
    problems.insert(problems.end(), found.begin(), found.end());
}
