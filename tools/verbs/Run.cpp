// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `run`: one entry on arrays from a .npz file or from the command line, results to
// another file or to standard output. Integers are widened where the entry asks for
// it; nothing that loses bits is done silently.
#include "frontend/Nearest.h"
#include "tools/verbs/Common.h"
#include "tools/verbs/Npz.h"
#include "tools/verbs/Trace.h"
#include "tools/verbs/Values.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace fovea::verbs {

namespace {

struct RunOptions : Common {
  std::string inputs, outputs, trace;
  std::vector<std::string> input, entries;
  uint64_t seed = 0;
  bool isFull = false;
  mutable Chance chance; ///< once the model is open
};

/// To i64, for token ids and masks that come as narrower integers or booleans.
void widenIntegers(Array &array) {
  if (isReal(array.dtype) || array.dtype.bits > 32)
    return;
  Bytes wide(countElements(array) * 8);
  for (size_t i = 0; i < wide.size() / 8; ++i) {
    int64_t value = integerAt(array, i);
    std::memcpy(wide.data() + i * 8, &value, 8);
  }
  array.data = std::move(wide);
  array.dtype = {FOVEA_INT, 64, 1};
}

/// An entry to run, and what it takes.
struct Chosen {
  fovea_entry_info info = FOVEA_ENTRY_INFO_INIT;
  size_t index = 0;
  std::vector<fovea_value_info> arguments; /// those that are tensors, in order
};

/// All but those that `fovea compile --probe` has added to show another one.
std::vector<size_t> ownEntries(const ModulePtr &module) {
  std::vector<size_t> own;
  for (size_t entry = 0; entry < infoOf(module).entry_count; ++entry) {
    fovea_entry_info about = FOVEA_ENTRY_INFO_INIT;
    check(fovea_module_get_entry(module.get(), entry, &about));
    std::string name = about.name;
    if (name != "attention_maps" && name != "attention_masks" && name != "position_encodings" &&
        name != "linear_inputs")
      own.push_back(entry);
  }
  return own;
}

/// The named entry; for an empty name the only one, but for probes, or `forward`.
Chosen chooseEntry(const std::string &name, const ModulePtr &module) {
  Chosen chosen;
  if (!name.empty()) {
    chosen.index = findEntryNamed(module, name);
  } else if (std::vector<size_t> own = ownEntries(module); own.size() == 1) {
    chosen.index = own.front();
  } else {
    const char *forward = findEntry(module, FOVEA_ENTRY_FORWARD);
    check(fovea_module_find_entry(module.get(), forward ? forward : "forward", &chosen.index));
  }
  check(fovea_module_get_entry(module.get(), chosen.index, &chosen.info));
  for (size_t i = 0; i < chosen.info.argument_count; ++i) {
    fovea_value_info value = FOVEA_VALUE_INFO_INIT;
    check(fovea_module_get_argument(module.get(), chosen.index, i, &value));
    if (!value.is_cache)
      chosen.arguments.push_back(value);
  }
  return chosen;
}

const fovea_value_info *findArgument(const Chosen &entry, const std::string &name) {
  for (const fovea_value_info &value : entry.arguments)
    if (name == value.name)
      return &value;
  return nullptr;
}

/// "x: [batch, 8] f32, y: ..." of the arguments that `which` wants.
template <typename Which> std::string listArguments(const Chosen &entry, Which which) {
  std::string text;
  for (const fovea_value_info &value : entry.arguments)
    if (which(value))
      text += (text.empty() ? "" : ", ") + std::string(value.name) + ": " + describe(value);
  return text;
}

/// An --input on the command line.
struct Typed {
  std::string name, values;
  bool used = false;
};

std::vector<Typed> readTyped(const RunOptions &options, const std::vector<Chosen> &entries) {
  std::vector<Typed> typed;
  for (const std::string &text : options.input) {
    size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0)
      throw Failure{2, "--input: expects NAME=VALUES, got '" + text.substr(0, 40) + "'"};
    Typed one{text.substr(0, sign), text.substr(sign + 1)};
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const Chosen &entry) { return findArgument(entry, one.name); })) {
      std::string known = listArguments(entries.front(), [](const auto &) { return true; });
      std::vector<std::string> names;
      for (const fovea_value_info &value : entries.front().arguments)
        names.emplace_back(value.name);
      throw Failure{1, "--input " + one.name + ": expects an argument of entry '" +
                           entries.front().info.name + "', which has " +
                           (known.empty() ? "none" : known) + didYouMean(one.name, names)};
    }
    typed.push_back(std::move(one));
  }
  return typed;
}

/// An array and where it was given, for messages.
struct Given {
  Array array;
  std::string place;
};

/// Tells what was drawn for an argument of integers, which does not stand in the command.
void tellDrawn(const RunOptions &options, const Typed &typed, const fovea_value_info &value) {
  if (options.quiet || isReal(value.dtype) || typed.values.rfind("random:", 0) != 0)
    return;
  bool isChosen = typed.values.find(':', 7) == std::string::npos;
  std::string what = "integers, --seed=" + std::to_string(options.seed);
  if (isChosen && value.role == FOVEA_ROLE_ATTENTION_MASK)
    what = "ones";
  else if (isChosen && value.role == FOVEA_ROLE_TOKEN_IDS)
    what = "ids below " + std::to_string(options.chance.vocabulary) +
           ", --seed=" + std::to_string(options.seed);
  note(*options.host, "--input " + typed.name + ": " + what);
}

/// The arrays for one call: from the file, and the first --input of each name that no earlier call
/// has used. Throws if an argument is given by neither: names all of these, with their types.
std::vector<Given> takeArrays(const RunOptions &options, const Chosen &entry,
                              std::vector<Typed> &typed) {
  std::vector<Given> given;
  std::string error;
  if (!options.inputs.empty()) {
    std::vector<Array> arrays;
    if (!readNpz(options.inputs, arrays, error))
      throw Failure{1, error};
    for (Array &array : arrays)
      given.push_back({std::move(array), options.inputs});
  }
  auto isGiven = [&](const fovea_value_info &value) {
    return std::any_of(given.begin(), given.end(),
                       [&](const Given &one) { return one.array.name == value.name; });
  };
  for (const fovea_value_info &value : entry.arguments) {
    auto one = std::find_if(typed.begin(), typed.end(), [&](const Typed &other) {
      return !other.used && other.name == value.name;
    });
    if (one == typed.end())
      continue;
    std::string place = "--input " + one->name;
    if (isGiven(value))
      throw Failure{1, place + ": is in " + options.inputs + " too, expects one array"};
    Array array;
    if (!parseValues(one->values, value, options.chance, array, error))
      throw Failure{1, place + ": " + error};
    tellDrawn(options, *one, value);
    one->used = true;
    given.push_back({std::move(array), place});
  }
  return given;
}

/// Throws if an argument is not given: names all of these, with their types.
void checkComplete(const RunOptions &options, const Chosen &entry,
                   const std::vector<Given> &given) {
  std::string missing = listArguments(entry, [&](const fovea_value_info &value) {
    return std::none_of(given.begin(), given.end(),
                        [&](const Given &one) { return one.array.name == value.name; });
  });
  if (!missing.empty())
    throw Failure{1, (options.inputs.empty() ? "" : options.inputs + ": ") + "entry '" +
                         entry.info.name + "' is not given all arguments; expects " + missing +
                         ", by --input NAME=VALUES or --inputs FILE.npz"};
}

void setArgument(const CallPtr &call, const Chosen &entry, Given &given) {
  Array &array = given.array;
  const fovea_value_info *value = findArgument(entry, array.name);
  if (value && value->dtype.code == FOVEA_INT && value->dtype.bits == 64)
    widenIntegers(array);
  fovea_tensor tensor = tensorOf(array);
  try {
    check(fovea_call_set_argument(call.get(), array.name.c_str(), &tensor));
  } catch (Failure &failure) {
    failure.message = given.place + ": " + failure.message;
    throw;
  }
}

/// One call from its arrays to its results.
CallPtr runEntry(const RunOptions &options, const ContextPtr &context, const Chosen &entry,
                 std::vector<Typed> &typed) {
  std::vector<Given> given = takeArrays(options, entry, typed);
  fovea_call *made = nullptr;
  check(fovea_call_create(context.get(), entry.info.name, &made));
  CallPtr call(made);
  for (Given &one : given)
    setArgument(call, entry, one);
  checkComplete(options, entry, given);
  try {
    check(fovea_call_run(call.get()));
  } catch (Failure &failure) {
    failure.message = (options.inputs.empty() ? "" : options.inputs + ": ") + failure.message;
    throw;
  }
  return call;
}

void run(const RunOptions &options) {
  ModulePtr module = options.open();
  options.chance = {options.seed, infoOf(module).vocabulary_size};
  if (options.entries.size() > 1 && !options.inputs.empty())
    throw Failure{2, "--inputs: expects one --entry, got " +
                         std::to_string(options.entries.size()) + "; give arrays by --input"};
  std::vector<Chosen> entries;
  for (const std::string &name : options.entries)
    entries.push_back(chooseEntry(name, module));
  if (entries.empty())
    entries.push_back(chooseEntry("", module));
  std::vector<Typed> typed = readTyped(options, entries);
  ContextPtr context = options.makeContext(module, /*profile=*/false, !options.trace.empty());
  CallPtr call;
  for (const Chosen &one : entries)
    call = runEntry(options, context, one, typed);
  for (const Typed &one : typed)
    if (!one.used)
      throw Failure{1, "--input " + one.name +
                           ": is given more often than an entry that takes it is run"};
  const fovea_entry_info &entry = entries.back().info;
  size_t index = entries.back().index;

  std::vector<Array> results;
  nlohmann::ordered_json record;
  record["entry"] = entry.name;
  for (size_t i = 0; i < entry.result_count; ++i) {
    fovea_value_info value = FOVEA_VALUE_INFO_INIT;
    check(fovea_module_get_result(module.get(), index, i, &value));
    if (value.is_cache)
      continue;
    const fovea_tensor *tensor = nullptr;
    check(fovea_call_get_result(call.get(), value.name, &tensor));
    Array array;
    array.name = value.name;
    array.dtype = tensor->dtype;
    array.shape.assign(tensor->shape, tensor->shape + tensor->ndim);
    size_t bytes = countElements(array) * (tensor->dtype.bits / 8u);
    const auto *data = static_cast<const uint8_t *>(tensor->data);
    array.data.assign(data, data + bytes);
    record["results"][value.name] = array.shape;
    if (options.outputs.empty())
      record["values"][value.name] = toJson(array);
    results.push_back(std::move(array));
  }
  std::string error;
  if (!options.outputs.empty() && !writeNpz(options.outputs, results, error))
    throw Failure{1, error};
  if (!options.trace.empty())
    writeTrace(module, context, options.trace);
  if (options.json)
    print(record.dump() + "\n");
  else if (options.outputs.empty())
    for (const Array &array : results)
      print(printValues(array, options.isFull));
}

} // namespace

void addRun(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *verb =
      addVerb(app, "run", "Run one entry of a model on arrays",
              "Without --outputs the results are printed; of more than 1,000 numbers the first\n"
              "and last three of each axis. VALUES are lists of numbers, or random:SHAPE for some\n"
              "that are the same each time: token ids of the vocabulary, ones of an attention\n"
              "mask; of other integers random:SHAPE:LIMIT, which are below that:\n\n"
              "  PROGRAM run model.fovea --input 'input_ids=[[1, 2, 3]]'\n"
              "  PROGRAM run model.fovea --input x=random:1x5x16\n"
              "  PROGRAM run model.fovea --input input_ids=random:1x8 --seed 7\n\n"
              "Arrays in files are .npz files as numpy.savez writes them; names are those of the\n"
              "entry's arguments and results:\n\n"
              "  python3 -c 'import numpy; numpy.savez(\"in.npz\", input_ids=[[1, 2, 3]])'\n"
              "  PROGRAM run model.fovea --inputs in.npz --outputs out.npz\n"
              "  python3 -c 'import numpy; print(numpy.load(\"out.npz\")[\"logits\"].shape)'\n",
              options, host, code, [options] { run(*options); });
  // One value each, so that a model may stand behind; brackets would be a list to CLI11.
  verb->add_option(
          "--input", options->input,
          "NAME=VALUES: one array. The second of a name is for the second entry that takes it")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  verb->add_option("--inputs", options->inputs, "arrays to read (.npz)");
  verb->add_option("--outputs", options->outputs,
                   "arrays to write (.npz); without it they are printed");
  verb->add_option(
          "--entry", options->entries,
          "entry to run; without it the only one, or `forward`. Several are run one after\n"
          "the other and share caches, the results are the last one's")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  verb->add_option("--seed", options->seed, "of random arrays")->capture_default_str();
  verb->add_flag("--full", options->isFull, "print all numbers of a result, however many");
  addTraceOption(*verb, options->trace);
}

} // namespace fovea::verbs
