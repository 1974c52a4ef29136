import { createHash } from 'node:crypto'
import type { Tx } from './db/database.ts'
import { statement } from './db/statement.ts'

interface Row {
  sequence: bigint
  content: string
  previous_hash: Buffer
  hash: Buffer
}

const PAGE_ROWS = 5_000
const PAGE = statement<Row>(
  'audit_page',
  `select sequence, content, previous_hash, hash from audit_log where sequence > $1 order by sequence limit ${PAGE_ROWS}`,
)
const FIRST_HASH = Buffer.alloc(32)

/** The end of the chain at some time: written down elsewhere, it shows whether the end was cut off later. */
export interface Anchor {
  readonly sequence: number
  /** SHA-256 in hex. */
  readonly hash: string
}

export const anchorText = ({ sequence, hash }: Anchor): string => `${sequence}:${hash}`

/** `undefined` for a text that is no anchor. */
export function parseAnchor(text: string): Anchor | undefined {
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? []
  return sequence && hash ? { sequence: Number(sequence), hash } : undefined
}

/** What is wrong with an entry, or where the chain is whole how far it goes. */
export type Verdict =
  | { readonly whole: true; readonly head: Anchor; readonly anchors: number }
  | { readonly whole: false; readonly sequence: number; readonly problem: string }

/**
 * Walks the whole chain (decision O3), entry by entry, and stops at the first that does not fit: changed, missing, moved,
 * or not what an anchor says it was. Pages are short statements, so that a long chain blocks no other transaction.
 */
export async function verifyChain(
  read: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  anchors: readonly Anchor[] = [],
): Promise<Verdict> {
  const expected = new Map(anchors.map((anchor) => [anchor.sequence, anchor]))
  let head: Anchor = { sequence: 0, hash: FIRST_HASH.toString('hex') }
  for (;;) {
    const from = head.sequence
    const rows = await read((tx) => tx.query(PAGE, [from]))
    for (const row of rows) {
      const sequence = head.sequence + 1
      const problem = problemOf(row, head)
      if (problem) return { whole: false, sequence, problem }
      head = { sequence, hash: row.hash.toString('hex') }
      const anchor = expected.get(sequence)
      if (anchor && anchor.hash !== head.hash)
        return { whole: false, sequence, problem: 'is not the entry that the anchor was taken of' }
    }
    if (rows.length < PAGE_ROWS) break
  }
  const missing = anchors.find(({ sequence }) => sequence > head.sequence)
  if (missing)
    return {
      whole: false,
      sequence: head.sequence + 1,
      problem: `is missing: an anchor says that there were ${missing.sequence} entries`,
    }
  return { whole: true, head, anchors: anchors.length }
}

function problemOf({ sequence, content, previous_hash, hash }: Row, head: Anchor): string | undefined {
  if (Number(sequence) !== head.sequence + 1) return `is missing; the next is ${sequence}`
  if (previous_hash.toString('hex') !== head.hash) return 'does not follow from the entry before'
  const own = createHash('sha256').update(previous_hash).update(content, 'utf8').digest()
  if (!own.equals(hash)) return 'was changed: its hash does not fit'
  if (!saysItsNumber(content, sequence)) return 'was moved: it says that it is another number'
  return undefined
}

function saysItsNumber(content: string, sequence: bigint): boolean {
  try {
    return (JSON.parse(content) as { sequence?: number }).sequence === Number(sequence)
  } catch {
    return false
  }
}
