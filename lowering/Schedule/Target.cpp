// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Levels of instructions: their names, and which one a processor has.
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::fovea;

StringRef mlir::fovea::getTargetLevel(ArrayRef<std::string> features) {
  llvm::StringSet<> present;
  present.insert_range(features);
  for (const Level &level : getLevels())
    if (llvm::all_of(level.features, [&](StringRef name) { return present.contains(name); }))
      return level.name;
  llvm_unreachable("the last level has no needs");
}

bool mlir::fovea::multipliesHalves(ArrayRef<std::string> features, StringRef name) {
  StringRef level = getTargetLevel(features);
  return level == "amx" || level == "aarch64-i8mm" ||
         (level == "avx512bf16" && name.starts_with("znver"));
}

bool mlir::fovea::multipliesBytes(ArrayRef<std::string> features) {
  return findLevel(getTargetLevel(features))->multipliesBytes;
}

StringRef mlir::fovea::getHostLevel() {
  std::vector<std::string> features;
  for (const auto &[feature, present] : llvm::sys::getHostCPUFeatures())
    if (present)
      features.push_back(feature.str());
  return getTargetLevel(features);
}

FailureOr<TargetAttr> mlir::fovea::getLevelTarget(StringRef name, Location loc) {
  if (const Level *level = findLevel(name))
    return TargetAttr::get(loc.getContext(), level->name, level->lanes, level->registers);
  InFlightDiagnostic error = emitError(loc) << "expects a target level of ";
  for (ArrayRef<Level> levels : {getLevels(), getDeviceLevels()})
    for (const Level &level : levels)
      error << level.name << (&level == &getDeviceLevels().back() ? "" : ", ");
  return error << ", got '" << name << "'";
}
