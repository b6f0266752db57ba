// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the reader by what MODEL is. Refuses files of other kinds by name.
#include "tools/compile/Source.h"
#include "dialects/Tile/TileDialect.h"
#include "frontend/Builder/ModuleBuilder.h"
#include "frontend/HuggingFace/HuggingFace.h"
#include "frontend/ONNX/Onnx.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fovea;

CompilerContext::CompilerContext(unsigned threads) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<FoveaDialect, tile::TileDialect>();
  if (threads == 0) {
    context = std::make_unique<MLIRContext>(registry);
    return;
  }
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  if (threads > 1) {
    pool = std::make_unique<llvm::DefaultThreadPool>(llvm::hardware_concurrency(threads));
    context->setThreadPool(*pool);
  }
}

ModelOp mlir::fovea::getModel(ModuleOp module) {
  auto models = module.getOps<ModelOp>();
  return models.empty() ? ModelOp() : *models.begin();
}

std::string mlir::fovea::getFolder(ModuleOp module, llvm::StringRef path) {
  if (ModelOp model = getModel(module))
    return model.getFolder().str();
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return folder.empty() ? "." : folder.str();
}

bool mlir::fovea::isIrFile(llvm::StringRef path) { return path.ends_with(".mlir"); }
bool mlir::fovea::isOnnxFile(llvm::StringRef path) { return path.ends_with(".onnx"); }

std::optional<::fovea::ModelDescription> mlir::fovea::readModel(const std::string &path,
                                                                Reporter &reporter, bool all) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status)) {
    reporter.error(path + ": " + code.message());
    return std::nullopt;
  }
  if (!llvm::sys::fs::is_directory(status)) {
    reporter.error(path + ": expects the folder of a model, a .onnx file or a .mlir file");
    return std::nullopt;
  }
  ::fovea::Problems problems;
  std::optional<::fovea::ModelDescription> model = ::fovea::readHuggingFace(path, problems);
  reporter.add(problems, all);
  return model;
}

OwningOpRef<ModuleOp> mlir::fovea::readSource(MLIRContext &context, const std::string &path,
                                              Reporter &reporter, bool all) {
  if (isOnnxFile(path)) {
    ::fovea::Problems problems;
    OwningOpRef<ModuleOp> module = importOnnx(context, path, problems);
    reporter.add(problems, all);
    return module;
  }
  if (!isIrFile(path)) {
    std::optional<::fovea::ModelDescription> model = readModel(path, reporter);
    return model ? buildModule(context, *model) : OwningOpRef<ModuleOp>();
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    reporter.error(path + ": " + buffer.getError().message());
    return {};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
}
