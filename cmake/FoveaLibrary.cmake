# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The only place that knows how MLIR is found, how tablegen is called and how
# libraries are linked. LLVM and MLIR are linked as their two shared libraries
# (libMLIR, libLLVM), so that a test is linked in 0.2 s; programs that people
# start contain what they use of both, see fovea_starts_fast. Without the
# compiler (FOVEA_COMPILER) there is no MLIR.

if(FOVEA_COMPILER)
  find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
  message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} from ${MLIR_DIR}")
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # By the compiler's own list of what it read: else each source that is new is preprocessed first.
  # And a file is hashed once, not once for each source: the precompiled header has 230 MB.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=true CCACHE_INODECACHE=true
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE})
endif()

# Compile flags of all our own code.
include(FoveaHardening)
add_library(fovea_flags INTERFACE)
target_link_libraries(fovea_flags INTERFACE fovea_hardening)
target_compile_options(fovea_flags INTERFACE
  -Wall -Wextra -Wno-unused-parameter $<$<BOOL:${FOVEA_WERROR}>:-Werror>
  -fvisibility=hidden -fvisibility-inlines-hidden)

# fovea_precompile_headers(name <header>...): these headers, which most of its sources include, are read once.
# fovea_precompile_headers(name REUSE_FROM other): those of the other target.
function(fovea_precompile_headers name)
  if("${ARGV1}" STREQUAL REUSE_FROM)
    target_precompile_headers(${name} ${ARGN})
  else()
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
  endif()
endfunction()

if(FOVEA_COMPILER)
  # Code that uses MLIR: its include directories are system ones (their warnings
  # are not ours), and one precompiled header serves all of it.
  add_library(fovea_mlir_flags INTERFACE)
  target_include_directories(fovea_mlir_flags SYSTEM INTERFACE
    ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(fovea_mlir_flags INTERFACE ${LLVM_DEFINITIONS_LIST})
  target_compile_options(fovea_mlir_flags INTERFACE -fno-exceptions
    $<$<NOT:$<BOOL:${LLVM_ENABLE_RTTI}>>:-fno-rtti>)
  target_link_libraries(fovea_mlir_flags INTERFACE fovea_flags fovea_llvm)

  # LLVM and MLIR as the program at the end of the link wants them. Debian's descriptions of the archives
  # lead back to the shared libraries, so they are named as files; the linker takes of them what is used.
  file(GLOB llvm_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER llvm_archives EXCLUDE REGEX "libMLIR(CAPI|.*Test)")
  # Its headers are not needed, so neither is the package that has the name without a number.
  if(FOVEA_STANDALONE)
    find_library(FOVEA_ZSTD NAMES libzstd.a REQUIRED)
  else()
    find_library(FOVEA_ZSTD NAMES zstd libzstd.so.1 REQUIRED)
  endif()
  add_library(fovea_llvm INTERFACE)
  set(has_archives $<BOOL:$<TARGET_PROPERTY:FOVEA_LLVM_ARCHIVES>>)
  target_link_libraries(fovea_llvm INTERFACE
    "$<${has_archives}:${llvm_archives};ZLIB::ZLIB;${FOVEA_ZSTD}>"
    "$<$<NOT:${has_archives}>:MLIR;LLVM>")

  # fovea_starts_fast(program): the loader of a program with both shared libraries relocates 355,000
  # addresses and looks 49,000 names up: a start takes 21 ms of processor time. With archives it takes
  # 7, for a link of 1.4 s and 130 MB of code. Sanitized programs are linked with the shared ones.
  function(fovea_starts_fast program)
    if("${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
      return()
    endif()
    set_target_properties(${program} PROPERTIES FOVEA_LLVM_ARCHIVES ON)
    target_link_options(${program} PRIVATE
      -Wl,--gc-sections -Wl,-z,pack-relative-relocs -Wl,--build-id)
  endfunction()

  if(NOT TARGET fovea_mlir_pch)
    file(WRITE ${PROJECT_BINARY_DIR}/pch.cpp "")
    add_library(fovea_mlir_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
    target_link_libraries(fovea_mlir_pch PRIVATE fovea_mlir_flags)
    fovea_precompile_headers(fovea_mlir_pch ${PROJECT_SOURCE_DIR}/cmake/MLIRPrecompiled.h)
    # Once all that tablegen makes is described.
    cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL fovea_generated_first fovea_mlir_pch)
  endif()
endif()

# fovea_tablegen(TARGET file.td out1 -flag1 [-flag1b] , out2 -flag2 ...)
#
# fovea_tablegen(FoveaOpsIncGen FoveaOps.td
#   GEN FoveaOps.h.inc -gen-op-decls
#   GEN FoveaOps.cpp.inc -gen-op-defs)
function(fovea_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  set(current)
  foreach(word IN LISTS ARGN)
    if(word STREQUAL GEN)
      if(current)
        mlir_tablegen(${current})
      endif()
      set(current)
    else()
      list(APPEND current ${word})
    endif()
  endforeach()
  if(current)
    mlir_tablegen(${current})
  endif()
  add_custom_target(${target} DEPENDS ${TABLEGEN_OUTPUT})
  set_property(GLOBAL APPEND PROPERTY FOVEA_TABLEGEN_TARGETS ${target})
endfunction()

# fovea_generated_first(name): whatever tablegen makes, since any of our headers may include it; that
# takes a second in all.
function(fovea_generated_first name)
  get_property(generated GLOBAL PROPERTY FOVEA_TABLEGEN_TARGETS)
  if(generated)
    add_dependencies(${name} ${generated})
  endif()
endfunction()

# fovea_precompiled(name): the precompiled header of all code that uses MLIR.
function(fovea_precompiled name)
  # It was made with -fPIC; for a program CMake would say -fPIE.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  fovea_precompile_headers(${name} REUSE_FROM fovea_mlir_pch)
  fovea_generated_first(${name})
endfunction()

# fovea_mlir_library(Name [PARTIAL] a.cpp b.cpp [DEPENDS IncGen...] [LINK lib...])
# A static library of code that uses MLIR. Every .cpp of the folder is listed; with PARTIAL it shares
# its folder with others, whose CMakeLists.txt checks that.
function(fovea_mlir_library name)
  cmake_parse_arguments(arg "PARTIAL" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC fovea_mlir_flags ${arg_LINK})
  fovea_precompiled(${name})
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  if(NOT arg_PARTIAL)
    fovea_check_all_sources_listed(${arg_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# fovea_mlir_program(name [PARTIAL] a.cpp [LINK lib...]): a program of tools/ that uses MLIR.
function(fovea_mlir_program name)
  cmake_parse_arguments(arg "PARTIAL" "" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE fovea_mlir_flags ${arg_LINK})
  fovea_precompiled(${name})
  if(NOT arg_PARTIAL)
    fovea_check_all_sources_listed(${arg_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# fovea_plain_library(Name a.cpp [LINK lib...]): no MLIR, no LLVM inside.
function(fovea_plain_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC fovea_flags ${arg_LINK})
  fovea_check_all_sources_listed(${arg_UNPARSED_ARGUMENTS})
endfunction()

# fovea_flatbuffers(Target Schema.fbs): makes <build>/<folder>/Schema_generated.h,
# included as "<folder>/Schema_generated.h". A library that lists Target in LINK
# has it made first.
function(fovea_flatbuffers target schema)
  find_program(FLATC flatc REQUIRED)
  get_filename_component(stem ${schema} NAME_WE)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${stem}_generated.h)
  add_custom_command(OUTPUT ${header}
    COMMAND ${FLATC} --cpp --scoped-enums --gen-object-api --cpp-std c++17
            -o ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    COMMENT "Generating ${stem}_generated.h")
  add_custom_target(${target}_gen DEPENDS ${header})
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_gen)
endfunction()

# fovea_unoptimized(name): a program's, or what it reuses.
function(fovea_unoptimized name)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIE -O0 -U_FORTIFY_SOURCE)
endfunction()

# The headers that most unit tests include, precompiled.
function(fovea_test_headers)
  if(NOT TARGET fovea_test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/TestHeaders.cpp "")
    add_library(fovea_test_headers OBJECT ${PROJECT_BINARY_DIR}/TestHeaders.cpp)
    target_link_libraries(fovea_test_headers PRIVATE fovea_flags FoveaArtifact GTest::gtest)
    fovea_unoptimized(fovea_test_headers)
    fovea_precompile_headers(fovea_test_headers
      <gtest/gtest.h> ${PROJECT_SOURCE_DIR}/artifact/Format.h)
  endif()
endfunction()

# fovea_unit_test(Name [MLIR] a.cpp [LINK lib...]): a GoogleTest program of test/unit; build/bin/Name,
# also known to ctest. With MLIR its sources use that. Without it they are not optimised: what they
# test is, and their own code, most of it macros, runs for milliseconds and compiles for minutes.
function(fovea_unit_test name)
  cmake_parse_arguments(arg "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE fovea_flags ${arg_LINK} GTest::gtest_main)
  if(arg_MLIR)
    fovea_precompiled(${name})
  else()
    fovea_test_headers()
    fovea_unoptimized(${name})
    fovea_precompile_headers(${name} REUSE_FROM fovea_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  fovea_check_all_sources_listed(${arg_UNPARSED_ARGUMENTS})
endfunction()

# fovea_test_part(NAME program filter): a test that runs those cases of a GoogleTest program, in
# GoogleTest's own words. Its report is its own: programs that ctest starts at the same time would
# else choose one name for theirs.
function(fovea_test_part name program filter)
  add_test(NAME ${name} COMMAND ${program} --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
    "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/test-results/unit/${name}.xml")
endfunction()

# Fails at configure time if a .cpp of this folder is not listed.
function(fovea_check_all_sources_listed)
  file(GLOB present RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
       ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(source IN LISTS present)
    if(NOT source IN_LIST ARGN)
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/${source} is in no library; "
                          "list it in the folder's CMakeLists.txt")
    endif()
  endforeach()
endfunction()
