// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal consecutive layers of a flat graph become calls of one function. Layers are found as the
// longest run of ops that repeats with one period and is wired alike in each repetition; what is
// refused is said in Passes.td.
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Analysis/SizeOrigin.h"
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_OUTLINELAYERSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Whether an op is no part of a layer's work, but made again wherever its result is needed: sizes,
/// constants, masks and positions. What only names a weight is made by the caller.
bool isAuxiliary(Operation *op) {
  if (isa<tensor::DimOp, tensor::EmptyOp, arith::ConstantOp, PositionsOp, WeightRefOp>(op))
    return true;
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isPure(op))
    return false;
  Type type = op->getResult(0).getType();
  return isa<MaskType>(type) || type.isIndex();
}

bool haveSameOp(Operation *a, Operation *b) {
  if (a->getName() != b->getName() || a->getAttrDictionary() != b->getAttrDictionary() ||
      a->getNumRegions() != b->getNumRegions() ||
      !llvm::equal(a->getResultTypes(), b->getResultTypes()) ||
      !llvm::equal(a->getOperandTypes(), b->getOperandTypes()))
    return false;
  // What regions name from outside is operands: it may differ, but one for one.
  DenseMap<Value, Value> known;
  auto isSame = [&](Value left, Value right) {
    return success(left.getType() == right.getType() &&
                   known.try_emplace(left, right).first->second == right);
  };
  return llvm::all_of(llvm::zip(a->getRegions(), b->getRegions()), [&](auto pair) {
    auto &[left, right] = pair;
    if (left.empty() && right.empty())
      return true;
    return OperationEquivalence::isRegionEquivalentTo(
        &left, &right, isSame, [&](Value l, Value r) { known[l] = r; },
        OperationEquivalence::IgnoreLocations);
  });
}

/// Ops [first, first + count * period) of a block, of which each period is a layer.
struct Run {
  size_t first = 0, period = 0, count = 0;
  size_t spare = 0; ///< How much later the run may begin with as many layers.
  size_t size() const { return period * count; }
};

/// The run that covers most ops; of those that cover as many, the one with the most layers.
Run findRun(ArrayRef<unsigned> kinds) {
  Run best;
  for (size_t period = 2; period * 2 <= kinds.size(); ++period)
    for (size_t i = 0; i + period < kinds.size(); ++i) {
      size_t equal = 0;
      while (i + period + equal < kinds.size() && kinds[i + equal] == kinds[i + period + equal])
        ++equal;
      Run run{i, period, equal / period + 1, equal % period};
      if (run.count > 1 && run.size() > best.size())
        best = run;
      i += equal;
    }
  return best;
}

/// One run of layers on its way into a function.
class Outliner {
public:
  Outliner(func::FuncOp function, ArrayRef<Operation *> ops, Run run)
      : function(function), builder(function.getContext()) {
    for (size_t layer = 0; layer < run.count; ++layer) {
      layers.emplace_back(ops.slice(run.first + layer * run.period, run.period));
      for (auto [number, op] : llvm::enumerate(layers.back()))
        places[op] = {layer, number};
    }
  }

  /// Values that a layer leaves to what comes behind it.
  size_t countResults() {
    findResults();
    return results.size();
  }

  /// Makes the function and its calls; false, and nothing changed, if the layers are wired
  /// differently or need what cannot be an argument.
  bool outline(SymbolTable &symbols) {
    findResults();
    if (!collectArguments() || results.empty())
      return false;
    SmallVector<Type> types, resultTypes;
    SmallVector<Location> locs;
    for (const Tuple &slot : slots) {
      types.push_back(slot.front().getType());
      locs.push_back(getLocation(slot));
    }
    for (auto [op, number] : results)
      resultTypes.push_back(layers[0][op]->getResult(number).getType());
    auto layer = func::FuncOp::create(builder, function.getLoc(), "layer",
                                      builder.getFunctionType(types, resultTypes));
    layer.setPrivate();
    Block *body = layer.addEntryBlock();
    for (auto [argument, loc] : llvm::zip(body->getArguments(), locs))
      argument.setLoc(loc);
    builder.setInsertionPointToEnd(body);
    if (!build(layer)) {
      layer.erase();
      return false;
    }
    symbols.insert(layer, Block::iterator(function));
    // The last first: what it reads of the layer before is replaced when that becomes a call.
    SmallVector<Location> calls = getCallLocations();
    for (size_t number = layers.size(); number-- > 0;)
      call(layer, number, calls[number]);
    return true;
  }

private:
  /// A value of the first layer and those that stand for it in the others.
  using Tuple = SmallVector<Value>;

  /// Whether `value` is made by an op of layer `number`.
  std::optional<std::pair<size_t, unsigned>> getPlace(Value value, size_t number) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return std::nullopt;
    auto found = places.find(result.getOwner());
    if (found == places.end() || found->second.first != number)
      return std::nullopt;
    return std::make_pair(found->second.second, result.getResultNumber());
  }

  /// Whether something outside of layer `number` needs `value`; sizes of it that only the layer
  /// itself needs do not count.
  bool isUsedOutside(Value value, size_t number) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      while (user->getBlock() != &function.getBody().front())
        user = user->getParentOp();
      auto found = places.find(user);
      if (found != places.end())
        return found->second.first != number;
      return !isAuxiliary(user) || isUsedOutside(user->getResult(0), number);
    });
  }

  void findResults() {
    if (!results.empty())
      return;
    for (auto [number, op] : llvm::enumerate(layers[0]))
      for (unsigned result = 0; result < op->getNumResults(); ++result)
        for (size_t layer = 0; layer < layers.size(); ++layer)
          if (isUsedOutside(layers[layer][number]->getResult(result), layer)) {
            results.push_back({number, result});
            break;
          }
  }

  /// The values that the layers' ops read: operands, and what their regions name.
  static SmallVector<Value> getReads(Operation *op) {
    SmallVector<Value> reads(op->getOperands());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(reads, captured);
    return reads;
  }

  bool collectArguments() {
    for (size_t number = 0; number < layers[0].size(); ++number) {
      SmallVector<SmallVector<Value>> reads =
          llvm::map_to_vector(layers, [&](auto &layer) { return getReads(layer[number]); });
      for (size_t i = 0; i < reads[0].size(); ++i) {
        Tuple tuple;
        for (auto &read : reads) {
          if (read.size() != reads[0].size())
            return false;
          tuple.push_back(read[i]);
        }
        if (!collect(tuple))
          return false;
      }
    }
    return true;
  }

  /// Whether the layers have the same op behind `tuple`, and it is made again inside.
  bool isMadeInside(const Tuple &tuple) {
    Operation *first = tuple.front().getDefiningOp();
    if (!first || !isAuxiliary(first) || isa<WeightRefOp>(first))
      return false;
    return llvm::all_of(tuple, [&](Value value) {
      Operation *op = value.getDefiningOp();
      return op && haveSameOp(op, first);
    });
  }

  Tuple getOperands(const Tuple &tuple, unsigned number) {
    Tuple operands;
    for (Value value : tuple)
      operands.push_back(value.getDefiningOp()->getOperand(number));
    return operands;
  }

  /// Makes arguments of what the layers read from outside.
  bool collect(const Tuple &tuple) {
    auto place = getPlace(tuple[0], 0);
    for (auto [layer, value] : llvm::enumerate(tuple))
      if (getPlace(value, layer) != place || value.getType() != tuple[0].getType())
        return false;
    if (place || tuple[0].getType().isIndex() || llvm::is_contained(slots, tuple))
      return true; // sizes come later, from the tensors
    if (isMadeInside(tuple)) {
      for (unsigned i = 0; i < tuple[0].getDefiningOp()->getNumOperands(); ++i)
        if (!collect(getOperands(tuple, i)))
          return false;
      return true;
    }
    if (isa<MaskType>(tuple[0].getType()))
      return false;
    slots.push_back(tuple);
    return true;
  }

  /// The value inside the function; null if there is none.
  Value resolve(func::FuncOp layer, const Tuple &tuple) {
    if (auto place = getPlace(tuple[0], 0))
      return mapping.lookupOrNull(tuple[0]);
    for (const auto &[known, value] : resolved)
      if (known == tuple)
        return value;
    Value value;
    auto slot = llvm::find(slots, tuple);
    if (slot != slots.end())
      value = layer.getArgument(slot - slots.begin());
    else if (tuple[0].getType().isIndex())
      value = resolveSize(layer, tuple);
    else if (isMadeInside(tuple))
      value = cloneInside(layer, tuple);
    if (value)
      resolved.push_back({tuple, value});
    return value;
  }

  Value cloneInside(func::FuncOp layer, const Tuple &tuple) {
    IRMapping operands;
    Operation *op = tuple[0].getDefiningOp();
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      Value operand = resolve(layer, getOperands(tuple, i));
      if (!operand)
        return {};
      operands.map(op->getOperand(i), operand);
    }
    return builder.clone(*op, operands)->getResult(0);
  }

  /// A size: a constant, an argument's size, or computed from such.
  Value resolveSize(func::FuncOp layer, const Tuple &tuple) {
    SmallVector<SizeOrigin> origins =
        llvm::map_to_vector(tuple, [&](Value value) { return getSizeOrigin(OpFoldResult(value)); });
    for (auto [number, slot] : llvm::enumerate(slots)) {
      auto type = dyn_cast<RankedTensorType>(slot[0].getType());
      for (int64_t axis = 0; type && axis < type.getRank(); ++axis)
        if (type.isDynamicDim(axis) && llvm::all_of(llvm::zip(slot, origins), [&](auto pair) {
              return getSizeOrigin(std::get<0>(pair), axis) == std::get<1>(pair);
            }))
          return tensor::DimOp::create(builder, layer.getLoc(), layer.getArgument(number), axis);
    }
    if (!isMadeInside(tuple))
      return {};
    // Of a tensor that is no argument, there is no size.
    if (auto dim = tuple[0].getDefiningOp<tensor::DimOp>())
      if (!getPlace(dim.getSource(), 0))
        return {};
    return cloneInside(layer, tuple);
  }

  bool build(func::FuncOp layer) {
    for (size_t number = 0; number < layers[0].size(); ++number) {
      SmallVector<SmallVector<Value>> reads =
          llvm::map_to_vector(layers, [&](auto &ops) { return getReads(ops[number]); });
      IRMapping operands;
      Tuple same;
      for (size_t i = 0; i < reads[0].size(); ++i) {
        Tuple tuple;
        for (auto &read : reads)
          tuple.push_back(read[i]);
        Value value = resolve(layer, tuple);
        if (!value)
          return false;
        // One value of the first layer may stand for different ones of another.
        if (Value known = operands.lookupOrNull(reads[0][i]); known && known != value)
          return false;
        operands.map(reads[0][i], value);
      }
      Operation *clone = builder.clone(*layers[0][number], operands);
      Tuple ops;
      SmallVector<Location> locs =
          llvm::map_to_vector(layers, [&](auto &other) { return other[number]->getLoc(); });
      clone->setLoc(joinLocations(locs));
      mapping.map(layers[0][number]->getResults(), clone->getResults());
    }
    SmallVector<Value> returned;
    for (auto [op, result] : results)
      returned.push_back(mapping.lookup(layers[0][op]->getResult(result)));
    func::ReturnOp::create(builder, layer.getLoc(), returned);
    return true;
  }

  void call(func::FuncOp layer, size_t number, Location loc) {
    Operation *last = layers[number].back();
    builder.setInsertionPointAfter(last);
    SmallVector<Value> operands =
        llvm::map_to_vector(slots, [&](const Tuple &slot) { return slot[number]; });
    auto call = func::CallOp::create(builder, loc, layer, operands);
    for (auto [index, place] : llvm::enumerate(results))
      layers[number][place.first]
          ->getResult(place.second)
          .replaceAllUsesWith(call.getResult(index));
    for (Operation *op : llvm::reverse(layers[number]))
      eraseWithSizes(op);
  }

  /// Where each layer is called: the name of its last op up to the first number that tells layers
  /// apart, "model.layers.3" for "model.layers.3.mlp/add_7".
  SmallVector<Location> getCallLocations() {
    SmallVector<Location> locs = llvm::map_to_vector(
        layers, [&](ArrayRef<Operation *> layer) { return layer.back()->getLoc(); });
    auto joined = dyn_cast<NameLoc>(joinLocations(locs));
    size_t star = joined ? joined.getName().getValue().find('*') : StringRef::npos;
    if (star == StringRef::npos)
      return locs;
    for (Location &loc : locs) {
      // The names agree up to the star.
      StringRef name = loc->findInstanceOf<NameLoc>().getName().getValue();
      size_t length = name.drop_front(star).take_while(llvm::isDigit).size();
      loc = NameLoc::get(builder.getStringAttr(name.take_front(star + length)));
    }
    return locs;
  }

  /// Erases an op, and the sizes of its results that only the layer needed.
  static void eraseWithSizes(Operation *op) {
    while (!op->use_empty())
      eraseWithSizes(*op->getUsers().begin());
    op->erase();
  }

  Location getLocation(const Tuple &tuple) {
    SmallVector<Location> locs =
        llvm::map_to_vector(tuple, [&](Value value) { return value.getLoc(); });
    return joinLocations(locs);
  }

  /// One location for several: their name, with a star where its numbers differ.
  Location joinLocations(ArrayRef<Location> locs) {
    std::string joined;
    SmallVector<StringRef> names;
    for (Location loc : locs)
      if (auto name = loc->findInstanceOf<NameLoc>())
        names.push_back(name.getName().getValue());
    if (names.size() != locs.size())
      return locs.front();
    while (!names.front().empty()) {
      auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
      bool digits = isDigit(names.front().front());
      StringRef part = names.front().take_while([&](char c) { return isDigit(c) == digits; });
      bool same = true;
      for (StringRef &name : names) {
        StringRef other = name.take_while([&](char c) { return isDigit(c) == digits; });
        if (!digits && other != part)
          return locs.front();
        same &= other == part;
        name = name.drop_front(other.size());
      }
      joined += same ? part : "*";
    }
    return NameLoc::get(builder.getStringAttr(joined));
  }

  func::FuncOp function;
  OpBuilder builder;
  SmallVector<SmallVector<Operation *>> layers;
  DenseMap<Operation *, std::pair<size_t, size_t>> places; ///< Layer, and number in it.
  SmallVector<std::pair<size_t, unsigned>> results;        ///< Op's number, result's.
  SmallVector<Tuple> slots;                                ///< One for each argument.
  std::vector<std::pair<Tuple, Value>> resolved;
  IRMapping mapping;
};

/// Puts what no linear precedes first, in order: masks and the like, made once, stand where they
/// are first used, inside the first layer.
SmallVector<Operation *> getPreparations(Block &block) {
  SmallVector<Operation *> early;
  llvm::DenseSet<Operation *> late;
  for (Operation &op : block.without_terminator()) {
    TileNeeds::Kind kind = getTileNeeds(&op).kind;
    bool isLate = isWeighted(&op) || kind == TileNeeds::Table || kind >= TileNeeds::Product ||
                  !isMemoryEffectFree(&op);
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        isLate |= operand.getDefiningOp() && late.contains(operand.getDefiningOp());
    });
    if (isLate)
      late.insert(&op);
    else
      early.push_back(&op);
  }
  return early;
}

/// Reads sizes that come from arguments off these: then no layer needs another's results for sizes.
void readSizesOffArguments(func::FuncOp function) {
  SmallVector<std::pair<SizeOrigin, Value>> sizes;
  OpBuilder builder(&function.getBody().front(), function.getBody().front().begin());
  for (BlockArgument argument : function.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (int64_t axis = 0; axis < type.getRank(); ++axis) {
        SizeOrigin origin = getSizeOrigin(argument, axis);
        if (type.isDynamicDim(axis) &&
            llvm::none_of(sizes, [&](auto &known) { return known.first == origin; }))
          sizes.push_back(
              {origin, tensor::DimOp::create(builder, function.getLoc(), argument, axis)});
      }
  SmallVector<tensor::DimOp> dims;
  function.walk([&](tensor::DimOp dim) { dims.push_back(dim); });
  for (tensor::DimOp dim : dims) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!type || !axis || *axis >= type.getRank() || isa<BlockArgument>(dim.getSource()))
      continue;
    SizeOrigin origin = getSizeOrigin(dim.getSource(), *axis);
    auto known = llvm::find_if(sizes, [&](auto &size) { return size.first == origin; });
    if (known != sizes.end())
      dim.getResult().replaceAllUsesWith(known->second);
  }
}

struct OutlineLayersPass : fovea::impl::OutlineLayersPassBase<OutlineLayersPass> {
  using OutlineLayersPassBase::OutlineLayersPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      // What is between two stacks of layers may hold others.
      while (!function.isExternal() && function.getBody().hasOneBlock() &&
             outlineIn(function, symbols)) {
      }
  }

private:
  /// The run of layers in a function, of which `ops` are the ops that work, but for those in
  /// `left`.
  static Run findRunOf(func::FuncOp function, SmallVectorImpl<Operation *> &ops,
                       const llvm::DenseSet<Operation *> &left) {
    ops.clear();
    SmallVector<unsigned> kinds;
    std::vector<Operation *> examples;
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (isAuxiliary(&op) || left.contains(&op))
        continue;
      ops.push_back(&op);
      // Of a kind of its own: what has effects, or is a call of a layer already.
      auto same =
          isa<func::CallOp>(op) || !isMemoryEffectFree(&op)
              ? examples.end()
              : llvm::find_if(examples, [&](Operation *other) { return haveSameOp(other, &op); });
      kinds.push_back(same - examples.begin());
      if (same == examples.end())
        examples.push_back(&op);
    }
    Run run = findRun(kinds);
    if (run.count < 2)
      return Run();
    // A layer is more than a projection of a head: it has two products, or joins places.
    size_t products = 0;
    for (Operation *op : ArrayRef(ops).slice(run.first, run.period)) {
      TileNeeds::Kind kind = getTileNeeds(op).kind;
      products += kind == TileNeeds::Sequence ? 2 : kind == TileNeeds::Product ? 1 : 0;
    }
    return products < 2 ? Run() : run;
  }

  bool outlineIn(func::FuncOp function, SymbolTable &symbols) {
    Block &body = function.getBody().front();
    SmallVector<Operation *> ops, early = getPreparations(body);
    if (findRunOf(function, ops, {early.begin(), early.end()}).count < 2)
      return false;
    for (Operation *op : llvm::reverse(early))
      op->moveBefore(&body, body.begin());
    readSizesOffArguments(function);
    Run run = findRunOf(function, ops, {});
    if (run.count < 2)
      return false;
    // Where layers end: where least goes from one to the next; of several such, the last.
    size_t best = 0, least = ~size_t(0);
    for (size_t shift = 0; shift <= run.spare; ++shift) {
      Run shifted = run;
      shifted.first += shift;
      size_t count = Outliner(function, ops, shifted).countResults();
      if (count <= least) {
        best = shift;
        least = count;
      }
    }
    run.first += best;
    if (!Outliner(function, ops, run).outline(symbols))
      return false;
    ++numFunctions;
    numLayers += run.count;
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, function->getRegions());
    sortTopologically(&function.getBody().front());
    return true;
  }
};
} // namespace
