// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decoder: storage for registers and constants, names, operands, and the pass over a function.
#include "emulator/Decode.h"

#include "emulator/Layout.h"
#include "emulator/Warp.h"

#include <algorithm>
#include <cstring>

namespace fovea::emulator {

namespace {
/// The first bytes of storage: where `_` goes, and what offset zero ("none") names.
constexpr uint32_t sinkBytes = 512;

uint32_t lanesBytes(unsigned bits) { return bits == 1 ? 64 : bits <= 16 ? 64 : 32 * (bits / 8); }

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
// ------------------------------------------------------------------------------------
bool Decoder::has(std::string_view name) const {
  for (const std::string &modifier : statement->modifiers)
    if (modifier == name)
      return true;
  return false;
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
  for (size_t i = 0; i < used.size(); ++i) {
    const std::string &name = statement->modifiers[i];
    for (const char *hint : {"ca",
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
                             "L2::256B"})
      if (name == hint)
        used[i] = true;
  }
}
void Decoder::requireArchitecture(unsigned least) {
  if (kernel.module->architecture() < least)
    wrong("expects a target of sm_", least, " or newer for ", statement->opcode, ", got ",
          kernel.module->target());
}

// --- operands
// -------------------------------------------------------------------------------------
const Operand &Decoder::operand(size_t i) {
  if (i >= statement->operands.size())
    wrong("expects ", statement->opcode, " to have more operands than ",
          statement->operands.size());
  return statement->operands[i];
}
void Decoder::requireCount(size_t least, size_t most) {
  if (count() < least || count() > most)
    wrong("expects ", statement->opcode, " to have ", least,
          most != least ? text(" to ", most) : "", " operands, got ", count());
}
std::optional<uint32_t> Decoder::findRegister(const std::string &name) const {
  for (int32_t scope = static_cast<int32_t>(statement->scope); scope >= 0;
       scope = function.scopes[scope].parent) {
    auto found = function.scopes[scope].registers.find(name);
    if (found != function.scopes[scope].registers.end())
      return found->second;
  }
  return std::nullopt;
}
std::optional<unsigned> Decoder::registerBits(const Operand &operand) {
  if (operand.kind != Operand::Name)
    return std::nullopt;
  if (auto found = findRegister(operand.name))
    return bitsOf(function.registers[*found].type);
  return std::nullopt;
}
uint32_t Decoder::registerOffset(const Operand &operand, bool written) {
  if (operand.kind == Operand::Name)
    if (auto found = findRegister(operand.name)) {
      (written ? touches.back().writes : touches.back().reads).push_back(offsets[*found]);
      return offsets[*found];
    }
  wrong("expects a register, got '", operand.name, "'");
}
uint32_t Decoder::destination(const Operand &operand, unsigned bits) {
  if (operand.kind == Operand::Name && operand.name == "_")
    return 0;
  auto found = operand.kind == Operand::Name ? findRegister(operand.name) : std::nullopt;
  if (!found)
    wrong("expects a register to write to, got ",
          operand.kind == Operand::Name ? text("'", operand.name, "'") : "something else");
  unsigned has = bitsOf(function.registers[*found].type);
  if (has != bits && !(bits == 8 && has == 16))
    wrong("expects a register of ", bits, " bits, got ", operand.name, " of ", has);
  touches.back().writes.push_back(offsets[*found]);
  return offsets[*found];
}
uint32_t Decoder::predicate(const Operand &operand, bool *negated) {
  if (operand.negated && !negated)
    wrong("expects a predicate without '!', got '!", operand.name, "'");
  if (negated)
    *negated = operand.negated;
  auto found = operand.kind == Operand::Name ? findRegister(operand.name) : std::nullopt;
  if (!found || function.registers[*found].type != Type::Pred)
    wrong("expects a predicate register, got '", operand.name, "'");
  return offsets[*found];
}
int64_t Decoder::integer(const Operand &operand, const char *what) {
  if (operand.kind != Operand::Integer)
    wrong("expects a constant ", what, ", got '", operand.name, "'");
  return static_cast<int64_t>(operand.bits);
}
uint32_t Decoder::constant(unsigned bits, uint64_t value) {
  if (bits < 64)
    value &= (uint64_t{1} << bits) - 1;
  if (bits == 8)
    bits = 16;
  auto [place, fresh] = constants.try_emplace({bits, value}, 0);
  if (fresh) {
    uint32_t start = static_cast<uint32_t>(kernel.constants.size());
    place->second = kernel.constantOffset + start;
    kernel.constants.resize(start + lanesBytes(bits));
    for (unsigned lane = 0; lane < 32; ++lane)
      std::memcpy(kernel.constants.data() + start + lane * bits / 8, &value, bits / 8);
  }
  return place->second;
}
std::optional<uint32_t> Decoder::special(const std::string &name) {
  static const std::unordered_map<std::string, SpecialRegister> names = {
      {"%tid.x", TidX},
      {"%tid.y", TidY},
      {"%tid.z", TidZ},
      {"%ntid.x", NtidX},
      {"%ntid.y", NtidY},
      {"%ntid.z", NtidZ},
      {"%ctaid.x", CtaidX},
      {"%ctaid.y", CtaidY},
      {"%ctaid.z", CtaidZ},
      {"%nctaid.x", NctaidX},
      {"%nctaid.y", NctaidY},
      {"%nctaid.z", NctaidZ},
      {"%laneid", LaneId},
      {"%warpid", WarpId},
      {"%nwarpid", NwarpId},
      {"%lanemask_eq", LanemaskEq},
      {"%lanemask_le", LanemaskLe},
      {"%lanemask_lt", LanemaskLt},
      {"%lanemask_ge", LanemaskGe},
      {"%lanemask_gt", LanemaskGt},
      {"%dynamic_smem_size", DynamicSmemSize},
      {"%total_smem_size", TotalSmemSize},
      {"%smid", SmId},
      {"%nsmid", NsmId},
      {"%gridid", GridId64},
      // A cluster of one block.
      {"%clusterid.x", CtaidX},
      {"%clusterid.y", CtaidY},
      {"%clusterid.z", CtaidZ},
      {"%nclusterid.x", NctaidX},
      {"%nclusterid.y", NctaidY},
      {"%nclusterid.z", NctaidZ},
      {"%cluster_ctaid.x", Zero32},
      {"%cluster_ctaid.y", Zero32},
      {"%cluster_ctaid.z", Zero32},
      {"%cluster_nctaid.x", One32},
      {"%cluster_nctaid.y", One32},
      {"%cluster_nctaid.z", One32},
      {"%cluster_ctarank", Zero32},
      {"%cluster_nctarank", One32}};
  auto found = names.find(name);
  if (found == names.end())
    return std::nullopt;
  return kernel.specials[found->second] = specialStart + found->second * 256;
}
uint32_t Decoder::source(const Operand &operand, Type type) {
  unsigned bits = bitsOf(type);
  switch (operand.kind) {
  case Operand::Integer:
    if (isFloat(type) && bits > 16 && type != Type::F16x2 && type != Type::BF16x2)
      wrong("expects a float for .", nameOf(type), ", got an integer");
    return constant(bits, operand.bits);
  case Operand::Float32:
    if (bits == 64) {
      double wide = 0;
      float narrow;
      uint32_t low = static_cast<uint32_t>(operand.bits);
      std::memcpy(&narrow, &low, 4);
      wide = narrow;
      uint64_t value;
      std::memcpy(&value, &wide, 8);
      return constant(64, value);
    }
    if (bits != 32)
      wrong("expects a constant of ", bits, " bits, got one of 32");
    return constant(32, operand.bits);
  case Operand::Float64: {
    if (bits == 64)
      return constant(64, operand.bits);
    if (bits != 32)
      wrong("expects a constant of ", bits, " bits, got one of 64");
    double wide;
    std::memcpy(&wide, &operand.bits, 8);
    float narrow = static_cast<float>(wide);
    uint32_t value;
    std::memcpy(&value, &narrow, 4);
    return constant(32, value);
  }
  case Operand::Name:
    break;
  default:
    wrong("expects a register or a constant");
  }
  if (operand.negated)
    wrong("expects an operand without '!', got '!", operand.name, "'");
  if (auto found = findRegister(operand.name)) {
    unsigned has = bitsOf(function.registers[*found].type);
    if (has != bits && !(bits == 8 && has == 16))
      wrong("expects a register of ", bits, " bits for .", nameOf(type), ", got ", operand.name,
            " of ", has);
    touches.back().reads.push_back(offsets[*found]);
    return offsets[*found];
  }
  if (auto found = special(operand.name)) {
    unsigned has = operand.name == "%gridid" ? 64 : 32;
    if (bits != has)
      wrong("expects ", has, " bits for ", operand.name, ", got .", nameOf(type));
    return *found;
  }
  if (operand.name == "WARP_SZ")
    return constant(bits, 32);
  if (auto found = symbol(operand.name)) {
    if (bits < 32)
      wrong("expects at least 32 bits for the address of '", operand.name, "'");
    return constant(bits, found->address + static_cast<uint64_t>(operand.offset));
  }
  wrong("expects a register, variable or constant, got '", operand.name,
        "', which is not declared");
}
std::optional<Decoder::Symbol> Decoder::symbol(const std::string &name) {
  for (int32_t scope = static_cast<int32_t>(statement->scope); scope >= 0;
       scope = function.scopes[scope].parent) {
    auto found = function.scopes[scope].variables.find(name);
    if (found != function.scopes[scope].variables.end()) {
      const Variable &variable = function.variables[found->second];
      return Symbol{variable.space, variableAddress[found->second], variable.size};
    }
  }
  if (auto found = shared.find(name); found != shared.end())
    return found->second;
  if (auto found = symbols.global.find(name); found != symbols.global.end())
    return Symbol{Space::Global, found->second, 0};
  if (const Parameter *found = parameter(name))
    return Symbol{Space::Param, found->offset, found->size, true};
  return std::nullopt;
}
const Parameter *Decoder::parameter(const std::string &name) {
  for (const Parameter &each : function.parameters)
    if (each.name == name)
      return &each;
  return nullptr;
}
const std::vector<std::string> *Decoder::branchTargets(const std::string &name) {
  for (int32_t scope = static_cast<int32_t>(statement->scope); scope >= 0;
       scope = function.scopes[scope].parent)
    if (auto found = function.scopes[scope].targets.find(name);
        found != function.scopes[scope].targets.end())
      return &found->second;
  return nullptr;
}
uint32_t Decoder::label(const std::string &name) {
  for (int32_t scope = static_cast<int32_t>(statement->scope); scope >= 0;
       scope = function.scopes[scope].parent) {
    auto found = function.scopes[scope].labels.find(name);
    if (found != function.scopes[scope].labels.end())
      return placeOf.empty() ? found->second : placeOf[found->second];
  }
  wrong("expects a label in these or outer braces, got '", name, "'");
}
Decoder::AddressForm Decoder::address(const Operand &operand, Space space) {
  if (operand.kind != Operand::Address)
    wrong("expects an address in [ ], got '", operand.name, "'");
  const Operand &base = operand.parts[0];
  AddressForm form;
  form.offset = operand.offset;
  if (base.kind == Operand::Integer) {
    form.base = constant(64, base.bits);
    return form;
  }
  if (auto bits = registerBits(base)) {
    if (*bits != 32 && *bits != 64)
      wrong("expects an address of 32 or 64 bits, got ", base.name, " of ", *bits);
    if (*bits == 32 && space != Space::Shared && space != Space::Local && space != Space::Param)
      wrong("expects an address of 64 bits, got ", base.name, " of 32");
    form.wide = *bits == 64;
    form.base = source(base, form.wide ? Type::B64 : Type::B32);
    return form;
  }
  if (base.kind == Operand::Name)
    if (auto found = symbol(base.name)) {
      if (space == Space::Generic && found->space != Space::Global)
        wrong("expects '", base.name, "' of .", nameOf(found->space),
              " to be accessed in its own space");
      if (space != Space::Generic && space != found->space &&
          !(space == Space::Const && found->space == Space::Global))
        wrong("expects a variable of .", nameOf(space), ", got '", base.name, "' of .",
              nameOf(found->space));
      form.base = constant(64, found->address);
      return form;
    }
  wrong("expects a register or variable in [ ], got '", base.name, "', which is not declared");
}
void Decoder::setAlu(const AluForm &form) {
  in.run = findAlu(form);
  if (!in.run)
    unsupported();
}
void Decoder::sharedAccess(Space space, uint64_t bytes) {
  if (space != Space::Shared && space != Space::Generic)
    return;
  while (kernel.granule > bytes)
    kernel.granule /= 2;
}

namespace {
struct Guard : Details {
  std::vector<uint32_t> reads, writes;
  bool copies = false; ///< a mov
};

/// Registers of a product in flight may be neither written nor, if it writes them, read. What is
/// written needs a wgmma.fence before a product uses it. Compilers bring values into a product's
/// registers by mov behind the fence, and ptxas makes one register of both; so a mov hands on the
/// state of what it copies.
Step guarded(Warp &warp, const Instruction &in, uint32_t mask) {
  const Guard &guard = *static_cast<const Guard *>(in.guard);
  bool dirty = !guard.copies;
  for (uint32_t offset : guard.reads) {
    const Warp::Pending &pending = warp.pendingRegisters[offset / 64];
    if (pending.writes)
      warp.fault(__builtin_ctz(mask), "reads a register while a wgmma that writes it is in flight; "
                                      "expects wgmma.wait_group before");
    dirty |= pending.state == Warp::Pending::Dirty;
  }
  for (uint32_t offset : guard.writes) {
    Warp::Pending &pending = warp.pendingRegisters[offset / 64];
    if (pending.writes || pending.reads)
      warp.fault(__builtin_ctz(mask), "writes a register while a wgmma that ",
                 pending.writes ? "writes" : "reads",
                 " it is in flight; expects wgmma.wait_group before");
    pending.state = dirty ? Warp::Pending::Dirty : Warp::Pending::Moved;
  }
  return in.guarded(warp, in, mask);
}
} // namespace

void Decoder::guardWatched() {
  if (watched.empty())
    return;
  auto isMov = [&](size_t i) { return kernel.statement(kernel.code[i]).opcode == "mov"; };
  // Where movs into a product's registers come from, in a few steps.
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < kernel.code.size(); ++i)
      if (!touches[i].writes.empty() && isMov(i))
        for (uint32_t offset : touches[i].writes)
          if (watched.count(offset))
            for (uint32_t from : touches[i].reads)
              if (from < kernel.registerBytes)
                more |= watched.insert(from).second;
  }
  for (size_t i = 0; i < kernel.code.size(); ++i) {
    if (touches[i].exempt)
      continue;
    Guard guard;
    for (uint32_t offset : touches[i].reads)
      if (watched.count(offset))
        guard.reads.push_back(offset);
    for (uint32_t offset : touches[i].writes)
      if (watched.count(offset))
        guard.writes.push_back(offset);
    if (guard.reads.empty() && guard.writes.empty())
      continue;
    guard.copies = isMov(i);
    Instruction &in = kernel.code[i];
    auto details = std::make_unique<Guard>(std::move(guard));
    in.guard = details.get();
    in.guarded = in.run;
    in.run = guarded;
    kernel.details.push_back(std::move(details));
  }
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
