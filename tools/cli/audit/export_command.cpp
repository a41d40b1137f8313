// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <client/anchor.hpp>
#include <client/audit_check.hpp>
#include <client/audit_export.hpp>
#include <client/audit_file.hpp>
#include <client/audit_tables.hpp>
#include <core/crypto/address.hpp>
#include <core/system/file.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using client::AuditFacts;
using client::AuditSubject;
using nlohmann::json;

struct ExportArguments {
    std::string task;
    std::string account;
    bool chain = false;
    std::string file;
    std::optional<std::uint64_t> height;
    std::shared_ptr<Trusting> trusting;
};

Trust trust_for(const Session& session, const ExportArguments& a) {
    Trust trust = trust_of(session, *a.trusting);
    if (!session.chain_id.empty()) {
        trust.chain_id = session.chain_id;
    }
    return trust;
}

AuditSubject subject_of(const Session& session, const ExportArguments& a) {
    if (!a.task.empty()) {
        return {.kind = AuditSubject::Kind::kTask, .task = decode_id<contracts::TaskId>(a.task, "task"), .account = {}};
    }
    if (!a.account.empty()) {
        return {.kind = AuditSubject::Kind::kAccount, .task = {}, .account = decode_account(session, a.account)};
    }
    return {};
}

/// FILE without .json, then -tasks.csv and so on.
std::filesystem::path table_file(const std::filesystem::path& file, const std::string& name) {
    const std::filesystem::path stem = file.extension() == ".json" ? file.stem() : file.filename();
    return file.parent_path() / (stem.string() + "-" + name + ".csv");
}

void write(const std::filesystem::path& file, const std::string& text) {
    if (!system::write_file(file, text)) {
        throw Failure(
            kExitFailure, "file", "cannot write " + file.string() + "; is the disk full, or the folder missing?"
        );
    }
}

json facts_json(const AuditFacts& facts) {
    return {
        {"subject", to_string(facts.subject.kind)},
        {"height", facts.height.value},
        {"app_hash", to_hex(facts.app_hash.view())},
        {"signed_at", facts.signed_at_s},
        {"proposer", facts.proposer.is_zero() ? json() : json(crypto::to_address(facts.proposer))},
        {"signer_is_known", facts.is_signer_known},
        {"genesis_hash", facts.genesis ? json(to_hex(facts.genesis->view())) : json()},
        {"tasks", facts.tasks.size()},
        {"slots", facts.slots},
        {"records", facts.records},
        {"blocks", facts.blocks},
        {"verified", true}};
}

std::string facts_text(const AuditFacts& facts) {
    const auto count = [](std::uint64_t n, const char* what) {
        return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    std::string out = "verified: " + count(facts.tasks.size(), "task") + ", " + count(facts.slots, "proven slot") +
                      ", " + count(facts.records, "history record") + " and " + count(facts.blocks, "signed block") +
                      "\n  the state of block " + std::to_string(facts.height.value) + ", app hash " +
                      to_hex(facts.app_hash.view()) + "\n";
    if (facts.genesis) {
        out += "  the chain begins with the genesis hash " + to_hex(facts.genesis->view()) + "\n";
    }
    if (!facts.proposer.is_zero()) {
        out += "  signed by " + crypto::to_address(facts.proposer) + "\n";
    }
    if (!facts.is_signer_known) {
        out += "  who may sign is the file's own word: give --proposer, or --trust-height and --trust-hash\n";
    }
    if (facts.subject.kind == AuditSubject::Kind::kAccount) {
        out += "  that none of the account's tasks is missing is the word of whoever made the file\n";
    }
    return out;
}

int run_export(const Session& session, const ExportArguments& a) {
    client::RpcClient rpc = session.rpc();
    session.progress("fetching the records, the proofs and the blocks ...");
    const Trust trust = trust_for(session, a);
    const auto height = a.height ? std::optional(Height{*a.height}) : std::nullopt;
    const client::AuditFile made = client::export_audit(rpc, subject_of(session, a), height, trust);
    const AuditFacts facts = client::check_audit_file(made, trust);
    const std::filesystem::path file = a.file;
    json answer = facts_json(facts);
    answer["files"] = json::array({file.string()});
    write(file, to_json(made).dump(1) + "\n");
    for (const client::CsvTable& table : client::audit_tables(facts)) {
        write(table_file(file, table.name), table.text);
        answer["files"].push_back(table_file(file, table.name).string());
    }
    std::string text = facts_text(facts) + "written:";
    for (const json& name : answer["files"]) {
        text += " " + name.get<std::string>();
    }
    session.print(answer, text + "\nto verify without a node: assay audit verify --file " + file.string());
    return kExitOk;
}

void check_genesis(const Session& session, const AuditFacts& facts) {
    std::optional<Hash256> expected;
    if (!session.genesis_hash.empty()) {
        expected = decode_id<Hash256>(session.genesis_hash, "genesis");
    } else if (const auto anchor = client::read_anchor(client::anchor_file(session.home))) {
        expected = anchor->genesis;
    }
    if (facts.genesis && expected && *facts.genesis != *expected) {
        throw Mismatch(
            "blocks[0] carries the genesis hash " + to_hex(facts.genesis->view()) + ", and " +
            to_hex(expected->view()) + " is expected"
        );
    }
}

/// A table beside the file must say what the file says; it may be missing.
std::size_t check_tables(const std::filesystem::path& file, const AuditFacts& facts) {
    std::size_t found = 0;
    for (const client::CsvTable& table : client::audit_tables(facts)) {
        const std::filesystem::path path = table_file(file, table.name);
        const auto text = system::read_file(path);
        if (!text) {
            continue;
        }
        ++found;
        if (*text != table.text) {
            const auto differs = std::mismatch(text->begin(), text->end(), table.text.begin(), table.text.end());
            const auto line = 1 + std::count(text->begin(), differs.first, '\n');
            throw Mismatch(
                path.string() + ", line " + std::to_string(line) +
                ", is not what the proven records say; assay audit export writes the table anew"
            );
        }
    }
    return found;
}

int run_verify(const Session& session, const ExportArguments& a) {
    const auto text = system::read_file(a.file);
    if (!text) {
        throw Failure(kExitConfig, "file", "cannot read " + a.file);
    }
    const json value = json::parse(*text, nullptr, false);
    if (value.is_discarded()) {
        throw Failure(kExitConfig, "file", a.file + " is not JSON; was it cut off?");
    }
    const Trust trust = trust_for(session, a);
    try {
        const AuditFacts facts = client::check_audit_file(client::decode_audit_file(value), trust);
        check_genesis(session, facts);
        if (trust.max_age_s && client::now_seconds() - facts.signed_at_s > *trust.max_age_s) {
            throw Mismatch(
                "the state was signed " + std::to_string(client::now_seconds() - facts.signed_at_s) + " s ago, and " +
                std::to_string(*trust.max_age_s) + " s are allowed"
            );
        }
        json answer = facts_json(facts);
        answer["tables"] = check_tables(a.file, facts);
        session.print(
            answer, facts_text(facts) + "  " + to_text(answer["tables"]) + " of 3 tables (CSV) beside it say the same\n"
        );
        return kExitOk;
    } catch (const Mismatch& mismatch) {
        throw Failure(
            kExitMismatch, "not_verified", a.file + " does not verify: " + mismatch.what(),
            {{"problem", mismatch.what()}}
        );
    }
}

}  // namespace

void add_export_commands(CLI::App& group, Session& session) {
    auto a = std::make_shared<ExportArguments>();
    CLI::App* exporting = group.add_subcommand(
        "export", "Write records, proofs and signed blocks to a file that is verified without a node"
    );
    CLI::Option_group* const subject = exporting->add_option_group("subject", "Of what; give exactly one of these");
    subject->add_option("--task", a->task, "The task with this id");
    subject->add_option("--account", a->account, "An account: its money, its stakes, and the tasks that name it");
    subject->add_flag("--chain", a->chain, "Every block and every task; embedded engine only");
    subject->require_option(1);
    exporting->add_option("--out", a->file, "The file; tables of tasks, payments and penalties are written beside it")
        ->required();
    exporting->add_option("--height", a->height, "Of which block's state; default: the last that is signed");
    a->trusting = add_trust_options(*exporting);
    exporting->callback([&session, a] { session.command = [&session, a] { return run_export(session, *a); }; });

    auto v = std::make_shared<ExportArguments>();
    CLI::App* verifying = group.add_subcommand("verify", "Verify a file of `audit export`; needs no node");
    verifying->add_option("--file", v->file, "The file")->required();
    v->trusting = add_trust_options(*verifying, 0);
    verifying->callback([&session, v] { session.command = [&session, v] { return run_verify(session, *v); }; });
}

}  // namespace assay::cli
