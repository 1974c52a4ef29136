import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import { createMerchant, setMerchantDisabled } from '@svc/core/tenants/merchant'
import { signNotice } from '@svc/server/http/notice-signature'
import type { Call, Tenant, Token, Touched } from './callers.ts'
import { ensure, type HttpResponse, RAIL_KEY, type World } from './world.ts'

const CAP_PAISE = 100_000_00

interface Code {
  readonly qrCodeId: string
  readonly merchant: Merchant
  readonly multipleUse: boolean
  readonly fixedPaise: number | undefined
  readonly expiryMs: number | undefined
  readonly referenceNumber: string | undefined
  tr: string
  cancelSentIn: number | undefined
  /** The answer to the first cancel that was acknowledged, and its round. */
  cancelled: { readonly text: string; readonly round: number; readonly receipt: Receipt } | undefined
  readonly accepted: Set<string>
  paysSent: number
}

/** What a receipt states: final for the code, whatever happens later. */
interface Receipt {
  readonly text: string
  readonly acceptedCount: number
}

function receiptOf({ headers }: HttpResponse): Receipt {
  const text = Buffer.from(String(headers['svc-receipt']).split('.')[1] ?? '', 'base64url').toString()
  return { text, acceptedCount: JSON.parse(text || '{}').acceptedCount }
}

interface Payment {
  readonly utr: string
  readonly code: Code | undefined
  readonly amounts: Set<number>
  sentIn: number
  // oxlint-disable-next-line typescript/no-explicit-any -- the record on the wire
  known: any
  /** Number of the round in which a refund was last confirmed. */
  refundSentIn: number | undefined
}

export interface Merchant extends Tenant {
  readonly apiKeys: { apiKeyId: string; apiKey: string }[]
  disabledNow: boolean
  disabledEver: boolean
  codes: Code[]
}

/** Merchants with their codes, and the bank that tells of credits: late, twice, in any order, and against itself. */
export class Merchants {
  readonly #world: World
  readonly #touched: () => Touched
  readonly #round: () => number
  readonly all: Merchant[] = []
  readonly payments = new Map<string, Payment>()
  readonly #late: Call[] = []
  #untr: Code[] = []
  #made = 0

  constructor(world: World, touched: () => Touched, round: () => number) {
    this.#world = world
    this.#touched = touched
    this.#round = round
  }

  async setUp(count: number): Promise<void> {
    const { app } = this.#world
    const { database, keyring, random } = app.services
    for (let i = 0; i < count; i++) {
      const made = await database.operate((tx) =>
        createMerchant(
          tx,
          { keyring, random, mode: 'test' },
          { name: `Shop ${i}`, mcc: '5411', vpa: `shop${i}@bank` },
        ),
      )
      const merchantId = made.merchant.merchantId
      const merchant: Merchant = {
        id: merchantId,
        token: undefined,
        apiKeys: [{ apiKeyId: made.apiKey.apiKeyId, apiKey: made.apiKey.secret.reveal() }],
        disabledNow: false,
        disabledEver: false,
        codes: [],
        login: async (world) => {
          const response = await world.app.http.inject({
            method: 'POST',
            url: '/api/v0/merchant/token',
            headers: { host: 'svc.example', 'api-key': merchant.apiKeys.at(-1)!.apiKey },
          })
          return {
            status: response.statusCode,
            text: response.body,
            json: response.json(),
            headers: response.headers,
          }
        },
        accept: (response, { process }) => {
          ensure(!merchant.disabledNow, () => 'a disabled merchant got a token')
          const { token: text, expiry: expiresAtMs } = response.json
          merchant.token = {
            text,
            expiresAtMs,
            issuedAtMs: process.wallMs(),
            dead: false,
            headers: { authorization: `Bearer ${text}` },
          } satisfies Token
        },
      }
      this.all.push(merchant)
    }
  }

  #touch(code: Code | undefined): void {
    const touched = this.#touched()
    if (!code) {
      for (const kind of ['suspense', 'upi_clearing']) touched.accounts.add(`${kind}:house`)
      return
    }
    touched.codes.add(code.qrCodeId)
    touched.tenants.add(code.merchant.id)
    for (const kind of ['payable', 'upi_refunds', 'upi_clearing'])
      touched.accounts.add(`${kind}:${code.merchant.id}`)
  }

  #code(): Code | undefined {
    const { chance } = this.#world
    const { codes } = chance.pick(this.all)
    // Mostly the newest: old ones are soon all cancelled.
    return codes.length === 0
      ? undefined
      : chance.happens(0.7)
        ? chance.pick(codes.slice(-6))
        : chance.pick(codes)
  }

  /** A code that may still be paid. */
  newest(): Code | undefined {
    return this.#world.chance.pick(this.all).codes.findLast(({ cancelSentIn }) => cancelSentIn === undefined)
  }

  create(): Call {
    const { chance, process } = this.#world
    const merchant = chance.pick(this.all)
    const fixedPaise = chance.happens(0.4) ? chance.whole(100, 50_000) : undefined
    const expiryMs = chance.happens(0.3)
      ? process.wallMs() + chance.whole(2, 200) * 1_000 * chance.pick([1, 60, 5_000])
      : undefined
    const multipleUse = chance.happens(0.5)
    const n = this.#made++
    // Some references come again: of an active code with the same request, or of another.
    const referenceNumber = chance.happens(0.3)
      ? `ref-${chance.happens(0.7) ? n : chance.whole(0, n)}`
      : undefined
    const body = {
      qrName: `Order ${n}`,
      multipleUse,
      ...(fixedPaise !== undefined && { fixedAmount: true, amount: fixedPaise / 100 }),
      ...(expiryMs !== undefined && { expiry: new Date(expiryMs).toISOString() }),
      ...(referenceNumber !== undefined && { referenceNumber }),
    }
    return {
      name: 'createQrCode',
      who: merchant,
      method: 'POST',
      path: '/api/v0/qr-code',
      headers: { 'idempotency-key': `code-${n}` },
      body: JSON.stringify(body),
      repeats: 'bytes',
      sure: ({ status, json, text }) => {
        if (status === 409)
          return ensure(referenceNumber, () => `a code without a reference was refused: ${text}`)
        // The expiry may have passed while the answer was outstanding.
        if (status === 400) return ensure(expiryMs !== undefined, () => `a code was refused: ${text}`)
        ensure(status === 200, () => `a code was refused: ${status} ${text}`)
        const { qrCodeId } = json.payload
        if (merchant.codes.some((code) => code.qrCodeId === qrCodeId)) return
        const code: Code = {
          qrCodeId,
          merchant,
          multipleUse,
          fixedPaise,
          expiryMs,
          referenceNumber,
          tr: '',
          cancelSentIn: undefined,
          cancelled: undefined,
          accepted: new Set(),
          paysSent: 0,
        }
        merchant.codes.push(code)
        this.#untr.push(code)
        this.#touch(code)
      },
    }
  }

  /** References of new codes, which the API tells in the image only. */
  takeNew(): Code[] {
    return this.#untr.splice(0)
  }

  cancel(code = this.#code()): Call | undefined {
    if (!code) return undefined
    code.cancelSentIn ??= this.#round() + 1
    return {
      name: 'cancelQrCode',
      who: code.merchant,
      method: 'PATCH',
      path: `/api/v0/qr-code/${code.qrCodeId}/cancel`,
      body: '{}',
      repeats: 'once',
      sure: (response) => {
        const { status, json, text } = response
        ensure(status === 200 && json.payload.status === 'CANCELLED', () => `a cancel was refused: ${text}`)
        this.#touch(code)
        const former = code.cancelled?.text
        ensure(
          former === undefined || former === text,
          () => `a second cancel was answered otherwise: ${former} then ${text}`,
        )
        const receipt = receiptOf(response)
        this.#unchanged(code, receipt)
        code.cancelled ??= { text, round: this.#round(), receipt }
      },
      unsure: () => this.#touch(code),
    }
  }

  /** A receipt is never followed by another one, nor by a payment that it does not count. */
  #unchanged(code: Code, { text, acceptedCount }: Receipt): void {
    const first = code.cancelled?.receipt.text ?? text
    ensure(first === text, () => `${describe(code)} has two receipts: ${first} then ${text}`)
    ensure(
      code.accepted.size <= acceptedCount,
      () => `${describe(code)}: ${code.accepted.size} payments accepted, its receipt says ${text}`,
    )
  }

  #payment(code: Code | undefined): Payment {
    const utr = `U${this.#world.chance.bytes(8).toString('hex').toUpperCase()}`
    const payment: Payment = {
      utr,
      code,
      amounts: new Set(),
      sentIn: 0,
      known: undefined,
      refundSentIn: undefined,
    }
    this.payments.set(utr, payment)
    return payment
  }

  /** Someone pays; the bank tells of it now, later, twice, or with two amounts. */
  pay(code = this.#code()): Call[] {
    const { chance } = this.#world
    const payment = this.#payment(chance.happens(0.03) ? undefined : code)
    const right = payment.code?.fixedPaise ?? chance.whole(1, 200_000)
    const paise = chance.happens(0.03)
      ? CAP_PAISE + chance.whole(1, 5)
      : chance.happens(0.9)
        ? right
        : right + 1
    const notices = [this.notice(payment, paise)]
    if (chance.happens(0.15)) notices.push(this.notice(payment, paise))
    if (chance.happens(0.06)) notices.push(this.notice(payment, paise + chance.whole(1, 500)))
    const now = notices.filter(() => chance.happens(0.8))
    this.#late.push(...notices.filter((notice) => !now.includes(notice)))
    return now
  }

  /** Notices that were held back, in any order. */
  late(most: number): Call[] {
    const { chance } = this.#world
    return Array.from({ length: Math.min(most, this.#late.length) }, () => {
      const [notice] = this.#late.splice(chance.whole(0, this.#late.length - 1), 1)
      return notice!
    })
  }

  /** A notice of a credit that the bank has told of before. */
  again(): Call | undefined {
    const known = [...this.payments.values()].slice(-200).filter((payment) => payment.known)
    if (known.length === 0) return undefined
    const { chance } = this.#world
    const payment = chance.pick(known)
    const paise = Math.round(payment.known.amount * 100)
    return this.notice(payment, chance.happens(0.3) ? paise + 1 : paise)
  }

  notice(payment: Payment, paise: number): Call {
    const { process } = this.#world
    const { utr, code } = payment
    payment.amounts.add(paise)
    if (code) code.paysSent++
    const body = JSON.stringify({
      utr,
      tr: code?.tr ?? 'NOSUCHCODE',
      amount: paise / 100,
      payerVpa: 'payer@bank',
    })
    const call: Call = {
      name: 'acceptPayment',
      method: 'POST',
      path: '/rails/upi/credits',
      headers: () => ({ 'x-rail-signature': signNotice(Buffer.from(body), RAIL_KEY, process.wallMs()) }),
      body,
      repeats: 'once',
      sure: (response) => {
        payment.sentIn ||= call.sentIn!
        this.#touch(code)
        this.#noticed(payment, paise, response)
      },
      unsure: () => {
        payment.sentIn ||= call.sentIn ?? 0
        this.#touch(code)
      },
    }
    return call
  }

  #noticed(payment: Payment, paise: number, { status, json, text }: HttpResponse): void {
    const { utr, code, known, amounts } = payment
    if (status === 202) {
      const another = known ? Math.round(known.amount * 100) !== paise : amounts.size > 1
      return ensure(another, () => `${utr}: a notice is in quarantine that contradicts none: ${text}`)
    }
    ensure(status === 200, () => `${utr}: a notice was refused: ${status} ${text}`)
    const reported = json.payload
    ensure(
      Math.round(reported.amount * 100) === paise,
      () => `${utr}: ${paise} paise were told, answered was ${text}`,
    )
    if (known) {
      const fields = ['paymentId', 'amount', 'createdOn', 'reason', 'payerVpa'] as const
      ensure(
        fields.every((field) => reported[field] === known[field]),
        () => `${utr}: a repeated notice was answered otherwise: ${JSON.stringify(known)} then ${text}`,
      )
      ensure(
        reported.status === known.status ||
          // What is asked at the same time has no order.
          (payment.refundSentIn !== undefined &&
            (reported.status === 'REFUNDED' || payment.refundSentIn === this.#round())),
        () => `${utr}: from ${known.status} to ${reported.status}`,
      )
      return
    }
    payment.known = reported
    this.#touched().payments.add(reported.paymentId)
    if (!code) return ensure(reported.status === 'SUSPENSE', () => `${utr}: fits no code, yet ${text}`)
    if (reported.status === 'ACCEPTED') this.#accepted(payment, code, paise)
    else
      ensure(
        this.#mayRefuse(reported, code, paise),
        () => `${utr}: refused without cause: ${text} ${describe(code)}`,
      )
  }

  #accepted({ utr, known, sentIn }: Payment, code: Code, paise: number): void {
    const { cancelled, expiryMs, fixedPaise } = code
    const createdMs = Date.parse(known.createdOn)
    ensure(
      !(cancelled && cancelled.round < sentIn),
      () => `${utr}: accepted after the cancel of ${describe(code)} was acknowledged`,
    )
    ensure(
      expiryMs === undefined || createdMs < expiryMs,
      () => `${utr}: accepted after ${describe(code)} expired`,
    )
    ensure(
      fixedPaise === undefined || fixedPaise === paise,
      () => `${utr}: accepted with another amount, ${describe(code)}`,
    )
    ensure(paise <= CAP_PAISE, () => `${utr}: accepted over the limit`)
    code.accepted.add(utr)
    if (cancelled) this.#unchanged(code, cancelled.receipt)
    ensure(
      code.multipleUse || code.accepted.size === 1,
      () => `${describe(code)} was paid twice: ${[...code.accepted].join()}`,
    )
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the record on the wire
  #mayRefuse({ reason, createdOn }: any, code: Code, paise: number): boolean {
    if (reason === 'qr_code_cancelled') return code.cancelSentIn !== undefined
    if (reason === 'qr_code_used') return !code.multipleUse && code.paysSent > 1
    if (reason === 'qr_code_expired')
      return (code.expiryMs ?? Infinity) <= Math.max(Date.parse(createdOn), this.#world.latestMs)
    if (reason === 'merchant_disabled') return code.merchant.disabledEver
    if (reason === 'amount_mismatch') return code.fixedPaise !== undefined && code.fixedPaise !== paise
    return reason === 'amount_over_limit' && paise > CAP_PAISE
  }

  /** The bank has returned a credit. */
  refund(): Call | undefined {
    const due = [...this.payments.values()]
      .slice(-100)
      .filter(({ known }) => known && known.status !== 'REFUNDED')
    if (due.length === 0) return undefined
    const { chance, process } = this.#world
    const payment = chance.pick(due)
    const body = JSON.stringify({ utr: payment.utr })
    const accepted = payment.known.status === 'ACCEPTED'
    if (!accepted) payment.refundSentIn = this.#round() + 1
    return {
      name: 'confirmRefund',
      method: 'POST',
      path: '/rails/upi/refunds',
      headers: () => ({ 'x-rail-signature': signNotice(Buffer.from(body), RAIL_KEY, process.wallMs()) }),
      body,
      repeats: 'once',
      sure: ({ status, json, text }) => {
        this.#touch(payment.code)
        this.#touched().payments.add(payment.known.paymentId)
        if (accepted) return ensure(status === 202, () => `a notice of an accepted payment: ${text}`)
        ensure(status === 200 && json.payload.status === 'REFUNDED', () => `a refund was refused: ${text}`)
        const { status: former, refundedOn } = payment.known
        ensure(
          former !== 'REFUNDED' || refundedOn === json.payload.refundedOn,
          () => `${payment.utr} was refunded twice: ${text}`,
        )
        payment.known = json.payload
      },
      unsure: () => this.#touch(payment.code),
    }
  }

  read(): Call | undefined {
    const code = this.#code()
    if (!code) return undefined
    const { chance } = this.#world
    const base = { who: code.merchant, repeats: 'no' as const }
    // What is done at the same time has no order.
    const before = code.cancelled
    const accepted = [...code.accepted]
    if (chance.happens(0.5))
      return {
        ...base,
        name: 'getQrCode',
        method: 'GET',
        path: `/api/v0/qr-code/${code.qrCodeId}`,
        sure: (response) => {
          const { status, json, text } = response
          ensure(status === 200, () => `${describe(code)} was acknowledged and is not there: ${text}`)
          if (!before) return
          ensure(
            json.payload.status === 'CANCELLED',
            () => `${describe(code)} was cancelled and is not: ${text}`,
          )
          this.#unchanged(code, receiptOf(response))
        },
      }
    if (chance.happens(0.5))
      return {
        ...base,
        name: 'listPayments',
        method: 'GET',
        path: `/api/v0/qr-code/${code.qrCodeId}/payments?limit=500`,
        sure: ({ status, json, text }) => {
          ensure(status === 200, () => `payments of ${describe(code)}: ${text}`)
          // oxlint-disable-next-line typescript/no-explicit-any -- records on the wire
          const utrs = new Set(json.payload.data.map((payment: any) => payment.utr))
          if (utrs.size < 500)
            for (const utr of accepted)
              ensure(utrs.has(utr), () => `${utr} was accepted through ${describe(code)} and is not listed`)
        },
      }
    return {
      ...base,
      name: 'searchQrCodes',
      method: 'POST',
      path: '/api/v0/qr-code/search',
      body: JSON.stringify(
        code.referenceNumber === undefined ? { limit: 5 } : { referenceNumber: code.referenceNumber },
      ),
      sure: ({ status, json, text }) => {
        ensure(status === 200, () => `search: ${text}`)
        if (code.referenceNumber !== undefined)
          ensure(
            json.payload.data.some((found: { qrCodeId: string }) => found.qrCodeId === code.qrCodeId),
            () => `${describe(code)} is not found`,
          )
      },
    }
  }

  /** What the operator does to a merchant while it is at work. */
  operate(): () => Promise<void> {
    const { app, chance } = this.#world
    const { database, keyring, random } = app.services
    const merchant = chance.pick(this.all)
    if (chance.happens(0.5))
      return async () => {
        const { apiKeyId } = merchant.apiKeys.at(-1)!
        // The tokens of the key may be refused from here on.
        if (merchant.token) merchant.token.dead = true
        const made = await database.operate(async (tx) => {
          const issued = await issueApiKey(tx, { keyring, random, mode: 'test' }, merchant.id, 'next key')
          await revokeApiKey(tx, apiKeyId)
          return issued
        })
        merchant.apiKeys.push({ apiKeyId: made.apiKeyId, apiKey: made.secret.reveal() })
      }
    const disabled = !merchant.disabledNow
    merchant.disabledEver = true
    return async () => {
      if (merchant.token) merchant.token.dead = true
      await database.operate((tx) => setMerchantDisabled(tx, merchant.id, disabled))
      merchant.disabledNow = disabled
    }
  }
}

const describe = ({ merchant, accepted, ...code }: Code): string =>
  JSON.stringify({ ...code, accepted: [...accepted].slice(0, 5), merchant: merchant.id })
