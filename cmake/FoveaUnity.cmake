# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With CMAKE_UNITY_BUILD eight sources of a library are compiled as one: a build from nothing takes
# two thirds of the time, one after a change of one source longer. The sanitizers' builds do so, and
# FOVEA_UNITY=1 scripts/setup.
if(NOT CMAKE_UNITY_BUILD)
  return()
endif()

# These have names that others of their library have too, and are compiled alone; as are the
# families, each of which describes itself.
set(alone
  artifact/Temporary.cpp
  emulator/AluBaseline.cpp
  emulator/LoadStore.cpp
  emulator/MatrixMove.cpp
  emulator/Wgmma.cpp
  interpreter/Weights.cpp
  lowering/Math/WideMath.cpp
  lowering/Tile/TileToLoops.cpp
  passes/Elements/Folding.cpp
  passes/FuseGroups.cpp
  passes/MergeLinears.cpp
  passes/Raise/Attention/ConstantMasks.cpp
  passes/Raise/Attention/SplitScore.cpp
  passes/Raise/Norms.cpp
  passes/Raise/Reshapes.cpp
  runtime/template/Rendering.cpp
  runtime/template/TextMethods.cpp
  test/fuzz/support/WireTree.cpp
  test/grid/OpGrid.cpp
  test/grid/RemoteProcess.cpp
  test/grid/TileGrid.cpp
  test/grid/ToyTarget.cpp
  test/grid/WeightGrid.cpp
  test/smith/DrawNearMiss.cpp
  test/threads/WarpgroupTest.cpp
  test/unit/emulator/HopperTest.cpp
  test/unit/emulator/MatrixTest.cpp
  test/unit/frontend/ModelFiles.cpp
  test/unit/weights/StreamTest.cpp
  tools/fovea/FamiliesVerb.cpp
  tools/fovea/PrintArtifact.cpp
  tools/verbs/Translate.cpp
  tools/verify/Inputs.cpp
)
# fovea_folders(NAME folder): the folders that this build has, from one downwards.
function(fovea_folders result folder)
  get_directory_property(below DIRECTORY ${folder} SUBDIRECTORIES)
  set(all ${folder})
  foreach(one IN LISTS below)
    fovea_folders(inside ${one})
    list(APPEND all ${inside})
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

list(TRANSFORM alone PREPEND ${PROJECT_SOURCE_DIR}/)
foreach(source IN LISTS alone)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "cmake/FoveaUnity.cmake: ${source} does not exist")
  endif()
endforeach()
file(GLOB families CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/frontend/HuggingFace/families/*.cpp)
# CMake keeps a source's properties by folder of its target.
fovea_folders(folders ${PROJECT_SOURCE_DIR})
set_source_files_properties(${alone} ${families} DIRECTORY ${folders}
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# The runtime, whose size is tested, is as small as people build it.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  fovea_folders(folders ${PROJECT_SOURCE_DIR}/runtime)
  list(APPEND folders ${PROJECT_SOURCE_DIR}/artifact)
  foreach(folder IN LISTS folders)
    get_directory_property(targets DIRECTORY ${folder} BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    endforeach()
  endforeach()
endif()

# Generated code that says `fovea`, which is two namespaces behind `using namespace mlir`.
foreach(target FoveaCompile FoveaWeights)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#include \"artifact/Format.h\"")
  endif()
endforeach()
