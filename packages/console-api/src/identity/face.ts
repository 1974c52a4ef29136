import type { Tx } from '@svc/platform/db/database'
import type { Caller, Reply, Services } from '@svc/server/http/operation'
import type { Audience, PersonKey } from './audience.ts'
import type { OwnSessions } from './own-sessions.ts'
import type { PasskeyStore } from './passkey-store.ts'
import type { Passkeys, Registrant } from './passkeys.ts'
import type { Factor } from './proof-age.ts'
import type { SecondFactor } from './second-factor.ts'
import type { FactorStore } from './second-factor-store.ts'

/** What the operations of an own account need to know of the session of a request. */
export interface ProvedSession {
  readonly tenantId: string
  readonly digest: Buffer
  readonly factors: readonly Factor[]
  readonly hasSecondFactor: boolean
  readonly authenticatedAt: Date
}

/** A request that signs in, or fails to. */
export interface SignInRequest {
  readonly address: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly requestId: string
}

/** Whom a passkey may sign in. */
export interface Candidate {
  readonly name: string
  readonly isDisabled: boolean
  readonly enter: (request: SignInRequest, factors: readonly Factor[]) => Promise<Reply<string>>
}

/** A sign-in that failed, with whose it was where that is known. */
export interface RefusedSignIn {
  readonly reason: string
  readonly owner?: PersonKey | undefined
  readonly name: string
}

interface ActingRequest {
  readonly caller: Caller
  readonly requestId: string
}

/** People of one side: how they are found, and under which name and in which transactions they act. */
export interface Identity {
  readonly passkeys: Passkeys
  readonly secondFactor: SecondFactor
  readonly keyOf: (caller: Caller) => PersonKey
  readonly registrant: (caller: Caller) => Promise<Registrant>
  readonly current: (request: Pick<SignInRequest, 'headers'>) => Promise<ProvedSession>
  /** A session has ended that expired before `now`, or was used last before `idleSince`. */
  readonly bounds: () => { readonly now: Date; readonly idleSince: Date }
  readonly addFactor: (tx: Tx, session: ProvedSession, factor: Factor) => Promise<void>
  /** The person has proved again who they are. */
  readonly renew: (tx: Tx, session: ProvedSession, factors: readonly Factor[]) => Promise<void>
  /** Throws what `PROOF_FAILURES` lists; wrong ones are slowed down and audited. */
  readonly prove: (
    request: ActingRequest & SignInRequest,
    given: { readonly password: string; readonly code?: string | undefined },
  ) => Promise<readonly Factor[]>
  /** The session of a request, on the wire. */
  readonly show: (request: Pick<SignInRequest, 'headers'>) => Promise<string>
  readonly read: <T>(caller: Caller, work: (tx: Tx) => Promise<T>) => Promise<T>
  /** What the caller changes is audited under the caller's name. */
  readonly act: <T>(request: ActingRequest, work: (tx: Tx) => Promise<T>) => Promise<T>
  readonly record: (
    tx: Tx,
    request: ActingRequest,
    act: { readonly action: string; readonly details?: Readonly<Record<string, string | number>> },
  ) => void
  readonly within: <T>(tenantId: string, work: (tx: Tx) => Promise<T>) => Promise<T>
  /** Of the tenant that a passkey's response names, all of a key but the person; `undefined` for what names none. */
  readonly tenantOf: (owner: PersonKey | undefined) => readonly string[] | undefined
  readonly find: (tx: Tx, owner: PersonKey) => Promise<Candidate | undefined>
  readonly refused: (refused: RefusedSignIn, request: SignInRequest) => Promise<void>
}

/** Console or portal: what both have of their people are the same operations, under the same names. */
export interface Face<S extends Services> {
  readonly id: 'console' | 'portal'
  readonly api: string
  readonly audience: Audience
  readonly passkeys: PasskeyStore
  readonly factors: FactorStore
  readonly sessions: OwnSessions
  /** Who may call: the own account is for every role. */
  readonly own: {
    readonly auth: 'operator' | 'member'
    readonly envelope: 'problem'
    readonly permission?: 'view'
    readonly role?: 'viewer'
  }
  readonly identity: (services: S) => Identity
}
