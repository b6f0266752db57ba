// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looking into a parsed module.
#include "emulator/Module.h"

#include "emulator/Error.h"

#include <fstream>

namespace fovea::emulator {

std::string Statement::mnemonic() const {
  std::string all = opcode;
  for (const std::string &modifier : modifiers)
    all += "." + modifier;
  return all;
}

uint64_t Function::sharedBytes() const {
  uint64_t end = 0;
  for (const Variable &variable : variables)
    if (variable.space == Space::Shared && !variable.external)
      end =
          (end + variable.alignment - 1) / variable.alignment * variable.alignment + variable.size;
  return end;
}

std::shared_ptr<const Module> Module::load(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail(path, ": cannot be opened");
  std::string source((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return parse(std::move(source), path);
}

std::vector<std::string> Module::entryNames() const {
  std::vector<std::string> names;
  for (const Function &function : allFunctions)
    if (function.isEntry && !function.isDeclaration)
      names.push_back(function.name);
  return names;
}

const Function &Module::entry(const std::string &name) const {
  for (const Function &function : allFunctions)
    if (function.isEntry && !function.isDeclaration && function.name == name)
      return function;
  std::string known;
  for (const std::string &other : entryNames())
    known += (known.empty() ? "" : ", ") + other;
  fail(fileName, ": expects an entry of this file (", known.empty() ? "it has none" : known,
       "), got '", name, "'");
}

} // namespace fovea::emulator
