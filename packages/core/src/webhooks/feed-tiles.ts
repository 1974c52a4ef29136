import { rootOf, type TileKey, type Tiles, tileName, tilesOf, wholeTree } from '@svc/platform/crypto/merkle'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'

interface TileRow extends TileKey {
  readonly tenantId: string
  readonly hashes: Buffer
}

interface TenantTile extends TileKey {
  readonly tenantId: string
}

const READ = statement<TileRow>(
  'feed_tiles_read',
  `select t.tenant_id as "tenantId", t.level, t.tile::double precision as tile, t.hashes
   from unnest($1::text[], $2::smallint[], $3::bigint[]) as k (tenant_id, level, tile)
     join feed_tiles t on t.tenant_id = k.tenant_id and t.level = k.level and t.tile = k.tile`,
)

/** Tiles of trees, by tenant. */
export async function readTiles(tx: Tx, wanted: readonly TenantTile[]): Promise<Map<string, Tiles>> {
  const tiles = new Map<string, Map<string, Buffer>>(wanted.map(({ tenantId }) => [tenantId, new Map()]))
  if (wanted.length === 0) return tiles
  const keys = columns(
    wanted,
    ({ tenantId }) => tenantId,
    ({ level }) => level,
    ({ tile }) => tile,
  )
  for (const { tenantId, hashes, ...key } of await tx.query(READ, keys))
    tiles.get(tenantId)!.set(tileName(key), hashes)
  return tiles
}

/** The roots of ranges of a tenant's tree, in one query. */
export async function readRoots(
  tx: Tx,
  tenantId: string,
  ranges: Parameters<typeof tilesOf>[0],
): Promise<Buffer[]> {
  const wanted = tilesOf(ranges).map((key) => ({ tenantId, ...key }))
  const tiles = (await readTiles(tx, wanted)).get(tenantId) ?? new Map<string, Buffer>()
  return ranges.map((range) => rootOf(range, tiles))
}

export const readRoot = async (tx: Tx, tenantId: string, size: number): Promise<Buffer> =>
  (await readRoots(tx, tenantId, [wholeTree(size)]))[0]!
