// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Entries/EntryPlan.h"
#include "lowering/Entries/Entries.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fovea;

/// Collects the index values at which a buffer's definition meets the plan: sizes and offsets of
/// its views.
static void collect(Value value, EntryPlan &plan) {
  if (value.getType().isIndex()) {
    if (!matchPattern(value, m_Constant()) && plan.places.insert({value, plan.count}).second)
      ++plan.count;
    return;
  }
  // An argument's own sizes are the caller's: they are planned by the dims that describe it.
  if (isa<BlockArgument>(value) || value.getDefiningOp<ArenaOp>())
    return;
  for (Value operand : value.getDefiningOp()->getOperands())
    collect(operand, plan);
}

FailureOr<EntryPlan> EntryPlan::get(func::FuncOp entry) {
  EntryPlan plan;
  for (Operation &op : entry.getBody().front()) {
    if (auto arena = dyn_cast<ArenaOp>(op)) {
      if (plan.arena)
        return entry.emitOpError("expects one fovea.arena, got two"), failure();
      plan.arena = arena;
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      plan.launches.push_back(launch);
    }
  }
  if (!plan.arena)
    return entry.emitOpError("expects one fovea.arena, got none"), failure();
  plan.results.assign(entry.getBody().front().getTerminator()->operand_begin(),
                      entry.getBody().front().getTerminator()->operand_end());
  plan.count = 1 + plan.results.size();
  for (LaunchOp launch : plan.launches)
    for (Value operand : launch.getBuffers())
      collect(operand, plan);

  // Costs have places of their own: constants that a step uses stay constants.
  for (LaunchOp launch : plan.launches) {
    std::array<int64_t, 2> &places = plan.costs.emplace_back();
    for (auto [place, value] : llvm::zip(places, launch.getCost())) {
      auto [known, isNew] = plan.costPlaces.insert({value, plan.count});
      plan.count += isNew;
      place = known->second;
    }
  }

  // Sizes of arguments and result buffers, from which their descriptors are made.
  auto signature = entry->getAttrOfType<SignatureAttr>(FoveaDialect::kSignatureAttr);
  if (!signature)
    return entry.emitOpError("expects a fovea.signature: is this the kernels stage?"), failure();
  int64_t dim = 0, argument = 0;
  auto add = [&](bool isResult, int64_t &result) {
    auto type = cast<MemRefType>(entry.getArgument(argument++).getType());
    SmallVector<int64_t> &places = plan.argumentPlaces.emplace_back(),
                         &dims = plan.argumentDims.emplace_back();
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      bool open = type.isDynamicDim(axis);
      if (isResult) {
        places.push_back(open ? result : -1);
        dims.push_back(-1);
        ++result;
      } else {
        places.push_back(open ? plan.count++ : -1);
        dims.push_back(open ? 0 : -1); // filled in below
      }
    }
  };
  int64_t result = 1;
  for (PortAttr port : signature.getArguments()) {
    int64_t before = dim;
    add(false, result);
    if (isa<CacheType>(port.getType())) {
      // Memory is [batch, heads, capacity, size]; the caller gives batch, capacity, length.
      plan.argumentDims.back() = {before, -1, before + 1, -1};
      plan.argumentPlaces.emplace_back();
      plan.argumentDims.push_back({before + 2});
      ++argument;
      dim = before + 3;
      continue;
    }
    for (auto [axis, place] : llvm::enumerate(plan.argumentDims.back()))
      if (place >= 0)
        place = before + axis;
    dim = before + cast<RankedTensorType>(port.getType()).getRank();
  }
  for (PortAttr port : signature.getResults()) {
    if (isa<CacheType>(port.getType()))
      ++result;
    else
      add(true, result);
  }
  return plan;
}

std::string mlir::fovea::describeLocation(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    // A layer function says "layers.*.mlp", its call "layers.3": together "layers.3.mlp".
    std::string callee = describeLocation(call.getCallee()),
                caller = describeLocation(call.getCaller());
    size_t star = callee.find('*');
    size_t last = caller.find_last_of("0123456789");
    if (star != std::string::npos && last != std::string::npos) {
      size_t first = last;
      while (first > 0 && isdigit(static_cast<unsigned char>(caller[first - 1])))
        --first;
      return callee.replace(star, 1, caller.substr(first, last - first + 1));
    }
    if (callee.empty())
      return caller;
    return callee;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations())
      if (std::string text = describeLocation(inner); !text.empty())
        return text;
    return "";
  }
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::sys::path::filename(file.getFilename().getValue())
                                   << ":" << file.getLine() << ":" << file.getColumn();
    return text;
  }
  return "";
}

FailureOr<std::vector<EntryLayout>> mlir::fovea::describeEntries(ModuleOp module) {
  std::vector<EntryLayout> layouts;
  for (auto program : module.getOps<ProgramOp>()) {
    EntryLayout layout{program.getEntry().str(),
                       program.getSignature(),
                       static_cast<int64_t>(program.getLocals()),
                       static_cast<int64_t>(program.getMaxPositions()),
                       {}};
    for (auto [kernel, place] : llvm::zip(program.getKernels().getAsValueRange<StringAttr>(),
                                          program.getPlaces().getAsValueRange<StringAttr>())) {
      EntryStep step{kernel.str(), place.str()};
      if (ArrayRef<int64_t> costs = program.getCosts(); !costs.empty()) {
        step.flops = costs[2 * layout.steps.size()];
        step.bytes = costs[2 * layout.steps.size() + 1];
      }
      layout.steps.push_back(std::move(step));
    }
    layouts.push_back(std::move(layout));
  }
  for (auto entry : module.getOps<func::FuncOp>()) {
    if (!entry->hasAttr(FoveaDialect::kEntryAttr))
      continue;
    auto signature = entry->getAttrOfType<SignatureAttr>(FoveaDialect::kSignatureAttr);
    if (!signature)
      return entry.emitOpError("expects a fovea.signature: is this the kernels stage?"), failure();
    FailureOr<EntryPlan> plan = EntryPlan::get(entry);
    if (failed(plan))
      return failure();
    EntryLayout layout;
    layout.name = entry.getName().str();
    layout.signature = signature;
    layout.localsCount = plan->count;
    if (auto most = entry->getAttrOfType<IntegerAttr>(FoveaDialect::kMaxPositionsAttr))
      layout.maxPositions = most.getInt();
    for (auto [launch, cost] : llvm::zip(plan->launches, plan->costs))
      layout.steps.push_back(
          {launch.getKernel().str(), describeLocation(launch.getLoc()), cost[0], cost[1]});
    layouts.push_back(std::move(layout));
  }
  return layouts;
}
