# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
# What `make install` and the packages hold: the program with its documents, and the planning library with its headers.
set(documentation ${CMAKE_INSTALL_DOCDIR})
if(USMP_DEBIAN)
  set(zsh_completions ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)  # Debian's zsh looks there
else()
  set(zsh_completions ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

install(TARGETS usmp-plan RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(PROGRAMS apps/export_tir.py DESTINATION ${CMAKE_INSTALL_DATADIR}/usmp-plan COMPONENT program)
install(FILES ${USMP_DOCUMENTS}/man/usmp-plan.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${USMP_DOCUMENTS}/bash/usmp-plan
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${USMP_DOCUMENTS}/zsh/_usmp-plan DESTINATION ${zsh_completions} COMPONENT program)
install(FILES ${USMP_DOCUMENTS}/fish/usmp-plan.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES README.md SECURITY.md CONTRIBUTING.md DESTINATION ${documentation} COMPONENT program)
# What the documents link to.
install(DIRECTORY examples DESTINATION ${documentation} COMPONENT program)
install(PROGRAMS apps/export_tir.py DESTINATION ${documentation}/apps COMPONENT program)
if(NOT USMP_DEBIAN)  # whose packages say it in their file copyright
  install(FILES LICENSE DESTINATION ${documentation} COMPONENT program)
endif()
# The licences' texts, which are not in this repository: Debian's own, and those of the libraries' packages.
install(FILES NOTICE THIRD-PARTY.md DESTINATION ${documentation} COMPONENT program)
set(licences ${documentation}/licences)
if(EXISTS /usr/share/common-licenses/Apache-2.0 AND NOT USMP_DEBIAN)
  install(FILES /usr/share/common-licenses/Apache-2.0 DESTINATION ${licences} COMPONENT program)
endif()
foreach(package libcli11-dev nlohmann-json3-dev libflatbuffers-dev libfmt-dev libspdlog-dev libyaml-cpp-dev libarchive-dev libjemalloc-dev)
  set(copyright /usr/share/doc/${package}/copyright)
  if(EXISTS ${copyright})
    file(REAL_PATH ${copyright} copyright)
    install(FILES ${copyright} DESTINATION ${licences} RENAME ${package} COMPONENT program)
  endif()
endforeach()
install(DIRECTORY docs DESTINATION ${documentation} COMPONENT program)

# The function usmp_plan for CMake, and the module that offers it to Zephyr. They know no architecture, so that projects
# that are compiled for another one find them.
include(CMakePackageConfigHelpers)
set(USMP_PROGRAM ${CMAKE_INSTALL_BINDIR}/usmp-plan)
set(USMP_SHARED ${CMAKE_INSTALL_DATADIR}/usmp-plan)
configure_package_config_file(cmake/usmp-plan-config.cmake.in ${PROJECT_BINARY_DIR}/usmp-plan-config.cmake
                              INSTALL_DESTINATION ${USMP_SHARED} PATH_VARS USMP_PROGRAM)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/usmp-plan-config-version.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
install(FILES cmake/usmp_plan.cmake ${PROJECT_BINARY_DIR}/usmp-plan-config.cmake
              ${PROJECT_BINARY_DIR}/usmp-plan-config-version.cmake DESTINATION ${USMP_SHARED} COMPONENT program)
install(DIRECTORY cmake/zephyr DESTINATION ${USMP_SHARED} COMPONENT program)

# The library.
set_target_properties(usmp_library PROPERTIES EXPORT_NAME usmp)
foreach(module IN LISTS public_modules)
  set_target_properties(usmp_${module} PROPERTIES EXPORT_NAME ${module})
  install(DIRECTORY include/usmp/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/usmp COMPONENT library)
endforeach()
install(TARGETS usmp_library ${public_targets} EXPORT usmp-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/usmp)
install(EXPORT usmp-targets NAMESPACE usmp:: DESTINATION ${package_directory} COMPONENT library)
configure_package_config_file(cmake/usmp-config.cmake.in ${PROJECT_BINARY_DIR}/usmp-config.cmake
                              INSTALL_DESTINATION ${package_directory} PATH_VARS USMP_SHARED)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/usmp-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/usmp-config.cmake ${PROJECT_BINARY_DIR}/usmp-config-version.cmake
        DESTINATION ${package_directory} COMPONENT library)
