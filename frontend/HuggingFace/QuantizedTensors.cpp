// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of quantised matrices, by the names that each method gives them. Refuses those that
// are missing, whose shapes do not fit, or whose groups of inputs are no groups.
#include "frontend/HuggingFace/Quantization.h"

#include <algorithm>
#include <cstring>

using namespace fovea;

using Kind = Packing::Kind;

namespace {
struct Names {
  const char *codes, *scales, *zeros, *order;
};

/// One matrix while its tensors are looked for.
class Matrix {
public:
  Matrix(const TensorSource &source, const std::string &module, const Quantization::Scheme &scheme,
         const std::vector<int64_t> &shape, PackedWeights::Fault &fault)
      : source(source), module(module), scheme(scheme), out(shape[0]), in(shape[1]), fault(fault) {}

  /// Whether there are codes of this scheme, of whatever shape.
  bool isThere() const;
  /// Whether they have the shape that the scheme asks for.
  bool fits() const { return find(names().codes)->shape == codesShape(); }
  /// False with a fault.
  bool read(Weight &weight, std::set<std::string> &used);

private:
  Names names() const;
  const StoredTensor *find(const char *ending) const { return source.find(module + ending); }
  bool isRowMajor() const { return scheme.kind == Kind::Rows || scheme.kind == Kind::Bytes; }
  int64_t group() const { return scheme.group ? scheme.group : in; }
  int64_t groups() const { return in / group(); }
  /// Codes of an i32.
  int64_t each() const { return 32 / scheme.bits; }
  std::vector<int64_t> codesShape() const;
  std::vector<int64_t> zerosShape() const;

  bool fail(const char *ending, const std::string &text) {
    fault = {module + ending, text};
    return false;
  }
  /// Checks a tensor, which must be there, and puts it to `tensor`.
  bool take(const char *ending, const std::vector<int64_t> &shape,
            const std::vector<ElementType> &types, StoredTensor &tensor);
  bool readScales(Packing &packing);
  bool readFloatScales(Packing &packing);
  bool readZeros(Packing &packing);
  bool readOrder(Packing &packing);
  bool areHalf() const;

  const TensorSource &source;
  const std::string &module;
  const Quantization::Scheme &scheme;
  const int64_t out, in;
  PackedWeights::Fault &fault;
};
} // namespace

Names Matrix::names() const {
  switch (scheme.kind) {
  case Kind::Gptq:
  case Kind::GptqV2:
    return {".qweight", ".scales", ".qzeros", ".g_idx"};
  case Kind::Awq:
    return {".qweight", ".scales", ".qzeros", ""};
  case Kind::Rows:
    return {".weight_packed", ".weight_scale", ".weight_zero_point", ".weight_g_idx"};
  default:
    return {".weight", ".weight_scale", ".weight_zero_point", ".weight_g_idx"};
  }
}

bool Matrix::isThere() const {
  const StoredTensor *codes = find(names().codes);
  if (!codes)
    return false;
  if (scheme.kind == Kind::Bytes)
    return codes->type == ElementType::I8;
  return scheme.kind != Kind::Float8 || codes->type == ElementType::F8E4M3;
}

std::vector<int64_t> Matrix::codesShape() const {
  switch (scheme.kind) {
  case Kind::Gptq:
  case Kind::GptqV2:
    return {in / each(), out};
  case Kind::Awq:
    return {in, out / each()};
  case Kind::Rows:
    return {out, (in + each() - 1) / each()};
  default:
    return {out, in};
  }
}

std::vector<int64_t> Matrix::zerosShape() const {
  if (scheme.kind == Kind::Bytes)
    return {out, groups()};
  int64_t words = (out + each() - 1) / each();
  return isRowMajor() ? std::vector<int64_t>{words, groups()}
                      : std::vector<int64_t>{groups(), words};
}

bool Matrix::take(const char *ending, const std::vector<int64_t> &shape,
                  const std::vector<ElementType> &types, StoredTensor &tensor) {
  const StoredTensor *stored = find(ending);
  if (!stored)
    return fail(ending, "is missing; expects shape " + printShape(shape));
  if (stored->shape != shape)
    return fail(ending, "expects shape " + printShape(shape) + " as the configuration says, got " +
                            printShape(stored->shape));
  if (std::find(types.begin(), types.end(), stored->type) == types.end()) {
    std::string names;
    for (ElementType type : types)
      names += (names.empty()          ? ""
                : type == types.back() ? " or "
                                       : ", ") +
               std::string(nameOf(type));
    return fail(ending, "expects element type " + names + ", got " + nameOf(stored->type));
  }
  tensor = *stored;
  return true;
}

static const std::vector<ElementType> &scaleTypes() {
  static const std::vector<ElementType> types = {ElementType::F16, ElementType::BF16,
                                                 ElementType::F32};
  return types;
}

bool Matrix::readFloatScales(Packing &packing) {
  const char *ending = ".weight_scale";
  if (find(".weight_scale_inv") || (scheme.inverse && !find(ending)))
    ending = ".weight_scale_inv";
  const StoredTensor *scales = find(ending);
  const std::vector<int64_t> none, one = {1}, square = {1, 1}, outputs = {out}, channels = {out, 1};
  std::vector<int64_t> blocks = one;
  if (scheme.rows)
    blocks = {(out + scheme.rows - 1) / scheme.rows, (in + scheme.group - 1) / scheme.group};
  packing.rows = scheme.rows ? scheme.rows : out;
  packing.group = scheme.rows ? scheme.group : in;
  if (scales && !scheme.rows && (scales->shape == outputs || scales->shape == channels))
    packing.rows = 1;
  bool isKnown = scales && !scheme.rows &&
                 (packing.rows == 1 || scales->shape == none || scales->shape == square);
  return take(ending, isKnown ? scales->shape : blocks, scaleTypes(), packing.scales);
}

bool Matrix::readScales(Packing &packing) {
  std::vector<int64_t> shape = {groups(), out};
  if (isRowMajor())
    std::reverse(shape.begin(), shape.end());
  return take(names().scales, shape, scaleTypes(), packing.scales);
}

/// Whether all zeros are in the middle of their range, so that nothing is added.
bool Matrix::areHalf() const {
  uint32_t half = scheme.bits == 4 ? 0x88888888 : 0x80808080;
  if (scheme.kind == Kind::Gptq)
    half -= scheme.bits == 4 ? 0x11111111 : 0x01010101;
  if (scheme.kind == Kind::Bytes)
    half = 0;
  const StoredTensor &zeros = *find(names().zeros);
  const uint8_t *bytes = source.data(zeros);
  // All four bytes are equal.
  return std::all_of(bytes, bytes + zeros.bytes,
                     [&](uint8_t byte) { return byte == (half & 255); });
}

bool Matrix::readZeros(Packing &packing) {
  bool areStored = find(names().zeros) != nullptr;
  if (!areStored && scheme.symmetric && isRowMajor())
    return true;
  std::vector<ElementType> types = {ElementType::I32};
  if (scheme.kind == Kind::Bytes)
    types = {ElementType::I8};
  StoredTensor zeros;
  if (!take(names().zeros, zerosShape(), types, zeros))
    return false;
  if (!scheme.symmetric || !areHalf())
    packing.zeros = zeros;
  return true;
}

bool Matrix::readOrder(Packing &packing) {
  const char *ending = names().order;
  if (!*ending || (!find(ending) && !scheme.ordered))
    return true;
  StoredTensor order;
  if (!take(ending, {in}, {ElementType::I32}, order))
    return false;
  const uint8_t *bytes = source.data(*find(ending));
  std::vector<int64_t> sizes(groups());
  bool isSorted = true;
  for (int64_t k = 0; k < in; ++k) {
    int32_t number;
    std::memcpy(&number, bytes + k * 4, 4);
    if (number < 0 || number >= groups())
      return fail(ending, "expects groups from 0 to " + std::to_string(groups() - 1) + ", got " +
                              std::to_string(number) + " for input " + std::to_string(k));
    isSorted &= number == k / group();
    ++sizes[number];
  }
  for (int64_t g = 0; g < groups(); ++g)
    if (sizes[g] != group())
      return fail(ending, "expects " + std::to_string(group()) + " inputs in each group, got " +
                              std::to_string(sizes[g]) + " in group " + std::to_string(g));
  if (!isSorted)
    packing.order = order;
  return true;
}

/// What a module may have besides its weight; not all of it has numbers of the weight.
static void markParts(const TensorSource &source, const std::string &module,
                      std::set<std::string> &used) {
  for (const char *ending : {".qweight", ".scales", ".qzeros", ".g_idx", ".weight_packed",
                             ".weight_scale", ".weight_scale_inv", ".weight_zero_point",
                             ".weight_g_idx", ".weight_shape", ".input_scale"})
    if (source.find(module + ending))
      used.insert(module + ending);
}

bool Matrix::read(Weight &weight, std::set<std::string> &used) {
  used.insert(module + names().codes);
  markParts(source, module, used);
  Packing packing;
  packing.kind = scheme.kind;
  packing.bits = scheme.bits;
  packing.group = group();
  bool isFloat = scheme.kind == Kind::Float8;
  StoredTensor codes;
  ElementType type = isFloat                      ? ElementType::F8E4M3
                     : scheme.kind == Kind::Bytes ? ElementType::I8
                                                  : ElementType::I32;
  if (!isFloat && (in % group() != 0 || group() % 8 != 0))
    return fail(names().codes, "expects groups of a multiple of 8 inputs that divide all " +
                                   std::to_string(in) + ", got groups of " +
                                   std::to_string(group()));
  if (!take(names().codes, codesShape(), {type}, codes))
    return false;
  if (isFloat ? !readFloatScales(packing)
              : !readScales(packing) || !readZeros(packing) || !readOrder(packing))
    return false;
  weight.stored = codes;
  weight.packing = packing;
  return true;
}

bool Quantization::find(const TensorSource &source, const std::string &module, Weight &weight,
                        std::set<std::string> &used, Fault &fault) const {
  if (!isKnown) {
    markParts(source, module, used);
    const StoredTensor *plain = source.find(module + ".weight");
    return !plain || !isWeightType(plain->type);
  }
  // Of several schemes one whose codes are as large, else any.
  std::optional<Matrix> matrix;
  for (const Scheme &scheme : schemes) {
    Matrix found(source, module, scheme, weight.shape, fault);
    if (!found.isThere() || (matrix && !found.fits()))
      continue;
    bool isLast = found.fits();
    matrix.emplace(found);
    if (isLast)
      break;
  }
  if (!matrix)
    return false;
  matrix->read(weight, used);
  return true;
}
