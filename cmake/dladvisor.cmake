# SPDX-License-Identifier: Apache-2.0
# A library per folder. Sources are globbed, so that a new file needs no edit here; a folder may include the
# headers of the folders that its library links itself, and no others (check_includes.sh).
#
#   dladvisor_library(trace HOT ALL LINK dla_base)   # every .cc of the current folder becomes library dla_trace
#   dladvisor_library(analysis_host WITH analysis HOT api_name sync_site LINK dla_trace)
#
# HOT names what works on each event, or on each cell that is written, and is optimised most. COLD marks what
# works on results and need not be fast: like tests it is optimised least, in the tests' build not at all. -Og
# compiles in two thirds of the time of -O2, -O1 in three quarters. WITH compiles what is not hot together with
# that of other folders: a third of the time goes to what each unit has of the library's templates.

add_library(dla_flags INTERFACE)
target_include_directories(dla_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_link_libraries(dla_flags INTERFACE fmt::fmt Threads::Threads)
target_compile_options(dla_flags INTERFACE -pthread)
if(DLADVISOR_WARNINGS)
  target_compile_options(dla_flags INTERFACE -Werror -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Wconversion -Wno-sign-conversion)
else()
  # Looking for what the tests' build refuses anyway takes a twelfth of the compilation.
  target_compile_options(dla_flags INTERFACE -w)
endif()
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  target_compile_options(dla_flags INTERFACE -fpch-preprocess)  # ccache needs it beside precompiled headers
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 optimising raises false alarms on inlined operations of std::variant (GCC bugs 105580, 105593).
  target_compile_options(dla_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ by default looks for garbage each time that its heap has doubled: a tenth of the compilation, for units
  # that need up to 1.2 GB without.
  target_compile_options(dla_flags INTERFACE --param=ggc-min-heapsize=1000000)
endif()
if(DLADVISOR_SANITIZE)
  target_compile_options(dla_flags INTERFACE -fsanitize=${DLADVISOR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(DLADVISOR_SANITIZE MATCHES undefined)
    # Two fifths of the compilation, for what the address sanitizer finds as well.
    target_compile_options(dla_flags INTERFACE -fno-sanitize=null,vptr,object-size,alignment,pointer-overflow)
  endif()
  target_link_options(dla_flags INTERFACE -fsanitize=${DLADVISOR_SANITIZE})
endif()
find_program(LLD ld.lld)
if(LLD)
  target_link_options(dla_flags INTERFACE -fuse-ld=lld)  # the fastest of Debian's linkers
endif()

# The headers that nearly every file includes, compiled once and shared by all targets: as it is, and less
# optimised.
file(WRITE ${PROJECT_BINARY_DIR}/pch_anchor.cc "")
add_library(dla_pch OBJECT ${PROJECT_BINARY_DIR}/pch_anchor.cc)
add_library(dla_cold_pch OBJECT ${PROJECT_BINARY_DIR}/pch_anchor.cc)
set(less_optimised $<$<CONFIG:Release>:-Og>)
set(cold_options ${less_optimised} $<$<CONFIG:Debug>:-O0>)
target_compile_options(dla_cold_pch PRIVATE ${cold_options})
foreach(pch dla_pch dla_cold_pch)
  target_link_libraries(${pch} PUBLIC dla_flags)
  target_precompile_headers(${pch} PRIVATE <algorithm> <array> <cstdint> <filesystem> <functional> <map>
    <memory> <optional> <set> <span> <stdexcept> <string> <string_view> <unordered_map> <utility> <variant>
    <vector> <fmt/format.h>)
endforeach()

function(dladvisor_cold target)
  target_compile_options(${target} PRIVATE ${cold_options})
  target_precompile_headers(${target} REUSE_FROM dla_cold_pch)
endfunction()

# Sets OUT to the library that compiles what LIBRARY names, or none where it is one of its own.
function(dladvisor_compiled_in out library)
  get_property(in GLOBAL PROPERTY ${library}_COMPILED_IN)
  set(${out} ${in} PARENT_SCOPE)
endfunction()

# Adds LIBRARY for sources optimised as LEVEL says: HOT, COLD or neither.
function(dladvisor_objects library level)
  if(TARGET ${library})
    return()
  endif()
  add_library(${library} STATIC ${PROJECT_BINARY_DIR}/pch_anchor.cc)
  target_link_libraries(${library} PUBLIC dla_flags)
  if(level STREQUAL COLD)
    dladvisor_cold(${library})
    return()
  endif()
  target_precompile_headers(${library} REUSE_FROM dla_pch)
  if(NOT level STREQUAL HOT)
    target_compile_options(${library} PRIVATE ${less_optimised})
  endif()
endfunction()

function(dladvisor_library name)
  cmake_parse_arguments(ARG "COLD" "WITH" "HOT;LINK;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(hot ${ARG_HOT})
  if(ARG_HOT STREQUAL ALL)
    set(hot ${sources})
    set(sources "")
  else()
    list(TRANSFORM hot REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1.cc")
    list(REMOVE_ITEM sources "" ${hot})
  endif()
  set(level "")
  if(ARG_COLD)
    set(level COLD)
  endif()

  set(libraries "")
  if(hot)
    dladvisor_objects(dla_${name} HOT)
    target_sources(dla_${name} PRIVATE ${hot} ${ARG_SOURCES})
    list(APPEND libraries dla_${name})
  endif()
  if(ARG_WITH)
    set(together dla_${ARG_WITH}_folders)
    dladvisor_objects(${together} "${level}")
    target_sources(${together} PRIVATE ${sources})
    list(APPEND libraries ${together})
    if(hot)
      target_link_libraries(dla_${name} PUBLIC ${together})
      target_link_libraries(${together} PUBLIC dla_${name})
    else()
      add_library(dla_${name} INTERFACE)
      target_link_libraries(dla_${name} INTERFACE ${together})
      set_property(GLOBAL PROPERTY dla_${name}_COMPILED_IN ${together})
    endif()
  elseif(NOT hot)
    dladvisor_objects(dla_${name} "${level}")
    target_sources(dla_${name} PRIVATE ${sources} ${ARG_SOURCES})
    list(APPEND libraries dla_${name})
  endif()

  foreach(linked ${ARG_LINK})
    dladvisor_compiled_in(in ${linked})
    if(in)
      set(linked ${in})
    endif()
    foreach(library ${libraries})
      if(NOT library STREQUAL linked)
        target_link_libraries(${library} PUBLIC ${linked})
      endif()
    endforeach()
  endforeach()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(JOIN " " line ${folder} dla_${name} ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY DLADVISOR_FOLDERS ${line})
endfunction()

# Writes what every folder links, a line each (FOLDER LIBRARY LINKED...), and tests that includes agree and that
# files are found by name.
function(dladvisor_check_includes)
  get_property(folders GLOBAL PROPERTY DLADVISOR_FOLDERS)
  list(JOIN folders "\n" text)
  file(WRITE ${PROJECT_BINARY_DIR}/folders.txt "${text}\n")
  add_test(NAME includes COMMAND ${PROJECT_SOURCE_DIR}/cmake/check_includes.sh ${PROJECT_BINARY_DIR}/folders.txt)
  add_test(NAME names COMMAND ${PROJECT_SOURCE_DIR}/cmake/check_names.sh)
endfunction()

# Embeds every file below DIRECTORY whose name matches one of PATTERNS as
# `std::span<const dladvisor::EmbeddedFile> dladvisor::NAME()` (see engine/base/embedded.h).
function(dladvisor_embed out_var)
  cmake_parse_arguments(ARG "" "NAME;DIRECTORY" "PATTERNS" ${ARGN})
  set(globs "")
  foreach(pattern ${ARG_PATTERNS})
    list(APPEND globs ${ARG_DIRECTORY}/${pattern})
  endforeach()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${globs})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.embedded.cc)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${ARG_NAME} -DROOT=${ARG_DIRECTORY} "-DFILES=${files}" -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${out_var} ${output} PARENT_SCOPE)
endfunction()

# tests/FOLDER/*.cc as one GoogleTest program, whose cases ctest lists one by one.
function(dladvisor_test folder)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${folder}_test ${sources})
  set_target_properties(${folder}_test PROPERTIES UNITY_BUILD_BATCH_SIZE 12)  # which compile within 1.5 GB
  target_link_libraries(${folder}_test PRIVATE dla_test_support ${ARG_LINK} GTest::gtest_main GTest::gmock)
  dladvisor_cold(${folder}_test)
  if(DLADVISOR_SANITIZE MATCHES address)
    # A tenth of the compilation; what tests call has the check.
    target_compile_options(${folder}_test PRIVATE -fno-sanitize-address-use-after-scope)
  endif()
  gtest_discover_tests(${folder}_test TEST_PREFIX ${folder}/ DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES)
endfunction()
