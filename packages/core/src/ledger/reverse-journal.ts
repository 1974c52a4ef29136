import { fail } from '@svc/contract/errors'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { formatRupees, paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import type { RowOf } from '@svc/platform/db/table'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { type Account, lockAccounts } from './accounts.ts'
import { kindOf } from './chart-of-accounts.ts'
import { type Journal, journals, saveJournals } from './journals.ts'
import { moneyCommand } from './money-command.ts'
import { reverseOpeningBalances } from './opening-balance.ts'
import { POSTING_RULES } from './posting-rules.ts'
import { STORED_REVERSAL } from './stored-reversal.ts'
import { ledgerTransfers } from './transfers.ts'

export type StoredJournal = RowOf<typeof journals>
type Leg = RowOf<typeof ledgerTransfers> & Pick<Account, 'floor'>

/** A journal with its legs, and the one that reverses it. */
export interface JournalWithLegs {
  readonly journal: StoredJournal
  readonly legs: readonly Leg[]
  readonly reversedBy: string | null
  /** The payout that has what it entered: an opening balance or a certificate. */
  readonly payoutId: string | null
}

const LEGS_MAX = 8

/** Kinds that operators post, and take back by a reversal. All others are corrected by what made them. */
const REVERSIBLE: ReadonlySet<string> = new Set(
  POSTING_RULES.filter(({ isReversible }) => isReversible).map(({ journalKind }) => journalKind),
)

interface Correction {
  readonly words: string
  /** What does it on the service’s machine. */
  readonly command?: string
}
const by = (words: string, command?: string): Correction => ({ words, ...(command && { command }) })

const BY_UNDO = by('take the movement back by its reference', 'svc admin books undo')

/** How journals of other kinds are corrected. */
const CORRECTED_BY: Readonly<Record<string, Correction>> = {
  upi_credit: by('refund the payment', 'svc admin refund'),
  suspense_assigned: by('take the assignment back, until its money has left', 'svc admin suspense unassign'),
  suspense_unassigned: by('assign the credit again', 'svc admin suspense assign'),
  suspense_returned: by('the bank’s refund notice ends it'),
  payment_adjustment: by('adjust the payment again', 'svc admin payments adjust'),
  dispute: by('the bank’s notice ends it, or record its end', 'svc admin dispute close'),
  settlement_charged: by('take the transfer of the bank back', 'svc admin settlement reverse'),
  settlement_unmatched: by('take the transfer of the bank back', 'svc admin settlement reverse'),
  network_settlement: by('take the transfer of the network back', 'svc admin settlement reverse'),
  journal_reversal: by('enter the posting again'),
  card_load: by('the card’s balance returns to its source when the card ends'),
  card_reload: by('take it back, where its card account allows that', 'svc admin cards unload'),
  card_unload: by('load the card again', 'svc admin cards load'),
  payout: by('cancel the payout, or record that it failed', 'svc admin payout'),
  payout_paid: by('record that its money came back', 'svc admin payout fail --return-utr'),
  payout_released: by('prepare the payout again, or say that the bank made it', 'svc admin payout confirm'),
  payout_returned: by('prepare the payout again', 'svc admin payout run'),
  merchant_refund: by('say that the bank could not make it', 'svc admin refund fail'),
  merchant_refund_failed: by('say that the bank made it after all', 'svc admin refund confirm'),
  dispute_won: by('the bank’s notice ends it otherwise'),
  dispute_lost: by(
    'the network’s notice that it was won takes it back, or record that',
    'svc admin dispute close',
  ),
  settlement_taken_back: by('import the transfer again', 'svc admin settlement import'),
  own_funds_swept: BY_UNDO,
  gst_paid: BY_UNDO,
  owner_paid: BY_UNDO,
  escrow_paid: BY_UNDO,
  tds_refunded: BY_UNDO,
  own_funds_taken_back: by('enter the movement again under its reference'),
  year_end: by('enter what was found since', 'svc admin books year-end'),
  credit_note: by('take the note back by a debit note', 'svc admin tax debit-note'),
  debit_note: by('issue the credit note again', 'svc admin tax credit-note'),
}

/** How a journal of this kind is corrected. */
export const correctionOf = (kind: string): Correction | undefined =>
  REVERSIBLE.has(kind) ? by('reverse it', 'svc admin journal reverse') : CORRECTED_BY[kind]

const FOUND = statement<StoredJournal & Pick<JournalWithLegs, 'reversedBy' | 'payoutId'>>(
  'journals_to_reverse',
  `select ${journals.columns}, (
     select r.journal_id from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id) as "reversedBy",
     payout_of_posting(j.tenant_id, j.journal_id) as "payoutId"
   from journals j
   where (j.tenant_id, j.journal_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const LEGS = statement<Leg>(
  'journals_to_reverse_legs',
  `select ${ledgerTransfers.columns}, a.floor from ledger_transfers t
   join ledger_accounts a on a.tenant_id = t.tenant_id and a.account_id = t.credit_account_id
   where (t.tenant_id, t.journal_id) in (select * from unnest($1::text[], $2::text[]))
   order by t.tenant_id, t.journal_id, t.leg`,
)

export interface ReverseJournal {
  readonly tenantId: string
  readonly journalId: string
  readonly reason: string
}

export interface PreparedReversal extends ReverseJournal, PreparedCommand {
  readonly transferIds: readonly string[]
  readonly eventId: string
  readonly timeZone: string
}

export interface ReversalState<Facts> {
  readonly known: Map<string, JournalWithLegs>
  readonly balances: Map<string, bigint>
  readonly facts: Facts
}

export interface Reversed {
  readonly reversed: JournalWithLegs
  readonly reversalId: string
  readonly made: Journal | undefined
  readonly event: OutboxEvent | undefined
  readonly command: PreparedReversal
}

type JournalKey = Pick<ReverseJournal, 'tenantId' | 'journalId'>

export async function findJournals(tx: Tx, keys: readonly JournalKey[]): Promise<JournalWithLegs[]> {
  const named = columns(
    keys,
    ({ tenantId }) => tenantId,
    ({ journalId }) => journalId,
  )
  const [found, legs] = await Promise.all([tx.query(FOUND, named), tx.query(LEGS, named)])
  return found.map(({ reversedBy, payoutId, ...journal }) => ({
    journal,
    reversedBy,
    payoutId,
    legs: legs.filter(
      ({ tenantId, journalId }) => tenantId === journal.tenantId && journalId === journal.journalId,
    ),
  }))
}

// The tenant is first in the key: one lookup for each tenant costs less than another index that every payment writes.
const OWNER = statement<{ tenantId: string }>(
  'journal_owner',
  `select j.tenant_id as "tenantId" from tenants t cross join lateral (
     select tenant_id from journals j where j.tenant_id = t.tenant_id and j.journal_id = $1 offset 0) j`,
)

/** For operators: a journal of any tenant. */
export async function findJournal(tx: Tx, journalId: string): Promise<JournalWithLegs | undefined> {
  const [owner] = await tx.query(OWNER, [journalId])
  return owner && (await findJournals(tx, [{ tenantId: owner.tenantId, journalId }]))[0]
}

/** What a journal moves, all legs together; in paise. */
export const amountOfJournal = ({ legs }: JournalWithLegs): bigint =>
  legs.reduce((sum, { amount }) => sum + amount, 0n)

/** Whether operators may take this journal back now. */
export const isReversible = ({ journal: { kind }, payoutId, reversedBy }: JournalWithLegs): boolean =>
  REVERSIBLE.has(kind) && payoutId === null && reversedBy === null

/** Throws unless operators may take this journal back; the message says how else it is corrected. */
export function requireReversible({
  journal: { kind },
  payoutId,
}: Pick<JournalWithLegs, 'journal' | 'payoutId'>): void {
  if (payoutId !== null)
    fail('journal_not_reversible', {
      description: `It is in the payout ${payoutId}: cancel it first, as long as it was not sent to the bank`,
    })
  if (REVERSIBLE.has(kind)) return
  const { words, command } = correctionOf(kind) ?? by('by the operation that made it')
  fail('journal_not_reversible', {
    description: `A journal of kind ${kind} is corrected otherwise: ${words}`,
    command,
  })
}

/** Who is notified of a reversal, by events of a slice. */
export interface Notifier<Facts> {
  /** Reads what the events need, by tenant. */
  readonly facts: (tx: BatchTx, found: readonly JournalWithLegs[]) => Promise<ByTenant<Facts>>
  /** `balances`: of ledger accounts, before the reversal. */
  readonly eventOf: (
    reversed: JournalWithLegs,
    facts: Facts,
    balances: ReadonlyMap<string, bigint>,
    made: { readonly eventId: string; readonly createdAt: Date; readonly timeZone: string },
  ) => OutboxEvent | undefined
}

/** Takes a journal back by a mirrored one, once (decision R3). A repeat returns the first reversal. */
export const reversing = <Facts>({ facts, eventOf }: Notifier<Facts>) =>
  moneyCommand({
    name: 'reverseJournal',

    approval: {
      kinds: ['journal_reversal'],
      args: STORED_REVERSAL,
      moves: ({ made, reversed, command: { journalId, reason } }: Reversed) =>
        made && {
          kind: 'journal_reversal',
          amountPaise: amountOfJournal(reversed),
          reference: journalId,
          facts: { journalId },
          reason,
          journalId: made.journalId,
          // The money has left our bank, and could be spent or withdrawn once more.
          isUndo: reversed.journal.kind === 'card_withdrawal',
        },
      failures: ['journal_not_found', 'journal_not_reversible'],
    },

    prepare:
      ({ config, newId }) =>
      (args: ReverseJournal): PreparedReversal => ({
        ...args,
        transferIds: Array.from({ length: LEGS_MAX }, () => newId('trf')),
        eventId: newId('evt'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }),

    lock: (tx: BatchTx, commands: readonly PreparedReversal[]) => lock(tx, commands, facts),
    decide: (state: ReversalState<Facts>, args: PreparedReversal, now: Date) =>
      decide(state, args, now, eventOf),

    apply({ known, balances }, { reversed, reversalId, made }) {
      known.set(reversed.journal.journalId, { ...reversed, reversedBy: reversalId })
      for (const { debitAccountId, creditAccountId, amount } of made ? reversed.legs : []) {
        balances.set(debitAccountId, (balances.get(debitAccountId) ?? 0n) + amount)
        balances.set(creditAccountId, (balances.get(creditAccountId) ?? 0n) - amount)
      }
    },

    save(tx, decisions) {
      const reversals = decisions.flatMap(({ made }) => made ?? [])
      saveJournals(tx, decisions[0]!.command.timeZone, reversals)
      reverseOpeningBalances(tx, reversals)
      saveEvents(
        tx,
        decisions.flatMap(({ event }) => event ?? []),
      )
    },
  })

async function lock<Facts>(
  tx: BatchTx,
  commands: readonly PreparedReversal[],
  facts: Notifier<Facts>['facts'],
): Promise<ByTenant<ReversalState<Facts>>> {
  // Journals never change: their legs say which accounts to lock, and what reversed them is read behind the locks.
  const before = await findJournals(tx, commands)
  const balances = await lockAccounts(
    tx,
    before.flatMap(({ legs }) => legs.flatMap(accountsOf)),
  )
  const [found, factsOf] = await Promise.all([findJournals(tx, commands), facts(tx, before)])
  const known = byTenant(
    found,
    ({ journal }) => journal.tenantId,
    ({ journal }) => journal.journalId,
    (found) => found,
  )
  return new ByTenant((tenantId) => ({
    known: known.of(tenantId),
    balances: balances.of(tenantId),
    facts: factsOf.of(tenantId),
  }))
}

export const accountsOf = ({ tenantId, debitAccountId, creditAccountId, unit }: Leg): Account[] =>
  [debitAccountId, creditAccountId].map((accountId) => ({
    tenantId,
    accountId,
    unit,
    kind: accountId.slice(0, accountId.indexOf(':')) as Account['kind'],
    floor: null,
  }))

function decide<Facts>(
  { known, balances, facts }: ReversalState<Facts>,
  command: PreparedReversal,
  now: Date,
  eventOf: Notifier<Facts>['eventOf'],
): Reversed {
  const { eventId, journalId, reason, timeZone, transferIds } = command
  const reversed = known.get(journalId) ?? fail('journal_not_found')
  const { legs, reversedBy } = reversed
  if (reversedBy !== null)
    return { reversed, reversalId: reversedBy, made: undefined, event: undefined, command }
  requireReversible(reversed)
  for (const { creditAccountId, debitAccountId, amount, floor } of legs) {
    const balanceOf = (accountId: string): bigint => balances.get(accountId) ?? 0n
    if (floor !== null) requireCovered(creditAccountId, amount, balanceOf(creditAccountId) - floor)
    // The tax office has not refunded it.
    if (debitAccountId.startsWith('tds_receivable:'))
      requireCovered(debitAccountId, amount, 0n - balanceOf(debitAccountId))
  }
  const made: Journal = {
    ...mirrorOf(reversed, { kind: 'journal_reversal', transferIds, reason, at: now }),
    // The books of the line's day are as if it had not been posted.
    ...(reversed.journal.kind === 'statement_resolved' && { effectiveDate: reversed.journal.effectiveDate }),
  }
  const event = eventOf(reversed, facts, balances, { eventId, timeZone, createdAt: now })
  return { reversed, reversalId: made.journalId, made, event, command }
}

interface Mirroring extends Pick<Journal, 'kind' | 'reason' | 'at'> {
  /** One for each leg, or more. */
  readonly transferIds: readonly string[]
}

/** What takes a journal back: the same legs the other way round. */
export const mirrorOf = (
  { journal: { journalId, tenantId }, legs }: JournalWithLegs,
  { kind, transferIds, reason, at }: Mirroring,
): Journal => ({
  tenantId,
  journalId: `jrn_${transferIds[0]!.slice(4)}`,
  kind,
  reference: null,
  reverses: journalId,
  reason,
  at,
  transfers: legs.map((leg, i) => ({
    transferId: transferIds[i]!,
    tenantId,
    kind,
    debitAccountId: leg.creditAccountId,
    creditAccountId: leg.debitAccountId,
    objectId: leg.objectId,
    amountPaise: paise(leg.amount),
    createdAt: at,
  })),
})

/** What the journal brought to an account is taken out again: it must still be there. */
function requireCovered(accountId: string, amount: bigint, there: bigint): void {
  if (there >= amount) return
  const { title } = kindOf(accountId.slice(0, accountId.indexOf(':')) as Account['kind'])
  fail('journal_not_reversible', {
    description: `The account ${accountId} (${title}) has ${formatRupees(there)}, and the reversal takes ${formatRupees(amount)} out of it`,
  })
}
