// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages from diagnostics and from the readers' problems.
#include "tools/compile/Report.h"
#include "mlir/IR/Location.h"
#include "tools/compile/Suggest.h"

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::compile::Log;

Reporter::Reporter(MLIRContext &context, const Log &log)
    : log(log), handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
          return success(); // for --remarks-filter, which has its own way out
        if (StringRef(diagnostic.str()).starts_with("Failures have been detected"))
          return success(); // the pass manager's word for a reproducer; the compiler has its own
        std::string place = placeOf(diagnostic.getLocation());
        std::string text = (place.empty() ? "" : place + ": ") + diagnostic.str();
        text += suggestName(*diagnostic.getLocation().getContext(), text);
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          error(text);
        else
          note(text);
        for (Diagnostic &more : diagnostic.getNotes()) {
          std::string where = placeOf(more.getLocation());
          note((where.empty() ? "" : where + ": ") + more.str());
        }
        return success();
      }) {}

void Reporter::error(const std::string &text) {
  emit(hasErrors() ? Log::Severity::Note : Log::Severity::Error, text);
  std::lock_guard<std::mutex> lock(mutex);
  hasError = true;
}

void Reporter::note(const std::string &text) { emit(Log::Severity::Note, text); }

void Reporter::add(const ::fovea::Problems &problems, bool all) {
  for (const ::fovea::Problem &problem : problems) {
    if (problem.severity == ::fovea::Problem::Severity::Note)
      note(problem.text());
    else if (all)
      emit(Log::Severity::Error, problem.text());
    else
      error(problem.text());
  }
}

void Reporter::progress(const std::string &phase, double part) {
  std::lock_guard<std::mutex> lock(mutex);
  if (log.progress)
    log.progress(phase, part);
}

bool Reporter::hasErrors() {
  std::lock_guard<std::mutex> lock(mutex);
  return hasError;
}

void Reporter::emit(Log::Severity severity, const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  if (log.message)
    log.message(severity, text);
}
