// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `fovea inspect --json` tells of an artifact: what printArtifact prints, for programs.
#include "tools/fovea/Inspect.h"

#include <map>
#include <nlohmann/json.hpp>

namespace fovea {

using namespace manifest;
using Json = nlohmann::ordered_json;

/// A size that is known at the call is its name, or null without one.
static Json describe(const std::vector<std::unique_ptr<ValueT>> &values) {
  Json all = Json::array();
  for (const auto &value : values) {
    Json one = {{"name", value->name}, {"element", artifact::elementName(value->element)}};
    if (value->kind == ValueKind::Cache) {
      one["cache"] = {{"heads", value->heads}, {"size", value->size}};
    } else {
      one["shape"] = Json::array();
      for (size_t axis = 0; axis < value->shape.size(); ++axis) {
        bool isNamed = axis < value->dims.size() && !value->dims[axis].empty();
        if (value->shape[axis] >= 0)
          one["shape"].push_back(value->shape[axis]);
        else
          one["shape"].push_back(isNamed ? Json(value->dims[axis]) : Json());
      }
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Each kernel of an entry, and how often it is used.
static Json describe(const std::vector<std::unique_ptr<StepT>> &steps,
                     const std::vector<std::unique_ptr<KernelT>> &kernels) {
  std::map<uint32_t, size_t> uses;
  for (const auto &step : steps)
    ++uses[step->kernel];
  Json all = Json::array();
  for (auto [kernel, count] : uses) {
    const KernelT &what = *kernels[kernel];
    Json one = {{"kernel", what.name},
                {"computes", what.description},
                {"schedule", what.schedule},
                {"fallback", what.fallback},
                {"calls", count}};
    if (what.threads) {
      one["threads"] = what.threads;
      one["shared_bytes"] = what.shared_bytes;
    }
    all.push_back(std::move(one));
  }
  return all;
}

static Json describe(const std::vector<std::unique_ptr<ProgramT>> &programs,
                     const std::vector<std::unique_ptr<KernelT>> &kernels,
                     const ManifestT &manifest) {
  Json all = Json::object();
  for (size_t i = 0; i < programs.size(); ++i)
    all[manifest.entries[i]->name] = describe(programs[i]->steps, kernels);
  return all;
}

/// Without what does not apply.
static Json describe(const ImageSettings &images) {
  Json record = Json::object();
  if (images.shortest_edge())
    record["shortest_edge"] = images.shortest_edge();
  if (images.resize_height())
    record["resize"] = {images.resize_height(), images.resize_width()};
  if (!record.empty())
    record["filter"] = nameOfFilter(images.filter());
  if (images.crop_height())
    record["crop"] = {images.crop_height(), images.crop_width()};
  record["scale"] = images.scale();
  record["mean"] = record["deviation"] = Json::array();
  for (uint16_t i = 0; i < images.mean()->size() && images.deviation()->Get(i) != 0; ++i) {
    record["mean"].push_back(images.mean()->Get(i));
    record["deviation"].push_back(images.deviation()->Get(i));
  }
  return record;
}

static Json describeWeights(const ManifestT &manifest) {
  Json all = Json::array();
  for (const auto &weight : manifest.weights)
    all.push_back({{"name", weight->name},
                   {"shape", weight->shape},
                   {"element", artifact::elementName(weight->element)},
                   {"layout", artifact::layoutName(weight->panels)}});
  return all;
}

std::string describeArtifact(const artifact::ArtifactReader &reader, const std::string &file) {
  const ManifestT &manifest = reader.manifest();
  const ModelInfoT &model = *manifest.model;
  Json record = {{"file", file}, {"artifact", reader.path()}};
  record["model"] = {{"name", model.name},
                     {"architecture", model.architecture},
                     {"vocabulary", model.vocabulary_size},
                     {"longest_context", model.max_positions}};
  if (model.images)
    record["model"]["images"] = describe(*model.images);
  record["compiler"] = manifest.compiler;
  record["target"] = manifest.target;
  record["processor_needs"] = manifest.cpu_features;
  for (const artifact::Section &section : reader.header().sections)
    record["sections"][artifact::sectionName(section.kind)] = section.size;
  record["entries"] = Json::array();
  for (const auto &entry : manifest.entries)
    record["entries"].push_back({{"name", entry->name},
                                 {"steps", entry->steps.size()},
                                 {"longest", entry->max_positions},
                                 {"takes", describe(entry->arguments)},
                                 {"gives", describe(entry->results)},
                                 {"kernels", describe(entry->steps, manifest.kernels)}});
  record["variants"] = Json::array();
  for (const auto &variant : manifest.variants)
    record["variants"].push_back(
        {{"target", variant->name},
         {"processor_needs", variant->cpu_features},
         {"bytes", variant->code->bytes()},
         {"kernels", describe(variant->programs, variant->kernels, manifest)}});
  record["devices"] = Json::array();
  for (const auto &device : manifest.devices)
    record["devices"].push_back(
        {{"target", device->chip},
         {"ptx_bytes", device->ptx->bytes()},
         {"cubin_bytes", device->cubin ? device->cubin->bytes() : 0},
         {"kernels", describe(device->programs, device->kernels, manifest)}});
  record["weights"] = describeWeights(manifest);
  Json report = Json::parse(manifest.fusion_report, nullptr, /*allow_exceptions=*/false);
  record["report"] = report.is_object() ? report : Json::object();
  return record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace fovea
