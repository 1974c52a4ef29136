import type { HttpResponse } from '../exchange.ts'
import { fail, isKind, type Kind, kindOf, RFC3339, show, wantMatch } from '../expect.ts'

interface Field {
  readonly name: string
  readonly kind: Kind
  readonly words: string
}

const field = (name: string, kind: Kind, words: string): Field => ({ name, kind, words })

/** Spec §2.3: all optional. */
export const QR_CODE_FIELDS: readonly Field[] = [
  field('qrCodeId', 'string', 'the id of the code'),
  field('qrName', 'string', 'text'),
  field('multipleUse', 'boolean', 'a boolean'),
  field('fixedAmount', 'boolean', 'a boolean'),
  field('amount', 'number', 'a number'),
  field('description', 'string', 'text'),
  field('expiry', 'string', 'text'),
  field('customParams', 'object', 'a map of texts'),
  field('status', 'string', 'ACTIVE or CANCELLED'),
  field('qrCodeBase64', 'string', 'text in base64'),
  field('createdOn', 'string', 'a date-time in text'),
  field('modifiedOn', 'string', 'a date-time in text'),
  field('customerName', 'string', 'text'),
  field('customerEmail', 'string', 'text'),
  field('customerMobile', 'string', 'text'),
  field('customerId', 'string', 'text'),
  field('referenceNumber', 'string', 'text'),
]

export const QR_CODE_NAMES: readonly string[] = QR_CODE_FIELDS.map(({ name }) => name)

/** A request with every field that can be requested. */
export const everyField = () => ({
  qrName: 'Conformance',
  multipleUse: true,
  fixedAmount: true,
  amount: 249.5,
  description: 'Made to be cancelled',
  expiry: new Date(Date.now() + 86_400_000).toISOString(),
  customParams: { table: '12', waiter: 'Asha' },
  customerName: 'Asha Rao',
  customerEmail: 'asha.rao@example.com',
  customerMobile: '9876543210',
  customerId: 'cust-1',
  referenceNumber: `conf-${crypto.randomUUID()}`,
})

/** A field of a QR code, of the kind that the table says, if it is there. */
export function wantQrCodeField(
  response: HttpResponse,
  code: Record<string, unknown>,
  { name, kind }: Field,
): void {
  const value = code[name]
  if (value === undefined) return
  if (!isKind(value, kind)) fail(response, `payload.${name}: ${kind}`, `${kindOf(value)} ${show(value)}`)
  if (name === 'customParams')
    for (const [key, text] of Object.entries(value as object))
      if (typeof text !== 'string') fail(response, `payload.customParams.${key}: string`, kindOf(text))
  if (name === 'status' && !['ACTIVE', 'CANCELLED'].includes(value as string))
    fail(response, 'payload.status: ACTIVE or CANCELLED', show(value))
  if (name === 'qrCodeBase64' && !/^[A-Za-z0-9+/]+={0,2}$/.test(value as string))
    fail(response, 'payload.qrCodeBase64: base64', 'something else')
}

export const wantInstant = (response: HttpResponse, path: string): string =>
  wantMatch(response, path, RFC3339, 'RFC 3339 with milliseconds and zone offset')
