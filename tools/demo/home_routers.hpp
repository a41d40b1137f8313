// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <core/system/process.hpp>

namespace assay::demo {

/// Machines behind home routers, in network namespaces of this machine. Each has a private address, the same one in
/// every home, and a router that translates addresses (NAT) and lets nobody in. Beyond the routers is the network of
/// the demo itself, where everybody reaches kOutside. All of it is gone with the processes.
class HomeRouters {
  public:
    /// An address for documentation (RFC 5737), which no machine has.
    static constexpr const char* kOutside = "203.0.113.254";

    /// Puts this process, and what it starts later, into a network of its own with the address kOutside; as the user
    /// root of a user namespace where it is not root. To be called before there are other threads. Throws NotHere with
    /// what this machine lacks.
    static void enter();

    /// Processes write to logs in `logs`. enter() was called.
    explicit HomeRouters(std::filesystem::path logs);
    /// Builds another home. Throws std::runtime_error with the end of what a command printed.
    void add(const std::string& name);
    /// What a command line begins with that runs in a home.
    std::vector<std::string> inside(const std::string& name) const;
    /// Address of a home's router, from which its machine's connections come.
    const std::string& public_address(const std::string& name) const { return homes_.at(name).public_address; }
    /// Where a home's machine listens, if it does, in its home.
    static constexpr const char* kListen = "192.168.1.2:4000";
    /// Whether the server at kListen answers somebody outside who sends to its private address by way of its router, as
    /// a neighbour of the router could.
    bool is_reachable(const std::string& name) const;

  private:
    struct Home {
        std::string public_address;
        std::unique_ptr<system::Process> router;  ///< that keeps its namespace
        std::unique_ptr<system::Process> machine;
    };

    std::unique_ptr<system::Process> hold(const std::string& name) const;

    std::filesystem::path logs_;
    std::map<std::string, Home> homes_;
};

}  // namespace assay::demo
