// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decoder: storage for registers and constants, names, operands, and the pass over a function.
#include "emulator/Decode.h"

#include "emulator/Layout.h"
#include "emulator/Warp.h"

#include <algorithm>

namespace fovea::emulator {

namespace {
/// The first bytes of storage: where `_` goes, and what offset zero ("none") names.
constexpr uint32_t sinkBytes = 512;

const DecodeTable &table() {
  static const DecodeTable all = [] {
    DecodeTable table;
    addArithmetic(table);
    addConversion(table);
    addControl(table);
    addMemory(table);
    addAtomics(table);
    addWarpOps(table);
    addMatrix(table);
    addMemoryBarriers(table);
    addAsync(table);
    addProducts(table);
    return table;
  }();
  return all;
}

Step jump(Warp &warp, const Instruction &in, uint32_t mask) {
  return warp.branch(mask, static_cast<uint32_t>(in.immediate));
}
Step leave(Warp &warp, const Instruction &in, uint32_t mask) { return warp.exit(mask); }
} // namespace

std::string Kernel::place(const Instruction &instruction) const {
  return text(module->file(), ":", instruction.line);
}

Decoder::Decoder(Kernel &kernel, const Symbols &symbols)
    : kernel(kernel), function(*kernel.function), symbols(symbols) {}

void Decoder::allocate() {
  uint64_t end = sinkBytes;
  for (const Register &reg : function.registers) {
    offsets.push_back(static_cast<uint32_t>(end));
    end += lanesBytes(bitsOf(reg.type));
    if (end > uint64_t{1} << 28)
      fail(kernel.module->file(), ":", function.line, ": expects registers of at most 256 MiB");
  }
  carry = static_cast<uint32_t>(end);
  end += 64;
  kernel.registerBytes = static_cast<uint32_t>(end);
  specialStart = static_cast<uint32_t>(end);
  end += specialCount * 256;
  kernel.constantOffset = static_cast<uint32_t>(end);
}

void Decoder::layOutShared() {
  uint64_t end = 0, local = 0, alignment = 16;
  auto place = [](uint64_t &end, const Variable &variable) {
    end = (end + variable.alignment - 1) / variable.alignment * variable.alignment;
    uint64_t start = end;
    end += variable.size;
    return start;
  };
  for (const Variable &variable : kernel.module->variables())
    if (variable.space == Space::Shared && !variable.external)
      shared[variable.name] = {Space::Shared, sharedStart + place(end, variable), variable.size};
  for (const Variable &variable : function.variables) {
    uint64_t address = 0;
    if (variable.space == Space::Shared && !variable.external)
      address = sharedStart + place(end, variable);
    else if (variable.space == Space::Local)
      address = place(local, variable);
    else if (!variable.external)
      fail(kernel.module->file(), ":", variable.line,
           ": expects a variable of .shared or .local, got '", variable.name, "' of .",
           nameOf(variable.space));
    variableAddress.push_back(address);
  }
  // .extern arrays all begin behind the static part.
  auto eachExternal = [&](auto body) {
    for (const Variable &variable : kernel.module->variables())
      if (variable.external)
        body(variable);
    for (const Variable &variable : function.variables)
      if (variable.external)
        body(variable);
  };
  eachExternal(
      [&](const Variable &variable) { alignment = std::max(alignment, variable.alignment); });
  kernel.staticShared = end;
  kernel.dynamicShared = (end + alignment - 1) / alignment * alignment;
  uint64_t dynamic = sharedStart + kernel.dynamicShared;
  for (const Variable &variable : kernel.module->variables())
    if (variable.external)
      shared[variable.name] = {Space::Shared, dynamic, 0};
  for (size_t i = 0; i < function.variables.size(); ++i)
    if (function.variables[i].external)
      variableAddress[i] = dynamic;
  kernel.localBytes = (local + 15) / 16 * 16;
  if (kernel.localBytes > 1 << 20)
    fail(kernel.module->file(), ":", function.line, ": expects at most 1 MiB of .local, got ",
         local);
  if (kernel.dynamicShared > 1 << 28)
    fail(kernel.module->file(), ":", function.line, ": expects at most 256 MiB of .shared, got ",
         end);
}

Flow Decoder::flowOf(const Statement &s, uint32_t index) {
  statement = &s;
  Flow flow;
  if (s.opcode == "bra") {
    if (s.operands.size() != 1 || s.operands[0].kind != Operand::Name)
      wrong("expects bra to have a label");
    flow.targets.push_back(label(s.operands[0].name));
    flow.falls = s.predicated;
  } else if (s.opcode == "brx") {
    if (s.operands.size() != 2 || s.operands[1].kind != Operand::Name)
      wrong("expects brx.idx to have an index and a list of labels");
    const std::vector<std::string> *names = branchTargets(s.operands[1].name);
    if (!names)
      wrong("expects a .branchtargets list called '", s.operands[1].name, "'");
    for (const std::string &name : *names)
      flow.targets.push_back(label(name));
    flow.falls = s.predicated;
  } else if (s.opcode == "ret" || s.opcode == "exit" || s.opcode == "trap") {
    flow.targets.push_back(static_cast<uint32_t>(function.statements.size()));
    flow.falls = s.predicated;
  }
  return flow;
}

void Decoder::run() {
  allocate();
  layOutShared();
  std::vector<Flow> flows;
  for (uint32_t i = 0; i < function.statements.size(); ++i)
    flows.push_back(flowOf(function.statements[i], i));
  std::vector<Placed> order = layOut(flows);

  uint32_t size = static_cast<uint32_t>(function.statements.size());
  placeOf.assign(size + 1, ~0u);
  for (uint32_t i = 0; i < order.size(); ++i)
    if (!order[i].jump)
      placeOf[order[i].statement] = i;
  placeOf[size] = static_cast<uint32_t>(order.size()); // the end
  static const Statement nothing;
  for (const Placed &placed : order) {
    statement = size ? &function.statements[placed.statement] : &nothing;
    in = {};
    touches.emplace_back();
    if (placed.jump) {
      in.run = jump;
      in.immediate = placeOf[placed.target];
    } else {
      decodeStatement();
    }
    in.line = statement->line;
    in.statement = placed.statement;
    kernel.code.push_back(in);
  }
  Instruction end;
  end.run = leave;
  end.line = size ? function.statements[size - 1].line : function.line;
  end.statement = size ? size - 1 : 0;
  kernel.code.push_back(end);
  touches.emplace_back();
  guardWatched();

  uint64_t storage = kernel.constantOffset + kernel.constants.size();
  if (storage > uint64_t{1} << 29)
    fail(kernel.module->file(), ":", function.line, ": expects fewer registers and constants");
  kernel.storageBytes = static_cast<uint32_t>(storage);
}

void Decoder::decodeStatement() {
  used.assign(statement->modifiers.size(), false);
  auto found = table().find(statement->opcode);
  if (found == table().end())
    unsupported();
  if (statement->predicated) {
    Operand operand;
    operand.name = statement->predicate;
    in.predicate = predicate(operand);
    in.predication = statement->predicateNegated ? 2 : 1;
  }
  found->second(*this);
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      unsupported(text("modifier '.", statement->modifiers[i], "' of ", statement->opcode,
                       " is not supported"));
  if (!in.run)
    unsupported();
}

void Decoder::unsupported(const std::string &what) {
  wrong(what.empty() ? text("instruction '", statement->mnemonic(), "' is not supported") : what);
}

// --- modifiers
bool Decoder::has(std::string_view name) const {
  const auto &modifiers = statement->modifiers;
  return std::find(modifiers.begin(), modifiers.end(), name) != modifiers.end();
}
bool Decoder::take(std::string_view name) {
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i] && statement->modifiers[i] == name)
      return used[i] = true;
  return false;
}
int Decoder::takeOneOf(std::initializer_list<std::string_view> names) {
  int place = 0;
  for (std::string_view name : names) {
    if (take(name))
      return place;
    ++place;
  }
  return -1;
}
std::optional<Type> Decoder::takeType() {
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      if (auto type = typeNamed(statement->modifiers[i])) {
        used[i] = true;
        return type;
      }
  return std::nullopt;
}
Type Decoder::firstType() {
  if (auto type = takeType())
    return *type;
  wrong("expects ", statement->opcode, " to name a type, got '", statement->mnemonic(), "'");
}
Type Decoder::lastType() {
  if (!used.empty() && !used.back())
    if (auto type = typeNamed(statement->modifiers.back())) {
      used.back() = true;
      return *type;
    }
  wrong("expects ", statement->opcode, " to end with a type, got '", statement->mnemonic(), "'");
}
Space Decoder::takeSpace() {
  if (take("global"))
    return Space::Global;
  if (take("shared") || take("shared::cta"))
    return Space::Shared;
  // Without clusters, a block is its own cluster.
  if (take("shared::cluster"))
    return Space::Shared;
  if (take("local"))
    return Space::Local;
  if (take("param") || take("param::entry"))
    return Space::Param;
  if (take("const"))
    return Space::Const;
  return Space::Generic;
}
void Decoder::takeCacheHints() {
  static constexpr std::string_view hints[] = {"ca",
                                               "cg",
                                               "cs",
                                               "lu",
                                               "cv",
                                               "wb",
                                               "wt",
                                               "nc",
                                               "L1::evict_normal",
                                               "L1::evict_unchanged",
                                               "L1::evict_first",
                                               "L1::evict_last",
                                               "L1::no_allocate",
                                               "L2::evict_normal",
                                               "L2::evict_first",
                                               "L2::evict_last",
                                               "L2::cache_hint",
                                               "L2::64B",
                                               "L2::128B",
                                               "L2::256B"};
  for (size_t i = 0; i < used.size(); ++i)
    if (std::find(std::begin(hints), std::end(hints), statement->modifiers[i]) != std::end(hints))
      used[i] = true;
}
void Decoder::requireArchitecture(unsigned least) {
  if (kernel.module->architecture() < least)
    wrong("expects a target of sm_", least, " or newer for ", statement->opcode, ", got ",
          kernel.module->target());
}

void Decoder::sharedAccess(Space space, uint64_t bytes) {
  if (space != Space::Shared && space != Space::Generic)
    return;
  while (kernel.granule > bytes)
    kernel.granule /= 2;
}

std::shared_ptr<const Kernel> decode(std::shared_ptr<const Module> module, const Function &function,
                                     const Symbols &symbols) {
  auto kernel = std::make_shared<Kernel>();
  kernel->module = std::move(module);
  kernel->function = &function;
  Decoder(*kernel, symbols).run();
  return kernel;
}

} // namespace fovea::emulator
