// SPDX-License-Identifier: Apache-2.0
#include <node/app/config.hpp>
#include <node/app/genesis_file.hpp>
#include <tests/fuzz/seeds.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/safetensors.hpp>

namespace assay::fuzz {
namespace {

Bytes with_header(std::string_view header, std::size_t data) {
    Bytes out(8);
    out[0] = static_cast<std::uint8_t>(header.size());
    append(out, as_bytes(header));
    out.resize(out.size() + data);
    return out;
}

void write_safetensors(const CorpusWriter& out) {
    using canonical::DType;
    artifacts::SafetensorsFile file;
    file.metadata = {{"context", "2"}};
    file.tensors = {{"a", canonical::make_tensor(DType::kF32, {2, 3})}, {"b", canonical::make_tensor(DType::kI64, {1, 1})}};
    out.write("safetensors", "two", artifacts::encode_safetensors(file));
    const auto dataset = artifacts::build_text_dataset("to be or not to be", 3);
    out.write("safetensors", "dataset", dataset.value().artifact);
    out.write("safetensors", "vector", with_header(R"({"v":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}})", 12));
    out.write("safetensors", "scalar", with_header(R"({"v":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4));
    out.write("safetensors", "gap", with_header(R"({"v":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8));
    out.write("safetensors", "twice", with_header(R"({"v":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4));
    out.write("safetensors", "huge", with_header(R"({"v":{"dtype":"F32","shape":[4294967295,4294967295],"data_offsets":[0,4]}})", 4));
    out.write("text_dataset", "ascii", "\x02to be or not to be");
    out.write("text_dataset", "utf8", "\x01\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 abc");
    out.write("text_dataset", "broken", "\x01\xc3 abc");
}

void write_urls(const CorpusWriter& out) {
    out.write("url", "plain", "http://127.0.0.1:4000");
    out.write("url", "path", "http://example.org/artifact/00ff?x=1");
    out.write("url", "v6", "http://[::1]:80/x");
    out.write("url", "query", "http://h?q");
    out.write("url", "https", "https://h");
    out.write("url", "bad_port", "http://h:99999/");
}

void write_settings(const CorpusWriter& out) {
    out.write("config", "defaults", node::default_config_toml());
    out.write("config", "some", "[rpc]\naddress = \"0.0.0.0\"\nport = 0\n[engine]\nblock_interval_ms = 250\n");
    out.write("config", "unknown", "[rpc]\nprot = 1\n");
    out.write("config", "negative", "[mempool]\ntxs_max = -1\n");
    contracts::Genesis genesis{.chain_id = "assay-fuzz", .params = {}, .balances = {}};
    genesis.balances[AccountId{}] = Amount{1'000'000'000};
    const std::string text = node::to_genesis_json(genesis);
    out.write("genesis", "whole", text);
    out.write("genesis", "least", R"({"chain_id":"a","balances":{}})");
    out.write("genesis", "twice", R"({"chain_id":"a","chain_id":"b","balances":{}})");
    out.write("genesis", "params", R"({"chain_id":"a","params":{"fee_base":"1","tx_size_max":4294967296},"balances":{}})");
}

}  // namespace

void write_file_seeds(const CorpusWriter& out) {
    write_safetensors(out);
    write_urls(out);
    write_settings(out);
}

}  // namespace assay::fuzz
