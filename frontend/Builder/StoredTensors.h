// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where `#fovea.stored` leaves get their bytes: safetensors and GGUF files below the model's
// folder, and .onnx files there with the external data they name, opened when first asked for;
// tables of formulas, computed then. Refuses a file name that leaves the folder, and a tensor whose
// type is not what the IR says.
#ifndef FOVEA_FRONTEND_BUILDER_STOREDTENSORS_H
#define FOVEA_FRONTEND_BUILDER_STOREDTENSORS_H

#include "frontend/GGUF/GgufFile.h"
#include "frontend/HuggingFace/Safetensors.h"
#include "frontend/ONNX/Reader/OnnxFile.h"
#include "weights/Evaluate.h"

#include <map>
#include <mutex>
#include <string>

namespace mlir::fovea {

/// May be read from several threads.
class StoredTensors final : public RecipeSource {
public:
  explicit StoredTensors(std::string folder, ::fovea::artifact::FileAccess access =
                                                 ::fovea::artifact::FileAccess::Mapped)
      : folder(std::move(folder)), access(access) {}

  /// Bytes of a file that is in memory alone, whatever its folder holds; they must stay valid.
  void add(StringRef file, StringRef tensor, ArrayRef<char> bytes) {
    inMemory[{file.str(), tensor.str()}] = bytes;
  }

  FailureOr<ArrayRef<char>> read(StoredAttr tensor) override;
  /// Drops pages that are mapped; the file still has them.
  void release(StoredAttr tensor) override;

private:
  FailureOr<ArrayRef<char>> readOnnx(StoredAttr tensor);
  /// Of a file that knows its tensors' types as safetensors does.
  template <typename File>
  FailureOr<ArrayRef<char>> readFrom(std::map<std::string, std::optional<File>> &opened,
                                     StoredAttr tensor);
  FailureOr<ArrayRef<char>> readTable(StoredAttr table);

  const std::string folder;
  const ::fovea::artifact::FileAccess access;
  std::mutex mutex;
  /// By file name; without a value if it could not be opened, which is reported once.
  std::map<std::string, std::optional<::fovea::Safetensors>> files;
  std::map<std::string, std::optional<::fovea::GgufFile>> ggufFiles;
  std::map<std::string, std::optional<::fovea::onnx::OnnxFile>> onnxFiles;
  std::map<std::pair<std::string, std::string>, ArrayRef<char>> inMemory;
  /// Without a value if it could not be computed. Elements stay where they are while it grows.
  llvm::DenseMap<StoredAttr, std::optional<std::vector<float>>> tables;
};

} // namespace mlir::fovea

#endif // FOVEA_FRONTEND_BUILDER_STOREDTENSORS_H
