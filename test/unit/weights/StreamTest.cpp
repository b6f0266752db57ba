// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights streamed into an artifact: the same bytes as the recipe gives at once, on any number of
// threads; casts against APFloat; failures.
#include "weights/Stream.h"
#include "artifact/ArtifactReader.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/ThreadPool.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::artifact::ArtifactReader;
using ::fovea::artifact::ArtifactWriter;

namespace {

/// Tensors in memory, by name.
class MemorySource final : public RecipeSource {
public:
  FailureOr<ArrayRef<char>> read(StoredAttr tensor) override {
    auto found = tensors.find(tensor.getTensor().str());
    if (found == tensors.end())
      return emitError(UnknownLoc::get(tensor.getContext())) << "no " << tensor.getTensor();
    return ArrayRef<char>(found->second);
  }
  std::map<std::string, std::vector<char>> tensors;
};

struct Fixture : ::testing::Test {
  Fixture() {
    context.loadDialect<FoveaDialect>();
    folder = std::filesystem::temp_directory_path() /
             ("fovea-weights-" + std::to_string(::getpid()) + "-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
    module = ModuleOp::create(UnknownLoc::get(&context));
  }
  ~Fixture() override { std::filesystem::remove_all(folder); }

  Attribute stored(StringRef name, ArrayRef<int64_t> shape, Type element, unsigned seed) {
    auto type = RankedTensorType::get(shape, element);
    std::vector<char> &bytes = source.tensors[name.str()];
    bytes.resize(getStorageBytes(element, type.getNumElements()));
    std::mt19937 random(seed);
    for (char &byte : bytes)
      byte = static_cast<char>(random());
    return StoredAttr::get(&context, "f", name, type);
  }

  WeightOp add(StringRef name, Attribute recipe) {
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    return WeightOp::create(builder, UnknownLoc::get(&context), name,
                            cast<RecipeAttrInterface>(recipe).getRecipeType(), recipe,
                            StringAttr());
  }

  std::vector<char> evaluate(Attribute attr) {
    auto recipe = cast<RecipeAttrInterface>(attr);
    RankedTensorType type = recipe.getRecipeType();
    std::vector<char> bytes(*getStorageBytes(type));
    EXPECT_TRUE(succeeded(evaluateRows(recipe, source, 0, getStorageShape(type)[0], bytes.data())));
    return bytes;
  }

  /// Writes the module's weights, with the least manifest around them.
  std::string write(const std::string &name, uint64_t *reported = nullptr) {
    std::string path = (folder / name).string(), error;
    auto writer = ArtifactWriter::create(path, error);
    EXPECT_TRUE(writer) << error;
    uint64_t last = 0;
    bool rising = true;
    if (failed(writeWeights(*module, source, *writer, [&](uint64_t done, uint64_t total) {
          rising &= done > last && done <= total;
          last = done;
        })))
      return "";
    EXPECT_TRUE(rising);
    if (reported)
      *reported = last;
    writer->setCode({1});
    ::fovea::manifest::ManifestT manifest;
    manifest.model = std::make_unique<::fovea::manifest::ModelInfoT>();
    auto entry = std::make_unique<::fovea::manifest::EntryT>();
    entry->name = "forward";
    entry->locals = 1;
    manifest.entries.push_back(std::move(entry));
    EXPECT_TRUE(writer->finish(std::move(manifest), error)) << error;
    return path;
  }

  MLIRContext context;
  MemorySource source;
  std::filesystem::path folder;
  OwningOpRef<ModuleOp> module;
};

std::string bytesOf(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

using Weights = Fixture;

TEST_F(Weights, SlicesGiveWhatTheWholeRecipeGives) {
  Type f32 = Float32Type::get(&context), bf16 = BFloat16Type::get(&context);
  // More than one slice of 8 MiB each, and small ones between.
  Attribute a = stored("a", {3000, 1000}, bf16, 1), b = stored("b", {1000, 1700}, bf16, 2);
  Attribute w = stored("w", {3000, 1600}, IntegerType::get(&context, 32), 5);
  for (char *at = source.tensors["w"].data(), *end = at + 3000 * 1600 * 4; at != end; at += 4) {
    int32_t number;
    std::memcpy(&number, at, 4);
    float finite = static_cast<float>(number) / 1e9f;
    std::memcpy(at, &finite, 4);
  }
  w = StoredAttr::get(&context, "f", "w", RankedTensorType::get({3000, 1600}, f32));
  Type f16 = Float16Type::get(&context), i4 = IntegerType::get(&context, 4);
  Attribute recipes[] = {
      PackAttr::get(&context, QuantizeAttr::get(&context, w, i4, f16, 32),
                    PanelsAttr::get(&context, 16, 1)),
      PackAttr::get(&context, QuantizationScalesAttr::get(&context, w, i4, f16, 32),
                    PanelsAttr::get(&context, 16, 1)),
      QuantizeAttr::get(&context, w, i4, f16, 32),
      QuantizeAttr::get(&context, w, IntegerType::get(&context, 8), f32, 0),
      stored("small", {3}, f32, 3),
      CastAttr::get(&context, ConcatAttr::get(&context, 0, {a, TransposeAttr::get(&context, b)}),
                    f32),
      ConcatAttr::get(&context, 1, {a, a}),
      PackAttr::get(&context, stored("empty", {0, 4}, f32, 4), PanelsAttr()),
      PackAttr::get(&context, a, PanelsAttr()),
      // 3000 and 1700 outputs are no whole panels.
      PackAttr::get(&context, CastAttr::get(&context, a, f32), PanelsAttr::get(&context, 16, 1)),
      PackAttr::get(&context, TransposeAttr::get(&context, b), PanelsAttr::get(&context, 16, 2)),
  };
  uint64_t total = 0, reported = 0;
  for (auto [index, recipe] : llvm::enumerate(recipes)) {
    add("w" + std::to_string(index), recipe);
    total += evaluate(recipe).size();
  }
  std::string path = write("many", &reported), error;
  EXPECT_EQ(reported, total);
  auto reader = ArtifactReader::open(path, error);
  ASSERT_TRUE(reader) << error;
  for (auto [index, recipe] : llvm::enumerate(recipes)) {
    std::vector<char> expected = evaluate(recipe);
    const auto &weight = *reader->manifest().weights[index];
    ASSERT_EQ(weight.bytes, expected.size());
    auto type = cast<RecipeAttrInterface>(recipe).getRecipeType();
    EXPECT_EQ(ArrayRef<int64_t>(weight.shape), type.getShape());
    EXPECT_EQ(weight.panels, !getPanels(type)
                                 ? ::fovea::Panels()
                                 : (::fovea::Panels{16, getPanels(type).getInterleave()}));
    EXPECT_EQ(0, std::memcmp(reader->weight(index).data, expected.data(), expected.size()))
        << "weight " << index;
  }
  context.disableMultithreading();
  EXPECT_EQ(bytesOf(path), bytesOf(write("one")));
}

TEST_F(Weights, MissingTensorIsReportedBeforeAnythingIsWritten) {
  Type f32 = Float32Type::get(&context);
  add("there", stored("there", {2, 2}, f32, 1));
  add("missing", StoredAttr::get(&context, "f", "missing", RankedTensorType::get({2}, f32)));
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    return success();
  });
  EXPECT_EQ(write("missing"), "");
  EXPECT_EQ(text, "no missing");
  EXPECT_FALSE(std::filesystem::exists(folder / "missing"));
}

TEST_F(Weights, ElementTypeWithoutNameIsRefused) {
  source.tensors["x"] = {0, 0};
  add("x", StoredAttr::get(&context, "f", "x",
                           RankedTensorType::get({2}, Float8E4M3FNType::get(&context))));
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    return success();
  });
  EXPECT_EQ(write("x"), "");
  EXPECT_NE(text.find("expects an element type that an artifact can hold"), std::string::npos);
}

/// All values of a 16-bit type to f32, and many of f32 to it.
void checkCasts(Fixture &fixture, FloatType half) {
  Type f32 = Float32Type::get(&fixture.context);
  std::vector<uint16_t> all(65536);
  for (unsigned i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  Attribute narrow = fixture.stored("narrow", {65536}, half, 0);
  std::memcpy(fixture.source.tensors["narrow"].data(), all.data(), 2 * all.size());
  std::vector<char> wide = fixture.evaluate(CastAttr::get(&fixture.context, narrow, f32));
  for (unsigned i = 0; i < all.size(); ++i) {
    float got;
    std::memcpy(&got, wide.data() + 4 * i, 4);
    llvm::APFloat expected(half.getFloatSemantics(), llvm::APInt(16, i));
    if (expected.isNaN()) {
      EXPECT_TRUE(std::isnan(got)) << i;
      continue;
    }
    bool lost;
    expected.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
    EXPECT_EQ(llvm::bit_cast<uint32_t>(got), expected.bitcastToAPInt().getZExtValue()) << i;
  }

  // Random bits, and all neighbours of the places where rounding changes.
  std::vector<uint32_t> bits;
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i)
    bits.push_back(static_cast<uint32_t>(random()));
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low : {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      bits.push_back(high << 16 | low);
  int64_t count = static_cast<int64_t>(bits.size());
  Attribute full = fixture.stored("full", {count}, f32, 0);
  std::memcpy(fixture.source.tensors["full"].data(), bits.data(), 4 * bits.size());
  std::vector<char> rounded = fixture.evaluate(CastAttr::get(&fixture.context, full, half));
  for (size_t i = 0; i < bits.size(); ++i) {
    uint16_t got;
    std::memcpy(&got, rounded.data() + 2 * i, 2);
    llvm::APFloat value(llvm::bit_cast<float>(bits[i]));
    bool lost;
    if (value.isNaN()) {
      EXPECT_TRUE(llvm::APFloat(half.getFloatSemantics(), llvm::APInt(16, got)).isNaN());
      continue;
    }
    value.convert(half.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
    ASSERT_EQ(got, value.bitcastToAPInt().getZExtValue()) << std::hex << bits[i];
  }
}

TEST_F(Weights, CastsOfF16AreExact) { checkCasts(*this, Float16Type::get(&context)); }
TEST_F(Weights, CastsOfBF16AreExact) { checkCasts(*this, BFloat16Type::get(&context)); }

TEST_F(Weights, F64IsRoundedOnce) {
  // Just above the middle between 1 and the next bf16: f32 in between would lose it.
  double value = 1.0 + 0x1p-8 + 0x1p-40;
  Attribute full = stored("full", {1}, Float64Type::get(&context), 0);
  std::memcpy(source.tensors["full"].data(), &value, 8);
  uint16_t got;
  std::memcpy(&got, evaluate(CastAttr::get(&context, full, BFloat16Type::get(&context))).data(), 2);
  EXPECT_EQ(got, 0x3f81);
}

} // namespace
