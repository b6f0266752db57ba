// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an artifact says of itself, as dictionaries.
#include "python/Tensors.h"

using namespace nanobind::literals;

namespace fovea::python {

static fovea_module_info infoOf(const Module &module) {
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  check(fovea_module_get_info(module.get(), &info));
  return info;
}

static nb::dict describeModule(const Module &module) {
  static const char *const kKinds[] = {"generic", "decoder", "encoder", "encoder-decoder"};
  static const char *const kScores[] = {"softmax", "sigmoid", "scores"};
  fovea_module_info info = infoOf(module);
  nb::dict out;
  out["name"] = info.name;
  out["architecture"] = info.architecture;
  out["compiler"] = info.compiler;
  out["kind"] = kKinds[info.kind];
  out["begin_token"] = info.begin_token;
  nb::list ends;
  for (size_t i = 0; i < info.end_token_count; ++i)
    ends.append(info.end_tokens[i]);
  out["end_tokens"] = ends;
  out["vocabulary_size"] = info.vocabulary_size;
  out["max_positions"] = info.max_positions;
  out["max_text_tokens"] = info.max_text_tokens;
  out["has_tokenizer"] = info.has_tokenizer != 0;
  out["weight_bytes"] = info.weight_bytes;
  nb::list labels;
  for (size_t i = 0; i < info.label_count; ++i) {
    const char *label = nullptr;
    check(fovea_module_get_label(module.get(), i, &label));
    labels.append(label);
  }
  out["labels"] = labels;
  out["score_function"] = kScores[info.score_function];
  out["sampling_rate"] = info.sampling_rate;
  return out;
}

static nb::dict describeValue(const Value &value) {
  static const char *const kRoles[] = {"none",        "token_ids",    "attention_mask",
                                       "token_types", "positions",    "logits",
                                       "next_token",  "hidden_state", "embedding"};
  nb::dict out;
  out["name"] = value.name;
  out["dtype"] = nameOf(value.dtype).c_str();
  out["role"] = kRoles[value.role];
  out["is_cache"] = value.is_cache != 0;
  nb::list shape;
  for (int32_t i = 0; i < value.ndim; ++i) {
    bool isOpen = value.shape[i] < 0;
    if (isOpen && value.dimensions && *value.dimensions[i])
      shape.append(value.dimensions[i]);
    else
      shape.append(value.shape[i]);
  }
  out["shape"] = nb::tuple(shape);
  return out;
}

/// The tokens between an encoder-decoder's begin token and its texts, and what may be chosen there.
static nb::list describePrompt(const Module &module) {
  fovea_module_info info = infoOf(module);
  nb::list out;
  for (size_t place = 0; place < info.prompt_count; ++place) {
    fovea_prompt_info about = FOVEA_PROMPT_INFO_INIT;
    check(fovea_module_get_prompt(module.get(), place, &about));
    nb::dict values, described;
    for (size_t i = 0; i < about.value_count; ++i) {
      const char *name = nullptr;
      int64_t token = 0;
      check(fovea_module_get_prompt_value(module.get(), place, i, &name, &token));
      values[name] = token;
    }
    described["name"] = about.name;
    described["token"] = about.token;
    described["values"] = values;
    out.append(described);
  }
  return out;
}

static nb::list describeEntries(const Module &module) {
  static const char *const kKinds[] = {"generic", "forward", "prefill",
                                       "decode",  "embed",   "encode"};
  fovea_module_info info = infoOf(module);
  nb::list out;
  for (size_t entry = 0; entry < info.entry_count; ++entry) {
    fovea_entry_info about = FOVEA_ENTRY_INFO_INIT;
    check(fovea_module_get_entry(module.get(), entry, &about));
    auto list = [&](auto get, size_t count) {
      nb::list values;
      for (size_t i = 0; i < count; ++i) {
        Value value = FOVEA_VALUE_INFO_INIT;
        check(get(module.get(), entry, i, &value));
        values.append(describeValue(value));
      }
      return values;
    };
    nb::dict described;
    described["name"] = about.name;
    described["kind"] = kKinds[about.kind];
    described["max_positions"] = about.max_positions;
    described["arguments"] = list(fovea_module_get_argument, about.argument_count);
    described["results"] = list(fovea_module_get_result, about.result_count);
    out.append(described);
  }
  return out;
}

static nb::list describeSteps(const Context &context, const std::string &entry) {
  size_t number = 0, count = 0;
  check(fovea_module_find_entry(context.module()->get(), entry.c_str(), &number));
  check(fovea_context_get_step_count(context.get(), number, &count));
  nb::list out;
  for (size_t step = 0; step < count; ++step) {
    fovea_step_info info = FOVEA_STEP_INFO_INIT;
    check(fovea_context_get_step(context.get(), number, step, &info));
    nb::dict described;
    described["kernel"] = info.kernel;
    described["description"] = info.description;
    described["location"] = info.location;
    described["is_fallback"] = info.is_fallback != 0;
    described["schedule"] = info.schedule;
    out.append(described);
  }
  return out;
}

static nb::dict describeContext(const Context &context) {
  fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
  check(fovea_context_get_info(context.get(), &info));
  const char *device = nullptr;
  check(fovea_context_get_device(context.get(), &device));
  nb::dict out;
  out["threads"] = info.threads;
  out["capacity"] = info.capacity;
  out["length"] = info.length;
  out["device"] = device;
  out["device_type"] = info.device.type;
  return out;
}

void addDescriptions(nb::class_<Module> &module, nb::class_<Context> &context) {
  module.def("describe", &describeModule)
      .def("entries", &describeEntries)
      .def("prompt", &describePrompt);
  context.def("describe", &describeContext)
      .def("steps", &describeSteps, "entry"_a)
      .def("reset",
           [](Context &self) { self.run([&] { return fovea_context_reset(self.get()); }); });
}

} // namespace fovea::python
