import { type Bed, type BenchPartner, dropUnnumbered, makeBed } from '../bed.ts'
import { type Contender, contest, type Figure, httpContender } from '../contest.ts'
import { requestBytes } from '../load.ts'
import { insertManyEvents, type ManyEvents } from '../many-events.ts'
import { accountOf, singleCards } from './card-search.ts'
import { lookups } from './coin-lookup.ts'
import { orders } from './encrypted-creation.ts'
import type { Measure, Note, Setting } from './measure.ts'

const SMALLEST = 10_000
const [ISSUERS, ACCOUNTS] = [8, 4]
const PAGE_EVENTS = 20
/** What a search of one card reads that grows with the cards, as PostgreSQL's own statistics count it. */
const READ = [
  'cards',
  'cards_by_id',
  'users',
  'users_by_id',
  'ledger_accounts',
  'ledger_accounts_pkey',
  'ledger_transfers',
  'ledger_transfers_by_object',
]

/** The requests to an installation that holds so many cards, and as many events. */
type Operation = 'search' | 'look up coins' | 'read events' | 'issue'

async function contendersOf(setting: Setting, cards: number): Promise<Record<Operation, Contender>> {
  const { bed, callers, seconds } = setting
  const named = (operation: Operation) =>
    `${operation}, ${cards.toLocaleString('en')} ${operation === 'read events' ? 'events' : 'cards'}`
  const pids = [bed.service.pid, bed.postmasterPid]
  const account = await accountOf(setting, cards)
  const issuers: BenchPartner[] = []
  for (let i = 0; i < ISSUERS; i++) issuers.push(await bed.newPartner('incentive', ACCOUNTS))
  const requests = await lookups(bed, issuers[0]!, callers[0]!)
  const feed = await insertManyEvents(setting, account.partner.partnerId, cards)
  return {
    search: singleCards(setting, account, named('search')),
    'look up coins': httpContender(named('look up coins'), pids, () => ({
      port: bed.service.port,
      next: (n) => requests[n % requests.length],
    })),
    'read events': httpContender(named('read events'), pids, () => ({
      port: bed.service.port,
      next: () => pageOf(account.partner, feed),
    })),
    // Last, for it adds cards by the thousand.
    issue: httpContender(named('issue'), pids, () =>
      orders(bed, issuers, ({ sharedKey }) => sharedKey, seconds),
    ),
  }
}

/** A page from anywhere in the feed, as a reader requests it that catches up. */
const pageOf = ({ headers }: BenchPartner, { first, count }: ManyEvents) =>
  requestBytes(
    'GET',
    `/api/v0/events?limit=${PAGE_EVENTS}&after=${first + Math.floor(Math.random() * (count - PAGE_EVENTS))}`,
    { authorization: headers.authorization! },
  )

/** Pages that are read once are the first to leave the system's memory; those that are read again stay. */
const READINGS = 3

/** Into the system's memory, as they are after some hours of use: the disk's speed is not ours. Returns gigabytes, and seconds of the last reading. */
async function readAll({ admin }: Bed) {
  await admin.query('create extension if not exists pg_prewarm')
  let read = { gb: 0, seconds: 0 }
  for (let i = 0; i < READINGS; i++) {
    const began = performance.now()
    const { rows } = await admin.query<{ bytes: string }>(
      `select sum(pg_relation_size(name::regclass)) as bytes, sum(pg_prewarm(name::regclass, 'read')) from unnest($1::text[]) name`,
      [READ],
    )
    read = { gb: Number(rows[0]!.bytes) / 1e9, seconds: (performance.now() - began) / 1_000 }
  }
  return read
}

/** How much slower the slowest hundredth becomes when an installation grows: as many events as cards, each size in a database of its own. */
export const growth: Measure = {
  id: 'growth',
  title: 'The same requests as the numbers of cards and events grow',
  onlyWith: '--full',
  async run(setting) {
    const { cards, full } = setting
    const sizes = full ? [SMALLEST, cards / 10, cards] : [SMALLEST, cards]
    const beds: Bed[] = []
    try {
      for (const _ of sizes.slice(1)) beds.push(await makeBed())
      // The largest account may be in the common bed already.
      const settings = [...beds, setting.bed].map((bed) => ({ ...setting, bed }))
      const bySize: Record<Operation, Contender>[] = []
      for (const [i, size] of sizes.entries()) bySize.push(await contendersOf(settings[i]!, size))
      const prepare = async () => {
        for (const { bed } of settings) {
          await dropUnnumbered(bed)
          await bed.admin.query('checkpoint')
        }
      }
      let read = { gb: 0, seconds: 0 }
      for (const { bed } of settings) read = await readAll(bed)
      const { rows } = await setting.bed.admin.query<{ bytes: string }>(
        'select pg_database_size(current_database()) as bytes',
      )
      const figures: Figure[] = []
      const notes: Note[] = [
        { name: 'whole database of the largest', value: Number(rows[0]!.bytes) / 1e9, unit: 'GB' },
        { name: 'tables and indexes that searches of one card read', value: read.gb, unit: 'GB' },
        { name: 'the last of three readings of these before the measure', value: read.seconds, unit: 's' },
      ]
      for (const operation of Object.keys(bySize[0]!) as Operation[]) {
        const contenders = bySize.map((size) => size[operation])
        const found = await contest({
          ...setting,
          callers: [setting.callers[0]!],
          contenders,
          sameRate: true,
          prepare,
        })
        const p99 = found.map(({ latencyMs }) => latencyMs!.p99)
        const value = p99.at(-1)! / p99[0]!
        figures.push(...found)
        notes.push({
          name: `${operation}, p99 of the largest to the smallest`,
          value,
          unit: '×',
          atMost: 1.3,
        })
      }
      return { figures, comparisons: [], notes }
    } finally {
      for (const bed of beds) await bed.close()
    }
  },
}
