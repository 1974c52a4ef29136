import { canonicalReference } from '@svc/kernel/bank-reference'
import { readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { type Statement, statement } from '@svc/platform/db/statement'
import { begins } from '@svc/server/http/list'
import type { Caller } from '@svc/server/http/operation'
import { emailPattern } from '@svc/server/tenants/users'
import { mayReveal } from '../records/reveals.ts'

export const KINDS = [
  'request',
  'card',
  'qrCode',
  'payment',
  'refund',
  'dispute',
  'payout',
  'merchant',
  'partner',
  'company',
  'cardAccount',
  'user',
  'coinConfig',
  'ledgerAccount',
  'journal',
  'notice',
  'cardException',
  'webhookEndpoint',
  'settlement',
] as const
export type Kind = (typeof KINDS)[number]

interface Row {
  id: string
  title: string
  subtitle: string | null
  /** Of a refund: its payment. */
  of?: string
}

interface Wanted {
  (q: string, caller: Caller, timeZone: string): string | undefined
  readonly prefix?: string
}

export interface Source {
  readonly kind: Kind
  readonly statement: Statement<Row>
  /** The parameter for what was typed; `undefined` when it cannot be meant. */
  readonly wanted: Wanted
  /** Of the ids that it finds. */
  readonly prefix: string | undefined
}

const source = (name: string, kind: Kind, wanted: Wanted, sql: string): Source => ({
  kind,
  wanted,
  prefix: wanted.prefix,
  statement: statement<Row>(`search_${name}`, `${sql} limit 5`),
})
/** An id, or what else names it. */
const id = (prefix: string, other?: Wanted): Wanted =>
  Object.assign(
    (q: string, ...of: [Caller, string]) => (q.startsWith(`${prefix}_`) ? q : other?.(q, ...of)),
    {
      prefix,
    },
  )
/** A merchant's own reference, of an order or a refund. */
const reference = (q: string) => (q.length <= 64 ? q : undefined)
const form = (pattern: RegExp) => (q: string) => (pattern.test(q) ? q : undefined)
/** The begin of a name: not what is plainly something else. */
const name = (q: string) => (/[_:@]|^\d+$/.test(q) ? undefined : begins(q.toLowerCase()))
/** A reference as banks write it: letters in either case, with separators. */
const bankReference = (q: string) => {
  const canonical = canonicalReference(q)
  return /^[A-Za-z0-9 /-]+$/.test(q) && /^[A-Z0-9]{6,35}$/.test(canonical) ? canonical : undefined
}
/** An Indian mobile number with or without its country code, as ten digits. */
const mobile = (q: string) => /^(?:\+?91|0)?(\d{10})$/.exec(q.replaceAll(/[\s-]/g, ''))?.[1]
/** At what time of the day: `5 pm`, `5:02 pm`, `17:02`. */
const TIME = /^(.*?)[\s,]+(?:at\s+)?(?:([01]?\d|2[0-3]):([0-5]\d)\s*(am|pm)?|(0?[1-9]|1[0-2])\s*(am|pm))$/i
const DAY_MINUTES = 24 * 60
/** What people call a minute that they read off a till or a telephone. */
const MINUTES_AROUND = 5
/**
 * An amount as people write it, with or without `₹` and commas, not a mobile number or a reference, and the hour or minute
 * after it: as paise, the first and the last minute of the day, and the zone.
 */
const amount: Wanted = (q, _, timeZone) => {
  const [, before = q, hours, minutes, half, hour, halfOfHour] = TIME.exec(q) ?? []
  const paise = /\d{9}/.test(before) ? undefined : valueIn(readAmount(before))
  if (paise === undefined) return undefined
  const stated = hours ?? hour
  if (stated === undefined) return `${paise} 0 ${DAY_MINUTES} ${timeZone}`
  const isAfternoon = (half ?? halfOfHour)?.toLowerCase()
  const at = (isAfternoon ? (Number(stated) % 12) + (isAfternoon === 'pm' ? 12 : 0) : Number(stated)) * 60
  const [from, to] =
    minutes === undefined
      ? [at, at + 59]
      : [at + Number(minutes) - MINUTES_AROUND, at + Number(minutes) + MINUTES_AROUND]
  return `${paise} ${from} ${to} ${timeZone}`
}
/** A payer's UPI ID, whole: a part of it would spell out, letter by letter, what is masked (decision O7). */
const payer: Wanted = (q, _, timeZone) =>
  /^[\w.-]{2,}@[\w.-]{2,}$/.test(q) ? `${q.toLowerCase()} 0 ${DAY_MINUTES} ${timeZone}` : undefined
/** No index leads to amounts, payers and names of codes: the newest are read, however many there are a day. */
export const NEWEST_READ = 20_000
interface Newest {
  readonly table: 'payments' | 'qr_codes'
  readonly id: string
  readonly title: string
  /** What is said of it besides its merchant. */
  readonly says: string
  /** Needed besides. */
  readonly columns: string
}
const newest =
  ({ columns, id: key, says, table, title }: Newest) =>
  (condition: string) =>
    `select n.${key} as id, ${title} as title, concat_ws(', ', m.name, ${says}) as subtitle
     from (select ${key}, merchant_id, status, ${columns} from ${table} order by ${key} desc limit ${NEWEST_READ}) n
       left join merchants m on m.merchant_id = n.merchant_id
     where ${condition} order by n.${key} desc`
/** Of what `amount` and `payer` ask for: when it was, in their zone. */
const AT = `n.created_at at time zone coalesce(nullif(split_part($1, ' ', 4), ''), 'UTC')`
const newestPayments = newest({
  table: 'payments',
  id: 'payment_id',
  title: `'UTR ' || n.utr`,
  says: `lower(n.status), to_char(${AT}, 'FMDD Mon YYYY, FMHH12:MI:SS am')`,
  columns: 'utr, amount_paise, payer_vpa, created_at',
})
const newestCodes = newest({
  table: 'qr_codes',
  id: 'qr_code_id',
  title: 'n.qr_name',
  says: 'n.status',
  columns: 'qr_name',
})
/** Words of a name, each by its begin, as a text search of PostgreSQL. */
const words = (q: string) => {
  const found = q.match(/[\p{L}\p{N}]+/gu)
  return found && name(q) !== undefined ? found.map((word) => `'${word}':*`).join(' & ') : undefined
}
const wordsIn = (table: 'merchants' | 'partners' | 'companies', key: string, subtitle: string) =>
  `select ${key} as id, name as title, ${subtitle} as subtitle from ${table}
   where to_tsvector('simple', name) @@ to_tsquery('simple', $1) order by lower(name), ${key}`
const HOLDER = `nullif(concat_ws(' ', first_name, last_name), '')`

/** Each is served by an index of its own, so that a search costs a handful of lookups. */
export const SOURCES: readonly Source[] = [
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
    id('qr', form(/^[A-Za-z0-9]{10,35}$/)),
    `select qr_code_id as id, coalesce(qr_name, tr) as title, concat_ws(', ', tr, status) as subtitle from qr_codes
     where qr_code_id = $1 or tr = $1`,
  ),
  source(
    'payment',
    'payment',
    id('pay', bankReference),
    `select payment_id as id, utr as title, status as subtitle from payments where payment_id = $1 or utr = $1`,
  ),
  source(
    'refund',
    'refund',
    id('rfd', bankReference),
    `select refund_id as id, payment_id as of, reference_number as title, status as subtitle from merchant_refunds where refund_id = $1 or utr = $1`,
  ),
  source(
    'dispute',
    'dispute',
    id('dsp', (q) => (/^[\w /.-]{3,64}$/.test(q) ? canonicalReference(q) : undefined)),
    `select dispute_id as id, 'Case ' || case_reference as title, status as subtitle from disputes
     where dispute_id = $1 or case_reference = $1`,
  ),
  source(
    'payout',
    'payout',
    id('pyo', bankReference),
    `select payout_id as id, 'Payout of ' || to_char(business_day, 'FMDD Mon YYYY') as title, status as subtitle from payouts
     where payout_id = $1 or utr = $1 or return_utr = $1`,
  ),
  source(
    'code_reference',
    'qrCode',
    reference,
    `select qr_code_id as id, coalesce(qr_name, tr) as title, 'Reference ' || reference_number as subtitle from qr_codes
     where reference_number = $1 order by created_at desc, qr_code_id desc`,
  ),
  source(
    'refund_reference',
    'refund',
    reference,
    `select refund_id as id, payment_id as of, reference_number as title, status as subtitle from merchant_refunds
     where reference_number = $1 order by created_at desc, refund_id desc`,
  ),
  source(
    'card_number',
    'card',
    form(/^\d{4}$/),
    `select svc_card_id as id, masked_number as title, status as subtitle from cards where right(masked_number, 4) = $1
     order by svc_card_id desc`,
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
    'amount',
    'payment',
    amount,
    newestPayments(
      `n.amount_paise = split_part($1, ' ', 1)::bigint
       and extract(hour from ${AT}) * 60 + extract(minute from ${AT})
         between nullif(split_part($1, ' ', 2), '')::integer and nullif(split_part($1, ' ', 3), '')::integer`,
    ),
  ),
  source('payer', 'payment', payer, newestPayments(`lower(n.payer_vpa) = split_part($1, ' ', 1)`)),
  source('merchant_words', 'merchant', words, wordsIn('merchants', 'merchant_id', 'vpa')),
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
  source('partner_words', 'partner', words, wordsIn('partners', 'partner_id', 'null')),
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
  source('company_words', 'company', words, wordsIn('companies', 'company_id', 'null')),
  source(
    'account',
    'cardAccount',
    id('acc'),
    `select a.card_account_id as id, a.programme || ' of ' || c.name as title, a.product as subtitle
     from card_accounts a join companies c on c.partner_id = a.partner_id and c.company_id = a.company_id
     where a.card_account_id = $1`,
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
    mobile,
    `select user_id as id, coalesce(${HOLDER}, user_id) as title, mobile as subtitle from users where mobile = $1`,
  ),
  source(
    'email',
    'user',
    (q, caller) => (q.includes('@') ? emailPattern(q, mayReveal(caller)) : undefined),
    `select user_id as id, coalesce(${HOLDER}, user_id) as title, email as subtitle from users where email_key like $1 order by email_key`,
  ),
  source(
    'coins',
    'coinConfig',
    id('ccf'),
    `select coin_config_id as id, title, event as subtitle from coin_configs where coin_config_id = $1`,
  ),
  source('code_name', 'qrCode', name, newestCodes('lower(n.qr_name) like $1')),
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
  source(
    'journal',
    'journal',
    id('jrn'),
    `select j.journal_id as id, j.kind as title, j.reference as subtitle from tenants t cross join lateral (
       select * from journals j where j.tenant_id = t.tenant_id and j.journal_id = $1 offset 0) j`,
  ),
  source(
    'notice',
    'notice',
    id('rnt'),
    `select notice_id as id, 'Bank notice' as title, status as subtitle from rail_notices where notice_id = $1`,
  ),
  source(
    'card_exception',
    'cardException',
    id('cex'),
    `select exception_id as id, 'Card exception' as title, reason as subtitle from card_exceptions where exception_id = $1`,
  ),
  source(
    'settlement',
    'settlement',
    id('stb'),
    `select batch_id as id, 'Transfer ' || batch_utr as title, status as subtitle from settlement_batches where batch_id = $1`,
  ),
]

/** What a tenant finds of its own: row-level security leaves it nothing else. */
const OF_TENANTS: ReadonlySet<Kind> = new Set<Kind>([
  'card',
  'qrCode',
  'payment',
  'refund',
  'dispute',
  'payout',
  'company',
  'cardAccount',
  'user',
  'webhookEndpoint',
])

/** The same, and what no index of all tenants leads to: a tenant has few of these. */
export const TENANT_SOURCES: readonly Source[] = [
  ...SOURCES.filter(({ kind }) => OF_TENANTS.has(kind)),
  source(
    'code_customer',
    'qrCode',
    mobile,
    `select qr_code_id as id, coalesce(qr_name, tr) as title, 'Reference ' || reference_number as subtitle from qr_codes
     where customer_mobile = $1 order by created_at desc, qr_code_id desc`,
  ),
  source(
    'account_words',
    'cardAccount',
    words,
    `select a.card_account_id as id, concat_ws(' ', c.name, a.programme) as title, a.product as subtitle
     from card_accounts a join companies c on c.partner_id = a.partner_id and c.company_id = a.company_id
     where to_tsvector('simple', concat_ws(' ', c.name, a.programme)) @@ to_tsquery('simple', $1) order by lower(c.name)`,
  ),
]
