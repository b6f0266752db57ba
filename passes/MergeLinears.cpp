// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges linears that read one input into one, by recipes that concatenate their weights. In a
// layer function it looks through to all calls. Refuses what would store a weight's bytes twice.
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "passes/Analysis/WeightFlow.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace mlir::fovea {
#define GEN_PASS_DEF_MERGELINEARSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// The weights that stand for one operand of each member, in the members' order.
using WeightTuple = SmallVector<Operation *, 4>;

/// One kind of operand (weight or bias) of all members, and the weights behind it: a tuple for each
/// call of the function if they are its arguments, else a single one.
struct OperandColumn {
  SmallVector<OpOperand *, 4> operands;
  SmallVector<WeightTuple> sites;
};

/// Linears of one block that read one input.
struct Candidate {
  SmallVector<LinearOp, 4> members;
  func::FuncOp function;                 ///< Set if the weights are its arguments.
  SmallVector<func::CallOp> calls;       ///< All of that function's, in the order of `sites`.
  SmallVector<OperandColumn, 2> columns; ///< Weights; then biases, if there are any.
  std::string refusal;

  bool isLive() const { return refusal.empty(); }
};

/// Fills `column.sites`, or gives the reason why that cannot be done.
std::string resolve(Candidate &candidate, OperandColumn &column, WeightFlow &flow) {
  bool isArgument = isa<BlockArgument>(column.operands.front()->get());
  for (OpOperand *operand : column.operands)
    if (isa<BlockArgument>(operand->get()) != isArgument)
      return "only some of the weights are arguments";
  if (&column != candidate.columns.begin() && isArgument != bool(candidate.function))
    return isArgument ? "biases are arguments and weights are not"
                      : "weights are arguments and biases are not";
  for (OpOperand *operand : column.operands) {
    WeightSites sites;
    if (std::string why = flow.resolve(operand->get(), sites); !why.empty())
      return why;
    candidate.function = sites.function;
    candidate.calls = sites.calls;
    column.sites.resize(sites.weights.size());
    for (auto [tuple, weight] : llvm::zip(column.sites, sites.weights))
      tuple.push_back(weight);
  }
  return "";
}

/// Linears of a block by input; those whose weights or biases differ in element type, or of which
/// only some have a bias, apart. Routers stay alone, as they are not rounded.
void collect(Block &block, WeightFlow &flow, std::vector<std::unique_ptr<Candidate>> &candidates,
             function_ref<void(LinearOp, StringRef)> refuse) {
  llvm::MapVector<Value, SmallVector<SmallVector<LinearOp, 4>, 1>> byInput;
  auto fits = [](LinearOp a, LinearOp b) {
    auto element = [](Value value) {
      return value ? cast<ShapedType>(value.getType()).getElementType() : Type();
    };
    return element(a.getWeight()) == element(b.getWeight()) &&
           element(a.getBias()) == element(b.getBias());
  };
  for (auto linear : block.getOps<LinearOp>()) {
    // Weights are quantised behind this pass; those of experts are one by the frontends.
    if (linear.getScales() || linear.getExperts() || linear.isRouter())
      continue;
    auto &sets = byInput[linear.getInput()];
    auto *set = llvm::find_if(sets, [&](auto &other) { return fits(other.front(), linear); });
    if (set != sets.end())
      set->push_back(linear);
    else
      sets.push_back({linear});
  }
  for (auto &[input, sets] : byInput) {
    if (sets.size() > 1)
      refuse(sets[1].front(), "element types differ from another linear's of this input, or only "
                              "one of them has a bias");
    for (auto &members : sets) {
      if (members.size() < 2)
        continue;
      auto candidate = std::make_unique<Candidate>();
      candidate->members = members;
      candidate->columns.resize(members.front().getBias() ? 2 : 1);
      for (LinearOp linear : members) {
        candidate->columns[0].operands.push_back(&linear.getWeightMutable());
        if (linear.getBias())
          candidate->columns[1].operands.push_back(&*linear.getBiasMutable().begin());
      }
      for (OperandColumn &column : candidate->columns)
        if (candidate->isLive())
          candidate->refusal = resolve(*candidate, column, flow);
      candidates.push_back(std::move(candidate));
    }
  }
}

/// Refuses candidates until each weight that is left is used by live candidates alone, at one place
/// of one tuple. Refusing one makes its weights another's other users, hence the loop.
void refuseSharedWeights(std::vector<std::unique_ptr<Candidate>> &candidates, WeightFlow &flow) {
  for (bool changed = true; changed;) {
    changed = false;
    DenseMap<OpOperand *, size_t> roles;
    for (auto &candidate : candidates)
      if (candidate->isLive())
        for (OperandColumn &column : candidate->columns)
          for (auto [index, operand] : llvm::enumerate(column.operands))
            roles[operand] = index;

    DenseMap<Operation *, WeightTuple *> tupleOf;
    auto check = [&](WeightTuple &tuple) -> std::string {
      for (auto [index, weight] : llvm::enumerate(tuple)) {
        WeightTuple *&known = tupleOf[weight];
        if (known && *known != tuple)
          return "a weight is merged with others elsewhere";
        known = &tuple;
        auto leaves = flow.getLeaves(cast<WeightOp>(weight));
        if (!leaves)
          return "a weight leaves the module";
        for (OpOperand *leaf : *leaves) {
          auto role = roles.find(leaf);
          if (role == roles.end() || role->second != index)
            return "a weight has another user, and would be stored twice";
        }
      }
      return "";
    };
    for (auto &candidate : candidates)
      for (OperandColumn &column : candidate->columns)
        for (WeightTuple &tuple : column.sites)
          if (candidate->isLive()) {
            candidate->refusal = check(tuple);
            changed |= !candidate->isLive();
          }
  }
}

/// Builds merged weights, arguments and linears.
class Merger {
public:
  explicit Merger(ModuleOp module) : symbols(module), builder(module.getContext()) {}

  void merge(Candidate &candidate) {
    LinearOp first = candidate.members.front();
    SmallVector<Location> locs;
    SmallVector<int64_t> widths;
    for (LinearOp member : candidate.members) {
      locs.push_back(member.getLoc());
      widths.push_back(cast<ShapedType>(member.getWeight().getType()).getDimSize(0));
    }
    Location loc = builder.getFusedLoc(locs);
    SmallVector<Value, 2> operands;
    for (OperandColumn &column : candidate.columns)
      operands.push_back(getMergedOperand(candidate, column, loc));

    builder.setInsertionPoint(first);
    auto inputType = cast<RankedTensorType>(first.getInput().getType());
    SmallVector<int64_t> shape(inputType.getShape());
    shape.back() = std::accumulate(widths.begin(), widths.end(), int64_t(0));
    Value merged = LinearOp::create(builder, loc, inputType.clone(shape), first.getInput(),
                                    operands[0], operands.size() > 1 ? operands[1] : Value());

    // The input's sizes: they are there before any of the members.
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, first.getInput());
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
    int64_t offset = 0;
    for (auto [member, width] : llvm::zip(candidate.members, widths)) {
      offsets.back() = builder.getIndexAttr(offset);
      sizes.back() = builder.getIndexAttr(width);
      Value slice = tensor::ExtractSliceOp::create(
          builder, member.getLoc(), cast<RankedTensorType>(member.getResult().getType()), merged,
          offsets, sizes, strides);
      offset += width;
      member.getResult().replaceAllUsesWith(slice);
    }
    for (LinearOp member : candidate.members)
      member.erase();
  }

  /// Erases what the merged linears have left without users.
  void cleanUp() {
    for (auto &[function, calls] : changed) {
      BitVector dead(function.getNumArguments());
      for (unsigned number : replaced[function])
        if (function.getArgument(number).use_empty())
          dead.set(number);
      eraseArguments(function, calls, dead);
    }
    // All users of these weights have been merged.
    symbols.getOp()->walk([&](WeightRefOp ref) {
      if (weights.contains(symbols.lookup(ref.getWeight())))
        ref.erase();
    });
    for (Operation *weight : weights)
      symbols.erase(weight);
  }

private:
  /// The value of the merged weight at the candidate's place.
  Value getMergedOperand(Candidate &candidate, OperandColumn &column, Location loc) {
    if (!candidate.function) {
      builder.setInsertionPoint(candidate.members.front());
      return createRef(column.sites.front(), loc);
    }
    std::vector<unsigned> numbers;
    for (OpOperand *operand : column.operands)
      numbers.push_back(cast<BlockArgument>(operand->get()).getArgNumber());
    func::FuncOp function = candidate.function;
    auto [known, isNew] = arguments.try_emplace({function.getOperation(), numbers});
    if (!isNew)
      return known->second;
    replaced[function].insert(numbers.begin(), numbers.end());
    changed[function] = candidate.calls;
    for (auto [call, tuple] : llvm::zip(candidate.calls, column.sites)) {
      builder.setInsertionPoint(call);
      call.getOperandsMutable().append(createRef(tuple, call.getLoc()));
    }
    Type type = getMergedWeight(column.sites.front()).getWeightType();
    unsigned number = function.getNumArguments();
    (void)function.insertArgument(number, type, DictionaryAttr(), loc);
    return known->second = function.getArgument(number);
  }

  Value createRef(const WeightTuple &tuple, Location loc) {
    WeightOp weight = getMergedWeight(tuple);
    return WeightRefOp::create(builder, loc, weight.getWeightType(), weight.getSymName());
  }

  /// The weight made of these, created beside the first of them.
  WeightOp getMergedWeight(const WeightTuple &tuple) {
    WeightOp &merged = mergedWeights[std::vector<Operation *>(tuple.begin(), tuple.end())];
    if (merged)
      return merged;
    std::string name;
    SmallVector<Attribute> parts;
    SmallVector<Location> locs;
    for (Operation *op : tuple) {
      auto weight = cast<WeightOp>(op);
      name += (name.empty() ? "" : "+") + weight.getSymName().str();
      locs.push_back(weight.getLoc());
      auto concat = dyn_cast<ConcatAttr>(weight.getRecipe());
      if (concat && concat.getAxis() == 0)
        llvm::append_range(parts, concat.getParts());
      else
        parts.push_back(weight.getRecipe());
      weights.insert(op);
    }
    auto recipe = ConcatAttr::get(builder.getContext(), 0, parts);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(tuple.front());
    merged = WeightOp::create(builder, builder.getFusedLoc(locs), name, recipe.getRecipeType(),
                              recipe, StringAttr());
    symbols.insert(merged); // gives it another name if this one is taken
    return merged;
  }

  SymbolTable symbols;
  OpBuilder builder;
  std::map<std::vector<Operation *>, WeightOp> mergedWeights;
  std::map<std::pair<Operation *, std::vector<unsigned>>, Value> arguments;
  llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> changed;
  DenseMap<func::FuncOp, llvm::DenseSet<unsigned>> replaced;
  llvm::SetVector<Operation *> weights; ///< To be erased.
};

struct MergeLinearsPass : fovea::impl::MergeLinearsPassBase<MergeLinearsPass> {
  using MergeLinearsPassBase::MergeLinearsPassBase;

  void runOnOperation() override {
    auto refuse = [&](LinearOp linear, StringRef why) {
      ++numRefused;
      remark::missed(linear.getLoc(),
                     remark::RemarkOpts::name("merge-linears").category("merge-linears"))
          << why;
    };
    WeightFlow flow(getOperation());
    std::vector<std::unique_ptr<Candidate>> candidates;
    getOperation()->walk([&](Block *block) { collect(*block, flow, candidates, refuse); });
    refuseSharedWeights(candidates, flow);

    Merger merger(getOperation());
    for (auto &candidate : candidates) {
      if (!candidate->isLive()) {
        refuse(candidate->members.front(), candidate->refusal);
        continue;
      }
      merger.merge(*candidate);
      ++numMerged;
    }
    merger.cleanUp();
  }
};
} // namespace
