import { randomBytes } from 'node:crypto'
import { type ApiResponse, type Client, payloadOf } from './client.ts'
import { asSuperuser, RAIL_KEY, type TestService } from './service.ts'

export interface TestCode {
  readonly qrCodeId: string
  /** By which credits find the code; the API tells it inside the image only. */
  readonly tr: string
}

/** References of codes, by id. */
export async function trsOf(database: string, qrCodeIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await asSuperuser(database, (db) =>
    db.query<{ qr_code_id: string; tr: string }>(
      'select qr_code_id, tr from qr_codes where qr_code_id = any ($1)',
      [qrCodeIds],
    ),
  )
  return new Map(rows.map((row) => [row.qr_code_id, row.tr]))
}

/** Creates codes through the API, each like `request`. */
export async function newCodes(
  service: TestService,
  merchant: Client,
  count: number,
  request: object = {},
): Promise<TestCode[]> {
  const made = await Promise.all(
    Array.from({ length: count }, () => merchant.post('/api/v0/qr-code', request)),
  )
  const ids = made.map((response) => payloadOf(response).qrCodeId as string)
  const trs = await trsOf(service.db.database, ids)
  return ids.map((qrCodeId) => ({ qrCodeId, tr: trs.get(qrCodeId)! }))
}

export async function newCode(
  service: TestService,
  merchant: Client,
  request: object = {},
): Promise<TestCode> {
  const [code] = await newCodes(service, merchant, 1, request)
  return code!
}

export const newUtr = (): string => `T${randomBytes(8).toString('hex')}`.toUpperCase()

export interface Credit {
  readonly utr: string
  readonly tr: string
  readonly amount: number
  readonly payerVpa: string
  readonly payeeVpa?: string
}

export const creditOf = (tr: string, rest: Partial<Credit> = {}): Credit => ({
  utr: newUtr(),
  tr,
  amount: 10,
  payerVpa: 'payer@bank',
  ...rest,
})

/** Notifies a credit the way the bank does. */
export const notifyCredit = (client: Client, credit: Credit, nowMs?: number): Promise<ApiResponse> =>
  client.notify('/rails/upi/credits', credit, RAIL_KEY, nowMs)

export const cancel = (
  merchant: Client,
  qrCodeId: string,
  headers: Record<string, string> = {},
): Promise<ApiResponse> => merchant.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, {}, headers)
