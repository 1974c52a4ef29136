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
const ACCOUNT = `select coalesce(sum(balance), 0) as balance from ledger_accounts
  where kind = $1 and tenant_id in (select partner_id from cards where svc_card_id = any ($2))`

/**
 * Compares. Call it when nothing is sent any more; all use of cards by the tenants of these cards must have come from
 * this terminal.
 */
export async function compareBooks(
  query: Query,
  play: Pick<Play, 'acknowledged'>,
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
  const sum = (of: (card: PlayedCard) => number) => cards.reduce((total, card) => total + of(card), 0)
  const exceptions = sum(({ card }) => card.exceptions)
  const wanted = {
    card_exceptions: exceptions,
    // What the cards lost and what exceptions paid for them is owed to the network.
    card_settlement: sum(({ loadPaise, card }) => loadPaise - card.balance) - exceptions,
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
