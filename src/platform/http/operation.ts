import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, type TSchema, Type } from 'typebox'
import type { Config } from '../../config.ts'
import type { ErrorWord } from '../../errors.ts'
import type { RandomBytes } from '../../kernel/ids.ts'
import type { Clock } from '../../kernel/time.ts'
import type { CommandAudit } from '../audit.ts'
import type { Keyring } from '../crypto/keyring.ts'
import type { SealKey } from '../crypto/seal-keys.ts'
import type { Command, CommandSpec } from '../db/batch.ts'
import type { Database } from '../db/database.ts'
import { Lane, type LaneServices } from '../db/lane.ts'
import type { Answer, AnswerKey } from '../db/stored-answers.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Family } from './failure-body.ts'

/** What operations are given: everything that is not pure. */
export interface Services {
  readonly config: Config
  readonly database: Database
  readonly keyring: Keyring
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Log
  readonly metrics: Metrics
  readonly lanes: LaneServices
  /** Address at which callers reach the service; the issuer of its tokens. */
  readonly publicUrl: () => string
  readonly seals: Seals
  /** Whether requests should go elsewhere, since this process is about to end. */
  readonly isLeaving: () => boolean
  /** A request to ourselves, through the whole HTTP stack but without a socket. */
  readonly selfCall: (request: SelfCall) => Promise<{ readonly status: number; readonly body: string }>
}

export interface SelfCall {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** A person who acts on behalf of others: whom the audit names. */
export interface Actor {
  readonly actorId: string
  readonly name: string
  readonly role: string
}

/** Who calls: the tenant that the authenticator found, and facts of its own. */
export interface Caller {
  readonly tenantId: string
  readonly actor?: Actor
  /** Of a command that somebody gives on behalf of the tenant: what the audit says of it. */
  readonly audit?: CommandAudit
  /** Of callers who may read a stream for long: whether their credential still holds. */
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
  /** The caller's address. */
  readonly address: string
  /** Of a sealed request: SHA-256 over what was sealed, the same however its base64url was spelled. */
  readonly sealHash: Buffer | undefined
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text, or another text with its own `content-type` in the headers; a stream for what has no bounds. */
  readonly body: string | Readable
}

export type MediaType =
  | 'application/json'
  | 'application/jose'
  | 'application/x-www-form-urlencoded'
  | 'application/x-ndjson'

/** Where the keys of sealed bodies come from. */
export interface Seals {
  /** The published key, or the partner's own shared key, of this id. */
  openingKey(tenantId: string, kid: string): Promise<SealKey | undefined>
  /** The key to which answers for this partner are sealed. */
  sealingKey(tenantId: string): Promise<SealKey | undefined>
  /** Sandbox only: whether the partner's requests may come unsealed. */
  takesPlain(tenantId: string): Promise<boolean>
}

type Handler<I> = (input: I) => Promise<Reply> | Reply
type AnyInput = Input<unknown, unknown, unknown>

/** What the reference says of an operation, and what its requests and answers must look like. */
export interface Contract<P extends TSchema, Q extends TSchema, B extends TSchema> {
  /** Unique; the `operationId` of the OpenAPI document. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** The specification's status label. */
  readonly developing?: true
  /** Name of the authenticator that the composition root provides; `none` for public operations. */
  readonly auth: string
  /** Least role of the caller, for the authenticators that know roles. */
  readonly role?: string
  readonly family: Family
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Header fields to document, by name: they reach the operation as text, checked by itself. */
  readonly headers?: Readonly<Record<string, string>>
  /** The payload, or the whole body in the families that have no payload. */
  readonly result: TSchema
  /** Media type of a success that is text; plain text by default. */
  readonly produces?: string
  readonly errors: readonly ErrorWord[]
  /** Statuses besides 200 that are no failures, and when they are answered. */
  readonly alsoAnswers?: Readonly<Record<number, string>>
  readonly sandboxOnly?: true
  /** Media types of the body; JSON by default. */
  readonly accepts?: readonly MediaType[]
  /**
   * `request`: the body comes as a compact JWE, `body` is the schema of what is sealed (decision C1). `answer`: the
   * answer is sealed when the caller accepts `application/jose` (decision C3).
   */
  readonly sealed?: 'request' | 'answer' | 'both'
  /** Worked examples for the reference; tests run them. */
  readonly samples?: readonly { readonly lang: string; readonly label: string; readonly source: string }[]
  /** Largest body in bytes, where it is not the setting's. */
  readonly bodyBytesMax?: number
}

/** One line of the table of contents, `operations.ts`. */
export interface Operation extends Contract<TSchema, TSchema, TSchema> {
  readonly takesIdempotencyKey: boolean
  readonly mount: (services: Services) => Handler<AnyInput>
}

/** A command in one composition of the service: one lane, whoever submits. */
export interface OpenCommand<I> {
  /** Resolves once the command is committed; rejects with a `Failure` that the caller is told. */
  submit(input: I): Promise<Answer>
  /** How many were submitted so far, by whomever. */
  submitted(): number
  /** Resolves once no command has been submitted, has waited or was under way for so long, in milliseconds. */
  quiet(forMs: number): Promise<void>
}

/** An operation that other parts may carry out too: in the lane of its callers, hence with the same order, shares and idempotency. */
export interface CommandOperation<I> extends Operation {
  readonly open: (services: Services) => OpenCommand<I>
}

type Schemas<P extends TSchema, Q extends TSchema, B extends TSchema> = Input<Static<P>, Static<Q>, Static<B>>

/** An operation that writes nothing, or writes by other means than a command. */
export function query<P extends TSchema, Q extends TSchema, B extends TSchema>(
  contract: Contract<P, Q, B> & { readonly mount: (services: Services) => Handler<Schemas<P, Q, B>> },
): Operation {
  return { ...contract, takesIdempotencyKey: false, mount: contract.mount as Operation['mount'] }
}

/** An operation that writes, by the path of design.md: lock → decide → save, in batches. */
export function command<P extends TSchema, Q extends TSchema, B extends TSchema, C extends Command, S, D>(
  contract: Contract<P, Q, B> &
    Omit<CommandSpec<C, S, D>, 'name'> & {
      /** Makes the command: slow pure work and everything drawn by chance happens here, before the transaction. */
      readonly prepare: (services: Services) => (input: Schemas<P, Q, B>) => Promise<C> | C
    },
): CommandOperation<Schemas<P, Q, B>> {
  const opened = new WeakMap<Services, OpenCommand<Schemas<P, Q, B>>>()
  const open = (services: Services): OpenCommand<Schemas<P, Q, B>> => {
    const known = opened.get(services)
    if (known) return known
    const lane = new Lane<C, S, D>({ ...contract, name: contract.id }, services.lanes)
    services.lanes.open.add(lane)
    const prepare = contract.prepare(services)
    let submitted = 0
    const made: OpenCommand<Schemas<P, Q, B>> = {
      async submit(input) {
        submitted++
        const { audit } = input.caller
        const prepared = await prepare(input)
        return lane.submit(audit ? { ...prepared, audit } : prepared, retryKey(contract, input))
      },
      submitted: () => submitted,
      async quiet(forMs) {
        for (let before = -1; before !== submitted; await sleep(forMs)) {
          await lane.drain()
          before = submitted
        }
      },
    }
    opened.set(services, made)
    return made
  }
  return {
    ...contract,
    takesIdempotencyKey: true,
    open,
    mount: (services) => open(services).submit as Handler<AnyInput>,
  }
}

/** Decision C13: what the caller's Idempotency-Key stands for, and what its request hashes to. */
function retryKey(
  { method, path }: { method: string; path: string },
  input: AnyInput,
): AnswerKey | undefined {
  const { caller, headers, params, query, body, sealHash } = input
  const given = headers['idempotency-key']
  // A seal counts once, so it is a key of its own where the caller sends none.
  const key = typeof given === 'string' ? given : sealHash && `seal ${sealHash.toString('base64url')}`
  if (key === undefined) return undefined
  // A precondition is part of what is asked.
  const asked = [
    params,
    query,
    Buffer.isBuffer(body) ? digest(body) : body,
    ...(headers['if-match'] === undefined ? [] : [headers['if-match']]),
  ]
  const requestHash = createHash('sha256').update(canonicalJson(asked)).digest()
  return {
    tenantId: caller.tenantId,
    route: `${method} ${path}`,
    key,
    requestHash,
    sealHash: sealHash ?? null,
  }
}

/** Stands for a body that nobody parsed. */
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64')

/** The same text for the same values, whatever the order in which an object's fields were sent. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

export const NoFields = Type.Object({}, { additionalProperties: false })

/** Spec section 7 rule 2: the success envelope of the QR, payment and coin operations. */
export const succeed = (payload: unknown): string =>
  JSON.stringify({ response_code: 0, response_message: 'Success', payload })

/** Spec section 7 rule 2: the success envelope of the card operations. */
export const succeedWithCode = (payload: unknown): string =>
  JSON.stringify({ code: 0, message: 'Success', payload })

export const ok = (payload: unknown): Answer => ({ status: 200, body: succeed(payload) })
