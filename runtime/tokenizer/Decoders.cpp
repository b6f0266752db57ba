// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the decoders of a tokenizer and chains their stages, which give out what
// can no longer change.
#include "runtime/tokenizer/Decoders.h"

#include "artifact/Tokenizer_generated.h"

using namespace fovea;
using tables::DecoderKind;
using tables::PrependScheme;

namespace {
class TokenStage : public DecoderStage {
public:
  explicit TokenStage(TokenFunction function) : function(std::move(function)) {}
  void push(std::string item, const Emit &emit) override {
    emit(function(std::move(item), index++));
  }

private:
  TokenFunction function;
  size_t index = 0;
};

/// The same function of the whole text, which is token 0.
class WholeTextStage : public DecoderStage {
public:
  explicit WholeTextStage(TokenFunction function) : function(std::move(function)) {}
  void push(std::string item, const Emit &) override { text += item; }
  void finish(const Emit &emit) override { emit(function(std::move(text), 0)); }

private:
  TokenFunction function;
  std::string text;
};

/// Passes on; what follows sees one text.
class FuseStage : public DecoderStage {
public:
  void push(std::string item, const Emit &emit) override { emit(std::move(item)); }
};
} // namespace

std::unique_ptr<DecoderStage> fovea::makeTokenStage(TokenFunction function, bool ofText) {
  if (ofText)
    return std::make_unique<WholeTextStage>(std::move(function));
  return std::make_unique<TokenStage>(std::move(function));
}

bool Decoders::open(const tables::Tokenizer &table, std::string &error) {
  if (!table.decoders())
    return true;
  if (table.decoders()->size() > 16) {
    error = "expects at most 16 decoders, got " + std::to_string(table.decoders()->size());
    return false;
  }
  for (const tables::Decoder *entry : *table.decoders()) {
    Step step{entry, nullptr};
    DecoderKind kind = entry->kind();
    if (kind > DecoderKind::MAX || entry->prepend_scheme() > PrependScheme::MAX) {
      error = "expects a known decoder, got kind " + std::to_string(int(kind));
      return false;
    }
    bool needsContent = kind == DecoderKind::WordPiece || kind == DecoderKind::Strip ||
                        kind == DecoderKind::Replace || kind == DecoderKind::Metaspace ||
                        kind == DecoderKind::Bpe;
    bool mayBeEmpty = kind == DecoderKind::WordPiece || kind == DecoderKind::Replace;
    if (needsContent && (!entry->content() || (!mayBeEmpty && entry->content()->size() == 0))) {
      error = "expects content in a decoder";
      return false;
    }
    if (kind == DecoderKind::Replace && !(step.pattern = openPattern(entry->pattern(), error)))
      return false;
    steps.push_back(std::move(step));
  }
  return true;
}

std::vector<std::unique_ptr<DecoderStage>> Decoders::start() const {
  std::vector<std::unique_ptr<DecoderStage>> stages;
  bool ofText = false; // whether all tokens are one by now
  for (const Step &step : steps) {
    const tables::Decoder &table = *step.table;
    switch (table.kind()) {
    case DecoderKind::ByteLevel:
      stages.push_back(makeByteLevelStage(ofText));
      ofText = true;
      break;
    case DecoderKind::WordPiece:
      stages.push_back(makeWordPieceStage(table, ofText));
      break;
    case DecoderKind::ByteFallback:
      stages.push_back(makeByteFallbackStage(ofText));
      break;
    case DecoderKind::Fuse:
      stages.push_back(std::make_unique<FuseStage>());
      ofText = true;
      break;
    case DecoderKind::Strip:
      stages.push_back(makeStripStage(table, ofText));
      break;
    case DecoderKind::Replace:
      stages.push_back(makeReplaceStage(table, *step.pattern, ofText));
      break;
    case DecoderKind::Metaspace:
      stages.push_back(makeMetaspaceStage(table, ofText));
      break;
    case DecoderKind::Bpe:
      stages.push_back(makeBpeStage(table, ofText));
      break;
    case DecoderKind::SentencePiece:
      stages.push_back(makeSentencePieceStage(table, ofText));
      ofText = true;
      break;
    }
  }
  if (steps.empty())
    stages.push_back(std::make_unique<TokenStage>(
        [](std::string token, size_t index) { return index > 0 ? " " + token : token; }));
  return stages;
}
