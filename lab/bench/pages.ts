import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { SPEED_PAGE, withSpeed } from '../../scripts/speed.ts'
import type { PeerSetting, Tail } from './against-peer.ts'
import type { BusyMerchant } from './busy.ts'
import type { Setting } from './measures/measure.ts'
import type { Mixed } from './mixed.ts'
import { busySection, mixedSection, peerChart, peerSection, tailSection } from './peer-pages.ts'
import type { Profiled } from './profile.ts'
import { profileSection } from './profile-pages.ts'
import { asMarkdown, chart, type Measured, machine, noteLine, ratioLine, ratios } from './report.ts'
import { ROOT } from './server-process.ts'

const FOLDER = new URL('./', import.meta.url)

interface Stored {
  readonly machine: string
}
interface StoredMeasures {
  readonly measures: readonly Measured[]
}
export interface StoredPeer extends Stored {
  readonly setting: Pick<PeerSetting, 'callers' | 'rounds' | 'seconds'>
  readonly measures: readonly Measured[]
}
export interface StoredBusy extends StoredPeer {
  readonly merchant: BusyMerchant
}
export interface StoredTail extends Stored {
  readonly setting: Pick<PeerSetting, 'callers' | 'rounds' | 'seconds'>
  readonly tails: readonly Tail[]
}
export interface StoredMixed extends Stored {
  readonly setting: Pick<PeerSetting, 'rounds' | 'seconds'>
  readonly mixed: Mixed
}

export interface StoredProfile extends Stored {
  readonly setting: Pick<PeerSetting, 'callers' | 'seconds'>
  readonly profiles: readonly Profiled[]
}

const read = async <T>(file: string): Promise<T | undefined> => {
  const text = await readFile(new URL(file, FOLDER), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}

/** Keeps the results of a run, and writes the pages again. */
export async function storeResults(
  file: 'results.json' | 'peer.json' | 'tail.json' | 'mixed.json' | 'profile.json' | 'busy.json',
  results: object,
) {
  const text = JSON.stringify({ machine: machine(), ...results }, null, 1)
  await writeFile(new URL(file, FOLDER), `${text}\n`)
  await writePages()
}

/** A measure in the place of its earlier result, with the day; `order`: the ids of all. */
export async function storeMeasure(
  measured: Measured,
  { rounds, seconds, cards }: Setting,
  order: readonly string[],
): Promise<void> {
  const stored = await read<StoredMeasures>('results.json')
  const when = `${new Date().toISOString().slice(0, 10)}, ${rounds} rounds of ${seconds} s, ${cards.toLocaleString('en')} cards, ${machine()}`
  const byId = new Map<string, Measured>(stored?.measures.map((earlier) => [earlier.id, earlier]))
  const kept = { ...measured, ratios: ratios(measured), when }
  byId.set(measured.id, kept)
  await storeResults('results.json', { measures: order.flatMap((id) => byId.get(id) ?? []) })
}

/** More than these that differ in name only are counted, and told one by one only where they are not reached. */
const NOTES_MAX = 4

function aimsOf(measured: Measured): string[] {
  const { title, notes = [] } = measured
  const aimed = notes.filter(({ atMost }) => atMost !== undefined)
  const missed = aimed.filter(({ value, atMost }) => value > atMost!)
  const many = aimed.length > NOTES_MAX
  return [
    ...ratios(measured)
      .filter(({ aim }) => aim !== undefined)
      .map(ratioLine),
    ...(many
      ? [`${aimed.length - missed.length} of ${aimed.length} at most ${aimed[0]!.atMost} ${aimed[0]!.unit}`]
      : []),
    ...(many ? missed : aimed).map(noteLine),
  ].map((line) => `- ${title}: ${line}`)
}

const head = ({ measures }: StoredMeasures): string =>
  [
    '## Against limits and other servers',
    '',
    'Written by `npm run bench`, each measure with its day and machine. Contenders take turns; medians count. Load, service and PostgreSQL share the cores; commits are durable. Latency is',
    'taken at 70 % of the measured rate, of growth at half the slowest one’s, from the instant a request was due. Ratios',
    'travel, absolute figures do not.',
    '',
    '## Aims',
    '',
    'Why some are not reached, and what it would take: [README.md](README.md).',
    '',
    ...measures.flatMap(aimsOf),
    '',
  ].join('\n')

/** RESULTS.md, charts/ and the page with speeds, from the results that are stored. */
export async function writePages(): Promise<void> {
  const stored = await read<StoredMeasures>('results.json')
  const peer = await read<StoredPeer>('peer.json')
  const busy = await read<StoredBusy>('busy.json')
  const tail = await read<StoredTail>('tail.json')
  const mixed = await read<StoredMixed>('mixed.json')
  const profile = await read<StoredProfile>('profile.json')
  await rm(new URL('charts/', FOLDER), { recursive: true, force: true })
  await mkdir(new URL('charts/', FOLDER), { recursive: true })
  const parts = ['# Results\n']
  if (peer) {
    await writeFile(new URL('charts/peer.svg', FOLDER), peerChart(peer, tail))
    parts.push(peerSection(peer))
  }
  if (busy) parts.push(busySection(busy))
  if (tail) parts.push(tailSection(tail))
  if (mixed) parts.push(mixedSection(mixed))
  if (profile) parts.push(profileSection(profile))
  if (stored) {
    parts.push(head(stored), ...stored.measures.map(asMarkdown))
    for (const measured of stored.measures)
      if (measured.figures.length > 0)
        await writeFile(new URL(`charts/${measured.id}.svg`, FOLDER), chart(measured))
  }
  await writeFile(new URL('RESULTS.md', FOLDER), parts.join('\n'))
  await writeFile(new URL(`../../${SPEED_PAGE}`, FOLDER), withSpeed(ROOT))
  console.log(`Written: ${SPEED_PAGE}, lab/bench/RESULTS.md and lab/bench/charts/`)
}
