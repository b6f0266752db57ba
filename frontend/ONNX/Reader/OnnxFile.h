// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the bytes of an ONNX file's tensors lie: a walk over protobuf's wire format (tags, varints,
// lengths) that notes places instead of copying, so that weights are mapped, never held twice. The
// tensors are the main graph's initialisers by their names, and its `Constant` nodes by their
// results' names. A tensor whose elements are packed varints has no place.
#ifndef FOVEA_FRONTEND_ONNX_READER_ONNXFILE_H
#define FOVEA_FRONTEND_ONNX_READER_ONNXFILE_H

#include "frontend/ONNX/Reader/ExternalData.h"
#include "frontend/ONNX/Reader/Model.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fovea::onnx {

/// A tensor in the wire format.
struct TensorPlace {
  DataType type = DataType::Undefined;
  std::vector<int64_t> shape;
  bool isExternal = false;
  std::string location; ///< Of external data.
  uint64_t offset = 0;  ///< From the beginning of its file.
  std::optional<uint64_t> size;
  std::string fault; ///< Of the entries of external data: why they say nothing.
};

/// Notes the places of all tensors of a model. False if the bytes are no protobuf message; `fault`
/// is then the byte that does not fit.
bool indexTensors(const uint8_t *bytes, size_t size, std::map<std::string, TensorPlace> &places,
                  uint64_t &fault);

/// For a message: what is there where a model is expected, whose bytes do not fit from `fault` on.
std::string describeNoModel(const FileView &file, uint64_t fault);

/// An ONNX file as a store of tensors. Moving it keeps pointers to its data valid.
class OnnxFile {
public:
  static std::optional<OnnxFile> open(const std::string &path, Problems &problems,
                                      FileAccess access = FileAccess::Mapped);

  /// Null if there is no tensor of this name.
  const TensorPlace *find(const std::string &name) const;
  /// The files of external data, each once.
  std::vector<std::string> locations() const;
  /// The bytes of a tensor that `find` returned, exactly as many as its type and shape say; null
  /// after an error.
  const uint8_t *data(const TensorPlace &place, std::string &error);

private:
  std::string path;
  FileAccess access = FileAccess::Mapped;
  std::unique_ptr<FileView> file;
  std::map<std::string, TensorPlace> places;
  std::map<std::string, std::unique_ptr<FileView>> externals;
};

} // namespace fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_READER_ONNXFILE_H
