// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Added tokens of tokenizer.json, each with the id that the reference gives it;
// another one is an error.
#include "frontend/tokenizer/TableWriter.h"

using namespace fovea;
using namespace fovea::tables;

TableOffsets<AddedToken> fovea::writeAddedTokens(TableWriter &writer, JsonObject &root,
                                                 const WrittenModel &model, TokenIds &addedIds) {
  const TokenIds &vocabulary = model.vocabulary;
  struct Token {
    int32_t id;
    bool singleWord, leftStrip, rightStrip, normalized, special;
  };
  std::map<std::string, Token> tokens;
  // A token that the model does not know gets the next id after the model's,
  // and this is what the reference does, whatever the file says.
  auto nextId = static_cast<int64_t>(model.count);
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
