// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stored tensors of a model's folder, as weight recipes read them.
#ifndef FOVEA_FRONTEND_WEIGHTS_STOREDWEIGHTS_H
#define FOVEA_FRONTEND_WEIGHTS_STOREDWEIGHTS_H

#include "dialects/Fovea/FoveaDialect.h"
#include "frontend/HuggingFace/Safetensors.h"
#include <map>

namespace mlir::fovea {

/// Reads `#fovea.stored` from safetensors files below a folder, which are mapped when they are
/// first asked for. Reports an unreadable file, a missing tensor, and one whose type or shape is
/// not the attribute's. May not be used by several threads at once.
class StoredWeights : public RecipeSource {
public:
  explicit StoredWeights(std::string folder) : folder(std::move(folder)) {}
  FailureOr<ArrayRef<char>> read(StoredAttr tensor) override;

private:
  std::string folder;
  /// Nothing for a file that could not be read, which is then reported once only.
  std::map<std::string, std::optional<::fovea::Safetensors>> files;
};

} // namespace mlir::fovea

#endif // FOVEA_FRONTEND_WEIGHTS_STOREDWEIGHTS_H
