import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { fail } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import { network } from '@svc/platform/ip-range'
import { type Input, query } from '@svc/server/http/operation'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, Name } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { byOperator, changeAccess, toolsOf, WaitsFor } from './access-requests.ts'
import { BrowserCookie } from './browser-cookie.ts'
import { findOperator, type OperatorAccount } from './operator-store.ts'
import {
  CreatedCredential,
  PasskeyOptions,
  PasskeyRecord,
  passkeyToWire,
  UsedCredential,
} from './passkey-records.ts'
import {
  insertPasskey,
  isCopied,
  listPasskeys,
  lockPasskey,
  removePasskeyOf,
  usePasskey,
} from './passkey-store.ts'
import { requireProved } from './proof-age.ts'
import { ANONYMOUS, beginSession, SessionRecord } from './session-operations.ts'

const TAG = 'Passkeys'
/** Sign-ins that one address may begin in a minute. */
const STARTS_PER_MINUTE = 60

export const showPasskeys = query({
  ...consoleOperation,
  id: 'console.showPasskeys',
  beforeSecondFactor: true,
  method: 'GET',
  path: `${CONSOLE_API}/session/passkeys`,
  tag: TAG,
  summary: 'List your passkeys',
  permission: 'view',
  result: closed({ data: Type.Array(PasskeyRecord) }),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ caller }) => {
      const { actorId } = required(caller.actor, 'operators call')
      const passkeys = await database.operate((tx) => listPasskeys(tx, actorId))
      return { body: JSON.stringify({ data: passkeys.map((each) => passkeyToWire(each, timeZone)) }) }
    }
  },
})

export const startPasskey = query({
  ...consoleOperation,
  id: 'console.startPasskey',
  beforeSecondFactor: true,
  method: 'POST',
  path: `${CONSOLE_API}/session/passkeys/options`,
  tag: TAG,
  summary: 'Begin to register a passkey',
  permission: 'view',
  result: PasskeyOptions,
  errors: ['passkeys_off', 'second_factor_required', 'overloaded'],
  mount({ database, passkeys, sessions }: ConsoleServices) {
    return async ({ caller, headers }) => {
      requireProved(await sessions.current({ headers }))
      const operator = required(caller.actor, 'operators call')
      const present = await database.operate((tx) => listPasskeys(tx, operator.actorId))
      const browser = sessionOf(sessions, { headers })
      const options = await passkeys.registrationOptions(operator, present, browser)
      return { body: JSON.stringify({ options }) }
    }
  },
})

export const registerPasskey = query({
  ...consoleOperation,
  id: 'console.registerPasskey',
  stepUp: true,
  beforeSecondFactor: true,
  method: 'POST',
  path: `${CONSOLE_API}/session/passkeys`,
  tag: TAG,
  summary: 'Register a passkey',
  description:
    'Its authenticator must have recognized the person: by PIN, fingerprint or face. The session has proved it, too.',
  permission: 'view',
  body: closed({ name: Name, credential: CreatedCredential }),
  result: PasskeyRecord,
  errors: [
    'passkeys_off',
    'passkey_refused',
    'second_factor_required',
    'too_many_passkeys',
    'already_exists',
  ],
  mount(services: ConsoleServices) {
    const { clock, config, passkeys, random, sessions } = services
    return async (input) => {
      const session = await sessions.current(input)
      requireProved(session)
      const { actorId: operatorId } = required(input.caller.actor, 'operators call')
      const { name, credential } = input.body
      const browser = sessionOf(sessions, input)
      const created = await passkeys.registered(operatorId, credential as RegistrationResponseJSON, browser)
      const passkey = await asOperator(services, input, async (tx) => {
        const inserted = await insertPasskey(tx, random, {
          operatorId,
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

export const removePasskey = query({
  ...consoleOperation,
  id: 'console.removePasskey',
  stepUp: true,
  method: 'DELETE',
  path: `${CONSOLE_API}/session/passkeys/:passkeyId`,
  tag: TAG,
  summary: 'Remove one of your passkeys',
  permission: 'view',
  params: idParam('passkeyId'),
  result: closed({ removed: Type.Boolean() }),
  errors: ['passkey_not_found'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { actorId } = required(input.caller.actor, 'operators call')
      const removed = await asOperator(services, input, (tx) =>
        removePasskeyOf(tx, actorId, input.params.passkeyId),
      )
      return { body: JSON.stringify({ removed: removed || fail('passkey_not_found') }) }
    }
  },
})

export const removeOperatorPasskeys = query({
  ...consoleOperation,
  id: 'console.removeOperatorPasskeys',
  stepUp: true,
  method: 'DELETE',
  path: `${CONSOLE_API}/operators/:operatorId/passkeys`,
  tag: TAG,
  summary: 'Remove all passkeys of an operator',
  description:
    'Ends all sessions of the operator within a second. In live mode it waits for a second administrator: `approvalId` says so.',
  permission: 'administer',
  params: idParam('operatorId'),
  result: closed({ removed: Type.Integer({ description: 'How many there were' }), approvalId: WaitsFor }),
  errors: ['operator_not_found', 'last_administrator', 'approval_open'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { operatorId } = input.params
      const { approvalId, removed } = await asOperator(services, input, (tx) =>
        changeAccess(tx, toolsOf(services), byOperator(input), { kind: 'passkeys', operatorId }),
      )
      return { body: JSON.stringify({ removed, approvalId }) }
    }
  },
})

export const startPasskeySignIn = query({
  id: 'console.startPasskeySignIn',
  method: 'POST',
  path: `${CONSOLE_API}/session/passkey/options`,
  tag: TAG,
  summary: 'Begin to sign in with a passkey',
  description:
    'Sets a cookie that binds the sign-in to this browser for ten minutes: the response of a passkey is accepted from no other.',
  auth: 'none',
  envelope: 'problem',
  result: PasskeyOptions,
  errors: ['passkeys_off', 'rate_limited', 'overloaded'],
  mount({ passkeys, publicUrl, random }: ConsoleServices) {
    const starts = new RateLimiterMemory({ points: STARTS_PER_MINUTE, duration: 60 })
    return async ({ address }) => {
      await starts.consume(network(address)).catch((refused: unknown) => {
        if (refused instanceof Error) throw refused
        return fail('rate_limited', { retryAfterSeconds: 60 })
      })
      const browser = Buffer.from(random(32)).toString('base64url')
      const options = await passkeys.signInOptions(browser)
      const cookie = new BrowserCookie({ publicUrl }, 'passkey').set(browser)
      return { headers: { 'set-cookie': cookie }, body: JSON.stringify({ options }) }
    }
  },
})

/** What the browser of a session alone has. */
const sessionOf = (
  sessions: ConsoleServices['sessions'],
  request: Pick<Input<unknown, unknown, unknown>, 'headers'>,
) => required(sessions.digestOf(request), 'it is signed in').toString('base64url')

type Outcome =
  | { readonly operator: OperatorAccount }
  | {
      readonly reason:
        | 'foreign_response'
        | 'unknown_passkey'
        | 'passkey_response'
        | 'passkey_copied'
        | 'disabled'
      readonly name: string
    }

/** Whose passkey signed its challenge, with the new counter stored; or why it is refused. */
async function decideSignIn(
  { clock, database, passkeys }: ConsoleServices,
  response: AuthenticationResponseJSON,
  browser: string | undefined,
): Promise<Outcome> {
  if (!passkeys.isOn) return fail('passkeys_off')
  const challenge = browser && (await passkeys.challengeOf(response, browser))
  if (!challenge) return { reason: 'foreign_response', name: '' }
  return database.operate(async (tx) => {
    const passkey = await lockPasskey(tx, Buffer.from(response.id, 'base64url'))
    const operator = passkey && (await findOperator(tx, passkey.operatorId))
    if (!operator) return { reason: 'unknown_passkey', name: '' }
    const { name } = operator
    const counter = await passkeys.counterOf(passkey, challenge, response)
    if (counter === undefined) return { reason: 'passkey_response', name }
    if (isCopied(passkey.signCount, counter)) return { reason: 'passkey_copied', name }
    if (operator.disabledAt) return { reason: 'disabled', name }
    await usePasskey(tx, passkey, counter, new Date(clock.now()))
    return { operator }
  })
}

export const signInWithPasskey = query({
  id: 'console.signInWithPasskey',
  method: 'POST',
  path: `${CONSOLE_API}/session/passkey`,
  tag: TAG,
  summary: 'Sign in with a passkey',
  description:
    'Needs no name and no password: the passkey names its operator, and its authenticator must have recognized the person. A counter that does not rise is refused and audited as `passkey_copied`. A session that the browser had before ends.',
  auth: 'none',
  limitedBy: 'address',
  envelope: 'problem',
  body: closed({ credential: UsedCredential }),
  result: SessionRecord,
  errors: ['passkeys_off', 'passkey_refused'],
  mount(services: ConsoleServices) {
    return async ({ address, body, headers, requestId }) => {
      const response = body.credential as unknown as AuthenticationResponseJSON
      const browser = new BrowserCookie(services, 'passkey').read(headers)
      const outcome = await decideSignIn(services, response, browser)
      if ('operator' in outcome)
        return beginSession(services, outcome.operator, { address, headers, requestId }, ['passkey'])
      const action = 'operator.sign_in_failed'
      await services.failedSignIns.record({ action, actor: ANONYMOUS, address, requestId, ...outcome })
      return fail('passkey_refused')
    }
  },
})
