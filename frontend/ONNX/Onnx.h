// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the `import` stage of an ONNX model (docs/rationale/frontends.md).
#ifndef FOVEA_FRONTEND_ONNX_ONNX_H
#define FOVEA_FRONTEND_ONNX_ONNX_H

#include "artifact/FileView.h"
#include "frontend/Problem.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::fovea {

/// Reads the .onnx file `path` into a module with one entry, `@forward`, whose arguments and
/// results have the model's names. Null after errors: everything that is not supported is among the
/// problems, each node at most once.
OwningOpRef<ModuleOp> importOnnx(MLIRContext &context, const std::string &path,
                                 ::fovea::Problems &problems, ::fovea::artifact::FileAccess access);

/// `model` itself if it is a .onnx file, or the model.onnx of a folder without a checkpoint's
/// weights (as optimum writes it, beside what Neighbours.h reads); else empty.
std::string findOnnxFile(const std::string &model);

/// The files that an encoder-decoder was exported to.
struct OnnxParts {
  std::string encoder; ///< encoder_model.onnx
  std::string first;   ///< decoder_model.onnx: the first token, from the encoder's states
  std::string next;    ///< decoder_with_past_model.onnx
};

/// The files of that name in a folder, if encoder_model.onnx is there and no weights of a
/// checkpoint are.
std::optional<OnnxParts> findOnnxParts(const std::string &folder);

/// The graphs that `model` is made of by either way; none if it is something else.
std::vector<std::string> listOnnxFiles(const std::string &model);

/// Reads them into one module, with the entries `encode` and `decode` or `prefill`, of caches.
OwningOpRef<ModuleOp> importOnnxParts(MLIRContext &context, const OnnxParts &parts,
                                      ::fovea::Problems &problems,
                                      ::fovea::artifact::FileAccess access);

} // namespace mlir::fovea

#endif // FOVEA_FRONTEND_ONNX_ONNX_H
