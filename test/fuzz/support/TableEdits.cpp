// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TableEdits.h. A walk over the objects lists the edits that there are; one of them is made. A
// new field of a schema needs its line here, or it is never changed.
#include "test/fuzz/support/TableEdits.h"

#include "artifact/ManifestCheck.h"
#include "test/fuzz/support/Fuzz.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

namespace fovea::fuzz {

namespace {

class Edits {
public:
  explicit Edits(Random &random) : random(random) {}

  void makeOne() {
    if (!edits.empty())
      random.of(edits)();
  }

  template <typename T> std::enable_if_t<std::is_integral_v<T>> add(T &number) {
    edits.push_back([&] { number = static_cast<T>(changedNumber(number, random)); });
  }
  void add(double &number) {
    edits.push_back([&] {
      const double numbers[] = {0,        -1,        1e300,        -1e300,
                                HUGE_VAL, -HUGE_VAL, std::nan(""), 2 * number};
      number = random.of(numbers);
    });
  }
  void add(bool &flag) {
    edits.push_back([&] { flag = !flag; });
  }
  template <typename T> std::enable_if_t<std::is_enum_v<T>> add(T &word) {
    edits.push_back([&] { word = static_cast<T>(random.below(14)); });
  }
  void add(std::string &text) {
    edits.push_back([&] {
      if (random.oneIn(3))
        text = random.of(texts);
      else
        changeText(text, random);
    });
    texts.push_back(text);
  }
  /// A table that may be absent.
  template <typename T> void add(std::unique_ptr<T> &table) {
    edits.push_back([&] {
      if (table && random.oneIn(4))
        table.reset();
      else if (!table)
        table = std::make_unique<T>();
    });
    if (table)
      add(*table);
  }
  template <typename T> void add(std::vector<T> &list) {
    edits.push_back([&] { changeList(list); });
    // Of long lists of numbers a few: the other edits would drown in them.
    size_t count = std::is_arithmetic_v<T> ? std::min<size_t>(list.size(), 8) : list.size();
    for (size_t i = 0; i < count; ++i)
      addElement(list[count == list.size() ? i : random.below(list.size())]);
  }

  // The manifest.
  void add(manifest::ModelInfoT &model) {
    addAll(model.architecture, model.name, model.kind, model.begin_token, model.end_tokens,
           model.padding_token, model.vocabulary_size, model.max_positions, model.max_text_tokens,
           model.suppressed_tokens, model.labels, model.score_function, model.forced_begin_token,
           model.forced_end_token, model.min_tokens, model.no_repeat_ngram, model.images,
           model.begin_suppressed_tokens, model.prompt, model.sampling_rate);
  }
  void add(manifest::ImageSettings &images) {
    edits.push_back([&] {
      auto change = [&](int32_t number) {
        return static_cast<int32_t>(changedNumber(number, random));
      };
      double mean[4] = {}, deviation[4] = {1, 1, 1, 1};
      images =
          manifest::ImageSettings(images.scale(), mean, deviation, change(images.resize_height()),
                                  change(images.resize_width()), change(images.shortest_edge()),
                                  change(images.crop_height()), change(images.crop_width()),
                                  static_cast<manifest::ImageFilter>(random.below(14)));
    });
  }
  void add(manifest::PromptTokenT &token) {
    addAll(token.name, token.token, token.values, token.tokens);
  }
  void add(manifest::ValueT &value) {
    addAll(value.name, value.kind, value.element, value.shape, value.dims, value.heads, value.size,
           value.continues, value.role);
  }
  void add(manifest::KernelT &kernel) {
    addAll(kernel.name, kernel.description, kernel.fallback, kernel.schedule, kernel.threads,
           kernel.shared_bytes, kernel.persistent);
  }
  void add(manifest::StepT &step) { addAll(step.kernel, step.location, step.flops, step.bytes); }
  void add(manifest::EntryT &entry) {
    addAll(entry.name, entry.arguments, entry.results, entry.locals, entry.max_positions,
           entry.steps, entry.sequence, entry.kind);
  }
  void add(manifest::ProgramT &program) { addAll(program.locals, program.steps); }
  void add(manifest::Range &range) {
    edits.push_back([&] {
      range = random.oneIn(2)
                  ? manifest::Range(range.offset(), changedNumber(range.bytes(), random))
                  : manifest::Range(changedNumber(range.offset(), random), range.bytes());
    });
  }
  void add(Panels &panels) { addAll(panels.width, panels.interleave); }
  void add(manifest::DeviceT &device) {
    addAll(device.chip, device.ptx, device.cubin, device.host, device.kernels, device.programs,
           device.layouts);
  }
  void add(manifest::VariantT &variant) {
    addAll(variant.name, variant.cpu_features, variant.code, variant.kernels, variant.programs);
  }
  void add(manifest::WeightT &weight) {
    addAll(weight.name, weight.element, weight.shape, weight.panels, weight.offset, weight.bytes);
  }
  void add(manifest::ManifestT &manifest) {
    addAll(manifest.compiler, manifest.model, manifest.cpu_features, manifest.entries,
           manifest.kernels, manifest.weights, manifest.fusion_report, manifest.devices,
           manifest.target, manifest.variants);
  }

  // A tokenizer's tables.
  void add(tables::PatternT &pattern) { addAll(pattern.literal, pattern.regex); }
  void add(tables::CharacterMapT &characters) { addAll(characters.trie, characters.replacements); }
  void add(tables::NormalizerT &normalizer) {
    addAll(normalizer.kind, normalizer.pattern, normalizer.content, normalizer.clean_text,
           normalizer.handle_chinese, normalizer.strip_accents, normalizer.lowercase,
           normalizer.left, normalizer.right, normalizer.characters, normalizer.dummy_prefix,
           normalizer.space_suffix, normalizer.remove_extra_spaces, normalizer.escape_spaces,
           normalizer.symbols);
  }
  void add(tables::AddedTokenT &token) {
    addAll(token.id, token.content, token.single_word, token.left_strip, token.right_strip,
           token.normalized, token.special);
  }
  void add(tables::PreTokenizerT &split) {
    addAll(split.kind, split.pattern, split.behavior, split.invert, split.add_prefix_space,
           split.replacement, split.prepend_scheme, split.split);
  }
  void add(tables::VocabularyT &vocabulary) {
    addAll(vocabulary.text, vocabulary.offsets, vocabulary.empty_token, vocabulary.slots);
  }
  void add(tables::Merge &merge) {
    edits.push_back([&] {
      auto change = [&](uint32_t number) {
        return random.oneIn(2) ? number : static_cast<uint32_t>(changedNumber(number, random));
      };
      merge = tables::Merge(change(merge.right()), change(merge.rank()), change(merge.result()));
    });
  }
  void add(tables::PieceTrieT &trie) { addAll(trie.labels, trie.first_children, trie.pieces); }
  void add(tables::ModelT &model) {
    addAll(model.kind, model.vocabulary, model.merge_rows, model.merges, model.unknown,
           model.continuing_prefix, model.end_suffix, model.fuse_unknown, model.byte_fallback,
           model.ignore_merges, model.max_characters, model.scores, model.trie, model.piece_kinds,
           model.piece_ids);
  }
  void add(tables::PieceT &piece) { addAll(piece.sequence, piece.ids, piece.type_id); }
  void add(tables::DecoderT &decoder) {
    addAll(decoder.kind, decoder.pattern, decoder.content, decoder.cleanup, decoder.start,
           decoder.stop, decoder.prepend_scheme, decoder.byte_tokens, decoder.dummy_prefix,
           decoder.remove_extra_spaces, decoder.trim);
  }
  void add(tables::TruncationT &truncation) {
    addAll(truncation.max_length, truncation.strategy, truncation.left);
  }
  void add(tables::ChatTemplateT &chat) { addAll(chat.name, chat.text, chat.file); }
  void add(tables::NamedTokenT &token) { addAll(token.name, token.content); }
  void add(tables::TokenizerT &table) {
    addAll(table.normalizers, table.added_tokens, table.pre_tokenizers, table.model, table.single,
           table.pair, table.decoders, table.truncation, table.begin_token, table.end_token,
           table.unknown_token, table.pad_token, table.model_max_length, table.language_codes,
           table.chat_templates, table.named_tokens);
  }

private:
  template <typename... T> void addAll(T &...places) { (add(places), ...); }

  template <typename T> void addElement(T &value) { add(value); }
  /// FlatBuffers cannot write a list with a gap.
  template <typename T> void addElement(std::unique_ptr<T> &value) {
    if (value)
      add(*value);
  }

  template <typename T> static T copyOf(const T &value) { return value; }
  template <typename T> static std::unique_ptr<T> copyOf(const std::unique_ptr<T> &value) {
    return value ? std::make_unique<T>(*value) : nullptr;
  }
  template <typename T> static T emptyOf(const std::vector<T> &) { return T(); }
  template <typename T> static std::unique_ptr<T> emptyOf(const std::vector<std::unique_ptr<T>> &) {
    return std::make_unique<T>();
  }

  template <typename T> void changeList(std::vector<T> &list) {
    size_t at = random.below(list.size());
    auto place = list.begin() + static_cast<ptrdiff_t>(at);
    if (list.empty())
      list.push_back(emptyOf(list));
    else if (random.oneIn(3))
      list.erase(place);
    else if (random.oneIn(2))
      list.push_back(copyOf(list[at]));
    else
      std::swap(list[at], list[random.below(list.size())]);
  }

  Random &random;
  std::vector<std::function<void()>> edits;
  std::vector<std::string> texts = {"", "fovea.panels<16>", "fovea.panels<16, interleave = 2>",
                                    "fovea.panels<0>", "fovea.panels<99999999999999999999>"};
};

template <typename Table> std::string packed(const Table &table) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Table::TableType::Pack(builder, &table));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
}

template <typename Table> bool isWellFormed(const uint8_t *data, size_t size) {
  if constexpr (std::is_same_v<Table, manifest::Manifest>)
    return artifact::isWellFormed(data, size);
  flatbuffers::Verifier verifier(data, size);
  return verifier.VerifyBuffer<Table>(nullptr);
}

template <typename Table>
std::unique_ptr<typename Table::NativeTableType> unpacked(std::string_view bytes) {
  // FlatBuffers ask for alignment.
  std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char *>(aligned.data()));
  const auto *data = reinterpret_cast<const uint8_t *>(aligned.data());
  if (bytes.empty() || !isWellFormed<Table>(data, bytes.size()))
    return nullptr;
  return std::unique_ptr<typename Table::NativeTableType>(
      flatbuffers::GetRoot<Table>(data)->UnPack());
}

/// Whether it has the tables that its schema requires.
bool isWhole(const manifest::ManifestT &table) { return table.model != nullptr; }

bool isWhole(const tables::TokenizerT &table) { return table.model && table.model->vocabulary; }

template <typename Table>
size_t mutate(std::unique_ptr<Table> table, uint8_t *data, size_t size, size_t most,
              Random &random) {
  if (!table || random.oneIn(16))
    return LLVMFuzzerMutate(data, size, most);
  for (size_t changes = 1 + random.below(3); changes; --changes)
    changeTable(*table, random);
  std::string bytes = pack(*table);
  return bytes.empty() ? size : give(bytes, data, size, most);
}

} // namespace

void changeTable(manifest::ManifestT &table, Random &random) {
  Edits edits(random);
  edits.add(table);
  edits.makeOne();
}

void changeTable(tables::TokenizerT &table, Random &random) {
  Edits edits(random);
  edits.add(table);
  edits.makeOne();
}

std::unique_ptr<manifest::ManifestT> unpackManifest(std::string_view bytes) {
  return unpacked<manifest::Manifest>(bytes);
}

std::unique_ptr<tables::TokenizerT> unpackTokenizer(std::string_view bytes) {
  return unpacked<tables::Tokenizer>(bytes);
}

std::string pack(const manifest::ManifestT &table) { return isWhole(table) ? packed(table) : ""; }

std::string pack(const tables::TokenizerT &table) {
  if (!isWhole(table))
    return "";
  flatbuffers::FlatBufferBuilder builder;
  tables::FinishTokenizerBuffer(builder, tables::Tokenizer::Pack(builder, &table));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
}

size_t mutateManifest(uint8_t *data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  return mutate(unpackManifest({reinterpret_cast<char *>(data), size}), data, size, most, random);
}

size_t mutateTokenizer(uint8_t *data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  return mutate(unpackTokenizer({reinterpret_cast<char *>(data), size}), data, size, most, random);
}

} // namespace fovea::fuzz
