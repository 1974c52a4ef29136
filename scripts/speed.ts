import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../lab/bench/contest.ts'

interface Measured {
  readonly id: string
  readonly title: string
  readonly figures: readonly {
    readonly contender: string
    readonly callers: number
    readonly unit: string
    readonly perSecond: readonly number[]
  }[]
  readonly ratios: readonly {
    readonly of: string
    readonly to: string
    readonly callers: number
    readonly ratio: number
  }[]
}

interface Results {
  readonly machine: string
  readonly measures: readonly Measured[]
}

export const SPEED_PAGE = 'docs/guides/evaluate.md'
const BEGIN = '<!-- speed: from the results in lab/bench, by `npm run generate` -->'
const END = '<!-- /speed -->'

const whole = (value: number) => Math.round(value).toLocaleString('en')

const figureOf = ({ figures }: Measured, contender: string, callers: number) =>
  figures.find((one) => one.contender === contender && one.callers === callers)!

function rowsOf(measured: Measured): string[] {
  const { title, ratios } = measured
  return ratios.map(({ of, to, callers, ratio }) => {
    const { perSecond, unit } = figureOf(measured, of, callers)
    const what = of === 'svc' ? title : `${title}: ${of.replace(/^svc, /, '')}`
    return `| ${what} | ${whole(median(perSecond))} ${unit}/s | ${ratio.toFixed(2)} × ${to} |`
  })
}

/** Rows in the README; the whole tables are in lab/bench/RESULTS.md. */
const SHOWN_MAX = 6

const resultsOf = (root: string, file: string): Results | undefined => {
  const path = join(root, 'lab/bench', file)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Results) : undefined
}

/** Beside the same operations written by hand. */
const againstPeer = ({ measures }: Results): string[] => [
  '| requests/s | svc | by hand (Fastify, `pg`, `jose`, `qrcode`) | |',
  '|---|---|---|---|',
  ...measures.slice(0, SHOWN_MAX).map((measured) => {
    const [{ of, to, callers, ratio }] = measured.ratios as [Measured['ratios'][number]]
    const rate = (contender: string) => whole(median(figureOf(measured, contender, callers).perSecond))
    return `| ${measured.title} | ${rate(of)} | ${rate(to)} | ${ratio.toFixed(2)} × |`
  }),
]

/** Beside limits and other servers, while there are no results of the other kind. */
const againstLimits = ({ measures }: Results): string[] => [
  '| | svc | compared with, in the same run |',
  '|---|---|---|',
  ...measures.flatMap((measure) => rowsOf(measure).slice(0, 1)).slice(0, SHOWN_MAX),
]

/** Puts text between two marks of a page. */
function between(root: string, file: string, [begin, end]: readonly [string, string], text: string): string {
  const page = readFileSync(join(root, file), 'utf8')
  const [before, after] = [page.indexOf(begin), page.indexOf(end)]
  if (before < 0 || after < before) throw new Error(`${file} has no place for the figures: ${begin} … ${end}`)
  return `${page.slice(0, before)}${begin}\n\n${text}\n\n${page.slice(after)}`
}

const machineOf = (results: Results | undefined): string =>
  results?.machine.replace(/, load before .*/, '') ?? 'no machine yet'

/** The page that has the figures, with those of the last whole run of the bench, and none but those. */
export function withSpeed(root: string): string {
  const peer = resultsOf(root, 'peer.json')
  const limits = resultsOf(root, 'results.json')
  const rows = peer ? againstPeer(peer) : limits ? againstLimits(limits) : []
  const where = `On ${machineOf(peer ?? limits)}, where callers, service and database share the cores:`
  return between(root, SPEED_PAGE, [BEGIN, END], [where, '', ...rows].join('\n'))
}

/** The README with the one figure of it: of the first measure, with all cores busy. */
export function withBusyFigure(root: string): string {
  const peer = resultsOf(root, 'peer.json')
  const [measured] = peer?.measures ?? []
  const [ratio] = measured?.ratios ?? []
  if (!measured || !ratio) throw new Error('lab/bench/peer.json has no figure for the README')
  const rate = whole(median(figureOf(measured, ratio.of, ratio.callers).perSecond))
  const cores = machineOf(peer).replace(/^(\d+) × ([^,]*).*/, '$1 cores ($2)')
  return between(
    root,
    'README.md',
    ['<!-- busy: by `npm run generate` -->', '<!-- /busy -->'],
    `On ${cores}, all busy with callers, service and database, it takes **${rate} payments a second**, each on disk before its response: ${ratio.ratio.toFixed(2)} × as many as the same written by hand ([speed](${SPEED_PAGE}#speed)).`,
  )
}
