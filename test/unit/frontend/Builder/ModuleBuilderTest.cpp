// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules that verify whatever the description, and the bytes of their weights.
#include "frontend/Builder/ModuleBuilder.h"
#include "frontend/Builder/StoredTensors.h"
#include "frontend/HuggingFace/HuggingFace.h"
#include "test/unit/frontend/ModelFiles.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace ::fovea::test;

namespace {

OwningOpRef<ModuleOp> import(MLIRContext &context, const Folder &folder) {
  ::fovea::Problems problems;
  auto model = ::fovea::readHuggingFace(folder.path(), problems);
  EXPECT_TRUE(model) << texts(problems);
  return model ? buildModule(context, *model) : OwningOpRef<ModuleOp>();
}

/// What `read` reports, or "" if it succeeds.
std::string readProblem(const std::string &folder, StringRef file, StringRef tensor,
                        ArrayRef<int64_t> shape, bool half = false) {
  MLIRContext context;
  context.loadDialect<FoveaDialect>();
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str() + "\n";
    return success();
  });
  StoredTensors source(folder);
  Type element = half ? Type(Float16Type::get(&context)) : Type(Float32Type::get(&context));
  auto attr = StoredAttr::get(&context, file, tensor, RankedTensorType::get(shape, element));
  bool failed = mlir::failed(source.read(attr));
  EXPECT_EQ(failed, !text.empty());
  return text;
}

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expects: " << part << "\ngot: " << text;
}

TEST(ModuleBuilder, EveryFamilyVerifies) {
  for (TinyModel tiny : {tinyLlama(), tinyBert(), tinyGpt2()}) {
    Folder folder;
    tiny.writeTo(folder);
    MLIRContext context;
    OwningOpRef<ModuleOp> module = import(context, folder);
    ASSERT_TRUE(module);
    EXPECT_TRUE(succeeded(verify(*module)));
  }
}

TEST(ModuleBuilder, EveryWeightCanBeEvaluated) {
  for (TinyModel tiny : {tinyLlama(), tinyBert(), tinyGpt2()}) {
    Folder folder;
    tiny.writeTo(folder);
    MLIRContext context;
    OwningOpRef<ModuleOp> module = import(context, folder);
    ASSERT_TRUE(module);
    StoredTensors source(folder.path());
    size_t count = 0;
    for (WeightOp weight : module->getOps<WeightOp>()) {
      RankedTensorType type = weight.getWeightType();
      std::vector<char> bytes(getStorageBytes(type.getElementType(), type.getNumElements()));
      auto recipe = cast<RecipeAttrInterface>(weight.getRecipe());
      ASSERT_TRUE(succeeded(evaluateRows(recipe, source, 0, type.getDimSize(0), bytes.data())));
      for (size_t i = 0; i < bytes.size(); i += 4)
        ASSERT_EQ(std::memcmp(bytes.data() + i, "\0\0\0\x3f", 4), 0); // 0.5f
      ++count;
    }
    EXPECT_GT(count, 15u);
  }
}

TEST(ModuleBuilder, WeightsOfOtherTypesAreOtherLayers) {
  // Layer 1 has one weight of half precision.
  TinyModel tiny = tinyLlama();
  Folder folder;
  tiny.writeTo(folder);
  std::string name = "model.layers.1.mlp.up_proj.weight";
  tiny.tensors.erase(name);
  folder.remove("model.safetensors");
  folder.write("a.safetensors", safetensors(tiny.tensors));
  folder.write("b.safetensors",
               safetensors("{\"" + name +
                               "\":{\"dtype\":\"F16\",\"shape\":[20,24],\"data_offsets\":[0,960]}}",
                           std::string(960, 0)));
  std::string map = "\"" + name + "\":\"b.safetensors\"";
  for (const auto &entry : tiny.tensors)
    map += ",\"" + entry.first + "\":\"a.safetensors\"";
  folder.write("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  MLIRContext context;
  OwningOpRef<ModuleOp> module = import(context, folder);
  ASSERT_TRUE(module);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_TRUE(module->lookupSymbol("layer_0") && module->lookupSymbol("layer_1_decode"));
}

TEST(StoredTensors, Faults) {
  Folder folder;
  folder.write("f.safetensors", safetensors(Shapes{{"a", {2, 3}}}));
  folder.write("broken.safetensors", "short");
  EXPECT_EQ(readProblem(folder.path(), "f.safetensors", "a", {2, 3}), "");
  expectPart(readProblem(folder.path(), "f.safetensors", "a", {3, 2}),
             "/f.safetensors: tensor \"a\": expects 'tensor<3x2xf32>', got [2, 3] of F32");
  expectPart(readProblem(folder.path(), "f.safetensors", "a", {2, 3}, /*half=*/true),
             "expects 'tensor<2x3xf16>', got [2, 3] of F32");
  expectPart(readProblem(folder.path(), "f.safetensors", "b", {2}), "tensor \"b\": is missing");
  expectPart(readProblem(folder.path(), "broken.safetensors", "a", {2}), "at least 8 bytes");
  expectPart(readProblem(folder.path(), "none.safetensors", "a", {2}), "cannot be opened");
  expectPart(readProblem(folder.path(), "../f.safetensors", "a", {2, 3}),
             "expects the name of a file below the model's folder, got \"../f.safetensors\"");
}

} // namespace
