// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/hearing.hpp>

#include <string>

namespace assay::demo {

void hear(const WorkerEvent& heard, std::vector<Act>& acts, Narrator& narrator) {
    const std::string kind = heard.event.value("event", "");
    for (Act& act : acts) {
        if (kind == "refused") {
            act.refusals.insert(heard.event.value("reason", ""));  // of which task it does not say
        }
        if (heard.event.value("task", "") != to_hex(act.story->task().view())) {
            continue;
        }
        if (kind == "train") {
            narrator.progress(
                act.story->label(), {.step = heard.event.value("step", std::uint64_t{0}),
                                     .steps = heard.event.value("steps", std::uint64_t{0}),
                                     .loss = heard.event.value("loss", 0.0),
                                     .steps_per_s = heard.event.value("steps_per_s", 0.0),
                                     .eta_s = heard.event.value("eta_s", 0.0)}
            );
        } else if (kind == "declined") {
            narrator.plain(
                "  " + heard.worker + " declines " + act.story->label() + ": " + heard.event.value("reason", "")
            );
        } else if (kind == "dishonest" && !act.confession) {
            act.confession = heard.event;
        }
    }
}

}  // namespace assay::demo
