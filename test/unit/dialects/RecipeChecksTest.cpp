// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of recipes that are built, not parsed; others are in test/dialects, their bytes in
// test/unit/weights.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fovea;

/// Not even the syntax can say it, but the compiler could build it.
TEST(RecipeChecksTest, ConcatOfNothingIsRefused) {
  MLIRContext context;
  context.loadDialect<FoveaDialect>();
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { message = d.str(); });
  auto empty = cast<RecipeAttrInterface>(Attribute(ConcatAttr::get(&context, 0, {})));
  EXPECT_TRUE(failed(empty.verifyRecipe([&] { return emitError(UnknownLoc::get(&context)); })));
  EXPECT_EQ(message, "expects at least one part to concatenate");
}
