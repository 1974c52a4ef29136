import { Type } from 'typebox'
import { query } from '../platform/http/operation.ts'
import { CONSOLE_API, closed, consoleOperation, ROLES, record, text } from './console-schema.ts'
import { later } from './later.ts'

const TAG = 'Session'

const SessionRecord = record('Session', {
  operator: record('SessionOperator', { operatorId: text(), name: text(), role: Type.Enum([...ROLES]) }),
  expiresOn: text('When it ends at the latest, RFC 3339'),
  idleSeconds: Type.Integer({ description: 'It ends earlier when nothing is asked for so long' }),
})

export const NewPassword = Type.String({
  minLength: 12,
  maxLength: 256,
  'x-rule': 'must have 12 to 256 characters',
})

/** What the page must know before anybody is signed in. */
export const showAbout = query({
  id: 'showAbout',
  method: 'GET',
  path: `${CONSOLE_API}/about`,
  tag: TAG,
  summary: 'What runs here, and how to sign in',
  auth: 'none',
  family: 'problem',
  result: record('About', {
    mode: Type.Enum(['sandbox', 'live']),
    version: text(),
    timeZone: text('Business time zone; dates are shown in it'),
    sandboxSignIn: Type.Boolean({ description: 'Whether one click signs in, without a password' }),
  }),
  errors: [],
  mount: later,
})

export const signIn = query({
  id: 'signIn',
  method: 'POST',
  path: `${CONSOLE_API}/session`,
  tag: TAG,
  summary: 'Sign in',
  description:
    'Sets the session cookie; a session that the browser had before ends. After several failures of a name or an address the next attempts wait a second each (decision A11); a right password always passes.',
  auth: 'none',
  family: 'problem',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    password: Type.String({ minLength: 1, maxLength: 256 }),
  }),
  result: SessionRecord,
  errors: ['wrong_password', 'too_many_failed_attempts', 'overloaded'],
  mount: later,
})

/** One click, without a password: in sandbox mode only, and from this machine only. */
export const signInToSandbox = query({
  id: 'signInToSandbox',
  method: 'POST',
  path: `${CONSOLE_API}/session/sandbox`,
  tag: TAG,
  summary: 'Sign in to the sandbox with one click',
  description: 'As the administrator `sandbox`. Exists in sandbox mode only, and only over loopback.',
  auth: 'loopback',
  family: 'problem',
  sandboxOnly: true,
  result: SessionRecord,
  errors: ['route_not_found'],
  mount: later,
})

export const showSession = query({
  ...consoleOperation,
  id: 'showSession',
  method: 'GET',
  path: `${CONSOLE_API}/session`,
  tag: TAG,
  summary: 'Who is signed in',
  role: 'viewer',
  result: SessionRecord,
  errors: [],
  mount: later,
})

export const signOut = query({
  ...consoleOperation,
  id: 'signOut',
  method: 'DELETE',
  path: `${CONSOLE_API}/session`,
  tag: TAG,
  summary: 'Sign out',
  role: 'viewer',
  result: closed({ signedOut: Type.Boolean() }),
  errors: [],
  mount: later,
})

export const changeOwnPassword = query({
  ...consoleOperation,
  id: 'changeOwnPassword',
  method: 'POST',
  path: `${CONSOLE_API}/session/password`,
  tag: TAG,
  summary: 'Change your own password',
  description: 'Ends all other sessions of yours.',
  role: 'viewer',
  body: closed({ password: Type.String({ minLength: 1, maxLength: 256 }), newPassword: NewPassword }),
  result: closed({ changed: Type.Boolean() }),
  errors: ['wrong_password', 'too_many_failed_attempts', 'overloaded'],
  mount: later,
})
