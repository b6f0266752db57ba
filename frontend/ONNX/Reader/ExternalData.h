// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that hold tensors of an ONNX model. External data names files, and a model is not
// trusted with that: such a file must be a regular one below the model's own folder, reached
// without "..", not through a link that leads out, and with one name only.
#ifndef FOVEA_FRONTEND_ONNX_READER_EXTERNALDATA_H
#define FOVEA_FRONTEND_ONNX_READER_EXTERNALDATA_H

#include "artifact/FileView.h"
#include "frontend/Problem.h"

#include <memory>
#include <string>

namespace fovea::onnx {

using artifact::FileAccess;
using artifact::FileView;

/// Any regular file that the user named. Null, and `error` says why.
std::unique_ptr<FileView> openFile(const std::string &path, FileAccess access, std::string &error);

/// Opens what a tensor of the model `modelPath` calls `location`. The one case in which a link may
/// lead out of the folder is a Hugging Face cache: the model was named as
/// `CACHE/snapshots/REVISION/...`, is itself a link, and both lead into `CACHE/blobs`.
std::unique_ptr<FileView> openExternal(const std::string &modelPath, const std::string &location,
                                       FileAccess access, std::string &error);

} // namespace fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_READER_EXTERNALDATA_H
