// SPDX-License-Identifier: Apache-2.0
// What private tasks cost: sealing, opening and checking of a state, and judging evidence (SEA rules).
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/aead.hpp>
#include <core/crypto/curve.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/commitment.hpp>
#include <core/sealed/chunk_key.hpp>
#include <core/sealed/evidence.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/files/seal.hpp>
#include <core/sealed/share.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/commands.hpp>
#include <tools/bench/measure.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

struct SealedOptions {
    std::uint32_t mib = 64;
    std::vector<unsigned> threads{1, 2};
    int repeats = 5;
};

crypto::SecretKey key_of(std::string_view name) {
    return crypto::SecretKey::from_bytes(crypto::sha256(as_bytes(name)).view()).value();
}

/// One tensor of so many MiB of f32.
canonical::Tensor tensor_of(std::uint32_t mib) {
    canonical::Tensor out = canonical::make_tensor(canonical::DType::kF32, {.rows = mib * 256, .cols = 1'024});
    std::uint64_t word = 1;
    for (std::uint8_t& byte : out.data) {
        word = word * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<std::uint8_t>(word >> 56U);
    }
    return out;
}

/// A state, its sealed file, and the same with one wrong chunk.
struct Subject {
    explicit Subject(std::uint32_t mib) : tensor(tensor_of(mib)) { altered.bytes[altered.bytes.size() / 2] ^= 1U; }

    canonical::Tensor tensor;
    canonical::TensorType type{.dtype = tensor.dtype, .shape = tensor.shape};
    sealed::TaskSecret secret{key_of("task")};
    Hash256 commitment = dispute::commit_tensor(tensor);
    sealed::Artifact artifact{
        .task = crypto::sha256(as_bytes("id")), .name = dispute::state_root(std::span(&commitment, 1))};
    AccountId reporter = key_of("reporter").account();
    sealed::SealedFile file =
        sealed::seal_state(std::span<const canonical::Tensor>(&tensor, 1), secret, artifact).value();
    sealed::SealedFile altered = file;

    sealed::StateReader reader(const Hash256& root) const {
        return {
            .secret = secret,
            .artifact = artifact,
            .sealed_root = root,
            .types = std::span(&type, 1),
            .reporter = reporter,
            .aux = {},
        };
    }
    sealed::SealedContext context(const Hash256& root) const {
        return {
            .task = artifact.task,
            .artifact = artifact.name,
            .key = secret.key(),
            .sealed_root = root,
            .state_tensors = 1,
            .reporter = reporter,
        };
    }
};

/// MiB of plaintext in a second by the clock, and in a second of CPU time, which other load changes less.
json speed(const SealedOptions& options, const std::function<void()>& work) {
    std::vector<double> by_clock;
    std::vector<double> by_cpu;
    for (int i = 0; i < options.repeats; ++i) {
        const Stopwatch watch;
        const double start = own_cpu_seconds();
        work();
        by_cpu.push_back(options.mib / (own_cpu_seconds() - start));
        by_clock.push_back(options.mib / watch.seconds());
    }
    return {{"mib_s", spread(std::move(by_clock))}, {"mib_cpu_s", spread(std::move(by_cpu))}};
}

/// Microseconds of CPU time of one call.
json time_of(int repeats, const std::function<void()>& work) {
    constexpr int kCalls = 100;
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        const double start = thread_cpu_seconds();
        for (int call = 0; call < kCalls; ++call) {
            work();
        }
        times.push_back((thread_cpu_seconds() - start) * 1e6 / kCalls);
    }
    return spread(std::move(times));
}

json measure_files(const SealedOptions& options, const Subject& subject) {
    json out = json::array();
    for (const unsigned threads : options.threads) {
        const sealed::Effort effort{.threads = threads};
        const auto seal = [&] {
            sealed::StateInMemory state(std::span<const canonical::Tensor>(&subject.tensor, 1));
            ASSERT(sealed::seal_state(
                       state, subject.secret, subject.artifact, [](ByteView) {}, effort
            )
                       .has_value());
        };
        const sealed::MemorySource file(subject.file.bytes);
        const auto open = [&] {
            const auto reader = subject.reader(subject.file.root);
            const auto done = sealed::open_state(
                file, reader, [](std::uint32_t, canonical::Tensor) {}, effort
            );
            ASSERT(done.has_value());
        };
        const auto check = [&] { ASSERT(sealed::check_sealed(file, effort).value() == subject.file.root); };
        out.push_back(
            {{"threads", threads},
             {"seal", speed(options, seal)},
             {"open", speed(options, open)},
             {"check", speed(options, check)}}
        );
    }
    return out;
}

/// The parts of sealing one chunk of 16 KiB that are not hashes.
json measure_chunk(const SealedOptions& options, const Subject& subject) {
    const sealed::ChunkName name{
        .task = subject.artifact.task, .artifact = subject.artifact.name, .group = 1, .chunk = 1};
    const crypto::AeadKey key = sealed::chunk_key(sealed::chunk_point(subject.secret, name));
    const Bytes plaintext(sealed::kChunkBytes);
    return {
        {"point_cpu_us",
         time_of(options.repeats, [&] { ASSERT(crypto::is_on_curve(sealed::chunk_point(subject.secret, name))); })},
        {"aes_cpu_us", time_of(options.repeats, [&] {
             ASSERT(crypto::seal_aead(key, Bytes(12), {}, plaintext).size() == sealed::kSealedChunkBytes);
         })}};
}

/// What the chain does with evidence: that of a chunk which does not decrypt, and of one that is right.
json measure_judge(const SealedOptions& options, const Subject& subject) {
    const auto altered = sealed::check_sealed(ByteView(subject.altered.bytes)).value();
    const sealed::MemorySource source(subject.altered.bytes);
    const auto opened =
        sealed::open_state(source, subject.reader(altered), [](std::uint32_t, canonical::Tensor) {}, {});
    ASSERT(!opened);
    sealed::WrongChunk evidence = std::get<sealed::WrongChunk>(opened.error());
    const sealed::SealedContext context = subject.context(altered);
    json out{
        {"evidence_bytes", codec::encode(evidence).size()},
        {"largest_evidence_bytes", sealed::largest_evidence_bytes()}};
    out["unopened_cpu_us"] = time_of(options.repeats, [&] {
        ASSERT(sealed::judge(evidence, context).value() == sealed::ChunkFault::kUnopened);
    });
    const sealed::CheckedFile right = sealed::check_file(sealed::MemorySource(subject.file.bytes)).value();
    evidence.opening = sealed::open_sealed(
        sealed::MemorySource(subject.file.bytes), right, evidence.opening.group, evidence.opening.chunk
    );
    const sealed::SealedContext honest = subject.context(right.root);
    out["right_cpu_us"] = time_of(options.repeats, [&] {
        ASSERT(sealed::judge(evidence, honest).error() == sealed::EvidenceError::kRight);
    });
    return out;
}

json measure_share(const SealedOptions& options, const Subject& subject) {
    const crypto::SecretKey reader = key_of("reader");
    const crypto::EciesEntropy entropy{.ephemeral = crypto::sha256(as_bytes("ephemeral")).data, .nonce = {}};
    const Bytes share = *sealed::make_share(subject.secret, reader.account(), {}, entropy);
    const auto evidence = sealed::make_wrong_share(reader, share, {});
    const sealed::ShareContext context{.key = subject.secret.key(), .reader = reader.account()};
    return {
        {"make_cpu_us",
         time_of(
             options.repeats,
             [&] { ASSERT(sealed::make_share(subject.secret, reader.account(), {}, entropy).has_value()); }
         )},
        {"open_cpu_us",
         time_of(
             options.repeats, [&] { ASSERT(sealed::open_share(reader, subject.secret.key(), share).has_value()); }
         )},
        {"judge_cpu_us", time_of(options.repeats, [&] {
             ASSERT(sealed::judge_share(context, share, evidence) == sealed::ShareJudgement::kRight);
         })}};
}

std::string run_sealed(const SealedOptions& options) {
    if (options.mib < 1 || options.mib > 1'024) {
        throw std::runtime_error("--mib must be from 1 to 1024");
    }
    const Subject subject(options.mib);
    const json out{
        {"bench", "sealed"},
        {"state_mib", options.mib},
        {"repeats", options.repeats},
        {"files", measure_files(options, subject)},
        {"chunk", measure_chunk(options, subject)},
        {"judge", measure_judge(options, subject)},
        {"share", measure_share(options, subject)}};
    return out.dump(2);
}

}  // namespace

void add_sealed_command(Commands& commands) {
    auto options = std::make_shared<SealedOptions>();
    CLI::App* const command =
        commands.add("sealed", "Seals and opens a private state, and judges evidence about one.", [options] {
            return run_sealed(*options);
        });
    command->add_option("--mib", options->mib, "size of the state in MiB, 1 to 1024")->capture_default_str();
    command->add_option("--threads", options->threads, "numbers of threads")->capture_default_str();
    command->add_option("--repeats", options->repeats, "measurements of each figure")->capture_default_str();
}

}  // namespace assay::bench
