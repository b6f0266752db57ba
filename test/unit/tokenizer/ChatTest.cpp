// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chat templates that stand beside tokenizer.json, and the tokens that they know by name.
#include "test/unit/tokenizer/Files.h"

#include <filesystem>
#include <fstream>

using namespace fovea;
using namespace fovea::test;

namespace {

class Chat : public testing::Test {
protected:
  Chat() : folder(std::filesystem::path(testing::TempDir()) / "fovea-chat") {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "additional_chat_templates");
    write("tokenizer.json", wordLevel(R"("a": 1)", ""));
  }
  ~Chat() override { std::filesystem::remove_all(folder); }

  void write(const std::string &name, const std::string &text) {
    std::ofstream(folder / name) << text;
  }

  /// "NAME=TEXT (FILE), ..." of all templates.
  std::string templates() {
    problems.clear();
    EXPECT_TRUE(compileTokenizer(folder.string(), tables, problems));
    std::string error, all;
    tokenizer = Tokenizer::open(tables.data(), tables.size(), error);
    EXPECT_TRUE(tokenizer) << error;
    for (const Tokenizer::ChatTemplate &one : tokenizer->chatTemplates())
      all += std::string(one.name) + "=" + std::string(one.text) + " (" + std::string(one.file) +
             "), ";
    return all;
  }

  std::string notes() const {
    std::string all;
    for (const Problem &problem : problems)
      all += problem.text().substr(folder.string().size() + 1) + "\n";
    return all;
  }

  std::filesystem::path folder;
  std::vector<uint8_t> tables;
  std::unique_ptr<Tokenizer> tokenizer;
  Problems problems;
};

TEST_F(Chat, NoneIsNoProblem) {
  EXPECT_EQ(templates(), "");
  EXPECT_EQ(notes(), "");
}

TEST_F(Chat, OneOfTheConfiguration) {
  write("tokenizer_config.json", R"({"chat_template": "{{ 'a\n' }}"})");
  EXPECT_EQ(templates(), "default={{ 'a\n' }} (tokenizer_config.json), ");
}

TEST_F(Chat, SeveralOfTheConfiguration) {
  write(
      "tokenizer_config.json",
      R"({"chat_template": [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]})");
  EXPECT_EQ(templates(), "default=a (tokenizer_config.json), tool_use=b (tokenizer_config.json), ");
}

TEST_F(Chat, FilesGoFirst) {
  write("tokenizer_config.json", R"({"chat_template": "a"})");
  write("chat_template.json", R"({"chat_template": "b"})");
  EXPECT_EQ(templates(), "default=b (chat_template.json), ");
  write("chat_template.jinja", "c\n");
  write("additional_chat_templates/rag.jinja", "d");
  EXPECT_EQ(templates(), "default=c\n (chat_template.jinja), rag=d "
                         "(additional_chat_templates/rag.jinja), ");
}

TEST_F(Chat, FaultsAreNotes) {
  write("tokenizer_config.json", R"({"chat_template": "a\n{% if x %}"})");
  EXPECT_EQ(templates(), "default=a\n{% if x %} (tokenizer_config.json), ");
  EXPECT_EQ(notes(), "tokenizer_config.json: chat_template: chat cannot use template "
                     "'default': line 2: expects elif or else or endif, got the end of the "
                     "template\n");
  write("tokenizer_config.json", R"({"chat_template": 5})");
  EXPECT_EQ(templates(), "");
  EXPECT_EQ(notes(), "tokenizer_config.json: chat_template: expects a text, or a list of "
                     "{\"name\", \"template\"}, got 5\n");
}

TEST_F(Chat, TokensByName) {
  write(
      "tokenizer_config.json",
      R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "add_bos_token": true, "image_token": "<i>", "pad_token": null})");
  write("special_tokens_map.json", R"({"bos_token": "<other>", "unk_token": "?"})");
  templates();
  std::string all;
  for (auto [name, content] : tokenizer->namedTokens())
    all += std::string(name) + "=" + std::string(content) + " ";
  EXPECT_EQ(all, "bos_token=<s> eos_token=</s> image_token=<i> unk_token=? ");
}

} // namespace
