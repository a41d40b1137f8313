// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <tests/unit/folders.hpp>

namespace assay {

inline std::ifstream open_vectors(const std::string& name) {
    std::ifstream file(folders::source() + "/tests/vectors/" + name);
    REQUIRE(file.good());
    return file;
}

inline nlohmann::json json_vectors(const std::string& name) {
    auto file = open_vectors(name);
    return nlohmann::json::parse(file);
}

inline Bytes hex_bytes(const std::string& hex) {
    const auto bytes = from_hex(hex);
    REQUIRE(bytes.has_value());
    return *bytes;
}

}  // namespace assay
