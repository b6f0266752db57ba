// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What config.json says of quantised weights, and where a checkpoint keeps them. Refuses methods
// and variants whose numbers are not known.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_QUANTIZATION_H
#define FOVEA_FRONTEND_HUGGINGFACE_QUANTIZATION_H

#include "frontend/Json.h"
#include "frontend/WeightTable.h"

namespace fovea {

/// Which modules are quantised, their tensors say: those that are not have their weight.
class Quantization final : public PackedWeights {
public:
  /// Reads `quantization_config`, if there is one; adds problems.
  static Quantization read(JsonObject &config, Problems &problems);

  bool find(const TensorSource &source, const std::string &module, Weight &weight,
            std::set<std::string> &used, Fault &fault) const override;

  /// How modules are quantised; a checkpoint may have several.
  struct Scheme {
    Packing::Kind kind = Packing::Kind::Gptq;
    int64_t bits = 4;
    int64_t group = 0;      ///< Inputs that share a scale; 0: all. Of floats, of a block.
    int64_t rows = 0;       ///< Of floats: outputs of a block; 0: no blocks.
    bool symmetric = false; ///< Zeros may be absent.
    bool inverse = false;   ///< Of floats: scales have the other name.
    bool ordered = false;   ///< The group of each input is stored.
  };

private:
  std::vector<Scheme> schemes;
  bool isKnown = true; ///< Else a problem says why, and tensors are not looked at.
};

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_QUANTIZATION_H
