// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `bench`: how long a prompt and each new token take, or one run of any entry, which
// kernels take it, and how near they come to what the machine can do. Times are
// medians over the repetitions, after one that is not counted; arguments are made up
// unless given.
#include "tools/peaks/Peaks.h"
#include "tools/verbs/BenchReport.h"
#include "tools/verbs/Common.h"
#include "tools/verbs/Dimensions.h"
#include "tools/verbs/Numbers.h"
#include "tools/verbs/Trace.h"
#include "tools/verbs/Values.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <tuple>

namespace fovea::verbs {

namespace {

struct BenchOptions : Common {
  int64_t promptTokens = 128, newTokens = 32, batch = 1;
  int repeat = 3;
  std::string entry, inputs, trace;
  std::vector<std::string> sizes; ///< "name=size"
  bool noPeaks = false;
};

using Clock = std::chrono::steady_clock;

/// Element `index` of what is given for an argument: token ids spread over `words`,
/// masks of ones, numbers between -1 and 1, all other integers zero.
void makeElement(fovea_role role, fovea_dtype dtype, size_t index, int64_t words, uint8_t *at) {
  auto noise = static_cast<uint32_t>(index * 2654435761u + 12345u) ^ 0x5bd1e995u;
  double real = static_cast<double>(noise) / 2147483648.0 - 1;
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof(value)); };
  if (dtype.code == FOVEA_FLOAT && dtype.bits == 64)
    put(real);
  else if (dtype.code == FOVEA_FLOAT && dtype.bits == 32)
    put(static_cast<float>(real));
  else if (dtype.code == FOVEA_FLOAT) // f16: 0.5 to 1, of either sign
    put(static_cast<uint16_t>(0x3800 | (noise & 0x83ff)));
  else if (dtype.code == FOVEA_BFLOAT)
    put(static_cast<uint16_t>(0x3f00 | (noise & 0x807f)));
  else if (role == FOVEA_ROLE_TOKEN_IDS && dtype.bits == 64)
    put(static_cast<int64_t>((index * 7919 + 13) % static_cast<size_t>(words)));
  else if (role == FOVEA_ROLE_ATTENTION_MASK)
    at[0] = 1;
}

/// An entry that is run again and again.
class Timed {
public:
  Timed(const ModulePtr &module, const ContextPtr &context, const char *name)
      : module(module.get()), context(context.get()) {
    check(fovea_module_find_entry(this->module, name, &index));
    check(fovea_module_get_entry(this->module, index, &entry));
    fovea_call *made = nullptr;
    check(fovea_call_create(context.get(), name, &made));
    call.reset(made);
    words = std::max<int64_t>(infoOf(module).vocabulary_size, 1);
  }

  /// Sets all arguments: those that `given` names to its arrays, the others to made-up
  /// ones of these sizes.
  void setArguments(const Dimensions &sizes, const std::vector<Array> &given) {
    for (size_t i = 0; i < entry.argument_count; ++i) {
      fovea_value_info value = FOVEA_VALUE_INFO_INIT;
      check(fovea_module_get_argument(module, index, i, &value));
      if (value.is_cache)
        continue;
      auto found = std::find_if(given.begin(), given.end(),
                                [&](const Array &array) { return array.name == value.name; });
      Array &array = arrays[value.name];
      array = found != given.end() ? *found : makeUp(value, sizes);
      if (value.role == FOVEA_ROLE_TOKEN_IDS && tokens == 0)
        tokens = static_cast<int64_t>(countElements(array));
      fovea_tensor tensor = tensorOf(array);
      check(fovea_call_set_argument(call.get(), value.name, &tensor));
    }
  }

  double run() {
    Clock::time_point start = Clock::now();
    check(fovea_call_run(call.get()));
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// From now on runs count.
  void beginCounting() { before = sums(); }

  /// The row of the report for `seconds`, the counted repetitions.
  Phase finish(const std::vector<double> &seconds, int64_t tokensEach) const {
    Phase phase;
    phase.entry = entry.name;
    phase.tokens = tokensEach;
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    phase.seconds = sorted[sorted.size() / 2];
    phase.fastest = sorted.front();
    std::vector<KernelTime> now = sums();
    auto repetitions = static_cast<double>(seconds.size());
    for (size_t i = 0; i < now.size(); ++i) {
      KernelTime &kernel = now[i];
      kernel.seconds = (kernel.seconds - before[i].seconds) / repetitions;
      kernel.calls *= static_cast<double>(runs) / repetitions;
      for (auto [mine, old] : {std::make_pair(&kernel.flops, before[i].flops),
                               std::make_pair(&kernel.bytes, before[i].bytes)})
        *mine = *mine < 0 ? -1 : (*mine - old) / repetitions;
    }
    std::sort(now.begin(), now.end(), [](const KernelTime &a, const KernelTime &b) {
      return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
    });
    phase.kernels = std::move(now);
    return phase;
  }

  void countRuns(int64_t more) { runs += more; }
  int64_t tokenCount() const { return tokens; }

private:
  Array makeUp(const fovea_value_info &value, const Dimensions &sizes) const {
    Array array;
    array.name = value.name;
    array.dtype = value.dtype;
    size_t elements = 1, bytes = value.dtype.bits / 8;
    for (int32_t axis = 0; axis < value.ndim; ++axis) {
      int64_t size = value.shape[axis];
      if (size < 0 && !*value.dimensions[axis])
        throw Failure{2, "entry '" + std::string(entry.name) + "': argument '" + value.name +
                             "': dimension " + std::to_string(axis) +
                             " has no name; give the array by --inputs"};
      if (size < 0)
        size = sizes.getSize(value.dimensions[axis]);
      array.shape.push_back(size);
      if (size != 0 && elements > (size_t(1) << 40) / static_cast<size_t>(size))
        throw Failure{1, "argument '" + std::string(value.name) + "' is impossibly large"};
      elements *= static_cast<size_t>(size);
    }
    array.data.resize(elements * bytes);
    for (size_t i = 0; i < elements; ++i)
      makeElement(value.role, array.dtype, i, words, array.data.data() + i * bytes);
    return array;
  }

  /// Each kernel's sums over all runs; `calls` of one run.
  std::vector<KernelTime> sums() const {
    std::vector<KernelTime> kernels;
    std::map<std::string, size_t> places;
    size_t steps = 0;
    check(fovea_context_get_step_count(context, index, &steps));
    for (size_t i = 0; i < steps; ++i) {
      fovea_step_info step = FOVEA_STEP_INFO_INIT;
      check(fovea_context_get_step(context, index, i, &step));
      auto [place, isNew] = places.try_emplace(step.kernel, kernels.size());
      if (isNew)
        kernels.push_back(
            {step.kernel, step.description, step.schedule, step.is_fallback != 0, 0, 0, 0, 0});
      KernelTime &kernel = kernels[place->second];
      double seconds = 0, flops = 0, bytes = 0;
      check(fovea_call_get_step_time(call.get(), i, &seconds));
      check(fovea_call_get_step_cost(call.get(), i, &flops, &bytes));
      ++kernel.calls;
      kernel.seconds += seconds;
      kernel.flops = kernel.flops < 0 || flops < 0 ? -1 : kernel.flops + flops;
      kernel.bytes = kernel.bytes < 0 || bytes < 0 ? -1 : kernel.bytes + bytes;
    }
    return kernels;
  }

  fovea_module *module;
  fovea_context *context;
  fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
  size_t index = 0;
  CallPtr call;
  int64_t words, tokens = 0, runs = 0;
  std::map<std::string, Array> arrays;
  std::vector<KernelTime> before;
};

/// The entry that is measured where it is not prefill with decode.
std::string chooseEntry(const BenchOptions &options, const ModulePtr &module) {
  if (!options.entry.empty())
    return options.entry;
  if (const char *forward = findEntry(module, FOVEA_ENTRY_FORWARD))
    return forward;
  fovea_entry_info info = FOVEA_ENTRY_INFO_INIT;
  check(fovea_module_get_entry(module.get(), 0, &info));
  if (infoOf(module).entry_count == 1)
    return info.name;
  throw Failure{2, options.file + ": has several entries; choose one by --entry"};
}

/// The sizes of what the entries take.
Dimensions chooseSizes(const BenchOptions &options, const ModulePtr &module,
                       const std::vector<std::string> &entries, const std::vector<Array> &given) {
  Dimensions sizes;
  for (const std::string &entry : entries)
    sizes.add(module, entry);
  for (const std::string &word : options.sizes)
    sizes.setSize(word);
  auto isGiven = [&](const char *name) { return options.verb->get_option(name)->count() > 0; };
  if (isGiven("--batch"))
    sizes.setKind(DimensionKind::Batch, options.batch, true, "--batch");
  if (isGiven("--prompt-tokens"))
    sizes.setKind(DimensionKind::Sequence, options.promptTokens, true, "--prompt-tokens");
  sizes.setFrom(given);
  sizes.setKind(DimensionKind::Batch, options.batch, false, "--batch");
  sizes.setKind(DimensionKind::Sequence, options.promptTokens, false, "--prompt-tokens");
  sizes.check();
  return sizes;
}

void tellDefaults(const BenchOptions &options, const Dimensions &sizes) {
  if (!sizes.getDefaults().empty() && !options.quiet)
    note(*options.host, "sizes that were not given: " + sizes.getDefaults());
}

/// The tokens of a prompt, which must leave room for the new ones.
void checkRoom(const BenchOptions &options, const ContextPtr &context, const Dimensions &sizes) {
  fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
  check(fovea_context_get_info(context.get(), &info));
  int64_t needed = sizes.getLongest(DimensionKind::Sequence) + options.newTokens;
  if (needed > info.capacity)
    throw Failure{1, "--prompt-tokens and --new-tokens ask for " + std::to_string(needed) +
                         " positions; the context has room for " + std::to_string(info.capacity)};
}

/// More than a device's caches hold.
constexpr uint64_t copiedBytes = uint64_t(256) << 20;

void bench(const BenchOptions &options) {
  std::vector<Array> given;
  std::string error;
  if (!options.inputs.empty() && !readNpz(options.inputs, given, error))
    throw Failure{1, error};
  ModulePtr module = options.open();
  const char *prefill = findEntry(module, FOVEA_ENTRY_PREFILL);
  const char *decode = findEntry(module, FOVEA_ENTRY_DECODE);
  bool decoder = options.entry.empty() && prefill && decode;
  std::vector<std::string> entries{decoder ? prefill : chooseEntry(options, module)};
  if (decoder && options.newTokens > 0)
    entries.push_back(decode);
  Dimensions sizes = chooseSizes(options, module, entries, given);
  ContextPtr context = options.makeContext(module, /*profile=*/true, !options.trace.empty());
  fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
  check(fovea_context_get_info(context.get(), &info));
  if (decoder)
    checkRoom(options, context, sizes);
  std::unique_ptr<Peaks> peaks;
  auto samplePeaks = [&] {
    for (int i = 0; peaks && i < 5; ++i)
      peaks->sample();
  };
  // A device has other limits than this machine; the emulator has none.
  const bool onCpu = options.device == "cpu";
  const bool onGpu = options.device.rfind("cuda", 0) == 0;
  double copyRate = 0;
  if (!options.noPeaks && onGpu) {
    double seconds = 0;
    check(fovea_context_measure_copy(context.get(), copiedBytes, 20, &seconds));
    copyRate = 2 * static_cast<double>(copiedBytes) / seconds;
  }
  if (!options.noPeaks && onCpu)
    peaks = std::make_unique<Peaks>(info.threads);
  samplePeaks();

  Timed prompt(module, context, entries.front().c_str());
  prompt.setArguments(sizes, given);
  std::unique_ptr<Timed> next;
  if (decoder && options.newTokens > 0) {
    next = std::make_unique<Timed>(module, context, decode);
    sizes.change(DimensionKind::Sequence, 1);
    next->setArguments(sizes, {});
  }
  std::vector<double> promptSeconds, newSeconds;
  for (int i = 0; i <= options.repeat; ++i) {
    check(fovea_context_reset(context.get()));
    double seconds = prompt.run(), sum = 0;
    for (int64_t j = 0; next && j < options.newTokens; ++j)
      sum += next->run();
    if (i == 0) { // Warms caches and pages.
      prompt.beginCounting();
      if (next)
        next->beginCounting();
      continue;
    }
    prompt.countRuns(1);
    promptSeconds.push_back(seconds);
    if (next)
      next->countRuns(options.newTokens);
    newSeconds.push_back(sum);
  }
  samplePeaks();

  std::vector<Phase> phases{prompt.finish(promptSeconds, prompt.tokenCount())};
  if (next)
    phases.push_back(next->finish(newSeconds, options.newTokens * next->tokenCount()));
  const char *device = nullptr;
  check(fovea_context_get_device(context.get(), &device));
  Limits limits{onCpu ? processorName() : device, Peaks::level(), peaks ? peaks->flops() : 0,
                peaks ? peaks->bandwidth() : copyRate};
  if (!options.trace.empty())
    writeTrace(module, context, options.trace);
  tellDefaults(options, sizes);
  print(options.json ? reportAsJson(phases, limits, info.threads)
                     : reportAsText(phases, limits, info.threads));
}

} // namespace

void addBench(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *verb = addVerb(
      app, "bench", "Measure a model's speed, kernel by kernel",
      "Examples:\n\n"
      "  PROGRAM bench model.fovea --prompt-tokens 256 --new-tokens 64\n"
      "  PROGRAM bench model.fovea --entry forward --batch 8 --trace trace.json\n\n"
      "GFLOP/s counts the multiplications and additions of products, GB/s the bytes of\n"
      "weights, caches and activations, each once; \"% peak\" and \"% read\" compare them\n"
      "with multiply-adds in registers and with reading memory, measured before and after.\n"
      "What stays in the processor's caches can be over 100 % of the latter. On a GPU \"% read\"\n"
      "compares with the bytes that copying within its memory reads and writes.\n",
      options, host, code, [options] { bench(*options); });
  addNumber(*verb, "--prompt-tokens", options->promptTokens, "length of the prompt, or the texts",
            1, 1 << 30);
  addNumber(*verb, "--new-tokens", options->newTokens, "tokens written after it", 0, 1 << 30);
  addNumber(*verb, "--batch", options->batch, "texts at once", 1, 1 << 20);
  verb->add_option("--entry", options->entry,
                   "entry to measure; without it prefill and decode, or forward");
  verb->add_option("--dim", options->sizes, "NAME=SIZE of any other dimension of the entry")
      ->allow_extra_args(false);
  verb->add_option("--inputs", options->inputs,
                   "arguments that are not made up (.npz, with the entry's types)");
  addNumber(*verb, "--repeat", options->repeat, "repetitions; the median is told", 1, 1000);
  verb->add_flag("--no-peaks", options->noPeaks, "do not measure the machine's limits");
  addTraceOption(*verb, options->trace);
}

} // namespace fovea::verbs
