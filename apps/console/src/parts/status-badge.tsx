import { Badge } from '@mantine/core'
import { stateTone, stateWord, type Tone } from '@svc/contract/state-words'

const COLORS: Readonly<Record<Tone, string>> = {
  done: 'teal',
  waits: 'orange',
  bad: 'red',
  info: 'blue',
  neutral: 'gray',
}

export const statusLabel = stateWord

export function StatusBadge({ state, label }: { readonly state: string; readonly label?: string }) {
  return <Mark color={COLORS[stateTone(state)]}>{label ?? statusLabel(state)}</Mark>
}

/** A word on a coloured ground that can be read in light and dark. */
export function Mark({ color, children }: { readonly color: string; readonly children: string }) {
  return (
    <Badge variant="light" color={color} radius="sm" tt="none" className="mark" style={{ flexShrink: 0 }}>
      {children}
    </Badge>
  )
}

/** Status of a response: green, orange for the caller's mistakes, red for ours. */
export function HttpStatus({ status }: { readonly status: number }) {
  return <Mark color={status >= 500 ? 'red' : status >= 400 ? 'orange' : 'teal'}>{String(status)}</Mark>
}
