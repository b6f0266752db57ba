// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The safetensors format, read from a file that is mapped or copied into memory:
//
//   u64 little endian   n, size of the header in bytes, at most 100 MB
//   n bytes             JSON object, beginning with '{', padded with spaces:
//                         "__metadata__": {string: string}     (optional)
//                         NAME: {"dtype": "F32", "shape": [2, 3],
//                                "data_offsets": [begin, end]}
//   the rest            the data; offsets count from its beginning
//
// The tensors must tile the data: no overlap, no hole, no byte behind the last.
// A file that departs from this in anything is refused with every fault named.
// https://github.com/huggingface/safetensors, "Format".
#ifndef FOVEA_FRONTEND_HUGGINGFACE_SAFETENSORS_H
#define FOVEA_FRONTEND_HUGGINGFACE_SAFETENSORS_H

#include "artifact/FileView.h"
#include "frontend/Problem.h"
#include "frontend/StoredTensor.h"
#include "frontend/WeightTable.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// One open safetensors file. Moving it keeps pointers to its data valid.
class Safetensors {
public:
  /// Opens `folder`/`file`; `file` becomes the tensors' `StoredTensor::file`.
  static std::optional<Safetensors>
  open(const std::string &folder, const std::string &file, Problems &problems,
       artifact::FileAccess access = artifact::FileAccess::Mapped);

  /// In the order of the data.
  const std::vector<StoredTensor> &tensors() const { return content; }
  /// Null if there is none of this name. O(log n).
  const StoredTensor *find(std::string_view name) const;
  /// The bytes of a tensor of this file; valid as long as this object.
  const uint8_t *data(const StoredTensor &tensor) const;
  /// Gives the memory of a tensor back, where the file still has its bytes.
  void drop(const StoredTensor &tensor) const { view->drop(data(tensor), tensor.bytes); }

private:
  bool readHeader(const std::string &path, const std::string &file, Problems &problems);

  std::shared_ptr<artifact::FileView> view;
  std::vector<StoredTensor> content;
  TensorIndex byName; ///< Of `content`.
};

/// All tensors of a model: `model.safetensors`, or the shards that
/// `model.safetensors.index.json` names.
class Checkpoint final : public TensorSource {
public:
  /// Reads `folder`/`subfolder`; files are named relative to `folder`.
  static std::optional<Checkpoint> open(const std::string &folder, const std::string &subfolder,
                                        Problems &problems,
                                        artifact::FileAccess access = artifact::FileAccess::Mapped);

  const std::string &name() const override { return path; }
  std::string pathOf(const StoredTensor &tensor) const override { return root + "/" + tensor.file; }
  std::vector<const StoredTensor *> list() const override;
  const StoredTensor *find(std::string_view name) const override;
  const uint8_t *data(const StoredTensor &tensor) const override;

private:
  bool openShards(const std::string &folder, const std::string &subfolder, Problems &problems,
                  artifact::FileAccess access);

  std::string root, path;
  std::vector<Safetensors> shards;
};

/// True if `path`, relative to a model's folder, stays below it and names
/// something: no absolute path, no "..", no empty part. (A symbolic link may
/// lead out: download caches are made of them.)
bool isPathBelowFolder(std::string_view path);

/// What a folder holds in place of what is missing, for messages: "only NAME, a pickle, ...", or ""
/// if it is nothing known.
std::string describeInstead(const std::string &folder);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_SAFETENSORS_H
