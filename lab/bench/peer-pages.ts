import { PEER, percentiles, SVC, type Tail } from './against-peer.ts'
import { type Figure, median } from './contest.ts'
import type { Cores } from './cores.ts'
import type { StoredBusy, StoredMixed, StoredPeer, StoredTail } from './pages.ts'
import { escaped, type Measured, ratios, small, whole } from './report.ts'
import { WAITS } from './waits.ts'

interface Row {
  readonly title: string
  readonly svc: Figure
  readonly peer: Figure
  readonly ratio: number
  readonly aim: number | undefined
}

/** Measures that have both. */
const rowsOf = (measures: readonly Measured[]): Row[] =>
  measures.flatMap((measured) => {
    const [compared] = ratios(measured)
    const find = (name: string) => measured.figures.find(({ contender }) => contender === name)
    const [svc, peer] = [find(SVC), find(PEER)]
    return compared && svc && peer
      ? [
          {
            title: measured.title,
            svc,
            peer,
            ratio: compared.ratio,
            aim: compared.aim,
            atMost: compared.atMost,
          },
        ]
      : []
  })

const rateOf = ({ perSecond }: Figure): string => whole(median(perSecond))
const cpuOf = ({ cpuMicros }: Figure): string => `${small(median(cpuMicros))} µs`
const latencyOf = ({ latencyMs }: Figure): string =>
  latencyMs ? `${small(latencyMs.p50)} / ${small(latencyMs.p99)}` : ''

/** Megabytes after the last operation. */
const memoryOf = (measures: readonly Measured[], name: string): string => {
  const note = measures.at(-1)?.notes?.find((one) => one.name.startsWith(`${name}:`))
  return note ? `${whole(note.value)} MB` : 'unknown'
}

const aimOf = ({ ratio, aim }: Row): string =>
  aim === undefined ? '' : `${aim} ×: ${ratio >= aim ? 'reached' : '**not reached**'}`

/** What the service is compared with first: the same operations as a team would write them. */
export function peerSection({ machine, setting, measures }: StoredPeer): string {
  const { callers, rounds, seconds } = setting
  return [
    '![How many times as many requests svc serves as the same operations written by hand](charts/peer.svg)',
    '',
    '## Against the same operations written by hand',
    '',
    `Written by \`npm run bench -- --peer --write\`. ${machine}. ${callers} callers, ${rounds} rounds of ${seconds} s in turn.`,
    'Both are built programs in live mode, each with a login and a database of its own on one PostgreSQL server, with the',
    'same schema and durable commits. CPU is of the server and of PostgreSQL. Latency is of both at half the rate of the',
    'slower one. What the peer is, how it was tuned and what it lacks: [peers/handwritten](peers/handwritten/README.md).',
    '',
    `| | svc, requests/s | by hand, requests/s | ratio | aim | CPU each, svc | by hand | p50 / p99 ms, svc | by hand |`,
    '|---|---|---|---|---|---|---|---|---|',
    ...rowsOf(measures).map(
      (row) =>
        `| ${row.title} | ${rateOf(row.svc)} | ${rateOf(row.peer)} | ${row.ratio.toFixed(2)} × | ${aimOf(row)} | ${cpuOf(row.svc)} | ${cpuOf(row.peer)} | ${latencyOf(row.svc)} | ${latencyOf(row.peer)} |`,
    ),
    '',
    `Resident memory of the process after all of it: svc ${memoryOf(measures, SVC)}, by hand ${memoryOf(measures, PEER)}.`,
    '',
  ].join('\n')
}

/** One busy merchant, and what the others notice of it. */
export function busySection({ machine, setting, measures, merchant }: StoredBusy): string {
  const { callers, rounds, seconds } = setting
  const { busyPerSecond, othersPerSecond, svc, peer } = merchant
  const row = (name: string, { alone, beside, worse }: typeof svc) =>
    `| ${name} | ${percentiles(alone)} | ${percentiles(beside)} | ${worse.toFixed(2)} × |`
  return [
    '## One busy merchant',
    '',
    `Written by \`npm run bench -- --only busy --write\`. ${machine}. ${callers} callers, ${rounds} rounds of ${seconds} s in turn.`,
    'All payments are of one counter code, all cards of one account. By hand, each transaction waits for the locks of the',
    'one before; svc carries out all that wait in one.',
    '',
    '| | svc, requests/s | by hand, requests/s | ratio | aim |',
    '|---|---|---|---|---|',
    ...rowsOf(measures).map(
      (each) =>
        `| ${each.title} | ${rateOf(each.svc)} | ${rateOf(each.peer)} | ${each.ratio.toFixed(2)} × | ${aimOf(each)} |`,
    ),
    '',
    `Payments to all other merchants, ${Math.round(othersPerSecond)} a second, alone and beside ${Math.round(busyPerSecond)} a second of the busy one (aim: p99 ≤ 1.3 ×):`,
    '',
    '| | alone, p50 / p99 / p99.9 ms | beside | p99, median of the rounds |',
    '|---|---|---|---|',
    row(SVC, svc),
    row(PEER, peer),
    '',
  ].join('\n')
}

/** Latency at fixed rates. */
export function tailSection({ machine, setting, tails }: StoredTail): string {
  const { rounds, seconds, callers } = setting
  return [
    '## The tail, at rates that both can serve',
    '',
    `Written by \`npm run bench -- --tail --write\`. ${machine}. ${rounds} rounds of ${seconds} s in turn, medians, ${callers} connections.`,
    'Requests arrive at fixed times whatever became of the earlier ones, and are timed from when they were due, so that a',
    'server that stalls is charged for all that waited. Rates are shares of the most that the peer serves.',
    '',
    '| | rate | svc: p50 / p99 / p99.9 ms | by hand: p50 / p99 / p99.9 ms | idle cores, svc | by hand |',
    '|---|---|---|---|---|---|',
    ...tails.flatMap(({ title, points }) =>
      points.map(
        ({ share, perSecond, svc, peer, cores }) =>
          `| ${title} | ${share * 100} %: ${whole(perSecond)}/s | ${percentiles(svc)} | ${percentiles(peer)} | ${idleOf(cores?.svc)} | ${idleOf(cores?.peer)} |`,
      ),
    ),
    '',
    ...waitsTable(tails),
  ].join('\n')
}

const idleOf = (cores: Cores | undefined): string => (cores ? (cores.disk + cores.idle).toFixed(2) : '')

/** Why the slowest hundredth is slow: of the service and, behind a colon, of the peer. */
function waitsTable(tails: readonly Tail[]): string[] {
  const watched = tails.flatMap(({ title, waits }) => (waits ? [{ title, ...waits }] : []))
  if (watched.length === 0) return []
  return [
    'What the slowest hundredth waited for at the highest rate, svc : by hand, in a phase of its own in which the states',
    'of PostgreSQL’s connections were read every few milliseconds:',
    '',
    `| % of their time | ${watched.map(({ title }) => title).join(' | ')} |`,
    `|---|${watched.map(() => '---').join('|')}|`,
    ...WAITS.map(
      (wait) =>
        `| ${wait} | ${watched.map(({ svc, peer }) => `${share(svc[wait])} : ${share(peer[wait])}`).join(' | ')} |`,
    ),
    '',
  ]
}

const share = (part: number): string => (part * 100).toFixed(0)

function mixedCores(cores: Cores | undefined): string {
  if (!cores) return ' | | | '
  const { service, postgres, callers, others, disk, idle } = cores
  return [service, postgres, callers + others, disk + idle].map((part) => part.toFixed(2)).join(' | ')
}

/** Payments alone and among everything else. */
export function mixedSection({ machine, setting, mixed }: StoredMixed): string {
  const { quiet, busy, webhooks, exports, bulkRows, cores } = mixed
  return [
    '## Payments among everything else',
    '',
    `Written by \`npm run bench -- --mixed --write\`. ${machine}. ${setting.rounds} rounds of ${setting.seconds} s, medians.`,
    '200 payments/s alone, then together with 700 reads/s and 100 new QR codes/s, while a bulk job issues cards, a client',
    'exports payments as CSV without a pause, events are numbered and webhooks are delivered. In such a phase:',
    `${whole(bulkRows)} cards, ${whole(exports)} exports, ${whole(webhooks)} webhooks.`,
    '',
    '| payments | p50 / p99 / p99.9 ms | busy cores: server | PostgreSQL | callers, kernel and others | idle |',
    '|---|---|---|---|---|---|',
    `| alone | ${percentiles(quiet)} | ${mixedCores(cores?.quiet)} |`,
    `| among everything else | ${percentiles(busy)} | ${mixedCores(cores?.busy)} |`,
    '',
  ].join('\n')
}

const [LEFT, WIDTH, STEP, TOP] = [275, 280, 34, 60]

/** Of one operation: a bar of the ratio over the peer's, which is 1, and the tail at the highest rate. */
function bar(row: Row, index: number, most: number, tail: string): string {
  const y = TOP + index * STEP
  const length = (ratio: number) => ((ratio / most) * WIDTH).toFixed(1)
  return (
    `<text x="${LEFT - 10}" y="${y + 15}" text-anchor="end">${escaped(row.title)}</text>` +
    `<rect x="${LEFT}" y="${y}" width="${length(row.ratio)}" height="13" rx="2" fill="#4263eb"/>` +
    `<rect x="${LEFT}" y="${y + 14}" width="${length(1)}" height="7" rx="2" fill="#adb5bd"/>` +
    `<text x="${LEFT + Number(length(row.ratio)) + 7}" y="${y + 12}" font-weight="600">${row.ratio.toFixed(1)} ×</text>` +
    `<text x="612" y="${y + 12}">${rateOf(row.svc)} <tspan fill="#868e96">: ${rateOf(row.peer)}</tspan></text>` +
    `<text x="762" y="${y + 12}">${tail}</text>`
  )
}

/** One chart of everything, readable at a glance. */
export function peerChart({ measures }: StoredPeer, tail: StoredTail | undefined): string {
  const rows = rowsOf(measures)
  const most = Math.max(1, ...rows.map(({ ratio }) => ratio)) * 1.15
  const tailOf = (title: string) => {
    const point = tail?.tails.find((one) => one.title === title)?.points.at(-1)
    return point ? `${small(point.svc.p99)} <tspan fill="#868e96">: ${small(point.peer.p99)}</tspan>` : ''
  }
  const bars = rows.map((row, i) => bar(row, i, most, tailOf(row.title)))
  const height = TOP + rows.length * STEP + 12
  const title =
    'svc and the same operations written by hand (Fastify, pg, jose, qrcode), same machine, same run'
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 ${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#495057">` +
    `<title>${escaped(title)}</title><rect width="900" height="${height}" rx="6" fill="#f8f9fa"/>` +
    `<text x="14" y="24" font-weight="600">${escaped(title)}</text>` +
    `<g font-size="11"><text x="${LEFT}" y="48"><tspan fill="#4263eb">■</tspan> svc <tspan fill="#adb5bd">■</tspan> by hand = 1 ×</text>` +
    `<text x="612" y="48">requests/s</text>${tail ? '<text x="762" y="48">p99 ms at 75 %</text>' : ''}</g>` +
    `${bars.join('')}</svg>\n`
  )
}
