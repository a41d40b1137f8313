// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>

/// Writes the committed corpora from real objects; the same files on every run.
namespace assay::fuzz {

class CorpusWriter {
  public:
    explicit CorpusWriter(std::filesystem::path root) : root_(std::move(root)) {}
    /// Writes corpus/<target>/<name>.
    void write(const std::string& target, const std::string& name, ByteView bytes) const;
    void write(const std::string& target, const std::string& name, std::string_view text) const {
        write(target, name, as_bytes(text));
    }

  private:
    std::filesystem::path root_;
};

void write_core_seeds(const CorpusWriter& out);     ///< hex, address, keystore, jmt
void write_program_seeds(const CorpusWriter& out);  ///< partial, program
void write_trace_seeds(const CorpusWriter& out);    ///< proof, position, dispute
void write_chain_seeds(const CorpusWriter& out);    ///< tx, bundle, records, block, block_log
void write_onnx_seeds(const CorpusWriter& out);     ///< onnx
void write_group_seeds(const CorpusWriter& out);    ///< link, meeting, session, plan, statement, told
void write_sealed_seeds(const CorpusWriter& out);   ///< sealed
void write_file_seeds(const CorpusWriter& out);     ///< safetensors, text_dataset and everything written by people

}  // namespace assay::fuzz
