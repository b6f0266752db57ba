// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of processors, in the order in which the runtime looks for one that it has. Refuses those
// of two families, and two that need the same, of which it would never take the second.
#include "tools/compile/Targets.h"
#include "frontend/Nearest.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "tools/compile/Compile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;
using namespace mlir::fovea;

/// One processor for each level of a family, if there is one that this is the name for.
static std::vector<TargetOptions> getLevelTargets(StringRef name) {
  std::vector<TargetOptions> targets;
  for (const Level &level : getLevels())
    if (name == level.family->portable)
      targets.push_back(getTarget(level));
  return targets;
}

/// All that a target may be called.
static std::vector<std::string> listNames() {
  SmallVector<StringRef> processors;
  llvm::X86::fillValidCPUArchList(processors, /*Only64Bit=*/true);
  llvm::AArch64::fillValidCPUArchList(processors);
  std::vector<std::string> names(processors.begin(), processors.end());
  for (const Level &level : getLevels())
    names.push_back(level.name.str());
  for (const ProcessorFamily *family : getFamilies())
    names.push_back(family->portable.str());
  names.push_back("host");
  return names;
}

static size_t getRank(const TargetOptions &target) {
  return findProcessorLevel(getTargetLevel(getRequiredFeatures(target))) - getLevels().begin();
}

FailureOr<std::vector<TargetOptions>> mlir::fovea::parseTargets(StringRef names,
                                                                std::string &error) {
  std::vector<TargetOptions> targets;
  for (StringRef name : llvm::split(names, ',')) {
    if (std::vector<TargetOptions> levels = getLevelTargets(name); !levels.empty()) {
      llvm::append_range(targets, levels);
      continue;
    }
    if (name.empty()) {
      error = "unknown target '' in '" + names.str() + "', expected names with commas between";
      return failure();
    }
    FailureOr<TargetOptions> target = getTarget(name, error);
    if (failed(target)) {
      error += ::fovea::didYouMean(name.str(), listNames());
      return failure();
    }
    targets.push_back(*target);
  }
  // Weights of all would lie alike, but plans of devices and the loader are of one.
  for (const TargetOptions &target : targets)
    if (target.family != targets.front().family) {
      error = "expects processors of one family, got '" + targets.front().name + "' of " +
              targets.front().family->name.str() + " and '" + target.name + "' of " +
              target.family->name.str();
      return failure();
    }
  // Within a level what needs more first: behind what needs less it would never be taken.
  auto order = [](const TargetOptions &target) {
    return std::make_tuple(getRank(target),
                           -static_cast<int64_t>(getRequiredFeatures(target).size()), target.name);
  };
  llvm::sort(targets, [&](const TargetOptions &left, const TargetOptions &right) {
    return order(left) < order(right);
  });
  for (size_t i = 0; i < targets.size(); ++i)
    for (size_t j = i + 1; j < targets.size(); ++j)
      if (getRequiredFeatures(targets[i]) == getRequiredFeatures(targets[j])) {
        error = "expects processors that differ in what code may use, got '" + targets[i].name +
                "' and '" + targets[j].name + "'";
        return failure();
      }
  return targets;
}

namespace fovea::compile {
std::string getCompilerVersion() { return LLVM_VERSION_STRING; }
std::string getHostName() { return llvm::sys::getHostCPUName().str(); }
} // namespace fovea::compile
