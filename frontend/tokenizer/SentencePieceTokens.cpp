// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schemes of ids, by the tokenizer's class or the model's type, and what they add to pieces.
#include "frontend/tokenizer/SentencePieceTokens.h"

#include "runtime/tokenizer/Utf8.h"

using namespace fovea;
using namespace fovea::tables;

namespace {
using PieceType = SentencePieceFile::PieceType;
enum class Scheme { Llama, T5, XlmRoberta, Marian };

constexpr std::pair<const char *, Scheme> classes[] = {
    {"LlamaTokenizer", Scheme::Llama},
    {"LlamaTokenizerFast", Scheme::Llama},
    {"GemmaTokenizer", Scheme::Llama},
    {"GemmaTokenizerFast", Scheme::Llama},
    {"T5Tokenizer", Scheme::T5},
    {"T5TokenizerFast", Scheme::T5},
    {"XLMRobertaTokenizer", Scheme::XlmRoberta},
    {"XLMRobertaTokenizerFast", Scheme::XlmRoberta}};
constexpr const char *classNames = "one of 'LlamaTokenizer', 'GemmaTokenizer', 'T5Tokenizer', "
                                   "'XLMRobertaTokenizer'";

constexpr std::pair<const char *, Scheme> modelTypes[] = {{"llama", Scheme::Llama},
                                                          {"mistral", Scheme::Llama},
                                                          {"mixtral", Scheme::Llama},
                                                          {"gemma", Scheme::Llama},
                                                          {"gemma2", Scheme::Llama},
                                                          {"t5", Scheme::T5},
                                                          {"mt5", Scheme::T5},
                                                          {"umt5", Scheme::T5},
                                                          {"xlm-roberta", Scheme::XlmRoberta},
                                                          {"xlm-roberta-xl", Scheme::XlmRoberta}};

class TokensReader {
public:
  TokensReader(TableWriter &writer, const SentencePieceFile &file)
      : writer(writer), file(file), folder(writer.file.substr(0, writer.file.rfind('/') + 1)) {}

  SentencePieceTokens run() {
    read("tokenizer_config.json", settingsJson, settings);
    std::optional<Scheme> scheme = findScheme();
    if (!scheme)
      return {};
    if (*scheme == Scheme::Marian)
      numberMarian();
    else if (*scheme == Scheme::XlmRoberta)
      numberXlmRoberta();
    else
      numberPieces();
    if (*scheme == Scheme::T5)
      addSentinels();
    readAddedTokens();
    if (!hasErrors(writer.problems))
      writeTemplates(*scheme);
    choosePrefix();
    return std::move(result);
  }

private:
  std::string name() const { return writer.file.substr(folder.size()); }

  /// A file beside the model, if there is one.
  bool read(const char *name, std::optional<JsonValue> &json, std::optional<JsonObject> &object) {
    if (!exists(folder + name))
      return false;
    json = parseJsonFile(folder + name, writer.problems);
    if (json)
      object.emplace(*json, folder + name, "", writer.problems);
    if (object && !object->valid())
      object.reset();
    return object.has_value();
  }

  std::optional<Scheme> findScheme() {
    bool isMarian = name() == "source.spm";
    if (settings && settings->has("tokenizer_class")) {
      std::string found = settings->string("tokenizer_class", "");
      if (isMarian && found == "MarianTokenizer")
        return Scheme::Marian;
      for (auto [text, scheme] : classes)
        if (!isMarian && found == text)
          return scheme;
      settings->reject("tokenizer_class", isMarian ? "'MarianTokenizer'" : classNames);
      return std::nullopt;
    }
    if (isMarian)
      return Scheme::Marian;
    std::optional<JsonValue> json;
    std::optional<JsonObject> config;
    if (read("config.json", json, config)) {
      std::string type = config->string("model_type", "");
      for (auto [text, scheme] : modelTypes)
        if (type == text)
          return scheme;
    }
    if (name() == "tokenizer.model")
      return Scheme::Llama;
    if (!hasErrors(writer.problems))
      addError(writer.problems, folder + "tokenizer_config.json", "tokenizer_class",
               "expects " + std::string(classNames) + ": it says which ids the pieces of " +
                   name() + " have");
    return std::nullopt;
  }

  void addText(const std::string &text) {
    byText.emplace(text, static_cast<int32_t>(result.texts.size()));
    result.texts.push_back(text);
  }
  void addSpecial(int32_t id, const std::string &text) {
    ExtraToken token;
    token.text = text;
    result.extra[id] = token;
    byText[text] = id;
  }

  /// Ids are the numbers of pieces; those that no text makes are found as special tokens.
  void numberPieces() {
    for (size_t i = 0; i < file.pieces.size(); ++i) {
      const SentencePieceFile::Piece &piece = file.pieces[i];
      addText(piece.text);
      if (piece.type == PieceType::Unknown || piece.type == PieceType::Control)
        addSpecial(static_cast<int32_t>(i), piece.text);
    }
    result.unknown = file.unknown;
  }

  /// <s>, <pad>, </s>, <unk> come first, as fairseq has them, all others move up by one, and <mask>
  /// is the last.
  void numberXlmRoberta() {
    const char *first[] = {"<unk>", "<s>", "</s>"};
    for (size_t i = 0; i < 3; ++i)
      if (file.pieces.size() < 4 || file.pieces[i].text != first[i]) {
        addError(writer.problems, writer.file, "pieces[" + std::to_string(i) + "].piece",
                 "expects " + quote(first[i]) + " in a model of XLMRobertaTokenizer, got " +
                     (i < file.pieces.size() ? quote(file.pieces[i].text) : "nothing"));
        return;
      }
    for (const char *text : {"<s>", "<pad>", "</s>", "<unk>"})
      addText(text);
    result.pieceIds = {3, 0, 2};
    for (size_t i = 3; i < file.pieces.size(); ++i) {
      result.pieceIds.push_back(static_cast<int32_t>(i) + 1);
      addText(file.pieces[i].text);
      if (file.pieces[i].type == PieceType::Control)
        addSpecial(static_cast<int32_t>(i) + 1, file.pieces[i].text);
    }
    result.unknown = 3;
    for (int32_t id = 0; id < 4; ++id)
      addSpecial(id, result.texts[static_cast<size_t>(id)]);
    auto mask = static_cast<int32_t>(result.texts.size());
    addText("<mask>");
    addSpecial(mask, "<mask>");
    result.extra[mask].leftStrip = true;
  }

  /// Ids are those of vocab.json; a piece that it lacks is unknown.
  void numberMarian() {
    result.isMarian = true;
    if (settings && settings->boolean("separate_vocabs", false))
      settings->reject("separate_vocabs", "one vocabulary of both languages");
    std::optional<JsonValue> json;
    std::optional<JsonObject> table;
    if (!read("vocab.json", json, table)) {
      if (!hasErrors(writer.problems))
        addError(writer.problems, folder + "vocab.json", "",
                 "expects the ids of source.spm's pieces, got no such file");
      return;
    }
    TokenIds ids = readTokenIds(writer, *json, *table);
    result.texts.resize(sizeOf(ids));
    for (const auto &[text, id] : ids)
      result.texts[static_cast<size_t>(id)] = text;
    byText = ids;
    std::string unknown = nameOf("unk_token", "<unk>");
    auto found = ids.find(unknown);
    if (found == ids.end()) {
      if (!hasErrors(writer.problems))
        addError(writer.problems, folder + "vocab.json", "",
                 "expects an id of the unknown token " + quote(unknown));
      return;
    }
    result.unknown = found->second;
    for (const SentencePieceFile::Piece &piece : file.pieces) {
      auto id = ids.find(piece.text);
      result.pieceIds.push_back(id == ids.end() ? result.unknown : id->second);
    }
    for (const std::string &text :
         {unknown, nameOf("eos_token", "</s>"), nameOf("pad_token", "<pad>")})
      if (auto id = ids.find(text); id != ids.end())
        addSpecial(id->second, text);
  }

  /// <extra_id_99> to <extra_id_0> follow the pieces, unless they are pieces.
  void addSentinels() {
    int64_t count = settings ? settings->integer("extra_ids", 0, 65536, 100) : 100;
    std::vector<std::string> missing;
    for (int64_t i = count - 1; i >= 0; --i) {
      std::string text = "<extra_id_" + std::to_string(i) + ">";
      int32_t id = find(text);
      if (id >= 0)
        addSpecial(id, text);
      else
        missing.push_back(text);
    }
    for (const std::string &text : missing) {
      addSpecial(static_cast<int32_t>(result.texts.size()), text);
      addText(text);
    }
  }

  /// The text of a token that tokenizer_config.json names under `key`.
  std::string nameOf(const char *key, const std::string &fallback) {
    const JsonValue *value = settings ? settings->find(key) : nullptr;
    const JsonValue *content = value && value->isObject() ? value->find("content") : value;
    return content && content->isString() ? content->string() : fallback;
  }

  /// Of the tokens that have a text the special one.
  int32_t find(const std::string &text) const {
    auto found = byText.find(text);
    return found == byText.end() ? -1 : found->second;
  }

  void readAddedTokens() {
    std::optional<JsonObject> list = settings && settings->has("added_tokens_decoder")
                                         ? settings->member("added_tokens_decoder")
                                         : std::nullopt;
    const JsonValue *value = list ? settings->find("added_tokens_decoder") : nullptr;
    for (size_t i = 0; value && i < value->keys().size(); ++i) {
      const std::string &key = value->keys()[i];
      JsonObject entry(value->elements()[i], list->file(), list->placeOf(key), writer.problems);
      std::optional<std::string> content = entry.string("content");
      ExtraToken token;
      token.isSpecial = entry.boolean("special", false);
      token.singleWord = entry.boolean("single_word", false);
      token.leftStrip = entry.boolean("lstrip", false);
      token.rightStrip = entry.boolean("rstrip", false);
      bool isNumber = !key.empty() && key.size() < 10 &&
                      key.find_first_not_of("0123456789") == std::string::npos;
      if (!isNumber)
        list->reject(key, "an id as its key");
      if (!content || !isNumber)
        continue;
      token.text = *content;
      addToken(*list, key, std::stoi(key), std::move(token));
    }
    std::optional<JsonValue> json;
    std::optional<JsonObject> table;
    if (!read("added_tokens.json", json, table))
      return;
    for (const auto &[text, id] : readTokenIds(writer, *json, *table)) {
      ExtraToken token;
      token.text = text;
      token.isSpecial = false;
      if (auto known = result.extra.find(id);
          known == result.extra.end() || known->second.text != text)
        addToken(*table, text, id, std::move(token));
    }
  }

  void addToken(JsonObject &list, const std::string &key, int32_t id, ExtraToken token) {
    auto index = static_cast<size_t>(id);
    size_t most = file.pieces.size() * 8 + 65536;
    if (token.text.empty() || !isUtf8(token.text))
      return list.reject(key, "a token with some text");
    if (index >= most)
      return list.reject(key, "an id below " + std::to_string(most));
    if (index >= result.texts.size())
      result.texts.resize(index + 1);
    if (!result.texts[index].empty() && result.texts[index] != token.text)
      return list.reject(key, "another id: this one is that of " + quote(result.texts[index]));
    if (int32_t other = find(token.text); other >= 0 && other != id)
      return list.reject(key, "the id " + std::to_string(other) + ", which " + quote(token.text) +
                                  " has");
    result.texts[index] = token.text;
    byText[token.text] = id;
    result.extra[id] = std::move(token);
  }

  using PieceList = TableOffsets<tables::Piece>;
  void addSequence(PieceList &pieces, int sequence, int32_t typeId) {
    pieces.push_back(CreatePiece(writer.builder, static_cast<int8_t>(sequence), 0, typeId));
  }
  void addIds(PieceList &pieces, const std::vector<int32_t> &ids, int32_t typeId) {
    pieces.push_back(CreatePieceDirect(writer.builder, -1, &ids, typeId));
  }
  /// The id of the token under `key`, where it is wanted.
  std::vector<int32_t> tokenOf(bool isWanted, const char *key, const std::string &fallback) {
    if (!isWanted)
      return {};
    std::string text = nameOf(key, fallback);
    int32_t id = find(text);
    if (id < 0)
      addError(writer.problems, settings ? settings->file() : writer.file, key,
               "expects a token of the model, got " + quote(text));
    return {id};
  }

  void writeTemplates(Scheme scheme) {
    bool begins = scheme == Scheme::XlmRoberta, ends = scheme != Scheme::Llama;
    if (scheme == Scheme::Llama) {
      begins = !settings || settings->boolean("add_bos_token", true);
      ends = settings && settings->boolean("add_eos_token", false);
    }
    std::vector<int32_t> begin = tokenOf(begins, "bos_token", file.beginPiece);
    std::vector<int32_t> end = tokenOf(ends, "eos_token", file.endPiece);
    int32_t second = scheme == Scheme::Llama ? 1 : 0;
    for (PieceList *pieces : {&result.templates.single, &result.templates.pair}) {
      addIds(*pieces, begin, 0);
      addSequence(*pieces, 0, 0);
      if (scheme != Scheme::Marian || pieces == &result.templates.single)
        addIds(*pieces, end, 0);
    }
    PieceList &pair = result.templates.pair;
    addIds(pair, scheme == Scheme::XlmRoberta ? end : begin, second);
    addSequence(pair, 1, second);
    addIds(pair, end, second);
  }

  void choosePrefix() {
    bool isLegacy = !settings || settings->boolean("legacy", true);
    result.dummyPrefix = !file.addDummyPrefix ? PrependScheme::Never
                         : isLegacy           ? PrependScheme::Always
                                              : PrependScheme::First;
    if (!settings)
      return;
    if (file.addDummyPrefix && !settings->boolean("add_prefix_space", true))
      settings->reject("add_prefix_space", "true, as the model's add_dummy_prefix");
    if (!isLegacy && file.removeExtraSpaces && file.addDummyPrefix)
      settings->reject("legacy", "true where the model removes extra white space");
    if (const JsonValue *options = settings->find("sp_model_kwargs"))
      if (!options->isObject() || !options->keys().empty())
        settings->reject("sp_model_kwargs", "an empty object: sampling is random");
  }

  TableWriter &writer;
  const SentencePieceFile &file;
  std::string folder;
  std::optional<JsonValue> settingsJson;
  std::optional<JsonObject> settings;
  SentencePieceTokens result;
  TokenIds byText;
};
} // namespace

SentencePieceTokens fovea::readSentencePieceTokens(TableWriter &writer,
                                                   const SentencePieceFile &file) {
  return TokensReader(writer, file).run();
}
