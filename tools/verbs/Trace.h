// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A context's trace as a file in Chrome's trace event format ("Trace Event Format",
// the JSON object form), which Perfetto and chrome://tracing show.
#ifndef FOVEA_TOOLS_VERBS_TRACE_H
#define FOVEA_TOOLS_VERBS_TRACE_H

#include "tools/verbs/Common.h"

namespace fovea::verbs {

/// Adds --trace.
void addTraceOption(CLI::App &verb, std::string &path);

/// Writes what `context`, made with a trace, recorded: one row for each thread, one
/// slice for its part of each step, by the kernel's name. Throws Failure; then no
/// file is left.
void writeTrace(const ModulePtr &module, const ContextPtr &context, const std::string &path);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_TRACE_H
