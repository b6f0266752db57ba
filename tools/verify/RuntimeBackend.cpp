// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors to the runtime's and back. Refuses element types that the interpreter has no values for.
#include "tools/verify/RuntimeBackend.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

//===-- Elements -----------------------------------------------------------------------------===//

template <typename T> static void append(std::vector<char> &bytes, T value) {
  const char *begin = reinterpret_cast<const char *>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

template <typename T> static T load(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// Elements as the runtime wants them; false if it wants a type that we do not have.
static bool encode(const Tensor &tensor, fovea_dtype type, std::vector<char> &bytes) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    Element element = tensor.at(i);
    bool isReal = type.code == FOVEA_FLOAT || type.code == FOVEA_BFLOAT;
    if (isReal != tensor.isReal)
      return false;
    if (type.code == FOVEA_FLOAT && type.bits == 64)
      append(bytes, element.real);
    else if (type.code == FOVEA_FLOAT && type.bits == 32)
      append(bytes, static_cast<float>(element.real));
    else if (isReal && type.bits == 16) {
      llvm::APFloat number(element.real);
      bool losesInfo;
      number.convert(type.code == FOVEA_FLOAT ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat(),
                     llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      append(bytes, static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue()));
    } else if (type.bits == 8)
      append(bytes, static_cast<int8_t>(element.integer));
    else if (type.bits == 16)
      append(bytes, static_cast<int16_t>(element.integer));
    else if (type.bits == 32)
      append(bytes, static_cast<int32_t>(element.integer));
    else if (type.bits == 64)
      append(bytes, element.integer);
    else
      return false;
  }
  return true;
}

bool verify::decodeTensor(const fovea_tensor &from, Tensor &tensor) {
  fovea_dtype type = from.dtype;
  tensor.shape.assign(from.shape, from.shape + from.ndim);
  tensor.isReal = type.code == FOVEA_FLOAT || type.code == FOVEA_BFLOAT;
  int64_t count = countElements(tensor.shape);
  if (count < 0 || from.strides)
    return false;
  const char *at = static_cast<const char *>(from.data) + from.byte_offset;
  unsigned size = type.bits / 8;
  for (int64_t i = 0; i < count; ++i, at += size) {
    if (type.code == FOVEA_FLOAT && type.bits == 64)
      tensor.reals.push_back(load<double>(at));
    else if (type.code == FOVEA_FLOAT && type.bits == 32)
      tensor.reals.push_back(load<float>(at));
    else if (tensor.isReal && type.bits == 16) {
      llvm::APFloat number(type.code == FOVEA_FLOAT ? llvm::APFloat::IEEEhalf()
                                                    : llvm::APFloat::BFloat(),
                           llvm::APInt(16, load<uint16_t>(at)));
      tensor.reals.push_back(number.convertToDouble());
    } else if (type.code == FOVEA_BOOL && type.bits == 8)
      tensor.integers.push_back(load<int8_t>(at) != 0);
    else if (type.bits == 8)
      tensor.integers.push_back(load<int8_t>(at));
    else if (type.bits == 16)
      tensor.integers.push_back(load<int16_t>(at));
    else if (type.bits == 32)
      tensor.integers.push_back(load<int32_t>(at));
    else if (type.bits == 64)
      tensor.integers.push_back(load<int64_t>(at));
    else
      return false;
  }
  return true;
}

//===-- The backend --------------------------------------------------------------------------===//

LogicalResult RuntimeBackend::check(fovea_status *status) {
  if (!status)
    return success();
  std::string message = fovea_status_message(status);
  fovea_status_free(status);
  return emitError(UnknownLoc::get(context)) << "compiled code: " << message;
}

FailureOr<std::unique_ptr<Backend>> RuntimeBackend::open(MLIRContext *context,
                                                         const std::string &artifact, int threads,
                                                         std::string device,
                                                         ::fovea::artifact::FileAccess access) {
  std::unique_ptr<RuntimeBackend> backend(new RuntimeBackend(context, threads, std::move(device)));
  fovea_module_options options = FOVEA_MODULE_OPTIONS_INIT;
  options.copy = access == ::fovea::artifact::FileAccess::Copied;
  if (failed(backend->check(fovea_module_open_with(artifact.c_str(), &options, &backend->module))))
    return failure();
  return std::unique_ptr<Backend>(std::move(backend));
}

RuntimeBackend::~RuntimeBackend() {
  fovea_context_free(runtime);
  fovea_module_free(module);
}

bool RuntimeBackend::hasEntry(StringRef entry) {
  size_t number;
  fovea_status *missing = fovea_module_find_entry(module, entry.str().c_str(), &number);
  fovea_status_free(missing);
  return !missing;
}

LogicalResult RuntimeBackend::reset(int64_t, int64_t capacity) {
  fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
  options.threads = threads;
  options.device = device.c_str();
  // A source that is no text may have more positions than a text.
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  if (failed(check(fovea_module_get_info(module, &info))))
    return failure();
  options.capacity = std::max<int64_t>(capacity, 1);
  if (info.max_positions > 0)
    options.capacity = std::min(options.capacity, info.max_positions);
  // Before the one before is freed: with its last user a GPU's own context goes, and takes longer
  // to come back (150 ms) than most cases run.
  fovea_context *made = nullptr;
  fovea_status *status = fovea_context_create(module, &options, &made);
  fovea_context_free(runtime);
  runtime = made;
  return check(status);
}

FailureOr<std::vector<TensorRef>> RuntimeBackend::run(StringRef name, ArrayRef<TensorRef> tensors) {
  if (!runtime && failed(reset(1, 1)))
    return failure();
  size_t number;
  fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
  std::string entryName = name.str();
  if (failed(check(fovea_module_find_entry(module, entryName.c_str(), &number))) ||
      failed(check(fovea_module_get_entry(module, number, &entry))))
    return failure();
  fovea_call *made = nullptr;
  if (failed(check(fovea_call_create(runtime, entryName.c_str(), &made))))
    return failure();
  std::unique_ptr<fovea_call, void (*)(fovea_call *)> call(made, fovea_call_free);
  auto unknownType = [&](const char *what) {
    return emitError(UnknownLoc::get(context))
           << "expects an element type that the interpreter knows for '" << what << "' of '" << name
           << "'";
  };

  std::vector<std::vector<char>> buffers;
  for (size_t i = 0; i < entry.argument_count; ++i) {
    fovea_value_info info = FOVEA_VALUE_INFO_INIT;
    if (failed(check(fovea_module_get_argument(module, number, i, &info))))
      return failure();
    if (info.is_cache)
      continue;
    if (tensors.empty())
      return emitError(UnknownLoc::get(context))
             << "expects a tensor for '" << info.name << "' of '" << name << "'";
    const Tensor &tensor = *tensors.front();
    tensors = tensors.drop_front();
    buffers.emplace_back();
    if (!encode(tensor, info.dtype, buffers.back()))
      return unknownType(info.name);
    buffers.back().push_back(0); // no tensor without an address
    SmallVector<int64_t> shape(ArrayRef<int64_t>(tensor.shape));
    fovea_tensor described{};
    described.data = buffers.back().data();
    described.device = {FOVEA_CPU, 0};
    described.ndim = static_cast<int32_t>(shape.size());
    described.dtype = info.dtype;
    described.shape = shape.data();
    if (failed(check(fovea_call_set_argument(call.get(), info.name, &described))))
      return failure();
  }
  if (failed(check(fovea_call_run(call.get()))))
    return failure();

  std::vector<TensorRef> results;
  for (size_t i = 0; i < entry.result_count; ++i) {
    fovea_value_info info = FOVEA_VALUE_INFO_INIT;
    if (failed(check(fovea_module_get_result(module, number, i, &info))))
      return failure();
    if (info.is_cache)
      continue;
    const fovea_tensor *described;
    if (failed(check(fovea_call_get_result(call.get(), info.name, &described))))
      return failure();
    auto tensor = std::make_shared<Tensor>();
    if (!decodeTensor(*described, *tensor))
      return unknownType(info.name);
    results.push_back(tensor);
  }
  return results;
}

int verify::openUnnamed() {
  SmallString<128> folder, path;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0)
    return file;
  // Not all file systems have such.
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("fovea-verify", "fovea", file, path)) {
    errno = error.value();
    return -1;
  }
  ::unlink(path.c_str());
  return file;
}

BackendFactory verify::makeRuntimeFactory(CompileFunction compile, int threads,
                                          std::string device) {
  return [compile = std::move(compile), threads,
          device = std::move(device)](ModuleOp module) -> FailureOr<std::unique_ptr<Backend>> {
    int file = openUnnamed();
    if (file < 0)
      return module.emitError("expects a place for a temporary artifact: ") << std::strerror(errno);
    llvm::scope_exit close([&] { ::close(file); });
    std::string path = "/proc/self/fd/" + std::to_string(file);
    OwningOpRef<ModuleOp> copy = module.clone();
    if (failed(compile(*copy, path)))
      return failure();
    return RuntimeBackend::open(module.getContext(), path, threads, device);
  };
}
