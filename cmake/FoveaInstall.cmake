# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake --install build --prefix PREFIX: programs, the runtime with its header, how CMake and
# pkg-config find it, manual pages and completions. Installed files may be moved together.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(programs fovea-run)
if(FOVEA_COMPILER)
  list(APPEND programs fovea fovea-opt)
endif()
install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS FoveaRuntime EXPORT FoveaTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS FoveaEmulatorDevice LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES runtime/include/fovea/runtime.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fovea)
# In a prefix the library is in lib/, in a Python package above the programs.
set_target_properties(${programs} PROPERTIES
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN/..")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Fovea)
set_target_properties(FoveaRuntime PROPERTIES EXPORT_NAME runtime)
install(EXPORT FoveaTargets NAMESPACE Fovea:: FILE FoveaConfig.cmake DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/FoveaConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/FoveaConfigVersion.cmake DESTINATION ${package})

file(WRITE ${PROJECT_BINARY_DIR}/fovea.pc
"prefix=\${pcfiledir}/../..
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: fovea
Description: Runs Transformer models that Fovea compiled
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -lfovea-runtime
Cflags: -I\${includedir}
")
install(FILES ${PROJECT_BINARY_DIR}/fovea.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What the programs say of themselves.
set(pages)
list(REMOVE_ITEM programs fovea-opt)
foreach(program ${programs})
  set(folder ${PROJECT_BINARY_DIR}/share/${program})
  add_custom_command(OUTPUT ${folder}/man ${folder}/bash ${folder}/zsh ${folder}/fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${program} man > ${folder}/man
    COMMAND ${program} completions bash > ${folder}/bash
    COMMAND ${program} completions zsh > ${folder}/zsh
    COMMAND ${program} completions fish > ${folder}/fish
    DEPENDS ${program}
    COMMENT "Generating the manual page and completions of ${program}")
  list(APPEND pages ${folder}/man)
  install(FILES ${folder}/man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME ${program}.1)
  install(FILES ${folder}/bash RENAME ${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${folder}/zsh RENAME _${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${folder}/fish RENAME ${program}.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endforeach()
add_custom_target(fovea_pages ALL DEPENDS ${pages})
