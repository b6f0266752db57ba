// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a tokenizer's tables, each read from its part of tokenizer.json
// and written into one FlatBuffer. All functions add problems and go on, so
// that one run names everything that is wrong; their results mean nothing once
// there is an error.
#ifndef FOVEA_FRONTEND_TOKENIZER_TABLEWRITER_H
#define FOVEA_FRONTEND_TOKENIZER_TABLEWRITER_H

#include "artifact/FileView.h"
#include "artifact/Tokenizer_generated.h"
#include "frontend/Json.h"

#include <functional>
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

/// Calls `read` for `value`, a component of any kind, or for the members of a
/// Sequence in order; these stand under `members`.
void readComponents(TableWriter &writer, const JsonValue &value, const std::string &path,
                    const char *members, const std::function<void(JsonObject &)> &read);
/// `{"String": ...}` or `{"Regex": ...}` under "pattern".
flatbuffers::Offset<tables::Pattern> readPattern(TableWriter &writer, JsonObject &component);
/// A string of exactly one character.
std::string readCharacter(JsonObject &component, std::string_view key);
/// Also the old way of writing it, `add_prefix_space`.
tables::PrependScheme readPrependScheme(JsonObject &component);
/// One of several names, `fallback` if the key is missing; the first of them after a problem.
template <typename Enum, size_t N>
Enum readChoice(JsonObject &component, std::string_view key,
                const std::pair<const char *, Enum> (&choices)[N], const char *fallback = nullptr) {
  std::optional<std::string> name = fallback && !component.has(key)
                                        ? std::optional<std::string>(fallback)
                                        : component.string(key);
  std::string expected;
  for (auto [text, choice] : choices) {
    if (name && *name == text)
      return choice;
    expected += std::string(expected.empty() ? "" : ", ") + "'" + text + "'";
  }
  if (name)
    component.reject(key, "one of " + expected);
  return choices[0].second;
}

/// The tables of a component, or of all of a sequence, by `read`; none if there is no value.
template <typename T>
TableOffsets<T> writeComponents(TableWriter &writer, const JsonValue *value,
                                const std::string &path, const char *members,
                                flatbuffers::Offset<T> (*read)(TableWriter &, JsonObject &)) {
  TableOffsets<T> result;
  if (value)
    readComponents(writer, *value, path, members,
                   [&](JsonObject &component) { result.push_back(read(writer, component)); });
  return result;
}

/// The pieces that surround one sequence, or two.
struct Templates {
  TableOffsets<tables::Piece> single, pair;
};
/// Ids in templates must lie below `size`.
Templates writeTemplates(TableWriter &writer, const JsonValue *value, int64_t size);

/// Tokens by their text.
using TokenIds = std::map<std::string, int32_t, std::less<>>;
/// One past the largest id.
size_t sizeOf(const TokenIds &vocabulary);

/// A model and its tokens; their number counts a text given twice twice.
struct WrittenModel {
  flatbuffers::Offset<tables::Model> table;
  TokenIds vocabulary;
  size_t count = 0;
};
/// `place` is where the model stands in its file.
WrittenModel writeModel(TableWriter &writer, const JsonValue &value,
                        const std::string &place = "model");

/// The `vocab` of a model.
TokenIds readVocabulary(TableWriter &writer, JsonObject &model);
/// Ids by text; `table` is the same value.
TokenIds readTokenIds(TableWriter &writer, const JsonValue &value, JsonObject &table);
flatbuffers::Offset<tables::Vocabulary> writeVocabulary(TableWriter &writer,
                                                        const TokenIds &vocabulary);
/// The same where `texts`, by id, has a text twice: `vocabulary` says which of them it is found as.
flatbuffers::Offset<tables::Vocabulary> writeVocabulary(TableWriter &writer,
                                                        const TokenIds &vocabulary,
                                                        const std::vector<std::string_view> &texts);

/// Pieces by their text; none is empty.
using PieceTexts = std::vector<std::pair<std::string_view, int32_t>>;
/// A trie of `pieces`, of which no two are the same; `key` is where they come from.
flatbuffers::Offset<tables::PieceTrie> writeTrie(TableWriter &writer, PieceTexts pieces,
                                                 const std::string &key);
/// A `precompiled_charsmap`, in SentencePiece's layout, that is checked; `key` is its place.
flatbuffers::Offset<tables::CharacterMap>
writeCharacterMap(TableWriter &writer, std::string_view blob, const std::string &key);

/// The merges of each left token in order; `rows` says where its merges begin.
struct Merges {
  std::vector<uint32_t> rows;
  std::vector<tables::Merge> merges;
};
/// A right token that goes on with a word begins with `prefixSize` bytes that the result lacks.
Merges readMerges(TableWriter &writer, JsonObject &model, const TokenIds &vocabulary,
                  size_t prefixSize);

/// Adds the ids of added tokens to `addedIds`.
TableOffsets<tables::AddedToken> writeAddedTokens(TableWriter &writer, JsonObject &root,
                                                  const WrittenModel &model, TokenIds &addedIds);

/// What tokenizer_config.json and special_tokens_map.json say; -1 if they do not.
struct TokenizerSettings {
  int32_t beginToken = -1, endToken = -1, unknownToken = -1, padToken = -1;
  int64_t maxLength = -1;
};
/// They do not change ids; where the framework would let them, a contradiction to `root`, which is
/// tokenizer.json if there is one, is an error.
TokenizerSettings readSettings(TableWriter &writer, JsonObject *root, const TokenIds &vocabulary,
                               const TokenIds &addedIds);

/// Chat templates, and the tokens that they know by name.
struct ChatTables {
  TableOffsets<tables::ChatTemplate> templates;
  TableOffsets<tables::NamedToken> tokens;
};
/// Those beside tokenizer.json. What is wrong with a template is a note: only chat needs it.
ChatTables writeChatTables(TableWriter &writer);
/// Adds one, of which `file` is the name in the artifact, and `place` where it stands in `path`.
void addChatTemplate(TableWriter &writer, ChatTables &chat, const std::string &name,
                     const std::string &text, const std::string &path, const std::string &file,
                     const std::string &place);

/// All that a tokenizer's tables are made of.
struct TokenizerParts {
  TableOffsets<tables::Normalizer> normalizers;
  TableOffsets<tables::AddedToken> added;
  TableOffsets<tables::PreTokenizer> preTokenizers;
  flatbuffers::Offset<tables::Model> model;
  Templates templates;
  TableOffsets<tables::Decoder> decoders;
  flatbuffers::Offset<tables::Truncation> truncation;
  TokenizerSettings settings;
  bool hasLanguageCodes = false;
  std::optional<ChatTables> chat; ///< In place of what stands beside the file.
};
/// Ends the tables, and opens them with the runtime's own interpreter.
void finishTables(TableWriter &writer, const TokenizerParts &parts, std::vector<uint8_t> &result);

/// Compiles `writer.file`, a model of SentencePiece's own.
void compileSentencePiece(TableWriter &writer, std::vector<uint8_t> &result);

/// Compiles the vocabulary of `writer.file`, a GGUF file.
void compileGguf(TableWriter &writer, artifact::FileAccess access, std::vector<uint8_t> &result);

/// A string, or an empty one for null.
inline std::string textOrEmpty(JsonObject &object, std::string_view key) {
  return object.string(key, std::string());
}

} // namespace fovea

#endif // FOVEA_FRONTEND_TOKENIZER_TABLEWRITER_H
