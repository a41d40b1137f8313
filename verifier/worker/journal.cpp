// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/journal.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include <core/codec/borsh.hpp>
#include <nlohmann/json.hpp>

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json to_json(const Journal::Place& place) { return {to_hex(place.first.view()), place.second}; }

template <class Fixed>
Fixed fixed_of(const json& value) {
    const auto fixed = fixed_from_hex<Fixed>(value.get<std::string>());
    if (!fixed) {
        throw JournalError("it holds a text in the place of a hash");
    }
    return *fixed;
}

Journal::Place place_of(const json& value) {
    return {fixed_of<contracts::TaskId>(value.at(0)), value.at(1).get<std::uint32_t>()};
}

json to_json(const std::optional<Hash256>& hash) { return hash ? json(to_hex(hash->view())) : json(); }

std::optional<Hash256> optional_hash(const json& value) {
    return value.is_null() ? std::nullopt : std::optional(fixed_of<Hash256>(value));
}

template <class T>
T decode_hex(const std::string& hex) {
    const auto bytes = from_hex(hex);
    auto value = bytes ? codec::decode<T>(*bytes) : Unexpected{codec::DecodeError::kTruncated};
    if (!value) {
        throw JournalError("it holds a text in the place of a record");
    }
    return *std::move(value);
}

std::optional<std::uint64_t> optional_number(const json& value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<std::uint64_t>());
}

void sync(const fs::path& path, int flags) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
    if (descriptor < 0 || ::fsync(descriptor) != 0) {
        const int error = errno;
        if (descriptor >= 0) {
            ::close(descriptor);
        }
        throw JournalError("cannot sync " + path.string() + ": " + std::generic_category().message(error));
    }
    ::close(descriptor);
}

}  // namespace

Journal::Journal(std::filesystem::path file) : file_(std::move(file)) {
    if (!fs::exists(file_)) {
        return;
    }
    try {
        load();
    } catch (const std::exception& error) {
        throw JournalError(
            "cannot read " + file_.string() + ": " + error.what() +
            "; without it this worker does not know what it has promised. Restore it, or start with another --home"
        );
    }
}

void Journal::load() {
    std::ifstream in(file_);
    const json all = json::parse(in);
    for (const auto& [task, list] : all.at("checkpoints").items()) {
        auto& stored = checkpoints_[fixed_of<TaskId>(json(task))];
        for (const json& item : list) {
            stored.push_back(
                {.state_root = fixed_of<Hash256>(item.at("state_root")),
                 .artifact = fixed_of<Hash256>(item.at("artifact")),
                 .size_bytes = item.at("size_bytes").get<std::uint64_t>(),
                 .diverged_at = optional_number(item.value("diverged_at", json()))}
            );
        }
    }
    for (const json& item : all.at("verdicts")) {
        verdicts_[place_of(item.at("segment"))] = {
            .verdict =
                {.end_root = fixed_of<Hash256>(item.at("end_root")),
                 .probe_root = {},
                 .measurement = decode_hex<std::optional<dispute::Measurement>>(item.value("measurement", "00")),
                 .diverged_after = decode_hex<std::optional<std::uint32_t>>(item.value("diverged_after", "00"))},
            .marks = decode_hex<std::vector<Hash256>>(item.value("marks", "00000000")),
            .decoy_root = fixed_of<Hash256>(item.at("decoy_root")),
            .salt = fixed_of<Hash256>(item.at("salt"))};
        if (const auto divergence = decode_hex<std::optional<dispute::StateOpening>>(item.value("divergence", "00"))) {
            divergences_[place_of(item.at("segment"))] = *divergence;
        }
    }
    const json profiles = all.value("profiles", json::object());
    for (const auto& [task, profile] : profiles.items()) {
        profiles_[fixed_of<TaskId>(json(task))] = decode_hex<KeptProfile>(profile.get<std::string>());
    }
    for (const json& item : all.at("replays")) {
        roles::Replays& replays = replays_[place_of(item.at("segment"))];
        replays.first = optional_hash(item.at("first"));
        replays.second = optional_hash(item.at("second"));
    }
    for (const json& item : all.at("probes")) {
        roles::Replays& replays = probes_[{place_of(item.at("segment")), item.at("probe").get<std::uint32_t>()}];
        replays.first = optional_hash(item.at("first"));
        replays.second = optional_hash(item.at("second"));
    }
    for (const json& item : all.at("disputed")) {
        disputed_.insert(fixed_of<TaskId>(item));
    }
    for (const json& item : all.value("checked", json::array())) {
        checked_.insert({place_of(item.at("segment")), fixed_of<AccountId>(item.at("verifier"))});
    }
    for (const json& item : all.at("accepted")) {
        accepted_.insert(fixed_of<TaskId>(item));
    }
    for (const json& item : all.at("slashes")) {
        slashes_.insert(place_of(item));
    }
    checks_ = all.at("checks").get<std::uint64_t>();
    listen_port_ = all.at("listen_port").get<std::uint16_t>();
    if (!all.at("breaker").is_null()) {
        breaker_ = all.at("breaker").get<std::string>();
    }
}

std::string Journal::encode() const {
    json all = {{"checkpoints", json::object()}, {"verdicts", json::array()},
                {"replays", json::array()},      {"disputed", json::array()},
                {"accepted", json::array()},     {"slashes", json::array()},
                {"probes", json::array()},       {"checks", checks_},
                {"listen_port", listen_port_},   {"breaker", breaker_ ? json(*breaker_) : json()}};
    for (const auto& [task, stored] : checkpoints_) {
        json& list = all["checkpoints"][to_hex(task.view())] = json::array();
        for (const StoredCheckpoint& item : stored) {
            list.push_back(
                {{"state_root", to_hex(item.state_root.view())},
                 {"artifact", to_hex(item.artifact.view())},
                 {"size_bytes", item.size_bytes},
                 {"diverged_at", item.diverged_at ? json(*item.diverged_at) : json()}}
            );
        }
    }
    for (const auto& [segment, kept] : verdicts_) {
        all["verdicts"].push_back(
            {{"segment", to_json(segment)},
             {"end_root", to_hex(kept.verdict.end_root.view())},
             {"marks", to_hex(codec::encode(kept.marks))},
             {"measurement", to_hex(codec::encode(kept.verdict.measurement))},
             {"diverged_after", to_hex(codec::encode(kept.verdict.diverged_after))},
             {"divergence", to_hex(codec::encode(divergence(segment)))},
             {"decoy_root", to_hex(kept.decoy_root.view())},
             {"salt", to_hex(kept.salt.view())}}
        );
    }
    all["profiles"] = json::object();
    for (const auto& [task, kept] : profiles_) {
        all["profiles"][to_hex(task.view())] = to_hex(codec::encode(kept));
    }
    for (const auto& [segment, replays] : replays_) {
        if (replays.first) {
            all["replays"].push_back(
                {{"segment", to_json(segment)}, {"first", to_json(replays.first)}, {"second", to_json(replays.second)}}
            );
        }
    }
    for (const auto& [probe, replays] : probes_) {
        if (replays.first) {
            all["probes"].push_back(
                {{"segment", to_json(probe.first)},
                 {"probe", probe.second},
                 {"first", to_json(replays.first)},
                 {"second", to_json(replays.second)}}
            );
        }
    }
    for (const TaskId& task : disputed_) {
        all["disputed"].push_back(to_hex(task.view()));
    }
    all["checked"] = json::array();
    for (const auto& [segment, verifier] : checked_) {
        all["checked"].push_back({{"segment", to_json(segment)}, {"verifier", to_hex(verifier.view())}});
    }
    for (const TaskId& task : accepted_) {
        all["accepted"].push_back(to_hex(task.view()));
    }
    for (const Place& place : slashes_) {
        all["slashes"].push_back(to_json(place));
    }
    return all.dump(1) + "\n";
}

void Journal::settle() {
    if (is_unsaved_) {
        save();
    }
}

void Journal::save() {
    is_unsaved_ = true;
    const fs::path temporary = file_.string() + ".tmp";
    {
        std::ofstream out(temporary, std::ios::trunc);
        out << encode();
        out.flush();
        if (!out) {
            throw JournalError("cannot write " + temporary.string());
        }
    }
    sync(temporary, O_RDWR);
    std::error_code error;
    fs::rename(temporary, file_, error);
    if (error) {
        throw JournalError("cannot rename " + temporary.string() + ": " + error.message());
    }
    sync(file_.parent_path().empty() ? fs::path(".") : file_.parent_path(), O_RDONLY | O_DIRECTORY);
    is_unsaved_ = false;
}

const std::vector<Journal::StoredCheckpoint>& Journal::checkpoints(const TaskId& task) const {
    static const std::vector<StoredCheckpoint> kNone;
    const auto found = checkpoints_.find(task);
    return found == checkpoints_.end() ? kNone : found->second;
}

void Journal::add_checkpoint(const TaskId& task, const StoredCheckpoint& checkpoint) {
    checkpoints_[task].push_back(checkpoint);
    save();
}

void Journal::cut_checkpoints(const TaskId& task, std::size_t count) {
    auto& stored = checkpoints_[task];
    stored.resize(std::min(stored.size(), count));
    save();
}

std::optional<contracts::VerdictOpening> Journal::verdict(const Place& segment) const {
    const auto found = verdicts_.find(segment);
    return found == verdicts_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<dispute::StateOpening> Journal::divergence(const Place& segment) const {
    const auto found = divergences_.find(segment);
    return found == divergences_.end() ? std::nullopt : std::optional(found->second);
}

void Journal::keep_verdict(
    const Place& segment, const contracts::VerdictOpening& verdict,
    const std::optional<dispute::StateOpening>& divergence
) {
    verdicts_[segment] = verdict;
    if (divergence) {
        divergences_[segment] = *divergence;
    }
    save();
}

std::optional<Journal::KeptProfile> Journal::profile(const TaskId& task) const {
    const auto found = profiles_.find(task);
    return found == profiles_.end() ? std::nullopt : std::optional(found->second);
}

void Journal::keep_profile(const TaskId& task, const KeptProfile& profile) {
    profiles_[task] = profile;
    save();
}

void Journal::note_dispute(const TaskId& task) {
    disputed_.insert(task);
    save();
}

void Journal::note_check(const Place& segment, const AccountId& verifier) {
    if (checked_.insert({segment, verifier}).second) {
        ++checks_;
        save();
    }
}

void Journal::note_accepted(const TaskId& task) {
    accepted_.insert(task);
    save();
}

void Journal::keep_listen_port(std::uint16_t port) {
    listen_port_ = port;
    save();
}

void Journal::open_breaker(const Place& slash, const std::string& reason) {
    slashes_.insert(slash);
    breaker_ = reason;
    save();
}

void Journal::reset_breaker() {
    breaker_.reset();
    save();
}

void Journal::forget(const TaskId& task) {
    const auto is_of_task = [&task](const auto& item) { return item.first.first == task; };
    std::size_t erased = checkpoints_.erase(task) + disputed_.erase(task) + profiles_.erase(task);
    erased += std::erase_if(verdicts_, is_of_task) + std::erase_if(replays_, is_of_task);
    erased += std::erase_if(divergences_, is_of_task);
    erased += std::erase_if(probes_, [&task](const auto& item) { return item.first.first.first == task; });
    erased += std::erase_if(checked_, is_of_task);
    if (erased != 0) {
        save();
    }
}

}  // namespace assay::worker
