// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the first op that departs. It compiles the module again with more results, which may keep
// a fault away that lies in fusing ops: then nothing is found, and the caller says so.
#include "tools/verify/Departure.h"
#include "dialects/Fovea/Locations.h"
#include "dialects/Fovea/Try.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

/// Further results of one compilation.
static constexpr size_t kPerRound = 24;
/// Ops of an entry whose calls are inlined; layer functions in hundreds of layers stay far below.
static constexpr size_t kMaxOps = 200000;

//===-- Flat entries -------------------------------------------------------------------------===//

FailureOr<OwningOpRef<ModuleOp>> verify::inlineCalls(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> copy = module.clone();
  auto entry = copy->lookupSymbol<func::FuncOp>(name);
  if (!entry || !entry.getBody().hasOneBlock())
    return module.emitError("expects an entry of one block named '") << name << "'";
  Block &block = entry.getBody().front();
  size_t ops = 0;
  for (auto at = block.begin(); at != block.end();) {
    auto call = dyn_cast<func::CallOp>(*at);
    if (++ops > kMaxOps)
      return entry.emitOpError("expects at most ") << kMaxOps << " ops after inlining";
    if (!call) {
      ++at;
      continue;
    }
    auto callee = copy->lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || !callee.getBody().hasOneBlock())
      return call.emitOpError("expects a callee of one block");
    Block &body = callee.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), call.getOperands());
    OpBuilder builder(call);
    Operation *first = nullptr;
    for (Operation &op : body.without_terminator()) {
      Operation *clone = builder.clone(op, mapping);
      clone->setLoc(CallSiteLoc::get(op.getLoc(), call.getLoc()));
      first = first ? first : clone;
    }
    for (auto [result, value] :
         llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    auto next = std::next(at);
    call.erase();
    at = first ? first->getIterator() : next; // calls inside the callee come next
  }
  return copy;
}

std::string verify::describeLocation(Location location) {
  if (auto site = dyn_cast<CallSiteLoc>(location)) {
    std::string callee = describeLocation(site.getCallee());
    std::string caller = describeLocation(site.getCaller());
    size_t star = callee.find('*');
    if (star != std::string::npos && caller.compare(0, star, callee, 0, star) == 0)
      return caller + callee.substr(star + 1);
    return callee + " at " + caller;
  }
  std::string place = placeOf(location);
  return place.empty() ? "unknown place" : place;
}

/// The results worth looking at, in order: float tensors that are computed from something, and what
/// is chosen from them.
static SmallVector<OpResult> getCandidates(func::FuncOp entry) {
  SmallVector<OpResult> candidates;
  for (Operation &op : entry.getBody().front().without_terminator()) {
    if (isa<arith::ConstantOp, tensor::EmptyOp, WeightRefOp>(op))
      continue;
    for (OpResult result : op.getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        if (isa<FloatType>(type.getElementType()) || isa<ArgmaxOp>(op))
          candidates.push_back(result);
  }
  return candidates;
}

/// Makes values into further results of the entry, with names that no other result has.
static void addResults(func::FuncOp entry, ArrayRef<OpResult> values) {
  Builder builder(entry.getContext());
  Operation *terminator = entry.getBody().front().getTerminator();
  SmallVector<Type> types(entry.getResultTypes());
  SmallVector<DictionaryAttr> attributes;
  entry.getAllResultAttrs(attributes);
  attributes.resize(types.size());
  for (OpResult value : values) {
    std::string name = "departure." + std::to_string(types.size());
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<Attribute> dims;
    for (size_t i = 0; i < static_cast<size_t>(type.getNumDynamicDims()); ++i)
      dims.push_back(builder.getStringAttr(name + "." + std::to_string(i)));
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(FoveaDialect::kNameAttr, builder.getStringAttr(name)),
         builder.getNamedAttr(FoveaDialect::kDimsAttr, builder.getArrayAttr(dims))}));
    types.push_back(type);
    terminator->insertOperands(terminator->getNumOperands(), Value(value));
  }
  entry.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), types));
  entry.setAllResultAttrs(attributes);
}

//===-- The search ---------------------------------------------------------------------------===//

/// Runs all steps; the answer is the last one's.
static FailureOr<std::vector<TensorRef>> runChain(Backend &backend, const Chain &chain) {
  FailureOr<std::vector<TensorRef>> results = failure();
  if (failed(backend.reset(chain.batch, chain.capacity)))
    return failure();
  for (const Chain::Step &step : chain.steps)
    if (failed(results = backend.run(step.entry, step.inputs)))
      return failure();
  return results;
}

FailureOr<Departure> verify::findDeparture(ModuleOp module, RecipeSource &weights,
                                           const BackendFactory &factory, const Chain &chain,
                                           double bound,
                                           function_ref<void(const std::string &)> progress) {
  std::string name = chain.steps.back().entry;
  TRY(OwningOpRef<ModuleOp> flat, inlineCalls(module, name));
  size_t first = 0, last = getCandidates(flat->lookupSymbol<func::FuncOp>(name)).size();
  Departure departure;
  while (first < last) {
    progress("looking for the first op that departs, " + std::to_string(last - first) + " left");
    // Evenly spaced, the last one among them.
    size_t count = std::min(kPerRound, last - first);
    SmallVector<size_t> chosen;
    for (size_t i = 1; i <= count; ++i)
      chosen.push_back(first + (last - first) * i / count - 1);

    OwningOpRef<ModuleOp> probe = flat->clone();
    auto entry = probe->lookupSymbol<func::FuncOp>(name);
    SmallVector<OpResult> candidates = getCandidates(entry), values;
    for (size_t i : chosen)
      values.push_back(candidates[i]);
    addResults(entry, values);
    TRY(std::unique_ptr<Backend> backend, factory(*probe));
    InterpreterBackend reference(*probe, weights);
    FailureOr<std::vector<TensorRef>> found = runChain(*backend, chain);
    if (chain.isScaled)
      reference.setPrecision(Precision::Exact);
    FailureOr<std::vector<TensorRef>> expected = runChain(reference, chain);
    reference.setPrecision(Precision::Literal);
    FailureOr<std::vector<TensorRef>> literal = runChain(reference, chain);
    if (failed(found) || failed(expected) || failed(literal))
      return failure();
    if (found->size() != expected->size() || found->size() < chosen.size())
      return entry.emitOpError("expects ")
             << expected->size() << " tensors from the compiled entry, got " << found->size();

    size_t begin = found->size() - chosen.size(), hit = chosen.size();
    Difference difference;
    for (size_t i = 0; i < chosen.size() && hit == chosen.size(); ++i) {
      difference =
          judge(*(*found)[begin + i], *(*expected)[begin + i], *(*literal)[begin + i], Norm::Whole);
      if (difference.error > bound)
        hit = i;
    }
    if (hit == chosen.size()) // nothing departs any more: what was found before stands
      return departure;
    departure.found = true;
    departure.op = values[hit].getOwner()->getName().getStringRef().str();
    departure.location = describeLocation(values[hit].getLoc());
    departure.difference = difference;
    first = hit == 0 ? first : chosen[hit - 1] + 1;
    last = chosen[hit];
  }
  return departure;
}
