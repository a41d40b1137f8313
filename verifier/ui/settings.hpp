// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

/// The client for owners of a machine: settings, limits, keys, money and the page that shows them.
namespace assay::ui {

/// The owner's input is wrong. The message says what to enter, in the units that were entered.
class InputError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What the owner of a machine has chosen, kept in <home>/settings.json.
struct Settings {
    std::string node = "http://127.0.0.1:26600";  ///< URL of the node's RPC
    bool solve = true;
    bool verify = false;
    bool watch = false;          ///< replay what others completed, and dispute what is wrong
    std::string device = "cpu";  ///< a torch device
    std::uint32_t threads = 1;
    std::string owner{};    ///< OPR-2: address of the account that the key here acts for; empty: its own
    std::string image{};    ///< ENV-4: digest of the image that the program runs in, "sha256:..."; empty: none
    std::string labels{};   ///< of that environment, "key=value", with spaces between them
    std::string relay{};    ///< HOST:PORT of relays through which others fetch (ART-23), with spaces between them
    std::string publish{};  ///< where checkpoints are written besides (docs/operations/stores.md); empty: nowhere
    // Limits on new work.
    std::uint32_t from_minute = 0;   ///< of the local day; equal to `to_minute`: the whole day
    std::uint32_t to_minute = 0;     ///< smaller than `from_minute`: on the next day
    std::uint64_t memory_bytes = 0;  ///< most memory of a task; 0: what is available
    std::uint64_t least_price = 0;   ///< grains for 10^9 multiply-adds; 0: any
    std::uint32_t celsius_max = 0;   ///< 0: no limit
    // What the owner has asked for last.
    bool is_started = false;
    bool is_paused = false;
    // What was measured last.
    std::uint64_t score = 0;  ///< work units per second; 0: nothing was measured
    std::string score_device{};
    bool operator==(const Settings&) const = default;
};

nlohmann::ordered_json to_json(const Settings& settings);
/// Returns `settings` with the members of `change` in place of its own. Members are those of to_json(); the values that
/// `change` has not stay. Throws InputError for an unknown member or a value that is not allowed.
Settings changed(const Settings& settings, const nlohmann::json& change);

/// Reads <home>/settings.json; the defaults if there is none. Throws InputError with the file's name.
Settings read_settings(const std::filesystem::path& home);
/// Writes it with mode 0600, atomically: a crash leaves the old file or the new one. Throws crypto::KeyFileError.
void write_settings(const std::filesystem::path& home, const Settings& settings);

/// Replaces a private file (mode 0600) atomically. Throws crypto::KeyFileError.
void replace_private_file(const std::filesystem::path& file, std::string_view text);

}  // namespace assay::ui
