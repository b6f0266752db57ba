// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of a SentencePiece model.
#include "frontend/tokenizer/SentencePieceFile.h"
#include "frontend/tokenizer/SentencePieceTokens.h"
#include "frontend/tokenizer/TableWriter.h"

#include <algorithm>

using namespace fovea;
using namespace fovea::tables;

namespace {
using PieceType = SentencePieceFile::PieceType;

class ModelTables {
public:
  ModelTables(TableWriter &writer, const SentencePieceFile &file, const SentencePieceTokens &tokens)
      : writer(writer), file(file), tokens(tokens) {}

  /// Of all texts: of two tokens with one text the reserved one is found.
  TokenIds vocabulary() const {
    TokenIds ids;
    for (size_t id = 0; id < tokens.texts.size(); ++id)
      if (!tokens.texts[id].empty())
        ids.emplace(tokens.texts[id], static_cast<int32_t>(id));
    for (size_t i = 0; i < file.pieces.size(); ++i)
      if (kindOf(file.pieces[i]) == PieceKind::Reserved && !tokens.isMarian)
        ids[file.pieces[i].text] = idOf(i);
    return ids;
  }

  flatbuffers::Offset<tables::Model> writeModel(const TokenIds &ids) {
    std::vector<std::string_view> texts(tokens.texts.begin(), tokens.texts.end());
    std::vector<double> scores;
    std::vector<PieceKind> kinds;
    PieceTexts pieces;
    for (size_t i = 0; i < file.pieces.size(); ++i) {
      const SentencePieceFile::Piece &piece = file.pieces[i];
      scores.push_back(double(piece.score));
      kinds.push_back(kindOf(piece));
      if (kinds.back() != PieceKind::Reserved)
        pieces.emplace_back(piece.text, static_cast<int32_t>(i));
    }
    auto trie = writeTrie(writer, std::move(pieces), "pieces");
    auto words = writeVocabulary(writer, ids, texts);
    auto scoresOffset = writer.builder.CreateVector(scores);
    auto kindsOffset = writer.builder.CreateVector(kinds);
    flatbuffers::Offset<flatbuffers::Vector<int32_t>> idsOffset;
    if (!tokens.pieceIds.empty())
      idsOffset = writer.builder.CreateVector(tokens.pieceIds);
    ModelBuilder builder(writer.builder);
    builder.add_kind(file.type == SentencePieceFile::ModelType::Bpe
                         ? ModelKind::SentencePieceBpe
                         : ModelKind::SentencePieceUnigram);
    builder.add_vocabulary(words);
    builder.add_unknown(tokens.unknown);
    builder.add_byte_fallback(file.byteFallback);
    builder.add_scores(scoresOffset);
    builder.add_trie(trie);
    builder.add_piece_kinds(kindsOffset);
    builder.add_piece_ids(idsOffset);
    return builder.Finish();
  }

  flatbuffers::Offset<Normalizer> writeNormalizer() {
    std::vector<std::string> symbols;
    for (const SentencePieceFile::Piece &piece : file.pieces)
      if (piece.type == PieceType::UserDefined)
        symbols.push_back(piece.text);
    std::sort(symbols.begin(), symbols.end());
    auto symbolsOffset = writer.builder.CreateVectorOfStrings(symbols);
    flatbuffers::Offset<CharacterMap> characters;
    if (!file.characterMap.empty())
      characters =
          writeCharacterMap(writer, file.characterMap, "normalizer_spec.precompiled_charsmap");
    NormalizerBuilder builder(writer.builder);
    builder.add_kind(NormalizerKind::SentencePiece);
    builder.add_characters(characters);
    builder.add_dummy_prefix(tokens.dummyPrefix);
    builder.add_space_suffix(file.spaceIsSuffix);
    builder.add_remove_extra_spaces(file.removeExtraSpaces);
    builder.add_escape_spaces(file.escapeSpaces);
    builder.add_symbols(symbolsOffset);
    return builder.Finish();
  }

  flatbuffers::Offset<Decoder> writeDecoder() {
    DecoderBuilder builder(writer.builder);
    builder.add_kind(DecoderKind::SentencePiece);
    builder.add_byte_tokens(file.byteFallback);
    builder.add_dummy_prefix(file.addDummyPrefix);
    builder.add_remove_extra_spaces(file.removeExtraSpaces);
    builder.add_trim(tokens.isMarian);
    return builder.Finish();
  }

  TableOffsets<AddedToken> writeExtra() {
    TableOffsets<AddedToken> result;
    for (const auto &[id, token] : tokens.extra)
      result.push_back(CreateAddedTokenDirect(writer.builder, id, token.text.c_str(),
                                              token.singleWord, token.leftStrip, token.rightStrip,
                                              /*normalized=*/false, token.isSpecial));
    return result;
  }

private:
  static PieceKind kindOf(const SentencePieceFile::Piece &piece) {
    switch (piece.type) {
    case PieceType::Normal:
      return PieceKind::Normal;
    case PieceType::UserDefined:
      return PieceKind::UserDefined;
    case PieceType::Unused:
      return PieceKind::Unused;
    default:
      return PieceKind::Reserved;
    }
  }
  int32_t idOf(size_t piece) const {
    return tokens.pieceIds.empty() ? static_cast<int32_t>(piece) : tokens.pieceIds[piece];
  }

  TableWriter &writer;
  const SentencePieceFile &file;
  const SentencePieceTokens &tokens;
};
} // namespace

TokenizerParts fovea::writeSentencePiece(TableWriter &writer, const SentencePieceFile &file,
                                         const SentencePieceTokens &tokens, TokenIds &ids) {
  ModelTables tables(writer, file, tokens);
  ids = tables.vocabulary();
  TokenizerParts parts;
  parts.model = tables.writeModel(ids);
  parts.normalizers = {tables.writeNormalizer()};
  parts.decoders = {tables.writeDecoder()};
  parts.added = tables.writeExtra();
  parts.templates = tokens.templates;
  return parts;
}

void fovea::compileSentencePiece(TableWriter &writer, std::vector<uint8_t> &result) {
  std::optional<SentencePieceFile> file = SentencePieceFile::open(writer.file, writer.problems);
  if (!file)
    return;
  SentencePieceTokens tokens = readSentencePieceTokens(writer, *file);
  if (hasErrors(writer.problems))
    return;
  TokenIds ids, extraIds;
  TokenizerParts parts = writeSentencePiece(writer, *file, tokens, ids);
  for (const auto &[id, token] : tokens.extra)
    extraIds.emplace(token.text, id);
  parts.settings = readSettings(writer, nullptr, ids, extraIds);
  parts.hasLanguageCodes = tokens.isMarian;
  finishTables(writer, parts, result);
}
