import type { Tx } from '@svc/platform/db/database'
import { type Statement, statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed, consoleOperation, maybe, record, text } from './console-schema.ts'
import { begins } from './list.ts'

const RESULTS_MAX = 10
const KINDS = [
  'request',
  'card',
  'qrCode',
  'payment',
  'merchant',
  'partner',
  'company',
  'cardAccount',
  'user',
  'coinConfig',
  'ledgerAccount',
  'webhookEndpoint',
] as const
type Kind = (typeof KINDS)[number]

interface Row {
  id: string
  title: string
  subtitle: string | null
  qr_code_id?: string | null
}

interface Source {
  readonly kind: Kind
  readonly statement: Statement<Row>
  /** The parameter for what was typed; `undefined` when it cannot be meant. */
  readonly wanted: (q: string) => string | undefined
}

const source = (name: string, kind: Kind, wanted: Source['wanted'], sql: string): Source => ({
  kind,
  wanted,
  statement: statement<Row>(`search_${name}`, `${sql} limit 5`),
})
const id = (prefix: string) => (q: string) => (q.startsWith(`${prefix}_`) ? q : undefined)
const form = (pattern: RegExp) => (q: string) => (pattern.test(q) ? q : undefined)
/** The begin of a name: not what is plainly something else. */
const name = (q: string) => (/[_:@]|^\d+$/.test(q) ? undefined : begins(q.toLowerCase()))
const HOLDER = `nullif(concat_ws(' ', first_name, last_name), '')`

/** Each is served by an index of its own, so that a search costs a handful of lookups. */
const SOURCES: readonly Source[] = [
  source(
    'request',
    'request',
    id('req'),
    `select request_id as id, operation || ' ' || status as title, error as subtitle from request_log where request_id = $1`,
  ),
  source(
    'card',
    'card',
    id('card'),
    `select svc_card_id as id, masked_number as title, status as subtitle from cards where svc_card_id = $1`,
  ),
  source(
    'qr',
    'qrCode',
    id('qr'),
    `select qr_code_id as id, coalesce(qr_name, tr) as title, status as subtitle from qr_codes where qr_code_id = $1`,
  ),
  source(
    'tr',
    'qrCode',
    form(/^[A-Za-z0-9]{10,35}$/),
    `select qr_code_id as id, coalesce(qr_name, tr) as title, tr as subtitle from qr_codes where tr = $1`,
  ),
  source(
    'payment',
    'payment',
    id('pay'),
    `select payment_id as id, utr as title, status as subtitle, qr_code_id from payments where payment_id = $1`,
  ),
  source(
    'utr',
    'payment',
    form(/^[A-Za-z0-9]{6,35}$/),
    `select payment_id as id, utr as title, status as subtitle, qr_code_id from payments where utr = $1`,
  ),
  source(
    'merchant',
    'merchant',
    id('mer'),
    `select merchant_id as id, name as title, vpa as subtitle from merchants where merchant_id = $1`,
  ),
  source(
    'vpa',
    'merchant',
    (q) => (q.includes('@') ? begins(q.toLowerCase()) : undefined),
    `select merchant_id as id, name as title, vpa as subtitle from merchants where lower(vpa) collate "C" like $1 order by lower(vpa) collate "C"`,
  ),
  source(
    'merchant_name',
    'merchant',
    name,
    `select merchant_id as id, name as title, vpa as subtitle from merchants where lower(name) collate "C" like $1 order by lower(name) collate "C"`,
  ),
  source(
    'partner',
    'partner',
    id('par'),
    `select partner_id as id, name as title, null as subtitle from partners where partner_id = $1`,
  ),
  source(
    'partner_name',
    'partner',
    name,
    `select partner_id as id, name as title, null as subtitle from partners where lower(name) collate "C" like $1 order by lower(name) collate "C"`,
  ),
  source(
    'company',
    'company',
    id('com'),
    `select company_id as id, name as title, null as subtitle from companies where company_id = $1`,
  ),
  source(
    'company_name',
    'company',
    name,
    `select company_id as id, name as title, null as subtitle from companies where lower(name) collate "C" like $1 order by lower(name) collate "C"`,
  ),
  source(
    'account',
    'cardAccount',
    id('acc'),
    `select card_account_id as id, programme as title, product as subtitle from card_accounts where card_account_id = $1`,
  ),
  source(
    'user',
    'user',
    id('usr'),
    `select user_id as id, coalesce(${HOLDER}, user_id) as title, email as subtitle from users where user_id = $1`,
  ),
  source(
    'mobile',
    'user',
    form(/^\d{10}$/),
    `select user_id as id, coalesce(${HOLDER}, user_id) as title, mobile as subtitle from users where mobile = $1`,
  ),
  source(
    'email',
    'user',
    (q) => (q.includes('@') ? begins(q.toLowerCase()) : undefined),
    `select user_id as id, coalesce(${HOLDER}, user_id) as title, email as subtitle from users where email_key like $1 order by email_key`,
  ),
  source(
    'coins',
    'coinConfig',
    id('ccf'),
    `select coin_config_id as id, title, event as subtitle from coin_configs where coin_config_id = $1`,
  ),
  source(
    'webhook',
    'webhookEndpoint',
    id('whe'),
    `select endpoint_id as id, url as title, case when enabled then 'enabled' else 'disabled' end as subtitle from webhook_endpoints where endpoint_id = $1`,
  ),
  source(
    'ledger',
    'ledgerAccount',
    form(/^[a-z_]{4,20}:\S+$/),
    `select account_id as id, account_id as title, kind as subtitle from ledger_accounts where account_id = $1`,
  ),
]

async function find(tx: Tx, q: string) {
  const results = []
  for (const { kind, statement, wanted } of SOURCES) {
    const value = wanted(q)
    if (value === undefined) continue
    // Unnamed: planned for the value at hand, as a begin of a text must be.
    const rows = await tx.query({ ...statement, name: '' }, [value])
    for (const { id, qr_code_id, subtitle, title } of rows)
      results.push({ kind, id, title, subtitle: subtitle ?? undefined, qrCodeId: qr_code_id ?? undefined })
    if (results.length >= RESULTS_MAX) break
  }
  return results.slice(0, RESULTS_MAX)
}

export const searchEverything = query({
  ...consoleOperation,
  id: 'console.search',
  method: 'GET',
  path: `${CONSOLE_API}/search`,
  tag: 'Search',
  summary: 'Find anything by an id, a reference, a name',
  description:
    'Ids exactly; bank references (UTR), `tr` and mobile numbers exactly; names of merchants, partners and companies, e-mail addresses and VPAs by their begin.',
  role: 'viewer',
  query: closed({ q: Type.String({ minLength: 2, maxLength: 254 }) }),
  result: closed({
    results: Type.Array(
      record('SearchResult', {
        kind: Type.Enum([...KINDS]),
        id: text(),
        title: text(),
        subtitle: maybe(),
        qrCodeId: maybe('Of a payment: the code that was paid'),
      }),
      { description: `At most ${RESULTS_MAX}` },
    ),
  }),
  errors: [],

  mount({ database }) {
    return async ({ query: { q } }) => ({
      body: JSON.stringify({ results: await database.report((tx) => find(tx, q.trim())) }),
    })
  },
})
