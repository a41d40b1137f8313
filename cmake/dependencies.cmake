# Third parties, all Debian 12 packages (tools/quickstart.sh installs them). Each is private to the module that wraps it.
find_package(Threads REQUIRED)
find_package(doctest REQUIRED)
include(doctest)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(secp256k1 REQUIRED IMPORTED_TARGET libsecp256k1)
pkg_check_modules(cryptopp REQUIRED IMPORTED_TARGET libcrypto++)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
find_package(RocksDB REQUIRED)
find_path(BOOST_BEAST_INCLUDE boost/beast.hpp REQUIRED)
if(ASSAY_WITH_TORCH)
  find_package(Torch REQUIRED)
  # Torch's own targets drag in gflags and protobuf targets that have no location on Debian; the engine needs three
  # libraries. libtorch.so itself is empty, but names those that register a device's kernels.
  get_filename_component(torch_lib_dir ${TORCH_LIBRARY} DIRECTORY)
  find_library(TORCH_CPU_LIBRARY torch_cpu HINTS ${torch_lib_dir} REQUIRED)
  find_library(C10_LIBRARY c10 HINTS ${torch_lib_dir} REQUIRED)
  add_library(assay_torch INTERFACE)
  target_include_directories(assay_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(assay_torch INTERFACE
    -Wl,--no-as-needed ${TORCH_LIBRARY} -Wl,--as-needed ${TORCH_CPU_LIBRARY} ${C10_LIBRARY})
endif()
