// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a tokenizer's tables, each read from its part of tokenizer.json
// and written into one FlatBuffer. All functions add problems and go on, so
// that one run names everything that is wrong; their results mean nothing once
// there is an error.
#ifndef FOVEA_FRONTEND_TOKENIZER_TABLEWRITER_H
#define FOVEA_FRONTEND_TOKENIZER_TABLEWRITER_H

#include "artifact/Tokenizer_generated.h"
#include "frontend/Json.h"

#include <map>
#include <string>
#include <vector>

namespace fovea {

template <typename T> using TableOffsets = std::vector<flatbuffers::Offset<T>>;

/// Where tables go to and problems are reported.
struct TableWriter {
  flatbuffers::FlatBufferBuilder builder;
  Problems &problems;
  std::string file;
};

/// `value` is null or a component; a Sequence becomes its members.
TableOffsets<tables::Normalizer> writeNormalizers(TableWriter &writer, const JsonValue *value);
TableOffsets<tables::PreTokenizer> writePreTokenizers(TableWriter &writer, const JsonValue *value);
TableOffsets<tables::Decoder> writeDecoders(TableWriter &writer, const JsonValue *value);

/// The pieces that surround one sequence, or two.
struct Templates {
  TableOffsets<tables::Piece> single, pair;
};
/// Ids in templates must lie below `size`.
Templates writeTemplates(TableWriter &writer, const JsonValue *value, int64_t size);

/// A model and its tokens by text.
struct WrittenModel {
  flatbuffers::Offset<tables::Model> table;
  std::map<std::string, int32_t, std::less<>> vocabulary;
};
WrittenModel writeModel(TableWriter &writer, const JsonValue &value);

/// A string, or an empty one for null.
inline std::string textOrEmpty(JsonObject &object, std::string_view key) {
  return object.string(key, std::string());
}

} // namespace fovea

#endif // FOVEA_FRONTEND_TOKENIZER_TABLEWRITER_H
