import type { Call, Touched } from './callers.ts'
import type { Merchant } from './merchants.ts'
import { describe, ensureFinal, newQrCode, type QrCode, receiptOf } from './qr-code.ts'
import { ensure, type World } from './world.ts'

const QR_CODES = '/api/v0/qr-code'
const PAGE_MAX = 500

/** What merchants do with their codes: create, cancel, read. */
export class QrCodes {
  readonly #world: World
  readonly #merchants: readonly Merchant[]
  readonly #touched: () => Touched
  readonly #round: () => number
  #withoutTr: QrCode[] = []
  #requests = 0

  constructor(world: World, merchants: readonly Merchant[], touched: () => Touched, round: () => number) {
    this.#world = world
    this.#merchants = merchants
    this.#touched = touched
    this.#round = round
  }

  touch({ qrCodeId, merchant }: QrCode): void {
    const touched = this.#touched()
    touched.codes.add(qrCodeId)
    touched.tenants.add(merchant.id)
    for (const kind of ['payable', 'upi_refunds', 'upi_clearing'])
      touched.accounts.add(`${kind}:${merchant.id}`)
  }

  code(): QrCode | undefined {
    const { chance } = this.#world
    const { codes } = chance.pick(this.#merchants)
    if (codes.length === 0) return undefined
    // Mostly one of the newest: most old ones are cancelled.
    return chance.happens(0.7) ? chance.pick(codes.slice(-6)) : chance.pick(codes)
  }

  /** The newest code of a merchant that may still be paid. */
  newest(): QrCode | undefined {
    return this.#world.chance
      .pick(this.#merchants)
      .codes.findLast(({ cancelSentIn }) => cancelSentIn === undefined)
  }

  create(): Call {
    const { chance, process } = this.#world
    const merchant = chance.pick(this.#merchants)
    const fixedPaise = chance.happens(0.4) ? chance.whole(100, 50_000) : undefined
    const expiryMs = chance.happens(0.3)
      ? process.wallMs() + chance.whole(2, 200) * 1_000 * chance.pick([1, 60, 5_000])
      : undefined
    const multipleUse = chance.happens(0.5)
    const n = this.#requests++
    // Some references repeat: of an active code with the same request, or of a different one.
    const referenceNumber = chance.happens(0.3)
      ? `ref-${chance.happens(0.7) ? n : chance.whole(0, n)}`
      : undefined
    return {
      name: 'createQrCode',
      who: merchant,
      method: 'POST',
      path: QR_CODES,
      headers: { 'idempotency-key': `code-${n}` },
      body: JSON.stringify({
        qrName: `Order ${n}`,
        multipleUse,
        ...(fixedPaise !== undefined && { fixedAmount: true, amount: fixedPaise / 100 }),
        ...(expiryMs !== undefined && { expiry: new Date(expiryMs).toISOString() }),
        ...(referenceNumber !== undefined && { referenceNumber }),
      }),
      repeats: 'bytes',
      sure: ({ status, json, text }) => {
        if (status === 409)
          return ensure(referenceNumber, () => `a code without a reference was refused: ${text}`)
        // The expiry may have passed before the request was processed.
        if (status === 400) return ensure(expiryMs !== undefined, () => `a code was refused: ${text}`)
        ensure(status === 200, () => `a code was refused: ${status} ${text}`)
        const { qrCodeId } = json.payload
        if (merchant.codes.some((code) => code.qrCodeId === qrCodeId)) return
        const code = newQrCode(qrCodeId, merchant, { multipleUse, fixedPaise, expiryMs, referenceNumber })
        merchant.codes.push(code)
        this.#withoutTr.push(code)
        this.touch(code)
      },
    }
  }

  /** New codes, whose transaction reference the API returns in the image only. */
  takeWithoutTr(): QrCode[] {
    return this.#withoutTr.splice(0)
  }

  cancel(code = this.code()): Call | undefined {
    if (!code) return undefined
    code.cancelSentIn ??= this.#round() + 1
    return {
      name: 'cancelQrCode',
      who: code.merchant,
      method: 'PATCH',
      path: `${QR_CODES}/${code.qrCodeId}/cancel`,
      body: '{}',
      repeats: 'once',
      sure: (response) => {
        const { status, json, text } = response
        ensure(status === 200 && json.payload.status === 'CANCELLED', () => `a cancel was refused: ${text}`)
        this.touch(code)
        const first = code.cancelled?.text ?? text
        ensure(first === text, () => `a repeated cancel returned something else: ${first} then ${text}`)
        const receipt = receiptOf(response)
        ensureFinal(code, receipt)
        code.cancelled ??= { text, round: this.#round(), receipt }
      },
      unsure: () => this.touch(code),
    }
  }

  /** By its id, by its payments, or by search. */
  read(): Call | undefined {
    const code = this.code()
    if (!code) return undefined
    const { chance } = this.#world
    if (chance.happens(0.5)) return getQrCode(code)
    return chance.happens(0.5) ? listPayments(code) : searchQrCodes(code)
  }
}

function getQrCode(code: QrCode): Call {
  // A cancellation that is sent at the same time may come after the read.
  const wasCancelled = code.cancelled !== undefined
  return {
    name: 'getQrCode',
    who: code.merchant,
    method: 'GET',
    path: `${QR_CODES}/${code.qrCodeId}`,
    repeats: 'no',
    sure: (response) => {
      const { status, json, text } = response
      ensure(status === 200, () => `${describe(code)} was acknowledged and is not there: ${text}`)
      if (!wasCancelled) return
      ensure(json.payload.status === 'CANCELLED', () => `${describe(code)} was cancelled and is not: ${text}`)
      ensureFinal(code, receiptOf(response))
    },
  }
}

function listPayments(code: QrCode): Call {
  // A payment that is sent at the same time may come after the read.
  const accepted = [...code.accepted]
  return {
    name: 'listPayments',
    who: code.merchant,
    method: 'GET',
    path: `${QR_CODES}/${code.qrCodeId}/payments?limit=${PAGE_MAX}`,
    repeats: 'no',
    sure: ({ status, json, text }) => {
      ensure(status === 200, () => `payments of ${describe(code)}: ${text}`)
      const utrs = new Set(json.payload.data.map(({ utr }: { utr: string }) => utr))
      if (utrs.size === PAGE_MAX) return
      for (const utr of accepted)
        ensure(utrs.has(utr), () => `${utr} was accepted through ${describe(code)} and is not listed`)
    },
  }
}

function searchQrCodes(code: QrCode): Call {
  const { qrCodeId, referenceNumber } = code
  return {
    name: 'searchQrCodes',
    who: code.merchant,
    method: 'POST',
    path: `${QR_CODES}/search`,
    body: JSON.stringify(referenceNumber === undefined ? { limit: 5 } : { referenceNumber }),
    repeats: 'no',
    sure: ({ status, json, text }) => {
      ensure(status === 200, () => `search: ${text}`)
      if (referenceNumber === undefined) return
      ensure(
        json.payload.data.some((found: { qrCodeId: string }) => found.qrCodeId === qrCodeId),
        () => `${describe(code)} is not found`,
      )
    },
  }
}
