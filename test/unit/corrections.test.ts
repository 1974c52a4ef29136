import { POSTING_KINDS } from '@svc/core/ledger/posting'
import { POSTING_RULES } from '@svc/core/ledger/posting-rules'
import { correctionOf } from '@svc/core/ledger/reverse-journal'
import { expect, test } from 'vitest'

/** The journals of approvals that no journal is named by. */
const JOURNALS_OF: Readonly<Record<string, readonly string[]>> = {
  notice_assigned: ['upi_credit'],
  payout_failed: ['payout_released', 'payout_returned'],
  settlement_recorded: ['settlement_charged', 'settlement_unmatched', 'network_settlement'],
}

test('whatever a person posts by hand, the refusal to reverse it says how it is corrected', () => {
  const kinds = POSTING_KINDS.flatMap((kind) => JOURNALS_OF[kind] ?? [kind])
  const known = new Set<string>(POSTING_RULES.map(({ journalKind }) => journalKind))
  expect(kinds.filter((kind) => !known.has(kind))).toEqual([])
  expect(kinds.filter((kind) => correctionOf(kind) === undefined)).toEqual([])
})
