// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the reader by what MODEL is. Refuses files of other kinds by name.
#include "tools/compile/Source.h"
#include "dialects/Tile/TileDialect.h"
#include "frontend/Builder/ModuleBuilder.h"
#include "frontend/GGUF/GGUF.h"
#include "frontend/HuggingFace/HuggingFace.h"
#include "frontend/ONNX/Onnx.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "tools/compile/Suggest.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::artifact::FileAccess;

CompilerContext::CompilerContext(unsigned threads) : threads(threads) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<FoveaDialect, tile::TileDialect>();
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

void CompilerContext::startThreads() {
  if (threads == 0) {
    context->enableMultithreading();
  } else if (threads > 1 && !pool) {
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

std::optional<::fovea::ModelDescription>
mlir::fovea::readModel(const std::string &path, Reporter &reporter, FileAccess access, bool all) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status)) {
    reporter.error(path + ": " + code.message());
    return std::nullopt;
  }
  const bool isFolder = llvm::sys::fs::is_directory(status);
  if (!isFolder && !::fovea::isGgufFile(path)) {
    reporter.error(path +
                   ": expects the folder of a model, a .gguf file, a .onnx file or a .mlir file");
    return std::nullopt;
  }
  ::fovea::Problems problems;
  std::optional<::fovea::ModelDescription> model =
      isFolder ? ::fovea::readHuggingFace(path, problems, access)
               : ::fovea::readGguf(path, problems, access);
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

/// How deep brackets are nested at most; parsers call themselves for each.
static constexpr unsigned kMostNesting = 1000;

/// Where brackets outside of strings and comments are nested deeper than that; null if nowhere.
static const char *findDeepNesting(StringRef text) {
  unsigned depth = 0;
  for (const char *at = text.begin(); at != text.end(); ++at) {
    switch (*at) {
    case '"':
      for (++at; at != text.end() && *at != '"' && *at != '\n'; ++at)
        if (*at == '\\' && at + 1 != text.end())
          ++at;
      if (at == text.end())
        return nullptr;
      break;
    case '/':
      if (at + 1 != text.end() && at[1] == '/')
        at = std::find(at, text.end(), '\n') - 1;
      break;
    case '-': // of an arrow
      if (at + 1 != text.end() && at[1] == '>')
        ++at;
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      if (++depth > kMostNesting)
        return at;
      break;
    case ')':
    case ']':
    case '}':
    case '>':
      depth -= depth != 0;
      break;
    default:
      break;
    }
  }
  return nullptr;
}

namespace {
/// What parsing makes. After a crash it is in pieces, and not freed.
struct Parsed {
  AsmParserState state;
  Block block;
  bool isSound = false;
};
} // namespace

/// The last line that a parser is known to have reached; 0 if none is.
static unsigned lastLine(const Parsed &parsed, const llvm::SourceMgr &sources) {
  unsigned line = 0;
  auto reached = [&](llvm::SMRange range) {
    if (range.isValid())
      line = std::max(line, sources.getLineAndColumn(range.Start).first);
  };
  for (const AsmParserState::OperationDefinition &def : parsed.state.getOpDefs())
    reached(def.loc);
  for (const AsmParserState::BlockDefinition &def : parsed.state.getBlockDefs()) {
    reached(def.definition.loc);
    for (const AsmParserState::SMDefinition &argument : def.arguments)
      reached(argument.loc);
  }
  return line;
}

/// Reads IR and keeps its names of values, for dumps and reports, with their places.
static OwningOpRef<ModuleOp> parseWithNames(MLIRContext &context, const llvm::SourceMgr &sources,
                                            Reporter &reporter) {
  const llvm::MemoryBuffer &text = *sources.getMemoryBuffer(sources.getMainFileID());
  std::string file = text.getBufferIdentifier().str();
  if (const char *deep = findDeepNesting(text.getBuffer())) {
    auto [line, column] = sources.getLineAndColumn(llvm::SMLoc::getFromPointer(deep));
    reporter.error(file + ":" + std::to_string(line) + ":" + std::to_string(column) +
                   ": expects brackets that are nested at most " + std::to_string(kMostNesting) +
                   " deep, got more");
    return {};
  }
  auto parsed = std::make_unique<Parsed>();
  llvm::CrashRecoveryContext::Enable();
  bool survived = llvm::CrashRecoveryContext().RunSafely([&] {
    parsed->isSound = succeeded(
        parseAsmSourceFile(sources, &parsed->block, ParserConfig(&context), &parsed->state));
  });
  llvm::CrashRecoveryContext::Disable();
  if (!survived) {
    unsigned line = lastLine(*parsed, sources);
    reporter.error(file + (line ? ":" + std::to_string(line) : "") +
                   ": expects IR, got text that brings MLIR's parser down" +
                   (line ? ", in this line or behind it" : ""));
    reporter.note("some parsers of MLIR fail where they should say what they expect: look for what "
                  "was edited last");
    (void)parsed.release();
    return {};
  }
  if (!parsed->isSound)
    return {};
  AsmParserState &state = parsed->state;
  Block &block = parsed->block;
  for (const AsmParserState::BlockDefinition &def : state.getBlockDefs())
    for (auto [argument, name] : llvm::zip(def.block->getArguments(), def.arguments))
      argument.setLoc(withName(argument.getLoc(), name.loc));
  for (const AsmParserState::OperationDefinition &def : state.getOpDefs())
    if (def.resultGroups.size() == 1)
      def.op->setLoc(withName(def.op->getLoc(), def.resultGroups.front().definition.loc));
  auto fileLoc = FileLineColLoc::get(&context, file, 0, 0);
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&block, &context,
                                                                          fileLoc);
}

/// Whether each axis that is asked for by a constant is there. MLIR leaves this to whoever runs the
/// op.
static bool haveAxes(ModuleOp module) {
  bool sound = true;
  module.walk([&](tensor::DimOp dim) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!type || !axis || (*axis >= 0 && *axis < type.getRank()))
      return;
    sound = false;
    dim.emitOpError("expects an axis of ") << type << ", got " << *axis;
  });
  return sound;
}

static OwningOpRef<ModuleOp> read(MLIRContext &context, const std::string &path, Reporter &reporter,
                                  FileAccess access, bool all) {
  if (std::string file = findOnnxFile(path); !file.empty()) {
    ::fovea::Problems problems;
    OwningOpRef<ModuleOp> module = importOnnx(context, file, problems, access);
    reporter.add(problems, all);
    return module;
  }
  if (std::optional<OnnxParts> parts = findOnnxParts(path)) {
    ::fovea::Problems problems;
    OwningOpRef<ModuleOp> module = importOnnxParts(context, *parts, problems, access);
    reporter.add(problems, all);
    return module;
  }
  if (!isIrFile(path)) {
    std::optional<::fovea::ModelDescription> model = readModel(path, reporter, access);
    return model ? buildModule(context, *model) : OwningOpRef<ModuleOp>();
  }
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) && !llvm::sys::fs::is_regular_file(status)) {
    reporter.error(path + ": expects a regular file, got a folder, pipe or device");
    return {};
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/true, /*RequiresNullTerminator=*/true,
                                  /*IsVolatile=*/true); // copied
  if (!buffer) {
    reporter.error(path + ": " + buffer.getError().message());
    return {};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseWithNames(context, sources, reporter);
  bool isSound = module && haveAxes(*module) && areAttributesKnown(*module);
  return isSound ? std::move(module) : OwningOpRef<ModuleOp>();
}

OwningOpRef<ModuleOp> mlir::fovea::readSource(CompilerContext &context, const std::string &path,
                                              Reporter &reporter, FileAccess access, bool all) {
  OwningOpRef<ModuleOp> module = read(*context, path, reporter, access, all);
  context.startThreads();
  return module;
}
