// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the `import` stage of an ONNX model (docs/rationale/frontends.md).
#ifndef FOVEA_FRONTEND_ONNX_ONNX_H
#define FOVEA_FRONTEND_ONNX_ONNX_H

#include "artifact/FileView.h"
#include "frontend/Problem.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace mlir::fovea {

/// Reads the .onnx file `path` into a module with one entry, `@forward`, whose arguments and
/// results have the model's names. Null after errors: everything that is not supported is among the
/// problems, each node at most once.
OwningOpRef<ModuleOp> importOnnx(MLIRContext &context, const std::string &path,
                                 ::fovea::Problems &problems, ::fovea::artifact::FileAccess access);

} // namespace mlir::fovea

#endif // FOVEA_FRONTEND_ONNX_ONNX_H
