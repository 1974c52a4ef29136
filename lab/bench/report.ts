import { cpus, loadavg, totalmem } from 'node:os'
import { type Figure, median } from './contest.ts'
import { CORES, headroom } from './cores.ts'
import type { Comparison, Note, Result } from './measures/measure.ts'

export interface Measured extends Result {
  readonly id: string
  readonly title: string
  /** When and where it was measured, of one that is stored. */
  readonly when?: string
}

const [loadBefore = 0] = loadavg()

export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]!.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}, ` +
  `PostgreSQL 18 embedded, load before ${loadBefore.toFixed(1)}`

export const whole = (value: number) => Math.round(value).toLocaleString('en')
const spread = (figures: readonly number[]) => `${whole(Math.min(...figures))}–${whole(Math.max(...figures))}`
export const small = (value: number) => (value >= 100 ? whole(value) : value.toFixed(value >= 10 ? 1 : 2))

interface Ratio extends Comparison {
  readonly callers: number
  readonly ratio: number
  /** What it would be if no core nor the thread of the first one were ever idle; of servers. */
  readonly atMost?: number
}

/** Of the medians; one for each number of callers. */
export function ratios({ comparisons, figures }: Result): Ratio[] {
  const find = (contender: string, callers: number) =>
    figures.find((figure) => figure.contender === contender && figure.callers === callers)
  return comparisons.flatMap((comparison) =>
    [...new Set(figures.map(({ callers }) => callers))].flatMap((callers) => {
      const [of, to] = [find(comparison.of, callers), find(comparison.to, callers)]
      if (!of || !to) return []
      const ratio = median(of.perSecond) / median(to.perSecond)
      const atMost = of.cores && ratio * headroom(of.cores, callers)
      return [{ ...comparison, callers, ratio, ...(atMost !== undefined && { atMost }) }]
    }),
  )
}

const verdict = (good: boolean) => (good ? 'reached' : '**not reached**')
/** Where an aim is missed: what it would be if nothing waited. */
const bound = ({ aim = 0, ratio, atMost }: Ratio) =>
  ratio >= aim || atMost === undefined ? '' : `; with nothing idle ${atMost.toFixed(2)}×`
export const ratioLine = (compared: Ratio) => {
  const { of, to, aim, callers, ratio } = compared
  const judged = aim === undefined ? '' : ` (aim ${aim}×: ${verdict(ratio >= aim)}${bound(compared)})`
  return `${of} : ${to}, ${callers} callers: ${ratio.toFixed(2)}×${judged}`
}
export const noteLine = ({ name, value, unit, atMost }: Note) =>
  `${name}: ${small(value)} ${unit}${atMost === undefined ? '' : ` (aim at most ${atMost} ${unit}: ${verdict(value <= atMost)})`}`

function row({ contender, callers, unit, perSecond, cpuMicros, cores, latencyMs }: Figure): string[] {
  const cpu = median(cpuMicros)
  return [
    contender,
    String(callers),
    `${whole(median(perSecond))} ${unit}/s`,
    spread(perSecond),
    cpu > 0 ? `${small(cpu)} µs` : '',
    cores ? CORES.map((part) => cores[part].toFixed(2)).join(' / ') : '',
    latencyMs ? [latencyMs.p50, latencyMs.p99, latencyMs.p999].map(small).join(' / ') : '',
  ]
}

const HEAD = ['contender', 'callers', 'median', 'rounds', 'CPU each', 'cores', 'p50 / p99 / p99.9 ms']

export function showMeasure(measured: Measured): void {
  const { title, figures, notes = [], left = [] } = measured
  console.log(`\n${title}`)
  const rows = figures.length > 0 ? [HEAD, ...figures.map(row)] : []
  const widths = HEAD.map((_, i) => Math.max(0, ...rows.map((cells) => cells[i]!.length)))
  for (const cells of rows) console.log(`  ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')}`)
  for (const ratio of ratios(measured)) console.log(`  ${ratioLine(ratio).replaceAll('**', '')}`)
  for (const note of notes) console.log(`  ${noteLine(note).replaceAll('**', '')}`)
  for (const text of left) console.log(`  left out: ${text}`)
}

export function asMarkdown(measured: Measured): string {
  const { id, title, when, figures, notes = [], left = [] } = measured
  const lines = [`## ${title}`, '']
  if (when !== undefined) lines.push(`Measured ${when}.`, '')
  if (figures.length > 0) {
    lines.push(`![${title}](charts/${id}.svg)`, '')
    lines.push(`| ${HEAD.join(' | ')} |`, `|${HEAD.map(() => '---').join('|')}|`)
    for (const figure of figures) lines.push(`| ${row(figure).join(' | ')} |`)
    lines.push('')
  }
  const said = [
    ...ratios(measured).map(ratioLine),
    ...notes.map(noteLine),
    ...left.map((text) => `left out: ${text}`),
  ]
  if (said.length > 0) lines.push(...said.map((text) => `- ${text}`), '')
  return lines.join('\n')
}

export const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

/** Bars of the medians with the spread of the rounds, at the largest number of callers that all have. */
export function chart({ title, figures }: Measured): string {
  const callers = Math.max(...figures.map((figure) => figure.callers))
  const bars = figures.filter((figure) => figure.callers === callers)
  const most = Math.max(...bars.flatMap(({ perSecond }) => perSecond))
  const [left, width, step] = [250, 380, 30]
  const x = (value: number) => (left + (value / most) * width).toFixed(1)
  const body = bars.map(({ contender, perSecond }, i) => {
    const y = 44 + i * step
    const own = contender.startsWith('svc') || /process|socket|cards|Node/i.test(contender)
    const [low, high] = [Math.min(...perSecond), Math.max(...perSecond)]
    return (
      `<text x="${left - 8}" y="${y + 13}" text-anchor="end">${escaped(contender)}</text>` +
      `<rect x="${left}" y="${y}" width="${((median(perSecond) / most) * width).toFixed(1)}" height="18" rx="2" fill="${own ? '#4263eb' : '#adb5bd'}"/>` +
      `<path d="M${x(low)} ${y + 9}H${x(high)}" stroke="#868e96" stroke-width="2"/>` +
      `<text x="${left + width + 10}" y="${y + 13}">${whole(median(perSecond))}</text>`
    )
  })
  const height = 54 + bars.length * step
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#495057">` +
    `<title>${escaped(title)}</title><rect width="720" height="${height}" rx="6" fill="#f8f9fa"/>` +
    `<text x="14" y="26" font-weight="600">${escaped(title)}: ${bars[0]!.unit} a second, ${callers} callers</text>${body.join('')}</svg>\n`
  )
}
