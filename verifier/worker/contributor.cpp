// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/contributor.hpp>

#include <chrono>

#include <core/keys/key_file.hpp>
#include <verifier/roles/contributor.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBackoff{1'000};  // before a node that failed is asked again
constexpr const char* kSecretsName = "beacon.key";

/// The key in the file, which is made at the first call.
crypto::SecretKey kept_key(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file)) {
        const auto made = crypto::SecretKey::generate();
        crypto::write_private_file(file, to_hex(ByteView(made.bytes())));
        return made;
    }
    return crypto::read_hex_key(file);
}

}  // namespace

Contributor::Contributor(
    const WorkerOptions& options, const crypto::SecretKey& key, Reporter& reporter, const std::atomic<bool>& stop
)
    : secrets_(options.owner ? kept_key(options.home / kSecretsName) : key),
      reporter_(reporter),
      stop_(stop),
      chain_(options.node, options.home, options.pins, key, options.owner, reporter),
      thread_([this] { run(); }) {}

Contributor::~Contributor() {
    done_ = true;
    thread_.join();
}

void Contributor::rest() const {
    const auto end = std::chrono::steady_clock::now() + kBackoff;
    while (!is_over() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(milliseconds(20));
    }
}

bool Contributor::act(bool wants_seat) {
    // Proven: a node that says of another round that it is open would learn the secret for it.
    const contracts::Beacon beacon = chain_.beacon();
    const std::string chain_id = chain_.chain_id();
    const roles::ContributorView view{
        .self = chain_.self(),
        .key = secrets_,
        .chain_id = chain_id,
        .beacon = beacon,
        .params = chain_.params(),
        .free_stake = chain_.free_stake(contracts::Role::kVerifier),
        .wants_seat = wants_seat};
    const auto action = roles::decide_contributor(view);
    if (!action) {
        if (roles::is_estranged(view)) {
            reporter_.trouble(
                "the seat in the beacon waits for a secret that this worker does not have: it was promised with "
                "another "
                "key, or by a worker with another home"
            );
        }
        return false;
    }
    const bool sent = chain_.send(*action);
    if (sent) {
        reporter_.event({{"event", "beacon"}, {"action", contracts::action_name(*action)}, {"round", beacon.rounds}});
    }
    return sent;
}

void Contributor::run() {
    Height seen;
    while (!is_over()) {
        try {
            seen = chain_.rpc().wait_for_block(seen, kPoll);
            act(true);
        } catch (const http::NetError& error) {
            reporter_.trouble(std::string("the beacon cannot be reached, trying again: ") + error.what());
            rest();
        } catch (const client::RpcError& error) {
            reporter_.trouble("the node answered " + error.name + ": " + error.what());
            rest();
        }
    }
    leave();
}

void Contributor::leave() {
    try {
        while (act(false)) {
        }
    } catch (const std::exception& error) {
        reporter_.trouble(std::string("the seat in the beacon could not be left: ") + error.what());
    }
}

}  // namespace assay::worker
