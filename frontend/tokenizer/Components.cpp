// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What normalizers, pre-tokenizers and decoders of tokenizer.json share:
// sequences, patterns, characters. An option that nobody reads is an error.
#include "frontend/tokenizer/RegexTranslator.h"
#include "frontend/tokenizer/TableWriter.h"
#include "runtime/tokenizer/Regex.h"
#include "runtime/tokenizer/Utf8.h"

using namespace fovea;
using namespace fovea::tables;

void fovea::readComponents(TableWriter &writer, const JsonValue &value, const std::string &path,
                           const char *members, const std::function<void(JsonObject &)> &read) {
  JsonObject component(value, writer.file, path, writer.problems);
  std::optional<std::string> type = component.string("type");
  if (!type)
    return;
  size_t before = writer.problems.size();
  if (*type != "Sequence") {
    read(component);
  } else if (const JsonValue *list = component.array(members)) {
    for (size_t i = 0; i < list->elements().size(); ++i)
      readComponents(writer, list->elements()[i],
                     component.placeOf(members) + "[" + std::to_string(i) + "]", members, read);
  }
  // Of a component that is not known, no option is.
  if (writer.problems.size() == before)
    component.reportUnread("is an option that is not understood");
}

flatbuffers::Offset<tables::Pattern> fovea::readPattern(TableWriter &writer,
                                                        JsonObject &component) {
  std::optional<JsonObject> pattern = component.member("pattern");
  if (!pattern)
    return {};
  flatbuffers::Offset<tables::Pattern> result;
  if (pattern->has("String") == pattern->has("Regex")) {
    component.reject("pattern", "either 'String' or 'Regex'");
  } else if (pattern->has("String")) {
    std::optional<std::string> text = pattern->string("String");
    if (text && text->empty())
      pattern->reject("String", "a string that is not empty");
    else if (text)
      result = CreatePatternDirect(writer.builder, text->c_str());
  } else if (std::optional<std::string> text = pattern->string("Regex")) {
    std::string error;
    std::optional<std::string> translated = translateRegex(*text, error);
    if (translated && fovea::Pattern::regex(*translated, error))
      result = CreatePatternDirect(writer.builder, nullptr, translated->c_str());
    else
      pattern->reject("Regex",
                      "a regular expression that can be translated (it has " + error + ")");
  }
  pattern->reportUnread("is an option that is not understood");
  return result;
}

std::string fovea::readCharacter(JsonObject &component, std::string_view key) {
  std::optional<std::string> text = component.string(key);
  if (text && countUtf8(*text) == 1)
    return *text;
  if (text)
    component.reject(key, "a single character");
  return " ";
}

PrependScheme fovea::readPrependScheme(JsonObject &component) {
  static constexpr std::pair<const char *, PrependScheme> choices[] = {
      {"always", PrependScheme::Always},
      {"first", PrependScheme::First},
      {"never", PrependScheme::Never}};
  PrependScheme scheme = readChoice(component, "prepend_scheme", choices, "always");
  if (!component.boolean("add_prefix_space", true) && scheme != PrependScheme::Never)
    component.reject("add_prefix_space", "no contradiction to 'prepend_scheme'");
  return scheme;
}
