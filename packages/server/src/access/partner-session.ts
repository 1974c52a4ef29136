import { createHmac, timingSafeEqual } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import type { IssuedToken, LiveToken } from '@svc/core/tenants/access-token'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import type { Services } from '../http/operation.ts'

export const SESSION_COOKIE = 'SVCSESSION'

const signatureOf = (keyring: Keyring, partnerId: string, session: string): string =>
  createHmac('sha256', keyring.oldest('session').bytes).update(`${partnerId} ${session}`).digest('base64url')

/** The session cookie that comes with a partner's token (decision A8): it needs no table, and ends with the token. */
function sessionOf(keyring: Keyring, partnerId: string, { tokenId, expiresAtMs }: IssuedToken): string {
  const session = `${tokenId}.${expiresAtMs}`
  const signature = signatureOf(keyring, partnerId, session)
  return `${session}.${signature}`
}

/** `Set-Cookie` with the session of a token. */
export const sessionCookie = (
  { config, keyring, publicUrl }: Pick<Services, 'config' | 'keyring' | 'publicUrl'>,
  partnerId: string,
  issued: IssuedToken,
): string =>
  stringifySetCookie({
    name: SESSION_COOKIE,
    value: sessionOf(keyring, partnerId, issued),
    httpOnly: true,
    secure: publicUrl().startsWith('https:'),
    sameSite: 'strict',
    path: '/',
    maxAge: config.TOKEN_TTL_SECONDS,
  })

const SESSION = /^(tok_[0-9a-z]{26}\.(\d{1,16}))\.([\w-]{43})$/

const GET_ANOTHER = 'POST /oauth/token sets it with the token; send both'

const refuse = (why: string): never =>
  fail('invalid_session', { description: `The session cookie ${SESSION_COOKIE} ${why}: ${GET_ANOTHER}` })

/** Fails unless a request has a session cookie that serves with its token, as `SEARCH_COOKIE` says. */
export function requireSession(
  { clock, config, keyring }: Services,
  token: LiveToken,
  { headers }: FastifyRequest,
): void {
  if (config.SEARCH_COOKIE === 'any') return
  const cookie = parseCookie(headers.cookie ?? '')[SESSION_COOKIE]
  if (!cookie) return refuse('is missing')
  const [, session = '', expiresAtMs, signature = ''] = SESSION.exec(cookie) ?? []
  const own = Buffer.from(signatureOf(keyring, token.tenantId, session))
  const given = Buffer.from(signature)
  if (given.length !== own.length || !timingSafeEqual(given, own))
    return refuse('is of another partner, or was changed')
  if (Number(expiresAtMs) <= clock.of(token.tenantId).now()) return refuse('has expired')
  if (config.SEARCH_COOKIE === 'token' && !session.startsWith(`${token.tokenId}.`))
    refuse('came with another token')
}
