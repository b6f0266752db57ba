// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary of a GGUF file as a structure: tokens with what each is, and what goes around a
// text.
#ifndef FOVEA_FRONTEND_TOKENIZER_GGUFVOCABULARY_H
#define FOVEA_FRONTEND_TOKENIZER_GGUFVOCABULARY_H

#include "frontend/GGUF/GgufFile.h"
#include "frontend/tokenizer/SentencePieceFile.h"
#include "frontend/tokenizer/TableWriter.h"

namespace fovea {

struct GgufVocabulary {
  using Type = SentencePieceFile::PieceType; ///< Which has GGUF's numbers, too.

  std::string model, pre; ///< "llama", "gpt2", ...; how BPE splits, or empty.
  std::vector<std::string> texts;
  std::vector<Type> types;
  std::vector<double> scores; ///< Empty, or one for each token.
  int32_t begin = -1, end = -1, unknown = -1, pad = -1, separator = -1;
  std::optional<bool> addsBegin, addsEnd, addsSeparator, addsSpace, removesSpaces;
  std::optional<bool> lowers, stripsAccents; ///< WordPiece.
  const JsonValue *merges = nullptr;         ///< Of `keys`.
  std::string characterMap;

  /// The first token of this text, or -1.
  int32_t find(std::string_view text) const;
};

/// Reads what stands below `tokenizer`, an object of the file; nothing after a problem.
std::optional<GgufVocabulary> readGgufVocabulary(TableWriter &writer, JsonObject &keys);

/// What BPE by the name `pre` does before merges; null, after a problem, if it is not known.
struct GgufPreTokenizer {
  std::vector<const char *> patterns; ///< Each splits what the ones before it left.
  bool splitsDigits = false;          ///< Each digit by itself, before all patterns.
  bool composes = false;              ///< NFC.
  bool ignoresMerges = false;         ///< Of a piece that is a token.
  bool addsBegin = false;             ///< Unless keys say otherwise.
};
const GgufPreTokenizer *findGgufPreTokenizer(TableWriter &writer, const std::string &pre);

} // namespace fovea

#endif // FOVEA_FRONTEND_TOKENIZER_GGUFVOCABULARY_H
