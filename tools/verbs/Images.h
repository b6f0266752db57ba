// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picture files that a verb is given, and a model that takes them.
#ifndef FOVEA_TOOLS_VERBS_IMAGES_H
#define FOVEA_TOOLS_VERBS_IMAGES_H

#include "tools/verbs/Heads.h"

namespace fovea::verbs {

/// Which entry of a model takes images.
enum class ImageEntry {
  Forward,   ///< `forward`, which takes nothing else.
  Embedding, ///< One that gives an embedding of an image.
  WithTexts  ///< `forward`, which takes texts, too.
};

/// A model whose entry takes images. Every function throws Failure.
class ImageModel : public HeadModel {
public:
  /// Opens FILE of `options`.
  ImageModel(const Common &options, const char *verb, ImageEntry entry);

  /// The images of a file as the model takes them: of PNG and JPEG one, made what the model's
  /// source asks for; of .npy arrays of bytes [height, width, 3] the same; arrays in f32
  /// [channels, height, width], or [images, channels, height, width], as they are.
  std::vector<std::vector<float>> read(const std::string &path) const;
  void run(const std::vector<float> &image) { run({image}, {}); }
  /// How near each image of a file is to each text, by the result `logits_per_image`.
  std::vector<std::vector<double>> compare(const std::string &path,
                                           const std::vector<TokenRow> &texts);
  /// The name of the result that is the embedding.
  const char *embedding() const;

private:
  void run(const std::vector<std::vector<float>> &images, const std::vector<TokenRow> &texts);
  bool isImage(const fovea_value_info &value) const;
  const fovea_value_info &argument() const;
  void chooseEmbedding();

  fovea_image_info settings = FOVEA_IMAGE_INFO_INIT;
};

/// Adds the words behind FILE.
void addImages(CLI::App &verb, std::vector<std::string> &images);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_IMAGES_H
