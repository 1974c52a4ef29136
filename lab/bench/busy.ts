import { PEER, type PeerSetting, percentiles, SVC } from './against-peer.ts'
import type { Side } from './bed.ts'
import { median, medianLatency } from './contest.ts'
import { closedLoop, type Latency, openLoop } from './load.ts'
import { credits, prepare } from './measures/durable-commands.ts'
import type { Pair } from './pair.ts'
import { BUSY_CODE, otherCode } from './peer-operations.ts'

/** Payments to all other merchants, alone and while one merchant is busy. */
interface Others {
  readonly alone: Latency
  readonly beside: Latency
  /** The p99 beside, as a multiple of the p99 alone of the same round. */
  readonly worse: number
}

export interface BusyMerchant {
  /** Payments of the busy merchant a second, and of all others together: the same for both sides. */
  readonly busyPerSecond: number
  readonly othersPerSecond: number
  readonly svc: Others
  readonly peer: Others
}

const WARM_SECONDS = 6
/** Of the peer's maximum on one code, so that the peer can follow. */
const BUSY_SHARE = 0.75
const OTHERS_SHARE = 0.25

/**
 * `npm run bench -- --only busy`, after the rates: what the other tenants notice of a busy merchant. Their payments come
 * at a fixed rate, alone and then beside as many payments of one code as the peer can follow; both sides get the same.
 */
export async function measureBusyMerchant(pair: Pair, setting: PeerSetting): Promise<BusyMerchant> {
  const { callers, rounds, seconds, progress } = setting
  const busy = (side: Side, least: number) => credits(side, least, () => BUSY_CODE)
  progress('The busy merchant: warming up')
  for (const side of [pair.svc, pair.peer]) await closedLoop(busy(side, WARM_SECONDS), callers, WARM_SECONDS)
  const { perSecond: peerMax } = await closedLoop(busy(pair.peer, seconds), callers, seconds)
  const [busyPerSecond, othersPerSecond] = [peerMax * BUSY_SHARE, peerMax * OTHERS_SHARE]
  const seen = { svc: newSeen(), peer: newSeen() }
  for (let round = 1; round <= rounds; round++)
    for (const name of ['svc', 'peer'] as const) {
      const side = pair[name]
      progress(`The busy merchant: round ${round} of ${rounds}: ${name}`)
      const others = () => openLoop(credits(side, seconds, otherCode), callers, othersPerSecond, seconds)
      await prepare(side, false)()
      seen[name].alone.push(await others())
      await prepare(side, false)()
      const [beside] = await Promise.all([
        others(),
        openLoop(busy(side, seconds), callers, busyPerSecond, seconds),
      ])
      seen[name].beside.push(beside)
    }
  progress('')
  const found = { busyPerSecond, othersPerSecond, svc: medianOf(seen.svc), peer: medianOf(seen.peer) }
  showBusyMerchant(found)
  return found
}

type Seen = Record<'alone' | 'beside', Latency[]>
const newSeen = (): Seen => ({ alone: [], beside: [] })
const medianOf = ({ alone, beside }: Seen): Others => ({
  alone: medianLatency(alone),
  beside: medianLatency(beside),
  // Round by round: the machine of one may not be that of another.
  worse: median(beside.map(({ p99 }, round) => p99 / alone[round]!.p99)),
})

function showBusyMerchant({ busyPerSecond, othersPerSecond, svc, peer }: BusyMerchant): void {
  console.log(
    `\nPayments to others, ${Math.round(othersPerSecond)}/s, beside ${Math.round(busyPerSecond)}/s of one code (p50 / p99 / p99.9)`,
  )
  for (const [name, { alone, beside, worse }] of [
    [SVC, svc],
    [PEER, peer],
  ] as const)
    console.log(
      `  ${name}: alone ${percentiles(alone)} ms, beside ${percentiles(beside)} ms, p99 ${worse.toFixed(2)} ×`,
    )
}
