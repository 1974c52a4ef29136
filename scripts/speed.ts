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

/** The page that has the figures, with those of the last whole run of the bench, and none but those. */
export function withSpeed(root: string): string {
  const readme = readFileSync(join(root, SPEED_PAGE), 'utf8')
  const peer = resultsOf(root, 'peer.json')
  const limits = resultsOf(root, 'results.json')
  const rows = peer ? againstPeer(peer) : limits ? againstLimits(limits) : []
  const described = (peer ?? limits)?.machine.replace(/, load before .*/, '') ?? 'no machine yet'
  const table = [
    BEGIN,
    '',
    `On ${described}, where callers, service and database share the cores:`,
    '',
    ...rows,
    '',
    END,
  ].join('\n')
  const [before, after] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (before < 0 || after < before)
    throw new Error(`${SPEED_PAGE} has no place for the figures: ${BEGIN} … ${END}`)
  return readme.slice(0, before) + table + readme.slice(after + END.length)
}
