import { randomBytes } from 'node:crypto'
import { encrypt } from '@svc/jwe/jwe'
import type { AnyBed, Merchant, Partner } from './bed.ts'
import { Attempts, Balancer, Caller, type HttpResponse, type Intent, Login, Unsettled } from './caller.ts'
import { cardModel, type QrCodeOp, qrCodeModel, walletModel } from './objects.ts'
import type { Random } from './random.ts'
import { Record } from './record.ts'

/** Callers that race on the same code, wallet and card; so few that all their orders can be looked through. */
const CALLERS_A_GROUP = 4
const COINS_EVENT = 'chaos.award'
const COINS_AN_AWARD = 10
/** Share of acknowledged writes that are sent once more at once. */
const REPEATED = 0.25
const COINS = '/api/v0/svc-coins'
const CARDS = '/api/v0/partner/svcCard'

// oxlint-disable-next-line typescript/no-explicit-any -- answers are read the way callers read them, untyped
type Json = any

interface Group {
  readonly merchant: { readonly login: Login }
  readonly userId: string
  code: Promise<Code>
  cardId: string | undefined
}

interface Code {
  readonly qrCodeId: string
  readonly tr: string
}

const key = (): string => randomBytes(12).toString('hex')

/** Mixed load on all processes, each caller in a circle until told to stop; a caller stops between two intents. */
export class Load {
  readonly record = new Record()
  readonly attempts = new Attempts()
  readonly caller: Caller
  readonly #bed: AnyBed
  readonly #balancer: Balancer
  readonly #partner: Login
  readonly #groups: Group[] = []
  readonly #random: Random
  #running: Promise<void>[] = []
  #stopping = false

  private constructor(bed: AnyBed, random: Random, groups: number) {
    this.#bed = bed
    this.#random = random
    this.#balancer = new Balancer(bed.front ?? bed.members, groups * CALLERS_A_GROUP)
    this.caller = new Caller(this.#balancer, this.attempts)
    this.#partner = partnerLogin(bed.partner)
  }

  /** Makes what the callers need: logins, an award of coins, the first codes. */
  static async open(bed: AnyBed, random: Random): Promise<Load> {
    const { userIds } = bed.partner
    const load = new Load(bed, random, userIds.length)
    const logins = bed.merchants.map(merchantLogin)
    await load.#write(load.#partner, COINS, {
      event: COINS_EVENT,
      amount: COINS_AN_AWARD,
      title: 'Award of a run',
    })
    for (const [n, userId] of userIds.entries()) {
      const merchant = { login: logins[n % logins.length]! }
      load.#groups.push({ merchant, userId, code: load.#newCode(merchant.login, true), cardId: undefined })
    }
    await Promise.all(load.#groups.map(({ code }) => code))
    return load
  }

  start(): void {
    this.#stopping = false
    this.#running = this.#groups.flatMap((group) =>
      Array.from({ length: CALLERS_A_GROUP }, () => this.#circle(group)),
    )
  }

  /** Resolves when every request has its definite answer. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#running)
    this.#running = []
  }

  close(): Promise<void> {
    return this.#balancer.close()
  }

  async #circle(group: Group): Promise<void> {
    while (!this.#stopping)
      try {
        await this.#step(group)
      } catch (error) {
        if (!(error instanceof Unsettled)) throw error
        this.record.surprise(error.message)
      }
  }

  async #step(group: Group): Promise<void> {
    const chance = this.#random.next()
    if (chance < 0.3) await this.#credit(await group.code, true)
    else if (chance < 0.36) await this.#endCode(group)
    else if (chance < 0.44) await this.#singleUse(group)
    else if (chance < 0.54) await this.#readCode(group, await group.code, true)
    else if (chance < 0.68) await this.#order(group)
    else if (chance < 0.78) await this.#lockCard(group)
    else if (chance < 0.88) await this.#award(group)
    else if (chance < 0.94) await this.#redeem(group)
    else if (chance < 0.97) await this.#balance(group)
    else if (chance < 0.985) group.merchant.login.renew()
    else await this.#search(group)
  }

  /** A write with an Idempotency-Key, whose answer must repeat. Anything but 200 is for the caller of this to judge. */
  async #write(
    as: Login,
    path: string,
    body: object,
    method: 'POST' | 'PATCH' = 'POST',
  ): Promise<{ response: HttpResponse; payload: Json; code: string }> {
    const intent: Intent = {
      method,
      path,
      as,
      headers: { 'idempotency-key': key() },
      body: JSON.stringify(body),
    }
    return this.#reported(intent, await this.caller.send(intent))
  }

  async #reported(
    intent: Intent,
    response: HttpResponse,
  ): Promise<{ response: HttpResponse; payload: Json; code: string }> {
    if (response.status === 200 && intent.method !== 'GET') await this.#keep(intent, response)
    return this.#read(response)
  }

  /** Keeps the answer, and at times sends it again at once, like a caller who lost it (promise E5). */
  async #keep(intent: Intent, response: HttpResponse): Promise<void> {
    this.record.keep(intent, response)
    if (this.#random.next() > REPEATED) return
    this.record.repeats++
    const { status, text } = await this.caller.send(intent)
    if (status !== response.status || text !== response.text)
      this.record.surprise(`a repeat of ${intent.method} ${intent.path} was answered otherwise`)
  }

  #read(response: HttpResponse): { response: HttpResponse; payload: Json; code: string } {
    const json: Json = JSON.parse(response.text)
    const code: string = response.status === 200 ? '' : JSON.parse(json.payload).error
    return { response, payload: json.payload, code }
  }

  #unexpected(what: string, { response, code }: { response: HttpResponse; code: string }): void {
    this.record.surprise(`${what} was answered ${response.status} ${code}`)
  }

  async #newCode(as: Login, multipleUse: boolean): Promise<Code> {
    const made = await this.#write(as, '/api/v0/qr-code', { multipleUse, qrName: `code ${key()}` })
    const { qrCodeId } = made.payload
    this.record.acknowledge('QR code', qrCodeId)
    const [row] = await this.#bed.server.query<{ tr: string }>(
      'select tr from qr_codes where qr_code_id = $1',
      [qrCodeId],
    )
    if (!row) this.record.surprise('a code that was acknowledged is not there')
    return { qrCodeId, tr: row?.tr ?? '' }
  }

  async #credit({ qrCodeId, tr }: Code, multipleUse: boolean): Promise<void> {
    const utr = key().toUpperCase()
    const amount = 1 + this.#random.below(500)
    // Half of the banks send a key besides; it has no effect (decision Q11).
    const keyed = this.#random.next() < 0.5
    const intent: Intent = {
      method: 'POST',
      path: '/rails/upi/credits',
      railKey: this.#bed.railKey,
      ...(keyed && { headers: { 'idempotency-key': utr } }),
      body: JSON.stringify({ utr, tr, amount, payerVpa: 'payer@bank' }),
    }
    const response = await this.caller.send(intent)
    const reported = this.#read(response)
    // A repeat returns the payment as it is then, which a refund changes.
    if (reported.payload.status === 'ACCEPTED') await this.#keep(intent, response)
    if (reported.code) return this.#unexpected('a credit', reported)
    const { status, reason, paymentId } = reported.payload
    this.record.acknowledge('payment', paymentId)
    const outcome: QrCodeOp = { kind: 'credit', utr, outcome: status === 'ACCEPTED' ? status : reason }
    this.record.observe(`code ${qrCodeId}`, qrCodeModel(multipleUse), reported.response, outcome)
    if (status !== 'ACCEPTED' && this.#random.next() < 0.5) await this.#refund(utr)
  }

  async #refund(utr: string): Promise<void> {
    const { railKey } = this.#bed
    const headers = { 'idempotency-key': `refund ${utr}`.replace(' ', '-') }
    const body = JSON.stringify({ utr })
    const intent: Intent = { method: 'POST', path: '/rails/upi/refunds', railKey, headers, body }
    const reported = await this.#reported(intent, await this.caller.send(intent))
    if (reported.payload.status !== 'REFUNDED') this.#unexpected('a refund', reported)
  }

  async #cancel(as: Login, { qrCodeId }: Code, multipleUse: boolean): Promise<void> {
    const reported = await this.#write(as, `/api/v0/qr-code/${qrCodeId}/cancel`, {}, 'PATCH')
    if (reported.code) return this.#unexpected('a cancel', reported)
    const op = { kind: 'cancel', modifiedOn: reported.payload.modifiedOn } as const
    this.record.observe(`code ${qrCodeId}`, qrCodeModel(multipleUse), reported.response, op)
  }

  async #endCode(group: Group): Promise<void> {
    const code = await group.code
    const { login } = group.merchant
    await Promise.all([
      this.#cancel(login, code, true),
      this.#credit(code, true),
      this.#random.next() < 0.5 ? this.#cancel(login, code, true) : undefined,
    ])
    // Several callers of the group may end the same code: only the first makes the next one.
    if ((await group.code).qrCodeId === code.qrCodeId) {
      group.code = this.#newCode(login, true)
      await group.code
    }
  }

  /** A code for one payment, with three who want to pay it and at times one who cancels it. */
  async #singleUse(group: Group): Promise<void> {
    const { login } = group.merchant
    const code = await this.#newCode(login, false)
    const cancels = this.#random.next() < 0.4
    await Promise.all([
      this.#credit(code, false),
      this.#credit(code, false),
      cancels ? this.#cancel(login, code, false) : this.#credit(code, false),
      this.#readCode(group, code, false),
    ])
  }

  async #readCode({ merchant }: Group, { qrCodeId }: Code, multipleUse: boolean): Promise<void> {
    const path = `/api/v0/qr-code/${qrCodeId}`
    const intent: Intent = { method: 'GET', path, as: merchant.login }
    const reported = await this.#reported(intent, await this.caller.send(intent))
    if (reported.code) return this.#unexpected('a look at an acknowledged code', reported)
    const op = { kind: 'read', status: reported.payload.status } as const
    this.record.observe(`code ${qrCodeId}`, qrCodeModel(multipleUse), reported.response, op)
  }

  /** Orders a card: the encrypted request alone makes a repeat safe, half of the callers send a key besides. */
  async #order(group: Group): Promise<void> {
    const { companyId, cardAccountId, sharedKey } = this.#bed.partner
    const order = { companyId, cardAccountId, mobile: `9${String(this.#random.below(1e9)).padStart(9, '0')}` }
    const body = JSON.stringify(
      await encrypt(Buffer.from(JSON.stringify({ ...order, loadAmount: '1' })), sharedKey),
    )
    const headers = this.#random.next() < 0.5 ? { 'idempotency-key': key() } : {}
    const intent: Intent = { method: 'POST', path: CARDS, as: this.#partner, headers, body }
    const reported = await this.#reported(intent, await this.caller.send(intent))
    if (reported.code) return this.#unexpected('an order of a card', reported)
    this.record.acknowledge('gift card', reported.payload.svcCardId)
    group.cardId ??= reported.payload.svcCardId
  }

  async #lockCard(group: Group): Promise<void> {
    const { cardId } = group
    if (cardId === undefined) return
    const status = this.#random.pick(['L', 'UL'])
    const reads = this.#random.next() < 0.4
    const intent: Intent = { method: 'GET', path: `${CARDS}/${cardId}`, as: this.#partner }
    const reported = reads
      ? await this.#reported(intent, await this.caller.send(intent))
      : await this.#write(this.#partner, `${CARDS}/${cardId}/status`, { status }, 'PATCH')
    if (reported.code) return this.#unexpected('a card', reported)
    const op = { kind: reads ? 'read' : 'set', status: reported.payload.cardStatus.name } as const
    this.record.observe(`card ${cardId}`, cardModel, reported.response, op)
  }

  async #award({ userId }: Group): Promise<void> {
    const { companyId } = this.#bed.partner
    const requestId = key()
    const body = { requestId, event: COINS_EVENT, userId, companyId }
    const reported = await this.#write(this.#partner, `${COINS}/allocate`, body)
    if (reported.code) return this.#unexpected('an award of coins', reported)
    this.record.acknowledge('coin award', reported.payload.allocationId)
    const op = { kind: 'add', coins: COINS_AN_AWARD, balance: reported.payload.balance } as const
    this.record.observe(`wallet ${userId}`, walletModel, reported.response, op)
  }

  async #redeem({ userId }: Group): Promise<void> {
    const amount = 1 + this.#random.below(25)
    const reported = await this.#write(this.#partner, `${COINS}/redeem`, { requestId: key(), userId, amount })
    if (reported.code === 'insufficient_coins') {
      const op = { kind: 'too little', coins: amount } as const
      return this.record.observe(`wallet ${userId}`, walletModel, reported.response, op)
    }
    if (reported.code) return this.#unexpected('a redemption of coins', reported)
    this.record.acknowledge('coin redemption', reported.payload.redemptionId)
    const op = { kind: 'take', coins: amount, balance: reported.payload.balance } as const
    this.record.observe(`wallet ${userId}`, walletModel, reported.response, op)
  }

  async #balance({ userId }: Group): Promise<void> {
    const intent: Intent = { method: 'GET', path: `${COINS}/users/${userId}/balance`, as: this.#partner }
    const reported = await this.#reported(intent, await this.caller.send(intent))
    if (reported.code) return this.#unexpected('a look at coins', reported)
    const op = { kind: 'read', balance: reported.payload.active } as const
    this.record.observe(`wallet ${userId}`, walletModel, reported.response, op)
  }

  /** What was acknowledged is found by the next search. */
  async #search({ merchant, cardId: svcCardId }: Group): Promise<void> {
    const { companyId, cardAccountId } = this.#bed.partner
    const body = JSON.stringify({ companyId, cardAccountId, svcCardId })
    const cards: Intent = { method: 'POST', path: `${CARDS}/search`, as: this.#partner, body }
    const found = svcCardId === undefined ? undefined : await this.caller.send(cards)
    if (found && JSON.parse(found.text).payload?.recordsCount !== 1)
      this.record.surprise(`a search for an acknowledged card was answered ${found.status}`)
    const codes = { method: 'POST', path: '/api/v0/qr-code/search', as: merchant.login } as const
    const page = await this.caller.send({ ...codes, body: JSON.stringify({ status: 'ACTIVE', limit: 20 }) })
    if (page.status !== 200) this.record.surprise(`a search for codes was answered ${page.status}`)
  }
}

const merchantLogin = ({ apiKey, merchantId }: Merchant): Login =>
  new Login(merchantId, async (send) => {
    const response = await send({
      method: 'POST',
      path: '/api/v0/merchant/token',
      headers: { 'api-key': apiKey },
    })
    return { authorization: `Bearer ${(JSON.parse(response.text) as { token: string }).token}` }
  })

export const partnerLogin = ({ partnerId, clientId, clientSecret }: Partner): Login =>
  new Login(partnerId, async (send) => {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(form).toString()
    const response = await send({ method: 'POST', path: '/oauth/token', headers, body })
    const { access_token: token } = JSON.parse(response.text) as { access_token: string }
    return {
      authorization: `Bearer ${token}`,
      partnerid: partnerId,
      cookie: String(response.headers['set-cookie']).split(';')[0]!,
    }
  })
