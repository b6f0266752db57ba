// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizers of tokenizer.json. An unknown name or option is an error.
#include "frontend/tokenizer/TableWriter.h"

using namespace fovea;
using namespace fovea::tables;

/// Three bytes to each four characters, which ends in "=" for each byte that is missing.
static std::optional<std::string> decodeBase64(std::string_view text) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0)
    return std::nullopt;
  size_t missing = 0;
  for (; missing < 2 && !text.empty() && text.back() == '='; ++missing)
    text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size() + missing; ++i) {
    size_t digit = i < text.size() ? alphabet.find(text[i]) : 0;
    if (digit == std::string_view::npos)
      return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (i % 4 == 3)
      for (int shift = 16; shift >= 0; shift -= 8)
        bytes += static_cast<char>(bits >> shift & 0xFF);
  }
  bytes.resize(bytes.size() - missing);
  return bytes;
}

static flatbuffers::Offset<CharacterMap> readCharacterMap(TableWriter &writer,
                                                          JsonObject &component) {
  constexpr const char *key = "precompiled_charsmap";
  std::optional<std::string> text = component.string(key);
  if (!text)
    return {};
  if (std::optional<std::string> blob = decodeBase64(*text))
    return writeCharacterMap(writer, *blob, component.placeOf(key));
  component.reject(key, "base64");
  return {};
}

static flatbuffers::Offset<tables::Normalizer> readNormalizer(TableWriter &writer,
                                                              JsonObject &component) {
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
      {"ByteLevel", NormalizerKind::ByteLevel},
      {"Precompiled", NormalizerKind::Precompiled}};
  NormalizerKind kind = readChoice(component, "type", kinds);
  flatbuffers::Offset<tables::Pattern> pattern;
  flatbuffers::Offset<CharacterMap> characters;
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
  case NormalizerKind::Precompiled:
    characters = readCharacterMap(writer, component);
    break;
  default:
    break;
  }
  return CreateNormalizer(writer.builder, kind, pattern, writer.builder.CreateString(content),
                          cleanText, handleChinese, stripAccents, lower, left, right, characters);
}

TableOffsets<Normalizer> fovea::writeNormalizers(TableWriter &writer, const JsonValue *value) {
  return writeComponents<Normalizer>(writer, value, "normalizer", "normalizers", readNormalizer);
}
