# Finds the headers of libzookeeper-mt (ZOOKEEPER_INCLUDE_DIR), which has no pkg-config file. The library
# itself is loaded when a ZooKeeper URL is opened.
find_path(ZOOKEEPER_INCLUDE_DIR zookeeper/zookeeper.h)
mark_as_advanced(ZOOKEEPER_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(zookeeper REQUIRED_VARS ZOOKEEPER_INCLUDE_DIR)
