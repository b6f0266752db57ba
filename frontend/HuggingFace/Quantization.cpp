// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// quantization_config of the methods that are read: gptq, awq, compressed-tensors, fp8 and mxfp4.
// Every key that could change numbers is understood or refused.
#include "frontend/HuggingFace/Quantization.h"

#include <algorithm>

using namespace fovea;

using Kind = Packing::Kind;

/// Larger than any published one, and blocks hold as many.
static constexpr int64_t maxGroup = int64_t(1) << 20;

/// Inputs that share a scale; -1 is all.
static int64_t readGroup(JsonObject &config, const char *key) {
  int64_t group = config.integer(key, -1, maxGroup, 128);
  if (group == -1)
    return 0;
  if (group % 8 != 0 || group == 0)
    config.reject(key, "-1 or a positive multiple of 8");
  return group;
}

/// Rows and columns of the blocks that a matrix of floats has a scale for each.
static void readBlockSizes(JsonObject &config, const char *key, Quantization::Scheme &scheme) {
  auto sizes = config.numbers(key, 1, maxGroup);
  if (sizes && sizes->size() != 2) {
    config.reject(key, "two sizes");
  } else if (sizes) {
    scheme.rows = static_cast<int64_t>((*sizes)[0]);
    scheme.group = static_cast<int64_t>((*sizes)[1]);
  }
}

static int64_t readBits(JsonObject &config, const char *key, bool mayBeEight) {
  int64_t bits = config.integer(key, 1, 32).value_or(4);
  if (bits != 4 && !(mayBeEight && bits == 8))
    config.reject(key, mayBeEight ? "4 or 8" : "4");
  return bits;
}

/// How weights were found and how others would compute with them.
static void ignoreProvenance(JsonObject &config) {
  config.ignore({"quant_method",
                 "damp_percent",
                 "damp_auto_increment",
                 "true_sequential",
                 "static_groups",
                 "dataset",
                 "tokenizer",
                 "model_name_or_path",
                 "model_file_base_name",
                 "model_seqlen",
                 "block_name_to_quantize",
                 "module_name_preceding_first_block",
                 "batch_size",
                 "pad_token_id",
                 "max_input_length",
                 "cache_block_outputs",
                 "modules_in_block_to_quantize",
                 "modules_to_not_convert",
                 "use_cuda_fp16",
                 "use_exllama",
                 "exllama_config",
                 "disable_exllama",
                 "backend",
                 "meta",
                 "act_group_aware",
                 "lm_head",
                 "mse",
                 "uri",
                 "offload_to_disk",
                 "quantizer",
                 "do_fuse",
                 "fuse_max_seq_len",
                 "modules_to_fuse"});
}

static Quantization::Scheme readGptq(JsonObject &config) {
  Quantization::Scheme scheme;
  scheme.bits = readBits(config, "bits", /*mayBeEight=*/true);
  scheme.group = readGroup(config, "group_size");
  scheme.ordered = config.boolean("desc_act", false);
  scheme.symmetric = config.boolean("sym", true);
  std::string format = config.string("format", "gptq");
  format = config.string("checkpoint_format", format);
  if (format != "gptq" && format != "gptq_v2")
    config.reject(config.has("checkpoint_format") ? "checkpoint_format" : "format",
                  "\"gptq\" or \"gptq_v2\"");
  scheme.kind = format == "gptq_v2" ? Kind::GptqV2 : Kind::Gptq;
  if (config.boolean("is_marlin_format", false))
    config.reject("is_marlin_format", "false");
  if (config.string("pack_dtype", "int32") != "int32")
    config.reject("pack_dtype", "\"int32\"");
  ignoreProvenance(config);
  return scheme;
}

static Quantization::Scheme readAwq(JsonObject &config) {
  Quantization::Scheme scheme;
  scheme.kind = Kind::Awq;
  scheme.bits = readBits(config, config.has("w_bit") ? "w_bit" : "bits", /*mayBeEight=*/false);
  scheme.group = readGroup(config, config.has("q_group_size") ? "q_group_size" : "group_size");
  if (!config.boolean("zero_point", true))
    config.reject("zero_point", "true");
  for (const char *key : {"version", "format"}) {
    std::string version = config.string(key, "gemm");
    if (version != "gemm" && version != "GEMM")
      config.reject(key, "\"gemm\"");
  }
  if (config.boolean("desc_act", false))
    config.reject("desc_act", "false, as awq has no order of inputs");
  config.ignore({"sym"}); // transformers writes the default of another method
  ignoreProvenance(config);
  return scheme;
}

//===-- compressed-tensors -------------------------------------------------------------------===//

/// The `weights` of a group of modules.
static Quantization::Scheme readWeights(JsonObject &weights, const std::string &format) {
  Quantization::Scheme scheme;
  std::string type = weights.string("type", "int");
  scheme.kind = type == "float"              ? Kind::Float8
                : format == "pack-quantized" ? Kind::Rows
                                             : Kind::Bytes;
  scheme.bits = scheme.kind == Kind::Rows ? readBits(weights, "num_bits", /*mayBeEight=*/true)
                                          : weights.integer("num_bits", 1, 32, 8);
  if (scheme.kind != Kind::Rows && scheme.bits != 8)
    weights.reject("num_bits", "8 for " + quote(format));
  if (type != "int" && type != "float")
    weights.reject("type", "\"int\" or \"float\"");
  scheme.symmetric = weights.boolean("symmetric", true);
  bool hasGroups = weights.has("group_size") && weights.integer("group_size", -1, maxGroup, -1) > 0;
  std::string strategy = weights.string("strategy", hasGroups ? "group" : "channel");
  bool isFloat = scheme.kind == Kind::Float8;
  if (strategy == "group" && !isFloat)
    scheme.group = readGroup(weights, "group_size");
  else if (strategy != "channel" && !(isFloat && (strategy == "tensor" || strategy == "block")))
    weights.reject("strategy", isFloat ? "\"tensor\", \"channel\" or \"block\" for floats"
                                       : "\"group\" or \"channel\" for integers");
  if (strategy == "block")
    readBlockSizes(weights, "block_structure", scheme);
  if (const JsonValue *order = weights.find("actorder")) {
    // `weight` is an order while weights were found, which they do not keep.
    scheme.ordered =
        order->isString() && (order->string() == "group" || order->string() == "dynamic");
    bool isKnown = order->isString() &&
                   (scheme.ordered || order->string() == "weight" || order->string() == "static");
    if (!isKnown && order->describe() != "false")
      weights.reject("actorder", "\"group\" or \"weight\"");
  }
  if (weights.boolean("dynamic", false))
    weights.reject("dynamic", "false: weights are stored");
  weights.ignore(
      {"group_size", "block_structure", "observer", "observer_kwargs", "scale_dtype", "zp_dtype"});
  weights.reportUnread("could change numbers and is not understood");
  return scheme;
}

static bool isKnownFormat(const std::string &format) {
  return format == "pack-quantized" || format == "int-quantized" || format == "float-quantized" ||
         format == "naive-quantized";
}

static std::vector<Quantization::Scheme> readCompressedTensors(JsonObject &config) {
  std::vector<Quantization::Scheme> schemes;
  const std::string formats =
      "\"pack-quantized\", \"int-quantized\", \"float-quantized\" or \"naive-quantized\"";
  // What is rounded besides weights stays as it is: their numbers alone are stored.
  config.ignore({"quant_method", "config_groups", "ignore", "quantization_status",
                 "global_compression_ratio", "version", "run_compressed", "dequantize"});
  std::string format = config.string("format", "dense");
  if (!isKnownFormat(format) && format != "mixed-precision") {
    config.reject("format", formats);
    return schemes;
  }
  for (const char *key :
       {"kv_cache_scheme", "transform_config", "sparsity_config", "moe_sparsity_config"})
    if (const JsonValue *value = config.find(key)) {
      const JsonValue *kind = value->isObject() ? value->find("format") : nullptr;
      bool isDense = kind && kind->isString() && kind->string() == "dense";
      if (!isDense && (!value->isObject() || !value->keys().empty()))
        config.reject(key, "nothing: it is not supported");
    }
  std::optional<JsonObject> groups = config.member("config_groups");
  if (!groups || !groups->valid())
    return schemes;
  for (const std::string &name : config.find("config_groups")->keys()) {
    std::optional<JsonObject> group = groups->member(name);
    if (!group || !group->valid())
      continue;
    std::string own = group->string("format", format);
    if (!isKnownFormat(own))
      group->reject("format", formats);
    group->ignore({"targets", "input_activations"});
    if (std::optional<JsonObject> weights = group->member("weights"); weights && weights->valid())
      schemes.push_back(readWeights(*weights, own));
    group->reportUnread("could change numbers and is not understood");
  }
  return schemes;
}

//===-- Floats -------------------------------------------------------------------------------===//

static Quantization::Scheme readFloat8(JsonObject &config) {
  Quantization::Scheme scheme;
  scheme.kind = Kind::Float8;
  scheme.inverse = true;
  if (config.has("weight_block_size"))
    readBlockSizes(config, "weight_block_size", scheme);
  for (auto [key, expected] : {std::pair("fmt", "e4m3"), std::pair("scale_fmt", "float"),
                               std::pair("expert_dtype", "fp8")})
    if (config.string(key, expected) != expected)
      config.reject(key, quote(expected));
  config.ignore({"quant_method", "activation_scheme", "modules_to_not_convert", "ignored_layers",
                 "modules_to_convert", "dequantize"});
  return scheme;
}

Quantization Quantization::read(JsonObject &config, Problems &problems) {
  Quantization result;
  if (!config.has("quantization_config"))
    return result;
  const size_t before = problems.size();
  result.isKnown = false;
  std::optional<JsonObject> quantization = config.member("quantization_config");
  if (!quantization || !quantization->valid())
    return result;
  std::optional<std::string> method = quantization->string("quant_method");
  if (!method)
    return result;
  if (*method == "gptq")
    result.schemes = {readGptq(*quantization)};
  else if (*method == "awq")
    result.schemes = {readAwq(*quantization)};
  else if (*method == "compressed-tensors")
    result.schemes = readCompressedTensors(*quantization);
  else if (*method == "fp8")
    result.schemes = {readFloat8(*quantization)};
  else if (*method == "mxfp4")
    quantization->ignore({"modules_to_not_convert", "dequantize"}); // GPT-OSS reads its tensors
  else {
    quantization->reject("quant_method", "\"gptq\", \"awq\", \"compressed-tensors\", \"fp8\" or "
                                         "\"mxfp4\": others are not supported");
    return result;
  }
  quantization->reportUnread("could change numbers and is not understood");
  result.isKnown = problems.size() == before;
  return result;
}
