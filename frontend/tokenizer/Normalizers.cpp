// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizers of tokenizer.json. An unknown name or option is an error.
#include "frontend/tokenizer/TableWriter.h"

using namespace fovea;
using namespace fovea::tables;

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

TableOffsets<Normalizer> fovea::writeNormalizers(TableWriter &writer, const JsonValue *value) {
  return writeComponents<Normalizer>(writer, value, "normalizer", "normalizers", readNormalizer);
}
