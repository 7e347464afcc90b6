# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
# Stands in for ESP-IDF: reads each component first as a script, then in the build; app_main is called by a main of its own.
macro(project name)
  _project(${name} LANGUAGES C)
  file(WRITE ${CMAKE_BINARY_DIR}/early.cmake "set(CMAKE_BUILD_EARLY_EXPANSION 1)\nfunction(idf_component_register)\nendfunction()\n"
       "include(${CMAKE_CURRENT_SOURCE_DIR}/main/CMakeLists.txt)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -P ${CMAKE_BINARY_DIR}/early.cmake COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${CMAKE_BINARY_DIR}/start.c "void app_main(void);\nint main(void) { app_main(); return 0; }\n")
  add_executable(image ${CMAKE_BINARY_DIR}/start.c)
  add_subdirectory(main)
  target_link_libraries(image PRIVATE __idf_main m)
endmacro()

macro(idf_component_register)
  cmake_parse_arguments(component "" "" "SRCS" ${ARGN})
  set(COMPONENT_LIB __idf_main)
  add_library(${COMPONENT_LIB} STATIC ${component_SRCS})
endmacro()
