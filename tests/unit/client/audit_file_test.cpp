// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <client/audit_check.hpp>
#include <client/audit_export.hpp>
#include <client/audit_file.hpp>
#include <client/audit_tables.hpp>
#include <client/light_source.hpp>
#include <consensus/light/light_block.hpp>
#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <tests/unit/cli/forged_node.hpp>
#include <tests/unit/consensus/light_chain.hpp>
#include <tests/unit/folders.hpp>

namespace assay::client {
namespace {

using cli_test::ForgedNode;
using cli_test::make_key;
using nlohmann::json;

AuditSubject task_subject(const ForgedNode& node) {
    return {.kind = AuditSubject::Kind::kTask, .task = node.task.id, .account = {}};
}

Trust trust_in(const AccountId& proposer) { return {.proposer = proposer, .block = {}}; }

AuditFile export_from(ForgedNode& node, const AuditSubject& subject) {
    node.serve();
    RpcClient rpc(node.url());
    return export_audit(rpc, subject, std::nullopt, {});
}

/// What is wrong with the file; empty if nothing is.
std::string problem_of(const json& file, const Trust& trust) {
    try {
        static_cast<void>(check_audit_file(decode_audit_file(file), trust));
        return "";
    } catch (const Mismatch& mismatch) {
        return mismatch.what();
    }
}

/// Another value of the same kind.
json altered(const json& value) {
    if (value.is_number()) {
        return value.get<std::uint64_t>() + 1;
    }
    if (value.is_null()) {
        return "00";
    }
    if (value.is_array()) {  // an empty one
        return json::array({"00"});
    }
    std::string text = value.get<std::string>();
    char& last = text.at(text.size() / 2);
    last = last == '1' ? '2' : '1';
    return text;
}

struct Tampered {
    std::string place;  ///< "slots[0].value", with what was done to it
    std::string list;   ///< "slots[0]", or the member of the file
    json file;
};

/// The file with each value altered, each member and each item taken out, and each item doubled: one at a time.
std::vector<Tampered> tamper_everywhere(const json& file) {
    std::vector<Tampered> out;
    const json flat = file.flatten();
    for (const auto& [pointer, value] : flat.items()) {
        json copy = file;
        json& target = copy.at(json::json_pointer(pointer));
        target = altered(target);
        const auto second = pointer.find('/', 1);
        const std::string name = pointer.substr(1, second - 1);
        std::string list = name;
        if (second != std::string::npos && file.at(name).is_array()) {
            list += "[" + pointer.substr(second + 1, pointer.find('/', second + 1) - second - 1) + "]";
        }
        out.push_back({pointer + " altered", list, std::move(copy)});
        json without = file;
        const json::json_pointer at(pointer);
        json& parent = without.at(at.parent_pointer());
        if (parent.is_array()) {
            parent.erase(std::stoul(at.back()));
        } else {
            parent.erase(at.back());
        }
        out.push_back({pointer + " taken out", name, std::move(without)});
    }
    for (const char* const name : {"slots", "histories", "blocks"}) {
        for (std::size_t i = 0; i < file.at(name).size(); ++i) {
            const std::string place = std::string(name) + "[" + std::to_string(i) + "]";
            json without = file;
            without.at(name).erase(i);
            out.push_back({place + " taken out", name, std::move(without)});
            json doubled = file;
            doubled.at(name).insert(doubled.at(name).begin() + static_cast<std::ptrdiff_t>(i), file.at(name).at(i));
            out.push_back({place + " doubled", name, std::move(doubled)});
        }
    }
    return out;
}

}  // namespace

TEST_CASE("the exported file of a task is verified without the node") {
    ForgedNode node(5);
    const json file = to_json(export_from(node, task_subject(node)));
    CHECK(to_json(decode_audit_file(file)) == file);
    const AuditFacts facts = check_audit_file(decode_audit_file(file), trust_in(node.proposer.account()));
    CHECK(facts.is_signer_known);
    CHECK(facts.height == Height{ForgedNode::kHeight});
    CHECK(facts.app_hash == node.app_hash);
    REQUIRE(facts.tasks.size() == 1);
    CHECK(facts.tasks[0].records.size() == 5);
    CHECK(facts.blocks == 6);  // those of the records, and the one that signs the state
    CHECK_FALSE(check_audit_file(decode_audit_file(file), {}).is_signer_known);
}

TEST_CASE("every tampering with an exported file is found and its place is named") {
    ForgedNode node(5);
    node.task.checkpoints = 2;
    const json file = to_json(export_from(node, task_subject(node)));
    const Trust trust = trust_in(node.proposer.account());
    REQUIRE(problem_of(file, trust) == "");
    std::size_t tried = 0;
    for (const Tampered& tampered : tamper_everywhere(file)) {
        CAPTURE(tampered.place);
        const std::string problem = problem_of(tampered.file, trust);
        CHECK(problem != "");
        // Whole parts that stand for others are named by what then does not fit.
        const bool is_general = tampered.list == "chain_id" || tampered.list == "subject" ||
                                tampered.list == "height" || tampered.list == "engine" ||
                                tampered.list == "protocol_version";
        const std::string name =
            tampered.place.ends_with(" altered") ? tampered.list : tampered.list.substr(0, tampered.list.find('['));
        CHECK_MESSAGE((is_general || problem.find(name) != std::string::npos), problem);
        ++tried;
    }
    CHECK(tried > 60);
}

TEST_CASE("a file with a member that nothing verifies is refused") {
    ForgedNode node(5);
    json file = to_json(export_from(node, task_subject(node)));
    file["comment"] = "paid in full";
    CHECK(problem_of(file, {}) == "the file has a member \"comment\", which does not belong there");
    file.erase("comment");
    file["slots"][0]["comment"] = "";
    CHECK(problem_of(file, {}) == "slots[0] has a member \"comment\", which does not belong there");
    CHECK(problem_of(json::array(), {}) == "the file is not an object");
}

TEST_CASE("a file signed by somebody else is not that of the chain") {
    ForgedNode node(5);
    const json file = to_json(export_from(node, task_subject(node)));
    CHECK(problem_of(file, trust_in(make_key(9).account())).find("blocks[0]: block 1 is signed by") == 0);
    Trust other;
    other.chain_id = "another";
    CHECK(problem_of(file, other) == "chain_id is \"forged\", and \"another\" is expected");
}

TEST_CASE("a lie in the history is found before anything is exported") {
    ForgedNode node(5);
    node.records[3].event = contracts::history::Completed{};
    CHECK_THROWS_WITH_AS(
        export_from(node, task_subject(node)), doctest::Contains("assay audit task finds the record"), Mismatch
    );
}

TEST_CASE("the exported file of an account has its slots and the tasks that name it") {
    ForgedNode node(5);
    const AccountId account = make_key(7).account();
    node.slots[contracts::keys::account(account)] = codec::encode(contracts::Account{Amount{5}, 2});
    node.task.submitter = account;
    node.answer = [&node](const std::string& method, const json&) -> std::optional<json> {
        if (method != "event_list") {
            return std::nullopt;
        }
        return json{{"events", {{{"task", to_hex(node.task.id.view())}}}}, {"next_cursor", nullptr}};
    };
    const AuditSubject subject{.kind = AuditSubject::Kind::kAccount, .task = {}, .account = account};
    json file = to_json(export_from(node, subject));
    const AuditFacts facts = check_audit_file(decode_audit_file(file), {});
    CHECK(facts.account.value().balance == Amount{5});
    CHECK(facts.tasks.size() == 1);
    CHECK(facts.slots == 6);  // the account, four stakes of which it has none, the task
    for (const Tampered& tampered : tamper_everywhere(file)) {
        CAPTURE(tampered.place);
        CHECK(problem_of(tampered.file, trust_in(node.proposer.account())) != "");
    }
    file["subject"]["id"] = to_hex(make_key(8).account().view());
    CHECK(problem_of(file, {}).find("slots[0] has the key") == 0);
}

TEST_CASE("LGT-2: the light blocks of a file are verified from the block that is trusted") {
    std::ifstream vectors(folders::source() + "/tests/vectors/cometbft/light_blocks.json");
    AuditFile file;
    file.subject = {.kind = AuditSubject::Kind::kTask, .task = {}, .account = {}};
    file.engine = "cometbft";
    std::vector<light::Header> headers;
    const json document = json::parse(vectors);
    for (const json& item : document.at("blocks")) {
        const light::LightBlock block = decode_light_block(item.at("commit"), item.at("validators"));
        headers.push_back(block.header);
        file.blocks.push_back({.height = Height{block.header.height}, .raw = codec::encode(block)});
    }
    REQUIRE(headers.size() > 2);
    file.chain_id = headers.back().chain_id;
    file.height = Height{headers.back().height - 1};
    std::copy(headers.back().app_hash.begin(), headers.back().app_hash.end(), file.app_hash.data.begin());
    Trust trust;
    trust.block = Trust::Block{headers.front().height, light::header_hash(headers.front())};
    trust.trusting_s = std::int64_t{1} << 40;
    // With the blocks everything is right, so that what is missing is the first slot.
    const std::string complete = "slots[0] is missing";
    CHECK(problem_of(to_json(file), trust).find(complete) == 0);
    CHECK(problem_of(to_json(file), {}).find(complete) == 0);
    Trust other = trust;
    other.block->hash.data[0] ^= 1U;
    CHECK(problem_of(to_json(file), other).find("not that of the trusted one") != std::string::npos);
    other.block = Trust::Block{headers.back().height + 1, {}};
    CHECK(problem_of(to_json(file), other).find("the file lacks block") == 0);
    for (std::size_t i = 0; i < file.blocks.size(); ++i) {
        AuditFile forged = file;
        forged.blocks[i].raw[forged.blocks[i].raw.size() / 3] ^= 1U;
        CHECK(problem_of(to_json(forged), trust).find("blocks[" + std::to_string(i) + "]") == 0);
    }
    AuditFile exchanged = file;
    std::swap(exchanged.blocks[0], exchanged.blocks[1]);
    CHECK(problem_of(to_json(exchanged), trust).find("blocks[1] is not in the order") == 0);
    file.app_hash.data[0] ^= 1U;
    CHECK(problem_of(to_json(file), trust).find("app_hash is") == 0);
}

namespace {

/// A chain of CometBFT with the states of a ForgedNode: block h has the app hash of the state before it, and names the
/// one before.
class CometChain {
  public:
    static constexpr std::uint64_t kLast = ForgedNode::kHeight + 1;

    explicit CometChain(ForgedNode& node) {
        const light::test::Chain signers([](std::uint64_t) { return light::test::Chain::Numbers{1, 2, 3, 4}; });
        node.serve();
        RpcClient rpc(node.url());
        for (std::uint64_t height = 1; height <= kLast; ++height) {
            auto& now = txs_[height];
            if (height % 3 == 0) {
                now = {Bytes(20, static_cast<std::uint8_t>(height)), Bytes{1, 2, 3, static_cast<std::uint8_t>(height)}};
            }
            light::LightBlock block = signers.block(height);
            block.header.chain_id = "forged";
            block.header.time.seconds = now_seconds() - 20 + static_cast<std::int64_t>(height);
            const json proof = rpc.call("chain_proof", {{"key", "00"}, {"height", height - 1}});
            block.header.app_hash = *from_hex(proof.at("app_hash").get<std::string>());
            std::vector<Bytes> hashes;
            for (const Bytes& tx : now) {
                hashes.push_back(light::test::bytes_of(contracts::tx_hash(tx)));
            }
            block.header.data_hash = light::test::bytes_of(light::rfc6962_root(hashes));
            block.header.last_block_id.hash = parent_;
            light::test::Chain::sign(block, signers.signers_at(height));
            parent_ = light::test::bytes_of(light::header_hash(block.header));
            blocks_[height] = block;
        }
    }

    /// What a node of this chain answers, where that differs from the embedded engine's.
    std::optional<json> answer(const std::string& method, const json& params) const {
        if (method == "node_status") {
            return json{{"chain_id", "forged"}, {"genesis_hash", ""},
                        {"engine", "cometbft"}, {"protocol_version", contracts::kProtocolVersion},
                        {"height", kLast},      {"proposer", nullptr}};
        }
        if (method == "chain_light_block") {
            return json{{"raw", to_hex(codec::encode(blocks_.at(params.at("height").get<std::uint64_t>())))}};
        }
        if (method == "chain_block") {
            json txs = json::array();
            for (const Bytes& tx : txs_.at(params.at("height").get<std::uint64_t>())) {
                txs.push_back({{"hash", to_hex(contracts::tx_hash(tx).view())}});
            }
            return json{{"txs", txs}, {"raw", nullptr}};
        }
        if (method == "tx_get") {
            for (const auto& [height, txs] : txs_) {
                for (const Bytes& tx : txs) {
                    if (to_hex(contracts::tx_hash(tx).view()) == params.at("hash").get<std::string>()) {
                        return json{{"raw", to_hex(tx)}};
                    }
                }
            }
        }
        return std::nullopt;
    }
    Trust trust(std::uint64_t height) const {
        Trust out;
        out.block = Trust::Block{height, light::header_hash(blocks_.at(height).header)};
        return out;
    }
    std::string genesis() const { return to_hex(blocks_.at(1).header.app_hash); }

  private:
    std::map<std::uint64_t, light::LightBlock> blocks_;
    std::map<std::uint64_t, std::vector<Bytes>> txs_;
    Bytes parent_;
};

}  // namespace

TEST_CASE("LGT-8: the file of a whole chain of CometBFT has every block with its transactions") {
    ForgedNode node(5);
    const CometChain chain(node);
    node.answer = [&chain](const std::string& method, const json& params) { return chain.answer(method, params); };
    RpcClient rpc(node.url());
    const AuditSubject subject{.kind = AuditSubject::Kind::kChain, .task = {}, .account = {}};
    const json file = to_json(export_audit(rpc, subject, std::nullopt, chain.trust(3)));
    const AuditFacts facts = check_audit_file(decode_audit_file(file), chain.trust(1));
    CHECK(facts.is_signer_known);
    CHECK(facts.blocks == CometChain::kLast);
    CHECK(facts.block_times_ms.size() == CometChain::kLast);
    CHECK(to_hex(facts.genesis.value().view()) == chain.genesis());
    CHECK(file["blocks"][2]["txs"].size() == 2);
    CHECK(file["blocks"][3]["txs"].empty());
    CHECK_FALSE(file["blocks"][CometChain::kLast - 1].contains("txs"));

    for (const Tampered& tampered : tamper_everywhere(file)) {
        CAPTURE(tampered.place);
        CHECK(problem_of(tampered.file, chain.trust(1)) != "");
    }
    json without = file;
    without["blocks"][3].erase("txs");
    CHECK(problem_of(without, {}) == "blocks[3] lacks its transactions, \"txs\"");
    json more = file;
    more["blocks"][3]["txs"] = json::array({"00"});
    CHECK(problem_of(more, {}).find("blocks[3].txs are not the transactions") == 0);
    json last = file;
    last["blocks"][CometChain::kLast - 1]["txs"] = json::array();
    CHECK(problem_of(last, {}).find(".txs does not belong there") != std::string::npos);
}

TEST_CASE("LGT-8: a node that leaves out a transaction of a block of CometBFT is found when a chain is exported") {
    ForgedNode node(5);
    const CometChain chain(node);
    node.answer = [&chain](const std::string& method, const json& params) {
        auto out = chain.answer(method, params);
        if (method == "chain_block" && params.at("height") == 6) {
            out->at("txs").erase(0);
        }
        return out;
    };
    RpcClient rpc(node.url());
    const AuditSubject subject{.kind = AuditSubject::Kind::kChain, .task = {}, .account = {}};
    CHECK_THROWS_WITH_AS(
        export_audit(rpc, subject, std::nullopt, {}), doctest::Contains("transactions of block 6 are not those"),
        Mismatch
    );
}

TEST_CASE("tables quote text and keep spreadsheets from executing it") {
    AuditFacts facts;
    facts.tasks.emplace_back();
    facts.tasks[0].task.spec.title = "=HYPERLINK(\"http://x\"),a";
    facts.tasks[0].task.spec.reward = Amount{1'500'000'000};
    facts.tasks[0].records.emplace_back();
    facts.tasks[0].records[0].height = Height{3};
    facts.tasks[0].records[0].event =
        contracts::history::Paid{.to = make_key(1).account(), .amount = Amount{2'000'000'000}};
    facts.block_times_ms[Height{3}] = 1'000;
    const auto tables = audit_tables(facts);
    REQUIRE(tables.size() == 3);
    CHECK(tables[0].text.find(",\"'=HYPERLINK(\"\"http://x\"\"),a\",open,") != std::string::npos);
    CHECK(tables[0].text.find(",1.5,0,") != std::string::npos);
    const std::string paid = crypto::to_address(make_key(1).account());
    CHECK(tables[1].text.find(",0,3,1970-01-01T00:00:01Z," + paid + ",2,reward,\r\n") != std::string::npos);
    CHECK(tables[2].text.find("task,record,height,time,from,") == 0);
    // Of an account's file, that account's payments alone.
    facts.subject = {.kind = AuditSubject::Kind::kAccount, .task = {}, .account = make_key(2).account()};
    CHECK(audit_tables(facts)[1].text.find(paid) == std::string::npos);
}

}  // namespace assay::client
