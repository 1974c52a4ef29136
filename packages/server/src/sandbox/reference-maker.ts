import { createSecretKey } from 'node:crypto'
import { encrypt } from '@svc/jwe/jwe'
import { invariant, required } from '@svc/kernel/invariant'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { TokenServices } from '../access/authenticate.ts'
import { SIGNATURE_HEADER, signNotice } from '../http/notice-signature.ts'
import type { SelfCall } from '../http/operation.ts'
import { railKeys } from '../rails/authenticate-rail.ts'
import { type ReferenceCredentials, referenceCredentials } from './reference-credentials.ts'
import { type Found, findRecords, MARKS, type Records } from './reference-records.ts'
import type { ReferenceTenants } from './reference-tenants.ts'

/** How often used examples are replaced, besides right after a write of the reference's tenants. */
const EVERY_MS = 60_000
const ENDPOINTS_KEPT = 8

const SURPLUS_ENDPOINTS = statement<{ endpoint_id: string }>(
  'reference_surplus_endpoints',
  `select endpoint_id from webhook_endpoints where tenant_id = $1 and description <> '${MARKS.deleted}'
   order by endpoint_id desc offset ${ENDPOINTS_KEPT}`,
)

const CARDS = '/api/v0/partner/svcCard'
const COINS = '/api/v0/svc-coins'

interface Tools {
  readonly services: TokenServices
  readonly tenants: ReferenceTenants
  readonly credentials: ReferenceCredentials
  /** What was found or made so far. */
  readonly found: Found
}

type Payload = Readonly<Record<string, string>>

/** A request to ourselves; it must succeed. */
async function call({ services }: Tools, request: SelfCall): Promise<Payload> {
  const { status, body } = await services.selfCall(request)
  invariant(status === 200, `${request.path} returned ${status}: ${body.slice(0, 300)}`)
  return (JSON.parse(body) as { payload?: Payload }).payload ?? {}
}

const json = (body: object): Buffer => Buffer.from(JSON.stringify(body))

const asMerchant = (tools: Tools, path: string, body: object, method: SelfCall['method'] = 'POST') =>
  call(tools, {
    method,
    path,
    headers: {
      authorization: `Bearer ${tools.credentials.merchantToken}`,
      'content-type': 'application/json',
    },
    body: json(body),
  })

const asPartner = (
  tools: Tools,
  path: string,
  body: object | string,
  { method = 'POST', type = 'application/json' }: { method?: SelfCall['method']; type?: string } = {},
) =>
  call(tools, {
    method,
    path,
    headers: {
      authorization: `Bearer ${tools.credentials.partner?.token}`,
      partnerid: tools.tenants.partner.partnerId,
      'content-type': type,
      // Orders of examples are alike, and each is to be a card of its own (decision C22).
      'idempotency-key': tools.services.newId('req'),
    },
    ...(method !== 'GET' && { body: typeof body === 'string' ? Buffer.from(body) : json(body) }),
  })

/** An encrypted order of a gift card. */
export function encryptedOrder(
  { partner: { companyId, cardAccountId, sharedKey } }: ReferenceTenants,
  order: object,
): Promise<string> {
  const holder = { firstName: 'Kavya', lastName: MARKS.holder, mobile: '9000000020' }
  return encrypt(json({ companyId, cardAccountId, ...holder, ...order }), {
    kid: sharedKey.kid,
    alg: 'A256KW',
    enc: 'A256GCM',
    key: createSecretKey(Buffer.from(sharedKey.k, 'base64url')),
  })
}

const issueCard = async (tools: Tools, order: object): Promise<Payload> =>
  asPartner(tools, CARDS, await encryptedOrder(tools.tenants, order), { type: 'application/jose' })

const issue =
  (lastName: string, mobile: string, more: object = {}) =>
  (tools: Tools) =>
    issueCard(tools, { lastName, mobile, ...more })

const nowMs = ({ services, tenants }: Tools): number => services.clock.of(tenants.merchant.merchantId).now()

async function pay(tools: Tools): Promise<void> {
  const qrCodeId = required(tools.found.qrCodeId, 'the code of the reference')
  const utr = `REFERENCE${tools.services.clock.now()}`
  const body = json({ qrCodeId, utr, amount: 249.5, payerVpa: 'asha@bank' })
  const headers = { 'content-type': 'application/json' }
  await call(tools, { method: 'POST', path: '/sandbox/upi/pay', headers, body })
}

async function payOut(tools: Tools): Promise<void> {
  await pay(tools)
  await asMerchant(tools, '/sandbox/payouts', {})
}

async function dispute(tools: Tools): Promise<void> {
  const { services, found } = tools
  const utr = required(found.utr, 'a payment')
  const caseReference = `REFERENCE${services.newId('req')}`
  const body = json({ caseReference, utr, amount: 1, reason: 'Goods not received' })
  const key = required(railKeys(services, 'upi')[0], 'a key of the rail')
  const headers = {
    'content-type': 'application/json',
    [SIGNATURE_HEADER]: signNotice(body, key, services.clock.now()),
  }
  await call(tools, { method: 'POST', path: '/rails/upi/disputes', headers, body })
}

const attachment = (tools: Tools) =>
  call(tools, {
    method: 'POST',
    path: `/api/v0/disputes/${tools.found.disputeId}/attachments?name=delivery-note.pdf`,
    headers: {
      authorization: `Bearer ${tools.credentials.merchantToken}`,
      'content-type': 'application/pdf',
    },
    body: Buffer.from('%PDF-1.7 signed by the recipient'),
  })

const endpoint = (description: string) => (tools: Tools) =>
  asMerchant(tools, '/api/v0/webhook-endpoints', { url: `${tools.services.publicUrl()}/livez`, description })

/** Blocked, with its balance: to be returned to the card account. */
async function unwanted(tools: Tools): Promise<void> {
  const { svcCardId } = await issueCard(tools, { lastName: MARKS.unwanted, mobile: '9000000024' })
  const change = { status: 'BL', reason: 'Not wanted' }
  await asPartner(tools, `${CARDS}/${svcCardId}/status`, change, { method: 'PATCH' })
}

/** Of a meal card account with money, from which it is loaded again. */
async function reloadable(tools: Tools): Promise<void> {
  const { companyId } = tools.tenants.partner
  const { cardAccountId } = await asPartner(tools, '/api/v0/partner/card-accounts', {
    companyId,
    product: 'incentive',
    accountType: 'MEAL',
    binType: 'MEAL',
    cardProgramme: 'Meal cards',
    denomination: 500,
    unallocateFundAllowed: true,
  })
  const instructions = `/api/v0/partner/card-accounts/${cardAccountId}/funding-instructions`
  const { virtualAccountNumber } = await asPartner(tools, instructions, {}, { method: 'GET' })
  const body = json({ virtualAccountNumber, amount: 50_000 })
  const headers = { 'content-type': 'application/json' }
  await call(tools, { method: 'POST', path: '/sandbox/bank/transfers', headers, body })
  await issueCard(tools, { cardAccountId, lastName: MARKS.reloadable, mobile: '9000000025' })
}

/** Of a card that spends nothing: it declines no example. */
const spendRule = (name: string) => (tools: Tools) =>
  asPartner(tools, '/api/v0/partner/spend-rules', {
    name,
    svcCardId: tools.found.lockedCardId,
    dayAmount: 2_000,
  })

const allocate = (requestId: string) => (tools: Tools) => {
  const { companyId, userId } = tools.tenants.partner
  return asPartner(tools, `${COINS}/allocate`, { requestId, event: MARKS.pendingEvent, userId, companyId })
}

/** How each record is made where the database has none; those that others need come first. */
const MAKERS: readonly (readonly [keyof Records, (tools: Tools) => Promise<unknown>])[] = [
  ['qrCodeId', (tools) => asMerchant(tools, '/api/v0/qr-code', { qrName: MARKS.counter, multipleUse: true })],
  ['cancelledCodeId', (tools) => asMerchant(tools, '/api/v0/qr-code', { qrName: MARKS.cancelled })],
  // The payout first: what is paid out cannot be refunded.
  ['payoutId', payOut],
  ['paymentId', pay],
  [
    'refundId',
    (tools) =>
      asMerchant(tools, `/api/v0/payments/${tools.found.paymentId}/refunds`, {
        amount: 1,
        referenceNumber: `reference-${nowMs(tools)}`,
      }),
  ],
  ['disputeId', dispute],
  ['lostDisputeId', dispute],
  ['attachmentId', attachment],
  ['endpointId', endpoint('Of the reference')],
  ['deletedEndpointId', endpoint(MARKS.deleted)],
  ['svcCardId', issue(MARKS.holder, '9000000020')],
  ['lockedCardId', issue(MARKS.locked, '9000000021')],
  ['physicalCardId', issue(MARKS.physical, '9000000022', { physicalCard: true })],
  ['lostCardId', issue(MARKS.lost, '9000000023')],
  ['unwantedCardId', unwanted],
  ['reloadableCardId', reloadable],
  ['spendRuleId', spendRule(MARKS.rule)],
  ['removedRuleId', spendRule(MARKS.removedRule)],
  [
    'leavingUserId',
    (tools) =>
      asPartner(tools, '/api/v0/partner/users', {
        companyId: tools.tenants.partner.companyId,
        firstName: MARKS.leaving,
      }),
  ],
  [
    'virtualAccount',
    (tools) =>
      asPartner(
        tools,
        `/api/v0/partner/card-accounts/${tools.tenants.partner.cardAccountId}/funding-instructions`,
        {},
        { method: 'GET' },
      ),
  ],
  [
    'jobId',
    async (tools) =>
      asPartner(tools, `${CARDS}/bulk`, await encryptedOrder(tools.tenants, { loadAmount: '100' }), {
        type: 'application/x-ndjson',
      }),
  ],
  [
    'otherConfigId',
    (tools) => asPartner(tools, COINS, { event: `example.${nowMs(tools)}`, amount: 10, title: 'Example' }),
  ],
  [
    'pendingConfigId',
    (tools) =>
      asPartner(tools, COINS, {
        event: MARKS.pendingEvent,
        amount: 40,
        title: 'Order',
        activation: 'CONFIRMATION',
      }),
  ],
  ['allocationId', allocate(MARKS.confirmed)],
  ['voidedAllocationId', allocate(MARKS.voided)],
]

/** Endpoints of many a "Test Request": a tenant may have twenty. */
async function removeSurplusEndpoints(tools: Tools): Promise<void> {
  const { merchantId } = tools.tenants.merchant
  const rows = await tools.services.database.read([merchantId], (tx) =>
    tx.query(SURPLUS_ENDPOINTS, [merchantId]),
  )
  for (const { endpoint_id: id } of rows)
    await asMerchant(tools, `/api/v0/webhook-endpoints/${id}`, {}, 'DELETE')
}

/** Makes the records of the reference's examples: once with the demo data, and again what readers have used. */
export class ReferenceMaker {
  readonly #services: TokenServices
  #tenants: ReferenceTenants | undefined
  readonly loop: Loop

  constructor(services: TokenServices) {
    this.#services = services
    const work = () => this.#makeMissing()
    this.loop = new Loop({ name: 'reference_examples', everyMs: EVERY_MS, work, atStart: true }, services)
  }

  /** Makes what is missing, then goes on in the background. */
  async keep(tenants: ReferenceTenants): Promise<void> {
    this.#tenants = tenants
    this.loop.start()
    await this.loop.idle()
  }

  /** After a write of this tenant, which may have used an example. */
  used(tenantId: string | undefined): void {
    if (!this.#tenants || tenantId === undefined) return
    const { merchant, partner } = this.#tenants
    if (tenantId === merchant.merchantId || tenantId === partner.partnerId) this.loop.wake()
  }

  async #makeMissing(): Promise<void> {
    const services = this.#services
    const tenants = required(this.#tenants, 'the tenants of the reference')
    const failures: unknown[] = []
    let found = await findRecords(services, tenants)
    const credentials = referenceCredentials(services, tenants, found)
    for (const [name, make] of MAKERS) {
      if (found[name] !== null) continue
      try {
        await make({ services, tenants, credentials, found })
        found = await findRecords(services, tenants)
      } catch (error) {
        failures.push(error)
      }
    }
    await removeSurplusEndpoints({ services, tenants, credentials, found })
    // The page names the operations without an example; the loop's metric and the log have the reasons.
    if (failures.length > 0)
      throw new AggregateError(failures, `examples of the reference: ${failures.join('; ')}`)
  }
}
