// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header. One image a run, as of texts.
#include "tools/verbs/Images.h"

#include "tools/images/Picture.h"
#include "tools/verbs/Files.h"
#include "tools/verbs/Npz.h"

#include <algorithm>
#include <cstring>

namespace fovea::verbs {

static bool isFloat(fovea_dtype type) { return type.code == FOVEA_FLOAT && type.bits == 32; }

ImageModel::ImageModel(const Common &options, const char *verb, ImageEntry entry)
    : HeadModel(options, verb) {
  check(fovea_module_get_image_info(module.get(), &settings));
  if (entry == ImageEntry::Embedding)
    chooseEmbedding();
  else
    chooseForward();
  argument();
  for (const fovea_value_info &value : arguments) {
    if (isImage(value))
      continue;
    if (!isOfText(value))
      refuse("its entry takes '" + std::string(value.name) + "', which is not made of an image");
    if (entry != ImageEntry::WithTexts)
      refuse("its entry takes '" + std::string(value.name) +
             "' besides; what may be on an image is named by --label");
  }
  if (entry == ImageEntry::WithTexts)
    requireTokenizer();
}

bool ImageModel::isImage(const fovea_value_info &value) const {
  return !value.is_cache && value.ndim == 4 && isFloat(value.dtype) && value.shape[1] > 0 &&
         value.shape[2] > 0 && value.shape[3] > 0;
}

const fovea_value_info &ImageModel::argument() const {
  for (const fovea_value_info &value : arguments)
    if (isImage(value))
      return value;
  refuse("its entry '" + std::string(entry.name) + "' takes no images");
}

void ImageModel::chooseEmbedding() {
  for (size_t i = 0; i < info.entry_count; ++i) {
    choose(i);
    if (arguments.size() == 1 && isImage(arguments.front()) && embedding())
      return;
  }
  refuse("it has no entry that makes an embedding of an image");
}

const char *ImageModel::embedding() const {
  for (const fovea_value_info &value : results)
    if (value.role == FOVEA_ROLE_EMBEDDING && value.ndim == 2 && isFloat(value.dtype))
      return value.name;
  return nullptr;
}

/// The file's array, as a picture where it is one.
static bool readArray(const std::string &path, Array &array, images::Picture &picture) {
  std::string error;
  if (!readNpy(path, array, error))
    throw Failure{1, error};
  if (isFloat(array.dtype))
    return false;
  const std::vector<int64_t> &shape = array.shape;
  if (array.dtype.code != FOVEA_UINT || array.dtype.bits != 8 || shape.size() != 3 || shape[2] != 3)
    throw Failure{1, path + ": expects an array of bytes [height, width, 3], or of an image's "
                            "numbers in f32"};
  if (!images::checkSize(static_cast<uint64_t>(shape[0]), static_cast<uint64_t>(shape[1]), error))
    throw Failure{1, path + ": " + error};
  picture = images::Picture(shape[0], shape[1], 3);
  picture.bytes.assign(array.data.begin(), array.data.end());
  return true;
}

static std::string shapeText(const int64_t *sizes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(sizes[i]);
  return "[" + text + "]";
}

/// The images of an array [channels, height, width], or of several, of the shape `wanted`.
static std::vector<std::vector<float>> split(const std::string &path, const Array &array,
                                             const int64_t *wanted) {
  const std::vector<int64_t> &shape = array.shape;
  if ((shape.size() != 3 && shape.size() != 4) || !std::equal(wanted, wanted + 3, shape.end() - 3))
    throw Failure{1, path + ": expects an array " + shapeText(wanted, 3) +
                         " or of several such, got " + shapeText(shape.data(), shape.size())};
  if (array.data.empty())
    return {};
  const auto count = static_cast<size_t>(wanted[0] * wanted[1] * wanted[2]);
  std::vector<std::vector<float>> result(array.data.size() / sizeof(float) / count,
                                         std::vector<float>(count));
  for (size_t i = 0; i < result.size(); ++i)
    std::memcpy(result[i].data(), array.data.data() + i * count * sizeof(float),
                count * sizeof(float));
  return result;
}

std::vector<std::vector<float>> ImageModel::read(const std::string &path) const {
  const int64_t *wanted = argument().shape + 1; // channels, height, width
  images::Picture picture, fitted;
  std::string error;
  if (path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0) {
    Array array;
    if (!readArray(path, array, picture))
      return split(path, array, wanted);
  } else {
    std::string file;
    if (!(path == "-" ? readFile(path, file, error) : readRegularFile(path, file, error)))
      throw Failure{1, error};
    if (!images::decode(file, picture, error))
      throw Failure{1, path + ": " + error};
  }
  if (!settings.is_known)
    refuse("its source does not say how pictures are resized and normalised (it had no "
           "preprocessor_config.json); a .npy file in f32 is taken as it is");
  if (wanted[0] == 1)
    picture = images::makeGrey(picture);
  if (wanted[0] != picture.channels)
    refuse("its images have " + std::to_string(wanted[0]) + " channels, pictures have 1 or 3");
  if (!images::fit(picture, settings, fitted, error))
    throw Failure{1, path + ": " + error};
  if (fitted.height != wanted[1] || fitted.width != wanted[2])
    throw Failure{1, path + ": expects a picture that becomes " + std::to_string(wanted[1]) +
                         " x " + std::to_string(wanted[2]) + ", as the model takes it, got " +
                         std::to_string(fitted.height) + " x " + std::to_string(fitted.width)};
  return {images::normalise(fitted, settings)};
}

void ImageModel::run(const std::vector<std::vector<float>> &images,
                     const std::vector<TokenRow> &texts) {
  const fovea_value_info &taken = argument();
  std::vector<float> numbers;
  for (const std::vector<float> &image : images)
    numbers.insert(numbers.end(), image.begin(), image.end());
  set(taken, numbers.data(),
      {static_cast<int64_t>(images.size()), taken.shape[1], taken.shape[2], taken.shape[3]});
  setTokens(texts);
  HeadModel::run();
}

std::vector<std::vector<double>> ImageModel::compare(const std::string &path,
                                                     const std::vector<TokenRow> &texts) {
  const std::vector<std::vector<float>> images = read(path);
  if (images.empty())
    return {};
  run(images, texts);
  const std::vector<double> all = result("logits_per_image");
  if (texts.empty() || all.size() != images.size() * texts.size())
    throw Failure{1, "'logits_per_image' expects " + std::to_string(images.size()) + " x " +
                         std::to_string(texts.size()) + " numbers, got " +
                         std::to_string(all.size())};
  std::vector<std::vector<double>> rows;
  for (size_t i = 0; i < all.size(); i += texts.size())
    rows.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i),
                      all.begin() + static_cast<std::ptrdiff_t>(i + texts.size()));
  return rows;
}

void addImages(CLI::App &verb, std::vector<std::string> &images) {
  verb.add_option("IMAGES", images, "pictures: PNG, JPEG or .npy files; - is standard input");
}

} // namespace fovea::verbs
