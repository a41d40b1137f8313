// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/replica.hpp>

#include <algorithm>
#include <fstream>
#include <utility>

#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <tests/simulation/damage.hpp>

namespace assay::simulation {
namespace {

/// Signs every replica's blocks: the log's rules know one proposer. Who leads is the agreement's business.
const crypto::SecretKey& network_key() {
    static const crypto::SecretKey kKey = [] {
        std::array<std::uint8_t, 32> secret{};
        secret[0] = 1;
        return crypto::SecretKey::from_bytes(secret).value();
    }();
    return kKey;
}

constexpr std::uint64_t kRoundMs = 3'000;  ///< so long a leader may take before the next one tries
constexpr int kBlocksAtOnce = 8;
/// What a database in memory holds before it would write files, which takes threads that a copied process has not.
constexpr std::size_t kMemoryBytes = 64U << 20U;
constexpr std::uint32_t kLiePercent = 25;  ///< of what a liar sends

}  // namespace

void Ledger::note(const solo::LogRecord& record) {
    const std::uint64_t height = record.block.header.height.value;
    const std::pair hashes{solo::block_hash(record.block.header), record.app_hash};
    if (height <= blocks_.size()) {
        if (blocks_[height - 1].first != hashes.first) {
            throw Broken("two blocks were decided at height " + std::to_string(height));
        }
        if (blocks_[height - 1].second != hashes.second) {
            throw Broken("two states came of block " + std::to_string(height));
        }
        return;
    }
    if (height != blocks_.size() + 1) {
        throw Broken("a height was left out");
    }
    blocks_.push_back(hashes);
    on_block(record.block);
}

bool Ledger::has_decided(const solo::Block& block) const {
    const std::uint64_t height = block.header.height.value;
    return height >= 1 && height <= blocks_.size() && blocks_[height - 1].first == solo::block_hash(block.header) &&
           solo::is_authentic(block);
}

Replica::Replica(
    Events& events, Ledger& ledger, const contracts::Genesis& genesis, int place, std::filesystem::path home,
    std::vector<std::unique_ptr<Replica>>& all
)
    : events_(events), ledger_(ledger), genesis_(genesis), place_(place), home_(std::move(home)), all_(all) {
    std::filesystem::create_directories(home_);
}

void Replica::start() {
    disk_fails_ = std::make_shared<bool>(false);
    storage::StoreOptions options;
    options.fault = [fails = disk_fails_](std::uint64_t /*count*/) {
        return *fails ? storage::Fault::kTear : storage::Fault::kNone;
    };
    options.in_memory = in_memory;
    options.write_buffer_bytes = in_memory ? kMemoryBytes : 0;
    store_ = std::make_unique<storage::Store>(home_ / "db", options);
    app_ = std::make_unique<node::Application>(*store_, [] { return std::uint64_t{0}; });
    app_->init(genesis_);
    if (!in_memory) {
        log_ = std::make_unique<solo::BlockLog>(home_ / "blocks.log");
        if (log_->height().value < logged_) {
            throw Broken("a decided block was lost");
        }
        replayed += solo::replay(*app_, *log_, genesis_.chain_id, {});
        if (app_->info().height != log_->height()) {
            throw Broken("the state does not follow from the log");
        }
    }
    mempool_ = std::make_unique<consensus::Mempool>(*app_, consensus::MempoolLimits{});
    decided_at_ms_ = events_.now();
    proposal_.reset();
    ++life_;
    tick();
}

bool Replica::go_on_after(std::uint64_t halt_ms) {
    if (!app_->why_halted()) {
        halted_at_ms_.reset();
        return false;
    }
    halted_at_ms_ = halted_at_ms_.value_or(events_.now());
    if (events_.now() - *halted_at_ms_ < halt_ms) {
        return false;
    }
    const Height next{height() + 1};
    const auto plans = contracts::get_plans(*state());
    node::ProgramRules program{.protocol_version = state()->params().protocol_version, .resume_at = next};
    if (!plans.empty() && plans.front().height == next) {
        program.protocol_version = plans.front().protocol_version;
    }
    mempool_.reset();
    app_.reset();
    app_ = std::make_unique<node::Application>(
        *store_, [] { return std::uint64_t{0}; }, false, 0, program
    );
    mempool_ = std::make_unique<consensus::Mempool>(*app_, consensus::MempoolLimits{});
    proposal_.reset();
    decided_at_ms_ = events_.now();
    return true;
}

void Replica::die(Death death) {
    if (!is_up()) {
        return;
    }
    if (death == Death::kBadDisk) {
        *disk_fails_ = true;  // dies at the next commit
        return;
    }
    ++deaths;
    mempool_.reset();
    log_.reset();
    app_.reset();
    store_.reset();
    proposal_.reset();
    if (death == Death::kTornLog) {
        // The beginning of a record, as a write that was cut off leaves it: that of the first one will do.
        std::ifstream in(home_ / "blocks.log", std::ios::binary);
        std::string start(200, '\0');
        in.read(start.data(), static_cast<std::streamsize>(start.size()));
        constexpr std::size_t kMagic = 8;
        if (in.gcount() == static_cast<std::streamsize>(start.size())) {
            std::ofstream out(home_ / "blocks.log", std::ios::binary | std::ios::app);
            out.write(start.data() + kMagic, static_cast<std::streamsize>(20 + events_.below(100)));
        }
    }
    events_.after(500 + events_.below(15'000), [this] { start(); });
}

void Replica::to(int place, const std::function<void(Replica&)>& what) {
    Replica& other = *all_.at(static_cast<std::size_t>(place));
    events_.send(place_, place, [&other, what] {
        if (other.is_up()) {
            what(other);
        }
    });
}

void Replica::to_all(const std::function<void(Replica&)>& what) {
    for (const auto& other : all_) {
        to(other->place(), what);
    }
}

bool Replica::is_majority(std::size_t count) const { return 2 * count > all_.size(); }

void Replica::tick() {
    const std::uint64_t count = all_.size();
    const std::uint64_t next = height() + 1;
    const std::uint64_t waited = events_.now() - decided_at_ms_;
    const std::uint64_t round = waited / kRoundMs;
    const std::uint64_t ballot = round * count + static_cast<std::uint64_t>(place_) + 1;
    const bool leads = (next + round) % count == static_cast<std::uint64_t>(place_);
    if (leads && waited + kIntervalMs / 4 >= kIntervalMs &&
        (!proposal_ || proposal_->height != next || proposal_->ballot != ballot)) {
        propose(ballot);
    }
    const auto peer = static_cast<int>(events_.below(count));
    to(peer, [from = place_, mine = height()](Replica& other) { other.on_status(from, mine); });
    events_.after(kIntervalMs / 4 + events_.below(kIntervalMs / 4), [this, life = life_] {
        if (life == life_ && is_up()) {
            tick();
        }
    });
}

void Replica::propose(std::uint64_t ballot) {
    const std::uint64_t next = height() + 1;
    proposal_ = Proposal{.height = next, .ballot = ballot, .promises = {}, .block = {}, .accepts = {}};
    to_all([from = place_, next, ballot](Replica& other) { other.on_prepare(from, next, ballot); });
}

void Replica::on_prepare(int from, std::uint64_t height, std::uint64_t ballot) {
    if (height != this->height() + 1) {
        on_status(from, height - 1);
        return;
    }
    Vote& vote = votes_[height];
    if (ballot <= vote.promised) {
        return;
    }
    vote.promised = ballot;
    to(from, [me = place_, height, ballot, vote](Replica& leader) {
        leader.on_promise(me, height, ballot, vote.accepted_ballot, vote.accepted);
    });
}

void Replica::on_promise(
    int from, std::uint64_t height, std::uint64_t ballot, std::uint64_t accepted_ballot,
    const std::optional<solo::Block>& accepted
) {
    if (!proposal_ || proposal_->height != height || proposal_->ballot != ballot || height != this->height() + 1) {
        return;
    }
    proposal_->promises[from] = {accepted_ballot, accepted};
    if (proposal_->block || !is_majority(proposal_->promises.size())) {
        return;
    }
    std::uint64_t highest = 0;
    for (const auto& [place, promise] : proposal_->promises) {
        if (promise.second && promise.first >= highest) {
            highest = promise.first;
            proposal_->block = promise.second;
        }
    }
    if (!proposal_->block) {
        proposal_->block = make_block();
    }
    for (const auto& other : all_) {
        to(other->place(), [me = place_, ballot, block = told(*proposal_->block)](Replica& acceptor) {
            acceptor.on_accept(me, ballot, block);
        });
    }
}

solo::Block Replica::make_block() {
    const consensus::Info info = app_->info();
    const auto parent = last_record();
    solo::BlockHeader header;
    header.chain_id = genesis_.chain_id;
    header.height = {info.height.value + 1};
    header.time_ms = std::max(events_.now(), parent ? parent->block.header.time_ms + 1 : 1);
    header.parent = parent ? solo::block_hash(parent->block.header) : Hash256{};
    header.app_hash = info.app_hash;
    auto txs = app_->prepare(mempool_->candidates(block_bytes), block_bytes);
    if (lies && events_.chance(kLiePercent)) {
        spoil(events_, header, txs);
    }
    return solo::sign_block(std::move(header), std::move(txs), network_key());
}

std::optional<solo::LogRecord> Replica::last_record() const {
    return in_memory ? last_ : log_->read(app_->info().height);
}

solo::Block Replica::told(const solo::Block& block) {
    return lies && events_.chance(kLiePercent) ? damaged(events_, block) : block;
}

bool Replica::refuses(const solo::Block& block) {
    const auto vote = votes_.find(block.header.height.value);
    const bool has_accepted = vote != votes_.end() && vote->second.accepted;
    if (has_accepted && codec::encode(*vote->second.accepted) == codec::encode(block)) {
        return false;  // looked at before we voted for it
    }
    const consensus::Info info = app_->info();
    const auto parent = last_record();
    const auto header = parent ? std::optional(parent->block.header) : std::nullopt;
    const bool is_sound = block.header.proposer == network_key().account() &&
                          solo::find_fault({block, {}}, genesis_.chain_id, header, info.app_hash).empty() &&
                          app_->process(request_of(block)).has_value();
    refused += is_sound ? 0 : 1;
    return !is_sound;
}

void Replica::on_accept(int from, std::uint64_t ballot, const solo::Block& block) {
    const std::uint64_t next = block.header.height.value;
    if (next != height() + 1 || refuses(block)) {
        return;
    }
    Vote& vote = votes_[next];
    if (ballot < vote.promised) {
        return;
    }
    vote = {ballot, ballot, block};
    to(from, [me = place_, next, ballot](Replica& leader) { leader.on_accepted(me, next, ballot); });
}

void Replica::on_accepted(int from, std::uint64_t height, std::uint64_t ballot) {
    if (!proposal_ || proposal_->height != height || proposal_->ballot != ballot || !proposal_->block) {
        return;
    }
    proposal_->accepts.insert(from);
    if (is_majority(proposal_->accepts.size())) {
        const solo::Block block = *proposal_->block;
        proposal_.reset();
        for (const auto& other : all_) {
            to(other->place(), [block = told(block)](Replica& learner) { learner.on_decided(block); });
        }
        on_decided(block);
    }
}

void Replica::on_decided(const solo::Block& block) {
    if (block.header.height.value != height() + 1) {
        return;
    }
    if (refuses(block)) {
        if (ledger_.has_decided(block)) {
            throw Broken("a replica refuses what was decided");
        }
        return;
    }
    try {
        const auto request = request_of(block);
        const solo::LogRecord record{block, app_->finalize(request).app_hash};
        if (in_memory) {
            last_ = record;
        } else {
            log_->append(record);
        }
        logged_ = block.header.height.value;
        ledger_.note(record);
        app_->commit();
    } catch (const storage::StorageError&) {
        die(Death::kPlain);
        return;
    }
    mempool_->update(block.txs);
    votes_.erase(votes_.begin(), votes_.upper_bound(height()));
    decided_at_ms_ = events_.now();
}

void Replica::on_status(int from, std::uint64_t theirs) {
    for (std::uint64_t h = theirs + 1; log_ && h <= std::min(height(), theirs + kBlocksAtOnce); ++h) {
        to(from, [block = told(log_->read(Height{h})->block)](Replica& other) { other.on_decided(block); });
    }
}

consensus::FinalizeRequest Replica::request_of(const solo::Block& block) const {
    auto request = solo::to_request(block);
    request.block_hash = hash_at ? hash_at(request.height) : request.block_hash;
    return request;
}

std::uint64_t Replica::next_nonce(const AccountId& account) const {
    const auto waiting = mempool_->next_nonce(account);
    return waiting ? *waiting : contracts::get_account(*app_->committed(), account).nonce;
}

Result<consensus::Admitted, consensus::Refusal> Replica::submit(const Bytes& tx) {
    auto added = mempool_->add(tx);
    if (added && on_transaction) {
        on_transaction(tx);
    }
    if (added) {
        to_all([tx](Replica& other) { static_cast<void>(other.mempool_->add(tx)); });
        if (lies && events_.chance(kLiePercent)) {
            to_all([tx = damaged(events_, tx)](Replica& other) { static_cast<void>(other.mempool_->add(tx)); });
        }
    }
    return added;
}

}  // namespace assay::simulation
