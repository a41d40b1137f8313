// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/urgent.hpp>

#include <exception>
#include <string>
#include <utility>

#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {

std::string note_failure(const WorkerContext& context, const http::NetError& error) {
    if (context.metrics != nullptr) {
        context.metrics->add_node_error("unreachable");
    }
    return std::string("the node cannot be reached, trying again: ") + error.what();
}

std::string note_failure(const WorkerContext& context, const client::RpcError& error) {
    if (context.metrics != nullptr) {
        context.metrics->add_node_error(error.name);
    }
    return "the node answered " + error.name + ": " + error.what();
}

/// Sets the phase for as long as it lives, and notes when it ended.
class Urgent::Within {
  public:
    Within(Urgent& urgent, Phase phase) : urgent_(urgent), before_(std::exchange(urgent.phase_, phase)) {}
    ~Within() {
        urgent_.phase_ = before_;
        urgent_.last_ = std::chrono::steady_clock::now();
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

  private:
    Urgent& urgent_;
    Phase before_;
};

bool Urgent::attend_each(std::initializer_list<std::function<bool()>> duties) {
    std::exception_ptr failure;
    bool busy = false;
    for (const auto& attend_one : duties) {
        try {
            busy = attend_one() || busy;
        } catch (const http::NetError&) {
            failure = failure ? failure : std::current_exception();
        } catch (const client::RpcError&) {
            failure = failure ? failure : std::current_exception();
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    return busy;
}

bool Urgent::attend() {
    const Within within(*this, Phase::kOther);
    context_.chain.refresh();
    if (context_.metrics != nullptr) {
        context_.metrics->set_tasks(
            context_.chain.tasks(), context_.chain.self(), role_of(context_.options.mode), context_.chain.height()
        );
        context_.metrics->set_breaker(context_.journal.breaker().has_value());
    }
    // A share that no block takes must not keep a dispute move from being made.
    return attend_each(
        {[this] { return keys_.attend(); },
         [this] {
             const Within role(*this, Phase::kRole);
             return role_.prompt();
         },
         [this] { return results_.attend(); },
         [this] {
             terms_.look();
             exposure_.look();
             return false;
         }}
    );
}

void Urgent::interlude() {
    if (phase_ == Phase::kOther || std::chrono::steady_clock::now() - last_ < kPoll) {
        return;
    }
    try {
        if (phase_ == Phase::kRole) {
            const Within within(*this, Phase::kOther);
            context_.chain.refresh();  // roles act on copies of the tasks
            attend_each({[this] { return keys_.attend(); }, [this] { return results_.attend(); }});
        } else {
            attend();
        }
    } catch (const http::NetError& error) {
        context_.reporter.trouble(note_failure(context_, error));
    } catch (const client::RpcError& error) {
        context_.reporter.trouble(note_failure(context_, error));
    } catch (const artifacts::StoreError& error) {
        context_.reporter.trouble(error.what());
    }
}

}  // namespace assay::worker
