// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model's folder, of which one file of JSON is the input; its first byte chooses the model, its
// second the file. Weights are those of the models of test/unit/frontend.
#include "frontend/HuggingFace/HuggingFace.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/JsonTree.h"
#include "test/unit/frontend/ModelFiles.h"

#include <memory>

using namespace fovea;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateBehind(2, data, size, most, seed, fuzz::mutateJson);
}

namespace {

using Files = std::map<std::string, std::string>;

/// A model on disk, as it is when no input is in it.
struct Model {
  fuzz::Folder folder;
  Files files;

  Model(const test::TinyModel &model, const Files &more) : files(more) {
    files["config.json"] = test::json(model.config);
    folder.write("model.safetensors", test::safetensors(model.tensors));
    folder.write("2_Dense/model.safetensors",
                 test::safetensors({{"linear.weight", {7, 12}}, {"linear.bias", {7}}}));
    for (const auto &[name, content] : files)
      folder.write(name, content);
  }
};

/// A model without its second layer, so that its weights' header is short.
test::TinyModel withOneLayer(test::TinyModel model, const char *count) {
  model.config[count] = "1";
  for (auto tensor = model.tensors.begin(); tensor != model.tensors.end();)
    if (tensor->first.find(".1.") != std::string::npos)
      tensor = model.tensors.erase(tensor);
    else
      ++tensor;
  return model;
}

const char *const kFiles[] = {"config.json",
                              "generation_config.json",
                              "model.safetensors.index.json",
                              "modules.json",
                              "1_Pooling/config.json",
                              "2_Dense/config.json",
                              "sentence_bert_config.json"};

std::vector<std::unique_ptr<Model>> makeModels() {
  const Files sentences = {
      {"modules.json",
       R"([{"idx":0,"name":"0","path":"","type":"sentence_transformers.models.Transformer"},
{"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.models.Pooling"},
{"idx":2,"name":"2","path":"2_Dense","type":"sentence_transformers.models.Dense"},
{"idx":3,"name":"3","path":"3_Normalize","type":"sentence_transformers.models.Normalize"}])"},
      {"1_Pooling/config.json",
       R"({"word_embedding_dimension":12,"pooling_mode_mean_tokens":true})"},
      {"2_Dense/config.json",
       R"({"in_features":12,"out_features":7,"bias":true,"activation_function":"torch.nn.modules.activation.Tanh"})"},
      {"sentence_bert_config.json", R"({"max_seq_length":16,"do_lower_case":false})"}};
  std::vector<std::unique_ptr<Model>> models;
  models.push_back(
      std::make_unique<Model>(withOneLayer(test::tinyLlama(), "num_hidden_layers"), Files()));
  models.push_back(std::make_unique<Model>(test::tinyBert(), sentences));
  models.push_back(std::make_unique<Model>(withOneLayer(test::tinyGpt2(), "n_layer"), Files()));
  return models;
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<std::unique_ptr<Model>> models = makeModels();
  fuzz::Input input(data, size);
  Model &model = *models[input.take<uint8_t>() % models.size()];
  const char *name = kFiles[input.take<uint8_t>() % std::size(kFiles)];
  model.folder.write(name, input.rest());
  Problems problems;
  std::optional<ModelDescription> read = readHuggingFace(model.folder.path(), problems);
  fuzz::checkProblems(problems, read.has_value());
  if (auto before = model.files.find(name); before != model.files.end())
    model.folder.write(name, before->second);
  else
    model.folder.remove(name);
  return 0;
}
