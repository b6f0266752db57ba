// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What linears multiply. Their weights become small integers by recipe, with weights of scales
// beside them; refuses what others read than linears, and embeddings of a table that is a head, and
// what reaches one argument together with a refused weight. Inputs are rounded to bf16 where
// weights have no more bits, once for all of them, or quantised row by row; sums and results stay
// f32.
#include "dialects/Fovea/Tables.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "passes/Analysis/WeightFlow.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

namespace mlir::fovea {
#define GEN_PASS_DEF_CHOOSECOMPUTETYPESPASS
#define GEN_PASS_DEF_QUANTIZEWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// Inputs that share a scale in i4.
static constexpr int64_t kGroup = 32;

namespace {

/// A value that linears multiply by, or whose rows an embedding reads, and the weights that it
/// stands for.
struct Site {
  Value value;
  WeightSites sites;
};

/// The weights that linears read, each with the reason why it stays as it is; empty if it does not.
using Reasons = llvm::MapVector<WeightOp, std::string>;

struct QuantizeWeightsPass : fovea::impl::QuantizeWeightsPassBase<QuantizeWeightsPass> {
  using QuantizeWeightsPassBase::QuantizeWeightsPassBase;

  void runOnOperation() override {
    if (type != "int8" && type != "int4") {
      getOperation().emitError("expects the type int8 or int4, got '") << type << "'";
      return signalPassFailure();
    }
    refs.clear();
    tables.clear();
    if (type == "int4" && !wide.empty())
      splitFunctions();
    std::vector<Site> sites;
    Reasons reasons = findWeights(sites);
    SymbolTable symbols(getOperation());
    llvm::DenseMap<WeightOp, WeightOp> scales;
    for (auto &[weight, reason] : reasons) {
      if (reason.empty())
        scales[weight] = quantize(weight, tables.contains(weight), symbols);
      else
        remark::missed(weight.getLoc(), options()) << reason;
    }
    for (Site &site : sites)
      if (!site.sites.weights.empty() && scales.contains(site.sites.weights.front()))
        addScales(site, scales);
  }

private:
  static remark::RemarkOpts options() {
    return remark::RemarkOpts::name("quantize-weights").category("quantize-weights");
  }

  bool isWide(StringRef weight) const { return llvm::is_contained(wide, weight); }

  /// An argument has one type: calls that pass wide weights in other places than the first call
  /// does get a copy of the function.
  void splitFunctions() {
    SymbolTable symbols(getOperation());
    llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> calls;
    getOperation()->walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && callee.isPrivate() && !callee.isExternal())
        calls[callee].push_back(call);
    });
    for (auto &[function, ofFunction] : calls) {
      std::map<std::vector<bool>, func::FuncOp> copies;
      for (func::CallOp call : ofFunction) {
        std::vector<bool> key;
        for (Value operand : call.getOperands()) {
          auto ref = operand.getDefiningOp<WeightRefOp>();
          key.push_back(ref && isWide(ref.getWeight()));
        }
        func::FuncOp &copy = copies[key];
        if (!copy) {
          copy = copies.size() == 1 ? function : function.clone();
          if (copy != function) {
            symbols.insert(copy, std::next(Block::iterator(function)));
            ++numSplit;
          }
        }
        call.setCallee(copy.getName());
      }
    }
  }

  /// All weights of linears that are floats, and the values that they are read by.
  Reasons findWeights(std::vector<Site> &sites) {
    WeightFlow flow(getOperation());
    llvm::SetVector<Value> values, readByRows;
    getOperation()->walk([&](Operation *op) {
      auto embedding = dyn_cast<EmbeddingOp>(op);
      if (embedding && isTable(embedding.getTableMutable()))
        readByRows.insert(embedding.getTable());
      auto linear = dyn_cast<LinearOp>(op);
      if (linear && isa<FloatType>(linear.getWeight().getType().getElementType()))
        values.insert(linear.getWeight());
    });
    Reasons reasons;
    llvm::DenseSet<Value> known;
    for (Value value : values) {
      Site site{value, {}};
      // What is not known refuses the weight by its reader, which is no site.
      if (!flow.resolve(value, site.sites).empty())
        continue;
      known.insert(value);
      for (WeightOp weight : site.sites.weights)
        if (!reasons.contains(weight))
          reasons[weight] = getRefusal(weight, flow);
      sites.push_back(std::move(site));
    }
    // Tables that are heads, too.
    for (Value value : readByRows) {
      Site site{value, {}};
      if (!values.contains(value) && flow.resolve(value, site.sites).empty() &&
          llvm::all_of(site.sites.weights,
                       [&](WeightOp weight) { return reasons.contains(weight); })) {
        known.insert(value);
        sites.push_back(std::move(site));
      }
    }
    for (auto &[weight, reason] : reasons) {
      if (!reason.empty())
        continue;
      std::optional<SmallVector<OpOperand *>> leaves = flow.getLeaves(weight);
      for (OpOperand *leaf : *leaves)
        if (!known.contains(leaf->get()))
          reason = "it reaches a function that other weights reach in ways that are not known";
    }
    // Tables are int8: what becomes the same argument as one must be a table, too.
    for (Site &site : sites)
      if (type == "int4" &&
          llvm::any_of(site.sites.weights, [&](WeightOp w) { return tables.contains(w); }))
        for (WeightOp weight : site.sites.weights)
          if (!tables.contains(weight))
            reasons[weight] = "a table of rows becomes the same argument";
    // One refused weight refuses those that become the same argument, hence the loop.
    for (bool changed = true; changed;) {
      changed = false;
      for (Site &site : sites) {
        auto isRefused = [&](WeightOp weight) { return !reasons[weight].empty(); };
        if (!llvm::any_of(site.sites.weights, isRefused))
          continue;
        for (WeightOp weight : site.sites.weights)
          if (!isRefused(weight)) {
            reasons[weight] = "a weight that becomes the same argument is not quantised";
            changed = true;
          }
      }
    }
    return reasons;
  }

  /// Why a weight cannot be quantised, as far as itself and its readers are concerned.
  std::string getRefusal(WeightOp weight, WeightFlow &flow) {
    if (isa<PackAttr>(weight.getRecipe()))
      return "it is packed already";
    if (mlir::fovea::isTable(weight))
      return "it is a table of a formula";
    std::optional<SmallVector<OpOperand *>> leaves = flow.getLeaves(weight);
    if (!leaves)
      return "it leaves the module";
    for (OpOperand *leaf : *leaves) {
      auto linear = dyn_cast<LinearOp>(leaf->getOwner());
      if (isTable(*leaf))
        tables.insert(weight);
      else if (linear && linear.isRouter())
        return "its rounding would choose other experts";
      else if (!linear || leaf != &linear.getWeightMutable())
        return ("'" + leaf->getOwner()->getName().getStringRef() + "' reads it too").str();
    }
    return "";
  }

  static bool isTable(OpOperand &use) {
    auto embedding = dyn_cast<EmbeddingOp>(use.getOwner());
    return embedding && &use == &embedding.getTableMutable() &&
           embedding.getResult().getType().getElementType().isF32();
  }

  /// Gives the weight its recipe, and makes the weight of its scales, which is returned.
  WeightOp quantize(WeightOp weight, bool isTableToo, SymbolTable &symbols) {
    RankedTensorType old = weight.getWeightType();
    bool fits = old.getDimSize(1) != 0 && old.getDimSize(1) % kGroup == 0;
    StringRef name = weight.getSymName();
    bool isInt4 = type == "int4" && fits && !isTableToo && !isWide(name);
    if (type == "int4" && !fits)
      remark::missed(weight.getLoc(), options())
          << llvm::formatv("its {0} inputs are no multiple of {1}, so it becomes int8",
                           old.getDimSize(1), kGroup)
                 .str();
    MLIRContext *context = &getContext();
    Type element = IntegerType::get(context, isInt4 ? 4 : 8);
    Type scale = isInt4 ? Type(Float16Type::get(context)) : Type(Float32Type::get(context));
    int64_t group = isInt4 ? kGroup : 0;
    Attribute source = weight.getRecipe();
    Attribute recipe = QuantizationScalesAttr::get(context, source, element, scale, group);
    std::string scalesName = (name + ".scales").str();
    if (isInt4 && llvm::is_contained(calibrated, name)) {
      recipe = StoredAttr::get(context, kCalibratedFile, scalesName, getTypeOfRecipe(recipe));
      weight.setRecipeAttr(StoredAttr::get(context, kCalibratedFile, name, old.clone(element)));
    } else {
      weight.setRecipeAttr(QuantizeAttr::get(context, source, element, scale, group));
    }
    weight.setType(old.clone(element));
    OpBuilder builder(context);
    auto scales = WeightOp::create(builder, weight.getLoc(), scalesName, getTypeOfRecipe(recipe),
                                   cast<RecipeAttrInterface>(recipe), StringAttr());
    symbols.insert(scales, std::next(Block::iterator(weight)));
    ++numQuantized;
    return scales;
  }

  /// The scales of the weight that `value`, a `fovea.weight_ref`, refers to, beside it.
  Value getScales(Value value, WeightOp scales) {
    Value &known = refs[value];
    if (!known) {
      auto ref = value.getDefiningOp<WeightRefOp>();
      OpBuilder builder(ref->getContext());
      builder.setInsertionPointAfter(ref);
      known = WeightRefOp::create(builder, ref.getLoc(), scales.getWeightType(),
                                  FlatSymbolRefAttr::get(scales.getSymNameAttr()));
    }
    return known;
  }

  /// Gives the linears that read `site` their scales, through an argument if the weight is one.
  void addScales(Site &site, llvm::DenseMap<WeightOp, WeightOp> &scales) {
    WeightOp weight = site.sites.weights.front();
    Value value = site.value, scale;
    if (func::FuncOp function = site.sites.function) {
      unsigned number = cast<BlockArgument>(value).getArgNumber();
      for (auto [call, passed] : llvm::zip(site.sites.calls, site.sites.weights)) {
        Value ref = call.getOperand(number);
        ref.setType(passed.getWeightType());
        call.getOperandsMutable().append(getScales(ref, scales[passed]));
      }
      value.setType(weight.getWeightType());
      unsigned last = function.getNumArguments();
      function.setFunctionType(FunctionType::get(&getContext(),
                                                 function.getBody().getArgumentTypes(),
                                                 function.getFunctionType().getResults()));
      (void)function.insertArgument(last, scales[weight].getWeightType(), {}, value.getLoc());
      scale = function.getArgument(last);
    } else {
      value.setType(weight.getWeightType());
      scale = getScales(value, scales[weight]);
    }
    for (Operation *user : value.getUsers())
      if (auto linear = dyn_cast<LinearOp>(user))
        linear.getScalesMutable().assign(scale);
      else if (auto embedding = dyn_cast<EmbeddingOp>(user))
        embedding.getScalesMutable().assign(scale);
  }

  llvm::DenseMap<Value, Value> refs;
  llvm::DenseSet<Operation *> tables; ///< weights whose rows are read, too
};
} // namespace

namespace {
struct ChooseComputeTypesPass : fovea::impl::ChooseComputeTypesPassBase<ChooseComputeTypesPass> {
  using ChooseComputeTypesPassBase::ChooseComputeTypesPassBase;

  void runOnOperation() override {
    bool isNarrow = false;
    getOperation()->walk([&](LinearOp op) {
      TypedValue<RankedTensorType> input = op.getInput();
      Type weight = op.getWeight().getType().getElementType();
      if (!input.getType().getElementType().isF32() || op.getQuantizeRows() || op.isRouter())
        return;
      bool fits = op.getWeight().getType().getDimSize(1) <= LinearOp::kMostQuantizedInputs;
      if (integers && op.isQuantized() && fits) {
        op.setQuantizeRows(true);
        ++numQuantized;
      } else if (weight.isBF16() || op.isQuantized()) {
        op.getInputMutable().assign(round(input, op.getLoc()));
        ++numRounded;
      } else {
        return;
      }
      isNarrow = true;
    });
    if (!isNarrow)
      return;
    if (caches && !countIntegerCaches(getOperation()))
      castCaches(getOperation(), BFloat16Type::get(&getContext()),
                 [](Type element) { return element.isF32(); });
    getOperation()->walk([&](RoundableOpInterface op) { roundOperands(op); });
    llvm::for_each(widened, readNarrow);
  }

private:
  /// One rounding for all readers, right behind what computes the numbers.
  Value round(Value number, Location loc) {
    Value &known = rounded[number];
    if (!known) {
      OpBuilder b(number.getContext());
      b.setInsertionPointAfterValue(number);
      auto type = cast<RankedTensorType>(number.getType()).clone(b.getBF16Type());
      known = arith::TruncFOp::create(b, loc, type, number);
    }
    return known;
  }

  /// What reads its result reads f32 still.
  void roundOperands(RoundableOpInterface op) {
    Value result = op->getResult(0);
    Type type = result.getType();
    if (!op.roundOperands([&](Value number) { return round(number, op.getLoc()); }))
      return;
    OpBuilder b(op);
    b.setInsertionPointAfter(op);
    auto wide = arith::ExtFOp::create(b, op.getLoc(), type, result);
    result.replaceAllUsesExcept(wide, wide);
    widened.push_back(wide);
    ++numProducts;
  }

  /// What is rounded again behind a view is that view of the numbers as they were.
  static void readNarrow(arith::ExtFOp wide) {
    for (Operation *user : llvm::make_early_inc_range(wide->getUsers())) {
      auto view = dyn_cast<tensor::CollapseShapeOp>(user);
      if (!view)
        continue;
      for (Operation *reader : llvm::make_early_inc_range(view->getUsers())) {
        auto rounding = dyn_cast<arith::TruncFOp>(reader);
        if (!rounding || getElementTypeOrSelf(rounding.getType()) !=
                             getElementTypeOrSelf(wide.getIn().getType()))
          continue;
        OpBuilder b(rounding);
        rounding.replaceAllUsesWith(
            tensor::CollapseShapeOp::create(b, view.getLoc(),
                                            cast<RankedTensorType>(rounding.getType()),
                                            wide.getIn(), view.getReassociationIndices())
                .getResult());
        rounding.erase();
      }
      if (view->use_empty())
        view.erase();
    }
    if (wide->use_empty())
      wide.erase();
  }

  DenseMap<Value, Value> rounded;
  SmallVector<arith::ExtFOp> widened;
};
} // namespace

int64_t mlir::fovea::countQuantizedRows(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](Operation *op) { count += quantizesRows(op); });
  return count;
}

int64_t mlir::fovea::countRoundedLinears(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](LinearOp op) {
    count += op.getInput().getType().getElementType().isBF16() &&
             op.getResult().getType().getElementType().isF32();
  });
  return count;
}
