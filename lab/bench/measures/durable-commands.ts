import { randomBytes } from 'node:crypto'
import { signNotice } from '@svc/server/http/notice-signature'
import {
  CANCEL_COUNT,
  CANCEL_FROM,
  codeId,
  dropUnnumbered,
  MERCHANTS,
  PAID_CODES,
  type Side,
  trOf,
} from '../bed.ts'
import { type Contender, contest, httpContender } from '../contest.ts'
import { type Load, requestBytes } from '../load.ts'
import { pgbenchContender, script } from '../pgbench.ts'
import type { Measure, Setting } from './measure.ts'
import { qrEncoder } from './qr-encoder.ts'

const JSON_BODY = { 'content-type': 'application/json' }
/** Notices are signed beforehand, and good for minutes. */
const NOTICES_PER_SECOND = 6_000

const merchantTokens = new WeakMap<Side, Promise<string[]>>()

/** Tokens of all merchants, requested once. */
export function tokensOf(bed: Side): Promise<string[]> {
  const known = merchantTokens.get(bed)
  if (known) return known
  const tokens = Promise.all(
    bed.apiKeys.map(async (apiKey) => {
      const response = await fetch(`${bed.service.baseUrl}/api/v0/merchant/token`, {
        method: 'POST',
        headers: { 'api-key': apiKey },
      })
      return ((await response.json()) as { token: string }).token
    }),
  )
  merchantTokens.set(bed, tokens)
  return tokens
}

const ours = ({ service, postmasterPid }: Side): number[] => [service.pid, postmasterPid]

/** Credits, each with a UTR of its own; by default of as many codes as are paid, in turn. */
export function credits(bed: Side, seconds: number, codeOf = (n: number): number => n % PAID_CODES): Load {
  const run = randomBytes(6).toString('hex')
  const requests = Array.from({ length: Math.ceil(seconds) * NOTICES_PER_SECOND }, (_, n) => {
    const notice = { utr: `S${run}${n}`, tr: trOf(codeOf(n)), amount: 10, payerVpa: 'payer@bank' }
    const body = Buffer.from(JSON.stringify(notice))
    const signature = signNotice(body, bed.railKey, Date.now())
    return requestBytes('POST', '/rails/upi/credits', { ...JSON_BODY, 'x-rail-signature': signature }, body)
  })
  return { port: bed.service.port, next: (n) => requests[n] }
}

async function merchantLoad(
  bed: Side,
  make: (n: number, headers: Record<string, string>) => Buffer | undefined,
): Promise<Load> {
  const tokens = await tokensOf(bed)
  const headers = tokens.map((token) => ({ ...JSON_BODY, authorization: `Bearer ${token}` }))
  return { port: bed.service.port, next: (n) => make(n, headers[n % MERCHANTS]!) }
}

export const cancels = (bed: Side) =>
  merchantLoad(bed, (n, headers) => {
    // The n-th code belongs to merchant n modulo their number, counted from code 0.
    const code = CANCEL_FROM + n - (CANCEL_FROM % MERCHANTS) + MERCHANTS
    return code >= CANCEL_FROM + CANCEL_COUNT
      ? undefined
      : requestBytes('PATCH', `/api/v0/qr-code/${codeId(code)}/cancel`, headers, '{}')
  })

export const creates = (bed: Side) =>
  merchantLoad(bed, (_, headers) => requestBytes('POST', '/api/v0/qr-code', headers, '{"qrName":"Table 12"}'))

/** Every phase begins with active codes, no events to number and a clean checkpoint: none pays for the one before. */
export const prepare = (bed: Side, cancelled: boolean) => {
  const { admin } = bed
  return async () => {
    await dropUnnumbered(bed)
    if (cancelled) {
      await admin.query(
        `update qr_codes set status = 'ACTIVE' where status = 'CANCELLED' and merchant_id like 'mer_bench%'`,
      )
      await admin.query('vacuum qr_codes')
    }
    await admin.query('checkpoint')
  }
}

async function contenders(
  { bed, seconds }: Setting,
  name: string,
  sql: string,
  load: (seconds: number) => Promise<Load> | Load,
): Promise<Contender[]> {
  return [
    httpContender(name, ours(bed), () => load(seconds)),
    pgbenchContender('pgbench, one transaction a request', bed, await script(sql)),
    pgbenchContender('pgbench, 64 in a transaction', bed, await script(`${sql}-batch`), 64),
  ]
}

export const acceptPayment: Measure = {
  id: 'accept-payment',
  title: 'Accept a payment (durable, over HTTP, signed notice)',
  async run(setting) {
    const { bed } = setting
    const all = await contenders(setting, 'svc', 'accept-payment', (seconds) => credits(bed, seconds))
    const figures = await contest({ ...setting, contenders: all, prepare: prepare(bed, false) })
    return {
      figures,
      comparisons: [
        { of: 'svc', to: 'pgbench, one transaction a request', aim: 3 },
        { of: 'svc', to: 'pgbench, 64 in a transaction' },
      ],
    }
  },
}

export const cancel: Measure = {
  id: 'cancel',
  title: 'Cancel a QR code (durable, over HTTP)',
  async run(setting) {
    const { bed } = setting
    const all = await contenders(setting, 'svc', 'cancel', () => cancels(bed))
    const figures = await contest({ ...setting, contenders: all, prepare: prepare(bed, true) })
    return {
      figures,
      comparisons: [
        { of: 'svc', to: 'pgbench, one transaction a request', aim: 3 },
        { of: 'svc', to: 'pgbench, 64 in a transaction' },
      ],
    }
  },
}

export const createQrCode: Measure = {
  id: 'qr-create',
  title: 'Create a QR code with its image',
  async run(setting) {
    const { bed } = setting
    const all = await contenders(setting, 'svc', 'create', () => creates(bed))
    const encoders = [
      qrEncoder('ours', 'bare encoding, one thread'),
      qrEncoder('library', 'qrcode, its default'),
    ]
    const figures = await contest({
      ...setting,
      contenders: [...all, ...encoders],
      prepare: prepare(bed, false),
    })
    return {
      figures,
      comparisons: [
        { of: 'svc', to: 'bare encoding, one thread', aim: 0.7 },
        { of: 'bare encoding, one thread', to: 'qrcode, its default', aim: 5 },
        { of: 'svc', to: 'pgbench, one transaction a request' },
      ],
    }
  },
}
