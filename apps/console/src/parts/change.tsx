import { Text } from '@mantine/core'
import { changeOf, percentText } from '../figures.ts'

interface ChangeProps {
  readonly now: number
  readonly before: number | undefined
  /** Whether more is worse, as of refunds. */
  readonly isCost?: boolean
}

/** By how much it changed: an arrow, a share, and what that is good for as a colour. */
export function Change({ now, before, isCost = false }: ChangeProps) {
  const change = changeOf(now, before)
  if (change === undefined)
    return (
      <Text span inherit c="dimmed">
        {before === 0 && now > 0 ? 'none before' : '–'}
      </Text>
    )
  const isUp = change >= 0
  const isGood = isUp !== isCost
  return (
    <Text
      span
      inherit
      style={{ whiteSpace: 'nowrap' }}
      c={Math.abs(change) < 0.0005 ? 'dimmed' : `var(--mantine-color-${isGood ? 'teal' : 'red'}-light-color)`}
    >
      <span aria-hidden="true">{isUp ? '▲' : '▼'} </span>
      <span className="visually-hidden">{isUp ? 'up ' : 'down '}</span>
      {percentText(Math.abs(change))}
    </Text>
  )
}
