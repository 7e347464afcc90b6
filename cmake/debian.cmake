# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
# `make deb`: usmp-plan_VERSION_ARCH.deb with the program, libusmp-dev_VERSION_ARCH.deb with the library.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "usmp-plan")
set(CPACK_PACKAGE_CONTACT "usmp-plan maintainers <usmp-plan@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program library)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME usmp-plan)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION embedded)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "gcc | c-compiler, python3")  # verify --execute; export_tir.py
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "memory planner for TVM models on microcontrollers\nPlans every tensor and every scratch buffer of a neural network together\ninto the memories of a board, proves how good the plan is, and writes C in\nwhich every buffer has its place.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libusmp-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "usmp-plan, cmake")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
    "C++ library that plans buffers into memories\nProblems, lower bounds, planners and a verifier, as static libraries with\nheaders and a CMake package.")

configure_file(cmake/debian/changelog.in ${USMP_DOCUMENTS}/changelog/changelog.Debian)
execute_process(COMMAND gzip -9 -n -k -f ${USMP_DOCUMENTS}/changelog/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
foreach(package usmp-plan:program libusmp-dev:library)
  string(REPLACE ":" ";" parts ${package})
  list(GET parts 0 name)
  list(GET parts 1 component)
  install(FILES cmake/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  install(FILES ${USMP_DOCUMENTS}/changelog/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endforeach()
include(CPack)
