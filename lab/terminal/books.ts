import type { Play, PlayedCard } from './play.ts'
import { heldOn } from './reckoning.ts'

/** Rows of a statement on the installation's database. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>

/** What the database has of the messages and of the cards' money, held against what the terminal received. */
interface Books {
  readonly acknowledged: number
  readonly recorded: number
  /** Acknowledged and not there. */
  readonly lost: number
  /** There twice, or without an acknowledgement of its own. */
  readonly doubled: number
  /** Everything that is not as reckoned, in words. */
  readonly broken: readonly string[]
}

interface CardRow {
  readonly id: string
  readonly balance: string
  readonly debits: string
  readonly credits: string
  readonly held: string
}

/** Every entry of the ledger is read, not only balances. */
const CARDS = `select c.svc_card_id as id, l.balance,
    (select coalesce(sum(amount), 0) from ledger_transfers t
      where t.tenant_id = c.partner_id and t.debit_account_id = l.account_id) as debits,
    (select coalesce(sum(amount), 0) from ledger_transfers t
      where t.tenant_id = c.partner_id and t.credit_account_id = l.account_id) as credits,
    (select coalesce(sum(held_paise), 0) from card_authorizations a
      where a.partner_id = c.partner_id and a.svc_card_id = c.svc_card_id) as held
  from cards c join ledger_accounts l on l.tenant_id = c.partner_id and l.account_id = 'card:' || c.svc_card_id
  where c.svc_card_id = any ($1)`
const MESSAGES = 'select message_id as id from card_messages where svc_card_id = any ($1)'
const MOVES = 'select load_id as id from card_loads where svc_card_id = any ($1)'
const ACCOUNT = `select coalesce(sum(balance), 0) as balance from ledger_accounts
  where kind = $1 and tenant_id in (select partner_id from cards where svc_card_id = any ($2))`

/**
 * Compares. Call it when nothing is sent any more; all use of cards by the tenants of these cards must have come from
 * this terminal.
 */
export async function compareBooks(
  query: Query,
  play: Pick<Play, 'acknowledged' | 'moves'>,
  cards: readonly PlayedCard[],
): Promise<Books> {
  const ids = cards.map(({ svcCardId }) => svcCardId)
  const received = new Set([...play.acknowledged.values()].map(({ messageId }) => messageId))
  const found = (await query<{ id: string }>(MESSAGES, [ids])).map(({ id }) => id)
  const there = new Set(found)
  const lost = [...received].filter((id) => !there.has(id)).length
  const doubled = found.length - there.size + [...there].filter((id) => !received.has(id)).length
  const sameResponse = play.acknowledged.size - received.size
  const broken = [
    ...(lost > 0 ? [`${lost} acknowledged messages are lost`] : []),
    ...(doubled > 0 ? [`${doubled} messages are there twice or were never acknowledged`] : []),
    ...(sameResponse > 0 ? [`${sameResponse} messages got the response of another one`] : []),
    ...compareCards(await query<CardRow>(CARDS, [ids]), cards),
  ]
  const made = [...play.moves.values()].map(({ loadId }) => loadId).sort()
  const moves = (await query<{ id: string }>(MOVES, [ids])).map(({ id }) => id).sort()
  if (made.join() !== moves.join())
    broken.push(`${moves.length} loads and unloads are there, ${made.length} were acknowledged`)
  const sum = (of: (card: PlayedCard) => number) => cards.reduce((total, card) => total + of(card), 0)
  const exceptions = sum(({ card }) => card.exceptions)
  const wanted = {
    card_exceptions: exceptions,
    // What the cards lost and what exceptions paid for them is owed to the network.
    card_settlement: sum(({ card }) => card.loaded - card.balance) - exceptions,
  }
  for (const [kind, reckoned] of Object.entries(wanted)) {
    const [row] = await query<{ balance: string }>(ACCOUNT, [kind, ids])
    if (Number(row?.balance) !== reckoned)
      broken.push(`${kind} has ${row?.balance} paise, reckoned ${reckoned}`)
  }
  return { acknowledged: play.acknowledged.size, recorded: found.length, lost, doubled, broken }
}

function compareCards(rows: readonly CardRow[], cards: readonly PlayedCard[]): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return cards.flatMap(({ svcCardId, card }) => {
    const row = byId.get(svcCardId)
    const has = row && [row.balance, Number(row.credits) - Number(row.debits), row.held].map(Number)
    const reckoned = [card.balance, card.balance, heldOn(card)]
    return String(has) === String(reckoned)
      ? []
      : [`${svcCardId} has balance, entries and holds of ${has} paise, reckoned ${reckoned}`]
  })
}

/** What a statement of a card says. */
export interface Statement {
  readonly openingBalance: number
  readonly closingBalance: number
  readonly lines: readonly {
    readonly kind: string
    readonly direction: 'credit' | 'debit'
    readonly amount: number
    readonly balance: number
  }[]
}

const inPaise = (rupees: number): number => Math.round(rupees * 100)

/** What of a statement since the issue of the card is not as the messages alone say; `undefined`: nothing. */
export function compareStatement({ svcCardId, card }: PlayedCard, statement: Statement): string | undefined {
  let balance = inPaise(statement.openingBalance)
  const moved = statement.lines.map(({ kind, direction, amount, balance: after }) => {
    const paise = direction === 'credit' ? inPaise(amount) : -inPaise(amount)
    balance += paise
    return { text: `${kind} ${paise}`, isRunning: balance === inPaise(after) }
  })
  // Movements of one instant may be listed in any order.
  const [has, reckoned] = [
    moved.map(({ text }) => text).sort(),
    card.movements.map(({ kind, paise }) => `${kind} ${paise}`).sort(),
  ]
  const isSame =
    statement.openingBalance === 0 &&
    has.join() === reckoned.join() &&
    moved.every(({ isRunning }) => isRunning) &&
    balance === card.balance &&
    inPaise(statement.closingBalance) === card.balance
  return isSame
    ? undefined
    : `${svcCardId} has a statement of ${has.length} movements that ends with ${statement.closingBalance}, reckoned ${reckoned.length} movements and ${card.balance} paise`
}
