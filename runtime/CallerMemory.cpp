// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CallerMemory.h; with the C interface of it.
#include "runtime/CallerMemory.h"

#include "runtime/Context.h"
#include "runtime/status/Status.h"

#include <cstdio>

namespace fovea {

static std::string hexText(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

void requireOnDevice(Device &device, uint64_t address, uint64_t bytes, bool writes,
                     const std::string &what) {
  std::string objection = device.objection(address, bytes, writes);
  if (!objection.empty())
    failInvalid(what + " expects " + std::to_string(bytes) + " bytes in the memory of " +
                device.name() + ", got address " + hexText(address) + ", which " + objection);
}

CallerMemory::~CallerMemory() {
  for (uint64_t address : allocated)
    device.release(address);
}

uint64_t CallerMemory::allocate(uint64_t bytes) {
  uint64_t address = device.allocate(bytes ? bytes : 1, "the caller");
  try {
    allocated.insert(address);
  } catch (...) {
    device.release(address);
    throw;
  }
  return address;
}

void CallerMemory::release(uint64_t address) {
  if (!allocated.erase(address))
    failInvalid("a release expects an address of fovea_context_allocate of the same context that "
                "is not released yet, got " +
                hexText(address));
  device.release(address);
}

void CallerMemory::copyIn(uint64_t to, const void *from, uint64_t bytes) {
  if (bytes == 0)
    return;
  requireOnDevice(device, to, bytes, /*writes=*/true, "a copy to the device");
  device.copyIn(to, from, bytes);
  device.synchronize();
}

void CallerMemory::copyOut(void *to, uint64_t from, uint64_t bytes) {
  if (bytes == 0)
    return;
  requireOnDevice(device, from, bytes, /*writes=*/false, "a copy from the device");
  device.copyOut(to, from, bytes);
  device.synchronize();
}

static CallerMemory &memoryOf(fovea_context *context) {
  if (!context)
    failInvalid("context is NULL");
  return context->context.executor().callerMemory();
}

static uint64_t numberOf(const void *address) { return reinterpret_cast<uint64_t>(address); }

} // namespace fovea

using namespace fovea;

fovea_status *fovea_context_allocate(fovea_context *context, uint64_t bytes, void **memory) {
  return guarded([&] {
    CallerMemory &all = memoryOf(context);
    if (!memory)
      failInvalid("memory is NULL");
    *memory = nullptr;
    *memory = reinterpret_cast<void *>(all.allocate(bytes));
  });
}

fovea_status *fovea_context_release(fovea_context *context, void *memory) {
  return guarded([&] {
    CallerMemory &all = memoryOf(context);
    if (memory)
      all.release(numberOf(memory));
  });
}

fovea_status *fovea_context_copy_in(fovea_context *context, void *to, const void *from,
                                    uint64_t bytes) {
  return guarded([&] {
    CallerMemory &all = memoryOf(context);
    if (bytes && (!to || !from))
      failInvalid("to or from is NULL");
    all.copyIn(numberOf(to), from, bytes);
  });
}

fovea_status *fovea_context_copy_out(fovea_context *context, void *to, const void *from,
                                     uint64_t bytes) {
  return guarded([&] {
    CallerMemory &all = memoryOf(context);
    if (bytes && (!to || !from))
      failInvalid("to or from is NULL");
    all.copyOut(to, numberOf(from), bytes);
  });
}
