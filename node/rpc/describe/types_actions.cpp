// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/types.hpp>

#include <utility>
#include <variant>
#include <vector>

#include <contracts/transaction/actions.hpp>

namespace assay::rpc::describe {

template <>
Schema value_of<std::vector<contracts::ParamChange>>();  // types_chain.cpp
template <>
Schema value_of<contracts::Terms>() {
    return object(
        {{"hardware_class", integer()},
         {"price", integer()},
         {"memory", integer()},
         {"replay_blocks", integer()},
         {"offers", array(text())}}
    );
}

template <>
Schema value_of<std::optional<contracts::Environment>>() {
    return nullable(ref("Environment"));
}
template <>
Schema value_of<std::optional<contracts::SealedFile>>() {
    return nullable(ref("SealedFile"));
}

namespace {

using namespace contracts;

/// The shape of what render_action.cpp shows of an action: the members of its record, unless there is one below.
template <class A>
struct Body {
    static Members members() { return members_of(A::fields()); }
};
template <>
struct Body<SubmitTask> {
    static Members members() {
        return {
            {"title", text(), "as its submitter wrote it"},
            {"program_id", hash()},
            {"init_work", integer(), "multiply-adds"},
            {"step_work", integer(), "multiply-adds"},
            {"memory", integer(), "bytes"},
            {"outputs", integer()},
            {"program_artifact", ref("Artifact")},
            {"dataset_root", hash()},
            {"dataset_artifact", ref("Artifact")},
            {"tokenizer", nullable(hash())},
            {"initial_root", nullable(hash())},
            {"initial_artifact", nullable(ref("Artifact"))},
            {"seed", integer()},
            {"steps", integer()},
            {"checkpoint_interval", integer()},
            {"reward", amount()},
            {"verification_fee", amount()},
            {"training_blocks", integer()},
            {"hardware_class", integer()},
            {"parent", nullable(hash())},
            {"mode", words(Mode::kTolerance, &to_string)},
            {"evaluation", nullable(ref("Evaluation"))},
            {"environment", nullable(ref("Environment"))},
            {"checks", array(ref("ResultCheck"))},
            {"retention", nullable(object({{"blocks", integer()}, {"fee", amount()}}))},
            {"privacy", nullable(ref("Privacy"))}};
    }
};
template <>
struct Body<NameOperator> {
    static Members members() { return {{"account", nullable(account()), "null: nobody any more"}}; }
};
template <>
struct Body<AcceptTask> {
    static Members members() {
        return {
            {"task", hash()},
            {"seats", array(account()), "of a group"},
            {"is_together", flag()},
            {"environment", nullable(ref("Environment"))}};
    }
};
template <>
struct Body<Reseat> {
    static Members members() { return {{"task", hash()}, {"from", integer()}, {"seats", array(account())}}; }
};
template <>
struct Body<CompleteTask> {
    static Members members() { return {{"task", hash()}, {"score", nullable(number())}}; }
};
template <>
struct Body<PublishVerdict> {
    static Members members() {
        return {
            {"task", hash()},
            {"segment", integer()},
            {"end_root", hash()},
            {"probe_root", nullable(hash())},
            {"measurement", nullable(ref("Distances"))},
            {"diverged_after", nullable(integer())},
            {"failed_checks", failed_checks()}};
    }
};
template <>
struct Body<DiscloseVerdict> {
    static Members members() {
        return {
            {"task", hash()},
            {"segment", integer()},
            {"end_root", hash()},
            {"marks", array(hash())},
            {"measurement", nullable(ref("Distances"))},
            {"failed_checks", failed_checks()},
            {"decoy_root", hash()},
            {"salt", hash()}};
    }
};
template <>
struct Body<ChallengeVerdict> {
    static Members members() {
        return {{"task", hash()}, {"segment", integer()}, {"verifier", account()},
                {"role", text()}, {"part", text()},       {"seal", hash()}};
    }
};
template <>
struct Body<RevealMove> {
    static Members members() {
        return {{"dispute", hash()}, {"round", integer()}, {"children", integer(), "how many"}};
    }
};
template <>
struct Body<SelectMove> {
    static Members members() {
        return {{"dispute", hash()}, {"round", integer()}, {"child", integer()}, {"op", nullable(text())}};
    }
};
template <>
struct Body<ProveMove> {
    static Members members() {
        return {
            {"dispute", hash()},
            {"accumulator", flag(), "the sum before the partial is there"},
            {"tiles", integer(), "how many"},
            {"chunks", integer(), "how many"},
            {"entry", flag(), "it opens an entry of a step"},
            {"divergence", flag(), "it shows a value that is not finite"}};
    }
};

/// What a piece of a statement is about: a node's values or a tensor's.
Schema stated() {
    const Members rest{
        {"is_part", flag()}, {"row", integer()}, {"col", integer()}, {"rows", integer()}, {"cols", integer()}};
    return any_of(
        {object(join({{"step", integer()}, {"node", integer()}}, rest)),
         object(join({{"step", integer()}, {"tensor", integer()}}, rest))}
    );
}
template <>
struct Body<Accuse> {
    static Members members() {
        return {
            {"task", hash()},
            {"member", account()},
            {"stated", stated()},
            {"answers", nullable(hash()), "the dispute that it answers"}};
    }
};
template <>
struct Body<ReportEquivocation> {
    static Members members() { return {{"task", hash()}, {"member", account()}, {"stated", stated()}}; }
};
Members shown() {
    return {
        {"task", hash()},
        {"tensor", integer(), "of a private task the group of the sealed file"},
        {"tile", integer(), "of a private task the chunk of the group"},
        {"piece", nullable(integer()), "of the chunk; null unless the task is private"}};
}
template <>
struct Body<AttestAvailability> {
    static Members members() { return shown(); }
};
template <>
struct Body<ShowResult> {
    static Members members() { return shown(); }
};
template <>
struct Body<ShareKeys> {
    static Members members() {
        return {{"task", hash()}, {"key", nullable(hash()), "of the checkpoints"}, {"to", array(account())}};
    }
};
template <>
struct Body<ReportWrongKeys> {
    static Members members() { return {{"task", hash()}, {"is_of_checkpoints", flag()}}; }
};
template <>
struct Body<ReportWrongChunk> {
    static Members members() {
        return {{"task", hash()}, {"checkpoint", integer()}, {"group", integer()}, {"chunk", integer()}};
    }
};
template <>
struct Body<DeclareDivergence> {
    static Members members() {
        return {{"task", hash()},     {"step", integer()},   {"state_root", hash()},
                {"location", text()}, {"tensor", integer()}, {"tile", integer()}};
    }
};
template <>
struct Body<PublishProfile> {
    static Members members() {
        return {
            {"start_root", hash()},
            {"segments", array(object(
                             {{"native_root", hash()},
                              {"location", text()},
                              {"replayed_root", hash()},
                              {"measurement", nullable(ref("Distances"))}}
                         ))},
            {"reference_root", hash()},
            {"reference", nullable(ref("Distances"))},
            {"task", hash()},
            {"salt", hash()}};
    }
};
template <>
struct Body<ChallengeProfile> {
    static Members members() {
        return {{"task", hash()}, {"profiler", account()}, {"role", text()}, {"part", text()}, {"segment", integer()}};
    }
};

template <class Variant, std::size_t... kIndices>
void add_bodies(Schema& components, std::index_sequence<kIndices...> /*indices*/) {
    std::vector<Schema> bodies;
    const auto add = [&](const char* action, Schema schema) {
        const std::string name = std::string("Body_") + action;
        schema["description"] = std::string("What `") + action + "` asks for.";
        components[name] = std::move(schema);
        bodies.push_back(ref(name));
    };
    (add(std::variant_alternative_t<kIndices, Variant>::kName,
         object(Body<std::variant_alternative_t<kIndices, Variant>>::members())),
     ...);
    components["ActionBody"] = any_of(std::move(bodies));
    components["ActionBody"]["description"] = "The fields of a transaction's action; `action` says which it is.";
}

}  // namespace

void add_action_types(Schema& components) {
    add_bodies<Action>(components, std::make_index_sequence<std::variant_size_v<Action>>());
}

}  // namespace assay::rpc::describe
