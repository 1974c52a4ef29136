import {
  CLAIM_EVIDENCE,
  EVIDENCE_FAILED,
  fileName,
  type Submission,
  submissionFiles,
} from '@svc/core/payments/disputes/evidence-sending'
import { isReceipt, sendEvidence } from '@svc/core/payments/disputes/send-evidence'
import { nextAttemptMs } from '@svc/core/webhooks/retry-schedule'
import { addressRule, LOOPBACK } from '@svc/core/webhooks/safe-address'
import { Sender, type Sent } from '@svc/core/webhooks/sender'
import { required } from '@svc/kernel/invariant'
import { transactionTime } from '@svc/platform/db/database-time'
import { Loop } from '@svc/platform/loop'
import { SIGNATURE_HEADER, signNotice } from '../http/notice-signature.ts'
import type { Services } from '../http/operation.ts'
import { railKeys } from '../rails/authenticate-rail.ts'

const EVERY_MS = 1_000
/** Bodies with all their attachments are in memory. */
const AT_ONCE = 2
/** The deadline of a dispute does not wait for a long pause between attempts. */
const LONGEST_PAUSE_MS = 3_600_000
/** What a process that died has claimed is claimed again after twice the time of an attempt. */
const CLAIM_FACTOR = 2

async function bodyOf(services: Services, submission: Submission): Promise<Buffer> {
  const { facts, files } = await services.database.operate((tx) => submissionFiles(services, tx, submission))
  const attachments = files.map(({ content, digest, mediaType, name }, place) => ({
    name: fileName(place, name),
    mediaType,
    sha256: digest.toString('hex'),
    content: content.toString('base64'),
  }))
  return Buffer.from(JSON.stringify({ ...facts, attachments }))
}

/** The bank's receipt, or why there is none, in words. */
export function receiptIn({ excerpt, failure, status }: Sent): { receipt: string } | { failure: string } {
  if (status === undefined) return { failure: failure ?? 'no response' }
  if (status < 200 || status > 299) return { failure: `status ${status}` }
  try {
    const { receipt } = JSON.parse(excerpt) as { receipt?: unknown }
    if (typeof receipt === 'string' && isReceipt(receipt)) return { receipt }
  } catch {
    // It is no JSON: the same as none.
  }
  return { failure: `status ${status} without a receipt` }
}

/**
 * Sends evidence of disputes to `DISPUTE_EVIDENCE_URL`, signed as the bank signs its notices (decision Q17). It is sent
 * under one id until the bank has given a receipt for it, so a lost response loses and doubles nothing.
 */
export class EvidenceSender {
  readonly #services: Services
  readonly #sender: Sender | undefined
  readonly #loop: Loop

  constructor(services: Services) {
    this.#services = services
    const { DISPUTE_EVIDENCE_NETWORKS, DISPUTE_EVIDENCE_TIMEOUT_MS, DISPUTE_EVIDENCE_URL, SVC_MODE } =
      services.config
    const allowed =
      SVC_MODE === 'sandbox' ? [...LOOPBACK, ...DISPUTE_EVIDENCE_NETWORKS] : DISPUTE_EVIDENCE_NETWORKS
    this.#sender =
      DISPUTE_EVIDENCE_URL &&
      new Sender(DISPUTE_EVIDENCE_URL.reveal(), {
        mayReach: addressRule(allowed),
        timeoutMs: DISPUTE_EVIDENCE_TIMEOUT_MS,
        connections: AT_ONCE,
      })
    const work = () => this.run()
    this.#loop = new Loop({ name: 'send_evidence', everyMs: EVERY_MS, work, atStart: true }, services)
  }

  start(): void {
    if (this.#sender && this.#services.database.hasOperators) this.#loop.start()
  }

  idle(): Promise<void> {
    return this.#loop.idle()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#loop.stop(), this.#sender?.close()])
  }

  /** One attempt of what is due; returns whether there may be more. */
  async run(): Promise<boolean> {
    const { config, database } = this.#services
    const leaseMs = CLAIM_FACTOR * config.DISPUTE_EVIDENCE_TIMEOUT_MS
    const claimed = await database.operate((tx) => tx.query(CLAIM_EVIDENCE, [leaseMs, AT_ONCE]))
    await Promise.all(claimed.map((submission) => this.#send(submission)))
    return claimed.length > 0 && !this.#loop.stopping.aborted
  }

  async #send(submission: Submission): Promise<void> {
    const { clock, commands } = this.#services
    const { disputeId, evidenceId, merchantId } = submission
    const body = await bodyOf(this.#services, submission)
    const key = required(railKeys(this.#services, 'upi')[0], 'the rail has a key')
    const sent = await required(this.#sender, 'there is an address').post(body, {
      'content-type': 'application/json',
      'idempotency-key': evidenceId,
      [SIGNATURE_HEADER]: signNotice(body, key, clock.now()),
    })
    const read = receiptIn(sent)
    if ('failure' in read) return this.#failed(submission, read.failure, sent.retryAfter)
    await commands
      .open(sendEvidence)
      .run({ merchantId, disputeId, sending: { evidenceId, receipt: read.receipt } })
  }

  async #failed(
    { attempts, evidenceId, merchantId }: Submission,
    failure: string,
    retryAfter: string | undefined,
  ): Promise<void> {
    const { clock, database, log } = this.#services
    log.warn({ evidenceId, attempts, failure }, 'the bank did not take evidence')
    await database.operate(async (tx) => {
      const nowMs = (await transactionTime(tx, clock)).getTime()
      const next = nextAttemptMs({ attempts, startedAtMs: nowMs, nowMs, retryAfter, chance: Math.random() })
      const pauseMs = Math.min(LONGEST_PAUSE_MS, (next ?? nowMs + LONGEST_PAUSE_MS) - nowMs)
      await tx.query(EVIDENCE_FAILED, [merchantId, evidenceId, failure, pauseMs, attempts])
    })
  }
}
