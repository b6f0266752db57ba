// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants keep the value that their type gave them.
#include "test/smith/Exact.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

static llvm::APFloat widen(llvm::APFloat value) {
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value;
}

void mlir::fovea::makeExact(ModuleOp module) {
  Type real = Float64Type::get(module.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FloatType) { return real; });
  replacer.addReplacement([&](FloatAttr attr) {
    return std::make_pair(FloatAttr::get(real, widen(attr.getValue())), WalkResult::skip());
  });
  replacer.addReplacement(
      [&](DenseElementsAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!isa<FloatType>(attr.getElementType()))
          return std::nullopt;
        return std::make_pair(
            Attribute(cast<DenseFPElementsAttr>(attr).mapValues(
                real, [](const llvm::APFloat &value) { return widen(value).bitcastToAPInt(); })),
            WalkResult::skip());
      });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  SmallVector<Operation *> casts;
  module.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      casts.push_back(op);
  });
  for (Operation *op : casts) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
}

FloatType mlir::fovea::getRounding(ModuleOp module) {
  FloatType coarsest;
  module.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto real = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType())))
        if (real.getWidth() < 32 &&
            (!coarsest || real.getFPMantissaWidth() < coarsest.getFPMantissaWidth()))
          coarsest = real;
  });
  return coarsest;
}
