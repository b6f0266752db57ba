// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX files: the model, the index of its tensors, and their bytes, here and in a file beside it.
#include "frontend/ONNX/Reader/Model.h"
#include "frontend/ONNX/Reader/OnnxFile.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/WireTree.h"
#include "test/fuzz/support/Words.h"

using namespace fovea;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateWire(data, size, most, seed, fuzz::onnxWords());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::Folder folder;
  static const bool once = (folder.write("m.data", std::string(256, 'd')), true);
  (void)once;
  folder.write("m.onnx", {reinterpret_cast<const char *>(data), size});
  std::string path = folder.file("m.onnx"), error;
  Problems problems;
  std::optional<onnx::Model> model = onnx::readModel(path, problems);
  fuzz::checkProblems(problems, model.has_value());
  problems.clear();
  std::optional<onnx::OnnxFile> file = onnx::OnnxFile::open(path, problems);
  fuzz::checkProblems(problems, file.has_value());
  if (file)
    (void)file->locations();
  if (!model)
    return 0;
  for (const std::shared_ptr<onnx::Tensor> &tensor : model->graph.initializers) {
    fuzz::touch(tensor->bytes.data(), tensor->bytes.size());
    (void)tensor->count();
    const onnx::TensorPlace *place = file ? file->find(tensor->name) : nullptr;
    const uint8_t *bytes = place ? file->data(*place, error) : nullptr;
    if (bytes && place->type == tensor->type && place->shape == tensor->shape)
      fuzz::touch(bytes, tensor->size);
  }
  return 0;
}
