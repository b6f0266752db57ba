// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The semantic checks of a manifest; see ManifestCheck.h.
#include "artifact/ManifestCheck.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fovea::artifact {

using namespace manifest;

namespace {

/// `plan` writes one number for each; more than this is no program.
constexpr uint32_t maxLocals = 1u << 24;
/// What no device goes beyond.
constexpr uint32_t maxThreads = 1024, maxShared = 1u << 20;

class Checker {
public:
  Checker(const ManifestT &manifest, uint64_t weightsSize, uint64_t otherSize, std::string &error)
      : manifest(manifest), weightsSize(weightsSize), otherSize(otherSize), error(error) {}

  bool check() {
    if (!manifest.model)
      return fail("the manifest has no model");
    return checkModel(*manifest.model) && checkKernels(manifest.kernels) && checkEntries() &&
           checkWeights() && checkOtherCode();
  }

private:
  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }

  static bool isSound(const ImageSettings &images) {
    constexpr int32_t kMostSide = 1 << 15;
    for (int32_t side : {images.resize_height(), images.resize_width(), images.shortest_edge(),
                         images.crop_height(), images.crop_width()})
      if (side < 0 || side > kMostSide)
        return false;
    return (images.resize_height() == 0) == (images.resize_width() == 0) &&
           (images.crop_height() == 0) == (images.crop_width() == 0) &&
           images.filter() <= ImageFilter::MAX;
  }

  bool checkModel(const ModelInfoT &model) {
    for (int64_t token : model.end_tokens)
      if (token < 0)
        return fail("model: end token " + std::to_string(token) + " is negative");
    for (const auto *tokens : {&model.suppressed_tokens, &model.begin_suppressed_tokens})
      for (int64_t token : *tokens)
        if (token < 0)
          return fail("model: suppressed token " + std::to_string(token) + " is negative");
    int64_t words = model.vocabulary_size > 0 ? model.vocabulary_size : int64_t(INT32_MAX) + 1;
    for (const auto &token : model.prompt)
      if (!token || token->values.size() != token->tokens.size() ||
          token->token < (token->tokens.empty() ? 0 : -1) || token->token >= words ||
          std::any_of(
              token->tokens.begin(), token->tokens.end(),
              [&](int64_t id) { return id < 0 || id >= words; }))
        return fail("model: a token of the prompt is none, or has not as many names as values");
    if (model.begin_token < -1 || model.padding_token < -1 || model.forced_begin_token < -1 ||
        model.forced_end_token < -1)
      return fail("model: begin, padding or forced token is less than -1");
    if (model.min_tokens < 0 || model.no_repeat_ngram < 0)
      return fail("model: min_tokens or no_repeat_ngram is negative");
    if (model.vocabulary_size < 0 || model.max_positions < 0 || model.max_text_tokens < 0 ||
        model.sampling_rate < 0)
      return fail("model: vocabulary_size, max_positions, max_text_tokens or sampling_rate is "
                  "negative");
    constexpr int64_t kMostRate = 1 << 20;
    if (model.sampling_rate > kMostRate)
      return fail("model: expects a sampling_rate of at most 2^20, got " +
                  std::to_string(model.sampling_rate));
    if (model.score_function > ScoreFunction::MAX)
      return fail("model: unknown score function " +
                  std::to_string(static_cast<int>(model.score_function)));
    if (model.images && !isSound(*model.images))
      return fail("model: images have a size that is none or an unknown filter");
    if (model.kind > ModelKind::EncoderDecoder)
      return fail("model: unknown kind " + std::to_string(static_cast<int>(model.kind)));
    return true;
  }

  using Kernels = std::vector<std::unique_ptr<KernelT>>;
  using Steps = std::vector<std::unique_ptr<StepT>>;

  bool checkKernels(const Kernels &kernels) {
    std::set<std::string> names;
    for (const auto &kernel : kernels)
      if (!kernel || kernel->name.empty() || !names.insert(kernel->name).second)
        return fail("kernels: '" + (kernel ? kernel->name : "") + "' is no name or is there twice");
    return true;
  }

  bool checkEntries() {
    if (manifest.entries.empty())
      return fail("the manifest has no entry");
    std::set<std::string> names;
    std::set<EntryKind> kinds;
    for (const auto &entry : manifest.entries) {
      if (!entry || !isIdentifier(entry->name))
        return fail("entry '" + (entry ? entry->name : "") +
                    "': expects a name of letters, digits and '_'");
      if (!names.insert(entry->name).second)
        return fail("entry '" + entry->name + "' is there twice");
      if (entry->kind > EntryKind::Encode)
        return fail("entry '" + entry->name + "': unknown kind " +
                    std::to_string(static_cast<int>(entry->kind)));
      if (entry->kind != EntryKind::Generic && !kinds.insert(entry->kind).second)
        return fail("entry '" + entry->name + "': another entry is of its kind, " +
                    EnumNameEntryKind(entry->kind));
      if (!checkEntry(*entry)) {
        error = "entry '" + entry->name + "': " + error;
        return false;
      }
    }
    return true;
  }

  static bool isIdentifier(const std::string &name) {
    for (char c : name)
      if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
        return false;
    return !name.empty();
  }

  bool checkEntry(const EntryT &entry) {
    std::set<std::string> names;
    for (const auto &value : entry.arguments) {
      if (!checkValue("argument", value.get(), names))
        return false;
      if (value->continues != -1)
        return fail("argument '" + value->name + "' continues something");
    }
    names.clear();
    std::set<int32_t> continued;
    for (const auto &value : entry.results) {
      if (!checkValue("result", value.get(), names))
        return false;
      bool cache = value->kind == ValueKind::Cache;
      if (!cache) {
        if (value->continues != -1)
          return fail("result '" + value->name + "' is a tensor and continues something");
        continue;
      }
      int32_t index = value->continues;
      if (index < 0 || static_cast<size_t>(index) >= entry.arguments.size())
        return fail("result '" + value->name + "' continues argument " + std::to_string(index) +
                    "; expects one of " + std::to_string(entry.arguments.size()));
      const ValueT &argument = *entry.arguments[index];
      if (argument.kind != ValueKind::Cache || argument.heads != value->heads ||
          argument.size != value->size || argument.element != value->element)
        return fail("result '" + value->name + "' continues argument '" + argument.name +
                    "', which is no cache of its kind");
      if (!continued.insert(index).second)
        return fail("argument '" + argument.name + "' is continued by two results");
    }
    if (entry.max_positions < 0)
      return fail("max_positions is negative");
    return checkSteps(entry, entry.locals, entry.steps, manifest.kernels);
  }

  /// What runs for an entry, on the CPU or on a device with kernels of its own.
  bool checkSteps(const EntryT &entry, uint32_t locals, const Steps &steps,
                  const Kernels &kernels) {
    uint64_t least = 1;
    for (const auto &value : entry.results)
      least += value->kind == ValueKind::Cache ? 1 : value->shape.size();
    if (locals < least || locals > maxLocals)
      return fail("expects between " + std::to_string(least) + " and " + std::to_string(maxLocals) +
                  " locals, got " + std::to_string(locals));
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto &step = steps[i];
      if (!step || step->kernel >= kernels.size())
        return fail("step " + std::to_string(i) + " names kernel " +
                    (step ? std::to_string(step->kernel) : "none") + "; expects one of " +
                    std::to_string(kernels.size()));
      for (uint32_t place : {step->flops, step->bytes})
        if (place >= locals)
          return fail("step " + std::to_string(i) + " has its cost at local " +
                      std::to_string(place) + " of " + std::to_string(locals));
    }
    return true;
  }

  bool checkValue(const std::string &role, const ValueT *value, std::set<std::string> &names) {
    if (!value || value->name.empty() || !names.insert(value->name).second)
      return fail(role + " '" + (value ? value->name : "") + "' has no name or is there twice");
    std::string place = role + " '" + value->name + "': ";
    if (elementBytes(value->element) == 0 || elementsPerByte(value->element) != 1)
      return fail(place + "unknown element type " +
                  std::to_string(static_cast<int>(value->element)));
    if (value->role > Role::Embedding)
      return fail(place + "unknown role " + std::to_string(static_cast<int>(value->role)));
    if (value->kind == ValueKind::Cache)
      return checkCache(place, *value);
    if (value->kind != ValueKind::Tensor)
      return fail(place + "unknown kind");
    if (value->shape.size() > maxRank)
      return fail(place + "rank " + std::to_string(value->shape.size()) + " is over 16");
    if (!value->dims.empty() && value->dims.size() != value->shape.size())
      return fail(place + "expects a dimension name for each of " +
                  std::to_string(value->shape.size()) + " dimensions, got " +
                  std::to_string(value->dims.size()));
    for (int64_t size : value->shape)
      if (size < -1)
        return fail(place + "size " + std::to_string(size));
    return true;
  }

  /// A cache belongs to the context by its name, so all entries mean one thing.
  bool checkCache(const std::string &place, const ValueT &value) {
    if (value.heads <= 0 || value.size <= 0 || value.heads > 1 << 20 || value.size > 1 << 20)
      return fail(place + "expects heads and size from 1 to 2^20, got " +
                  std::to_string(value.heads) + " and " + std::to_string(value.size));
    if (!value.shape.empty() || value.dims.size() > 1 || value.role != Role::None)
      return fail(place + "a cache has no shape, no role and at most the name of its batch");
    if (value.continues != -1)
      return true;
    auto [it, isNew] = caches.try_emplace(value.name, value.heads, value.size, value.element);
    if (!isNew && it->second != std::make_tuple(value.heads, value.size, value.element))
      return fail(place + "another entry has a cache of this name and another type");
    return true;
  }

  bool checkWeights() {
    uint64_t end = 0;
    for (const auto &weight : manifest.weights) {
      if (!weight)
        return fail("weight without a description");
      std::string place = "weight '" + weight->name + "': ";
      if (!weight->panels.isKnown())
        return failLayout(place, weight->panels);
      uint64_t bytes = 0;
      if (weight->shape.size() > maxRank ||
          !weightBytes(weight->element, weight->shape, weight->panels, bytes))
        return fail(
            place +
            "expects a known element type and a shape whose bytes can be counted, got type " +
            std::to_string(static_cast<int>(weight->element)) + " and " +
            std::to_string(weight->shape.size()) + " sizes" + inPanels(weight->panels));
      if (bytes != weight->bytes)
        return fail(place + "expects " + std::to_string(bytes) + " bytes for its shape" +
                    inPanels(weight->panels) + ", got " + std::to_string(weight->bytes));
      if (weight->offset != alignUp(end, weightAlignment) || weight->offset > weightsSize ||
          weight->bytes > weightsSize - weight->offset)
        return fail(place + std::to_string(weight->bytes) + " bytes at " +
                    std::to_string(weight->offset) + " of " + std::to_string(weightsSize) +
                    "; expects to follow the weight before it, inside the section");
      end = weight->offset + weight->bytes;
    }
    if (end != weightsSize)
      return fail("weights end at " + std::to_string(end) + " of " + std::to_string(weightsSize) +
                  " bytes");
    return true;
  }

  bool checkOtherCode() {
    uint64_t end = 0;
    std::set<std::string> chips;
    for (const auto &device : manifest.devices) {
      if (!device || !isIdentifier(device->chip) || !chips.insert(device->chip).second)
        return fail("device '" + (device ? device->chip : "") +
                    "' has no name of letters, digits and '_', or is there twice");
      if (!checkDevice(*device, end)) {
        error = "device '" + device->chip + "': " + error;
        return false;
      }
    }
    for (const auto &variant : manifest.variants)
      if (!variant || !checkVariant(*variant, end)) {
        error = "variant '" + (variant ? variant->name : "") + "': " + error;
        return false;
      }
    if (end != otherSize)
      return fail("other code ends at " + std::to_string(end) + " of " + std::to_string(otherSize) +
                  " bytes");
    return true;
  }

  bool checkVariant(const VariantT &variant, uint64_t &end) {
    return checkRange("code", variant.code.get(), end) && checkKernels(variant.kernels) &&
           checkPrograms(variant.programs, variant.kernels);
  }

  bool checkPrograms(const std::vector<std::unique_ptr<ProgramT>> &programs,
                     const Kernels &kernels) {
    if (programs.size() != manifest.entries.size())
      return fail("expects a program for each of " + std::to_string(manifest.entries.size()) +
                  " entries, got " + std::to_string(programs.size()));
    for (size_t i = 0; i < programs.size(); ++i) {
      const auto &program = programs[i];
      if (!program || !checkSteps(*manifest.entries[i], program->locals, program->steps, kernels)) {
        error = "entry '" + manifest.entries[i]->name + "': " + error;
        return false;
      }
    }
    return true;
  }

  /// `end` of what stands before it in the section, then of itself.
  bool checkDevice(const DeviceT &device, uint64_t &end) {
    if (!checkRange("ptx", device.ptx.get(), end) ||
        (device.cubin && !checkRange("cubin", device.cubin.get(), end)) ||
        !checkRange("host code", device.host.get(), end) || !checkKernels(device.kernels))
      return false;
    for (const auto &kernel : device.kernels)
      if (kernel->threads < 1 || kernel->threads > maxThreads || kernel->shared_bytes > maxShared)
        return fail("kernel '" + kernel->name + "' expects 1 to " + std::to_string(maxThreads) +
                    " threads and at most " + std::to_string(maxShared) +
                    " bytes of shared memory, got " + std::to_string(kernel->threads) + " and " +
                    std::to_string(kernel->shared_bytes));
    return checkPrograms(device.programs, device.kernels) && checkLayouts(device.layouts);
  }

  /// How a device's code reads weights: as they are stored, or in panels whose pieces are whole
  /// ones of the panels that are stored.
  bool checkLayouts(const std::vector<Panels> &layouts) {
    if (!layouts.empty() && layouts.size() != manifest.weights.size())
      return fail("expects a layout for each of " + std::to_string(manifest.weights.size()) +
                  " weights, got " + std::to_string(layouts.size()));
    for (size_t i = 0; i < layouts.size(); ++i) {
      const WeightT &weight = *manifest.weights[i];
      const Panels &from = weight.panels, &to = layouts[i];
      if (to == from)
        continue;
      std::string place = "weight '" + weight.name + "': ";
      if (!to.isKnown())
        return failLayout(place, to);
      if (from.isRowMajor() || to.isRowMajor() || to.interleave % from.interleave != 0)
        return fail(place + layoutName(from) + " cannot be laid out as " + layoutName(to));
      uint64_t bytes = 0;
      if (!weightBytes(weight.element, weight.shape, to, bytes))
        return fail(place + "impossible shape in " + layoutName(to));
    }
    return true;
  }

  static std::string inPanels(const Panels &panels) {
    return panels.isRowMajor() ? "" : " in " + layoutName(panels);
  }

  bool failLayout(const std::string &place, const Panels &panels) {
    return fail(place +
                "expects panels of a width that is a multiple of 8 up to 1024 and that interleave "
                "1, 2, 4, 8 or 16 inputs, got " +
                std::to_string(panels.width) + " and " + std::to_string(panels.interleave));
  }

  bool checkRange(const char *what, const Range *range, uint64_t &end) {
    uint64_t offset = range ? range->offset() : 0, bytes = range ? range->bytes() : 0;
    if (bytes == 0 || offset != alignUp(end, weightAlignment) || offset > otherSize ||
        bytes > otherSize - offset)
      return fail(std::string(what) + " has " + std::to_string(bytes) + " bytes at " +
                  std::to_string(offset) + " of " + std::to_string(otherSize) +
                  "; expects some, behind what stands before it");
    end = offset + bytes;
    return true;
  }

  const ManifestT &manifest;
  uint64_t weightsSize, otherSize;
  std::string &error;
  std::map<std::string, std::tuple<int64_t, int64_t, ElementType>> caches;
};

using Numbers = flatbuffers::Vector<int64_t>;
using Values = flatbuffers::Vector<flatbuffers::Offset<Value>>;

bool isAligned(const Numbers *numbers) {
  return !numbers || reinterpret_cast<uintptr_t>(numbers->Data()) % alignof(int64_t) == 0;
}

bool areAligned(const Values *values) {
  for (size_t i = 0; values && i < values->size(); ++i)
    if (!isAligned(values->Get(static_cast<uint32_t>(i))->shape()))
      return false;
  return true;
}

} // namespace

bool isWellFormed(const uint8_t *data, size_t size) {
  flatbuffers::Verifier verifier(data, size);
  if (!VerifyManifestBuffer(verifier))
    return false;
  const Manifest *manifest = GetManifest(data);
  const ModelInfo *model = manifest->model();
  if (!isAligned(model->end_tokens()) || !isAligned(model->suppressed_tokens()) ||
      !isAligned(model->begin_suppressed_tokens()))
    return false;
  if (const auto *prompt = model->prompt())
    for (const PromptToken *token : *prompt)
      if (!isAligned(token->tokens()))
        return false;
  for (const Entry *entry : *manifest->entries())
    if (!areAligned(entry->arguments()) || !areAligned(entry->results()))
      return false;
  if (const auto *weights = manifest->weights())
    for (const Weight *weight : *weights)
      if (!isAligned(weight->shape()))
        return false;
  return true;
}

bool checkManifest(const ManifestT &manifest, uint64_t weightsSize, uint64_t otherSize,
                   std::string &error) {
  return Checker(manifest, weightsSize, otherSize, error).check();
}

} // namespace fovea::artifact
