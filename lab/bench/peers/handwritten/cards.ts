import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { type CardRow, toCardRecord } from './card-record.ts'
import type { Config } from './config.ts'
import { command, QUEUE_EVENTS, statement } from './database.ts'
import { fail } from './failures.ts'
import { holderOf, ORDER, type Order, readLoad } from './gift-card-order.ts'
import { userOf } from './holders.ts'
import { jweOf, orderReader } from './order-reader.ts'
import { digestOf, encryptFor } from './secrets.ts'
import type { Services } from './services.ts'
import { businessDay, newId, randomDigit } from './values.ts'

const ROUTE = 'POST /api/v0/partner/svcCard'
const VALID_MONTHS = 36
const LOAD_MAX_PAISE = 10_000_00n
interface Scope {
  readonly company_id: string
  readonly company_name: string
  readonly account_type: CardRow['account_type'] | null
  readonly bin_type: string
  readonly programme: string
  readonly denomination_paise: bigint
}

const SCOPE = statement<Scope & pg.QueryResultRow>(
  'order_scope',
  `select co.company_id, co.name as company_name, a.account_type, a.bin_type, a.programme, a.denomination_paise
   from companies co left join card_accounts a
     on a.partner_id = co.partner_id and a.company_id = co.company_id and a.card_account_id = $3
   where co.partner_id = $1 and co.company_id = $2`,
)

const LOCK_FUNDS = statement<{ balance: bigint }>(
  'funds_lock',
  'select balance from ledger_accounts where tenant_id = $1 and account_id = $2 for no key update',
)
// One round trip for all that an order writes besides its user and its response.
const ISSUE = statement(
  'card_issue',
  `with opened as (
     insert into ledger_accounts (account_id, tenant_id, kind, unit, floor, balance, created_at)
     values ($1, $2, 'card', 'INR', 0, 0, $4)),
   journal as (
     insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
     values ($2, $6, 'card_load', $7, 1, $4)),
   transfer as (
     insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id, credit_account_id,
       amount, unit, object_id, created_at)
     values ($8, $2, $6, 1, 'card_load', $5, $1, $3, 'INR', $9, $4)),
   card as (
     insert into cards (svc_card_id, partner_id, company_id, card_account_id, user_id, number_encrypted, number_digest,
       masked_number, token, expiry_month, expiry_year, status, kyc_status, physical, activated, holder,
       physical_requested_at, load_paise, load_transfer_id, ciphertext_hash, due_at, created_at, modified_at)
     values ($9, $2, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 'NOT_UPLOADED', $20, not $20, $21,
       case when $20 then $4::timestamptz end, $3, $8, $22, $23, $4, $4)),
   event as (
     insert into outbox (event_id, tenant_id, type, object_id, payload, created_at)
     values ($24, $2, 'card.created', $9, $25, $4) returning *)
   ${QUEUE_EVENTS} from event`,
)

/** Sixteen digits with the check digit of ISO/IEC 7812-1. */
function drawNumber(bin: string): string {
  let digits = bin
  while (digits.length < 15) digits += randomDigit()
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const doubled = i % 2 === 0 ? Number(digit) * 2 : Number(digit)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

const DAY_MS = 86_400_000
const ZONE_MS = 5.5 * 3_600_000

/** The last month of the card, and when its holder is reminded: 30 days before the month ends in India. */
function validityFrom(now: Date) {
  const [year = 0, month = 0] = businessDay(now).split('-').map(Number)
  const last = new Date(Date.UTC(year, month - 1 + VALID_MONTHS, 1))
  const end = Date.UTC(last.getUTCFullYear(), last.getUTCMonth() + 1, 1) - ZONE_MS
  return {
    expiry_month: last.getUTCMonth() + 1,
    expiry_year: last.getUTCFullYear(),
    dueAt: new Date(end - 30 * DAY_MS),
  }
}

interface Given {
  readonly partnerId: string
  readonly order: Order
  readonly ciphertextHash: Buffer
}

/** The account of the order with its company; fails where they are not the partner's. */
async function scopeOf(tx: pg.PoolClient, { partnerId, order: { companyId, cardAccountId } }: Given) {
  const [scope] = await SCOPE(tx, [partnerId, companyId, cardAccountId])
  const { account_type: accountType, ...rest } = scope ?? fail('company_not_found')
  return { ...rest, account_type: accountType ?? fail('card_account_not_found') }
}

/** A card as it is issued: loaded, and used nowhere. A virtual one is usable at once. */
const newCard = (physical: boolean, loadPaise: bigint, now: Date) => ({
  svc_card_id: newId('card'),
  token: newId('crd'),
  load_transfer_id: newId('trf'),
  status: physical ? ('AP' as const) : ('UL' as const),
  kyc_status: 'NOT_UPLOADED',
  physical,
  activated: !physical,
  physical_requested_at: physical ? now : null,
  pos_allowed: true,
  pos_allowed_admin: true,
  atm_allowed: false,
  atm_allowed_admin: false,
  online_allowed: true,
  online_allowed_admin: true,
  block_code: '',
  remarks: '',
  load_paise: loadPaise,
  balance: loadPaise,
  held: 0n,
  spent_day: 0n,
  spent_month: 0n,
  spent_year: 0n,
  spent: 0n,
  created_at: now,
  modified_at: now,
})

/** Issues the card and pays for it; the lock of the funding account serializes the account's orders. */
async function issue(tx: pg.PoolClient, { cardBin, keys }: Config, given: Given): Promise<string> {
  const { partnerId, order, ciphertextHash } = given
  const scope = await scopeOf(tx, given)
  const loadPaise = readLoad(order) ?? scope.denomination_paise
  if (loadPaise > LOAD_MAX_PAISE) fail('validation_failed', 'loadAmount: is over the limit')
  const now = new Date()
  const { userId, profile } = await userOf(tx, partnerId, order, now)
  const funding = `card_funding:${order.cardAccountId}`
  const [funds] = await LOCK_FUNDS(tx, [partnerId, funding])
  if (!funds || funds.balance < loadPaise) fail('insufficient_funds')
  const number = drawNumber(cardBin)
  const { dueAt, ...expiry } = validityFrom(now)
  const card: CardRow = {
    ...newCard(order.physicalCard ?? false, loadPaise, now),
    ...scope,
    ...expiry,
    user_id: userId,
    card_account_id: order.cardAccountId,
    masked_number: `${number.slice(0, 6)}XXXXXX${number.slice(-4)}`,
    holder: { ...profile, ...holderOf(order) },
  }
  const record = toCardRecord(card)
  await ISSUE(tx, [
    `card:${card.svc_card_id}`,
    partnerId,
    loadPaise,
    now,
    funding,
    card.load_transfer_id.replace('trf', 'jrn'),
    businessDay(now),
    card.load_transfer_id,
    card.svc_card_id,
    card.company_id,
    card.card_account_id,
    userId,
    encryptFor(keys.cardNumber, number, card.svc_card_id),
    digestOf(keys.cardNumberDigest, number),
    card.masked_number,
    card.token,
    card.expiry_month,
    card.expiry_year,
    card.status,
    card.physical,
    card.holder,
    ciphertextHash,
    dueAt,
    newId('evt'),
    record,
  ])
  return JSON.stringify({ code: 0, message: 'Success', payload: record })
}

export function mountCards(app: FastifyInstance, services: Services): void {
  const { pool, access, config } = services
  const read = orderReader(services)
  app.route({
    method: 'POST',
    url: '/api/v0/partner/svcCard',
    config: { failureEnvelope: 'code' },
    onRequest: access.partner('cards:write', false),
    async handler(request) {
      const { tenantId, headers, body } = request
      const { content, ciphertextHash } = await read(tenantId, jweOf(body))
      if (!request.validateInput(content, ORDER)) fail('validation_failed')
      const order = content as Order
      const given = headers['idempotency-key']
      const key = {
        tenantId,
        route: ROUTE,
        key: typeof given === 'string' ? given : `jwe ${ciphertextHash.toString('base64url')}`,
        requestHash: createHash('sha256').update(JSON.stringify(order)).digest(),
        ciphertextHash,
      }
      return command(pool, config.keys.storedResponse, key, (tx) =>
        issue(tx, config, { partnerId: tenantId, order, ciphertextHash }),
      )
    },
  })
}
