// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header. Refuses entries that want more than tokens: pictures, sound, caches.
#include "tools/compile/TextRunner.h"

#include <cstring>

namespace fovea::compile {

/// True after keeping the message of a status that is one.
static bool fails(fovea_status *status, std::string &error) {
  if (!status)
    return false;
  error = fovea_status_message(status);
  fovea_status_free(status);
  return true;
}

TextRunner::~TextRunner() {
  fovea_call_free(call);
  fovea_context_free(context);
  fovea_module_free(module);
}

std::unique_ptr<TextRunner> TextRunner::open(const std::string &artifact, int threads,
                                             std::string &error) {
  std::unique_ptr<TextRunner> runner(new TextRunner);
  if (fails(fovea_module_open(artifact.c_str(), &runner->module), error) ||
      fails(fovea_module_get_info(runner->module, &runner->info), error))
    return nullptr;
  if (!runner->info.has_tokenizer) {
    error = "the model has no tokenizer; --tokenizer names one";
    return nullptr;
  }
  fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
  options.threads = threads;
  if (fails(fovea_context_create(runner->module, &options, &runner->context), error))
    return nullptr;
  std::vector<std::string> others;
  for (size_t entry = 0; entry < runner->info.entry_count; ++entry) {
    fovea_entry_info about = FOVEA_ENTRY_INFO_INIT;
    if (fails(fovea_module_get_entry(runner->module, entry, &about), error))
      return nullptr;
    runner->isEmbedder |= about.kind == FOVEA_ENTRY_EMBED;
    if (about.kind == FOVEA_ENTRY_FORWARD)
      runner->forward = about.name;
    else if (std::strcmp(about.name, kLinearInputs) != 0)
      others.emplace_back(about.name);
  }
  if (runner->forward.empty() && others.size() == 1)
    runner->forward = others.front();
  return runner;
}

int64_t TextRunner::getMostTokens() const {
  return info.max_text_tokens > 0 ? info.max_text_tokens : info.max_positions;
}

bool TextRunner::encode(const std::string &text, bool special, std::vector<int64_t> &ids,
                        std::string &error) const {
  int64_t *found = nullptr;
  size_t count = 0;
  if (fails(fovea_module_encode(module, text.data(), text.size(), special, &found, &count), error))
    return false;
  ids.assign(found, found + count);
  fovea_free(found);
  return true;
}

bool TextRunner::setArguments(size_t entry, const std::vector<int64_t> &ids, std::string &error) {
  fovea_entry_info about = FOVEA_ENTRY_INFO_INIT;
  if (fails(fovea_module_get_entry(module, entry, &about), error))
    return false;
  size_t count = ids.size(), texts = 0;
  arguments.clear();
  for (size_t i = 0; i < about.argument_count; ++i) {
    fovea_value_info argument = FOVEA_VALUE_INFO_INIT;
    if (fails(fovea_module_get_argument(module, entry, i, &argument), error))
      return false;
    std::vector<int64_t> values = ids;
    bool fits = argument.dtype.code == FOVEA_INT && argument.ndim == 2 &&
                (argument.dtype.bits == 64 || argument.dtype.bits == 32);
    switch (argument.role) {
    case FOVEA_ROLE_TOKEN_IDS:
      fits &= ++texts == 1; // a second text would be of another language
      break;
    case FOVEA_ROLE_ATTENTION_MASK:
      values.assign(count, 1);
      break;
    case FOVEA_ROLE_TOKEN_TYPES:
      values.assign(count, 0);
      break;
    case FOVEA_ROLE_POSITIONS:
      for (size_t at = 0; at < count; ++at)
        values[at] = static_cast<int64_t>(at);
      break;
    default:
      fits = false;
    }
    if (!fits) {
      error = "expects an entry '" + std::string(about.name) +
              "' that takes nothing but one row of tokens, got the argument '" + argument.name +
              "'";
      return false;
    }
    std::vector<char> &bytes = arguments.emplace_back();
    auto copy = [&](const auto &from) {
      const char *first = reinterpret_cast<const char *>(from.data());
      bytes.assign(first, first + from.size() * sizeof(from[0]));
    };
    if (argument.dtype.bits == 64)
      copy(values);
    else
      copy(std::vector<int32_t>(values.begin(), values.end()));
    int64_t shape[2] = {1, static_cast<int64_t>(count)};
    fovea_tensor tensor{};
    tensor.data = bytes.data();
    tensor.device = {FOVEA_CPU, 0};
    tensor.ndim = 2;
    tensor.dtype = argument.dtype;
    tensor.shape = shape;
    if (fails(fovea_call_set_argument(call, argument.name, &tensor), error))
      return false;
  }
  return true;
}

bool TextRunner::run(const std::string &entry, const std::vector<int64_t> &ids,
                     std::vector<RunResult> &results, std::string &error) {
  results.clear();
  size_t number = 0;
  fovea_entry_info about = FOVEA_ENTRY_INFO_INIT;
  if (fails(fovea_module_find_entry(module, entry.c_str(), &number), error) ||
      fails(fovea_module_get_entry(module, number, &about), error))
    return false;
  if (called != entry) {
    fovea_call_free(call);
    call = nullptr;
    called = entry;
    if (fails(fovea_call_create(context, entry.c_str(), &call), error))
      return false;
  }
  if (!setArguments(number, ids, error) || fails(fovea_call_run(call), error))
    return false;
  for (size_t i = 0; i < about.result_count; ++i) {
    fovea_value_info value = FOVEA_VALUE_INFO_INIT;
    if (fails(fovea_module_get_result(module, number, i, &value), error))
      return false;
    if (value.is_cache || value.dtype.code != FOVEA_FLOAT || value.dtype.bits != 32)
      continue;
    const fovea_tensor *tensor = nullptr;
    if (fails(fovea_call_get_result(call, value.name, &tensor), error))
      return false;
    RunResult result{value.name, nullptr, 1, 1, value.role};
    result.data = reinterpret_cast<const float *>(static_cast<const char *>(tensor->data) +
                                                  tensor->byte_offset);
    for (int32_t axis = 0; axis < tensor->ndim; ++axis)
      (axis + 1 == tensor->ndim ? result.width : result.rows) *= tensor->shape[axis];
    results.push_back(result);
  }
  return true;
}

bool TextRunner::embed(const std::string &text, std::vector<float> &vector, std::string &error) {
  fovea_text view{text.data(), text.size()};
  float *found = nullptr;
  size_t width = 0, cut = 0;
  if (fails(fovea_embed(context, &view, 1, &found, &width, &cut), error))
    return false;
  vector.assign(found, found + width);
  fovea_free(found);
  return true;
}

} // namespace fovea::compile
