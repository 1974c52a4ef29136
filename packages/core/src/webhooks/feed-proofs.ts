import { fail } from '@svc/contract/errors'
import {
  consistencyRanges,
  HASH_BYTES,
  inclusionRanges,
  leafRange,
  wholeTree,
} from '@svc/platform/crypto/merkle'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { EVENTS_WITH_NUMBERS } from '@svc/platform/outbox'
import { readFeedSize } from './feed-head.ts'
import { readRoots } from './feed-tiles.ts'

/** What a leaf hides of a person: without the salt it was erased. */
export interface PersonalDigest {
  readonly fields: readonly string[]
  readonly digest: Buffer
  readonly salt: Buffer | null
}

export interface FeedLeaf {
  readonly sequence: number
  readonly hash: Buffer
  readonly personal: PersonalDigest | undefined
}

const HASHES = statement<{ tile: number; hashes: Buffer }>(
  'feed_leaf_hashes',
  `select tile::double precision as tile, hashes from feed_tiles
   where tenant_id = $1 and level = 0 and tile between $2 and $3 order by tile`,
)
const PERSONAL = statement<PersonalDigest & { readonly sequence: bigint }>(
  'feed_commitments',
  `select sequence, fields, digest, salt from feed_commitments
   where tenant_id = $1 and sequence > $2 and sequence <= $3`,
)
const NUMBER = statement<{ sequence: bigint }>(
  'feed_number_of_event',
  `select n.sequence from ${EVENTS_WITH_NUMBERS} where o.tenant_id = $1 and o.event_id = $2`,
)
const LEAVES_A_TILE = 32

/** A size that a caller names; by default that of the tree. Throws `events_ahead`. */
function requireSize(wanted: number | undefined, size: number): number {
  if (wanted !== undefined && wanted > size)
    fail('events_ahead', {
      description: `The tree has ${size} events so far; a number is proven about a second after the feed shows it`,
    })
  return wanted ?? size
}

/** The leaves of a tree after a number, with what each hides. */
export async function readLeaves(
  tx: Tx,
  tenantId: string,
  after: number,
  limit: number,
): Promise<{ readonly leaves: FeedLeaf[]; readonly size: number; readonly keptAfter: number }> {
  const { size, forgotten: keptAfter } = await readFeedSize(tx, tenantId)
  requireSize(after, size)
  const last = Math.min(size, after + limit)
  if (last === after) return { leaves: [], size, keptAfter }
  const [first, end] = [Math.floor(after / LEAVES_A_TILE), Math.floor((last - 1) / LEAVES_A_TILE)]
  const [tiles, personal] = await Promise.all([
    tx.query(HASHES, [tenantId, first, end]),
    tx.query(PERSONAL, [tenantId, after, last]),
  ])
  const bySequence = new Map(personal.map((row) => [Number(row.sequence), row]))
  const hashes = Buffer.concat(tiles.map((tile) => tile.hashes))
  const leaves = Array.from({ length: last - after }, (_, i): FeedLeaf => {
    const start = (after - first * LEAVES_A_TILE + i) * HASH_BYTES
    const sequence = after + i + 1
    return {
      sequence,
      hash: hashes.subarray(start, start + HASH_BYTES),
      personal: bySequence.get(sequence),
    }
  })
  return { leaves, size, keptAfter }
}

/** That an event is in the tree of a size. Throws `event_not_found` and `events_ahead`. */
export async function proveInclusion(
  tx: Tx,
  tenantId: string,
  eventId: string,
  wanted: number | undefined,
): Promise<{
  readonly leaf: FeedLeaf
  readonly size: number
  readonly root: Buffer
  readonly hashes: Buffer[]
}> {
  const [[number], feed] = await Promise.all([
    tx.query(NUMBER, [tenantId, eventId]),
    readFeedSize(tx, tenantId),
  ])
  if (!number) return fail('event_not_found')
  const sequence = Number(number.sequence)
  const size = requireSize(wanted, feed.size)
  requireSize(sequence, size)
  const [personal, [hash, root, ...hashes]] = await Promise.all([
    tx.query(PERSONAL, [tenantId, sequence - 1, sequence]),
    readRoots(tx, tenantId, [
      leafRange(sequence - 1),
      wholeTree(size),
      ...inclusionRanges(sequence - 1, size),
    ]),
  ])
  return { leaf: { sequence, hash: hash!, personal: personal[0] }, size, root: root!, hashes }
}

/** That the tree of one size has grown out of that of a smaller one. Throws `events_ahead`. */
export async function proveConsistency(
  tx: Tx,
  tenantId: string,
  from: number,
  wanted: number | undefined,
): Promise<{ readonly from: number; readonly to: number; readonly hashes: Buffer[] }> {
  const to = requireSize(wanted, (await readFeedSize(tx, tenantId)).size)
  requireSize(from, to)
  return { from, to, hashes: await readRoots(tx, tenantId, consistencyRanges(from, to)) }
}
