// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoders of tokenizer.json. Options that are the pre-tokenizer's of the same
// name are ignored; every other unknown name or option is an error.
#include "frontend/tokenizer/TableWriter.h"

using namespace fovea;
using namespace fovea::tables;

static flatbuffers::Offset<tables::Decoder> readDecoder(TableWriter &writer,
                                                        JsonObject &component) {
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
TableOffsets<Decoder> fovea::writeDecoders(TableWriter &writer, const JsonValue *value) {
  return writeComponents<Decoder>(writer, value, "decoder", "decoders", readDecoder);
}
