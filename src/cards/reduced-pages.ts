import type { Database } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'

/** Rows fetched at a time: enough to keep both ends busy, little enough to stay small in memory. */
const PAGE_ROWS = 2_000

interface PageRow {
  svc_card_id: string
  /** The record of section 2.5 as JSON text. */
  record: string
}

// The text is made where the rows are: a million objects parsed and printed again in this process cost twice the time.
// `json_build_object` writes exact decimals, so that the balance is exact to the paisa (decision C8). The page is cut
// before balances are looked up one by one: as a join it was planned, now and then, over the whole account.
const PAGE = statement<PageRow>(
  'cards_reduced_page',
  `select p.svc_card_id, json_build_object(
     'svcCardId', p.svc_card_id, 'userId', p.user_id, 'cardAccountId', p.card_account_id,
     'expiryMonth', lpad(p.expiry_month::text, 2, '0'), 'expiryYear', p.expiry_year::text,
     'email', coalesce(p.holder->>'email', ''), 'mobile', coalesce(p.holder->>'mobile', ''),
     'title', coalesce(p.holder->>'title', ''), 'firstName', coalesce(p.holder->>'firstName', ''),
     'lastName', coalesce(p.holder->>'lastName', ''), 'otbBalance', (
       select trim_scale(l.balance / 100.0) from ledger_accounts l
       where l.account_id = 'card:' || p.svc_card_id and l.tenant_id = $1),
     'companyId', p.company_id)::text as record
   from (
     select c.svc_card_id, c.user_id, c.card_account_id, c.company_id, c.expiry_month, c.expiry_year, c.holder
     from cards c
     where c.partner_id = $1 and c.company_id = $2 and c.card_account_id = $3 and c.svc_card_id > $4
     order by c.svc_card_id limit $5) p`,
)
// Whatever the statistics say of an account that has just grown, a page is read in the order of an index and never
// sorted out of the whole account, which would make the search of n cards cost n² / 2,000.
const BY_INDEX = statement('cards_by_index', `select set_config('enable_sort', 'off', true)`)

export interface ReducedSearch {
  readonly partnerId: string
  readonly companyId: string
  readonly cardAccountId: string
  /** Id of the last card before; empty to begin. */
  readonly after: string
  readonly limit: number | undefined
}

/**
 * The whole answer of a search over an account, piece by piece (decision S3): short statements by key, so that no
 * transaction stays open for a slow reader, and memory stays flat. The next page is fetched while one is sent.
 */
export async function* reducedPages(
  database: Database,
  { partnerId, companyId, cardAccountId, after, limit }: ReducedSearch,
): AsyncGenerator<string> {
  const fetch = (from: string, rows: number) => {
    const page = database.read([partnerId], async (tx) => {
      const [, found] = await Promise.all([
        tx.query(BY_INDEX),
        tx.query(PAGE, [partnerId, companyId, cardAccountId, from, rows]),
      ])
      return found
    })
    // Told when it is awaited; a reader who hangs up meanwhile never awaits it.
    page.catch(() => undefined)
    return page
  }
  const wanted = limit ?? Number.POSITIVE_INFINITY
  // One row more than is wanted tells whether there are more.
  const size = (count: number) => Math.min(PAGE_ROWS, wanted - count + 1)
  let count = 0
  let last = after
  let next: string | undefined
  let page = fetch(last, size(0))
  yield '{"code":0,"message":"Success","payload":{"data":['
  for (let more = true; more; ) {
    const rows = await page
    const shown = rows.slice(0, wanted - count)
    last = shown.at(-1)?.svc_card_id ?? last
    if (rows.length > shown.length) next = last
    more = rows.length === size(count) && next === undefined
    const before = count
    count += shown.length
    if (more) page = fetch(last, size(count))
    if (shown.length > 0) yield `${before > 0 ? ',' : ''}${shown.map((row) => row.record).join(',')}`
  }
  yield `],"recordsCount":${count}${next === undefined ? '' : `,"next":${JSON.stringify(next)}`}}}`
}
