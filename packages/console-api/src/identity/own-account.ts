import type { Operation, Services } from '@svc/server/http/operation'
import type { Face } from './face.ts'
import { ownSessions } from './own-session-operations.ts'
import { ownPasskeys, passkeySignIn } from './passkey-operations.ts'
import { ownFactor, stepUp } from './second-factor-operations.ts'
import { ownSession, showAbout } from './session-operations.ts'

/** What console and portal have of their people: the page before a sign-in, the session, and the own account. */
export const ownAccount = <S extends Services>(face: Face<S>): readonly Operation<S>[] => [
  showAbout(face),
  ...ownSession(face),
  ...passkeySignIn(face),
  ...ownPasskeys(face),
  stepUp(face),
  ...ownFactor(face),
  ...ownSessions(face),
]
