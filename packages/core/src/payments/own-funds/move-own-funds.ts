import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { type Account, account, lockAccounts } from '../../ledger/accounts.ts'
import { enteredReference } from '../../ledger/entered-reference.ts'
import { accountsToOpen, type Journal, movedBy, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { implausibleDay } from '../../ledger/plausible-day.ts'
import { StoredPaise, StoredPaiseOrNone, StoredTextOrNone, storedArgs } from '../../ledger/stored-args.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { lastDayOf } from '../fees/gst.ts'
import {
  KIND_OF_JOURNAL,
  MOVEMENT_KINDS,
  type MoveOwnFunds,
  type OwnFundsMovement,
  ownFundsMovements,
  type PreparedMovement,
  type Share,
  TAX_ACCOUNTS,
} from './movement.ts'
import { type Balances, balancesOf, journalsOf, ofTenants, planOf } from './movement-journals.ts'
import { certifiedTax, escrowPaise, gstDue, sharesToSweep } from './shares.ts'

interface State {
  readonly known: OwnFundsMovement | undefined
  /** How often its reference was entered before and taken back. */
  readonly times: bigint
  /** How many movements there are, with how often one was taken back. */
  readonly count: bigint
  readonly balances: Balances
}

export interface MovedOwnFunds {
  readonly movement: OwnFundsMovement
  /** Of the tenants, without the platform's. */
  readonly shares: readonly Share[]
  /** None where it was entered before. */
  readonly journals: readonly Journal[]
  readonly opens: readonly Account[]
  readonly command: PreparedMovement
}

const COUNT = statement<{ count: bigint }>(
  'own_funds_movements_count',
  `select count(*) + count(reversed_by) as count from own_funds_movements where tenant_id = '${PLATFORM_TENANT}'`,
)
const KNOWN = statement<OwnFundsMovement>(
  'own_funds_known',
  `select ${ownFundsMovements.columns} from own_funds_movements m
   where m.tenant_id = '${PLATFORM_TENANT}' and m.reference = $1 and m.reversed_by is null`,
)
const TIMES = statement<{ times: bigint }>(
  'own_funds_times',
  `select count(*) as times from own_funds_movements m
   where m.tenant_id = '${PLATFORM_TENANT}' and m.reference = $1 and m.reversed_by is not null`,
)
const ALONE = statement(
  'own_funds_lock',
  `select pg_advisory_xact_lock(hashtextextended('own_funds_movements', 0))`,
)

/** One is entered or taken back at a time: each reckons with those before it. */
export const moveAlone = (tx: Pick<Tx, 'query'>): Promise<unknown> => tx.query(ALONE)

export const countOf = async (tx: Pick<Tx, 'query'>): Promise<bigint> => (await tx.query(COUNT))[0]!.count

/** What is ours, and whose it was: read for operators, who see every tenant. */
function readShares(database: Database, { amountPaise, kind, month, through }: MoveOwnFunds) {
  return database.operate(async (tx) => ({
    after: await countOf(tx),
    shares:
      kind === 'SWEEP' && through !== undefined
        ? await sharesToSweep(tx, through)
        : kind === 'GST' && month !== undefined
          ? await gstDue(tx, month)
          : kind === 'TDS' && amountPaise !== undefined
            ? await certifiedTax(tx, amountPaise)
            : [],
    escrowPaise: await escrowPaise(tx),
  }))
}

/**
 * Enters a movement of our own money at the bank (decision R26), by its reference: what it is made of is reckoned here,
 * but for amounts that a person states. A repeat enters nothing.
 */
export const moveOwnFunds = moneyCommand({
  name: 'moveOwnFunds',
  batchMax: 1,

  approval: {
    kinds: ['own_funds_swept', 'gst_paid', 'owner_paid', 'escrow_paid', 'tds_refunded'],
    args: storedArgs(
      Type.Object({
        kind: Type.Enum([...MOVEMENT_KINDS]),
        reference: Type.String(),
        reason: Type.String(),
        movedOn: StoredTextOrNone,
        through: StoredTextOrNone,
        month: StoredTextOrNone,
        taxes: Type.Optional(
          Type.Array(
            Type.Object({
              account: Type.Enum([...TAX_ACCOUNTS]),
              cashPaise: StoredPaise,
              creditPaise: StoredPaise,
            }),
          ),
        ),
        amountPaise: StoredPaiseOrNone,
      }),
    ),
    moves: ({ journals: [journal], movement, command: { kind, reason } }: MovedOwnFunds) =>
      journal && {
        kind: KIND_OF_JOURNAL[kind],
        amountPaise: movedBy(journal),
        reference: movement.reference,
        facts: {
          kind,
          through: movement.through,
          month: movement.month,
          ownFunds: formatRupees(movement.ownFundsPaise),
          escrow: formatRupees(movement.escrowPaise),
        },
        reason,
        journalId: journal.journalId,
      },
    failures: [
      'validation_failed',
      'own_funds_reference_used',
      'own_funds_moved',
      'nothing_to_sweep',
      'escrow_too_low',
      'period_not_over',
      'gst_not_due',
      'gst_credit_too_low',
      'tds_not_due',
    ],
  },

  prepare:
    ({ config, database, newId }) =>
    async (args: MoveOwnFunds): Promise<PreparedMovement> => {
      const found = await readShares(database, args)
      return {
        ...args,
        ...found,
        reference: enteredReference(args.reference),
        tenantId: PLATFORM_TENANT,
        otherTenantId: [...new Set(found.shares.map(({ tenantId }) => tenantId))],
        movementId: newId('ofm'),
        newTransferId: () => newId('trf'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  lock,
  decide,

  save(tx, [decided]) {
    const { command, journals, movement, opens } = decided!
    if (journals.length === 0) return
    ownFundsMovements.insert(tx, [movement])
    saveJournals(tx, command.timeZone, journals, opens)
  },
})

const accountsOf = ({ shares }: PreparedMovement): Account[] => [
  ...(['bank', 'own_funds', 'owner_equity', 'gst_input', 'tds_receivable', ...TAX_ACCOUNTS] as const).map(
    (kind) => account(kind, PLATFORM_TENANT),
  ),
  ...shares.flatMap(({ account: kind, tenantId }) => [
    account(kind, tenantId),
    account('own_funds', tenantId),
  ]),
]

async function lock(tx: BatchTx, [command]: readonly PreparedMovement[]): Promise<ByTenant<State>> {
  const accounts = accountsOf(command!)
  // In this order: behind the first, accounts that another one has opened are there.
  const [, locked, [known], [before], count] = await Promise.all([
    moveAlone(tx),
    lockAccounts(tx, accounts),
    tx.query(KNOWN, [command!.reference]),
    tx.query(TIMES, [command!.reference]),
    countOf(tx),
  ])
  const balances = balancesOf(accounts, locked)
  return new ByTenant((): State => ({ known, times: before!.times, count, balances }))
}

const monthOf = (month: string | undefined): string | null => (month === undefined ? null : `${month}-01`)

/** Whether the same was entered; what is reckoned may have changed since. */
const isSame = (
  known: OwnFundsMovement,
  { amountPaise, kind, month, taxes, through }: PreparedMovement,
): boolean =>
  known.kind === kind &&
  known.through === (through ?? null) &&
  known.month === monthOf(month) &&
  (amountPaise === undefined ||
    known.ownFundsPaise === (kind === 'CAPITAL' || kind === 'TDS' ? amountPaise : 0n - amountPaise)) &&
  (taxes === undefined || -known.ownFundsPaise === taxes.reduce((sum, { cashPaise }) => sum + cashPaise, 0n))

function decide(
  { known, times, count, balances }: State,
  command: PreparedMovement,
  now: Date,
): MovedOwnFunds {
  const { kind, movementId, reference, shares, through, month } = command
  const others = ofTenants(shares)
  if (known) {
    if (!isSame(known, command)) fail('own_funds_reference_used')
    return { movement: known, shares: [], journals: [], opens: [], command }
  }
  if (count !== command.after) fail('own_funds_moved')
  const today = calendarDay(now, command.timeZone)
  const movedOn = command.movedOn ?? today
  requirePlausible(command, movedOn, today)
  const plan = planOf(command, balances)
  const again = times === 0n ? reference : `${reference}~${times + 1n}`
  const journals = journalsOf(plan, { ...command, reference: again }, { at: now, movedOn })
  const movement: OwnFundsMovement = {
    tenantId: PLATFORM_TENANT,
    movementId,
    kind,
    reference,
    movedOn,
    through: through ?? null,
    month: monthOf(month),
    escrowPaise: plan.escrowPaise,
    ownFundsPaise: plan.ownFundsPaise,
    taxPaise: plan.taxPaise,
    journalId: journals[0]!.journalId,
    reversedBy: null,
    createdAt: now,
  }
  const opens = accountsToOpen(accountsOf(command), journals, ({ accountId: id }) => balances.has(id))
  return { movement, shares: others, journals, opens, command }
}

function requirePlausible({ month, through }: PreparedMovement, movedOn: string, today: string): void {
  const days = { date: movedOn, ...(through !== undefined && { through }) }
  for (const [name, day] of Object.entries(days)) {
    const problem = implausibleDay(day, today, 0)
    if (problem !== undefined) failField(name, 'invalid', `must be another day: ${problem}`)
  }
  if (month !== undefined && today <= lastDayOf(month)) fail('period_not_over')
}
