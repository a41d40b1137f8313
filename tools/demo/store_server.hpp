// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tools/demo/demo.hpp>
#include <tools/demo/store_kind.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/stores/credentials.hpp>

namespace assay::demo {

/// A store of the demo, with its server where it has one, on loopback.
class StoreServer {
  public:
    virtual ~StoreServer() = default;
    /// The locations that a solver writes to, as --publish has them.
    virtual std::vector<std::string> locations() const = 0;
    /// Variables of the environment that whoever writes needs, as "NAME=value".
    virtual std::vector<std::string> environment() const { return {}; }
    /// Writes every artifact of a store. Returns where a task says that they are.
    std::string put_all(const artifacts::ContentStore& store) const;

    /// Whether go_away() and come_back() can be used: not with a node that somebody else has started.
    virtual bool can_go() const { return true; }
    /// From now on one of the locations can be neither read nor written.
    virtual void go_away() = 0;
    virtual void come_back() = 0;

  protected:
    virtual std::optional<stores::Credentials> credentials() const { return std::nullopt; }
};

/// Starts a store below `home`. `bin` has the executables; servers that the tests have installed beside it are found.
/// Throws NotHere if there is no such server, or it does not start.
std::unique_ptr<StoreServer> make_store_server(
    StoreKind kind, const std::filesystem::path& bin, const std::filesystem::path& home
);

}  // namespace assay::demo
