// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves the weight of a norm into the recipes of the linears behind it. Refuses what would round,
// or change a weight for another reader.
#include "mlir/IR/Remarks.h"
#include "passes/Analysis/WeightFlow.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_FOLDRMSNORMPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// What a weight's columns are to be multiplied by.
struct Scale {
  WeightOp weight;
  FloatAttr offset;
};

/// A norm, and what its weight does to each weight behind it.
struct Candidate {
  RmsNormOp norm;
  WeightSites normSites;
  SmallVector<OpOperand *> operands; ///< The weights of its linears.
  SmallVector<std::pair<WeightOp, Scale>> scales;
  std::string refusal; ///< Empty while it is alive.

  /// Fills the candidate, or its `refusal`.
  Candidate(RmsNormOp norm, WeightFlow &flow) : norm(norm) {
    refusal = flow.resolve(norm.getWeight(), normSites);
    for (OpOperand &use : norm.getResult().getUses())
      if (refusal.empty())
        refusal = add(use, flow);
    if (refusal.empty() && operands.empty())
      refusal = "nothing reads it";
  }

  bool isLive() const { return refusal.empty(); }

private:
  std::string add(OpOperand &use, WeightFlow &flow) {
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    if (!linear || linear.getInput() != use.get())
      return "something else than a linear reads it";
    if (!linear.getWeight().getType().getElementType().isF32())
      return "the linear's weight is not f32, and scaling would round it";
    WeightSites sites;
    if (std::string why = flow.resolve(linear.getWeight(), sites); !why.empty())
      return why;
    auto offset = FloatAttr::get(Float64Type::get(norm.getContext()), norm.getWeightOffset());
    // If one of them is the same for all calls, it goes with each of the other.
    size_t count = std::max(sites.weights.size(), normSites.weights.size());
    for (size_t i = 0; i < count; ++i)
      scales.push_back({sites.weights[sites.weights.size() == 1 ? 0 : i],
                        {normSites.weights[normSites.weights.size() == 1 ? 0 : i], offset}});
    operands.push_back(&linear.getWeightMutable());
    return "";
  }
};

using Candidates = std::vector<std::unique_ptr<Candidate>>;
using ScaleMap = llvm::MapVector<Operation *, Scale>;

/// Refuses candidates until each weight that is left has one scale, for all who read it. Refusing
/// one makes it another reader, hence the loop.
ScaleMap refuseSharedWeights(Candidates &candidates, WeightFlow &flow) {
  while (true) {
    llvm::DenseSet<OpOperand *> scaled;
    for (auto &candidate : candidates)
      if (candidate->isLive())
        scaled.insert(candidate->operands.begin(), candidate->operands.end());

    ScaleMap scales;
    auto check = [&](WeightOp weight, const Scale &scale) -> std::string {
      auto [known, isNew] = scales.insert({weight, scale});
      bool isSame = known->second.weight == scale.weight && known->second.offset == scale.offset;
      if (!isNew)
        return isSame ? "" : "a weight stands behind several norms";
      if (isa<PackAttr>(weight.getRecipe()))
        return "a weight is packed already";
      std::optional<SmallVector<OpOperand *>> leaves = flow.getLeaves(weight);
      if (!leaves)
        return "a weight leaves the module";
      bool isAlone = llvm::all_of(*leaves, [&](OpOperand *leaf) { return scaled.contains(leaf); });
      return isAlone ? "" : "a weight has another reader";
    };
    bool changed = false;
    for (auto &candidate : candidates)
      for (auto &[weight, scale] : candidate->scales)
        if (candidate->isLive()) {
          candidate->refusal = check(weight, scale);
          changed |= !candidate->isLive();
        }
    if (!changed)
      return scales;
  }
}

struct FoldRmsNormPass : fovea::impl::FoldRmsNormPassBase<FoldRmsNormPass> {
  using FoldRmsNormPassBase::FoldRmsNormPassBase;

  void runOnOperation() override {
    WeightFlow flow(getOperation());
    Candidates candidates;
    getOperation()->walk([&](RmsNormOp norm) {
      if (norm.getWeight() && norm.getInput().getType().getElementType().isF32())
        candidates.push_back(std::make_unique<Candidate>(norm, flow));
    });
    ScaleMap scales = refuseSharedWeights(candidates, flow);

    // The norms' recipes as they are: a norm's own weight is a vector, which is not scaled.
    for (auto &[op, scale] : scales) {
      auto weight = cast<WeightOp>(op);
      weight.setRecipeAttr(ScaleColumnsAttr::get(&getContext(), weight.getRecipe(),
                                                 scale.weight.getRecipe(), scale.offset));
    }
    llvm::MapVector<func::FuncOp, std::pair<SmallVector<func::CallOp>, BitVector>> dead;
    for (auto &candidate : candidates) {
      RmsNormOp norm = candidate->norm;
      if (!candidate->isLive()) {
        ++numRefused;
        remark::missed(norm.getLoc(),
                       remark::RemarkOpts::name("fold-rms-norm").category("fold-rms-norm"))
            << candidate->refusal;
        continue;
      }
      Value weight = norm.getWeight();
      norm.getWeightMutable().clear();
      norm.setWeightOffset(APFloat(0.0));
      ++numFolded;
      func::FuncOp function = candidate->normSites.function;
      if (!function || !weight.use_empty())
        continue;
      auto &[calls, arguments] = dead[function];
      calls = candidate->normSites.calls;
      arguments.resize(function.getNumArguments());
      arguments.set(cast<BlockArgument>(weight).getArgNumber());
    }
    for (auto &[function, entry] : dead)
      eraseArguments(function, entry.first, entry.second);
  }
};
} // namespace
