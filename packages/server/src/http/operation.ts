import type { Readable } from 'node:stream'
import type { Config } from '@svc/contract/config'
import type { ErrorCode } from '@svc/contract/errors'
import type { MerchantScope, Scope } from '@svc/contract/scopes'
import type { CommandAudit } from '@svc/platform/audit'
import type { AnyCommand } from '@svc/platform/command'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { HttpResponse } from '@svc/platform/db/idempotency-store'
import type { CoreServices } from '@svc/platform/services'
import { type Static, type TSchema, Type } from 'typebox'
import { auditOfMember, namingMember } from './audit-of-member.ts'
import type { Deprecation } from './deprecation.ts'
import type { Envelope } from './failure-body.ts'
import { retryKey } from './retry-key.ts'
import { successOf } from './success.ts'

/** A request of the service to itself. */
export interface SelfCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** What operations are given: what the product has, and what only a server knows. */
export interface Services extends CoreServices {
  /** Whether requests should go elsewhere, since this process is about to end. */
  readonly isLeaving: () => boolean
  /** Whether something is still being made that callers expect, such as the demo tenants of the sandbox. */
  readonly isSettingUp: () => boolean
  /** What an operator should fix although requests are served, in words for `/readyz`. */
  readonly warnings: () => readonly string[]
  /** A request to ourselves, through the whole HTTP stack but without a socket. */
  readonly selfCall: (request: SelfCall) => Promise<{
    readonly status: number
    readonly body: string
    readonly headers: Readonly<Record<string, unknown>>
  }>
}

/** A person who acts on behalf of others: whom the audit names. */
export interface Actor {
  readonly actorId: string
  readonly name: string
  readonly role: string
  /** The command line acts for an account of the machine, without an operator who signed in. */
  readonly isAccount?: true
  /** It acts with the login of the database's owner. */
  readonly isOwner?: true
}

/** Who calls: the tenant that the authenticator found, and facts of its own. */
export interface Caller {
  readonly tenantId: string
  /** What the rate limit counts by (decision L1); of people the actor, and the tenant where callers have neither. */
  readonly credentialId?: string
  readonly actor?: Actor
  /** Name of the tenant's member who calls, whom the audit names. */
  readonly member?: string
  /** Of operators and members: whether they proved long ago who they are. */
  readonly isProofStale?: boolean
  /** Of a signed notice. */
  readonly signedAtMs?: number
  /** Of a signed notice: the other cells have not said yet that it is not theirs (decision X40). */
  readonly mayBeElsewhere?: boolean
  /** Where the response may be a stream, which may last: whether the caller's credential still holds (decision S3). */
  readonly stillValid?: () => Promise<boolean>
}

/** The parts of a request that an operation reads, after its checks. */
export interface Input<P, Q, B> {
  readonly caller: Caller
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawBody: Buffer
  readonly requestId: string
  /** When the caller must have a response, in `performance.now()` time (decision R8). */
  readonly deadlineMs?: number
  /** The caller's address. */
  readonly address: string
  /** Counts the request in the rate limit of a credential that the operation has verified. Throws `rate_limited`. */
  readonly countAs: (credentialId: string) => Promise<void>
  /** Of an encrypted request: SHA-256 over what was encrypted, the same however its base64url was spelled. */
  readonly ciphertextHash: Buffer | undefined
}

export interface Reply<Body extends string | Readable = string | Readable> {
  readonly status?: number
  /** Several of a name only of `set-cookie`. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** JSON text, or another text with its own `content-type` in the headers; a stream for what has no bounds. */
  readonly body: Body
}

export type MediaType =
  | 'application/json'
  | 'application/jose'
  | 'application/x-www-form-urlencoded'
  | 'application/x-ndjson'
  | 'application/octet-stream'
  | 'application/pdf'
  | 'image/jpeg'
  | 'image/png'

export type AnyInput = Input<unknown, unknown, unknown>
export type Handler<I = AnyInput, R = Reply> = (input: I) => Promise<R> | R

/**
 * Who may call, by the name of the authenticator that the composition root provides; `none` for public operations.
 * What accepts a tenant's token names its scope: what a partner's token must have, and an API key that has limits.
 */
export type Access =
  | {
      readonly auth: 'partner' | 'partnerWithId' | 'partnerSession'
      readonly scope: Scope
    }
  | { readonly auth: 'tenant'; readonly scope: Scope & MerchantScope }
  | { readonly auth: 'merchant'; readonly scope: MerchantScope }
  | {
      readonly auth: 'none' | 'rail' | 'bankRail' | 'cardRail' | 'operator' | 'loopback' | 'member'
      readonly scope?: never
    }

/** A header field as the reference shows it: by its description, or with more. */
export type HeaderField =
  | string
  | {
      readonly description: string
      readonly required?: true
      /** Of `Cookie`: the name of the cookie. */
      readonly cookie?: string
    }

/** Header of the operations of cards: the partner names itself (spec section 4.3). */
export const PARTNER_ID: HeaderField = {
  description: 'The partner’s id, shared at sign-up. It must be the partner of the token.',
  required: true,
}

/** What the operations of one area have in common; each adds its scope and what is its own. */
export const tenantOperations =
  <const C extends Pick<Operation, 'auth' | 'envelope' | 'tag'> & Partial<Pick<Operation, 'headers'>>>(
    common: C,
  ) =>
  <const S extends Scope | MerchantScope>(scope: S) => ({ ...common, scope })

/** What the reference says of an operation, and what its requests and responses must look like. */
export type Contract<P extends TSchema, Q extends TSchema, B extends TSchema> = Access & Description<P, Q, B>

interface Description<P extends TSchema, Q extends TSchema, B extends TSchema> {
  /** Unique; the `operationId` of the OpenAPI document. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** The specification's status label. */
  readonly developing?: true
  /** Of members: the least role of the caller. */
  readonly role?: string
  /** Of operators: what the role of the caller must permit. */
  readonly permission?: string
  /** Of operators: it moves money or rights, so the caller must have proved who they are a few minutes ago. */
  readonly stepUp?: true
  /** Of operators: it is needed to set up a second factor, so it works without one. */
  readonly beforeSecondFactor?: true
  readonly envelope: Envelope
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** The body is documented, and never rejected for its form or its media type: the operation reads `rawBody`. */
  readonly acceptsAnyBody?: true
  /** The specification shows none: what is sent has no effect, as a body where there is no `body` (decision C14). */
  readonly ignores?: readonly 'query'[]
  /** Its fields are all optional, and so is the body: an empty one is `{}`. */
  readonly mayLackBody?: true
  /** The specification shows the text of its 401: the body keeps it, and the challenge says more (decision F7). */
  readonly hasSpecifiedTokenError?: true
  /** Whether `merchantAccessKey` without a token authorises it where `ACCESS_KEY_ALONE` says so (decision A6). */
  readonly acceptsAccessKeyAlone?: true
  /** What status 202 carries, where the operation has one. */
  readonly accepted?: TSchema
  /** Header fields to document, by name: they reach the operation as text, checked by itself. */
  readonly headers?: Readonly<Record<string, HeaderField>>
  /** Header fields of a success, by name, each with its component of the OpenAPI document. */
  readonly responseHeaders?: Readonly<Record<string, 'ETag' | 'SessionCookie' | 'SvcOutcome' | 'SvcReceipt'>>
  /** Without an authenticator: by the credential that it verifies (L1), or by failed requests of the address (A11). */
  readonly limitedBy?: 'credential' | 'address'
  /** How callers of an operation without an authenticator prove themselves all the same. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly deprecated?: Deprecation
  /** The payload, or the whole body where the envelope has no payload. */
  readonly result: TSchema
  /** Media type of a success that is text; plain text by default. */
  readonly produces?: string
  /** Media type of a success that the caller may request instead, as text. */
  readonly alsoProduces?: string
  readonly errors: readonly ErrorCode[]
  /** Statuses besides 200 that are no failures, and when they are returned. */
  readonly alsoReturns?: Readonly<Record<number, string>>
  readonly sandboxOnly?: true
  /** Changes nothing, although its method is not GET (RFC 9110 section 9.2.1). */
  readonly safe?: true
  /** Media types of the body; JSON by default. */
  readonly accepts?: readonly MediaType[]
  /**
   * `request`: the body comes as a compact JWE, `body` is the schema of what is encrypted (decision C1). `response`: the
   * response is encrypted when the caller accepts `application/jose` (decision C3).
   */
  readonly encrypted?: 'request' | 'response' | 'both'
  /** Worked examples for the reference; tests run them. */
  readonly samples?: readonly { readonly lang: string; readonly label: string; readonly source: string }[]
  /** What it does may outlast COMMAND_TIMEOUT_MS, and its caller waits for it. */
  readonly takesLong?: true
  /** Largest body in bytes, where it is not the setting's. */
  readonly bodyBytesMax?: number
}

/** One line of the table of contents, `operations.ts`. `S` is what it needs of the composition; by default anything. */
export type Operation<S extends Services = never> = Contract<TSchema, TSchema, TSchema> & {
  /** Whether it runs commands; notices of rails do too, but their keys have no effect: see `isKeyed`. */
  readonly acceptsIdempotencyKey: boolean
  /** It takes a key and is no command, which would bound its own wait. */
  readonly isKeyedQuery?: true
  /** Whether a response may be a stream: then there is no HEAD, unless only what it `alsoProduces` is one. */
  readonly streams?: true
  readonly mount: (services: S) => Handler
}

/** Whether it takes signed notices, which are never rejected for their form (decision Q11). */
export const isRail = ({ auth }: Access): boolean =>
  auth === 'rail' || auth === 'bankRail' || auth === 'cardRail'

/** Whether an `Idempotency-Key` has an effect. A notice is known again by the reference in it, and by nothing else. */
export const isKeyed = (operation: Operation): boolean =>
  operation.acceptsIdempotencyKey && !isRail(operation)

export const mayChange = ({ method, safe }: Operation): boolean => method !== 'GET' && !safe

type Schemas<P extends TSchema, Q extends TSchema, B extends TSchema> = Input<Static<P>, Static<Q>, Static<B>>

type Mountable<P extends TSchema, Q extends TSchema, B extends TSchema, R, S> = Contract<P, Q, B> & {
  readonly mount: (services: S) => Handler<Schemas<P, Q, B>, R>
}

/** An operation that writes nothing, or writes by other means than a command. */
export function query<P extends TSchema, Q extends TSchema, B extends TSchema, S extends Services = Services>(
  contract: Mountable<P, Q, B, Reply<string>, S>,
): Operation<S> {
  return { ...contract, acceptsIdempotencyKey: false, mount: contract.mount as Operation<S>['mount'] }
}

/** A query whose response may be a stream; no other kind of operation can return one. */
export function streamingQuery<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  S extends Services = Services,
>(contract: Mountable<P, Q, B, Reply, S>): Operation<S> {
  return { ...query<P, Q, B, S>(contract as Mountable<P, Q, B, never, S>), streams: true }
}

/** What a reply needs besides the decision. */
export interface ReplyContext {
  readonly timeZone: string
  /** The payload in the success envelope of the operation. */
  readonly ok: (payload: unknown) => HttpResponse
  readonly config: Config
  /** For responses that are signed. */
  readonly keyring: Keyring
}

export type CommandContract<P extends TSchema, Q extends TSchema, B extends TSchema, Args, D> = Contract<
  P,
  Q,
  B
> & {
  readonly run: AnyCommand<Args, D>
  readonly args: (input: Schemas<P, Q, B>, services: Services) => Args | Promise<Args>
  /** Of operations that run the command on a tenant's behalf. */
  readonly audit?: (args: Args, input: Schemas<P, Q, B>) => CommandAudit<D>
  readonly reply: (decision: D, context: ReplyContext) => HttpResponse
}

/** Infers the types of a contract that is mounted more than once. */
export const commandContract = <P extends TSchema, Q extends TSchema, B extends TSchema, Args, D>(
  contract: CommandContract<P, Q, B, Args, D>,
) => contract

/** One way to call a command: how a request becomes its arguments, and the decision a response. */
export function operation<P extends TSchema, Q extends TSchema, B extends TSchema, Args, D>(
  contract: CommandContract<P, Q, B, Args, D>,
): Operation<Services> {
  const { run, args, audit, reply } = contract
  return {
    ...contract,
    acceptsIdempotencyKey: true,
    mount(services) {
      const { commands, config, keyring } = services
      const open = commands.open(run)
      const success = successOf(contract.envelope)
      const ok = (payload: unknown) => ({ status: 200, body: success(payload) })
      const context = { timeZone: config.BUSINESS_TIME_ZONE, config, keyring, ok }
      const replyTo = (decision: D) => reply(decision, context)
      return ((input: Schemas<P, Q, B>) =>
        open.respond(args(input, services), {
          reply: replyTo,
          retry: isRail(contract) ? undefined : retryKey(contract, input),
          audit: audit
            ? (resolved) => namingMember(audit(resolved, input), input)
            : input.caller.member === undefined
              ? undefined
              : () => auditOfMember(contract.id, input, replyTo),
          deadlineMs: input.deadlineMs,
        })) as Handler
    },
  }
}

export const NoFields = Type.Object({}, { additionalProperties: false })

export { ok, okWithCode, succeed, succeedWithCode, successOf } from './success.ts'
