// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single kernels under Google Benchmark: each is a small module that goes through the
// whole compiler and runs under the runtime's own threads, so whatever builder covers
// it is measured. Counters compare with the machine's limits (tools/peaks). The number
// of threads is FOVEA_THREADS's, or 2.
#include "runtime/include/fovea/runtime.h"
#include "tools/compile/Compile.h"
#include "tools/peaks/Peaks.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using Sizes = std::vector<int64_t>;

/// An argument of the module's entry; i32 are the segment ids of `documents` equal documents.
struct Argument {
  std::string name;
  Sizes shape;
  int64_t documents = 0;
};

/// A weight of the module, in a safetensors file beside it.
struct Weight {
  std::string name, type; ///< f32 or bf16
  Sizes shape;
};

struct Kernel {
  std::string name, text;
  std::vector<Argument> arguments;
  std::vector<Weight> weights;
  double part = 1; ///< of the counted operations, what a mask that is data leaves
};

int threadCount() {
  const char *text = std::getenv("FOVEA_THREADS");
  int count = text ? std::atoi(text) : 2;
  return count > 0 ? count : 2;
}

fovea::Peaks &peaks() {
  static fovea::Peaks all(threadCount());
  return all;
}

/// Removed with all that is in it when the program ends.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fovea-bench-XXXXXX").string();
    if (!::mkdtemp(name.data())) {
      std::fprintf(stderr, "cannot make %s\n", name.c_str());
      std::exit(1);
    }
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

int64_t product(const Sizes &sizes) {
  int64_t all = 1;
  for (int64_t size : sizes)
    all *= size;
  return all;
}

std::string tensorType(const Sizes &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + element + ">";
}

/// Random numbers between -1 and 1, the same on every run.
std::vector<float> noise(int64_t count) {
  std::minstd_rand random(1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = static_cast<float>(random()) / static_cast<float>(std::minstd_rand::max()) * 2 - 1;
  return values;
}

void writeWeights(const std::filesystem::path &path, const std::vector<Weight> &weights) {
  std::string header = "{", data;
  for (const Weight &weight : weights) {
    bool narrow = weight.type == "bf16";
    size_t begin = data.size();
    for (float value : noise(product(weight.shape))) {
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      bits >>= narrow ? 16 : 0;
      data.append(reinterpret_cast<char *>(&bits), narrow ? 2 : 4);
    }
    std::string shape;
    for (int64_t size : weight.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    header += (header.size() > 1 ? ",\"" : "\"") + weight.name + "\":{\"dtype\":\"" +
              (narrow ? "BF16" : "F32") + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
              std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  uint64_t size = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<char *>(&size), 8);
  file << header << data;
}

/// A kernel, compiled and ready to run.
class Running {
public:
  /// On failure `error` says why.
  Running(const Kernel &kernel, std::string &error) {
    Folder folder;
    writeWeights(folder.path / "weights.safetensors", kernel.weights);
    std::ofstream(folder.path / "kernel.mlir") << moduleText(kernel);
    fovea::compile::Options options;
    options.model = folder.path / "kernel.mlir";
    options.output = folder.path / "kernel.fovea";
    fovea::compile::Log log;
    log.message = [&](fovea::compile::Log::Severity, const std::string &text) {
      error += (error.empty() ? "" : "; ") + text;
    };
    log.progress = [](const std::string &, double) {};
    if (fovea::compile::compile(options, log) != fovea::compile::Outcome::Done) {
      error = error.empty() ? "cannot be compiled" : error;
      return;
    }
    fovea_context_options how = FOVEA_CONTEXT_OPTIONS_INIT;
    how.threads = threadCount();
    how.profile = 1;
    if (!good(fovea_module_open(options.output.c_str(), &module), error) ||
        !good(fovea_context_create(module, &how, &context), error) ||
        !good(fovea_call_create(context, "forward", &call), error))
      return;
    for (const Argument &argument : kernel.arguments) {
      int64_t count = product(argument.shape);
      std::vector<float> &data = arguments[argument.name] = noise(count);
      for (int64_t i = 0; argument.documents && i < count; ++i) {
        auto segment = static_cast<int32_t>(i * argument.documents / count);
        std::memcpy(&data[static_cast<size_t>(i)], &segment, 4);
      }
      fovea_tensor tensor{};
      tensor.data = data.data();
      tensor.device.type = FOVEA_CPU;
      tensor.ndim = static_cast<int32_t>(argument.shape.size());
      tensor.dtype = {argument.documents ? uint8_t(FOVEA_INT) : uint8_t(FOVEA_FLOAT), 32, 1};
      Sizes shape = argument.shape;
      tensor.shape = shape.data();
      if (!good(fovea_call_set_argument(call, argument.name.c_str(), &tensor), error))
        return;
    }
  }
  ~Running() {
    fovea_call_free(call);
    fovea_context_free(context);
    fovea_module_free(module);
  }
  Running(const Running &) = delete;

  bool run(std::string &error) { return good(fovea_call_run(call), error); }

  /// Sums over all steps and runs; -1 where one is not known.
  void cost(double &flops, double &bytes) const {
    flops = bytes = 0;
    fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
    fovea_status_free(fovea_module_get_entry(module, 0, &entry));
    for (size_t i = 0; i < entry.step_count; ++i) {
      double f = -1, b = -1;
      fovea_status_free(fovea_call_get_step_cost(call, i, &f, &b));
      flops = f < 0 || flops < 0 ? -1 : flops + f;
      bytes = b < 0 || bytes < 0 ? -1 : bytes + b;
    }
  }

  /// The kernels' schedules.
  std::string schedule() const {
    std::string text;
    fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
    fovea_status_free(fovea_module_get_entry(module, 0, &entry));
    for (size_t i = 0; i < entry.step_count; ++i) {
      fovea_step_info step = FOVEA_STEP_INFO_INIT;
      fovea_status_free(fovea_module_get_step(module, 0, i, &step));
      text += (text.empty() ? "" : "; ") + std::string(step.schedule) +
              (step.is_fallback ? " FALLBACK" : "");
    }
    return text;
  }

private:
  static bool good(fovea_status *status, std::string &error) {
    if (status)
      error = fovea_status_message(status);
    fovea_status_free(status);
    return error.empty();
  }

  static std::string moduleText(const Kernel &kernel) {
    std::string text;
    for (const Weight &weight : kernel.weights) {
      std::string type = tensorType(weight.shape, weight.type);
      text += "fovea.weight @" + weight.name + " : " + type +
              " = #fovea.stored<\"weights.safetensors\", \"" + weight.name + "\", " + type + ">\n";
    }
    return text + kernel.text;
  }

  fovea_module *module = nullptr;
  fovea_context *context = nullptr;
  fovea_call *call = nullptr;
  std::map<std::string, std::vector<float>> arguments;
};

void measure(benchmark::State &state, const Kernel &kernel) {
  std::string error;
  Running running(kernel, error);
  if (!error.empty() || !running.run(error))
    return state.SkipWithError(error.c_str());
  peaks().sample();
  double flopsBefore, bytesBefore, flops, bytes;
  running.cost(flopsBefore, bytesBefore);
  for (auto _ : state)
    if (!running.run(error))
      return state.SkipWithError(error.c_str());
  running.cost(flops, bytes);
  peaks().sample();
  auto rate = [&](const char *name, double amount, double unit) {
    state.counters[name] = benchmark::Counter(amount / unit, benchmark::Counter::kIsRate);
  };
  if (flops > 0) {
    flops = (flops - flopsBefore) * kernel.part;
    rate("GFLOP/s", flops, 1e9);
    rate("%peak", flops, peaks().flops() / 100);
  }
  if (bytes > 0) {
    rate("GB/s", bytes - bytesBefore, 1e9);
    rate("%read", bytes - bytesBefore, peaks().bandwidth() / 100);
  }
  state.SetLabel(running.schedule());
}

//===-- Modules --------------------------------------------------------------------------===//

/// fovea.entry with one dimension of each argument open, called n.
std::string function(const std::string &arguments, const std::string &result,
                     const std::string &body) {
  return "func.func @forward(" + arguments + ") -> (" + result +
         " {fovea.name = \"y\", fovea.dims = [\"n\"]}) attributes {fovea.entry} {\n" + body +
         "  return %y : " + result + "\n}\n";
}

std::string port(const std::string &name, const std::string &type) {
  return "%" + name + ": " + type + " {fovea.name = \"" + name + "\", fovea.dims = [\"n\"]}";
}

/// x [rows, k] times w [n, k]; few rows are static, as in decoding.
Kernel linear(const std::string &type, int64_t rows, int64_t n, int64_t k) {
  Kernel kernel;
  kernel.name = "linear/" + type + "/" + std::to_string(rows) + "x" + std::to_string(n) + "x" +
                std::to_string(k);
  std::string x = tensorType({1, rows == 1 ? 1 : -1, k}, "f32"),
              y = tensorType({1, rows == 1 ? 1 : -1, n}, "f32"), w = tensorType({n, k}, type);
  std::string body = "  %w = fovea.weight_ref @w : " + w + "\n  %y = fovea.linear %x, %w : " + x +
                     ", " + w + " -> " + y + "\n";
  std::string dims = rows == 1 ? "[]" : "[\"n\"]";
  kernel.text = "func.func @forward(%x: " + x + " {fovea.name = \"x\", fovea.dims = " + dims +
                "}) -> (" + y + " {fovea.name = \"y\", fovea.dims = " + dims +
                "}) attributes {fovea.entry} {\n" + body + "  return %y : " + y + "\n}\n";
  kernel.arguments = {{"x", {1, rows, k}}};
  kernel.weights = {{"w", type, {n, k}}};
  return kernel;
}

Kernel attention(const std::string &mask, int64_t length, int64_t heads, int64_t keyHeads,
                 int64_t size) {
  Kernel kernel;
  kernel.name = "attention/" + mask + "/" + std::to_string(length) + "x" + std::to_string(heads) +
                ":" + std::to_string(keyHeads) + "x" + std::to_string(size);
  std::string q = tensorType({1, -1, heads, size}, "f32"),
              k = tensorType({1, -1, keyHeads, size}, "f32"), s = tensorType({1, -1}, "i32");
  std::string made = mask == "causal"      ? "  %m = fovea.mask_causal\n"
                     : mask == "window256" ? "  %m = fovea.mask_window left(255) right(0)\n"
                     : mask == "documents16"
                         ? "  %m = fovea.mask_segment %s, %s : " + s + ", " + s + "\n"
                         : "";
  bool documents = mask == "documents16";
  kernel.text =
      function(port("q", q) + ", " + port("k", k) + ", " + port("v", k) +
                   (documents ? ", " + port("s", s) : ""),
               q,
               made + "  %y = fovea.attention %q, %k, %v " + (made.empty() ? "" : "mask(%m) ") +
                   "scale(0.1) : " + q + ", " + k + ", " + k + " -> " + q + "\n");
  kernel.arguments = {{"q", {1, length, heads, size}},
                      {"k", {1, length, keyHeads, size}},
                      {"v", {1, length, keyHeads, size}}};
  if (documents) {
    kernel.arguments.push_back({"s", {1, length}, 16});
    kernel.part = 1.0 / 16;
  }
  return kernel;
}

/// One query against `length` keys, as in decoding.
Kernel decodingAttention(int64_t length, int64_t heads, int64_t keyHeads, int64_t size) {
  Kernel kernel;
  kernel.name = "attention/one_query/" + std::to_string(length) + "x" + std::to_string(heads) +
                ":" + std::to_string(keyHeads) + "x" + std::to_string(size);
  std::string q = tensorType({1, 1, heads, size}, "f32"),
              k = tensorType({1, -1, keyHeads, size}, "f32");
  kernel.text = "func.func @forward(%q: " + q + " {fovea.name = \"q\", fovea.dims = []}, " +
                port("k", k) + ", " + port("v", k) + ") -> (" + q +
                " {fovea.name = \"y\", fovea.dims = []}) attributes {fovea.entry} {\n" +
                "  %y = fovea.attention %q, %k, %v scale(0.1) : " + q + ", " + k + ", " + k +
                " -> " + q + "\n  return %y : " + q + "\n}\n";
  kernel.arguments = {{"q", {1, 1, heads, size}},
                      {"k", {1, length, keyHeads, size}},
                      {"v", {1, length, keyHeads, size}}};
  return kernel;
}

/// Whole rows of the last axis: `op` is what stands before the type.
Kernel rows(const std::string &name, const std::string &op, int64_t count, int64_t width) {
  Kernel kernel;
  kernel.name = "rows/" + name + "/" + std::to_string(count) + "x" + std::to_string(width);
  std::string x = tensorType({1, -1, width}, "f32");
  kernel.text = function(port("x", x), x, "  %y = " + op + " : " + x + "\n");
  kernel.arguments = {{"x", {1, count, width}}};
  return kernel;
}

std::vector<Kernel> allKernels() {
  std::vector<Kernel> all;
  for (const char *type : {"f32", "bf16"}) {
    // Reading a prompt, the sizes of a Llama of 1 billion parameters and of MiniLM; then one row,
    // with more weights than caches hold.
    for (auto [m, n, k] : {std::make_tuple(512, 2048, 2048), std::make_tuple(512, 5632, 2048),
                           std::make_tuple(512, 2048, 5632), std::make_tuple(128, 1536, 384),
                           std::make_tuple(505, 770, 768), std::make_tuple(8, 5632, 2048),
                           std::make_tuple(1, 32000, 2048), std::make_tuple(1, 5632, 2048)})
      all.push_back(linear(type, m, n, k));
  }
  for (const char *mask : {"full", "causal", "window256", "documents16"})
    all.push_back(attention(mask, 2048, 8, 8, 128));
  all.push_back(attention("causal", 2048, 32, 4, 64));
  all.push_back(attention("full", 128, 12, 12, 32));
  for (int64_t length : {128, 1024, 4096, 32768})
    for (auto [heads, keyHeads] : {std::make_pair(32, 4), std::make_pair(8, 1)})
      all.push_back(decodingAttention(length, heads, keyHeads, 64));
  all.push_back(rows("rms_norm", "fovea.rms_norm %x eps(1.0e-5)", 512, 2048));
  all.push_back(rows("layer_norm", "fovea.layer_norm %x eps(1.0e-5)", 512, 768));
  all.push_back(rows("silu", "fovea.activation silu %x", 512, 5632));
  return all;
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  for (const Kernel &kernel : allKernels())
    benchmark::RegisterBenchmark(kernel.name.c_str(), measure, kernel)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  benchmark::AddCustomContext("processor", fovea::processorName());
  benchmark::AddCustomContext("threads", std::to_string(threadCount()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
