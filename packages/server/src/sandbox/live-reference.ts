import { createSecretKey } from 'node:crypto'
import { encrypt } from '@svc/jwe/jwe'
import { invariant, required } from '@svc/kernel/invariant'
import type { SelfCall, Services } from '../http/operation.ts'
import type { Examples, LiveReference } from '../http/worked-examples.ts'
import { readSandboxFile, type SandboxFile } from './demo.ts'
import { coinRequests, coinsForReference } from './live-coins.ts'
import { disputeRequests, disputesForReference } from './live-disputes.ts'
import { partnerForReference, partnerRequests } from './live-partner.ts'
import { live, type Props, type Request, valuesOf } from './live-values.ts'
import { cardMessages, signedExamples } from './signed-examples.ts'

/** Fills the recorded examples with the credentials and records of this sandbox. */
export class LiveExamples {
  readonly #services: Services
  /** By day and merchant: a reset of the sandbox takes the records away. */
  #known: { readonly merchantId: string; readonly day: string; readonly props: Props } | undefined

  constructor(services: Services) {
    this.#services = services
  }

  /** `undefined` until the demo tenants exist. */
  async fill(recorded: Examples): Promise<LiveReference | undefined> {
    const demo = await readSandboxFile(this.#services.config.DATA_DIR)
    if (!demo) return undefined
    const merchant = await this.#merchantToken(demo)
    const partner = await this.#partnerToken(demo)
    const { merchantId } = demo.merchant
    const day = this.#today()
    if (this.#known?.merchantId !== merchantId || this.#known.day !== day)
      this.#known = { merchantId, day, props: await this.#props(demo, merchant, partner.token) }
    const { props } = this.#known
    const values = valuesOf(demo, props)
    const order = () => this.#encrypted(demo, { loadAmount: '500' })
    const [single, first, second] = [await order(), await order(), await order()]
    const own = this.#ownRequests(demo, props, single, `${first}\n${second}`)
    const examples = Object.fromEntries(
      Object.entries(recorded).map(([id, list]) => [
        id,
        list.map((example) => {
          const request = example.status < 400 ? live(example.request, values, own[id]) : example.request
          return { ...example, request }
        }),
      ]),
    )
    const { clientId, clientSecret } = demo.incentivePartner
    return {
      examples: signedExamples(examples, this.#services),
      secrets: {
        merchant: { 'x-scalar-secret-token': merchant },
        partner: {
          'x-scalar-secret-token': partner.token,
          'x-scalar-secret-client-id': clientId,
          'x-scalar-secret-client-secret': clientSecret,
        },
        client: { 'x-scalar-secret-username': clientId, 'x-scalar-secret-password': clientSecret },
      },
      cookie: partner.cookie,
    }
  }

  async #call(call: SelfCall): Promise<{ payload: Record<string, string>; text: string }> {
    const { status, body } = await this.#services.selfCall(call)
    invariant(
      status === 200,
      `${call.path} of the reference's examples returned ${status}: ${body.slice(0, 200)}`,
    )
    const { payload = {} } = JSON.parse(body) as { payload?: Record<string, string> }
    return { payload, text: body }
  }

  async #merchantToken({ merchant }: SandboxFile): Promise<string> {
    const headers = { 'api-key': merchant.apiKey }
    const { text } = await this.#call({ method: 'POST', path: '/api/v0/merchant/token', headers })
    return (JSON.parse(text) as { token: string }).token
  }

  async #partnerToken({ incentivePartner }: SandboxFile): Promise<{ token: string; cookie: string }> {
    const { clientId, clientSecret } = incentivePartner
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const { status, body, headers } = await this.#services.selfCall({
      method: 'POST',
      path: '/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(new URLSearchParams(form).toString()),
    })
    invariant(status === 200, 'the demo partner gets a token')
    const { access_token: token } = JSON.parse(body) as { access_token: string }
    return { token, cookie: String(headers['set-cookie']) }
  }

  #today(): string {
    return new Date(this.#services.clock.now()).toISOString().slice(0, 10)
  }

  #encrypted({ incentivePartner }: SandboxFile, order: object): Promise<string> {
    const { companyId, cardAccountId, sharedKey } = incentivePartner
    const holder = { firstName: 'Asha', lastName: 'Rao', mobile: '9000000001' }
    return encrypt(Buffer.from(JSON.stringify({ companyId, cardAccountId, ...holder, ...order })), {
      kid: sharedKey.kid,
      alg: 'A256KW',
      enc: 'A256GCM',
      key: createSecretKey(Buffer.from(sharedKey.k, 'base64url')),
    })
  }

  async #props(demo: SandboxFile, merchant: string, partner: string): Promise<Props> {
    const post = async (path: string, token: string, key: string, body: unknown, type = 'application/json') =>
      (
        await this.#call({
          method: 'POST',
          path,
          headers: {
            authorization: `Bearer ${token}`,
            partnerid: demo.incentivePartner.partnerId,
            'content-type': type,
            'idempotency-key': key,
          },
          body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
        })
      ).payload
    const jose = 'application/jose'
    const cards = '/api/v0/partner/svcCard'
    const day = this.#today()
    const endpoint = { url: `${demo.baseUrl}/livez` }
    const code = await post('/api/v0/qr-code', merchant, `reference-code-${day}`, {
      qrName: 'To be cancelled',
    })
    const card = await post(cards, partner, `reference-card-${day}`, await this.#encrypted(demo, {}), jose)
    const order = await this.#encrypted(demo, {})
    const locked = await post(cards, partner, `reference-locked-${day}`, order, jose)
    const physical = await this.#encrypted(demo, { physicalCard: true })
    const inactive = await post(cards, partner, `reference-physical-${day}`, physical, jose)
    const lines = await this.#encrypted(demo, { loadAmount: '100' })
    const bulk = await post(
      `${cards}/bulk`,
      partner,
      `reference-bulk-${Date.now()}`,
      lines,
      'application/x-ndjson',
    )
    const hook = await post('/api/v0/webhook-endpoints', merchant, `reference-hook-${day}`, endpoint)
    const deleted = await post('/api/v0/webhook-endpoints', merchant, `reference-old-hook-${day}`, endpoint)
    return {
      ...(await this.#refundAndPayout(demo, merchant)),
      cancelledCodeId: required(code['qrCodeId'], 'a code'),
      svcCardId: required(card['svcCardId'], 'a card'),
      cardToken: required(card['token'], 'the token of a card'),
      lockedCardId: required(locked['svcCardId'], 'a card'),
      physicalCardId: required(inactive['svcCardId'], 'a physical card'),
      ...(await this.#endingCards(demo, partner)),
      ...(await partnerForReference((selfCall) => this.#call(selfCall), demo, partner, day)),
      jobId: required(bulk['jobId'], 'a bulk job'),
      endpointId: required(hook['endpointId'], 'an endpoint'),
      deletedEndpointId: required(deleted['endpointId'], 'an endpoint'),
      eventId: await this.#eventId(merchant),
      ...(await coinsForReference((selfCall) => this.#call(selfCall), demo, partner, day)),
    }
  }

  /** A card to be replaced, and a blocked one whose balance is to be returned. */
  async #endingCards(demo: SandboxFile, partner: string) {
    const headers = { authorization: `Bearer ${partner}`, partnerid: demo.incentivePartner.partnerId }
    const path = '/api/v0/partner/svcCard'
    const issue = async (which: string): Promise<string> => {
      const key = {
        'idempotency-key': `reference-${which}-${this.#today()}`,
        'content-type': 'application/jose',
      }
      const body = Buffer.from(await this.#encrypted(demo, {}))
      const { payload } = await this.#call({ method: 'POST', path, headers: { ...headers, ...key }, body })
      return required(payload['svcCardId'], 'a card')
    }
    const [lostCardId, unwantedCardId] = [await issue('lost'), await issue('unwanted')]
    await this.#call({
      method: 'PATCH',
      path: `${path}/${unwantedCardId}/status`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ status: 'BL', reason: 'Not wanted' })),
    })
    return { lostCardId, unwantedCardId }
  }

  async #refundAndPayout(demo: SandboxFile, merchant: string) {
    // The payout first: what is paid out cannot be refunded.
    await this.#paymentId(demo)
    const payoutId = await this.#payoutId(merchant)
    const call = (selfCall: SelfCall) => this.#call(selfCall)
    const disputes = await disputesForReference(this.#services, call, demo.qrCodeId)
    return { ...(await this.#refund(demo, merchant)), ...disputes, payoutId }
  }

  async #refund(demo: SandboxFile, merchant: string): Promise<{ paymentId: string; refundId: string }> {
    const paymentId = await this.#paymentId(demo)
    const { payload } = await this.#call({
      method: 'POST',
      path: `/api/v0/payments/${paymentId}/refunds`,
      headers: { authorization: `Bearer ${merchant}`, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ amount: 1, referenceNumber: `reference-${this.#today()}` })),
    })
    return { paymentId, refundId: required(payload['refundId'], 'a refund') }
  }

  /** Of a new payout, or of the last one if nothing is due. */
  async #payoutId(merchant: string): Promise<string> {
    const headers = { authorization: `Bearer ${merchant}`, 'content-type': 'application/json' }
    const made = await this.#services.selfCall({
      method: 'POST',
      path: '/sandbox/payouts',
      headers,
      body: Buffer.from('{}'),
    })
    const { payload } = await this.#call({ method: 'GET', path: '/api/v0/payouts?limit=1', headers })
    const [last] = payload['data'] as unknown as { payoutId: string }[]
    return required(last?.payoutId, `a payout, after ${made.status}`)
  }

  async #paymentId({ qrCodeId }: SandboxFile): Promise<string> {
    const utr = `REFERENCE${this.#services.clock.now()}`
    const { payload } = await this.#call({
      method: 'POST',
      path: '/sandbox/upi/pay',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ qrCodeId, utr, amount: 249.5, payerVpa: 'asha@bank' })),
    })
    const { paymentId } = (payload['payment'] ?? {}) as { paymentId?: string }
    return required(paymentId, 'a payment')
  }

  async #eventId(merchant: string): Promise<string> {
    const headers = { authorization: `Bearer ${merchant}` }
    const { payload } = await this.#call({ method: 'GET', path: '/api/v0/events?limit=1', headers })
    return (payload['data'] as unknown as { id: string }[])[0]?.id ?? 'evt_none'
  }

  /** What differs from the recorded request by more than its ids. */
  #ownRequests(demo: SandboxFile, props: Props, order: string, lines: string): Record<string, Request> {
    const now = this.#services.clock.now()
    const at = (ms: number) => new Date(now + ms).toISOString()
    return {
      getPayment: { params: { paymentId: props.paymentId } },
      createRefund: {
        params: { paymentId: props.paymentId },
        body: { amount: 0.01, referenceNumber: `refund-${now}` },
      },
      getRefund: { params: { paymentId: props.paymentId, refundId: props.refundId } },
      ...disputeRequests(props, now),
      getPayout: { params: { payoutId: props.payoutId } },
      listPayoutLines: { params: { payoutId: props.payoutId } },
      getPayoutStatement: { params: { payoutId: props.payoutId } },
      sandboxPayOut: { body: {} },
      // Of another merchant: the credentials on the page stay valid.
      sandboxGetClock: { params: { tenantId: demo.otherMerchant.merchantId } },
      sandboxAdvanceClock: { params: { tenantId: demo.otherMerchant.merchantId }, body: { bySeconds: 60 } },
      listRefunds: { params: { paymentId: props.paymentId } },
      cancelQrCode: { params: { qrCodeId: props.cancelledCodeId } },
      // The page sends a string as it is, so the string has to be JSON text; one pair of quotes is removed on the way.
      createGiftCard: {
        body: `"${JSON.stringify(order)}"`,
        headers: { 'Idempotency-Key': order.slice(-20) },
      },
      bulkIssueGiftCards: { body: lines },
      ...partnerRequests(demo, props, now),
      ...coinRequests(demo, props, now),
      listEvents: { query: { after: '0', limit: '10' } },
      streamEvents: { query: { after: '0' } },
      deleteWebhookEndpoint: { params: { endpointId: props.deletedEndpointId } },
      updateWebhookEndpoint: { body: { description: 'Updated from the reference' } },
      replayWebhookEvents: { body: { from: at(-3_600_000), to: at(0) } },
      ...cardMessages(props.cardToken, now),
      sandboxPay: { body: { qrCodeId: demo.qrCodeId, amount: 249.5, payerVpa: 'asha@bank' } },
      sandboxSpend: { body: { amount: 1, channel: 'pos', merchantName: 'Corner Shop' } },
      sandboxRefund: { body: { amount: 1 } },
      sandboxCardMessage: { body: { type: 'authorization', amount: 1, behaviour: 'timeout' } },
    }
  }
}
