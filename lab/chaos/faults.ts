import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cut } from '../../test/harness/cutting-proxy.ts'
import { acknowledgedMore } from './acknowledged-more.ts'
import type { Bed } from './bed.ts'
import type { Load } from './load.ts'
import { NETWORK_FAULTS } from './network-faults.ts'
import { overload } from './overload.ts'
import type { Random } from './random.ts'
import { slowDisk } from './slow-disk.ts'

export interface Trial<B = Bed> {
  readonly bed: B
  readonly load: Load
  readonly random: Random
}

export interface Outcome {
  readonly injected: number
  readonly survived: number
  /** What was measured, by name; times in milliseconds. */
  readonly figures?: Readonly<Record<string, number>>
  /** Promises that it broke, in words. */
  readonly broken?: readonly string[]
}

export interface Fault<B = Bed> {
  readonly name: string
  readonly description: string
  /** How often a short run does it, and how likely a long one is to choose it. */
  readonly share: number
  /** Why it cannot be done here. */
  readonly impossible?: (bed: B) => string | undefined
  readonly inject: (trial: Trial<B>) => Promise<Outcome>
}

const allReady = ({ members }: Bed): Promise<unknown> => Promise.all(members.map((member) => member.ready()))

const serviceKill: Fault = {
  name: 'service kill',
  description: 'kill -9 of one process, at times of two at once',
  share: 20,
  async inject(trial) {
    const { bed, random } = trial
    const count = bed.members.length > 2 && random.next() < 0.2 ? 2 : 1
    const first = random.below(bed.members.length)
    await sleep(random.below(400))
    const figures: Record<string, number> = {}
    const ends = await Promise.all(
      Array.from({ length: count }, async (_, n) => {
        const member = bed.members[(first + n) % bed.members.length]!
        await member.end('SIGKILL')
        const killedMs = performance.now()
        await member.ready()
        figures['ready again ms'] = Math.max(figures['ready again ms'] ?? 0, performance.now() - killedMs)
      }),
    )
    const goesOn = await acknowledgedMore(trial, 5)
    return { injected: count, survived: goesOn ? ends.length : 0, figures }
  },
}

const databaseKill: Fault = {
  name: 'database kill',
  description: 'kill -9 of the postmaster and all its processes; started again at once',
  share: 5,
  async inject(trial) {
    const { bed, random } = trial
    await sleep(random.below(400))
    const killedMs = performance.now()
    await bed.server.kill()
    const startedMs = performance.now()
    await allReady(bed)
    const figures = {
      'database up ms': startedMs - killedMs,
      'ready after database ms': performance.now() - startedMs,
    }
    return { injected: 1, survived: (await acknowledgedMore(trial, 20)) ? 1 : 0, figures }
  },
}

const CUTS_AT_ONCE = 25
const cuts: Fault = {
  name: 'cut at COMMIT',
  description:
    'the connection is cut before COMMIT arrives, or after it was carried out and before its answer',
  share: 4,
  async inject(trial) {
    const { proxy } = trial.bed
    const count = () => proxy.cuts['before COMMIT'] + proxy.cuts['after COMMIT']
    const wanted = count() + CUTS_AT_ONCE
    const draw = (): Cut | undefined =>
      count() >= wanted || trial.random.next() < 0.6
        ? undefined
        : trial.random.pick(['before COMMIT', 'after COMMIT'])
    proxy.cut(draw)
    const end = performance.now() + 60_000
    while (count() < wanted && performance.now() < end) await sleep(10)
    proxy.cut(() => undefined)
    const injected = CUTS_AT_ONCE - Math.max(0, wanted - count())
    return { injected, survived: (await acknowledgedMore(trial, 20)) ? injected : 0 }
  },
}

const freeze: Fault = {
  name: 'frozen process',
  description: 'a process stands still (SIGSTOP) with its transactions open, and goes on after some seconds',
  share: 1,
  async inject(trial) {
    const { bed, random } = trial
    const member = random.pick(bed.members)
    member.report('SIGSTOP')
    const others = await acknowledgedMore(trial, 10, 4_000)
    await sleep(2_000 + random.below(6_000))
    member.report('SIGCONT')
    await allReady(bed)
    const broken = others ? [] : ['while one process stood still, the others stood still too']
    return { injected: 1, survived: (await acknowledgedMore(trial, 20)) ? 1 : 0, broken }
  },
}

const fullDisk: Fault = {
  name: 'full disk',
  description: 'no byte is left for the database for some seconds, then there is room again',
  share: 1,
  impossible: ({ place }) => place.cannotFill,
  async inject(trial) {
    const { place, members } = trial.bed
    const { attempts } = trial.load
    const refusedBefore = attempts.byOutcome.get('503') ?? 0
    await place.fill()
    let refused = 0
    let unready = 0
    // Until callers are refused, who wait as long as commands may, and every process says that it is not ready.
    for (const end = performance.now() + 20_000; performance.now() < end; await sleep(100)) {
      const ready = await Promise.all(members.map((member) => member.isReady()))
      unready = Math.max(unready, ready.filter((is) => !is).length)
      await place.fill()
      refused = (attempts.byOutcome.get('503') ?? 0) - refusedBefore
      if (unready === members.length && refused > 0) break
    }
    await place.empty()
    const emptiedMs = performance.now()
    const goesOn = await acknowledgedMore(trial, 20)
    await allReady(trial.bed)
    const broken = [
      ...(refused > 0 ? [] : ['nobody was answered 503 while the disk was full']),
      ...(unready === members.length
        ? []
        : [`only ${unready} of ${members.length} processes said that they were not ready`]),
    ]
    const figures = { 'goes on after ms': performance.now() - emptiedMs, 'refused 503': refused }
    return { injected: 1, survived: goesOn ? 1 : 0, figures, broken }
  },
}

const SLOW_CLIENTS = 800
const slowClients: Fault = {
  name: 'slow clients',
  description: `${SLOW_CLIENTS} sockets that send a byte now and then, in headers and in bodies`,
  share: 1,
  async inject(trial) {
    const { members } = trial.bed
    const sockets: Socket[] = []
    let open = 0
    for (let n = 0; n < SLOW_CLIENTS; n++) {
      const socket = connect(Number(new URL(members[n % members.length]!.baseUrl).port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.once('connect', () => {
        open++
        socket.write(
          n % 2
            ? 'GET /livez HTTP/1.1\r\nHost: a\r\nx: '
            : 'POST /api/v0/merchant/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{',
        )
        socket.once('close', () => open--)
      })
      socket.resume()
      sockets.push(socket)
    }
    const startMs = performance.now()
    while (open < SLOW_CLIENTS / 2) await sleep(10)
    const trickle = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write(' ')), 500)
    const served = await acknowledgedMore(trial, 20, 10_000)
    while (open > 0 && performance.now() - startMs < 20_000) await sleep(50)
    clearInterval(trickle)
    const left = open
    for (const socket of sockets) socket.destroy()
    const broken = [
      ...(left === 0 ? [] : [`${left} slow clients were still connected after 20 s`]),
      ...(served ? [] : ['beside slow clients nobody was served']),
    ]
    const figures = { 'last one dropped after ms': performance.now() - startMs }
    return { injected: SLOW_CLIENTS, survived: SLOW_CLIENTS - left, figures, broken }
  },
}

const heldRow: Fault = {
  name: 'held row',
  description: 'an outsider locks a code and an account of one merchant for some seconds',
  share: 2,
  async inject(trial) {
    const { server, merchants } = trial.bed
    const { merchantId } = trial.random.pick(merchants)
    const outsider = await server.connect()
    await outsider.query('begin')
    await outsider.query(
      `select from qr_codes where merchant_id = $1 and status = 'ACTIVE' order by created_at desc limit 3 for update`,
      [merchantId],
    )
    await outsider.query('select from ledger_accounts where account_id = $1 for update', [
      `payable:${merchantId}`,
    ])
    const others = await acknowledgedMore(trial, 20, 6_000)
    await sleep(1_000 + trial.random.below(2_000))
    await outsider.query('rollback')
    await outsider.end()
    const broken = others ? [] : ['while rows of one tenant were held, nobody else was served']
    return { injected: 1, survived: (await acknowledgedMore(trial, 20)) ? 1 : 0, broken }
  },
}

const rollingRestart: Fault = {
  name: 'rolling restart',
  description: 'SIGTERM to one process after the other, each started again, behind a load balancer',
  share: 2,
  async inject(trial) {
    const { members } = trial.bed
    const { attempts } = trial.load
    await allReady(trial.bed)
    const [retriedBefore, settled] = [attempts.retried, trial.load.record.replayable.length]
    const broken: string[] = []
    for (const member of members) {
      const code = await member.end('SIGTERM')
      if (code !== 0) broken.push(`a process that was told to end by SIGTERM ended with ${code}`)
      await member.ready()
      // A balancer notices that it is back.
      await sleep(300)
    }
    const failed = attempts.retried - retriedBefore
    if (failed > 0) broken.push(`${failed} requests failed during a rolling restart`)
    const figures = {
      'failed requests': failed,
      'answered writes': trial.load.record.replayable.length - settled,
    }
    return { injected: members.length, survived: members.length - (failed > 0 ? 1 : 0), figures, broken }
  },
}

const tooMuch: Fault = {
  name: 'overload',
  description: 'three times as many requests as the service carries, for some seconds',
  share: 1,
  inject: overload,
}

export const FAULTS: readonly Fault[] = [
  serviceKill,
  databaseKill,
  cuts,
  freeze,
  fullDisk,
  slowDisk,
  slowClients,
  heldRow,
  rollingRestart,
  tooMuch,
  ...NETWORK_FAULTS,
]
