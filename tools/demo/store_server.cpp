// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/store_server.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <client/http/http_call.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/random.hpp>
#include <core/system/process.hpp>
#include <tools/demo/crew.hpp>
#include <verifier/stores/store.hpp>

namespace assay::demo {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr std::array kKinds{StoreKind::kDirectory, StoreKind::kS3, StoreKind::kIpfs};
constexpr std::chrono::seconds kServerPatience{30};
constexpr std::chrono::milliseconds kServerPause{100};
constexpr const char* kBucket = "assay-demo";
constexpr const char* kRegion = "us-east-1";

/// The program of this name: on the path, or where the tests install servers.
std::optional<fs::path> find_server(const std::string& name, const fs::path& bin) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!folder.empty() && ::access((fs::path(folder) / name).c_str(), X_OK) == 0) {
            return fs::path(folder) / name;
        }
    }
    const fs::path installed = bin.parent_path() / "stores" / name / name;
    return fs::exists(installed) ? std::optional(installed) : std::nullopt;
}

std::string random_word() {
    std::array<std::uint8_t, 16> bytes{};
    crypto::fill_random(bytes);
    return to_hex(bytes);
}

/// Two directories, as of two network drives; the second can go away.
class DirectoryServer final : public StoreServer {
  public:
    explicit DirectoryServer(fs::path home) : home_(std::move(home)) {
        fs::create_directories(home_ / "first");
        fs::create_directories(home_ / "second");
    }

    std::vector<std::string> locations() const override {
        return {"dir:" + (home_ / "first").string(), "dir:" + (home_ / "second").string()};
    }

    /// A file in its place, so that nobody makes the directory anew.
    void go_away() override {
        fs::rename(home_ / "second", home_ / "away");
        std::ofstream(home_ / "second") << "away\n";
    }
    void come_back() override {
        fs::remove(home_ / "second");
        fs::rename(home_ / "away", home_ / "second");
    }

  private:
    fs::path home_;
};

/// versitygw with one bucket that everybody may read.
class S3Server final : public StoreServer {
  public:
    S3Server(fs::path program, fs::path home)
        : program_(std::move(program)),
          home_(std::move(home)),
          port_(free_port()),
          key_{.key_id = "assay-demo", .secret = random_word()} {
        fs::create_directories(home_ / "objects" / kBucket);
        fs::create_directories(home_ / "meta");
        write_credentials();
        come_back();
        admit_readers();
    }

    std::vector<std::string> locations() const override {
        return {std::string("s3://") + kBucket + "/checkpoints?endpoint=" + endpoint()};
    }
    std::vector<std::string> environment() const override {
        return {"AWS_SHARED_CREDENTIALS_FILE=" + (home_ / "credentials").string()};
    }

    void go_away() override { process_.reset(); }
    void come_back() override {
        const std::vector<std::string> command{
            "/usr/bin/env",
            "ROOT_ACCESS_KEY=" + key_.key_id,
            "ROOT_SECRET_KEY=" + key_.secret,
            program_.string(),
            "--port",
            "127.0.0.1:" + std::to_string(port_),
            "--quiet",
            "posix",
            "--sidecar",
            (home_ / "meta").string(),
            (home_ / "objects").string()};
        process_ =
            std::make_unique<system::Process>("versitygw", command, home_ / "versitygw.log", [](const std::string&) {});
    }

  protected:
    std::optional<stores::Credentials> credentials() const override { return key_; }

  private:
    std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

    void write_credentials() const {
        const fs::path file = home_ / "credentials";
        std::ofstream out(file);
        fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
        out << "[default]\naws_access_key_id = " << key_.key_id << "\naws_secret_access_key = " << key_.secret << "\n";
    }

    /// Verifiers are strangers, and have no credentials. Waits until the service answers.
    void admit_readers() {
        const std::string policy = std::string(R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow",)") +
                                   R"("Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::)" + kBucket +
                                   R"(/*"}]})";
        const ByteView body = as_bytes(policy);
        const http::HttpCall call{
            .method = "PUT",
            .url = endpoint() + "/" + kBucket + "?policy=",
            .fields = {{"Content-Type", "application/json"}},
            .body = body,
            .signing = http::HttpSigning{
                .key_id = key_.key_id,
                .secret = key_.secret,
                .region = kRegion,
                .payload_sha256 = to_hex(crypto::sha256(body).view())}};
        const auto give_up_at = steady_clock::now() + kServerPatience;
        for (std::string why; !process_->exit_status() && steady_clock::now() < give_up_at;) {
            try {
                const auto answer = http::http_call(call, {});
                if (answer.status / 100 == 2) {
                    return;
                }
                throw NotHere(
                    "versitygw answers " + std::to_string(answer.status) + " to a bucket's policy: " + answer.body
                );
            } catch (const http::NetError&) {
                std::this_thread::sleep_for(kServerPause);
            }
        }
        throw NotHere("versitygw does not start here; see " + (home_ / "versitygw.log").string());
    }

    fs::path program_;
    fs::path home_;
    std::uint16_t port_;
    stores::Credentials key_;
    std::unique_ptr<system::Process> process_;
};

/// A node of IPFS: the one that the environment names, or Helia's without a network.
class IpfsServer final : public StoreServer {
  public:
    IpfsServer(std::string gateway, std::string api) : gateway_(std::move(gateway)), api_(std::move(api)) {}

    IpfsServer(const fs::path& node, const fs::path& script, const fs::path& home) {
        fs::create_directories(home);
        process_ = std::make_unique<system::Process>(
            "helia", std::vector<std::string>{node.string(), script.string(), "--until-signal"}, home / "helia.log",
            [this](const std::string& line) {
                const std::lock_guard lock(mutex_);
                printed_ = line;
            }
        );
        const auto give_up_at = steady_clock::now() + kServerPatience;
        while (gateway_.empty() && !process_->exit_status() && steady_clock::now() < give_up_at) {
            std::this_thread::sleep_for(kServerPause);
            const std::lock_guard lock(mutex_);
            gateway_ = api_ = printed_;
        }
        if (gateway_.empty()) {
            throw NotHere("Helia does not start with this version of node; see " + (home / "helia.log").string());
        }
    }

    std::vector<std::string> locations() const override { return {"ipfs://?gateway=" + gateway_ + "&api=" + api_}; }
    bool can_go() const override { return process_ != nullptr; }
    void go_away() override { toggle(); }
    void come_back() override { toggle(); }

  private:
    /// Its blocks are in its memory, so it is not stopped: it closes its port, or opens it again.
    void toggle() {
        if (process_->exit_status()) {
            throw std::runtime_error("Helia has ended; see " + process_->log().string());
        }
        ::kill(process_->pid(), SIGUSR2);
    }

    std::mutex mutex_;
    std::string printed_;
    std::string gateway_;
    std::string api_;
    std::unique_ptr<system::Process> process_;
};

std::unique_ptr<StoreServer> make_ipfs_server(const fs::path& bin, const fs::path& home) {
    const char* gateway = std::getenv("ASSAY_IPFS_GATEWAY");
    const char* api = std::getenv("ASSAY_IPFS_API");
    if (gateway != nullptr && api != nullptr) {
        return std::make_unique<IpfsServer>(gateway, api);
    }
    const auto node = find_server("node", bin);
    const fs::path script = bin.parent_path() / "stores" / "helia" / "ipfs_node.mjs";
    if (!node || !fs::exists(script)) {
        throw NotHere(
            "--store ipfs needs a node of IPFS: set ASSAY_IPFS_GATEWAY and ASSAY_IPFS_API, or install Node.js and run "
            "tools/quickstart.sh demo --store ipfs, which installs Helia in the build folder"
        );
    }
    return std::make_unique<IpfsServer>(*node, script, home);
}

}  // namespace

const char* to_string(StoreKind kind) noexcept {
    switch (kind) {
        case StoreKind::kDirectory:
            return "directory";
        case StoreKind::kS3:
            return "s3";
        case StoreKind::kIpfs:
            return "ipfs";
    }
    return "";
}

std::optional<StoreKind> decode_store_kind(std::string_view name) {
    const auto found =
        std::find_if(kKinds.begin(), kKinds.end(), [&](StoreKind kind) { return to_string(kind) == name; });
    return found == kKinds.end() ? std::nullopt : std::optional(*found);
}

const std::vector<std::string>& store_kind_names() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        names.reserve(kKinds.size());
        for (const StoreKind kind : kKinds) {
            names.emplace_back(to_string(kind));
        }
        return names;
    }();
    return kNames;
}

std::string StoreServer::put_all(const artifacts::ContentStore& store) const {
    std::string out;
    for (const std::string& location : locations()) {
        const auto to = stores::open_store(stores::decode_location(location).value(), credentials());
        for (const auto& entry : store.entries()) {
            if (const auto leaves = store.leaves(entry.hash)) {
                to->put({entry.hash, true}, leaves->path(), {});
            }
            to->put({entry.hash, false}, store.path(entry.hash), {});
        }
        out += (out.empty() ? "" : " ") + to->finish();
    }
    return out;
}

std::unique_ptr<StoreServer> make_store_server(StoreKind kind, const fs::path& bin, const fs::path& home) {
    switch (kind) {
        case StoreKind::kDirectory:
            return std::make_unique<DirectoryServer>(home);
        case StoreKind::kS3:
            if (const auto program = find_server("versitygw", bin)) {
                return std::make_unique<S3Server>(*program, home);
            }
            throw NotHere(
                "--store s3 needs versitygw: put it on the path, or run tools/quickstart.sh demo --store s3, which "
                "installs it in the build folder with Go"
            );
        case StoreKind::kIpfs:
            return make_ipfs_server(bin, home);
    }
    throw NotHere("there is no such store");
}

}  // namespace assay::demo
