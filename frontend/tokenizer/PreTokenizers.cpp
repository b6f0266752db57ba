// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pre-tokenizers of tokenizer.json. Options that change offsets only are ignored;
// every other unknown name or option is an error.
#include "frontend/tokenizer/RegexTranslator.h"
#include "frontend/tokenizer/TableWriter.h"

using namespace fovea;
using namespace fovea::tables;

/// What ByteLevel splits by unless told otherwise: the pattern of GPT-2.
static constexpr const char *byteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

static SplitBehavior readBehavior(JsonObject &component, const char *fallback = nullptr) {
  static constexpr std::pair<const char *, SplitBehavior> choices[] = {
      {"Removed", SplitBehavior::Removed},
      {"Isolated", SplitBehavior::Isolated},
      {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
      {"MergedWithNext", SplitBehavior::MergedWithNext},
      {"Contiguous", SplitBehavior::Contiguous}};
  return readChoice(component, "behavior", choices, fallback);
}

static flatbuffers::Offset<tables::PreTokenizer> readPreTokenizer(TableWriter &writer,
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

TableOffsets<PreTokenizer> fovea::writePreTokenizers(TableWriter &writer, const JsonValue *value) {
  return writeComponents<PreTokenizer>(writer, value, "pre_tokenizer", "pretokenizers",
                                       readPreTokenizer);
}
