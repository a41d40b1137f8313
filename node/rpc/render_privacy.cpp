// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/render.hpp>

/// Private tasks (PRV rules).
namespace assay::rpc {

using namespace contracts;

Json render(const std::optional<SealedFile>& file) {
    return file ? Json{{"root", render(file->root)}, {"size", file->size}} : Json();
}

Json render(const std::optional<Privacy>& privacy) {
    if (!privacy) {
        return {};
    }
    return {
        {"key", render(privacy->key)},
        {"program", render(std::optional(privacy->program))},
        {"dataset", render(std::optional(privacy->dataset))},
        {"initial", render(privacy->initial)},
        {"holdout", render(privacy->holdout)}};
}

namespace {

Json render_reader(const Reader& reader) { return {{"account", render(reader.account)}, {"key", render(reader.key)}}; }

}  // namespace

Json render_privacy(const Task& task) {
    if (!task.secrecy) {
        return {};
    }
    Json out = render(task.spec.privacy);
    Json shared = Json::array();
    for (const SharedKeys& each : task.secrecy->shared) {
        shared.push_back(render_reader(each.reader));
    }
    Json awaited = Json::array();
    for (const Reader& each : task.secrecy->awaited) {
        awaited.push_back(render_reader(each));
    }
    out["checkpoint_key"] = task.secrecy->key ? render(*task.secrecy->key) : Json();
    out["shared"] = std::move(shared);
    out["awaited"] = std::move(awaited);
    return out;
}

Json render(const std::vector<KeyShare>& shares) {
    Json out = Json::array();
    for (const KeyShare& share : shares) {
        out.push_back(
            {{"to", render(share.to)},
             {"of_task", to_hex(share.of_task)},
             {"of_checkpoints", to_hex(share.of_checkpoints)}}
        );
    }
    return out;
}

Json render_opening(const TaskId& task, const DrawnOpening& opening) {
    if (const auto* tile = std::get_if<dispute::StateOpening>(&opening)) {
        return {{"task", render(task)}, {"tensor", tile->tensor}, {"tile", tile->tile}, {"piece", nullptr}};
    }
    const auto& piece = std::get<sealed::PieceOpening>(opening);
    return {{"task", render(task)}, {"tensor", piece.group}, {"tile", piece.chunk}, {"piece", piece.piece}};
}

}  // namespace assay::rpc
