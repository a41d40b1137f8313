// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/reporter.hpp>

#include <iostream>

#include <core/system/log/log.hpp>

namespace assay::worker {
namespace {

constexpr std::size_t kShortHash = 8;

/// "train task=12ab34cd step=10 steps=200 loss=2.5"
std::string to_human(const nlohmann::ordered_json& event) {
    std::string out = event.at("event").get<std::string>();
    for (const auto& [key, value] : event.items()) {
        if (key == "event" || value.is_null()) {
            continue;
        }
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (text.size() == 64 && text.find(' ') == std::string::npos) {
            text.resize(kShortHash);
        }
        out += " " + key + "=" + (text.find(' ') == std::string::npos ? text : "\"" + text + "\"");
    }
    return out;
}

}  // namespace

void Reporter::line(const std::string& text) {
    const std::lock_guard lock(mutex_);
    out_ << text << std::endl;
}

void Reporter::event(const nlohmann::ordered_json& event) {
    print(event);
    tell(event);
}

void Reporter::tell(const nlohmann::ordered_json& event) const {
    if (observer_) {
        observer_(event);
    }
    if (always_) {
        always_(event);
    }
}

void Reporter::print(const nlohmann::ordered_json& event) {
    const std::string text =
        json_ ? event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) : to_human(event);
    line(text);
}

void Reporter::trouble(const std::string& text) {
    {
        const std::lock_guard lock(mutex_);
        if (text == last_trouble_) {
            return;
        }
        last_trouble_ = text;
    }
    log::warning(text);
    const nlohmann::ordered_json event = {{"event", "trouble"}, {"reason", text}};
    if (json_) {
        print(event);
    }
    if (always_) {
        always_(event);
    }
}

void Reporter::notice(const std::string& text, const nlohmann::ordered_json& event) {
    log::info(text);
    if (json_) {
        print(event);
    }
    tell(event);
}

}  // namespace assay::worker
