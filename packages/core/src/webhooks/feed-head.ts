import { formatRupees } from '@svc/kernel/money'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { signedNote } from '@svc/platform/crypto/signed'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type AccountKind, OPEN_MONEY, type Unit } from '../ledger/chart-of-accounts.ts'
import { readRoot } from './feed-tiles.ts'

interface FeedBalance {
  readonly kind: AccountKind
  readonly unit: Unit
  readonly balance: bigint
  /** What the entries of the ledger add up to: the balance, unless one of them was changed by other hands. */
  readonly booked: bigint
  readonly entries: bigint
}

/** What a tree is at an instant, and what is on the tenant's accounts then. */
export interface FeedHead {
  readonly tenantId: string
  readonly size: number
  readonly root: Buffer
  readonly at: Date
  readonly balances: readonly FeedBalance[]
}

/** Kinds of accounts on which the tenant, its holders or its payers have something. */
const KINDS: readonly AccountKind[] = [...OPEN_MONEY, 'coins', 'coins_pending']

const SIZE = statement<{ size: number; forgotten: number; now: Date }>(
  'feed_size',
  `select coalesce(max(proven_sequence), 0)::double precision as size,
     coalesce(max(forgotten_sequence), 0)::double precision as forgotten, clock_timestamp() as now
   from event_counters where tenant_id = $1`,
)
const BALANCES = statement<FeedBalance>('feed_balances', 'select * from feed_balances($1, $2)')

/** How many leaves a tenant's tree has, and how many of the first events are no longer kept. */
export const readFeedSize = async (tx: Tx, tenantId: string) => (await tx.query(SIZE, [tenantId]))[0]!

/** In a transaction that may write: it keeps sums of old entries. */
export async function readFeedHead(tx: Tx, tenantId: string): Promise<FeedHead> {
  const { size, now } = await readFeedSize(tx, tenantId)
  const [root, balances] = await Promise.all([
    readRoot(tx, tenantId, size),
    tx.query(BALANCES, [tenantId, KINDS]),
  ])
  return { tenantId, size, root, at: now, balances }
}

/** Names the log: the tenant alone, so that a restore or a move changes nothing. */
export const originOf = (tenantId: string): string => `svc/${tenantId}`

const amountText = (unit: Unit, amount: bigint): string =>
  unit === 'INR' ? formatRupees(amount) : String(amount)

/** Amounts as text, as they are signed. */
export const balanceToWire = ({ balance, booked, entries, kind, unit }: FeedBalance) => ({
  account: kind,
  unit,
  balance: amountText(unit, balance),
  booked: amountText(unit, booked),
  entries: Number(entries),
})

/** A C2SP checkpoint, whose extension lines are the time and, where the head has them, the balances; signed. */
export function checkpointOf({ at, balances, root, size, tenantId }: FeedHead, keyring: Keyring): string {
  const money = balances
    .map(balanceToWire)
    .map((of) => `balance ${of.account} ${of.unit} ${of.balance} booked ${of.booked} entries ${of.entries}`)
  const lines = [
    originOf(tenantId),
    String(size),
    root.toString('base64'),
    `time ${at.toISOString()}`,
    ...money,
  ]
  return signedNote(keyring, originOf(tenantId), `${lines.join('\n')}\n`)
}
