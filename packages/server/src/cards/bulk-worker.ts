import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorCode, Failure, fail } from '@svc/contract/errors'
import {
  type BulkLine,
  type BulkOutcome,
  type DueJob,
  leaseLines,
  OPEN_JOBS,
  type OpenJob,
  openLine,
  saveOutcomes,
} from '@svc/core/cards/bulk-job'
import type { CreateGiftCard, Issued } from '@svc/core/cards/card-issuing'
import { createGiftCard } from '@svc/core/cards/create-gift-card'
import { carriedOut, type WaitingApproval } from '@svc/core/ledger/money-command'
import { abortWith } from '@svc/platform/abort'
import type { OpenCommand } from '@svc/platform/command'
import { isUnavailable } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import { parseJson } from '../http/bodies.ts'
import { decryptBody } from '../http/encryption.ts'
import type { Services } from '../http/operation.ts'
import { bodyCheck } from '../http/validator.ts'
import { GiftCardRequest, readGiftCardOrder } from './gift-card-order.ts'
import { createGiftCardOperation, giftCardResponse, retryKeyOfOrder, svcCardIdIn } from './issue-cards.ts'

const POLL_MS = 250
/** Partners of which one query returns the open jobs. */
const PARTNERS_MAX = 100
/** After single orders came, a chunk waits until none has come for so long. */
const CALM_MS = 20
/** So long a chunk waits for that. Then it goes all the same: last, but not never. */
const PATIENCE_MS = 1_000
/** While others send commands, a chunk is followed by a rest this many times as long as it took. */
const RESTS = 4
/** An order that meets an internal error this often is given up. */
const ATTEMPTS_MAX = 5

/** Errors of an order that may have its card all the same. */
const MAYBE_ISSUED: ReadonlySet<ErrorCode> = new Set(['encrypted_request_replayed', 'tenant_closing'])

const CARD_OF_JWE = statement<{ svcCardId: string }>(
  'bulk_card_of_ciphertext',
  `select c.svc_card_id as "svcCardId" from cards c join bulk_jobs j using (partner_id)
   where c.partner_id = $1 and j.job_id = $2 and c.ciphertext_hash = $3 and c.created_at >= j.created_at`,
)

/**
 * Carries out bulk jobs a few orders at a time, behind those of single callers, in the commit queue of single orders. All
 * processes share the work by leases on rows; a lease only spares double work. That a row is done once rests on its
 * JWE, which counts once (decision C13): after a crash the order is submitted again and gets the first response.
 */
export class BulkWorker {
  readonly #services: Services
  readonly #create: OpenCommand<CreateGiftCard, Issued, WaitingApproval>
  readonly #check: ReturnType<typeof bodyCheck>
  readonly loop: Loop
  #ownSubmitted = 0
  /** Single orders that had come when the last chunk began. */
  #singlesSeen = 0
  #quiet: Promise<void> | undefined

  constructor(services: Services) {
    this.#services = services
    this.#check = bodyCheck(GiftCardRequest, services.config.UNKNOWN_FIELDS)
    this.#create = services.commands.open(createGiftCard)
    const work = () => this.#round()
    this.loop = new Loop({ name: 'bulk_jobs', everyMs: POLL_MS, work, atStart: true }, services)
  }

  /** One chunk for every partner that has a job: partners take turns. False when there was nothing to do. */
  async #round(): Promise<boolean> {
    const { database } = this.#services
    let worked = false
    for (const job of await database.directory(OPEN_JOBS, [PARTNERS_MAX])) {
      await this.#waitForQuiet()
      if (this.loop.stopping.aborted) break
      const others = this.#others()
      const begunMs = performance.now()
      worked = (await this.#chunk(job)) || worked
      if (this.#others() > others) await this.#rest((performance.now() - begunMs) * RESTS)
    }
    return worked
  }

  /** Commands of all kinds that others submitted so far. */
  #others(): number {
    return this.#services.commands.submitted() - this.#ownSubmitted
  }

  async #rest(forMs: number): Promise<void> {
    await sleep(Math.min(forMs, PATIENCE_MS), undefined, { signal: this.loop.stopping }).catch(
      () => undefined,
    )
  }

  async #waitForQuiet(): Promise<void> {
    const singles = this.#create.submitted() - this.#ownSubmitted
    this.#quiet ??= this.#create
      .quiet(singles === this.#singlesSeen ? 0 : CALM_MS)
      .then(() => (this.#quiet = undefined))
    this.#singlesSeen = singles
    const patience = new AbortController()
    abortWith(patience, this.loop.stopping)
    const { signal } = patience
    await Promise.race([this.#quiet, sleep(PATIENCE_MS, undefined, { signal }).catch(() => undefined)])
    patience.abort()
  }

  async #chunk(job: DueJob): Promise<boolean> {
    const { clock, config, database } = this.#services
    const { BULK_LEASE_MS, BULK_CHUNK_ROWS } = config
    const time = clock.of(job.partnerId)
    const lines = await database.write([job.partnerId], (tx) =>
      leaseLines(tx, job, BULK_LEASE_MS, BULK_CHUNK_ROWS, time.offsetMs()),
    )
    if (lines.length === 0) return false
    const outcomes = await Promise.all(lines.map((line) => this.#issue(job, line)))
    await database.write([job.partnerId], (tx) => saveOutcomes(tx, job, outcomes, time.offsetMs()))
    return outcomes.some(({ status }) => status !== 'later')
  }

  /** The same as a single order from here on: decrypt, check, submit. */
  async #issue(job: DueJob, row: BulkLine & { readonly attempts: number }): Promise<BulkOutcome> {
    const { partnerId, jobId, isClosing } = job
    const { line } = row
    let jwe: Buffer | undefined
    try {
      const encrypted = readEncrypted(openLine(this.#services.keyring, jobId, row))
      const id = `${jobId} row ${line}`
      const { body, ciphertextHash } = await decryptBody(
        this.#services,
        { tenantId: partnerId },
        { id, body: encrypted },
        { path: createGiftCardOperation.path, mayBeOld: true },
      )
      jwe = ciphertextHash
      if (isClosing) fail('tenant_closing')
      const invalid = this.#check(body)
      if (invalid) fail('validation_failed', invalid)
      const request = body as GiftCardRequest
      const order = readGiftCardOrder(request)
      this.#ownSubmitted++
      // The first response to a JWE is kept for its repeats, whether it came alone or in an upload.
      const responding = {
        reply: (outcome: Issued | WaitingApproval) => giftCardResponse(carriedOut(outcome)),
        retry: retryKeyOfOrder(partnerId, request, ciphertextHash),
      }
      const response = await this.#create.respond({ partnerId, order, ciphertextHash }, responding)
      return { line, status: 'ISSUED', svcCardId: svcCardIdIn(response) }
    } catch (error) {
      if (!(error instanceof Failure)) return this.#troubled(job, row, error)
      if (error.status >= 500) return { line, status: 'later' }
      const issued = MAYBE_ISSUED.has(error.code) && jwe ? await this.#issuedBefore(job, jwe) : undefined
      if (issued !== undefined) return { line, status: 'ISSUED', svcCardId: issued }
      return { line, status: 'FAILED', error: error.code, errorDescription: error.description }
    }
  }

  /**
   * A job may outlive the stored responses: stopped for days between the commit of a card and its result. Then the JWE
   * is known only by its card; one that was issued since the upload is this row's own. So it is where the partner is
   * closing by then.
   */
  async #issuedBefore({ partnerId, jobId }: OpenJob, jwe: Buffer): Promise<string | undefined> {
    const { database } = this.#services
    const [card] = await database.read([partnerId], (tx) => tx.query(CARD_OF_JWE, [partnerId, jobId, jwe]))
    return card?.svcCardId
  }

  #troubled(
    { jobId }: OpenJob,
    { line, attempts }: { line: number; attempts: number },
    error: unknown,
  ): BulkOutcome {
    if (isUnavailable(error)) return { line, status: 'later' }
    this.#services.log.error(
      { err: error, jobId, line, attempts },
      'an order of a bulk job met an internal error',
    )
    if (attempts < ATTEMPTS_MAX) return { line, status: 'later' }
    const { code, description } = new Failure('internal_error')
    return { line, status: 'FAILED', error: code, errorDescription: description }
  }
}

const OBJECT = 0x7b
const STRING = 0x22

/** A line as the body of a single order would be read: the bare JWE, or a JSON string that holds it. */
function readEncrypted(text: Buffer): unknown {
  // A plain order has no JWE that could make it count once.
  if (text[0] === OBJECT) return fail('request_not_encrypted')
  return text[0] === STRING ? parseJson(text) : text.toString('latin1')
}
