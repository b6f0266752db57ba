// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading whole model folders: what the families make of a good one, and one
// folder for each fault.
#include "test/unit/frontend/Reading.h"

#include <cmath>

using namespace fovea;
using namespace fovea::test;

namespace {

/// The stored name of the language model's head.
static std::string headWeight(const ModelDescription &model) {
  return model.heads.size() == 1 ? model.heads[0].steps.back().dense->weight.stored.name : "";
}

//===-- Llama --------------------------------------------------------------------------------===//

TEST(Llama, Description) {
  ModelDescription model = accepted(tinyLlama());
  EXPECT_EQ(model.architecture, "LlamaForCausalLM");
  EXPECT_EQ(model.kind, ModelDescription::Kind::Decoder);
  EXPECT_EQ(model.vocabulary, 17);
  EXPECT_EQ(model.hidden, 24);
  EXPECT_EQ(model.maxPositions, 64);
  EXPECT_EQ(model.beginToken, 1);
  EXPECT_EQ(model.endTokens, (std::vector<int64_t>{2}));
  EXPECT_FALSE(model.padToken);
  EXPECT_FALSE(model.tokenizer);
  ASSERT_EQ(model.layers.size(), 2u);
  const Layer &layer = model.layers[1];
  EXPECT_EQ(layer.name, "model.layers.1");
  EXPECT_EQ(layer.attention.heads, 4);
  EXPECT_EQ(layer.attention.keyValueHeads, 2);
  EXPECT_EQ(layer.attention.headSize, 8);
  EXPECT_DOUBLE_EQ(layer.attention.scale, 1 / std::sqrt(8.0));
  EXPECT_TRUE(layer.attention.causal);
  ASSERT_TRUE(layer.attention.rotary);
  EXPECT_EQ(layer.attention.rotary->kind, Rotary::Kind::Default);
  EXPECT_EQ(layer.attention.rotary->dim, 8);
  EXPECT_EQ(layer.attention.rotary->theta, 10000);
  EXPECT_EQ(layer.attention.key.weight.stored.name, "model.layers.1.self_attn.k_proj.weight");
  EXPECT_EQ(layer.attention.key.weight.shape, (std::vector<int64_t>{16, 24}));
  EXPECT_EQ(layer.attention.key.weight.stored.file, "model.safetensors");
  EXPECT_FALSE(layer.attention.key.bias);
  ASSERT_TRUE(layer.aroundAttention.inputNorm);
  EXPECT_EQ(layer.aroundAttention.inputNorm->epsilon, 1e-5);
  EXPECT_FALSE(layer.aroundAttention.outputNorm || layer.aroundAttention.sumNorm || layer.parallel);
  EXPECT_EQ(layer.feedForward.activation, Activation::Silu);
  EXPECT_EQ(headWeight(model), "model.embed_tokens.weight");
}

TEST(Llama, BiasesOwnHeadAndDefaults) {
  TinyModel tiny = tinyLlama();
  tiny.config["attention_bias"] = "true";
  tiny.config["mlp_bias"] = "true";
  tiny.config["pretraining_tp"] = "4";
  for (const char *key : {"tie_word_embeddings", "rms_norm_eps", "hidden_act", "model_type"})
    tiny.config.erase(key);
  tiny.config["head_dim"] = "null";
  Shapes biases = {{"lm_head.weight", {17, 24}}};
  for (auto &[name, shape] : tiny.tensors) {
    if (name.find("self_attn") != name.npos && shape[0] != 24)
      shape[0] = shape[0] == 32 ? 24 : 12;
    if (name.find("o_proj") != name.npos)
      shape = {24, 24};
    if (name.find("proj") != name.npos)
      biases[name.substr(0, name.rfind('.')) + ".bias"] = {shape[0]};
  }
  tiny.tensors.insert(biases.begin(), biases.end());
  ModelDescription model = accepted(tiny);
  EXPECT_EQ(model.layers[0].attention.headSize, 6);
  EXPECT_TRUE(model.layers[0].attention.output.bias);
  EXPECT_TRUE(model.layers[0].feedForward.gate->bias);
  EXPECT_EQ(model.layers[0].aroundAttention.inputNorm->epsilon, 1e-6);
  EXPECT_EQ(headWeight(model), "lm_head.weight");
}

TEST(Llama, WithoutHead) {
  TinyModel tiny = tinyLlama();
  tiny.config["architectures"] = R"(["LlamaModel"])";
  Shapes bare;
  for (auto &[name, shape] : tiny.tensors)
    bare[name.substr(6)] = shape;
  tiny.tensors = bare;
  ModelDescription model = accepted(tiny);
  EXPECT_TRUE(model.heads.empty());
  EXPECT_EQ(model.layers[0].name, "layers.0");
}

TEST(Llama, TiedHeadWithOtherContent) {
  TinyModel tiny = tinyLlama();
  tiny.tensors["lm_head.weight"] = {17, 24};
  accepted(tiny); // equal to the embedding: all elements are the same
  Problems problems;
  std::string file = safetensors(tiny.tensors);
  size_t data = file.find("}}") + 2; // lm_head.weight comes first
  file[data] ^= 1;
  read(tiny, problems, [&](const Folder &folder) { folder.write("model.safetensors", file); });
  expectPart(texts(problems), "tensor \"lm_head.weight\": expects the content of "
                              "\"model.embed_tokens.weight\", as tie_word_embeddings is true");
}

TEST(Llama, SizesThatAreNonsense) {
  for (const char *key :
       {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "vocab_size", "max_position_embeddings", "head_dim"})
    for (const char *value : {"0", "-1", "1.5", "1e30", "9223372036854775807",
                              "340282366920938463463374607431768211456", "\"8\"", "[8]", "true"})
      expectConfigFault(tinyLlama(), key, value,
                        "/config.json: " + std::string(key) + ": expects an integer from 1 to ");
}

TEST(Llama, NeededKeysMissing) {
  for (const char *key :
       {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "vocab_size", "max_position_embeddings", "architectures"})
    expectConfigFault(tinyLlama(), key, "", std::string(key) + ": is required, but missing");
}

TEST(Llama, HeadsThatDoNotDivide) {
  expectConfigFault(tinyLlama(), "num_attention_heads", "5",
                    "hidden_size: expects a multiple of num_attention_heads, 5, got 24");
  expectConfigFault(tinyLlama(), "num_key_value_heads", "3",
                    "num_key_value_heads: expects a divisor of num_attention_heads, 4, got 3");
  expectConfigFault(tinyLlama(), "head_dim", "7", "head_dim: expects an even number of rotated");
}

TEST(Llama, EpsilonThatIsNone) {
  for (const char *value : {"-1e-6", "2", "1e999", "\"x\""})
    EXPECT_NE(refused([&] {
                TinyModel tiny = tinyLlama();
                tiny.config["rms_norm_eps"] = value;
                return tiny;
              }()),
              "");
  expectConfigFault(tinyLlama(), "rms_norm_eps", "NaN", "expects JSON");
}

TEST(Llama, UnknownActivation) {
  expectConfigFault(tinyLlama(), "hidden_act", "\"snake\"",
                    "hidden_act: expects an activation among gelu,");
  expectConfigFault(tinyLlama(), "hidden_act", "7", "hidden_act: expects a string, got 7");
}

TEST(Llama, KeysThatAreNotUnderstood) {
  expectConfigFault(tinyLlama(), "sliding_window", "128",
                    "sliding_window: could change numbers and is not understood");
  expectConfigFault(tinyLlama(), "quantization_config", R"({"bits": 4})",
                    "quantization_config.quant_method: is required, but missing");
  expectConfigFault(tinyLlama(), "pruned_heads", R"({"0": [1]})", "pruned heads");
  TinyModel tiny = tinyLlama();
  tiny.config["sliding_window"] = "null"; // not set
  tiny.config["attention_dropout"] = "0.5";
  tiny.config["torch_dtype"] = "\"bfloat16\"";
  tiny.config["pruned_heads"] = "{}";
  accepted(tiny);
}

TEST(Llama, AllFaultsAtOnce) {
  TinyModel tiny = tinyLlama();
  tiny.config["mystery"] = "1";
  tiny.config["logit_scale"] = "2";
  tiny.config.erase("vocab_size");
  tiny.config["hidden_act"] = "\"snake\"";
  std::string found =
      refused(tiny, [](const Folder &folder) { folder.write("model.safetensors", "short"); });
  for (const char *part : {"mystery: could", "logit_scale: could", "vocab_size: is required",
                           "hidden_act: expects", "at least 8 bytes"})
    expectPart(found, part);
}

TEST(Llama, TensorsMissingOrWrong) {
  TinyModel tiny = tinyLlama();
  tiny.tensors.erase("model.norm.weight");
  tiny.tensors.erase("model.layers.1.mlp.up_proj.weight");
  tiny.tensors["model.layers.0.self_attn.q_proj.weight"] = {24, 32};
  std::string found = refused(tiny);
  expectPart(found, "/model.safetensors: tensor \"model.norm.weight\": is missing; expects shape "
                    "[24]\n");
  expectPart(found, "tensor \"model.layers.1.mlp.up_proj.weight\": is missing");
  expectPart(found, "tensor \"model.layers.0.self_attn.q_proj.weight\": expects shape [32, 24] as "
                    "the configuration says, got [24, 32]\n");
}

TEST(Llama, ManyLayersThatAreNotThere) {
  TinyModel tiny = tinyLlama();
  tiny.config["num_hidden_layers"] = "1000";
  std::string found = refused(tiny);
  expectPart(found, "more tensors that are missing");
  EXPECT_LT(found.size(), 100000u);
}

TEST(Llama, TensorOfIntegers) {
  TinyModel tiny = tinyLlama();
  std::string file = safetensors(tiny.tensors);
  size_t place = file.find("model.norm.weight\":{\"dtype\":\"F32");
  file.replace(file.find("F32", place), 3, "I32");
  expectPart(refused(tiny, [&](const Folder &f) { f.write("model.safetensors", file); }),
             "tensor \"model.norm.weight\": expects element type F32, F16 or BF16, got I32");
}

TEST(Llama, TensorsThatNobodyUses) {
  TinyModel tiny = tinyLlama();
  tiny.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = {4};
  tiny.tensors["model.layers.0.self_attn.q_norm.weight"] = {8};
  tiny.tensors["model.layers.2.mlp.up_proj.weight"] = {20, 24};
  Problems problems;
  EXPECT_TRUE(read(tiny, problems));
  ASSERT_EQ(problems.size(), 2u) << texts(problems);
  expectPart(problems[0].text(), "tensor \"model.layers.0.self_attn.q_norm.weight\": is not used");
}

//===-- Rotary scaling, in the spelling of transformers 4 and 5 ------------------------------===//

Rotary rotaryOf(const Config &change) {
  TinyModel tiny = tinyLlama();
  for (auto &[key, value] : change)
    tiny.config[key] = value;
  ModelDescription model = accepted(tiny);
  return model.layers.empty() ? Rotary() : *model.layers[0].attention.rotary;
}

TEST(Rotary, Default) {
  EXPECT_EQ(rotaryOf({{"rope_theta", "500000.0"}}).theta, 500000);
  EXPECT_EQ(rotaryOf({{"rope_theta", "500000"}, {"rope_scaling", "null"}}).theta, 500000);
  EXPECT_EQ(rotaryOf({{"rope_parameters", R"({"rope_theta": 5e5, "rope_type": "default"})"}}).theta,
            500000);
  Rotary part = rotaryOf({{"partial_rotary_factor", "0.5"}});
  EXPECT_EQ(part.dim, 4);
}

TEST(Rotary, LinearAndDynamic) {
  Rotary linear = rotaryOf({{"rope_scaling", R"({"type": "linear", "factor": 4.0})"}});
  EXPECT_EQ(linear.kind, Rotary::Kind::Linear);
  EXPECT_EQ(linear.factor, 4);
  Rotary dynamic = rotaryOf(
      {{"rope_parameters", R"({"rope_type": "dynamic", "factor": 2, "rope_theta": 1000})"}});
  EXPECT_EQ(dynamic.kind, Rotary::Kind::Dynamic);
  EXPECT_EQ(dynamic.originalPositions, 64);
  EXPECT_EQ(dynamic.theta, 1000);
  TinyModel stretched = tinyLlama();
  stretched.config["rope_scaling"] = R"({"type": "dynamic", "factor": 2.5})";
  EXPECT_EQ(accepted(stretched).maxPositions, 160);
}

TEST(Rotary, Yarn) {
  Rotary yarn = rotaryOf({{"rope_scaling", R"({"rope_type": "yarn", "factor": 4.0,
      "original_max_position_embeddings": 16, "beta_fast": 20, "truncate": false})"}});
  EXPECT_EQ(yarn.kind, Rotary::Kind::Yarn);
  EXPECT_EQ(yarn.originalPositions, 16);
  EXPECT_EQ(yarn.low, 1);
  EXPECT_EQ(yarn.high, 20);
  EXPECT_FALSE(yarn.truncate);
  EXPECT_DOUBLE_EQ(yarn.attentionFactor, 0.1 * std::log(4.0) + 1);
  Rotary scaled = rotaryOf({{"rope_scaling", R"({"rope_type": "yarn", "factor": 4.0,
      "mscale": 0.7, "mscale_all_dim": 1.1})"}});
  EXPECT_EQ(scaled.originalPositions, 64);
  EXPECT_DOUBLE_EQ(scaled.attentionFactor, (0.07 * std::log(4.0) + 1) / (0.11 * std::log(4.0) + 1));
  EXPECT_EQ(rotaryOf({{"rope_scaling", R"({"rope_type": "yarn", "factor": 4.0,
      "attention_factor": 1.5})"}})
                .attentionFactor,
            1.5);
}

TEST(Rotary, LongRope) {
  Rotary rope = rotaryOf({{"rope_parameters", R"({"rope_type": "longrope",
      "original_max_position_embeddings": 16, "short_factor": [1, 1.5, 2, 2],
      "long_factor": [1, 2, 3, 4]})"}});
  EXPECT_EQ(rope.kind, Rotary::Kind::LongRope);
  EXPECT_EQ(rope.longFactors, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_DOUBLE_EQ(rope.attentionFactor, std::sqrt(1 + std::log(4.0) / std::log(16.0)));
  expectConfigFault(
      tinyLlama(), "rope_scaling",
      R"({"rope_type": "longrope", "short_factor": [1, 2], "long_factor": [1, 2, 3, 4]})",
      "rope_scaling.short_factor: expects an array of 4 numbers, one a pair");
  expectConfigFault(tinyLlama(), "rope_scaling",
                    R"({"rope_type": "longrope", "short_factor": [1, 2, 0, 1], "long_factor": []})",
                    "rope_scaling.short_factor[2]: expects a number from");
}

TEST(Rotary, Llama3) {
  Rotary rope = rotaryOf({{"rope_scaling", R"({"rope_type": "llama3", "factor": 8.0,
      "low_freq_factor": 1.0, "high_freq_factor": 4.0,
      "original_max_position_embeddings": 32})"}});
  EXPECT_EQ(rope.kind, Rotary::Kind::Llama3);
  EXPECT_EQ(rope.low, 1);
  EXPECT_EQ(rope.high, 4);
  EXPECT_EQ(rope.originalPositions, 32);
  expectConfigFault(tinyLlama(), "rope_scaling",
                    R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
                        "high_freq_factor": 4})",
                    "high_freq_factor: expects a number above low_freq_factor, got 4");
}

TEST(Rotary, Faults) {
  expectConfigFault(tinyLlama(), "rope_scaling", R"({"rope_type": "mrope", "factor": 2})",
                    "rope_scaling.rope_type: expects a rotary kind among default, linear, "
                    "dynamic, yarn, longrope, llama3, got \"mrope\"");
  expectConfigFault(tinyLlama(), "rope_scaling", R"({"type": "linear"})",
                    "rope_scaling.factor: is required, but missing");
  expectConfigFault(tinyLlama(), "rope_scaling", R"({"type": "linear", "factor": 0})",
                    "rope_scaling.factor: expects a number from");
  expectConfigFault(tinyLlama(), "rope_scaling", R"({"type": "linear", "factor": 2, "x": 1})",
                    "rope_scaling.x: is no parameter of rotary embedding");
  expectConfigFault(tinyLlama(), "rope_scaling", "3", "rope_scaling: expects an object, got 3");
  expectConfigFault(tinyLlama(), "rope_theta", "-1", "rope_theta: expects a number from");
  TinyModel both = tinyLlama();
  both.config["rope_scaling"] = both.config["rope_parameters"] = R"({"rope_type": "default"})";
  expectPart(refused(both), "rope_scaling: expects nothing beside rope_parameters");
}

//===-- BERT ---------------------------------------------------------------------------------===//

TEST(Bert, Description) {
  ModelDescription model = accepted(tinyBert());
  EXPECT_EQ(model.kind, ModelDescription::Kind::Encoder);
  ASSERT_EQ(model.layers.size(), 1u);
  EXPECT_TRUE(model.layers[0].aroundAttention.sumNorm && model.layers[0].aroundFeedForward.sumNorm);
  EXPECT_FALSE(model.layers[0].aroundAttention.inputNorm);
  EXPECT_FALSE(model.layers[0].attention.causal);
  EXPECT_FALSE(model.layers[0].attention.rotary);
  EXPECT_DOUBLE_EQ(model.layers[0].attention.scale, 0.5);
  EXPECT_TRUE(model.layers[0].attention.query.bias);
  EXPECT_TRUE(model.embeddings.position && model.embeddings.tokenType && model.embeddings.norm);
  EXPECT_FALSE(model.finalNorm || model.pooling);
  EXPECT_EQ(model.layers[0].feedForward.activation, Activation::Gelu);
}

TEST(Bert, VariantsThatAreNotBuilt) {
  expectConfigFault(tinyBert(), "position_embedding_type", "\"relative_key\"",
                    "position_embedding_type: expects \"absolute\", got \"relative_key\"");
  expectConfigFault(tinyBert(), "is_decoder", "true", "is_decoder: expects false");
  expectConfigFault(tinyBert(), "embedding_size", "128", "embedding_size: could change numbers");
}

//===-- GPT-2 --------------------------------------------------------------------------------===//

TEST(Gpt2, Description) {
  ModelDescription model = accepted(tinyGpt2());
  EXPECT_EQ(model.kind, ModelDescription::Kind::Decoder);
  const Layer &layer = model.layers[1];
  const Linear &key = layer.attention.key;
  EXPECT_EQ(key.name, "transformer.h.1.attn.c_attn.key");
  EXPECT_TRUE(key.weight.transposed);
  EXPECT_EQ(key.weight.shape, (std::vector<int64_t>{12, 12}));
  EXPECT_EQ(key.weight.stored.shape, (std::vector<int64_t>{12, 36}));
  ASSERT_TRUE(key.weight.rows && key.bias && key.bias->rows);
  EXPECT_EQ(key.weight.rows->groups, 1);
  EXPECT_EQ(key.weight.rows->size, 36);
  EXPECT_EQ(key.weight.rows->first, 12);
  EXPECT_EQ(key.weight.rows->count, 12);
  EXPECT_EQ(layer.feedForward.up.weight.shape, (std::vector<int64_t>{48, 12}));
  EXPECT_EQ(layer.feedForward.activation, Activation::GeluTanh);
  EXPECT_FALSE(layer.feedForward.gate);
  EXPECT_DOUBLE_EQ(layer.attention.scale, 0.5);
  EXPECT_EQ(headWeight(model), "transformer.wte.weight");
  EXPECT_EQ(model.maxPositions, 32);
}

TEST(Gpt2, ScaleVariants) {
  TinyModel tiny = tinyGpt2();
  tiny.config["scale_attn_by_inverse_layer_idx"] = "true";
  tiny.config["reorder_and_upcast_attn"] = "true";
  EXPECT_DOUBLE_EQ(accepted(tiny).layers[1].attention.scale, 0.25);
  tiny.config["scale_attn_weights"] = "false";
  EXPECT_DOUBLE_EQ(accepted(tiny).layers[1].attention.scale, 0.5);
  EXPECT_DOUBLE_EQ(accepted(tiny).layers[0].attention.scale, 1);
}

TEST(Gpt2, InnerWidthPrefixAndTokens) {
  TinyModel tiny = tinyGpt2();
  tiny.config["n_inner"] = "20";
  tiny.config["eos_token_id"] = "50256";
  Shapes bare;
  for (auto [name, shape] : tiny.tensors) {
    for (int64_t &size : shape)
      size = size == 48 ? 20 : size;
    bare[name.substr(12)] = shape;
  }
  tiny.tensors = bare;
  Problems problems;
  auto model = read(tiny, problems);
  ASSERT_TRUE(model) << texts(problems);
  EXPECT_EQ(model->layers[0].name, "h.0");
  EXPECT_TRUE(model->endTokens.empty());
  expectPart(texts(problems), "eos_token_id: expects token ids from 0 to 16, ignores 50256");
  tiny.config["architectures"] = R"(["GPT2Model"])";
  tiny.config.erase("eos_token_id");
  EXPECT_TRUE(accepted(tiny).heads.empty());
}

TEST(Gpt2, Faults) {
  expectConfigFault(tinyGpt2(), "n_head", "5", "n_embd: expects a multiple of n_head, 5, got 12");
  expectConfigFault(tinyGpt2(), "add_cross_attention", "true",
                    "add_cross_attention: expects false");
  expectConfigFault(tinyGpt2(), "activation_function", "\"mish\"", "got \"mish\"");
  expectConfigFault(tinyGpt2(), "n_inner", "0", "n_inner: expects an integer from 1");
}

//===-- The folder ---------------------------------------------------------------------------===//

TEST(HuggingFace, UnknownArchitecture) {
  expectConfigFault(tinyLlama(), "architectures", R"(["LlamaForTokenClassification"])",
                    "architectures: expects one of LlamaForCausalLM, LlamaModel of family "
                    "\"llama\", got \"LlamaForTokenClassification\"; most Transformers compile "
                    "from ONNX, which \"optimum-cli export onnx --model ");
  TinyModel other = tinyLlama();
  other.config["model_type"] = "\"mamba\"";
  expectConfigFault(other, "architectures", R"(["MambaForCausalLM"])",
                    "architectures: expects an architecture of one of the families albert, bart, ");
  expectConfigFault(tinyLlama(), "architectures", "[]", "architectures: expects the name");
  expectConfigFault(tinyLlama(), "architectures", "[3]", "architectures[0]: expects a string");
  expectConfigFault(tinyLlama(), "model_type", "\"mistral\"",
                    "model_type: expects \"llama\", as for LlamaForCausalLM, got \"mistral\"");
}

TEST(HuggingFace, ConfigThatIsNone) {
  auto with = [](const std::string &content) {
    return refused(tinyLlama(), [&](const Folder &f) { f.write("config.json", content); });
  };
  expectPart(with(""), "/config.json: expects JSON");
  expectPart(with("[]"), "/config.json: expects an object, got an array of 0");
  expectPart(with(std::string(1000000, '[')), "nested at most 64 deep");
  std::string nested;
  for (int i = 0; i < 100000; ++i)
    nested += "{\"rope_scaling\":";
  expectPart(with(nested), "nested at most 64 deep");
  expectPart(with(R"({"hidden_size": 1, "hidden_size": 2})"), "\"hidden_size\" is given twice");
  expectPart(refused(tinyLlama(), [](const Folder &f) { f.remove("config.json"); }),
             "/config.json: is missing; expects a checkpoint's configuration");
  Problems problems;
  EXPECT_FALSE(readHuggingFace("/nowhere", problems));
  EXPECT_EQ(problems.size(), 1u);
}

TEST(HuggingFace, AnyByteOfTheConfigChanged) {
  for (TinyModel tiny : {tinyLlama(), tinyBert(), tinyGpt2()}) {
    tiny.config["eos_token_id"] = "[1, 2]";
    if (tiny.config.count("head_dim"))
      tiny.config["rope_scaling"] = R"({"rope_type": "yarn", "factor": 4.0, "beta_fast": 30})";
    Folder folder;
    tiny.writeTo(folder);
    std::string whole = json(tiny.config);
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = "9\"}"[i % 3];
      folder.write("config.json", changed);
      Problems problems;
      auto model = readHuggingFace(folder.path(), problems);
      EXPECT_EQ(model.has_value(), !hasErrors(problems)) << changed;
    }
  }
}

TEST(HuggingFace, GenerationConfigAndTokenizer) {
  ModelDescription model = accepted(tinyLlama(), [](const Folder &folder) {
    folder.write("generation_config.json", R"({"eos_token_id": [3, 4], "pad_token_id": 0,
                                               "temperature": 0.6})");
    folder.write("tokenizer.json", "{}");
  });
  EXPECT_EQ(model.beginToken, 1);
  EXPECT_EQ(model.endTokens, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(model.padToken, 0);
  EXPECT_EQ(model.tokenizer, "tokenizer.json");
}

TEST(HuggingFace, EncoderDecodersSayWhatTheyAre) {
  TinyModel marian;
  marian.config = {{"architectures", R"(["MarianMTModel"])"},
                   {"model_type", R"("marian")"},
                   {"is_encoder_decoder", "true"},
                   {"d_model", "12"},
                   {"vocab_size", "17"},
                   {"max_position_embeddings", "32"},
                   {"encoder_layers", "1"},
                   {"decoder_layers", "1"},
                   {"encoder_attention_heads", "3"},
                   {"decoder_attention_heads", "5"},
                   {"encoder_ffn_dim", "20"},
                   {"decoder_ffn_dim", "20"}};
  marian.tensors = {{"model.shared.weight", {17, 12}}};
  Problems problems;
  EXPECT_FALSE(read(marian, problems));
  ASSERT_EQ(problems.size(), 1u) << texts(problems);
  expectPart(texts(problems), "decoder_attention_heads: expects a divisor of d_model, 12, got 5");
  expectConfigFault(marian, "is_encoder_decoder", "false", "is_encoder_decoder: expects true");
  expectConfigFault(tinyLlama(), "is_encoder_decoder", "true", "is_encoder_decoder: expects false");
}

/// A Llama of one layer with three experts, of which a token meets two.
static TinyModel tinyMixtral() {
  TinyModel tiny = tinyLlama();
  tiny.config["architectures"] = R"(["MixtralForCausalLM"])";
  tiny.config["model_type"] = R"("mixtral")";
  tiny.config["num_local_experts"] = "3";
  tiny.config["num_experts_per_tok"] = "2";
  for (int i = 0; i < 2; ++i) {
    std::string layer = "model.layers." + std::to_string(i) + ".";
    for (const char *part : {"gate", "up", "down"})
      tiny.tensors.erase(layer + "mlp." + part + "_proj.weight");
    layer += "block_sparse_moe.";
    tiny.tensors[layer + "gate.weight"] = {3, 24};
    for (int expert = 0; expert < 3; ++expert) {
      std::string own = layer + "experts." + std::to_string(expert);
      tiny.tensors[own + ".w1.weight"] = tiny.tensors[own + ".w3.weight"] = {20, 24};
      tiny.tensors[own + ".w2.weight"] = {24, 20};
    }
  }
  return tiny;
}

TEST(HuggingFace, ExpertsLieOneBelowTheOther) {
  ModelDescription model = accepted(tinyMixtral());
  const Experts &experts = model.layers.at(1).experts.value();
  EXPECT_EQ(experts.count, 3);
  EXPECT_EQ(experts.chosen, 2);
  EXPECT_EQ(experts.gateUp.weight.shape, (std::vector<int64_t>{120, 24}));
  ASSERT_EQ(experts.gateUp.weight.stack.size(), 6u);
  EXPECT_EQ(experts.gateUp.weight.stack[2].name,
            "model.layers.1.block_sparse_moe.experts.1.w1.weight");
  EXPECT_EQ(experts.gateUp.weight.stack[3].name,
            "model.layers.1.block_sparse_moe.experts.1.w3.weight");
  EXPECT_EQ(experts.down.weight.shape, (std::vector<int64_t>{72, 20}));
}

TEST(HuggingFace, ExpertsThatDoNotFit) {
  expectConfigFault(tinyMixtral(), "num_experts_per_tok", "4",
                    "num_experts_per_tok: expects at most num_local_experts, 3, got 4");
  expectConfigFault(tinyMixtral(), "num_local_experts", "0",
                    "num_local_experts: expects an integer from 1");
  TinyModel tiny = tinyMixtral();
  tiny.tensors["model.layers.0.block_sparse_moe.experts.2.w3.weight"] = {21, 24};
  Problems problems;
  EXPECT_FALSE(read(tiny, problems));
  ASSERT_EQ(problems.size(), 1u) << texts(problems);
  expectPart(texts(problems), "experts.2.w3.weight\": expects shape [20, 24]");
  tiny.tensors.erase("model.layers.0.block_sparse_moe.experts.2.w3.weight");
  problems.clear();
  EXPECT_FALSE(read(tiny, problems));
  expectPart(texts(problems), "experts.2.w3.weight\": is missing");
}

TEST(HuggingFace, Sharded) {
  TinyModel tiny = tinyLlama();
  ModelDescription model = accepted(tiny, [&](const Folder &folder) {
    folder.remove("model.safetensors");
    Shapes first, second;
    std::string map;
    for (auto &[name, shape] : tiny.tensors) {
      bool isFirst = first.size() < 7;
      (isFirst ? first : second)[name] = shape;
      map += (map.empty() ? "{\"" : ",\"") + name +
             (isFirst ? "\":\"m-1.safetensors\"" : "\":\"m-2.safetensors\"");
    }
    folder.write("m-1.safetensors", safetensors(first));
    folder.write("m-2.safetensors", safetensors(second));
    folder.write("model.safetensors.index.json", "{\"weight_map\":" + map + "}}");
  });
  EXPECT_EQ(model.finalNorm->weight.stored.file, "m-2.safetensors");
}

//===-- Pooling ------------------------------------------------------------------------------===//

const char *modulesJson = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
  {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}
])";

void writePooling(const Folder &folder) {
  folder.write("modules.json", modulesJson);
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 24, "do_lower_case": false})");
  folder.write("1_Pooling/config.json",
               R"({"word_embedding_dimension": 12, "pooling_mode_cls_token": true,
                   "pooling_mode_mean_tokens": false})");
  folder.write("2_Dense/config.json", R"({"in_features": 12, "out_features": 5, "bias": true,
      "activation_function": "torch.nn.modules.activation.Tanh"})");
  folder.write("2_Dense/model.safetensors",
               safetensors(Shapes{{"linear.weight", {5, 12}}, {"linear.bias", {5}}}));
}

TEST(Pooling, ModulesOfSentenceTransformers) {
  ModelDescription model = accepted(tinyBert(), writePooling);
  ASSERT_TRUE(model.pooling);
  EXPECT_EQ(model.maxPositions, 32);
  EXPECT_EQ(model.pooling->maxPositions, 24);
  EXPECT_EQ(model.pooling->kind, Pool::First);
  ASSERT_EQ(model.pooling->steps.size(), 2u);
  ASSERT_TRUE(model.pooling->steps[0].dense);
  EXPECT_EQ(model.pooling->steps[0].dense->weight.stored.file, "2_Dense/model.safetensors");
  EXPECT_EQ(model.pooling->steps[0].activation, Activation::Tanh);
  EXPECT_FALSE(model.pooling->steps[1].dense);
}

TEST(Pooling, TransformerInAFolderAndNewSpelling) {
  ModelDescription model = accepted(tinyBert(), [](const Folder &folder) {
    TinyModel tiny = tinyBert();
    folder.remove("config.json");
    folder.remove("model.safetensors");
    folder.write("0_T/config.json", json(tiny.config));
    folder.write("0_T/model.safetensors", safetensors(tiny.tensors));
    folder.write("0_T/tokenizer.json", "{}");
    folder.write("modules.json", R"([{"path": "0_T", "type": "x.Transformer"},
                                     {"path": "1_Pooling", "type": "x.Pooling"}])");
    folder.write("1_Pooling/config.json",
                 R"({"embedding_dimension": 12, "pooling_mode": "mean", "include_prompt": true})");
  });
  EXPECT_EQ(model.tokenizer, "0_T/tokenizer.json");
  EXPECT_EQ(model.embeddings.token.stored.file, "0_T/model.safetensors");
  ASSERT_TRUE(model.pooling);
  EXPECT_EQ(model.pooling->kind, Pool::Mean);
  EXPECT_TRUE(model.pooling->steps.empty());
}

TEST(Pooling, Faults) {
  auto with = [](const std::string &file, const std::string &content) {
    return refused(tinyBert(), [&](const Folder &folder) {
      writePooling(folder);
      if (content.empty())
        folder.remove(file);
      else
        folder.write(file, content);
    });
  };
  expectPart(with("1_Pooling/config.json", ""), "1_Pooling/config.json: cannot be opened");
  expectPart(with("1_Pooling/config.json", R"({"pooling_mode_weightedmean_tokens": true})"),
             "pooling_mode: expects one of cls, max, mean, got weightedmean");
  expectPart(with("1_Pooling/config.json",
                  R"({"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true})"),
             "got max, mean");
  expectPart(
      with("1_Pooling/config.json", R"({"word_embedding_dimension": 13, "pooling_mode": "mean"})"),
      "word_embedding_dimension: expects 12, the model's width, got 13");
  expectPart(with("2_Dense/model.safetensors", ""), "expects model.safetensors");
  expectPart(with("2_Dense/config.json", R"({"in_features": 13, "out_features": 5})"),
             "in_features: expects 12, the width before it, got 13");
  expectPart(with("2_Dense/config.json", R"({"in_features": 12, "out_features": 5,
                                             "activation_function": "torch.nn.Mystery"})"),
             "activation_function: expects Tanh");
  expectPart(with("modules.json", R"([{"path": "../x", "type": "a.Transformer"}])"),
             "[0].path: expects a folder below the model's, got \"../x\"");
  expectPart(with("modules.json", R"([{"path": "", "type": "a.Transformer"},
                                      {"path": "1_W", "type": "a.WordEmbeddings"}])"),
             "[1].type: expects Pooling");
  expectPart(with("modules.json", "{}"), "modules.json: expects an array of modules");
  expectPart(with("sentence_bert_config.json", R"({"max_seq_length": 0})"),
             "max_seq_length: expects an integer from 1");
}

} // namespace
