/**
 * Every figure that svc gives of its speed, beside peers and limits, in one run.
 *
 *   npm run bench                  64 callers, 1,000,000 cards; under 20 minutes, also in a slow hour
 *   npm run bench -- --full        1, 16, 64 and 256 callers, 10,000,000 cards, and growth, processes, sockets, lists; hours
 *   npm run bench -- --only token,coin-lookup      --list says what there is; --write keeps the results, with the day
 *   npm run bench -- --only node-versions          on Node 20, 24 and 26, which a run of all leaves out
 *   npm run bench -- --peer        beside the same operations written by hand; --write keeps the results
 *   npm run bench -- --tail        latency of both at fixed rates; --write keeps the results
 *   npm run bench -- --only busy   one busy merchant, beside the peer; and what other tenants notice of it
 *   npm run bench -- --mixed       latency of payments beside a bulk job, exports, webhooks and other requests
 *   npm run bench -- --rounds 5 --seconds 4 --callers 16 --cards 100000
 *
 * Contenders take turns (A B A B …), so that a noisy machine is noisy for all; medians of the rounds count, and only
 * ratios within a run mean anything elsewhere. Servers, load and PostgreSQL share the same cores. Commits are durable.
 * Writes lab/bench/results.json, lab/bench/RESULTS.md and lab/bench/charts/*.svg; a run of some measures only with --write.
 */
import { parseArgs } from 'node:util'
import { measurePeer, measureTail } from './against-peer.ts'
import { closeBeds, makeBed } from './bed.ts'
import { measureBusyMerchant } from './busy.ts'
import { cardAuthorization } from './measures/card-authorization.ts'
import { fullSearch, singleSearch } from './measures/card-search.ts'
import { coinLookup } from './measures/coin-lookup.ts'
import { consoleLists } from './measures/console-lists.ts'
import { acceptPayment, cancel, createQrCode } from './measures/durable-commands.ts'
import { encryptedCreation } from './measures/encrypted-creation.ts'
import { feedTrees } from './measures/feed-trees.ts'
import { footprint } from './measures/footprint.ts'
import { growth } from './measures/growth.ts'
import type { Measure, Setting } from './measures/measure.ts'
import { nodeVersions } from './measures/node-versions.ts'
import { severalProcesses, sockets } from './measures/processes.ts'
import { settlementFile } from './measures/settlement-file.ts'
import { merchantToken } from './measures/token.ts'
import { measureMixed, showMixed } from './mixed.ts'
import { storeMeasure, storeResults } from './pages.ts'
import { openPair } from './pair.ts'
import { operationsOf } from './peer-operations.ts'
import { measureProfiles } from './profile.ts'
import { machine, ratios, showMeasure } from './report.ts'

const MEASURES: readonly Measure[] = [
  footprint,
  merchantToken,
  acceptPayment,
  cancel,
  createQrCode,
  encryptedCreation,
  cardAuthorization,
  coinLookup,
  singleSearch,
  fullSearch,
  settlementFile,
  growth,
  sockets,
  severalProcesses,
  // Last: the overview begins a check of all books, which goes on in the background.
  consoleLists,
  feedTrees,
  nodeVersions,
]

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    callers: { type: 'string' },
    cards: { type: 'string' },
    peer: { type: 'boolean', default: false },
    tail: { type: 'boolean', default: false },
    mixed: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    /** Connections of the peer. */
    'peer-pool': { type: 'string', default: '12' },
    /** Results of --peer, --tail, --mixed and --only go into RESULTS.md. */
    write: { type: 'boolean', default: false },
    /** Options of Node for the service, say --cpu-prof. */
    'node-options': { type: 'string', default: '' },
  },
})
if (values.list) {
  for (const { id, title } of MEASURES) console.log(`${id.padEnd(18)} ${title}`)
  process.exit()
}
const only = values.only?.split(',')
/** `--only busy` alone is beside the peer; with --tail or --profile it names the operations of these. */
const isBusy = values.only === 'busy' && !values.tail && !values.profile
const isAgainstPeer = isBusy || values.peer || values.tail || values.mixed || values.profile
const isKnown = (id: string) =>
  isAgainstPeer ? operationsOf([id]).length > 0 : MEASURES.some((measure) => measure.id === id)
const unknown = only?.filter((id) => !isKnown(id)) ?? []
if (unknown.length > 0) {
  console.error(`There is no measure ${unknown.join(', ')}. --list says what there is.`)
  process.exit(2)
}

/** PostgreSQL counts its statements, for --profile. */
const COUNTED = { shared_preload_libraries: 'pg_stat_statements' }
const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K  ${text}`)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void closeBeds().finally(() => process.exit(130)))
if (isAgainstPeer) {
  console.log(machine())
  const isWritten = values.write && !only
  const setting = {
    callers: Number(values.callers ?? 64),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    only,
    progress,
  }
  if (values.mixed) {
    const bed = await makeBed()
    try {
      const mixed = await measureMixed(bed, {
        ...setting,
        callers: 64,
        seconds: Math.max(setting.seconds, 5),
      })
      progress('')
      showMixed(mixed)
      if (isWritten) await storeResults('mixed.json', { setting, mixed })
    } finally {
      await closeBeds()
    }
    process.exit()
  }
  const cards = Number(values.cards ?? 100_000)
  const pair = await openPair(cards, values['peer-pool'], progress, values.profile ? COUNTED : {})
  try {
    if (values.peer || isBusy) {
      const measures = await measurePeer(pair, setting)
      const stored = measures.map((measured) => ({ ...measured, ratios: ratios(measured) }))
      if (isWritten) await storeResults('peer.json', { setting, measures: stored })
      if (isBusy) {
        const merchant = await measureBusyMerchant(pair, setting)
        if (values.write) await storeResults('busy.json', { setting, measures: stored, merchant })
      }
    }
    if (values.tail) {
      const tails = await measureTail(pair, setting)
      if (isWritten) await storeResults('tail.json', { setting, tails })
    }
    if (values.profile) {
      const profiles = await measureProfiles(pair, setting)
      if (isWritten) await storeResults('profile.json', { setting, profiles })
    }
  } finally {
    await closeBeds()
  }
  process.exit()
}
const callers = values.callers?.split(',').map(Number) ?? (values.full ? [1, 16, 64, 256] : [64])
const startMs = performance.now()
console.log(machine())
const bed = await makeBed(values['node-options'].split(' ').filter(Boolean))
const setting: Setting = {
  bed,
  callers,
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  cards: Number(values.cards ?? (values.full ? 10_000_000 : 1_000_000)),
  full: values.full,
  progress,
}
const isChosen = ({ id, onlyWith }: Measure) =>
  only ? only.includes(id) : !onlyWith || (onlyWith === '--full' && values.full)
try {
  for (const { id, title, run } of MEASURES.filter(isChosen)) {
    const measured = { id, title, ...(await run(setting)) }
    progress('')
    showMeasure(measured)
    if (values.write || !only)
      await storeMeasure(
        measured,
        setting,
        MEASURES.map((each) => each.id),
      )
  }
} finally {
  await closeBeds()
}
console.log(`\n${Math.round((performance.now() - startMs) / 1_000)} s`)
