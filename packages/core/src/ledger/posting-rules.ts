import { type AccountKind, KINDS_OF_A_YEAR } from './chart-of-accounts.ts'

/**
 * On whose word a journal is entered. `rail`: money comes from the world or goes there, as the bank or the card network
 * signed it; the login of the rails enters it, and that of operators with the row that proves it. `person`: an operator
 * decides it. `program`: it stays inside, or between those who already have the money.
 */
export type Word = 'rail' | 'person' | 'program'

/** Legs of journals of the card network have kinds of their own; any other leg has that of its journal. */
type CardLeg = 'card_spend' | 'card_excess' | 'card_refund' | 'card_refund_excess'

interface Posting {
  readonly word: Word
  /** Debit and credit of each pair of accounts that its legs may move. */
  readonly moves: readonly (readonly [debit: AccountKind, credit: AccountKind])[]
  /** The kind of these legs, where it is not that of their journal. */
  readonly leg?: CardLeg
  /** Above the limit a second person approves it, where no signed message proves it (decision R10). */
  readonly isManual?: true
  /** Taken back by a mirrored journal of kind `journal_reversal` (decision R3). */
  readonly isReversible?: true
}

const rail = (...moves: Posting['moves']): Posting => ({ word: 'rail', moves })
const person = (...moves: Posting['moves']): Posting => ({ word: 'person', moves })
const program = (...moves: Posting['moves']): Posting => ({ word: 'program', moves })
const manual = (posting: Posting): Posting => ({ ...posting, isManual: true })
const reversible = (posting: Posting): Posting => ({ ...posting, isManual: true, isReversible: true })
const both = ([debit, credit]: Posting['moves'][number]): Posting['moves'] => [
  [debit, credit],
  [credit, debit],
]
// Where expenses are given back, or more fees than were earned, it goes the other way.
const YEAR_END = person(...KINDS_OF_A_YEAR.flatMap((kind) => both([kind, 'owner_equity'])))
const legs = (leg: CardLeg, posting: Posting): Posting => ({ ...posting, leg })

// What a payout deducts; where failed refunds, or fees that were paid otherwise, give back more, it goes the other way.
const PAYOUT = person(...both(['payable', 'accrued_fees']), ...both(['payable', 'merchant_advances']), [
  'payable',
  'payouts_in_transit',
])
const UNCLAIMED = ['settlement_unmatched', 'network_unmatched', 'bank_exceptions'] as const
const mirrored = ({ moves, ...posting }: Posting): Posting => ({
  ...posting,
  moves: moves.map(([debit, credit]) => [credit, debit] as const),
})
// A card gives what it has; what the network takes beyond it, or gives back without a capture, is an exception.
const CAPTURE = [
  legs('card_spend', rail(['card', 'card_settlement'])),
  legs('card_excess', rail(['card_exceptions', 'card_settlement'])),
]

/** Every kind of journal with the movements that it may make, said once: for the database, its checks and the reference. */
const POSTINGS = {
  upi_credit: [
    rail(['upi_clearing', 'payable'], ['upi_clearing', 'upi_refunds'], ['upi_clearing', 'suspense']),
    person(['inter_tenant', 'payable']),
  ],
  upi_refund: [rail(['upi_refunds', 'upi_clearing'], ['suspense', 'upi_clearing'])],
  suspense_assigned: [manual(person(['suspense', 'payable'], ['suspense', 'inter_tenant']))],
  // Taken back, it is in suspense again, of the same tenant or of the one that it was assigned from.
  suspense_unassigned: [manual(person(['payable', 'suspense'], ['payable', 'inter_tenant']))],
  suspense_restored: [person(['inter_tenant', 'suspense'])],
  suspense_returned: [manual(person(['suspense', 'upi_refunds']))],
  payment_adjustment: [
    manual(
      person(['upi_clearing', 'payable'], ['payable', 'upi_clearing'], ['merchant_advances', 'upi_clearing']),
    ),
  ],
  // Between two claims on the bank: no claim on us grows by it, and a late line may be matched by any process.
  bank_settlement: [program(...both(['bank', 'upi_clearing']))],
  bank_settlement_reversed: [program(...both(['upi_clearing', 'bank']))],
  // What of a transfer of the bank fits nothing, and what the bank kept for itself.
  settlement_unmatched: [rail(...both(['bank', 'settlement_unmatched']))],
  settlement_matched: [program(...both(['settlement_unmatched', 'bank']))],
  settlement_charged: [rail(...both(['rail_charges', 'bank']), ...both(['gst_input', 'bank']))],
  network_settlement: [
    program(...both(['ppi_bank', 'card_settlement'])),
    rail(
      ...both(['ppi_bank', 'network_unmatched']),
      ...both(['ppi_bank', 'interchange_income']),
      ...both(['network_charges', 'ppi_bank']),
      ...both(['gst_input', 'ppi_bank']),
    ),
  ],
  network_matched: [program(...both(['network_unmatched', 'ppi_bank']))],
  // A transfer that was recorded by mistake: the platform takes back what the whole has moved; tenants have their shares of
  // it, and the platform has those the other way round.
  settlement_taken_back: [
    manual(
      person(
        ...both(['bank', 'upi_clearing']),
        ...both(['bank', 'settlement_unmatched']),
        ...both(['rail_charges', 'bank']),
        ...both(['gst_input', 'bank']),
        ...both(['ppi_bank', 'card_settlement']),
        ...both(['ppi_bank', 'network_unmatched']),
        ...both(['ppi_bank', 'interchange_income']),
        ...both(['network_charges', 'ppi_bank']),
        ...both(['gst_input', 'ppi_bank']),
      ),
    ),
  ],
  taken_back_shared: [person(...both(['bank', 'upi_clearing']), ...both(['ppi_bank', 'card_settlement']))],
  merchant_refund: [program(['payable', 'upi_refunds'], ['merchant_advances', 'upi_refunds'])],
  merchant_refund_paid: [rail(['upi_refunds', 'upi_clearing'])],
  merchant_refund_failed: [manual(rail(['upi_refunds', 'payable'], ['upi_refunds', 'merchant_advances']))],
  merchant_refund_restored: [rail(['payable', 'upi_refunds'], ['merchant_advances', 'upi_refunds'])],
  merchant_refund_late: [rail(['refund_exceptions', 'upi_clearing'])],
  dispute: [rail(['payable', 'disputes'], ['merchant_advances', 'disputes'])],
  // A merchant accepts one, or lets its deadline pass.
  dispute_lost: [program(['disputes', 'upi_clearing'])],
  dispute_overturned: [rail(['upi_clearing', 'disputes'])],
  dispute_won: [manual(rail(['disputes', 'payable'], ['disputes', 'merchant_advances']))],
  payout: [PAYOUT],
  payout_restored: [PAYOUT],
  payout_released: [mirrored(PAYOUT)],
  payout_paid: [person(['payouts_in_transit', 'bank'])],
  payout_returned: [person(['bank', 'payouts_in_transit'])],
  payout_paid_late: [person(['payout_exceptions', 'bank'])],
  opening_balance: [reversible(person(['bank', 'payable'], ['funding_clearing', 'card_funding']))],
  card_funding: [reversible(rail(['funding_clearing', 'card_funding']))],
  card_withdrawal: [reversible(person(['card_funding', 'funding_clearing']))],
  card_load: [program(['card_funding', 'card'])],
  card_reload: [program(['card_funding', 'card'])],
  card_unload: [program(['card', 'card_funding'])],
  // The terminal of the sandbox.
  card_spend: [rail(['card', 'card_settlement'])],
  card_refund: [rail(['card_settlement', 'card'])],
  card_capture: CAPTURE,
  card_advice: CAPTURE,
  card_return: [
    legs('card_refund', rail(['card_settlement', 'card'])),
    legs('card_refund_excess', rail(['card_settlement', 'card_exceptions'])),
  ],
  card_replacement: [program(['card', 'card'])],
  card_unclaimed: [program(['card', 'unclaimed'])],
  card_unclaimed_reversed: [program(['unclaimed', 'card'])],
  card_back_to_source: [program(['unclaimed', 'card_funding'])],
  exception_settled: [
    reversible(
      person(
        ...both(['card_settlement', 'card_exceptions']),
        ['bank', 'payout_exceptions'],
        ['bank', 'refund_exceptions'],
        ...both(['bank', 'settlement_unmatched']),
        ...both(['ppi_bank', 'network_unmatched']),
        ...both(['bank', 'bank_exceptions']),
        ...both(['ppi_bank', 'bank_exceptions']),
        ...both(['own_funds', 'bank_exceptions']),
        ['bank', 'accrued_fees'],
        ['own_funds', 'tds_receivable'],
      ),
    ),
  ],
  exception_written_off: [
    reversible(
      person(
        ...both(['write_offs', 'card_exceptions']),
        ['write_offs', 'payout_exceptions'],
        ['write_offs', 'refund_exceptions'],
        // What is owed by us and never claimed is income.
        ...UNCLAIMED.flatMap((kind) => [['write_offs', kind] as const, [kind, 'other_income'] as const]),
        ['write_offs', 'accrued_fees'],
        ['write_offs', 'tds_receivable'],
      ),
    ),
  ],
  advance_repaid: [reversible(person(['bank', 'merchant_advances']))],
  advance_written_off: [reversible(person(['write_offs', 'merchant_advances']))],
  // Lines of the bank's statements: money of cards that came in or went back, and what people found lines to be.
  funding_settled: [program(...both(['ppi_bank', 'funding_clearing']))],
  statement_resolved: [
    reversible(
      person(
        ...both(['rail_charges', 'bank']),
        ...both(['gst_input', 'bank']),
        ...both(['network_charges', 'ppi_bank']),
        ...both(['gst_input', 'ppi_bank']),
        ...both(['rail_charges', 'own_funds']),
        ...both(['gst_input', 'own_funds']),
        ...both(['bank', 'other_income']),
        ...both(['ppi_bank', 'other_income']),
        ...both(['own_funds', 'other_income']),
        ...both(['bank_exceptions', 'bank']),
        ...both(['bank_exceptions', 'ppi_bank']),
        ...both(['bank_exceptions', 'own_funds']),
        ...both(['bank', 'suspense']),
        ...both(['own_funds', 'bank']),
        ...both(['own_funds', 'ppi_bank']),
      ),
    ),
  ],
  // Our own money (decision R26): the platform has what the bank moves; tenants have their shares of it, and the platform
  // has those the other way round.
  own_funds_swept: [manual(person(['own_funds', 'bank']))],
  sweep_shared: [person(...both(['own_funds', 'bank']))],
  gst_paid: [
    manual(
      person(
        ['output_cgst', 'own_funds'],
        ['output_cgst', 'gst_input'],
        ['output_sgst', 'own_funds'],
        ['output_sgst', 'gst_input'],
        ['output_igst', 'own_funds'],
        ['output_igst', 'gst_input'],
      ),
    ),
  ],
  gst_shared: [
    person(
      ...both(['output_cgst', 'own_funds']),
      ...both(['output_sgst', 'own_funds']),
      ...both(['output_igst', 'own_funds']),
    ),
  ],
  owner_paid: [manual(person(...both(['owner_equity', 'own_funds'])))],
  escrow_paid: [manual(person(['bank', 'own_funds']))],
  // The whole of any of them that was entered by mistake; shares of it go back as shares.
  own_funds_taken_back: [
    manual(
      person(
        ...both(['own_funds', 'bank']),
        ...both(['owner_equity', 'own_funds']),
        ['own_funds', 'output_cgst'],
        ['gst_input', 'output_cgst'],
        ['own_funds', 'output_sgst'],
        ['gst_input', 'output_sgst'],
        ['own_funds', 'output_igst'],
        ['gst_input', 'output_igst'],
        ['tds_receivable', 'own_funds'],
      ),
    ),
  ],
  // Tax that merchants deducted on our fees, and its refund (decision R29).
  tds_certified: [reversible(person(['tds_receivable', 'payable']))],
  tds_refunded: [manual(person(['own_funds', 'tds_receivable']))],
  tds_shared: [person(...both(['own_funds', 'tds_receivable']))],
  // Income and expenses of a financial year, in the same shape (decision R28).
  year_end: [manual(YEAR_END)],
  year_end_shared: [YEAR_END],
  // Fees and their GST belong to the day of the payment.
  fee_accrual: [
    program(
      ['accrued_fees', 'fee_income'],
      ['accrued_fees', 'output_cgst'],
      ['accrued_fees', 'output_sgst'],
      ['accrued_fees', 'output_igst'],
    ),
  ],
  // Fees that are given back, with their tax; the next payout pays them.
  credit_note: [
    manual(
      person(
        ['fee_income', 'payable'],
        ['output_cgst', 'payable'],
        ['output_sgst', 'payable'],
        ['output_igst', 'payable'],
      ),
    ),
  ],
  // A credit note that was a mistake, taken back: what is not payable to the merchant any more is an advance.
  debit_note: [
    manual(
      person(
        ...(['fee_income', 'output_cgst', 'output_sgst', 'output_igst'] as const).flatMap((kind) => [
          ['payable', kind] as const,
          ['merchant_advances', kind] as const,
        ]),
      ),
    ),
  ],
  coin_allocation: [program(['coins_issued', 'coins'], ['coins_issued', 'coins_pending'])],
  coin_activation: [program(['coins_pending', 'coins'])],
  coin_redemption: [program(['coins', 'coins_redeemed'])],
  coin_expiry: [program(['coins', 'coins_expired'])],
  coin_void: [program(['coins', 'coins_issued'], ['coins_pending', 'coins_issued'])],
} as const satisfies Readonly<Record<string, readonly Posting[]>>

export type JournalKind = keyof typeof POSTINGS | 'journal_reversal'
export type LegKind = JournalKind | CardLeg

/** One permitted movement, as `posting_rules` has it. */
export interface PostingRule {
  readonly journalKind: JournalKind
  readonly legKind: LegKind
  readonly debitKind: AccountKind
  readonly creditKind: AccountKind
  readonly word: Word
  readonly isManual: boolean
  readonly isReversible: boolean
}

const PERMITTED = Object.entries<readonly Posting[]>(POSTINGS).flatMap(([journalKind, postings]) =>
  postings.flatMap(({ word, moves, leg, isManual = false, isReversible = false }) =>
    moves.map(
      ([debitKind, creditKind]): PostingRule => ({
        journalKind: journalKind as JournalKind,
        legKind: leg ?? (journalKind as JournalKind),
        debitKind,
        creditKind,
        word,
        isManual,
        isReversible,
      }),
    ),
  ),
)

// Several kinds are taken back between the same accounts.
const REVERSALS = new Map(
  PERMITTED.filter(({ isReversible }) => isReversible).map(({ debitKind, creditKind }) => [
    `${creditKind} ${debitKind}`,
    {
      journalKind: 'journal_reversal',
      legKind: 'journal_reversal',
      debitKind: creditKind,
      creditKind: debitKind,
      word: 'person',
      isManual: true,
      isReversible: false,
    } satisfies PostingRule,
  ]),
)

/** Every permitted movement, reversals last: nothing else moves, whichever login enters it. */
export const POSTING_RULES: readonly PostingRule[] = [...PERMITTED, ...REVERSALS.values()]
