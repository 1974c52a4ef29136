import type { Json } from './client.ts'
import type { Mutation, ProxiedRequest, Reported } from './mutant-proxy.ts'

/** A server that is wrong in one way, and the checks that must find it: these ids, and none beyond these and `also`. */
export interface Mutant extends Mutation {
  readonly name: string
  readonly fails: readonly string[]
  /** Checks that the same error may break too. */
  readonly also?: RegExp
}

export const TOKEN = '/api/v0/merchant/token'
export const CARD = '/api/v0/partner/svcCard'
export const SEARCH = `${CARD}/search`
export const QR = '/api/v0/qr-code'

export type On = (request: ProxiedRequest, reported: Reported) => boolean
export const cancels: On = ({ method }) => method === 'PATCH'
export const creates: On = ({ path, method }) => path === CARD && method === 'POST'
export const searches: On = ({ path }) => path === SEARCH
export const coins: On = ({ path }) => path.startsWith('/api/v0/svc-coins')
export const tokens: On = ({ path }) => path === TOKEN
export const makesCode: On = ({ path, method }) => path === QR && method === 'POST'
export const pays: On = ({ path }) => path === '/sandbox/upi/pay'

/** Changes answers of one sort that have this status. */
export const tells = (
  on: On,
  status: number,
  change: (json: Json, reported: Reported, request: ProxiedRequest) => void,
): Mutation => ({
  report(reported, request) {
    if (reported.status === status && on(request, reported) && reported.json)
      change(reported.json, reported, request)
  },
})

export const inEach = (json: Json, change: (record: Json) => void): void => json.payload.data.forEach(change)

/** A failure of the same form with another description. */
export function describe(json: Json, description: string): void {
  const error = JSON.parse(json.payload)
  json.payload = JSON.stringify({ ...error, error_description: description })
  json.errorResponse.errorMessage = json.payload
}

export function turnInto(reported: Reported, status: number, json: Json): void {
  reported.status = status
  reported.json = json
  reported.headers['content-type'] = 'application/json; charset=utf-8'
  delete reported.headers['www-authenticate']
}

export const SUCCESS = { code: 0, message: 'Success', payload: {} }
