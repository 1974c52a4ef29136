import type { PartnerCredentials } from './credentials.ts'
import type { HttpResponse } from './exchange.ts'
import { at } from './expect.ts'
import type { Redactor } from './redact.ts'

/** A partner that is signed in. */
export interface PartnerSession {
  readonly credentials: PartnerCredentials
  readonly token: string
  /** Headers of card operations: token and partner id. */
  readonly headers: Readonly<Record<string, string>>
  /** The `Cookie` field that the search requires. */
  readonly cookie: string | undefined
}

export const sessionOf = (
  credentials: PartnerCredentials,
  token: string,
  cookie: string | undefined,
): PartnerSession => ({
  credentials,
  token,
  headers: { authorization: `Bearer ${token}`, partnerId: credentials.partnerId },
  cookie,
})

const hasEnded = (attribute: string): boolean => {
  const [name = '', value = ''] = attribute.split('=').map((part) => part.trim())
  if (/^max-age$/i.test(name)) return Number(value) <= 0
  return /^expires$/i.test(name) && Date.parse(value) <= Date.now()
}

/** The `Cookie` field after this response, of every cookie that it sets (RFC 6265); of one name the last one counts. */
export function cookieOf({ cookies }: HttpResponse): string | undefined {
  const pairs = new Map<string, string>()
  for (const field of cookies) {
    const [pair = '', ...attributes] = field.split(';')
    if (!pair.includes('=')) continue
    const name = pair.slice(0, pair.indexOf('=')).trim()
    pairs.delete(name)
    if (!attributes.some(hasEnded)) pairs.set(name, pair.trim())
  }
  return pairs.size > 0 ? [...pairs.values()].join('; ') : undefined
}

/** A `Cookie` field with the same names, each with another value. */
export const forgedCookie = (cookie: string): string =>
  cookie
    .split(';')
    .map((pair) => `${pair.slice(0, pair.indexOf('=')).trim()}=made-up`)
    .join('; ')

/** Keeps the values of a `Cookie` field out of reports. */
export function hideCookie(redactor: Redactor, cookie: string, name: string): void {
  for (const pair of cookie.split(';')) redactor.hide(pair.slice(pair.indexOf('=') + 1).trim(), name)
}

/** Keeps what a response of the partner token operation contains out of reports. */
export function hideSession(redactor: Redactor, response: HttpResponse, nameOf: (what: string) => string) {
  const token = at(response, 'access_token')
  if (typeof token === 'string') redactor.hide(token, nameOf('TOKEN'))
  for (const field of response.cookies) hideCookie(redactor, field.split(';')[0] ?? '', nameOf('COOKIE'))
}
