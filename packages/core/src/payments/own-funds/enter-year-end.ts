import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { type Account, account, lockAccounts } from '../../ledger/accounts.ts'
import { accountsToOpen, type Journal, movedBy, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { storedArgs } from '../../ledger/stored-args.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import type { Share } from './movement.ts'
import { type Balances, balancesOf, journalsOf, type Leg, ofTenants, sum } from './movement-journals.ts'
import {
  endsOf,
  type OpenYear,
  profitOf,
  readOpenYear,
  totalsOf,
  type YearEnd,
  yearEnds,
  yearEndToWire,
  yearThrough,
} from './year-end.ts'

export interface EnterYearEnd {
  /** Such as `2026-27`. */
  readonly year: string
  readonly reason: string
}

interface Prepared extends EnterYearEnd, OpenYear, PreparedCommand {
  readonly yearEndId: string
  readonly newTransferId: () => string
  readonly timeZone: string
}

interface State {
  readonly ends: number
  readonly balances: Balances
}

export interface EnteredYearEnd {
  /** Absent where nothing was left to enter. */
  readonly yearEnd: YearEnd | undefined
  readonly journals: readonly Journal[]
  readonly opens: readonly Account[]
  readonly command: Prepared
}

const ALONE = statement('year_end_lock', `select pg_advisory_xact_lock(hashtextextended('year_ends', 0))`)

/**
 * Moves income and expenses of a financial year to the owner's equity, on its last day (decision R28): for each tenant in
 * its own books, and in those of the platform as a whole. A repeat enters what was found since, or nothing.
 */
export const enterYearEnd = moneyCommand({
  name: 'enterYearEnd',
  batchMax: 1,

  approval: {
    kinds: ['year_end'],
    args: storedArgs(Type.Object({ year: Type.String(), reason: Type.String() })),
    moves: ({ command: { reason, shares, through }, journals: [journal] }: EnteredYearEnd) =>
      journal && {
        kind: 'year_end',
        amountPaise: movedBy(journal),
        // Without the number of a later one, as the database compares it.
        reference: yearThrough(through),
        facts: {
          year: yearThrough(through),
          profit: formatRupees(profitOf(shares)),
          ...Object.fromEntries(totalsOf(shares).map((each) => [each.account, formatRupees(each.paise)])),
        },
        reason,
        journalId: journal.journalId,
      },
    failures: [
      'validation_failed',
      'year_not_over',
      'year_not_ready',
      'year_before_open',
      'year_end_entered',
    ],
  },

  prepare:
    ({ config, database, newId }) =>
    async (args: EnterYearEnd): Promise<Prepared> => {
      const open = await readOpenYear({ config, database }, args.year)
      return {
        ...args,
        ...open,
        tenantId: PLATFORM_TENANT,
        otherTenantId: [...new Set(open.shares.map(({ tenantId }) => tenantId))],
        yearEndId: newId('yre'),
        newTransferId: () => newId('trf'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx: BatchTx, [command]: readonly Prepared[]): Promise<ByTenant<State>> {
    const accounts = accountsOf(command!)
    const [, locked, ends] = await Promise.all([
      tx.query(ALONE),
      lockAccounts(tx, accounts),
      endsOf(tx, command!.through),
    ])
    const balances = balancesOf(accounts, locked)
    return new ByTenant((): State => ({ ends, balances }))
  },

  decide,

  save(tx, [decided]) {
    const { command, journals, opens, yearEnd } = decided!
    if (!yearEnd) return
    yearEnds.insert(tx, [yearEnd])
    saveJournals(tx, command.timeZone, journals, opens)
  },
})

/** The platform has the whole on accounts of its own. */
const accountsOf = ({ shares }: Prepared): Account[] =>
  shares.flatMap(({ account: kind, tenantId }) =>
    [tenantId, PLATFORM_TENANT].flatMap((of) => [account(kind, of), account('owner_equity', of)]),
  )

const legOf = ({ account: kind, paise }: Share): Leg => [kind, 'owner_equity', paise]

/** All income and expenses, each side by itself: also where those of two tenants add up to nothing, there is a whole. */
const wholeOf = (shares: readonly Share[]): Leg[] =>
  [...new Set(shares.map((share) => share.account))].flatMap((kind) => {
    const amounts = shares.flatMap((share) => (share.account === kind ? [share.paise] : []))
    return [
      [kind, 'owner_equity', sum(amounts.filter((amount) => amount > 0n))],
      [kind, 'owner_equity', sum(amounts.filter((amount) => amount < 0n))],
    ] satisfies Leg[]
  })

function decide({ ends, balances }: State, command: Prepared, now: Date): EnteredYearEnd {
  const { newTransferId, reason, shares, through, yearEndId } = command
  if (ends !== command.ends) fail('year_end_entered')
  if (shares.length === 0) return { yearEnd: undefined, journals: [], opens: [], command }
  const place = ends + 1
  const reference = place === 1 ? yearThrough(through) : `${yearThrough(through)}~${place}`
  const journals = journalsOf(
    {
      kind: 'year_end',
      legs: wholeOf(shares),
      shares: ofTenants(shares).map((share) => ({ ...share, leg: legOf })),
      sharesKind: 'year_end_shared',
    },
    { movementId: yearEndId, newTransferId, reason, reference },
    { at: now, movedOn: through },
  )
  const yearEnd: YearEnd = {
    tenantId: PLATFORM_TENANT,
    yearEndId,
    through,
    place,
    profitPaise: profitOf(shares),
    journalId: journals[0]!.journalId,
    createdAt: now,
  }
  const opens = accountsToOpen(accountsOf(command), journals, ({ accountId: id }) => balances.has(id))
  return { yearEnd, journals, opens, command }
}

/** What was entered; of a repeat, what the year ends of the year have entered together. */
export const enteredYearEndToWire = ({ command, journals, yearEnd }: EnteredYearEnd) => ({
  ...yearEndToWire(command.through, yearEnd ? command.shares : command.closed, journals.length),
  isRepeat: yearEnd === undefined,
})
