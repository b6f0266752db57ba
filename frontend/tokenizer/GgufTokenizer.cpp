// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of a GGUF file's vocabulary: brought to the structures that other files of tokenizers
// are compiled from.
#include "frontend/tokenizer/GgufVocabulary.h"
#include "frontend/tokenizer/SentencePieceTokens.h"

#include <cmath>

using namespace fovea;
using namespace fovea::tables;

namespace {
using Type = GgufVocabulary::Type;
constexpr const char *tokensPlace = "tokenizer.ggml.tokens";

/// {"type": TYPE, ...}
JsonValue component(const char *type,
                    const std::vector<std::pair<const char *, JsonValue>> &options = {}) {
  std::vector<std::string> keys = {"type"};
  std::vector<JsonValue> values = {JsonValue::ofString(type)};
  for (const auto &[key, value] : options) {
    keys.emplace_back(key);
    values.push_back(value);
  }
  return JsonValue::ofObject(std::move(keys), std::move(values));
}

JsonValue no() { return JsonValue::ofBool(false); }
JsonValue yes() { return JsonValue::ofBool(true); }

class GgufCompiler {
public:
  GgufCompiler(TableWriter &writer, GgufVocabulary &vocabulary)
      : writer(writer), vocabulary(vocabulary) {}

  /// All but the chat templates; false after a problem.
  bool run(TokenizerParts &parts) {
    if (vocabulary.model == "llama" || vocabulary.model == "t5")
      parts = compilePieces();
    else if (vocabulary.model == "gpt2")
      compileBpe(parts);
    else if (vocabulary.model == "bert")
      compileWords(parts);
    else
      addError(writer.problems, writer.file, "tokenizer.ggml.model",
               "expects one of llama, gpt2, bert, t5, got " + quote(vocabulary.model));
    parts.settings.beginToken = vocabulary.begin;
    parts.settings.endToken = vocabulary.end;
    parts.settings.unknownToken = vocabulary.unknown;
    parts.settings.padToken = vocabulary.pad;
    return !hasErrors(writer.problems);
  }

private:
  TokenizerParts compilePieces() {
    const bool isBpe = vocabulary.model == "llama";
    if (vocabulary.scores.empty()) {
      addError(writer.problems, writer.file, "tokenizer.ggml.scores", "is required, but missing");
      return {};
    }
    SentencePieceFile file;
    file.type = isBpe ? SentencePieceFile::ModelType::Bpe : SentencePieceFile::ModelType::Unigram;
    file.addDummyPrefix = vocabulary.addsSpace.value_or(true);
    file.removeExtraSpaces = vocabulary.removesSpaces.value_or(!isBpe);
    file.characterMap = vocabulary.characterMap;
    bool hasUnknown = false;
    for (Type type : vocabulary.types) {
      file.byteFallback |= type == Type::Byte;
      hasUnknown |= type == Type::Unknown;
    }
    // Converters of tokenizer.json call it a control token.
    if (int32_t id = std::max(vocabulary.unknown, 0); !hasUnknown)
      vocabulary.types[static_cast<size_t>(id)] = Type::Unknown;
    for (size_t i = 0; i < vocabulary.texts.size(); ++i) {
      // What has no text is found nowhere.
      bool isEmpty = vocabulary.texts[i].empty();
      auto score = static_cast<float>(vocabulary.scores[i]);
      if (!std::isfinite(score)) {
        addError(writer.problems, writer.file,
                 std::string(tokensPlace) + "[" + std::to_string(i) + "]",
                 "expects a finite score, got " + printNumber(double(score)));
        return {};
      }
      file.pieces.push_back({isEmpty ? "[EMPTY_" + std::to_string(i) + "]" : vocabulary.texts[i],
                             score, isEmpty ? Type::Unused : vocabulary.types[i]});
    }
    checkPieces(file, writer.file, tokensPlace, writer.problems);
    if (hasErrors(writer.problems))
      return {};
    SentencePieceTokens tokens;
    for (size_t i = 0; i < file.pieces.size(); ++i) {
      const SentencePieceFile::Piece &piece = file.pieces[i];
      tokens.texts.push_back(piece.text);
      if (piece.type == Type::Unknown || piece.type == Type::Control)
        tokens.extra[static_cast<int32_t>(i)].text = piece.text;
    }
    tokens.unknown = file.unknown;
    tokens.dummyPrefix = file.addDummyPrefix ? PrependScheme::Always : PrependScheme::Never;
    tokens.templates = surround(vocabulary.addsBegin.value_or(isBpe) ? vocabulary.begin : -1,
                                vocabulary.addsEnd.value_or(!isBpe) ? vocabulary.end : -1);
    TokenIds ids;
    return writeSentencePiece(writer, file, tokens, ids);
  }

  /// Texts of the model by id; nothing after a problem.
  std::optional<JsonValue> listTexts(const std::vector<std::string> &texts) {
    std::vector<std::string> keys;
    std::vector<JsonValue> ids;
    std::map<std::string_view, size_t> seen;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].empty()) // is no token
        continue;
      if (auto [other, isNew] = seen.emplace(texts[i], i); !isNew) {
        addError(writer.problems, writer.file,
                 std::string(tokensPlace) + "[" + std::to_string(i) + "]",
                 "expects a text of its own, got " + quote(texts[i]) + ", which token " +
                     std::to_string(other->second) + " has");
        return std::nullopt;
      }
      keys.push_back(texts[i]);
      ids.push_back(JsonValue::ofInteger(static_cast<int64_t>(i)));
    }
    return JsonValue::ofObject(std::move(keys), std::move(ids));
  }

  /// The tokens that are found in a text before the model sees it.
  JsonValue listAdded() {
    std::vector<JsonValue> added;
    for (size_t i = 0; i < vocabulary.texts.size(); ++i) {
      Type type = vocabulary.types[i];
      if (type != Type::Control && type != Type::UserDefined && type != Type::Unknown)
        continue;
      added.push_back(JsonValue::ofObject({"id", "content", "special", "normalized"},
                                          {JsonValue::ofInteger(static_cast<int64_t>(i)),
                                           JsonValue::ofString(vocabulary.texts[i]),
                                           JsonValue::ofBool(type != Type::UserDefined), no()}));
    }
    return JsonValue::ofObject({"added_tokens"}, {JsonValue::ofArray(std::move(added))});
  }

  /// The model and the added tokens of `parts`.
  void writeTables(TokenizerParts &parts, const JsonValue &model) {
    WrittenModel written = writeModel(writer, model, "tokenizer.ggml");
    if (written.vocabulary.empty())
      return;
    parts.model = written.table;
    JsonValue added = listAdded();
    JsonObject root(added, writer.file, tokensPlace, writer.problems);
    TokenIds addedIds;
    parts.added = writeAddedTokens(writer, root, written, addedIds);
  }

  void compileBpe(TokenizerParts &parts) {
    const GgufPreTokenizer *pre = findGgufPreTokenizer(writer, vocabulary.pre);
    std::optional<JsonValue> texts = listTexts(vocabulary.texts);
    if (!vocabulary.merges)
      addError(writer.problems, writer.file, "tokenizer.ggml.merges", "is required, but missing");
    if (!pre || !texts || !vocabulary.merges)
      return;
    writeTables(parts,
                component("BPE", {{"vocab", *texts},
                                  {"merges", *vocabulary.merges},
                                  {"ignore_merges", JsonValue::ofBool(pre->ignoresMerges)}}));
    if (pre->composes) {
      JsonValue normalizer = component("NFC");
      parts.normalizers = writeNormalizers(writer, &normalizer);
    }
    std::vector<JsonValue> steps;
    if (pre->splitsDigits)
      steps.push_back(component("Digits", {{"individual_digits", yes()}}));
    for (const char *pattern : pre->patterns)
      steps.push_back(component(
          "Split", {{"pattern", JsonValue::ofObject({"Regex"}, {JsonValue::ofString(pattern)})},
                    {"behavior", JsonValue::ofString("Isolated")},
                    {"invert", no()}}));
    bool addsSpace = vocabulary.addsSpace.value_or(false);
    steps.push_back(component(
        "ByteLevel", {{"add_prefix_space", JsonValue::ofBool(addsSpace)}, {"use_regex", no()}}));
    JsonValue sequence =
        component("Sequence", {{"pretokenizers", JsonValue::ofArray(std::move(steps))}});
    parts.preTokenizers = writePreTokenizers(writer, &sequence);
    JsonValue decoder = component("ByteLevel");
    parts.decoders = writeDecoders(writer, &decoder);
    parts.templates =
        surround(vocabulary.addsBegin.value_or(pre->addsBegin) ? vocabulary.begin : -1,
                 vocabulary.addsEnd.value_or(false) ? vocabulary.end : -1);
  }

  /// WordPiece, whose pieces begin with U+2581 where a word begins, and not with "##" elsewhere.
  void compileWords(TokenizerParts &parts) {
    constexpr std::string_view mark = "\u2581";
    std::vector<std::string> texts = vocabulary.texts;
    for (size_t i = 0; i < texts.size(); ++i) {
      Type type = vocabulary.types[i];
      if (type == Type::Control || type == Type::Unknown || texts[i].empty())
        continue;
      bool begins = texts[i].compare(0, mark.size(), mark) == 0;
      texts[i] = begins ? texts[i].substr(mark.size()) : "##" + texts[i];
    }
    std::optional<JsonValue> list = listTexts(texts);
    auto require = [&](int32_t &id, const char *text) {
      if (id < 0)
        id = vocabulary.find(text);
      if (id < 0)
        addError(writer.problems, writer.file, tokensPlace, std::string("expects a token ") + text);
    };
    require(vocabulary.unknown, "[UNK]");
    require(vocabulary.begin, "[CLS]");
    require(vocabulary.separator, "[SEP]");
    if (!list || hasErrors(writer.problems))
      return;
    vocabulary.texts = std::move(texts);
    const std::string &unknown = vocabulary.texts[static_cast<size_t>(vocabulary.unknown)];
    writeTables(parts,
                component("WordPiece", {{"vocab", *list},
                                        {"unk_token", JsonValue::ofString(unknown)},
                                        {"continuing_subword_prefix", JsonValue::ofString("##")},
                                        {"max_input_chars_per_word", JsonValue::ofInteger(100)}}));
    bool lowers = vocabulary.lowers.value_or(true);
    JsonValue normalizer = component(
        "BertNormalizer",
        {{"clean_text", yes()},
         {"handle_chinese_chars", yes()},
         {"lowercase", JsonValue::ofBool(lowers)},
         {"strip_accents", JsonValue::ofBool(vocabulary.stripsAccents.value_or(lowers))}});
    parts.normalizers = writeNormalizers(writer, &normalizer);
    JsonValue splitter = component("BertPreTokenizer");
    parts.preTokenizers = writePreTokenizers(writer, &splitter);
    JsonValue decoder =
        component("WordPiece", {{"prefix", JsonValue::ofString("##")}, {"cleanup", yes()}});
    parts.decoders = writeDecoders(writer, &decoder);
    parts.templates = surround(vocabulary.addsBegin.value_or(true) ? vocabulary.begin : -1,
                               vocabulary.addsSeparator.value_or(true) ? vocabulary.separator : -1,
                               /*beginsSecond=*/false);
  }

  /// A text, and two of them, with these tokens around each; -1 is none.
  Templates surround(int32_t begin, int32_t end, bool beginsSecond = true) {
    Templates result;
    auto addIds = [&](TableOffsets<Piece> &pieces, int32_t id, int32_t type) {
      std::vector<int32_t> ids = {id};
      if (id >= 0)
        pieces.push_back(CreatePieceDirect(writer.builder, -1, &ids, type));
    };
    auto addText = [&](TableOffsets<Piece> &pieces, int8_t number) {
      pieces.push_back(CreatePiece(writer.builder, number, 0, number));
    };
    for (TableOffsets<Piece> *pieces : {&result.single, &result.pair}) {
      addIds(*pieces, begin, 0);
      addText(*pieces, 0);
      addIds(*pieces, end, 0);
    }
    addIds(result.pair, beginsSecond ? begin : -1, 1);
    addText(result.pair, 1);
    addIds(result.pair, end, 1);
    return result;
  }

  TableWriter &writer;
  GgufVocabulary &vocabulary;
};

/// The templates of the keys, and the tokens that they know by name.
ChatTables readChat(TableWriter &writer, JsonObject &keys, const GgufVocabulary &vocabulary,
                    const JsonValue &values) {
  ChatTables chat;
  std::string file = writer.file.substr(writer.file.rfind('/') + 1);
  constexpr std::string_view key = "chat_template";
  for (size_t i = 0; i < values.keys().size(); ++i) {
    const std::string &name = values.keys()[i];
    bool isNamed =
        name.size() > key.size() + 1 && name.compare(0, key.size() + 1, "chat_template.") == 0;
    if ((name == key || isNamed) && values.elements()[i].isString())
      addChatTemplate(writer, chat, isNamed ? name.substr(key.size() + 1) : "default",
                      values.elements()[i].string(), writer.file, file, keys.placeOf(name));
  }
  for (auto [name, id] :
       {std::pair("bos_token", vocabulary.begin), std::pair("eos_token", vocabulary.end),
        std::pair("unk_token", vocabulary.unknown), std::pair("pad_token", vocabulary.pad)})
    if (id >= 0)
      chat.tokens.push_back(
          CreateNamedToken(writer.builder, writer.builder.CreateString(name),
                           writer.builder.CreateString(vocabulary.texts[static_cast<size_t>(id)])));
  return chat;
}
} // namespace

void fovea::compileGguf(TableWriter &writer, artifact::FileAccess access,
                        std::vector<uint8_t> &result) {
  size_t slash = writer.file.rfind('/');
  std::string folder = slash == std::string::npos ? "." : writer.file.substr(0, slash);
  Problems found;
  std::optional<GgufFile> file =
      GgufFile::open(folder, writer.file.substr(slash + 1), found, access);
  if (!file) { // notes are the model's reader's
    writer.problems.insert(writer.problems.end(), found.begin(), found.end());
    return;
  }
  JsonValue values = file->section("tokenizer");
  JsonObject keys(values, writer.file, "tokenizer", writer.problems);
  std::optional<GgufVocabulary> vocabulary = readGgufVocabulary(writer, keys);
  TokenizerParts parts;
  if (!vocabulary || !GgufCompiler(writer, *vocabulary).run(parts))
    return;
  parts.chat = readChat(writer, keys, *vocabulary, values);
  finishTables(writer, parts, result);
}
