// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <node/daemon/config.hpp>
#include <node/api/genesis_file.hpp>
#include <tests/fuzz/seeds.hpp>
#include <core/keys/key_directory.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/relay/message.hpp>
#include <verifier/stores/block_index.hpp>
#include <verifier/stores/cid.hpp>
#include <verifier/stores/location.hpp>
#include <verifier/taskdir/parser_orders.hpp>
#include <verifier/text/byte_alphabet.hpp>

namespace assay::fuzz {
namespace {

Bytes with_header(std::string_view header, std::size_t data) {
    Bytes out(8);
    out[0] = static_cast<std::uint8_t>(header.size());
    append(out, as_bytes(header));
    out.resize(out.size() + data);
    return out;
}

template <class Answer>
Bytes as_answer(const Answer& answer, ByteView rest) {
    Bytes out = taskdir::length_of(codec::encode(answer));
    append(out, codec::encode(answer));
    append(out, rest);
    return out;
}

void write_parser_answers(const CorpusWriter& out) {
    artifacts::SafetensorsFile file;
    file.tensors = {
        {"a", canonical::make_tensor(canonical::DType::kF32, {2, 3})},
        {"b", canonical::make_tensor(canonical::DType::kI64, {1, 1})}};
    const Bytes bytes = artifacts::encode_safetensors(file);
    auto layout = artifacts::decode_safetensors_layout(bytes).value();
    out.write("parser_answer", "layout", as_answer(artifacts::LayoutAnswer(layout), bytes));
    layout.tensors[1].offset -= 4;
    out.write("parser_answer", "overlap", as_answer(artifacts::LayoutAnswer(layout), bytes));
    out.write("parser_answer", "error", as_answer(artifacts::LayoutAnswer(std::uint8_t{3}), bytes));
    out.write("parser_answer", "seats", as_answer(artifacts::SeatsAnswer{{{AccountId{{1}}}, true, 2}}, {}));
    out.write("parser_answer", "needs", as_answer(taskdir::ModelAnswer(taskdir::ModelNeeds{{"weights.bin"}}), {}));
    out.write("parser_answer", "tokens", as_answer(taskdir::TextAnswer(taskdir::TextMade{2}), Bytes{1, 0, 0, 0}));
}

void write_safetensors(const CorpusWriter& out) {
    using canonical::DType;
    artifacts::SafetensorsFile file;
    file.metadata = {{"context", "2"}};
    file.tensors = {
        {"a", canonical::make_tensor(DType::kF32, {2, 3})}, {"b", canonical::make_tensor(DType::kI64, {1, 1})}};
    out.write("safetensors", "two", artifacts::encode_safetensors(file));
    file.tensors = {
        {"a", canonical::make_tensor(DType::kBf16, {2, 3})}, {"b", canonical::make_tensor(DType::kI8, {1, 5})}};
    out.write("safetensors", "narrow", artifacts::encode_safetensors(file));
    out.write("safetensors", "vector", with_header(R"({"v":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}})", 12));
    out.write("safetensors", "scalar", with_header(R"({"v":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4));
    out.write("safetensors", "gap", with_header(R"({"v":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8));
    out.write(
        "safetensors", "twice", with_header(R"({"v":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4)
    );
    out.write(
        "safetensors", "huge",
        with_header(R"({"v":{"dtype":"F32","shape":[4294967295,4294967295],"data_offsets":[0,4]}})", 4)
    );
    out.write("text_dataset", "ascii", "\x02to be or not to be");
    out.write("text_dataset", "utf8", "\x01\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 abc");
    out.write("text_dataset", "broken", "\x01\xc3 abc");
}

void write_tokenizers(const CorpusWriter& out) {
    const auto file = [](const std::string& words, const std::string& merges, const std::string& rest) {
        std::string vocabulary;
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            const std::string symbol = text::symbol_of(static_cast<std::uint8_t>(byte));
            const bool is_escaped = symbol == "\"" || symbol == "\\";
            vocabulary += (is_escaped ? "\"\\" : "\"") + symbol + "\":" + std::to_string(byte) + ",";
        }
        return R"({"model":{"type":"BPE","vocab":{)" + vocabulary + words + R"(},"merges":)" + merges + "}," + rest +
               "}";
    };
    const std::string byte_level = R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false})";
    const std::string added = R"(,"added_tokens":[{"id":300,"content":"<|endoftext|>"}])";
    out.write("tokenizer", "pairs", file(R"("it":256,"it'":257)", R"([["i","t"],["it","'"]])", byte_level + added));
    out.write(
        "tokenizer", "split",
        file(
            R"("it":256)", R"(["i t"])",
            R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(?i:'s)|\\p{L}+|\\s+"},)"
            R"("behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})"
        )
    );
    out.write("tokenizer", "unigram", R"({"model":{"type":"Unigram","vocab":[["a",-1.0]]}})");
    out.write("tokenizer", "no_vocabulary", R"({"model":{"type":"BPE","vocab":{},"merges":[]},)" + byte_level + "}");
}

void write_chunk_lists(const CorpusWriter& out) {
    out.write("chunk_list", "one", "0");
    out.write("chunk_list", "some", "1,20,68719476735");
    out.write("chunk_list", "descending", "2,1");
    out.write("chunk_list", "padded", "1,02");
    out.write("chunk_list", "overflow", "18446744073709551616");
    out.write("chunk_list", "hashes", Bytes(64, 7));
    out.write("chunk_list", "zeros", Bytes(32));
}

void write_locations(const CorpusWriter& out) {
    out.write("location", "server", "http://127.0.0.1:4000/");
    out.write("location", "directory", "dir:/data/store");
    out.write("location", "file", "file:///data");
    out.write("location", "s3", "s3://bucket/tasks/1?endpoint=http://127.0.0.1:7070&region=eu-central-1&style=virtual");
    out.write("location", "s3_twice", "s3://bucket?style=path&style=path");
    out.write("location", "user", "s3://bucket?endpoint=http://key:secret@h");
    const std::string cid = stores::encode_cid(crypto::sha256(as_bytes("block")));
    out.write("location", "ipfs", "ipfs://" + cid + "?gateway=http://g:8080&api=http://a:5001");
    out.write("location", "cid", cid);
    out.write("location", "several", "http://h s3://bucket dir:/x");
    const relay::Service service{.name = "solve", .account = AccountId{{3}}};
    out.write(
        "location", "relay", stores::encode_location(stores::RelayLocation{.relay = "h:4010", .service = service})
    );
}

void write_relay_messages(const CorpusWriter& out) {
    const relay::Service service{.name = "solve", .account = AccountId{{3}}};
    const auto write = [&out](const char* name, const relay::Message& message) {
        std::string line = relay::encode_message(message);
        line.pop_back();
        out.write("relay_message", name, line);
    };
    write("register", relay::Register{.service = service, .relay = "[::1]:4010"});
    write("challenge", relay::Challenge{Hash256{{1}}});
    write("proof", relay::Proof{Signature{{2}}});
    write("registered", relay::Registered{});
    write("refused", relay::Refused{relay::RefusalReason::kFull});
    write("open", relay::Open{Hash256{{4}}});
    write("accept", relay::Accept{Hash256{{5}}});
    write("ping", relay::Ping{});
    write("pong", relay::Pong{});
    out.write("relay_message", "host", relay::to_host(service));
    out.write("relay_message", "upper_case", "open " + std::string(64, 'A'));
}

void write_store_answers(const CorpusWriter& out) {
    stores::BlockIndex index;
    index.put({.artifact = Hash256{{1}}, .is_leaves = false, .size_bytes = 3, .lists = {Hash256{{2}}}});
    index.put({.artifact = Hash256{{1}}, .is_leaves = true, .size_bytes = 0, .lists = {}});
    out.write("store_answer", "index", stores::encode_block_index(index));
    out.write(
        "store_answer", "listing",
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
        "<Contents><Key>k</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>1</Size></Contents>"
        "</ListBucketResult>"
    );
    out.write(
        "store_answer", "upload",
        "<InitiateMultipartUploadResult><UploadId>i</UploadId></InitiateMultipartUploadResult>"
    );
    out.write("store_answer", "error", "<Error><Code>c</Code><Message>m</Message></Error>");
    out.write("store_answer", "nested", "<a><a><a><a/></a></a></a>");
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
    out.write("config", "defaults", node::to_config_toml());
    out.write("config", "some", "[rpc]\naddress = \"0.0.0.0\"\nport = 0\n[engine]\nblock_interval_ms = 250\n");
    out.write("config", "unknown", "[rpc]\nprot = 1\n");
    out.write("config", "negative", "[mempool]\ntxs_max = -1\n");
    contracts::Genesis genesis{.chain_id = "assay-fuzz", .params = {}, .balances = {}};
    genesis.balances[AccountId{}] = Amount{1'000'000'000};
    const std::string text = node::to_genesis_json(genesis);
    out.write("genesis", "whole", text);
    out.write("genesis", "least", R"({"protocol_version":2,"chain_id":"a","balances":{}})");
    out.write("genesis", "twice", R"({"protocol_version":2,"chain_id":"a","chain_id":"b","balances":{}})");
    out.write(
        "genesis", "params",
        R"({"protocol_version":2,"chain_id":"a","params":{"gas_price_min":"1","tx_size_max":4294967296},"balances":{}})"
    );
}

void write_calls(const CorpusWriter& out) {
    const std::string zeros(64, '0');
    const std::string address = crypto::to_address(AccountId{});
    const std::vector<std::pair<std::string, std::string>> calls = {
        {"node_status", ""},
        {"chain_params", ""},
        {"rpc.discover", ""},
        {"chain_block", R"("height":1)"},
        {"chain_wait", R"("after":1,"timeout_ms":10)"},
        {"chain_proof", R"("stake":{"account":")" + address + R"(","role":"solver"})"},
        {"chain_proof", R"("key":"0102","height":7)"},
        {"tx_submit", R"("tx":"00ff10")"},
        {"tx_get", R"("hash":")" + zeros + "\""},
        {"account_get", R"("account":")" + address + "\""},
        {"account_history", R"("limit":3,"account":")" + zeros + "\""},
        {"stake_get", R"("account":")" + address + "\""},
        {"task_get", R"("task":")" + zeros + "\""},
        {"task_list", R"("state":"open","limit":2,"cursor":null)"},
        {"task_history", R"("cursor":"x","task":")" + zeros + "\""},
        {"task_lineage", R"("task":")" + zeros + "\""},
        {"checkpoint_get", R"("index":0,"task":")" + zeros + "\""},
        {"dispute_get", R"("dispute":")" + zeros + "\""},
        {"dispute_list", R"("task":")" + zeros + "\""},
        {"profile_get", R"("task":")" + zeros + R"(","profiler":")" + zeros + "\""},
    };
    std::string batch = "[";
    for (const auto& [method, params] : calls) {
        const std::string call = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + params + "}}";
        out.write("rpc", method + (params.find("key") == std::string::npos ? "" : "_key"), call);
        batch += (batch.size() > 1 ? "," : "") + call;
    }
    out.write("rpc", "batch", batch + "]");
    out.write("rpc", "notification", R"({"jsonrpc":"2.0","method":"node_status"})");
    out.write("rpc", "not_utf8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"\xfe\"}");
    out.write("rpc", "deep", std::string(40, '[') + std::string(40, ']'));
    out.write("rpc", "empty_batch", "[]");
}

void write_keys(const CorpusWriter& out) {
    crypto::SealedKey key;
    key.ciphertext = Bytes(48);
    const std::string text = crypto::to_key_json(key);
    out.write("key_json", "whole", text);
    out.write("key_json", "short", text.substr(0, text.size() / 2));
    std::string other = text;
    other.replace(other.find("scrypt"), 6, "argon2");
    out.write("key_json", "other_kdf", other);
}

void write_tasks(const CorpusWriter& out) {
    const std::string task =
        "title = \"t\"\nsteps = 20\ncheckpoint_interval = 5\nreward = \"5 ASY\"\nverification_fee = \"1 ASY\"\n"
        "training_blocks = 100\n[model]\nkind = \"char\"\ncontext = 4\nembedding = 32\nhidden = 16\nbatch_size = 8\n";
    out.write("task_toml", "adam", task + "[optimizer]\nkind = \"adam\"\nbeta1 = 0.5\n[data]\ntext = \"data.txt\"\n");
    out.write(
        "task_toml", "sgd", task + "[optimizer]\nkind = \"sgd\"\nlearning_rate = 1\n[data]\ntext = \"data.txt\"\n"
    );
    const std::string data = "[optimizer]\nkind = \"sgd\"\n[data]\ntext = \"data.txt\"\n";
    out.write("task_toml", "evaluation", task + data + "[evaluation]\ntext = \"data.txt\"\nbatches = 2\n");
    out.write("task_toml", "unknown", task + "[optimizer]\nkind = \"adamw\"\n");
    out.write("task_toml", "empty", "");
    out.write("amount", "whole", "1 ASY");
    out.write("amount", "fraction", "1.500000001ASY");
    out.write("amount", "grains", "18446744073709551615 grains");
    out.write("amount", "too_large", "18446744073.709551616 ASY");
}

/// A number of ranks and a layout's name, or packed lines of the forms that there are: as they are, a table of two
/// values, integers of three bits with and without a sign.
void write_cells(const CorpusWriter& out) {
    out.write("cell", "shares", "\x02zero1:5,3");
    out.write("cell", "stages", "\x04pp4+1f1b8");
    out.write(
        "cell", "all",
        "\x08"
        "dp2tp2pp"
    );
    const std::string bytes("\x00\x07", 2);
    out.write("cell", "raw", bytes + std::string(1 + 32, '\0'));
    out.write("cell", "table", bytes + std::string("\x01\x02\x00\x00\x80\x3f\x00\x00\x00\x80\xa5", 11));
    out.write("cell", "natural", bytes + std::string("\x0e\x96\x88\xc6\xfa", 5));
    out.write("cell", "signed", bytes + std::string("\x0f\x01\x88\xc6\xfa", 5));
}

}  // namespace

void write_file_seeds(const CorpusWriter& out) {
    write_safetensors(out);
    write_parser_answers(out);
    write_tokenizers(out);
    write_chunk_lists(out);
    write_cells(out);
    write_urls(out);
    write_locations(out);
    write_relay_messages(out);
    write_store_answers(out);
    write_settings(out);
    write_calls(out);
    write_keys(out);
    write_tasks(out);
}

}  // namespace assay::fuzz
