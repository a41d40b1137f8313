// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/staller.hpp>

#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <core/crypto/hash.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kStallerName = "staller";
constexpr Amount kStallerFunds{150'000'000'000};
constexpr std::uint64_t kStallerTasks = 12;
// Less than the demo's own task, which a solver with an unanswered offer is drawn for all the same (TASK-19).
constexpr Amount kStallerReward{10'000'000'000};
constexpr int kStallerBacklog = 64;

}  // namespace

MutePort::MutePort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd_, any, size) != 0 || ::listen(fd_, kStallerBacklog) != 0 || ::getsockname(fd_, any, &size) != 0) {
        ::close(fd_);
        throw std::runtime_error("there is no port to be silent at");
    }
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

MutePort::~MutePort() { ::close(fd_); }

Staller::Staller(Network& network) : Outsider(network, {{kStallerName, kStallerFunds}}) {}

void Staller::prepare(const Packer& pack) {
    static const crypto::TaggedHash kHash("assay/demo-tarpit");
    contracts::TaskSpec spec = pack(contracts::Mode::kExact);
    spec.title = "tarpit";
    spec.reward = kStallerReward;
    spec.verification_fee = least_fee(spec);
    for (std::uint64_t i = 0; i < kStallerTasks; ++i) {
        ports_.push_back(std::make_unique<MutePort>());
        spec.seed = i;
        // Of no bytes that anybody has, or the cache of the demo's own program would do.
        spec.program_artifact.sha256 = kHash(spec.program_artifact.sha256.view());
        spec.program_artifact.location = ports_.back()->url();
        if (!submit_task(kStallerName, spec)) {
            throw std::runtime_error("a task of the staller was refused");
        }
    }
}

void Staller::act(const contracts::Task& own) {
    if (has_cancelled_ || !is_judged(own)) {
        return;
    }
    has_cancelled_ = true;
    cancel_tasks(kStallerName);
}

json Staller::report() { return tally(); }

std::vector<std::string> Staller::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("accepted") != 0) {
        complaints.emplace_back("a solver accepted a task whose program nobody serves");
    }
    if (report.at("slashed") != 0) {
        complaints.emplace_back("somebody lost stake by a task whose program nobody serves");
    }
    if (report.at("submitted") < kStallerTasks || report.at("drawn") == 0) {
        complaints.emplace_back("no solver was drawn for a task at a silent address, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
