// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Trace.h.
#include "tools/verbs/Trace.h"

#include "artifact/Temporary.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace fovea::verbs {

void addTraceOption(CLI::App &verb, std::string &path) {
  verb.add_option("--trace", path,
                  "file to write: what each thread did when, for Perfetto or chrome://tracing");
}

static std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Nanoseconds as the format's microseconds.
static std::string microseconds(int64_t nanoseconds) {
  char text[48];
  std::snprintf(text, sizeof(text), "%" PRId64 ".%03d", nanoseconds / 1000,
                static_cast<int>(nanoseconds % 1000));
  return text;
}

void writeTrace(const ModulePtr &module, const ContextPtr &context, const std::string &path) {
  const fovea_trace_event *events = nullptr;
  size_t count = 0;
  check(fovea_context_get_trace(context.get(), &events, &count));
  fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
  check(fovea_context_get_info(context.get(), &info));
  artifact::TemporaryFile file(path);
  bool good = file.good();
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  text += R"({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": )" +
          quoted(infoOf(module).name) + "}}";
  for (int thread = 0; thread < info.threads; ++thread)
    text += ",\n{\"ph\": \"M\", \"pid\": 1, \"tid\": " + std::to_string(thread) +
            R"(, "name": "thread_name", "args": {"name": "thread )" + std::to_string(thread) +
            "\"}}";
  int64_t start = count ? events[0].begin : 0;
  for (size_t i = 0; i < count; ++i)
    start = std::min(start, events[i].begin);
  for (size_t i = 0; good && i < count; ++i) {
    const fovea_trace_event &event = events[i];
    text += ",\n{\"ph\": \"X\", \"pid\": 1, \"tid\": " + std::to_string(event.thread) +
            ", \"ts\": " + microseconds(event.begin - start) +
            ", \"dur\": " + microseconds(event.end - event.begin) + ", \"cat\": ";
    if (event.step < 0) {
      text += R"("call", "name": )" + quoted(event.entry) + "}";
    } else {
      fovea_step_info step = FOVEA_STEP_INFO_INIT;
      check(fovea_context_get_step(context.get(), event.entry_index,
                                   static_cast<size_t>(event.step), &step));
      text += R"("step", "name": )" + quoted(step.kernel) +
              ", \"args\": {\"entry\": " + quoted(event.entry) +
              ", \"step\": " + std::to_string(event.step) +
              ", \"location\": " + quoted(step.location) +
              ", \"computes\": " + quoted(step.description) + "}}";
    }
    if (text.size() > 1 << 20) {
      good = file.write(text);
      text.clear();
    }
  }
  text += "\n]}\n";
  good = good && file.write(text) && file.keep();
  if (!good)
    throw Failure{1, path + ": cannot be written: " + std::strerror(errno)};
}

} // namespace fovea::verbs
