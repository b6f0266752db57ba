// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages of docs/design.md, and how one becomes the next.
#ifndef FOVEA_TOOLS_COMPILE_STAGES_H
#define FOVEA_TOOLS_COMPILE_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "tools/compile/Compile.h"
#include <optional>
#include <string>

namespace mlir::fovea {

enum class Stage { Import, Graph, Fused, Scheduled, Kernels, LLVM };

constexpr Stage kStages[] = {Stage::Import,    Stage::Graph,   Stage::Fused,
                             Stage::Scheduled, Stage::Kernels, Stage::LLVM};

llvm::StringRef getStageName(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef name);

/// The passes that lead to `stage` from the one before it, for a processor with these features, by
/// LLVM's names; the code is vectors, or scalar loops.
void buildStagePipeline(OpPassManager &manager, Stage stage, llvm::ArrayRef<std::string> features,
                        bool vectorizes);

struct Calibration;

/// The same for the `graph` stage, with what is asked of it; of linears, what chooseCompute() says.
/// `widensBlocks`: blocks become f32, as they do before they are quantised.
void buildGraphStage(OpPassManager &manager, const ::fovea::compile::Options &options,
                     llvm::StringRef compute, const Calibration *calibration = nullptr,
                     bool widensBlocks = false);

/// Whether a module has weights of integers in blocks, as GGUF has them.
bool hasBlocks(ModuleOp module);

/// Whether it asks for integers, which linears alone can read.
bool isQuantized(llvm::StringRef dtype);

/// Whether caches get a type by its name, rather than what the source says or linears multiply.
bool castsCaches(llvm::StringRef cache);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_STAGES_H
