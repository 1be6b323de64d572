# Finds the header of libpq: LIBPQ_INCLUDE_DIR. The library itself is loaded at run time.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_LIBPQ QUIET libpq)
endif()
find_path(LIBPQ_INCLUDE_DIR libpq-fe.h HINTS ${PC_LIBPQ_INCLUDE_DIRS} PATH_SUFFIXES postgresql)
mark_as_advanced(LIBPQ_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibPQ
  REQUIRED_VARS LIBPQ_INCLUDE_DIR VERSION_VAR PC_LIBPQ_VERSION)
