// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/ui_command.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

#include <core/base/bytes.hpp>
#include <core/command/exit_codes.hpp>
#include <core/system/browser.hpp>
#include <core/system/file_lock.hpp>
#include <verifier/ui/office.hpp>
#include <verifier/ui/service.hpp>
#include <verifier/worker/failure.hpp>
#include <verifier/worker/store_options.hpp>
#include <verifier/worker/ui_host.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::milliseconds kLook{100};
constexpr const char* kFolder = "assay-worker";

/// The XDG Base Directory Specification's place for a program's data.
std::filesystem::path default_home() {
    const char* const data = std::getenv("XDG_DATA_HOME");
    if (data != nullptr && *data == '/') {
        return std::filesystem::path(data) / kFolder;
    }
    const char* const home = std::getenv("HOME");
    if (home == nullptr || *home != '/') {
        throw UsageError("--home DIR is needed, since $HOME names no folder");
    }
    return std::filesystem::path(home) / ".local" / "share" / kFolder;
}

std::filesystem::path open_home(const std::string& given) {
    std::filesystem::path home = given.empty() ? default_home() : std::filesystem::path(given);
    std::error_code error;
    std::filesystem::create_directories(home, error);
    std::filesystem::permissions(home, std::filesystem::perms::owner_all, error);
    if (error) {
        throw FileError("cannot use " + home.string() + " as a home: " + error.message());
    }
    return std::filesystem::absolute(home);
}

}  // namespace

CLI::App* add_ui(CLI::App& app, UiArguments& args, WorkerOptions& worker) {
    CLI::App* const ui = app.add_subcommand("ui", "Serve a page for the owner of this machine, who types no commands");
    ui->add_option(
        "--home", args.home,
        "The key, the settings and the workers' homes; default: assay-worker in the user's data folder"
    );
    ui->add_option("--listen", args.listen, "127.0.0.1:PORT of the page; port 0 is any free one")
        ->capture_default_str();
    ui->add_flag("!--no-browser", args.opens_browser, "Open no browser");
    ui->add_option("--chain-id", worker.pins.chain_id, "The chain's id; default: what --home has pinned");
    ui->add_option("--genesis-hash", worker.pins.genesis_hash, "The chain's genesis hash; default: likewise")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return fixed_from_hex<Hash256>(text) ? std::string() : std::string("64 hex digits are needed");
            },
            "HASH"
        ));
    ui->add_option(
          "--artifact-address", worker.listen_address, "Address at which others fetch what this machine has trained"
    )
        ->capture_default_str();
    add_relay_options(*ui, worker.relays);
    ui->add_flag(
        "--allow-private-addresses", worker.allow_private_addresses,
        "Fetch from loopback and private networks too; only for devnets"
    );
    return ui;
}

int run_ui(const UiArguments& args, WorkerOptions worker, const Flavour& flavour, const std::atomic<bool>& stop) {
    std::uint16_t port = 0;
    try {
        port = ui::loopback_port(args.listen);
    } catch (const ui::InputError& error) {
        throw UsageError(error.what());
    }
    worker.home = open_home(args.home);
    std::optional<system::FileLock> lock;
    try {
        lock.emplace(worker.home / "lock");
    } catch (const system::LockError& error) {
        throw FileError("another worker uses " + worker.home.string() + ": " + error.holder().value_or(error.what()));
    }
    std::atomic<bool> quit{false};
    ui::Activity activity;
    UiHost host(worker, flavour.behaviour, activity);
    const ui::Place place{
        .node = worker.node, .chain_id = worker.pins.chain_id, .genesis_hash = worker.pins.genesis_hash};
    try {
        ui::Office office(worker.home, place, host, activity);
        host.serve(office);
        {
            const ui::Service service(worker.home, port, office, activity, quit);
            std::cout << "assay-worker ui ready: " << service.url() << ", the link is in "
                      << service.link_file().string() << std::endl;
            if (args.opens_browser && system::has_display()) {
                system::open_in_browser(service.link_file().string());
            }
            while (!stop && !quit) {
                std::this_thread::sleep_for(kLook);
            }
        }
        host.stop();  // before the limits go that its workers ask for
    } catch (const ui::InputError& error) {
        throw FileError(error.what());
    }
    return command::kExitOk;
}

}  // namespace assay::worker
