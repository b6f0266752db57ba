// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of config.json that families share: which keys do not change numbers,
// the names of activations, and rotary scaling in its two spellings.
#include "frontend/HuggingFace/Family.h"

#include <cmath>

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
                 "max_new_tokens"});
  // Training only; inference has no dropout.
  config.ignore({"attention_dropout", "hidden_dropout", "hidden_dropout_prob",
                 "attention_probs_dropout_prob", "classifier_dropout", "resid_pdrop", "embd_pdrop",
                 "attn_pdrop", "layerdrop"});
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

namespace {
/// The parameters of one rotary embedding, wherever they stand.
struct RotaryReader {
  JsonObject &parameters;
  Rotary &rotary;
  int64_t contextLength;
  /// `original_max_position_embeddings` beside the parameters goes first.
  std::optional<int64_t> outerOriginal;
  Problems &problems;

  void readOriginal() {
    int64_t inner =
        parameters.integer("original_max_position_embeddings", 1, maxPositions, contextLength);
    rotary.originalPositions = outerOriginal.value_or(inner);
  }
  void readFactor() { rotary.factor = parameters.number("factor", 1e-6, 1e6).value_or(1); }

  void readYarn();
  void readLongRope();
  void readLlama3();
};
} // namespace

/// Peng et al. 2023, "YaRN", section 3.4: the attention factor from the scale.
static double yarnMagnitude(double scale, double multiplier) {
  return scale <= 1 ? 1 : 0.1 * multiplier * std::log(scale) + 1;
}

void RotaryReader::readYarn() {
  readOriginal();
  rotary.factor = parameters.number("factor", 1e-6, 1e6,
                                    double(contextLength) / double(rotary.originalPositions));
  rotary.low = parameters.number("beta_slow", 0, 1e6, 1);
  rotary.high = parameters.number("beta_fast", 0, 1e6, 32);
  // Zero stands for "not given" there.
  rotary.low = rotary.low == 0 ? 1 : rotary.low;
  rotary.high = rotary.high == 0 ? 32 : rotary.high;
  rotary.truncate = parameters.boolean("truncate", true);
  double mscale = parameters.number("mscale", 0, 1e6, 0);
  double mscaleAllDim = parameters.number("mscale_all_dim", 0, 1e6, 0);
  double implied = mscale != 0 && mscaleAllDim != 0 ? yarnMagnitude(rotary.factor, mscale) /
                                                          yarnMagnitude(rotary.factor, mscaleAllDim)
                                                    : yarnMagnitude(rotary.factor, 1);
  rotary.attentionFactor = parameters.number("attention_factor", 1e-6, 1e6, implied);
}

void RotaryReader::readLongRope() {
  readOriginal();
  double factor = parameters.number("factor", 1e-6, 1e6,
                                    double(contextLength) / double(rotary.originalPositions));
  rotary.factor = factor;
  // Ding et al. 2024, "LongRoPE", as its implementations compute it.
  double implied =
      factor <= 1 || rotary.originalPositions <= 1
          ? 1
          : std::sqrt(1 + std::log(factor) / std::log(double(rotary.originalPositions)));
  rotary.attentionFactor = parameters.number("attention_factor", 1e-6, 1e6, implied);
  for (auto [key, factors] : {std::make_pair("short_factor", &rotary.shortFactors),
                              std::make_pair("long_factor", &rotary.longFactors)}) {
    if (auto found = parameters.numbers(key, 1e-6, 1e9)) {
      if (int64_t(found->size()) != rotary.dim / 2)
        parameters.reject(key,
                          "an array of " + std::to_string(rotary.dim / 2) + " numbers, one a pair");
      *factors = std::move(*found);
    }
  }
}

void RotaryReader::readLlama3() {
  readOriginal();
  readFactor();
  rotary.low = parameters.number("low_freq_factor", 1e-6, 1e6).value_or(1);
  rotary.high = parameters.number("high_freq_factor", 1e-6, 1e6).value_or(4);
  if (rotary.high <= rotary.low)
    parameters.reject("high_freq_factor", "a number above low_freq_factor");
}

std::optional<Rotary> fovea::readRotary(JsonObject &config, int64_t headSize, int64_t contextLength,
                                        Problems &problems) {
  size_t before = problems.size();
  bool nested = config.has("rope_parameters");
  if (nested && config.has("rope_scaling"))
    config.reject("rope_scaling", "nothing beside rope_parameters");
  static const JsonValue empty = *parseJson("{}", "", problems);
  const char *key = nested ? "rope_parameters" : "rope_scaling";
  const JsonValue *found = config.find(key);
  config.ignore({"rope_parameters", "rope_scaling"});
  JsonObject parameters(found ? *found : empty, config.file(), key, problems);
  if (!parameters.valid())
    return std::nullopt;

  Rotary rotary;
  double outerTheta = config.number("rope_theta", 1.0001, 1e30, 10000);
  double outerPart = config.number("partial_rotary_factor", 1e-3, 1, 1);
  rotary.theta = parameters.number("rope_theta", 1.0001, 1e30, outerTheta);
  double part = parameters.number("partial_rotary_factor", 1e-3, 1, outerPart);
  rotary.dim = static_cast<int64_t>(double(headSize) * part);
  if (rotary.dim < 2 || rotary.dim % 2 != 0)
    addError(problems, config.file(), "head_dim",
             "expects an even number of rotated elements a head, got " +
                 std::to_string(rotary.dim));

  std::optional<int64_t> outerOriginal;
  if (config.has("original_max_position_embeddings"))
    outerOriginal = config.integer("original_max_position_embeddings", 1, maxPositions);
  RotaryReader reader{parameters, rotary, contextLength, outerOriginal, problems};
  const char *kindKey = parameters.has("rope_type") ? "rope_type" : "type";
  std::string kind = parameters.string(kindKey, "default");
  parameters.ignore({"type", "rope_type"});
  if (kind == "default") {
    rotary.kind = Rotary::Kind::Default;
  } else if (kind == "linear") {
    rotary.kind = Rotary::Kind::Linear;
    reader.readFactor();
  } else if (kind == "dynamic") {
    rotary.kind = Rotary::Kind::Dynamic;
    reader.readFactor();
    rotary.originalPositions = contextLength;
    if (rotary.dim == 2)
      addError(problems, config.file(), "head_dim",
               "expects more than 2 rotated elements a head for dynamic scaling, got 2");
  } else if (kind == "yarn") {
    rotary.kind = Rotary::Kind::Yarn;
    reader.readYarn();
  } else if (kind == "longrope") {
    rotary.kind = Rotary::Kind::LongRope;
    reader.readLongRope();
  } else if (kind == "llama3") {
    rotary.kind = Rotary::Kind::Llama3;
    reader.readLlama3();
  } else {
    parameters.reject(kindKey,
                      "a rotary kind among default, linear, dynamic, yarn, longrope, llama3");
    return std::nullopt;
  }
  // Parameters of other kinds are left over when a kind is changed; they have
  // no effect in transformers either.
  parameters.ignore({"factor", "original_max_position_embeddings", "attention_factor", "beta_fast",
                     "beta_slow", "mscale", "mscale_all_dim", "truncate", "short_factor",
                     "long_factor", "low_freq_factor", "high_freq_factor"});
  parameters.reportUnread("is no parameter of rotary embedding that is understood");
  if (problems.size() != before)
    return std::nullopt;
  return rotary;
}
