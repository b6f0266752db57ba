// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads tokenizer.json and what stands beside it, or has SentencePiece's file read, and opens what
// was written with the runtime's own interpreter: there is one meaning of a table.
#include "frontend/tokenizer/TokenizerCompiler.h"

#include "frontend/GGUF/GgufFile.h"
#include "frontend/Json.h"
#include "frontend/Text.h"
#include "frontend/TokenizerFile.h"
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
  explicit Compiler(TableWriter &writer) : writer(writer) {}

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
    const TokenIds &vocabulary = written.vocabulary;
    auto size = static_cast<int64_t>(std::max(sizeOf(vocabulary), written.count));
    if (vocabulary.empty())
      return; // ids of added tokens and templates count from it
    TokenizerParts parts;
    parts.model = written.table;
    parts.normalizers = writeNormalizers(writer, root.find("normalizer"));
    parts.preTokenizers = writePreTokenizers(writer, root.find("pre_tokenizer"));
    parts.decoders = writeDecoders(writer, root.find("decoder"));
    TokenIds addedIds;
    parts.added = writeAddedTokens(writer, root, written, addedIds);
    size = std::max(size, static_cast<int64_t>(sizeOf(addedIds)));
    parts.templates = writeTemplates(writer, root.find("post_processor"), size);
    parts.truncation = writeTruncation(root);
    root.ignore({"padding"});
    root.reportUnread("is a part that is not understood");
    parts.settings = readSettings(writer, &root, vocabulary, addedIds);
    finishTables(writer, parts, result);
  }

private:
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

  TableWriter &writer;
};
} // namespace

void fovea::finishTables(TableWriter &writer, const TokenizerParts &parts,
                         std::vector<uint8_t> &result) {
  ChatTables chat = parts.chat ? *parts.chat : writeChatTables(writer);
  if (hasErrors(writer.problems))
    return;
  FinishTokenizerBuffer(
      writer.builder,
      CreateTokenizerDirect(
          writer.builder, &parts.normalizers, &parts.added, &parts.preTokenizers, parts.model,
          &parts.templates.single, &parts.templates.pair, &parts.decoders, parts.truncation,
          parts.settings.beginToken, parts.settings.endToken, parts.settings.unknownToken,
          parts.settings.padToken, parts.settings.maxLength, parts.hasLanguageCodes,
          chat.templates.empty() ? nullptr : &chat.templates,
          chat.tokens.empty() ? nullptr : &chat.tokens));
  std::vector<uint8_t> bytes(writer.builder.GetBufferPointer(),
                             writer.builder.GetBufferPointer() + writer.builder.GetSize());
  std::string error;
  if (fovea::Tokenizer::open(bytes.data(), bytes.size(), error))
    result = std::move(bytes);
  else
    addError(writer.problems, writer.file, "", error);
}

bool fovea::compileTokenizer(const std::string &path, std::vector<uint8_t> &tables,
                             Problems &problems, artifact::FileAccess access) {
  std::string file = path;
  if (isFolder(path)) {
    std::string name = findTokenizerFile(path);
    file += "/" + (name.empty() ? "tokenizer.json" : name);
  }
  std::vector<uint8_t> result;
  Problems found;
  TableWriter writer{flatbuffers::FlatBufferBuilder(1 << 20), found, file};
  if (endsWith(file, ".model") || endsWith(file, ".spm"))
    compileSentencePiece(writer, result);
  else if (isGgufFile(file))
    compileGguf(writer, access, result);
  else
    Compiler(writer).run(result);
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
