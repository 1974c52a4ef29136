import { CODE_FACTS, type CodeFacts, type Payment, payments } from '@svc/core/payments/payment'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { type Statement, statement } from '@svc/platform/db/statement'
import { type Static, Type } from 'typebox'
import { Instant, readInstant } from '../http/fields.ts'

const exact = (description: string, maxLength?: number) =>
  Type.Optional(Type.String({ minLength: 1, ...(maxLength && { maxLength }), description }))

export const PAYMENT_FILTERS = {
  utr: exact('The bank’s reference', 64),
  referenceNumber: exact('Of the code', 64),
  qrCodeId: exact('Of this code'),
  status: Type.Optional(
    Type.Enum(['ACCEPTED', 'REFUND_PENDING', 'REFUNDED', 'SUSPENSE'], { description: 'Only this status' }),
  ),
  from: Type.Optional(Instant('Recorded at this instant or later')),
  to: Type.Optional(Instant('Recorded before this instant')),
}
const Filter = Type.Object(PAYMENT_FILTERS)
export type PaymentFilter = Static<typeof Filter>

/** What narrows a list most, each with an index of its own. */
const WAYS = {
  time: '',
  utr: 'and p.utr = $2',
  code: 'and p.qr_code_id = $3',
  reference: `and p.qr_code_id in (
      select c.qr_code_id from qr_codes c where c.merchant_id = $1 and c.reference_number = $4)`,
  attention: `and p.status <> 'ACCEPTED'`,
} as const
type Way = keyof typeof WAYS

const wayOf = ({ utr, qrCodeId, referenceNumber, status }: PaymentFilter): Way => {
  if (utr !== undefined) return 'utr'
  if (qrCodeId !== undefined) return 'code'
  if (referenceNumber !== undefined) return 'reference'
  return status === undefined || status === 'ACCEPTED' ? 'time' : 'attention'
}

/** Rows of one page in order, before anything is joined: `$1` to `$10` are `filterValues`. */
const pageRows = (way: Way): string => `
  select p.* from payments p
  where p.merchant_id = $1 ${WAYS[way]}
    and ($2::text is null or p.utr = $2)
    and ($3::text is null or p.qr_code_id = $3)
    and ($4::text is null or p.qr_code_id in (
      select c.qr_code_id from qr_codes c where c.merchant_id = $1 and c.reference_number = $4))
    and ($5::text is null or p.status = $5)
    and ($6::timestamptz is null or p.created_at >= $6)
    and ($7::timestamptz is null or p.created_at < $7)
    and ($8::timestamptz is null or (p.created_at, p.payment_id) < ($8, $9::text))
  order by p.created_at desc, p.payment_id desc limit $10`

/** One statement for each way, all in the same order: newest first. */
export function paymentPages<Row>(
  name: string,
  select: string,
  around: (rows: string) => string,
): (filter: PaymentFilter) => Statement<Row> {
  const ways = Object.keys(WAYS) as Way[]
  const statements = new Map(
    ways.map((way): [Way, Statement<Row>] => [
      way,
      statement<Row>(
        `${name}_by_${way}`,
        around(`select ${select} from (${pageRows(way)}) p
          left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id`),
      ),
    ]),
  )
  return (filter) => statements.get(wayOf(filter))!
}

export type ListedPayment = Payment & CodeFacts

export const PAYMENT_PAGE = paymentPages<ListedPayment>(
  'payments_page',
  `${payments.columns}, ${CODE_FACTS}`,
  (rows) => `${rows} order by p.created_at desc, p.payment_id desc`,
)

/** The parameters of every page. */
export const filterValues = (
  merchantId: string,
  { utr, qrCodeId, referenceNumber, status, from, to }: PaymentFilter,
  after: { readonly at: Date | string; readonly id: string } | undefined,
  limit: number,
): unknown[] => [
  merchantId,
  utr === undefined ? undefined : canonicalReference(utr),
  qrCodeId,
  referenceNumber,
  status,
  readInstant('from', from),
  readInstant('to', to),
  after?.at,
  after?.id,
  limit,
]
