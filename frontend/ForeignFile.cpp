// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ForeignFile.h. A table of beginnings; looks at a kilobyte, and opens regular files only.
#include "frontend/ForeignFile.h"
#include "frontend/Json.h"
#include "frontend/Text.h"

#include <unistd.h>

using namespace fovea;

/// A tar archive's mark stands behind its first member's name and rights.
static constexpr size_t tarMark = 257;

static constexpr const char *pickle = "a pickle, a program that loading would run and that is "
                                      "never loaded; save the weights as safetensors";
static constexpr const char *archive =
    "a zip archive, as PyTorch and Keras keep programs in, which "
    "is never loaded; save the weights as safetensors";

/// The header's length, which is less than 2^40, and the brace behind it.
static bool isSafetensors(std::string_view bytes) {
  return bytes.size() > 8 && bytes[8] == '{' && bytes[5] == 0 && bytes[6] == 0 && bytes[7] == 0;
}

/// Protocol 2 or later, whose number comes first.
static bool isPickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

std::string fovea::describeForeign(std::string_view bytes, std::string_view name) {
  static constexpr struct {
    size_t at;
    std::string_view mark;
    const char *what;
  } marks[] = {
      {0, "GGUF", "a GGUF file; give the file itself, under a name that ends in .gguf"},
      {0, std::string_view("PK\x03\x04", 4), archive},
      {0, "\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras keeps programs in, which is never loaded"},
      {4, "TFL3", "a TensorFlow Lite model, which is not read; export it to ONNX"},
      {0, "\x93NUMPY", "an array of NumPy, which is no model"},
      {0,
       "\x89"
       "FOVEA\r\n",
       "an artifact, which is compiled already"},
      {tarMark, "ustar", "a tar archive, which is never unpacked; give the model in it"},
      {0, "7z\xBC\xAF\x27\x1C", "a 7z archive, which is never unpacked"},
      {0, "\x1F\x8B", "compressed data, which is never unpacked"},
      {0, std::string_view("\x78\x9C", 2),
       "compressed data, as of joblib, which is never unpacked"},
  };
  for (const auto &[at, mark, what] : marks)
    if (bytes.size() >= at + mark.size() && bytes.substr(at, mark.size()) == mark)
      return what;
  if (isSafetensors(bytes))
    return "a safetensors file; give the folder that it lies in, with its config.json";
  if (isPickle(bytes))
    return pickle;
  for (const char *end : {".pkl", ".pickle", ".pt", ".pth", ".ckpt", "pytorch_model.bin"})
    if (endsWith(name, end))
      return "a file as PyTorch keeps programs in, which is never loaded; save the weights as "
             "safetensors";
  if (endsWith(name, ".pb"))
    return "a TensorFlow graph, which is not read; export it to ONNX";
  return "";
}

std::string fovea::describeForeignFile(const std::string &path) {
  Problems none;
  std::optional<RegularFile> file = RegularFile::open(path, none);
  if (!file)
    return "";
  char bytes[1024];
  ssize_t count = ::pread(file->descriptor, bytes, sizeof(bytes), 0);
  return describeForeign({bytes, count > 0 ? static_cast<size_t>(count) : 0}, path);
}
