// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea inspect`: what is inside an artifact, for people.
#include "artifact/ArtifactReader.h"
#include "tools/fovea/ModelCache.h"
#include "tools/fovea/Terminal.h"
#include "tools/fovea/Verbs.h"

#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

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

/// Code for one GPU: how much of what, and each entry's kernels there.
static void printDevice(const DeviceT &device, const ManifestT &manifest) {
  std::printf("\ncode for %s (PTX %" PRIu64 " bytes, ", device.chip.c_str(), device.ptx->bytes());
  if (device.cubin)
    std::printf("cubin %" PRIu64 " bytes, ", device.cubin->bytes());
  std::printf("host %" PRIu64 " bytes)\n", device.host->bytes());
  for (size_t i = 0; i < device.programs.size(); ++i) {
    std::printf("  entry %s (%zu steps)\n", manifest.entries[i]->name.c_str(),
                device.programs[i]->steps.size());
    printSteps(device.programs[i]->steps, device.kernels);
  }
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

/// What nearly is a norm or an activation, and why it is none.
static void printNotRaised(const std::string &report) {
  auto json = nlohmann::json::parse(report, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("not-raised") || !json["not-raised"].is_array())
    return;
  std::printf("\n");
  for (const auto &entry : json["not-raised"])
    std::printf("not raised  %s  %s: %s\n", entry.value("location", "-").c_str(),
                entry.value("kind", "").c_str(), entry.value("reason", "").c_str());
}

/// One line for each softmax of the model: is it fused, where it stands, its masks and its rule; if
/// there is more to say, another line.
static void printFusion(const std::string &report) {
  auto json = nlohmann::json::parse(report, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json["attention"].is_array() || json["attention"].empty()) {
    std::printf("\nno softmax, so nothing to fuse\n");
    return;
  }
  struct Row {
    std::string status, location, masks, score, note;
  };
  std::vector<Row> rows{{"fusion", "softmax of", "masks", "score", ""}};
  for (const auto &entry : json["attention"]) {
    auto text = [&](const char *key) {
      return entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>()
                                                           : std::string();
    };
    Row row{text("status"), text("location"), "", text("score"), text("reason")};
    if (std::string weight = text("weight"); !weight.empty() && weight != "p")
      row.note = "values are multiplied with " + weight + ", p the probability" +
                 (row.note.empty() ? "" : "; ") + row.note;
    if (entry.contains("masks"))
      for (const auto &mask : entry["masks"])
        row.masks += (row.masks.empty() ? "" : ", ") + mask.get<std::string>();
    if (std::string change = text("change"); !change.empty())
      row.note += (row.note.empty() ? "to " : "; to ") +
                  std::string(row.status == "fused" ? "skip keys, " : "fuse it, ") + change;
    for (std::string *cell : {&row.location, &row.masks, &row.score})
      if (cell->empty())
        *cell = "-";
    rows.push_back(std::move(row));
  }
  size_t location = 0, masks = 0;
  for (const Row &row : rows) {
    location = std::max(location, row.location.size());
    masks = std::max(masks, row.masks.size());
  }
  std::printf("\n");
  for (const Row &row : rows) {
    std::printf("%-9s  %-*s  %-*s  %s\n", row.status.c_str(), static_cast<int>(location),
                row.location.c_str(), static_cast<int>(masks), row.masks.c_str(),
                row.score.c_str());
    if (!row.note.empty())
      std::printf("           %s\n", row.note.c_str());
  }
}

static const char *kindName(ModelKind kind) {
  switch (kind) {
  case ModelKind::Decoder:
    return "decoder";
  case ModelKind::Encoder:
    return "encoder";
  default:
    return "generic";
  }
}

/// `file` is what the user asked for: the artifact or the model that it was made of.
static void print(const artifact::ArtifactReader &reader, const std::string &file) {
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
  std::printf("  compiler: %s\n  processor needs:", manifest.compiler.c_str());
  for (const std::string &feature : manifest.cpu_features)
    std::printf(" %s", feature.c_str());
  std::printf("\n");
  for (const artifact::Section &section : reader.header().sections)
    std::printf("  section %s: %" PRIu64 " bytes\n", artifact::sectionName(section.kind),
                section.size);
  for (const auto &entry : manifest.entries)
    printEntry(*entry, manifest);
  printFallbacks(manifest);
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

void addInspectVerb(CLI::App &app, Session &session) {
  struct Arguments {
    compile::Options options;
    bool verify = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App *verb = app.add_subcommand("inspect", "Show what is inside an artifact");
  verb->add_option("FILE", arguments->options.model, "an artifact, or a model to compile")
      ->required();
  verb->add_flag("--verify", arguments->verify, "check every hash, of large weights too");
  addMappingOption(*verb, arguments->options.access);
  addCompileOptions(*verb, arguments->options);
  verb->callback([arguments, &session] {
    Terminal terminal;
    std::string path = arguments->options.model, error;
    if (isModel(path)) {
      arguments->options.commandLine = session.commandLine;
      compile::Outcome outcome = findOrCompile(arguments->options, terminal.log(), path);
      session.exitCode = static_cast<int>(outcome);
      if (outcome != compile::Outcome::Done)
        return;
    }
    auto reader = artifact::ArtifactReader::open(path, error, arguments->options.access);
    if (!reader || (arguments->verify && !reader->verifyAll(error))) {
      terminal.error(error);
      session.exitCode = 1;
      return;
    }
    print(*reader, arguments->options.model);
    if (arguments->verify)
      std::printf("\nall hashes are right\n");
  });
}

} // namespace fovea
