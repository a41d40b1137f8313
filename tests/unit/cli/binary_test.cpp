// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <tools/cli/common/session.hpp>

#include <tests/unit/cli/forged_node.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>

namespace assay::cli {
namespace {

using cli_test::ForgedNode;
using nlohmann::json;

struct Outcome {
    int status = -1;
    std::string out;
    std::string err;
};

/// The built program in a home of its own.
struct Program {
    cli_test::TemporaryDirectory home;

    /// `arguments` as a shell reads them.
    Outcome operator()(const std::string& arguments, const std::string& environment = "") const {
        const std::string out = (home.path() / "out").string();
        const std::string err = (home.path() / "err").string();
        const std::string command = "env -u ASSAY_NODE -u ASSAY_PASSWORD ASSAY_HOME=" + home.path().string() + " " +
                                    environment + " " + folders::build() + "/bin/assay " + arguments + " >" + out +
                                    " 2>" + err + " </dev/null";
        const int status = std::system(command.c_str());  // NOLINT: tests only
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, cli_test::read_text(out), cli_test::read_text(err)};
    }
    /// With -o json; the error object must be the only output.
    json error(const std::string& arguments, const std::string& environment = "") const {
        const Outcome outcome = (*this)(arguments + " -o json", environment);
        CHECK_MESSAGE(outcome.err.empty(), outcome.err);
        const json answer = json::parse(outcome.out, nullptr, false);
        REQUIRE_MESSAGE(answer.is_object(), outcome.out);
        const json error = answer.at("error");
        CHECK(error.at("code") == outcome.status);
        CHECK(error.at("data").is_object());
        return error;
    }
};

std::string free_url() {
    const http::HttpServer server({}, [](const http::HttpRequest&) { return http::HttpResponse{}; });
    return "http://127.0.0.1:" + std::to_string(server.port());
}

const std::string kId(64, 'a');

/// A node that answers every call with one error.
std::string failing(ForgedNode& node, int code, const char* name, const json& data = json::object()) {
    node.answer = [=](const std::string&, const json&) -> std::optional<json> {
        json all = data;
        all["name"] = name;
        return json{{"error", {{"code", code}, {"message", "it says no"}, {"data", all}}}};
    };
    node.serve();
    return " --node " + node.url();
}

TEST_CASE("an answer that cannot be written is a failure and not silence") {
    const cli_test::TemporaryDirectory home;
    const std::string said = (home.path() / "said").string();
    const int status =
        std::system((folders::build() + "/bin/assay version >/dev/full 2>" + said).c_str());  // NOLINT: tests only
    CHECK(WEXITSTATUS(status) == 1);
    CHECK(cli_test::read_text(said).find("could not be written to standard output") != std::string::npos);
}

TEST_CASE("every command refuses bad usage with exit code 2 in both output modes") {
    const Program assay;
    for (const char* arguments :
         {"",
          "nonsense",
          "task",
          "task status",
          "task status zz",
          "audit task 12",
          "keys new",
          "account send x",
          "account send assay1x '1 ASY'",
          "query proof",
          "query proof --key zz",
          "query proof --key 01 --task aa",
          "tx decode xyz",
          "demo --fraud nonsense",
          "demo --steps 0",
          "demo --fraud shard",
          "demo --parallel dp",
          "demo --parallel turns --workers 4",
          "demo --report nodir/r.json",
          "--node",
          "stake bond"}) {
        CAPTURE(arguments);
        const Outcome text = assay(arguments);
        CHECK(text.status == kExitUsage);
        CHECK(text.out.empty());
        CHECK(text.err.starts_with("assay: "));
        CHECK(assay.error(arguments).at("name") == "usage");
    }
    CHECK(assay("version -o yaml").status == kExitUsage);
    CHECK(assay("demo --parallel dp").err.find("give --workers 2 or more") != std::string::npos);
    CHECK(assay("version one --two three").err.find("not expected: one --two three\n") != std::string::npos);
}

TEST_CASE("task init asks nobody without a terminal and overwrites nothing unless it is told to") {
    const Program assay;
    const std::string directory = (assay.home.path() / "task").string();
    const std::string file = directory + "/task.toml";
    const std::string data = " --data " + folders::source() + "/examples/mlp/points.safetensors --model mlp --classes ";
    const std::string answers = data + "3";
    CHECK(assay.error("task init " + directory).at("name") == "usage");
    CHECK(assay("task init " + directory + answers).err.find("missing: --hidden, --scale") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(directory));
    const Outcome made = assay("task init " + directory + answers + " --yes -o json");
    CHECK(made.status == kExitOk);
    CHECK(json::parse(made.out).at("file") == file);
    const std::string before = cli_test::read_text(file);
    CHECK(assay.error("task init " + directory + answers + " --yes --steps 30").at("name") == "exists");
    CHECK(cli_test::read_text(file) == before);
    CHECK(assay("task init " + directory + answers + " --yes --steps 30 --force").status == kExitOk);
    CHECK(cli_test::read_text(file).find("steps = 30\n") != std::string::npos);
    CHECK(assay("task lint " + directory).status == kExitOk);
    CHECK(assay("task pack " + directory + " --store " + directory + "/store").status == kExitOk);
    CHECK(assay.error("task init " + directory + data + "2 --yes --force").at("name") == "task_has_errors");
    CHECK(cli_test::read_text(file).find("classes = 3") != std::string::npos);
}

TEST_CASE("a node that nobody runs is exit code 4 in both output modes") {
    const Program assay;
    const std::string node = " --node " + free_url();
    for (const std::string arguments : {"query status", "query params", "query block", "task list", "dispute list"}) {
        CAPTURE(arguments);
        const Outcome text = assay(arguments + node);
        CHECK(text.status == kExitUnreachable);
        CHECK(text.out.empty());
        CHECK_FALSE(text.err.empty());
        CHECK(assay.error(arguments + node).at("name") == "unreachable");
    }
    for (const std::string command :
         {"task status", "task history", "dispute show", "dispute explain", "audit task", "tx show",
          "query proof --task", "account show", "stake show"}) {
        CAPTURE(command);
        CHECK(assay.error(command + " " + kId + node).at("code") == kExitUnreachable);
    }
}

TEST_CASE("the node is named by the environment and the flag wins") {
    const Program assay;
    CHECK(assay.error("query status", "ASSAY_NODE=" + free_url()).at("code") == kExitUnreachable);
    ForgedNode node;
    node.serve();
    CHECK(assay("query status", "ASSAY_NODE=" + node.url()).status == kExitOk);
    CHECK(assay("query status --node " + node.url(), "ASSAY_NODE=" + free_url()).status == kExitOk);
    CHECK(assay("--node " + node.url() + " -o json query status").status == kExitOk);
}

TEST_CASE("the node's errors have exit codes of their own") {
    const Program assay;
    ForgedNode missing;
    CHECK(assay.error("task status " + kId + failing(missing, -32001, "not_found")).at("code") == kExitNotFound);
    ForgedNode refusing;
    const std::string node = failing(refusing, -32003, "tx_rejected", {{"reason", "nonce_too_low"}});
    const json rejected = assay.error("tx submit 00" + node);
    CHECK(rejected.at("code") == kExitRejected);
    CHECK(rejected.at("name") == "tx_rejected");
    CHECK(rejected.at("data").at("reason") == "nonce_too_low");
    ForgedNode full;
    CHECK(assay.error("tx submit 00" + failing(full, -32005, "limit_exceeded")).at("code") == kExitRejected);
    ForgedNode broken;
    CHECK(assay.error("query status" + failing(broken, -32603, "internal_error")).at("code") == kExitFailure);
}

TEST_CASE("a node that answers something else is not a crash") {
    const Program assay;
    ForgedNode node;
    node.answer = [](const std::string&, const json&) -> std::optional<json> { return json::array({1}); };
    node.serve();
    for (const std::string command :
         {"task list", "dispute list", "account show", "task status", "stake show", "dispute explain", "query block",
          "task history"}) {
        CAPTURE(command);
        const bool takes_id = command.find("list") == std::string::npos && command != "query block";
        const Outcome outcome = assay(command + (takes_id ? " " + kId : "") + " --node " + node.url());
        CHECK((outcome.status == kExitFailure || outcome.status == kExitMismatch));
        CHECK(outcome.err.starts_with("assay: "));
    }
}

TEST_CASE("an audit that fails is exit code 10 with the problem") {
    const Program assay;
    ForgedNode node;
    node.records.erase(node.records.begin());
    node.serve();
    const std::string command = "audit task " + to_hex(node.task.id.view()) + " --node " + node.url();
    const Outcome text = assay(command);
    CHECK(text.status == kExitMismatch);
    CHECK(text.err.find("history record 0 is missing") != std::string::npos);
    const json error = assay.error(command);
    CHECK(error.at("code") == kExitMismatch);
    CHECK(error.at("data").at("verified") == false);
}

TEST_CASE("an audit and a proof that hold are exit code 0") {
    const Program assay;
    ForgedNode node;
    node.serve();
    const std::string id = to_hex(node.task.id.view());
    const Outcome audit = assay("audit task " + id + " -o json --node " + node.url());
    CHECK(audit.status == kExitOk);
    CHECK(json::parse(audit.out).at("verified") == true);
    const Outcome proof = assay("query proof -o json --task " + id + " --node " + node.url());
    CHECK(proof.status == kExitOk);
    CHECK(json::parse(proof.out).at("value") == to_hex(codec::encode(node.task)));
    const Outcome absent = assay("query proof -o json --task " + kId.substr(1) + "b --node " + node.url());
    CHECK(absent.status == kExitOk);
    CHECK(json::parse(absent.out).at("value").is_null());
    node.block.signature = {};
    CHECK(assay("query proof --task " + id + " --node " + node.url()).status == kExitMismatch);
}

TEST_CASE("TRM-1: stake show says what a verifier consents to, where that is something of its own") {
    const Program assay;
    json terms{{"hardware_class", 1}, {"price", 0}, {"memory", 0}, {"replay_blocks", 0}};
    const json stake{{"free", "5"}, {"locked", "0"}, {"unbonding", json::array()}, {"score", 0}, {"terms", terms}};
    json answer{{"account", kId}, {"roles", {{"solver", stake}, {"verifier", stake}}}};
    ForgedNode node;
    node.answer = [&](const std::string& method, const json&) {
        return method == "stake_get" ? std::optional{answer} : std::nullopt;
    };
    node.serve();
    const std::string command = "stake show " + kId + " --node " + node.url();
    const Outcome plain = assay(command);
    REQUIRE(plain.status == kExitOk);
    CHECK(plain.out.find("consents") == std::string::npos);
    answer["roles"]["verifier"]["terms"]["memory"] = 17'179'869'184ULL;
    const Outcome own = assay(command);
    CHECK(own.out.find("as verifier it consents to\n  programs of at most 17179869184 bytes\n") != std::string::npos);
    CHECK(own.out.find("price") == std::string::npos);
}

TEST_CASE("a key of a backup phrase is restored from it, and from nothing else" * doctest::test_suite("full")) {
    const Program assay;
    const std::string password = "ASSAY_PASSWORD=secret";
    const json made = json::parse(assay("keys new alice --phrase -o json", password).out);
    const auto phrase = made.at("phrase").get<std::string>();
    CHECK(std::count(phrase.begin(), phrase.end(), ' ') == 23);
    CHECK(made.at("path") == "m/44'/4281177'/0'");
    const auto file = assay.home.path() / "phrase";
    const auto write = [&](const std::string& text) {
        cli_test::write_text(file, text);
        std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    };
    write(phrase + "\n");
    const std::string restore = " --phrase-file " + file.string();
    const json again = json::parse(assay("keys restore bob -o json" + restore, password).out);
    CHECK(again.at("account") == made.at("account"));
    CHECK_FALSE(again.contains("phrase"));
    cli_test::write_text(assay.home.path() / "more", "TREZOR\n");
    std::filesystem::permissions(assay.home.path() / "more", std::filesystem::perms::owner_read);
    const std::string more = " --passphrase-file " + (assay.home.path() / "more").string();
    CHECK(
        json::parse(assay("keys restore carol -o json" + restore + more, password).out).at("account") !=
        made.at("account")
    );
    write(phrase.substr(0, phrase.rfind(' ')));
    CHECK(assay("keys restore dan" + restore, password).status == kExitUsage);
    CHECK(assay("keys list").out.find("dan") == std::string::npos);
}

TEST_CASE("keys are made, shown, exported, taken in, re-sealed and deleted" * doctest::test_suite("full")) {
    const Program assay;
    const std::string password = "ASSAY_PASSWORD=secret";
    const Outcome made = assay("keys new alice -o json", password);
    REQUIRE(made.status == kExitOk);
    const std::string account = json::parse(made.out).at("account");
    CHECK(assay("keys list").out.find(account) != std::string::npos);
    CHECK(json::parse(assay("keys show alice -o json").out).at("account") == account);
    const Outcome secret = assay("keys export alice --secret -o json", password);
    REQUIRE(secret.status == kExitOk);
    cli_test::write_text(assay.home.path() / "hex", json::parse(secret.out).at("secret").get<std::string>() + "\n");
    std::filesystem::permissions(assay.home.path() / "hex", std::filesystem::perms(0644));
    CHECK(assay.error("keys import bob " + (assay.home.path() / "hex").string(), password).at("name") == "key_file");
    std::filesystem::permissions(assay.home.path() / "hex", std::filesystem::perms(0600));
    CHECK(assay("keys import bob " + (assay.home.path() / "hex").string(), password).status == kExitOk);
    const std::string open_password = (assay.home.path() / "password").string();
    cli_test::write_text(open_password, "secret\n");
    std::filesystem::permissions(open_password, std::filesystem::perms(0640));
    CHECK(assay.error("keys export bob --secret --password-file " + open_password).at("name") == "no_password");
    CHECK(assay("keys export bob --secret --password-file " + open_password).status == kExitConfig);
    std::filesystem::permissions(open_password, std::filesystem::perms(0400));
    CHECK(assay("keys export bob --secret --password-file " + open_password).status == kExitOk);
    CHECK(json::parse(assay("keys show bob -o json").out).at("account") == account);
    const std::string file = (assay.home.path() / "alice.json").string();
    CHECK(assay("keys export alice --out " + file).status == kExitOk);
    CHECK(assay("keys import carol " + file).status == kExitOk);
    CHECK(assay("keys passwd carol", password + " ASSAY_NEW_PASSWORD=other").status == kExitOk);
    CHECK(assay.error("keys export carol --secret", password).at("name") == "wrong_password");
    CHECK(assay("keys export carol --secret", "ASSAY_PASSWORD=other").status == kExitOk);
    CHECK(assay("keys delete carol").status == kExitUsage);
    CHECK(assay("keys delete carol --yes").status == kExitOk);
    CHECK(assay.error("keys show carol").at("code") == kExitConfig);
    CHECK(assay.error("keys new alice", password).at("code") == kExitUsage);
    CHECK(assay.error("keys new dave", "ASSAY_PASSWORD=").at("code") == kExitUsage);
}

TEST_CASE("a task directory that is wrong is exit code 3") {
    const Program assay;
    cli_test::write_text(assay.home.path() / "task.toml", "titel = \"x\"\n");
    const json error =
        assay.error("task pack " + assay.home.path().string() + " --store " + (assay.home.path() / "s").string());
    CHECK(error.at("code") == kExitConfig);
    CHECK(error.at("message").get<std::string>().find("nearest: title") != std::string::npos);
}

TEST_CASE("a transaction is decoded without a node") {
    const Program assay;
    const crypto::SecretKey key = cli_test::make_key(5);
    contracts::TxBody body;
    body.chain_id = "forged";
    body.sender = key.account();
    body.nonce = 4;
    body.action = contracts::Transfer{.to = cli_test::make_key(6).account(), .amount = Amount{1'500'000'000}};
    const std::string hex = to_hex(codec::encode(contracts::sign_tx(body, key)));
    const Outcome decoded = assay("tx decode " + hex + " -o json");
    REQUIRE(decoded.status == kExitOk);
    const json tx = json::parse(decoded.out);
    CHECK(tx.at("action") == "transfer");
    CHECK(tx.at("nonce") == 4);
    CHECK(tx.at("body").at("amount") == "1500000000");
    CHECK(tx.at("sender") == crypto::to_address(key.account()));
    CHECK(assay("tx decode " + hex).out.find("1.5 ASY") != std::string::npos);
    CHECK(assay.error("tx decode 0011").at("code") == kExitInvalidArtifact);
}

}  // namespace
}  // namespace assay::cli
