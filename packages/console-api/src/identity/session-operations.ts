import { idleMinutes } from '@svc/contract/sign-in-settings'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { VERSION } from '@svc/platform/package'
import { type Operation, query, type Reply, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed, record, text } from '../console-schema.ts'
import type { Person } from './audience.ts'
import type { Entry, Face, SignInRequest } from './face.ts'
import { hashPassword } from './password.ts'
import { requireProved } from './proof-age.ts'
import { isAtThisMachine } from './request-origin.ts'
import { NewPassword } from './session-records.ts'
import type { Session, SignInProof } from './sessions.ts'

const TAG = 'Session'

/** The session of a request, on the wire. */
export const showSession = async (
  services: Pick<Services, 'config'>,
  entry: Entry,
  request: Pick<SignInRequest, 'headers'>,
): Promise<string> => sessionToWire(services, entry, await entry.sessions.current(request))

async function sessionToWire(
  { config }: Pick<Services, 'config'>,
  { sessions, whose }: Entry,
  session: Session,
): Promise<string> {
  return JSON.stringify({
    ...(await whose(session)),
    expiresOn: rfc3339(session.expiresAt, config.BUSINESS_TIME_ZONE),
    idleSeconds: idleMinutes(config) * 60,
    secondFactorNeeded: sessions.needsSecondFactor(session),
  })
}

/** Begins a session in a transaction of the person's; returns its cookie. */
export async function enter(
  { audience, keyOf, record: audit, sessions }: Entry,
  tx: Tx,
  caller: Person,
  request: SignInRequest,
  proof: SignInProof,
): Promise<string> {
  const { address, requestId } = request
  const cookie = await sessions.begin(tx, keyOf(caller), request, proof)
  const details = { address, factors: proof.factors.join(' ') }
  audit(tx, { caller, requestId }, { action: `${audience.who}.signed_in`, details })
  return cookie
}

/** The response that sets the cookie of a new session; the one that the browser had before ends, whatever its tenant. */
export async function entered(
  services: Pick<Services, 'config'>,
  entry: Entry,
  cookie: string,
  request: Pick<SignInRequest, 'headers'>,
): Promise<Reply<string>> {
  const { devices, keyOf, sessions } = entry
  const session = await sessions.current({ headers: { cookie: cookie.split(';')[0] } })
  const { factors, name, personId, tenantId } = session
  await sessions.endElsewhere(tenantId, request)
  const person = keyOf({ tenantId, actor: { actorId: personId, name } })
  // The sandbox's click proves nothing about who it is.
  const device = factors.includes('none') ? [] : devices.remember(request, person, name)
  return {
    headers: { 'set-cookie': [cookie, ...device] },
    body: await sessionToWire(services, entry, session),
  }
}

/** Signs a person in, who has proved it just now or, at an identity provider, some time ago. */
export async function beginSession(
  services: Pick<Services, 'config'>,
  entry: Entry,
  caller: Person,
  request: SignInRequest,
  proof: SignInProof,
): Promise<Reply<string>> {
  const by = { caller, requestId: request.requestId }
  const cookie = await entry.act(by, (tx) => enter(entry, tx, caller, request, proof))
  return entered(services, entry, cookie, request)
}

/** What the page must know before anybody is signed in. */
export const showAbout = <S extends Services>(face: Face<S>): Operation<S> =>
  query({
    id: `${face.id}.showAbout`,
    method: 'GET',
    path: `${face.api}/about`,
    tag: TAG,
    summary: 'What runs here, and how to sign in',
    auth: 'none',
    envelope: 'problem',
    result: record('About', {
      mode: Type.Enum(['sandbox', 'live']),
      version: text(),
      timeZone: text('Business time zone; dates are shown in it'),
      sandboxSignIn: Type.Boolean({ description: 'Whether one click signs in, without a password' }),
      passkeys: Type.Boolean({ description: 'Whether browsers allow passkeys at this address' }),
      ...face.about.fields,
    }),
    errors: [],
    mount(services: S) {
      const { BUSINESS_TIME_ZONE: timeZone, SVC_MODE: mode } = services.config
      const { passkeys } = face.identity(services)
      return ({ address, headers }) => {
        const sandboxSignIn = mode === 'sandbox' && isAtThisMachine(address, headers)
        const shared = { mode, version: VERSION, timeZone, sandboxSignIn, passkeys: passkeys.isOn }
        return { body: JSON.stringify({ ...shared, ...face.about.of(services) }) }
      }
    },
  })

/** Who is signed in, and how that ends. */
export function ownSession<S extends Services>(face: Face<S>): readonly Operation<S>[] {
  const shared = { ...face.own, beforeSecondFactor: true, tag: TAG } as const
  const path = `${face.api}/session`
  const show = query({
    ...shared,
    id: `${face.id}.showSession`,
    method: 'GET',
    path,
    summary: 'Who is signed in',
    result: face.session,
    errors: [],
    mount(services: S) {
      const identity = face.identity(services)
      return async (request) => ({ body: await showSession(services, identity, request) })
    },
  })
  const signOut = query({
    ...shared,
    id: `${face.id}.signOut`,
    method: 'DELETE',
    path,
    summary: 'Sign out',
    result: closed({ signedOut: Type.Boolean() }),
    errors: [],
    mount(services: S) {
      const { act, record: audit, sessions } = face.identity(services)
      return async (input) => {
        const session = await sessions.current(input)
        const cookie = await act(input, async (tx) => {
          audit(tx, input, { action: `${face.audience.who}.signed_out` })
          return sessions.end(tx, session)
        })
        return { headers: { 'set-cookie': cookie, 'clear-site-data': '"cache"' }, body: '{"signedOut":true}' }
      }
    },
  })
  return [show, signOut, changePassword(face)]
}

function changePassword<S extends Services>(face: Face<S>): Operation<S> {
  return query({
    ...face.own,
    id: `${face.id}.changeOwnPassword`,
    beforeSecondFactor: true,
    method: 'POST',
    path: `${face.api}/session/password`,
    tag: TAG,
    summary: 'Change your own password',
    description: 'Ends all your other sessions.',
    body: closed({ password: Type.String({ minLength: 1, maxLength: 256 }), newPassword: NewPassword }),
    result: closed({ changed: Type.Boolean() }),
    errors: [
      'wrong_password',
      'second_factor_required',
      'too_many_failed_attempts',
      'overloaded',
      'password_too_weak',
    ],
    mount(services: S) {
      const { act, checkPassword, keyOf, record: audit, sessions, setPassword } = face.identity(services)
      return async (input) => {
        const session = await sessions.current(input)
        requireProved(session)
        await checkPassword(input, input.body.password)
        const passwordHash = await hashPassword(input.body.newPassword, [session.name])
        await act(input, async (tx) => {
          await setPassword(tx, keyOf(input.caller), passwordHash, session.digest)
          audit(tx, input, { action: `${face.audience.who}.password_changed` })
        })
        return { body: '{"changed":true}' }
      }
    },
  })
}
