// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element type of all caches. Floats round what is appended; integers have a scale for each
// position and head, in a cache that stands behind theirs wherever they go. Refuses types that no
// cache has, and ops that would have to carry scales along and cannot.
#include "dialects/ElementTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_CASTCACHESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// Makes a function's type that of its arguments and of what it returns.
static void updateType(func::FuncOp function) {
  SmallVector<Type> results(function.getFunctionType().getResults());
  for (Block &block : function.getBody())
    if (auto done = dyn_cast<func::ReturnOp>(block.getTerminator()))
      results = SmallVector<Type>(done.getOperandTypes());
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), results));
}

namespace {
/// Caches of one function become integers with scales.
class Quantizer {
public:
  explicit Quantizer(func::FuncOp function) : function(function) {}

  /// Fails after an error at an op.
  LogicalResult run();

private:
  static CacheType getIntegers(CacheType type) {
    return CacheType::get(type.getContext(), type.getKind(), type.getHeads(), type.getSize(),
                          IntegerType::get(type.getContext(), 8));
  }

  /// `values`, each cache followed by its scales.
  SmallVector<Value> withScales(ValueRange values) {
    SmallVector<Value> result;
    for (Value value : values) {
      result.push_back(value);
      if (Value found = scales.lookup(value))
        result.push_back(found);
    }
    return result;
  }

  static SmallVector<Type> withScales(TypeRange types) {
    SmallVector<Type> result;
    for (Type type : types) {
      auto cache = dyn_cast<CacheType>(type);
      if (!cache) {
        result.push_back(type);
        continue;
      }
      result.push_back(getIntegers(cache));
      result.push_back(CacheAppendOp::getScalesType(cache));
    }
    return result;
  }

  /// Those of a cache's scales: its own, and the name that says so.
  static DictionaryAttr nameScales(DictionaryAttr attrs) {
    if (!attrs)
      return attrs;
    NamedAttrList list(attrs);
    if (auto name = attrs.getAs<StringAttr>(FoveaDialect::kNameAttr))
      list.set(FoveaDialect::kNameAttr,
               StringAttr::get(attrs.getContext(), name.getValue() + ".scales"));
    return list.getDictionary(attrs.getContext());
  }

  LogicalResult changeSignature();
  /// Fails after an error at an op that uses or gives caches whose scales are not known.
  LogicalResult checkScales(Operation *op);
  /// What computes the same on integers and scales, in place of `op`, which goes.
  void replace(Operation *op, Operation *with);
  LogicalResult visit(Operation *op);

  func::FuncOp function;
  llvm::DenseMap<Value, Value> scales; ///< by their cache
};
} // namespace

LogicalResult Quantizer::changeSignature() {
  for (int i = function.getNumArguments() - 1; i >= 0; --i) {
    auto cache = dyn_cast<CacheType>(function.getArgument(i).getType());
    if (!cache)
      continue;
    BlockArgument argument = function.getArgument(i);
    if (failed(function.insertArgument(i + 1, CacheAppendOp::getScalesType(cache),
                                       nameScales(function.getArgAttrDict(i)), argument.getLoc())))
      return failure();
    argument.setType(getIntegers(cache));
    scales[argument] = function.getArgument(i + 1);
  }
  for (int i = function.getNumResults() - 1; i >= 0; --i)
    if (auto cache = dyn_cast<CacheType>(function.getResultTypes()[i]))
      if (failed(function.insertResult(i + 1, CacheAppendOp::getScalesType(cache),
                                       nameScales(function.getResultAttrDict(i)))))
        return failure();
  return success();
}

void Quantizer::replace(Operation *op, Operation *with) {
  unsigned next = 0;
  for (Value result : op->getResults()) {
    Value own = with->getResult(next++);
    result.replaceAllUsesWith(own);
    if (isa<CacheType>(result.getType()))
      scales[own] = with->getResult(next++);
  }
  op->erase();
}

LogicalResult Quantizer::checkScales(Operation *op) {
  auto isCache = [](Type type) { return isa<CacheType>(type); };
  bool isKnown =
      isa<CacheCreateOp, CacheAppendOp, CacheLengthOp, AttentionOp, func::CallOp, func::ReturnOp>(
          op);
  bool carries = llvm::any_of(op->getResultTypes(), isCache);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      carries |= llvm::any_of(inner->getOperandTypes(), isCache) ||
                 llvm::any_of(inner->getResultTypes(), isCache);
    });
  bool isUnknown = llvm::any_of(op->getOperands(), [&](Value operand) {
    return isCache(operand.getType()) && !scales.contains(operand);
  });
  if ((isKnown || !carries) && !isUnknown)
    return success();
  return op->emitOpError("hands a cache on that would need scales beside it");
}

LogicalResult Quantizer::visit(Operation *op) {
  if (failed(checkScales(op)))
    return failure();
  OpBuilder b(op);
  if (auto create = dyn_cast<CacheCreateOp>(op)) {
    CacheType type = create.getType();
    b.setInsertionPointAfter(op);
    auto own = CacheCreateOp::create(b, op->getLoc(), CacheAppendOp::getScalesType(type),
                                     create.getBatch(), create.getCapacity());
    create.getResult().setType(getIntegers(type));
    scales[create] = own;
    return success();
  }
  if (auto append = dyn_cast<CacheAppendOp>(op)) {
    replace(op, CacheAppendOp::create(b, op->getLoc(), append.getCache(), append.getInput(),
                                      scales.lookup(append.getCache())));
    return success();
  }
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    if (attention.hasCache()) {
      attention.getKeyScalesMutable().assign(scales.lookup(attention.getKey()));
      attention.getValueScalesMutable().assign(scales.lookup(attention.getValue()));
    }
    return success();
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto with =
        func::CallOp::create(b, op->getLoc(), call.getCallee(), withScales(call.getResultTypes()),
                             withScales(call.getOperands()));
    with->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    replace(op, with);
    return success();
  }
  if (isa<func::ReturnOp>(op))
    op->setOperands(withScales(op->getOperands()));
  return success();
}

LogicalResult Quantizer::run() {
  if (function.isExternal())
    return success();
  if (failed(changeSignature()))
    return failure();
  for (Block &block : function.getBody())
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(visit(&op)))
        return failure();
  updateType(function);
  return success();
}

/// Values that are caches of some kind.
static unsigned countCaches(ModuleOp module, function_ref<bool(CacheType)> isCounted) {
  auto isCache = [&](Type type) {
    auto cache = dyn_cast<CacheType>(type);
    return cache && isCounted(cache);
  };
  unsigned count = 0;
  module->walk([&](Operation *op) {
    count += llvm::count_if(op->getResultTypes(), isCache);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        count += llvm::count_if(block.getArgumentTypes(), isCache);
  });
  return count;
}

unsigned mlir::fovea::countIntegerCaches(ModuleOp module) {
  return countCaches(module, [](CacheType cache) { return cache.getElementType().isInteger(8); });
}

unsigned mlir::fovea::castCaches(ModuleOp module, FloatType to, function_ref<bool(Type)> isCast) {
  unsigned count = 0;
  auto castValue = [&](Value value) {
    auto cache = dyn_cast<CacheType>(value.getType());
    if (!cache || cache.getElementType() == to || !isCast(cache.getElementType()))
      return;
    value.setType(CacheType::get(module.getContext(), cache.getKind(), cache.getHeads(),
                                 cache.getSize(), to));
    ++count;
  };
  module->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), castValue);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), castValue);
  });
  module->walk([&](func::FuncOp function) {
    if (!function.isExternal())
      updateType(function);
  });
  return count;
}

namespace {
struct CastCachesPass : fovea::impl::CastCachesPassBase<CastCachesPass> {
  using CastCachesPassBase::CastCachesPassBase;

  void runOnOperation() override {
    if (countIntegerCaches(getOperation())) {
      getOperation().emitError("has caches of integers already, which keep their type; expects "
                               "caches of floats");
      return signalPassFailure();
    }
    if (type == "int8") {
      numCast += countCaches(getOperation(), [](CacheType) { return true; });
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (failed(Quantizer(function).run()))
          return signalPassFailure();
      return;
    }
    Type element = parseElementType(type, &getContext());
    if (!element || !isComputedInF32(element)) {
      getOperation().emitError("expects the type f32, f16, bf16 or int8, got '") << type << "'";
      return signalPassFailure();
    }
    numCast += castCaches(getOperation(), cast<FloatType>(element), [](Type) { return true; });
  }
};
} // namespace
