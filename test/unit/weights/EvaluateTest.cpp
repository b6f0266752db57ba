// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weight recipes against the plainest code that says the same on whole arrays: every recipe, every
// element type, every slice of rows.
#include "weights/Evaluate.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// An array as numpy has it: elements as raw bytes, row-major.
struct Array {
  SmallVector<int64_t> shape;
  Type type;
  std::vector<std::string> elements;

  int64_t rows() const { return shape.empty() ? 1 : shape.front(); }
};

size_t bytesOf(Type type) { return (type.getIntOrFloatBitWidth() + 7) / 8; }

/// The value of 16 bits with that many bits of exponent, from the definition (IEEE 754, 3.4).
double decode16(uint16_t bits, int exponentBits) {
  int mantissaBits = 15 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
  double mantissa = bits & ((1 << mantissaBits) - 1), sign = bits & 0x8000 ? -1 : 1;
  double unit = std::ldexp(1.0, -mantissaBits);
  if (exponent == (1 << exponentBits) - 1)
    return mantissa == 0 ? sign * INFINITY : NAN;
  return exponent == 0 ? sign * std::ldexp(mantissa * unit, 1 - bias)
                       : sign * std::ldexp(1 + mantissa * unit, exponent - bias);
}

/// Rounds to nearest even by looking at all 65536 candidates; infinity stands one step past the
/// largest number.
uint16_t encode16(double value, int exponentBits) {
  int mantissaBits = 15 - exponentBits;
  uint16_t infinity = ((1 << exponentBits) - 1) << mantissaBits, sign = std::signbit(value) << 15;
  double magnitude = std::fabs(value);
  auto candidate = [&](uint16_t bits) {
    if (bits < infinity)
      return decode16(bits, exponentBits);
    double last = decode16(infinity - 1, exponentBits),
           before = decode16(infinity - 2, exponentBits);
    return last + (last - before);
  };
  uint16_t best = 0;
  for (uint32_t bits = 1; bits <= infinity; ++bits) {
    double now = std::fabs(candidate(bits) - magnitude),
           least = std::fabs(candidate(best) - magnitude);
    if (now < least || (now == least && bits % 2 == 0) || std::isinf(magnitude))
      best = bits;
  }
  return sign | best;
}

std::string encode(Type type, double value) {
  std::string bytes(bytesOf(type), '\0');
  auto put = [&](auto number) { std::memcpy(bytes.data(), &number, sizeof number); };
  if (type.isF64())
    put(value);
  else if (type.isF32())
    put(static_cast<float>(value));
  else if (type.isF16())
    put(encode16(value, 5));
  else if (type.isBF16())
    put(encode16(value, 8));
  else
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(static_cast<int64_t>(value) >> (8 * i));
  return bytes;
}

double decode(Type type, const std::string &bytes) {
  double wide;
  float single;
  uint16_t bits;
  if (type.isF64())
    return std::memcpy(&wide, bytes.data(), 8), wide;
  if (type.isF32())
    return std::memcpy(&single, bytes.data(), 4), single;
  std::memcpy(&bits, bytes.data(), 2);
  return decode16(bits, type.isF16() ? 5 : 8);
}

/// Tensors in memory under a name.
class Memory : public RecipeSource {
public:
  FailureOr<ArrayRef<char>> read(StoredAttr tensor) override {
    auto it = files.find((tensor.getFile() + "/" + tensor.getTensor()).str());
    if (it == files.end())
      return failure();
    return ArrayRef<char>(it->second.data(), it->second.size());
  }
  std::map<std::string, std::string> files;
};

class EvaluateTest : public ::testing::Test {
protected:
  EvaluateTest() : builder(&context) { context.loadDialect<FoveaDialect>(); }

  /// A stored tensor with numbers that differ, and not all of which 16 bits can hold.
  std::pair<Attribute, Array> stored(const std::string &name, ArrayRef<int64_t> shape, Type type) {
    auto tensor = RankedTensorType::get(shape, type);
    Array array{SmallVector<int64_t>(shape), type, {}};
    std::string bytes;
    for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
      double number = type.isInteger(1) ? i % 2 : (double(i) + name.size()) * (i % 3 ? 1 : -1);
      if (isa<FloatType>(type))
        number = number / 7 * std::ldexp(1.0, int(i % 5) * 3 - 6);
      array.elements.push_back(encode(type, number));
      bytes += array.elements.back();
    }
    source.files["file/" + name] = bytes;
    return {StoredAttr::get(&context, "file", name, tensor), array};
  }

  /// Every slice of the recipe's rows is the array's.
  void expectRows(Attribute attr, const Array &expected) {
    auto recipe = cast<RecipeAttrInterface>(attr);
    ASSERT_TRUE(
        succeeded(recipe.verifyRecipe([&] { return emitError(UnknownLoc::get(&context)); })));
    ASSERT_EQ(recipe.getRecipeType(), RankedTensorType::get(expected.shape, expected.type));
    int64_t rows = expected.rows(), perRow = rows ? expected.elements.size() / rows : 0;
    for (int64_t first = 0; first < rows; ++first)
      for (int64_t count = 0; count <= rows - first; ++count) {
        std::string wanted;
        for (int64_t i = first * perRow; i < (first + count) * perRow; ++i)
          wanted += expected.elements[i];
        // Nothing is written around the slice.
        std::string got(wanted.size() + 16, '#');
        ASSERT_TRUE(succeeded(evaluateRows(recipe, source, first, count, got.data() + 8)));
        ASSERT_EQ(got, "########" + wanted + "########")
            << "rows " << first << " to " << first + count;
      }
  }

  static Array concat(int64_t axis, ArrayRef<Array> parts) {
    Array result = parts.front();
    result.elements.clear();
    int64_t outer = 1;
    for (int64_t i = 0; i < axis; ++i)
      outer *= result.shape[i];
    result.shape[axis] = 0;
    for (const Array &part : parts)
      result.shape[axis] += part.shape[axis];
    for (int64_t o = 0; o < outer; ++o)
      for (const Array &part : parts) {
        int64_t piece = part.elements.size() / outer;
        result.elements.insert(result.elements.end(), part.elements.begin() + o * piece,
                               part.elements.begin() + (o + 1) * piece);
      }
    return result;
  }

  static Array transpose(const Array &input) {
    Array result{{input.shape[1], input.shape[0]}, input.type, {}};
    for (int64_t c = 0; c < input.shape[1]; ++c)
      for (int64_t r = 0; r < input.shape[0]; ++r)
        result.elements.push_back(input.elements[r * input.shape[1] + c]);
    return result;
  }

  static Array castTo(const Array &input, Type type) {
    Array result{input.shape, type, {}};
    for (const std::string &element : input.elements)
      result.elements.push_back(encode(type, decode(input.type, element)));
    return result;
  }

  static Array scaleColumns(const Array &input, const Array &scale, double offset) {
    Array result = input;
    for (size_t i = 0; i < result.elements.size(); ++i)
      result.elements[i] =
          encode(input.type, decode(input.type, input.elements[i]) *
                                 (decode(scale.type, scale.elements[i % input.shape[1]]) + offset));
    return result;
  }

  SmallVector<Type> floats() {
    return {builder.getF16Type(), builder.getBF16Type(), builder.getF32Type(),
            builder.getF64Type()};
  }
  SmallVector<Type> allTypes() {
    SmallVector<Type> types = floats();
    for (unsigned width : {1, 8, 16, 32, 64})
      types.push_back(builder.getIntegerType(width));
    return types;
  }

  MLIRContext context;
  Builder builder;
  Memory source;
};

TEST_F(EvaluateTest, Stored) {
  for (Type type : allTypes()) {
    auto [attr, array] = stored("w", {5, 3}, type);
    expectRows(attr, array);
    auto [vector, values] = stored("v", {4}, type);
    expectRows(vector, values);
    auto [cube, numbers] = stored("c", {2, 3, 2}, type);
    expectRows(cube, numbers);
  }
}

TEST_F(EvaluateTest, ScalarIsOneRow) {
  auto [attr, array] = stored("s", {}, builder.getF32Type());
  expectRows(attr, array);
}

TEST_F(EvaluateTest, ConcatAlongRows) {
  for (Type type : allTypes()) {
    auto [a, x] = stored("a", {3, 2}, type);
    auto [b, y] = stored("bb", {1, 2}, type);
    auto [c, z] = stored("ccc", {4, 2}, type);
    expectRows(ConcatAttr::get(&context, 0, {a, b, c}), concat(0, {x, y, z}));
  }
}

TEST_F(EvaluateTest, ConcatWithEmptyParts) {
  Type type = builder.getF32Type();
  auto [a, x] = stored("a", {0, 2}, type);
  auto [b, y] = stored("bb", {3, 2}, type);
  expectRows(ConcatAttr::get(&context, 0, {a, b, a, b, a}), concat(0, {x, y, x, y, x}));
}

TEST_F(EvaluateTest, ConcatAlongInnerAxes) {
  for (Type type : allTypes()) {
    auto [a, x] = stored("a", {3, 2, 2}, type);
    auto [b, y] = stored("bb", {3, 5, 2}, type);
    expectRows(ConcatAttr::get(&context, 1, {a, b}), concat(1, {x, y}));
    auto [c, z] = stored("ccc", {3, 2, 4}, type);
    expectRows(ConcatAttr::get(&context, 2, {c, a, c}), concat(2, {z, x, z}));
  }
}

TEST_F(EvaluateTest, Transpose) {
  for (Type type : allTypes()) {
    auto [a, x] = stored("a", {4, 3}, type);
    expectRows(TransposeAttr::get(&context, a), transpose(x));
  }
}

/// More rows than one block of the evaluation holds, also of an input that is itself computed.
TEST_F(EvaluateTest, TransposeOfManyRows) {
  auto [a, x] = stored("a", {600, 3}, builder.getF32Type());
  expectRows(TransposeAttr::get(&context, a), transpose(x));
  Attribute twice = ConcatAttr::get(&context, 0, {a, a});
  expectRows(TransposeAttr::get(&context, twice), transpose(concat(0, {x, x})));
}

TEST_F(EvaluateTest, Permute) {
  for (Type type : allTypes()) {
    auto [a, x] = stored("a", {4, 3, 2}, type);
    for (SmallVector<int64_t> axes :
         {SmallVector<int64_t>{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
      SmallVector<int64_t> shape;
      for (int64_t axis : axes)
        shape.push_back(x.shape[axis]);
      Array expected{shape, type, {}};
      SmallVector<int64_t> at(3);
      for (int64_t i = 0; i < shape[0]; ++i)
        for (int64_t j = 0; j < shape[1]; ++j)
          for (int64_t k = 0; k < shape[2]; ++k) {
            at[axes[0]] = i, at[axes[1]] = j, at[axes[2]] = k;
            expected.elements.push_back(x.elements[(at[0] * 3 + at[1]) * 2 + at[2]]);
          }
      expectRows(PermuteAttr::get(&context, a, axes), expected);
      // Of a computed input, too.
      Attribute whole = SliceAttr::get(&context, a, 0, 0, 4);
      expectRows(PermuteAttr::get(&context, whole, axes), expected);
    }
  }
  auto [scalar, y] = stored("s", {}, builder.getF32Type());
  expectRows(PermuteAttr::get(&context, scalar, {}), y);
}

TEST_F(EvaluateTest, Reshape) {
  for (Type type : allTypes()) {
    auto [a, x] = stored("a", {4, 3, 2}, type);
    for (SmallVector<int64_t> shape :
         {SmallVector<int64_t>{24}, {4, 6}, {12, 2}, {2, 12}, {3, 8}, {8, 3}, {1, 24}, {5, 0}}) {
      bool empty = shape.back() == 0;
      auto [e, none] = stored("e", {0, 7}, type);
      Array expected{shape, type, empty ? none.elements : x.elements};
      expectRows(ReshapeAttr::get(&context, empty ? e : a, shape), expected);
      Attribute whole = SliceAttr::get(&context, a, 0, 0, 4);
      if (!empty)
        expectRows(ReshapeAttr::get(&context, whole, shape), expected);
    }
  }
  auto [one, y] = stored("o", {1, 1}, builder.getF32Type());
  expectRows(ReshapeAttr::get(&context, one, {}), Array{{}, y.type, y.elements});
}

TEST_F(EvaluateTest, Slice) {
  for (Type type : allTypes()) {
    auto [a, x] = stored("a", {3, 2, 2}, type);
    auto [b, y] = stored("bb", {3, 5, 2}, type);
    auto [c, z] = stored("ccc", {3, 1, 2}, type);
    Attribute all = ConcatAttr::get(&context, 1, {a, b, c});
    expectRows(SliceAttr::get(&context, all, 1, 0, 2), x);
    expectRows(SliceAttr::get(&context, all, 1, 2, 5), y);
    expectRows(SliceAttr::get(&context, all, 1, 7, 1), z);
    auto [d, w] = stored("d", {2, 2, 2}, type);
    Attribute rows = ConcatAttr::get(&context, 0, {a, d});
    expectRows(SliceAttr::get(&context, rows, 0, 3, 2), w);
  }
}

TEST_F(EvaluateTest, Cast) {
  for (Type from : floats())
    for (Type to : floats()) {
      auto [a, x] = stored("a", {6, 3}, from);
      expectRows(CastAttr::get(&context, a, to), castTo(x, to));
    }
}

/// Ties, the least and greatest numbers, and what is neither.
TEST_F(EvaluateTest, CastRoundsOnceToNearestEven) {
  Type f64 = builder.getF64Type();
  Array hard{{}, f64, {}};
  for (double number :
       {0.0, -0.0, 1 + 0x1p-11, 1 + 3 * 0x1p-11, 1 + 0x1p-8, 1 + 3 * 0x1p-8, 0x1p-24, 0x1p-25,
        0x1.8p-25, 65504.0, 65519.99, 65520.0, 1e30, 0x1p-133, 0x1p-134, 0x1.8p-134, 0x1.fep127,
        0x1.ffp127, 1e300, static_cast<double>(INFINITY), -static_cast<double>(INFINITY),
        // Rounded to f32 first, these two would end on a tie, and then go the wrong way.
        1 + 0x1p-11 + 0x1p-40, 1 + 3 * 0x1p-8 - 0x1p-40})
    hard.elements.push_back(encode(f64, number));
  hard.shape = {static_cast<int64_t>(hard.elements.size())};
  for (const std::string &element : hard.elements)
    source.files["file/hard"] += element;
  auto attr = StoredAttr::get(&context, "file", "hard", RankedTensorType::get(hard.shape, f64));
  for (Type to : {Type(builder.getF16Type()), Type(builder.getBF16Type())})
    expectRows(CastAttr::get(&context, attr, to), castTo(hard, to));
}

TEST_F(EvaluateTest, CastKeepsNan) {
  source.files["file/nan"] = encode(builder.getF64Type(), NAN);
  auto attr =
      StoredAttr::get(&context, "file", "nan", RankedTensorType::get({1}, builder.getF64Type()));
  for (Type to : floats()) {
    std::string got(bytesOf(to), '\0');
    ASSERT_TRUE(
        succeeded(evaluateRows(CastAttr::get(&context, attr, to), source, 0, 1, got.data())));
    EXPECT_TRUE(std::isnan(decode(to, got)));
  }
}

TEST_F(EvaluateTest, ScaleColumns) {
  for (Type type : floats())
    for (Type scaleType : floats())
      for (double offset : {0.0, 1.0}) {
        auto [a, x] = stored("a", {5, 3}, type);
        auto [s, n] = stored("s", {3}, scaleType);
        expectRows(ScaleColumnsAttr::get(&context, a, s, builder.getF64FloatAttr(offset)),
                   scaleColumns(x, n, offset));
      }
}

TEST_F(EvaluateTest, Pack) {
  auto [a, x] = stored("a", {5, 3}, builder.getF16Type());
  expectRows(PackAttr::get(&context, a, PanelsAttr()), x);
}

/// `[ceil(N/width)][ceil(K/interleave)][width][interleave]`, element by element.
std::string packed(const Array &x, int64_t width, int64_t interleave) {
  int64_t rows = x.shape[0], columns = x.shape[1];
  std::string out, zero(bytesOf(x.type), '\0');
  for (int64_t panel = 0; panel * width < rows; ++panel)
    for (int64_t unit = 0; unit * interleave < columns; ++unit)
      for (int64_t n = panel * width; n < (panel + 1) * width; ++n)
        for (int64_t k = unit * interleave; k < (unit + 1) * interleave; ++k)
          out += n < rows && k < columns ? x.elements[n * columns + k] : zero;
  return out;
}

TEST_F(EvaluateTest, PackIntoPanels) {
  // Bytes are moved, whatever they mean: integers stand for all types of a size.
  for (int bits : {8, 16, 32, 64}) {
    Type type = builder.getIntegerType(bits);
    for (int64_t width : {8, 16, 24})
      for (int64_t interleave : {1, 2, 4, 8, 16})
        for (auto [rows, columns] : {std::pair<int64_t, int64_t>{33, 5},
                                     {16, 64},
                                     {15, 131},
                                     {48, 70},
                                     {1, 1},
                                     {0, 4},
                                     {4, 0}}) {
          auto [a, x] = stored("a", {rows, columns}, type);
          auto [b, y] = stored("b", {columns, rows}, type);
          auto panels = PanelsAttr::get(&context, width, interleave);
          // In place of a stored tensor's copy, and from another recipe.
          for (auto [input, array] : {std::pair<Attribute, Array>{a, x},
                                      {TransposeAttr::get(&context, b), transpose(y)}}) {
            Attribute attr = PackAttr::get(&context, input, panels);
            auto recipe = cast<RecipeAttrInterface>(attr);
            RankedTensorType packedType = recipe.getRecipeType();
            EXPECT_EQ(getPanels(packedType), panels);
            std::string expected = packed(array, width, interleave);
            ASSERT_EQ(getStorageBytes(packedType), static_cast<int64_t>(expected.size()));
            int64_t count = getStorageShape(packedType)[0];
            int64_t panelBytes = count ? expected.size() / count : 0;
            for (int64_t first = 0; first < count; ++first)
              for (int64_t here = 1; first + here <= count; ++here) {
                std::string got(here * panelBytes, '\x5a'); // each byte must be written
                ASSERT_TRUE(succeeded(evaluateRows(recipe, source, first, here, got.data())));
                EXPECT_EQ(got, expected.substr(first * panelBytes, here * panelBytes))
                    << rows << "x" << columns << " in panels of " << width << ", " << interleave;
              }
          }
        }
  }
}

//===-- Quantised weights --------------------------------------------------------------------===//

/// A recipe's bytes as a whole, once every slice of its rows has been seen to be a part of them.
std::string evaluateAll(Attribute attr, RecipeSource &source) {
  auto recipe = cast<RecipeAttrInterface>(attr);
  RankedTensorType type = recipe.getRecipeType();
  int64_t rows = getStorageShape(type)[0], bytes = *getStorageBytes(type);
  std::string all(bytes, '\x5a');
  EXPECT_TRUE(succeeded(evaluateRows(recipe, source, 0, rows, all.data())));
  for (int64_t first = 0; first < rows; ++first)
    for (int64_t count = 0; count <= rows - first; ++count) {
      int64_t row = bytes / rows;
      std::string got(count * row + 16, '#'); // nothing is written around the slice
      EXPECT_TRUE(succeeded(evaluateRows(recipe, source, first, count, got.data() + 8)));
      EXPECT_EQ(got, "########" + all.substr(first * row, count * row) + "########");
    }
  return all;
}

int numberAt(const std::string &bytes, Type type, int64_t i) {
  if (type.isInteger(8))
    return static_cast<int8_t>(bytes[i]);
  int bits = (static_cast<uint8_t>(bytes[i / 2]) >> (i % 2 * 4)) & 15;
  return bits < 8 ? bits : bits - 16;
}

TEST_F(EvaluateTest, Quantize) {
  struct Case {
    int64_t rows, columns, group;
    bool isInt4, isHalf;
  };
  const Case cases[] = {{5, 7, 0, false, false},  {1, 1, 0, false, false}, {3, 12, 4, false, true},
                        {3, 15, 5, false, false}, {4, 64, 32, true, true}, {7, 10, 0, true, false},
                        {2, 36, 18, true, false}, {3, 6, 2, true, true},   {0, 8, 0, true, false}};
  for (const Case &c : cases)
    for (Type type : floats()) {
      auto [input, array] = stored("w", {c.rows, c.columns}, type);
      Type element = builder.getIntegerType(c.isInt4 ? 4 : 8);
      Type scaleType = c.isHalf ? Type(builder.getF16Type()) : Type(builder.getF32Type());
      int64_t each = c.group ? c.group : c.columns, groups = c.columns / each;
      // Zeros in one group of the last row: their scale is zero.
      for (int64_t k = 0; k < (c.rows ? each : 0); ++k) {
        std::string zero(bytesOf(type), '\0');
        int64_t at = (c.rows - 1) * c.columns + k;
        array.elements[at] = zero;
        source.files["file/w"].replace(at * zero.size(), zero.size(), zero);
      }
      Attribute numbers = QuantizeAttr::get(&context, input, element, scaleType, c.group);
      Attribute scales = QuantizationScalesAttr::get(&context, input, element, scaleType, c.group);
      auto numbersType = cast<RecipeAttrInterface>(numbers).getRecipeType();
      auto scalesType = cast<RecipeAttrInterface>(scales).getRecipeType();
      EXPECT_EQ(numbersType, RankedTensorType::get({c.rows, c.columns}, element));
      EXPECT_EQ(scalesType.getRank(), c.group ? 2 : 1);
      EXPECT_EQ(*getStorageBytes(numbersType), c.rows * c.columns / (c.isInt4 ? 2 : 1));
      std::string q = evaluateAll(numbers, source), s = evaluateAll(scales, source);
      ASSERT_EQ(s.size(), c.rows * groups * bytesOf(scaleType));
      for (int64_t g = 0; g < c.rows * groups; ++g) {
        double scale = decode(scaleType, s.substr(g * bytesOf(scaleType), bytesOf(scaleType)));
        std::vector<float> w;
        for (int64_t k = 0; k < each; ++k)
          w.push_back(static_cast<float>(decode(type, array.elements[g * each + k])));
        float extreme = *std::max_element(
            w.begin(), w.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
        if (extreme == 0) { // and not minus zero
          EXPECT_EQ(s.substr(g * bytesOf(scaleType), bytesOf(scaleType)),
                    std::string(bytesOf(scaleType), '\0'));
        }
        float low = c.isInt4 ? -8 : -127, high = c.isInt4 ? 7 : 127;
        auto round = [&](float x, float by) {
          return by == 0 ? 0 : std::nearbyint(std::clamp(x / by, low, high));
        };
        for (int64_t k = 0; k < each; ++k)
          ASSERT_EQ(numberAt(q, element, g * each + k), round(w[k], static_cast<float>(scale)))
              << "element " << k << " of group " << g;
        if (!c.isInt4) {
          EXPECT_EQ(scale, decode(scaleType, encode(scaleType, std::fabs(extreme) / 127)));
          continue;
        }
        // None of those that are promised is better.
        auto getError = [&](double by) {
          double sum = 0;
          for (float x : w)
            sum += std::pow(x - round(x, static_cast<float>(by)) * by, 2);
          return sum;
        };
        for (float divisor : {-8.0f, -7.5f, -7.0f, 7.0f})
          EXPECT_LE(getError(scale),
                    getError(decode(scaleType, encode(scaleType, extreme / divisor))) * 1.0001);
      }
    }
}

TEST_F(EvaluateTest, QuantizedExtremes) {
  Type f32 = builder.getF32Type(), i8 = builder.getI8Type(), i4 = builder.getIntegerType(4);
  auto give = [&](ArrayRef<float> numbers) {
    source.files["file/w"] =
        std::string(reinterpret_cast<const char *>(numbers.data()), numbers.size() * 4);
    int64_t count = numbers.size();
    return Attribute(
        StoredAttr::get(&context, "file", "w", RankedTensorType::get({1, count}, f32)));
  };
  // The range's ends; half a step to the even side.
  std::string q = evaluateAll(
      QuantizeAttr::get(&context, give({127, -127, 2.5, 3.5, -0.5, 0.25}), i8, f32, 0), source);
  EXPECT_EQ(q, std::string("\x7f\x81\x02\x04\x00\x00", 6));
  // The least of f32: what is left of its scale is rounded by, and nothing is infinite.
  q = evaluateAll(QuantizeAttr::get(&context, give({1e-44f, -1e-45f}), i8, f32, 0), source);
  EXPECT_LE(std::abs(numberAt(q, i8, 1)), 127);
  // f16 has nothing as small: all is zero.
  Attribute small = give({1e-10f, -1e-9f});
  EXPECT_EQ(evaluateAll(QuantizeAttr::get(&context, small, i4, builder.getF16Type(), 2), source),
            std::string(1, '\0'));

  // Squares of f32's greatest and least are no numbers, and the rule compares them.
  for (float unit : {1e38f, 1e-38f}) {
    Attribute far = give({unit, -unit / 2});
    std::string scale = evaluateAll(QuantizationScalesAttr::get(&context, far, i4, f32, 2), source);
    q = evaluateAll(QuantizeAttr::get(&context, far, i4, f32, 2), source);
    EXPECT_NEAR(decode(f32, scale) * numberAt(q, i4, 0) / unit, 1, 0.07);
    EXPECT_NEAR(decode(f32, scale) * numberAt(q, i4, 1) / unit, -0.5, 0.07);
  }

  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { message = d.str(); });
  auto fails = [&](ArrayRef<float> numbers, Type element, Type scaleType, int64_t group) {
    Attribute input = give(numbers);
    char out[16];
    for (Attribute attr :
         {Attribute(QuantizeAttr::get(&context, input, element, scaleType, group)),
          Attribute(QuantizationScalesAttr::get(&context, input, element, scaleType, group))})
      EXPECT_TRUE(failed(evaluateRows(cast<RecipeAttrInterface>(attr), source, 0, 1, out)));
    return message;
  };
  EXPECT_EQ(fails({1, NAN}, i8, f32, 0),
            "expects finite weights to quantise, got nan in row 0 of a weight read from 'w'");
  EXPECT_EQ(fails({-INFINITY, 1}, i4, builder.getF16Type(), 2),
            "expects finite weights to quantise, got inf in row 0 of a weight read from 'w'");
  EXPECT_EQ(
      fails({1e9f, 1}, i4, builder.getF16Type(), 2),
      "expects finite weights to quantise, within 65504 for scales of 'f16', got 1.000000e+09 in "
      "row 0 of a weight read from 'w'");
}

/// Bytes are packed, whatever they hold.
TEST_F(EvaluateTest, PackNumbersThatShareBytes) {
  Type i4 = builder.getIntegerType(4);
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{33, 10}, {16, 64}, {15, 130}, {1, 2}}) {
    auto [w, x] = stored("w", {rows, columns}, builder.getF32Type());
    Attribute numbers = QuantizeAttr::get(&context, w, i4, builder.getF32Type(), 0);
    std::string bytes = evaluateAll(numbers, source);
    Array array{{rows, columns / 2}, builder.getI8Type(), {}};
    for (char byte : bytes)
      array.elements.push_back(std::string(1, byte));
    source.files["file/q"] = bytes;
    Attribute kept =
        StoredAttr::get(&context, "file", "q", RankedTensorType::get({rows, columns}, i4));
    for (int64_t width : {8, 16})
      for (int64_t interleave : {1, 2, 8})
        for (Attribute input : {numbers, kept}) {
          auto panels = PanelsAttr::get(&context, width, interleave);
          std::string expected = packed(array, width, interleave);
          Attribute attr = PackAttr::get(&context, input, panels);
          auto type = cast<RecipeAttrInterface>(attr).getRecipeType();
          ASSERT_EQ(getStorageBytes(type), static_cast<int64_t>(expected.size()));
          EXPECT_EQ(evaluateAll(attr, source), expected);
        }
  }
}

/// What a merged projection looks like: cast, transposed and scaled parts side by side.
TEST_F(EvaluateTest, Nested) {
  Type bf16 = builder.getBF16Type(), f32 = builder.getF32Type();
  auto [q, x] = stored("q", {4, 3}, bf16);
  auto [k, y] = stored("k", {3, 2}, f32);
  auto [n, w] = stored("n", {3}, builder.getF16Type());
  Attribute first = ScaleColumnsAttr::get(&context, CastAttr::get(&context, q, f32), n,
                                          builder.getF64FloatAttr(1.0));
  Attribute second = TransposeAttr::get(&context, k);
  Array expected = concat(0, {scaleColumns(castTo(x, f32), w, 1.0), transpose(y)});
  Attribute merged = ConcatAttr::get(&context, 0, {first, second});
  expectRows(PackAttr::get(&context, merged, PanelsAttr()), expected);
  Attribute wide = ConcatAttr::get(&context, 1, {merged, CastAttr::get(&context, merged, f32)});
  expectRows(CastAttr::get(&context, wide, bf16), castTo(concat(1, {expected, expected}), bf16));
}

TEST_F(EvaluateTest, FailureOfTheSourceReachesTheTop) {
  auto [a, x] = stored("a", {4, 3}, builder.getF32Type());
  auto [n, y] = stored("n", {3}, builder.getF32Type());
  Attribute lost = StoredAttr::get(&context, "file", "lost",
                                   RankedTensorType::get({4, 3}, builder.getF32Type()));
  Attribute lostScale =
      StoredAttr::get(&context, "file", "lost", RankedTensorType::get({3}, builder.getF32Type()));
  FloatAttr zero = builder.getF64FloatAttr(0);
  for (Attribute attr : {Attribute(ConcatAttr::get(&context, 0, {a, lost})),
                         Attribute(ConcatAttr::get(&context, 1, {a, lost})),
                         Attribute(TransposeAttr::get(&context, lost)),
                         Attribute(TransposeAttr::get(
                             &context, CastAttr::get(&context, lost, builder.getF16Type()))),
                         Attribute(ScaleColumnsAttr::get(&context, lost, n, zero)),
                         Attribute(ScaleColumnsAttr::get(&context, a, lostScale, zero)),
                         Attribute(PackAttr::get(&context, lost, PanelsAttr())),
                         Attribute(PackAttr::get(&context, lost, PanelsAttr::get(&context, 16, 1))),
                         Attribute(PackAttr::get(&context, TransposeAttr::get(&context, lost),
                                                 PanelsAttr::get(&context, 16, 1)))}) {
    auto recipe = cast<RecipeAttrInterface>(attr);
    RankedTensorType type = recipe.getRecipeType();
    std::vector<char> out(*getStorageBytes(type));
    EXPECT_TRUE(failed(evaluateRows(recipe, source, 0, getStorageShape(type)[0], out.data())));
  }
}

} // namespace
