// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TestArtifact.h. The code is compiled from TestCode.c by the build; its path
// is FOVEA_TEST_CODE, and FOVEA_TEST_CODE_TOKENS with the result next_token.
#include "test/unit/support/TestArtifact.h"

#include "artifact/ArtifactWriter.h"
#include "frontend/tokenizer/TokenizerCompiler.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace fovea::test {

using manifest::ElementType;
using manifest::EntryKind;
using manifest::Role;
using manifest::ValueKind;

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "fovea-test-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw std::runtime_error("cannot make a folder");
  path = name;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path); }

namespace {

std::unique_ptr<manifest::ValueT> tensor(const char *name, ElementType element,
                                         std::vector<int64_t> shape, std::vector<std::string> dims,
                                         Role role = Role::None) {
  auto value = std::make_unique<manifest::ValueT>();
  value->name = name;
  value->element = element;
  value->shape = std::move(shape);
  value->dims = std::move(dims);
  value->role = role;
  return value;
}

std::unique_ptr<manifest::ValueT> cache(const char *name, int continues) {
  auto value = std::make_unique<manifest::ValueT>();
  value->name = name;
  value->kind = ValueKind::Cache;
  value->element = ElementType::F32;
  value->heads = 1;
  value->size = 1;
  value->dims = {"batch"};
  value->continues = continues;
  return value;
}

class Maker {
public:
  explicit Maker(bool tokens) : tokens(tokens) {}

  manifest::ManifestT make() {
    manifest.compiler = "by hand";
    manifest.model = std::make_unique<manifest::ModelInfoT>();
    manifest.model->architecture = "counting";
    manifest.model->name = "test";
    manifest.model->kind = manifest::ModelKind::Decoder;
    manifest.model->begin_token = 0;
    manifest.model->end_tokens = {1};
    manifest.model->vocabulary_size = 32;
    manifest.model->max_positions = 64;
    manifest.model->max_text_tokens = 16;
    manifest.model->labels = {"no", "yes"};
    manifest.model->score_function = manifest::ScoreFunction::Sigmoid;
    const double mean[4] = {0.5, 0.5, 0.5, 0}, deviation[4] = {0.25, 0.25, 0.25, 0};
    manifest.model->images = std::make_unique<manifest::ImageSettings>(
        1.0 / 255, mean, deviation, 0, 0, 8, 6, 7, manifest::ImageFilter::Bicubic);
    manifest.cpu_features = {"sse2"};
    auto *add = entry("add", 1, 5);
    add->steps[0]->flops = 3;
    add->steps[0]->bytes = 4;
    manifest.kernels.back()->description = "sum by hand";
    manifest.kernels.back()->schedule = "by rows";
    add->arguments.push_back(tensor("a", ElementType::F32, {-1, 3}, {"rows", ""}));
    add->arguments.push_back(tensor("b", ElementType::F32, {-1, 3}, {"rows", ""}));
    add->results.push_back(tensor("sum", ElementType::F32, {-1, 3}, {"rows", ""}));
    auto *wave = entry("wave", 40, 2);
    wave->arguments.push_back(tensor("x", ElementType::F32, {-1}, {"n"}));
    wave->results.push_back(tensor("y", ElementType::F32, {-1}, {"n"}));
    auto *fault = entry("fault", 3, 2);
    fault->arguments.push_back(tensor("ids", ElementType::I64, {-1}, {"n"}));
    fault->results.push_back(tensor("out", ElementType::I64, {-1}, {"n"}));
    for (auto [name, kind] : {std::make_pair("prefill", EntryKind::Prefill),
                              std::make_pair("decode", EntryKind::Decode)}) {
      auto *model = entry(name, 2, 7, kind);
      model->max_positions = 64;
      model->arguments.push_back(ids("input_ids", Role::TokenIds));
      model->arguments.push_back(cache("key_cache.0", -1));
      model->results.push_back(
          tensor("logits", ElementType::F32, {-1, 32}, {"batch", ""}, Role::Logits));
      model->results.push_back(cache("key_cache.0", 1));
      if (tokens)
        model->results.push_back(
            tensor("next_token", ElementType::I64, {-1}, {"batch"}, Role::NextToken));
    }
    auto *forward = entry("forward", 1, 4, EntryKind::Forward);
    forward->max_positions = 64;
    forward->arguments.push_back(ids("input_ids", Role::TokenIds));
    forward->results.push_back(
        tensor("logits", ElementType::F32, {-1, -1, 32}, {"batch", "sequence", ""}, Role::Logits));
    auto *embed = entry("embed", 1, 4, EntryKind::Embed);
    embed->arguments.push_back(ids("input_ids", Role::TokenIds));
    embed->arguments.push_back(ids("attention_mask", Role::AttentionMask));
    embed->arguments.push_back(ids("token_type_ids", Role::TokenTypes));
    embed->results.push_back(
        tensor("embedding", ElementType::F32, {-1, 2}, {"batch", ""}, Role::Embedding));
    auto *verify = entry("verify", 2, 6);
    verify->max_positions = 64;
    verify->arguments.push_back(ids("input_ids", Role::TokenIds));
    verify->arguments.push_back(cache("key_cache.0", -1));
    verify->results.push_back(
        tensor("logits", ElementType::F32, {-1, -1, 32}, {"batch", "sequence", ""}, Role::Logits));
    verify->results.push_back(cache("key_cache.0", 1));
    return std::move(manifest);
  }

private:
  static std::unique_ptr<manifest::ValueT> ids(const char *name, Role role) {
    return tensor(name, ElementType::I64, {-1, -1}, {"batch", "sequence"}, role);
  }

  manifest::EntryT *entry(const std::string &name, int steps, uint32_t locals,
                          EntryKind kind = EntryKind::Generic) {
    auto made = std::make_unique<manifest::EntryT>();
    made->name = name;
    made->kind = kind;
    made->sequence = "sequence";
    made->locals = locals;
    for (int i = 0; i < steps; ++i) {
      auto kernel = std::make_unique<manifest::KernelT>();
      kernel->name = name + "_" + std::to_string(i);
      auto step = std::make_unique<manifest::StepT>();
      step->kernel = static_cast<uint32_t>(manifest.kernels.size());
      step->location = "test." + name;
      manifest.kernels.push_back(std::move(kernel));
      made->steps.push_back(std::move(step));
    }
    manifest.entries.push_back(std::move(made));
    return manifest.entries.back().get();
  }

  bool tokens;
  manifest::ManifestT manifest;
};

std::vector<uint8_t> makeTokenizer() {
  nlohmann::json vocabulary = {{"<s>", 0}, {"</s>", 1}};
  int next = 2;
  for (char c = 'a'; c <= 'z'; ++c)
    vocabulary[std::string(1, c)] = next++;
  // Byte-level spelling of the space is U+0120.
  for (const char *word : {"\u0120", ".", "!", "?"})
    vocabulary[word] = next++;
  auto added = [](int id, const char *text) {
    return nlohmann::json{{"id", id},        {"content", text}, {"single_word", false},
                          {"lstrip", false}, {"rstrip", false}, {"normalized", false},
                          {"special", true}};
  };
  nlohmann::json tokenizer = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", {added(0, "<s>"), added(1, "</s>")}},
      {"normalizer", nullptr},
      {"pre_tokenizer",
       {{"type", "ByteLevel"},
        {"add_prefix_space", false},
        {"trim_offsets", true},
        {"use_regex", true}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
          {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
        {"pair",
         {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
          {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}}},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {0}}, {"tokens", {"<s>"}}}}}}}},
      {"decoder",
       {{"type", "ByteLevel"},
        {"add_prefix_space", false},
        {"trim_offsets", true},
        {"use_regex", true}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", nullptr},
        {"continuing_subword_prefix", nullptr},
        {"end_of_word_suffix", nullptr},
        {"fuse_unk", false},
        {"byte_fallback", false},
        {"vocab", vocabulary},
        {"merges", nlohmann::json::array()}}}};
  TemporaryFolder folder;
  std::ofstream(folder.file("tokenizer.json")) << tokenizer.dump();
  std::vector<uint8_t> tables;
  std::string error;
  if (!compileTokenizer(folder.path.string(), tables, error))
    throw std::runtime_error(error);
  return tables;
}

} // namespace

void writeTestArtifact(const std::string &path,
                       const std::function<void(manifest::ManifestT &)> &change, bool withTokenizer,
                       bool givesTokens) {
  std::string error;
  auto writer = artifact::ArtifactWriter::create(path, error);
  if (!writer)
    throw std::runtime_error(error);
  const float values[] = {0.25f, 0.5f, -0.5f, 0.125f};
  unsigned weight = writer->addWeight("scale", ElementType::F32, {4}, {}, sizeof(values));
  std::ifstream code(givesTokens ? FOVEA_TEST_CODE_TOKENS : FOVEA_TEST_CODE, std::ios::binary);
  std::vector<uint8_t> elf{std::istreambuf_iterator<char>(code), {}};
  writer->setCode(elf);
  if (withTokenizer)
    writer->setTokenizer(makeTokenizer());
  manifest::ManifestT manifest = Maker(givesTokens).make();
  if (change)
    change(manifest);
  for (size_t i = 0; i < manifest.variants.size(); ++i)
    writer->addVariantCode(elf);
  if (!writer->appendWeight(weight, values, sizeof(values), error) ||
      !writer->finish(std::move(manifest), error))
    throw std::runtime_error(error);
}

} // namespace fovea::test
