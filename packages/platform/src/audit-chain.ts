import { createHash } from 'node:crypto'
import type { Tx } from './db/database.ts'
import { statement } from './db/statement.ts'

interface Row {
  sequence: bigint
  chain: string
  number: bigint
  content: string
  previous_hash: Buffer
  hash: Buffer
}

const PAGE_ROWS = 5_000
const PAGE = statement<Row>(
  'audit_page',
  `select sequence, chain, number, content, previous_hash, hash from audit_log
   where (chain, number) > ($1, $2) order by chain, number limit ${PAGE_ROWS}`,
)
const FIRST_HASH = '0'.repeat(64)
/** What concerns no tenant; it comes first in the order of chains. */
const INSTALLATION = ''

/** The end of a chain at some time: written down elsewhere, it shows whether the end was cut off later. */
export interface Anchor {
  /** Of the entry in its chain. */
  readonly number: number
  /** SHA-256 in hex. */
  readonly hash: string
}

export const anchorText = ({ number, hash }: Anchor): string => `${number}:${hash}`

/** `undefined` for a text that is no anchor. */
export function parseAnchor(text: string): Anchor | undefined {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? []
  return number && hash ? { number: Number(number), hash } : undefined
}

/** What is wrong with which entry, or where all chains are whole how much there is. */
export type Verdict =
  | {
      readonly whole: true
      readonly entries: number
      readonly chains: number
      /** The end of the installation's chain. */
      readonly head: Anchor
    }
  | {
      readonly whole: false
      /** The tenant whose chain it is; absent for the installation's. */
      readonly tenantId?: string
      readonly number: number
      /** How many entries fit before it was found. */
      readonly entries: number
      readonly problem: string
    }

/**
 * Walks all chains (decision O3), the installation's first, entry by entry, and stops at the first that does not fit:
 * changed, missing, moved, or not what an anchor says it was. The installation's chain holds anchors of the tenants'; of
 * its own, `anchors` were written down elsewhere. Pages are short statements, so that it blocks no other transaction.
 */
export async function verifyChains(
  read: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  anchors: readonly Anchor[] = [],
): Promise<Verdict> {
  const walk = new Walk(anchors)
  for (;;) {
    const { chain, number } = walk.place
    const rows = await read((tx) => tx.query(PAGE, [chain, number]))
    for (const row of rows) {
      const broken = walk.step(row)
      if (broken) return broken
    }
    if (rows.length < PAGE_ROWS) return walk.end()
  }
}

class Walk {
  /** The anchors of each chain that were not met yet. */
  readonly #expected = new Map<string, Map<number, string>>()
  #chain = INSTALLATION
  #head: Anchor = { number: 0, hash: FIRST_HASH }
  #installation: Anchor = this.#head
  #entries = 0
  #chains = 0

  constructor(anchors: readonly Anchor[]) {
    for (const anchor of anchors) this.#expect(INSTALLATION, anchor)
  }

  /** After which entry the walk goes on. */
  get place() {
    return { chain: this.#chain, number: this.#head.number }
  }

  /** Takes the next entry; returns what is wrong with it, or with the chain that ended before it. */
  step(row: Row): Verdict | undefined {
    if (row.chain !== this.#chain) {
      const cut = this.#endOfChain()
      if (cut) return cut
      this.#chain = row.chain
      this.#head = { number: 0, hash: FIRST_HASH }
    }
    const problem = problemOf(row, this.#head)
    if (problem) return this.#brokenAt(this.#head.number + 1, problem)
    this.#head = { number: Number(row.number), hash: row.hash.toString('hex') }
    this.#entries++
    if (this.#head.number === 1) this.#chains++
    if (this.#chain === INSTALLATION) {
      this.#installation = this.#head
      for (const [chain, anchor] of anchorsIn(row.content)) this.#expectOnly(chain, anchor)
    }
    const expected = this.#expected.get(this.#chain)
    const anchored = expected?.get(this.#head.number)
    expected?.delete(this.#head.number)
    return anchored === undefined || anchored === this.#head.hash
      ? undefined
      : this.#brokenAt(this.#head.number, 'is not the entry that the anchor was taken of')
  }

  end(): Verdict {
    const cut = this.#endOfChain()
    if (cut) return cut
    const [[chain, numbers] = []] = this.#expected
    if (chain !== undefined && numbers) {
      this.#chain = chain
      this.#head = { number: 0, hash: FIRST_HASH }
      return this.#missing(numbers)
    }
    return { whole: true, entries: this.#entries, chains: this.#chains, head: this.#installation }
  }

  /** Of a tenant the last anchor counts: nothing before it can be changed without changing its hash. */
  #expectOnly(chain: string, anchor: Anchor): void {
    this.#expected.set(chain, new Map([[anchor.number, anchor.hash]]))
  }

  #expect(chain: string, { number, hash }: Anchor): void {
    this.#expected.set(chain, (this.#expected.get(chain) ?? new Map<number, string>()).set(number, hash))
  }

  #endOfChain(): Verdict | undefined {
    const left = this.#expected.get(this.#chain)
    this.#expected.delete(this.#chain)
    return left && left.size > 0 ? this.#missing(left) : undefined
  }

  #missing(anchors: ReadonlyMap<number, string>): Verdict {
    const number = Math.max(...anchors.keys())
    return this.#brokenAt(
      this.#head.number + 1,
      `is missing: an anchor says that there were ${number} entries`,
    )
  }

  #brokenAt(number: number, problem: string): Verdict {
    const tenant = this.#chain === INSTALLATION ? {} : { tenantId: this.#chain }
    return { whole: false, ...tenant, number, entries: this.#entries, problem }
  }
}

function problemOf(row: Row, head: Anchor): string | undefined {
  const { sequence, number, content, previous_hash, hash } = row
  if (Number(number) !== head.number + 1) return `is missing; the next is ${number}`
  if (previous_hash.toString('hex') !== head.hash) return 'does not follow from the entry before'
  const own = createHash('sha256').update(previous_hash).update(content, 'utf8').digest()
  if (!own.equals(hash)) return 'was changed: its hash does not fit'
  if (contentOf(content).sequence !== Number(sequence)) return 'was moved: it says that it is another number'
  return undefined
}

interface Content {
  readonly sequence?: number
  readonly action?: string
  readonly details?: { readonly heads?: Readonly<Record<string, string>> }
}

function contentOf(content: string): Content {
  try {
    return JSON.parse(content) as Content
  } catch {
    return {}
  }
}

/** The anchors of tenants' chains that an entry of the installation's holds. */
function anchorsIn(content: string): [tenantId: string, anchor: Anchor][] {
  const { action, details } = contentOf(content)
  if (action !== 'audit.anchored') return []
  return Object.entries(details?.heads ?? {}).flatMap(([chain, text]) => {
    const anchor = parseAnchor(text)
    return anchor ? [[chain, anchor]] : []
  })
}
