// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include <verifier/compile/onnx/importer.hpp>
#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {
namespace {

using canonical::Shape;
using canonical::Source;
using program::GraphBuilder;

[[noreturn]] void refuse_config(std::string message) { refuse(ImportErrorKind::kConfig, std::move(message)); }

void require_initializers(const Model& model, const std::vector<std::string>& names, const std::string& what) {
    for (const std::string& name : names) {
        const auto is_it = [&name](const NamedHostTensor& tensor) { return tensor.name == name; };
        if (std::none_of(model.initializers.begin(), model.initializers.end(), is_it)) {
            std::string message = "there is no initializer '";
            message.append(name).append("' ").append(what);
            refuse_config(std::move(message));
        }
    }
}

void require_config(const Model& model, const TrainingConfig& config) {
    if (config.batch_size == 0 || config.batch_size > canonical::kMaxDimension || config.dataset_rows == 0) {
        refuse_config("the batch size and the number of dataset rows must be given");
    }
    if (!program::check_optimizer(config.optimizer)) {
        refuse_config("the optimizer's settings are out of range");
    }
    if (config.optimizer.replicas.count > 1 || config.optimizer.replicas.exchange != program::ExchangeKind::kDense) {
        refuse_config("replicas are for the built-in model families");
    }
    require_initializers(model, config.frozen, "to freeze");
    require_initializers(model, config.decayed.value_or(std::vector<std::string>{}), "that decays");
    for (const auto& [name, factor] : config.rates) {
        require_initializers(model, {name}, "with a learning rate of its own");
        if (!std::isfinite(factor) || factor < 0.0F) {
            refuse_config("the learning rate of '" + name + "' cannot be multiplied by " + std::to_string(factor));
        }
    }
}

// One graph input: columns first .. first + count - 1 of a dataset row.
struct Column {
    const ModelPort* port = nullptr;
    Dims dims;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

std::vector<Column> columns_of(const Model& model, const TrainingConfig& config) {
    std::vector<Column> out;
    std::uint64_t width = 0;
    for (const ModelPort& port : model.inputs) {
        Column column{&port, resolve_dims(port, config.dimensions, config.batch_size), 0, 0};
        if (column.dims.empty()) {
            refuse_invalid("graph input '" + port.name + "' is a scalar: it has no batch dimension");
        }
        if (port.type == ElementType::kDouble || port.type == ElementType::kFloat16 ||
            port.type == ElementType::kBfloat16) {
            refuse_unsupported(
                "graph input '" + port.name + "' of element type " + to_string(port.type) +
                " cannot be part of a dataset row"
            );
        }
        require_array(column.dims);
        const std::uint64_t count = checked_elements(column.dims) / column.dims.front();
        width += count;
        if (width > canonical::kMaxDimension) {
            refuse_too_large("a sample has more than " + std::to_string(canonical::kMaxDimension) + " numbers");
        }
        column.first = static_cast<std::uint32_t>(width - count);
        column.count = static_cast<std::uint32_t>(count);
        out.push_back(std::move(column));
    }
    if (out.empty()) {
        refuse_invalid("the model has no inputs");
    }
    return out;
}

void add_inputs(Lowering& lowering, Importer& importer, const std::vector<Column>& columns, std::uint32_t batch_size) {
    GraphBuilder& graph = lowering.graph();
    const std::uint32_t width = columns.back().first + columns.back().count;
    const Value rows = graph.batch_rows({batch_size, width});
    for (const Column& column : columns) {
        Value value = graph.slice_cols(rows, column.first, column.count);
        if (column.port->type == ElementType::kFloat) {
            value = graph.from_bits(value);
        } else if (column.port->type == ElementType::kBool) {
            value = graph.to_float(value);
        }
        const Operand slot = lowering.add_array(lowering.from_matrix(value, column.port->type, column.dims));
        slot->name = column.port->name;
        slot->is_graph_input = true;
        importer.add(column.port->name, slot);
    }
}

Value loss_of(const Model& model, Lowering& lowering, const Importer& importer, const std::string& wanted) {
    const auto is_it = [&wanted](const ModelPort& port) { return wanted.empty() || port.name == wanted; };
    const auto port = std::find_if(model.outputs.begin(), model.outputs.end(), is_it);
    if (port == model.outputs.end()) {
        refuse_config("there is no graph output '" + wanted + "' to be the loss");
    }
    const Operand found = importer.find(port->name);
    if (kind_of(found->type) != Kind::kReal || checked_elements(found->dims) != 1) {
        refuse_config(
            "graph output '" + port->name + "' of dimensions " + to_text(found->dims) + " is not a scalar loss"
        );
    }
    const Value loss = lowering.view_as(lowering.array(found).value, Shape{1, 1});
    if (loss.source != Source::kNode) {
        refuse_config("graph output '" + port->name + "' does not depend on the batch");
    }
    return loss;
}

// The state tensors that `values` depend on.
std::set<std::uint32_t> states_behind(const canonical::Graph& nodes, const std::vector<Value>& values) {
    std::set<std::uint32_t> out;
    std::vector<bool> is_needed(nodes.size(), false);
    const auto need = [&](const Value& value) {
        if (value.source == Source::kState) {
            out.insert(value.index);
        } else {
            is_needed[value.index] = true;
        }
    };
    std::for_each(values.begin(), values.end(), need);
    for (std::size_t i = nodes.size(); i-- > 0;) {
        if (is_needed[i]) {
            std::for_each(nodes[i].inputs.begin(), nodes[i].inputs.end(), need);
        }
    }
    return out;
}

// The order of the program's state: parameters, optimizer slots, everything else.
struct Layout {
    std::vector<std::uint32_t> parameters;  ///< positions in Lowering::state()
    std::vector<program::Slot> slots;
    std::vector<std::uint32_t> others;
};

Value value_of(Lowering& lowering, std::uint32_t index) {
    return GraphBuilder::state(index, lowering.state()[index].type);
}

void require_names(const std::vector<program::StateTensor>& state) {
    std::set<std::string> names;
    for (const program::StateTensor& tensor : state) {
        if (tensor.name.empty() || !names.insert(tensor.name).second) {
            refuse_invalid("two tensors of the state are named '" + tensor.name + "'");
        }
    }
}

// Renumbers the state tensors that a graph reads.
void renumber(canonical::Graph& graph, const std::map<std::uint32_t, std::uint32_t>& positions) {
    for (canonical::Node& node : graph) {
        for (canonical::Input& input : node.inputs) {
            if (input.source == Source::kState) {
                input.index = positions.at(input.index);
            }
        }
    }
}

// Copies what `initial` holds and fills the slots.
canonical::Graph init_graph(const program::Program& program, const Layout& layout) {
    GraphBuilder graph;
    std::vector<Value> state;
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        const canonical::TensorType& type = program.state[i].type;
        const bool is_slot = i >= layout.parameters.size() && i < layout.parameters.size() + layout.slots.size();
        state.push_back(
            is_slot ? graph.fill(type.shape, layout.slots[i - layout.parameters.size()].initial)
                    : GraphBuilder::state(next++, type)
        );
    }
    return std::move(graph).commit(state);
}

// A step as far as the gradients. Which initializers are trained shows only there.
struct Draft {
    explicit Draft(const TrainingConfig& config) : lowering(Mode::kTraining, config.profile) {}
    Lowering lowering;
    Value loss;
    std::vector<std::uint32_t> parameters;  ///< positions in the lowering's state
    std::vector<Value> gradients;
    std::set<std::string> idle;  ///< initializers that no gradient reaches: masks, tables
};

bool is_zero(const canonical::Graph& nodes, const Value& gradient) {
    const canonical::Node& node = nodes.at(gradient.index);
    return node.op == canonical::Op::kFill && node.attributes[0] == 0;
}

// `known` are initializers that are treated as constants of the model.
void write_draft(Draft& draft, const Model& model, const TrainingConfig& config, const std::set<std::string>& known) {
    Lowering& lowering = draft.lowering;
    Importer importer(model, lowering);
    add_inputs(lowering, importer, columns_of(model, config), config.batch_size);
    importer.add_initializers([&](const NamedHostTensor& initializer) { return known.contains(initializer.name); });
    importer.lower_nodes();
    draft.loss = loss_of(model, lowering, importer, config.loss);

    std::vector<std::uint32_t> candidates;
    std::vector<Value> values;
    for (const std::uint32_t index : states_behind(lowering.graph().nodes(), {draft.loss})) {
        const StateEntry& entry = lowering.state()[index];
        const bool is_frozen = std::find(config.frozen.begin(), config.frozen.end(), entry.name) != config.frozen.end();
        if (entry.is_weight && !entry.is_buffer && !is_frozen) {
            candidates.push_back(index);
            values.push_back(value_of(lowering, index));
        }
    }
    const std::vector<Value> gradients = lowering.tape().gradients(draft.loss, values);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (is_zero(lowering.graph().nodes(), gradients[i])) {
            draft.idle.insert(lowering.state()[candidates[i]].name);
        } else {
            draft.parameters.push_back(candidates[i]);
            draft.gradients.push_back(gradients[i]);
        }
    }
    if (draft.parameters.empty()) {
        refuse_config("the loss depends on no initializer that could be trained");
    }
}

// The optimizer's slots stand behind everything the model needed until the state is put in order.
std::vector<Value> optimized(Draft& draft, const TrainingConfig& config, Layout& layout) {
    Lowering& lowering = draft.lowering;
    program::OptimizerInputs inputs;
    std::vector<program::StateTensor> parameters;
    for (const std::uint32_t index : draft.parameters) {
        const StateEntry& entry = lowering.state()[index];
        inputs.parameters.push_back(value_of(lowering, index));
        const auto& decayed = config.decayed;
        inputs.decays.push_back(
            decayed ? std::find(decayed->begin(), decayed->end(), entry.name) != decayed->end() : entry.dims.size() >= 2
        );
        const auto rate = config.rates.find(entry.name);
        inputs.rates.push_back(rate == config.rates.end() ? 1.0F : rate->second);
        parameters.push_back({entry.name, entry.type});
    }
    inputs.gradients = draft.gradients;
    layout.parameters = draft.parameters;
    layout.slots = program::optimizer_slots(config.optimizer, parameters);
    auto index = static_cast<std::uint32_t>(lowering.state().size());
    for (const program::Slot& slot : layout.slots) {
        inputs.slots.push_back(GraphBuilder::state(index++, slot.tensor.type));
    }
    return program::append_optimizer(lowering.graph(), config.optimizer, inputs);
}

void note_rest(const Model& model, Lowering& lowering, const Layout& layout, const std::set<std::string>& known) {
    std::set<std::string> used;
    for (const auto* part : {&layout.parameters, &layout.others}) {
        for (const std::uint32_t index : *part) {
            used.insert(lowering.state()[index].name);
        }
    }
    for (const std::uint32_t index : layout.others) {
        const StateEntry& entry = lowering.state()[index];
        if (entry.is_weight) {
            lowering.note(
                "initializer '" + entry.name + "' is " + (entry.next ? "updated by the model itself" : "not trained")
            );
        }
    }
    for (const NamedHostTensor& initializer : model.initializers) {
        const bool is_real = kind_of(initializer.tensor.type) == Kind::kReal;
        if (is_real && !used.contains(initializer.name) && !known.contains(initializer.name)) {
            lowering.note("initializer '" + initializer.name + "' has no part in the loss and is left out");
        }
    }
}

// What else the step reads or changes, once the optimizer has been written.
std::vector<std::uint32_t> others_of(Lowering& lowering, std::vector<Value> values, const Layout& layout) {
    std::vector<StateEntry>& state = lowering.state();
    std::vector<std::uint32_t> updated;
    for (std::uint32_t i = 0; i < state.size(); ++i) {
        if (state[i].next) {
            values.push_back(*state[i].next);
            updated.push_back(i);
        }
    }
    std::set<std::uint32_t> needed = states_behind(lowering.graph().nodes(), values);
    needed.insert(updated.begin(), updated.end());
    std::vector<std::uint32_t> out;
    for (const std::uint32_t index : needed) {
        const bool is_parameter =
            std::find(layout.parameters.begin(), layout.parameters.end(), index) != layout.parameters.end();
        if (index < state.size() && !is_parameter) {
            out.push_back(index);
        }
    }
    return out;
}

// The state of the step in its order, and what the program starts from.
class Ordering {
  public:
    Ordering(TrainingImport& out, Lowering& lowering) : out_(out), lowering_(lowering) {}

    void add(std::uint32_t index, program::StateTensor tensor) {
        positions_.emplace(index, static_cast<std::uint32_t>(out_.program.state.size()));
        out_.program.state.push_back(std::move(tensor));
    }
    void add_entry(std::uint32_t index) {
        StateEntry& entry = lowering_.state()[index];
        add(index, {entry.name, entry.type});
        out_.program.initial.push_back({entry.name, entry.type});
        out_.initial.push_back(std::move(entry).take_value());
    }
    const std::map<std::uint32_t, std::uint32_t>& positions() const { return positions_; }

  private:
    TrainingImport& out_;
    Lowering& lowering_;
    std::map<std::uint32_t, std::uint32_t> positions_;
};

// Puts the largest finite numbers in the place of infinite ones, and returns whether there were any. A state has none
// (NUM-6), and masks do: what is added to a score before a softmax, or compared, has the same effect either way.
bool make_finite(canonical::Tensor& tensor) {
    if (tensor.dtype != canonical::DType::kF32) {
        return false;
    }
    bool is_changed = false;
    for (std::size_t at = 0; at < tensor.data.size(); at += sizeof(float)) {
        float value = 0.0F;
        std::memcpy(&value, tensor.data.data() + at, sizeof value);
        if (std::isinf(value)) {
            value = std::copysign(std::numeric_limits<float>::max(), value);
            std::memcpy(tensor.data.data() + at, &value, sizeof value);
            is_changed = true;
        }
    }
    return is_changed;
}

void require_fitting(const program::Program& program) {
    if (program.state.size() > canonical::kMaxStateTensors) {
        refuse_too_large("more than " + std::to_string(canonical::kMaxStateTensors) + " tensors in the state");
    }
    if (program.step.size() > canonical::kMaxNodes) {
        refuse_too_large(
            "a step has " + std::to_string(program.step.size()) + " nodes; at most " +
            std::to_string(canonical::kMaxNodes) + " are allowed"
        );
    }
    require_names(program.state);
    if (!program::check_program(program)) {
        refuse_too_large("the model does not fit a program");
    }
}

TrainingImport finished(
    Draft& draft, const Model& model, const TrainingConfig& config, const std::set<std::string>& known
) {
    Lowering& lowering = draft.lowering;
    Layout layout;
    std::vector<Value> next = optimized(draft, config, layout);
    std::vector<Value> read = next;
    read.push_back(draft.loss);
    layout.others = others_of(lowering, std::move(read), layout);

    TrainingImport out;
    Ordering ordering(out, lowering);
    for (const std::uint32_t index : layout.parameters) {
        ordering.add_entry(index);
    }
    for (std::size_t i = 0; i < layout.slots.size(); ++i) {
        ordering.add(static_cast<std::uint32_t>(lowering.state().size() + i), layout.slots[i].tensor);
    }
    for (const std::uint32_t index : layout.others) {
        ordering.add_entry(index);
        const StateEntry& entry = lowering.state()[index];
        if (!entry.next && make_finite(out.initial.back())) {
            lowering.note(
                "initializer '" + entry.name + "' has infinite numbers: the largest finite ones take their place"
            );
        }
        next.push_back(entry.next.value_or(value_of(lowering, index)));
    }
    note_rest(model, lowering, layout, known);
    out.notes = std::move(lowering.notes());
    Value loss = draft.loss;
    out.program.step = std::move(lowering.graph()).commit(next, loss);
    renumber(out.program.step, ordering.positions());
    out.program.init = init_graph(out.program, layout);
    out.program.loss_node = loss.index;
    out.program.batch_size = config.batch_size;
    const std::vector<Column> columns = columns_of(model, config);
    out.program.dataset = {config.dataset_rows, columns.back().first + columns.back().count};
    require_fitting(out.program);
    return out;
}

TrainingImport training(ByteView bytes, const TrainingConfig& config) {
    const Model model = decode_model(bytes, config.external);
    require_config(model, config);
    Draft draft(config);
    write_draft(draft, model, config, {});
    if (draft.idle.empty()) {
        return finished(draft, model, config, {});
    }
    // Once more, with what is not trained as constants that can be computed with at import.
    Draft second(config);
    write_draft(second, model, config, draft.idle);
    for (const std::string& name : draft.idle) {
        second.lowering.note("initializer '" + name + "' is a constant: no gradient reaches it");
    }
    return finished(second, model, config, draft.idle);
}

}  // namespace

Result<TrainingImport, ImportError> import_training(ByteView model, const TrainingConfig& config) {
    return without_exceptions<TrainingImport>([&] { return training(model, config); });
}

}  // namespace assay::onnx
