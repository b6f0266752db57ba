// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the op at which compiled code departs from the reference.
#ifndef FOVEA_TOOLS_VERIFY_DEPARTURE_H
#define FOVEA_TOOLS_VERIFY_DEPARTURE_H

#include "mlir/IR/OwningOpRef.h"
#include "tools/verify/Backend.h"
#include "tools/verify/Compare.h"

namespace mlir::fovea::verify {

/// Calls that follow each other on the same caches. The last is the one that matters.
struct Chain {
  struct Step {
    std::string entry;
    std::vector<interpreter::TensorRef> inputs;
  };
  int64_t batch = 1, capacity = 0;
  std::vector<Step> steps;
  bool isScaled = false; ///< numbers for which `exact` is asked, not the reference
};

struct Departure {
  bool found = false;
  std::string op, location; ///< of the first op whose error is beyond the bound
  Difference difference;
};

/// A copy of the module in which the calls of `entry` are inlined.
FailureOr<OwningOpRef<ModuleOp>> inlineCalls(ModuleOp module, StringRef entry);

/// "model.layers.2.mlp.up_proj"; the call's place where a layer function says "layers.*".
std::string describeLocation(Location location);

/// Makes float tensors inside the chain's last entry into further results, a few at a time, runs
/// both sides and narrows down where `bound` is first exceeded. Assumes that an op after a
/// departure departs too. `progress` hears how far it is.
FailureOr<Departure> findDeparture(ModuleOp module, RecipeSource &weights,
                                   const BackendFactory &factory, const Chain &chain, double bound,
                                   function_ref<void(const std::string &)> progress);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_DEPARTURE_H
