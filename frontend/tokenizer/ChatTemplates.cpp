// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chat templates of a checkpoint: chat_template.jinja and additional_chat_templates/NAME.jinja,
// else chat_template.json, else `chat_template` of tokenizer_config.json, a text or a list of named
// ones; and the tokens that they know by name. What cannot be read or parsed is noted, and left out
// if it is no text.
#include "frontend/tokenizer/TableWriter.h"
#include "runtime/template/Template.h"

#include <filesystem>

using namespace fovea;
using namespace fovea::tables;

namespace {

/// More than any template has; the runtime refuses longer ones.
constexpr uint64_t mostBytes = 1 << 20;

class ChatReader {
public:
  explicit ChatReader(TableWriter &writer)
      : writer(writer), folder(writer.file.substr(0, writer.file.rfind('/') + 1)) {}

  ChatTables run() {
    for (const char *name : {"tokenizer_config.json", "special_tokens_map.json"})
      readTokens(name);
    readFiles();
    if (tables.templates.empty())
      readJson("chat_template.json");
    if (tables.templates.empty())
      readJson("tokenizer_config.json");
    for (const auto &[name, content] : tokens)
      tables.tokens.push_back(CreateNamedToken(writer.builder, writer.builder.CreateString(name),
                                               writer.builder.CreateString(content)));
    return std::move(tables);
  }

private:
  /// Problems of these files are none of the tokenizer's: it has been read without them.
  void note(const Problems &problems) {
    for (const Problem &problem : problems)
      addNote(writer.problems, problem.file, problem.place, problem.message);
  }

  std::optional<JsonValue> parse(const std::string &file) {
    Problems problems;
    if (!exists(file))
      return std::nullopt;
    std::optional<JsonValue> json = parseJsonFile(file, problems);
    note(problems);
    return json && json->isObject() ? std::move(json) : std::nullopt;
  }

  /// "<s>" or {"content": "<s>"} of every key that ends in _token; the first file counts.
  void readTokens(const char *name) {
    std::optional<JsonValue> json = parse(folder + name);
    auto take = [&](const std::string &key, const JsonValue &value) {
      const JsonValue *content = value.isObject() ? value.find("content") : &value;
      if (content && content->isString())
        tokens.emplace(key, content->string());
    };
    for (size_t i = 0; json && i < json->keys().size(); ++i) {
      const std::string &key = json->keys()[i];
      const JsonValue &value = json->elements()[i];
      if (key.size() > 6 && key.compare(key.size() - 6, 6, "_token") == 0)
        take(key, value);
      else if (key == "extra_special_tokens" && value.isObject())
        for (size_t k = 0; k < value.keys().size(); ++k)
          take(value.keys()[k], value.elements()[k]);
    }
  }

  void add(const std::string &name, const std::string &text, const std::string &file,
           const char *place) {
    addChatTemplate(writer, tables, name, text, file, file.substr(folder.size()), place);
  }

  void readFiles() {
    std::vector<std::pair<std::string, std::string>> files = {
        {"default", folder + "chat_template.jinja"}};
    std::error_code code;
    std::set<std::string> more; // in one order on every machine
    for (const auto &entry :
         std::filesystem::directory_iterator(folder + "additional_chat_templates", code))
      if (entry.path().extension() == ".jinja")
        more.insert(entry.path().string());
    for (const std::string &file : more)
      files.emplace_back(std::filesystem::path(file).stem().string(), file);
    for (const auto &[name, file] : files) {
      Problems problems;
      if (!exists(file))
        continue;
      if (std::optional<std::string> text = readFile(file, mostBytes, problems))
        add(name, *text, file, "");
      note(problems);
    }
  }

  void readJson(const char *name) {
    std::string file = folder + name;
    std::optional<JsonValue> json = parse(file);
    const JsonValue *value = json ? json->find("chat_template") : nullptr;
    if (!value || value->isNull())
      return;
    if (value->isString())
      return add("default", value->string(), file, "chat_template");
    bool sound = value->isArray();
    for (const JsonValue &one : value->elements()) {
      const JsonValue *title = one.find("name"), *text = one.find("template");
      sound = sound && title && text && title->isString() && text->isString();
      if (sound)
        add(title->string(), text->string(), file, "chat_template");
    }
    if (!sound)
      addNote(writer.problems, file, "chat_template",
              "expects a text, or a list of {\"name\", \"template\"}, got " + value->describe());
  }

  TableWriter &writer;
  std::string folder;
  std::map<std::string, std::string> tokens;
  ChatTables tables;
};

} // namespace

void fovea::addChatTemplate(TableWriter &writer, ChatTables &chat, const std::string &name,
                            const std::string &text, const std::string &path,
                            const std::string &file, const std::string &place) {
  std::string error;
  if (!jinja::Template::parse(text, "", error)) // ":LINE: what is wrong"
    addNote(writer.problems, path, place,
            "chat cannot use template '" + name + "': line " + error.substr(1));
  auto &builder = writer.builder;
  auto nameOffset = builder.CreateString(name), textOffset = builder.CreateString(text),
       fileOffset = builder.CreateString(file);
  chat.templates.push_back(CreateChatTemplate(builder, nameOffset, textOffset, fileOffset));
}

ChatTables fovea::writeChatTables(TableWriter &writer) { return ChatReader(writer).run(); }
