import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { signNotice } from '@svc/server/http/notice-signature'
import type { Call, Touched } from './callers.ts'
import { describe, ensureFinal, type QrCode } from './qr-code.ts'
import type { QrCodes } from './qr-codes.ts'
import { ensure, type HttpResponse, RAIL_KEY, type World } from './world.ts'

const MAX_PAYMENT_PAISE = 100_000_00

/** A payment on the wire. */
interface PaymentRecord {
  readonly paymentId: string
  readonly amount: number
  readonly status: string
  readonly reason?: string
  readonly payerVpa?: string
  readonly createdOn: string
  readonly refundedOn?: string
}

/** A credit that the bank reports, in one notice or several. */
interface Credit {
  readonly utr: string
  /** Undefined when its transaction reference fits no code. */
  readonly code: QrCode | undefined
  /** All amounts that notices stated, in paise. */
  readonly amounts: Set<number>
  /** Round in which a notice was first sent; 0 before. */
  sentIn: number
  /** The payment of the latest response. */
  payment: PaymentRecord | undefined
  /** Round in which a refund was last confirmed. */
  refundSentIn: number | undefined
}

interface RecordedCredit extends Credit {
  payment: PaymentRecord
}

/** The bank that reports credits and refunds: late, twice, in any order, and with contradictory amounts. */
export class Bank {
  readonly #world: World
  readonly #codes: QrCodes
  readonly #touched: () => Touched
  readonly #round: () => number
  readonly #credits: Credit[] = []
  readonly #late: Call[] = []

  constructor(world: World, codes: QrCodes, touched: () => Touched, round: () => number) {
    this.#world = world
    this.#codes = codes
    this.#touched = touched
    this.#round = round
  }

  /** Of the latest so many credits, those of which a response has shown the payment. */
  recorded(latest = Number.POSITIVE_INFINITY): RecordedCredit[] {
    return this.#credits
      .slice(-latest)
      .filter((credit): credit is RecordedCredit => credit.payment !== undefined)
  }

  #touch(code: QrCode | undefined): void {
    if (code) return this.#codes.touch(code)
    for (const kind of ['suspense', 'upi_clearing'])
      this.#touched().accounts.add(`${kind}:${PLATFORM_TENANT}`)
  }

  /** A payer pays; the bank reports it now, later, twice, or with two amounts. */
  pay(code = this.#codes.code()): Call[] {
    const { chance } = this.#world
    const credit = this.#newCredit(code)
    const expected = credit.code?.fixedPaise ?? chance.whole(1, 200_000)
    const paise = chance.happens(0.03)
      ? MAX_PAYMENT_PAISE + chance.whole(1, 5)
      : chance.happens(0.9)
        ? expected
        : expected + 1
    const notices = [this.#notice(credit, paise)]
    if (chance.happens(0.15)) notices.push(this.#notice(credit, paise))
    if (chance.happens(0.06)) notices.push(this.#notice(credit, paise + chance.whole(1, 500)))
    const now = notices.filter(() => chance.happens(0.8))
    this.#late.push(...notices.filter((notice) => !now.includes(notice)))
    return now
  }

  #newCredit(code: QrCode | undefined): Credit {
    const { chance } = this.#world
    const credit: Credit = {
      code: chance.happens(0.03) ? undefined : code,
      utr: `U${chance.bytes(8).toString('hex').toUpperCase()}`,
      amounts: new Set(),
      sentIn: 0,
      payment: undefined,
      refundSentIn: undefined,
    }
    this.#credits.push(credit)
    return credit
  }

  /** Notices that were held back, in any order. */
  late(most: number): Call[] {
    const { chance } = this.#world
    return Array.from({ length: Math.min(most, this.#late.length) }, () => {
      const [notice] = this.#late.splice(chance.whole(0, this.#late.length - 1), 1)
      return notice!
    })
  }

  /** Another notice of a credit that is recorded, now and then with another amount. */
  again(): Call | undefined {
    const recorded = this.recorded(200)
    if (recorded.length === 0) return undefined
    const { chance } = this.#world
    const credit = chance.pick(recorded)
    const paise = paiseOf(credit.payment)
    return this.#notice(credit, chance.happens(0.3) ? paise + 1 : paise)
  }

  /** What all messages of the bank have in common. */
  #message(path: string, fields: object) {
    const { process } = this.#world
    const body = JSON.stringify(fields)
    return {
      method: 'POST' as const,
      path: `/rails/upi/${path}`,
      headers: () => ({ 'x-rail-signature': signNotice(Buffer.from(body), RAIL_KEY, process.wallMs()) }),
      body,
      repeats: 'once' as const,
    }
  }

  #notice(credit: Credit, paise: number): Call {
    const { utr, code } = credit
    credit.amounts.add(paise)
    if (code) code.noticeCount++
    const fields = { utr, tr: code?.tr ?? 'NOSUCHCODE', amount: paise / 100, payerVpa: 'payer@bank' }
    const call: Call = {
      ...this.#message('credits', fields),
      name: 'acceptPayment',
      sure: (response) => {
        credit.sentIn ||= call.sentIn!
        this.#touch(code)
        this.#noticed(credit, paise, response)
      },
      unsure: () => {
        credit.sentIn ||= call.sentIn ?? 0
        this.#touch(code)
      },
    }
    return call
  }

  #noticed(credit: Credit, paise: number, { status, json, text }: HttpResponse): void {
    const { utr, code, amounts } = credit
    if (status === 202) {
      const contradicts = credit.payment ? paiseOf(credit.payment) !== paise : amounts.size > 1
      return ensure(contradicts, () => `${utr}: a notice is in quarantine that contradicts none: ${text}`)
    }
    ensure(status === 200, () => `${utr}: a notice was refused: ${status} ${text}`)
    const payment: PaymentRecord = json.payload
    ensure(paiseOf(payment) === paise, () => `${utr}: ${paise} paise were reported, the response is ${text}`)
    if (credit.payment) return this.#repeated(credit as RecordedCredit, payment)
    credit.payment = payment
    this.#touched().payments.add(payment.paymentId)
    if (!code) ensure(payment.status === 'SUSPENSE', () => `${utr}: fits no code, yet ${text}`)
    else if (payment.status === 'ACCEPTED') ensureAcceptable(credit as RecordedCredit, code, paise)
    else
      ensure(
        this.#mayRefuse(payment, code, paise),
        () => `${utr}: refused without cause: ${text} ${describe(code)}`,
      )
  }

  #repeated({ utr, payment: first, refundSentIn }: RecordedCredit, payment: PaymentRecord): void {
    const fields = ['paymentId', 'amount', 'createdOn', 'reason', 'payerVpa'] as const
    ensure(
      fields.every((field) => payment[field] === first[field]),
      () => `${utr}: a repeated notice returned ${JSON.stringify(first)} then ${JSON.stringify(payment)}`,
    )
    ensure(
      payment.status === first.status ||
        // Requests of the same round have no order.
        (refundSentIn !== undefined && (payment.status === 'REFUNDED' || refundSentIn === this.#round())),
      () => `${utr}: from ${first.status} to ${payment.status}`,
    )
  }

  #mayRefuse({ reason, createdOn }: PaymentRecord, code: QrCode, paise: number): boolean {
    if (reason === 'qr_code_cancelled') return code.cancelSentIn !== undefined
    if (reason === 'qr_code_used') return !code.multipleUse && code.noticeCount > 1
    if (reason === 'qr_code_expired')
      return (code.expiryMs ?? Infinity) <= Math.max(Date.parse(createdOn), this.#world.latestMs)
    if (reason === 'merchant_disabled') return code.merchant.disabledEver
    if (reason === 'amount_mismatch') return code.fixedPaise !== undefined && code.fixedPaise !== paise
    return reason === 'amount_over_limit' && paise > MAX_PAYMENT_PAISE
  }

  /** The bank has returned a credit. */
  refund(): Call | undefined {
    const due = this.recorded(100).filter(({ payment }) => payment.status !== 'REFUNDED')
    if (due.length === 0) return undefined
    const credit = this.#world.chance.pick(due)
    const isAccepted = credit.payment.status === 'ACCEPTED'
    if (!isAccepted) credit.refundSentIn = this.#round() + 1
    return {
      ...this.#message('refunds', { utr: credit.utr }),
      name: 'confirmRefund',
      sure: ({ status, json, text }) => {
        this.#touch(credit.code)
        this.#touched().payments.add(credit.payment.paymentId)
        if (isAccepted) return ensure(status === 202, () => `a notice of an accepted payment: ${text}`)
        ensure(status === 200 && json.payload.status === 'REFUNDED', () => `a refund was refused: ${text}`)
        const { status: previous, refundedOn } = credit.payment
        ensure(
          previous !== 'REFUNDED' || refundedOn === json.payload.refundedOn,
          () => `${credit.utr} was refunded twice: ${text}`,
        )
        credit.payment = json.payload
      },
      unsure: () => this.#touch(credit.code),
    }
  }
}

const paiseOf = ({ amount }: PaymentRecord): number => Math.round(amount * 100)

/** Nothing that is known of the code forbids the payment, which now counts for it. */
function ensureAcceptable({ utr, payment, sentIn }: RecordedCredit, code: QrCode, paise: number): void {
  const { cancelled, expiryMs, fixedPaise } = code
  const createdMs = Date.parse(payment.createdOn)
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
  ensure(paise <= MAX_PAYMENT_PAISE, () => `${utr}: accepted over the limit`)
  code.accepted.add(utr)
  if (cancelled) ensureFinal(code, cancelled.receipt)
  ensure(
    code.multipleUse || code.accepted.size === 1,
    () => `${describe(code)} was paid twice: ${[...code.accepted].join()}`,
  )
}
