// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs as files. The comments are lines of `// KEY: VALUE`; keys that are not known are
// comments for people.
#include "test/smith/Program.h"
#include <sstream>

namespace fovea::smith {

std::string print(const Program &program) {
  std::string text = "// RUN: fovea-smith %s\n\n// A random program, " + program.title + ".\n//\n";
  if (!program.choices.empty())
    text += "// choices: " + program.choices + "\n";
  if (!program.nearMiss.empty())
    text += "// near-miss: " + program.nearMiss + "\n";
  text += "// fused: " + std::to_string(program.fused) + "\n";
  std::string masks;
  for (const std::string &mask : program.masks)
    masks += " " + mask;
  text += "// masks:" + masks + "\n";
  for (const auto &[name, sizes] : program.sizes)
    text += "// size: " + name + " " + std::to_string(sizes.first) + " " +
            std::to_string(sizes.second) + "\n";
  for (const auto &[name, recipe] : program.inputs)
    text += "// input: " + name + " " + recipe + "\n";
  if (program.seed)
    text += "// seed: " + std::to_string(program.seed) + "\n";
  return text + "\n" + program.text;
}

bool read(const std::string &text, Program &program, std::string &error) {
  program = {};
  program.text = text;
  bool hasFused = false;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string slashes, key;
    if (!(words >> slashes >> key) || slashes != "//")
      continue;
    bool isRead = true;
    if (key == "choices:") {
      std::getline(words >> std::ws, program.choices);
    } else if (key == "near-miss:") {
      std::getline(words >> std::ws, program.nearMiss);
    } else if (key == "seed:") {
      isRead = bool(words >> program.seed);
    } else if (key == "fused:") {
      hasFused = isRead = bool(words >> program.fused);
    } else if (key == "masks:") {
      for (std::string mask; words >> mask;)
        program.masks.push_back(mask);
    } else if (key == "size:") {
      std::string name;
      std::pair<int, int> sizes;
      isRead = words >> name >> sizes.first >> sizes.second && sizes.first >= 0 &&
               sizes.second >= 0 && sizes.first < 10000 && sizes.second < 10000;
      program.sizes[name] = sizes;
    } else if (key == "input:") {
      std::string name, recipe;
      isRead = words >> name && std::getline(words >> std::ws, recipe);
      program.inputs.push_back({name, recipe});
    }
    if (!isRead) {
      error = "line " + std::to_string(number) + ": expects values behind '" + key + "', got '" +
              line + "'";
      return false;
    }
  }
  if (!hasFused)
    error = "expects a line '// fused: NUMBER', found none";
  return hasFused;
}

} // namespace fovea::smith
