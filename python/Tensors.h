// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays of Python as the runtime's tensors, without copies.
#ifndef FOVEA_PYTHON_TENSORS_H
#define FOVEA_PYTHON_TENSORS_H

#include "python/Handles.h"

namespace fovea::python {

/// "int64"; as numpy and torch call it.
std::string nameOf(fovea_dtype dtype);

/// What DLPack or the buffer protocol gives of `value`; lists and numbers become arrays of the type
/// that is expected. Raises fovea.ArgumentError for a wrong type, rank, fixed size, for gaps
/// between the elements, and for tensors that require gradients.
void readArgument(const std::string &entry, const Value &expected, nb::handle value,
                  Argument &argument);

} // namespace fovea::python

#endif // FOVEA_PYTHON_TENSORS_H
