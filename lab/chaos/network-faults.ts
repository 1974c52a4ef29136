import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault, Outcome, Trial } from './faults.ts'
import { READY_MS_MAX } from './ready-watch.ts'

/** Promise J2: COMMAND_TIMEOUT_MS, as it is by default, and a second. */
const RESPONSE_MS_MAX = 11_000
const RECOVERY_MS_MAX = 15_000
const POLL_MS = 50

async function until(what: () => Promise<boolean>, withinMs: number): Promise<number | undefined> {
  const startMs = performance.now()
  for (; performance.now() - startMs < withinMs; await sleep(POLL_MS))
    if (await what()) return performance.now() - startMs
  return undefined
}

/**
 * Breaks the network, waits, mends it, waits until every process is ready and callers are served again, and holds the
 * longest wait of a caller against the promise.
 */
async function throughNetworkFault(
  { bed, load }: Trial,
  { start, waitMs, end, silences }: NetworkFault,
): Promise<Outcome> {
  const { attempts, record } = load
  const allReady = async () =>
    (await Promise.all(bed.members.map((member) => member.isReady()))).every(Boolean)
  const noneReady = async () =>
    !(await Promise.all(bed.members.map((member) => member.isReady()))).some(Boolean)
  const broken: string[] = []
  attempts.longestMs = 0
  const figures: Record<string, number> = {}
  start()
  if (silences) {
    const unready = await until(noneReady, 5 * READY_MS_MAX)
    if (unready === undefined || unready > READY_MS_MAX)
      broken.push(`/readyz was not 503 on every process within ${READY_MS_MAX} ms of silence`)
    else figures['not ready after ms'] = unready
  }
  await sleep(waitMs)
  end()
  const acknowledged = record.replayable.length
  const ready = await until(allReady, 2 * RECOVERY_MS_MAX)
  if (ready === undefined || ready > RECOVERY_MS_MAX)
    broken.push(
      `/readyz was not 200 on every process within ${RECOVERY_MS_MAX} ms after the network was back`,
    )
  else figures['ready again ms'] = ready
  const served = await until(async () => record.replayable.length >= acknowledged + 20, 60_000)
  figures['longest response ms'] = attempts.longestMs
  if (attempts.longestMs > RESPONSE_MS_MAX)
    broken.push(`a caller waited ${Math.round(attempts.longestMs)} ms for a response`)
  return { injected: 1, survived: served !== undefined && broken.length === 0 ? 1 : 0, figures, broken }
}

interface NetworkFault {
  readonly start: () => void
  readonly waitMs: number
  readonly end: () => void
  /** Whether nothing reaches the database meanwhile, so that no process may say that it is ready. */
  readonly silences: boolean
}

const frozenConnections: Fault = {
  name: 'freeze',
  description:
    'every open connection to the database falls silent for good, without being closed; new ones work',
  share: 1,
  inject: (trial) =>
    throughNetworkFault(trial, {
      start: () => void trial.bed.proxy.freeze(),
      waitMs: 0,
      end: () => undefined,
      silences: false,
    }),
}

const pausedNetwork: Fault = {
  name: 'pause',
  description:
    'nothing reaches the database for some seconds, on new connections either; then it is delivered',
  share: 1,
  inject: (trial) =>
    throughNetworkFault(trial, {
      start: () => trial.bed.proxy.pause(),
      waitMs: 2_000 + trial.random.below(12_000),
      end: () => trial.bed.proxy.resume(),
      silences: true,
    }),
}

/** As TCP does: the first resend after 200 ms, each further one after twice as long. */
const LOSS = 0.02
const RESEND_MS = 200

const packetLoss: Fault = {
  name: 'packet loss',
  description:
    'for some seconds two of a hundred packets to and from the database are lost and sent again, late',
  share: 1,
  inject: (trial) =>
    throughNetworkFault(trial, {
      start: () =>
        trial.bed.proxy.delay(() => {
          let late = 0
          for (let resendMs = RESEND_MS; trial.random.next() < LOSS; resendMs *= 2) late += resendMs
          return late
        }),
      waitMs: 5_000 + trial.random.below(5_000),
      end: () => trial.bed.proxy.delay(() => 0),
      silences: false,
    }),
}

export const NETWORK_FAULTS: readonly Fault[] = [frozenConnections, pausedNetwork, packetLoss]
