import { Text, VisuallyHidden } from '@mantine/core'
import { count } from '../parts/money.tsx'

/** How much waits at a place, beside its name; nothing where nothing does. */
export function WaitingCount({ waiting }: { readonly waiting: number }) {
  if (waiting === 0) return undefined
  return (
    <Text span size="xs" fw={600} c="var(--mantine-color-orange-light-color)">
      {count(waiting)}
      <VisuallyHidden> waiting</VisuallyHidden>
    </Text>
  )
}
