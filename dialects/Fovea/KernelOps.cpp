// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups and launches: syntax, verifiers, result sizes, effects.
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Fovea/Try.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
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

static FailureOr<OpFoldResult> getSizeOutside(GroupOp group, Region &region, Value value,
                                              int64_t axis, OpBuilder &builder);

/// Computes `value`, an index inside the region, outside of it: sizes are made of tensor.dim, cache
/// lengths and arithmetic on the region's arguments.
static FailureOr<Value> hoistIndex(GroupOp group, Region &region, OpBuilder &builder, Value value,
                                   IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isPure(op))
    return failure();
  if (auto dim = dyn_cast<tensor::DimOp>(op); dim && dim.getSource().getDefiningOp()) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    FailureOr<OpFoldResult> size = failure();
    if (axis)
      size = getSizeOutside(group, region, dim.getSource(), *axis, builder);
    if (failed(size))
      return failure();
    mapping.map(value, getValueOrCreateConstantIndexOp(builder, group.getLoc(), *size));
    return mapping.lookup(value);
  }
  for (Value operand : op->getOperands())
    if (failed(hoistIndex(group, region, builder, operand, mapping)))
      return failure();
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

/// The size of one axis of a value of `region` (a scratch copy of the group's, into which ops may
/// be built) as a value outside: followed from producer to producer until it is a size of an
/// argument or plain arithmetic.
static FailureOr<OpFoldResult> getSizeOutside(GroupOp group, Region &region, Value value,
                                              int64_t axis, OpBuilder &builder) {
  OpBuilder inner(builder.getContext());
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return tensor::getMixedSize(builder, group.getLoc(),
                                  group.getInputs()[argument.getArgNumber()], axis);
    Operation *producer = value.getDefiningOp();
    if (OpTrait::hasElementwiseMappableTraits(producer)) {
      value = *llvm::find_if(producer->getOperands(), [](Value operand) {
        return isa<RankedTensorType>(operand.getType());
      });
      continue;
    }
    OpFoldResult found;
    if (auto splat = dyn_cast<tensor::SplatOp>(producer)) {
      found = splat.getDynamicSizes()[splat.getType().getDynamicDimIndex(axis)];
    } else {
      auto reify = dyn_cast<ReifyRankedShapedTypeOpInterface>(producer);
      ReifiedRankedShapedTypeDims reified;
      inner.setInsertionPoint(producer);
      if (!reify || failed(reify.reifyResultShapes(inner, reified)))
        return failure();
      found = reified[cast<OpResult>(value).getResultNumber()][axis];
    }
    if (isa<Attribute>(found))
      return found;
    Value index = cast<Value>(found);
    auto dim = index.getDefiningOp<tensor::DimOp>();
    if (std::optional<int64_t> constant = dim ? dim.getConstantIndex() : std::nullopt) {
      value = dim.getSource();
      axis = *constant;
      continue;
    }
    IRMapping mapping;
    mapping.map(region.getArguments(), group.getInputs());
    TRY(Value hoisted, hoistIndex(group, region, builder, index, mapping));
    return OpFoldResult(hoisted);
  }
}

GroupSizes::GroupSizes(GroupOp group) : group(group) {
  copy = cast<GroupOp>(group->clone(mapping)); // asking builds ops; the group stays as it is
}

FailureOr<OpFoldResult> GroupSizes::get(OpBuilder &builder, Value inside, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(inside.getType());
  if (!type || axis >= type.getRank())
    return failure();
  if (!type.isDynamicDim(axis))
    return OpFoldResult(builder.getIndexAttr(type.getDimSize(axis)));
  return getSizeOutside(group, copy->getBody(), mapping.lookup(inside), axis, builder);
}

LogicalResult GroupOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  OwningOpRef<GroupOp> copy(clone()); // asking builds ops; this group stays as it is
  for (Value value : copy->getBody().front().getTerminator()->getOperands()) {
    SmallVector<OpFoldResult> &shape = shapes.emplace_back();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    for (int64_t axis = 0; type && axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis)) {
        shape.push_back(builder.getIndexAttr(type.getDimSize(axis)));
        continue;
      }
      TRY(OpFoldResult size, getSizeOutside(*this, copy->getBody(), value, axis, builder));
      shape.push_back(size);
    }
  }
  return success();
}

//===-- Launch -------------------------------------------------------------------------------===//

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel) // C1
    return emitOpError("expects a function named ") << getKernelAttr() << ", found none";
  SmallVector<Type> expected(getBuffers().getTypes());
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

LogicalResult LaunchOp::verify() {
  if (!getCost().empty() && getCost().size() != 2) // C2
    return emitOpError("expects operations and bytes as its cost, got ")
           << getCost().size() << " values";
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

LogicalResult ProgramOp::verify() {
  if (getKernels().size() != getPlaces().size()) // C1
    return emitOpError("expects one place for each kernel, got ")
           << getPlaces().size() << " for " << getKernels().size();
  if (!getCosts().empty() && getCosts().size() != 2 * getKernels().size()) // C1
    return emitOpError("expects two costs for each kernel, got ")
           << getCosts().size() << " for " << getKernels().size();
  return success();
}
