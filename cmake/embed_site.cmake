# Writes OUTPUT, a C++ file with the bytes of all files of a site:
#   cmake -D OUTPUT=... -D LIST=... -D HEADER=node/explorer/site_files.hpp -D NAMESPACE=assay::explorer -P embed_site.cmake
#
# HEADER declares site_files() in NAMESPACE.
# LIST has a line `target=path` for each file: the target of the requests that get it, and where it lies. A file /files.json is
# added: the targets of all others, by which the page knows what this node can serve besides the page itself.
file(STRINGS "${LIST}" lines)
set(arrays "")
set(rows "")
set(targets "")
set(number 0)

# Appends a file to the table: its target, its ETag, the hexadecimal digits of its bytes.
macro(append_file target hash hex)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  # Lines of 64 bytes: tools that read the file choke on one of megabytes.
  string(REGEX REPLACE "(................................................................................................................................................................................................................................................................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${number}[] = {\n${bytes}};\n")
  string(APPEND rows "    {\"${target}\", \"\\\"${hash}\\\"\", kFile${number}, ${size}},\n")
  math(EXPR number "${number} + 1")
endmacro()

foreach(line IN LISTS lines)
  string(FIND "${line}" "=" at)
  string(SUBSTRING "${line}" 0 ${at} target)
  math(EXPR at "${at} + 1")
  string(SUBSTRING "${line}" ${at} -1 path)
  file(READ "${path}" hex HEX)
  file(SHA256 "${path}" hash)
  append_file("${target}" "${hash}" "${hex}")
  list(APPEND targets "\"${target}\"")
endforeach()

list(JOIN targets "," joined)
set(listing "{\"files\":[${joined}]}\n")
file(WRITE "${OUTPUT}.json" "${listing}")
file(READ "${OUTPUT}.json" hex HEX)
file(SHA256 "${OUTPUT}.json" hash)
append_file("/files.json" "${hash}" "${hex}")

file(WRITE "${OUTPUT}" "// Written by cmake/embed_site.cmake.
#include <${HEADER}>

namespace ${NAMESPACE} {

namespace {

${arrays}
constexpr http::SiteFile kFiles[] = {
${rows}};

}  // namespace

std::span<const http::SiteFile> site_files() { return kFiles; }

}  // namespace ${NAMESPACE}
")
