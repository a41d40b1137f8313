// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <tools/spec/files.hpp>

namespace {

int write_all(const std::filesystem::path& root) {
    for (const auto& [path, text] : assay::spec::generate_files()) {
        std::ofstream file(root / path, std::ios::binary);
        file << text;
        if (!file.flush()) {
            std::cerr << "assay-spec: cannot write " << (root / path) << "\n";
            return 1;
        }
    }
    return 0;
}

int check_all(const std::filesystem::path& root) {
    int stale = 0;
    for (const auto& [path, text] : assay::spec::generate_files()) {
        std::ifstream file(root / path, std::ios::binary);
        const std::string found{std::istreambuf_iterator<char>(file), {}};
        if (found != text) {
            std::cerr << path << " is stale: run `assay-spec --write` on the source tree\n";
            ++stale;
        }
    }
    return stale == 0 ? 0 : 1;
}

}  // namespace

/// Generates the files of the specification from the code, or compares them with it.
int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--write") == 0) {
        return write_all(argv[2]);
    }
    if (argc == 3 && std::strcmp(argv[1], "--check") == 0) {
        return check_all(argv[2]);
    }
    std::cerr << "usage: assay-spec --write ROOT | --check ROOT\n";
    return 2;
}
