# Finds the header of libmariadb: MARIADB_INCLUDE_DIR. The library itself is loaded at run time.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_MARIADB QUIET libmariadb)
endif()
find_path(MARIADB_INCLUDE_DIR mysql.h HINTS ${PC_MARIADB_INCLUDE_DIRS} PATH_SUFFIXES mariadb)
mark_as_advanced(MARIADB_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MariaDB
  REQUIRED_VARS MARIADB_INCLUDE_DIR VERSION_VAR PC_MARIADB_VERSION)
