import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { acknowledgedMore } from './acknowledged-more.ts'
import type { Node } from './cluster.ts'
import type { FailoverBed } from './failover-bed.ts'
import type { Fault, Outcome, Trial } from './faults.ts'
import { READY_MS_MAX, ReadyWatch } from './ready-watch.ts'

/** COMMAND_TIMEOUT_MS, as it is by default, and a second (promise J2). */
const RESPONSE_MS_MAX = 11_000
/** The service's own share of a pause, from the moment at which a primary accepts writes. */
const OWN_SHARE_MS_MAX = 5_000
const FAILOVER_MS_MAX = 90_000
/** Longer than Patroni's `ttl`, so that the nodes have to agree without it. */
const ETCD_SILENT_MS = 26_000

/** How late the timers of this process are, which measures the waits of callers: a machine that stands still is no pause of the service. */
const lateness = monitorEventLoopDelay()
lateness.enable()

interface Loss {
  readonly begin: (bed: FailoverBed, primary: Node) => Promise<unknown>
  /** Brings the node back. */
  readonly end: (bed: FailoverBed, primary: Node) => Promise<unknown>
}

/** Takes the primary away under load, and measures from the moment at which another one accepts writes. */
async function loseThePrimary(trial: Trial<FailoverBed>, { begin, end }: Loss): Promise<Outcome> {
  const { bed, load } = trial
  const { record, attempts } = load
  const primary = await bed.cluster.primary()
  lateness.reset()
  attempts.longestMs = 0
  record.longestPauseMs = 0
  const startMs = performance.now()
  const ready = new ReadyWatch(bed.members)
  await begin(bed, primary)
  const lostMs = performance.now()
  const primaryAtMs = await bed.cluster.acceptsWrites(primary, FAILOVER_MS_MAX)
  await ready.stop()
  const broken: string[] = []
  const figures: Record<string, number> = {}
  if (primaryAtMs === undefined) broken.push('no other node accepted writes')
  else {
    figures['new primary after ms'] = primaryAtMs - startMs
    const { longestMs, late } = ready.within(lostMs, primaryAtMs)
    figures['ready without a primary ms'] = longestMs
    if (late > 0) broken.push(`/readyz was 200 ${late} times, ${READY_MS_MAX} ms after the primary was gone`)
    while (record.keptAtMs < primaryAtMs && performance.now() < primaryAtMs + FAILOVER_MS_MAX) await sleep(10)
    const own = record.keptAtMs - primaryAtMs
    figures['first write after a primary ms'] = own
    if (own < 0 || own > OWN_SHARE_MS_MAX)
      broken.push(`no write ${OWN_SHARE_MS_MAX} ms after a primary was there`)
  }
  const goesOn = await acknowledgedMore(trial, 20)
  await end(bed, primary)
  await bed.cluster.whole()
  await Promise.all(bed.members.map((member) => member.ready()))
  const after = await acknowledgedMore(trial, 20)
  return outcome(trial, goesOn && after, figures, broken)
}

function outcome(
  { load: { record, attempts } }: Trial<FailoverBed>,
  goesOn: boolean,
  figures: Readonly<Record<string, number>>,
  broken: readonly string[],
): Outcome {
  const late = attempts.longestMs > RESPONSE_MS_MAX
  const all = [
    ...broken,
    ...(late ? [`a caller waited ${Math.round(attempts.longestMs)} ms for a response`] : []),
  ]
  return {
    injected: 1,
    survived: goesOn && all.length === 0 ? 1 : 0,
    figures: {
      ...figures,
      'longest pause ms': record.longestPauseMs,
      'longest response ms': attempts.longestMs,
      'measured by timers late by ms': lateness.max / 1e6,
    },
    broken: all,
  }
}

const fault = (name: string, description: string, loss: Loss): Fault<FailoverBed> => ({
  name,
  description,
  share: 3,
  inject: (trial) => loseThePrimary(trial, loss),
})

const etcdSilence: Fault<FailoverBed> = {
  name: 'failover etcd',
  description:
    'etcd is silent for longer than the leader key lives; the primary goes on while it reaches all nodes',
  share: 3,
  async inject(trial) {
    const { cluster, members } = trial.bed
    lateness.reset()
    trial.load.attempts.longestMs = 0
    trial.load.record.longestPauseMs = 0
    cluster.etcd('SIGSTOP')
    await sleep(ETCD_SILENT_MS)
    cluster.etcd('SIGCONT')
    const goesOn = await acknowledgedMore(trial, 20)
    await cluster.whole()
    await Promise.all(members.map((member) => member.ready()))
    return outcome(trial, goesOn && (await acknowledgedMore(trial, 20)), {}, [])
  },
}

export const FAILOVER_FAULTS: readonly Fault<FailoverBed>[] = [
  fault(
    'failover kill',
    'kill -9 of the primary, PostgreSQL and Patroni together; it comes back as a standby',
    {
      begin: ({ cluster }, node) => cluster.do(node, 'kill'),
      end: ({ cluster }, node) => cluster.do(node, 'start'),
    },
  ),
  fault('failover stop', 'the primary stands still (SIGSTOP), its connections stay open, and goes on later', {
    begin: ({ cluster }, node) => cluster.do(node, 'freeze'),
    end: ({ cluster }, node) => cluster.do(node, 'thaw'),
  }),
  fault('failover partition', 'the primary is cut off the network, and the network heals later', {
    begin: ({ cluster }, node) => cluster.do(node, 'cut'),
    end: ({ cluster }, node) => cluster.do(node, 'heal'),
  }),
  fault('failover switchover', 'an orderly switchover to a standby', {
    begin: ({ cluster }, node) => cluster.switchover(node),
    end: async () => undefined,
  }),
  etcdSilence,
]
