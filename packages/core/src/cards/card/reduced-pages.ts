import type { Database, Tx } from '@svc/platform/db/database'
import { type Statement, statement } from '@svc/platform/db/statement'

/** Records made at a time: some 60 kB of text, which one read of a socket takes. Longer pages cost up to half as much again. */
const PAGE_ROWS = 200
/** Pages whose bounds are found at a time. */
const BOUNDS_PAGES = 10
/** Sorts after every id. */
const END = '~'

/** Of one range of cards. */
interface Page {
  count: number
  /** Id of the last card. */
  last: string | null
  /** The records of section 2.5 as JSON text, with commas between. */
  records: string | null
}

const jsonText = (field: string) => `coalesce((p.holder->'${field}')::text, '""')`

// The text is made where the rows are, and comes as one row: a million objects parsed and printed again in this process
// cost twice the time. Ids need no quoting, and `json_build_object` takes half as long again. Numerics print as exact
// decimals, so that the balance is exact to the paisa (decision C8). The page is cut before balances are looked up one
// by one: as a join it was planned, now and then, over the whole account. Their keys are made there too (`accountIdOf`).
const PAGE = statement<Page>(
  'cards_reduced_page',
  `select count(*)::int as count, max(r.svc_card_id) as last, string_agg(r.record, ',') as records from (
   select p.svc_card_id, '{"svcCardId":"' || p.svc_card_id || '","userId":"' || p.user_id
     || '","cardAccountId":"' || p.card_account_id || '","expiryMonth":"' || lpad(p.expiry_month::text, 2, '0')
     || '","expiryYear":"' || p.expiry_year || '","email":' || ${jsonText('email')}
     || ',"mobile":' || ${jsonText('mobile')} || ',"title":' || ${jsonText('title')}
     || ',"firstName":' || ${jsonText('firstName')} || ',"lastName":' || ${jsonText('lastName')}
     || ',"otbBalance":' || (
       select trim_scale(greatest(l.balance - (
         select coalesce(sum(h.held_paise), 0) from card_authorizations h
         where h.partner_id = $1 and h.svc_card_id = p.svc_card_id and h.status = 'OPEN'), 0) / 100.0)
       from ledger_accounts l
       where l.account_id = p.account_id and l.tenant_id = $1)
     || ',"companyId":"' || p.company_id || '"}' as record
   from (
     select c.svc_card_id, c.user_id, c.card_account_id, c.company_id, c.expiry_month, c.expiry_year, c.holder,
       'card:' || c.svc_card_id as account_id
     from cards c
     where c.partner_id = $1 and c.company_id = $2 and c.card_account_id = $3
       and c.svc_card_id > $4 and c.svc_card_id <= $5
     order by c.svc_card_id limit $6) p) r`,
)
/** Of the cards after the one that is named, the last of each page; those behind the last page that is full are none's. */
const BOUNDS = statement<{ svc_card_id: string }>(
  'cards_reduced_bounds',
  `select b.svc_card_id from (
     select c.svc_card_id, row_number() over (order by c.svc_card_id) as n from cards c
     where c.partner_id = $1 and c.company_id = $2 and c.card_account_id = $3 and c.svc_card_id > $4
     order by c.svc_card_id limit $5::bigint * $6::bigint) b
   where b.n % $6::bigint = 0 order by b.n`,
)
// Whatever the statistics say of an account that has just grown, a page is read in the order of an index and never
// sorted out of the whole account, which would make the search of n cards cost n² / 200.
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
 * The whole response of a search over an account, piece by piece (decision S3): short statements by key, so that no
 * transaction stays open for a slow reader, and memory stays flat.
 */
export async function* reducedPages(database: Database, search: ReducedSearch): AsyncGenerator<string> {
  const reader = new AccountReader(database, search)
  const { after, limit } = search
  yield '{"code":0,"message":"Success","payload":{"data":['
  let count = 0
  let last: string | undefined
  for await (const page of limit === undefined ? reader.whole(after) : [reader.page(after, END, limit)]) {
    if (page.records) yield count > 0 ? `,${page.records}` : page.records
    count += page.count
    last = page.last ?? last
  }
  const next =
    limit === count && last !== undefined && (await reader.bounds(last, 1, 1)).length > 0 ? last : undefined
  yield `],"recordsCount":${count}${next === undefined ? '' : `,"next":${JSON.stringify(next)}`}}}`
}

class AccountReader {
  readonly #database: Database
  readonly #account: readonly [tenantId: string, companyId: string, cardAccountId: string]

  constructor(database: Database, { partnerId, companyId, cardAccountId }: ReducedSearch) {
    this.#database = database
    this.#account = [partnerId, companyId, cardAccountId]
  }

  #read<Row>(of: Statement<Row>, ...more: readonly unknown[]): Promise<Row[]> {
    const work = async (tx: Tx) => {
      const [, rows] = await Promise.all([tx.query(BY_INDEX), tx.query(of, [...this.#account, ...more])])
      return rows
    }
    return this.#database.readLarge([this.#account[0]], work, 'silence')
  }

  /** The last card of each page after `after` that is full, of so many pages at most. */
  async bounds(after: string, pages: number, rows: number): Promise<string[]> {
    const found = await this.#read(BOUNDS, after, pages, rows)
    return found.map((bound) => bound.svc_card_id)
  }

  async page(after: string, to: string, limit: number | null): Promise<Page> {
    return (await this.#read(PAGE, after, to, limit))[0]!
  }

  /**
   * Pages up to bounds that are found far sooner than records are made, so that two are made at a time while one is
   * sent. A card that is committed meanwhile falls between bounds, and never out of the pages.
   */
  async *whole(after: string): AsyncGenerator<Page> {
    let ahead: Promise<Page> | undefined
    for (let from = after; from !== END; ) {
      const bounds = await this.bounds(from, BOUNDS_PAGES, PAGE_ROWS)
      if (bounds.length < BOUNDS_PAGES) bounds.push(END)
      for (const to of bounds) {
        const page = this.page(from, to, null)
        // Reported when it is awaited; a reader who disconnects meanwhile never awaits it.
        page.catch(() => undefined)
        if (ahead) yield await ahead
        ahead = page
        from = to
      }
    }
    yield await ahead!
  }
}
