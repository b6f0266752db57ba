// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SentencePiece model (tokenizer.model, spiece.model, source.spm) as a structure: the fields of
// its published schema, sentencepiece_model.proto, that say how text is tokenized.
#ifndef FOVEA_FRONTEND_TOKENIZER_SENTENCEPIECEFILE_H
#define FOVEA_FRONTEND_TOKENIZER_SENTENCEPIECEFILE_H

#include "frontend/Problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fovea {

struct SentencePieceFile {
  enum class PieceType : uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };
  enum class ModelType : uint8_t { Unigram = 1, Bpe, Word, Char };
  struct Piece {
    std::string text;
    float score = 0;
    PieceType type = PieceType::Normal;
  };

  std::vector<Piece> pieces;
  ModelType type = ModelType::Unigram;
  /// The index of the one piece that is unknown.
  int32_t unknown = -1;
  bool byteFallback = false;
  bool spaceIsSuffix = false;
  std::string beginPiece = "<s>", endPiece = "</s>", padPiece = "<pad>";
  /// Rules of normalization in SentencePiece's layout; empty: none.
  std::string characterMap;
  bool addDummyPrefix = true;
  bool removeExtraSpaces = true;
  bool escapeSpaces = true;

  /// Reads and checks a file. On failure at least one problem is added.
  static std::optional<SentencePieceFile> open(const std::string &path, Problems &problems);
};

/// Checks that pieces, each of some UTF-8 text and a finite score, are a model, and finds the
/// unknown one; `list` is their place in the file.
void checkPieces(SentencePieceFile &file, const std::string &path, const std::string &list,
                 Problems &problems);

} // namespace fovea

#endif // FOVEA_FRONTEND_TOKENIZER_SENTENCEPIECEFILE_H
