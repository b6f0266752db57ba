// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime over an artifact whose manifest is the input, behind eight bytes that choose sizes
// and options: it is opened, asked for all that it describes, and called through runtime.h.
//
// Real code believes its manifest: of a manifest that was changed it would write wherever that
// says. This code (RuntimeCode.c) asks the manifest, and uses all memory that the runtime promises:
// every byte of each argument, result, cache, weight and of the arena.
#include "runtime/include/fovea/runtime.h"
#include "abi/Abi.h"
#include "test/fuzz/support/ArtifactFile.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/TableEdits.h"

#include "frontend/tokenizer/TokenizerCompiler.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

using namespace fovea;
using manifest::EntryT;
using manifest::ManifestT;
using manifest::ValueKind;
using manifest::ValueT;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateBehind(8, data, size, most, seed, fuzz::mutateManifest);
}

namespace {

/// Memory that an argument may take, and sizes that it does not go beyond.
constexpr uint64_t kMostBytes = 1 << 18;
constexpr int64_t kMostSize = 9;

/// What the code plays, for one input.
struct Play {
  const ManifestT *manifest;
  fuzz::Random random;
  uint64_t arena = 0;
  std::vector<uint64_t> cacheBytes = {}; ///< by argument, of the entry that was planned last

  const EntryT *find(const std::string &name) const {
    for (const auto &entry : manifest->entries)
      if (entry->name == name)
        return entry.get();
    return nullptr;
  }
};
Play *play = nullptr;

uint64_t bytesOf(const ValueT &value, const int64_t *sizes) {
  std::vector<int64_t> shape(sizes, sizes + value.shape.size());
  uint64_t bytes = 0;
  return artifact::tensorBytes(value.element, shape, bytes) ? bytes : UINT64_MAX;
}

} // namespace

extern "C" __attribute__((visibility("default"))) void
fovea_fuzz_plan(const char *name, const int64_t *dims, int64_t *locals) {
  const EntryT &entry = *play->find(name);
  std::map<std::string, int64_t> named;
  std::vector<int64_t> lengths;
  play->cacheBytes.clear();
  for (const auto &value : entry.arguments) {
    lengths.push_back(0);
    play->cacheBytes.push_back(0);
    if (value->kind == ValueKind::Cache) {
      lengths.back() = dims[2];
      play->cacheBytes.back() =
          static_cast<uint64_t>(dims[0] * dims[1] * value->heads * value->size) *
          artifact::elementBytes(value->element);
      dims += 3;
      continue;
    }
    for (size_t i = 0; i < value->shape.size(); ++i, ++dims)
      if (i < value->dims.size() && !value->dims[i].empty())
        named[value->dims[i]] = *dims;
  }
  fuzz::Random &random = play->random;
  play->arena = random.below(300);
  int64_t *arena = locals++;
  *arena = random.oneIn(50) ? -1 : static_cast<int64_t>(play->arena);
  int64_t more = named.count("sequence") ? named["sequence"] : 1;
  for (const auto &value : entry.results) {
    if (value->kind == ValueKind::Cache) {
      int64_t length = lengths[static_cast<size_t>(value->continues)];
      *locals++ = random.oneIn(50) ? static_cast<int64_t>(fuzz::oddNumber(random)) : length + more;
      continue;
    }
    const int64_t *first = locals;
    for (size_t i = 0; i < value->shape.size(); ++i) {
      int64_t size = value->shape[i];
      if (size == -1 && i < value->dims.size() && named.count(value->dims[i]))
        size = named[value->dims[i]];
      else if (size == -1)
        size = static_cast<int64_t>(random.below(5));
      *locals++ = random.oneIn(200) ? random.of({int64_t(-2), INT64_MIN, int64_t(3)}) : size;
    }
    if (uint64_t bytes = bytesOf(*value, first); bytes != UINT64_MAX && bytes > kMostBytes)
      *arena = -1;
  }
}

extern "C" __attribute__((visibility("default"))) void
fovea_fuzz_step(const char *name, const fovea_frame *frame, int64_t step, int64_t part) {
  if (part != 0)
    return;
  const EntryT &entry = *play->find(name);
  fuzz::require(step >= 0 && static_cast<size_t>(step) < entry.steps.size(), "a step exists");
  const ManifestT &manifest = *play->manifest;
  for (size_t i = 0; i < manifest.weights.size(); ++i)
    fuzz::touch(frame->weights[i], manifest.weights[i]->bytes);
  std::memset(frame->arena, 0x3c, play->arena);
  const int64_t *sizes = frame->locals + 1;
  size_t buffer = entry.arguments.size();
  for (const auto &value : entry.results) {
    void *data = frame->buffers[buffer++];
    if (value->kind == ValueKind::Cache) {
      auto *cache = static_cast<uint8_t *>(frame->buffers[value->continues]);
      uint64_t bytes = play->cacheBytes[static_cast<size_t>(value->continues)];
      fuzz::require(cache || bytes == 0, "a cache has memory");
      if (*sizes++ > 0 && bytes > 0)
        cache[0] = cache[bytes - 1] = 1;
      continue;
    }
    uint64_t bytes = bytesOf(*value, sizes);
    sizes += value->shape.size();
    bool isNan = play->random.oneIn(40);
    std::memset(data, isNan ? 0xff : 0, bytes);
    for (uint64_t at = 0; at + 8 <= bytes && !isNan; at += 8)
      static_cast<uint8_t *>(data)[at] = static_cast<uint8_t>(play->random.next() % 16);
  }
  if (play->random.oneIn(100))
    *frame->fault = 1 + step;
}

namespace {

/// A status, looked at and freed.
bool isDone(fovea_status *status) {
  if (!status)
    return true;
  fuzz::require(fovea_status_code(status) != FOVEA_OK && *fovea_status_message(status),
                "a failure says what it is");
  fovea_status_free(status);
  return false;
}

struct Free {
  void operator()(fovea_module *module) const { fovea_module_free(module); }
  void operator()(fovea_context *context) const { fovea_context_free(context); }
  void operator()(fovea_call *call) const { fovea_call_free(call); }
};

class User {
public:
  User(fovea_module *module, fuzz::Random &random) : module(module), random(random) {}

  void use() {
    fovea_module_info info = FOVEA_MODULE_INFO_INIT;
    fuzz::require(isDone(fovea_module_get_info(module, &info)), "a module tells of itself");
    for (size_t i = 0; i < info.entry_count; ++i)
      describe(i);
    encode();
    fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    options.capacity = static_cast<int64_t>(random.below(40));
    options.profile = random.oneIn(4);
    options.trace = random.oneIn(8);
    if (random.oneIn(64))
      options.device = random.oneIn(2) ? "cuda" : "no device";
    fovea_context *made = nullptr;
    if (!isDone(fovea_context_create(module, &options, &made)))
      return;
    context.reset(made);
    fovea_context_info about = FOVEA_CONTEXT_INFO_INIT;
    const char *name = nullptr;
    fuzz::require(isDone(fovea_context_get_info(made, &about)) &&
                      isDone(fovea_context_get_device(made, &name)),
                  "a context tells of itself");
    for (size_t i = 0; i < info.entry_count; ++i)
      call(i);
    generate();
    embed();
    (void)isDone(fovea_context_reset(context.get()));
    if (options.trace) {
      const fovea_trace_event *events = nullptr;
      size_t count = 0;
      if (isDone(fovea_context_get_trace(context.get(), &events, &count)))
        fuzz::touch(events, count * sizeof(*events));
    }
  }

private:
  void describe(size_t entry) {
    fovea_entry_info info = FOVEA_ENTRY_INFO_INIT;
    fuzz::require(isDone(fovea_module_get_entry(module, entry, &info)), "an entry is there");
    size_t found = 0;
    fuzz::require(isDone(fovea_module_find_entry(module, info.name, &found)) && found == entry,
                  "an entry is found by its name");
    fovea_step_info step = FOVEA_STEP_INFO_INIT;
    for (size_t i = 0; i < info.step_count; ++i)
      fuzz::require(isDone(fovea_module_get_step(module, entry, i, &step)), "a step is there");
    fovea_value_info value = FOVEA_VALUE_INFO_INIT;
    for (size_t i = 0; i < info.result_count; ++i)
      fuzz::require(isDone(fovea_module_get_result(module, entry, i, &value)), "a result is there");
    fuzz::require(!isDone(fovea_module_get_argument(module, entry, info.argument_count, &value)),
                  "there is no argument behind the last");
  }

  void encode() {
    int64_t *ids = nullptr;
    size_t count = 0, size = 0;
    char *text = nullptr;
    if (isDone(fovea_module_encode(module, "a bc.", 5, 1, &ids, &count)))
      if (isDone(fovea_module_decode(module, ids, count, &text, &size)))
        fuzz::touch(text, size + 1);
    fovea_free(ids);
    fovea_free(text);
  }

  /// Memory for an argument, exactly as large as it has to be.
  bool set(fovea_call *call, const fovea_value_info &value) {
    std::vector<int64_t> shape;
    uint64_t bytes = std::max<uint64_t>(value.dtype.bits / 8, 1);
    for (int32_t i = 0; i < value.ndim; ++i) {
      int64_t size = value.shape[i];
      if (size == -1) {
        std::string name = value.dimensions[i];
        auto [known, isNew] = named.try_emplace(name, 0);
        if (isNew || name.empty())
          known->second = static_cast<int64_t>(random.below(kMostSize));
        size = known->second;
      }
      if (random.oneIn(40))
        size = static_cast<int64_t>(random.below(4));
      if (random.oneIn(200))
        shape.push_back(1);
      shape.push_back(size);
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) || bytes > kMostBytes)
        return false;
    }
    auto &memory = buffers.emplace_back(
        static_cast<char *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), std::free);
    std::memset(memory.get(), 0, bytes);
    for (uint64_t at = 0; at + 8 <= bytes; at += 8)
      memory.get()[at] = static_cast<char>(random.below(32));
    fovea_tensor tensor{};
    tensor.data = memory.get();
    tensor.device = {FOVEA_CPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = value.dtype;
    tensor.shape = shape.data();
    return isDone(fovea_call_set_argument(call, value.name, &tensor));
  }

  void call(size_t entry) {
    fovea_entry_info info = FOVEA_ENTRY_INFO_INIT;
    (void)isDone(fovea_module_get_entry(module, entry, &info));
    fovea_call *made = nullptr;
    if (!isDone(fovea_call_create(context.get(), info.name, &made)))
      return;
    std::unique_ptr<fovea_call, Free> call(made);
    buffers.clear();
    for (int runs = 0; runs < 2; ++runs) {
      named.clear();
      fovea_value_info value = FOVEA_VALUE_INFO_INIT;
      for (size_t i = 0; i < info.argument_count; ++i)
        if (isDone(fovea_module_get_argument(module, entry, i, &value)) && !value.is_cache)
          set(made, value);
      double seconds = 0;
      if (!isDone(random.oneIn(8) ? fovea_call_measure(made, 2, &seconds) : fovea_call_run(made)))
        continue;
      for (size_t i = 0; i < info.result_count; ++i) {
        const fovea_tensor *tensor = nullptr;
        (void)isDone(fovea_module_get_result(module, entry, i, &value));
        if (!isDone(fovea_call_get_result(made, value.name, &tensor)))
          continue;
        uint64_t bytes = tensor->dtype.bits / 8;
        for (int32_t axis = 0; axis < tensor->ndim; ++axis)
          bytes *= static_cast<uint64_t>(tensor->shape[axis]);
        fuzz::touch(tensor->data, bytes);
      }
      double first = 0, second = 0;
      for (size_t i = 0; i < info.step_count; ++i) {
        (void)isDone(fovea_call_get_step_time(made, i, &first));
        (void)isDone(fovea_call_get_step_cost(made, i, &first, &second));
      }
    }
  }

  void generate() {
    fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
    int64_t ids[5];
    for (int64_t &id : ids)
      id = static_cast<int64_t>(random.below(32));
    options.prompt = "hello";
    options.prompt_size = 5;
    if (random.oneIn(2)) {
      options.prompt_ids = ids;
      options.prompt_id_count = random.below(std::size(ids) + 1);
    }
    options.max_tokens = static_cast<int64_t>(random.below(6));
    options.temperature = random.oneIn(3) ? 0.0f : 0.9f;
    options.top_k = static_cast<int32_t>(random.below(5));
    options.top_p = random.oneIn(2) ? 1.0f : 0.8f;
    options.repetition_penalty = random.oneIn(2) ? 1.0f : 1.1f;
    options.prompt_chunk = static_cast<int64_t>(random.below(4));
    options.ignore_end = random.oneIn(2);
    fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
    (void)isDone(fovea_generate(context.get(), &options, &result));
  }

  void embed() {
    const fovea_text texts[] = {{"hello there.", 12}, {"", 0}, {"a", 1}};
    float *vectors = nullptr;
    size_t width = 0, cut = 0, count = 1 + random.below(3);
    if (isDone(fovea_embed(context.get(), texts, count, &vectors, &width, &cut)))
      fuzz::touch(vectors, count * width * sizeof(float));
    fovea_free(vectors);
  }

  fovea_module *module;
  fuzz::Random &random;
  std::unique_ptr<fovea_context, Free> context;
  std::map<std::string, int64_t> named;
  std::vector<std::unique_ptr<char, void (*)(void *)>> buffers;
};

std::string makeTokenizer() {
  fuzz::MemoryFile file(fuzz::readKept("test/fuzz/tokenizers/tiny.json"));
  std::vector<uint8_t> tables;
  std::string error;
  fuzz::require(compileTokenizer(file.path(), tables, error), error.c_str());
  return {tables.begin(), tables.end()};
}

/// Caches whose memory a machine may have, and plans of few numbers.
void mendSizes(ManifestT &manifest) {
  for (auto &entry : manifest.entries) {
    entry->locals = std::min<uint32_t>(entry->locals, 4096);
    if (entry->steps.size() > 8)
      entry->steps.resize(8);
    for (auto *list : {&entry->arguments, &entry->results})
      for (auto &value : *list) {
        value->heads = std::min<int64_t>(value->heads, 8);
        value->size = std::min<int64_t>(value->size, 8);
      }
  }
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::Sections sections{fuzz::readFile(FOVEA_FUZZ_CODE), std::string(512, 'd'),
                                       makeTokenizer()};
  fuzz::Input input(data, size);
  fuzz::Random random(input.take<uint64_t>());
  std::unique_ptr<ManifestT> manifest = fuzz::unpackManifest(input.rest());
  if (!manifest)
    return 0;
  mendSizes(*manifest);
  fuzz::mendPlaces(*manifest, sections.deviceCode.size());
  fuzz::Sections own = sections;
  if (manifest->devices.empty())
    own.deviceCode.clear();
  if (random.oneIn(8))
    own.tokenizer.clear();
  static fuzz::MemoryFile file;
  file.set(fuzz::makeArtifact(*manifest, own));
  Play played{manifest.get(), fuzz::Random(random.next())};
  play = &played;
  fovea_module *module = nullptr;
  if (isDone(fovea_module_open(file.path().c_str(), &module))) {
    std::unique_ptr<fovea_module, Free> owner(module);
    User(module, random).use();
  }
  play = nullptr;
  return 0;
}
