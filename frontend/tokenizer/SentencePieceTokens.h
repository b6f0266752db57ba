// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ids the pieces of a SentencePiece model have, and which tokens go around a text: what the
// tokenizer classes of the transformers package do about a model, beside what it says itself.
#ifndef FOVEA_FRONTEND_TOKENIZER_SENTENCEPIECETOKENS_H
#define FOVEA_FRONTEND_TOKENIZER_SENTENCEPIECETOKENS_H

#include "frontend/tokenizer/SentencePieceFile.h"
#include "frontend/tokenizer/TableWriter.h"

namespace fovea {

/// A token that is found in text before the model sees it.
struct ExtraToken {
  std::string text;
  bool isSpecial = true, singleWord = false, leftStrip = false, rightStrip = false;
};

struct SentencePieceTokens {
  /// Of the pieces; empty: their own numbers.
  std::vector<int32_t> pieceIds;
  /// Texts by id, of pieces and other tokens; what no token has is empty.
  std::vector<std::string> texts;
  int32_t unknown = 0;
  std::map<int32_t, ExtraToken> extra;
  Templates templates;
  tables::PrependScheme dummyPrefix = tables::PrependScheme::Always;
  /// Marian: language codes in front of a text, white space at both ends of a decoded one dropped.
  bool isMarian = false;
};

/// Reads what stands beside `writer.file`: tokenizer_config.json, config.json, added_tokens.json,
/// and vocab.json for Marian. Adds problems.
SentencePieceTokens readSentencePieceTokens(TableWriter &writer, const SentencePieceFile &file);

/// All tables but the settings; `ids` becomes the vocabulary.
TokenizerParts writeSentencePiece(TableWriter &writer, const SentencePieceFile &file,
                                  const SentencePieceTokens &tokens, TokenIds &ids);

} // namespace fovea

#endif // FOVEA_FRONTEND_TOKENIZER_SENTENCEPIECETOKENS_H
