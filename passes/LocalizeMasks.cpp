// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clones masks beside their users, into branches, loops and called functions. Results of mask type
// are not treated; fovea-verify-graph reports them.
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_LOCALIZEMASKSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// The ops that make a mask, operands first, and the values they read that are no masks.
struct MaskTree {
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> leaves;
  /// Ops, attributes, how they are joined, and the types of the leaves: trees of equal form differ
  /// in the values of their leaves only.
  std::string form;

  static std::optional<MaskTree> get(Value mask) {
    MaskTree tree;
    llvm::raw_string_ostream os(tree.form);
    if (!tree.collect(mask, os))
      return std::nullopt;
    return tree;
  }

  Value clone(OpBuilder &builder, Value mask, IRMapping &mapping) const {
    for (Operation *op : ops)
      builder.clone(*op, mapping);
    return mapping.lookup(mask);
  }

private:
  bool collect(Value mask, llvm::raw_ostream &os) {
    auto op = mask.getDefiningOp<MaskOpInterface>();
    if (!op)
      return false;
    // Masks are trees of a few ops; a shared op is written twice, which only makes the form longer.
    os << op->getName() << op->getAttrDictionary() << '(';
    for (Value operand : op->getOperands()) {
      if (isa<MaskType>(operand.getType())) {
        if (!collect(operand, os))
          return false;
      } else {
        leaves.insert(operand);
        os << '%' << llvm::find(leaves, operand) - leaves.begin() << ':' << operand.getType();
      }
      os << ',';
    }
    os << ')';
    ops.insert(op);
    return true;
  }
};

class Localizer {
public:
  explicit Localizer(ModuleOp module) : module(module), symbols(module) {}

  unsigned numArguments = 0, numSpecialized = 0, numCloned = 0;

  /// Replaces mask arguments of functions, callers first.
  void localizeArguments() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
        changed |= localizeArguments(function);
    }
  }

  /// Clones masks before each user that is no mask.
  void localizeUsers() {
    SmallVector<OpOperand *> uses;
    SmallVector<Operation *> masks;
    module.walk([&](Operation *op) {
      if (isa<MaskOpInterface>(op))
        return masks.push_back(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isa<MaskType>(operand.get().getType()))
          uses.push_back(&operand);
    });
    for (OpOperand *use : uses) {
      std::optional<MaskTree> tree = MaskTree::get(use->get());
      if (!tree)
        continue;
      OpBuilder builder(use->getOwner());
      IRMapping mapping;
      use->set(tree->clone(builder, use->get(), mapping));
      ++numCloned;
    }
    for (Operation *mask : llvm::reverse(masks))
      if (mask->use_empty())
        mask->erase();
  }

private:
  /// All calls of a function that can be changed with it.
  SmallVector<func::CallOp> getCalls(func::FuncOp function) {
    SmallVector<func::CallOp> calls;
    if (!function.isPrivate() || function.isExternal() ||
        function->hasAttr(FoveaDialect::kEntryAttr))
      return calls;
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function, module);
    if (!uses)
      return calls;
    for (SymbolTable::SymbolUse use : *uses)
      if (!isa<func::CallOp>(use.getUser()))
        return calls;
    module.walk([&](func::CallOp call) { // in the order of the text, for the copies' names
      if (call.getCallee() == function.getSymName())
        calls.push_back(call);
    });
    return calls;
  }

  bool localizeArguments(func::FuncOp function) {
    BitVector masks(function.getNumArguments());
    for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isa<MaskType>(type))
        masks.set(number);
    if (masks.none())
      return false;

    // The calls by the form of their masks. One whose masks are not known yet is seen again when
    // its own function has been treated.
    llvm::MapVector<StringRef, SmallVector<func::CallOp>> byForm;
    std::vector<std::unique_ptr<std::string>> forms;
    for (func::CallOp call : getCalls(function)) {
      if (function->isAncestor(call))
        return false; // recursion: a copy of the function would be another caller
      forms.push_back(std::make_unique<std::string>());
      for (unsigned number : masks.set_bits()) {
        std::optional<MaskTree> tree = MaskTree::get(call.getOperand(number));
        if (!tree)
          return false;
        *forms.back() += tree->form + ";";
      }
      byForm[*forms.back()].push_back(call);
    }
    if (byForm.empty())
      return false;

    // Copies are made before the original changes.
    SmallVector<func::FuncOp> targets = {function};
    for (size_t i = 1; i < byForm.size(); ++i) {
      auto copy = cast<func::FuncOp>(function->clone());
      symbols.insert(copy, std::next(Block::iterator(targets.back())));
      targets.push_back(copy);
      ++numSpecialized;
    }
    for (auto [target, form] : llvm::zip(targets, byForm))
      rebuildMasks(target, form.second, masks);
    return true;
  }

  /// Makes the masks of `function` from ops of its own; the calls all have masks of the same form.
  void rebuildMasks(func::FuncOp function, MutableArrayRef<func::CallOp> calls,
                    const BitVector &masks) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    SmallVector<SmallVector<Value>> operands = llvm::map_to_vector(
        calls, [](func::CallOp call) { return SmallVector<Value>(call.getOperands()); });

    for (unsigned number : masks.set_bits()) {
      SmallVector<MaskTree> trees = llvm::map_to_vector(
          calls, [&](func::CallOp call) { return *MaskTree::get(call.getOperand(number)); });
      IRMapping mapping;
      for (size_t leaf = 0; leaf < trees.front().leaves.size(); ++leaf) {
        auto at = [&](size_t i) { return trees[i].leaves[leaf]; };
        // A constant is cloned, if it is the same at each call; else the value becomes an argument,
        // unless each call passes it already.
        if (Operation *constant = getCommonConstant(trees, leaf)) {
          mapping.map(at(0), builder.clone(*constant)->getResult(0));
          continue;
        }
        size_t passed = 0;
        auto isPassed = [&](size_t candidate) {
          for (size_t i = 0; i < calls.size(); ++i)
            if (operands[i][candidate] != at(i))
              return false;
          return true;
        };
        while (passed < operands.front().size() && !isPassed(passed))
          ++passed;
        if (passed == operands.front().size()) {
          for (size_t i = 0; i < calls.size(); ++i)
            operands[i].push_back(at(i));
          (void)function.insertArgument(passed, at(0).getType(), DictionaryAttr(), at(0).getLoc());
        }
        mapping.map(at(0), function.getArgument(passed));
      }
      Value mask = calls.front()->getOperand(number);
      function.getArgument(number).replaceAllUsesWith(trees.front().clone(builder, mask, mapping));
      ++numArguments;
    }

    BitVector dead = masks;
    dead.resize(function.getNumArguments());
    (void)function.eraseArguments(dead);
    for (size_t i = 0; i < calls.size(); ++i) {
      SmallVector<Value> kept;
      for (auto [number, value] : llvm::enumerate(operands[i]))
        if (!dead[number])
          kept.push_back(value);
      calls[i].getOperandsMutable().assign(kept);
      calls[i].setCallee(function.getSymName());
    }
  }

  static Operation *getCommonConstant(ArrayRef<MaskTree> trees, size_t leaf) {
    auto first = trees.front().leaves[leaf].getDefiningOp<arith::ConstantOp>();
    if (!first)
      return nullptr;
    for (const MaskTree &tree : trees) {
      auto other = tree.leaves[leaf].getDefiningOp<arith::ConstantOp>();
      if (!other || other.getValue() != first.getValue())
        return nullptr;
    }
    return first;
  }

  ModuleOp module;
  SymbolTable symbols;
};

struct LocalizeMasksPass : fovea::impl::LocalizeMasksPassBase<LocalizeMasksPass> {
  using LocalizeMasksPassBase::LocalizeMasksPassBase;
  void runOnOperation() override {
    Localizer localizer(getOperation());
    localizer.localizeArguments();
    localizer.localizeUsers();
    numArguments += localizer.numArguments;
    numSpecialized += localizer.numSpecialized;
    numCloned += localizer.numCloned;
  }
};
} // namespace
