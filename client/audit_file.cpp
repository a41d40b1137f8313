// SPDX-License-Identifier: Apache-2.0
#include <client/audit_file.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <client/proof.hpp>
#include <contracts/state/protocol.hpp>
#include <contracts/state/state.hpp>

namespace assay::client {
namespace {

using contracts::Role;
using nlohmann::json;
namespace keys = contracts::keys;

constexpr const char* kAuditFormat = "assay-audit/1";

/// A member of the file with the place where it stands, for messages.
class Part {
  public:
    Part(const json& value, std::string place) : value_(value), place_(std::move(place)) {}

    Part member(const char* name) const {
        const std::string place = place_.empty() ? name : place_ + "." + name;
        if (!value_.contains(name)) {
            throw Mismatch("the file lacks \"" + place + "\"");
        }
        return {value_.at(name), place};
    }
    /// Every member must have a meaning, so that nothing in a verified file is unverified.
    const Part& must_have_only(std::initializer_list<std::string_view> names) const {
        if (!value_.is_object()) {
            throw Mismatch(name() + " is not an object");
        }
        for (const auto& [member, value] : value_.items()) {
            if (std::find(names.begin(), names.end(), member) == names.end()) {
                throw Mismatch(name() + " has a member \"" + member + "\", which does not belong there");
            }
        }
        return *this;
    }
    bool is_null() const { return value_.is_null(); }
    bool has(const char* name) const { return value_.contains(name); }
    std::string text() const {
        if (!value_.is_string()) {
            throw Mismatch(name() + " is not text");
        }
        return value_.get<std::string>();
    }
    std::uint64_t number() const {
        if (!value_.is_number_unsigned()) {
            throw Mismatch(name() + " is not a number from 0 on");
        }
        return value_.get<std::uint64_t>();
    }
    Bytes bytes() const {
        auto out = from_hex(text());
        if (!out) {
            throw Mismatch(name() + " is not hex");
        }
        return *std::move(out);
    }
    template <class Id>
    Id id() const {
        const auto out = fixed_from_hex<Id>(text());
        if (!out) {
            throw Mismatch(name() + " is not 64 hex digits");
        }
        return *out;
    }
    std::vector<Part> items() const {
        if (!value_.is_array()) {
            throw Mismatch(name() + " is not a list");
        }
        std::vector<Part> out;
        for (const json& item : value_) {
            out.emplace_back(item, place_ + "[" + std::to_string(out.size()) + "]");
        }
        return out;
    }
    std::string name() const { return place_.empty() ? "the file" : place_; }

  private:
    const json& value_;
    std::string place_;
};

AuditSubject decode_subject(const Part& part) {
    const std::string kind = part.member("kind").text();
    if (kind == "chain") {
        part.must_have_only({"kind"});
        return {};
    }
    part.must_have_only({"kind", "id"});
    if (kind == "task") {
        return {.kind = AuditSubject::Kind::kTask, .task = part.member("id").id<contracts::TaskId>(), .account = {}};
    }
    if (kind == "account") {
        return {.kind = AuditSubject::Kind::kAccount, .task = {}, .account = part.member("id").id<AccountId>()};
    }
    throw Mismatch("subject.kind is \"" + kind + "\", not task, account or chain");
}

void check_versions(const Part& file) {
    if (const std::string format = file.member("format").text(); format != kAuditFormat) {
        throw Mismatch("format is \"" + format + "\", and this program knows " + kAuditFormat);
    }
    if (const std::uint64_t version = file.member("protocol_version").number();
        version != contracts::kProtocolVersion) {
        throw Mismatch(
            "protocol_version is " + std::to_string(version) + ", and this program knows version " +
            std::to_string(contracts::kProtocolVersion) + "; verify the file with the release that wrote it"
        );
    }
}

}  // namespace

const char* to_string(AuditSubject::Kind kind) noexcept {
    switch (kind) {
        case AuditSubject::Kind::kTask:
            return "task";
        case AuditSubject::Kind::kAccount:
            return "account";
        case AuditSubject::Kind::kChain:
            break;
    }
    return "chain";
}

json to_json(const AuditFile& file) {
    json subject{{"kind", to_string(file.subject.kind)}};
    if (file.subject.kind == AuditSubject::Kind::kTask) {
        subject["id"] = to_hex(file.subject.task.view());
    } else if (file.subject.kind == AuditSubject::Kind::kAccount) {
        subject["id"] = to_hex(file.subject.account.view());
    }
    json slots = json::array();
    for (const AuditFile::Slot& slot : file.slots) {
        slots.push_back(
            {{"key", to_hex(slot.key)},
             {"value", slot.value ? json(to_hex(*slot.value)) : json()},
             {"proof", to_hex(slot.proof)}}
        );
    }
    json histories = json::array();
    for (const AuditFile::History& history : file.histories) {
        json records = json::array();
        for (const Bytes& record : history.records) {
            records.push_back(to_hex(record));
        }
        histories.push_back({{"task", to_hex(history.task.view())}, {"records", std::move(records)}});
    }
    json blocks = json::array();
    for (const AuditFile::Block& block : file.blocks) {
        json item{{"height", block.height.value}, {"raw", to_hex(block.raw)}};
        if (block.txs) {
            item["txs"] = json::array();
            for (const Bytes& tx : *block.txs) {
                item["txs"].push_back(to_hex(tx));
            }
        }
        blocks.push_back(std::move(item));
    }
    return {
        {"format", kAuditFormat},
        {"protocol_version", contracts::kProtocolVersion},
        {"subject", std::move(subject)},
        {"chain_id", file.chain_id},
        {"engine", file.engine},
        {"height", file.height.value},
        {"app_hash", to_hex(file.app_hash.view())},
        {"slots", std::move(slots)},
        {"histories", std::move(histories)},
        {"blocks", std::move(blocks)}};
}

AuditFile decode_audit_file(const json& value) {
    const Part file(value, "");
    file.must_have_only(
        {"format", "protocol_version", "subject", "chain_id", "engine", "height", "app_hash", "slots", "histories",
         "blocks"}
    );
    check_versions(file);
    AuditFile out;
    out.subject = decode_subject(file.member("subject"));
    out.chain_id = file.member("chain_id").text();
    out.engine = file.member("engine").text();
    if (out.engine != "solo" && out.engine != "cometbft") {
        throw Mismatch("engine is \"" + out.engine + "\", not solo or cometbft");
    }
    out.height = Height{file.member("height").number()};
    out.app_hash = file.member("app_hash").id<Hash256>();
    for (const Part& slot : file.member("slots").items()) {
        slot.must_have_only({"key", "value", "proof"});
        const Part inner = slot.member("value");
        out.slots.push_back(
            {.key = slot.member("key").bytes(),
             .value = inner.is_null() ? std::nullopt : std::optional(inner.bytes()),
             .proof = slot.member("proof").bytes()}
        );
    }
    for (const Part& history : file.member("histories").items()) {
        history.must_have_only({"task", "records"});
        AuditFile::History item{.task = history.member("task").id<contracts::TaskId>(), .records = {}};
        for (const Part& record : history.member("records").items()) {
            item.records.push_back(record.bytes());
        }
        out.histories.push_back(std::move(item));
    }
    for (const Part& block : file.member("blocks").items()) {
        block.must_have_only({"height", "raw", "txs"});
        out.blocks.push_back({.height = Height{block.member("height").number()}, .raw = block.member("raw").bytes()});
        if (block.has("txs")) {
            auto& txs = out.blocks.back().txs.emplace();
            for (const Part& tx : block.member("txs").items()) {
                txs.push_back(tx.bytes());
            }
        }
    }
    return out;
}

std::vector<Bytes> task_slots(const contracts::TaskId& task, std::uint32_t checkpoints) {
    std::vector<Bytes> out{keys::task(task)};
    for (std::uint32_t i = 0; i < checkpoints; ++i) {
        out.push_back(keys::checkpoint(task, i));
    }
    return out;
}

std::vector<Bytes> subject_slots(const AuditSubject& subject) {
    switch (subject.kind) {
        case AuditSubject::Kind::kTask:
            return {};
        case AuditSubject::Kind::kAccount: {
            std::vector<Bytes> out{keys::account(subject.account)};
            for (const Role role : {Role::kSolver, Role::kVerifier, Role::kWhistleblower, Role::kValidator}) {
                out.push_back(keys::stake(role, subject.account));
            }
            return out;
        }
        case AuditSubject::Kind::kChain:
            break;
    }
    return {keys::supply()};
}

}  // namespace assay::client
