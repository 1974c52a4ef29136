import { fail } from '@svc/contract/errors'
import { network } from '@svc/platform/ip-range'
import { query } from '@svc/server/http/operation'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { Type } from 'typebox'
import { CONSOLE_API, closed, record, text } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { BrowserCookie } from './browser-cookie.ts'
import { callerOf, operatorEntry } from './console-face.ts'
import { ANONYMOUS } from './failed-sign-ins.ts'
import type { Person } from './identity-provider.ts'
import { admit } from './identity-store.ts'
import type { OperatorAccount } from './operator-store.ts'
import { beginSession } from './session-operations.ts'
import { SessionRecord } from './session-records.ts'

const TAG = 'Single sign-on'
/** Sign-ins that one address may begin in a minute. */
const STARTS_PER_MINUTE = 60

export const startSingleSignOn = query({
  id: 'console.startSingleSignOn',
  method: 'POST',
  path: `${CONSOLE_API}/session/oidc/start`,
  tag: TAG,
  summary: 'Begin to sign in with the identity provider',
  description:
    'Returns the address at the provider that the page opens, and sets a cookie that binds the sign-in to this browser for ten minutes.',
  auth: 'none',
  envelope: 'problem',
  result: record('SingleSignOnStart', { url: text('Authorization request (RFC 6749 section 4.1.1, PKCE)') }),
  errors: ['single_sign_on_off', 'identity_provider_unavailable', 'rate_limited', 'overloaded'],
  mount(services: ConsoleServices) {
    const starts = new RateLimiterMemory({ points: STARTS_PER_MINUTE, duration: 60 })
    return async ({ address }) => {
      const { challenges, database, identityProvider } = services
      if (identityProvider.issuer === undefined) fail('single_sign_on_off')
      await starts.consume(network(address)).catch(refuseMore)
      const challenge = await database.operate((tx) => challenges.issue(tx, 'oidc'))
      const url = await identityProvider.authorizationUrl(challenge)
      const cookie = new BrowserCookie(services, 'console', 'oidc').set(challenge)
      return { headers: { 'set-cookie': cookie }, body: JSON.stringify({ url }) }
    }
  },
})

function refuseMore(refused: unknown): never {
  if (refused instanceof Error) throw refused
  return fail('rate_limited', { retryAfterSeconds: 60 })
}

interface Attempt {
  readonly address: string
  readonly requestId: string
}

/** An attempt that fails is audited, within the bounds of failed sign-ins. */
async function refused(
  { failedSignIns }: ConsoleServices,
  { address, requestId }: Attempt,
  reason: string,
  name = '',
): Promise<void> {
  const action = 'operator.sign_in_failed'
  await failedSignIns.record({ action, actor: ANONYMOUS, address, name, requestId, reason })
}

/** Whom the provider names. The challenge is used up whatever comes of it. */
async function authenticated(
  services: ConsoleServices,
  attempt: Attempt,
  challenge: string | undefined,
  responseQuery: string,
): Promise<Person> {
  const { challenges, database, identityProvider } = services
  const known =
    challenge !== undefined && (await database.operate((tx) => challenges.use(tx, 'oidc', challenge)))
  if (challenge === undefined || !known) {
    await refused(services, attempt, 'foreign_response')
    return fail('single_sign_on_failed')
  }
  try {
    return await identityProvider.person(challenge, responseQuery)
  } catch (error) {
    await refused(services, attempt, 'provider_response')
    throw error
  }
}

/** The operator whom the provider names, linked or created on the way. Throws `not_an_operator`. */
async function operatorOf(
  services: ConsoleServices,
  attempt: Attempt,
  person: Person,
): Promise<OperatorAccount> {
  const { clock, database, random } = services
  const { name } = person
  const admission = await database.operate(
    (tx) => admit(tx, { random, now: new Date(clock.now()) }, person),
    'read committed',
    { actor: `operator ${name ?? 'of single sign-on'}`, requestId: attempt.requestId },
  )
  if (admission.kind === 'sign_in' || admission.kind === 'link') return admission.operator
  await refused(
    services,
    attempt,
    admission.kind === 'refuse' ? admission.reason : 'unknown_name',
    admission.kind === 'refuse' ? admission.name : '',
  )
  const { OIDC_NAME_CLAIM } = services.config
  return fail('not_an_operator', {
    description:
      name === undefined
        ? `The identity provider sent no ${OIDC_NAME_CLAIM === 'email' ? 'verified e-mail address' : `claim ${OIDC_NAME_CLAIM}`} that can be the name of an operator`
        : `${name} has no access to this console; an administrator can invite this name`,
  })
}

export const finishSingleSignOn = query({
  id: 'console.finishSingleSignOn',
  method: 'POST',
  path: `${CONSOLE_API}/session/oidc`,
  tag: TAG,
  summary: 'Sign in with the response of the identity provider',
  description:
    'Accepts the query with which the provider led the browser back, once and only from the browser that began. The person must be an operator, or be invited by the name that the provider gives. A session that the browser had before ends.',
  auth: 'none',
  limitedBy: 'address',
  envelope: 'problem',
  body: closed({
    response: Type.String({ maxLength: 4_096, description: 'Query of the address that the provider led to' }),
  }),
  result: SessionRecord,
  errors: [
    'single_sign_on_off',
    'single_sign_on_failed',
    'identity_provider_unavailable',
    'not_signed_in',
    'not_an_operator',
    'already_exists',
  ],
  mount(services: ConsoleServices) {
    const entry = operatorEntry(services)
    return async ({ address, body: { response }, headers, requestId }) => {
      if (services.identityProvider.issuer === undefined) fail('single_sign_on_off')
      const challenge = new BrowserCookie(services, 'console', 'oidc').read(headers)
      const attempt = { address, requestId }
      const person = await authenticated(services, attempt, challenge, response)
      const operator = await operatorOf(services, attempt, person)
      const { authenticatedAt } = person
      const proof = { factors: ['oidc'], authenticatedAt } as const
      return beginSession(services, entry, callerOf(operator), { address, headers, requestId }, proof)
    }
  },
})
