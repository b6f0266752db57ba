// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chat template: parsed and rendered. What stands behind a zero byte are its variables in JSON,
// else it gets a conversation with a call of a tool.
#include "runtime/template/Template.h"
#include "runtime/tokenizer/Utf8.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/Words.h"

using namespace fovea;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateWords(data, size, most, seed, fuzz::templateWords());
}

static constexpr char conversation[] =
    R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Hi é\n"},)"
    R"( {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1, 2.5]}}}]}],)"
    R"( "tools": [{"function": {"name": "f", "parameters": {"properties": {"a": {"type": "array"}}}}}],)"
    R"( "bos_token": "<s>", "add_generation_prompt": true})";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view all(reinterpret_cast<const char *>(data), size);
  size_t end = std::min(all.find('\0'), all.size());
  std::string error, text;
  std::unique_ptr<jinja::Template> chat = jinja::Template::parse(all.substr(0, end), "t", error);
  fuzz::require(chat || error.rfind("t:", 0) == 0, "what is refused has an error with its place");
  if (!chat)
    return 0;
  jinja::Options options;
  options.now = 0;
  options.maxSteps = 1'000'000;
  options.maxBytes = 16 << 20;
  bool done =
      chat->render(end < all.size() ? all.substr(end + 1) : conversation, options, text, error);
  fuzz::require(done || error.rfind("t:", 0) == 0, "what fails has an error with its place");
  fuzz::require(!done || isUtf8(text), "the text is UTF-8");
  return 0;
}
