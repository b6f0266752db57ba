// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface of modules, contexts and calls: checks pointers and numbers,
// forwards, turns failures into statuses.
#include "runtime/Call.h"
#include "runtime/StructSize.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace fovea;

static void require(const void *pointer, const char *what) {
  if (!pointer)
    failInvalid(std::string(what) + " is NULL");
}

static const Entry &entryAt(const fovea_module *module, size_t entry) {
  require(module, "module");
  const auto &entries = module->module->entries();
  if (entry >= entries.size())
    failInvalid("there is no entry number " + std::to_string(entry) + " of " +
                std::to_string(entries.size()));
  return entries[entry];
}

const char *fovea_version(void) { return FOVEA_VERSION; }

fovea_status *fovea_module_open(const char *path, fovea_module **module) {
  return fovea_module_open_with(path, nullptr, module);
}

fovea_status *fovea_module_open_with(const char *path, const fovea_module_options *options,
                                     fovea_module **module) {
  return guarded([&] {
    require(path, "path");
    require(module, "module");
    *module = nullptr;
    fovea_module_options own = takeStruct(options, FOVEA_MODULE_OPTIONS_INIT);
    *module = new fovea_module{std::make_shared<const Module>(
        path, own.copy ? artifact::FileAccess::Copied : artifact::FileAccess::Mapped)};
  });
}

const char *fovea_find_mapped_file(const void *address) {
  return artifact::findMappedFile(address);
}

void fovea_module_free(fovea_module *module) { delete module; }

fovea_status *fovea_module_get_info(const fovea_module *module, fovea_module_info *info) {
  return guarded([&] {
    require(module, "module");
    require(info, "info");
    const Module &m = *module->module;
    const manifest::ModelInfoT &model = *m.manifest().model;
    fovea_module_info all = {sizeof(all),
                             model.name.c_str(),
                             model.architecture.c_str(),
                             m.manifest().compiler.c_str(),
                             static_cast<fovea_model_kind>(model.kind),
                             model.begin_token,
                             model.end_tokens.data(),
                             model.end_tokens.size(),
                             model.vocabulary_size,
                             model.max_positions,
                             model.max_text_tokens,
                             m.tokenizer() != nullptr,
                             m.entries().size(),
                             m.weightBytes(),
                             model.labels.size(),
                             static_cast<fovea_score_function>(model.score_function),
                             model.prompt.size(),
                             model.sampling_rate};
    giveStruct(all, info);
  });
}

static const manifest::PromptTokenT &promptAt(const fovea_module *module, size_t place) {
  require(module, "module");
  const auto &prompt = module->module->manifest().model->prompt;
  if (place >= prompt.size())
    failInvalid("there is no token number " + std::to_string(place) + " of the prompt's " +
                std::to_string(prompt.size()));
  return *prompt[place];
}

fovea_status *fovea_module_get_prompt(const fovea_module *module, size_t place,
                                      fovea_prompt_info *info) {
  return guarded([&] {
    require(info, "info");
    const manifest::PromptTokenT &token = promptAt(module, place);
    fovea_prompt_info all = {sizeof(all), token.name.c_str(), token.token, token.values.size()};
    giveStruct(all, info);
  });
}

fovea_status *fovea_module_get_prompt_value(const fovea_module *module, size_t place, size_t value,
                                            const char **name, int64_t *token) {
  return guarded([&] {
    require(name, "name");
    require(token, "token");
    const manifest::PromptTokenT &found = promptAt(module, place);
    if (value >= found.values.size())
      failInvalid("there is no value number " + std::to_string(value) + " of " +
                  std::to_string(found.values.size()));
    *name = found.values[value].c_str();
    *token = found.tokens[value];
  });
}

fovea_status *fovea_module_get_label(const fovea_module *module, size_t label, const char **name) {
  return guarded([&] {
    require(module, "module");
    require(name, "name");
    const std::vector<std::string> &labels = module->module->manifest().model->labels;
    if (label >= labels.size())
      failInvalid("there is no label number " + std::to_string(label) + " of " +
                  std::to_string(labels.size()));
    *name = labels[label].c_str();
  });
}

fovea_status *fovea_module_get_image_info(const fovea_module *module, fovea_image_info *info) {
  return guarded([&] {
    require(module, "module");
    require(info, "info");
    fovea_image_info all = {};
    if (const auto &images = module->module->manifest().model->images) {
      all = {sizeof(all),
             1,
             images->resize_height(),
             images->resize_width(),
             images->shortest_edge(),
             images->crop_height(),
             images->crop_width(),
             static_cast<fovea_image_filter>(images->filter()),
             images->scale(),
             {},
             {}};
      std::copy(images->mean()->begin(), images->mean()->end(), all.mean);
      std::copy(images->deviation()->begin(), images->deviation()->end(), all.deviation);
    }
    giveStruct(all, info);
  });
}

fovea_status *fovea_module_get_entry(const fovea_module *module, size_t entry,
                                     fovea_entry_info *info) {
  return guarded([&] {
    require(info, "info");
    const manifest::EntryT &description = *entryAt(module, entry).description;
    fovea_entry_info all = {sizeof(all),
                            description.name.c_str(),
                            description.arguments.size(),
                            description.results.size(),
                            description.steps.size(),
                            description.max_positions,
                            static_cast<fovea_entry_kind>(description.kind)};
    giveStruct(all, info);
  });
}

fovea_status *fovea_module_find_entry(const fovea_module *module, const char *name, size_t *entry) {
  return guarded([&] {
    require(module, "module");
    require(name, "name");
    require(entry, "entry");
    *entry = module->module->requireEntry(name);
  });
}

// The manifest's numbers are the interface's.
static_assert(static_cast<int>(manifest::ModelKind::MAX) == FOVEA_ENCODER_DECODER);
static_assert(static_cast<int>(manifest::EntryKind::MAX) == FOVEA_ENTRY_ENCODE);
static_assert(static_cast<int>(manifest::ScoreFunction::MAX) == FOVEA_SCORES);
static_assert(static_cast<int>(manifest::Role::MAX) == FOVEA_ROLE_EMBEDDING);

using Values = std::vector<std::unique_ptr<manifest::ValueT>>;

static void fillValue(const Values &values, const std::vector<std::vector<const char *>> &names,
                      size_t index, fovea_value_info *info) {
  require(info, "info");
  if (index >= values.size())
    failInvalid("there is no value number " + std::to_string(index) + " of " +
                std::to_string(values.size()));
  const manifest::ValueT &value = *values[index];
  fovea_value_info all = {sizeof(all),
                          value.name.c_str(),
                          value.kind == manifest::ValueKind::Cache,
                          dtypeOf(value.element),
                          static_cast<int32_t>(value.shape.size()),
                          value.shape.data(),
                          names[index].data(),
                          value.heads,
                          value.size,
                          static_cast<fovea_role>(value.role)};
  giveStruct(all, info);
}

fovea_status *fovea_module_get_argument(const fovea_module *module, size_t entry, size_t argument,
                                        fovea_value_info *info) {
  return guarded([&] {
    const Entry &e = entryAt(module, entry);
    fillValue(e.description->arguments, e.argumentDimensions, argument, info);
  });
}

fovea_status *fovea_module_get_result(const fovea_module *module, size_t entry, size_t result,
                                      fovea_value_info *info) {
  return guarded([&] {
    const Entry &e = entryAt(module, entry);
    fillValue(e.description->results, e.resultDimensions, result, info);
  });
}

static const manifest::StepT &stepAt(const Executor::Steps &steps, size_t step) {
  if (step >= steps.size())
    failInvalid("there is no step number " + std::to_string(step) + " of " +
                std::to_string(steps.size()));
  return *steps[step];
}

static fovea_step_info describe(const manifest::StepT &step, const manifest::KernelT &kernel) {
  return {sizeof(fovea_step_info), kernel.name.c_str(), kernel.description.c_str(),
          step.location.c_str(),   kernel.fallback,     kernel.schedule.c_str()};
}

fovea_status *fovea_module_get_step(const fovea_module *module, size_t entry, size_t step,
                                    fovea_step_info *info) {
  return guarded([&] {
    require(info, "info");
    const manifest::StepT &at = stepAt(entryAt(module, entry).description->steps, step);
    giveStruct(describe(at, *module->module->manifest().kernels[at.kernel]), info);
  });
}

fovea_status *fovea_module_encode(const fovea_module *module, const char *text, size_t size,
                                  int special, int64_t **ids, size_t *count) {
  return guarded([&] {
    require(module, "module");
    require(text, "text");
    require(ids, "ids");
    require(count, "count");
    std::vector<int32_t> tokens =
        module->module->requireTokenizer().encode({text, size}, special != 0);
    auto *out = static_cast<int64_t *>(std::malloc((tokens.size() + 1) * sizeof(int64_t)));
    if (!out)
      throw std::bad_alloc();
    for (size_t i = 0; i < tokens.size(); ++i)
      out[i] = tokens[i];
    *ids = out;
    *count = tokens.size();
  });
}

fovea_status *fovea_module_find_token(const fovea_module *module, const char *text, size_t size,
                                      int64_t *id) {
  return guarded([&] {
    require(module, "module");
    require(text, "text");
    require(id, "id");
    *id = module->module->requireTokenizer().find({text, size});
  });
}

/// One block: ids, types, texts.
static fovea_encoding giveEncoding(const Tokenizer::Encoding &row, bool cut) {
  size_t count = row.ids.size();
  auto *ids = static_cast<int64_t *>(std::malloc((3 * count + 1) * sizeof(int64_t)));
  if (!ids)
    throw std::bad_alloc();
  std::copy(row.ids.begin(), row.ids.end(), ids);
  std::copy(row.typeIds.begin(), row.typeIds.end(), ids + count);
  std::copy(row.texts.begin(), row.texts.end(), ids + 2 * count);
  return {sizeof(fovea_encoding), ids, ids + count, ids + 2 * count, count, cut};
}

fovea_status *fovea_module_encode_texts(const fovea_module *module, const fovea_text *texts,
                                        size_t count, size_t max_tokens, fovea_encoding *encoding) {
  return guarded([&] {
    require(module, "module");
    require(texts, "texts");
    require(encoding, "encoding");
    if (count != 1 && count != 2)
      failInvalid("expects one or two texts, got " + std::to_string(count));
    for (size_t i = 0; i < count; ++i)
      if (!texts[i].data && texts[i].size)
        failInvalid("text " + std::to_string(i) + " is NULL");
    checkStructSize(*encoding);
    const Tokenizer &tokenizer = module->module->requireTokenizer();
    auto textOf = [&](size_t i) {
      return std::string_view(texts[i].data ? texts[i].data : "", texts[i].size);
    };
    auto encode = [&](size_t most) {
      return count == 1 ? tokenizer.encodeSingle(textOf(0), true, most)
                        : tokenizer.encodePair(textOf(0), textOf(1), true, most);
    };
    Tokenizer::Encoding row = encode(0);
    bool cut = max_tokens > 0 && row.ids.size() > max_tokens;
    giveStruct(giveEncoding(cut ? encode(max_tokens) : row, cut), encoding);
  });
}

fovea_status *fovea_module_decode(const fovea_module *module, const int64_t *ids, size_t count,
                                  char **text, size_t *size) {
  return guarded([&] {
    require(module, "module");
    require(text, "text");
    if (count)
      require(ids, "ids");
    std::vector<int32_t> tokens;
    for (size_t i = 0; i < count; ++i) {
      if (ids[i] < 0 || ids[i] > INT32_MAX)
        failInvalid("token id " + std::to_string(ids[i]) + " is no token");
      tokens.push_back(static_cast<int32_t>(ids[i]));
    }
    std::string decoded =
        module->module->requireTokenizer().decode(tokens.data(), tokens.size(), true);
    char *out = static_cast<char *>(std::malloc(decoded.size() + 1));
    if (!out)
      throw std::bad_alloc();
    std::memcpy(out, decoded.c_str(), decoded.size() + 1);
    *text = out;
    if (size)
      *size = decoded.size();
  });
}

fovea_status *fovea_context_create(fovea_module *module, const fovea_context_options *options,
                                   fovea_context **context) {
  return guarded([&] {
    require(module, "module");
    require(context, "context");
    *context = nullptr;
    *context =
        new fovea_context{Context(module->module, takeStruct(options, FOVEA_CONTEXT_OPTIONS_INIT))};
  });
}

void fovea_context_free(fovea_context *context) { delete context; }

fovea_status *fovea_context_reset(fovea_context *context) {
  return guarded([&] {
    require(context, "context");
    context->context.reset();
  });
}

fovea_status *fovea_context_get_info(const fovea_context *context, fovea_context_info *info) {
  return guarded([&] {
    require(context, "context");
    require(info, "info");
    fovea_context_info all = {sizeof(all), context->context.executor().threads(),
                              context->context.capacity(), context->context.length(),
                              context->context.executor().number()};
    giveStruct(all, info);
  });
}

/// Fails by number.
static const Executor::Steps &stepsOf(const fovea_context *context, size_t entry) {
  require(context, "context");
  size_t count = context->context.module().entries().size();
  if (entry >= count)
    failInvalid("there is no entry number " + std::to_string(entry) + " of " +
                std::to_string(count));
  return context->context.executor().steps(entry);
}

fovea_status *fovea_context_get_device(const fovea_context *context, const char **name) {
  return guarded([&] {
    require(context, "context");
    require(name, "name");
    *name = context->context.executor().name().c_str();
  });
}

fovea_status *fovea_context_measure_copy(fovea_context *context, uint64_t bytes, int64_t runs,
                                         double *seconds) {
  return guarded([&] {
    require(context, "context");
    require(seconds, "seconds");
    if (bytes < 1 || runs < 1)
      failInvalid("a copy expects at least one byte and one run, got " + std::to_string(bytes) +
                  " and " + std::to_string(runs));
    *seconds = context->context.executor().measureCopy(bytes, runs) / static_cast<double>(runs);
  });
}

fovea_status *fovea_context_get_step_count(const fovea_context *context, size_t entry,
                                           size_t *count) {
  return guarded([&] {
    require(count, "count");
    *count = stepsOf(context, entry).size();
  });
}

fovea_status *fovea_context_get_step(const fovea_context *context, size_t entry, size_t step,
                                     fovea_step_info *info) {
  return guarded([&] {
    require(info, "info");
    const manifest::StepT &at = stepAt(stepsOf(context, entry), step);
    giveStruct(describe(at, context->context.executor().kernel(at)), info);
  });
}

fovea_status *fovea_context_get_trace(fovea_context *context, const fovea_trace_event **events,
                                      size_t *count) {
  return guarded([&] {
    require(context, "context");
    require(events, "events");
    require(count, "count");
    const std::vector<fovea_trace_event> &all = context->context.executor().trace();
    *events = all.data();
    *count = all.size();
  });
}

fovea_status *fovea_call_create(fovea_context *context, const char *entry, fovea_call **call) {
  return guarded([&] {
    require(context, "context");
    require(entry, "entry");
    require(call, "call");
    *call = nullptr;
    *call = new fovea_call{Call(context->context, entry)};
  });
}

void fovea_call_free(fovea_call *call) { delete call; }

fovea_status *fovea_call_set_argument(fovea_call *call, const char *name,
                                      const fovea_tensor *tensor) {
  return guarded([&] {
    require(call, "call");
    require(name, "name");
    require(tensor, "tensor");
    call->call.setArgument(name, *tensor);
  });
}

fovea_status *fovea_call_run(fovea_call *call) { return fovea_call_run_with(call, nullptr); }

fovea_status *fovea_call_run_with(fovea_call *call, const fovea_run_options *options) {
  return guarded([&] {
    require(call, "call");
    call->call.run(takeStruct(options, FOVEA_RUN_OPTIONS_INIT));
  });
}

fovea_status *fovea_call_wait(fovea_call *call) {
  return guarded([&] {
    require(call, "call");
    call->call.wait();
  });
}

fovea_status *fovea_call_measure(fovea_call *call, int64_t runs, double *seconds) {
  return guarded([&] {
    require(call, "call");
    require(seconds, "seconds");
    *seconds = call->call.measure(runs);
  });
}

fovea_status *fovea_call_get_result(fovea_call *call, const char *name,
                                    const fovea_tensor **tensor) {
  return guarded([&] {
    require(call, "call");
    require(name, "name");
    require(tensor, "tensor");
    *tensor = &call->call.result(name);
  });
}

/// A step's measurements; fails by number.
static const Call::StepProfile &profileAt(const fovea_call *call, size_t step) {
  require(call, "call");
  const std::vector<Call::StepProfile> &all = call->call.profile();
  if (step >= all.size())
    failInvalid(all.empty() ? "the context does not profile"
                            : "there is no step number " + std::to_string(step));
  return all[step];
}

fovea_status *fovea_call_get_step_time(const fovea_call *call, size_t step, double *seconds) {
  return guarded([&] {
    require(seconds, "seconds");
    *seconds = profileAt(call, step).seconds;
  });
}

fovea_status *fovea_call_get_step_cost(const fovea_call *call, size_t step, double *flops,
                                       double *bytes) {
  return guarded([&] {
    require(flops, "flops");
    require(bytes, "bytes");
    const Call::StepProfile &profile = profileAt(call, step);
    *flops = profile.flops;
    *bytes = profile.bytes;
  });
}
