// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <fstream>
#include <iostream>

#include <tests/fuzz/seeds.hpp>

namespace assay::fuzz {

void CorpusWriter::write(const std::string& target, const std::string& name, ByteView bytes) const {
    const std::filesystem::path folder = root_ / target;
    std::filesystem::create_directories(folder);
    std::ofstream out(folder / name, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out) {
        throw std::runtime_error("cannot write " + (folder / name).string());
    }
}

}  // namespace assay::fuzz

/// make_corpus FOLDER
int main(int argc, char** argv) {
    // A word that begins with "-" asks for something else than a folder of that name.
    if (argc != 2 || *argv[1] == '-') {
        std::cerr << "usage: make_corpus tests/fuzz/corpus\n";
        return 2;
    }
    // The games that seeds_trace plays check themselves with doctest's macros.
    doctest::Context context;
    context.setAsDefaultForAssertsOutOfTestCases();
    const assay::fuzz::CorpusWriter out(argv[1]);
    assay::fuzz::write_core_seeds(out);
    assay::fuzz::write_program_seeds(out);
    assay::fuzz::write_trace_seeds(out);
    assay::fuzz::write_chain_seeds(out);
    assay::fuzz::write_onnx_seeds(out);
    assay::fuzz::write_file_seeds(out);
    assay::fuzz::write_sealed_seeds(out);
    assay::fuzz::write_group_seeds(out);
    return 0;
}
