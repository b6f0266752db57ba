// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `bench`: how long a prompt and each new token take, and which kernels take it.
// Times are medians over the repetitions, after one that is not counted.
#include "tools/verbs/Common.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace fovea::verbs {

namespace {

struct BenchOptions : Common {
  int64_t promptTokens = 128, newTokens = 32;
  int repeat = 3;
};

using Clock = std::chrono::steady_clock;

/// An entry that takes tokens, run again and again.
class Timed {
public:
  Timed(const ModulePtr &module, const ContextPtr &context, const char *entry)
      : module(module.get()), entry(entry) {
    check(fovea_module_find_entry(this->module, entry, &index));
    fovea_call *made = nullptr;
    check(fovea_call_create(context.get(), entry, &made));
    call.reset(made);
    words = std::max<int64_t>(infoOf(module).vocabulary_size, 1);
  }

  /// Sets all token arguments to [1, count]: ids spread over the vocabulary, masks
  /// of ones, types of zeros.
  void setTokens(int64_t count) {
    fovea_entry_info info;
    check(fovea_module_get_entry(module, index, &info));
    for (size_t i = 0; i < info.argument_count; ++i) {
      fovea_value_info value;
      check(fovea_module_get_argument(module, index, i, &value));
      if (value.is_cache)
        continue;
      std::string name = value.name;
      std::vector<int64_t> &data = values[name];
      data.resize(static_cast<size_t>(count));
      for (int64_t j = 0; j < count; ++j)
        data[static_cast<size_t>(j)] = name == "input_ids"        ? (j * 7919 + 13) % words
                                       : name == "attention_mask" ? 1
                                                                  : 0;
      int64_t shape[] = {1, count};
      fovea_tensor tensor{};
      tensor.data = data.data();
      tensor.device.type = FOVEA_CPU;
      tensor.ndim = 2;
      tensor.dtype = {FOVEA_INT, 64, 1};
      tensor.shape = shape;
      check(fovea_call_set_argument(call.get(), value.name, &tensor));
    }
  }

  double run() {
    Clock::time_point start = Clock::now();
    check(fovea_call_run(call.get()));
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// Adds each kernel's seconds to `kernels`.
  void addKernels(std::map<std::string, double> &kernels, double sign) const {
    fovea_entry_info info;
    check(fovea_module_get_entry(module, index, &info));
    for (size_t i = 0; i < info.step_count; ++i) {
      fovea_step_info step;
      double seconds = 0;
      check(fovea_module_get_step(module, index, i, &step));
      check(fovea_call_get_step_time(call.get(), i, &seconds));
      kernels[step.kernel] += sign * seconds;
    }
  }

  const char *name() const { return entry; }

private:
  fovea_module *module;
  const char *entry;
  size_t index = 0;
  CallPtr call;
  int64_t words;
  std::map<std::string, std::vector<int64_t>> values;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One row of the report: an entry, its tokens and time, its kernels.
struct Phase {
  std::string entry;
  int64_t tokens;
  double seconds;
  std::vector<std::pair<std::string, double>> kernels; ///< Seconds of one repetition.
};

/// `before`: the kernels' times when counting began.
Phase makePhase(const Timed &timed, int64_t tokens, const std::vector<double> &seconds,
                std::map<std::string, double> before) {
  for (auto &[name, value] : before)
    value = -value;
  timed.addKernels(before, 1);
  Phase phase{timed.name(), tokens, median(seconds), {}};
  for (auto &[name, value] : before)
    phase.kernels.emplace_back(name, value / static_cast<double>(seconds.size()));
  std::sort(phase.kernels.begin(), phase.kernels.end(),
            [](const auto &a, const auto &b) { return a.second > b.second; });
  return phase;
}

void report(const BenchOptions &options, int threads, const std::vector<Phase> &phases) {
  nlohmann::ordered_json record;
  record["threads"] = threads;
  for (const Phase &phase : phases) {
    double each = phase.seconds / static_cast<double>(phase.tokens);
    double total = 0;
    for (const auto &kernel : phase.kernels)
      total += kernel.second;
    if (!options.json)
      print(phase.entry + ": " + std::to_string(phase.tokens) + " tokens in " +
            number(phase.seconds * 1e3, 4) + " ms, " + number(each * 1e3, 4) + " ms/token, " +
            number(1 / each, 4) + " tokens/s, " + std::to_string(threads) + " threads\n");
    nlohmann::ordered_json row;
    row["tokens"] = phase.tokens;
    row["seconds"] = phase.seconds;
    for (const auto &[name, seconds] : phase.kernels) {
      char line[512];
      std::snprintf(line, sizeof(line), "  %10.4f ms %5.1f %%  %.400s\n", seconds * 1e3,
                    total > 0 ? 100 * seconds / total : 0, name.c_str());
      if (!options.json)
        print(line);
      row["kernels"][name] = seconds;
    }
    record[phase.entry] = row;
  }
  if (options.json)
    print(record.dump() + "\n");
}

bool hasEntry(const ModulePtr &module, const char *name) {
  size_t index;
  fovea_status *status = fovea_module_find_entry(module.get(), name, &index);
  fovea_status_free(status);
  return !status;
}

void bench(const BenchOptions &options) {
  ModulePtr module = options.open();
  ContextPtr context = options.makeContext(module, /*profile=*/true);
  fovea_context_info info;
  check(fovea_context_get_info(context.get(), &info));
  bool decoder = hasEntry(module, "prefill") && hasEntry(module, "decode");
  int64_t needed = options.promptTokens + (decoder ? options.newTokens : 0);
  if (needed > info.capacity)
    throw Failure{1, "--prompt-tokens and --new-tokens ask for " + std::to_string(needed) +
                         " positions; the context has room for " + std::to_string(info.capacity)};
  Timed prompt(module, context, decoder ? "prefill" : "forward");
  prompt.setTokens(options.promptTokens);
  std::vector<double> promptSeconds, newSeconds;
  std::vector<Phase> phases;
  std::map<std::string, double> promptBefore, newBefore;
  std::unique_ptr<Timed> next;
  if (decoder && options.newTokens > 0) {
    next = std::make_unique<Timed>(module, context, "decode");
    next->setTokens(1);
  }
  for (int i = 0; i <= options.repeat; ++i) {
    check(fovea_context_reset(context.get()));
    double seconds = prompt.run(), sum = 0;
    for (int64_t j = 0; next && j < options.newTokens; ++j)
      sum += next->run();
    if (i == 0) { // Warms caches and pages.
      prompt.addKernels(promptBefore, 1);
      if (next)
        next->addKernels(newBefore, 1);
      continue;
    }
    promptSeconds.push_back(seconds);
    newSeconds.push_back(sum);
  }
  phases.push_back(makePhase(prompt, options.promptTokens, promptSeconds, promptBefore));
  if (next)
    phases.push_back(makePhase(*next, options.newTokens, newSeconds, newBefore));
  report(options, info.threads, phases);
}

} // namespace

void addBench(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *verb = addVerb(app, "bench", "Measure a model's speed, kernel by kernel",
                           "Example:\n\n"
                           "  PROGRAM bench model.fovea --prompt-tokens 256 --new-tokens 64\n",
                           options, host, code, [options] { bench(*options); });
  verb->add_option("--prompt-tokens", options->promptTokens, "Length of the prompt")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  verb->add_option("--new-tokens", options->newTokens, "Tokens written after it")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  verb->add_option("--repeat", options->repeat, "Repetitions; the median is told")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

} // namespace fovea::verbs
