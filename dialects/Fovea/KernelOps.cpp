// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups and launches: syntax, verifiers, result sizes, effects.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fovea;

//===-- Group --------------------------------------------------------------------------------===//

ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  Attribute schedule;
  Region *body = state.addRegion();
  SMLoc loc = parser.getCurrentLocation();
  FunctionType type;
  auto parseBinding = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseBinding))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("schedule"))) {
    if (parser.parseLParen() || parser.parseAttribute(schedule) || parser.parseRParen())
      return failure();
    state.getOrAddProperties<Properties>().schedule = schedule;
  }
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != arguments.size())
    return parser.emitError(loc) << "expects " << arguments.size() << " operand types, got "
                                 << type.getNumInputs();
  for (auto [argument, argumentType] : llvm::zip(arguments, type.getInputs()))
    argument.type = argumentType;
  if (parser.parseRegion(*body, arguments) ||
      parser.resolveOperands(operands, type.getInputs(), loc, state.operands))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), state.location);
  state.addTypes(type.getResults());
  return success();
}

void GroupOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ')';
  if (Attribute schedule = getScheduleAttr())
    printer << " schedule(" << schedule << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getScheduleAttrName()});
  printer << " : ";
  printer.printFunctionalType(getInputs().getTypes(), getResultTypes());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult GroupOp::verifyRegions() {
  Block &block = getBody().front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(getInputs().getTypes())) // C1
    return emitOpError("expects region arguments of types ")
           << getInputs().getTypes() << ", got " << block.getArgumentTypes();
  auto yield = cast<YieldOp>(block.getTerminator());
  if (TypeRange(yield.getOperandTypes()) != TypeRange(getResultTypes())) // C1
    return emitOpError("expects the region to yield ")
           << getResultTypes() << ", got " << yield.getOperandTypes();
  auto allowed = [](Type type) { return isa<RankedTensorType, CacheType, IndexType>(type); };
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(getInputs().getTypes()),
                                            SmallVector<Type>(getResultTypes())))
    if (!allowed(type)) // C2
      return emitOpError("expects tensors, caches and index values at its border, got ") << type;
  return success();
}

/// Computes `value`, an index inside the region, outside of it: sizes are made of tensor.dim, cache
/// lengths and arithmetic on the region's arguments.
static FailureOr<Value> hoistIndex(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isPure(op))
    return failure();
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    if (auto reify = dim.getSource().getDefiningOp<ReifyRankedShapedTypeOpInterface>())
      return failure();
  for (Value operand : op->getOperands())
    if (failed(hoistIndex(builder, operand, mapping)))
      return failure();
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

LogicalResult GroupOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  // Ask the producing op inside, then move what it built outside: the region is cloned, so that
  // asking leaves it alone.
  OwningOpRef<GroupOp> copy(clone());
  OpBuilder inner(builder.getContext());
  for (Value value : cast<YieldOp>(copy->getBody().front().getTerminator()).getValues()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      shapes.emplace_back();
      continue;
    }
    // Sizes of tensors are followed through the ops of the region until they are sizes of its
    // arguments.
    SmallVector<OpFoldResult> shape;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis)) {
        shape.push_back(builder.getIndexAttr(type.getDimSize(axis)));
        continue;
      }
      OpFoldResult size;
      Value current = value;
      int64_t currentAxis = axis;
      while (true) {
        if (auto argument = dyn_cast<BlockArgument>(current)) {
          size = tensor::getMixedSize(builder, getLoc(), getInputs()[argument.getArgNumber()],
                                      currentAxis);
          break;
        }
        Operation *producer = current.getDefiningOp();
        auto reify = dyn_cast<ReifyRankedShapedTypeOpInterface>(producer);
        ReifiedRankedShapedTypeDims reified;
        inner.setInsertionPoint(producer);
        if (!reify || failed(reify.reifyResultShapes(inner, reified)))
          return failure();
        OpFoldResult found = reified[cast<OpResult>(current).getResultNumber()][currentAxis];
        if (auto attr = dyn_cast<Attribute>(found)) {
          size = attr;
          break;
        }
        Value index = cast<Value>(found);
        if (auto dim = index.getDefiningOp<tensor::DimOp>()) {
          if (std::optional<int64_t> constant = dim.getConstantIndex()) {
            current = dim.getSource();
            currentAxis = *constant;
            continue;
          }
        }
        IRMapping mapping;
        mapping.map(copy->getBody().getArguments(), getInputs());
        FailureOr<Value> hoisted = hoistIndex(builder, index, mapping);
        if (failed(hoisted))
          return failure();
        size = *hoisted;
        break;
      }
      shape.push_back(size);
    }
    shapes.push_back(std::move(shape));
  }
  return success();
}

//===-- Launch -------------------------------------------------------------------------------===//

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel) // C1
    return emitOpError("expects a function named ") << getKernelAttr() << ", found none";
  SmallVector<Type> expected(getOperandTypes());
  Type index = IndexType::get(getContext());
  expected.append({index, index});
  if (kernel.getArgumentTypes() != ArrayRef<Type>(expected)) // C1
    return emitOpError("expects kernel ")
           << getKernelAttr() << " to take " << expected << ", got " << kernel.getArgumentTypes();
  if (kernel.getNumResults() != 0) // C1
    return emitOpError("expects kernel ")
           << getKernelAttr() << " to give nothing, got " << kernel.getResultTypes();
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}
