// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads tokenizer.json and what stands beside it, and opens what was written
// with the runtime's own interpreter: there is one meaning of a table.
#include "frontend/tokenizer/TokenizerCompiler.h"

#include "frontend/Json.h"
#include "frontend/tokenizer/TableWriter.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <algorithm>
#include <sys/stat.h>

using namespace fovea;
using namespace fovea::tables;

namespace {
bool isFolder(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

class Compiler {
public:
  Compiler(std::string file, Problems &problems)
      : writer{flatbuffers::FlatBufferBuilder(1 << 20), problems, std::move(file)} {}

  void run(std::vector<uint8_t> &result) {
    std::optional<JsonValue> json = parseJsonFile(writer.file, writer.problems);
    if (!json)
      return;
    JsonObject root(*json, writer.file, "", writer.problems);
    if (!root.valid())
      return;
    if (root.string("version", "1.0") != "1.0")
      root.reject("version", "'1.0'");
    const JsonValue *model = root.find("model");
    if (!model) {
      root.reject("model", "an object");
      return;
    }
    WrittenModel written = writeModel(writer, *model);
    vocabulary = std::move(written.vocabulary);
    for (const auto &[text, id] : vocabulary)
      size = std::max<int64_t>(size, id + 1);
    if (vocabulary.empty())
      return; // ids of added tokens and templates count from it
    auto normalizers = writeNormalizers(writer, root.find("normalizer"));
    auto preTokenizers = writePreTokenizers(writer, root.find("pre_tokenizer"));
    auto decoders = writeDecoders(writer, root.find("decoder"));
    auto added = writeAddedTokens(root);
    Templates templates = writeTemplates(writer, root.find("post_processor"), size);
    auto truncation = writeTruncation(root);
    root.ignore({"padding"});
    root.reportUnread("is a part that is not understood");
    readSettings(root);
    if (hasErrors(writer.problems))
      return;
    FinishTokenizerBuffer(writer.builder,
                          CreateTokenizerDirect(writer.builder, &normalizers, &added,
                                                &preTokenizers, written.table, &templates.single,
                                                &templates.pair, &decoders, truncation, beginToken,
                                                endToken, unknownToken, padToken, maxLength));
    std::vector<uint8_t> bytes(writer.builder.GetBufferPointer(),
                               writer.builder.GetBufferPointer() + writer.builder.GetSize());
    std::string error;
    if (fovea::Tokenizer::open(bytes.data(), bytes.size(), error))
      result = std::move(bytes);
    else
      addError(writer.problems, writer.file, "", error);
  }

private:
  TableOffsets<AddedToken> writeAddedTokens(JsonObject &root) {
    struct Token {
      int32_t id;
      bool singleWord, leftStrip, rightStrip, normalized, special;
    };
    std::map<std::string, Token> tokens;
    // A token that the model does not know gets the next id after the model's,
    // and this is what the reference does, whatever the file says.
    auto nextId = static_cast<int64_t>(vocabulary.size());
    const JsonValue *list = root.find("added_tokens") ? root.array("added_tokens") : nullptr;
    for (size_t i = 0; list && i < list->elements().size(); ++i) {
      JsonObject entry(list->elements()[i], writer.file, "added_tokens[" + std::to_string(i) + "]",
                       writer.problems);
      std::optional<std::string> content = entry.string("content");
      std::optional<int64_t> id = entry.integer("id", 0, INT32_MAX - 1);
      bool special = entry.boolean("special", false);
      Token token{0,
                  entry.boolean("single_word", false),
                  entry.boolean("lstrip", false),
                  entry.boolean("rstrip", false),
                  entry.boolean("normalized", !special),
                  special};
      entry.reportUnread("is an option that is not understood");
      if (!content || !id)
        continue;
      if (content->empty()) // as the reference does
        continue;
      int64_t expected = nextId;
      auto before = tokens.find(*content);
      auto known = vocabulary.find(*content);
      if (before != tokens.end())
        expected = before->second.id;
      else if (known != vocabulary.end())
        expected = known->second;
      else
        ++nextId;
      if (*id != expected) {
        entry.reject("id", std::to_string(expected) + ", the id of " + quote(*content) +
                               " in the vocabulary or the next free one");
        continue;
      }
      token.id = static_cast<int32_t>(expected);
      size = std::max(size, expected + 1);
      token.special |= before != tokens.end() && before->second.special;
      tokens[*content] = token;
    }
    TableOffsets<AddedToken> result;
    for (const auto &[content, token] : tokens) {
      addedIds.emplace(content, token.id);
      result.push_back(CreateAddedTokenDirect(writer.builder, token.id, content.c_str(),
                                              token.singleWord, token.leftStrip, token.rightStrip,
                                              token.normalized, token.special));
    }
    return result;
  }

  flatbuffers::Offset<Truncation> writeTruncation(JsonObject &root) {
    if (!root.has("truncation")) {
      root.ignore({"truncation"});
      return {};
    }
    std::optional<JsonObject> truncation = root.member("truncation");
    if (!truncation)
      return {};
    int64_t most = truncation->integer("max_length", 0, UINT32_MAX).value_or(0);
    std::string strategy = truncation->string("strategy", "LongestFirst");
    std::string direction = truncation->string("direction", "Right");
    truncation->ignore({"stride"});
    if (strategy != "LongestFirst" && strategy != "OnlyFirst" && strategy != "OnlySecond")
      truncation->reject("strategy", "one of 'LongestFirst', 'OnlyFirst', 'OnlySecond'");
    if (direction != "Left" && direction != "Right")
      truncation->reject("direction", "'Left' or 'Right'");
    return CreateTruncation(writer.builder, static_cast<uint32_t>(most),
                            strategy == "OnlyFirst"    ? TruncationStrategy::OnlyFirst
                            : strategy == "OnlySecond" ? TruncationStrategy::OnlySecond
                                                       : TruncationStrategy::LongestFirst,
                            direction == "Left");
  }

  /// tokenizer_config.json and special_tokens_map.json: which tokens begin and
  /// end a text, and how long it may be. They do not change ids; where the
  /// framework would let them, a contradiction is an error.
  void readSettings(JsonObject &root) {
    std::string folder = writer.file.substr(0, writer.file.rfind('/') + 1);
    for (const char *name : {"tokenizer_config.json", "special_tokens_map.json"}) {
      std::string file = folder + name;
      if (!exists(file))
        continue;
      std::optional<JsonValue> json = parseJsonFile(file, writer.problems);
      if (!json)
        continue;
      JsonObject settings(*json, file, "", writer.problems);
      if (!settings.valid())
        continue;
      readToken(settings, "bos_token", beginToken);
      readToken(settings, "eos_token", endToken);
      readToken(settings, "unk_token", unknownToken);
      readToken(settings, "pad_token", padToken);
      // Unlimited is written as 1e30.
      if (const JsonValue *length = settings.find("model_max_length"))
        if (length->isInteger() && length->integer() > 0 && length->integer() <= INT32_MAX)
          maxLength = length->integer();
      checkBert(settings, root);
    }
  }

  /// `"<s>"` or `{"content": "<s>", ...}`. The first file that says it counts.
  void readToken(JsonObject &settings, const char *key, int32_t &id) {
    const JsonValue *value = settings.find(key);
    if (!value || id >= 0)
      return;
    const JsonValue *content = value->isObject() ? value->find("content") : value;
    if (!content || !content->isString()) {
      settings.reject(key, "a token's text");
      return;
    }
    auto added = addedIds.find(content->string());
    auto known = vocabulary.find(content->string());
    if (added != addedIds.end())
      id = added->second;
    else if (known != vocabulary.end())
      id = known->second;
    else
      addNote(writer.problems, settings.file(), settings.placeOf(key),
              "names " + quote(content->string()) + ", which is no token");
  }

  /// BERT's tokenizer class changes the normalizer by these settings.
  void checkBert(JsonObject &settings, JsonObject &root) {
    const JsonValue *normalizer = root.find("normalizer");
    const JsonValue *name = settings.find("tokenizer_class");
    if (!normalizer || !normalizer->isObject() || !name ||
        name->string().find("Bert") == std::string::npos)
      return;
    JsonObject bert(*normalizer, writer.file, "normalizer", writer.problems);
    if (bert.string("type", "") != "BertNormalizer")
      return;
    static constexpr std::pair<const char *, const char *> pairs[] = {
        {"do_lower_case", "lowercase"},
        {"strip_accents", "strip_accents"},
        {"tokenize_chinese_chars", "handle_chinese_chars"}};
    for (auto [setting, option] : pairs) {
      const JsonValue *wanted = settings.find(setting), *given = bert.find(option);
      if (wanted && given && wanted->isBool() && given->isBool() &&
          wanted->boolean() != given->boolean())
        settings.reject(setting, given->describe() + std::string(", as 'normalizer.") + option +
                                     "' of tokenizer.json says");
    }
  }

  TableWriter writer;
  std::map<std::string, int32_t, std::less<>> vocabulary;
  std::map<std::string, int32_t> addedIds;
  int64_t size = 0;
  int32_t beginToken = -1, endToken = -1, unknownToken = -1, padToken = -1;
  int64_t maxLength = -1;
};
} // namespace

bool fovea::compileTokenizer(const std::string &path, std::vector<uint8_t> &tables,
                             Problems &problems) {
  std::string file = isFolder(path) ? path + "/tokenizer.json" : path;
  std::vector<uint8_t> result;
  Problems found;
  Compiler(file, found).run(result);
  bool failed = hasErrors(found);
  problems.insert(problems.end(), found.begin(), found.end());
  if (!failed)
    tables = std::move(result);
  return !failed;
}

bool fovea::compileTokenizer(const std::string &path, std::vector<uint8_t> &tables,
                             std::string &error) {
  Problems problems;
  if (compileTokenizer(path, tables, problems))
    return true;
  for (const Problem &problem : problems)
    if (problem.severity == Problem::Severity::Error) {
      error = problem.text();
      break;
    }
  return false;
}
