/** An operation, as reports name it. */
export interface Operation {
  /** Method and path, with the names of its parameters. */
  readonly name: string
  /** Section of the specification that has it. */
  readonly section: string
  /** The success response that the specification shows; absent where it shows none. */
  readonly success?: string
}

const FAILURE = `{
  "payload": "{\\"error\\":\\"…\\",\\"error_description\\":\\"…\\"}",
  "errorResponse": {
    "timestamp": "YYYY-MM-DD HH:MM:SS",
    "requestId": "string",
    "errorType": "string",
    "errorMessage": "the text of payload"
  },
  "response_code": 1,
  "response_message": "Failure"
}`

const TOKEN = `{
  "token": "string",
  "expiry": "integer (int64), milliseconds",
  "resultCode": "integer (int32)",
  "resultMessage": "string"
}`

const CANCELLED = `{
  "response_code": 0,
  "response_message": "string",
  "payload": {
    "qrCodeId": "string",
    "status": "CANCELLED",
    "…": "the QR code of section 2.3"
  }
}`

const CARD = `{
  "code": 0,
  "message": "Success",
  "payload": {
    "svcCardId": "string",
    "userId": "string",
    "cardAccountId": "string",
    "maskedNumber": "string",
    "cardStatus": { "name": "L, UL, BL or AP", "label": "string" },
    "…": "the card record of section 2.4"
  }
}`

const FOUND = `{
  "code": 0,
  "message": "Success",
  "payload": {
    "recordsCount": "integer",
    "data": [{ "…": "card records of sections 2.4 and 2.5" }]
  }
}`

const OPERATIONS: readonly (readonly [pattern: RegExp, operation: Operation])[] = [
  [
    /^POST \/api\/v0\/merchant\/token$/,
    { name: 'POST /api/v0/merchant/token', section: '4.1', success: TOKEN },
  ],
  [/^POST \/oauth\/token$/, { name: 'POST /oauth/token', section: '5' }],
  [
    /^PATCH \/api\/v0\/qr-code\/[^/]*\/cancel$/,
    { name: 'PATCH /api/v0/qr-code/{qrCodeId}/cancel', section: '4.2', success: CANCELLED },
  ],
  [/^POST \/api\/v0\/qr-code\/search$/, { name: 'POST /api/v0/qr-code/search', section: '2.3' }],
  [/^POST \/api\/v0\/qr-code$/, { name: 'POST /api/v0/qr-code', section: '2.3' }],
  [/^GET \/api\/v0\/qr-code\/[^/]*$/, { name: 'GET /api/v0/qr-code/{qrCodeId}', section: '2.3' }],
  [
    /^POST \/api\/v0\/partner\/svcCard$/,
    { name: 'POST /api/v0/partner/svcCard', section: '4.3', success: CARD },
  ],
  [
    /^POST \/api\/v0\/partner\/svcCard\/search$/,
    { name: 'POST /api/v0/partner/svcCard/search', section: '4.4', success: FOUND },
  ],
  [/^GET \/api\/v0\/svc-coins\/.*$/, { name: 'GET /api/v0/svc-coins/{coinConfigId}', section: '4.5' }],
]

/** The operation of a request; one that is none of them is named by its method and path. */
export function operationOf(method: string, path: string): Operation {
  const plain = `${method} ${path.split('?')[0]}`
  return (
    OPERATIONS.find(([pattern]) => pattern.test(plain))?.[1] ?? {
      name: plain.length > 80 ? `${plain.slice(0, 80)}…` : plain,
      section: '7',
    }
  )
}

/** What the specification shows for a response of this status, as text. */
export function shownOf({ success }: Operation, isFailure: boolean): string {
  if (isFailure) return FAILURE
  return success ?? 'The specification shows no response.'
}
