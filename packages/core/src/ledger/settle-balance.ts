import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { Type } from 'typebox'
import { type Account, account, accountId, lockAccounts } from './accounts.ts'
import { BankEntries, type BankEntry, nextEntry } from './bank-entries.ts'
import { enteredReference } from './entered-reference.ts'
import { type Journal, journalOf, saveJournals } from './journals.ts'
import { moneyCommand } from './money-command.ts'
import {
  isFitting,
  openOf,
  otherKind,
  SETTLED_AGAINST,
  SETTLED_KINDS,
  SETTLEMENT_OUTCOMES,
  SETTLEMENTS,
  type Settlement,
  settlementAccounts,
  settlementEntry,
} from './settlement.ts'
import { StoredPaise, storedArgs } from './stored-args.ts'

export interface SettleBalance extends Settlement {
  readonly amountPaise: Paise
  /** The reference of the bank or network, or of the decision to write it off: it is entered once, however it is written. */
  readonly reference: string
  readonly reason: string
}

/** What the audit keeps of it. */
export const settlementAudit = (
  accountId: string,
  { against, amountPaise, outcome, reason, reference }: SettleBalance,
) => ({
  action: 'ledger_account.settled',
  target: accountId,
  details: {
    amount: formatRupees(amountPaise),
    outcome,
    ...(against && { against }),
    reference,
    reason,
  },
})

interface Prepared extends SettleBalance, PreparedCommand {
  readonly transferId: string
  readonly timeZone: string
}

interface State {
  readonly balances: Map<string, bigint>
  /** Of the tenant, whatever its outcome was. */
  readonly entered: BankEntries
  /** Money that came in, for whichever tenant. */
  readonly incoming: BankEntries
}

export interface Settled {
  readonly journalId: string
  readonly journal: Journal | undefined
  /** What is open of the account afterwards. */
  readonly openPaise: bigint
  readonly opens: readonly Account[]
  readonly command: Prepared
}

/**
 * Ends what is open on an account because its money was settled outside, or is written off (decision R17): at most what is
 * open, on the side that was seen. A repeat of its reference enters nothing (decision R2).
 */
export const settleBalance = moneyCommand({
  name: 'settleBalance',

  approval: {
    kinds: ['exception_settled', 'exception_written_off', 'advance_repaid', 'advance_written_off'],
    args: storedArgs(
      Type.Object({
        tenantId: Type.String(),
        kind: Type.Enum([...SETTLED_KINDS]),
        outcome: Type.Enum([...SETTLEMENT_OUTCOMES]),
        side: Type.Enum(['debit', 'credit']),
        against: Type.Optional(Type.Enum([...SETTLED_AGAINST])),
        amountPaise: StoredPaise,
        reference: Type.String(),
        reason: Type.String(),
      }),
    ),
    // The side says who owes it; it is posted only while the account still has it open there.
    moves: ({ journal, command: { against, amountPaise, kind, outcome, side, tenantId, ...of } }) =>
      journal && {
        kind: SETTLEMENTS[kind].kinds[outcome],
        amountPaise,
        reference: of.reference,
        facts: { ledgerAccountId: accountId(kind, tenantId), outcome, side, ...(against && { against }) },
        reason: of.reason,
        journalId: journal.journalId,
      },
    failures: [
      'ledger_account_not_found',
      'account_not_settled',
      'settlement_reference_used',
      'balance_not_open',
    ],
  },

  prepare:
    ({ config, newId }) =>
    (args: SettleBalance): Prepared => ({
      ...args,
      reference: enteredReference(args.reference),
      transferId: newId('trf'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock,
  decide,

  apply({ balances, entered, incoming }, { journal, opens, command }) {
    if (!journal) return
    for (const { accountId } of opens) balances.set(accountId, 0n)
    const [transfer] = journal.transfers
    for (const [id, sign] of [
      [transfer!.creditAccountId, 1n],
      [transfer!.debitAccountId, -1n],
    ] as const)
      balances.set(id, (balances.get(id) ?? 0n) + sign * command.amountPaise)
    const entry = { ...command, ...transfer!, journalId: journal.journalId, isReversed: false }
    entered.add(entry)
    if (comesIn(command)) incoming.add(entry)
  },

  save(tx, decisions) {
    const made = decisions.flatMap(({ journal, ...rest }) => (journal ? [{ journal, ...rest }] : []))
    saveJournals(
      tx,
      decisions[0]!.command.timeZone,
      made.map(({ journal }) => journal),
      made.flatMap(({ opens }) => opens),
    )
  },
})

/** What was settled, as operators see it. */
export const SettledBalanceRecord = Type.Object(
  {
    accountId: Type.String(),
    journalId: Type.String(),
    amount: Type.String({ description: 'Rupees with two decimals' }),
    outcome: Type.Enum([...SETTLEMENT_OUTCOMES]),
    open: Type.String({ description: 'Rupees that are still open on the account' }),
    isRepeat: Type.Boolean({ description: 'It was entered before: nothing was posted' }),
  },
  { title: 'SettledBalance', additionalProperties: false },
)

export const settledBalanceToWire = ({ command, journal, journalId, openPaise }: Settled) => ({
  accountId: accountId(command.kind, command.tenantId),
  journalId,
  amount: formatRupees(command.amountPaise),
  outcome: command.outcome,
  open: formatRupees(openPaise),
  isRepeat: journal === undefined,
})

/** Whether it is a transfer to an escrow account, whose reference names one among all tenants (decision R15). */
const comesIn = (settlement: Settlement): boolean =>
  settlement.outcome === 'SETTLED' &&
  settlement.side === 'debit' &&
  ['bank', 'ppi_bank'].includes(otherKind(settlement) ?? '')

/** Kinds of journals are shared by accounts: an entry is the same settlement only of the same one. */
const isOf = (accountId: string, { debitAccountId, creditAccountId }: BankEntry): boolean =>
  accountId === debitAccountId || accountId === creditAccountId

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  // In this order: a transaction that holds the ledger accounts sees what others have entered.
  const [balances, entered, incoming] = await Promise.all([
    lockAccounts(tx, commands.flatMap(settlementAccounts)),
    BankEntries.read(tx, commands.map(settlementEntry)),
    BankEntries.readIncoming(
      tx,
      commands.filter(comesIn).map(({ reference }) => reference),
    ),
  ])
  return new ByTenant((tenantId) => ({ balances: balances.of(tenantId), entered, incoming }))
}

function decide({ balances, entered, incoming }: State, command: Prepared, now: Date): Settled {
  const { tenantId, kind, outcome, side, amountPaise, reference, reason, transferId } = command
  const settled = accountId(kind, tenantId)
  const balance = balances.get(settled) ?? fail('ledger_account_not_found')
  const journalKind = SETTLEMENTS[kind].kinds[outcome]
  const ends =
    otherKind(command) ??
    fail('account_not_settled', {
      description:
        outcome === 'SETTLED'
          ? `${settled} is settled against ${SETTLEMENTS[kind].against.join(', ')}`
          : 'What is written off is settled against no account: name none',
    })
  const open = openOf(kind, balance)
  const earlier = entered.of(tenantId, reference)
  const { standing: before } = earlier
  if (before) {
    if (before.kind !== journalKind || before.amountPaise !== amountPaise || !isOf(settled, before))
      fail('settlement_reference_used')
    return { journalId: before.journalId, journal: undefined, openPaise: open.paise, opens: [], command }
  }
  if (comesIn(command) && incoming.everywhere(reference).length > 0) fail('settlement_reference_used')
  const entry = nextEntry(reference, earlier) ?? fail('settlement_reference_used')
  if (!isFitting(open, { side, amountPaise }))
    fail('balance_not_open', {
      description: `${settled} has ${formatRupees(open.paise)} rupees open on the ${open.side} side`,
    })
  const other = account(ends, tenantId)
  const transfer = {
    transferId,
    tenantId,
    kind: journalKind,
    debitAccountId: side === 'debit' ? other.accountId : settled,
    creditAccountId: side === 'debit' ? settled : other.accountId,
    amountPaise,
    objectId: tenantId,
    createdAt: now,
  }
  const journal: Journal = { ...journalOf(transfer, entry), reason }
  return {
    journalId: journal.journalId,
    journal,
    openPaise: open.paise - amountPaise,
    opens: balances.has(other.accountId) ? [] : [other],
    command,
  }
}
