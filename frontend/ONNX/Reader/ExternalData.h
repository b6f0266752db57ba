// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that hold tensors of an ONNX model, mapped. External data names files, and a model is not
// trusted with that: such a file must be a regular one below the model's own folder, reached
// without "..", not through a link that leads out, and with one name only.
#ifndef FOVEA_FRONTEND_ONNX_READER_EXTERNALDATA_H
#define FOVEA_FRONTEND_ONNX_READER_EXTERNALDATA_H

#include "frontend/Problem.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace fovea::onnx {

/// A file mapped for reading.
struct MappedFile {
  const uint8_t *bytes = nullptr;
  size_t size = 0;
  MappedFile() = default;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// Any regular file that the user named.
  static std::unique_ptr<MappedFile> open(const std::string &path, std::string &error);
};

/// Opens what a tensor of the model `modelPath` calls `location`. The one case in which a link may
/// lead out of the folder is a Hugging Face cache: the model was named as
/// `CACHE/snapshots/REVISION/...`, is itself a link, and both lead into `CACHE/blobs`.
std::unique_ptr<MappedFile> openExternal(const std::string &modelPath, const std::string &location,
                                         std::string &error);

} // namespace fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_READER_EXTERNALDATA_H
