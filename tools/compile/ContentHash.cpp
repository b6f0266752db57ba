// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an artifact depends on, as one hash: the files of the model, the options, the processor and
// the build of the compiler. Files are hashed by content, so a copied or touched model is the same
// one.
#include "tools/compile/ContentHash.h"
#include "artifact/Format.h"
#include "dialects/Fovea/Tables.h"
#include "frontend/GGUF/GgufFile.h"
#include "frontend/ONNX/Onnx.h"
#include "frontend/ONNX/Reader/OnnxFile.h"
#include "tools/compile/Compile.h"
#include "tools/compile/Source.h"
#include "tools/compile/Targets.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <link.h>
#include <set>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::artifact::FileAccess;
using ::fovea::artifact::Hash;
using ::fovea::artifact::Hasher;

static void addText(Hasher &hasher, StringRef text) {
  uint64_t size = text.size();
  hasher.add(&size, sizeof(size));
  hasher.add(text.data(), text.size());
}

/// By reading, not mapping: that the file is cut meanwhile is no harm here.
static llvm::Error addFile(Hasher &hasher, const std::string &path) {
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  llvm::scope_exit close([&] { (void)llvm::sys::fs::closeFile(*file); });
  std::vector<char> piece(1 << 20);
  uint64_t size = 0;
  while (true) {
    llvm::Expected<size_t> count = llvm::sys::fs::readNativeFile(*file, piece);
    if (!count)
      return count.takeError();
    if (*count == 0)
      break;
    hasher.add(piece.data(), *count);
    size += *count;
  }
  hasher.add(&size, sizeof(size));
  return llvm::Error::success();
}

static bool addFile(Hasher &hasher, const std::string &path, Reporter &reporter) {
  llvm::Error error = addFile(hasher, path);
  if (!error)
    return true;
  reporter.error(path + ": " + llvm::toString(std::move(error)));
  return false;
}

static std::string getCompilerPath() {
  static int anchor = 0;
  return llvm::sys::fs::getMainExecutable(nullptr, &anchor);
}

/// Files of a model's folder that a frontend may read: data, and one level of folders below it (the
/// modules of sentence-transformers).
static std::set<std::string> listFolder(const std::string &folder) {
  std::set<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code)) {
    if (it.level() > 0)
      it.no_push();
    StringRef path = it->path();
    if (path.ends_with(".json") || path.ends_with(".safetensors") || path.ends_with(".model") ||
        path.ends_with(".spm") || path.ends_with(".jinja"))
      files.insert(path.str());
  }
  return files;
}

/// The IR itself, and what its recipes and its tokenizer name.
static std::optional<std::set<std::string>> listSources(const std::string &path, Reporter &reporter,
                                                        FileAccess access,
                                                        CompilerContext &context) {
  OwningOpRef<ModuleOp> module = readSource(context, path, reporter, access);
  if (!module)
    return std::nullopt;
  const std::vector<std::string> graphs = listOnnxFiles(path);
  std::set<std::string> files(graphs.begin(), graphs.end());
  if (graphs.empty())
    files = {path};
  std::string folder = getFolder(*module, path);
  if (!graphs.empty())
    for (const char *name : {"config.json", "generation_config.json", "preprocessor_config.json",
                             "processor_config.json"})
      if (std::string file = folder + "/" + name; llvm::sys::fs::exists(file))
        files.insert(file);
  if (ModelOp model = getModel(*module); model && model.getTokenizer()) {
    std::string tokenizer = folder + "/" + model.getTokenizer()->str();
    files.insert(tokenizer);
    // What stands beside it says which tokens are special, what SentencePiece's model does not say,
    // and how conversations are told.
    for (const std::string &file : listFolder(llvm::sys::path::parent_path(tokenizer).str()))
      if (!StringRef(file).ends_with(".safetensors"))
        files.insert(file);
  }
  for (auto weight : module->getOps<WeightOp>())
    weight.getRecipe().walk([&](StoredAttr leaf) {
      if (!isTable(leaf))
        files.insert(folder + "/" + leaf.getFile().str());
    });
  // A .onnx file names files beside itself that hold its tensors.
  for (const std::string &file : graphs) {
    ::fovea::Problems problems;
    auto onnx = ::fovea::onnx::OnnxFile::open(file, problems, access);
    reporter.add(problems);
    if (!onnx) // it was read a moment ago: without its tensors this would be another model's hash
      return std::nullopt;
    StringRef beside = llvm::sys::path::parent_path(file);
    for (const std::string &location : onnx->locations())
      files.insert((beside.empty() ? "." : beside.str()) + "/" + location);
  }
  return files;
}

/// The build ID of a loaded object: the linker's hash of its content. None if it was linked
/// without.
static ArrayRef<uint8_t> findBuildId(const dl_phdr_info &object) {
  for (const ElfW(Phdr) &segment : ArrayRef(object.dlpi_phdr, object.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE)
      continue;
    ArrayRef<uint8_t> notes(reinterpret_cast<const uint8_t *>(object.dlpi_addr + segment.p_vaddr),
                            segment.p_memsz);
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, notes.data(), sizeof(note));
      size_t start = sizeof(note) + llvm::alignTo(note.n_namesz, 4);
      size_t end = start + llvm::alignTo(note.n_descsz, 4);
      if (end > notes.size())
        break;
      if (note.n_type == NT_GNU_BUILD_ID)
        return notes.slice(start, note.n_descsz);
      notes = notes.drop_front(end);
    }
  }
  return {};
}

/// Of the program (the object without a name) and of LLVM's libraries, where it has them loaded:
/// the build ID, or else the content of the file. Anything but 0 if neither can be had.
static int addBuild(dl_phdr_info *object, size_t, void *data) {
  auto &hasher = *static_cast<Hasher *>(data);
  StringRef name = llvm::sys::path::filename(object->dlpi_name);
  if (!name.empty() && !name.starts_with("libLLVM") && !name.starts_with("libMLIR"))
    return 0;
  if (ArrayRef<uint8_t> id = findBuildId(*object); !id.empty()) {
    addText(hasher, llvm::toStringRef(id));
    return 0;
  }
  llvm::Error error = addFile(hasher, name.empty() ? getCompilerPath() : object->dlpi_name);
  bool isRead = !error;
  llvm::consumeError(std::move(error));
  return isRead ? 0 : 1;
}

namespace fovea::compile {

static std::string printHash(const Hash &hash) {
  return llvm::utohexstr(hash.high, /*LowerCase=*/true, 16) +
         llvm::utohexstr(hash.low, /*LowerCase=*/true, 16);
}

const std::string &hashCompiler() {
  static const std::string hash = [] {
    Hasher hasher;
    return dl_iterate_phdr(addBuild, &hasher) == 0 ? printHash(hasher.get()) : "";
  }();
  return hash;
}

std::string hashTexts(llvm::ArrayRef<llvm::StringRef> texts) {
  Hasher hasher;
  for (StringRef text : texts)
    addText(hasher, text);
  return printHash(hasher.get());
}

bool hashContent(const Options &options, const Log &log, std::string &hash) {
  CompilerContext context(0);
  Reporter reporter(*context, log);
  reporter.progress("looking for the model in the cache");

  Hasher hasher;
  std::string error;
  FailureOr<std::vector<TargetOptions>> targets = parseTargets(options.target, error);
  if (failed(targets)) {
    reporter.error(error);
    return false;
  }
  std::string level = std::to_string(options.optimization);
  for (StringRef text :
       {StringRef(options.dtype), StringRef(options.compute), StringRef(options.cache),
        StringRef(options.fromStage), StringRef(options.gpu), StringRef(level)})
    addText(hasher, text);
  addText(hasher, llvm::join(options.probes, ","));
  if (!options.calibrate.empty()) {
    addText(hasher, std::to_string(options.int8Share));
    if (!addFile(hasher, options.calibrate, reporter))
      return false;
  }
  for (const TargetOptions &target : *targets)
    for (StringRef text : {StringRef(target.cpu), StringRef(target.features)})
      addText(hasher, text);
  if (hashCompiler().empty()) {
    reporter.error(getCompilerPath() + ": cannot be read");
    return false;
  }
  addText(hasher, hashCompiler());

  std::set<std::string> files;
  if (isIrFile(options.model) || !listOnnxFiles(options.model).empty()) {
    auto sources = listSources(options.model, reporter, options.access, context);
    if (!sources)
      return false;
    files = *sources;
  } else if (::fovea::isGgufFile(options.model)) {
    files = {options.model};
  } else {
    // Some folder that is no model is not worth hashing; the reader says what it misses.
    if (!llvm::sys::fs::exists(options.model + "/config.json") &&
        !readModel(options.model, reporter, options.access))
      return false;
    files = listFolder(options.model);
  }
  if (!options.tokenizer.empty())
    files.merge(llvm::sys::fs::is_directory(options.tokenizer)
                    ? listFolder(options.tokenizer)
                    : std::set<std::string>{options.tokenizer});
  // The folder's own name goes into the manifest, where it lies does not.
  addText(hasher, llvm::sys::path::filename(StringRef(options.model).rtrim('/')));
  for (const std::string &file : files) {
    StringRef name = file;
    name.consume_front(options.model);
    addText(hasher, name);
    if (!addFile(hasher, file, reporter))
      return false;
  }
  hash = printHash(hasher.get());
  return true;
}

} // namespace fovea::compile
