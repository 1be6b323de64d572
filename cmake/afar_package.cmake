# cpack -G DEB: libafar (the library), libafar-dev (headers), afar (the command line, which needs
# neither). script/package builds them and can try them on a new Debian.
set(CPACK_PACKAGE_NAME afar)
set(CPACK_PACKAGE_VENDOR afar)
set(CPACK_PACKAGE_CONTACT "The afar authors <afar@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libafar)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Synchronisation across machines: the library")

# Loaded when a Redis URL is opened, so no dependency that dpkg-shlibdeps could see.
if(AFAR_WITH_REDIS)
  set(loaded_for_redis "libhiredis0.14, libssl3")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "${loaded_for_redis}")
  set(CPACK_DEBIAN_CLI_PACKAGE_RECOMMENDS "${loaded_for_redis}")
endif()

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libafar-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libafar (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Synchronisation across machines: headers and build files")

if(AFAR_BUILD_CLI)
  list(APPEND CPACK_COMPONENTS_ALL cli)
  set(CPACK_DEBIAN_CLI_PACKAGE_NAME afar)
  set(CPACK_DEBIAN_CLI_PACKAGE_SECTION utils)
  set(CPACK_COMPONENT_CLI_DESCRIPTION "Synchronisation across machines: the command line")
endif()
include(CPack)
