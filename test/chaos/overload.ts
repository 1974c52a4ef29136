import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { signNotice } from '../../src/platform/http/notice-signature.ts'
import type { Outcome, Trial } from './faults.ts'

const MEASURE_MS = 4_000
const OVERLOAD_MS = 10_000
/** Enough that the service, and not its callers, is what is waited for. */
const CLOSED_CALLERS = 400
const TICK_MS = 10
const P99_MS_MAX = 2_000
const NORMAL_WITHIN_MS = 10_000

interface Shot {
  readonly status: number
  readonly tookMs: number
}

/**
 * Promise H4. First as fast as some callers can, each after its answer: that is what the service carries. Then three
 * times as many a second whether or not answers come, and nobody tries again.
 */
export async function overload({ bed, load }: Trial): Promise<Outcome> {
  await load.stop()
  const pools = bed.members.map(
    ({ baseUrl }) => new Pool(baseUrl, { connections: 500, pipelining: 1, headersTimeout: 30_000 }),
  )
  let sent = 0
  const shoot = async (): Promise<Shot> => {
    const body = JSON.stringify({
      utr: `O${Date.now()}${sent++}`,
      tr: 'none',
      amount: 1,
      payerVpa: 'payer@bank',
    })
    const startMs = performance.now()
    const headers = {
      'content-type': 'application/json',
      'x-rail-signature': signNotice(Buffer.from(body), bed.railKey, Date.now()),
    }
    const pool = pools[sent % pools.length]!
    const status = await pool.request({ method: 'POST', path: '/rails/upi/credits', headers, body }).then(
      async (answer) => (await answer.body.dump(), answer.statusCode),
      () => 0,
    )
    return { status, tookMs: performance.now() - startMs }
  }
  try {
    const carried = await capacity(shoot)
    const shots = await openLoop(shoot, carried * 3, OVERLOAD_MS)
    const normalMs = await untilNormal(shoot)
    const accepted = shots.filter(({ status }) => status === 200).map(({ tookMs }) => tookMs)
    const shed = shots.filter(({ status }) => status === 503).length
    const others = shots.length - accepted.length - shed
    const p99Ms = quantile(accepted, 0.99)
    const broken = [
      ...(p99Ms <= P99_MS_MAX
        ? []
        : [`under overload the p99 of accepted requests was ${Math.round(p99Ms)} ms`]),
      ...(normalMs <= NORMAL_WITHIN_MS ? [] : ['10 s after an overload the service was not back to normal']),
      ...(others === 0 ? [] : [`under overload ${others} requests were neither accepted nor shed`]),
    ]
    const figures = {
      'carried a second': carried,
      'offered a second': (shots.length / OVERLOAD_MS) * 1_000,
      'accepted a second': (accepted.length / OVERLOAD_MS) * 1_000,
      shed,
      'accepted p99 ms': p99Ms,
      'normal after ms': normalMs,
    }
    return { injected: 1, survived: broken.length === 0 ? 1 : 0, figures, broken }
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()))
    load.start()
  }
}

async function capacity(shoot: () => Promise<Shot>): Promise<number> {
  const endMs = performance.now() + MEASURE_MS
  let answered = 0
  const caller = async () => {
    while (performance.now() < endMs) if ((await shoot()).status === 200) answered++
  }
  await Promise.all(Array.from({ length: CLOSED_CALLERS }, caller))
  return (answered / MEASURE_MS) * 1_000
}

async function openLoop(shoot: () => Promise<Shot>, perSecond: number, forMs: number): Promise<Shot[]> {
  const under: Promise<Shot>[] = []
  const startMs = performance.now()
  for (let nowMs = startMs; nowMs < startMs + forMs; nowMs = performance.now()) {
    const due = ((nowMs - startMs) * perSecond) / 1_000
    while (under.length < due) under.push(shoot())
    await sleep(TICK_MS)
  }
  return Promise.all(under)
}

/** How long until requests are answered as quickly as on an idle service, ten in a row. */
async function untilNormal(shoot: () => Promise<Shot>): Promise<number> {
  const startMs = performance.now()
  for (let inARow = 0; inARow < 10 && performance.now() < startMs + 30_000; ) {
    const { status, tookMs } = await shoot()
    inARow = status === 200 && tookMs < 250 ? inARow + 1 : 0
  }
  return performance.now() - startMs
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
