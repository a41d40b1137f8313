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
    return R"({"chain_id":"a-1","params":)" + params + R"(,"balances":)" + balances + "}";
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
    const auto genesis = decode_genesis_json(R"({"chain_id":"a-1","params":{"accept_blocks":9},"balances":{}})");
    contracts::Params params;
    params.accept_blocks = 9;
    CHECK(genesis.params == params);
    CHECK(decode_genesis_json(R"({"chain_id":"a-1","balances":{}})").params == contracts::Params{});
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
        {R"({"balances":{}})", "chain_id"},
        {R"({"chain_id":"a-1"})", "balances"},
        {R"({"chain_id":"A 1","balances":{}})", "1 to 48 characters"},
        {R"({"chain_id":"a-1","balances":{},"balance":{}})", "nearest: \"balances\""},
        {R"({"chain_id":"a-1","chain_id":"b-1","balances":{}})", "occurs twice"},
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

TEST_CASE("a genesis file says which engine it is for") {
    const solo::test::TemporaryDirectory directory;
    const auto file = directory.path() / "genesis.json";
    const auto genesis = decode_genesis_json(R"({"chain_id":"a-1","balances":{}})");
    write_genesis(file, genesis);
    CHECK_FALSE(read_genesis_engine(file).has_value());
    for (const EngineKind kind : {EngineKind::kSolo, EngineKind::kCometBft}) {
        write_genesis(file, genesis, kind);
        CHECK(read_genesis_engine(file) == kind);
        CHECK(codec::encode(read_genesis(file)) == codec::encode(genesis));
    }
    std::ofstream(file) << R"({"chain_id":"a-1","balances":{},"engine":"many"})";
    CHECK_THROWS_AS(static_cast<void>(read_genesis_engine(file)), GenesisFileError);
}
