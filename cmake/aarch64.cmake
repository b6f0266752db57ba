# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How programs for aarch64 are made on a machine that is none: by the compiler that makes ours, with
# the C and C++ libraries of Debian's cross compiler and, of other libraries, the archives and
# headers that `scripts/setup --aarch64` puts into build/aarch64-libraries. qemu runs them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)

get_filename_component(libraries ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-libraries ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${libraries})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Headers of a library that depend on the processor lie apart from the others, which are ours.
set(CMAKE_C_FLAGS_INIT "-isystem ${libraries}/usr/include/aarch64-linux-gnu")
set(CMAKE_CXX_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu)
