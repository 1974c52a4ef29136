import type { EventType } from '@svc/contract/events'
import { groupBy } from '@svc/kernel/group-by'
import { type Addition, additionsOf, openTiles } from '@svc/platform/crypto/merkle'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { type Commitment, FORGOTTEN_LEAF, type Leaf, leafOf, SALT_BYTES } from './feed-leaf.ts'
import { readTiles } from './feed-tiles.ts'

interface Unproven {
  readonly tenantId: string
  /** How many leaves the tree has. */
  readonly size: number
  readonly sequence: bigint
  /** Absent with what follows where the event was forgotten. */
  readonly eventId: string | null
  readonly type: EventType
  readonly createdAt: Date
  readonly payload: Readonly<Record<string, unknown>>
}

const EVENTS_A_CALL = 2_000
/** Each tree grows at most so often, so that its open tiles are written for many events at a time. */
const EVERY_MS = 1_000

const UNPROVEN = statement<Unproven>(
  'feed_unproven',
  `select tenant_id as "tenantId", size::double precision as size, sequence, event_id as "eventId", type,
     created_at as "createdAt", payload
   from unproven_events($1, $2)`,
)
const ON_BEHALF = statement('feed_tenants', `select set_config('svc.tenants', $1, true)`)
const EXTEND = statement(
  'feed_trees_extend',
  'select extend_feed_trees($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)',
)

/** What a batch adds to a tree. */
interface Growth {
  readonly tenantId: string
  readonly size: number
  readonly grownSize: number
  readonly additions: readonly Addition[]
  readonly commitments: readonly (Commitment & { readonly sequence: bigint; readonly eventId: string })[]
}

/**
 * Adds numbered events to the trees of their tenants (decision E7), beside the requests and behind the numbers. Every
 * process with jobs runs one; the database lets one at a time, and moves a tree with its tiles in one transaction.
 */
export function growTreesLoop(services: CoreServices): Loop {
  let last = ''
  const work = async () => {
    const grown = await growSomeTrees(services, last)
    // Tenants take turns: one that never rests keeps no other waiting.
    last = grown.last
    return grown.events === EVENTS_A_CALL
  }
  return new Loop({ name: 'grow_feed_trees', everyMs: EVERY_MS, work, atStart: true }, services)
}

/** Adds some events to the trees of the tenants after one. Returns how many they were, and the last tenant of them. */
export async function growSomeTrees(
  { database, random }: Pick<CoreServices, 'database' | 'random'>,
  after: string,
): Promise<{ readonly events: number; readonly last: string }> {
  const events = await database.write(
    [],
    async (tx) => {
      const found = await tx.query(UNPROVEN, [after, EVENTS_A_CALL])
      if (found.length > 0) await growTrees(tx, found, () => random(SALT_BYTES))
      return found
    },
    'silence',
  )
  return { events: events.length, last: events.at(-1)?.tenantId ?? '' }
}

async function growTrees(tx: Tx, events: readonly Unproven[], newSalt: () => Uint8Array): Promise<void> {
  const byTenant = [...groupBy(events, ({ tenantId }) => tenantId)]
  await tx.query(ON_BEHALF, [byTenant.map(([tenantId]) => tenantId).join(',')])
  const open = await readTiles(
    tx,
    byTenant.flatMap(([tenantId, [first]]) => openTiles(first!.size).map((key) => ({ tenantId, ...key }))),
  )
  const growths = byTenant.map(([tenantId, added]): Growth => {
    const { size } = added[0]!
    const leaves = added.map((event) => ({ event, leaf: leafOfRow(event, newSalt) }))
    return {
      tenantId,
      size,
      grownSize: size + added.length,
      additions: additionsOf(
        size,
        open.get(tenantId) ?? new Map<string, Buffer>(),
        leaves.map(({ leaf }) => leaf.hash),
      ),
      commitments: leaves.flatMap(({ event: { eventId, sequence }, leaf: { commitment } }) =>
        commitment && eventId !== null ? [{ ...commitment, eventId, sequence }] : [],
      ),
    }
  })
  await tx.query(EXTEND, parametersOf(growths))
}

const leafOfRow = ({ eventId, ...event }: Unproven, newSalt: () => Uint8Array): Leaf =>
  eventId === null ? FORGOTTEN_LEAF : leafOf({ ...event, eventId }, newSalt)

function parametersOf(growths: readonly Growth[]): unknown[] {
  const additions = growths.flatMap(({ additions, tenantId }) =>
    additions.map((one) => ({ ...one, tenantId })),
  )
  const commitments = growths.flatMap(({ commitments, tenantId }) =>
    commitments.map((one) => ({ ...one, tenantId })),
  )
  return [
    ...columns(
      growths,
      ({ tenantId }) => tenantId,
      ({ size }) => size,
      ({ grownSize }) => grownSize,
    ),
    ...columns(
      additions,
      ({ tenantId }) => tenantId,
      ({ level }) => level,
      ({ tile }) => tile,
      ({ offset }) => offset,
      ({ hashes }) => hashes,
    ),
    ...columns(
      commitments,
      ({ tenantId }) => tenantId,
      ({ sequence }) => sequence,
      ({ eventId }) => eventId,
      ({ fields }) => fields.join(','),
      ({ salt }) => salt,
      ({ digest }) => digest,
    ),
  ]
}
