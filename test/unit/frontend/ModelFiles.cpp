// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header. Sizes are small and differ wherever two axes could be mixed.
#include "test/unit/frontend/ModelFiles.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace fovea;
using namespace fovea::test;

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fovea-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    std::abort();
  root = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
}

void Folder::write(const std::string &name, const std::string &content) const {
  std::filesystem::path path = std::filesystem::path(root) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(content.data(), std::streamsize(content.size()));
}

void Folder::remove(const std::string &name) const {
  std::filesystem::remove_all(std::filesystem::path(root) / name);
}

std::string fovea::test::safetensors(const std::string &header, const std::string &data) {
  std::string result;
  for (int i = 0; i < 8; ++i)
    result += static_cast<char>(uint64_t(header.size()) >> (8 * i) & 0xFF);
  return result + header + data;
}

std::string fovea::test::safetensors(const Shapes &shapes) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}", data;
  for (const auto &[name, shape] : shapes) {
    size_t begin = data.size();
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    for (int64_t i = 0; i < count; ++i)
      data.append("\0\0\0\x3f", 4); // 0.5f
    header += ",\"" + name + "\":{\"dtype\":\"F32\",\"shape\":" + printShape(shape) +
              ",\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) +
              "]}";
  }
  return safetensors(header + "}", data);
}

std::string fovea::test::json(const Config &config) {
  std::string result;
  for (const auto &[key, value] : config)
    result += (result.empty() ? "{\"" : ", \"") + key + "\": " + value;
  return result + "}";
}

void TinyModel::writeTo(const Folder &folder) const {
  folder.write("config.json", json(config));
  folder.write("model.safetensors", safetensors(tensors));
}

TinyModel fovea::test::tinyLlama() {
  TinyModel model;
  model.config = {{"architectures", R"(["LlamaForCausalLM"])"},
                  {"model_type", R"("llama")"},
                  {"hidden_size", "24"},
                  {"intermediate_size", "20"},
                  {"num_hidden_layers", "2"},
                  {"num_attention_heads", "4"},
                  {"num_key_value_heads", "2"},
                  {"head_dim", "8"},
                  {"vocab_size", "17"},
                  {"max_position_embeddings", "64"},
                  {"hidden_act", R"("silu")"},
                  {"rms_norm_eps", "1e-05"},
                  {"tie_word_embeddings", "true"},
                  {"bos_token_id", "1"},
                  {"eos_token_id", "2"}};
  model.tensors = {{"model.embed_tokens.weight", {17, 24}}, {"model.norm.weight", {24}}};
  for (int i = 0; i < 2; ++i) {
    std::string layer = "model.layers." + std::to_string(i) + ".";
    model.tensors[layer + "input_layernorm.weight"] = {24};
    model.tensors[layer + "post_attention_layernorm.weight"] = {24};
    model.tensors[layer + "self_attn.q_proj.weight"] = {32, 24};
    model.tensors[layer + "self_attn.k_proj.weight"] = {16, 24};
    model.tensors[layer + "self_attn.v_proj.weight"] = {16, 24};
    model.tensors[layer + "self_attn.o_proj.weight"] = {24, 32};
    model.tensors[layer + "mlp.gate_proj.weight"] = {20, 24};
    model.tensors[layer + "mlp.up_proj.weight"] = {20, 24};
    model.tensors[layer + "mlp.down_proj.weight"] = {24, 20};
  }
  return model;
}

TinyModel fovea::test::tinyBert() {
  TinyModel model;
  model.config = {{"architectures", R"(["BertModel"])"},
                  {"model_type", R"("bert")"},
                  {"hidden_size", "12"},
                  {"intermediate_size", "20"},
                  {"num_hidden_layers", "1"},
                  {"num_attention_heads", "3"},
                  {"vocab_size", "17"},
                  {"max_position_embeddings", "32"},
                  {"type_vocab_size", "2"},
                  {"hidden_act", R"("gelu")"},
                  {"layer_norm_eps", "1e-12"}};
  auto norm = [&](const std::string &name) {
    model.tensors[name + ".weight"] = model.tensors[name + ".bias"] = {12};
  };
  auto linear = [&](const std::string &name, int64_t out, int64_t in) {
    model.tensors[name + ".weight"] = {out, in};
    model.tensors[name + ".bias"] = {out};
  };
  model.tensors["embeddings.word_embeddings.weight"] = {17, 12};
  model.tensors["embeddings.position_embeddings.weight"] = {32, 12};
  model.tensors["embeddings.token_type_embeddings.weight"] = {2, 12};
  norm("embeddings.LayerNorm");
  std::string layer = "encoder.layer.0.";
  for (const char *which : {"query", "key", "value"})
    linear(layer + "attention.self." + which, 12, 12);
  linear(layer + "attention.output.dense", 12, 12);
  norm(layer + "attention.output.LayerNorm");
  linear(layer + "intermediate.dense", 20, 12);
  linear(layer + "output.dense", 12, 20);
  norm(layer + "output.LayerNorm");
  return model;
}

TinyModel fovea::test::tinyGpt2() {
  TinyModel model;
  model.config = {{"architectures", R"(["GPT2LMHeadModel"])"},
                  {"model_type", R"("gpt2")"},
                  {"n_embd", "12"},
                  {"n_layer", "2"},
                  {"n_head", "3"},
                  {"n_positions", "32"},
                  {"vocab_size", "17"}};
  auto pair = [&](const std::string &name, std::vector<int64_t> weight, int64_t bias) {
    model.tensors[name + ".weight"] = weight;
    model.tensors[name + ".bias"] = {bias};
  };
  model.tensors["transformer.wte.weight"] = {17, 12};
  model.tensors["transformer.wpe.weight"] = {32, 12};
  pair("transformer.ln_f", {12}, 12);
  for (int i = 0; i < 2; ++i) {
    std::string layer = "transformer.h." + std::to_string(i) + ".";
    pair(layer + "ln_1", {12}, 12);
    pair(layer + "ln_2", {12}, 12);
    pair(layer + "attn.c_attn", {12, 36}, 36);
    pair(layer + "attn.c_proj", {12, 12}, 12);
    pair(layer + "mlp.c_fc", {12, 48}, 48);
    pair(layer + "mlp.c_proj", {48, 12}, 12);
    model.tensors[layer + "attn.bias"] = {1, 1, 32, 32};
  }
  return model;
}

std::string fovea::test::texts(const Problems &problems) {
  std::string result;
  for (const Problem &problem : problems)
    result += problem.text() + "\n";
  return result;
}
