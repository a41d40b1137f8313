// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/measure.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include <client/http/http.hpp>
#include <core/base/bytes.hpp>
#include <core/system/temporary_directory.hpp>
#include <verifier/cell/hosts_error.hpp>
#include <verifier/cell/seal.hpp>

namespace assay::cell {
namespace {

using MeasureClock = std::chrono::steady_clock;
using Message = nlohmann::json;
using Seconds = std::chrono::duration<double>;

constexpr int kPings = 20;
constexpr std::uint64_t kFileBytes = 64U << 20U;
constexpr std::chrono::milliseconds kAnswer{10'000};
constexpr std::chrono::milliseconds kTryAgain{500};
const char* const kLeadName = "lead";

// What the others fetch: zeros, most of which take no room.
class FileOfZeros {
  public:
    FileOfZeros() : path_(directory_.path() / "zeros") {
        std::ofstream(path_).close();
        std::filesystem::resize_file(path_, kFileBytes);
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    system::TemporaryDirectory directory_{"assay-measure"};
    std::filesystem::path path_;
};

http::HttpResponse message_answer(const Message& message) {
    return {.status = 200, .content_type = "application/json", .body = message.dump()};
}
http::HttpResponse refusal(unsigned status, const std::string& why) {
    return {.status = status, .content_type = "text/plain", .body = why + "\n"};
}

Message post_to(
    const std::string& base, const std::string& target, const std::string& secret, const Message& request,
    std::chrono::milliseconds timeout
) {
    http::HttpLimits limits;
    limits.timeout = timeout;
    const std::string url = base + target;
    const http::HttpResponse response = http::http_post(url, seal(secret, target, request.dump()), limits);
    if (response.status != 200) {
        const std::string text = url + " refuses: " + response.body.substr(0, response.body.find('\n'));
        if (response.status == 403 || response.status == 404) {
            throw HostsError(text);
        }
        throw std::runtime_error(text);
    }
    Message out = Message::parse(response.body, nullptr, false);
    if (!out.is_object()) {
        throw std::runtime_error("what answers at " + url + " measures no links");
    }
    return out;
}

// Where those who know the secret fetch bytes.
std::string bytes_target(const std::string& secret) { return "/bytes/" + mac_of(secret, "bytes"); }

// A request on a connection of its own takes two round trips: one to connect, one for the answer.
double measure_delay(const std::string& url, const std::string& secret) {
    std::vector<double> times;
    for (int i = 0; i < kPings; ++i) {
        const auto begin = MeasureClock::now();
        post_to(url, "/ping", secret, Message::object(), kAnswer);
        times.push_back(Seconds(MeasureClock::now() - begin).count());
    }
    const auto middle = times.begin() + kPings / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle / 4.0;
}

double measure_bytes(const std::string& url, const std::string& secret, double seconds) {
    http::HttpLimits limits;
    limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3)) + kAnswer;
    std::uint64_t received = 0;
    std::uint64_t counted = 0;
    const auto begin = MeasureClock::now();
    double counted_from = 0.0;
    double spent = 0.0;
    while (spent < seconds) {
        const http::HttpResponse response = http::http_get_file(
            url + bytes_target(secret), 0, std::nullopt,
            [&](std::uint64_t /*offset*/, ByteView piece) {
                received += piece.size();
                spent = Seconds(MeasureClock::now() - begin).count();
                // A connection begins slowly, for a second or more over a long link.
                if (spent < seconds / 2.0) {
                    counted = received;
                    counted_from = spent;
                }
                return spent < seconds;
            },
            limits
        );
        if (response.status != 200 && response.status != 206) {
            throw std::runtime_error(url + " refuses: " + std::to_string(response.status));
        }
    }
    return static_cast<double>(received - counted) / (spent - counted_from);
}

Message message_of(const MeasuredMachine& machine, std::uint16_t port) {
    return {
        {"name", machine.name},
        {"port", port},
        {"multiply_adds_per_s", machine.multiply_adds_per_s},
        {"memory_bytes", machine.memory_bytes},
        {"transfer_s_per_byte", machine.overhead.byte_s},
        {"transfer_s_per_message", machine.overhead.message_s},
        {"sum_s_per_byte", machine.overhead.sum_byte_s},
        {"host", machine.host},
        {"cores", machine.cores}};
}
MeasuredMachine machine_of(const std::string& name, const Message& message) {
    return {
        .name = name,
        .multiply_adds_per_s = message.value("multiply_adds_per_s", 0.0),
        .memory_bytes = message.value("memory_bytes", std::uint64_t{0}),
        .overhead =
            {.byte_s = message.value("transfer_s_per_byte", 0.0),
             .message_s = message.value("transfer_s_per_message", 0.0),
             .sum_byte_s = message.value("sum_s_per_byte", 0.0)},
        .host = message.value("host", std::string()),
        .cores = message.value("cores", 0U)};
}

// What each machine of the cell answers to those that know the secret.
class Station {
  public:
    Station(const MeasureOptions& options, const std::string& address, std::uint16_t port) : options_(options) {
        const http::HttpServerOptions server_options{.address = address, .port = port, .connections_per_address = 64};
        server_ = std::make_unique<http::HttpServer>(server_options, [this](const http::HttpRequest& request) {
            return answer(request);
        });
    }

    std::uint16_t port() const { return server_->port(); }
    void wait_until_done() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_done_; });
    }
    /// Waits until all members have said that they are there. Returns them, and where they answer.
    std::map<std::string, std::pair<MeasuredMachine, std::uint16_t>> wait_for_members() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return members_.size() == options_.hosts.members.size(); });
        return members_;
    }

  private:
    http::HttpResponse answer(const http::HttpRequest& request) {
        if (request.method == "GET" && request.target.starts_with("/bytes/")) {
            if (!is_same_text(request.target, bytes_target(options_.hosts.secret))) {
                return refusal(403, "the secret is another");
            }
            return {.status = 200, .content_type = "application/octet-stream", .body = "", .file = zeros_.path()};
        }
        const auto body = unseal(options_.hosts.secret, request.target, request.body);
        if (!body) {
            return refusal(403, "the secret is another");
        }
        const Message message = Message::parse(*body, nullptr, false);
        if (request.method != "POST" || !message.is_object()) {
            return refusal(400, "POST a JSON object");
        }
        if (request.target == "/ping") {
            return message_answer(Message::object());
        }
        if (request.target == "/measure") {
            return measure(message);
        }
        if (request.target == "/here") {
            return register_member(message);
        }
        if (request.target == "/done") {
            const std::scoped_lock lock(mutex_);
            is_done_ = true;
            changed_.notify_all();
            return message_answer(Message::object());
        }
        return refusal(404, "no such page");
    }

    http::HttpResponse measure(const Message& message) const {
        const std::string name = message.value("name", std::string());
        const Member* member = options_.hosts.find(name);
        if (member == nullptr && name != kLeadName) {  // nobody makes this machine connect elsewhere
            return refusal(404, "\"" + name + "\" is no member of this cell");
        }
        const std::string url = member == nullptr ? options_.hosts.lead_url()
                                                  : "http://" + member->address + ":" +
                                                        std::to_string(message.value("port", std::uint16_t{0}));
        const double seconds = std::clamp(message.value("seconds", 1.0), 0.0, 600.0);
        const double delay_s = measure_delay(url, options_.hosts.secret);
        return message_answer(
            {{"delay_s", delay_s}, {"bytes_per_s", measure_bytes(url, options_.hosts.secret, seconds)}}
        );
    }

    http::HttpResponse register_member(const Message& message) {
        const std::string name = message.value("name", std::string());
        if (options_.self.name != kLeadName || options_.hosts.find(name) == nullptr) {
            return refusal(404, "\"" + name + "\" is no member of this cell");
        }
        const MeasuredMachine machine = machine_of(name, message);
        const std::scoped_lock lock(mutex_);
        const bool is_new =
            members_.insert_or_assign(name, std::pair(machine, message.value("port", std::uint16_t{0}))).second;
        if (is_new) {
            options_.progress(
                name + " is there, " + std::to_string(members_.size()) + " of " +
                std::to_string(options_.hosts.members.size())
            );
        }
        changed_.notify_all();
        return message_answer(Message::object());
    }

    const MeasureOptions& options_;
    FileOfZeros zeros_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_done_ = false;
    std::map<std::string, std::pair<MeasuredMachine, std::uint16_t>> members_;
    std::unique_ptr<http::HttpServer> server_;  // stops before what its handlers use is gone
};

struct Place {
    std::string name;
    std::string url;
    std::uint16_t port = 0;
};

// What `from` measures to `to`; the lead, which has no need to ask itself, is the first of the places.
std::pair<double, double> ask_to_measure(const MeasureOptions& options, const Place& from, const Place& to) {
    if (from.name == kLeadName) {
        const double delay_s = measure_delay(to.url, options.hosts.secret);
        return {delay_s, measure_bytes(to.url, options.hosts.secret, options.seconds)};
    }
    const auto timeout = std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1e3)) + 6 * kAnswer;
    const Message answer = post_to(
        from.url, "/measure", options.hosts.secret,
        {{"name", to.name}, {"port", to.port}, {"seconds", options.seconds}}, timeout
    );
    return {answer.value("delay_s", 0.0), answer.value("bytes_per_s", 0.0)};
}

std::string number_text(const char* format, double value) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), format, value);
    return buffer.data();
}

std::vector<MeasuredLink> measure_pairs(const MeasureOptions& options, const std::vector<Place>& places) {
    std::vector<MeasuredLink> out;
    const std::size_t pairs = places.size() * (places.size() - 1) / 2;
    for (std::size_t a = 0; a < places.size(); ++a) {
        for (std::size_t b = a + 1; b < places.size(); ++b) {
            const auto [delay_there, bytes_there] = ask_to_measure(options, places[a], places[b]);
            const auto [delay_back, bytes_back] = ask_to_measure(options, places[b], places[a]);
            out.push_back(
                {places[a].name, places[b].name, std::min(delay_there, delay_back), std::min(bytes_there, bytes_back)}
            );
            options.progress(
                "link " + std::to_string(out.size()) + " of " + std::to_string(pairs) + ": " + places[a].name + " - " +
                places[b].name + ", " + number_text("%.3f ms, ", out.back().delay_s * 1e3) +
                number_text("%.3g Gbit/s", out.back().bytes_per_s * 8e-9)
            );
        }
    }
    return out;
}

// Whoever is gone needs not be told.
void tell_done(const MeasureOptions& options, const std::vector<Place>& places) {
    for (std::size_t i = 1; i < places.size(); ++i) {
        try {
            post_to(places[i].url, "/done", options.hosts.secret, Message::object(), kAnswer);
        } catch (const std::runtime_error& error) {
            options.progress(places[i].name + " was not told that all is measured: " + error.what());
        }
    }
}

}  // namespace

Measured measure_links(const MeasureOptions& options) {
    Station station(options, options.hosts.lead_address, options.hosts.lead_port);
    options.progress("waiting for " + std::to_string(options.hosts.members.size()) + " members");
    const auto members = station.wait_for_members();
    Measured out;
    std::vector<Place> places{{kLeadName, options.hosts.lead_url(), options.hosts.lead_port}};
    out.machines.push_back(options.self);
    for (const Member& member : options.hosts.members) {
        const auto& [machine, port] = members.at(member.name);
        out.machines.push_back(machine);
        places.push_back({member.name, "http://" + member.address + ":" + std::to_string(port), port});
    }
    try {
        out.links = measure_pairs(options, places);
    } catch (...) {
        tell_done(options, places);
        throw;
    }
    tell_done(options, places);
    return out;
}

void serve_measuring(const MeasureOptions& options) {
    const Member* self = options.hosts.find(options.self.name);
    if (self == nullptr) {
        throw std::runtime_error("the hosts have no member \"" + options.self.name + "\"");
    }
    Station station(options, self->address, 0);
    const Message here = message_of(options.self, station.port());
    bool is_told = false;
    for (bool is_there = false; !is_there;) {
        try {
            post_to(options.hosts.lead_url(), "/here", options.hosts.secret, here, kAnswer);
            is_there = true;
        } catch (const http::NetError& error) {
            if (!is_told) {
                options.progress("waiting for the lead at " + options.hosts.lead_url() + ": " + error.what());
            }
            is_told = true;
            std::this_thread::sleep_for(kTryAgain);
        }
    }
    options.progress("the lead knows this machine; links are measured");
    station.wait_until_done();
}

namespace {

// The first machine on the same host; nullptr if the host has no other one.
const MeasuredMachine* first_on_host(const Measured& measured, const MeasuredMachine& self) {
    const MeasuredMachine* first = nullptr;
    std::size_t count = 0;
    for (const MeasuredMachine& other : measured.machines) {
        if (other.host == self.host) {
            first = first == nullptr ? &other : first;
            ++count;
        }
    }
    return self.host.empty() || self.cores == 0 || count < 2 ? nullptr : first;
}

std::string overhead_text(const MeasuredOverhead& overhead) {
    return "transfer_ns_per_byte = " + number_text("%.4f", overhead.byte_s * 1e9) +
           "\ntransfer_us_per_message = " + number_text("%.3f", overhead.message_s * 1e6) +
           "\nsum_ns_per_byte = " + number_text("%.4f", overhead.sum_byte_s * 1e9) + "\n";
}

}  // namespace

std::string members_text(const Measured& measured) {
    std::string out = "# What `assay-worker measure-links` measured, for `assay plan --members`.\n";
    for (const MeasuredMachine& machine : measured.machines) {
        out += "\n[[members]]\nname = \"" + machine.name +
               "\"\nmultiply_adds_per_s = " + number_text("%.4e", machine.multiply_adds_per_s) +
               "\nmemory_bytes = " + std::to_string(machine.memory_bytes) + "\n" + overhead_text(machine.overhead);
        if (const MeasuredMachine* const first = first_on_host(measured, machine)) {
            out += "host = \"" + first->name + "\"\ncores = " + std::to_string(first->cores) + "\n";
        }
    }
    for (const MeasuredLink& link : measured.links) {
        out += "\n[[links]]\nbetween = [\"" + link.a + "\", \"" + link.b +
               "\"]\ndelay_ms = " + number_text("%.4f", link.delay_s * 1e3) +
               "\ngbit_per_s = " + number_text("%.5f", link.bytes_per_s * 8e-9) + "\n";
    }
    return out;
}

}  // namespace assay::cell
