import type { Figure, FiguresOf } from '../figures.ts'
import { useSession } from '../session.ts'
import { type ChartColumn, ColumnChart } from './column-chart.tsx'
import { dayText } from './instant.tsx'
import { paiseText, shortRupees } from './money.tsx'

interface VolumeChartProps {
  readonly all: Pick<FiguresOf, 'bucket' | 'from' | 'to' | 'until'>
  readonly figure: Figure
  readonly label: string
  readonly valueName: string
  readonly beforeName?: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A figure by hour or day, with those that are still to come. */
export function VolumeChart({ all, figure, label, valueName, beforeName }: VolumeChartProps) {
  const { timeZone } = useSession()
  const { buckets = [], compared } = figure
  const isHours = all.bucket === 'hour'
  const length = isHours ? HOUR_MS : DAY_MS
  const many = Math.max(Math.round((Date.parse(all.to) - Date.parse(all.from)) / length), buckets.length)
  const hour = new Intl.DateTimeFormat('en-IN', { timeZone, hour: 'numeric' })
  const day = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' })
  const first = buckets[0]
  const columns = Array.from({ length: many }, (_, i): ChartColumn => {
    const known = buckets[i]
    const at = new Date(Date.parse(known?.at ?? first?.at ?? all.from) + (known ? 0 : i * length))
    // The name of a day is that of the business day, which may begin on the day before.
    const named = new Date(isHours || !first ? at : Date.parse(`${first.name}T00:00:00Z`) + i * DAY_MS)
    const before = compared?.buckets?.[i]
    return {
      key: String(i),
      tick: isHours ? hour.format(at) : day.format(named),
      label: isHours ? hour.format(at) : dayText(named.toISOString().slice(0, 10)),
      value: known?.amount,
      before: before?.amount,
      isRunning: i === buckets.length - 1 && all.until < all.to,
    }
  })
  return (
    <ColumnChart
      label={label}
      columns={columns}
      format={paiseText}
      short={shortRupees}
      valueName={valueName}
      {...(beforeName !== undefined && { beforeName })}
    />
  )
}
