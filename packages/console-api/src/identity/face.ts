import type { Tx } from '@svc/platform/db/database'
import type { Caller, Reply, Services } from '@svc/server/http/operation'
import type { TSchema } from 'typebox'
import type { Audience, Person, PersonKey } from './audience.ts'
import type { KnownDevices } from './known-devices.ts'
import type { PasskeyStore } from './passkey-store.ts'
import type { Passkeys, Registrant } from './passkeys.ts'
import type { Factor } from './proof-age.ts'
import type { SecondFactor } from './second-factor.ts'
import type { FactorStore } from './second-factor-store.ts'
import type { SessionStore } from './session-store.ts'
import type { Session, Sessions } from './sessions.ts'

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
  readonly caller: Person
  readonly requestId: string
}

/** What a session of a person begins with. */
export interface Entry {
  readonly audience: Audience
  readonly devices: KnownDevices
  readonly sessions: Sessions<string>
  readonly keyOf: (person: Person) => PersonKey
  /** Whose a session is, on the wire. */
  readonly whose: (session: Session) => Promise<object>
  /** What the caller changes is audited under the caller's name. */
  readonly act: <T>(request: ActingRequest, work: (tx: Tx) => Promise<T>) => Promise<T>
  readonly record: (
    tx: Tx,
    request: ActingRequest,
    act: { readonly action: string; readonly details?: Readonly<Record<string, string | number>> },
  ) => void
}

/** People of one side: how they are found, and under which name and in which transactions they act. */
export interface Identity extends Entry {
  readonly passkeys: Passkeys
  readonly secondFactor: SecondFactor
  readonly registrant: (caller: Caller) => Promise<Registrant>
  /** Throws `wrong_password`; wrong ones are slowed down and audited. */
  readonly checkPassword: (request: ActingRequest & SignInRequest, password: string) => Promise<unknown>
  /** Throws what `PROOF_FAILURES` lists; wrong ones are slowed down and audited. */
  readonly prove: (
    request: ActingRequest & SignInRequest,
    given: { readonly password: string; readonly code?: string | undefined },
  ) => Promise<readonly Factor[]>
  /** All sessions end but the one that is kept. */
  readonly setPassword: (tx: Tx, owner: PersonKey, passwordHash: string, keep: Uint8Array) => Promise<void>
  readonly read: <T>(caller: Caller, work: (tx: Tx) => Promise<T>) => Promise<T>
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
  readonly sessions: SessionStore
  /** The record of a session. */
  readonly session: TSchema
  /** What the page must know besides what both must. */
  readonly about: { readonly fields: Readonly<Record<string, TSchema>>; readonly of: (services: S) => object }
  /** Who may call: the own account is for every role. */
  readonly own: {
    readonly auth: 'operator' | 'member'
    readonly envelope: 'problem'
    readonly permission?: 'view'
    readonly role?: 'viewer'
  }
  readonly identity: (services: S) => Identity
}
