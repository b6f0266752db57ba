// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins formed groups to bigger ones, by the few forms that kernel builders know. Refuses,
// silently, all that no form covers, and operands whose sizes are not known to be the same.
#include "dialects/ElementTypes.h"
#include "dialects/Panels.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis/SizeOrigin.h"
#include "passes/Analysis/TileForm.h"
#include "passes/JoinGroups.h"
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_FUSEGROUPSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// Column ranges and head sizes that epilogues address are multiples of this: no packed panel of a
/// weight then lies in two of them.
static constexpr int64_t kColumns = kStoredPanelWidth;

//===-- What a group computes ----------------------------------------------------------------===//

static bool isF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

/// The op of a group that has no other and yields its results.
template <typename OpTy> static OpTy getOnlyOp(Operation *op) {
  auto group = dyn_cast_or_null<GroupOp>(op);
  if (!group || group.getSchedule())
    return {};
  Block &body = group.getBody().front();
  auto only = dyn_cast<OpTy>(body.front());
  if (!only || only->getNextNode() != body.getTerminator() ||
      body.getTerminator()->getOperands() != only->getResults())
    return {};
  return only;
}

/// Whether a map reads a vector over the last axis of `type`.
static bool isColumnVector(Operation *op, Type operand, RankedTensorType type) {
  auto vector = dyn_cast<RankedTensorType>(operand);
  return isa<linalg::GenericOp>(op) && vector && vector.getRank() == 1 && type.getRank() > 1 &&
         isKernelFloat(vector.getElementType());
}

/// Elementwise on tensors of one type of f32 or halves, the result's, and of vectors over its last
/// axis: what an epilogue may be.
static bool isEpilogue(Operation *op) {
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  return type && isComputedInF32(type.getElementType()) && isComputedByElement(op) &&
         llvm::all_of(op->getOperandTypes(), [&](Type operand) {
           return operand == type || isColumnVector(op, operand, type);
         });
}

/// What computes nothing: numbers, tensors of one number, and those that are written to.
static bool isFree(Operation *op) {
  bool isTensor = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
  return isTensor ? isa<tensor::EmptyOp>(op) || isUniform(op->getResult(0))
                  : matchPattern(op, m_Constant());
}

/// The op of a group that has no other and yields its results, as many as asked for; or null.
static Operation *getLoneOp(GroupOp group, unsigned results = 1) {
  Block &body = group.getBody().front();
  Operation *op = &body.front();
  while (isFree(op))
    op = op->getNextNode();
  bool isLone = !group.getSchedule() && op->getNextNode() == body.getTerminator() &&
                op->getNumResults() == results &&
                body.getTerminator()->getOperands() == op->getResults();
  return isLone ? op : nullptr;
}

/// Whether all operands of the result's type have the same sizes in every call: those of an
/// elementwise op, those of a norm but for its weights.
static bool operandsAgree(Operation *op) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return operand.getType() != op->getResult(0).getType() ||
           haveSameSizes(op->getOperand(0), operand);
  });
}

namespace {

/// The form that an epilogue can be added to: a product in f32 or halves, of a norm without weight
/// perhaps, and elementwise ops that each read the one before; the last is all that is yielded.
struct Contraction {
  RmsNormOp norm; ///< May be null.
  Operation *product = nullptr;
  bool hasEpilogue = false;

  /// What the product is with a weight: its rows are the result's. Null without a weight.
  Value getInput() const {
    auto axes = dyn_cast<AxesOpInterface>(product);
    return axes ? axes.getAxesOperand() : Value();
  }

  static std::optional<Contraction> match(Operation *op) {
    auto group = dyn_cast_or_null<GroupOp>(op);
    if (!group || group.getSchedule())
      return std::nullopt;
    Block &body = group.getBody().front();
    Contraction result;
    Value last;
    for (Operation &step : body.without_terminator()) {
      if (isFree(&step))
        continue;
      for (Value operand : step.getOperands())
        if (operand != last && !isa<BlockArgument>(operand) && !isFree(operand.getDefiningOp()))
          return std::nullopt;
      bool readsLast = llvm::is_contained(step.getOperands(), last);
      if (auto norm = dyn_cast<RmsNormOp>(step); norm && !last && !norm.getWeight()) {
        result.norm = norm;
      } else if (!result.product && getTileNeeds(&step).kind == TileNeeds::Product) {
        result.product = &step;
        Value input = result.getInput();
        if ((input && !isComputedInF32(getElementTypeOrSelf(input.getType()))) ||
            (last && input != last) || llvm::any_of(step.getOperandTypes(), [](Type type) {
              return getElementTypeOrSelf(type).isF64();
            }))
          return std::nullopt;
      } else if (result.product && readsLast && isEpilogue(&step)) {
        result.hasEpilogue = true;
      } else {
        return std::nullopt;
      }
      last = step.getResult(0);
    }
    if (!result.product || body.getTerminator()->getOperands() != ValueRange(last))
      return std::nullopt;
    // Without a weight it may be loops.
    if (!result.getInput() && getTileForm(group).kind != TileKind::Contraction)
      return std::nullopt;
    return result;
  }

  /// A product with a weight of which nothing has been computed yet but a norm of its input.
  static std::optional<Contraction> matchPlain(Operation *op) {
    std::optional<Contraction> result = match(op);
    return result && result->getInput() && !result->hasEpilogue ? result : std::nullopt;
  }
};

/// The form that is computed row by row, or element by element: gathers, broadcasts of position
/// vectors over the batch, and elementwise ops, all of one type of f32 or halves; a norm of the
/// last of them.
struct Rows {
  RankedTensorType type;
  Operation *norm = nullptr;
  bool hasVectors = false; ///< over the columns, which flattened tensors do not have

  static std::optional<Rows> match(Operation *op) {
    auto group = dyn_cast_or_null<GroupOp>(op);
    if (!group || group.getSchedule() || group.getNumResults() == 0)
      return std::nullopt;
    Rows rows;
    rows.type = dyn_cast<RankedTensorType>(group.getResult(0).getType());
    if (!rows.type || rows.type.getRank() < 2 || !isComputedInF32(rows.type.getElementType()))
      return std::nullopt;
    // A row has a place in registers, unless all is elementwise.
    bool isOpen = rows.type.isDynamicDim(rows.type.getRank() - 1);
    for (Operation &step : group.getBody().front().without_terminator()) {
      bool ofType = step.getNumResults() == 1 && step.getResult(0).getType() == rows.type;
      if (isFree(&step))
        continue;
      if (rows.norm)
        return std::nullopt; // it stands last
      if (isOpen && !(ofType && isComputedByElement(&step) && isAllowed(&step)))
        return std::nullopt;
      rows.hasVectors |= llvm::any_of(step.getOperandTypes(), [&](Type operand) {
        return isColumnVector(&step, operand, rows.type);
      });
      if (ofType && getTileNeeds(&step).kind == TileNeeds::WholeRow &&
          !isa<DestinationStyleOpInterface>(step) && operandsAgree(&step))
        rows.norm = &step;
      else if (!(ofType && rows.isAllowed(&step)) && !isPartOfGather(&step))
        return std::nullopt;
    }
    return rows;
  }

private:
  static bool isAllowed(Operation *step) {
    if (auto broadcast = dyn_cast<linalg::BroadcastOp>(step))
      return isOverBatch(broadcast);
    if (isEpilogue(step))
      return operandsAgree(step);
    return getTileNeeds(step).kind == TileNeeds::Table;
  }

  static bool isPartOfGather(Operation *step) {
    return isa<PositionsOp, tensor::CollapseShapeOp>(step) ||
           getTileNeeds(step).kind == TileNeeds::Table;
  }

  /// [S,D] -> [B,S,D], with an S that is known to be the same.
  static bool isOverBatch(linalg::BroadcastOp broadcast) {
    Value input = broadcast.getInput(), result = broadcast->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    if (broadcast.getDimensions() != ArrayRef<int64_t>{0} || type.getRank() != 3)
      return false;
    return getSizeOrigin(input, 0) == getSizeOrigin(result, 1) &&
           getSizeOrigin(input, 1) == getSizeOrigin(result, 2);
  }
};

} // namespace

/// The group that computes consecutive positions, if that is where they come from.
static GroupOp getPositionsGroup(Value value) {
  auto group = value.getDefiningOp<GroupOp>();
  if (!group || group.getSchedule() || group.getNumResults() != 1)
    return {};
  Block &body = group.getBody().front();
  for (Operation &step : body.without_terminator())
    if (!isa<PositionsOp>(step) && !matchPattern(&step, m_Constant()))
      return {};
  return body.getTerminator()->getOperand(0).getDefiningOp<PositionsOp>() ? group : GroupOp();
}

/// Whether a slice is a static range of the last axis that fits a vector, of all rows.
static bool isColumnRange(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType(), type = slice.getType();
  int64_t last = source.getRank() - 1;
  if (type.getRank() != source.getRank() || !slice.hasUnitStride())
    return false;
  for (int64_t axis = 0; axis < last; ++axis)
    if (slice.getStaticOffset(axis) != 0 ||
        !(getSizeOrigin(slice.getMixedSizes()[axis]) == getSizeOrigin(slice.getSource(), axis)))
      return false;
  int64_t offset = slice.getStaticOffset(last), size = slice.getStaticSize(last);
  return !ShapedType::isDynamic(offset) && !ShapedType::isDynamic(size) && offset % kColumns == 0 &&
         size % kColumns == 0;
}

static int64_t getFirstColumn(tensor::ExtractSliceOp slice) {
  return slice.getStaticOffset(slice.getSourceType().getRank() - 1);
}
static int64_t getEndColumn(tensor::ExtractSliceOp slice) {
  return getFirstColumn(slice) + slice.getStaticSize(slice.getSourceType().getRank() - 1);
}

//===-- The rules ----------------------------------------------------------------------------===//

namespace {

/// What becomes of a range of a linear's columns: it is rotated, appended to a cache, or given as
/// it is.
struct ColumnChain {
  Value end;               ///< What the chain gives.
  SmallVector<Value> also; ///< And besides: a cache's scales.
  SmallVector<Operation *> parts, clones;

  ColumnChain(Value columns, Block *block) : end(columns), block(block) {
    if (!addExpand())
      return;
    addRope();
    addAppend();
  }

private:
  /// The only user, if it stands in the same block.
  Operation *getUser() {
    if (!end.hasOneUse())
      return nullptr;
    Operation *user = *end.user_begin();
    return user->getBlock() == block ? user : nullptr;
  }

  void add(Operation *op) {
    parts.push_back(op);
    end = op->getResult(0);
  }

  /// [.., S, N] -> [.., S, H, D].
  bool addExpand() {
    auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(getUser());
    if (!expand || expand.getSrc() != end)
      return false;
    RankedTensorType source = expand.getSrcType(), type = expand.getResultType();
    int64_t last = source.getRank() - 1;
    if (type.getRank() != source.getRank() + 1 ||
        expand.getReassociationIndices().back().size() != 2 || type.isDynamicDim(last) ||
        type.isDynamicDim(last + 1) || type.getDimSize(last + 1) % kColumns != 0)
      return false;
    for (int64_t axis = 0; axis < last; ++axis)
      if (!(getSizeOrigin(expand.getMixedOutputShape()[axis]) == getSizeOrigin(end, axis)))
        return false;
    add(expand);
    return true;
  }

  void addRope() {
    Operation *user = getUser();
    auto rope = getOnlyOp<RopeOp>(user);
    if (!rope || rope.getPairing() != RopePairing::Half ||
        static_cast<int64_t>(rope.getDim()) != rope.getInput().getType().getDimSize(3))
      return;
    // These frequencies depend on the longest position of the call.
    if (RopeScalingAttr scaling = rope.getScalingAttr())
      if (scaling.getKind() == RopeScalingKind::Dynamic ||
          scaling.getKind() == RopeScalingKind::LongRope)
        return;
    auto argument = cast<BlockArgument>(rope.getPositions());
    Value positions = user->getOperand(argument.getArgNumber());
    GroupOp source = getPositionsGroup(positions);
    if (source && source->getBlock() == block)
      clones.push_back(source);
    else if (!(getSizeOrigin(positions, 1) == getSizeOrigin(end, 1)) ||
             (rope.getPositions().getType().getDimSize(0) != 1 &&
              !(getSizeOrigin(positions, 0) == getSizeOrigin(end, 0))))
      return;
    add(user);
  }

  void addAppend() {
    Operation *user = getUser();
    auto group = dyn_cast_or_null<GroupOp>(user);
    Operation *append = group ? getLoneOp(group, group.getNumResults()) : nullptr;
    auto cache = append ? dyn_cast<CacheType>(append->getResult(0).getType()) : CacheType();
    if (!cache || !isa<TileableOpInterface>(append))
      return;
    Type element = cache.getElementType();
    if (!isComputedInF32(element) && !element.isInteger(8))
      return;
    add(user);
    llvm::append_range(also, user->getResults().drop_front());
  }

  Block *block;
};

/// Applies the rules to one block.
class Fuser {
public:
  explicit Fuser(Block &block) : block(block) {}

  unsigned numPrologues = 0, numEpilogues = 0, numArgmax = 0, numGated = 0, numSplit = 0,
           numRows = 0, numRounded = 0;

  void run() {
    apply([&](GroupOp group) { return moveNormIntoLinears(group); }, numPrologues);
    apply([&](GroupOp group) { return addEpilogue(group); }, numEpilogues);
    apply([&](GroupOp group) { return addArgmax(group); }, numArgmax);
    apply([&](GroupOp group) { return addGate(group); }, numGated);
    apply([&](GroupOp group) { return splitColumns(group); }, numSplit);
    apply([&](GroupOp group) { return gatherRows(group); }, numRows);
    apply([&](GroupOp group) { return addRounding(group); }, numRounded);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<GroupOp>(op) && op.use_empty())
        op.erase();
  }

private:
  /// Applies a rule to every group, going back to the first part's place after each success.
  void apply(function_ref<bool(GroupOp)> rule, unsigned &count) {
    Operation *op = block.empty() ? nullptr : &block.front();
    while (op) {
      auto group = dyn_cast<GroupOp>(op);
      if (!group || !rule(group)) {
        op = op->getNextNode();
        continue;
      }
      ++count;
      op = before ? before->getNextNode() : &block.front();
    }
  }

  bool join(GroupJoin join) {
    Operation *first = *llvm::min_element(
        join.parts, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    before = first->getPrevNode();
    return bool(joinGroups(join));
  }

  bool isHere(Operation *op) { return op && op->getBlock() == &block; }

  /// A norm without weight that only linears read becomes part of each: they apply its factor to
  /// their result's rows.
  bool moveNormIntoLinears(GroupOp group) {
    auto norm = getOnlyOp<RmsNormOp>(group);
    if (!norm || norm.getWeight() || !isF32(norm.getInput()) || group.use_empty())
      return false;
    SmallVector<Operation *> linears;
    for (OpOperand &use : group.getResult(0).getUses()) {
      std::optional<Contraction> contraction = Contraction::match(use.getOwner());
      if (!isHere(use.getOwner()) || !contraction || contraction->norm)
        return false;
      auto argument = dyn_cast_or_null<BlockArgument>(contraction->getInput());
      if (!argument || argument.getArgNumber() != use.getOperandNumber() || !argument.hasOneUse())
        return false;
      linears.push_back(use.getOwner());
    }
    for (Operation *linear : linears)
      join({{linear}, {group}, {linear->getResult(0)}, linear->getLoc()});
    before = group; // it is left without users
    return true;
  }

  /// linear -> elementwise, another operand of which is a further operand.
  bool addEpilogue(GroupOp group) {
    Operation *op = getLoneOp(group);
    if (!op || !isEpilogue(op) || !operandsAgree(op))
      return false;
    // The later one, if there are two: the other is computed by then.
    Operation *producer = nullptr;
    for (Value input : group.getInputs()) {
      Operation *source = input.getDefiningOp();
      if (isHere(source) && input.hasOneUse() && Contraction::match(source) &&
          (!producer || producer->isBeforeInBlock(source)))
        producer = source;
    }
    return producer && join({{producer, group}, {}, {group.getResult(0)}, producer->getLoc()});
  }

  /// linear -> elementwise -> the place of each row's greatest; others may read the rows besides.
  bool addArgmax(GroupOp group) {
    auto argmax = getOnlyOp<ArgmaxOp>(group);
    if (!argmax || argmax.getInput().getType().getRank() < 2 ||
        ShapedType::isDynamic(argmax.getInput().getType().getShape().back()) ||
        argmax.getInput().getType().getShape().back() > kMaxArgmaxColumns)
      return false;
    Value rows = group.getInputs().front();
    Operation *producer = rows.getDefiningOp();
    if (!isHere(producer) || !Contraction::match(producer))
      return false;
    GroupJoin all{{producer, group}, {}, {group.getResult(0)}, producer->getLoc()};
    if (!rows.hasOneUse())
      all.results.insert(all.results.begin(), rows);
    return join(all);
  }

  /// The column ranges that are all users of a linear, sorted, or nothing if one of them cannot be
  /// addressed or if two overlap.
  SmallVector<tensor::ExtractSliceOp> getColumnRanges(Value result) {
    SmallVector<tensor::ExtractSliceOp> slices;
    for (Operation *user : result.getUsers()) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      if (!slice || !isHere(slice) || !isColumnRange(slice))
        return {};
      slices.push_back(slice);
    }
    llvm::sort(slices, [](auto a, auto b) { return getFirstColumn(a) < getFirstColumn(b); });
    for (size_t i = 1; i < slices.size(); ++i)
      if (getEndColumn(slices[i - 1]) > getFirstColumn(slices[i]))
        return {};
    return slices;
  }

  /// linear -> two column ranges -> gate.
  bool addGate(GroupOp group) {
    if (!Contraction::matchPlain(group))
      return false;
    SmallVector<tensor::ExtractSliceOp> slices = getColumnRanges(group.getResult(0));
    if (slices.size() != 2 || !llvm::all_of(slices, [](auto s) { return s->hasOneUse(); }))
      return false;
    Operation *gate = *slices[0]->user_begin();
    if (gate != *slices[1]->user_begin() || !isHere(gate) || !getOnlyOp<GluOp>(gate))
      return false;
    return join({{group, slices[0], slices[1], gate}, {}, {gate->getResult(0)}, group.getLoc()});
  }

  /// linear -> column ranges -> heads -> rotation -> cache, as far as it goes.
  bool splitColumns(GroupOp group) {
    if (!Contraction::matchPlain(group))
      return false;
    Value result = group.getResult(0);
    GroupJoin all{{group}, {}, {}, group.getLoc()};
    auto add = [&](const ColumnChain &chain) {
      all.parts.append(chain.parts.begin(), chain.parts.end());
      for (Operation *clone : chain.clones)
        if (!llvm::is_contained(all.clones, clone))
          all.clones.push_back(clone);
      all.results.push_back(chain.end);
      llvm::append_range(all.results, chain.also);
    };
    if (result.hasOneUse() && isa<tensor::ExpandShapeOp>(*result.user_begin())) {
      ColumnChain chain(result, &block);
      if (chain.parts.size() < 2) // a view alone changes nothing
        return false;
      add(chain);
      return join(all);
    }
    SmallVector<tensor::ExtractSliceOp> slices = getColumnRanges(result);
    if (slices.size() < 2)
      return false;
    for (tensor::ExtractSliceOp slice : slices) {
      all.parts.push_back(slice);
      add(ColumnChain(slice, &block));
    }
    return join(all);
  }

  /// Gathers and elementwise ops into the sum or the norm that reads them.
  bool gatherRows(GroupOp group) {
    std::optional<Rows> rows = Rows::match(group);
    if (!rows)
      return false;
    for (OpOperand &operand : group->getOpOperands())
      if (gatherPositions(group, operand) || gatherRows(group, *rows, operand))
        return true;
    return false;
  }

  /// Positions that can be counted, and the vectors learned for them.
  bool gatherPositions(GroupOp group, OpOperand &operand) {
    SmallVector<Value> results(group.getResults());
    Value value = operand.get();
    // A lone lookup stays as it is, to be found from its sum.
    if (GroupOp positions = getPositionsGroup(value);
        positions && isHere(positions) && !getOnlyOp<PositionLearnedOp>(group))
      return join({{group}, {positions}, results, group.getLoc()});
    auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
    if (!isHere(collapse) || !collapse->hasOneUse() || collapse.getSrcType().getRank() != 3 ||
        collapse.getSrcType().getDimSize(0) != 1 || collapse.getResultType().getRank() != 2 ||
        collapse.getReassociationIndices().back().size() != 1)
      return false;
    Operation *source = collapse.getSrc().getDefiningOp();
    if (!isHere(source) || !source->hasOneUse() || !getOnlyOp<PositionLearnedOp>(source) ||
        !isComputedInF32(collapse.getSrcType().getElementType()))
      return false;
    return join({{source, collapse, group}, {}, results, group.getLoc()});
  }

  bool gatherRows(GroupOp group, const Rows &rows, OpOperand &operand) {
    Value value = operand.get();
    auto source = value.getDefiningOp<GroupOp>();
    if (!source || !isHere(source) || value.getType() != rows.type || source.getNumResults() != 1)
      return false;
    std::optional<Rows> producer = Rows::match(source);
    if (!producer || producer->norm || (!rows.norm && (rows.hasVectors || producer->hasVectors)))
      return false;
    GroupJoin all{{source, group}, {}, SmallVector<Value>(group.getResults()), group.getLoc()};
    if (!value.hasOneUse()) {
      // A sum that is normalised and used: it is at hand when the norm's rows are computed.
      BlockArgument argument = group.getBody().getArgument(operand.getOperandNumber());
      if (!rows.norm || rows.norm->getOperand(0) != argument || group.getNumResults() != 1)
        return false;
      all.results.push_back(value);
    }
    return join(all);
  }

  /// A group that tiles compute -> the rounding of one of its results: in its place, or beside it
  /// if others read that.
  bool addRounding(GroupOp group) {
    auto rounding = getOnlyOp<arith::TruncFOp>(group);
    if (!rounding || !isHalf(getElementTypeOrSelf(rounding.getType())) || !isF32(rounding.getIn()))
      return false;
    Value value = group.getInputs().front();
    auto source = value.getDefiningOp<GroupOp>();
    if (!source || !isHere(source) || source.getSchedule() ||
        getTileForm(source).kind == TileForm::Kind::None)
      return false;
    SmallVector<Value> results(source.getResults());
    if (value.hasOneUse())
      *llvm::find(results, value) = group.getResult(0);
    else
      results.push_back(group.getResult(0));
    return join({{source, group}, {}, results, source.getLoc()});
  }

  Block &block;
  Operation *before = nullptr; ///< What stood before the first part of the last join.
};

struct FuseGroupsPass : fovea::impl::FuseGroupsPassBase<FuseGroupsPass> {
  using FuseGroupsPassBase::FuseGroupsPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<GroupOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    for (Block *block : blocks) {
      Fuser fuser(*block);
      fuser.run();
      numPrologues += fuser.numPrologues;
      numEpilogues += fuser.numEpilogues;
      numArgmax += fuser.numArgmax;
      numGated += fuser.numGated;
      numSplit += fuser.numSplit;
      numRows += fuser.numRows;
      numRounded += fuser.numRounded;
    }
  }
};
} // namespace
