// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GGUF format, versions 2 and 3, little endian, read from a file that is mapped or copied:
//
//   4 bytes    "GGUF"
//   u32        the version
//   u64 u64    the numbers of tensors and of keys
//   keys       each a string, a u32 with the type of its value, the value; a string is a u64 with
//              its bytes' number and the bytes, an array a u32 with the type of its elements, a u64
//              with their number, and these
//   tensors    each a string, a u32 with the number of its sizes, these as u64 from the innermost
//              axis on, a u32 with the type, a u64 with the offset from the beginning of the data
//   data       from the next multiple of the alignment on (general.alignment, else 32); each tensor
//              begins at the multiple behind the one before
//
// A file that departs from this in anything is refused.
// https://github.com/ggml-org/ggml, "GGUF".
#ifndef FOVEA_FRONTEND_GGUF_GGUFFILE_H
#define FOVEA_FRONTEND_GGUF_GGUFFILE_H

#include "artifact/FileView.h"
#include "frontend/Json.h"
#include "frontend/StoredTensor.h"
#include "frontend/WeightTable.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// Types of values, by the format's numbers.
enum class GgufType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};

/// A key and where its value lies, which has been walked through once.
struct GgufKey {
  std::string_view name;
  GgufType type = GgufType::U8;
  const uint8_t *value = nullptr; ///< Behind the type.
};

/// Whether a file of this name is taken for one.
bool isGgufFile(std::string_view path);

/// One open file. Moving it keeps pointers to its data valid.
class GgufFile final : public TensorSource {
public:
  /// Opens `folder`/`file`; `file` becomes the tensors' `StoredTensor::file`.
  static std::optional<GgufFile> open(const std::string &folder, const std::string &file,
                                      Problems &problems,
                                      artifact::FileAccess access = artifact::FileAccess::Mapped);

  const std::string &name() const override { return path; }
  std::string pathOf(const StoredTensor &) const override { return path; }
  std::vector<const StoredTensor *> list() const override;
  const StoredTensor *find(std::string_view name) const override;
  const uint8_t *data(const StoredTensor &tensor) const override {
    return view->data() + tensor.offset;
  }
  /// Gives the memory of a tensor back, where the file still has its bytes.
  void drop(const StoredTensor &tensor) const { view->drop(data(tensor), tensor.bytes); }

  /// The keys that begin with `section` and a dot, without these, with their values, as an object.
  /// Texts are as they are stored.
  JsonValue section(std::string_view section) const;

private:
  friend class GgufReader;

  std::string path;
  std::shared_ptr<artifact::FileView> view;
  std::vector<GgufKey> keys;         ///< Sorted by name.
  std::vector<StoredTensor> content; ///< In the order of the data.
  TensorIndex byName;                ///< Of `content`.
};

} // namespace fovea

#endif // FOVEA_FRONTEND_GGUF_GGUFFILE_H
