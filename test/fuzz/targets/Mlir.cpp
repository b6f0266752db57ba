// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IR as text, as the compiler reads it: bounded, parsed under its guard, verified, printed.
// Parsers of MLIR that fall are the guard's to catch, and no finding; MLIR itself is not
// instrumented.
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/Words.h"
#include "tools/compile/Report.h"
#include "tools/compile/Source.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <utility>

using namespace mlir;
using namespace mlir::fovea;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return ::fovea::fuzz::mutateWords(data, size, most, seed, ::fovea::fuzz::mlirWords());
}

namespace {
/// A context with what it reports.
struct Compiler {
  CompilerContext context{1};
  bool hasFallen = false, hasError = false;

  OwningOpRef<ModuleOp> read(const std::string &path) {
    hasError = false;
    ::fovea::compile::Log log;
    log.message = [&](::fovea::compile::Log::Severity severity, const std::string &text) {
      hasError |= severity == ::fovea::compile::Log::Severity::Error;
      hasFallen |= text.find("brings MLIR's parser down") != std::string::npos;
    };
    Reporter reporter(*context, log);
    return readSource(context, path, reporter, ::fovea::artifact::FileAccess::Mapped);
  }
};
} // namespace

/// A context keeps all types and attributes that it has seen, so now and then there is a new one.
/// One in which a parser fell is in pieces, and not freed.
static Compiler &compiler() {
  static std::unique_ptr<Compiler> made;
  static unsigned uses = 0;
  if (made && made->hasFallen)
    (void)made.release();
  if (!made || uses++ % 500 == 0)
    made = std::make_unique<Compiler>();
  return *made;
}

/// linalg.generic tells of an iterator type that is no string through a reference to what is gone
/// (LLVM 22): it allocates as much as the memory there says, which no guard survives here.
static bool hasIteratorOfAnotherKind(std::string_view text) {
  constexpr std::string_view name = "iterator_types";
  for (size_t at = 0; (at = text.find(name, at)) != std::string_view::npos;) {
    at += name.size();
    bool isString = false, isList = false;
    for (; at < text.size() && text[at] != ']'; ++at) {
      isString ^= text[at] == '"';
      bool isSecond = text[at] == '[' && std::exchange(isList, true);
      if (!isString &&
          (isSecond || std::string_view("=[\", \n").find(text[at]) == std::string_view::npos))
        return true;
    }
  }
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (hasIteratorOfAnotherKind({reinterpret_cast<const char *>(data), size}))
    return 0;
  static ::fovea::fuzz::Folder folder;
  folder.write("m.mlir", {reinterpret_cast<const char *>(data), size});
  Compiler &used = compiler();
  OwningOpRef<ModuleOp> module = used.read(folder.file("m.mlir"));
  ::fovea::fuzz::require(module || used.hasError, "what is refused has an error");
  if (!module)
    return 0;
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  return 0;
}
