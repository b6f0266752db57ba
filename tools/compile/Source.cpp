// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the reader by what MODEL is. Refuses files of other kinds by name.
#include "tools/compile/Source.h"
#include "dialects/Tile/TileDialect.h"
#include "frontend/Builder/ModuleBuilder.h"
#include "frontend/HuggingFace/HuggingFace.h"
#include "frontend/ONNX/Onnx.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
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

/// The name in `%name`, `%name:2` or `%name#1`; empty for numbers, which nobody gave.
static StringRef nameAt(llvm::SMRange range) {
  if (!range.isValid() || range.End.getPointer() <= range.Start.getPointer())
    return "";
  StringRef text(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
  text.consume_front("%");
  text = text.take_until([](char c) { return c == ':' || c == '#'; });
  return text.empty() || llvm::isDigit(text.front()) ? "" : text;
}

/// A place in a file, with what is called so there; a place that the author wrote stays.
static Location withName(Location loc, llvm::SMRange range) {
  StringRef name = nameAt(range);
  if (name.empty() || !isa<FileLineColLoc>(loc))
    return loc;
  return FusedLoc::get(loc.getContext(), {loc}, StringAttr::get(loc.getContext(), name));
}

/// Reads IR and keeps its names of values, for dumps and reports, with their places.
static OwningOpRef<ModuleOp> parseWithNames(MLIRContext &context, const llvm::SourceMgr &sources) {
  AsmParserState state;
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, ParserConfig(&context), &state)))
    return {};
  for (const AsmParserState::BlockDefinition &def : state.getBlockDefs())
    for (auto [argument, name] : llvm::zip(def.block->getArguments(), def.arguments))
      argument.setLoc(withName(argument.getLoc(), name.loc));
  for (const AsmParserState::OperationDefinition &def : state.getOpDefs())
    if (def.resultGroups.size() == 1)
      def.op->setLoc(withName(def.op->getLoc(), def.resultGroups.front().definition.loc));
  auto fileLoc = FileLineColLoc::get(
      &context, sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier(), 0, 0);
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&block, &context,
                                                                          fileLoc);
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
  return parseWithNames(context, sources);
}
