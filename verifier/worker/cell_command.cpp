// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/cell_command.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include <client/http/http.hpp>
#include <client/http/listen_error.hpp>
#include <core/command/exit_codes.hpp>
#include <core/system/file.hpp>
#include <verifier/cell/hosts.hpp>
#include <verifier/cell/hosts_error.hpp>
#include <verifier/cell/lead.hpp>
#include <verifier/cell/measure.hpp>
#include <verifier/cell/member.hpp>
#include <verifier/worker/benchmark.hpp>
#include <verifier/worker/failure.hpp>
#include <verifier/worker/offers.hpp>

namespace assay::worker {
namespace {

constexpr double kOverheadSeconds = 2.0;  ///< of the processor, for what messages cost it

cell::Hosts hosts_of(const std::string& cell_file) {
    try {
        return cell::read_hosts(cell_file);
    } catch (const std::runtime_error& error) {
        throw FileError(error.what());
    }
}

void check_member(const cell::Hosts& hosts, const std::string& cell_file, const std::string& name) {
    if (hosts.find(name) != nullptr) {
        return;
    }
    std::string names;
    for (const cell::Member& member : hosts.members) {
        names += (names.empty() ? "\"" : ", \"") + member.name + "\"";
    }
    throw UsageError(
        "--name: " + cell_file + " has no member \"" + name + "\"; there " +
        (hosts.members.size() == 1 ? "is " : "are ") + names
    );
}

/// Calls f. Its errors about the file name it, and that nothing can be listened on says where the address is from.
template <class F>
std::invoke_result_t<F> with_file(const std::string& cell_file, const char* key, F f) {
    try {
        return f();
    } catch (const cell::HostsError& error) {
        throw FileError(cell_file + ": " + error.what());
    } catch (const http::ListenError& error) {
        throw std::runtime_error(
            std::string(error.what()) + "; that is " + key + " in " + cell_file +
            ": stop what listens there, or give another port or address of this machine there, in the file of every "
            "machine"
        );
    }
}

constexpr const char* kLead = "`lead`";
constexpr const char* kMember = "the member's `address`";

std::filesystem::path part_of(const std::filesystem::path& file) { return file.string() + ".part"; }

/// Where the file lies if it is a link.
std::filesystem::path target_of(const std::filesystem::path& file) {
    std::error_code none;
    const auto target = std::filesystem::canonical(file, none);
    return none ? file : target;
}

/// A terminal, a pipe and the like are written to as they are.
bool is_replaced(const std::filesystem::path& file) {
    return !std::filesystem::exists(file) || std::filesystem::is_regular_file(file);
}

void check_out(const std::filesystem::path& out) {
    if (std::filesystem::is_directory(out)) {
        throw UsageError("--out " + out.string() + " is a folder: give a file in it");
    }
    if (!is_replaced(out)) {
        return;
    }
    const std::filesystem::path part = part_of(target_of(out));
    errno = 0;
    if (!std::ofstream(part)) {
        throw UsageError(
            "--out " + out.string() + " cannot be written: " + std::strerror(errno) +
            "; give a file in a folder that exists and that you may write to"
        );
    }
    std::filesystem::remove(part);
}

/// As a whole or not at all.
void write_out(const std::filesystem::path& out, const std::string& text) {
    if (!is_replaced(out)) {
        if (!system::write_file(out, text)) {
            throw std::runtime_error("cannot write " + out.string());
        }
        return;
    }
    const std::filesystem::path target = target_of(out);
    std::error_code failed;
    if (system::write_file(part_of(target), text)) {
        std::filesystem::rename(part_of(target), target, failed);
    } else {
        failed = std::make_error_code(std::errc::io_error);
    }
    if (failed) {
        std::filesystem::remove(part_of(target), failed);
        throw std::runtime_error("cannot write " + out.string() + "; what was measured is lost: is the disk full?");
    }
}

/// That the port is in use is said before anything is measured.
void check_listens(const cell::Hosts& hosts) {
    const auto nothing = [](const http::HttpRequest&) { return http::HttpResponse{}; };
    const http::HttpServer probe(
        {.address = hosts.lead_address, .port = hosts.lead_port}, http::HttpServer::Handler(nothing)
    );
}

cell::MeasuredMachine measured_machine(const MeasureArguments& args, const WorkerOptions& options) {
    const Benchmark benchmark = run_benchmark(options.engine, args.machine_seconds);
    return {
        .name = args.member.empty() ? "lead" : args.member,
        .multiply_adds_per_s = benchmark.products * 1e6,
        .memory_bytes = memory_max(options),
        .overhead = cell::measure_overhead(kOverheadSeconds),
        .host = cell::host_id(),
        .cores = cell::core_count()};
}

}  // namespace

std::shared_ptr<engine::StepMachines> lead_cell(
    const std::string& cell_file, const std::string& plan, const WorkerOptions& options
) {
    return with_file(cell_file, kLead, [&] {
        return cell::make_lead(
            {.hosts = hosts_of(cell_file), .layout = plan, .engine = options.engine, .directory = options.home}
        );
    });
}

int run_member(const std::string& cell_file, const std::string& name, const WorkerOptions& options) {
    const cell::Hosts hosts = hosts_of(cell_file);
    check_member(hosts, cell_file, name);
    const std::atomic<bool> never{false};
    with_file(cell_file, kMember, [&] {
        cell::run_member({.hosts = hosts, .name = name, .engine = options.engine}, never);
    });
    return command::kExitOk;
}

int run_measuring(const MeasureArguments& args, const WorkerOptions& options) {
    cell::MeasureOptions measure{.hosts = hosts_of(args.cell_file)};
    measure.seconds = args.link_seconds;
    measure.progress = [](const std::string& line) { std::cerr << line << std::endl; };
    if (!args.member.empty()) {
        check_member(measure.hosts, args.cell_file, args.member);
        measure.progress("measuring this machine");
        measure.self = measured_machine(args, options);
        with_file(args.cell_file, kMember, [&] { cell::serve_measuring(measure); });
        return command::kExitOk;
    }
    check_out(args.out);
    with_file(args.cell_file, kLead, [&] { check_listens(measure.hosts); });
    measure.progress("measuring this machine");
    measure.self = measured_machine(args, options);
    const cell::Measured measured = with_file(args.cell_file, kLead, [&] { return cell::measure_links(measure); });
    write_out(args.out, cell::members_text(measured));
    measure.progress("`assay plan` can read " + args.out.string());
    return command::kExitOk;
}

std::string without_shares(const std::string& plan) {
    std::string out;
    for (std::size_t at = 0; at < plan.size();) {
        const std::size_t colon = std::min(plan.find(':', at), plan.size());
        out += plan.substr(at, colon - at);
        at = std::min(plan.find('+', colon), plan.size());
    }
    return out;
}

}  // namespace assay::worker
