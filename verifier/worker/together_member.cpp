// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/together_member.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <client/http/http.hpp>
#include <client/rpc_client.hpp>
#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/cell/meeting.hpp>
#include <verifier/worker/balance.hpp>
#include <verifier/worker/link_desk.hpp>
#include <verifier/worker/together_seats.hpp>

namespace assay::worker {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kAskAgain{200};
constexpr milliseconds kRetry{1'000};
constexpr milliseconds kChainWait{60'000};  // for a checkpoint to be in a block that the own node has

}  // namespace

class TogetherMember::Serving {
  public:
    Serving(WorkerContext& context, const contracts::Task& task, std::shared_ptr<const TaskArtifacts> artifacts)
        : context_(context),
          id_(task.id),
          task_(task),
          artifacts_(std::move(artifacts)),
          chain_id_(context.chain.chain_id()),
          rpc_(context.options.node),
          thread_([this] { work(); }) {}
    Serving(const Serving&) = delete;
    Serving& operator=(const Serving&) = delete;
    ~Serving() { stop_ = true; }

    void finish() { is_last_ = true; }
    // Whether the state of this checkpoint was fetched last, and noting that it was, or that it cannot be for now.
    bool has_state(std::uint32_t checkpoint) const { return states_ == checkpoint + 1; }
    void note_state(std::uint32_t checkpoint) { states_ = checkpoint + 1; }
    bool note_lack(std::uint32_t checkpoint) { return std::exchange(lacking_, checkpoint + 1) != checkpoint + 1; }
    void update(const contracts::Task& task) {
        const std::scoped_lock lock(mutex_);
        task_ = task;
    }

  private:
    bool is_over() const { return stop_ || context_.stop; }
    void pause(milliseconds time) const {
        for (milliseconds slept{0}; slept < time && !is_over(); slept += kAskAgain) {
            std::this_thread::sleep_for(kAskAgain);
        }
    }

    // Asks each lead that this worker knows, since a task does not say where its lead is.
    void work() {
        std::uint64_t served = 0;
        while (!is_over() && !is_last_) {
            for (const std::string& lead : context_.options.lead_urls) {
                ask(lead, served);
            }
            pause(kAskAgain);
        }
        // Who stops for good is not waited for. A worker that begins again asks for a place, and has one.
        for (const std::string& lead : context_.options.lead_urls) {
            if (context_.stop && !is_last_) {
                leave(lead);
            }
        }
    }

    cell::MeetingPlace place_of(const std::string& lead) const {
        cell::MeetingPlace place{
            .url = lead + links_path(id_),
            .seal = cell::by_account(context_.chain.key(), retag<Hash256>(id_)),
            .limits = {}};
        place.limits.public_only = !context_.options.allow_private_addresses;
        return place;
    }

    void leave(const std::string& lead) const {
        try {
            cell::leave_meeting(place_of(lead), to_hex(context_.chain.self().view()));
        } catch (const std::runtime_error&) {
            // It was no lead of this task, or is not there: nobody waits.
        }
    }

    void ask(const std::string& lead, std::uint64_t& served) {
        const cell::MeetingPlace place = place_of(lead);
        try {
            const cell::Seat seat = cell::ask_for_seat(place, to_hex(context_.chain.self().view()), served);
            if (seat.session != 0) {
                served = seat.session;
                take_part(place, seat);
            }
        } catch (const http::NetError& error) {
            context_.reporter.trouble("the lead at " + lead + " cannot be reached: " + error.what());
            pause(kRetry);
        } catch (const std::runtime_error& error) {
            if (!is_over()) {
                context_.reporter.trouble("task " + to_hex(id_.view()) + ": no session: " + error.what());
            }
            pause(kRetry);
        }
    }

    void take_part(const cell::MeetingPlace& place, const cell::Seat& seat) {
        const TogetherRank rank{.task = id_, .chain_id = chain_id_, .accounts = accounts_of(seat), .rank = seat.rank};
        plan::Layout layout;  // of the session
        const auto check = [this, &rank, &layout](const Hash256& before, std::uint64_t first_step) {
            return is_posted(before, first_step, rank, layout);
        };
        const auto words = cell::words_of(place, seat.session, kConnectTimeout);
        TogetherLinks links = connect_together(context_, *words, rank, check, stop_);
        report_session(context_, rank, "");
        const auto is_same = [this, &layout](const program::Program& program, const plan::Layout& offered) {
            layout = offered;
            return codec::encode(program) == codec::encode(artifacts_->program) && can_state(program, offered);
        };
        const engine::Served done = engine::serve_cell(
            std::move(links.collective), engine_of(context_),
            engine::Terms{
                .program = is_same, .seed = artifacts_->spec.seed, .steps = artifacts_->spec.checkpoint_interval}
        );
        report_served(context_, rank, done, *links.cost);
    }

    // Throws std::runtime_error if a rank is no member, or not this one's is ours.
    std::vector<AccountId> accounts_of(const cell::Seat& seat) const {
        const std::scoped_lock lock(mutex_);
        std::vector<AccountId> out{task_.solver.value()};
        for (const std::string& name : seat.names) {
            const auto account = fixed_from_hex<AccountId>(name);
            const auto& partners = task_.group->partners;
            const bool is_partner = account && std::any_of(partners.begin(), partners.end(), [&](const auto& partner) {
                                        return partner.account == *account;
                                    });
            if (!is_partner) {
                throw std::runtime_error("the lead begins a session with somebody who is no member");
            }
            out.push_back(*account);
        }
        if (out.at(seat.rank) != context_.chain.self()) {
            throw std::runtime_error("the lead gives this member the rank of another one");
        }
        return out;
    }

    // Whether each rank computes as much of a step as it has of the seats, by which it is paid: for the segment, or for
    // the one before, since a list may come when the lead has begun already.
    bool follows_seats(
        const contracts::Task& task, std::uint32_t segment, const TogetherRank& rank, const plan::Layout& layout
    ) const {
        for (const std::uint32_t each : {segment, segment - 1}) {
            const auto counts = seat_counts(task, each, rank.accounts);
            if (follows(artifacts_->program, layout, counts)) {
                return true;
            }
        }
        return false;
    }

    // Whether the chain has that state at the start of a segment, the seats are as the lead divides the steps, and this
    // member has the whole state. What is stated of another state convicts nobody; and who is accused replays the
    // segment from it (STM-9), which nobody else need let it have by then.
    bool is_posted(
        const Hash256& before, std::uint64_t first_step, const TogetherRank& rank, const plan::Layout& layout
    ) {
        const std::uint64_t interval = artifacts_->spec.checkpoint_interval;
        if (first_step % interval != 0) {
            return false;
        }
        const auto index = static_cast<std::uint32_t>(first_step / interval);
        const auto end = std::chrono::steady_clock::now() + kChainWait;
        while (!is_over() && std::chrono::steady_clock::now() < end) {
            const auto checkpoint = rpc_.checkpoint(id_, index);
            if (checkpoint && checkpoint->state_root != before) {
                return false;
            }
            const auto task = checkpoint ? rpc_.task(id_) : std::nullopt;
            if (task && follows_seats(*task, index + 1, rank, layout) && has_state(index)) {
                return true;
            }
            std::this_thread::sleep_for(kAskAgain);
        }
        return false;
    }

    WorkerContext& context_;
    contracts::TaskId id_;
    mutable std::mutex mutex_;
    contracts::Task task_;  ///< as it was last; its members change
    std::shared_ptr<const TaskArtifacts> artifacts_;
    std::string chain_id_;
    client::RpcClient rpc_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> is_last_{false};
    std::atomic<std::uint32_t> states_{0};  ///< the checkpoint whose state was fetched last, and one
    std::uint32_t lacking_ = 0;             ///< the last one of which it was said that it cannot be fetched, and one
    std::jthread thread_;                   // the last one to be made, and the first one to end
};

TogetherMember::TogetherMember(WorkerContext& context) : context_(context) {}
TogetherMember::~TogetherMember() = default;

void TogetherMember::end(const contracts::TaskId& task) { serving_.erase(task); }

void TogetherMember::finish(const contracts::TaskId& task) {
    if (const auto serving = serving_.find(task); serving != serving_.end()) {
        serving->second->finish();
    }
}

void TogetherMember::serve(const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts) {
    auto serving = serving_.find(task.id);
    if (serving != serving_.end()) {
        serving->second->update(task);
    } else {
        serving = serving_.emplace(task.id, std::make_unique<Serving>(context_, task, artifacts)).first;
    }
    fetch_first_state(task, *artifacts, *serving->second);
}

void TogetherMember::fetch_first_state(const contracts::Task& task, const TaskArtifacts& artifacts, Serving& serving) {
    if (task.checkpoints == 0 || serving.has_state(task.checkpoints - 1)) {
        return;
    }
    const std::uint32_t index = task.checkpoints - 1;
    const auto fetched =
        context_.has_state(artifacts, context_.chain.checkpoint(task.id, index), artifacts.frozen_in(index));
    if (fetched) {
        serving.note_state(index);
    } else if (fetched.error().defect != Defect::kPending && serving.note_lack(index)) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": this member takes no part in segment " + std::to_string(index + 1) +
            " until it can fetch the state of checkpoint " + std::to_string(index) +
            ", without which it could not answer for the segment: " + fetched.error().reason
        );
    }
}

}  // namespace assay::worker
