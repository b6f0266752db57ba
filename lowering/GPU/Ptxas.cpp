// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's assembler as a program of its own: found, run, and its report read.
#include "lowering/GPU/GPU.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fovea;

std::optional<std::string> mlir::fovea::findPtxas() {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  if (!found)
    found = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

/// The number that stands before `words` in a line; 0 if they are not there.
static int64_t getNumberBefore(StringRef line, StringRef words) {
  size_t at = line.find(words);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at).rtrim();
  int64_t number = 0;
  before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1))
      .getAsInteger(10, number);
  return number;
}

static void readReport(AssemblyReport &report) {
  SmallVector<StringRef> lines;
  StringRef(report.log).split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function '")) {
      report.kernels.emplace_back();
      report.kernels.back().name = line.split('\'').second.split('\'').first.str();
    }
    if (line.contains("(C75"))
      report.serialized.push_back(line.str());
    if (report.kernels.empty())
      continue;
    KernelResources &kernel = report.kernels.back();
    kernel.registers += getNumberBefore(line, " registers");
    kernel.stackBytes += getNumberBefore(line, " bytes stack frame");
    kernel.spilledBytes +=
        getNumberBefore(line, " bytes spill stores") + getNumberBefore(line, " bytes spill loads");
  }
}

static std::vector<char> readFile(StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path, false, false);
  if (!file)
    return {};
  return std::vector<char>((*file)->getBufferStart(), (*file)->getBufferEnd());
}

LogicalResult mlir::fovea::assemble(StringRef ptxas, StringRef ptx, StringRef chip,
                                    std::vector<char> &cubin, AssemblyReport &report,
                                    std::string &error) {
  SmallString<128> files[3];
  const char *suffixes[] = {"ptx", "cubin", "log"};
  llvm::scope_exit remove([&] {
    for (SmallString<128> &file : files)
      if (!file.empty())
        llvm::sys::fs::remove(file);
  });
  for (int i = 0; i < 3; ++i)
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("fovea", suffixes[i], files[i])) {
      error = "cannot write a temporary file: " + code.message();
      return failure();
    }
  {
    std::error_code code;
    llvm::raw_fd_ostream out(files[0], code);
    out << ptx;
    out.close();
    if (code || out.has_error()) {
      error = "cannot write " + files[0].str().str() + ": " + (code ? code : out.error()).message();
      out.clear_error();
      return failure();
    }
  }
  std::string arch = ("-arch=" + chip).str(), message;
  StringRef log = files[2];
  int code = llvm::sys::ExecuteAndWait(ptxas, {ptxas, "-v", arch, "-o", files[1], files[0]},
                                       std::nullopt, {std::nullopt, log, log}, 0, 0, &message);
  std::vector<char> printed = readFile(log);
  report.log.assign(printed.begin(), printed.end());
  if (code != 0) {
    error = ptxas.str() + " failed with code " + std::to_string(code) +
            (message.empty() ? "" : ": " + message) + "\n" + report.log;
    return failure();
  }
  readReport(report);
  cubin = readFile(files[1]);
  return success();
}
