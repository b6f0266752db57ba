// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of values in dumps, made from the modules that locations name.
#include "tools/compile/Names.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fovea;

/// What the author of a .mlir file called it.
static StringRef getOwnName(Location loc) {
  auto fused = dyn_cast<FusedLocWith<StringAttr>>(loc);
  return fused ? fused.getMetadata().getValue() : "";
}

/// The names in a place, the innermost call's: {"layers.*.self_attn.q_proj", ...}.
static void collectNames(Location loc, llvm::SetVector<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc))
    names.insert(name.getName().getValue());
  else if (auto call = dyn_cast<CallSiteLoc>(loc))
    collectNames(call.getCallee(), names);
  else if (StringRef own = getOwnName(loc); !own.empty())
    names.insert(own);
  else if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      collectNames(inner, names);
}

/// "q_proj" of "layers.*.self_attn.q_proj", "q_proj_weight" of "q_proj.weight", "key_cache_3" of
/// "key_cache.3".
static std::string shorten(StringRef name) {
  auto [before, last] = name.rsplit('.');
  if (last.empty())
    last = before;
  if ((last == "weight" || last == "bias" || llvm::all_of(last, llvm::isDigit)) && last != before)
    return (before.rsplit('.').second.empty() ? before : before.rsplit('.').second).str() + "_" +
           last.str();
  return last.str();
}

/// The parts of a merged weight's name joined: "q_proj_k_proj_v_proj_weight".
static std::string shortenWeight(StringRef symbol) {
  SmallVector<StringRef> parts;
  symbol.split(parts, '+');
  std::string text;
  for (StringRef part : ArrayRef(parts).drop_back())
    text += shorten(part.ends_with(".weight") ? part.drop_back(7) : part) + "_";
  return text + shorten(parts.back());
}

static std::string shortenPlace(Location loc) {
  llvm::SetVector<StringRef> names;
  collectNames(loc, names);
  std::string text;
  for (StringRef name : names.getArrayRef().take_front(3))
    text += (text.empty() ? "" : "_") + shorten(name);
  return text;
}

namespace {
/// Of the ops that a pass made in place of one, the last gives its value and has its name.
class OwnNames {
public:
  void add(Operation *op) {
    if (!getOwnName(op->getLoc()).empty())
      last[keyOf(op)] = op;
  }
  bool isLast(Operation *op) const { return last.lookup(keyOf(op)) == op; }

private:
  using Key = std::pair<Operation *, const void *>;
  static Key keyOf(Operation *op) {
    return {op->getParentOfType<FunctionOpInterface>(), op->getLoc().getAsOpaquePointer()};
  }
  llvm::DenseMap<Key, Operation *> last;
};
} // namespace

/// What a person would call the results of `op`: a projection or norm by its place in the model,
/// other words of the dialect by themselves.
static std::string getLabel(Operation *op, const OwnNames &ownNames) {
  if (ownNames.isLast(op))
    return getOwnName(op->getLoc()).str();
  if (auto ref = dyn_cast<WeightRefOp>(op))
    return shortenWeight(ref.getWeight());
  if (auto group = dyn_cast<GroupOp>(op)) {
    ValueRange yielded = group.getBody().front().getTerminator()->getOperands();
    Operation *inner = yielded.empty() ? nullptr : yielded.front().getDefiningOp();
    return inner ? getLabel(inner, ownNames) : "";
  }
  if (isa<FoveaDialect>(op->getDialect()) && !isWeighted(op))
    return op->getName().stripDialect().str();
  return getOwnName(op->getLoc()).empty() ? shortenPlace(op->getLoc()) : "";
}

/// Likewise of a block's argument; those of groups stand for what is outside.
static std::string getLabel(Operation *op, BlockArgument argument) {
  if (isa<FunctionOpInterface>(op))
    return shortenPlace(argument.getLoc());
  return isa<GroupOp>(op) ? "" : getOwnName(argument.getLoc()).str();
}

static Location getNameLoc(MLIRContext *context, std::string text) {
  for (char &c : text)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  if (text.empty() || !llvm::isAlpha(text.front()))
    return UnknownLoc::get(context);
  return NameLoc::get(StringAttr::get(context, text));
}

std::string mlir::fovea::nameOf(Location loc) { return shortenPlace(loc); }

std::string mlir::fovea::printWithNames(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (flags.shouldPrintDebugInfo()) {
    module.print(stream, flags);
    stream << '\n';
    return text;
  }
  OwningOpRef<ModuleOp> copy(module.clone());
  // A group is called after what it holds, so all labels are read before any place is changed.
  SmallVector<std::pair<Operation *, std::string>> labels;
  OwnNames ownNames;
  copy->walk([&](Operation *op) { ownNames.add(op); });
  copy->walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(getNameLoc(op->getContext(), getLabel(op, argument)));
    bool named =
        ownNames.isLast(op) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType, CacheType, MemRefType>);
    labels.emplace_back(op, named ? getLabel(op, ownNames) : "");
  });
  for (auto &[op, label] : labels)
    op->setLoc(getNameLoc(op->getContext(), label));
  copy->print(stream, flags.printNameLocAsPrefix());
  stream << '\n';
  return text;
}
