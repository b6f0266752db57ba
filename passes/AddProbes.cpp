// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-add-probes: an entry once more, which gives what it computes on its way. The pass's text
// says what that is.
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Fovea/Ports.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Analysis/Inline.h"
#include "passes/Analysis/SizeOrigin.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_ADDPROBESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {
/// What is to be seen, and what its name starts with.
struct Seen {
  Value value;
  StringRef name;
  /// What is said by the weight that it meets: a `fovea.weight_ref`, or an argument that calls give
  /// one for.
  Value weight = {};
};

/// One kind of what can be seen: the entry that shows it, and what an op has of it (an op may be
/// written anew for that).
struct Probe {
  StringRef kind, entry, wanted;
  void (*see)(Operation *op, SmallVectorImpl<Seen> &seen);
  /// Whether it follows from sizes: written out, layers then lead to those of arguments, and what
  /// they compute is not needed.
  bool isOfSizes;
};
} // namespace

//===-- What ops show ------------------------------------------------------------------------===//

/// The size of a value's axis: of a tensor's, or of the positions that a cache holds.
static Value makeSize(OpBuilder &b, Location loc, Value value, int64_t axis) {
  if (isa<CacheType>(value.getType()))
    return CacheLengthOp::create(b, loc, value);
  return tensor::DimOp::create(b, loc, value, axis);
}

static int64_t getStaticSize(Value value, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getDimSize(axis) : ShapedType::kDynamic;
}

/// [batch, heads, queries, keys] of an attention.
static SmallVector<int64_t> getMapShape(AttentionOp op) {
  auto query = op.getQuery().getType();
  return {query.getDimSize(0), query.getDimSize(2), query.getDimSize(1),
          getStaticSize(op.getKey(), 1)};
}

/// Those of the sizes that are open.
static SmallVector<Value> makeOpenSizes(OpBuilder &b, AttentionOp op) {
  SmallVector<int64_t> shape = getMapShape(op);
  SmallVector<Value> open;
  auto add = [&](unsigned axis, Value value, int64_t of) {
    if (ShapedType::isDynamic(shape[axis]))
      open.push_back(makeSize(b, op.getLoc(), value, of));
  };
  add(0, op.getQuery(), 0);
  add(2, op.getQuery(), 1);
  add(3, op.getKey(), 1);
  return open;
}

/// The probabilities, which the op gives on demand.
static void seeWeights(Operation *op, SmallVectorImpl<Seen> &seen) {
  auto attention = dyn_cast<AttentionOp>(op);
  if (!attention)
    return;
  if (!attention.getWeights()) {
    OpBuilder b(op);
    Type weights = RankedTensorType::get(getMapShape(attention),
                                         attention.getQuery().getType().getElementType());
    auto giving = AttentionOp::create(
        b, op->getLoc(), attention.getOutput().getType(),
        attention.getLse() ? attention.getLse().getType() : Type(), weights, attention.getQuery(),
        attention.getKey(), attention.getValue(), attention.getQueryPositions(),
        attention.getKeyPositions(), attention.getMask(), attention.getSinks(),
        attention.getAdditive(), attention.getKeyScales(), attention.getValueScales(),
        attention.getScoreOperands(), attention.getProbabilityOperands(),
        attention.getScoreMapsAttr(), attention.getProbabilityMapsAttr(), attention.getScaleAttr(),
        attention.getFillAttr());
    giving.getScore().takeBody(attention.getScore());
    giving.getProbability().takeBody(attention.getProbability());
    attention.getOutput().replaceAllUsesWith(giving.getOutput());
    if (attention.getLse())
      attention.getLse().replaceAllUsesWith(giving.getLse());
    attention.erase();
    attention = giving;
  }
  seen.push_back({attention.getWeights(), "attention"});
}

/// Which keys the queries see.
static void seeMask(Operation *op, SmallVectorImpl<Seen> &seen) {
  auto attention = dyn_cast<AttentionOp>(op);
  if (!attention)
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value mask = attention.getMask();
  if (!mask)
    mask = MaskAndOp::create(b, loc, MaskType::get(op->getContext()), ValueRange());
  SmallVector<int64_t> shape = getMapShape(attention);
  SmallVector<Value> open = makeOpenSizes(b, attention);
  Value result =
      MaskMaterializeOp::create(b, loc, RankedTensorType::get(shape, b.getI1Type()), mask, open,
                                attention.getQueryPositions(), attention.getKeyPositions());
  seen.push_back({result, "mask"});
}

/// One head whose pairs are (1, 0): turned, they are the cosines and sines of their angles.
static Value makeUnits(OpBuilder &b, RopeOp rope) {
  Location loc = rope.getLoc();
  auto type = cast<RankedTensorType>(rope.getInput().getType());
  auto positions = cast<RankedTensorType>(rope.getPositions().getType());
  SmallVector<Value> open;
  for (int64_t axis : {0, 1})
    if (positions.isDynamicDim(axis))
      open.push_back(makeSize(b, loc, rope.getPositions(), axis));
  auto units =
      type.clone({positions.getDimSize(0), positions.getDimSize(1), 1, type.getDimSize(3)});
  Value empty = tensor::EmptyOp::create(b, loc, units, open);
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  auto fill = [&](OpBuilder &b, Location loc, ValueRange) {
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
    Value at = linalg::IndexOp::create(b, loc, 3), isFirst;
    auto less = [&](int64_t bound) {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, constant(bound));
    };
    int64_t dim = rope.getDim();
    if (rope.getPairing() == RopePairing::Half) {
      isFirst = less(dim / 2);
    } else {
      Value odd = arith::RemUIOp::create(b, loc, at, constant(2));
      Value even = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, odd, constant(0));
      isFirst = arith::AndIOp::create(b, loc, even, less(dim));
    }
    auto real = [&](double value) {
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(type.getElementType(), value));
    };
    Value unit = arith::SelectOp::create(b, loc, isFirst, real(1), real(0));
    linalg::YieldOp::create(b, loc, unit);
  };
  return linalg::GenericOp::create(b, loc, units, ValueRange(), empty,
                                   {b.getMultiDimIdentityMap(4)}, loops, fill)
      .getResult(0);
}

/// Whether a score depends on positions or on what is given for them, not on the product alone.
static bool hasBias(AttentionOp op) {
  if (op.getScore().empty())
    return false;
  Block &score = op.getScore().front();
  return llvm::any_of(score.getArguments().drop_front(),
                      [](BlockArgument argument) { return !argument.use_empty(); });
}

/// What the score is where query and key have the product 0, [batch, heads, queries, keys].
static Value makeBias(OpBuilder &b, AttentionOp op) {
  ElementRegion score = op.getScoreRegion();
  unsigned count = score.operands.size();
  auto place = [&](unsigned axis) { // b, h, and the positions of query and key
    return score.getBlock().getArgument(ElementRegion::kFirst + count + axis);
  };
  // What is read element by element: operands, and positions that are given.
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<BlockArgument> read;
  auto add = [&](Value tensor, AffineMap map, BlockArgument argument) {
    inputs.push_back(tensor);
    maps.push_back(map);
    read.push_back(argument);
  };
  IRMapping mapping;
  for (auto [number, operand] : llvm::enumerate(score.operands))
    if (score.isWhole(number))
      mapping.map(score.getArgument(number), operand);
    else
      add(operand, score.getMap(number), score.getArgument(number));
  for (auto [axis, positions] :
       {std::pair<unsigned, Value>{2, op.getQueryPositions()}, {3, op.getKeyPositions()}}) {
    if (!positions)
      continue;
    AffineExpr row = isOneForAll(positions) ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(0);
    add(positions, AffineMap::get(4, 0, {row, b.getAffineDimExpr(axis)}, b.getContext()),
        place(axis));
  }
  maps.push_back(b.getMultiDimIdentityMap(4));
  auto build = [&](OpBuilder &b, Location loc, ValueRange elements) {
    for (auto [argument, element] : llvm::zip_first(read, elements))
      mapping.map(argument, element);
    BlockArgument product = score.getBlock().getArgument(0);
    mapping.map(product, arith::ConstantOp::create(b, loc, b.getZeroAttr(product.getType())));
    for (unsigned axis = 0; axis < ElementRegion::kPlaces; ++axis) {
      if (mapping.contains(place(axis)))
        continue;
      Value index = linalg::IndexOp::create(b, loc, axis);
      if (axis > 1)
        index = arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
      mapping.map(place(axis), index);
    }
    for (Operation &each : score.getBlock().without_terminator())
      b.clone(each, mapping);
    linalg::YieldOp::create(b, loc, mapping.lookup(score.getResult()));
  };
  auto type = RankedTensorType::get(getMapShape(op), score.getResult().getType());
  Value empty = tensor::EmptyOp::create(b, op.getLoc(), type, makeOpenSizes(b, op));
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, op.getLoc(), type, inputs, empty, maps, loops, build)
      .getResult(0);
}

/// Whether it is the first rows of a stored table, as many as an open size says: how positions look
/// where an exporter wrote down the table's numbers and its slice.
static bool isStartOfTable(tensor::ExtractSliceOp slice) {
  RankedTensorType table = slice.getSourceType(), rows = slice.getType();
  int64_t rank = table.getRank(), last = rank - 1;
  Operation *stored = slice.getSource().getDefiningOp();
  if (!isa_and_nonnull<arith::ConstantOp, WeightRefOp>(stored) || rank < 2 ||
      rows.getRank() != rank)
    return false;
  for (int64_t axis = 0; axis < last - 1; ++axis)
    if (table.getDimSize(axis) != 1)
      return false;
  return isa<FloatType>(table.getElementType()) && rows.isDynamicDim(last - 1) &&
         rows.getDimSize(last) == table.getDimSize(last) && slice.hasUnitStride() &&
         llvm::all_of(slice.getMixedOffsets(), isZeroInteger);
}

/// What tells positions apart: vectors that are added, angles by which heads are turned, or what is
/// added to scores.
static void seePositions(Operation *op, SmallVectorImpl<Seen> &seen) {
  if (isa<PositionLearnedOp>(op)) {
    seen.push_back({op->getResult(0), "learned"});
  } else if (isa<PositionSinusoidalOp>(op)) {
    seen.push_back({op->getResult(0), "sinusoidal"});
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op); slice && isStartOfTable(slice)) {
    seen.push_back({slice, "table"});
  } else if (auto rope = dyn_cast<RopeOp>(op)) {
    OpBuilder b(op);
    Value units = makeUnits(b, rope);
    IRMapping mapping;
    mapping.map(rope.getInput(), units);
    Operation *turned = b.clone(*op, mapping);
    turned->getResult(0).setType(cast<RankedTensorType>(units.getType()));
    seen.push_back({turned->getResult(0), "rotary"});
  } else if (auto attention = dyn_cast<AttentionOp>(op); attention && hasBias(attention)) {
    OpBuilder b(op);
    seen.push_back({makeBias(b, attention), "bias"});
  }
}

/// What a linear multiplies by a weight.
static void seeInputs(Operation *op, SmallVectorImpl<Seen> &seen) {
  auto linear = dyn_cast<LinearOp>(op);
  if (linear &&
      (isa<BlockArgument>(linear.getWeight()) || linear.getWeight().getDefiningOp<WeightRefOp>()))
    seen.push_back({linear.getInput(), "", linear.getWeight()});
}

static constexpr Probe kProbes[] = {
    {kProbeKinds[0], "attention_maps", "attention", seeWeights, false},
    {kProbeKinds[1], "attention_masks", "attention", seeMask, true},
    {kProbeKinds[2], "position_encodings",
     "learned, sinusoidal, tabulated or rotary positions, or biases of scores,", seePositions,
     true},
    {kProbeKinds[3], "linear_inputs", "linears by weights", seeInputs, false}};

//===-- Sizes --------------------------------------------------------------------------------===//

/// An axis of an entry's argument that `fovea.dims` gives this name.
static SizeOrigin findNamed(func::FuncOp entry, StringAttr name) {
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto dims = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), FoveaDialect::kDimsAttr);
    if (!type || !dims)
      continue;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis) && dims[type.getDynamicDimIndex(axis)] == name)
        return {{}, argument, axis};
  }
  return {};
}

/// Sizes of what is computed become those that they are known to equal: of arguments, if possible.
static void followSizes(func::FuncOp entry) {
  SmallVector<tensor::DimOp> dims;
  entry.walk([&](tensor::DimOp dim) { dims.push_back(dim); });
  for (tensor::DimOp dim : dims) {
    SizeOrigin origin = getSizeOrigin(OpFoldResult(dim.getResult()));
    if (auto name = dyn_cast_or_null<StringAttr>(origin.known))
      origin = findNamed(entry, name);
    OpBuilder b(dim);
    Value size = origin.value;
    if (auto number = dyn_cast_or_null<IntegerAttr>(origin.known))
      size = arith::ConstantIndexOp::create(b, dim.getLoc(), number.getInt());
    else if (size && origin.axis >= 0)
      size = tensor::DimOp::create(b, dim.getLoc(), size, origin.axis);
    if (!size || size == dim.getResult()) // it starts here
      continue;
    dim.replaceAllUsesWith(size);
    dim.erase();
  }
}

//===-- Functions that give them -------------------------------------------------------------===//

namespace {
/// Copies of functions that give, behind their results, what is seen in them.
class Prober {
public:
  /// What a function gives: its name, or the argument that stands for the weight whose name it has.
  struct Given {
    StringRef name;
    std::optional<unsigned> argument;
  };

  Prober(ModuleOp module, const Probe &probe) : module(module), probe(probe) {}

  /// The copy of a function, or null if nothing is seen in it. `given` is what it gives.
  func::FuncOp copy(func::FuncOp function, ArrayRef<Given> &given) {
    // On the heap, where it stays while copies of callees are added.
    auto [at, isNew] = copies.try_emplace(function);
    Copy *copy = isNew ? (at->second = std::make_unique<Copy>()).get() : at->second.get();
    if (isNew)
      copy->function = makeCopy(function, copy->given);
    given = copy->given;
    return copy->function;
  }

private:
  struct Copy {
    func::FuncOp function;
    SmallVector<Given> given;
  };

  static Given describe(const Seen &seen) {
    if (!seen.weight)
      return {seen.name, std::nullopt};
    if (auto ref = seen.weight.getDefiningOp<WeightRefOp>())
      return {ref.getWeight(), std::nullopt};
    return {"argument", cast<BlockArgument>(seen.weight).getArgNumber()};
  }

  /// A call gives what is seen in the function that it calls.
  void seeCall(func::CallOp call, SmallVectorImpl<Seen> &seen) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    ArrayRef<Given> given;
    func::FuncOp giving = callee && !callee.isExternal() ? copy(callee, given) : func::FuncOp();
    if (!giving)
      return;
    OpBuilder b(call);
    auto replaced = func::CallOp::create(b, call.getLoc(), giving, call.getOperands());
    for (auto [each, value] :
         llvm::zip_equal(given, replaced.getResults().drop_front(call.getNumResults())))
      seen.push_back(
          {value, each.name, each.argument ? replaced.getOperand(*each.argument) : Value()});
    call.replaceAllUsesWith(replaced.getResults().take_front(call.getNumResults()));
    call.erase();
  }

  func::FuncOp makeCopy(func::FuncOp function, SmallVectorImpl<Given> &given) {
    OpBuilder b(function);
    b.setInsertionPointAfter(function);
    auto copy = cast<func::FuncOp>(b.clone(*function));
    SmallVector<Seen> seen;
    SmallVector<Operation *> ops;
    copy.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      // What a branch or a loop holds cannot be given to a caller.
      if (op->getParentOp() != copy)
        continue;
      if (auto call = dyn_cast<func::CallOp>(op))
        seeCall(call, seen);
      else
        probe.see(op, seen);
    }
    if (seen.empty() || !copy.getBody().hasOneBlock()) {
      copy.erase();
      return nullptr;
    }
    auto end = cast<func::ReturnOp>(copy.getBody().front().getTerminator());
    SmallVector<Type> results(copy.getResultTypes());
    for (const Seen &each : seen) {
      end.getOperandsMutable().append(each.value);
      results.push_back(each.value.getType());
      given.push_back(describe(each));
    }
    SmallVector<DictionaryAttr> attributes;
    copy.getAllResultAttrs(attributes);
    attributes.resize(results.size(), b.getDictionaryAttr({}));
    copy.setFunctionType(b.getFunctionType(copy.getArgumentTypes(), results));
    copy.setAllResultAttrs(attributes);
    copy.setName(makeName(function.getName()));
    return copy;
  }

  std::string makeName(StringRef name) {
    std::string wanted = (name + "_with_" + probe.kind).str();
    for (unsigned i = 0; module.lookupSymbol(wanted); ++i)
      wanted = (name + "_with_" + probe.kind + "_" + Twine(i)).str();
    return wanted;
  }

  ModuleOp module;
  const Probe &probe;
  llvm::DenseMap<Operation *, std::unique_ptr<Copy>> copies;
};

struct AddProbesPass : fovea::impl::AddProbesPassBase<AddProbesPass> {
  using AddProbesPassBase::AddProbesPassBase;

  void runOnOperation() override {
    for (const std::string &kind : kinds)
      if (!llvm::is_contained(kProbeKinds, kind)) {
        getOperation().emitError("expects probes of ")
            << llvm::join(ArrayRef(kProbeKinds), ", ") << ", got " << kind;
        return signalPassFailure();
      }
    for (const Probe &probe : kProbes)
      if (llvm::is_contained(kinds, probe.kind) && failed(add(probe)))
        return signalPassFailure();
  }

private:
  /// What is looked into: `forward`, or the only entry.
  func::FuncOp findWatched() {
    if (func::FuncOp forward = findEntry(getOperation(), EntryKind::Forward))
      return forward;
    func::FuncOp only;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool isOurs = llvm::any_of(
          kProbes, [&](const Probe &probe) { return probe.entry == function.getName(); });
      if (!function->hasAttr(FoveaDialect::kEntryAttr) || isOurs)
        continue;
      if (only)
        return nullptr;
      only = function;
    }
    return only;
  }

  LogicalResult add(const Probe &probe) {
    func::FuncOp watched = findWatched();
    if (!watched)
      return getOperation().emitError("--probe: expects an entry of kind forward, or one entry");
    if (Operation *other = getOperation().lookupSymbol(probe.entry))
      return other->emitError("--probe: this name is wanted for the entry that shows ")
             << probe.kind;
    Prober prober(getOperation(), probe);
    ArrayRef<Prober::Given> seen;
    func::FuncOp entry = prober.copy(watched, seen);
    if (!entry)
      return watched.emitError("--probe: expects ")
             << probe.wanted << " in the entry @" << watched.getName()
             << ", outside of branches and loops, found none";
    giveOnly(entry, probe, seen);
    ++numEntries;
    return probe.isOfSizes ? leaveSizes(entry) : success();
  }

  /// Makes an entry of a copy: it gives what is seen, and its own results no longer, but for caches
  /// that it appends to, whose room is checked as results.
  void giveOnly(func::FuncOp entry, const Probe &probe, ArrayRef<Prober::Given> seen) {
    Builder b(&getContext());
    auto end = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
    SmallVector<DictionaryAttr> before, attributes;
    entry.getAllResultAttrs(before);
    SmallVector<Value> given;
    for (auto [number, value] : llvm::enumerate(end.getOperands().drop_back(seen.size())))
      if (isa<CacheType>(value.getType())) {
        given.push_back(value);
        attributes.push_back(before[number]);
      }
    llvm::append_range(given, end.getOperands().take_back(seen.size()));
    end.getOperandsMutable().assign(given);
    entry.setFunctionType(
        b.getFunctionType(entry.getArgumentTypes(), TypeRange(ValueRange(given))));
    for (auto [number, each] : llvm::enumerate(seen)) {
      StringAttr full = b.getStringAttr(each.name + "_" + Twine(number));
      attributes.push_back(b.getDictionaryAttr(b.getNamedAttr(FoveaDialect::kNameAttr, full)));
    }
    entry.setAllResultAttrs(attributes);
    entry->setAttr(FoveaDialect::kKindAttr, EntryKindAttr::get(&getContext(), EntryKind::Generic));
    entry.setName(probe.entry);
  }

  /// Writes layers out, and their sizes as those of the entry's arguments.
  LogicalResult leaveSizes(func::FuncOp entry) {
    if (failed(inlineCalls(entry, SymbolTable(getOperation()))))
      return failure();
    // Lengths of caches become sizes of what was appended.
    OpPassManager manager(func::FuncOp::getOperationName());
    manager.addPass(createCanonicalizerPass());
    LogicalResult done = runPipeline(manager, entry);
    followSizes(entry);
    return done;
  }
};
} // namespace
