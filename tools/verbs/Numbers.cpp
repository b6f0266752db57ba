// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Numbers.h.
#include "tools/verbs/Numbers.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace fovea::verbs {

static std::string print(double number) {
  std::ostringstream text;
  text.precision(15);
  text << number;
  return text.str();
}

CLI::Validator from(double least, double most) {
  std::string range = std::isinf(most) ? "of at least " + print(least)
                                       : "from " + print(least) + " to " + print(most);
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        char *end = nullptr;
        double number = std::strtod(text.c_str(), &end);
        bool isNumber = end != text.c_str() && *end == 0 && std::isfinite(number);
        return isNumber && number >= least && number <= most
                   ? ""
                   : "expects a number " + range + ", got '" + text + "'";
      },
      std::isinf(most) ? ">= " + print(least) : print(least) + " to " + print(most));
}

/// False if `text` is no list; numbers that int64_t cannot hold are none.
static bool parse(const std::string &text, std::vector<int64_t> &values) {
  for (const char *at = text.data(), *end = at + text.size();; ++at) {
    int64_t value = 0;
    auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc())
      return false;
    values.push_back(value);
    at = stop;
    if (at == end)
      return true;
    if (*at != ',')
      return false;
  }
}

CLI::Option *addIntegers(CLI::App &verb, const std::string &name,
                         std::function<void(const std::vector<int64_t> &)> take,
                         const std::string &help) {
  auto read = [take, name](const std::string &text) {
    std::vector<int64_t> values;
    if (!parse(text, values))
      throw CLI::ValidationError(name, "expects integers as in 1,2,3, got '" + text + "'");
    take(values);
  };
  return verb.add_option_function<std::string>(name, read, help)->type_name("INT,...");
}

} // namespace fovea::verbs
