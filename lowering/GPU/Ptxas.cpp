// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's assembler as a program of its own: found, run, and its report read.
#include "lowering/CodeGen/MemoryFile.h"
#include "lowering/GPU/GPU.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <cstring>

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

LogicalResult mlir::fovea::assemble(StringRef ptxas, StringRef ptx, StringRef chip,
                                    std::vector<char> &cubin, AssemblyReport &report,
                                    std::string &error) {
  MemoryFile input, output, log;
  if (!input.write(ptx) || !output.write({}) || !log.write({})) {
    error = ptxas.str() + ": cannot write its input into memory: " + std::strerror(errno);
    return failure();
  }
  std::string arch = ("-arch=" + chip).str(), message;
  StringRef toLog = log.getPath();
  int code =
      llvm::sys::ExecuteAndWait(ptxas, {ptxas, "-v", arch, "-o", output.getPath(), input.getPath()},
                                std::nullopt, {std::nullopt, toLog, toLog}, 0, 0, &message);
  std::vector<char> printed;
  log.read(printed);
  report.log.assign(printed.begin(), printed.end());
  if (code != 0) {
    error = ptxas.str() + " failed with code " + std::to_string(code) +
            (message.empty() ? "" : ": " + message) + "\n" + report.log;
    return failure();
  }
  readReport(report);
  if (output.read(cubin) && !cubin.empty())
    return success();
  error = ptxas.str() + " wrote nothing";
  return failure();
}
