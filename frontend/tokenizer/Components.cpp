// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizers, pre-tokenizers and decoders of tokenizer.json. Options that
// change offsets only are ignored; every other unknown name or option is an
// error.
#include "frontend/tokenizer/RegexTranslator.h"
#include "frontend/tokenizer/TableWriter.h"
#include "runtime/tokenizer/Regex.h"
#include "runtime/tokenizer/Utf8.h"

#include <functional>

using namespace fovea;
using namespace fovea::tables;

namespace {
/// What ByteLevel splits by unless told otherwise: the pattern of GPT-2.
constexpr const char *byteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Calls `read(component, type)` for `value`, or for the members of a Sequence
/// in order; these stand under `members`.
void readComponents(TableWriter &writer, const JsonValue &value, const std::string &path,
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

/// `{"String": ...}` or `{"Regex": ...}` under "pattern".
flatbuffers::Offset<tables::Pattern> readPattern(TableWriter &writer, JsonObject &component) {
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

/// A string of exactly one character.
std::string readCharacter(JsonObject &component, std::string_view key) {
  std::optional<std::string> text = component.string(key);
  if (text && countUtf8(*text) == 1)
    return *text;
  if (text)
    component.reject(key, "a single character");
  return " ";
}

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

SplitBehavior readBehavior(JsonObject &component, const char *fallback = nullptr) {
  static constexpr std::pair<const char *, SplitBehavior> choices[] = {
      {"Removed", SplitBehavior::Removed},
      {"Isolated", SplitBehavior::Isolated},
      {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
      {"MergedWithNext", SplitBehavior::MergedWithNext},
      {"Contiguous", SplitBehavior::Contiguous}};
  return readChoice(component, "behavior", choices, fallback);
}

/// Also the old way of writing it, `add_prefix_space`.
PrependScheme readPrependScheme(JsonObject &component) {
  static constexpr std::pair<const char *, PrependScheme> choices[] = {
      {"always", PrependScheme::Always},
      {"first", PrependScheme::First},
      {"never", PrependScheme::Never}};
  PrependScheme scheme = readChoice(component, "prepend_scheme", choices, "always");
  if (!component.boolean("add_prefix_space", true) && scheme != PrependScheme::Never)
    component.reject("add_prefix_space", "no contradiction to 'prepend_scheme'");
  return scheme;
}

flatbuffers::Offset<tables::Normalizer> readNormalizer(TableWriter &writer, JsonObject &component) {
  static constexpr std::pair<const char *, NormalizerKind> kinds[] = {
      {"NFC", NormalizerKind::Nfc},
      {"NFD", NormalizerKind::Nfd},
      {"NFKC", NormalizerKind::Nfkc},
      {"NFKD", NormalizerKind::Nfkd},
      {"Lowercase", NormalizerKind::Lowercase},
      {"StripAccents", NormalizerKind::StripAccents},
      {"BertNormalizer", NormalizerKind::Bert},
      {"Replace", NormalizerKind::Replace},
      {"Prepend", NormalizerKind::Prepend},
      {"Strip", NormalizerKind::Strip},
      {"Nmt", NormalizerKind::Nmt},
      {"ByteLevel", NormalizerKind::ByteLevel}};
  NormalizerKind kind = readChoice(component, "type", kinds);
  flatbuffers::Offset<tables::Pattern> pattern;
  std::string content;
  bool cleanText = false, handleChinese = false, stripAccents = false, lower = false;
  bool left = false, right = false;
  switch (kind) {
  case NormalizerKind::Bert:
    cleanText = component.boolean("clean_text").value_or(false);
    handleChinese = component.boolean("handle_chinese_chars").value_or(false);
    lower = component.boolean("lowercase").value_or(false);
    stripAccents = component.boolean("strip_accents", lower);
    break;
  case NormalizerKind::Replace:
    pattern = readPattern(writer, component);
    content = component.string("content").value_or("");
    break;
  case NormalizerKind::Prepend:
    content = component.string("prepend").value_or("");
    break;
  case NormalizerKind::Strip:
    left = component.boolean("strip_left").value_or(false);
    right = component.boolean("strip_right").value_or(false);
    break;
  default:
    break;
  }
  return CreateNormalizer(writer.builder, kind, pattern, writer.builder.CreateString(content),
                          cleanText, handleChinese, stripAccents, lower, left, right);
}

flatbuffers::Offset<tables::PreTokenizer> readPreTokenizer(TableWriter &writer,
                                                           JsonObject &component) {
  static constexpr std::pair<const char *, PreTokenizerKind> kinds[] = {
      {"ByteLevel", PreTokenizerKind::ByteLevel},
      {"BertPreTokenizer", PreTokenizerKind::Bert},
      {"Whitespace", PreTokenizerKind::Whitespace},
      {"WhitespaceSplit", PreTokenizerKind::WhitespaceSplit},
      {"Metaspace", PreTokenizerKind::Metaspace},
      {"Split", PreTokenizerKind::Split},
      {"Digits", PreTokenizerKind::Digits},
      {"Punctuation", PreTokenizerKind::Punctuation}};
  PreTokenizerKind kind = readChoice(component, "type", kinds);
  flatbuffers::Offset<tables::Pattern> pattern;
  SplitBehavior behavior = SplitBehavior::Removed;
  PrependScheme scheme = PrependScheme::Always;
  std::string replacement;
  bool invert = false, addPrefixSpace = false, split = false;
  switch (kind) {
  case PreTokenizerKind::ByteLevel:
    addPrefixSpace = component.boolean("add_prefix_space").value_or(false);
    if (component.boolean("use_regex", true)) {
      std::string error;
      std::optional<std::string> translated = translateRegex(byteLevelPattern, error);
      pattern = CreatePatternDirect(writer.builder, nullptr, translated.value_or("").c_str());
    }
    component.ignore({"trim_offsets"});
    break;
  case PreTokenizerKind::Metaspace:
    replacement = readCharacter(component, "replacement");
    scheme = readPrependScheme(component);
    split = component.boolean("split", true);
    component.ignore({"str_rep"});
    break;
  case PreTokenizerKind::Split:
    pattern = readPattern(writer, component);
    behavior = readBehavior(component);
    invert = component.boolean("invert").value_or(false);
    break;
  case PreTokenizerKind::Digits:
    behavior = component.boolean("individual_digits").value_or(false) ? SplitBehavior::Isolated
                                                                      : SplitBehavior::Contiguous;
    break;
  case PreTokenizerKind::Punctuation:
    behavior = readBehavior(component, "Isolated");
    break;
  default:
    break;
  }
  return CreatePreTokenizer(writer.builder, kind, pattern, behavior, invert, addPrefixSpace,
                            writer.builder.CreateString(replacement), scheme, split);
}

flatbuffers::Offset<tables::Decoder> readDecoder(TableWriter &writer, JsonObject &component) {
  static constexpr std::pair<const char *, DecoderKind> kinds[] = {
      {"ByteLevel", DecoderKind::ByteLevel},
      {"WordPiece", DecoderKind::WordPiece},
      {"ByteFallback", DecoderKind::ByteFallback},
      {"Fuse", DecoderKind::Fuse},
      {"Strip", DecoderKind::Strip},
      {"Replace", DecoderKind::Replace},
      {"Metaspace", DecoderKind::Metaspace},
      {"BPEDecoder", DecoderKind::Bpe}};
  DecoderKind kind = readChoice(component, "type", kinds);
  flatbuffers::Offset<tables::Pattern> pattern;
  PrependScheme scheme = PrependScheme::Always;
  std::string content;
  bool cleanup = false;
  int64_t start = 0, stop = 0;
  constexpr int64_t most = 1 << 30;
  switch (kind) {
  case DecoderKind::ByteLevel: // options of the pre-tokenizer of that name
    component.ignore({"add_prefix_space", "trim_offsets", "use_regex"});
    break;
  case DecoderKind::WordPiece:
    content = component.string("prefix").value_or("");
    cleanup = component.boolean("cleanup").value_or(false);
    break;
  case DecoderKind::Strip:
    content = readCharacter(component, "content");
    start = component.integer("start", 0, most).value_or(0);
    stop = component.integer("stop", 0, most).value_or(0);
    break;
  case DecoderKind::Replace:
    pattern = readPattern(writer, component);
    content = component.string("content").value_or("");
    break;
  case DecoderKind::Metaspace:
    content = readCharacter(component, "replacement");
    scheme = readPrependScheme(component);
    component.ignore({"split", "str_rep"});
    break;
  case DecoderKind::Bpe:
    content = component.string("suffix").value_or("");
    if (content.empty())
      component.reject("suffix", "a string that is not empty");
    break;
  default:
    break;
  }
  return CreateDecoder(writer.builder, kind, pattern, writer.builder.CreateString(content), cleanup,
                       static_cast<uint32_t>(start), static_cast<uint32_t>(stop), scheme);
}
} // namespace

TableOffsets<Normalizer> fovea::writeNormalizers(TableWriter &writer, const JsonValue *value) {
  TableOffsets<Normalizer> result;
  if (value)
    readComponents(writer, *value, "normalizer", "normalizers", [&](JsonObject &component) {
      result.push_back(readNormalizer(writer, component));
    });
  return result;
}

TableOffsets<PreTokenizer> fovea::writePreTokenizers(TableWriter &writer, const JsonValue *value) {
  TableOffsets<PreTokenizer> result;
  if (value)
    readComponents(writer, *value, "pre_tokenizer", "pretokenizers", [&](JsonObject &component) {
      result.push_back(readPreTokenizer(writer, component));
    });
  return result;
}

TableOffsets<Decoder> fovea::writeDecoders(TableWriter &writer, const JsonValue *value) {
  TableOffsets<Decoder> result;
  if (value)
    readComponents(writer, *value, "decoder", "decoders", [&](JsonObject &component) {
      result.push_back(readDecoder(writer, component));
    });
  return result;
}
