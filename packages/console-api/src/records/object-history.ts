import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { type QrCode, qrCodes } from '@svc/core/qr-codes/qr-code'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'
import {
  HistoryEntry,
  type HistoryItem,
  type HistorySubject,
  historyItemToWire,
  readHistory,
} from './history.ts'
import { isRevealed } from './reveals.ts'

const CODE = statement<QrCode>(
  'console_history_code',
  `select ${qrCodes.columns} from qr_codes q where q.qr_code_id = $1`,
)
const DAYS_SHOWN = 100
/** Payments of a code, which are thousands: `$3` is the time zone, `$4` the minutes from the end of a business day to midnight. */
const PAYMENT_DAYS = statement<{ at: Date; accepted: bigint; refused: bigint; amount: bigint }>(
  'console_history_payment_days',
  `select max(p.created_at) as at, count(*) filter (where p.status = 'ACCEPTED') as accepted,
     count(*) filter (where p.status <> 'ACCEPTED') as refused,
     coalesce(sum(p.amount_paise) filter (where p.status = 'ACCEPTED'), 0)::bigint as amount
   from payments p where p.merchant_id = $1 and p.qr_code_id = $2
   group by date_trunc('day', p.created_at at time zone $3::text + $4::integer * interval '1 minute')
   order by 1 desc limit ${DAYS_SHOWN}`,
)

const DAY_MINUTES = 1_440

async function codeSubject(tx: Tx, qrCodeId: string, { clock, config }: Services): Promise<HistorySubject> {
  const [code] = await tx.query(CODE, [qrCodeId])
  if (!code) return fail('qr_code_not_found')
  const { closedAt, closeReason, createdAt, expiryAt, merchantId, modifiedAt, status } = code
  const untilMidnight = DAY_MINUTES - config.BUSINESS_DAY_CUTOFF
  const days = await tx.query(PAYMENT_DAYS, [merchantId, qrCodeId, config.BUSINESS_TIME_ZONE, untilMidnight])
  const fact = { source: 'record', id: qrCodeId } as const
  const closed = { ...fact, at: closedAt ?? modifiedAt, what: 'closed', detail: closeReason ?? undefined }
  const isExpired = expiryAt !== null && expiryAt.getTime() <= clock.of(merchantId).now()
  return {
    tenantId: merchantId,
    objectIds: [qrCodeId],
    isWithoutPayments: true,
    known: [
      { ...fact, at: createdAt, what: 'created' },
      ...days.map(({ accepted, amount, at, refused }): HistoryItem => {
        const detail = `${accepted} ${accepted === 1n ? 'payment' : 'payments'}${refused > 0n ? `, ${refused} refused` : ''}`
        return { source: 'payment', at, what: 'accepted_in_a_day', amount: formatRupees(amount), detail }
      }),
      ...(status === 'CANCELLED' ? [closed] : []),
      ...(status !== 'CANCELLED' && isExpired ? [{ ...fact, at: expiryAt, what: 'expired' }] : []),
    ],
  }
}

interface Created {
  readonly tenantId: string
  readonly createdAt: Date
}
const CARD = statement<Created>(
  'console_history_card',
  `select partner_id as "tenantId", created_at as "createdAt" from cards where svc_card_id = $1`,
)
const ACCOUNT = statement<Created>(
  'console_history_account',
  `select partner_id as "tenantId", created_at as "createdAt" from card_accounts where card_account_id = $1`,
)
const CHANGES_SHOWN = 100
const CHANGES = statement<{
  field: string
  from_value: string | null
  to_value: string
  actor: string
  created_at: Date
}>(
  'console_history_card_changes',
  `select field, from_value, to_value, actor, created_at from card_changes
   where partner_id = $1 and svc_card_id = $2 order by change_id desc limit ${CHANGES_SHOWN}`,
)

async function cardSubject(tx: Tx, svcCardId: string): Promise<HistorySubject> {
  const [card] = await tx.query(CARD, [svcCardId])
  if (!card) return fail('card_not_found')
  const { tenantId, createdAt } = card
  const fact = { source: 'record', id: svcCardId } as const
  const changes = await tx.query(CHANGES, [tenantId, svcCardId])
  return {
    tenantId,
    objectIds: [svcCardId],
    known: [
      { ...fact, at: createdAt, what: 'created' },
      ...changes.map(({ actor, created_at, field, from_value, to_value }) => ({
        ...fact,
        at: created_at,
        what: `${field}_changed`,
        // The reason is free text, which may name a person: the card's own changes have it, masked until it is revealed.
        detail: `${from_value ?? 'none'} to ${to_value}`,
        actor,
      })),
    ],
  }
}

async function accountSubject(tx: Tx, cardAccountId: string): Promise<HistorySubject> {
  const [account] = await tx.query(ACCOUNT, [cardAccountId])
  if (!account) return fail('card_account_not_found')
  const { tenantId, createdAt } = account
  return {
    tenantId,
    objectIds: [cardAccountId],
    known: [{ source: 'record', id: cardAccountId, at: createdAt, what: 'created' }],
  }
}

const SUBJECTS: readonly (readonly [
  prefix: string,
  read: (tx: Tx, id: string, services: Services) => Promise<HistorySubject>,
])[] = [
  ['qr_', codeSubject],
  ['card_', cardSubject],
  ['acc_', accountSubject],
]

export const showHistory = query({
  ...consoleOperation,
  id: 'console.showHistory',
  method: 'GET',
  path: `${CONSOLE_API}/history/:objectId`,
  tag: 'History',
  summary: 'Show everything that happened to a QR code, a card or a card account',
  description:
    'The newest 100 entries of each source; of the payments of a QR code a line for each business day. Payments and refunds show theirs with their record.',
  permission: 'view',
  params: idParam('objectId'),
  result: closed({ history: Type.Array(HistoryEntry, { description: 'Oldest first' }) }),
  errors: ['qr_code_not_found', 'card_not_found', 'card_account_not_found'],
  mount(services) {
    const { config, database } = services
    const timeZone = config.BUSINESS_TIME_ZONE
    return async (input) => {
      const { objectId } = input.params
      const [, read] =
        SUBJECTS.find(([prefix]) => objectId.startsWith(prefix)) ??
        failField('objectId', 'format', 'must be the id of a QR code, a card or a card account', 'path')
      const shown = { isRevealed: await isRevealed(services, input) }
      const history = await database.operate(async (tx) =>
        readHistory(tx, { ...(await read(tx, objectId, services)), ...shown }),
      )
      return { body: JSON.stringify({ history: history.map((each) => historyItemToWire(each, timeZone)) }) }
    }
  },
})
