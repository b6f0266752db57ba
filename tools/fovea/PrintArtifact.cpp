// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `fovea inspect` tells of an artifact: the model, its sections, entries,
// kernels and weights.
#include "tools/fovea/Inspect.h"
#include "tools/verbs/Common.h"

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>

namespace fovea {

using namespace manifest;

/// "[batch, sequence, 192] f32", or "cache 2x32 f32".
static std::string describe(const ValueT &value) {
  std::string text;
  if (value.kind == ValueKind::Cache)
    return "cache " + std::to_string(value.heads) + "x" + std::to_string(value.size) + " " +
           artifact::elementName(value.element);
  for (size_t axis = 0; axis < value.shape.size(); ++axis) {
    text += axis ? ", " : "[";
    if (value.shape[axis] >= 0)
      text += std::to_string(value.shape[axis]);
    else
      text += axis < value.dims.size() && !value.dims[axis].empty() ? value.dims[axis] : "?";
  }
  return text + (value.shape.empty() ? "[] " : "] ") + artifact::elementName(value.element);
}

/// "no, maybe, yes", and of many how many more.
static std::string listLabels(const std::vector<std::string> &labels) {
  constexpr size_t most = 20;
  std::string text;
  for (size_t i = 0; i < labels.size() && i < most; ++i)
    text += (i ? ", " : "") + verbs::plain(labels[i]);
  if (labels.size() > most)
    text += " and " + std::to_string(labels.size() - most) + " more";
  return text;
}

std::string nameOfFilter(ImageFilter filter) {
  std::string name = EnumNameImageFilter(filter);
  std::transform(name.begin(), name.end(), name.begin(), ::tolower);
  return name;
}

/// "shortest edge 224 (bicubic), cropped to 224 x 224"
static std::string describe(const ImageSettings &images) {
  auto sides = [](int32_t height, int32_t width) {
    return std::to_string(height) + " x " + std::to_string(width);
  };
  std::string filter = nameOfFilter(images.filter()), text = "as they are";
  if (images.shortest_edge())
    text = "shortest edge " + std::to_string(images.shortest_edge()) + " (" + filter + ")";
  else if (images.resize_height())
    text = sides(images.resize_height(), images.resize_width()) + " (" + filter + ")";
  if (images.crop_height())
    text += ", cropped to " + sides(images.crop_height(), images.crop_width());
  return text;
}

static void printValues(const char *title, const std::vector<std::unique_ptr<ValueT>> &values) {
  for (const auto &value : values)
    std::printf("    %s %s: %s\n", title, value->name.c_str(), describe(*value).c_str());
}

/// Each kernel of an entry, and how often it is used.
static void printSteps(const std::vector<std::unique_ptr<StepT>> &steps,
                       const std::vector<std::unique_ptr<KernelT>> &kernels) {
  std::map<uint32_t, size_t> uses;
  for (const auto &step : steps)
    ++uses[step->kernel];
  for (auto [kernel, count] : uses) {
    const KernelT &what = *kernels[kernel];
    std::printf("    %4zu x %s%s%s%s%s", count, what.name.c_str(),
                what.description.empty() ? "" : ": ", what.description.c_str(),
                what.schedule.empty() ? "" : ", ", what.schedule.c_str());
    if (what.threads)
      std::printf(", %u threads, %u bytes shared%s", what.threads, what.shared_bytes,
                  what.persistent ? ", persistent" : "");
    std::printf("\n");
  }
}

static void printEntry(const EntryT &entry, const ManifestT &manifest) {
  std::printf("\nentry %s (%zu steps", entry.name.c_str(), entry.steps.size());
  if (entry.max_positions)
    std::printf(", at most %" PRId64 " positions", entry.max_positions);
  std::printf(")\n");
  printValues("takes", entry.arguments);
  printValues("gives", entry.results);
  printSteps(entry.steps, manifest.kernels);
}

static void printPrograms(const std::vector<std::unique_ptr<ProgramT>> &programs,
                          const std::vector<std::unique_ptr<KernelT>> &kernels,
                          const ManifestT &manifest) {
  for (size_t i = 0; i < programs.size(); ++i) {
    std::printf("  entry %s (%zu steps)\n", manifest.entries[i]->name.c_str(),
                programs[i]->steps.size());
    printSteps(programs[i]->steps, kernels);
  }
}

/// Code for one GPU: how much of what, and each entry's kernels there.
static void printDevice(const DeviceT &device, const ManifestT &manifest) {
  std::printf("\ncode for %s (PTX %" PRIu64 " bytes, ", device.chip.c_str(), device.ptx->bytes());
  if (device.cubin)
    std::printf("cubin %" PRIu64 " bytes, ", device.cubin->bytes());
  std::printf("host %" PRIu64 " bytes)\n", device.host->bytes());
  printPrograms(device.programs, device.kernels, manifest);
}

/// Code for a better processor than the one above.
static void printVariant(const VariantT &variant, const ManifestT &manifest) {
  std::printf("\ncode for %s (%" PRIu64 " bytes), which needs", variant.name.c_str(),
              variant.code->bytes());
  for (const std::string &feature : variant.cpu_features)
    std::printf(" %s", feature.c_str());
  std::printf("\n");
  printPrograms(variant.programs, variant.kernels, manifest);
}

/// The kernels that are plain loops because no builder of tile programs covers them, and where in
/// the model each is used first.
static void printFallbacks(const ManifestT &manifest) {
  std::map<uint32_t, std::string> places;
  for (const auto &entry : manifest.entries)
    for (const auto &step : entry->steps)
      if (manifest.kernels[step->kernel]->fallback)
        places.try_emplace(step->kernel,
                           entry->name + (step->location.empty() ? "" : ", ") + step->location);
  if (places.empty()) {
    std::printf("\nno kernel falls back to plain loops\n");
    return;
  }
  std::printf("\nfallbacks to plain loops (%zu)\n", places.size());
  for (const auto &[kernel, place] : places)
    std::printf("    %s: %s, first in %s\n", manifest.kernels[kernel]->name.c_str(),
                manifest.kernels[kernel]->description.c_str(), place.c_str());
}

static const char *kindName(ModelKind kind) {
  switch (kind) {
  case ModelKind::Decoder:
    return "decoder";
  case ModelKind::Encoder:
    return "encoder";
  case ModelKind::EncoderDecoder:
    return "encoder-decoder";
  default:
    return "generic";
  }
}

void printArtifact(const artifact::ArtifactReader &reader, const std::string &file) {
  const ManifestT &manifest = reader.manifest();
  const ModelInfoT &model = *manifest.model;
  std::printf("%s\n", file.c_str());
  if (file != reader.path())
    std::printf("  compiled to: %s\n", reader.path().c_str());
  std::string called = model.architecture;
  if (!model.name.empty())
    called += (called.empty() ? "" : " ") + model.name;
  std::printf("  model: %s%s%s\n", called.c_str(), called.empty() ? "" : ", ",
              kindName(model.kind));
  if (model.vocabulary_size)
    std::printf("  vocabulary: %" PRId64 "\n", model.vocabulary_size);
  if (model.max_positions)
    std::printf("  longest context: %" PRId64 "\n", model.max_positions);
  if (!model.labels.empty())
    std::printf("  labels: %s\n", listLabels(model.labels).c_str());
  if (model.images)
    std::printf("  images: %s\n", describe(*model.images).c_str());
  if (model.sampling_rate)
    std::printf("  reads sound of %" PRId64 " samples a second\n", model.sampling_rate);
  for (const auto &token : model.prompt)
    if (!token->values.empty())
      std::printf("  %s: %s\n", verbs::plain(token->name).c_str(),
                  listLabels(token->values).c_str());
  std::printf("  compiler: %s\n", manifest.compiler.c_str());
  if (!manifest.variants.empty())
    std::printf("  code for %s, and below for better processors\n", manifest.target.c_str());
  std::printf("  processor needs:%s", manifest.cpu_features.empty() ? " SSE2" : "");
  for (const std::string &feature : manifest.cpu_features)
    std::printf(" %s", feature.c_str());
  std::printf("\n");
  for (const artifact::Section &section : reader.header().sections)
    std::printf("  section %s: %" PRIu64 " bytes\n", artifact::sectionName(section.kind),
                section.size);
  for (const auto &entry : manifest.entries)
    printEntry(*entry, manifest);
  printFallbacks(manifest);
  for (const auto &variant : manifest.variants)
    printVariant(*variant, manifest);
  for (const auto &device : manifest.devices)
    printDevice(*device, manifest);
  std::printf("\nweights (%zu)\n", manifest.weights.size());
  for (const auto &weight : manifest.weights) {
    std::string shape;
    for (int64_t size : weight->shape)
      shape += (shape.empty() ? "" : "x") + std::to_string(size);
    const Panels &panels = weight->panels;
    std::printf("    %s: %s %s%s\n", weight->name.c_str(), shape.c_str(),
                artifact::elementName(weight->element),
                panels.isRowMajor() ? "" : (", " + artifact::layoutName(panels)).c_str());
  }
  printFusion(manifest.fusion_report);
  printNotRaised(manifest.fusion_report);
}

} // namespace fovea
