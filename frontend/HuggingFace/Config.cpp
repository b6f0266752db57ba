// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of config.json that families share: which keys do not change numbers,
// and the names of activations.
#include "frontend/HuggingFace/Family.h"

using namespace fovea;

void fovea::ignoreCommonKeys(JsonObject &config) {
  // Bookkeeping, training, and what the model returns besides its result.
  config.ignore({"_name_or_path",
                 "_commit_hash",
                 "_attn_implementation",
                 "attn_implementation",
                 "_attn_implementation_autoset",
                 "transformers_version",
                 "torch_dtype",
                 "dtype",
                 "use_cache",
                 "use_return_dict",
                 "return_dict",
                 "return_dict_in_generate",
                 "output_attentions",
                 "output_hidden_states",
                 "output_scores",
                 "torchscript",
                 "initializer_range",
                 "gradient_checkpointing",
                 "chunk_size_feed_forward",
                 "finetuning_task",
                 "task_specific_params",
                 "problem_type",
                 "num_labels",
                 "id2label",
                 "label2id",
                 "tokenizer_class",
                 "processor_class",
                 "prefix",
                 "use_bfloat16",
                 "tf_legacy_loss",
                 "model_type",
                 "architectures",
                 "tie_encoder_decoder",
                 "is_encoder_decoder",
                 "license",
                 "language"});
  // Other token ids; begin, end and padding are read where they are used.
  config.ignore({"sep_token_id", "cls_token_id", "mask_token_id", "unk_token_id",
                 "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id"});
  // How text is generated, not what the model computes.
  config.ignore({"max_length",
                 "min_length",
                 "do_sample",
                 "early_stopping",
                 "num_beams",
                 "num_beam_groups",
                 "diversity_penalty",
                 "temperature",
                 "top_k",
                 "top_p",
                 "typical_p",
                 "repetition_penalty",
                 "length_penalty",
                 "no_repeat_ngram_size",
                 "encoder_no_repeat_ngram_size",
                 "bad_words_ids",
                 "num_return_sequences",
                 "remove_invalid_values",
                 "exponential_decay_length_penalty",
                 "suppress_tokens",
                 "begin_suppress_tokens",
                 "forced_decoder_ids",
                 "max_new_tokens"});
  // Training only; inference has no dropout.
  config.ignore({"attention_dropout", "hidden_dropout", "hidden_dropout_prob",
                 "attention_probs_dropout_prob", "classifier_dropout", "resid_pdrop", "embd_pdrop",
                 "attn_pdrop", "layerdrop"});
}

bool fovea::isLanguageModel(const std::string &architecture) {
  for (std::string_view ending :
       {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "MTModel"})
    if (architecture.size() >= ending.size() &&
        std::string_view(architecture).substr(architecture.size() - ending.size()) == ending)
      return true;
  return false;
}

void fovea::requireBoolean(JsonObject &config, const char *key, bool expected, Problems &problems) {
  if (config.has(key) && config.boolean(key, expected) != expected)
    config.reject(key, expected ? "true: the other variant is not supported"
                                : "false: the other variant is not supported");
}

std::optional<Activation> fovea::readActivation(JsonObject &config, const char *key,
                                                const std::string &fallback) {
  static const struct {
    const char *name;
    Activation activation;
  } table[] = {
      {"gelu", Activation::Gelu},
      {"gelu_python", Activation::Gelu},
      {"gelu_new", Activation::GeluTanh},
      {"gelu_fast", Activation::GeluTanh}, // sqrt(2/pi) to ten digits
      {"gelu_accurate", Activation::GeluTanh},
      {"gelu_pytorch_tanh", Activation::GeluTanh},
      {"gelu_python_tanh", Activation::GeluTanh},
      {"quick_gelu", Activation::GeluQuick},
      {"relu", Activation::Relu},
      {"relu2", Activation::ReluSquared},
      {"silu", Activation::Silu},
      {"swish", Activation::Silu},
      {"tanh", Activation::Tanh},
      {"sigmoid", Activation::Sigmoid},
  };
  std::string name = config.string(key, fallback);
  std::string known;
  for (const auto &entry : table) {
    if (name == entry.name)
      return entry.activation;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  config.reject(key, "an activation among " + known);
  return std::nullopt;
}
