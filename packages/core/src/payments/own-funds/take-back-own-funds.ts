import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { lockAccounts } from '../../ledger/accounts.ts'
import { enteredReference } from '../../ledger/entered-reference.ts'
import { type Journal, movedBy, saveJournals } from '../../ledger/journals.ts'
import { matchAlone } from '../../ledger/match-alone.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { accountsOf, findJournals, type JournalWithLegs, mirrorOf } from '../../ledger/reverse-journal.ts'
import { storedArgs } from '../../ledger/stored-args.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { countOf, moveAlone } from './move-own-funds.ts'
import { type OwnFundsMovement, ownFundsMovements } from './movement.ts'
import { escrowPaise, ownFundsPaise } from './shares.ts'

export interface TakeBackOwnFunds {
  /** The movement that stands under it; where none does, the latest that was taken back. */
  readonly reference: string
  readonly reason: string
}

/** What is read for operators, who see every tenant. */
interface Found {
  readonly movementId: string | undefined
  /** How many movements it reckons with. */
  readonly after: bigint
  /** Its journals, that of the whole first. */
  readonly entered: readonly JournalWithLegs[]
  /** Whether a tenant that has a share lives in another cell. */
  readonly isAway: boolean
  /** What our account and the escrow of merchants have. */
  readonly ownFundsPaise: bigint
  readonly escrowPaise: bigint
}

interface Prepared extends TakeBackOwnFunds, Found, PreparedCommand {
  readonly newTransferId: () => string
  readonly timeZone: string
}

interface Stored extends OwnFundsMovement {
  /** What of its shares is in the books of tenants that live in another cell. */
  readonly movedPaise: bigint
  /** A line of a bank statement that shows it. */
  readonly lineId: string | null
}

interface State {
  readonly stored: Stored | undefined
  readonly count: bigint
}

export interface TakenBackOwnFunds {
  readonly movement: OwnFundsMovement
  /** None where it was taken back before. */
  readonly journals: readonly Journal[]
  readonly command: Prepared
}

const STORED = statement<Stored>(
  'own_funds_to_take_back',
  `select ${ownFundsMovements.columns}, m.moved_paise as "movedPaise", line_of_batch(m.movement_id) as "lineId"
   from own_funds_movements m where m.tenant_id = '${PLATFORM_TENANT}' and m.reference = $1
   order by m.reversed_by is not null, m.created_at desc limit 1`,
)
const JOURNALS = statement<{ tenantId: string; journalId: string; isAway: boolean }>(
  'own_funds_journals',
  `select t.tenant_id as "tenantId", t.journal_id as "journalId", exists (
     select from tenant_moves m where m.tenant_id = t.tenant_id and m.state = 'moved') as "isAway"
   from ledger_transfers t where t.object_id = $1 and t.leg = 1`,
)

const storedOf = async (tx: Pick<Tx, 'query'>, reference: string): Promise<Stored | undefined> =>
  (await tx.query(STORED, [reference]))[0]

const find = (database: Database, reference: string): Promise<Found> =>
  database.operate(async (tx) => {
    const after = await countOf(tx)
    const stored = await storedOf(tx, reference)
    const keys = stored?.reversedBy === null ? await tx.query(JOURNALS, [stored.movementId]) : []
    const found = keys.length === 0 ? [] : await findJournals(tx, keys)
    const isWhole = ({ journal }: JournalWithLegs) => journal.journalId === stored?.journalId
    return {
      movementId: stored?.movementId,
      after,
      entered: [...found.filter(isWhole), ...found.filter((each) => !isWhole(each))],
      isAway: keys.some(({ isAway }) => isAway),
      ownFundsPaise: await ownFundsPaise(tx),
      escrowPaise: await escrowPaise(tx),
    }
  })

/**
 * Takes a movement of our own money back that was entered by mistake (decision R26), as long as no bank statement shows it:
 * each of its journals by a mirrored one, effective today, so that its reference can be entered again. A repeat returns
 * the first.
 */
export const takeBackOwnFunds = moneyCommand({
  name: 'takeBackOwnFunds',
  batchMax: 1,

  approval: {
    kinds: ['own_funds_taken_back'],
    args: storedArgs(Type.Object({ reference: Type.String(), reason: Type.String() })),
    moves: ({ journals: [journal], movement, command: { reason } }: TakenBackOwnFunds) =>
      journal && {
        kind: 'own_funds_taken_back',
        amountPaise: movedBy(journal),
        // The journal that it reverses, as the database compares it.
        reference: movement.journalId,
        facts: {
          kind: movement.kind,
          reference: movement.reference,
          date: movement.movedOn,
          ownFunds: formatRupees(movement.ownFundsPaise),
          escrow: formatRupees(movement.escrowPaise),
        },
        reason,
        journalId: journal.journalId,
      },
    failures: [
      'validation_failed',
      'own_funds_not_found',
      'own_funds_moved',
      'own_funds_confirmed',
      'own_funds_elsewhere',
      'own_funds_spent',
    ],
  },

  prepare:
    ({ config, database, newId }) =>
    async (args: TakeBackOwnFunds): Promise<Prepared> => {
      const reference = enteredReference(args.reference)
      const found = await find(database, reference)
      return {
        ...args,
        ...found,
        reference,
        tenantId: PLATFORM_TENANT,
        otherTenantId: [
          ...new Set(
            found.entered.map(({ journal }) => journal.tenantId).filter((id) => id !== PLATFORM_TENANT),
          ),
        ],
        newTransferId: () => newId('trf'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx: BatchTx, [command]: readonly Prepared[]): Promise<ByTenant<State>> {
    const { entered, reference } = command!
    // In this order: no statement is matched meanwhile, which would show it, and nothing else is moved.
    const [, , , stored, count] = await Promise.all([
      matchAlone(tx),
      moveAlone(tx),
      lockAccounts(
        tx,
        entered.flatMap(({ legs }) => legs.flatMap(accountsOf)),
      ),
      storedOf(tx, reference),
      countOf(tx),
    ])
    return new ByTenant((): State => ({ stored, count }))
  },

  decide,

  // The database marks the movement with the journal of the whole.
  save(tx, [decided]) {
    const { command, journals } = decided!
    saveJournals(tx, command.timeZone, journals)
  },
})

function decide({ stored, count }: State, command: Prepared, at: Date): TakenBackOwnFunds {
  const { movedPaise, lineId, ...movement } = stored ?? fail('own_funds_not_found')
  if (movement.reversedBy !== null) return { movement, journals: [], command }
  if (count !== command.after || movement.movementId !== command.movementId) fail('own_funds_moved')
  if (movedPaise !== 0n || command.isAway) fail('own_funds_elsewhere')
  if (lineId !== null)
    fail('own_funds_confirmed', {
      description: `The line ${lineId} of a bank statement shows ${movement.reference}: take its match back first`,
      command: `svc admin statement unmatch ${lineId}`,
    })
  requireThere('Our account', command.ownFundsPaise, movement.ownFundsPaise)
  requireThere('The escrow account of merchants', command.escrowPaise, movement.escrowPaise)
  const journals = command.entered.map((each) =>
    mirrorOf(each, {
      kind: each.journal.journalId === movement.journalId ? 'own_funds_taken_back' : each.journal.kind,
      transferIds: each.legs.map(command.newTransferId),
      reason: command.reason,
      at,
    }),
  )
  return { movement: { ...movement, reversedBy: journals[0]!.journalId }, journals, command }
}

/** What the movement brought to our account or the escrow is taken out of it. */
function requireThere(account: string, there: bigint, brought: bigint): void {
  if (brought > there && brought > 0n)
    fail('own_funds_spent', {
      description: `${account} has ${formatRupees(there)}, and this takes ${formatRupees(brought)} out of it`,
    })
}
