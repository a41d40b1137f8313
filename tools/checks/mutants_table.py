# SPDX-License-Identifier: Apache-2.0
"""The mutants of mutants.py: each puts back a rule by which somebody honest could be made to pay."""
import typing


class Mutant(typing.NamedTuple):
    finding: str
    name: str
    edits: tuple    # of (file, old text, new text)
    test: tuple     # executable and arguments
    expects: str    # in what the test says


def search(last, plan=None):
    """The harness over seeds 1 to `last`, up to the first that breaks a law."""
    return ("test_liability", *(("--plan", plan) if plan else ()), "--search", "1", str(last))


def networks(last):
    """Simulated networks of seeds 1 to `last`."""
    return ("test_simulation", "--seeds", "1", str(last))


VERIFICATION = "contracts/verification/verification.cpp"
MEMPOOL = "consensus/mempool.cpp"
NO_RESERVED = (
    MEMPOOL,
    "if (!covers(check.balance, reserved, waiting.reserve)) {\n        return reject(TxError::kInsufficientBalance);",
    "if (!covers(check.balance, reserved - reserved, waiting.reserve)) {\n"
    "        return reject(TxError::kInsufficientBalance);")

MUTANTS = [
    Mutant("1", "divergence without a tile", ((
        VERIFICATION,
        "if (!action.divergence ||\n"
        "        !dispute::shows_divergence(*action.divergence, action.verdict.end_root, task.spec.program.state_tensors)) {",
        "if (!action.divergence || task.id.is_zero()) {"),),
        search(12, "liar"), "law 1"),
    Mutant("2", "followers of one fee wait", (NO_RESERVED,), search(14), "law 3"),
    Mutant("2", "amounts are not reserved", ((
        "contracts/ledger/actions/ledger_actions.hpp",
        "Amount amount_out(const Params& /*params*/) const { return amount; }",
        "Amount amount_out(const Params& /*params*/) const { return {}; }"),),
        search(14), "law 3"),
    Mutant("2", "fees are taken in turn", ((
        "contracts/chain/chain.cpp",
        "    const auto paid = charge_all(run, entries);\n"
        "    for (std::size_t i = 0; i < entries.size(); ++i) {\n"
        "        if (paid[i] != nullptr) {\n"
        "            const auto applied = apply_tx(run, *paid[i], outcome.receipts[i]);\n"
        "            outcome.receipts[i].code = applied ? std::uint8_t{0} : static_cast<std::uint8_t>(applied.error());\n"
        "        }\n",
        "    for (std::size_t i = 0; i < entries.size(); ++i) {\n"
        "        Receipt& receipt = outcome.receipts.front();\n"
        "        std::swap(receipt, outcome.receipts[i]);\n"
        "        const auto paid = charge_all(run, std::vector<BlockEntry>(1, entries[i]));\n"
        "        if (paid.front() != nullptr) {\n"
        "            const auto applied = apply_tx(run, *paid.front(), receipt);\n"
        "            receipt.code = applied ? std::uint8_t{0} : static_cast<std::uint8_t>(applied.error());\n"
        "        }\n"
        "        std::swap(receipt, outcome.receipts[i]);\n"),),
        ("test_contracts", "--test-case=FEE-3*"), "FEE-3"),
    Mutant("2", "answers wait while others pay", ((
        "consensus/mempool.cpp",
        "        if (answer_bytes > bytes_max) {",
        "        if (!senders_.empty() || answer_bytes > bytes_max) {"),),
        search(18, "filler"), "law 1"),
    Mutant("2", "the lane of duties is oversold", ((
        "contracts/duties/lane.cpp",
        "return get_lane(view).disputes + dispute_weight(params) <= lane_half(params);",
        "return get_lane(view).disputes + dispute_weight(params) <= lane_half(params) + (1ULL << 40U);"),),
        ("test_contracts", "--test-case=DTY-5*"), "DTY-5"),
    Mutant("3", "rejections need free stake", (
        ("contracts/params/by_value.cpp",
         "    return Amount{sum ? *sum : kMaxU64};\n}\n\nAmount verifier_needs",
         "    return Amount{sum ? 0 : kMaxU64};\n}\n\nAmount verifier_needs"),
        (VERIFICATION,
         "    TRY(check_parts(task, assignment, action.verdict, rejects));\n    return check_divergence(task, action);",
         "    TRY(check_parts(task, assignment, action.verdict, rejects));\n"
         "    if (rejects && is_exact(task, action.segment)) {\n"
         "        const Amount bond = challenger_bond(get_params(view), task_value(task.spec));\n"
         "        TRY(check_free_stake(view, Role::kVerifier, sender, bond));\n"
         "    }\n"
         "    return check_divergence(task, action);")),
        search(12, "drafter"), "law"),
    Mutant("4", "silence is acceptance", ((
        "contracts/verification/judgement.cpp",
        "} else if (!open_segments(task).empty()) {",
        "} else if (task.redraws > 1'000 && !open_segments(task).empty()) {"),),
        search(12, "withholder"), "law 2"),
    Mutant("4", "who waits for busy verifiers expires", ((
        "contracts/chain/rounds.cpp",
        "if (!waits_for_room && !waits_on(context, task)) {",
        "if ((!waits_for_room && !waits_on(context, task)) || context.params.draw_blocks != 0) {"),),
        search(6, "crowder"), "law 2"),
    Mutant("4", "who waits after a committee expires", ((
        "contracts/verification/draw.cpp",
        "    if (task.state != TaskState::kCompleted) {\n        return false;",
        "    if (task.state != TaskState::kCompleted || !task.assignments.empty()) {\n        return false;"),),
        ("test_contracts", "--test-case=VER-7*"), "VER-7"),
    Mutant("5", "all verifiers are fined", ((
        VERIFICATION, "            hold_tenth(context, assignment);\n",
        "            static_cast<void>(hold_tenth);\n            miss(context, task, assignment);\n"),),
        search(12, "withholder"), "law 1"),
    Mutant("5", "all profilers are fined", ((
        "contracts/profiling/profiling.cpp",
        "if (in_commit_phase && count_of(task, ProfileStatus::kCommitted) < context.params.profilers_min) {",
        "if (in_commit_phase && context.params.profilers_min > 1'000) {\n        static_cast<void>(count_of);"),),
        search(14), "law 1"),
    Mutant("5", "who does not consent is drawn", ((
        "contracts/verification/draw.cpp",
        "const bool is_willing = consents(draw.context.params, draw.task.spec, candidate.terms);",
        "const bool is_willing = draw.context.params.block_ms != 0;"),),
        ("test_contracts", "--test-case=TRM-2*"), "TRM-2"),
    Mutant("5", "a task that nobody consents to is solved", ((
        "contracts/tasks/draw.cpp",
        "if (!has_quorum(context.params, task, needed, round.drawing.verifiers)) {",
        "if (needed.grains == 0) {"),),
        ("test_contracts", "--test-case=TRM-3*"), "TRM-3"),
    Mutant("5", "who is busy has no voice", ((
        "contracts/beacon/draw.cpp",
        "candidate.weight += candidate.locked;  // below the supply",
        "candidate.weight += 0;"),),
        ("test_contracts", "--test-case=TRM-3*"), "TRM-3"),
    Mutant("5", "verification for nothing", ((
        "contracts/params/work.cpp",
        "if (!pays(params, spec, params.work_price)) {",
        "if (params.work_price == 0) {"),),
        ("test_contracts", "--test-case=WRK-6*"), "WRK-6"),
    Mutant("6", "open tasks wait for ever", (
        ("contracts/tasks/tasks.cpp",
         "bookkeeping.open_until = context.height_after(context.params.draw_blocks);",
         "bookkeeping.open_until = context.height_after(1'000'000);"),
        ("contracts/lifecycle/waiting.cpp",
         "if (is_open && task.room < price_of_draws(context.params, kDrawsOfVerifiers + 1)) {",
         "if (is_open && task.room < price_of_draws(context.params, 0)) {")),
        search(14), "law 3"),
    Mutant("6", "draws without bound", ((
        "contracts/chain/rounds.cpp",
        "if (taken + kGasPerEntry > context_.params.end_block_gas_max / 2) {",
        "if (taken + kGasPerEntry > context_.params.end_block_gas_max * 1'000ULL) {"),),
        search(14), "law 3"),
    Mutant("7", "the submitter wins missed deadlines", (
        ("contracts/tasks/tasks.cpp", "        .reason = Reason::kMissedDeadline};",
         "        .reason = Reason::kMissedDeadline,\n        .winners = {task.submitter}};"),
        ("contracts/tasks/tasks.cpp",
         "checked_mul_div(task.solver_bond.grains, context.params.deadline_slash_bps, kBasisPoints).value();",
         "checked_mul_div(task.solver_bond.grains, kBasisPoints, kBasisPoints).value();")),
        search(12, "bait"), "law 2"),
    Mutant("8", "validators without stake or key", (
        ("contracts/validators/validators.cpp",
         "if (!crypto::verify_ed25519(action.key.view(), consensus_key_claim(chain_id, sender).view(), "
         "action.proof.view())) {",
         "if (consensus_key_claim(chain_id, sender).is_zero() || action.proof.is_zero()) {"),
        ("contracts/validators/validators.cpp",
         "    TRY(check_free_stake(view, Role::kValidator, sender, params.validator_stake_min));\n",
         "    static_cast<void>(params);\n")),
        search(14), "law 1"),
    Mutant("9", "jackpots by shares of the present", ((
        "contracts/settlement/settlement.cpp",
        "    return std::uint64_t{segments.size()} * verifiers_per_segment(params, task_value(task.spec));",
        "    const auto present = std::count_if(task.assignments.begin(), task.assignments.end(), is_published);\n"
        "    return std::max<std::uint64_t>(params.tax_bps * 0 + segments.size() * 0, static_cast<std::uint64_t>(present));"),),
        ("test_model",), "model / chain"),
    Mutant("12", "windows that know no work", ((
        "contracts/params/work.cpp",
        "    return blocks_for(params, segment_work(spec), class_speed(params, spec.hardware_class));",
        "    return blocks_for(params, 0, class_speed(params, spec.hardware_class));"),),
        search(10), "law"),
    Mutant("13", "a failed draw ends a dispute", ((
        "contracts/chain/rounds.cpp",
        "if (!is_kept && task.deadline.value == 0 && task.open_disputes == 0 &&",
        "if (!is_kept && task.deadline.value == 0 &&"),),
        ("test_contracts", "--test-case=VER-7*"), "VER-7"),
    Mutant("14", "the probe is known before", (
        ("contracts/verification/draw.cpp",
         "        task.assignments.push_back(std::move(assignment));\n",
         "        task.assignments.push_back(std::move(assignment));\n"
         "        Assignment& known = task.assignments.back();\n"
         "        const std::vector<std::uint32_t> marks = marks_of(task, known);\n"
         "        if (!marks.empty()) {\n"
         "            const DrawName name{task.id, DrawKind::kMark, known.segment, 0};\n"
         "            known.probe = marks[reduce(draw_randomness(round.seed, name), marks.size())];\n"
         "        }\n"),
        ("contracts/verification/draw.cpp",
         "if (assignment.status == VerdictStatus::kCommitted && !marks.empty()) {",
         "if (assignment.status == VerdictStatus::kCommitted && !marks.empty() && assignment.probe == 0) {")),
        ("test_model",), "model / chain"),
    Mutant("votes", "half of the power passes", ((
        "contracts/governance/governance.hpp",
        "return 3 * in_favour > 2 * total;",
        "return 2 * in_favour > total;"),),
        ("test_contracts", "--test-case=GOV-6*"), "GOV-6"),
    Mutant("votes", "a lost majority counts", ((
        "contracts/governance/governance.cpp",
        "if (has_passed && count_votes(context.state, *proposal).has_passed()) {",
        "if (has_passed) {"),),
        ("test_contracts", "--test-case=GOV-7*"), "GOV-7"),
    Mutant("votes", "one vote prices challenges out", ((
        "contracts/governance/governance.cpp",
        "changed->gas_price_min.grains <= kGasPriceStepMax * params.gas_price_min.grains;",
        "changed->gas_price_min.grains >= 1;"),),
        ("test_contracts", "--test-case=GOV-2*"), "GOV-2"),
    Mutant("keys", "an operator moves money", ((
        "contracts/chain/router.cpp",
        "if (body.owner && !is_by_operator(body.action)) {",
        "if (body.owner && body.sender.is_zero()) {"),),
        ("test_contracts", "--test-case=OPR-3*"), "OPR-3"),
    Mutant("keys", "anybody acts for anybody", ((
        "contracts/chain/router.cpp",
        "if (body.owner && find_operator(view, *body.owner) != body.sender) {",
        "if (body.owner && view.get({}) && body.owner->is_zero()) {"),),
        ("test_contracts", "--test-case=OPR-4*"), "OPR-4"),
    Mutant("statements", "an answer is used up", ((
        "contracts/state/dispute.cpp",
        ".answers = answers};",
        ".answers = answers ? std::nullopt : answers};"),),
        ("test_contracts", "--test-case=STM-9*"), "STM-9"),
    Mutant("statements", "who was misled is convicted", ((
        "contracts/arbitration/accusation_ending.cpp",
        "refute_by(context, task, answered, culprit);",
        "refute_by(context, task, answered, task.id.is_zero() ? culprit : answered.responder);"),),
        networks(50), "convicted in time"),
    Mutant("statements", "the last wrong thing is accused", ((
        "verifier/group/first_wrong.cpp",
        "std::stable_sort(entries.begin(), entries.end(), is_before);",
        "std::stable_sort(entries.rbegin(), entries.rend(), is_before);"),),
        networks(25), "convicted in time"),
    Mutant("environments", "any statement is accepted", ((
        "contracts/tasks/tasks.cpp",
        "if (!satisfies(action.environment, task.spec.environment)) {",
        "if (task.id.is_zero()) {"),),
        ("test_contracts", "--test-case=ENV-4*"), "ENV-4"),
    Mutant("retention", "a tile of any tensor is shown", ((
        "contracts/lifecycle/drawn_tile.cpp",
        "tile.tensor == drawn.tensor &&",
        "(tile.tensor == drawn.tensor || !task.id.is_zero()) &&"),),
        ("test_contracts", "--test-case=RET-5*"), "RET-5"),
    Mutant("retention", "who loses the result keeps the bond", ((
        "contracts/retention/retention.cpp",
        "        end_keeping(context, task, false);  // RET-6",
        "        end_keeping(context, task, true);  // RET-6"),),
        ("test_contracts", "--test-case=RET-6*"), "RET-6"),
    Mutant("privacy", "a reader reads with the operator that it has now", ((
        "contracts/privacy/privacy.cpp",
        ".reader = find_shared(task, context.actor)->reader.key};",
        ".reader = find_operator(context.state, context.actor).value_or(context.actor)};"),),
        ("test_contracts", "--test-case=PRV-3: a reader's key*"), "PRV-3"),
    Mutant("privacy", "who was given no keys pays for the draw", ((
        "contracts/tasks/tasks.cpp",
        "    if (owes_keys(task)) {\n        lapse_unshared(context, task);",
        "    if (owes_keys(task) && task.id.is_zero()) {\n        lapse_unshared(context, task);"),),
        ("test_contracts", "--test-case=*PRV-3: who was drawn*"), "PRV-3"),
    Mutant("privacy", "a verifier's time runs before it can read", ((
        "contracts/verification/verification.cpp",
        "    if (in_commit_phase(task)) {\n        restart_deadline(",
        "    if (in_commit_phase(task) && task.id.is_zero()) {\n        restart_deadline("),),
        ("test_contracts", "--test-case=PRV-4: the verifiers' time*"), "PRV-4"),
    Mutant("privacy", "who commits without keys takes the others' time", ((
        "contracts/verification/verification.cpp",
        "if (waited && !owes_keys(task)) {",
        "if (waited && task.id.is_zero()) {"),),
        ("test_contracts", "--test-case=PRV-4: a verifier that commits without*"), "PRV-4"),
    Mutant("privacy", "verifiers pay for keys that were withheld", ((
        "contracts/verification/verification.cpp",
        "    if (owes_keys(task)) {\n        convict(",
        "    if (owes_keys(task) && task.id.is_zero()) {\n        convict("),),
        ("test_contracts", "--test-case=PRV-4: a solver that keeps*"), "PRV-4"),
    Mutant("privacy", "profilers' time runs before they can read", ((
        "contracts/privacy/privacy.cpp",
        "    } else if (task.state == TaskState::kProfiling) {\n        begin_reports(context, task);",
        "    } else if (task.state == TaskState::kProfiling) {"),),
        ("test_contracts", "--test-case=PRV-10: the profilers' time*"), "PRV-10"),
    Mutant("privacy", "profilers that were given no key miss their report", ((
        "contracts/profiling/profiling.cpp",
        "    if (owes_keys(task)) {\n        lapse_unread(context, task);",
        "    if (owes_keys(task) && task.id.is_zero()) {\n        lapse_unread(context, task);"),),
        ("test_contracts", "--test-case=PRV-11: who keeps the key*"), "PRV-11"),
    Mutant("privacy", "a profiler that has committed undoes the work of others", ((
        "contracts/privacy/privacy.cpp",
        "    return !place || task.tolerance->profiles[*place].status != ProfileStatus::kDue;  // PRV-11",
        "    return !place;"),),
        ("test_contracts", "--test-case=*PRV-5: a profiler that shows*"), "PRV-11"),
    Mutant("privacy", "native states that nobody has are disputed", ((
        "contracts/profiling/profiling.cpp",
        "if (task.secrecy && is_of_native(part, segment)) {",
        "if (task.secrecy && is_of_native(part, segment) && task.id.is_zero()) {"),),
        ("test_contracts", "--test-case=PRV-12*"), "PRV-12"),
    Mutant("privacy", "shares that are right convict", ((
        "contracts/privacy/privacy.cpp",
        "!= sealed::ShareJudgement::kWrong) {",
        "== sealed::ShareJudgement::kNoReader) {"),),
        ("test_contracts", "--test-case=PRV-5: nobody*"), "PRV-5"),
    Mutant("privacy", "a divergence without a file", ((
        "contracts/tasks/divergence.cpp",
        "if (action.sealed.has_value() != task.spec.privacy.has_value()) {",
        "if (task.id.is_zero()) {"),),
        ("test_contracts", "--test-case=PRV-6: a divergence*"), "PRV-6"),
    Mutant("privacy", "chunks that are right convict", ((
        "core/sealed/evidence.cpp",
        "    return Unexpected{EvidenceError::kRight};",
        "    return ChunkFault::kContents;"),),
        ("test_contracts", "--test-case=PRV-7: nobody*"), "PRV-7"),
    Mutant("clocks", "one clock for many replays", ((
        "contracts/arbitration/clocks.cpp",
        "games.claims = claims.size();",
        "games.claims = 1;"),),
        ("test_contracts", "--test-case=DSP-32: a solver whose machine*"), "DSP-32"),
    Mutant("clocks", "one clock against a mob", ((
        "contracts/arbitration/clocks.cpp",
        "games.claims = claims.size();",
        "games.claims = 1;"),),
        search(4, "mob"), "law 1"),
    Mutant("clocks", "one window for many false rejections", ((
        "contracts/params/work.cpp",
        "2 * std::max<std::uint64_t>(convicting, 1) * replay_blocks(params, spec)",
        "2 * replay_blocks(params, spec) + 0 * convicting"),),
        ("test_contracts", "--test-case=WRK-5: the window has the time*"), "WRK-5"),
    Mutant("clocks", "one clock for who is accused of much", ((
        "contracts/arbitration/clocks.cpp",
        "(each.responder == party || each.challenger == party)",
        "each.responder == party"),),
        ("test_contracts", "--test-case=STM-8*as many false accusations*"), "STM-8"),
    Mutant("clocks", "no time to find who misled", ((
        "contracts/params/work.cpp",
        "games.may_answer ? 4U : 2U",
        "games.may_answer ? 2U : 2U"),),
        ("test_contracts", "--test-case=STM-8*as many false accusations*"), "STM-8"),
    Mutant("committees", "a task knows its latest committee alone", ((
        "contracts/availability/availability.cpp",
        "    task.available.push_back(",
        "    task.available.clear();\n    task.available.push_back("),),
        ("test_contracts", "--test-case=GRP-10*members who serve committees alone*"), "GRP-10"),
    Mutant("committees", "verifiers lose to who has nothing left", ((
        "contracts/availability/availability.cpp",
        "Amount left = bond_of(task, responder_of(task, judged.front()));",
        "Amount left{~std::uint64_t{0}};"),),
        search(20, "syndicate"), "law 1"),
]

NOT_APPLICABLE = [
    ("10", "workers that are kept waiting: tests of their own"),
    ("11", "what a client takes on a node's word: tests of its own"),
    ("15", "servers that idle connections fill: tests of their own"),
]
