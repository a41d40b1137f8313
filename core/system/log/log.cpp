// SPDX-License-Identifier: Apache-2.0
#include <core/system/log/log.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace assay::log {
namespace {

constexpr std::array<std::pair<Level, const char*>, 4> kLevels{
    {{Level::kDebug, "debug"}, {Level::kInfo, "info"}, {Level::kWarning, "warning"}, {Level::kError, "error"}}};

const char* to_string(Level level) {
    for (const auto& [value, name] : kLevels) {
        if (value == level) {
            return name;
        }
    }
    return "";
}

spdlog::level::level_enum to_spdlog(Level level) {
    switch (level) {
        case Level::kDebug:
            return spdlog::level::debug;
        case Level::kInfo:
            return spdlog::level::info;
        case Level::kWarning:
            return spdlog::level::warn;
        case Level::kError:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

struct Log {
    Options options;
    std::shared_ptr<spdlog::logger> logger;
    bool is_started = false;
};

std::shared_ptr<const Log> make_log(const Options& options, bool is_started) {
    spdlog::sink_ptr sink;
    if (options.file.empty()) {
        sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
        try {
            sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
                options.file.string(), options.file_bytes_max, options.files_max
            );
        } catch (const spdlog::spdlog_ex& error) {
            throw std::runtime_error("cannot log to " + options.file.string() + ": " + error.what());
        }
    }
    auto logger = std::make_shared<spdlog::logger>(options.program, std::move(sink));
    // What is written is prepared here; spdlog puts the time before it.
    const char* const pattern =
        options.format == Format::kJson ? "{\"time\":\"%Y-%m-%dT%H:%M:%S.%eZ\",%v}" : "%Y-%m-%dT%H:%M:%S.%eZ %v";
    logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
    logger->set_level(to_spdlog(options.level));
    logger->flush_on(spdlog::level::trace);
    return std::make_shared<const Log>(Log{options, std::move(logger), is_started});
}

std::mutex mutex;

std::shared_ptr<const Log>& current() {
    static std::shared_ptr<const Log> log = make_log({}, false);
    return log;
}

std::shared_ptr<const Log> get() {
    const std::lock_guard lock(mutex);
    return current();
}

std::string without_controls(std::string_view text) {
    std::string out(text);
    std::replace_if(
        out.begin(), out.end(), [](char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; }, ' '
    );
    return out;
}

std::string to_text(const Options& options, Level level, std::string_view message, Fields fields) {
    std::string out = std::string(to_string(level)) + " " + options.program + ": " + std::string(message);
    for (const Field& field : fields) {
        const auto* text = std::get_if<std::string>(&field.value);
        const bool is_quoted = text != nullptr && text->find(' ') != std::string::npos;
        std::string value = std::visit([](const auto& any) { return nlohmann::json(any); }, field.value)
                                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        if (text != nullptr && !is_quoted) {
            value = *text;
        }
        out += " " + std::string(field.name) + "=" + value;
    }
    return without_controls(out);
}

/// The members of the object after its time, without the braces.
std::string to_members(const Options& options, Level level, std::string_view message, Fields fields) {
    nlohmann::ordered_json entry{{"level", to_string(level)}, {"program", options.program}, {"message", message}};
    for (const Field& field : fields) {
        std::visit([&](const auto& value) { entry[std::string(field.name)] = value; }, field.value);
    }
    const std::string all = entry.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return all.substr(1, all.size() - 2);
}

}  // namespace

std::optional<Level> decode_level(std::string_view name) noexcept {
    for (const auto& [value, known] : kLevels) {
        if (name == known) {
            return value;
        }
    }
    return std::nullopt;
}

std::optional<Format> decode_format(std::string_view name) noexcept {
    if (name == "text") {
        return Format::kText;
    }
    return name == "json" ? std::optional(Format::kJson) : std::nullopt;
}

void start(const Options& options) {
    auto fresh = make_log(options, true);
    const std::lock_guard lock(mutex);
    current() = std::move(fresh);
}

bool is_started() { return get()->is_started; }

bool has_file() { return !get()->options.file.empty(); }

void write(Level level, std::string_view message, Fields fields) {
    const auto log = get();
    const spdlog::level::level_enum at = to_spdlog(level);
    if (!log->logger->should_log(at)) {
        return;
    }
    const Options& options = log->options;
    log->logger->log(
        at, spdlog::string_view_t(
                options.format == Format::kJson ? to_members(options, level, message, fields)
                                                : to_text(options, level, message, fields)
            )
    );
}

}  // namespace assay::log
