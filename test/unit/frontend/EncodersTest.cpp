// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encoders of every family: the heads that their architectures have, and what is said of those
// that are not there or do not fit.
#include "test/unit/frontend/Reading.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// NAME.weight of `shape`, and NAME.bias.
void add(TinyModel &model, const std::string &name, std::vector<int64_t> shape) {
  model.tensors[name + ".bias"] = {shape.front()};
  model.tensors[name + ".weight"] = std::move(shape);
}

/// All of `model`'s tensors below `prefix`, and another architecture.
TinyModel headed(TinyModel model, const std::string &prefix, const std::string &architecture) {
  Shapes named;
  for (const auto &[name, shape] : model.tensors)
    named[prefix + name] = shape;
  model.tensors = named;
  model.config["architectures"] = "[\"" + architecture + "\"]";
  return model;
}

/// BERT with the tensors of a language model's head.
TinyModel bertForMaskedLM() {
  TinyModel model = headed(tinyBert(), "bert.", "BertForMaskedLM");
  add(model, "cls.predictions.transform.dense", {12, 12});
  add(model, "cls.predictions.transform.LayerNorm", {12});
  model.tensors["cls.predictions.bias"] = {17};
  return model;
}

TinyModel bertForSequences() {
  TinyModel model = headed(tinyBert(), "bert.", "BertForSequenceClassification");
  add(model, "bert.pooler.dense", {12, 12});
  add(model, "classifier", {3, 12});
  model.config["id2label"] = R"({"0": "no", "1": "maybe", "2": "yes"})";
  return model;
}

TinyModel tinyModernBert() {
  TinyModel model;
  model.config = {{"architectures", R"(["ModernBertModel"])"},
                  {"model_type", R"("modernbert")"},
                  {"hidden_size", "12"},
                  {"intermediate_size", "20"},
                  {"num_hidden_layers", "4"},
                  {"num_attention_heads", "3"},
                  {"vocab_size", "17"},
                  {"max_position_embeddings", "32"},
                  {"local_attention", "6"},
                  {"global_rope_theta", "5000.0"},
                  {"local_rope_theta", "50.0"}};
  model.tensors = {{"embeddings.tok_embeddings.weight", {17, 12}},
                   {"embeddings.norm.weight", {12}},
                   {"final_norm.weight", {12}}};
  for (int i = 0; i < 4; ++i) {
    std::string layer = "layers." + std::to_string(i) + ".";
    if (i > 0)
      model.tensors[layer + "attn_norm.weight"] = {12};
    model.tensors[layer + "mlp_norm.weight"] = {12};
    model.tensors[layer + "attn.Wqkv.weight"] = {36, 12};
    model.tensors[layer + "attn.Wo.weight"] = {12, 12};
    model.tensors[layer + "mlp.Wi.weight"] = {40, 12};
    model.tensors[layer + "mlp.Wo.weight"] = {12, 20};
  }
  return model;
}

/// What the steps of `head` are made of: "dense[12] gelu norm, dense[17]".
std::string describe(const Head &head) {
  std::string result;
  for (const Step &step : head.steps) {
    result += result.empty() ? "" : ", ";
    result += "dense[" + std::to_string(step.dense->weight.shape[0]) + "]";
    if (step.activation)
      result += *step.activation == Activation::Tanh   ? " tanh"
                : *step.activation == Activation::Relu ? " relu"
                                                       : " gelu";
    result += step.norm ? " norm" : "";
  }
  return result;
}

TEST(Encoders, LanguageModel) {
  ModelDescription model = accepted(bertForMaskedLM());
  EXPECT_FALSE(model.givesHiddenState);
  ASSERT_EQ(model.heads.size(), 1u);
  const Head &head = model.heads[0];
  EXPECT_EQ(describe(head), "dense[12] gelu norm, dense[17]");
  EXPECT_EQ(head.output, "logits");
  EXPECT_FALSE(head.pool);
  EXPECT_EQ(head.steps[1].dense->weight.name, "bert.embeddings.word_embeddings.weight");
  EXPECT_EQ(head.steps[1].dense->bias->stored.name, "cls.predictions.bias");
}

TEST(Encoders, PrefixAndNamesOfEarlyCheckpoints) {
  TinyModel tiny = bertForMaskedLM();
  Shapes named;
  for (const auto &[stored, shape] : tiny.tensors) {
    std::string name = stored, start = name.substr(0, name.rfind('.'));
    if (name.find("LayerNorm.weight") != name.npos)
      name = start + ".gamma";
    if (name.find("LayerNorm.bias") != name.npos)
      name = start + ".beta";
    named[name] = shape;
  }
  tiny.tensors = named;
  tiny.tensors["bert.embeddings.position_ids"] = {1, 32};
  add(tiny, "cls.seq_relationship", {2, 12});
  Problems problems;
  auto model = read(tiny, problems);
  ASSERT_TRUE(model) << texts(problems);
  EXPECT_EQ(model->layers[0].aroundAttention.sumNorm->weight.stored.name,
            "bert.encoder.layer.0.attention.output.LayerNorm.gamma");
  EXPECT_EQ(model->heads[0].steps[0].norm->bias->stored.name,
            "cls.predictions.transform.LayerNorm.beta");
  ASSERT_EQ(problems.size(), 2u) << texts(problems);
  expectPart(problems[0].text(), "\"cls.seq_relationship.bias\": is not used");
}

TEST(Encoders, HeadsThatAreTiedAndUntied) {
  TinyModel tiny = bertForMaskedLM();
  tiny.tensors["cls.predictions.decoder.weight"] = {17, 12};
  tiny.tensors["cls.predictions.decoder.bias"] = {17};
  accepted(tiny); // all elements are the same
  auto changed = [&](const std::string &tensor) {
    std::string file = safetensors(tiny.tensors);
    size_t place = file.find("\"" + tensor + "\"");
    place = file.find("data_offsets\":[", place) + 15;
    file[file.find("}}") + 2 + std::stoul(file.substr(place))] ^= 1;
    return refused(tiny, [&](const Folder &folder) { folder.write("model.safetensors", file); });
  };
  expectPart(changed("cls.predictions.decoder.weight"),
             "tensor \"cls.predictions.decoder.weight\": expects the content of "
             "\"bert.embeddings.word_embeddings.weight\", as tie_word_embeddings is true");
  expectPart(changed("cls.predictions.bias"), "tensor \"cls.predictions.bias\": expects the "
                                              "content of \"cls.predictions.decoder.bias\"");
  tiny.config["tie_word_embeddings"] = "false";
  tiny.tensors.erase("cls.predictions.bias");
  EXPECT_EQ(accepted(tiny).heads[0].steps[1].dense->weight.name, "cls.predictions.decoder.weight");
  tiny.tensors.erase("cls.predictions.decoder.weight");
  expectPart(refused(tiny),
             "tensor \"cls.predictions.decoder.weight\": is missing; expects shape [17, 12]");
}

TEST(Encoders, TensorsOfHeadsMissingOrWrong) {
  TinyModel tiny = bertForMaskedLM();
  tiny.tensors.erase("cls.predictions.bias");
  tiny.tensors.erase("cls.predictions.transform.dense.weight");
  std::string found = refused(tiny);
  expectPart(found, "tensor \"cls.predictions.decoder.bias\": is missing; expects shape [17]");
  expectPart(found, "tensor \"cls.predictions.transform.dense.weight\": is missing");
  tiny = bertForSequences();
  tiny.tensors.erase("bert.pooler.dense.weight");
  tiny.tensors["classifier.weight"] = {2, 12};
  found = refused(tiny);
  expectPart(found, "tensor \"bert.pooler.dense.weight\": is missing; expects shape [12, 12]");
  expectPart(found, "tensor \"classifier.weight\": expects shape [3, 12] as the configuration "
                    "says, got [2, 12]");
}

TEST(Encoders, Pooler) {
  ModelDescription bare = accepted(tinyBert());
  EXPECT_TRUE(bare.givesHiddenState && bare.heads.empty());
  TinyModel tiny = tinyBert();
  add(tiny, "pooler.dense", {12, 12});
  ModelDescription model = accepted(tiny);
  EXPECT_TRUE(model.givesHiddenState);
  ASSERT_EQ(model.heads.size(), 1u);
  EXPECT_EQ(model.heads[0].output, "pooler_output");
  EXPECT_EQ(model.heads[0].pool, Pool::First);
  EXPECT_EQ(describe(model.heads[0]), "dense[12] tanh");
  tiny.tensors["pooler.dense.weight"] = {12, 13};
  expectPart(refused(tiny), "tensor \"pooler.dense.weight\": expects shape [12, 12]");
}

TEST(Encoders, Sequences) {
  ModelDescription model = accepted(bertForSequences());
  ASSERT_EQ(model.heads.size(), 1u);
  EXPECT_EQ(describe(model.heads[0]), "dense[12] tanh, dense[3]");
  EXPECT_EQ(model.heads[0].pool, Pool::First);
  EXPECT_EQ(model.labels, (std::vector<std::string>{"no", "maybe", "yes"}));
  EXPECT_EQ(model.scoreFunction, ScoreFunction::Softmax);
  TinyModel tiny = bertForSequences();
  tiny.config["problem_type"] = "\"multi_label_classification\"";
  EXPECT_EQ(accepted(tiny).scoreFunction, ScoreFunction::Sigmoid);
  tiny.config["problem_type"] = "\"regression\"";
  EXPECT_EQ(accepted(tiny).scoreFunction, ScoreFunction::None);
}

TEST(Encoders, Labels) {
  auto with = [](const std::string &key, const std::string &value) {
    TinyModel tiny = bertForSequences();
    tiny.config[key] = value;
    return refused(tiny);
  };
  expectPart(with("id2label", "[1]"), "id2label: expects an object with the name of each label");
  expectPart(with("id2label", "{}"), "id2label: expects an object with the name of each label");
  expectPart(with("id2label", R"({"0": "a", "2": "b"})"), "id2label: expects an object");
  expectPart(with("id2label", R"({"0": "a", "1": 1})"), "id2label: expects an object");
  expectPart(with("id2label", "null"), "tensor \"classifier.weight\": expects shape [2, 12]");
  expectPart(with("num_labels", "4"), "num_labels: expects 3, as id2label has so many, got 4");
  TinyModel tiny = bertForSequences();
  tiny.config.erase("id2label");
  tiny.config["num_labels"] = "3";
  EXPECT_EQ(accepted(tiny).labels, (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
}

TEST(Encoders, Answers) {
  TinyModel tiny = headed(tinyBert(), "bert.", "BertForQuestionAnswering");
  add(tiny, "qa_outputs", {2, 12});
  EXPECT_EQ(accepted(tiny).heads[0].columns,
            (std::vector<std::string>{"start_logits", "end_logits"}));
  tiny.config["num_labels"] = "3";
  expectPart(refused(tiny), "num_labels: expects two labels, an answer's start and its end, got 3");
}

TEST(Encoders, HeadsThatAreNotBuilt) {
  TinyModel tiny = headed(tinyBert(), "bert.", "BertForMultipleChoice");
  expectPart(refused(tiny), "architectures: expects one of BertModel, BertForMaskedLM, "
                            "BertForPreTraining, BertForNextSentencePrediction, ");
  expectPart(refused(tiny), " of family \"bert\", got \"BertForMultipleChoice\"");
  // A model of sentences has no use for it.
  auto sentences = [](const Folder &folder) {
    folder.write("modules.json", R"([{"path": "", "type": "x.Transformer"},
                                     {"path": "1_Pooling", "type": "x.Pooling"}])");
    folder.write("1_Pooling/config.json", R"({"pooling_mode": "mean"})");
  };
  ModelDescription model = accepted(tiny, sentences);
  EXPECT_TRUE(model.pooling && model.givesHiddenState && model.heads.empty());
  TinyModel masked = headed(tinyBert(), "bert.", "BertForMaskedLM"); // without the head's tensors
  EXPECT_TRUE(accepted(masked, sentences).heads.empty());
}

TEST(Encoders, CountedPositions) {
  TinyModel tiny = headed(tinyBert(), "roberta.", "RobertaModel");
  tiny.config["model_type"] = "\"roberta\"";
  tiny.config["type_vocab_size"] = "1";
  tiny.config["pad_token_id"] = "4";
  tiny.tensors["roberta.embeddings.token_type_embeddings.weight"] = {1, 12};
  ModelDescription model = accepted(tiny);
  EXPECT_EQ(model.embeddings.uncountedToken, 4);
  EXPECT_EQ(model.embeddings.positionOffset, 4);
  EXPECT_EQ(model.maxPositions, 27);
  EXPECT_EQ(model.embeddings.position->shape, (std::vector<int64_t>{32, 12}));
  tiny.config["pad_token_id"] = "31";
  expectPart(refused(tiny), "max_position_embeddings: expects more than pad_token_id, 31, and one");
  tiny.config["pad_token_id"] = "-1";
  expectPart(refused(tiny), "pad_token_id: expects an integer from 0");
  tiny.config["pad_token_id"] = "4";
  tiny.config["embedding_size"] = "12";
  expectPart(refused(tiny), "embedding_size: could change numbers and is not understood");
}

TEST(Encoders, NarrowEmbeddings) {
  TinyModel tiny = headed(tinyBert(), "electra.", "ElectraForMaskedLM");
  tiny.config["model_type"] = "\"electra\"";
  tiny.config["embedding_size"] = "8";
  for (auto &[name, shape] : tiny.tensors)
    if (name.find("embeddings") != name.npos)
      shape.back() = 8;
  add(tiny, "electra.embeddings_project", {12, 8});
  add(tiny, "generator_predictions.dense", {8, 12});
  add(tiny, "generator_predictions.LayerNorm", {8});
  tiny.tensors["generator_lm_head.bias"] = {17};
  ModelDescription model = accepted(tiny);
  EXPECT_EQ(model.hidden, 12);
  ASSERT_TRUE(model.embeddings.projection);
  EXPECT_EQ(model.embeddings.norm->weight.shape, (std::vector<int64_t>{8}));
  EXPECT_EQ(describe(model.heads[0]), "dense[8] gelu norm, dense[17]");
  tiny.config["embedding_size"] = "0";
  expectPart(refused(tiny), "embedding_size: expects an integer from 1");
  tiny.config["embedding_size"] = "12"; // without the projection
  std::string found = refused(tiny);
  expectPart(found, "tensor \"electra.embeddings.word_embeddings.weight\": expects shape [17, 12]");
}

TEST(Encoders, SharedLayers) {
  TinyModel tiny;
  tiny.config = tinyBert().config;
  tiny.config["architectures"] = R"(["AlbertModel"])";
  tiny.config["model_type"] = "\"albert\"";
  tiny.config["embedding_size"] = "8";
  tiny.config["num_hidden_layers"] = "5";
  tiny.config["num_hidden_groups"] = "2";
  for (auto [name, rows] :
       {std::pair("word", 17), std::pair("position", 32), std::pair("token_type", 2)})
    tiny.tensors[std::string("embeddings.") + name + "_embeddings.weight"] = {rows, 8};
  add(tiny, "embeddings.LayerNorm", {8});
  add(tiny, "encoder.embedding_hidden_mapping_in", {12, 8});
  for (std::string group : {"0", "1"}) {
    std::string layer = "encoder.albert_layer_groups." + group + ".albert_layers.0.";
    for (const char *which : {"query", "key", "value", "dense"})
      add(tiny, layer + "attention." + which, {12, 12});
    add(tiny, layer + "attention.LayerNorm", {12});
    add(tiny, layer + "ffn", {20, 12});
    add(tiny, layer + "ffn_output", {12, 20});
    add(tiny, layer + "full_layer_layer_norm", {12});
  }
  ModelDescription model = accepted(tiny);
  ASSERT_EQ(model.layers.size(), 5u);
  std::string groups;
  for (const Layer &layer : model.layers)
    groups += layer.name[layer.name.find("groups.") + 7];
  EXPECT_EQ(groups, "00011");
  tiny.config["num_hidden_groups"] = "6";
  expectPart(refused(tiny), "num_hidden_groups: expects fewer, as there are 5 layers, got 6");
  tiny.config["num_hidden_groups"] = "2";
  tiny.config["inner_group_num"] = "1000";
  expectPart(refused(tiny), "inner_group_num: expects fewer, as there are 5 layers, got 1000");
}

TEST(Encoders, WindowsOnBothSides) {
  TinyModel tiny = tinyModernBert();
  ModelDescription model = accepted(tiny);
  ASSERT_EQ(model.layers.size(), 4u);
  EXPECT_FALSE(model.layers[0].aroundAttention.inputNorm);
  EXPECT_TRUE(model.layers[1].aroundAttention.inputNorm && model.finalNorm);
  EXPECT_FALSE(model.layers[0].attention.window || model.layers[3].attention.window);
  EXPECT_EQ(model.layers[1].attention.window, 4); // itself and three on either side
  EXPECT_EQ(model.layers[0].attention.rotary->theta, 5000);
  EXPECT_EQ(model.layers[1].attention.rotary->theta, 50);
  EXPECT_EQ(model.layers[1].feedForward.up.weight.rows->first, 20);
  tiny.config["layer_types"] =
      R"(["full_attention", "full_attention", "sliding_attention", "full_attention"])";
  EXPECT_TRUE(accepted(tiny).layers[2].attention.window);
  expectConfigFault(tiny, "layer_types", R"(["full_attention"])",
                    "layer_types: expects an array of 4 strings");
  expectConfigFault(tiny, "classifier_pooling", "\"max\"",
                    "classifier_pooling: expects \"cls\" or \"mean\", got \"max\"");
  expectConfigFault(tiny, "local_attention", "0", "local_attention: expects an integer from 1");
  expectConfigFault(tiny, "hidden_act", "\"gelu\"", "hidden_act: could change numbers");
  tiny.tensors.erase("layers.2.attn_norm.weight");
  expectPart(refused(tiny), "tensor \"layers.2.attn_norm.weight\": is missing");
}

TEST(Encoders, ClassifierOfMeans) {
  TinyModel tiny = headed(tinyModernBert(), "model.", "ModernBertForSequenceClassification");
  tiny.config["classifier_pooling"] = "\"mean\"";
  tiny.tensors["head.dense.weight"] = {12, 12};
  tiny.tensors["head.norm.weight"] = {12};
  add(tiny, "classifier", {2, 12});
  ModelDescription model = accepted(tiny);
  EXPECT_EQ(model.heads[0].pool, Pool::Mean);
  EXPECT_EQ(describe(model.heads[0]), "dense[12] gelu norm, dense[2]");
}

TEST(Encoders, WithoutTypesOrPooler) {
  TinyModel tiny;
  tiny.config = {{"architectures", R"(["DistilBertForSequenceClassification"])"},
                 {"model_type", R"("distilbert")"},
                 {"dim", "12"},
                 {"hidden_dim", "20"},
                 {"n_layers", "0"},
                 {"n_heads", "3"},
                 {"vocab_size", "17"},
                 {"max_position_embeddings", "32"}};
  expectPart(refused(tiny), "n_layers: expects an integer from 1");
  tiny.config["n_layers"] = "1";
  std::string found = refused(tiny);
  for (const char *name :
       {"distilbert.embeddings.LayerNorm.weight", "distilbert.transformer.layer.0.attention.q_lin",
        "distilbert.transformer.layer.0.sa_layer_norm", "distilbert.transformer.layer.0.ffn.lin1",
        "\"pre_classifier.weight", "\"classifier.bias"})
    expectPart(found, name);
  EXPECT_EQ(found.find("token_type"), found.npos);
}

} // namespace
