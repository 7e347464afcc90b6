# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
# usmp-plan as a part of another project, by add_subdirectory or FetchContent: usmp_plan() for its targets. That project may
# compile for a board, so the program is built beside it, for this machine, while CMake runs; USMP_PLAN_EXECUTABLE names one
# that is there already. The targets of the planning library are there with USMP_LIBRARY.
if(NOT USMP_PLAN_EXECUTABLE)
  set(host ${CMAKE_CURRENT_BINARY_DIR}/host)
  set(USMP_HOST_OPTIONS "" CACHE STRING "Further options of CMake for usmp-plan itself, a program of this machine")
  message(STATUS "usmp-plan: building the program for this machine in ${host}")
  # Not the compilers and flags of the board, which the environment may name.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS --unset=CXXFLAGS --unset=LDFLAGS
                          ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_SOURCE_DIR} -B ${host} -G ${CMAKE_GENERATOR} -DCMAKE_BUILD_TYPE=Release
                          -DUSMP_UNITY=ON -DUSMP_TESTS=OFF ${USMP_HOST_OPTIONS}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${host} --parallel --target usmp-plan OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  set(USMP_PLAN_EXECUTABLE ${host}/usmp-plan CACHE FILEPATH "The memory planner, a program of the host" FORCE)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/usmp_plan.cmake)
