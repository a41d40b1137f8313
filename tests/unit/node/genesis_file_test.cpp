// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <node/api/genesis_file.hpp>
#include <tests/unit/consensus/toy_machine.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::node;
using namespace assay::node::test;

namespace {

std::string error_of(const std::string& text) {
    try {
        decode_genesis_json(text);
        return {};
    } catch (const GenesisFileError& error) {
        return error.what();
    }
}

std::string document(const std::string& params, const std::string& balances) {
    return R"({"protocol_version":3,"chain_id":"a-1","params":)" + params + R"(,"balances":)" + balances + "}";
}

}  // namespace

TEST_CASE("a written genesis reads back as it was") {
    const solo::test::TemporaryDirectory directory;
    auto genesis = make_genesis();
    genesis.params.accept_blocks = 7;
    genesis.params.solver_bond = {123};
    genesis.params.hardware_classes = {{"small", 7}};
    const auto file = directory.path() / "genesis.json";
    write_genesis(file, genesis);
    CHECK(codec::encode(read_genesis(file)) == codec::encode(genesis));
    CHECK(to_genesis_json(read_genesis(file)) == to_genesis_json(genesis));
    CHECK_THROWS_AS(read_genesis(directory.path() / "none.json"), GenesisFileError);
}

TEST_CASE("what a genesis file leaves out has its default") {
    const auto genesis =
        decode_genesis_json(R"({"protocol_version":3,"chain_id":"a-1","params":{"accept_blocks":9},"balances":{}})");
    contracts::Params params;
    params.accept_blocks = 9;
    CHECK(genesis.params == params);
    CHECK(
        decode_genesis_json(R"({"protocol_version":3,"chain_id":"a-1","balances":{}})").params == contracts::Params{}
    );
}

TEST_CASE("a genesis file with anything unknown, repeated, ill-typed or out of range is refused by name") {
    const std::string address = crypto::to_address(key(1).account());
    const std::string good = "{\"" + address + "\":\"5\"}";
    CHECK(error_of(document("{}", good)).empty());
    struct Row {
        std::string text;
        const char* part;
    };
    const std::vector<Row> rows{
        {"", "not JSON"},
        {document(R"({"hardware_classes":{}})", good), "params.hardware_classes"},
        {document(R"({"hardware_classes":[{"name":"a"}]})", good), "params.hardware_classes"},
        {document(R"({"hardware_classes":[{"name":"a","least_score":1,"speed":2}]})", good), "speed"},
        {"[]", "must be an object"},
        {document("{}", good) + "x", "not JSON"},
        {R"({"protocol_version":3,"balances":{}})", "chain_id"},
        {R"({"protocol_version":3,"chain_id":"a-1"})", "balances"},
        {R"({"protocol_version":3,"chain_id":"A 1","balances":{}})", "1 to 48 characters"},
        {R"({"protocol_version":3,"chain_id":"a-1","balances":{},"balance":{}})", "nearest: \"balances\""},
        {R"({"protocol_version":3,"chain_id":"a-1","chain_id":"b-1","balances":{}})", "occurs twice"},
        {document(R"({"acept_blocks":1})", good), "nearest: \"accept_blocks\""},
        {document(R"({"accept_blocks":-1})", good), "params.accept_blocks"},
        {document(R"({"accept_blocks":1.5})", good), "params.accept_blocks"},
        {document(R"({"accept_blocks":4294967296})", good), "params.accept_blocks"},
        {document(R"({"accept_blocks":"5"})", good), "params.accept_blocks"},
        {document(R"({"solver_bond":5})", good), "params.solver_bond"},
        {document("[]", good), "params must be an object"},
        {document("{}", "{\"" + address + "\":5}"), "string of grains"},
        {document("{}", "{\"" + address + "\":\"05\"}"), "not a number of grains"},
        {document("{}", "{\"" + address + "\":\"-5\"}"), "not a number of grains"},
        {document("{}", "{\"" + address + "\":\"18446744073709551616\"}"), "not a number of grains"},
        {document("{}", "{\"" + address + "x\":\"5\"}"), "is not an address"},
        {document("{}", "{\"" + address + "\":\"5\",\"" + address + "\":\"6\"}"), "occurs twice"},
        {document(
             "{}",
             "{\"" + address + "\":\"18446744073709551615\",\"" + crypto::to_address(key(2).account()) + "\":\"1\"}"
         ),
         "exceed the largest amount"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(error_of(row.text).find(row.part) != std::string::npos);
    }
}

TEST_CASE("PAR-13: a genesis file of another version of the protocol is refused before anything else of it is read") {
    CHECK(error_of(R"({"chain_id":"a-1","balances":{}})").find("as in files of release 0.1") != std::string::npos);
    for (const std::uint64_t version :
         {std::uint64_t{0}, std::uint64_t{1}, contracts::kProtocolVersion + std::uint64_t{1}}) {
        const std::string text = std::to_string(version);
        const std::string error = error_of(R"({"protocol_version":)" + text + R"(,"a thing of that version":1})");
        CHECK(error.find("speaks version " + text + " of the protocol") != std::string::npos);
        CHECK(error.find("docs/operations/upgrade.md") != std::string::npos);
    }
    CHECK(error_of(R"({"protocol_version":"2"})").find("must be a whole number") != std::string::npos);
    CHECK(error_of(R"({"protocol_version":-2})").find("must be a whole number") != std::string::npos);
}

TEST_CASE("a genesis file says which engine it is for") {
    const solo::test::TemporaryDirectory directory;
    const auto file = directory.path() / "genesis.json";
    const auto genesis = decode_genesis_json(R"({"protocol_version":3,"chain_id":"a-1","balances":{}})");
    write_genesis(file, genesis);
    CHECK_FALSE(read_genesis_engine(file).has_value());
    for (const EngineKind kind : {EngineKind::kSolo, EngineKind::kCometBft}) {
        write_genesis(file, genesis, kind);
        CHECK(read_genesis_engine(file) == kind);
        CHECK(codec::encode(read_genesis(file)) == codec::encode(genesis));
    }
    std::ofstream(file) << R"({"protocol_version":3,"chain_id":"a-1","balances":{},"engine":"many"})";
    CHECK_THROWS_AS(static_cast<void>(read_genesis_engine(file)), GenesisFileError);
}
