// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/settings.hpp>

#include <limits>
#include <system_error>

#include <core/crypto/address.hpp>
#include <core/keys/key_file.hpp>
#include <core/system/file.hpp>
#include <core/system/sync_folder.hpp>

namespace assay::ui {
namespace {

using nlohmann::json;

constexpr std::uint32_t kDayMinutes = 1'440;
constexpr std::uint32_t kThreadsMax = 1'024;
constexpr std::uint32_t kCelsiusLeast = 30;
constexpr std::uint32_t kCelsiusMost = 120;
constexpr std::size_t kTextMax = 512;
constexpr const char* kFileName = "settings.json";

std::uint64_t number(const std::string& name, const json& value, std::uint64_t most) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
        throw InputError("\"" + name + "\" is a whole number from 0 to " + std::to_string(most));
    }
    return value.get<std::uint64_t>();
}

std::string text(const std::string& name, const json& value) {
    if (!value.is_string() || value.get_ref<const std::string&>().size() > kTextMax) {
        throw InputError("\"" + name + "\" is a text of at most " + std::to_string(kTextMax) + " characters");
    }
    return value.get<std::string>();
}

bool truth(const std::string& name, const json& value) {
    if (!value.is_boolean()) {
        throw InputError("\"" + name + "\" is true or false");
    }
    return value.get<bool>();
}

void set_node(Settings& settings, const std::string& name, const json& value) {
    settings.node = text(name, value);
    const bool is_known = settings.node.starts_with("http://") || settings.node.starts_with("https://") ||
                          settings.node.starts_with("unix:///");
    if (!is_known) {
        throw InputError("a node is http://HOST:PORT, https://HOST:PORT or unix:///PATH");
    }
}

void set_device(Settings& settings, const std::string& name, const json& value) {
    settings.device = text(name, value);
    if (settings.device != "cpu" && !settings.device.starts_with("cuda")) {
        throw InputError("a device is cpu, cuda or cuda:NUMBER");
    }
}

void set_owner(Settings& settings, const std::string& name, const json& value) {
    settings.owner = text(name, value);
    if (!settings.owner.empty() && !crypto::decode_address(settings.owner)) {
        throw InputError("the account that this one works for is an address, as in assay1..., or empty");
    }
}

/// Whether `name` is one of the texts that only workers can judge (Machine::check()); sets it.
bool set_text(Settings& settings, const std::string& name, const json& value) {
    const std::pair<const char*, std::string*> texts[] = {
        {"image", &settings.image},
        {"labels", &settings.labels},
        {"relay", &settings.relay},
        {"publish", &settings.publish},
        {"score_device", &settings.score_device}};
    for (const auto& [known, target] : texts) {
        if (name == known) {
            *target = text(name, value);
            return true;
        }
    }
    return false;
}

/// Whether `name` is one of the switches; sets it.
bool set_switch(Settings& settings, const std::string& name, const json& value) {
    const std::pair<const char*, bool*> switches[] = {
        {"solve", &settings.solve},
        {"verify", &settings.verify},
        {"watch", &settings.watch},
        {"is_started", &settings.is_started},
        {"is_paused", &settings.is_paused}};
    for (const auto& [known, target] : switches) {
        if (name == known) {
            *target = truth(name, value);
            return true;
        }
    }
    return false;
}

void set(Settings& settings, const std::string& name, const json& value) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    if (set_switch(settings, name, value) || set_text(settings, name, value)) {
        return;
    }
    if (name == "node") {
        set_node(settings, name, value);
    } else if (name == "device") {
        set_device(settings, name, value);
    } else if (name == "threads") {
        settings.threads = static_cast<std::uint32_t>(number(name, value, kThreadsMax));
        if (settings.threads == 0) {
            throw InputError("at least one thread is needed");
        }
    } else if (name == "from_minute" || name == "to_minute") {
        (name == "from_minute" ? settings.from_minute : settings.to_minute) =
            static_cast<std::uint32_t>(number(name, value, kDayMinutes - 1));
    } else if (name == "memory_bytes") {
        settings.memory_bytes = number(name, value, kMost);
    } else if (name == "least_price") {
        settings.least_price = number(name, value, kMost);
    } else if (name == "celsius_max") {
        settings.celsius_max = static_cast<std::uint32_t>(number(name, value, kCelsiusMost));
        if (settings.celsius_max != 0 && settings.celsius_max < kCelsiusLeast) {
            throw InputError(
                "a limit of temperature is from " + std::to_string(kCelsiusLeast) + " to " +
                std::to_string(kCelsiusMost) + " °C, or 0 for none"
            );
        }
    } else if (name == "owner") {
        set_owner(settings, name, value);
    } else if (name == "score") {
        settings.score = number(name, value, kMost);
    } else {
        throw InputError("there is no setting \"" + name.substr(0, kTextMax) + "\"");
    }
}

}  // namespace

nlohmann::ordered_json to_json(const Settings& settings) {
    return {
        {"node", settings.node},
        {"solve", settings.solve},
        {"verify", settings.verify},
        {"watch", settings.watch},
        {"device", settings.device},
        {"threads", settings.threads},
        {"owner", settings.owner},
        {"image", settings.image},
        {"labels", settings.labels},
        {"relay", settings.relay},
        {"publish", settings.publish},
        {"from_minute", settings.from_minute},
        {"to_minute", settings.to_minute},
        {"memory_bytes", settings.memory_bytes},
        {"least_price", settings.least_price},
        {"celsius_max", settings.celsius_max},
        {"is_started", settings.is_started},
        {"is_paused", settings.is_paused},
        {"score", settings.score},
        {"score_device", settings.score_device}};
}

Settings changed(const Settings& settings, const json& change) {
    if (!change.is_object()) {
        throw InputError("settings are a JSON object");
    }
    Settings out = settings;
    for (const auto& [name, value] : change.items()) {
        set(out, name, value);
    }
    return out;
}

void replace_private_file(const std::filesystem::path& file, std::string_view text) {
    const std::filesystem::path fresh = file.string() + ".new";
    std::error_code none;
    std::filesystem::remove(fresh, none);
    crypto::write_private_file(fresh, text);
    std::error_code error;
    std::filesystem::rename(fresh, file, error);
    if (error) {
        throw crypto::KeyFileError("cannot write " + file.string() + ": " + error.message());
    }
    // The name is durable with its directory.
    system::sync_folder(file.parent_path());
}

Settings read_settings(const std::filesystem::path& home) {
    const std::filesystem::path file = home / kFileName;
    const auto found = system::read_file(file);
    if (!found) {
        return {};
    }
    try {
        return changed({}, json::parse(*found));
    } catch (const json::exception&) {
        throw InputError(file.string() + " is not JSON: delete it to begin with the defaults");
    } catch (const InputError& error) {
        throw InputError(file.string() + ": " + error.what());
    }
}

void write_settings(const std::filesystem::path& home, const Settings& settings) {
    replace_private_file(home / kFileName, to_json(settings).dump(2) + "\n");
}

}  // namespace assay::ui
