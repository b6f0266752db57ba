// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structures of the C interface that grow from version to version. The caller says how many bytes
// it knows; those of the first version are always among them. Refuses sizes that no version had.
#ifndef FOVEA_RUNTIME_STRUCTSIZE_H
#define FOVEA_RUNTIME_STRUCTSIZE_H

#include "runtime/include/fovea/runtime.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace fovea {

/// The name of a structure, and the bytes of its first version.
template <typename T> struct FirstVersion;

// The last field of the first version; fields that come later do not change it.
#define FOVEA_FIRST_VERSION(TYPE, LAST)                                                            \
  template <> struct FirstVersion<TYPE> {                                                          \
    static constexpr const char *name = #TYPE;                                                     \
    static constexpr size_t size = offsetof(TYPE, LAST) + sizeof(TYPE::LAST);                      \
  };
FOVEA_FIRST_VERSION(fovea_module_options, copy)
FOVEA_FIRST_VERSION(fovea_module_info, weight_bytes)
FOVEA_FIRST_VERSION(fovea_image_info, deviation)
FOVEA_FIRST_VERSION(fovea_prompt_info, value_count)
FOVEA_FIRST_VERSION(fovea_encoding, cut)
FOVEA_FIRST_VERSION(fovea_entry_info, kind)
FOVEA_FIRST_VERSION(fovea_value_info, role)
FOVEA_FIRST_VERSION(fovea_step_info, schedule)
FOVEA_FIRST_VERSION(fovea_threading, parallel_for)
FOVEA_FIRST_VERSION(fovea_context_options, device)
FOVEA_FIRST_VERSION(fovea_context_info, length)
FOVEA_FIRST_VERSION(fovea_run_options, stream)
FOVEA_FIRST_VERSION(fovea_generate_options, on_prompt)
FOVEA_FIRST_VERSION(fovea_generate_result, stop)
FOVEA_FIRST_VERSION(fovea_translate_options, on_token)
FOVEA_FIRST_VERSION(fovea_translate_result, new_seconds)
#undef FOVEA_FIRST_VERSION

/// Far above any version; what nobody set is seldom below.
constexpr size_t maxStructSize = 4096;

/// Throws Failure if no version of the structure has this size.
template <typename T> void checkStructSize(const T &given) {
  using First = FirstVersion<T>;
  if (given.struct_size < First::size || given.struct_size > maxStructSize)
    failInvalid(std::string(First::name) + ": expects a struct_size from " +
                std::to_string(First::size) + " to " + std::to_string(maxStructSize) +
                ", as its _INIT macro sets it, got " + std::to_string(given.struct_size));
}

/// What the caller gave, with `defaults` for fields that it does not know; fields that this library
/// does not know are left.
template <typename T> T takeStruct(const T *given, T defaults) {
  if (!given)
    return defaults;
  checkStructSize(*given);
  std::memcpy(&defaults, given, std::min(sizeof(defaults), given->struct_size));
  return defaults;
}

/// Fills as much of the caller's structure as it knows.
template <typename T> void giveStruct(T value, T *to) {
  checkStructSize(*to);
  value.struct_size = to->struct_size;
  std::memcpy(to, &value, std::min(sizeof(value), to->struct_size));
}

/// What a function of the C interface does around its work: takes the caller's options, runs
/// `work(options, result)`, and gives the result where one is wanted.
template <typename Options, typename Result, typename Work>
fovea_status *runWithOptions(const fovea_context *context, const Options *options, Options defaults,
                             Result *result, Result done, const Work &work) {
  return guarded([&] {
    if (!context || !options)
      failInvalid("context or options is NULL");
    Options own = takeStruct(options, defaults);
    if (result)
      checkStructSize(*result);
    work(own, done);
    if (result)
      giveStruct(done, result);
  });
}

} // namespace fovea

#endif // FOVEA_RUNTIME_STRUCTSIZE_H
