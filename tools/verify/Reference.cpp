// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npz members as tensors of the interpreter.
#include "tools/verify/Reference.h"
#include "tools/verbs/Npz.h"
#include "tools/verify/RuntimeBackend.h"

using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

bool mlir::fovea::verify::readReference(const std::string &path, Reference &reference,
                                        std::string &error) {
  std::vector<::fovea::verbs::Array> arrays;
  if (!::fovea::verbs::readNpz(path, arrays, error))
    return false;
  for (::fovea::verbs::Array &array : arrays) {
    fovea_tensor described{};
    described.data = array.data.data();
    described.ndim = static_cast<int32_t>(array.shape.size());
    described.dtype = array.dtype;
    described.shape = array.shape.data();
    auto tensor = std::make_shared<Tensor>();
    if (!decodeTensor(described, *tensor)) {
      error = path + ": " + array.name +
              ": expects floats of 16, 32 or 64 bits or integers of 8, 32 "
              "or 64 bits, got another element type";
      return false;
    }
    reference[array.name] = tensor;
  }
  return true;
}
