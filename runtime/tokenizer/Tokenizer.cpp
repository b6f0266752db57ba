// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens the tables and chains the parts: added tokens, normalizers, added
// tokens in normalized text, pre-tokenizers, model, template.
#include "runtime/tokenizer/Tokenizer.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/Decoders.h"
#include "runtime/tokenizer/Model.h"
#include "runtime/tokenizer/Normalizers.h"
#include "runtime/tokenizer/PreTokenizers.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace fovea;

struct Tokenizer::State {
  const tables::Tokenizer *table = nullptr;
  Normalizers normalizers;
  AddedTokens addedTokens;
  PreTokenizers preTokenizers;
  Model model;
  Decoders decoders;
  size_t size = 0;
};

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state(std::move(state)) {}
Tokenizer::~Tokenizer() = default;

namespace {
using Pieces = flatbuffers::Vector<flatbuffers::Offset<tables::Piece>>;

bool checkPieces(const Pieces &pieces, std::string &error) {
  for (const tables::Piece *piece : pieces)
    if (piece->sequence() < -1 || piece->sequence() > 1) {
      error = "expects sequence 0 or 1 in a template, got " + std::to_string(piece->sequence());
      return false;
    }
  return true;
}

size_t specialTokensOf(const Pieces &pieces) {
  size_t count = 0;
  for (const tables::Piece *piece : pieces)
    if (piece->sequence() < 0 && piece->ids())
      count += piece->ids()->size();
  return count;
}

Tokenizer::Encoding fill(const Pieces &pieces, const std::vector<int32_t> (&sequences)[2],
                         bool addSpecialTokens) {
  Tokenizer::Encoding result;
  for (const tables::Piece *piece : pieces) {
    if (piece->sequence() >= 0) {
      const std::vector<int32_t> &ids = sequences[piece->sequence()];
      result.ids.insert(result.ids.end(), ids.begin(), ids.end());
    } else if (addSpecialTokens && piece->ids()) {
      result.ids.insert(result.ids.end(), piece->ids()->begin(), piece->ids()->end());
    }
    result.typeIds.resize(result.ids.size(), piece->type_id());
    result.texts.resize(result.ids.size(), piece->sequence());
  }
  return result;
}
} // namespace

std::unique_ptr<Tokenizer> Tokenizer::open(const uint8_t *data, size_t size, std::string &error) {
  if (!data || reinterpret_cast<uintptr_t>(data) % 8 != 0) {
    error = "tokenizer tables: expects data aligned to 8 bytes";
    return nullptr;
  }
  flatbuffers::Verifier verifier(data, size, /*max_depth=*/16, /*max_tables=*/10000000);
  if (size < 8 || size >= FLATBUFFERS_MAX_BUFFER_SIZE || !tables::VerifyTokenizerBuffer(verifier)) {
    error = "tokenizer tables: expects a whole table of kind FTOK, got damaged data";
    return nullptr;
  }
  auto state = std::make_unique<State>();
  const tables::Tokenizer *table = state->table = tables::GetTokenizer(data);
  if (!checkPieces(*table->single(), error) || !checkPieces(*table->pair(), error) ||
      !state->normalizers.open(*table, error) ||
      !state->addedTokens.open(*table, state->normalizers, error) ||
      !state->preTokenizers.open(*table, error) || !state->model.open(*table, error) ||
      !state->decoders.open(*table, error)) {
    error = "tokenizer tables: " + error;
    return nullptr;
  }
  state->size = state->model.vocabulary().size();
  if (table->added_tokens())
    for (const tables::AddedToken *token : *table->added_tokens())
      state->size = std::max(state->size, static_cast<size_t>(token->id()) + 1);
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(state)));
}

size_t Tokenizer::encodeLanguage(std::string_view text, std::vector<int32_t> &ids) const {
  size_t end = text.substr(0, 2) == ">>" ? text.find("<<") : std::string_view::npos;
  if (end == std::string_view::npos)
    return 0;
  int32_t id = state->model.vocabulary().find(text.substr(0, end + 2));
  ids.push_back(id >= 0 ? id : state->table->model()->unknown());
  return end + 2;
}

std::vector<int32_t> Tokenizer::encodeSequence(std::string_view input) const {
  std::string text;
  text.reserve(input.size());
  appendLossy(text, input, /*atEnd=*/true);
  std::vector<int32_t> ids;
  auto encodeWords = [&](const Text &part, size_t begin, size_t end) {
    Text piece{part.bytes.substr(begin, end - begin),
               part.origin > begin ? std::min(part.origin - begin, end - begin) : 0};
    Words words = state->preTokenizers.apply(std::move(piece));
    for (size_t i = 0; i < words.words.size(); ++i)
      state->model.encode(words[i], ids);
  };
  auto encodePart = [&](int32_t id, size_t begin, size_t end) {
    if (id >= 0) {
      ids.push_back(id);
      return;
    }
    if (state->table->language_codes())
      begin += encodeLanguage(std::string_view(text).substr(begin, end - begin), ids);
    if (begin == end)
      return;
    Text part{text.substr(begin, end - begin), 0};
    if (begin == 0)
      part.origin = utf8At(part.bytes, 0).size;
    state->normalizers.apply(part);
    state->addedTokens.split(part.bytes, /*normalized=*/true,
                             [&](int32_t found, size_t first, size_t last) {
                               if (found >= 0)
                                 ids.push_back(found);
                               else
                                 encodeWords(part, first, last);
                             });
  };
  state->addedTokens.split(text, /*normalized=*/false, encodePart);
  return ids;
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool addSpecialTokens) const {
  return encodeSingle(text, addSpecialTokens).ids;
}

Tokenizer::Encoding Tokenizer::encodeSingle(std::string_view text, bool addSpecialTokens,
                                            size_t maxTokens) const {
  const Pieces &pieces = *state->table->single();
  std::vector<int32_t> sequences[2] = {encodeSequence(text), {}};
  if (maxTokens > 0) {
    size_t special = addSpecialTokens ? specialTokensOf(pieces) : 0;
    size_t room = maxTokens > special ? maxTokens - special : 0;
    if (sequences[0].size() > room)
      sequences[0].resize(room);
  }
  return fill(pieces, sequences, addSpecialTokens);
}

Tokenizer::Encoding Tokenizer::encodePair(std::string_view first, std::string_view second,
                                          bool addSpecialTokens, size_t maxTokens) const {
  const Pieces &pieces = *state->table->pair();
  std::vector<int32_t> sequences[2] = {encodeSequence(first), encodeSequence(second)};
  if (maxTokens > 0) {
    size_t special = addSpecialTokens ? specialTokensOf(pieces) : 0;
    size_t room = maxTokens > special ? maxTokens - special : 0;
    auto &shorter = sequences[sequences[0].size() > sequences[1].size()];
    auto &longer = &shorter == &sequences[0] ? sequences[1] : sequences[0];
    if (shorter.size() + longer.size() > room) {
      size_t left = std::max(shorter.size(), room > shorter.size() ? room - shorter.size() : 0);
      if (shorter.size() + left > room) {
        shorter.resize(std::min(shorter.size(), room / 2));
        left = room / 2 + room % 2;
      }
      longer.resize(std::min(longer.size(), left));
    }
  }
  return fill(pieces, sequences, addSpecialTokens);
}

std::string Tokenizer::decode(const int32_t *ids, size_t count, bool skipSpecial) const {
  StreamDecoder stream(*this, skipSpecial);
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += stream.push(ids[i]);
  return out += stream.finish();
}

size_t Tokenizer::size() const { return state->size; }

int32_t Tokenizer::find(std::string_view token) const {
  if (state->table->added_tokens())
    for (const tables::AddedToken *added : *state->table->added_tokens())
      if (added->content()->string_view() == token)
        return added->id();
  return state->model.vocabulary().find(token);
}

std::optional<std::string> Tokenizer::tokenText(int32_t id) const {
  if (const std::string *added = state->addedTokens.text(id))
    return *added;
  if (auto found = state->model.vocabulary().text(id))
    return std::string(*found);
  return std::nullopt;
}

bool Tokenizer::isSpecial(int32_t id) const {
  const std::string *added = state->addedTokens.text(id);
  return added && state->addedTokens.isSpecial(*added);
}

std::vector<Tokenizer::ChatTemplate> Tokenizer::chatTemplates() const {
  std::vector<ChatTemplate> all;
  if (const auto *templates = state->table->chat_templates())
    for (const tables::ChatTemplate *one : *templates)
      all.push_back({one->name()->string_view(), one->text()->string_view(),
                     one->file() ? one->file()->string_view() : std::string_view()});
  return all;
}

std::vector<std::pair<std::string_view, std::string_view>> Tokenizer::namedTokens() const {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  if (const auto *tokens = state->table->named_tokens())
    for (const tables::NamedToken *one : *tokens)
      all.emplace_back(one->name()->string_view(), one->content()->string_view());
  return all;
}

int32_t Tokenizer::beginToken() const { return state->table->begin_token(); }
int32_t Tokenizer::endToken() const { return state->table->end_token(); }
int32_t Tokenizer::unknownToken() const { return state->table->unknown_token(); }
int32_t Tokenizer::padToken() const { return state->table->pad_token(); }

Tokenizer::Truncation Tokenizer::truncation() const {
  const tables::Truncation *found = state->table->truncation();
  return {found ? found->max_length() : size_t(0)};
}

StreamDecoder::StreamDecoder(const Tokenizer &tokenizer, bool skipSpecial)
    : tokenizer(&tokenizer), skipSpecial(skipSpecial), stages(tokenizer.state->decoders.start()) {}
StreamDecoder::~StreamDecoder() = default;
StreamDecoder::StreamDecoder(StreamDecoder &&) noexcept = default;

void StreamDecoder::run(size_t stage, std::string item, std::string &out) {
  passed += item.size();
  checkGrowth("decoders", passed, received, 4 * (stages.size() + 1));
  if (stage == stages.size()) {
    out += item;
    return;
  }
  stages[stage]->push(std::move(item),
                      [&](std::string next) { run(stage + 1, std::move(next), out); });
}

std::string StreamDecoder::push(int32_t id) {
  std::string out;
  if (std::optional<std::string> token = tokenizer->tokenText(id))
    if (!skipSpecial || !tokenizer->state->addedTokens.isSpecial(*token)) {
      received += token->size();
      run(0, std::move(*token), out);
    }
  return out;
}

std::string StreamDecoder::finish() {
  std::string out;
  for (size_t i = 0; i < stages.size(); ++i)
    stages[i]->finish([&](std::string next) { run(i + 1, std::move(next), out); });
  return out;
}
