// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups become launches, results places in the arena, and sizes index arithmetic before them.
// Refuses what is neither in a group, nor a view, nor index arithmetic.
#include "lowering/Entries/EntryConversion.h"
#include "dialects/Fovea/Ports.h"
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/Scalars.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;

/// A memref of a cache: [batch, heads, capacity, size].
static MemRefType getCacheMemory(CacheType type) {
  int64_t open = ShapedType::kDynamic;
  return MemRefType::get({open, type.getHeads(), open, type.getSize()}, type.getElementType());
}

static std::string getPortName(func::FuncOp entry, unsigned i, bool result) {
  auto name = result ? entry.getResultAttrOfType<StringAttr>(i, FoveaDialect::kNameAttr)
                     : entry.getArgAttrOfType<StringAttr>(i, FoveaDialect::kNameAttr);
  if (name)
    return name.str();
  return ((result ? "result" : "argument") + Twine(i)).str();
}

/// What the entry takes and gives, in the caller's words and as buffers.
struct EntryConversion::Signature {
  SmallVector<Type> inputs, outputs;
  SmallVector<PortAttr> argumentPorts, resultPorts;
};

static PortAttr makePort(func::FuncOp entry, unsigned i, Type type, bool result) {
  auto dims = result ? entry.getResultAttrOfType<ArrayAttr>(i, FoveaDialect::kDimsAttr)
                     : entry.getArgAttrOfType<ArrayAttr>(i, FoveaDialect::kDimsAttr);
  PortRole role = result ? getResultRole(entry, i) : getArgumentRole(entry, i);
  return PortAttr::get(entry.getContext(), getPortName(entry, i, result), type, dims, -1, role);
}

LogicalResult EntryConversion::readSignature(Signature &signature) {
  Type index = IndexType::get(entry.getContext());
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes())) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      signature.inputs.push_back(getBufferType(tensor));
    else if (auto cache = dyn_cast<CacheType>(type))
      signature.inputs.append({getCacheMemory(cache), index});
    else
      return entry.emitOpError("expects tensors and caches as arguments of an entry, got ") << type;
    signature.argumentPorts.push_back(makePort(entry, i, type, false));
  }
  for (auto [i, type] : llvm::enumerate(entry.getResultTypes())) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      signature.inputs.push_back(getBufferType(tensor));
      signature.outputs.append(tensor.getRank(), index);
    } else if (isa<CacheType>(type)) {
      signature.outputs.push_back(index);
    } else {
      return entry.emitOpError("expects tensors and caches as results of an entry, got ") << type;
    }
    signature.resultPorts.push_back(makePort(entry, i, type, true));
  }
  // The caches that are returned say which argument they grow from.
  auto ret = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    if (!isa<CacheType>(value.getType()))
      continue;
    auto found = cacheArgument.find(value);
    if (found == cacheArgument.end())
      return entry.emitOpError("returns a cache that comes from none of its arguments, as result ")
             << i;
    PortAttr old = signature.resultPorts[i];
    signature.resultPorts[i] = PortAttr::get(entry.getContext(), old.getName(), old.getType(),
                                             old.getDims(), found->second, old.getRole());
  }
  return success();
}

/// Buffers keep the names that callers know.
static void nameBuffers(func::FuncOp entry, Block *block, ArrayRef<PortAttr> arguments,
                        ArrayRef<PortAttr> results) {
  unsigned next = 0;
  auto name = [&](StringRef text) {
    block->getArgument(next++).setLoc(
        NameLoc::get(StringAttr::get(entry.getContext(), text), entry.getLoc()));
  };
  for (PortAttr argument : arguments) {
    name(argument.getName());
    if (isa<CacheType>(argument.getType()))
      name(("length_of_" + argument.getName()).str());
  }
  for (PortAttr result : results)
    if (!isa<CacheType>(result.getType()))
      name(result.getName());
}

/// The sizes of an argument's buffer; those that have a name are read once.
SmallVector<OpFoldResult> EntryConversion::readSizes(Value memory, ArrayAttr dims) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> sizes;
  unsigned open = 0;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      sizes.push_back(math.getIndexAttr(type.getDimSize(axis)));
      continue;
    }
    StringRef name = dims ? cast<StringAttr>(dims[open]).getValue() : "";
    ++open;
    Value known = name.empty() ? Value() : namedSizes.lookup(name);
    if (!known) {
      known = memref::DimOp::create(math, entry.getLoc(), memory, axis);
      if (!name.empty())
        namedSizes[name] = known;
    }
    sizes.push_back(known);
  }
  return sizes;
}

void EntryConversion::bindArguments(Block *block) {
  unsigned next = 0;
  for (auto [i, argument] : llvm::enumerate(entry.getArguments())) {
    Value memory = block->getArgument(next++);
    SmallVector<OpFoldResult> sizes =
        readSizes(memory, entry.getArgAttrOfType<ArrayAttr>(i, FoveaDialect::kDimsAttr));
    if (isa<CacheType>(argument.getType()))
      caches[argument] = {memory, block->getArgument(next++)};
    else
      buffers[argument] = {memory, sizes};
  }
  for (Type type : entry.getResultTypes())
    resultBuffers.push_back(isa<CacheType>(type) ? Value() : Value(block->getArgument(next++)));
}

LogicalResult EntryConversion::createFunction() {
  MLIRContext *context = entry.getContext();
  if (!entry.getBody().hasOneBlock())
    return entry.emitOpError("expects an entry of one block");
  Signature signature;
  if (failed(readSignature(signature)))
    return failure();

  OpBuilder builder(entry);
  Location loc = entry.getLoc();
  fresh = func::FuncOp::create(builder, loc, entry.getName(),
                               builder.getFunctionType(signature.inputs, signature.outputs));
  fresh->setAttr(FoveaDialect::kEntryAttr, builder.getUnitAttr());
  fresh->setAttr(FoveaDialect::kSignatureAttr,
                 SignatureAttr::get(context, signature.argumentPorts, signature.resultPorts,
                                    getEntryKind(entry)));
  if (Attribute most = entry->getAttr(FoveaDialect::kMaxPositionsAttr))
    fresh->setAttr(FoveaDialect::kMaxPositionsAttr, most);
  Block *block = fresh.addEntryBlock();
  nameBuffers(entry, block, signature.argumentPorts, signature.resultPorts);

  // Index arithmetic goes before the arena, buffers and launches behind it.
  math.setInsertionPointToStart(block);
  Value zero = arith::ConstantIndexOp::create(math, loc, 0);
  auto arenaOp =
      ArenaOp::create(math, loc, MemRefType::get({ShapedType::kDynamic}, math.getI8Type()), zero);
  math.setInsertionPoint(arenaOp);
  body.setInsertionPointToEnd(block);
  arenaMemory = arenaOp.getMemory();
  bindArguments(block);
  return success();
}

/// The group's argument that a cache it yields grows from; null for what is no such cache.
static BlockArgument getContinued(Value yielded) {
  auto append = yielded.getDefiningOp<CacheAppendOp>();
  return append ? dyn_cast<BlockArgument>(append.getContinued(yielded)) : BlockArgument();
}

/// Numbers the ops, follows views to the values they look at, and finds each value's last reader.
void EntryConversion::findLifetimes() {
  Block &block = entry.getBody().front();
  int64_t next = 0;
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    if (isa<CacheType>(argument.getType()))
      cacheArgument[argument] = i;
  for (Operation &op : block) {
    order[&op] = ++next;
    if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      roots[op.getResult(0)] = rootOf(op.getOperand(0));
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType, CacheType>(operand.getType()))
        lastUse[rootOf(operand)] = next;
    auto group = dyn_cast<GroupOp>(op);
    if (!group)
      continue;
    for (auto [result, yielded] :
         llvm::zip(group.getResults(), group.getBody().front().getTerminator()->getOperands())) {
      BlockArgument cache = getContinued(yielded);
      if (!cache)
        continue;
      Value from = group.getInputs()[cache.getArgNumber()];
      // Each append to an empty cache has memory of its own: see getCache.
      if (!from.getDefiningOp<CacheCreateOp>())
        roots[result] = rootOf(from);
      if (auto found = cacheArgument.find(from); found != cacheArgument.end())
        cacheArgument[result] = found->second;
    }
  }
  // A value's last use is its root's; a returned group result needs no slot.
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (value.getDefiningOp<GroupOp>() && isa<RankedTensorType>(value.getType()))
      resultOf.try_emplace(value, i);
}

OpFoldResult EntryConversion::map(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    if (Value mapped = scalars.lookupOrNull(value)) {
      if (std::optional<int64_t> constant = getConstantIntValue(mapped))
        return math.getIndexAttr(*constant);
      return mapped;
    }
  return size;
}

SmallVector<OpFoldResult> EntryConversion::map(ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) { return map(size); });
}

Value EntryConversion::toValue(Location loc, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(math, loc, size);
}

Value EntryConversion::allocate(Location loc, MemRefType type, ArrayRef<OpFoldResult> sizes,
                                int64_t first, int64_t last) {
  for (OpFoldResult size : sizes)
    checks.requireNotNegative(loc, size);
  Value bytes = arena.getBytes(math, loc, sizes, type.getElementType());
  unsigned slot = arena.allocate(first, last, bytes);
  SmallVector<Value> dynamic;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (type.isDynamicDim(axis))
      dynamic.push_back(toValue(loc, size));
  // The offset is filled in when all slots are known.
  auto view = memref::ViewOp::create(body, loc, type, arenaMemory, bytes, dynamic);
  arena.addUse(slot, view.getByteShiftMutable());
  memorySizes[view] = SmallVector<OpFoldResult>(sizes);
  return view;
}

Value EntryConversion::allocateFor(Value value, Operation *op, MemRefType type,
                                   ArrayRef<OpFoldResult> sizes) {
  int64_t now = order[op];
  auto last = lastUse.find(rootOf(value));
  return allocate(op->getLoc(), type, sizes, now, last == lastUse.end() ? now : last->second);
}

LogicalResult EntryConversion::convertIndexOp(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    auto found = buffers.find(dim.getSource());
    if (!axis || found == buffers.end())
      return op->emitOpError("expects a constant axis of a tensor of this entry");
    scalars.map(dim.getResult(), toValue(op->getLoc(), found->second.sizes[*axis]));
    return success();
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!scalars.contains(operand))
      return op->emitOpError("expects operands that are sizes and constants");
    operands.push_back(scalars.lookup(operand));
  }
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    AffineMap map = isa<affine::AffineApplyOp>(op) ? cast<affine::AffineApplyOp>(op).getMap()
                    : isa<affine::AffineMinOp>(op) ? cast<affine::AffineMinOp>(op).getMap()
                                                   : cast<affine::AffineMaxOp>(op).getMap();
    Value found;
    SmallVector<Value, 8> values = *affine::expandAffineMap(math, op->getLoc(), map, operands);
    for (Value value : values)
      found = !found ? value
              : isa<affine::AffineMinOp>(op)
                  ? Value(arith::MinSIOp::create(math, op->getLoc(), found, value))
                  : Value(arith::MaxSIOp::create(math, op->getLoc(), found, value));
    scalars.map(op->getResult(0), found);
    return success();
  }
  ImplicitLocOpBuilder divide(op->getLoc(), math);
  if (Value quotient = emitSizeDivision(divide, op, operands))
    scalars.map(op->getResult(0), quotient);
  else
    math.clone(*op, scalars);
  return success();
}

/// The memory and length of a cache that a group reads or, as `argument`, grows. An empty cache
/// that was made in this entry gets memory here, as long as what grows from it is used.
FailureOr<CacheBuffer> EntryConversion::getCache(GroupOp group, Value operand,
                                                 BlockArgument argument) {
  CacheBuffer cache = caches.lookup(operand);
  auto create = operand.getDefiningOp<CacheCreateOp>();
  if (!create)
    return cache;
  CacheType type = create.getType();
  Value batch = scalars.lookupOrNull(create.getBatch());
  Value capacity = scalars.lookupOrNull(create.getCapacity());
  if (!batch || !capacity)
    return create.emitOpError("expects sizes that are computed from sizes"), failure();
  SmallVector<OpFoldResult> sizes{batch, math.getIndexAttr(type.getHeads()), capacity,
                                  math.getIndexAttr(type.getSize())};
  int64_t now = order[group], last = now;
  for (auto [result, yielded] :
       llvm::zip(group.getResults(), group.getBody().front().getTerminator()->getOperands()))
    if (getContinued(yielded) == argument)
      if (auto found = lastUse.find(result); found != lastUse.end())
        last = std::max(last, found->second);
  cache.memory = allocate(create.getLoc(), getCacheMemory(type), sizes, now, last);
  return cache;
}

/// What a group is launched on.
struct EntryConversion::GroupBuffers {
  SmallVector<Value> inputs, outputs;
  llvm::DenseMap<Value, CacheBuffer> held, grown; ///< by the region's argument
};

/// A cache that a group reads, or grows in place.
LogicalResult EntryConversion::addCache(GroupOp group, Value operand, BlockArgument argument,
                                        GroupBuffers &of) {
  FailureOr<CacheBuffer> found = getCache(group, operand, argument);
  if (failed(found))
    return failure();
  CacheBuffer cache = *found;
  of.held[argument] = cache;
  if (!isAppended(argument))
    of.inputs.push_back(cache.memory);
  of.inputs.push_back(cache.length);
  if (!isAppended(argument))
    return success();
  of.grown[argument] = cache;
  of.outputs.push_back(cache.memory);
  if (operand.getDefiningOp<CacheCreateOp>())
    return success();
  auto [first, isFirst] = appendedBy.try_emplace(operand, group);
  if (isFirst)
    return success();
  InFlightDiagnostic error =
      group.emitOpError("appends to a cache value that was appended to before");
  error.attachNote(first->second->getLoc())
      << "here; memory grows in place, so a value can grow once";
  return error;
}

LogicalResult EntryConversion::addOperands(GroupOp group, GroupBuffers &of) {
  for (auto [operand, argument] : llvm::zip(group.getInputs(), group.getBody().getArguments())) {
    if (isa<RankedTensorType>(operand.getType())) {
      auto found = buffers.find(operand);
      if (found == buffers.end())
        return group.emitOpError("reads a tensor that no buffer holds");
      memorySizes[found->second.memory] = found->second.sizes;
      of.inputs.push_back(found->second.memory);
    } else if (isa<CacheType>(operand.getType())) {
      if (failed(addCache(group, operand, argument, of)))
        return failure();
    } else {
      Value value = scalars.lookupOrNull(operand);
      if (!value)
        return group.emitOpError("reads an index value that is not computed from sizes");
      of.inputs.push_back(value);
    }
  }
  return success();
}

/// Buffers of a group's results, of sizes `shapes`. `added`: positions, by the append that adds
/// them.
LogicalResult EntryConversion::addResults(GroupOp group, const ReifiedRankedShapedTypeDims &shapes,
                                          const llvm::DenseMap<Value, OpFoldResult> &added,
                                          GroupBuffers &of) {
  Location loc = group.getLoc();
  Operation *yield = group.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(group.getResults())) {
    if (isa<CacheType>(result.getType())) {
      BlockArgument cache = getContinued(yield->getOperand(i));
      if (!cache)
        return group.emitOpError("expects a cache result to be an append to one of its arguments");
      CacheBuffer old = of.grown[cache];
      Value count = toValue(loc, map(added.lookup(yield->getOperand(i))));
      caches[result] = {old.memory, arith::AddIOp::create(math, loc, old.length, count)};
      continue;
    }
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> sizes = map(shapes[i]);
    for (OpFoldResult size : sizes)
      checks.requireNotNegative(loc, size);
    auto direct = resultOf.find(result);
    Value memory = direct != resultOf.end()
                       ? resultBuffers[direct->second]
                       : allocateFor(result, group, getBufferType(type), sizes);
    buffers[result] = {memory, sizes};
    memorySizes[memory] = sizes;
    of.outputs.push_back(memory);
  }
  return success();
}

LogicalResult EntryConversion::convertGroup(GroupOp group) {
  Location loc = group.getLoc();
  // The results' sizes, as ops before the group, converted like all others.
  Operation *before = group->getPrevNode();
  OpBuilder asking(group);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(group.reifyResultShapes(asking, shapes)))
    return group.emitOpError("has results whose sizes cannot be computed beforehand");
  SmallVector<Value> cost = buildCost(asking, group);
  GroupSizes groupSizes(group);
  llvm::DenseMap<Value, OpFoldResult> added;
  for (Value value : group.getBody().front().getTerminator()->getOperands())
    if (auto append = value.getDefiningOp<CacheAppendOp>()) {
      FailureOr<OpFoldResult> count = groupSizes.get(asking, append.getInput(), 1);
      if (failed(count))
        return append.emitOpError("adds positions whose number cannot be computed beforehand");
      added[value] = *count;
    }
  std::vector<RuleOfGroup> rules;
  if (failed(findRules(group, asking, rules)))
    return failure();
  for (Operation *op = before ? before->getNextNode() : &group->getBlock()->front(); op != group;
       op = op->getNextNode())
    if (failed(convert(op)))
      return failure();
  for (Value &value : cost)
    value = scalars.lookup(value);

  GroupBuffers of;
  if (failed(addOperands(group, of)) || failed(addResults(group, shapes, added, of)))
    return failure();
  for (const RuleOfGroup &rule : rules) {
    OpFoldResult size = sizeOf(rule.left, of.held), other = sizeOf(rule.right, of.held);
    rule.orOne ? checks.requireEqualOrOne(loc, size, other) : checks.requireEqual(loc, size, other);
  }
  return launch(group, of.inputs, of.outputs, cost);
}

/// The sizes that ops of a group need to be equal, each as values outside of it.
LogicalResult EntryConversion::findRules(GroupOp group, OpBuilder &asking,
                                         std::vector<RuleOfGroup> &rules) {
  GroupSizes sizes(group);
  auto find = [&](Operation *op, Value value, int64_t axis) -> FailureOr<SizeOfGroup> {
    SizeOfGroup result;
    // What a cache has been given in the group, and what it held before.
    while (auto append = value.getDefiningOp<CacheAppendOp>()) {
      if (axis == 1) {
        FailureOr<OpFoldResult> count = sizes.get(asking, append.getInput(), 1);
        if (failed(count))
          return append.emitOpError("adds positions whose number cannot be computed beforehand");
        result.terms.push_back(*count);
      }
      value = append.getContinued(value);
    }
    if (isa<CacheType>(value.getType())) {
      result.cache = value;
      result.axis = axis;
      return result;
    }
    FailureOr<OpFoldResult> size = sizes.get(asking, value, axis);
    if (failed(size))
      return op->emitOpError("needs a size that cannot be computed beforehand");
    result.terms.push_back(*size);
    return result;
  };
  auto isOpen = [](Value value, int64_t axis) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return !type || type.isDynamicDim(axis); // caches are
  };
  WalkResult walked = group.getBody().walk([&](SizeOpInterface op) {
    bool isKnown = true;
    op.requireSizes([&](SizeRule rule) {
      // Static sizes are verified.
      if (!isKnown || !(isOpen(rule.tensor, rule.axis) || isOpen(rule.other, rule.otherAxis)))
        return;
      FailureOr<SizeOfGroup> left = find(op, rule.tensor, rule.axis),
                             right = find(op, rule.other, rule.otherAxis);
      isKnown = succeeded(left) && succeeded(right);
      if (isKnown)
        rules.push_back({*left, *right, rule.orOne});
    });
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

OpFoldResult EntryConversion::sizeOf(const SizeOfGroup &size,
                                     const llvm::DenseMap<Value, CacheBuffer> &caches) {
  OpFoldResult sum;
  auto add = [&](OpFoldResult term) {
    sum =
        sum ? OpFoldResult(arith::AddIOp::create(math, entry.getLoc(), toValue(entry.getLoc(), sum),
                                                 toValue(entry.getLoc(), term))
                               .getResult())
            : term;
  };
  if (size.cache) {
    CacheBuffer cache = caches.lookup(size.cache);
    add(size.axis == 1 ? OpFoldResult(cache.length) : getSize(cache.memory, 0));
  }
  for (OpFoldResult term : size.terms)
    add(map(term));
  return sum;
}

/// The size of a launch's operand, as the plan computes it.
OpFoldResult EntryConversion::getSize(Value operand, int64_t axis) {
  auto type = cast<MemRefType>(operand.getType());
  if (!type.isDynamicDim(axis))
    return math.getIndexAttr(type.getDimSize(axis));
  auto known = memorySizes.find(operand);
  if (known != memorySizes.end())
    return known->second[axis];
  return memref::DimOp::create(math, operand.getLoc(), operand, axis).getResult();
}

/// A size of a temporary, which a kernel's code computes from its arguments, as a value of the
/// plan. `operands` are those of the group's launch.
Value EntryConversion::computeAgain(Value value, const KernelPhases &phases, ValueRange operands,
                                    IRMapping &known) {
  if (Value done = known.lookupOrNull(value))
    return done;
  auto operandOf = [&](BlockArgument argument) {
    for (const KernelPhases::Phase &phase : phases.phases)
      if (phase.function == argument.getOwner()->getParentOp())
        return operands[phase.operands[argument.getArgNumber()]];
    llvm_unreachable("sizes are computed in a phase");
  };
  Value result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    result = operandOf(argument);
  } else if (auto dim = value.getDefiningOp<memref::DimOp>()) {
    OpFoldResult size =
        getSize(operandOf(cast<BlockArgument>(dim.getSource())), *dim.getConstantIndex());
    result = toValue(value.getLoc(), size);
  } else {
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      computeAgain(operand, phases, operands, known);
    math.clone(*op, known);
    return known.lookup(value);
  }
  known.map(value, result);
  return result;
}

LogicalResult EntryConversion::launch(GroupOp group, ValueRange inputs, ValueRange outputs,
                                      ValueRange cost) {
  Location loc = group.getLoc();
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, outputs);
  auto getKernel = [&] {
    return kernels.get(group, SmallVector<Type>(ValueRange(operands).getTypes()));
  };
  FailureOr<const KernelPhases *> kernel = getKernel();
  int64_t now = order[group];
  if (succeeded(kernel) && !*kernel) {
    for (Value &operand : MutableArrayRef(operands).take_front(inputs.size())) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (!type || type.getLayout().isIdentity())
        continue;
      SmallVector<OpFoldResult> sizes = memorySizes.lookup(operand);
      Value dense =
          allocate(loc, MemRefType::get(type.getShape(), type.getElementType()), sizes, now, now);
      launchCopy(loc, operand, dense);
      memorySizes[dense] = sizes;
      operand = dense;
    }
    kernel = getKernel();
  }
  if (failed(kernel))
    return failure();
  if (!*kernel)
    return group.emitOpError("has operands or results that no tile can hold");
  IRMapping known;
  SmallVector<Value> temporaries;
  for (const KernelPhases::Temporary &temporary : (*kernel)->temporaries) {
    SmallVector<OpFoldResult> sizes;
    unsigned open = 0;
    for (int64_t size : temporary.type.getShape())
      if (ShapedType::isDynamic(size))
        sizes.push_back(computeAgain(temporary.sizes[open++], **kernel, operands, known));
      else
        sizes.push_back(math.getIndexAttr(size));
    temporaries.push_back(allocate(loc, temporary.type, sizes, now, now));
  }
  llvm::append_range(operands, temporaries);
  for (auto [number, phase] : llvm::enumerate((*kernel)->phases)) {
    // What a phase reads of the temporaries stands among its outputs too: they are ours alone.
    SmallVector<Value> in, out;
    for (unsigned operand : phase.operands)
      (operand < inputs.size() ? in : out).push_back(operands[operand]);
    func::FuncOp function = phase.function;
    SmallVector<Value> share(cost);
    Value none = arith::ConstantIndexOp::create(math, loc, 0);
    if (!llvm::is_contained((*kernel)->main, number))
      share.assign(cost.size(), none);
    else if (phase.runs)
      for (Value &work : share)
        work = arith::SelectOp::create(
            math, loc, computeAgain(phase.runs, **kernel, operands, known), work, none);
    LaunchOp::create(body, loc, function.getSymName(), in, out, share);
    ++launches;
  }
  return success();
}

LogicalResult EntryConversion::convertReturn(func::ReturnOp op) {
  SmallVector<Value> sizes;
  llvm::SmallDenseMap<unsigned, unsigned> grown; // arguments, and which result continues them
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    if (isa<CacheType>(value.getType())) {
      unsigned argument = cacheArgument.lookup(value);
      auto [first, isFirst] = grown.try_emplace(argument, i);
      if (!isFirst)
        return op.emitOpError("continues argument '")
               << getPortName(entry, argument, /*result=*/false) << "' twice, as results "
               << first->second << " and " << i;
      sizes.push_back(caches.lookup(value).length);
      continue;
    }
    auto found = buffers.find(value);
    if (found == buffers.end())
      return op.emitOpError("returns a tensor that no buffer holds");
    for (OpFoldResult size : found->second.sizes)
      sizes.push_back(toValue(op.getLoc(), size));
    auto direct = resultOf.find(value);
    if (direct != resultOf.end() && direct->second == i)
      continue;
    // An argument, a view, or a value that is returned twice.
    Value source = found->second.memory, target = resultBuffers[i];
    launchCopy(op.getLoc(), source, target);
  }
  func::ReturnOp::create(body, op.getLoc(), sizes);
  return success();
}

LogicalResult EntryConversion::convert(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](GroupOp group) { return convertGroup(group); })
      .Case([&](func::ReturnOp ret) { return convertReturn(ret); })
      .Case<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
          [&](Operation *view) { return convertView(view); })
      .Case([&](WeightRefOp ref) {
        auto type = cast<RankedTensorType>(ref.getResult().getType());
        Buffer buffer;
        buffer.memory =
            WeightRefOp::create(body, ref.getLoc(), getBufferType(type), ref.getWeightAttr());
        for (int64_t size : type.getShape())
          buffer.sizes.push_back(math.getIndexAttr(size));
        buffers[ref.getResult()] = buffer;
        return success();
      })
      .Case([&](CacheLengthOp length) {
        scalars.map(length.getLength(), caches.lookup(length.getCache()).length);
        return success();
      })
      .Case([&](CacheCreateOp create) {
        // Memory is given to what is appended to it; equal empty caches may be one value by now.
        caches[create.getResult()] = {Value(),
                                      arith::ConstantIndexOp::create(math, create.getLoc(), 0)};
        return success();
      })
      .Case([&](tensor::EmptyOp empty) {
        SmallVector<OpFoldResult> sizes = map(empty.getMixedSizes());
        buffers[empty.getResult()] = {
            allocateFor(empty.getResult(), empty, getBufferType(empty.getType()), sizes), sizes};
        return success();
      })
      .Default([&](Operation *other) -> LogicalResult {
        if (auto constant = dyn_cast<arith::ConstantOp>(other))
          if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue())) {
            memref::GlobalOp global = kernels.getConstant(constant.getLoc(), value);
            Buffer buffer;
            buffer.memory = memref::GetGlobalOp::create(body, constant.getLoc(), global.getType(),
                                                        global.getName());
            for (int64_t size : value.getType().getShape())
              buffer.sizes.push_back(math.getIndexAttr(size));
            buffers[constant.getResult()] = buffer;
            return success();
          }
        if (isa<arith::ArithDialect, affine::AffineDialect>(other->getDialect()) ||
            isa<tensor::DimOp>(other))
          return convertIndexOp(other);
        if (isa<MaskOpInterface>(other) && other->use_empty())
          return success();
        return other->emitOpError("is neither in a group, nor a view, nor index arithmetic");
      });
}

/// Panels are known to weights and to ops that read them in any layout, and to nothing else; other
/// encodings to nothing.
static LogicalResult verifyPanels(Operation *op) {
  if (!isa<WeightRefOp>(op))
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getEncoding())
        return op->emitOpError("expects only weights to have an encoding, got a result of type ")
               << tensor;
  if (isa<GroupOp>(op)) // its ops are looked at one by one
    return success();
  for (OpOperand &use : op->getOpOperands()) {
    auto tensor = dyn_cast<RankedTensorType>(use.get().getType());
    if (tensor && tensor.getEncoding() && !readsAnyLayout(use))
      return op->emitOpError("expects a row-major tensor as operand ")
             << use.getOperandNumber() << ", got " << tensor;
    WeightRole role = getWeightRole(use);
    if (tensor && sharesBytes(tensor.getElementType()) && role != WeightRole::Matrix &&
        !(role == WeightRole::Table && isa<BlocksType>(tensor.getElementType())))
      return op->emitOpError("expects a type that others than linears read as operand ")
             << use.getOperandNumber() << ", got " << tensor;
  }
  return success();
}

/// No memory holds 2^48 bytes; up to there sizes and offsets of what is static cannot wrap.
static LogicalResult verifyStaticSize(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  Type element = getStorageType(tensor.getElementType());
  bool isShared = sharesBytes(tensor.getElementType());
  if (!element.isIntOrIndexOrFloat() || (isShared && !isa<WeightRefOp>(op)))
    return op->emitOpError("expects elements that are floats, integers or indices, got ") << tensor;
  constexpr int64_t kMost = int64_t(1) << 48;
  int64_t bytes = getStorageBytes(element, 1);
  for (int64_t size : getStorageShape(tensor))
    if (!ShapedType::isDynamic(size) && (llvm::MulOverflow(bytes, size, bytes) || bytes > kMost))
      return op->emitOpError("expects static sizes below 2^48 bytes, got ") << tensor;
  return success();
}

LogicalResult EntryConversion::run() {
  for (Type type : llvm::concat<const Type>(entry.getArgumentTypes(), entry.getResultTypes())) {
    if (failed(verifyStaticSize(entry, type)))
      return failure();
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getEncoding())
      return entry.emitOpError("expects row-major tensors as arguments and results, got ")
             << tensor;
  }
  WalkResult panels = entry.walk([](Operation *op) {
    return failed(verifyPanels(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (panels.wasInterrupted())
    return failure();
  for (Operation &op : entry.getBody().front())
    for (Type type : op.getResultTypes())
      if (failed(verifyStaticSize(&op, type)))
        return failure();
  findLifetimes();
  if (failed(createFunction()))
    return failure();
  for (Operation &op : llvm::make_early_inc_range(entry.getBody().front()))
    if (failed(convert(&op)))
      return failure();
  auto arenaOp = arenaMemory.getDefiningOp<ArenaOp>();
  Location loc = entry.getLoc();
  arenaOp.getBytesMutable().assign(checks.finish(loc, arena.finish(math, loc)));
  return success();
}
