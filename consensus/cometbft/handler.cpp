// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/handler.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <contracts/state/tx_error.hpp>
#include <core/crypto/hash.hpp>

#include <consensus/cometbft/abci.pb.h>
#include <consensus/cometbft/ics23.hpp>

namespace assay::cometbft {
namespace {

constexpr const char* kCodespace = "assay";
constexpr std::uint32_t kQueryFailed = 1;
constexpr int kAbsent = 1;  // BlockIDFlag

ByteView view_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

Height to_height(std::int64_t height) {
    if (height < 1) {
        throw ProtocolError("the engine names the height " + std::to_string(height));
    }
    return Height{static_cast<std::uint64_t>(height)};
}

Hash256 to_hash(const std::string& bytes) {
    Hash256 out;
    if (bytes.size() != out.data.size()) {
        throw ProtocolError("the engine sent a hash of " + std::to_string(bytes.size()) + " bytes");
    }
    std::copy(bytes.begin(), bytes.end(), out.data.begin());
    return out;
}

contracts::ConsensusAddress to_address(const std::string& bytes) {
    contracts::ConsensusAddress out;
    if (bytes.size() != out.data.size()) {
        throw ProtocolError("the engine sent a validator's address of " + std::to_string(bytes.size()) + " bytes");
    }
    std::copy(bytes.begin(), bytes.end(), out.data.begin());
    return out;
}

AccountId to_proposer(const std::string& bytes) {
    const contracts::ConsensusAddress address = to_address(bytes);
    AccountId out;
    std::copy(address.data.begin(), address.data.end(), out.data.begin());
    return out;
}

std::uint64_t to_ms(const google::protobuf::Timestamp& time) {
    if (time.seconds() < 0) {
        return 0;  // Go's zero time
    }
    return static_cast<std::uint64_t>(time.seconds()) * 1'000U + static_cast<std::uint64_t>(time.nanos()) / 1'000'000U;
}

/// A block, proposed or decided.
template <class Message>
consensus::FinalizeRequest to_block(const Message& message) {
    consensus::FinalizeRequest out;
    out.height = to_height(message.height());
    out.time_ms = to_ms(message.time());
    out.block_hash = to_hash(message.hash());
    out.proposer = to_proposer(message.proposer_address());
    for (const std::string& tx : message.txs()) {
        out.txs.push_back(to_bytes(tx));
    }
    for (const abci::Misbehavior& found : message.misbehavior()) {
        out.misbehaviour.push_back(
            {.validator = to_address(found.validator().address()), .height = to_height(found.height())}
        );
    }
    return out;
}

/// What a transaction takes in a block: its bytes, a tag, and their length as a protobuf number.
std::uint64_t size_in_block(std::size_t bytes) {
    std::uint64_t length_bytes = 1;
    for (std::size_t rest = bytes; rest >= 0x80U; rest >>= 7U) {
        ++length_bytes;
    }
    return bytes + length_bytes + 1;
}

const char* name_of(std::uint8_t code) {
    return code == 0 ? "" : contracts::to_string(static_cast<contracts::TxError>(code));
}

void add_attribute(abci::Event& event, const char* key, std::string value) {
    abci::EventAttribute& attribute = *event.add_attributes();
    attribute.set_key(key);
    attribute.set_value(std::move(value));
    attribute.set_index(true);
}

/// Gas is far below 2^63: GAS-1.
std::int64_t to_gas(std::uint64_t gas) { return static_cast<std::int64_t>(gas); }

void describe(const contracts::Receipt& receipt, abci::ExecTxResult& out) {
    out.set_code(receipt.code);
    out.set_gas_wanted(to_gas(receipt.gas));
    out.set_gas_used(to_gas(receipt.gas));
    out.set_codespace(receipt.code == 0 ? "" : kCodespace);
    out.set_log(name_of(receipt.code));
    if (receipt.action.empty()) {
        return;
    }
    abci::Event& event = *out.add_events();
    event.set_type("assay");
    add_attribute(event, "action", receipt.action);
    add_attribute(event, "sender", to_hex(receipt.sender.view()));
    if (receipt.owner) {
        add_attribute(event, "owner", to_hex(receipt.owner->view()));
    }
    if (receipt.task) {
        add_attribute(event, "task", to_hex(receipt.task->view()));
    }
}

/// That of the state, and before there is one that of this program.
std::uint64_t version_of(const consensus::Info& info) {
    return info.protocol_version != 0 ? info.protocol_version : contracts::kProtocolVersion;
}

void describe(const contracts::ValidatorUpdate& update, abci::ValidatorUpdate& out) {
    out.mutable_pub_key()->set_ed25519(std::string(update.key.data.begin(), update.key.data.end()));
    out.set_power(static_cast<std::int64_t>(update.power));
}

}  // namespace

Handler::Handler(consensus::StateMachine& state, HandlerOptions options)
    : state_(state),
      options_(std::move(options)),
      mempool_(state, options_.mempool),
      intake_(state, mempool_, outbox_) {}

abci::Response Handler::handle(const abci::Request& request) {
    abci::Response response;
    switch (request.value_case()) {
        case abci::Request::kEcho:
            *response.mutable_echo() = request.echo();
            return response;
        case abci::Request::kFlush:
            response.mutable_flush();
            return response;
        case abci::Request::kInfo: {
            const consensus::Info info = state_.info();
            abci::ResponseInfo& out = *response.mutable_info();
            out.set_data("assay");
            out.set_version(options_.software_version);
            out.set_app_version(version_of(info));  // CMT-15: in the header of every block
            out.set_last_block_height(static_cast<std::int64_t>(info.height.value));
            out.set_last_block_app_hash(info.height.value == 0 ? std::string() : string_of(info.app_hash));
            return response;
        }
        case abci::Request::kCheckTx:
            check_tx(request, response);
            return response;
        case abci::Request::kQuery:
            query(request, response);
            return response;
        case abci::Request::kListSnapshots:
            list_snapshots(response);
            return response;
        case abci::Request::kLoadSnapshotChunk:
            load_chunk(request, response);
            return response;
        default:
            break;
    }
    const std::lock_guard lock(consensus_mutex_);
    return handle_consensus(request);
}

abci::Response Handler::handle_consensus(const abci::Request& request) {
    abci::Response response;
    switch (request.value_case()) {
        case abci::Request::kInitChain:
            init_chain(request, response);
            return response;
        case abci::Request::kPrepareProposal:
            prepare_proposal(request, response);
            return response;
        case abci::Request::kProcessProposal:
            process_proposal(request, response);
            return response;
        case abci::Request::kFinalizeBlock:
            finalize_block(request, response);
            return response;
        case abci::Request::kCommit:
            commit(response);
            return response;
        // CMT-6
        case abci::Request::kExtendVote:
            response.mutable_extend_vote();
            return response;
        case abci::Request::kVerifyVoteExtension: {
            const bool empty = request.verify_vote_extension().vote_extension().empty();
            response.mutable_verify_vote_extension()->set_status(
                empty ? abci::ResponseVerifyVoteExtension::ACCEPT : abci::ResponseVerifyVoteExtension::REJECT
            );
            return response;
        }
        case abci::Request::kOfferSnapshot:
            offer_snapshot(request, response);
            return response;
        case abci::Request::kApplySnapshotChunk:
            apply_chunk(request, response);
            return response;
        default:
            break;
    }
    throw ProtocolError("the engine sent a request that ABCI 2.0 does not have; CometBFT v0.38 is what is supported");
}

void Handler::init_chain(const abci::Request& request, abci::Response& response) {
    // CMT-2
    const abci::RequestInitChain& in = request.init_chain();
    if (in.chain_id() != options_.genesis.chain_id) {
        throw ProtocolError(
            "the engine's chain is \"" + in.chain_id() + "\", this node's genesis is of \"" +
            options_.genesis.chain_id + "\""
        );
    }
    if (in.initial_height() != 0 && in.initial_height() != 1) {
        throw ProtocolError(
            "the engine's genesis begins at height " + std::to_string(in.initial_height()) + ", not at 1"
        );
    }
    abci::ResponseInitChain& out = *response.mutable_init_chain();
    out.set_app_hash(string_of(state_.init(options_.genesis)));
    for (const contracts::ValidatorUpdate& validator : state_.validators()) {
        describe(validator, *out.add_validators());
    }
    // GAS-9
    out.mutable_consensus_params()->mutable_version()->set_app(options_.genesis.params.protocol_version);
    abci::BlockParams& block = *out.mutable_consensus_params()->mutable_block();
    block.set_max_bytes(options_.genesis.params.block_size_max);
    block.set_max_gas(options_.genesis.params.block_gas_max);
}

void Handler::check_tx(const abci::Request& request, abci::Response& response) {
    const abci::RequestCheckTx& in = request.check_tx();
    abci::ResponseCheckTx& out = *response.mutable_check_tx();
    const bool is_new = in.type() != abci::RECHECK;
    const Intake::Verdict verdict =
        is_new ? intake_.check_new(view_of(in.tx())) : intake_.check_again(view_of(in.tx()));
    if (verdict.code != 0) {
        out.set_code(verdict.code);
        out.set_codespace(kCodespace);
        out.set_log(verdict.why);
        return;
    }
    // CMT-17: as much as a block has, the most that the engine takes. It then hands over one bundle at most when it
    // asks for a proposal, which takes nothing from what is handed over.
    out.set_gas_wanted(to_gas(verdict.gas.value_or(options_.genesis.params.block_gas_max)));
}

void Handler::query(const abci::Request& request, abci::Response& response) const {
    const abci::RequestQuery& in = request.query();
    abci::ResponseQuery& out = *response.mutable_query();
    const auto refuse = [&out](const std::string& why) {
        out.set_code(kQueryFailed);
        out.set_codespace(kCodespace);
        out.set_log(why);
    };
    if (in.path() != "/store") {
        refuse("the path \"" + in.path() + "\" is not one of: /store (data: a key of the state)");
        return;
    }
    if (in.height() < 0) {
        refuse("the height is negative");
        return;
    }
    consensus::QueryRequest wanted;
    wanted.key = to_bytes(in.data());
    wanted.with_neighbours = in.prove();
    if (in.height() != 0) {
        wanted.height = Height{static_cast<std::uint64_t>(in.height())};
    }
    try {
        const consensus::QueryResult result = state_.query(wanted);
        out.set_key(in.data());
        out.set_height(static_cast<std::int64_t>(result.height.value));
        if (result.value) {
            out.set_value(string_of(*result.value));
        }
        if (in.prove()) {
            abci::ProofOp& op = *out.mutable_proof_ops()->add_ops();
            op.set_type(kProofType);
            op.set_key(in.data());
            op.set_data(commitment_proof(wanted.key, result));
        }
    } catch (const consensus::HeightNotKept& error) {
        refuse(error.what());
    }
}

void Handler::prepare_proposal(const abci::Request& request, abci::Response& response) const {
    // CMT-5
    const auto bytes_max = request.prepare_proposal().max_tx_bytes();
    const std::uint64_t most = bytes_max < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(bytes_max);
    abci::ResponsePrepareProposal& out = *response.mutable_prepare_proposal();
    std::uint64_t total = 0;
    for (const Bytes& tx : state_.prepare(mempool_.candidates(most), most)) {
        total += size_in_block(tx.size());
        if (total > most) {
            break;
        }
        out.add_txs(string_of(tx));
    }
}

void Handler::process_proposal(const abci::Request& request, abci::Response& response) const {
    const consensus::FinalizeRequest proposal = to_block(request.process_proposal());
    const auto acceptable = state_.process(proposal);
    response.mutable_process_proposal()->set_status(
        acceptable ? abci::ResponseProcessProposal::ACCEPT : abci::ResponseProcessProposal::REJECT
    );
    if (!acceptable && options_.on_refusal) {
        options_.on_refusal(proposal, acceptable.error());
    }
}

void Handler::finalize_block(const abci::Request& request, abci::Response& response) {
    // CMT-3, CMT-10
    consensus::FinalizeRequest block = to_block(request.finalize_block());
    for (const abci::VoteInfo& vote : request.finalize_block().decided_last_commit().votes()) {
        if (vote.block_id_flag() == kAbsent) {
            block.absent.push_back(to_address(vote.validator().address()));
        }
    }
    const Height last = state_.info().height;
    if (block.height.value != last.value + 1) {
        throw ProtocolError(
            "the engine decided block " + std::to_string(block.height.value) + " after block " +
            std::to_string(last.value) + " of this node's state"
        );
    }
    consensus::FinalizeResult result = state_.finalize(block);
    abci::ResponseFinalizeBlock& out = *response.mutable_finalize_block();
    for (const contracts::Receipt& receipt : result.receipts) {
        describe(receipt, *out.add_tx_results());
    }
    for (const contracts::ValidatorUpdate& update : result.validator_updates) {
        describe(update, *out.add_validator_updates());
    }
    if (result.protocol_version) {  // CMT-15: in the headers after this block
        out.mutable_consensus_param_updates()->mutable_version()->set_app(*result.protocol_version);
    }
    out.set_app_hash(string_of(result.app_hash));
    finalized_ = Finalized{.request = std::move(block), .result = std::move(result)};
}

void Handler::commit(abci::Response& response) {
    if (!finalized_) {
        throw ProtocolError("the engine commits without a finalized block");
    }
    state_.commit();
    mempool_.update(finalized_->request.txs);
    std::vector<Hash256> hashes;
    hashes.reserve(finalized_->result.receipts.size());
    for (const contracts::Receipt& receipt : finalized_->result.receipts) {
        hashes.push_back(receipt.tx);
    }
    intake_.note_block(hashes);
    if (options_.on_commit) {
        options_.on_commit(finalized_->request, finalized_->result);
    }
    finalized_.reset();
    response.mutable_commit()->set_retain_height(static_cast<std::int64_t>(state_.retain_height().value));
    if (const auto why = state_.why_halted(); why && options_.on_halt) {
        options_.on_halt(*why);
    }
}

// CMT-12
void Handler::list_snapshots(abci::Response& response) const {
    abci::ResponseListSnapshots& out = *response.mutable_list_snapshots();
    if (options_.state_sync == nullptr) {
        return;
    }
    for (const consensus::SnapshotInfo& snapshot : options_.state_sync->snapshots()) {
        abci::Snapshot& message = *out.add_snapshots();
        message.set_height(snapshot.height.value);
        message.set_format(snapshot.format);
        message.set_chunks(snapshot.chunks);
        message.set_hash(string_of(snapshot.hash));
        message.set_metadata(string_of(snapshot.metadata));
    }
}

void Handler::load_chunk(const abci::Request& request, abci::Response& response) const {
    const abci::RequestLoadSnapshotChunk& in = request.load_snapshot_chunk();
    abci::ResponseLoadSnapshotChunk& out = *response.mutable_load_snapshot_chunk();
    if (options_.state_sync == nullptr) {
        return;
    }
    if (const auto chunk = options_.state_sync->load_chunk(Height{in.height()}, in.format(), in.chunk())) {
        out.set_chunk(string_of(*chunk));
    }
}

// CMT-13
void Handler::offer_snapshot(const abci::Request& request, abci::Response& response) {
    const abci::RequestOfferSnapshot& in = request.offer_snapshot();
    abci::ResponseOfferSnapshot& out = *response.mutable_offer_snapshot();
    if (options_.state_sync == nullptr) {
        out.set_result(abci::ResponseOfferSnapshot::ABORT);
        return;
    }
    if (in.snapshot().hash().size() != Hash256::kSizeBytes) {
        out.set_result(abci::ResponseOfferSnapshot::REJECT);
        return;
    }
    const consensus::SnapshotInfo snapshot{
        .height = Height{in.snapshot().height()},
        .format = in.snapshot().format(),
        .chunks = in.snapshot().chunks(),
        .hash = to_hash(in.snapshot().hash()),
        .metadata = to_bytes(in.snapshot().metadata())};
    switch (options_.state_sync->offer(snapshot, to_hash(in.app_hash()))) {
        case consensus::OfferAnswer::kAccept:
            out.set_result(abci::ResponseOfferSnapshot::ACCEPT);
            break;
        case consensus::OfferAnswer::kAbort:
            out.set_result(abci::ResponseOfferSnapshot::ABORT);
            break;
        case consensus::OfferAnswer::kReject:
            out.set_result(abci::ResponseOfferSnapshot::REJECT);
            break;
        case consensus::OfferAnswer::kRejectFormat:
            out.set_result(abci::ResponseOfferSnapshot::REJECT_FORMAT);
            break;
    }
}

void Handler::apply_chunk(const abci::Request& request, abci::Response& response) {
    const abci::RequestApplySnapshotChunk& in = request.apply_snapshot_chunk();
    abci::ResponseApplySnapshotChunk& out = *response.mutable_apply_snapshot_chunk();
    if (options_.state_sync == nullptr) {
        out.set_result(abci::ResponseApplySnapshotChunk::ABORT);
        return;
    }
    switch (options_.state_sync->apply_chunk(in.index(), to_bytes(in.chunk()), in.sender())) {
        case consensus::ApplyAnswer::kAccept:
            out.set_result(abci::ResponseApplySnapshotChunk::ACCEPT);
            break;
        case consensus::ApplyAnswer::kAbort:
            out.set_result(abci::ResponseApplySnapshotChunk::ABORT);
            break;
        case consensus::ApplyAnswer::kRetry:
            out.set_result(abci::ResponseApplySnapshotChunk::RETRY);
            out.add_refetch_chunks(in.index());
            out.add_reject_senders(in.sender());
            break;
        case consensus::ApplyAnswer::kRejectSnapshot:
            out.set_result(abci::ResponseApplySnapshotChunk::REJECT_SNAPSHOT);
            break;
    }
}

}  // namespace assay::cometbft
