import { nextAttemptMs } from '@svc/core/webhooks/retry-schedule'
import { addressRule, LOOPBACK } from '@svc/core/webhooks/safe-address'
import { Sender, type Sent } from '@svc/core/webhooks/sender'
import { signedHeaders, signingKeys } from '@svc/core/webhooks/signing'
import type { Secret } from '@svc/kernel/secret'
import { transactionTime } from '@svc/platform/db/database-time'
import { Loop } from '@svc/platform/loop'
import type { Services } from '@svc/server/http/operation'
import { type AlertMessage, CLAIM, SETTLE } from './alert-messages.ts'

const EVERY_MS = 2_000
const AT_ONCE = 8
/** What a process that died has claimed is claimed again after twice the time of an attempt. */
const CLAIM_FACTOR = 2

const isAccepted = (status: number | undefined): boolean =>
  status !== undefined && status >= 200 && status < 300

/** Sends what is written about alerts to `ALERT_WEBHOOK_URL` (decision O9): signed, guarded and retried as other webhooks. */
export class AlertSender {
  readonly #services: Services
  readonly #secret: Secret | undefined
  readonly #sender: Sender | undefined
  readonly #loop: Loop

  constructor(services: Services) {
    this.#services = services
    const { ALERT_WEBHOOK_NETWORKS, ALERT_WEBHOOK_SECRET, ALERT_WEBHOOK_URL, SVC_MODE, WEBHOOK_TIMEOUT_MS } =
      services.config
    this.#secret = ALERT_WEBHOOK_SECRET
    const allowed = SVC_MODE === 'sandbox' ? [...LOOPBACK, ...ALERT_WEBHOOK_NETWORKS] : ALERT_WEBHOOK_NETWORKS
    this.#sender =
      ALERT_WEBHOOK_URL &&
      new Sender(ALERT_WEBHOOK_URL.reveal(), {
        mayReach: addressRule(allowed),
        timeoutMs: WEBHOOK_TIMEOUT_MS,
        connections: AT_ONCE,
      })
    const work = () => this.#run()
    this.#loop = new Loop({ name: 'send_alerts', everyMs: EVERY_MS, work, atStart: true }, services)
  }

  start(): void {
    if (this.#sender && this.#services.database.hasOperators) this.#loop.start()
  }

  /** There may be something to send. */
  wake(): void {
    this.#loop.wake()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#loop.stop(), this.#sender?.close()])
  }

  /** Returns whether there may be more. */
  async #run(): Promise<boolean> {
    const { clock, config, database } = this.#services
    const aheadMs = clock.offsetMs()
    const untilMs = aheadMs + CLAIM_FACTOR * config.WEBHOOK_TIMEOUT_MS
    const { claimed, at } = await database.operate(async (tx) => ({
      claimed: await tx.query(CLAIM, [aheadMs, untilMs, AT_ONCE]),
      at: await transactionTime(tx, clock),
    }))
    await Promise.all(claimed.map((message) => this.#send(message, at)))
    return claimed.length > 0 && !this.#loop.stopping.aborted
  }

  async #send(message: AlertMessage, at: Date): Promise<void> {
    const { keyring } = this.#services
    const body = Buffer.from(message.body)
    const signed = signedHeaders(message.messageId, at, body, [this.#secret!], signingKeys(keyring))
    const sent = await this.#sender!.post(body, { ...signed, 'content-type': 'application/json' })
    await this.#settle(message, sent)
  }

  async #settle({ messageId, attempts, createdAt }: AlertMessage, sent: Sent): Promise<void> {
    const { clock, database, log } = this.#services
    await database.operate(async (tx) => {
      const now = await transactionTime(tx, clock)
      if (isAccepted(sent.status)) return tx.query(SETTLE, [messageId, attempts, null, now, null])
      const failure = sent.failure ?? `status ${sent.status}`
      const next = nextAttemptMs({
        attempts,
        startedAtMs: createdAt.getTime(),
        nowMs: now.getTime(),
        retryAfter: sent.retryAfter,
        chance: Math.random(),
      })
      log.warn({ messageId, attempts, failure, isGivenUp: next === undefined }, 'an alert was not accepted')
      const due = next === undefined ? null : new Date(next)
      return tx.query(SETTLE, [messageId, attempts, due, null, failure])
    })
  }
}
