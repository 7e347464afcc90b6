# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
# The libraries of others that programs are made of. Those of which the property USMP_STATIC is true have them inside.
find_package(CLI11 REQUIRED)
find_package(LibArchive REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_library(USMP_ZSTD_LIBRARY zstd REQUIRED)

# `shared`, or `static` in programs that want it.
function(usmp_either name shared static)
  set(is_static $<BOOL:$<TARGET_PROPERTY:USMP_STATIC>>)
  set(${name} $<${is_static}:${static}> $<$<NOT:${is_static}>:${shared}> PARENT_SCOPE)
endfunction()

set(tar_alone ${PROJECT_BINARY_DIR}/generated/libarchive_tar.a)
find_library(USMP_LIBARCHIVE_STATIC libarchive.a)
find_library(USMP_ZLIB_STATIC libz.a)
find_library(USMP_LZMA_STATIC liblzma.a)
find_library(USMP_ZSTD_STATIC libzstd.a)
find_library(USMP_YAML_STATIC libyaml-cpp.a)
usmp_either(USMP_COMPRESSED "LibArchive::LibArchive;ZLIB::ZLIB;LibLZMA::LibLZMA;${USMP_ZSTD_LIBRARY}"
            "${tar_alone};${USMP_ZLIB_STATIC};${USMP_LZMA_STATIC};${USMP_ZSTD_STATIC}")
usmp_either(USMP_YAML yaml-cpp "${USMP_YAML_STATIC}")

# Headers alone: Debian has fmt and spdlog so, or as shared objects whose names change with every release.
add_library(usmp_spdlog INTERFACE)
target_compile_definitions(usmp_spdlog INTERFACE $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_COMPILE_DEFINITIONS>)
target_link_libraries(usmp_spdlog INTERFACE fmt::fmt-header-only)

# Programs and tests alone have it: who links the library allocates as he likes.
set(USMP_ALLOCATOR)
if(USMP_JEMALLOC AND NOT USMP_SANITIZE AND NOT USMP_FUZZ)
  find_library(USMP_JEMALLOC_LIBRARY jemalloc REQUIRED)
  find_library(USMP_JEMALLOC_STATIC libjemalloc_pic.a)
  usmp_either(USMP_ALLOCATOR ${USMP_JEMALLOC_LIBRARY} "${USMP_JEMALLOC_STATIC};${CMAKE_DL_LIBS};m")
endif()

# Before the libraries are linked into a program. libarchive's table of formats names them all, and would bring in an XML
# library with the character sets of the world. Where these names are weak, only the formats come in that we name.
function(usmp_link_statically program)
  foreach(library LIBARCHIVE ZLIB LZMA ZSTD YAML)
    if(NOT USMP_${library}_STATIC)
      message(FATAL_ERROR "${program} needs a static ${library}: found none")
    endif()
  endforeach()
  set_target_properties(${program} PROPERTIES USMP_STATIC TRUE)
  if(NOT TARGET usmp_tar_alone)
    add_custom_command(OUTPUT ${tar_alone}
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated
                       COMMAND ${CMAKE_OBJCOPY} --wildcard --weaken-symbol=archive_write_set_format_* ${USMP_LIBARCHIVE_STATIC} ${tar_alone}
                       DEPENDS ${USMP_LIBARCHIVE_STATIC} VERBATIM)
    add_custom_target(usmp_tar_alone DEPENDS ${tar_alone})
  endif()
  add_dependencies(${program} usmp_tar_alone)
endfunction()
