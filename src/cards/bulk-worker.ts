import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, fail } from '../errors.ts'
import { isUnavailable } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import type { OpenCommand, Services } from '../platform/http/operation.ts'
import { openBody } from '../platform/http/sealed.ts'
import { parseStrictJson } from '../platform/http/strict-json.ts'
import { bodyCheck } from '../platform/http/validator.ts'
import {
  type BulkLine,
  type BulkOutcome,
  leaseLines,
  OPEN_JOBS,
  type OpenJob,
  openLine,
  saveOutcomes,
} from './bulk-job.ts'
import { createGiftCard } from './create-gift-card.ts'
import { GiftCardOrder } from './gift-card-order.ts'

const POLL_MS = 250
/** Partners that one look at the open jobs answers. */
const PARTNERS_MAX = 100
/** After single orders came, a chunk waits until none has come for so long. */
const CALM_MS = 20
/** So long a chunk waits for that. Then it goes all the same: last, but not never. */
const PATIENCE_MS = 1_000
/** An order that meets a fault of ours this often is given up. */
const ATTEMPTS_MAX = 5
const NOTHING: Buffer = Buffer.alloc(0)

const CARD_OF_SEAL = statement<{ svc_card_id: string }>(
  'bulk_card_of_seal',
  `select c.svc_card_id from cards c join bulk_jobs j using (partner_id)
   where c.partner_id = $1 and j.job_id = $2 and c.seal_hash = $3 and c.created_at >= j.created_at`,
)

const inputOf = (tenantId: string, jobId: string, body: GiftCardOrder, sealHash: Buffer | undefined) => ({
  caller: { tenantId },
  params: {},
  query: {},
  headers: {},
  rawBody: NOTHING,
  requestId: jobId,
  address: '',
  body,
  sealHash,
})

/**
 * Carries out bulk jobs a few orders at a time, behind those of single callers, in the very lane of single orders. All
 * processes share the work by leases on rows; a lease only spares double work. That a row is done once rests on its
 * seal, which counts once (decision C13): after a crash the order is submitted again and gets the first answer.
 */
export class BulkWorker {
  readonly #services: Services
  readonly #create: OpenCommand<ReturnType<typeof inputOf>>
  readonly #check = bodyCheck(GiftCardOrder)
  readonly #stop = new AbortController()
  #ownSubmitted = 0
  /** Single orders that had come when the last chunk began. */
  #singlesSeen = 0
  #quiet: Promise<void> | undefined
  #running: Promise<void> | undefined

  constructor(services: Services) {
    this.#services = services
    this.#create = createGiftCard.open(services)
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Resolves when the orders under way are done and recorded. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const worked = await this.#round().catch((error: unknown) => {
        this.#services.log.warn({ err: error }, 'bulk jobs could not go on; they will be tried again')
        return false
      })
      if (!worked) await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  /** One chunk for every partner that has a job: partners take turns. False when there was nothing to do. */
  async #round(): Promise<boolean> {
    const { database } = this.#services
    let worked = false
    for (const job of await database.directory(OPEN_JOBS, [PARTNERS_MAX])) {
      await this.#waitForQuiet()
      if (this.#stop.signal.aborted) break
      worked = (await this.#chunk(job)) || worked
    }
    return worked
  }

  async #waitForQuiet(): Promise<void> {
    const singles = this.#create.submitted() - this.#ownSubmitted
    this.#quiet ??= this.#create
      .quiet(singles === this.#singlesSeen ? 0 : CALM_MS)
      .then(() => (this.#quiet = undefined))
    this.#singlesSeen = singles
    const patience = new AbortController()
    const signal = AbortSignal.any([this.#stop.signal, patience.signal])
    await Promise.race([this.#quiet, sleep(PATIENCE_MS, undefined, { signal }).catch(() => undefined)])
    patience.abort()
  }

  async #chunk(job: OpenJob): Promise<boolean> {
    const { clock, config, database } = this.#services
    const { BULK_LEASE_MS, BULK_CHUNK_ROWS } = config
    const lines = await database.write([job.partner_id], (tx) =>
      leaseLines(tx, job, BULK_LEASE_MS, BULK_CHUNK_ROWS),
    )
    if (lines.length === 0) return false
    const outcomes = await Promise.all(lines.map((line) => this.#issue(job, line)))
    await database.write([job.partner_id], (tx) => saveOutcomes(tx, job, outcomes, clock.offsetMs()))
    return outcomes.some(({ status }) => status !== 'later')
  }

  /** The same as a single order from here on: open, check, submit. */
  async #issue(job: OpenJob, row: BulkLine & { readonly attempts: number }): Promise<BulkOutcome> {
    const { partner_id: tenantId, job_id: jobId } = job
    const { line } = row
    let seal: Buffer | undefined
    try {
      const sealed = readSealed(openLine(this.#services.keyring, jobId, row))
      const id = `${jobId} row ${line}`
      const { body, sealHash } = await openBody(this.#services, { tenantId }, { id, body: sealed })
      seal = sealHash
      const faults = this.#check(body)
      if (faults !== undefined) fail('validation_failed', { description: faults })
      this.#ownSubmitted++
      const answer = await this.#create.submit(inputOf(tenantId, jobId, body as GiftCardOrder, sealHash))
      const { payload } = JSON.parse(answer.body) as { payload: { svcCardId: string } }
      return { line, status: 'ISSUED', svcCardId: payload.svcCardId }
    } catch (error) {
      if (!(error instanceof Failure)) return this.#troubled(job, row, error)
      if (error.status >= 500) return { line, status: 'later' }
      const issued = error.word === 'seal_replayed' && seal ? await this.#issuedBefore(job, seal) : undefined
      if (issued !== undefined) return { line, status: 'ISSUED', svcCardId: issued }
      return { line, status: 'FAILED', error: error.word, errorDescription: error.description }
    }
  }

  /**
   * A job may outlive the stored answers: stopped for days between the commit of a card and its result. Then the seal
   * is known only by its card; one that was issued since the upload is this row's own.
   */
  async #issuedBefore({ partner_id, job_id }: OpenJob, seal: Buffer): Promise<string | undefined> {
    const { database } = this.#services
    const [card] = await database.read([partner_id], (tx) =>
      tx.query(CARD_OF_SEAL, [partner_id, job_id, seal]),
    )
    return card?.svc_card_id
  }

  #troubled(
    { job_id: jobId }: OpenJob,
    { line, attempts }: { line: number; attempts: number },
    error: unknown,
  ): BulkOutcome {
    if (isUnavailable(error)) return { line, status: 'later' }
    this.#services.log.error(
      { err: error, jobId, line, attempts },
      'an order of a bulk job met a fault of ours',
    )
    if (attempts < ATTEMPTS_MAX) return { line, status: 'later' }
    const { word, description } = new Failure('internal_error')
    return { line, status: 'FAILED', error: word, errorDescription: description }
  }
}

const OBJECT = 0x7b
const STRING = 0x22

/** A line as the body of a single order would be read: the bare JWE, or a JSON string that holds it. */
function readSealed(text: Buffer): unknown {
  // A plain order has no seal that could make it count once.
  if (text[0] === OBJECT) return fail('payload_not_sealed')
  return text[0] === STRING ? parseStrictJson(text) : text.toString('latin1')
}
