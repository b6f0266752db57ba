// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, memory and scalars of plain kernels, and the table of which op is built by which builder.
#include "lowering/Kernels/KernelBuilder.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/Elements.h"
#include "lowering/Kernels/KernelInterface.h"
#include "lowering/Tile/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Analysis/TileForm.h"

using namespace mlir;
using namespace mlir::fovea;

//===-- Phases -------------------------------------------------------------------------------===//

unsigned KernelBuilder::addTemporary(MemRefType type, ValueRange sizes) {
  KernelPhases::Phase &phase = phases->phases.back();
  unsigned place = phase.function.getNumArguments() - 2, number = phases->temporaries.size();
  (void)phase.function.insertArgument(place, type, {}, getLoc());
  // Arguments are the launch's operands, then temporaries, in order.
  phase.operands.push_back(place);
  phases->temporaries.push_back({type, SmallVector<Value>(sizes)});
  return number;
}

Value KernelBuilder::temporary(unsigned number) const {
  func::FuncOp function = phases->phases.back().function;
  return function.getArgument(function.getNumArguments() - 2 - phases->temporaries.size() + number);
}

void KernelBuilder::nextPhase(StringRef name) {
  std::string own = phases->phases.back().name;
  phases->phases.back().name = name.str();
  startPhase(own);
  phases->main.back() = phases->phases.size() - 1; // what came before prepared it
}

void KernelBuilder::nextVariant() {
  startPhase(phases->phases[phases->main.back()].name);
  phases->main.push_back(phases->phases.size() - 1);
}

void KernelBuilder::finishingPhase(StringRef name) { startPhase(name); }

void KernelBuilder::startPhase(StringRef name) {
  finish();
  KernelPhases::Phase &phase = phases->phases.back();
  KernelPhases::Phase next{name.str(), func::FuncOp(), phase.operands, Attribute(), Value()};
  next.function =
      func::FuncOp::create(phase.function.getLoc(), "kernel", phase.function.getFunctionType());
  Block *block = next.function.addEntryBlock();
  phases->phases.push_back(next);
  values.clear();
  bind(next.function);
  setInsertionPointToEnd(block);
}

void KernelBuilder::finish() {
  KernelPhases::Phase &phase = phases->phases.back();
  Block &block = phase.function.getBody().front();
  if (isChosen)
    for (auto kernel : block.getOps<tile::KernelOp>()) {
      setInsertionPoint(kernel);
      if (!phase.runs)
        phase.runs = isChosen();
      MutableOperandRange extents = kernel.getExtentsMutable();
      extents[0].assign(select(phase.runs, kernel.getExtents()[0], index(0)));
    }
  setInsertionPointToEnd(&block);
  func::ReturnOp::create(*this);
}

//===-- Loops --------------------------------------------------------------------------------===//

void KernelBuilder::parallelNest(ValueRange extents, function_ref<void(ValueRange)> body) {
  size_t outer = std::min<size_t>(parallelLoops, extents.size());
  SmallVector<Value> lower, upper, step;
  for (size_t i = 0; i < std::max<size_t>(outer, 1); ++i) {
    lower.push_back(index(0));
    upper.push_back(outer == 0 ? index(1) : extents[i]);
    step.push_back(index(1));
  }
  scf::ParallelOp::create(*this, lower, upper, step,
                          [&](OpBuilder &inner, Location, ValueRange ivs) {
                            OpBuilder::InsertionGuard guard(*this);
                            setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
                            SmallVector<Value> indices;
                            if (outer != 0)
                              indices.append(ivs.begin(), ivs.end());
                            std::function<void()> nest = [&] {
                              if (indices.size() == extents.size())
                                return body(indices);
                              loop(index(0), extents[indices.size()], [&](Value i) {
                                indices.push_back(i);
                                nest();
                                indices.pop_back();
                              });
                            };
                            nest();
                          });
}

void KernelBuilder::loop(Value begin, Value end, function_ref<void(Value)> body) {
  loopCarried(begin, end, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value>
KernelBuilder::loopCarried(Value begin, Value end, ValueRange init,
                           function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(*this, begin, end, index(1), init);
  OpBuilder::InsertionGuard guard(*this);
  // Without carried values the loop's block comes with its terminator.
  if (init.empty())
    setInsertionPoint(op.getBody()->getTerminator());
  else
    setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(*this, next);
  return SmallVector<Value>(op.getResults());
}

SmallVector<Value> KernelBuilder::branch(Value condition, TypeRange types,
                                         function_ref<SmallVector<Value>()> then,
                                         function_ref<SmallVector<Value>()> otherwise) {
  auto op =
      scf::IfOp::create(*this, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(*this);
  for (auto [block, emit] : {std::pair(op.thenBlock(), then), {op.elseBlock(), otherwise}}) {
    setInsertionPointToEnd(block);
    SmallVector<Value> yielded = emit();
    scf::YieldOp::create(*this, yielded);
  }
  return SmallVector<Value>(op.getResults());
}

//===-- Memory -------------------------------------------------------------------------------===//

Value KernelBuilder::size(Value buffer, int64_t axis) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(axis))
    return index(type.getDimSize(axis));
  return memref::DimOp::create(*this, buffer, axis);
}

SmallVector<Value> KernelBuilder::sizes(Value buffer, int64_t dropLast) {
  SmallVector<Value> result;
  for (int64_t axis = 0, e = cast<MemRefType>(buffer.getType()).getRank() - dropLast; axis < e;
       ++axis)
    result.push_back(size(buffer, axis));
  return result;
}

SmallVector<Value> KernelBuilder::openSizes(Value buffer, ArrayRef<int64_t> shape) {
  SmallVector<Value> result;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      result.push_back(this->size(buffer, axis));
  return result;
}

Value KernelBuilder::load(Value buffer, ValueRange indices) {
  return memref::LoadOp::create(*this, buffer, indices);
}

Value KernelBuilder::loadAs(Type type, Value buffer, ValueRange indices) {
  return convert(load(buffer, indices), type);
}

void KernelBuilder::storeTo(Value buffer, ValueRange indices, Value value) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (isa<FloatType>(element))
    value = convert(value, element);
  memref::StoreOp::create(*this, value, buffer, indices);
}

Value KernelBuilder::cloneIn(Value value) {
  if (Value known = values.lookupOrNull(value))
    return known;
  if (Value memory = buffers.lookup(value)) {
    Value tensor =
        bufferization::ToTensorOp::create(*this, value.getType(), memory, /*restrict=*/true);
    values.map(value, tensor);
    return tensor;
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneIn(operand);
  clone(*op, values);
  return values.lookup(value);
}

//===-- Scalars ------------------------------------------------------------------------------===//

Value KernelBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }

Value KernelBuilder::real(Type type, double value) {
  return arith::ConstantOp::create(*this, getFloatAttr(type, value));
}

Value KernelBuilder::integer(Type type, int64_t value) {
  return arith::ConstantOp::create(*this, getIntegerAttr(type, value));
}

Value KernelBuilder::convert(Value value, Type floatType) {
  return convertFloat(*this, value, floatType);
}

Value KernelBuilder::toIndex(Value integer) {
  return arith::IndexCastOp::create(*this, getIndexType(), integer);
}
Value KernelBuilder::toI32(Value index) {
  return arith::IndexCastOp::create(*this, getI32Type(), index);
}

template <typename FloatOp, typename IntOp>
static Value either(ImplicitLocOpBuilder &b, Value l, Value r) {
  if (isa<FloatType>(l.getType()))
    return FloatOp::create(b, l, r);
  return IntOp::create(b, l, r);
}

Value KernelBuilder::add(Value l, Value r) {
  return either<arith::AddFOp, arith::AddIOp>(*this, l, r);
}
Value KernelBuilder::sub(Value l, Value r) {
  return either<arith::SubFOp, arith::SubIOp>(*this, l, r);
}
Value KernelBuilder::mul(Value l, Value r) {
  return either<arith::MulFOp, arith::MulIOp>(*this, l, r);
}
Value KernelBuilder::div(Value l, Value r) {
  return either<arith::DivFOp, arith::DivSIOp>(*this, l, r);
}
Value KernelBuilder::maximum(Value l, Value r) {
  return either<arith::MaximumFOp, arith::MaxSIOp>(*this, l, r);
}
Value KernelBuilder::less(Value l, Value r) {
  if (isa<FloatType>(l.getType()))
    return arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, l, r);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, l, r);
}
Value KernelBuilder::select(Value condition, Value then, Value otherwise) {
  return arith::SelectOp::create(*this, condition, then, otherwise);
}

Value mlir::fovea::loadPosition(KernelBuilder &k, Value positions, Value b, Value i) {
  if (!positions)
    return k.toI32(i);
  bool shared = cast<MemRefType>(positions.getType()).getDimSize(0) == 1;
  return k.load(positions, {shared ? k.index(0) : b, i});
}

void mlir::fovea::emitCopy(KernelBuilder &k, Value source, Value target) {
  k.parallelNest(k.sizes(target), [&](ValueRange at) {
    memref::StoreOp::create(k, k.load(source, at), target, at);
  });
}

//===-- Plain loops --------------------------------------------------------------------------===//

LogicalResult mlir::fovea::emitLoops(KernelBuilder &k, Operation *op) {
  if (isPrefixSum(op))
    return buildPrefixSum(k, op);
  if (isa<linalg::LinalgOp>(op))
    return buildStructured(k, op);
  if (readsElements(op))
    return buildElements(k, op);
  if (auto kernel = dyn_cast<KernelOpInterface>(op))
    return kernel.emitLoops(k);
  return op->emitOpError("has no kernel builder");
}

int64_t mlir::fovea::getParallelLoops(Operation *op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return std::max<int64_t>(structured.getNumParallelLoops() - isPrefixSum(op), 1);
  return getResultAxes(op);
}
