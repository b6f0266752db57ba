// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Post-processors of tokenizer.json, all brought into the form of a template.
#include "frontend/tokenizer/TableWriter.h"

using namespace fovea;
using namespace fovea::tables;

namespace {
class TemplateReader {
public:
  TemplateReader(TableWriter &writer, int64_t size) : writer(writer), size(size) {}

  /// Reads a post-processor, or each of a Sequence.
  void read(const JsonValue &value, const std::string &path) {
    JsonObject processor(value, writer.file, path, writer.problems);
    std::string type = processor.string("type").value_or("");
    if (type == "Sequence") {
      if (const JsonValue *list = processor.array("processors"))
        for (size_t i = 0; i < list->elements().size(); ++i)
          read(list->elements()[i],
               processor.placeOf("processors") + "[" + std::to_string(i) + "]");
    } else if (type == "ByteLevel") { // changes offsets only
      processor.ignore({"add_prefix_space", "trim_offsets", "use_regex"});
    } else if (type == "TemplateProcessing" || type == "BertProcessing" ||
               type == "RobertaProcessing") {
      if (found)
        processor.reject("type", "one post-processor that adds tokens");
      found = true;
      if (type == "TemplateProcessing")
        readTemplate(processor);
      else
        readClassic(processor, type == "RobertaProcessing");
    } else if (processor.has("type")) {
      processor.reject("type", "one of 'TemplateProcessing', 'BertProcessing', "
                               "'RobertaProcessing', 'ByteLevel', 'Sequence'");
    }
    processor.reportUnread("is an option that is not understood");
  }

  Templates finish() {
    if (!found) {
      addSequence(result.single, 0, 0);
      addSequence(result.pair, 0, 0);
      addSequence(result.pair, 1, 1);
    }
    return std::move(result);
  }

private:
  using Pieces = TableOffsets<Piece>;

  void addSequence(Pieces &pieces, int sequence, int32_t typeId) {
    pieces.push_back(CreatePiece(writer.builder, static_cast<int8_t>(sequence), 0, typeId));
  }
  void addTokens(Pieces &pieces, const std::vector<int32_t> &ids, int32_t typeId) {
    pieces.push_back(CreatePieceDirect(writer.builder, -1, &ids, typeId));
  }

  bool checkId(const JsonValue &id, const std::string &place) {
    if (id.isInteger() && id.integer() >= 0 && id.integer() < size)
      return true;
    addError(writer.problems, writer.file, place,
             "expects a token id from 0 to " + std::to_string(size - 1) + ", got " + id.describe());
    return false;
  }

  /// `["[CLS]", 101]`.
  std::vector<int32_t> readToken(JsonObject &processor, const char *key) {
    const JsonValue *value = processor.array(key);
    if (!value)
      return {};
    if (value->elements().size() != 2 || !value->elements()[0].isString()) {
      processor.reject(key, "a token's text and id");
      return {};
    }
    if (!checkId(value->elements()[1], processor.placeOf(key) + "[1]"))
      return {};
    return {static_cast<int32_t>(value->elements()[1].integer())};
  }

  /// [CLS] A [SEP], [CLS] A [SEP] B [SEP]; RoBERTa: <s> A </s>, <s> A </s> </s> B
  /// </s> and a single type.
  void readClassic(JsonObject &processor, bool roberta) {
    std::vector<int32_t> begin = readToken(processor, "cls"), end = readToken(processor, "sep");
    if (roberta)
      processor.ignore({"trim_offsets", "add_prefix_space"});
    for (Pieces *pieces : {&result.single, &result.pair}) {
      addTokens(*pieces, begin, 0);
      addSequence(*pieces, 0, 0);
      addTokens(*pieces, end, 0);
    }
    if (roberta)
      addTokens(result.pair, end, 0);
    addSequence(result.pair, 1, roberta ? 0 : 1);
    addTokens(result.pair, end, roberta ? 0 : 1);
  }

  void readTemplate(JsonObject &processor) {
    std::optional<JsonObject> special = processor.member("special_tokens");
    readPieces(processor, special, "single", result.single);
    readPieces(processor, special, "pair", result.pair);
  }

  void readPieces(JsonObject &processor, std::optional<JsonObject> &special, const char *key,
                  Pieces &pieces) {
    const JsonValue *list = processor.array(key);
    for (size_t i = 0; list && i < list->elements().size(); ++i) {
      std::string place = processor.placeOf(key) + "[" + std::to_string(i) + "]";
      JsonObject piece(list->elements()[i], writer.file, place, writer.problems);
      if (!piece.valid())
        continue;
      bool isToken = piece.has("SpecialToken");
      std::optional<JsonObject> content = piece.member(isToken ? "SpecialToken" : "Sequence");
      piece.reportUnread("is no part of a template");
      if (!content)
        continue;
      std::optional<std::string> id = content->string("id");
      auto typeId = static_cast<int32_t>(content->integer("type_id", 0, INT32_MAX).value_or(0));
      if (!id)
        continue;
      if (isToken) {
        addTokens(pieces, idsOf(special, *id, content->placeOf("id")), typeId);
      } else if (*id == "A" || (*id == "B" && std::string_view(key) == "pair")) {
        addSequence(pieces, *id == "A" ? 0 : 1, typeId);
      } else {
        content->reject("id", std::string_view(key) == "pair" ? "'A' or 'B'" : "'A'");
      }
    }
  }

  std::vector<int32_t> idsOf(std::optional<JsonObject> &special, const std::string &token,
                             const std::string &place) {
    std::vector<int32_t> ids;
    if (!special || !special->has(token)) {
      addError(writer.problems, writer.file, place,
               "expects a token of 'special_tokens', got " + quote(token));
      return ids;
    }
    std::optional<JsonObject> entry = special->member(token);
    const JsonValue *list = entry ? entry->array("ids") : nullptr;
    for (size_t i = 0; list && i < list->elements().size(); ++i)
      if (checkId(list->elements()[i], entry->placeOf("ids") + "[" + std::to_string(i) + "]"))
        ids.push_back(static_cast<int32_t>(list->elements()[i].integer()));
    return ids;
  }

  TableWriter &writer;
  int64_t size;
  Templates result;
  bool found = false;
};
} // namespace

Templates fovea::writeTemplates(TableWriter &writer, const JsonValue *value, int64_t size) {
  TemplateReader reader(writer, size);
  if (value)
    reader.read(*value, "post_processor");
  return reader.finish();
}
