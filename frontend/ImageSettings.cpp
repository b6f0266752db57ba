// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The settings of transformers' image processors that resize, crop, rescale and normalise, from
// preprocessor_config.json or, as newer versions write it, from the image_processor of
// processor_config.json. Refuses other processors, and keys that are not known.
#include "frontend/ImageSettings.h"

#include "frontend/Json.h"

#include <array>

using namespace fovea;

namespace {

constexpr int64_t maxSide = 1 << 15;
using Filter = ImageSettings::Filter;
using Triple = std::array<double, 3>;

/// A processor's values of absent keys.
struct Processor {
  const char *name; ///< Without "ImageProcessor".
  Filter filter;
  int64_t side, crop; ///< 0: not cropped.
  bool shortestEdge;  ///< What a single `size` is.
  Triple mean, deviation;
};

constexpr Triple halves = {0.5, 0.5, 0.5};
constexpr Triple clipMean = {0.48145466, 0.4578275, 0.40821073},
                 clipDeviation = {0.26862954, 0.26130258, 0.27577711};
constexpr Processor processors[] = {
    {"Bit", Filter::Bicubic, 224, 224, true, clipMean, clipDeviation},
    {"CLIP", Filter::Bicubic, 224, 224, true, clipMean, clipDeviation},
    {"DeiT", Filter::Bicubic, 256, 224, false, halves, halves},
    {"Siglip", Filter::Bicubic, 224, 0, false, halves, halves},
    {"ViT", Filter::Bilinear, 224, 0, false, halves, halves},
};

class Reader {
public:
  Reader(JsonObject &config, const Patches &patches) : config(config), patches(patches) {}

  std::optional<ImageSettings> read() {
    if (!findProcessor())
      return std::nullopt;
    ImageSettings settings;
    readSizes(settings);
    readNumbers(settings);
    if (config.string("data_format", "channels_first") != "channels_first")
      config.reject("data_format", "\"channels_first\"");
    if (config.boolean("do_pad", false))
      config.reject("do_pad", "false");
    // Pictures are always made RGB; the others say how arrays are given and taken.
    config.ignore({"do_convert_rgb", "processor_class", "input_data_format", "device",
                   "return_tensors", "disable_grouping", "pad_size", "_valid_processor_keys"});
    config.reportUnread("could change pixels and is not understood");
    return settings;
  }

private:
  /// "CLIPImageProcessorFast", "CLIPFeatureExtractor" -> CLIP's.
  bool findProcessor() {
    const char *key =
        config.has("image_processor_type") ? "image_processor_type" : "feature_extractor_type";
    std::string type = config.string(key, ""), expected;
    config.ignore({"image_processor_type", "feature_extractor_type"});
    for (const Processor &one : processors) {
      std::string name = one.name, full = name + "ImageProcessor";
      for (const std::string &known :
           {full, full + "Fast", full + "Pil", name + "FeatureExtractor"})
        if (type == known)
          processor = &one;
      expected += (expected.empty() ? "" : ", ") + full;
    }
    if (!processor)
      config.reject(key, "one of " + expected);
    return processor;
  }

  std::optional<ImageSettings::Sides> readSides(JsonObject &object) {
    auto height = object.integer("height", 1, maxSide), width = object.integer("width", 1, maxSide);
    object.reportUnread("expects height and width alone");
    if (!height || !width)
      return std::nullopt;
    return ImageSettings::Sides{*height, *width};
  }

  /// A side, two, or an object; `edge` is set where the shorter one is meant, if it may be.
  std::optional<ImageSettings::Sides> readSize(const char *key, int64_t fallback, bool isEdge,
                                               std::optional<int64_t> *edge) {
    const JsonValue *value = config.find(key);
    if (value && value->isObject()) {
      auto object = config.member(key);
      if (!edge || !object->has("shortest_edge"))
        return readSides(*object);
      *edge = object->integer("shortest_edge", 1, maxSide);
      object->reportUnread("expects shortest_edge alone");
      return std::nullopt;
    }
    if (value && value->isArray()) {
      auto sides = config.numbers(key, 1, maxSide);
      if (sides && sides->size() == 2)
        return ImageSettings::Sides{int64_t((*sides)[0]), int64_t((*sides)[1])};
      if (sides)
        config.reject(key, "a height and a width");
      return std::nullopt;
    }
    int64_t side = config.integer(key, 1, maxSide, fallback);
    if (!edge || !isEdge)
      return ImageSettings::Sides{side, side};
    *edge = side;
    return std::nullopt;
  }

  void readSizes(ImageSettings &settings) {
    bool isEdge = !config.boolean("default_to_square", !processor->shortestEdge);
    auto filter = static_cast<int64_t>(processor->filter);
    filter = config.integer("resample", 0, static_cast<int64_t>(Filter::Hamming), filter);
    settings.filter = static_cast<Filter>(filter);
    bool resizes = config.boolean("do_resize", true);
    // What is read and not done is checked all the same.
    auto sides = readSize("size", processor->side, isEdge, &settings.shortestEdge);
    if (resizes)
      settings.resize = sides;
    else
      settings.shortestEdge.reset();
    bool crops = config.boolean("do_center_crop", processor->crop > 0);
    auto cropped =
        readSize("crop_size", processor->crop ? processor->crop : processor->side, false, nullptr);
    if (crops)
      settings.crop = cropped;
    std::string expected = std::to_string(patches.height) + " x " + std::to_string(patches.width) +
                           ", which the model's images have";
    auto last = settings.crop ? settings.crop : settings.resize;
    if (last ? last->height != patches.height || last->width != patches.width
             : settings.shortestEdge.has_value())
      config.reject(settings.crop ? "crop_size" : "size", expected);
  }

  /// One number for each channel, or one for all.
  std::vector<double> readChannels(const char *key, const Triple &fallback) {
    auto channels = static_cast<size_t>(patches.channels);
    const JsonValue *value = config.find(key);
    std::vector<double> numbers(fallback.begin(), fallback.end());
    if (value && value->isNumber())
      numbers.assign(channels, value->number());
    else if (value)
      numbers = config.numbers(key, -1e6, 1e6).value_or(std::vector<double>());
    if (numbers.size() != channels)
      config.reject(key, std::to_string(channels) + " numbers, one for each channel");
    numbers.resize(channels, 1);
    return numbers;
  }

  void readNumbers(ImageSettings &settings) {
    double factor = config.number("rescale_factor", 1e-6, 1e6, 1.0 / 255);
    settings.scale = config.boolean("do_rescale", true) ? factor : 1;
    if (!config.boolean("do_normalize", true)) {
      settings.mean.assign(static_cast<size_t>(patches.channels), 0);
      settings.deviation.assign(static_cast<size_t>(patches.channels), 1);
      config.ignore({"image_mean", "image_std"});
      return;
    }
    settings.mean = readChannels("image_mean", processor->mean);
    settings.deviation = readChannels("image_std", processor->deviation);
    for (double number : settings.deviation)
      if (number <= 0)
        config.reject("image_std", "numbers above 0");
  }

  JsonObject &config;
  const Patches &patches;
  const Processor *processor = nullptr;
};

} // namespace

std::optional<ImageSettings> fovea::readImageSettings(const std::string &folder,
                                                      const Patches &patches, Problems &problems) {
  std::string path = folder + "/preprocessor_config.json";
  bool isWhole = exists(path);
  if (!isWhole)
    path = folder + "/processor_config.json";
  if (!exists(path))
    return std::nullopt;
  if (patches.channels != 1 && patches.channels != 3) {
    addNote(problems, path, "",
            "is ignored: pictures have 1 or 3 channels, the model's images " +
                std::to_string(patches.channels));
    return std::nullopt;
  }
  std::optional<JsonValue> value = parseJsonFile(path, problems);
  if (!value)
    return std::nullopt;
  const JsonValue *settings = isWhole ? &*value : value->find("image_processor");
  if (!settings)
    return std::nullopt;
  JsonObject config(*settings, path, isWhole ? "" : "image_processor", problems);
  return config.valid() ? Reader(config, patches).read() : std::nullopt;
}
