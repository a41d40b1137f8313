// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/schema.hpp>

#include <contracts/beacon/draw.hpp>
#include <contracts/chain/chain.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/stake.hpp>
#include <contracts/state/tx_error.hpp>
#include <consensus/light/light_block.hpp>
#include <consensus/solo/block.hpp>
#include <core/dispute/tolerance.hpp>
#include <core/merkle/jmt.hpp>
#include <core/merkle/range.hpp>
#include <tools/spec/walk.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::spec {
namespace {

template <class... T>
void walk(Walker& walker) {
    (walker.type<T>(), ...);
}
template <class... E>
void walk_errors(Walker& walker) {
    (walker.error<E>(), ...);
}

}  // namespace

Schema make_schema() {
    Schema schema;
    Walker walker(schema);
    // What no slot leads to: transactions, history, blocks, genesis, proofs and programs.
    walk<contracts::Tx, contracts::HistoryRecord, contracts::Genesis, contracts::Receipt, contracts::DrawName>(walker);
    walk<solo::Block, light::LightBlock, program::Program, merkle::JmtProof, merkle::Range>(walker);
    walk<dispute::ThresholdRule>(walker);
    walker.enumeration<contracts::SlotKind>();
    walker.enumeration<contracts::Queue>();
    walker.enumeration<dispute::Ruling>();
    walk_errors<
        contracts::TxError, contracts::GenesisError, codec::DecodeError, canonical::NodeError, canonical::PartialError,
        dispute::MoveError, dispute::ProofError, dispute::ThresholdError, program::ProgramError>(walker);
    schema.slots = list_slots(walker);
    schema.tags = list_tags();
    return schema;
}

}  // namespace assay::spec
