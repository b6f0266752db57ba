// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EncoderDecoder.h. The files hold a decoder twice: all of the one that takes pasts is used, of
// the other one what computes keys and values of the source. Refuses, with the file's name, other
// arguments of an encoder than token ids and a mask, and keys and values that depend on more than
// its states.
#include "frontend/ONNX/EncoderDecoder.h"
#include "dialects/Fovea/Ports.h"
#include "frontend/ONNX/Generation.h"
#include "frontend/ONNX/Importer.h"
#include "frontend/ONNX/Neighbours.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

using ::fovea::addError;
using ::fovea::printable;

static func::FuncOp getForward(Part &part) {
  return part.module->lookupSymbol<func::FuncOp>("forward");
}

static std::optional<unsigned> findArgument(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (getPortName(function.getArgAttrDict(i)) == name)
      return i;
  return std::nullopt;
}

/// The label of the first axis of an argument; empty if it has none.
static StringRef getRowsLabel(func::FuncOp function, unsigned argument) {
  auto dims = function.getArgAttrOfType<ArrayAttr>(argument, FoveaDialect::kDimsAttr);
  return dims && !dims.empty() ? cast<StringAttr>(dims[0]).getValue() : "";
}

/// Moves the weights of a part, by other names where theirs are taken.
static void moveWeights(ModuleOp from, ModuleOp to) {
  SmallVector<WeightOp> weights(from.getOps<WeightOp>());
  for (WeightOp weight : weights) {
    std::string name = weight.getSymName().str(), own = name;
    for (int number = 1; to.lookupSymbol(own) || (own != name && from.lookupSymbol(own)); ++number)
      own = name + "_" + std::to_string(number);
    if (own != name) {
      auto renamed = StringAttr::get(from.getContext(), own);
      (void)SymbolTable::replaceAllSymbolUses(weight, renamed, from);
      weight.setSymNameAttr(renamed);
    }
    weight->moveBefore(to.getBody(), std::next(to.getBody()->begin()));
  }
}

namespace {
/// Writes `encode`.
class Joiner {
public:
  Joiner(Part &encoder, Part &first, func::FuncOp step, const SourceNames &sources,
         ::fovea::Problems &problems)
      : encoder(encoder), first(first), step(step), sources(sources), problems(problems),
        b(step.getLoc(), step.getContext()) {}
  bool write();

private:
  bool refuse(const Part &part, const std::string &place, const std::string &message) {
    addError(problems, part.path, place, message);
    return false;
  }
  bool addEntry();
  bool findStates(Value &states);
  bool findPresents(SmallVectorImpl<Value> &presents);
  bool isNumberOfRows(Value value);
  bool cloneUsed(ArrayRef<Value> presents);

  Part &encoder, &first;
  func::FuncOp step;
  const SourceNames &sources;
  ::fovea::Problems &problems;
  ImplicitLocOpBuilder b;
  func::FuncOp entry;
  IRMapping mapping;
};
} // namespace

/// The encoder's arguments and the caches of the source.
bool Joiner::addEntry() {
  func::FuncOp forward = getForward(encoder);
  SmallVector<Type> arguments, caches;
  SmallVector<DictionaryAttr> attributes, ofCaches;
  for (auto [i, type] : llvm::enumerate(forward.getArgumentTypes())) {
    StringRef name = getPortName(forward.getArgAttrDict(i));
    auto table = cast<RankedTensorType>(type);
    bool isKnown = table.getRank() == 2 && table.getNumDynamicDims() == 2 &&
                   table.getElementType().isSignlessInteger(64) &&
                   (name == "input_ids" || name == "attention_mask");
    if (!isKnown)
      return refuse(encoder, printable(name.str()),
                    "expects input_ids and attention_mask [batch, source] of int64, got another "
                    "argument");
    arguments.push_back(type);
    attributes.push_back(describePort(b, name, ArrayRef<StringRef>{"batch", "source"}));
  }
  unsigned count = step.getNumArguments();
  for (unsigned i = count - sources.size(); i < count; ++i) {
    caches.push_back(step.getArgumentTypes()[i]);
    ofCaches.push_back(step.getArgAttrDict(i));
  }
  llvm::append_range(arguments, caches);
  llvm::append_range(attributes, ofCaches);
  b.setInsertionPoint(step);
  entry = func::FuncOp::create(b, "encode", b.getFunctionType(arguments, caches));
  entry->setAttr(FoveaDialect::kEntryAttr, b.getUnitAttr());
  entry.setAllArgAttrs(attributes);
  entry.setAllResultAttrs(ofCaches);
  b.setInsertionPointToStart(entry.addEntryBlock());
  return true;
}

/// The encoder's result, its ops in `encode`.
bool Joiner::findStates(Value &states) {
  func::FuncOp forward = getForward(encoder);
  if (forward.getNumResults() != 1 || forward.getResultTypes().front() != states.getType())
    return refuse(encoder, "",
                  "expects one result, what the decoder takes as encoder_hidden_states");
  for (auto [from, to] : llvm::zip(forward.getArguments(), entry.getArguments()))
    mapping.map(from, to);
  for (Operation &op : forward.getBody().front().without_terminator())
    b.clone(op, mapping);
  states = mapping.lookup(forward.getBody().front().getTerminator()->getOperand(0));
  return true;
}

/// The results of `first` that are the pasts of the source.
bool Joiner::findPresents(SmallVectorImpl<Value> &presents) {
  func::FuncOp forward = getForward(first);
  Operation *results = forward.getBody().front().getTerminator();
  for (StringRef past : sources) {
    std::string name = past.str();
    if (size_t at = name.find("past_key_values"); at != std::string::npos)
      name.replace(at, StringRef("past_key_values").size(), "present");
    Value found;
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      if (getPortName(forward.getResultAttrDict(i)) == name)
        found = results->getOperand(i);
    if (!found)
      return refuse(first, "",
                    "expects a result " + printable(name) + ", which the next step takes as " +
                        printable(past.str()) + ", got none");
    presents.push_back(found);
  }
  return true;
}

/// Whether a value of `first` is how many sources there are: the first size of its encoder's
/// states, or of an argument of which the file says that it has as many.
bool Joiner::isNumberOfRows(Value value) {
  auto dim = value.getDefiningOp<tensor::DimOp>();
  auto argument = dim ? dyn_cast<BlockArgument>(dim.getSource()) : BlockArgument();
  if (!argument || dim.getConstantIndex() != 0)
    return false;
  func::FuncOp forward = getForward(first);
  unsigned states = *findArgument(forward, "encoder_hidden_states");
  StringRef label = getRowsLabel(forward, argument.getArgNumber());
  return argument.getArgNumber() == states ||
         (!label.empty() && label == getRowsLabel(forward, states));
}

/// Clones what computes some values of `first`.
bool Joiner::cloneUsed(ArrayRef<Value> presents) {
  llvm::SmallPtrSet<Operation *, 32> used;
  SmallVector<Value> open(presents);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      bool isOwn = argument.getOwner() == &getForward(first).getBody().front();
      if (!isOwn || mapping.contains(value))
        continue;
      return refuse(
          first,
          printable(getPortName(getForward(first).getArgAttrDict(argument.getArgNumber())).str()),
          "expects keys and values of the source that depend on encoder_hidden_states "
          "alone, got some that depend on this argument");
    }
    // Files number the rows by any of their arguments.
    if (isNumberOfRows(value)) {
      if (!mapping.contains(value))
        mapping.map(value, tensor::DimOp::create(b, entry.getArgument(0), 0).getResult());
      continue;
    }
    if (!used.insert(op).second)
      continue;
    llvm::append_range(open, op->getOperands());
    op->walk([&](Operation *inner) { llvm::append_range(open, inner->getOperands()); });
  }
  for (Operation &op : getForward(first).getBody().front().without_terminator())
    if (used.contains(&op))
      b.clone(op, mapping);
  return true;
}

bool Joiner::write() {
  func::FuncOp forward = getForward(first);
  std::optional<unsigned> argument = findArgument(forward, "encoder_hidden_states");
  if (!argument)
    return refuse(first, "", "expects an argument encoder_hidden_states, got none");
  Value states = forward.getArgument(*argument);
  SmallVector<Value> presents;
  if (!addEntry() || !findPresents(presents) || !findStates(states))
    return false;
  mapping.map(forward.getArgument(*argument), states);
  if (std::optional<unsigned> mask = findArgument(forward, "encoder_attention_mask"))
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (getArgumentRole(entry, i) == PortRole::AttentionMask)
        mapping.map(forward.getArgument(*mask), entry.getArgument(i));
  if (!cloneUsed(presents))
    return false;
  SmallVector<Value> grown;
  for (auto [present, cache] :
       llvm::zip(presents, entry.getArguments().take_back(sources.size()))) {
    Value added = swapHeads(b, mapping.lookup(present));
    grown.push_back(CacheAppendOp::create(b, cache, added, /*scales=*/Value()).getResult());
  }
  func::ReturnOp::create(b, grown);
  return true;
}

OwningOpRef<ModuleOp> onnx::joinParts(Part encoder, Part first, Part next,
                                      ::fovea::Problems &problems) {
  ModuleOp whole = *next.module;
  func::FuncOp forward = getForward(next);
  SourceNames sources;
  func::FuncOp step = addDecoderStep(forward, next.path, problems, sources);
  if (!step)
    return {};
  for (Part *part : {&encoder, &first})
    moveWeights(*part->module, whole);
  if (!Joiner(encoder, first, step, sources, problems).write())
    return {};
  readWriter(whole, forward, /*isTranslator=*/true, problems);
  forward.erase();
  if (hasErrors(problems) || failed(verify(whole)))
    return {};
  return std::move(next.module);
}
