// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locations as messages and reports name them.
#include "dialects/Fovea/Locations.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fovea;

std::string mlir::fovea::placeOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    std::string text;
    llvm::raw_string_ostream(text)
        << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn();
    return text;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string text = placeOf(part); !text.empty())
        return text;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return placeOf(call.getCallee());
  return "";
}
