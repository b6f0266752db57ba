// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `run`: one entry on arrays from a .npz file, results to another. Integers are
// widened where the entry asks for it; nothing that loses bits is done silently.
#include "tools/verbs/Common.h"
#include "tools/verbs/Npz.h"
#include "tools/verbs/Trace.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace fovea::verbs {

namespace {

struct RunOptions : Common {
  std::string inputs, outputs, entry, trace;
};

template <typename T> std::vector<uint8_t> widenFrom(const std::vector<uint8_t> &data) {
  std::vector<uint8_t> wide(data.size() / sizeof(T) * 8);
  for (size_t i = 0; i < data.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    auto widened = static_cast<int64_t>(value);
    std::memcpy(wide.data() + i * 8, &widened, 8);
  }
  return wide;
}

/// To i64, for token ids and masks that come as narrower integers or booleans.
void widenIntegers(Array &array) {
  if (array.dtype.code == FOVEA_INT && array.dtype.bits == 32)
    array.data = widenFrom<int32_t>(array.data);
  else if (array.dtype.code == FOVEA_INT && array.dtype.bits == 16)
    array.data = widenFrom<int16_t>(array.data);
  else if (array.dtype.code == FOVEA_INT && array.dtype.bits == 8)
    array.data = widenFrom<int8_t>(array.data);
  else if (array.dtype.code == FOVEA_UINT && array.dtype.bits == 32)
    array.data = widenFrom<uint32_t>(array.data);
  else if (array.dtype.code == FOVEA_UINT && array.dtype.bits == 16)
    array.data = widenFrom<uint16_t>(array.data);
  else if ((array.dtype.code == FOVEA_UINT || array.dtype.code == FOVEA_BOOL) &&
           array.dtype.bits == 8)
    array.data = widenFrom<uint8_t>(array.data);
  else
    return;
  array.dtype = {FOVEA_INT, 64, 1};
}

/// The named entry, or the only one, or `forward`.
fovea_entry_info chooseEntry(const RunOptions &options, const ModulePtr &module, size_t &index) {
  bool only = infoOf(module).entry_count == 1;
  index = 0;
  if (!options.entry.empty())
    check(fovea_module_find_entry(module.get(), options.entry.c_str(), &index));
  else if (!only)
    check(fovea_module_find_entry(module.get(), "forward", &index));
  fovea_entry_info info;
  check(fovea_module_get_entry(module.get(), index, &info));
  return info;
}

void run(const RunOptions &options) {
  ModulePtr module = options.open();
  size_t index = 0;
  fovea_entry_info entry = chooseEntry(options, module, index);
  std::vector<Array> arrays;
  std::string error;
  if (!readNpz(options.inputs, arrays, error))
    throw Failure{1, error};
  ContextPtr context = options.makeContext(module, /*profile=*/false, !options.trace.empty());
  fovea_call *made = nullptr;
  check(fovea_call_create(context.get(), entry.name, &made));
  CallPtr call(made);
  try {
    for (Array &array : arrays) {
      for (size_t i = 0; i < entry.argument_count; ++i) {
        fovea_value_info value;
        check(fovea_module_get_argument(module.get(), index, i, &value));
        if (array.name == value.name && value.dtype.code == FOVEA_INT && value.dtype.bits == 64)
          widenIntegers(array);
      }
      static uint8_t none[8];
      fovea_tensor tensor{};
      tensor.data = array.data.empty() ? none : array.data.data();
      tensor.device.type = FOVEA_CPU;
      tensor.ndim = static_cast<int32_t>(array.shape.size());
      tensor.dtype = array.dtype;
      tensor.shape = array.shape.data();
      check(fovea_call_set_argument(call.get(), array.name.c_str(), &tensor));
    }
    check(fovea_call_run(call.get()));
  } catch (Failure &failure) {
    failure.message = options.inputs + ": " + failure.message;
    throw;
  }

  std::vector<Array> results;
  nlohmann::ordered_json record;
  record["entry"] = entry.name;
  for (size_t i = 0; i < entry.result_count; ++i) {
    fovea_value_info value;
    check(fovea_module_get_result(module.get(), index, i, &value));
    if (value.is_cache)
      continue;
    const fovea_tensor *tensor = nullptr;
    check(fovea_call_get_result(call.get(), value.name, &tensor));
    Array array;
    array.name = value.name;
    array.dtype = tensor->dtype;
    array.shape.assign(tensor->shape, tensor->shape + tensor->ndim);
    size_t bytes = tensor->dtype.bits / 8u;
    for (int64_t size : array.shape)
      bytes *= static_cast<size_t>(size);
    const auto *data = static_cast<const uint8_t *>(tensor->data);
    array.data.assign(data, data + bytes);
    record["results"][value.name] = array.shape;
    results.push_back(std::move(array));
  }
  if (!writeNpz(options.outputs, results, error))
    throw Failure{1, error};
  if (!options.trace.empty())
    writeTrace(module, context, options.trace);
  if (options.json)
    print(record.dump() + "\n");
}

} // namespace

void addRun(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *verb =
      addVerb(app, "run", "Run one entry of a model on arrays",
              "Arrays are .npz files as numpy.savez writes them; their names are those of the\n"
              "entry's arguments and results. Example:\n\n"
              "  python3 -c 'import numpy; numpy.savez(\"in.npz\", input_ids=[[1, 2, 3]])'\n"
              "  PROGRAM run model.fovea --inputs in.npz --outputs out.npz\n"
              "  python3 -c 'import numpy; print(numpy.load(\"out.npz\")[\"logits\"].shape)'\n",
              options, host, code, [options] { run(*options); });
  verb->add_option("--inputs", options->inputs, "Arrays to read (.npz)")->required();
  verb->add_option("--outputs", options->outputs, "Arrays to write (.npz)")->required();
  verb->add_option("--entry", options->entry,
                   "Entry to run; without it the only one, or `forward`");
  addTraceOption(*verb, options->trace);
}

} // namespace fovea::verbs
