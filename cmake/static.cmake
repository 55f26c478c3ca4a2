# SPDX-License-Identifier: Apache-2.0
# One program that needs no shared library: glibc's static-pie, and the libraries' archives in place of their
# shared objects. Those that Debian lacks are built by static_libraries.sh. Headers and definitions stay those
# of the packages, so that objects are the same as in a build against shared libraries.
set(folder ${PROJECT_SOURCE_DIR}/build/static-libraries)
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/cmake/static_libraries.sh ${folder} COMMAND_ERROR_IS_FATAL ANY)

function(dladvisor_archive target archive)
  find_library(path_of_${archive} ${archive} HINTS ${folder} NO_CACHE REQUIRED)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)  # of pkg-config
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES ${path_of_${archive}})
  else()
    set_property(TARGET ${target} APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_RELEASE ${path_of_${archive}} IMPORTED_SONAME_RELEASE "")
  endif()
endfunction()

dladvisor_archive(fmt::fmt libfmt.a)
dladvisor_archive(simdjson::simdjson libsimdjson.a)
dladvisor_archive(TBB::tbb libtbb.a)
dladvisor_archive(yaml-cpp libyaml-cpp.a)
dladvisor_archive(PkgConfig::RE2 libre2.a)
dladvisor_archive(PkgConfig::ISAL libisal.a)

set(CMAKE_SKIP_RPATH ON)
add_link_options(-static-pie)
