import type { Keyring } from '@svc/platform/crypto/keyring'
import { readSigned, signed } from '@svc/platform/crypto/signed'
import type { Queries } from '@svc/platform/db/client-tx'
import { statement } from '@svc/platform/db/statement'
import { knownTo, listClosings, statedBy } from './closing.ts'
import { type ClosingStatement, effectiveAsKnown, enteredUntil } from './closing-statement.ts'

const TYPE = 'svc-moved-books'

/** What the entries of one tenant were in a closed period of the cell that it left. */
export type ClosedOfTenant = Pick<
  ClosingStatement,
  'through' | 'until' | 'knownUntil' | 'entered' | 'entries' | 'effective'
>

/** What a tenant took along to another cell. */
export interface MovedBooks {
  readonly tenantId: string
  readonly from: string
  readonly to: string
  /** When it was signed; so no two are equal. */
  readonly at: string
  /** The periods that `from` had closed, oldest first. */
  readonly closings: readonly ClosedOfTenant[]
  /** The last day that `to` had closed, `null` before the first. */
  readonly toThrough: string | null
}

/**
 * Signs what a tenant takes along. As late as the tenant is on its way in both cells: from then on neither closes a
 * period, so nothing that is read here changes any more.
 */
export async function signMovedBooks(
  tx: Queries,
  keyring: Keyring,
  { tenantId, from, to, toThrough }: Omit<MovedBooks, 'closings' | 'at'>,
): Promise<string> {
  const closings: ClosedOfTenant[] = []
  for (const closing of (await listClosings(tx)).toReversed()) {
    const { through, until } = closing
    const stated = statedBy(keyring, closing)
    const known = stated ? knownTo(stated) : until
    closings.push({
      through,
      until: until.toISOString(),
      knownUntil: known.toISOString(),
      ...(await enteredUntil(tx, until, [tenantId])),
      effective: await effectiveAsKnown(tx, through, known, [tenantId]),
    })
  }
  const at = new Date().toISOString()
  const taken: MovedBooks = { tenantId, from, to, at, closings, toThrough }
  return signed(keyring, TYPE, taken)
}

const MOVES = statement<{ tenantId: string; signed: string }>(
  'moved_books',
  'select tenant_id as "tenantId", signed from moved_books order by tenant_id, moved_at',
)
const AWAY = statement<{ tenantId: string; state: 'arriving' | 'moved' }>(
  'moved_books_away',
  `select tenant_id as "tenantId", state from tenant_moves where state in ('arriving', 'moved')`,
)
const CELL = statement<{ cell: string | null }>('moved_books_cell', 'select cell from installation')

/** How the tenants that moved belong to a closing of this cell. */
export interface OfClosing {
  /** Were in it and have left: their entries count with what is in the books. */
  readonly taken: readonly ClosedOfTenant[]
  /** Are here now and were not in it: their entries in the books do not count. */
  readonly absent: readonly string[]
  /** Of those, what was signed of this period where they came from. */
  readonly brought: readonly (ClosedOfTenant & Pick<MovedBooks, 'tenantId' | 'from'>)[]
}

/** Which tenants came to this cell and left it, with what was signed of them. */
export class Moves {
  readonly #cell: string | null
  readonly #arriving: ReadonlySet<string>
  /** By tenant, oldest first. */
  readonly #moves: ReadonlyMap<string, readonly MovedBooks[]>
  /** A tenant of which a statement was not signed by this installation, or says that it left although it is here. */
  readonly forged: string | undefined

  private constructor(
    cell: string | null,
    arriving: ReadonlySet<string>,
    moves: ReadonlyMap<string, readonly MovedBooks[]>,
    forged: string | undefined,
  ) {
    this.#cell = cell
    this.#arriving = arriving
    this.#moves = moves
    this.forged = forged
  }

  static async read(tx: Queries, keyring: Keyring): Promise<Moves> {
    const moves = new Map<string, MovedBooks[]>()
    let forged: string | undefined
    for (const { tenantId, signed: text } of await tx.query(MOVES)) {
      const books = readSigned(keyring, TYPE, text) as MovedBooks | undefined
      if (books?.tenantId !== tenantId) forged ??= tenantId
      else moves.set(tenantId, [...(moves.get(tenantId) ?? []), books])
    }
    const cell = (await tx.query(CELL))[0]?.cell ?? null
    const away = new Map((await tx.query(AWAY)).map(({ tenantId, state }) => [tenantId, state]))
    for (const [tenantId, books] of moves)
      if (books.at(-1)!.to !== cell && !away.has(tenantId)) forged ??= tenantId
    const arriving = [...away].flatMap(([tenantId, state]) => (state === 'arriving' ? [tenantId] : []))
    return new Moves(cell, new Set(arriving), moves, forged)
  }

  /** @param through last day of the period */
  of(through: string): OfClosing {
    const taken: ClosedOfTenant[] = []
    const absent: string[] = []
    const brought: (ClosedOfTenant & Pick<MovedBooks, 'tenantId' | 'from'>)[] = []
    for (const [tenantId, moves] of this.#moves) {
      const isArriving = this.#arriving.has(tenantId)
      const last = moves.at(-1)!
      const isHere = last.to === this.#cell && !isArriving
      const then = this.#first(moves, through)
      if (then.closed && !isHere) taken.push(then.closed)
      if (isArriving || (isHere && then.wasAway)) absent.push(tenantId)
      const there = isHere && then.wasAway && closedIn(last, through)
      if (there) brought.push({ ...there, tenantId, from: last.from })
    }
    return { taken, absent, brought }
  }

  /** The first move that says where the tenant was when this cell closed the period. */
  #first(
    moves: readonly MovedBooks[],
    through: string,
  ): { readonly closed?: ClosedOfTenant; readonly wasAway: boolean } {
    for (const move of moves) {
      const closed = move.from === this.#cell ? closedIn(move, through) : undefined
      if (closed) return { closed, wasAway: false }
      if (move.to === this.#cell && move.toThrough !== null && move.toThrough >= through)
        return { wasAway: true }
    }
    return { wasAway: false }
  }
}

const closedIn = ({ closings }: MovedBooks, through: string): ClosedOfTenant | undefined =>
  closings.find((each) => each.through === through)
