// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include <tests/fuzz/fuzz.hpp>

/// Runs a target over every file of the folders given, and over each file cut short at a few places.
int main(int argc, char** argv) {
    std::size_t inputs = 0;
    for (int i = 1; i < argc; ++i) {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        for (const auto& file : files) {
            std::ifstream in(file, std::ios::binary);
            const assay::Bytes bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
            for (std::size_t eighths = 0; eighths <= 8; ++eighths) {
                LLVMFuzzerTestOneInput(bytes.data(), bytes.size() * eighths / 8);
                ++inputs;
            }
        }
    }
    std::cout << inputs << " inputs\n";
    return inputs == 0 ? 1 : 0;
}
