import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { fail } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { network } from '@svc/platform/ip-range'
import { type Operation, query, type Services } from '@svc/server/http/operation'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { Type } from 'typebox'
import { closed, idParam, Name } from '../console-schema.ts'
import { BrowserCookie } from './browser-cookie.ts'
import type { Candidate, Face, Identity, RefusedSignIn } from './face.ts'
import {
  CreatedCredential,
  PasskeyOptions,
  PasskeyRecord,
  passkeyToWire,
  UsedCredential,
} from './passkey-records.ts'
import { isCopied, PasskeyStore } from './passkey-store.ts'
import { ownerOfHandle } from './passkeys.ts'
import { requireProved } from './proof-age.ts'

const TAG = 'Passkeys'
/** Sign-ins that one address may begin in a minute. */
const STARTS_PER_MINUTE = 60

/** What the browser of a session alone has. */
const browserOf = ({ digest }: { readonly digest: Buffer }): string => digest.toString('base64url')

/** The passkeys of an own account. */
export function ownPasskeys<S extends Services>(face: Face<S>): readonly Operation<S>[] {
  const path = `${face.api}/session/passkeys`
  const shared = { ...face.own, tag: TAG } as const
  const { list } = face.passkeys
  const show = query({
    ...shared,
    id: `${face.id}.showPasskeys`,
    beforeSecondFactor: true,
    method: 'GET',
    path,
    summary: 'List your passkeys',
    result: closed({ data: Type.Array(PasskeyRecord) }),
    errors: [],
    mount(services: S) {
      const { keyOf, read } = face.identity(services)
      return async ({ caller }) => {
        const data = await read(caller, (tx) => list(tx, keyOf(caller)))
        const { BUSINESS_TIME_ZONE: timeZone } = services.config
        return { body: JSON.stringify({ data: data.map((each) => passkeyToWire(each, timeZone)) }) }
      }
    },
  })
  const start = query({
    ...shared,
    id: `${face.id}.startPasskey`,
    beforeSecondFactor: true,
    method: 'POST',
    path: `${path}/options`,
    summary: 'Begin to register a passkey',
    result: PasskeyOptions,
    errors: ['passkeys_off', 'second_factor_required', 'overloaded'],
    mount(services: S) {
      const { passkeys, read, registrant, sessions } = face.identity(services)
      return async ({ caller, headers }) => {
        const session = await sessions.current({ headers })
        requireProved(session)
        const one = await registrant(caller)
        const present = await read(caller, (tx) => list(tx, one.owner))
        const options = await passkeys.registrationOptions(one, present, browserOf(session))
        return { body: JSON.stringify({ options }) }
      }
    },
  })
  return [show, start, registerPasskey(face, path), removePasskey(face, path)]
}

function removePasskey<S extends Services>(face: Face<S>, path: string): Operation<S> {
  return query({
    ...face.own,
    tag: TAG,
    id: `${face.id}.removePasskey`,
    stepUp: true,
    method: 'DELETE',
    path: `${path}/:passkeyId`,
    summary: 'Remove one of your passkeys',
    params: idParam('passkeyId'),
    result: closed({ removed: Type.Boolean() }),
    errors: ['passkey_not_found'],
    mount(services: S) {
      const { act, keyOf } = face.identity(services)
      return async (input) => {
        const { caller, params } = input
        const removed = await act(input, (tx) => face.passkeys.remove(tx, keyOf(caller), params.passkeyId))
        return { body: JSON.stringify({ removed: removed || fail('passkey_not_found') }) }
      }
    },
  })
}

function registerPasskey<S extends Services>(face: Face<S>, path: string): Operation<S> {
  return query({
    ...face.own,
    id: `${face.id}.registerPasskey`,
    stepUp: true,
    beforeSecondFactor: true,
    method: 'POST',
    path,
    tag: TAG,
    summary: 'Register a passkey',
    description:
      'Its authenticator must have recognized the person: by PIN, fingerprint or face. The session has proved it, too.',
    body: closed({ name: Name, credential: CreatedCredential }),
    result: PasskeyRecord,
    errors: [
      'passkeys_off',
      'passkey_refused',
      'second_factor_required',
      'too_many_passkeys',
      'already_exists',
    ],
    mount(services: S) {
      const { clock, config, random } = services
      const { act, passkeys, registrant, sessions } = face.identity(services)
      return async (input) => {
        const session = await sessions.current(input)
        requireProved(session)
        const one = await registrant(input.caller)
        const { name, credential } = input.body
        const response = credential as RegistrationResponseJSON
        const created = await passkeys.registered(one, response, browserOf(session))
        const passkey = await act(input, async (tx) => {
          const inserted = await face.passkeys.insert(tx, random, {
            owner: one.owner,
            credentialId: Buffer.from(created.id, 'base64url'),
            publicKey: Buffer.from(created.publicKey),
            signCount: created.counter,
            transports: credential.response.transports ?? [],
            name,
            createdAt: new Date(clock.now()),
          })
          await sessions.addFactor(tx, session, 'passkey')
          return inserted
        })
        return { body: JSON.stringify(passkeyToWire(passkey, config.BUSINESS_TIME_ZONE)) }
      }
    },
  })
}

/** Whose passkey signed its challenge, with the new counter stored; or why it is refused. */
async function decideSignIn(
  { find, passkeys, tenantOf, within }: Identity,
  store: PasskeyStore,
  response: AuthenticationResponseJSON,
  { browser, now }: { readonly browser: string | undefined; readonly now: Date },
): Promise<Candidate | RefusedSignIn> {
  if (!passkeys.isOn) return fail('passkeys_off')
  const challenge = browser && (await passkeys.challengeOf(response, browser))
  if (!challenge) return { reason: 'foreign_response', name: '' }
  const tenant = tenantOf(ownerOfHandle(response.response.userHandle))
  if (!tenant) return { reason: 'unknown_passkey', name: '' }
  return within(tenant[0] ?? PLATFORM_TENANT, async (tx) => {
    const passkey = await store.lock(tx, tenant, Buffer.from(response.id, 'base64url'))
    const candidate = passkey && (await find(tx, passkey.owner))
    if (!candidate) return { reason: 'unknown_passkey', name: '' }
    const { name, isDisabled } = candidate
    const refused = (reason: string) => ({ reason, name, owner: passkey.owner })
    const counter = await passkeys.counterOf(passkey, challenge, response)
    if (counter === undefined) return refused('passkey_response')
    if (isCopied(passkey.signCount, counter)) return refused('passkey_copied')
    if (isDisabled) return refused('disabled')
    await store.use(tx, passkey, counter, now)
    return candidate
  })
}

/** The sign-in with a passkey alone, whose response is the one of the session that it begins. */
export function passkeySignIn<S extends Services>(face: Face<S>): readonly Operation<S>[] {
  const path = `${face.api}/session/passkey`
  const shared = { auth: 'none', envelope: 'problem', method: 'POST', tag: TAG } as const
  const start = query({
    ...shared,
    id: `${face.id}.startPasskeySignIn`,
    path: `${path}/options`,
    summary: 'Begin to sign in with a passkey',
    description:
      'Sets a cookie that binds the sign-in to this browser for ten minutes: the response of a passkey is accepted from no other.',
    result: PasskeyOptions,
    errors: ['passkeys_off', 'rate_limited', 'overloaded'],
    mount(services: S) {
      const { publicUrl, random } = services
      const { passkeys } = face.identity(services)
      const starts = new RateLimiterMemory({ points: STARTS_PER_MINUTE, duration: 60 })
      return async ({ address }) => {
        await starts.consume(network(address)).catch((refused: unknown) => {
          if (refused instanceof Error) throw refused
          return fail('rate_limited', { retryAfterSeconds: 60 })
        })
        const browser = Buffer.from(random(32)).toString('base64url')
        const options = await passkeys.signInOptions(browser)
        const cookie = new BrowserCookie({ publicUrl }, face.id, 'passkey').set(browser)
        return { headers: { 'set-cookie': cookie }, body: JSON.stringify({ options }) }
      }
    },
  })
  const finish = query({
    ...shared,
    id: `${face.id}.signInWithPasskey`,
    limitedBy: 'address',
    path,
    summary: 'Sign in with a passkey',
    description:
      'Needs no name and no password: the passkey names its person, and its authenticator must have recognized the person. A counter that does not rise is refused and audited as `passkey_copied`. A session that the browser had before ends.',
    body: closed({ credential: UsedCredential }),
    result: face.session,
    errors: ['passkeys_off', 'passkey_refused'],
    mount(services: S) {
      const identity = face.identity(services)
      return async ({ address, body, headers, requestId }) => {
        const response = body.credential as unknown as AuthenticationResponseJSON
        const browser = new BrowserCookie(services, face.id, 'passkey').read(headers)
        const now = new Date(services.clock.now())
        const outcome = await decideSignIn(identity, face.passkeys, response, { browser, now })
        const request = { address, headers, requestId }
        if ('enter' in outcome) return outcome.enter(request, ['passkey'])
        await identity.refused(outcome, request)
        return fail('passkey_refused')
      }
    },
  })
  return [start, finish]
}
