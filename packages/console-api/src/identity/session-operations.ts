import { fail } from '@svc/contract/errors'
import { idleMinutes } from '@svc/contract/sign-in-settings'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import { VERSION } from '@svc/platform/package'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, maybe, record, text } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import type { SignInRequest } from './face.ts'
import {
  findOperator,
  insertOperator,
  type OperatorAccount,
  SANDBOX_OPERATOR,
  setPasswordHash,
} from './operator-store.ts'
import { hashPassword, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from './password.ts'
import { PERMISSIONS, permissionsOf, ROLES } from './permissions.ts'
import { type Factor, requireProved } from './proof-age.ts'
import { checkPassword, PasswordAndCode, PROOF_FAILURES, proveOperator } from './prove-operator.ts'
import { isAtThisMachine } from './request-origin.ts'
import type { Session } from './sessions.ts'

const TAG = 'Session'

export const SessionRecord = record('Session', {
  operator: record('SessionOperator', {
    operatorId: text(),
    name: text(),
    role: Type.Enum([...ROLES]),
    permissions: Type.Array(Type.Enum(Object.keys(PERMISSIONS))),
  }),
  expiresOn: text('When it ends at the latest, RFC 3339'),
  idleSeconds: Type.Integer({ description: 'It ends earlier when nothing is asked for so long' }),
  secondFactorNeeded: Type.Boolean({
    description:
      'Whether nothing but the own account works before a second factor is set up, or used where there is one',
  }),
})

export const NewPassword = Type.String({
  minLength: PASSWORD_CHARS_MIN,
  maxLength: PASSWORD_CHARS_MAX,
  'x-rule': `must have ${PASSWORD_CHARS_MIN} to ${PASSWORD_CHARS_MAX} characters`,
})

export function sessionToWire(session: Session, { config, sessions }: ConsoleServices): string {
  const { actorId: operatorId, name, role } = session.operator
  return JSON.stringify({
    operator: { operatorId, name, role, permissions: permissionsOf(role) },
    expiresOn: rfc3339(session.expiresAt, config.BUSINESS_TIME_ZONE),
    idleSeconds: idleMinutes(config) * 60,
    secondFactorNeeded: sessions.needsSecondFactor(session),
  })
}

/** Whom the audit names without a session. */
export const ANONYMOUS = 'anonymous'

/** Signs an operator in, who has proved it just now or, at an identity provider, some time ago. */
export async function beginSession(
  services: ConsoleServices,
  operator: OperatorAccount,
  { address, headers, requestId }: SignInRequest,
  factors: readonly Factor[],
  authenticatedAt?: Date,
) {
  const { sessions } = services
  const by = { actor: `operator ${operator.name}`, requestId }
  const agent = headers['user-agent']
  const place = { address, userAgent: typeof agent === 'string' ? agent : '' }
  return services.database.operate(
    async (tx) => {
      const { session, cookie } = await sessions.begin(
        tx,
        operator,
        sessions.digestOf({ headers }),
        { factors, authenticatedAt },
        place,
      )
      const details = { address, factors: factors.join(' ') }
      recordAudit(tx, [{ action: 'operator.signed_in', target: operator.operatorId, details }])
      // The sandbox's click proves nothing about who it is.
      const device = factors.includes('none') ? [] : services.devices.remember({ headers }, [], operator.name)
      return { headers: { 'set-cookie': [cookie, ...device] }, body: sessionToWire(session, services) }
    },
    'read committed',
    by,
  )
}

/** What the page must know before anybody is signed in. */
export const showAbout = query({
  id: 'console.showAbout',
  method: 'GET',
  path: `${CONSOLE_API}/about`,
  tag: TAG,
  summary: 'What runs here, and how to sign in',
  auth: 'none',
  envelope: 'problem',
  result: record('About', {
    mode: Type.Enum(['sandbox', 'live']),
    version: text(),
    timeZone: text('Business time zone; dates are shown in it'),
    dayEndsAt: Type.Integer({ description: 'The minute of the day at which a business day ends' }),
    sandboxSignIn: Type.Boolean({ description: 'Whether one click signs in, without a password' }),
    passwords: Type.Boolean({ description: 'Whether operators may sign in with a password' }),
    passkeys: Type.Boolean({ description: 'Whether browsers allow passkeys at this address' }),
    singleSignOn: maybe('Host of the identity provider, where there is one'),
  }),
  errors: [],
  mount({ config, passkeys }: ConsoleServices) {
    const mode = config.SVC_MODE
    const timeZone = config.BUSINESS_TIME_ZONE
    return ({ address, headers }) => ({
      body: JSON.stringify({
        mode,
        version: VERSION,
        timeZone,
        dayEndsAt: config.BUSINESS_DAY_CUTOFF,
        sandboxSignIn: mode === 'sandbox' && isAtThisMachine(address, headers),
        passwords: config.CONSOLE_PASSWORDS === 'on',
        passkeys: passkeys.isOn,
        singleSignOn: config.OIDC_ISSUER && new URL(config.OIDC_ISSUER).host,
      }),
    })
  },
})

export const signIn = query({
  id: 'console.signIn',
  method: 'POST',
  path: `${CONSOLE_API}/session`,
  tag: TAG,
  summary: 'Sign in',
  description:
    'Sets the session cookie; a session that the browser had before ends. After several failures of a name or an address the next attempts wait a second each (decision A11); a right password always passes. An operator with an authenticator app sends its `code` too; one with a passkey alone gets a session that reaches nothing but the own account: `POST /session/passkey` begins a whole one.',
  auth: 'none',
  envelope: 'problem',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    ...PasswordAndCode,
  }),
  result: SessionRecord,
  errors: ['passwords_off', ...PROOF_FAILURES],
  mount(services: ConsoleServices) {
    return async ({ address, body: { name, ...given }, headers, requestId }) => {
      if (services.config.CONSOLE_PASSWORDS === 'off') fail('passwords_off')
      const attempt = {
        action: 'operator.sign_in_failed',
        actor: ANONYMOUS,
        address,
        name,
        requestId,
        device: services.devices.find({ headers }, name),
      } as const
      const { operator, factors } = await proveOperator(services, attempt, given)
      return beginSession(services, operator, { address, headers, requestId }, factors)
    }
  },
})

/** One click, without a password: in sandbox mode only, and from this machine only. */
export const signInToSandbox = query({
  id: 'console.signInToSandbox',
  method: 'POST',
  path: `${CONSOLE_API}/session/sandbox`,
  tag: TAG,
  summary: 'Sign in to the sandbox with one click',
  description: 'As the administrator `sandbox`. Exists in sandbox mode only, and only over loopback.',
  auth: 'loopback',
  envelope: 'problem',
  sandboxOnly: true,
  result: SessionRecord,
  errors: ['route_not_found', 'not_signed_in', 'already_exists'],
  mount(services: ConsoleServices) {
    return async ({ address, headers, requestId }) => {
      const { database, random } = services
      const operator = await database.operate(
        async (tx) =>
          (await findOperator(tx, SANDBOX_OPERATOR)) ??
          (await insertOperator(tx, random, { name: SANDBOX_OPERATOR, role: 'admin', passwordHash: null })),
      )
      if (operator.disabledAt) {
        await services.failedSignIns.record({
          action: 'operator.sign_in_failed',
          actor: ANONYMOUS,
          address,
          name: SANDBOX_OPERATOR,
          requestId,
        })
        fail('not_signed_in', {
          description: `The operator ${SANDBOX_OPERATOR} is disabled; svc admin operator enable ${SANDBOX_OPERATOR}`,
        })
      }
      return beginSession(services, operator, { address, headers, requestId }, ['none'])
    }
  },
})

export const showSession = query({
  ...consoleOperation,
  id: 'console.showSession',
  beforeSecondFactor: true,
  method: 'GET',
  path: `${CONSOLE_API}/session`,
  tag: TAG,
  summary: 'Who is signed in',
  permission: 'view',
  result: SessionRecord,
  errors: [],
  mount(services: ConsoleServices) {
    const { sessions } = services
    return async ({ headers }) => {
      return { body: sessionToWire(await sessions.current({ headers }), services) }
    }
  },
})

export const signOut = query({
  ...consoleOperation,
  id: 'console.signOut',
  beforeSecondFactor: true,
  method: 'DELETE',
  path: `${CONSOLE_API}/session`,
  tag: TAG,
  summary: 'Sign out',
  permission: 'view',
  result: closed({ signedOut: Type.Boolean() }),
  errors: [],
  mount(services: ConsoleServices) {
    const { sessions } = services
    return async ({ caller, headers, requestId }) => {
      const cookie = await services.database.operate(
        async (tx) => {
          const ended = await sessions.end(tx, sessions.digestOf({ headers }) ?? fail('not_signed_in'))
          recordAudit(tx, [{ action: 'operator.signed_out', target: caller.actor!.actorId }])
          return ended
        },
        'read committed',
        { actor: actorOf(caller), requestId },
      )
      return { headers: { 'set-cookie': cookie, 'clear-site-data': '"cache"' }, body: '{"signedOut":true}' }
    }
  },
})

export const changeOwnPassword = query({
  ...consoleOperation,
  id: 'console.changeOwnPassword',
  beforeSecondFactor: true,
  method: 'POST',
  path: `${CONSOLE_API}/session/password`,
  tag: TAG,
  summary: 'Change your own password',
  description: 'Ends all your other sessions.',
  permission: 'view',
  body: closed({ password: Type.String({ minLength: 1, maxLength: 256 }), newPassword: NewPassword }),
  result: closed({ changed: Type.Boolean() }),
  errors: [
    'wrong_password',
    'second_factor_required',
    'too_many_failed_attempts',
    'overloaded',
    'password_too_weak',
  ],
  mount(services: ConsoleServices) {
    const { database, sessions } = services
    return async ({ address, body, caller, headers, requestId }) => {
      requireProved(await sessions.current({ headers }))
      const { actorId, name } = caller.actor!
      const action = 'operator.password_change_failed'
      const device = services.devices.find({ headers }, name)
      const attempt = { action, actor: actorOf(caller), address, device, name, requestId } as const
      await checkPassword(services, attempt, body.password)
      const passwordHash = await hashPassword(body.newPassword, [name])
      await database.operate(
        async (tx) => {
          await setPasswordHash(tx, actorId, passwordHash, sessions.digestOf({ headers }))
          recordAudit(tx, [{ action: 'operator.password_changed', target: actorId }])
        },
        'read committed',
        { actor: actorOf(caller), requestId },
      )
      return { body: '{"changed":true}' }
    }
  },
})
