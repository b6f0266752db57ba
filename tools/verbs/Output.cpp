// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Standard output, which fails if what was written does not arrive, and notes on
// standard error.
#include "tools/verbs/Common.h"

#include "tools/verbs/Files.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <unistd.h>

namespace fovea::verbs {

std::string readText(const std::string &path) {
  std::string text, error;
  if (!readFile(path, text, error))
    throw Failure{1, error};
  return text;
}

std::vector<std::string> readLines(const std::string &path) {
  std::string all = readText(path);
  std::vector<std::string> lines;
  for (size_t at = 0; at < all.size();) {
    size_t end = std::min(all.find('\n', at), all.size());
    size_t length = end - at;
    if (length > 0 && all[end - 1] == '\r')
      --length;
    lines.push_back(all.substr(at, length));
    at = end + 1;
  }
  return lines;
}

void print(const std::string &text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw Failure{1, std::string("cannot write to standard output: ") + std::strerror(errno)};
}

void flush() {
  if (std::fflush(stdout) != 0)
    throw Failure{1, std::string("cannot write to standard output: ") + std::strerror(errno)};
}

std::string plain(const std::string &text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, two bytes each, are control characters too.
    bool isLong =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte >= 0x20 && byte != 0x7F && !isLong) {
      result += text[i];
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof(escape), "\\x%02X", byte);
    result += escape;
  }
  return result;
}

void note(const Host &host, const std::string &text) {
  std::cerr << host.program << ": " << text << "\n";
}

bool terminalOnStandardError() { return ::isatty(STDERR_FILENO) != 0; }

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string bytes(uint64_t count) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  auto amount = static_cast<double>(count);
  size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < std::size(units); ++unit)
    amount /= 1000;
  return number(amount) + " " + units[unit];
}

std::string grouped(double value, int digits) {
  std::string text = number(value, digits);
  double rounded = std::strtod(text.c_str(), nullptr);
  if (!(rounded >= 1000 && rounded < 1e15))
    return text;
  text = std::to_string(static_cast<int64_t>(rounded));
  for (size_t at = text.size(); at > 3;)
    text.insert(at -= 3, ",");
  return text;
}

std::string rate(size_t tokens, double seconds) {
  return std::to_string(tokens) + (tokens == 1 ? " token in " : " tokens in ") + number(seconds) +
         " s" +
         (seconds > 0 ? " (" + grouped(static_cast<double>(tokens) / seconds) + " tokens/s)" : "");
}

} // namespace fovea::verbs
