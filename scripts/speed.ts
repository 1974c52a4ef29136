import { readFileSync } from 'node:fs'
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

const BEGIN = '<!-- speed: from lab/bench/results.json, by `npm run generate` -->'
const END = '<!-- /speed -->'

const whole = (value: number) => Math.round(value).toLocaleString('en')

function rowsOf({ title, figures, ratios }: Measured): string[] {
  return ratios.map(({ of, to, callers, ratio }) => {
    const { perSecond, unit } = figures.find((one) => one.contender === of && one.callers === callers)!
    const what = of === 'svc' ? title : `${title}: ${of.replace(/^svc, /, '')}`
    return `| ${what} | ${whole(median(perSecond))} ${unit}/s | ${ratio.toFixed(2)} × ${to} |`
  })
}

/** The rows of the README, by measure: the first comparison of each. The whole table is in lab/bench/RESULTS.md. */
const SHOWN_MAX = 6

/** The README with the figures of the last whole run of the bench, and none but those. */
export function withSpeed(root: string): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const { machine, measures } = JSON.parse(
    readFileSync(join(root, 'lab/bench/results.json'), 'utf8'),
  ) as Results
  const table = [
    BEGIN,
    '',
    `On ${machine.replace(/, load before .*/, '')}, where callers, service and database share the cores:`,
    '',
    '| | svc | compared with, in the same run |',
    '|---|---|---|',
    ...measures.flatMap((measure) => rowsOf(measure).slice(0, 1)).slice(0, SHOWN_MAX),
    '',
    END,
  ].join('\n')
  const [before, after] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (before < 0 || after < before)
    throw new Error(`README.md has no place for the figures: ${BEGIN} … ${END}`)
  return readme.slice(0, before) + table + readme.slice(after + END.length)
}
