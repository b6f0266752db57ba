# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What our own programs and libraries are compiled and linked with so that a fault
# of memory ends the program where it happens: stack protectors, checked calls of
# the C library, checked containers; tables of addresses that are read-only once
# the program runs, position independence, no executable stack. Code that Fovea
# generates is not compiled by this. Landing pads for indirect jumps are left out:
# Debian's startup code has none, and a program without a gap is what they need.
#
# Sanitizers find more, and some of it before these do: with them it is off.
include_guard()

option(FOVEA_HARDENED "Build with protections against faults of memory" ON)

add_library(fovea_hardening INTERFACE)
if(FOVEA_HARDENED AND NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
  target_compile_options(fovea_hardening INTERFACE -fstack-protector-strong)
  # The C library's checks need sizes that only an optimising compiler knows.
  target_compile_options(fovea_hardening INTERFACE
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
    $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
  target_compile_definitions(fovea_hardening INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(fovea_hardening INTERFACE
    -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()
