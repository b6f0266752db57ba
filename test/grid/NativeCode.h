// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code in this process and memory to call it with, for the numeric tests of kernels.
#ifndef FOVEA_TEST_GRID_NATIVECODE_H
#define FOVEA_TEST_GRID_NATIVECODE_H

#include "interpreter/Value.h"
#include <memory>

namespace mlir::fovea {

/// A context that knows all dialects, for one thread.
std::unique_ptr<MLIRContext> makeContext();

/// What memory holds that nobody has written, in words of 32 bits: no number, infinities or
/// denormals. No result may depend on it, and what computes with it anyway is slow on denormals.
enum class Unwritten : uint32_t { NaN = 0xffffffff, Infinity = 0x7f800000, Denormal = 0x00010001 };

/// A shared object in memory.
class NativeCode {
public:
  /// Links and opens a module of the `llvm` stage, whose functions all become visible. Null after a
  /// diagnostic or, for the processor, the linker and the loader, with `error` filled.
  /// `added`: features of the processor beside those that its name has, as LLVM writes them.
  static std::unique_ptr<NativeCode> make(ModuleOp module, StringRef cpu, std::string &error,
                                          bool optimizes = true, StringRef added = "");
  ~NativeCode();
  /// The address of a function; null if there is none, or the code is for another processor.
  void *lookup(StringRef name) const;
  /// Calls a function with up to ten words; false, and `error` says why, if it cannot be called.
  /// The stack is filled before with what nobody has written.
  bool call(StringRef name, ArrayRef<uintptr_t> words, Unwritten unwritten,
            std::string &error) const;
  /// Whether what it is given must lie in memory that another process shares.
  bool isRemote() const { return remote != 0; }

private:
  NativeCode() = default;
  void *library = nullptr;
  uint64_t remote = 0; ///< a handle of `RemoteProcess`
};

/// Whether arithmetic of this thread has met a denormal operand since the last question.
bool metDenormals();

/// Bytes, aligned to 64, between others that read as NaN or -1 and must stay as they are; behind
/// them, at most 63 bytes after the end, begins memory that cannot be touched.
class GuardedMemory {
public:
  /// `isShared`: with `RemoteProcess`.
  explicit GuardedMemory(size_t bytes, bool isShared = false);
  /// Fills the bytes.
  void plant(Unwritten word);
  GuardedMemory(GuardedMemory &&other);
  ~GuardedMemory();
  char *data() const { return begin; }
  /// Is what lies around the bytes unchanged?
  bool isIntact() const;

private:
  char *mapping, *begin, *end;
  size_t bytes;
  bool isShared;
};

/// Writes a number as an element of `type`, rounded to nearest even, and reads it back.
void putElement(char *at, Type type, interpreter::Element element);
interpreter::Element getElement(const char *at, Type type);

} // namespace mlir::fovea

#endif // FOVEA_TEST_GRID_NATIVECODE_H
