// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A test tool: renders chat templates until standard input ends. Numbers are little-endian.
//
//   request: i64 the time that strftime_now tells, u32 size, template, u32 size, JSON of variables
//   answer:  u8 (0 rendered, 1 refused when parsed, 2 failed when rendered), u32 size, text or
//   error
#include "runtime/template/Template.h"

#include <cstdio>

using namespace fovea::jinja;

static bool readText(std::string &text) {
  uint32_t size = 0;
  if (std::fread(&size, sizeof size, 1, stdin) != 1)
    return false;
  text.resize(size);
  return std::fread(text.data(), 1, size, stdin) == size;
}

int main() {
  int64_t now = 0;
  while (std::fread(&now, sizeof now, 1, stdin) == 1) {
    std::string source, variables, error, text;
    if (!readText(source) || !readText(variables))
      return 1;
    Options options;
    options.now = now;
    std::unique_ptr<Template> chat = Template::parse(source, "template", error);
    int code = !chat ? 1 : chat->render(variables, options, text, error) ? 0 : 2;
    const std::string &answer = code ? error : text;
    auto size = static_cast<uint32_t>(answer.size());
    std::putchar(code);
    std::fwrite(&size, sizeof size, 1, stdout);
    std::fwrite(answer.data(), 1, size, stdout);
    std::fflush(stdout);
  }
  return 0;
}
