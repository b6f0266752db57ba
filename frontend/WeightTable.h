// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights of a model, wherever they are stored, handed out by name and shape for readers of all
// formats.
#ifndef FOVEA_FRONTEND_WEIGHTTABLE_H
#define FOVEA_FRONTEND_WEIGHTTABLE_H

#include "frontend/ModelDescription.h"
#include "frontend/Problem.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// Bounds on sizes in configurations: larger than any model that was published,
/// small enough that no product of two overflows.
constexpr int64_t maxVocabulary = int64_t(1) << 24;
constexpr int64_t maxWidth = int64_t(1) << 20;
constexpr int64_t maxHeads = int64_t(1) << 12;
constexpr int64_t maxLayers = int64_t(1) << 10;
constexpr int64_t maxExperts = int64_t(1) << 12;
constexpr int64_t maxPositions = int64_t(1) << 30;

/// Files with tensors of one model, each of a name of its own.
class TensorSource {
public:
  virtual ~TensorSource() = default;

  /// The file or index that names the tensors, for messages.
  virtual const std::string &name() const = 0;
  virtual std::string pathOf(const StoredTensor &tensor) const = 0;
  virtual std::vector<const StoredTensor *> list() const = 0;
  /// Null if there is none of this name.
  virtual const StoredTensor *find(std::string_view name) const = 0;
  /// The bytes of a tensor that `find` returned.
  virtual const uint8_t *data(const StoredTensor &tensor) const = 0;
};

/// Finds matrices that a checkpoint stores quantised, in several tensors each.
class PackedWeights {
public:
  virtual ~PackedWeights() = default;

  struct Fault {
    std::string tensor, text;
  };
  /// Makes `weight`, whose shape [out, in] is set, the matrix of `module`, and adds the names of
  /// its tensors to `used`; false if there are none. With a fault nothing is said of the weight.
  virtual bool find(const TensorSource &source, const std::string &module, Weight &weight,
                    std::set<std::string> &used, Fault &fault) const = 0;
};

/// The order of a stacked projection's rows.
enum class Stacking {
  ByKind,    ///< All queries' rows, all keys', all values'.
  ByKeyHead, ///< For each key head those of its queries, its own and its values'.
};

/// The weights of a checkpoint, handed out by name and shape. What is missing
/// or has the wrong shape or type becomes a problem, and the reader goes on.
class WeightTable {
public:
  /// Without a checkpoint (it could not be opened) nothing is found and nothing
  /// is reported.
  WeightTable(const TensorSource *source, Problems &problems, const PackedWeights *packed = nullptr)
      : source(source), packed(packed), problems(problems) {}

  /// Tensors whose names begin with `prefix` are meant from now on by the name
  /// without it, if a tensor `prefix + probe` exists. (The same model is stored
  /// as "model.norm.weight" with a head, and as "norm.weight" without.)
  void choosePrefix(const std::vector<std::string> &prefixes, const std::string &probe);
  const std::string &prefix() const { return chosenPrefix; }
  /// Whether there is a tensor of this name, which is whole.
  bool has(const std::string &name) const { return source && source->find(name); }

  /// `name` is without the prefix. If there is no such tensor, the first of
  /// `otherNames` that exists is taken.
  Weight weight(const std::string &name, std::vector<int64_t> shape, bool transposed = false,
                const std::vector<std::string> &otherNames = {});
  /// The tensor `name` (without the prefix) of [1, size], as [size].
  Weight row(const std::string &name, int64_t size);
  /// NAME.weight of [out, in], and NAME.bias if `bias`.
  Linear linear(const std::string &name, int64_t out, int64_t in, bool bias,
                bool transposed = false);
  /// Some outputs of the linear layer NAME, which `part` names.
  Linear linearPart(const std::string &name, const std::string &part, const RowGroups &rows,
                    int64_t in, bool bias, bool transposed = false);
  /// The tensor NAME of the shape `stored`, whose elements are those of `shape` in another order,
  /// or in the same.
  Weight ordered(const std::string &name, std::vector<int64_t> stored, const AxisOrder &order,
                 std::vector<int64_t> shape);
  /// NAME_blocks and NAME_scales: `count` matrices [out, in] in MXFP4, one below the other.
  Weight mxfp4(const std::string &name, int64_t count, int64_t out, int64_t in);
  /// Tensors of one type, one below the other.
  Weight stackOf(const std::string &name, std::vector<Weight> parts);
  /// Linear layers of as many inputs and one type, one below the other.
  Linear stack(const std::string &name, const std::vector<Linear> &parts);
  /// Fills the projections of `attention`, whose sizes are set, from one linear
  /// layer NAME of `in` inputs.
  void stackedProjections(Attention &attention, const std::string &name, int64_t in, bool bias,
                          Stacking stacking, bool transposed = false);
  Norm layerNorm(const std::string &name, int64_t size, double epsilon, bool bias = true);
  Norm rmsNorm(const std::string &name, int64_t size, double epsilon, double weightOffset = 0);
  /// The language model's head NAME.weight (without the prefix) over `token`'s
  /// vocabulary, and NAME.bias or `otherBias` if `bias`. If `tied`, a tensor of its own must be
  /// equal to `token`, and both biases to each other.
  Head head(const std::string &name, bool tied, const Weight &token, bool bias = false,
            const std::string &otherBias = "");
  /// Notes for every tensor that was not asked for. `harmless` are endings of
  /// names of buffers that are computed anyway (masks, position ids).
  void reportUnused(const std::vector<std::string> &harmless);
  /// Sums up tensors missing beyond the number that is listed.
  void finish();

private:
  Weight find(const std::vector<std::string> &names, std::vector<int64_t> shape, bool transposed);
  Weight rowsOf(const std::string &name, const std::string &use, const RowGroups &rows,
                std::vector<int64_t> inner, bool transposed);
  /// The tensor `name` of this type and shape; without it a problem of `key`'s, once.
  std::optional<StoredTensor> part(const std::string &name, ElementType type,
                                   const std::vector<int64_t> &shape);
  void report(const std::string &key, const std::string &tensor, const std::string &fault);
  /// Inputs as the matrix has them, if their order is another.
  static void orderInputs(Linear &linear);
  /// The tensor `name`, if there is one, must be `other`.
  void requireEqual(const std::string &name, const std::string &other);

  const TensorSource *source;
  const PackedWeights *packed;
  Problems &problems;
  std::string chosenPrefix;
  std::set<std::string> used;
  std::set<std::string> faulty; ///< Each is told once, of however many parts it is asked for.
};

} // namespace fovea

#endif // FOVEA_FRONTEND_WEIGHTTABLE_H
