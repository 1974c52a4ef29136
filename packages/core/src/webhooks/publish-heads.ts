import type { Keyring } from '@svc/platform/crypto/keyring'
import { rootOf, tilesOf, wholeTree } from '@svc/platform/crypto/merkle'
import { readSignedNote } from '@svc/platform/crypto/signed'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { checkpointOf, originOf } from './feed-head.ts'
import { readTiles } from './feed-tiles.ts'

interface Tree {
  readonly tenantId: string
  readonly size: number
}

const TENANTS_A_PAGE = 200
const TREES = statement<Tree & { readonly now: Date }>(
  'feed_trees_page',
  `select tenant_id as "tenantId", proven_sequence::double precision as size, clock_timestamp() as now
   from event_counters where tenant_id > $1 and proven_sequence > 0 order by tenant_id limit ${TENANTS_A_PAGE}`,
)
const SIZES = statement<Tree>(
  'feed_trees_of',
  `select tenant_id as "tenantId", proven_sequence::double precision as size from event_counters
   where tenant_id = any ($1)`,
)

async function rootsOf(tx: Tx, trees: readonly Tree[]): Promise<Buffer[]> {
  const wanted = trees.flatMap(({ size, tenantId }) =>
    tilesOf([wholeTree(size)]).map((key) => ({ tenantId, ...key })),
  )
  const tiles = await readTiles(tx, wanted)
  return trees.map(({ size, tenantId }) => rootOf(wholeTree(size), tiles.get(tenantId) ?? new Map()))
}

/** The signed heads of all tenants' trees, without balances: what may be published (decision E7). */
export async function* publishedHeads(database: Database, keyring: Keyring): AsyncGenerator<string> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const last: string = after
    const page = await database.operate(async (tx) => {
      const trees = await tx.query(TREES, [last])
      const roots = await rootsOf(tx, trees)
      return trees.map(({ now, ...tree }, i) => ({ ...tree, at: now, root: roots[i]!, balances: [] }))
    })
    for (const head of page) yield checkpointOf(head, keyring)
    after = page.at(-1)?.tenantId
  }
}

export interface ComparedHeads {
  readonly heads: number
  /** What is wrong, in words; none where every tree contains what was published. */
  readonly problems: readonly string[]
}

/** The notes of a file, which follow each other: each ends with its line of signature. */
export const notesOf = (text: string): string[] =>
  text.split(/(?<=\n— \S+ \S+\n)\n*/).filter((note) => note.trim() !== '')

/** Whether the trees of today have grown out of those that were published: a feed that forked, or was cut, has not. */
export async function compareHeads(
  database: Database,
  keyring: Keyring,
  notes: readonly string[],
): Promise<ComparedHeads> {
  const problems: string[] = []
  const published: (Tree & { readonly root: string })[] = []
  for (const [i, note] of notes.entries()) {
    const [origin = '', size = '', root = ''] = readSignedNote(keyring, note)?.split('\n') ?? []
    const tenantId = origin.slice(originOf('').length)
    if (tenantId === '')
      problems.push(`head ${i + 1} of the file is not signed by a key of this installation`)
    else published.push({ tenantId, size: Number(size), root })
  }
  for (let start = 0; start < published.length; start += TENANTS_A_PAGE) {
    const page = published.slice(start, start + TENANTS_A_PAGE)
    problems.push(...(await database.operate((tx) => forksOf(tx, page))))
  }
  return { heads: notes.length, problems }
}

async function forksOf(tx: Tx, published: readonly (Tree & { readonly root: string })[]): Promise<string[]> {
  const trees = await tx.query(SIZES, [published.map(({ tenantId }) => tenantId)])
  const sizes = new Map(trees.map(({ size, tenantId }) => [tenantId, size]))
  const isLonger = ({ size, tenantId }: Tree) => size > (sizes.get(tenantId) ?? 0)
  const contained = published.filter((head) => !isLonger(head))
  // Their tiles one tenant may need for several sizes, so each head by itself.
  const roots: Buffer[] = []
  for (const head of contained) roots.push(...(await rootsOf(tx, [head])))
  return [
    ...published
      .filter(isLonger)
      .map(
        ({ size, tenantId }) =>
          `${size} events of ${tenantId} were published, and its tree has ${sizes.get(tenantId) ?? 0}`,
      ),
    ...contained.flatMap(({ root, size, tenantId }, i) =>
      roots[i]!.toString('base64') === root
        ? []
        : [`${tenantId}: the first ${size} events are others than those that were published: a fork`],
    ),
  ]
}
